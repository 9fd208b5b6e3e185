"""Python functions as hooks: each is called in its own thread, so that one that hangs does not block the caller."""

from __future__ import annotations

import inspect
import queue
import threading
import time

from ..basics import light_json
from ..errors import Cancelled
from ..model import Action, Decision, Event, Failure, Hook, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from typing import Any

    from .process_runner import Cancel

_CANCEL_INTERVAL = 0.02  # seconds between checks whether the caller has cancelled


def call(hook: Hook, event: Event, cancel: Cancel | None, loop: AbstractEventLoop | None) -> Run:
    """Call a function hook and wait for its answer until its timeout.

    A coroutine function runs on the caller's loop if there is one. A plain function that does not return cannot be
    stopped: the hook times out, and its thread keeps running. Raises `Cancelled` when `cancel` is set.
    """
    begun = time.monotonic()
    answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
    given = event.replace(name=hook.declared)
    pending = _start(hook, given, answers, loop)
    answered = None
    while answered is None:
        left = begun + hook.timeout - time.monotonic()
        if left <= 0 or (cancel is not None and cancel.is_set):
            if pending is not None:
                pending.cancel()
            break
        try:
            answered = answers.get(timeout=left if cancel is None else min(left, _CANCEL_INTERVAL))
        except queue.Empty:
            continue
    if cancel is not None and cancel.is_set and answered is None:
        raise Cancelled("cancelled while a function hook was running")
    run = Run(hook, duration_ms=(time.monotonic() - begun) * 1000, saw=event.tool_input)
    if answered is None:
        return run._replace(failure=Failure.TIMED_OUT, why=f"no answer within {hook.timeout:g} s")
    answer, error = answered
    if error is not None:
        return run._replace(failure=Failure.RAISED, why=f"{type(error).__name__}: {error}")
    return run._replace(answer=answer)


def start(hook: Hook, event: Event) -> None:
    """Call a function hook without waiting; a failure is logged."""

    def work() -> None:
        run = call(hook, event, None, None)
        if run.failed:
            import logging

            logging.getLogger("tenterhook").warning("hook %s: %s", hook.name, run.why)

    threading.Thread(target=work, name=f"background hook {hook.name}", daemon=True).start()


def _start(
    hook: Hook,
    event: Event,
    answers: queue.SimpleQueue[tuple[Any, BaseException | None]],
    loop: AbstractEventLoop | None,
) -> Any:
    function = hook.function
    assert function is not None
    if loop is not None and inspect.iscoroutinefunction(function):
        import asyncio

        try:
            coroutine = function(event)
        except Exception as error:  # noqa: BLE001  # a wrong signature is the function's failure
            answers.put((None, error))
            return None
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        future.add_done_callback(lambda done: answers.put(_result(done)))
        return future

    def work() -> None:
        try:
            answer = function(event)
            if inspect.isawaitable(answer):
                import asyncio

                answer = asyncio.run(_wait_for(answer))
        except BaseException as error:  # noqa: BLE001  # any exception is the function's failure
            answers.put((None, error))
        else:
            answers.put(_readable(answer))

    threading.Thread(target=work, name=f"hook {hook.name}", daemon=True).start()
    return None


async def _wait_for(answer: Any) -> Any:
    return await answer


def _result(done: Any) -> tuple[Any, BaseException | None]:
    if done.cancelled():
        return None, TimeoutError("cancelled")
    return (None, done.exception()) if done.exception() else _readable(done.result())


def _readable(answer: Any) -> tuple[Any, BaseException | None]:
    """Return an answer as plain JSON or as a checked Decision, or the error."""
    try:
        if isinstance(answer, Decision):
            modified = light_json.plain(answer.modified_input) or None
            output = light_json.plain(answer.modified_output)
            return answer._replace(action=Action(answer.action), modified_input=modified, modified_output=output), None
        return light_json.plain(answer), None
    except Exception as error:  # noqa: BLE001  # an object whose own methods raise is the function's failure
        return None, error
