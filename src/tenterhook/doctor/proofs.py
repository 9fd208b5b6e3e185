"""What `doctor --live` has shown to hold, as long as the agent, its settings and what is installed stay the same."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

from .. import __version__
from ..basics import places
from ..install import records

if TYPE_CHECKING:
    from ..agents.protocol import Agent


def keep(agent: Agent, root: str | None, *, held: bool) -> None:
    """Remember that guards held in an agent just now, for everything or in one project; or forget that they did."""
    file = _file(agent, root)
    if not held:
        if os.path.exists(file):
            os.unlink(file)
        return
    places.make_private(os.path.dirname(file))
    places.replace_file(file, json.dumps({"schema": 1, "agent": agent.name, "for": _standing(agent, root)}).encode())


def is_kept(agent: Agent, root: str | None) -> bool:
    """Whether guards were shown to hold in the agent as it is now."""
    try:
        with open(_file(agent, root), encoding="utf-8") as stream:
            kept = json.load(stream)
    except (OSError, ValueError):
        return False
    return isinstance(kept, dict) and kept.get("for") == _standing(agent, root)


def _file(agent: Agent, root: str | None) -> str:
    return os.path.join(places.state(), "live", os.path.basename(records.file(agent, root)))


def _standing(agent: Agent, root: str | None) -> str:
    """What a run depended on, as one value: us, the program, what `install` wrote down, the files that it changed."""
    program = os.path.realpath(agent.executable() or "")
    standing = hashlib.sha256(f"{__version__} {program}".encode("utf-8", "surrogateescape"))
    record = records.file(agent, root)
    changed = (records.read(record) or {}).get("files", ())
    for path in (record, *(file["path"] for file in changed)):
        standing.update(_bytes(path))
    if os.path.isfile(program):
        status = os.stat(program)
        standing.update(f"{status.st_size} {status.st_mtime_ns}".encode())
    return standing.hexdigest()


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
