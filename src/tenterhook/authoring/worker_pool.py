"""Cases in parallel, each in a worker process. No worker and no directory is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import light_json, places, processes
from . import sandbox
from .paths import Places
from .worker import SETUP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from ..model import Hook
    from .cases import Case

_BOOT = "import sys; sys.path[:0] = {path!r}; from tenterhook.authoring.worker import main; main()"
_OVER = 30.0  # seconds beyond every deadline of a case
_LAST_WAIT = 10.0  # for a worker to leave nothing behind
_LONGEST_LINE = 64 * 1024 * 1024


class CaseJob(NamedTuple):
    """A case of a hook. `refusal` is called right before it runs, and returns why it may not, or None."""

    hook: Hook
    case: Case
    refusal: Callable[[], str | None]


def run_all(jobs: Sequence[CaseJob], done: Callable[[int, dict[str, Any]], None]) -> None:
    """Run all cases, as many at once as there are processors; `done` is called with each result.

    Raises `KeyboardInterrupt`, or `SystemExit` for another signal, after all processes it started have ended.
    """
    try:
        _interruptible(_try_all(jobs, done))
    except BaseExceptionGroup as group:  # usually of one that `done` raised, such as a broken pipe
        raise group.exceptions[0] from None


def _interruptible(work: Coroutine[Any, Any, None]) -> None:
    received: list[int] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(work)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, _note, number, received, task)
        try:
            await task
        except asyncio.CancelledError:
            if not received:
                raise

    asyncio.run(run())
    if signal.SIGINT in received:
        raise KeyboardInterrupt
    if received:
        raise SystemExit(128 + received[0])


def _note(number: int, received: list[int], task: asyncio.Future[None]) -> None:
    if not received:  # else it is already ending
        task.cancel()
    received.append(number)


async def _try_all(jobs: Sequence[CaseJob], done: Callable[[int, dict[str, Any]], None]) -> None:
    waiting = list(reversed(list(enumerate(jobs))))

    async def work() -> None:
        while waiting:
            number, job = waiting.pop()
            done(number, await _try(job))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(len(jobs), max(2, _processors()))):
            group.create_task(work())


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


async def _try(job: CaseJob) -> dict[str, Any]:
    """Return what happened to one case, or `error` with why it could not be run."""
    refusal = job.refusal()
    if refusal is not None:
        return {"error": refusal, "remedy": "review it again"}
    base = os.path.realpath(tempfile.mkdtemp(prefix="tenterhook-test-"))
    try:
        where = Places.below(base)
        sandbox.make(where)
        return await _ask(job, where)
    finally:
        sandbox.remove(base)


async def _ask(job: CaseJob, where: Places) -> dict[str, Any]:
    packages = [entry for entry in sys.path if entry.endswith("-packages")]
    path = [os.path.dirname(places.PACKAGE), *packages]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-S",
        "-c",
        _BOOT.format(path=path),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=where.work_dir,
        env=sandbox.environment(os.environ, where, job.case.env),
        start_new_session=True,  # we pass Ctrl-C on
        limit=_LONGEST_LINE,
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    leader = processes.child(process.pid)
    try:
        process.stdin.write(json.dumps(_handed(job, where)).encode() + b"\n")
        seconds = SETUP_SECONDS + 2 * (job.case.timeout or job.hook.timeout) + _OVER
        async with asyncio.timeout(seconds):
            answer, said = await asyncio.gather(process.stdout.read(), process.stderr.read())
        found: dict[str, Any] = json.loads(answer)
    except TimeoutError:
        return {"error": "it does not finish", "remedy": "check what the hook waits for"}
    except (ValueError, ConnectionError):
        last = said.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
        return {"error": f"the case could not be run: {last[0]}", "remedy": "try again; this should not happen"}
    finally:
        await _end(process, leader)
    return found


def _handed(job: CaseJob, where: Places) -> dict[str, Any]:
    hook = job.hook._replace(metadata=light_json.plain(dict(job.hook.metadata)), function=None)
    return {
        "base": where.base,
        "hook": hook._asdict(),
        "event_name": job.case.event_name(job.hook),
        "event": light_json.plain(dict(job.case.event)),
        "files": job.case.files,
        "setup": job.case.setup,
        "timeout": job.case.timeout,
        "look_at": list((job.case.expect or {}).get("files", ())),
    }


async def _end(process: asyncio.subprocess.Process, leader: processes.Process) -> None:
    """Close a worker's stdin, so that it cleans up; kill it if it does not end."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_LAST_WAIT):
            await asyncio.shield(process.wait())
    except TimeoutError:
        await asyncio.to_thread(processes.end_group, leader, 0)
        await process.wait()
