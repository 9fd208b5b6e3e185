"""One case in a process of its own: the real engine with exactly this hook, in a sandbox.

Processes that the hook leaves behind become children of this process, and end with it. It ends itself when its stdin is
closed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from ..basics import places, processes
from ..catalog.catalog import Catalog
from ..catalog.trust import Trust
from ..engine.engine import Engine
from ..engine.process_runner import Cancel, Command, run_stage
from ..errors import Cancelled, HookError
from ..journal.follower import Follower
from ..model import SILENT, Event, Hook, Outcome, Run
from . import sandbox
from .explain import explain
from .paths import Places, all_filled, all_settled

if TYPE_CHECKING:
    from collections.abc import Mapping

SETUP_SECONDS = 60.0
_LEFT_BEHIND_SECONDS = 1.0  # for children of the hook to end
_LAST_SECONDS = 3.0  # for killed processes to end
_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Read a job from stdin, write what happened to stdout, and leave nothing behind."""
    job = json.loads(sys.stdin.buffer.readline())
    adopt_orphans()
    cancel = Cancel()
    signal.signal(signal.SIGTERM, lambda *_: cancel.set())
    threading.Thread(target=_watch, args=(cancel,), daemon=True).start()
    status = 1
    try:
        data = json.dumps(_answer(job, cancel)).encode() + b"\n"
        while data:
            data = data[os.write(1, data) :]
        status = 0
    except (Cancelled, BrokenPipeError):
        pass  # the caller has gone
    finally:
        end_children()
        sandbox.remove(job["base"])
    os._exit(status)  # without waiting for the thread that reads stdin


def _watch(cancel: Cancel) -> None:
    """Cancel when stdin ends: the caller keeps it open as long as it waits for the answer."""
    while os.read(0, 4096):
        pass
    cancel.set()


def _answer(job: Mapping[str, Any], cancel: Cancel) -> dict[str, Any]:
    try:
        return _run(job, cancel)
    except Cancelled:
        raise
    except HookError as error:
        return {"error": error.message, "remedy": error.remedy}
    except OSError as error:
        return {"error": f"{error.strerror or error}: {error.filename}", "remedy": "fix the case's files"}


def _run(job: Mapping[str, Any], cancel: Cancel) -> dict[str, Any]:
    hook = _as_tested(Hook(**job["hook"]), job["timeout"])
    where = Places.below(job["base"])._replace(state_dir=_state_dir(hook))
    sandbox.write_files(where, job["files"])
    event = _event(job, where)
    if job["setup"]:
        _set_up(where.filled(job["setup"]), event.work_dir, cancel)
    before = sandbox.snapshot(where)
    catalog = Catalog(where.work_dir, (), (hook,), (), (), Trust(where.work_dir, everything=True))
    engine = Engine([hook], catalog=catalog, tell_untrusted=False)
    verdict = engine.decide(event, cancel=cancel)
    run = next((run for run in verdict.runs if run.failed), verdict.runs[0] if verdict.runs else None)
    why_not = explain([hook], event, catalog)[0].why_not if run is None else None
    found = _described(run) if run is not None else {}
    if run is not None and run.outcome is Outcome.STARTED:
        found |= _ended(hook, cancel)
    notes = [*found.pop("notes", ())]
    left = wait_for_children(cancel)
    if left:
        notes.append(f"it left {left} process{'' if left == 1 else 'es'} running; killed")
    actual = {
        "ran": run is not None,
        "why_not": why_not,
        "decision": str(verdict.decision),
        "reason": verdict.reason,
        "modified_input": verdict.modified_input,
        "modified_output": verdict.modified_output,
        "additional_context": "\n".join(verdict.additional_context) or None,
        "message": "\n".join(verdict.messages) or None,
        "scope": verdict.scope,
        **found,
        "notes": notes,
        "env": engine.session_variables(event.session_id) if run is not None else {},
        "files": {path: sandbox.read_back(where.path_of(path)) for path in job["look_at"]},
        "changed": sandbox.changed(where, before),
    }
    settled: dict[str, Any] = all_settled(actual, where)
    return settled


