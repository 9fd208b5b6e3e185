"""`tenterhook try`: what would happen to a line, who says so, and that nothing happens by trying."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from install.installations import install, wired
from support import below_agent, folder_hook, project_hooks, user_hooks, write_config
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

FORCE = "git push --force"


@pytest.fixture
def guard(run: Run, home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    assert run("add", "block-dangerous-commands").status == 0


def tried(run: Run, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("try", *arguments, "--json").out)
    return found


@pytest.mark.usefixtures("guard")
@pytest.mark.parametrize(
    ("line", "status", "outcome"), [("ls -l", 0, "runs"), ("rm -rf /", 2, "refused"), (FORCE, 3, "asked")]
)
def test_the_exit_status_says_what_would_happen(run: Run, line: str, status: int, outcome: str) -> None:
    assert run("try", line).status == status
    assert tried(run, line)["outcome"] == outcome


@pytest.mark.usefixtures("guard")
def test_it_says_which_hook_and_rule_and_part_and_what_to_do_instead(run: Run) -> None:
    out = run("try", f"cd sub && {FORCE}").out
    head, mark, *rest = out.splitlines()
    assert head == f"would be asked about: cd sub && {FORCE}"
    assert head[mark.index("^") : mark.rindex("^") + 1] == FORCE
    assert "block-dangerous-commands asks" in out
    assert "[publish]. Instead:" in out
    said = tried(run, f"cd sub && {FORCE}")
    (finding,) = said["said"][0]["findings"]
    assert (said["by"], finding["rule"], finding["part"]) == ("hook", "publish", FORCE)
    assert rest


@pytest.mark.usefixtures("guard")
def test_it_says_what_each_agent_does_with_a_question(run: Run) -> None:
    for agent in ("agent", *AGENTS):
        can_ask = agent not in AGENTS or AGENTS[agent].capabilities.asks
        ended = run("try", FORCE, "--agent", agent)
        assert ended.status == 3
        assert ("asks its user" in ended.out) is can_ask
        assert ("tenterhook allow ID" in ended.out) is not can_ask


def test_without_an_agent_it_is_the_installed_one(run: Run, home: Path, project: Path) -> None:
    install("codex")
    assert tried(run, "ls")["agent"] == "codex"
    assert "not guarded" not in run("try", "ls").err
    assert "Gemini CLI is not guarded here" in run("try", "ls", "--agent", "gemini").err
    assert [tried(run, "ls", "--agent", agent)["guarded"] for agent in ("codex", "gemini")] == [True, False]


@pytest.mark.usefixtures("guard")
def test_agents_that_do_different_things_with_a_question_are_each_named(run: Run, home: Path) -> None:
    asks = "  Claude Code asks its user"
    refuses = "  Codex has no way to ask its user: it is refused, and `tenterhook allow ID` lets it run once"
    install("claude-code")
    assert run("try", FORCE).out.splitlines()[-1] == asks
    install("qwen")
    assert "Qwen" not in run("try", FORCE).out  # it asks, too
    install("codex")
    assert run("try", FORCE).out.splitlines()[-3:] == [asks, refuses, "  Qwen Code asks its user"]
    assert list(tried(run, FORCE)["if_asked_by_agent"]) == ["claude-code", "codex", "qwen"]
    assert "Codex" not in run("try", FORCE, "--agent", "claude-code").out
    own = write_config(home / "own.toml", "[[hooks]]\nevent = 'Stop'\ncommand = 'true'\n")
    install("codex", "--config", str(own))
    assert "Codex" not in run("try", FORCE).out  # it has other hooks


@pytest.mark.usefixtures("guard")
def test_an_agent_for_which_a_rule_decides_otherwise_is_named(run: Run, home: Path) -> None:
    install("claude-code")
    install("qwen")
    rule = f"[[approvals.rules]]\nagent = 'qwen'\ncommand = '{FORCE}'\nanswer = 'deny'\n"
    write_config(home / ".config/tenterhook/config.toml", rule)
    assert run("try", FORCE).out.splitlines()[-2:] == [
        "  Claude Code asks its user",
        "  Qwen Code: it would be refused",
    ]
    assert tried(run, FORCE)["outcomes"] == {"claude-code": "asked", "qwen": "refused"}


def test_an_unknown_agent_is_wrong_usage(run: Run, home: Path, project: Path) -> None:
    ended = run("try", "ls", "--agent", "cdex")
    assert ended.status == 64
    assert "did you mean codex?" in ended.err


def test_where_there_is_no_guard_it_says_so_and_what_it_would_say(run: Run, home: Path, project: Path) -> None:
    ended = run("try", FORCE)
    assert ended.status == 0
    assert "No built-in guard is in force here. With `tenterhook add block-dangerous-commands`" in ended.out
    assert "it would be asked about:" in ended.out


@pytest.mark.parametrize(("line", "guard"), [("cat ~/.ssh/id_rsa", "protect-secrets"), ("rm -rf /", "block-dangerous")])
def test_every_built_in_guard_can_be_asked_without_running_hooks(
    run: Run, home: Path, project: Path, line: str, guard: str
) -> None:
    folder_hook(user_hooks(home), "mine", "touch ran; exit 2")
    ended = run("try", line, "--guards")
    assert ended.status in (2, 3)
    assert guard in ended.out
    assert not (project / "ran").exists()
    assert run("try", "ls", "--guards").status == 0


def test_hooks_that_are_scripts_are_run_and_the_line_is_not(run: Run, home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "mine", 'grep -q touch && { echo "not this" >&2; exit 2; }; exit 0')
    ended = run("try", "touch made")
    assert (ended.status, "mine refuses" in ended.out, "not this" in ended.out) == (2, True, True)
    assert run("try", "echo > made").status == 0
    assert not (project / "made").exists()


def test_asynchronous_hooks_are_not_run(run: Run, home: Path, project: Path) -> None:
    asynchronous: dict[str, Any] = {"async": True}
    folder_hook(user_hooks(home), "later", f"touch {project}/ran", "pre-tool-call", **asynchronous)
    folder_hook(user_hooks(home), "now", f"touch {project}/ran-now")
    run("try", "ls")
    assert [file.name for file in project.iterdir()] == ["ran-now"]


def test_a_hook_that_fails_is_shown(run: Run, home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "mine", "exit 3")
    assert "mine failed" in run("try", "ls").out


def test_a_projects_hook_that_is_not_trusted_is_not_run(run: Run, home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    folder_hook(project_hooks(project), "theirs", "touch ran; exit 2")
    ended = run("try", "ls")
    assert (ended.status, "not trusted" in ended.err) == (0, True)
    assert tried(run, "ls")["untrusted"] == ["theirs"]
    assert not (project / "ran").exists()


def test_a_hook_that_changes_the_line_is_shown(run: Run, home: Path, project: Path) -> None:
    answer = json.dumps({"modified_input": {"command": "ls -l"}})
    folder_hook(user_hooks(home), "rewrite", f"echo '{answer}'", matcher={"pattern": "^ls$"})
    assert "a hook changes it to: ls -l" in run("try", "ls").out


@pytest.mark.usefixtures("guard")
def test_rules_of_the_person_are_applied(run: Run, home: Path) -> None:
    rules = """
        [[approvals.rules]]
        answer = "approve"
        pattern = "^git push --force( origin)?$"
        reason = "my branches"

        [[approvals.rules]]
        answer = "deny"
        pattern = "prod"
        reason = "never there"

        [[approvals.rules]]
        answer = "ask"
        command = "make deploy"
    """
    write_config(home / ".config/tenterhook/config.toml", rules)
    answered = run("try", FORCE)
    assert (answered.status, "rule: approve, my branches" in answered.out) == (0, True)
    assert run("try", f"{FORCE} upstream").status == 3
    denied = tried(run, "deploy prod")
    assert (denied["outcome"], denied["by"], denied["rule"]["reason"]) == ("refused", "rule", "never there")
    asked = tried(run, "make deploy")
    assert (asked["outcome"], asked["by"]) == ("asked", "rule")


@pytest.mark.usefixtures("guard")
def test_a_file_of_lines_is_summed_up(run: Run, tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text(f"ls\n\n{json.dumps({'line': 'rm -rf /', 'id': 1})}\n{FORCE}\n{{ ls; }}\n")
    ended = run("try", "--file", str(lines))
    assert ended.status == 2
    assert ended.out.splitlines()[-1] == "4 lines: 2 would run, 1 would be asked about, 1 would be refused"
    found = tried(run, "--file", str(lines))
    assert [each["line"] for each in found["lines"]] == ["ls", "rm -rf /", FORCE, "{ ls; }"]
    assert found["summary"] == {"runs": 2, "asked": 1, "refused": 1}


@pytest.mark.usefixtures("guard")
def test_bytes_of_a_file_that_are_no_text_are_replaced(run: Run, tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"rm -rf /\nls \xff\n")
    assert [each["outcome"] for each in tried(run, "--file", str(tmp_path / "lines"))["lines"]] == ["refused", "runs"]


@pytest.mark.usefixtures("guard")
def test_a_file_without_refusals_ends_with_the_status_of_a_question(run: Run, tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    for text, status in ((f"{FORCE}\nls\n", 3), ("ls\n", 0), ("", 0)):
        lines.write_text(text)
        assert run("try", "--file", str(lines)).status == status


@pytest.mark.parametrize("arguments", [(), ("ls", "--file", "-"), ("",), (" \n",)])
def test_it_needs_a_line_or_a_file(run: Run, home: Path, project: Path, arguments: tuple[str, ...]) -> None:
    assert run("try", *arguments).status == 64


@pytest.mark.usefixtures("guard")
def test_it_is_judged_where_it_would_run(run: Run, home: Path, project: Path, tmp_path: Path) -> None:
    folder_hook(user_hooks(home), "where", 'case "$PWD" in */other) exit 2;; esac')
    (tmp_path / "other").mkdir()
    assert run("try", "ls").status == 0
    assert run("try", "ls", "--in", str(tmp_path / "other")).status == 2
    assert run("try", "ls", "--in", str(tmp_path / "none")).status == 64


@pytest.mark.usefixtures("guard")
def test_nothing_is_journalled_and_no_session_stays(run: Run, home: Path) -> None:
    run("try", FORCE)
    run("try", FORCE, "--agent", "codex")
    state = home / ".local/state/tenterhook"
    assert not list(state.glob("journal/*"))
    assert not list(state.glob("sessions/*"))
    assert not list(state.glob("single-use/*"))


def test_an_agent_may_try_a_line_and_changes_no_state_of_its_guards(home: Path, project: Path) -> None:
    folder_hook(
        user_hooks(home), "mine", 'touch "$TENTERHOOK_STATE_DIR/seen"; exit 2', matcher={"pattern": "forbidden"}
    )
    install("claude-code")
    line = wired(home, "claude-code")["SessionStart"]
    (ended,) = below_agent(line, f"{sys.executable} -m tenterhook try forbidden")
    assert ended.returncode == 2
    assert not list(home.glob(".local/state/**/seen"))
