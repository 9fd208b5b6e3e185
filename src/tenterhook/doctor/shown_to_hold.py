"""What `doctor --live` has shown to hold, as long as the agent, its settings and what is installed stay the same."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

from ..basics import places
from ..installing import records

if TYPE_CHECKING:
    from ..installing.agents import Agent


def keep(agent: Agent, *, held: bool) -> None:
    """Remember that guards held in an agent just now, or forget that they ever did."""
    file = _file(agent)
    if not held:
        if os.path.exists(file):
            os.unlink(file)
        return
    places.make_private(os.path.dirname(file))
    places.replace_file(file, json.dumps({"schema": 1, "agent": agent.name, "for": _standing(agent)}).encode())


def is_kept(agent: Agent) -> bool:
    """Whether guards were shown to hold in the agent as it is now."""
    try:
        with open(_file(agent), encoding="utf-8") as stream:
            kept = json.load(stream)
    except (OSError, ValueError):
        return False
    return isinstance(kept, dict) and kept.get("for") == _standing(agent)


def _file(agent: Agent) -> str:
    return os.path.join(places.state(), "live", f"{agent.name}.json")


def _standing(agent: Agent) -> str:
    """All that a run depended on, as one value: the program, the agent's settings, what `install` wrote down."""
    program = os.path.realpath(agent.executable() or "")
    standing = hashlib.sha256(program.encode("utf-8", "surrogateescape"))
    for path in (agent.settings(), records.file(agent, None)):
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