def _as_tested(hook: Hook, timeout: float | None) -> Hook:
    """Return the hook without shadow mode, so that its decision is enforced, and with another timeout if given.

    A user's pack is tested as a project's: the caller has checked its source, whose record is not in the sandbox.
    """
    metadata = {key: value for key, value in hook.metadata.items() if (key, value) != ("mode", "shadow")}
    layer = "project" if hook.pack and hook.layer == "user" else hook.layer
    hook = hook._replace(metadata=metadata, replaced_by=None, layer=layer)
    return hook if timeout is None else hook._replace(timeout=timeout)


def _state_dir(hook: Hook) -> str:
    """Return the hook's own state directory, as the engine names it."""
    name = hook.name if hook.layer in ("managed", "user") else f"{hook.name}@{hook.source}"
    return os.path.join(places.state(), "hooks", places.file_name(name))


def _event(job: Mapping[str, Any], where: Places) -> Event:
    given = all_filled(job["event"], where)
    below = given.pop("cwd", None) or given.pop("work_dir", None) or ""
    given.pop("work_dir", None)
    work_dir = where.path_of(below) if below else where.work_dir
    os.makedirs(work_dir, mode=0o700, exist_ok=True)
    session_id = given.pop("session_id", None) or "session_test"
    return Event.from_payload(job["event_name"], given, work_dir=work_dir, session_id=session_id)


def _set_up(line: str, work_dir: str, cancel: Cancel) -> None:
    command = Command(("/bin/sh", "-c", line), b"", work_dir, dict(os.environb), SETUP_SECONDS)
    (ended,) = run_stage([command], cancel)
    if ended.failure or ended.exit_code:
        said = (ended.stderr or ended.stdout).decode("utf-8", "replace").strip().splitlines()
        why = ended.why or f"exit {ended.exit_code}"
        raise HookError(f"setup failed ({why})" + (f": {said[-1]}" if said else ""), "fix the setup of the case")


def _described(run: Run) -> dict[str, Any]:
    decision = run.decision
    ignored = [decision.ignored] if decision.ignored else []
    return {
        "outcome": str(run.outcome),
        "why": run.why,
        "exit_code": run.exit_code,
        "duration_ms": round(run.duration_ms, 3),
        "stdout": run.stdout,
        "stderr": run.stderr,
        "log": decision.log if decision is not SILENT else None,
        "unreadable": decision.unreadable,
        "notes": [*run.notes, *decision.notes, *ignored],
    }


def _ended(hook: Hook, cancel: Cancel) -> dict[str, Any]:
    """Wait for the end of an asynchronous hook, and return it as recorded in the journal."""
    last = time.monotonic() + hook.timeout + _LAST_SECONDS
    while time.monotonic() < last:
        if cancel.is_set:
            raise Cancelled("cancelled while a hook was running")
        records = [line.record for line in Follower(places.journal()).lines()]
        ended = [record for record in records if record is not None and record.get("type") == "async"]
        if ended:
            kept = ("outcome", "why", "exit_code", "duration_ms", "stdout", "stderr")
            return {key: ended[-1][key] for key in kept}
        time.sleep(0.005)
    return {"outcome": str(Outcome.FAILED), "why": "its end was not recorded"}


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, instead of init."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):  # not Linux: descendants in a new session escape
        pass


def wait_for_children(cancel: Cancel) -> int:
    """Wait briefly for processes that a hook left behind, then kill them; return how many were killed."""
    last = time.monotonic() + _LEFT_BEHIND_SECONDS
    while _reap() and time.monotonic() < last:
        if cancel.is_set:
            raise Cancelled("cancelled while something that a hook left behind was running")
        time.sleep(0.005)
    return end_children()


def end_children() -> int:
    """Kill all children and wait for their end; return how many there were."""
    ended: set[int] = set()
    last = time.monotonic() + _LAST_SECONDS
    while _reap() and time.monotonic() < last:
        for child in (each.process.pid for each in processes.running() if each.parent == os.getpid()):
            ended.add(child)
            try:
                os.kill(child, signal.SIGKILL)
            except OSError:  # ended meanwhile, or not permitted
                pass
        time.sleep(0.002)
    return len(ended)


def _reap() -> bool:
    """Reap children that have ended. Return False if there is no child left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True
