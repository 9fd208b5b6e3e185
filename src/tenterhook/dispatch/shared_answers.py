"""Shares the answer to one tool call between installations.

An agent that also reads another agent's hook files runs the entries of both installations for each call. The first one
decides and stores the verdict; another one that gets the same call within seconds waits for that verdict and uses it.
If the same installation gets the call again, it is decided anew: some models use the ID of a call more than once.
"""

from __future__ import annotations

import os
import time

from .. import __version__
from ..basics import light_json, places, processes
from ..basics.digests import blake2b
from ..engine.sessions import Session
from ..model import Action, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model import Event

FRESH = 10.0  # seconds for which a verdict is shared
_MOST = 32  # files, before old ones are removed
_ABANDONED = 900.0  # seconds after which a file without a verdict is removed
# The fields that identify a call, and determine which hooks match it.
_OF_CALL = ("tool_use_id", "tool_name", "mcp_names", "tool_input", "tool_output", "error")
_NOT_SHARED = ("runs", "problems")  # fields of a verdict that only the deciding installation writes to the journal


class SharedAnswer:
    """The shared answer to a tool call, locked in a `with` block; `verdict` is another installation's, or None."""

    def __init__(self, record: dict[str, Any], event: Event, deadline: float) -> None:
        self.verdict: Verdict | None = None
        self._asker = f"{record['host']} {record.get('root') or ''}"
        self._file = os.path.join(Session(event.session_id).directory, "answers", _name(record, event))
        self._wait = (deadline - time.monotonic()) / 2  # the other half is left for deciding here
        self._descriptor = -1

    def __enter__(self) -> SharedAnswer:
        try:
            directory = os.path.dirname(self._file)
            places.make_private(directory)
            _remove_old(directory)
            self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            if processes.acquire(self._descriptor, max(self._wait, 0)):
                self.verdict = self._other_verdict()
            else:
                self.__exit__()
        except (OSError, ValueError, TypeError, KeyError):  # the file cannot be written or read: decide here
            pass
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def stored(self, verdict: Verdict) -> Verdict:
        """Store a verdict that was decided here, and return it."""
        shared = {name: value for name, value in verdict._asdict().items() if name not in _NOT_SHARED}
        self._write({"time": time.time(), "askers": [self._asker], "verdict": shared})
        return verdict

    def _other_verdict(self) -> Verdict | None:
        stored = os.pread(self._descriptor, os.fstat(self._descriptor).st_size, 0)
        if not stored:
            return None
        known = light_json.loads(stored.decode())
        if not 0 <= time.time() - known["time"] < FRESH or self._asker in known["askers"]:
            return None
        self._write({**known, "askers": [*known["askers"], self._asker]})
        given = known["verdict"]
        texts = {name: tuple(given[name]) for name in ("additional_context", "messages")}
        return Verdict(**{**given, **texts, "decision": Action(given["decision"])})

    def _write(self, content: dict[str, Any]) -> None:
        if self._descriptor < 0:
            return
        try:
            data = light_json.dumps(content).encode()
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, data, 0)
        except (OSError, ValueError):  # a full disk: the other installation decides itself
            pass


def _name(record: dict[str, Any], event: Event) -> str:
    """Return the file's name: a digest of what identifies the call and the hooks."""
    fields = [event.fields.get(name) for name in _OF_CALL]
    call = [__version__, sorted(record["configs"]), event.canonical, event.session_id, event.work_dir, *fields]
    return str(blake2b(light_json.dumps(call, sort_keys=True).encode(), digest_size=32).hexdigest())


def _remove_old(directory: str) -> None:
    names = os.listdir(directory)
    now = time.time()
    for name in names if len(names) > _MOST else ():
        path = os.path.join(directory, name)
        try:
            found = os.stat(path)
            if now - found.st_mtime > (2 * FRESH if found.st_size else _ABANDONED):
                os.unlink(path)
        except OSError:  # another process removed it
            pass
