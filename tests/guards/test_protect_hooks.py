"""`protect-hooks`: an agent reads hooks and their settings, and changes none of them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from guards.ways_to_change_hooks import HARMLESS, NOT_SEEN, WAYS, Way
from hooks.lines import added, decide, override, shell
from install.installations import install
from support import takes_less_than
from tenterhook.guards import protect_hooks
from tenterhook.guards.calls import GuardedCall, Objection

NAME = "protect-hooks"
DOCS = Path(__file__).parents[2] / "docs" / "built-in-hooks.md"


@pytest.fixture(autouse=True)
def machine(home: Path, project: Path) -> None:
    """A home and a project with hooks, settings of agents, state and credentials."""
    for path in (
        *("claude/settings.json", "codex/config.toml", "config/tenterhook/config.toml", "config/tenterhook/hub.json"),
        *("config/agents/hooks/protect-hooks/scripts/run.sh", "local/state/tenterhook/trust.json"),
        *("local/state/tenterhook/hub/person.json", "local/state/tenterhook/hub/hub.db", "local/bin/tenterhook"),
        *("local/share/uv/tools/tenterhook/x", "local/share/pipx/venvs/tenterhook/x", "cache/tenterhook/x"),
    ):
        written(home / f".{path}")
    for path in (".agents/hooks/mine/HOOK.md", ".claude/settings.local.json", "src/app.py", "innocent"):
        written(project / path)
    (project / "innocent").unlink()
    (project / "innocent").symlink_to(home / ".claude")


def written(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")


@pytest.fixture
def hook(home: Path) -> Path:
    """The hook in force."""
    (home / ".config/agents/hooks/protect-hooks/scripts/run.sh").unlink()
    (home / ".config/agents/hooks/protect-hooks/scripts").rmdir()
    (home / ".config/agents/hooks/protect-hooks").rmdir()
    return added(home, NAME)


def judged(way: Way, **settings: Any) -> Objection | None:
    tool, tool_input = ("Shell", {"command": way}) if isinstance(way, str) else way
    call = GuardedCall(tool, tool_input, os.getcwd(), {**os.environ, "USER": "me"}, settings)
    return protect_hooks.judge(call)


def tool(name: str, **tool_input: Any) -> dict[str, Any]:
    return decide("pre-tool-call", tool_name=name, tool_input=tool_input)


@pytest.mark.parametrize("way", [way for ways in WAYS.values() for way in ways], ids=repr)
def test_a_way_to_change_them_is_stopped_with_a_rule_and_what_to_do_instead(way: Way) -> None:
    objection = judged(way)
    assert objection is not None
    assert f"[{objection.findings[0].rule}]. Instead: " in objection.reason


@pytest.mark.parametrize("way", HARMLESS, ids=repr)
def test_reading_and_everything_else_is_fine(way: Way) -> None:
    assert judged(way) is None


@pytest.mark.parametrize("line", NOT_SEEN)
def test_a_way_that_is_said_not_to_be_seen_is_not(line: str) -> None:
    assert judged(line) is None


@pytest.mark.promise("a model that tries")
def test_the_rate_in_the_documentation_is_that_of_the_table() -> None:
    """`protect-hooks` stops 95 of 100 ways in a table of ways to change hooks; its page lists the others."""
    rows: list[tuple[str, int, int, int]] = []
    for kind, ways in WAYS.items():
        decisions = [objection.decision if (objection := judged(way)) else "none" for way in ways]
        rows.append((kind, len(ways), decisions.count("deny"), decisions.count("ask")))
    rows.append(("not seen (below)", len(NOT_SEEN), 0, 0))
    _, tried, refused, asked = zip(*rows, strict=True)
    assert sum(refused) + sum(asked) >= 0.95 * sum(tried)
    rows.append(("**together**", sum(tried), sum(refused), sum(asked)))
    table = "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)
    assert table in DOCS.read_text(), f"write this to {DOCS.name}:\n{table}"
    assert sum(map(len, WAYS.values())) >= 150


def test_every_way_that_is_not_seen_is_in_the_documentation_with_its_reason() -> None:
    text = DOCS.read_text()
    rows = [f"| `{line}` | {why} |" for line, why in NOT_SEEN.items()]
    assert [row for row in rows if row not in text] == []


@pytest.mark.parametrize(
    ("way", "rule"),
    [
        ("rm -rf .agents", "change-hooks"),
        ("echo > ~/.claude/settings.json", "change-settings"),
        ("rm ~/.local/state/tenterhook/trust.json", "change-tenterhook"),
        ("tenterhook trust --all", "weaken"),
        ("cat ~/.config/tenterhook/hub.json", "read-credentials"),
        (("Write", {"file_path": ".agents/hooks/x/HOOK.md"}), "change-hooks"),
        (("Read", {"file_path": "~/.config/tenterhook/hub.json"}), "read-credentials"),
    ],
)
def test_a_rule_can_be_switched_off_or_asked_about_in_the_persons_own_file(way: Way, rule: str) -> None:
    refused = judged(way)
    assert refused is not None
    assert (refused.decision, refused.findings[0].rule) == ("deny", rule)
    assert judged(way, allow=[rule]) is None
    asked = judged(way, ask=[rule])
    assert asked is not None
    assert asked.decision == "ask"


def test_settings_in_hooks_toml_count_and_the_agent_may_not_write_that_file(home: Path, hook: Path) -> None:
    assert shell("tenterhook trust --all")["decision"] == "deny"
    override(home, NAME, metadata={"guard": NAME, "allow": ["weaken"], "on_failure": "block"})
    assert shell("tenterhook trust --all")["decision"] == "none"
    assert shell("echo > ~/.config/agents/hooks/hooks.toml")["decision"] == "deny"


def test_the_part_of_the_line_is_named() -> None:
    line = "cd src && ls; rm -rf ../.agents; echo done"
    objection = judged(line)
    assert objection is not None
    found = objection.findings[0]
    assert found.part == "rm -rf ../.agents"
    assert found.span is not None
    assert line[slice(*found.span)] == found.part


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rm -rf /", "deletes /, which contains "),
        ("chmod -R 777 /", "changes the mode of /, which contains "),
        ('rm -rf "$X"/', "deletes /, which contains "),
        ("mv ~ /tmp/gone", ", which contains "),
        ("rm -rf ~/.config/agents/hooks", ".config/agents/hooks, your hooks"),
        ("rm ~/.claude/settings.json", ".claude/settings.json, settings of "),
    ],
)
def test_a_directory_that_only_contains_them_is_not_called_one_of_them(line: str, said: str) -> None:
    objection = judged(line)
    assert objection is not None
    assert said in objection.reason


def test_where_it_cannot_be_told_the_person_is_asked() -> None:
    for line in (
        "./mystery ~/.claude/settings.json",
        "python3 tool.py --file=.claude/settings.local.json",
        "echo 'unfinished > ~/.claude/settings.json",
    ):
        objection = judged(line)
        assert objection is not None
        assert objection.decision == "ask", line


@pytest.mark.parametrize("path", ["a\0b", "\0", "\ud800/x", "x" * 5000, "x/" * 5000], ids=ascii)
def test_a_path_that_no_system_call_takes_does_not_end_the_guard(path: str) -> None:
    ways: list[Way] = [("Write", {"file_path": path}), ("mcp__x__do", {path: [path]}), f"tee '{path}'", f"rm '{path}'"]
    assert [judged(way) for way in ways] == [None] * 4
    assert judged(("Write", {"file_path": f"~/.claude/settings.json\0{path}"})) is not None


def test_a_place_that_moves_while_the_process_lives_is_seen(home: Path, project: Path) -> None:
    written(home / "dot/claude.json")
    way = ("Write", {"file_path": str(home / "dot/claude.json")})
    assert judged(way) is None
    (home / ".claude/settings.json").unlink()
    (home / ".claude/settings.json").symlink_to(home / "dot/claude.json")
    assert judged(way) is not None
    (home / ".claude/settings.json").unlink()
    assert judged(way) is None
    (project / "new").symlink_to(home / ".config/agents")
    assert judged("echo > new/hooks/x/HOOK.md") is not None


@pytest.mark.parametrize(
    "line",
    [
        "echo " + "~/.claude/settings.json " * 40_000,
        "rm " + "a/b/c/" * 160_000,
        "".join(f"rm .x{number}*;" for number in range(80_000)),
        "./x " + "y " * 500_000,
        "find " + ". " * 300_000 + " -delete",
        "tee " + "> a " * 200_000,
        "x " + "*/" * 400_000,
        "sed '" + "w a\n" * 200_000 + "'",
    ],
    ids=lambda line: line[:12],
)
def test_a_hostile_line_of_a_megabyte_takes_a_tenth_of_a_second(line: str) -> None:
    assert takes_less_than(0.1, lambda: judged(line))


def test_an_ordinary_line_takes_a_millisecond(project: Path) -> None:
    lines = ["ls -la src", "git status", "echo x > src/app.py", "npm test -- --watch", "cat src/app.py | grep -n x"]
    durations = []
    for line in lines * 20:
        begun = time.process_time()
        judged(line)
        durations.append(time.process_time() - begun)
    assert sorted(durations)[len(durations) // 2] < 0.004, "1 ms, and room for a busy machine"


@pytest.mark.usefixtures("hook")
def test_settings_that_a_variable_moves_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert tool("WriteFile", file_path=str(tmp_path / "elsewhere/settings.json"), content="")["decision"] == "deny"
    assert tool("WriteFile", file_path=str(tmp_path / "elsewhere/notes.json"), content="")["decision"] == "none"


@pytest.mark.usefixtures("hook")
@pytest.mark.promise("a model that tries")
def test_settings_of_another_agent_are_protected_wherever_they_were_at_install(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`protect-hooks` protects the settings of every agent that Tenterhook guards, also where a variable moved them."""
    monkeypatch.setenv("CODEX_HOME", str(home / "cx"))
    install("codex")
    for value in (None, "/nowhere"):
        monkeypatch.delenv("CODEX_HOME") if value is None else monkeypatch.setenv("CODEX_HOME", value)
        for name in ("config.toml", "hooks.json"):
            assert tool("Write", file_path=str(home / "cx" / name), content="")["decision"] == "deny"
            assert shell(f"echo x > ~/cx/{name}")["decision"] == "deny"
        assert tool("Write", file_path=str(home / "cx" / "notes.md"), content="")["decision"] == "none"


