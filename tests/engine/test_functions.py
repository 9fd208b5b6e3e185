"""Python functions as hooks, decisions awaited by an event loop, cancellation; and hooks that call us in a circle."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shlex
import subprocess
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from support import alive, array_hook, decide, folder_hook, shell_call, table_hook, until, user_hooks, write_config
from tenterhook import Action, Decision, Engine, Event, Outcome, Verdict
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HANG = 30.0


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


def test_a_bad_matcher_or_event_is_refused_where_it_is_written() -> None:
    with pytest.raises(HookError, match="not a Python regular expression"):
        Engine().on("pre-tool-call", tool="(")
    with pytest.raises(HookError, match="did you mean 'pre-tool-call'"):
        Engine().on("pre-tool-cal")


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


def test_the_decorator_leaves_the_function_as_it_is() -> None:
    engine = Engine()

    @engine.on("pre-tool-call")
    def guard(event: Event) -> dict[str, str]:
        """Says no."""
        return {"decision": "deny"}

    assert guard(shell_call()) == {"decision": "deny"}
    assert (engine.hooks[0].name, engine.hooks[0].description) == ("guard", "Says no.")


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


def test_the_loop_goes_on_while_hooks_run(project: Path) -> None:
    engine = Engine.load(configs=[write_config(project / "hooks.toml", array_hook("sleep 0.3; exit 2"))])

    async def main() -> tuple[Verdict, int]:
        task = asyncio.create_task(engine.adecide(shell_call()))
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return await task, ticks

    verdict, ticks = asyncio.run(main())
    assert verdict.denied
    assert ticks > 5


def test_concurrent_decisions_keep_their_own_verdicts(project: Path) -> None:
    line = """sleep 0.1; grep -o '"command": "[^"]*"' | cut -d'"' -f4 >&2; exit 2"""
    engine = Engine.load(configs=[write_config(project / "hooks.toml", table_hook(line))])

    async def main() -> list[Verdict]:
        events = [shell_call(str(number), session_id=f"s{number % 3}") for number in range(20)]
        return await asyncio.gather(*map(engine.adecide, events))

    assert [verdict.reason for verdict in asyncio.run(main())] == [str(number) for number in range(20)]


def test_decisions_in_several_threads_keep_their_own_verdicts(project: Path) -> None:
    line = """grep -o '"command": "[^"]*"' | cut -d'"' -f4 >&2; exit 2"""
    engine = Engine.load(configs=[write_config(project / "hooks.toml", array_hook(line))])
    reasons: dict[int, str | None] = {}

    def work(number: int) -> None:
        reasons[number] = engine.decide(shell_call(str(number))).reason

    threads = [threading.Thread(target=work, args=[number]) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    assert reasons == {number: str(number) for number in range(10)}


# ---- cancellation


async def cancelled(engine: Engine, begun: Path) -> list[dict[str, Any]]:
    """Await a decision, give up when its hook has begun; return what the loop complained about."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    task = asyncio.create_task(engine.adecide(shell_call()))
    while not begun.exists():
        await asyncio.sleep(0.01)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass  # not `pytest.raises`, which would keep the traceback and all that hangs on it alive
    else:
        pytest.fail("it was not cancelled")
    del task
    await asyncio.sleep(0.05)
    gc.collect()
    return complaints


@pytest.mark.parametrize("make", [array_hook, table_hook], ids=["array", "table"])
def test_cancelling_a_decision_kills_its_hooks_with_their_children(project: Path, make: type) -> None:
    line = "trap '' TERM; echo $$ > leader; sleep 60 & echo $! > child; touch begun; wait"
    engine = Engine.load(configs=[write_config(project / "hooks.toml", make(line) + make("touch late; true"))])
    begun = time.monotonic()
    complaints = asyncio.run(cancelled(engine, project / "begun"))
    assert time.monotonic() - begun < HANG
    leader, child = (int((project / name).read_text()) for name in ("leader", "child"))
    assert not os.path.exists(f"/proc/{leader}")  # gone and reaped before the caller hears of it
    until(lambda: not alive(child), HANG)
    assert complaints == []
    if make is table_hook:  # in the array format the other one runs beside it
        assert not (project / "late").exists()


def test_a_cancelled_decision_starts_nothing_in_the_background(project: Path) -> None:
    hooks = table_hook("touch begun; sleep 60") + table_hook("touch late", async_=True)
    engine = Engine.load(configs=[write_config(project / "hooks.toml", hooks)])
    asyncio.run(cancelled(engine, project / "begun"))
    time.sleep(0.5)
    assert not (project / "late").exists()


def test_cancelling_one_decision_leaves_the_others_alone(project: Path) -> None:
    line = "echo > begun-{{tool_input.command}}; sleep 0.6; exit 2"
    engine = Engine.load(configs=[write_config(project / "hooks.toml", table_hook(line))])

    async def main() -> Verdict:
        first, second = (asyncio.create_task(engine.adecide(shell_call(name))) for name in ("1", "2"))
        while not ((project / "begun-1").exists() and (project / "begun-2").exists()):
            await asyncio.sleep(0.01)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert asyncio.run(main()).denied


