"""The guard `redact-secrets`: secrets in a tool's output and error are replaced before the model sees them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from hooks.guards import HOOKS, copied, path_with_tenterhook
from hooks.lines import added, override
from support import folder_hook, tenterhook, user_hooks
from tenterhook import Engine, Event
from tenterhook.guards import redact_secrets
from tenterhook.guards.calls import GuardedCall, Replacement

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook.model import Verdict

NAME, IN_ERRORS = "redact-secrets", "redact-secrets-in-errors"
LINE, CLEAN = "DB_PASSWORD=MySecret2024", "DB_PASSWORD=[redacted: password]"


def judged(output: Any, **settings: Any) -> Replacement | None:
    return redact_secrets.judge(GuardedCall("Shell", {"command": "env"}, "/w", {}, settings, output))


def decided(project: Path, output: Any, event: str = "post-tool-call") -> Verdict:
    field = {"post-tool-call": "tool_output", "post-tool-call-failure": "error"}[event]
    fields: dict[str, Any] = {"tool_name": "Shell", "tool_input": {"command": "env"}, field: output}
    return Engine.load(project).decide(Event(event, work_dir=project, **fields))


# ---- by itself


def test_the_reason_says_how_many_of_which_kinds() -> None:
    said = judged(f"{LINE}\npostgres://a:x9Qe4rT@db/a\nredis://:x9Qe4rT@c/0\n")
    assert said is not None
    assert said.reason == "3 secrets were replaced: password, 2 × url password"


@pytest.mark.parametrize("output", [None, "", "nothing here", {"stdout": "ok", "code": 0}, ["a", {"token": None}]])
def test_an_output_without_secrets_is_left_alone(output: Any) -> None:
    assert judged(output) is None


def test_before_a_call_it_says_nothing() -> None:
    assert redact_secrets.judge(GuardedCall("Shell", {"command": LINE}, "/w", {})) is None


def test_every_text_of_a_value_is_searched_and_its_form_is_kept() -> None:
    said = judged({"content": [{"type": "text", "text": LINE}], "code": 0, "more": {"apiKey": "0f1e2d3c4b5a6978"}})
    assert said is not None
    assert said.output == {
        "content": [{"type": "text", "text": CLEAN}],
        "code": 0,
        "more": {"apiKey": "[redacted: api key]"},
    }


def test_what_cannot_be_searched_is_replaced_as_a_whole() -> None:
    deep: Any = LINE
    for _ in range(100_000):
        deep = [deep]
    said = judged(deep)
    assert said == (redact_secrets.UNREAD, "the output could not be searched for secrets (RecursionError)")


# ---- settings


def test_kinds_are_left_alone() -> None:
    assert judged(LINE, allow=["password"]) is None
    said = judged(f"{LINE} redis://:x9Qe4rT@c/0", allow=["password"])
    assert said is not None
    assert said.output == f"{LINE} redis://:[redacted: url password]@c/0"


def test_expressions_of_the_person_find_further_secrets() -> None:
    said = judged("ACME-1234 and badge 123456", expressions=[r"ACME-\d{4}", r"badge (\d+)"])
    assert said is not None
    assert said.output == "[redacted: own expression] and badge [redacted: own expression]"
    assert said.reason == "2 secrets were replaced: 2 × own expression"


@pytest.mark.parametrize("expression", ["(a+)+$", "(", 5, None])
def test_an_expression_that_cannot_be_used_has_no_effect(expression: object) -> None:
    assert judged("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", expressions=[expression]) is None


def test_an_output_that_an_expression_could_search_for_too_long_is_replaced_as_a_whole() -> None:
    begun = time.monotonic()
    said = judged("a" * 100_000, expressions=["a+a+b"])
    assert time.monotonic() - begun < 10
    assert said is not None
    assert said.output == "[redacted: own expression]"


@pytest.mark.parametrize(
    ("settings", "key", "message"),
    [
        ({"allow": "password"}, "allow", "'allow' is not a list; it has no effect"),
        ({"allow": ["pasword"]}, "allow", "there is no kind of secret 'pasword'; naming it has no effect"),
        ({"expressions": "x"}, "expressions", "'expressions' is not a list; it has no effect"),
        ({"expressions": ["("]}, "expressions", "'(' is not a valid Python expression"),
        ({"expressions": [5]}, "expressions", "5 is not a string; it has no effect"),
        ({"expressions": ["(a+)+"]}, "expressions", "'(a+)+' has nested repetitions"),
    ],
)
def test_settings_without_an_effect_are_reported(settings: dict[str, Any], key: str, message: str) -> None:
    ((where, what, remedy),) = redact_secrets.setting_problems(settings)
    assert (where, what.startswith(message), bool(remedy)) == (key, True, True)


def test_check_reports_them_and_settings_that_work_are_fine(home: Path, project: Path) -> None:
    added(home, NAME)
    override(home, NAME, metadata={"allow": ["password", "own expression"], "expressions": ["ACME-.{4}"]})
    assert "0 errors, 0 warnings" in tenterhook("check").stdout
    override(home, NAME, metadata={"allow": ["pasword"]})
    ended = tenterhook("check")
    assert "there is no kind of secret 'pasword'" in ended.stdout + ended.stderr


# ---- in force


@pytest.mark.parametrize(("name", "event"), [(NAME, "post-tool-call"), (IN_ERRORS, "post-tool-call-failure")])
def test_the_verdict_has_the_output_without_secrets(home: Path, project: Path, name: str, event: str) -> None:
    added(home, name)
    verdict = decided(project, f"it failed: {LINE}", event)
    assert verdict.modified_output == f"it failed: {CLEAN}"
    assert (str(verdict.decision), verdict.runs[0].decision.reason) == ("none", "1 secret was replaced: password")


def test_it_replaces_what_other_hooks_make_of_the_output(home: Path, project: Path) -> None:
    added(home, NAME)
    answer = json.dumps({"modified_output": f"changed: {LINE}"})
    folder_hook(user_hooks(home), "other", f"cat <<'E'\n{answer}\nE", trigger="post-tool-call", priority=1)
    assert decided(project, "plain").modified_output == f"changed: {CLEAN}"


def test_a_block_of_another_hook_does_not_keep_it_from_replacing(home: Path, project: Path) -> None:
    added(home, NAME)
    folder_hook(user_hooks(home), "other", "echo no >&2; exit 2", trigger="post-tool-call")
    verdict = decided(project, LINE)
    assert (str(verdict.decision), verdict.reason, verdict.modified_output) == ("deny", "no", CLEAN)


def test_the_journal_has_neither_the_secret_nor_a_second_mark(home: Path, project: Path) -> None:
    added(home, NAME)
    event = json.dumps({"tool_name": "Shell", "tool_output": LINE})
    (project / "event.json").write_text(event)
    assert tenterhook("trigger", "post-tool-call", "--payload", project / "event.json").returncode == 0
    written = tenterhook("log", "--json").stdout
    assert "MySecret2024" not in written
    assert json.loads(written)["modified_output"] == CLEAN


# ---- in other forms


@pytest.mark.parametrize("key", ["tool_output", "tool_response", "error"])
def test_its_script_and_its_copy_say_the_same(home: Path, project: Path, tmp_path: Path, key: str) -> None:
    folder = added(home, NAME)
    copy = copied(HOOKS[NAME], tmp_path)
    payload = json.dumps({"tool_name": "Shell", "tool_input": {}, key: {"stdout": LINE}})
    programs = ([str(folder / "scripts/run.sh")], [sys.executable, "-I", str(copy / "scripts/run.py")])
    for program in programs:
        variables = {"PATH": path_with_tenterhook(), "HOME": str(home)}
        ended = subprocess.run(program, input=payload, capture_output=True, text=True, env=variables)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert json.loads(ended.stdout) == {
            "modified_output": {"stdout": CLEAN},
            "reason": "1 secret was replaced: password",
        }