@pytest.mark.usefixtures("hook")
@pytest.mark.promise("a model that tries")
def test_files_named_with_config_are_protected(home: Path) -> None:
    """`protect-hooks` protects the files that `install --config` named."""
    (home / "mine.toml").write_text('[[hooks]]\nevent = "PreToolUse"\ncommand = "true"\n')
    install("claude-code", "--config", str(home / "mine.toml"))
    assert tool("Edit", file_path="~/mine.toml", old_string="a", new_string="b")["decision"] == "deny"
    assert shell("rm ~/mine.toml")["decision"] == "deny"
    assert shell("cat ~/mine.toml")["decision"] == "none"


@pytest.mark.usefixtures("hook")
@pytest.mark.parametrize("text", ["", "[]", '{"settings": 1, "files": 2}', '{"schema": 1, "configs": [null]}', "\0"])
def test_a_broken_record_of_an_installation_is_ignored(home: Path, text: str) -> None:
    installed = home / ".local/state/tenterhook/installed"
    installed.mkdir(parents=True)
    (installed / "codex.json").write_text(text)
    assert tool("Write", file_path="~/.claude/settings.json", content="")["decision"] == "deny"
    assert tool("Write", file_path="src/app.py", content="")["decision"] == "none"


@pytest.mark.promise("a model that tries")
def test_the_files_behind_links_are_protected(home: Path, project: Path, hook: Path) -> None:
    """`protect-hooks` protects the real files, too, where hooks and settings are links that a dotfiles manager made."""
    dotfiles = home / "dot"
    (dotfiles / "claude").mkdir(parents=True)
    (home / ".claude/settings.json").rename(dotfiles / "claude/real.json")
    (home / ".claude/settings.json").symlink_to("../dot/claude/chosen.json")
    (dotfiles / "claude/chosen.json").symlink_to("real.json")
    (home / ".gemini").symlink_to("dot/gemini")  # not there yet
    hook.rename(dotfiles / "guard")
    hook.symlink_to("../../../dot/guard")
    (dotfiles / "rules.toml").touch()
    (home / ".config/tenterhook/config.toml").unlink()
    (home / ".config/tenterhook/config.toml").symlink_to(dotfiles / "rules.toml")
    (dotfiles / "library").mkdir()
    (dotfiles / "guard/scripts/run.sh").rename(dotfiles / "library/line.sh")
    (dotfiles / "guard/scripts/run.sh").symlink_to("../../library/line.sh")
    (hook.parent / "everything").symlink_to("/")
    for path in (
        *("claude/real.json", "claude/chosen.json", "gemini/settings.json", "guard/HOOK.md", "guard/scripts/run.sh"),
        *("guard/scripts/new.py", "library/line.sh", "rules.toml"),
    ):
        assert tool("Write", file_path=f"~/dot/{path}", content="")["decision"] == "deny", path
        assert shell(f"echo x > ~/dot/{path}")["decision"] == "deny", path
    for path in ("", "/guard", "/library", "/claude"):
        assert shell(f"rm -rf ~/dot{path}")["decision"] == "deny", path
    for path in ("notes.md", "library/other.py", "claude/notes.md"):
        assert tool("Write", file_path=f"~/dot/{path}", content="")["decision"] == "none", path


def test_an_exception_in_the_guard_refuses_the_call(hook: Path) -> None:
    text = (hook / "HOOK.md").read_text()
    (hook / "HOOK.md").write_text(text.replace("guard: protect-hooks", "guard: unheard-of"))
    assert shell("ls")["decision"] == "deny"
