"""Python functions as hooks, decisions awaited by an event loop, cancellation; and hooks that call us in a circle."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from engine.one_hook import HANG
from support import shell_call
from tenterhook import Action, Decision, Engine, Event, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable


def answering(answer: Any, event: str = "pre-tool-call", **options: Any) -> Engine:
    """An engine whose only hook returns this."""
    engine = Engine()
    engine.on(event, **options)(lambda _: answer)
    return engine


# ---- what a function may say


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        (None, "none"),
        ({}, "none"),
        ({"decision": "allow"}, "allow"),
        ({"decision": "deny"}, "deny"),
        ({"decision": "block"}, "deny"),
        ({"decision": "ask"}, "ask"),
        ({"hookSpecificOutput": {"permissionDecision": "allow"}}, "approve"),
        (Decision(), "none"),
        (Decision(Action.DENY, "no"), "deny"),
        (Decision(Action.APPROVE), "approve"),
        (Decision("deny", "no"), "deny"),  # type: ignore[arg-type]  # people write the word
    ],
)
def test_a_function_answers_none_a_dict_or_a_decision(answer: Any, decision: str) -> None:
    verdict = answering(answer).decide(shell_call())
    assert verdict.decision == decision
    assert verdict.denied is (decision == "deny")
    assert verdict.runs[0].outcome == (Outcome.BLOCKED if decision == "deny" else Outcome.OK)


def test_everything_in_a_functions_answer_is_used() -> None:
    answer = {"decision": "ask", "reason": "r", "additional_context": "c", "modified_input": {"command": "new"}}
    verdict = answering(answer).decide(shell_call("old"))
    assert verdict[1:5] == ("ask", "r", {"command": "new"}, ("c",))


def test_a_deny_without_a_reason_names_the_event_the_function_declared() -> None:
    assert answering({"decision": "deny"}, "PreToolUse").decide(shell_call()).reason == "Blocked by PreToolUse hook"


@pytest.mark.parametrize("answer", ["deny", 3, True, ["deny"], object()])
def test_any_other_answer_is_reported_and_decides_nothing(answer: Any) -> None:
    verdict = answering(answer).decide(shell_call())
    assert verdict.decision == "none"
    assert verdict.runs[0].failure == "unreadable"


def test_a_decision_with_an_empty_input_leaves_the_input_as_it_is() -> None:
    assert answering(Decision(modified_input={})).decide(shell_call()).modified_input is None


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no string form")


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "nonsense",
    [
        {"reason": Unprintable()},
        {"additional_context": nested(500)},
        {"modified_input": {"a": nested(500)}},
        Decision("nonsense"),  # type: ignore[arg-type]
        Decision(modified_input={"a": nested(500)}),
        Decision(modified_input={"a": Unprintable()}),
        {"decision": "allow", "modified_input": {"n": float("nan")}},
    ],
    ids=["unprintable", "deep context", "deep input", "no action", "deep decision", "unprintable decision", "nan"],
)
def test_a_functions_nonsense_never_loses_anothers_block(nonsense: Any) -> None:
    engine = answering(nonsense)
    engine.on("pre-tool-call", name="guard")(lambda _: {"decision": "deny", "reason": "guarded"})
    verdict = engine.decide(shell_call())
    assert (verdict.decision, verdict.reason) == ("deny", "guarded")


# ---- how it is called


def test_a_function_is_given_the_event_under_the_name_it_declared() -> None:
    engine = Engine()
    given: list[Event] = []
    engine.on("PreToolUse")(given.append)
    engine.decide(shell_call("ls", session_id="s"))
    (event,) = given
    assert (event.name, event.canonical, event.session_id) == ("PreToolUse", "pre-tool-call", "s")
    assert (event.tool_name, event.tool_input) == ("Shell", {"command": "ls"})


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"tool": "^Bash$"}, True),
        ({"tool": "Read"}, False),
        ({"pattern": "^ls"}, True),
        ({"pattern": "^rm"}, False),
        ({"tool": "Shell", "pattern": "^rm"}, False),
        ({"tool": ""}, True),
    ],
)
def test_functions_have_matchers(options: dict[str, str], found: bool) -> None:
    assert answering({"decision": "deny"}, **options).decide(shell_call("ls")).denied is found


def test_functions_run_by_priority_and_a_block_stops_the_rest() -> None:
    engine = Engine()
    ran: list[str] = []

    def hook(name: str, answer: Any = None) -> Callable[[Event], Any]:
        def function(event: Event) -> Any:
            ran.append(name)
            return answer

        return function

    engine.on("pre-tool-call", name="c", priority=1)(hook("c"))
    engine.on("pre-tool-call", name="a", priority=900)(hook("a"))
    engine.on("pre-tool-call", name="b")(hook("b", {"decision": "deny"}))
    verdict = engine.decide(shell_call())
    assert ran == ["a", "b"]
    assert [run.outcome for run in verdict.runs] == [Outcome.OK, Outcome.BLOCKED, Outcome.NOT_RUN]


def test_a_function_sees_a_modified_input_and_runs_again_if_it_saw_another() -> None:
    engine = Engine()
    seen: list[str] = []
    engine.on("pre-tool-call", name="first")(lambda event: seen.append(event.tool_input["command"]))
    engine.on("pre-tool-call", name="change")(lambda _: {"modified_input": {"command": "new"}})
    assert engine.decide(shell_call("old")).modified_input == {"command": "new"}
    assert seen == ["old", "new"]


# ---- failures


def raising(error: BaseException) -> Callable[[Event], Any]:
    def function(event: Event) -> None:
        raise error

    return function


@pytest.mark.parametrize("error", [ValueError("bad"), SystemExit(2), KeyboardInterrupt(), AssertionError()])
def test_an_exception_is_a_failure(error: BaseException) -> None:
    engine = Engine()
    engine.on("pre-tool-call")(raising(error))
    engine.on("pre-tool-call", name="guard")(lambda _: {"decision": "deny"})
    verdict = engine.decide(shell_call())
    assert [run.outcome for run in verdict.runs] == [Outcome.FAILED, Outcome.BLOCKED]
    assert type(error).__name__ in (verdict.runs[0].why or "")


def test_on_timeout_the_verdict_goes_on_without_the_function() -> None:
    engine = Engine()
    release = threading.Event()
    engine.on("pre-tool-call", timeout=0.1)(lambda _: release.wait(60))
    engine.on("pre-tool-call", name="guard")(lambda _: {"decision": "deny"})
    begun = time.monotonic()
    verdict = engine.decide(shell_call())
    assert time.monotonic() - begun < HANG
    release.set()
    assert [run.outcome for run in verdict.runs] == [Outcome.TIMED_OUT, Outcome.BLOCKED]


def test_an_async_function_is_cancelled_at_its_timeout() -> None:
    engine = Engine()
    ended: list[str] = []

    @engine.on("pre-tool-call", timeout=0.1)
    async def slow(event: Event) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def main() -> Verdict:
        verdict = await engine.adecide(shell_call())
        await asyncio.sleep(0.05)
        return verdict

    assert asyncio.run(main()).runs[0].outcome == Outcome.TIMED_OUT
    assert ended == ["cancelled"]


def test_an_exception_in_an_async_function_is_a_failure() -> None:
    engine = Engine()

    @engine.on("pre-tool-call")
    async def broken(event: Event) -> None:
        raise ValueError("bad")

    for verdict in (asyncio.run(engine.adecide(shell_call())), engine.decide(shell_call())):
        assert (verdict.runs[0].outcome, verdict.runs[0].why) == (Outcome.FAILED, "ValueError: bad")


# ---- event loops


def test_async_functions_run_on_the_callers_loop() -> None:
    engine = Engine()
    loops: list[Any] = []

    @engine.on("pre-tool-call")
    async def guard(event: Event) -> dict[str, str]:
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return {"decision": "deny"}

    async def main() -> Verdict:
        loops.append(asyncio.get_running_loop())
        return await engine.adecide(shell_call())

    assert asyncio.run(main()).denied
    assert loops[0] is loops[1]


def test_async_functions_run_without_a_loop_too() -> None:
    engine = Engine()

    @engine.on("pre-tool-call")
    async def guard(event: Event) -> dict[str, str]:
        await asyncio.sleep(0)
        return {"decision": "deny"}

    assert engine.decide(shell_call()).denied


# ---- in the background


def test_async_function_hooks_are_started_and_decide_nothing() -> None:
    engine = Engine()
    ran = threading.Event()

    @engine.on("pre-tool-call", async_=True)
    def later(event: Event) -> dict[str, str]:
        ran.set()
        return {"decision": "deny"}

    verdict = engine.decide(shell_call())
    assert (verdict.decision, verdict.runs[0].outcome) == ("none", Outcome.STARTED)
    assert ran.wait(HANG)
