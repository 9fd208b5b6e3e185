"""decide() and adecide(): each call has its own verdict, in any thread or loop; a cancelled one leaves nothing."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from engine.one_hook import HANG
from support import (
    alive,
    array_hook,
    shell_call,
    table_hook,
    tenterhook,
    until,
    write_config,
)
from tenterhook import Engine, Event, Verdict
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_bad_matcher_or_event_is_refused_where_it_is_written() -> None:
    with pytest.raises(HookError, match="not a Python regular expression"):
        Engine().on("pre-tool-call", tool="(")
    with pytest.raises(HookError, match="did you mean 'pre-tool-call'"):
        Engine().on("pre-tool-cal")


def test_the_decorator_leaves_the_function_as_it_is() -> None:
    engine = Engine()

    @engine.on("pre-tool-call")
    def guard(event: Event) -> dict[str, str]:
        """Says no."""
        return {"decision": "deny"}

    assert guard(shell_call()) == {"decision": "deny"}
    assert (engine.hooks[0].name, engine.hooks[0].description) == ("guard", "Says no.")


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


@pytest.mark.parametrize("key", ["command", "cmd", "script"])
def test_a_named_tool_counts_as_the_tool_it_is_for_every_kind_of_hook(project: Path, home: Path, key: str) -> None:
    """A matcher for any agent's name of the shell, and a guard in our process."""
    assert tenterhook("add", "block-dangerous-commands").returncode == 0
    configs = [
        write_config(project / "array.toml", array_hook("cat > array.json", matcher="Bash")),
        write_config(project / "table.toml", table_hook("cat > table.json", matcher={"tool": "^Shell$"})),
    ]
    engine = Engine.load(configs=configs, tools={"run_it": "bash", "robot": "other"})
    call = Event("pre-tool-call", tool_name="run_it", tool_input={key: "sudo rm -rf /"})
    assert "delete-system" in (engine.decide(call).reason or "")
    harmless = call.replace(tool_input={key: "ls"})
    assert not engine.decide(harmless).denied
    assert json.loads((project / "table.json").read_text())["tool_kind"] == "Shell"
    assert (project / "array.json").exists()
    assert not engine.decide(call.replace(tool_name="robot")).denied
    assert not Engine.load(configs=configs).decide(call.replace(tool_input={"it": "sudo rm -rf /"})).denied


def test_a_copied_guard_is_told_which_tool_it_is(project: Path, home: Path) -> None:
    assert tenterhook("add", "block-dangerous-commands", "--copy").returncode == 0
    engine = Engine.load(tools={"run_it": "Shell"})
    verdict = engine.decide(Event("pre-tool-call", tool_name="run_it", tool_input={"it": "sudo rm -rf /"}))
    assert "delete-system" in (verdict.reason or "")


def test_an_unknown_tool_cannot_be_named() -> None:
    with pytest.raises(HookError) as raised:
        Engine.load(tools={"run_it": "Shel"})
    assert "Shell" in (raised.value.remedy or "")
