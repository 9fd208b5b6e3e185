"""A guard as a script: payload in, exit status, stdout and stderr out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenterhook.guards import script
from tenterhook.guards.calls import ASK, DENY, GuardedCall, Objection, shell_lines

CALLS: list[GuardedCall] = []


def judge(call: GuardedCall) -> Objection | None:
    """A guard that says what the line asks for."""
    CALLS.append(call)
    (line,) = shell_lines(call)
    if line == "fail":
        raise RecursionError("too deep")
    return Objection(str(line), "why \ud800") if line in (ASK, DENY) else None


def run(line: str, settings: dict[str, Any] | None = None, **more: str) -> tuple[int, str, str]:
    payload = json.dumps({"tool_name": "Shell", "tool_input": {"command": line}, **more}).encode()
    return script.run(judge, payload, {"HOME": "/home/dev"}, settings or {})


def test_a_refusal_is_exit_status_two_with_the_reason_on_stderr() -> None:
    assert run(DENY) == (2, "", "why ?\n")


def test_a_question_is_a_decision_on_stdout() -> None:
    status, stdout, stderr = run(ASK)
    assert (status, json.loads(stdout)["decision"], stderr) == (0, "ask", "")


def test_no_objection_says_nothing() -> None:
    assert run("ls") == (0, "", "")


@pytest.mark.parametrize("key", ["work_dir", "cwd"])
def test_the_directory_is_found_under_either_name(key: str) -> None:
    run("ls", {"allow": ["x"]}, **{key: "/work/site"})
    call = CALLS[-1]
    assert (call.work_dir, call.settings, call.environment) == ("/work/site", {"allow": ["x"]}, {"HOME": "/home/dev"})


@pytest.mark.parametrize(("on_failure", "status"), [("block", 2), ("open", 1), ("blok", 2)])
def test_a_guard_that_fails_refuses_unless_failures_let_calls_pass(on_failure: str, status: int) -> None:
    settings = {"on_failure": on_failure}
    assert run("fail", settings) == (status, "", "the guard failed: RecursionError: too deep\n")
    assert script.run(judge, b"\xff{", {}, settings)[0] == status
    assert script.run(judge, b"[]", {}, settings)[0] == status
