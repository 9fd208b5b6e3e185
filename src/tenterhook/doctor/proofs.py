"""Results of `doctor --live`, valid while the agent, its settings and the installation stay the same.

And the versions of agents that the tests of Tenterhook were last run with.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..basics import places
from ..install import records

if TYPE_CHECKING:
    from ..agents.protocol import Agent


def record_result(agent: Agent, root: str | None, *, held: bool) -> None:
    """Record that guards blocked in an agent, for the user or in one project; or delete that record."""
    file = _file(agent, root)
    if not held:
        Path(file).unlink(missing_ok=True)
        return
    places.make_private(os.path.dirname(file))
    places.replace_file(file, json.dumps({"schema": 1, "agent": agent.name, "for": _state_hash(agent, root)}).encode())


def is_proven(agent: Agent, root: str | None) -> bool:
    """Return whether a live run showed that guards block in the agent as it is now."""
    try:
        with open(_file(agent, root), encoding="utf-8") as stream:
            kept = json.load(stream)
    except (OSError, ValueError):
        return False
    return isinstance(kept, dict) and kept.get("for") == _state_hash(agent, root)


def last_proof(agent: Agent) -> dict[str, str] | None:
    """Return the agent's version in the last test run of Tenterhook, and the date; or None."""
    with open(os.path.join(places.PACKAGE, "agents", "proven.json"), encoding="utf-8") as stream:
        found: dict[str, dict[str, str]] = json.load(stream)
    return found.get(agent.name)


def _file(agent: Agent, root: str | None) -> str:
    return os.path.join(places.state(), "live", os.path.basename(records.file(agent, root)))


def _state_hash(agent: Agent, root: str | None) -> str:
    """Return a hash of what a live run depends on: our version, the program, the record, the changed files."""
    program = os.path.realpath(agent.executable() or "")
    digest = hashlib.sha256(f"{__version__} {program}".encode("utf-8", "surrogateescape"))
    record = records.file(agent, root)
    changed = (records.read(record) or {}).get("files", ())
    for path in (record, *(file["path"] for file in changed)):
        digest.update(_bytes(path))
    if os.path.isfile(program):
        status = os.stat(program)
        digest.update(f"{status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
