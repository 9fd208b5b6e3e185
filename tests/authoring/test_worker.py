"""What happens to a case: expectations, timeouts, asynchronous hooks and processes that are left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from authoring.trying import CALL, DENY, case, differing, hook, outcome, tried

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("temporary")


class TestExpectations:
    """What a case says is what is looked at."""

    @pytest.mark.parametrize(
        ("script", "trigger", "event", "expect"),
        [
            (DENY, "pre-tool-call", CALL, 'decision = "deny"\nreason = "not here"\noutcome = "blocked"\nexit_code = 2'),
            (DENY, "pre-tool-call", CALL, 'decision = "deny"\nreason = { matches = "^not .*e$" }'),
            (DENY, "pre-tool-call", CALL, 'decision = "deny"\nreason = { contains = "here" }\nstderr = "not here"'),
            ("echo '{\"decision\": \"ask\", \"reason\": \"sure?\"}'", "before_tool", CALL,
             'decision = "ask"\nreason = "sure?"'),
            ("echo '{\"hookSpecificOutput\": {\"permissionDecision\": \"allow\"}}'", "PreToolUse", CALL,
             'decision = "approve"'),
            ("echo '{\"decision\": \"allow\", \"scope\": \"session\"}'", "permission-request", CALL,
             'decision = "approve"\nscope = "session"'),
            ("echo '{\"modified_input\": {\"command\": \"ls -la\", \"n\": [1, true]}}'", "pre-tool-call", CALL,
             'modified_input = { command = { matches = "^ls" }, n = [1, true] }'),
            ("echo '{\"additional_context\": \"a\", \"message\": \"b\", \"log\": \"c\"}'", "pre-tool-call", CALL,
             'additional_context = "a"\nmessage = "b"\nlog = "c"\nreason = false'),
            ("echo hello", "pre-tool-call", CALL, 'stdout = "hello"\nexit_code = 0\noutcome = "ok"'),
            ("echo oops >&2; exit 3", "pre-tool-call", CALL, 'outcome = "failed"\nwhy = "exit 3"\nstderr = "oops"'),
            ("echo oops >&2; exit 3", "pre-tool-call", CALL, "exit_code = 3"),
            ("kill -9 $$", "pre-tool-call", CALL, 'outcome = "failed"\nwhy = "signal 9"'),
            ("echo '{\"decision\": \"nay\"}'", "pre-tool-call", CALL, "unreadable = true"),
            ("echo '{\"decision\": \"nay\"}'", "pre-tool-call", CALL, 'outcome = "failed"\nunreadable = true'),
            (DENY, "pre-tool-call", '[event]\nevent_type = "Stop"\n', "runs = false"),
            (DENY, "Notification", '[event]\ntitle = "x"\n', 'decision = "none"\nexit_code = 2'),
            ("echo A=1 >>\"$TENTERHOOK_ENV_FILE\"; echo PATH=/ >>\"$TENTERHOOK_ENV_FILE\"", "pre-session", "[event]\n",
             '[expect.env]\nA = "1"\nPATH = false'),
        ],
    )  # fmt: skip
    def test_a_case_that_says_what_happens_passes(
        self, script: str, trigger: str, event: str, expect: str, home: Path, project: Path
    ) -> None:
        case(hook(home, script, trigger), f"{event}\n[expect]\n{expect}\n")
        result = outcome()
        assert result["status"] == "passed", result

    @pytest.mark.parametrize(
        ("script", "expect", "field", "shown"),
        [
            (DENY, 'decision = "none"', "decision", ("none", "deny")),
            (DENY, 'decision = "deny"\nreason = "other"', "reason", ("other", "not here")),
            (DENY, 'decision = "deny"\nreason = { matches = "^here" }', "reason",
             ("a text that matches ^here", "not here")),
            (DENY, 'decision = "deny"\nreason = false', "reason", ("(nothing)", "not here")),
            ("true", 'reason = "x"', "reason", ("x", "(nothing)")),
            ("exit 1", "", "outcome", ("it does not fail", "failed: exit 1")),
            ("exit 1", 'outcome = "ok"', "outcome", ("ok", "failed: exit 1")),
            ("exit 1", "exit_code = 3", "exit_code", ("3", "1")),
            ("kill -9 $$", "exit_code = 3", "exit_code", ("3", "none (failed: signal 9)")),
            ("echo '{\"modified_input\": {\"command\": \"id\"}}'", "", "modified_input",
             ("(unchanged)", '{\n  "command": "id"\n}')),
            ("echo '{\"modified_input\": {\"n\": true}}'", "modified_input = { n = 1 }", "modified_input",
             ('{\n  "n": 1\n}', '{\n  "n": true\n}')),
            ("echo '{\"decision\": 1}'", "", "unreadable",
             ("false", "true: unreadable answer: unknown decision 1; expected allow, deny, block or ask")),
            ("true", "runs = false", "runs", ("false", "true")),
            ("true", 'files = { a = "x" }', "files.a", ("x", "no such file")),
            ("echo y >a", 'files = { a = "x\\n" }', "files.a", ("x\n", "y\n")),
            ("echo y >a", 'files = { a = { matches = "x" } }', "files.a", ("a text that matches x", "y\n")),
            ("echo y >a", "files = { a = false }", "files.a", ("no such file", "y\n")),
            ("mkdir a", 'files = { a = "x" }', "files.a", ("x", "a folder")),
            ("touch a; chmod 600 a", 'files = { a = { mode = "755" } }', "files.a mode", ("755", "600")),
        ],
    )  # fmt: skip
    def test_a_case_that_says_otherwise_fails_and_shows_both(
        self, script: str, expect: str, field: str, shown: tuple[str, str], home: Path, project: Path
    ) -> None:
        case(hook(home, script), f"{CALL}\n[expect]\n{expect}\n")
        result = outcome()
        assert result["status"] == "failed"
        assert differing(result)[field] == shown

    def test_a_matcher_that_does_not_find_the_event_says_why(self, home: Path, project: Path) -> None:
        case(hook(home, DENY, matcher={"tool": "Shell", "pattern": "^rm"}), f'{CALL}\n[expect]\ndecision = "deny"\n')
        found = differing(outcome())
        assert found == {"runs": ("true", "false: pattern: '^rm' is not found in 'ls'")}

    def test_a_guard_that_fails_closed_must_be_expected_to_fail(self, home: Path, project: Path) -> None:
        folder = hook(home, "exit 1", metadata={"on_failure": "block"})
        case(folder, f'{CALL}\n[expect]\ndecision = "deny"\n', "silent.toml")
        case(folder, f'{CALL}\n[expect]\ndecision = "deny"\noutcome = "failed"\n', "said.toml")
        assert {each["case"]: each["status"] for each in tried()["cases"]} == {"silent": "failed", "said": "passed"}

    def test_a_case_without_expectations_is_no_pass(self, home: Path, project: Path) -> None:
        case(hook(home, DENY), CALL)
        result = outcome()
        assert (result["status"], result["error"]) == ("error", "it expects nothing")

    def test_what_a_shadow_hook_would_have_enforced_is_what_counts(self, home: Path, project: Path) -> None:
        case(hook(home, DENY, metadata={"mode": "shadow"}), f'{CALL}\n[expect]\ndecision = "deny"\n')
        assert outcome()["status"] == "passed"


class TestProcesses:
    """Nothing hangs, nothing is left."""

    def test_a_timeout_is_one(self, home: Path, project: Path) -> None:
        case(
            hook(home, "echo before >&2; sleep 60"),
            f'timeout = 1500\n{CALL}\n[expect]\noutcome = "timed_out"\nstderr = "before"\n',
        )
        assert outcome()["status"] == "passed"

    def test_a_missing_script_is_said(self, home: Path, project: Path) -> None:
        folder = hook(home, DENY)
        case(folder, f'{CALL}\n[expect]\ndecision = "deny"\n')
        (folder / "scripts" / "run.sh").unlink()
        assert differing(outcome())["outcome"] == ("it does not fail", "failed: cannot start: no script")

    def test_what_a_child_does_in_a_moment_still_counts(self, home: Path, project: Path) -> None:
        case(hook(home, "(sleep 0.05; echo late >late) & exit 0"), f'{CALL}\n[expect.files]\nlate = "late\\n"\n')
        assert outcome()["status"] == "passed"

    @pytest.mark.parametrize(
        ("script", "expect"),
        [
            (
                "sleep 0.2; echo done >made; echo no >&2; exit 2",
                'exit_code = 2\nstderr = "no"\nfiles = { made = "done\\n" }',
            ),
            ("exit 5", 'outcome = "failed"\nwhy = "exit 5"'),
        ],
    )
    def test_an_asynchronous_hook_is_waited_for(self, script: str, expect: str, home: Path, project: Path) -> None:
        case(hook(home, script, background=True), f"{CALL}\n[expect]\n{expect}\n")
        result = outcome()
        assert (result["status"], result["actual"]["decision"]) == ("passed", "none"), result

    def test_an_asynchronous_hook_that_times_out_is_ended(self, home: Path, project: Path) -> None:
        case(hook(home, "sleep 60", background=True), f'timeout = 1500\n{CALL}\n[expect]\noutcome = "timed_out"\n')
        assert outcome()["status"] == "passed"

    def test_output_without_end_does_no_harm(self, home: Path, project: Path) -> None:
        case(hook(home, "yes | head -c 20000000"), f"{CALL}\n[expect]\n")
        assert outcome()["status"] == "passed"
