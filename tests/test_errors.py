"""Problems and errors: each says how bad it is and what to do about it."""

from __future__ import annotations

from tenterhook.errors import CODES, ERROR, WARNING, BadEvent, HookError, Problem, UnknownEvent


def test_an_error_is_shown_with_its_remedy() -> None:
    assert str(HookError("no such hook", "see tenterhook list")) == "no such hook (see tenterhook list)"
    assert str(UnknownEvent("no such event")) == "no such event"
    assert isinstance(BadEvent("x"), HookError)  # one `except` at the edges catches all of ours


def test_a_problem_has_the_severity_of_its_code_in_data_as_well() -> None:
    assert {severity for severity, _ in CODES.values()} == {ERROR, WARNING}
    problem = Problem("no-hooks", "hooks.toml", 3, None, "no hooks", "add one")
    assert problem.as_json() == {**problem._asdict(), "severity": WARNING}