def test_cancelling_a_decision_cancels_an_async_function(project: Path) -> None:
    engine = Engine()
    ended: list[str] = []

    @engine.on("pre-tool-call")
    async def slow(event: Event) -> None:
        (project / "begun").touch()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("ended")

    begun = time.monotonic()
    asyncio.run(cancelled(engine, project / "begun"))
    assert time.monotonic() - begun < HANG
    assert ended == ["ended"]


def test_cancelling_a_decision_does_not_wait_for_a_plain_function(project: Path) -> None:
    engine = Engine()
    release = threading.Event()

    @engine.on("pre-tool-call")
    def slow(event: Event) -> None:
        (project / "begun").touch()
        release.wait(60)

    begun = time.monotonic()
    asyncio.run(cancelled(engine, project / "begun"))
    release.set()
    assert time.monotonic() - begun < HANG


def test_a_decision_may_time_out_in_the_callers_hands(project: Path) -> None:
    engine = Engine.load(configs=[write_config(project / "hooks.toml", array_hook("echo $$ > leader; sleep 60"))])

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(engine.adecide(shell_call()), 0.5)

    asyncio.run(main())
    assert not alive(int((project / "leader").read_text()))


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


# ---- circles


CALL_US = """
    import json, sys
    from tenterhook import Engine, Event
    event = Event("pre-tool-call", tool_name="Shell", tool_input={"command": "ls"})
    verdict = Engine.load(configs=sys.argv[2:]).decide(event)
    with open("inner", "a") as file:
        file.write(json.dumps(verdict.as_json()) + "\\n")
    sys.exit(int(sys.argv[1]))
"""


def calling(project: Path, code: int, *configs: str) -> str:
    """A line that puts the same event to the hooks of these files, from inside a hook."""
    script = project / "call_us.py"
    script.write_text(textwrap.dedent(CALL_US))
    return shlex.join([sys.executable, str(script), str(code), *configs])


def inner(project: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / "inner").read_text().splitlines()]


@pytest.mark.parametrize("make", [array_hook, table_hook], ids=["array", "table"])
def test_a_hook_that_calls_itself_ends(project: Path, make: type) -> None:
    config = write_config(project / "hooks.toml", make(calling(project, 2, "hooks.toml")))
    verdict = decide(config)
    assert verdict.denied
    (called,) = inner(project)
    assert (called["runs"][0]["outcome"], called["decision"]) == ("failed", "none")
    assert "circle" in called["runs"][0]["why"]


def test_a_folder_hook_that_calls_itself_ends(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "loop", calling(project, 2))
    assert Engine.load().decide(shell_call()).denied
    (called,) = inner(project)
    assert "circle" in called["runs"][0]["why"]


def test_two_hooks_that_call_each_other_end(project: Path) -> None:
    write_config(project / "one.toml", table_hook(calling(project, 0, "two.toml")))
    write_config(project / "two.toml", table_hook(calling(project, 0, "one.toml")))
    Engine.load(configs=["one.toml"]).decide(shell_call())
    assert [called["runs"][0]["outcome"] for called in inner(project)] == ["failed", "ok"]


def test_an_async_hook_that_calls_itself_ends(project: Path) -> None:
    config = write_config(project / "hooks.toml", table_hook(calling(project, 0, "hooks.toml"), async_=True))
    decide(config)
    until((project / "inner").exists)
    time.sleep(0.5)  # time for a second round, if there were one
    (called,) = inner(project)
    assert "circle" in called["runs"][0]["why"]


def test_a_hook_may_call_us_with_other_hooks(project: Path) -> None:
    write_config(project / "other.toml", table_hook("echo inner >&2; exit 2"))
    decide(write_config(project / "hooks.toml", table_hook(calling(project, 0, "other.toml"))))
    assert inner(project)[0]["reason"] == "inner"


def test_the_other_hooks_of_a_circle_still_run(project: Path) -> None:
    hooks = array_hook(calling(project, 0, "hooks.toml")) + array_hook("echo guarded >&2; exit 2")
    decide(write_config(project / "hooks.toml", hooks))
    assert inner(project)[0]["reason"] == "guarded"


@pytest.mark.parametrize("pid", ["1", "999999", "self", "4194304", "0", "-1", "x"])
def test_a_forged_chain_does_not_disable_a_guard(project: Path, monkeypatch: pytest.MonkeyPatch, pid: str) -> None:
    config = write_config(project / "hooks.toml", table_hook('echo "$TENTERHOOK_CHAIN" >&2; exit 2', name="guard"))
    real = (decide(config).reason or "").partition(":")[2]
    started = {"self": f"{os.getpid()}.0"}.get(pid, f"{pid}.1")
    monkeypatch.setenv("TENTERHOOK_CHAIN", f"{started}:{real} : :: garbage {real}")
    assert decide(config).denied


def test_a_chain_of_an_ended_process_does_not_disable_a_guard(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = write_config(project / "hooks.toml", table_hook('echo "$TENTERHOOK_CHAIN" >&2; exit 2', name="guard"))
    code = """
        from tenterhook import Engine, Event
        event = Event("pre-tool-call", tool_name="Shell", tool_input={"command": "ls"})
        print(Engine.load(configs=["hooks.toml"]).decide(event).reason)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert ":" in ended.stdout, ended.stderr
    monkeypatch.setenv("TENTERHOOK_CHAIN", ended.stdout.strip())
    assert decide(config).denied
