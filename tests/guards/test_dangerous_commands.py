"""`block-dangerous-commands`: the corpus, and what an agent is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.lines import DANGEROUS, ENVIRONMENT, HARMLESS, HOOKS, WORK_DIR, added, override, scripts, shell
from support import trigger

if TYPE_CHECKING:
    from pathlib import Path

NAME = "block-dangerous-commands"
HEADINGS = sorted({line.heading for line in DANGEROUS})
# Every so many-th line, so that the real hook sees some of everything.
SAMPLE = [*DANGEROUS[::40], *HARMLESS[::40]]


def judge(line: str | list[str], **environment: str) -> list[Any]:
    found: list[Any] = scripts("dangers").judge(line, WORK_DIR, {**ENVIRONMENT, **environment})
    return found


class TestCorpus:
    """Command lines of real style."""

    @pytest.mark.parametrize("heading", HEADINGS)
    def test_every_dangerous_line_is_caught_by_its_rule(self, heading: str) -> None:
        missed = []
        for line in DANGEROUS:
            if line.heading == heading:
                found = judge(line.text)
                if not found or f"{found[0].rule} {found[0].decision}" != heading:
                    missed.append((line.text, [(each.rule, each.decision, each.why) for each in found]))
        assert not missed

    def test_at_most_one_in_two_hundred_harmless_lines_is_caught(self) -> None:
        caught = [line.text for line in HARMLESS if judge(line.text)]
        assert len(caught) * 200 <= len(HARMLESS), caught

    def test_the_corpus_is_large_and_has_no_line_twice(self) -> None:
        texts = [line.text for line in (*DANGEROUS, *HARMLESS)]
        assert len(texts) >= 400
        assert min(len(DANGEROUS), len(HARMLESS)) >= 200
        assert not sorted({text for text in texts if texts.count(text) > 1})

    def test_every_rule_has_lines(self) -> None:
        assert {heading.split()[0] for heading in HEADINGS} == set(scripts("dangers").RULES)

    @pytest.mark.slow
    @pytest.mark.parametrize("line", SAMPLE, ids=lambda line: line.text[:30])
    def test_the_real_hook_decides_the_same(self, home: Path, tmp_path: Path, line: Any) -> None:
        added(home, NAME)
        project = home / "project"
        project.mkdir()
        # the corpus names this home and project
        text = line.text.replace("/home/dev", str(home))
        payload = json.dumps({"tool_name": "Shell", "tool_input": {"command": text}})
        environment = {**os.environ, "TMPDIR": "/tmp", "USER": "dev"}
        verdict = trigger("pre-tool-call", "--payload", "-", input=payload, cwd=project, env=environment)
        (run,) = verdict["runs"]
        expected = line.heading.split()[1] if line in DANGEROUS else "none"
        assert (verdict["decision"], run["outcome"]) == (expected, "blocked" if expected == "deny" else "ok"), verdict
        if line in DANGEROUS:
            assert f"[{line.heading.split()[0]}]" in verdict["reason"]

    def test_the_sample_is_large_enough(self) -> None:
        assert len(SAMPLE) >= 30


class TestTelling:
    """What the agent and the person get to read."""

    @pytest.fixture(autouse=True)
    def hook(self, home: Path, project: Path) -> Path:
        return added(home, NAME)

    def test_a_refusal_outranks_a_question(self) -> None:
        assert shell("git reset --hard; rm -rf /")["decision"] == "deny"

    def test_an_unset_variable_is_named_with_its_remedy(self) -> None:
        verdict = shell('rm -rf "$NO_SUCH_DIRECTORY"/*')
        assert verdict["decision"] == "deny"
        assert "if $NO_SUCH_DIRECTORY is not set" in verdict["reason"]
        assert "${NO_SUCH_DIRECTORY:?}" in verdict["reason"]

    @pytest.mark.parametrize("tool", ["Shell", "Bash", "run_shell_command", "exec_command", "local_shell"])
    def test_the_tool_is_found_under_all_its_names(self, tool: str) -> None:
        assert shell("rm -rf ~", tool=tool)["decision"] == "deny"

    def test_rules_can_be_taken_out(self, home: Path) -> None:
        override(home, NAME, metadata={"allow": ["discard-work"]})
        assert shell("git reset --hard")["decision"] == "none"
        assert shell("rm -rf ~")["decision"] == "deny"

    def test_a_project_root_is_the_directory_with_git(self, project: Path) -> None:
        (project / ".git").mkdir()
        (project / "src").mkdir()
        verdict = shell("rm -rf ../*", cwd=project / "src")
        assert (verdict["decision"], "[delete-project]" in verdict["reason"]) == ("deny", True)
        assert shell("rm -rf ../build", cwd=project / "src")["decision"] == "none"

    def test_a_link_to_the_home_does_not_hide_it(self, home: Path, project: Path) -> None:
        (project / "link").symlink_to(home)
        assert shell("rm -rf link/*")["decision"] == "deny"

    def test_it_fails_closed(self, hook: Path) -> None:
        (hook / "scripts" / "dangers.py").write_text("raise SystemExit(1)")
        assert shell("ls")["decision"] == "deny"


def run_script(event: dict[str, Any], **options: Any) -> subprocess.CompletedProcess[str]:
    script = HOOKS / NAME / "scripts" / "run.py"
    return subprocess.run(
        [sys.executable, str(script)], input=json.dumps(event), capture_output=True, text=True, timeout=60, **options
    )


@pytest.mark.parametrize(
    ("tool_input", "status"),
    [
        ({"command": ["bash", "-lc", "rm -rf /"]}, 2),
        ({"command": ["ls", "-la"]}, 0),
        ({"command": "rm -rf *", "workdir": "/etc"}, 2),
        ({"command": "rm -rf lib", "directory": "/usr"}, 2),
        ({"command": ""}, 0),
        ({}, 0),
        (None, 0),
        ("rm -rf /", 2),
    ],
)
def test_inputs_as_agents_have_them(project: Path, tool_input: Any, status: int) -> None:
    ended = run_script({"tool_name": "shell", "tool_input": tool_input, "work_dir": str(project)})
    assert (ended.returncode, "Traceback" in ended.stderr) == (status, False), ended.stderr


WORDS = (
    "rm -rf / ~ * ' \" ` $ ( ) { } [ ] < > << <<< | || & && ; \n \\ # = x $x ${x:-y} $(x) if then fi for in do done "
    "case esac while EOF function echo sh -c eval sudo xargs find -exec {} + ! ~/ $HOME base64 -d curl"
)
PIECES = st.sampled_from(WORDS.split(" "))


class TestRobustness:
    """No line, however odd, makes the reader fail or wait."""

    @settings(max_examples=300, deadline=None)
    @given(st.lists(PIECES, max_size=24), st.sampled_from(["", " "]))
    def test_any_line_is_judged(self, pieces: list[str], between: str) -> None:
        for danger in judge(between.join(pieces)):
            assert danger.decision in ("deny", "ask")
            assert danger.rule in scripts("dangers").RULES

    @settings(max_examples=100, deadline=None)
    @given(st.text(max_size=200))
    def test_any_text_is_judged(self, text: str) -> None:
        judge(text)

    @pytest.mark.parametrize(
        "line",
        [
            "(" * 5000,
            '"$(' * 5000,
            "echo " + "{a,b}" * 40,
            "x=aaaaaaaa;" + "x=$x$x;" * 60 + 'rm -rf "$x"',
            ";".join(f"f{number}() {{ f{number + 1}; f{number + 1}; }}" for number in range(40)) + "; f0",
            "for a in 1 2 3 4 5 6 7 8 9; do " * 12 + "echo" + "; done" * 12,
            "sudo " * 3000 + "ls",
            "ls;" * 20000,
            ":(){ :|:& };:",
        ],
        ids=lambda line: line[:20],
    )
    def test_what_grows_without_end_is_cut_off(self, line: str) -> None:
        for danger in judge(line):
            assert danger.rule in ("unreadable", "fork-bomb")

    def test_marks_of_ours_in_a_line_mean_nothing(self) -> None:
        assert not judge("echo \ue000 \ue004 \ue002")
        assert judge("rm -rf / \ue000")
