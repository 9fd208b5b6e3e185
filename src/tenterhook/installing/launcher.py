"""The launcher: the file that agents run at each event, which finds a Tenterhook that works.

What is true of every installation of this account stands in it, so that an agent's settings name it and no more.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from ..basics import places
from ..catalog import ownership, roots

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = 1  # of the launcher and of the entries that name it; what another version wrote is renewed
BRIDGE = os.path.join(places.PACKAGE, "bridge.py")
_TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launcher.sh")
# Where pipx and uv keep the interpreter of a Tenterhook that they installed, below the home.
_TOOLS = (
    ".local/share/pipx/venvs/tenterhook/bin/python",
    ".local/pipx/venvs/tenterhook/bin/python",
    ".local/share/uv/tools/tenterhook/bin/python",
)


def path() -> str:
    return os.path.join(places.state(), "launcher.sh")


def fallback() -> str | None:
    """The interpreter that answered in place of the one that was installed, since the launcher was written."""
    try:
        with open(_fallback_file(), encoding="utf-8", errors="replace") as file:
            return file.read().strip() or None
    except OSError:
        return None


def _fallback_file() -> str:
    return os.path.join(places.state(), "fallback")


def text(python: str, bridge: str, others: Iterable[str]) -> bytes:
    """The launcher that starts `bridge` with `python`, and else what the other interpreters have."""
    with open(_TEMPLATE, encoding="utf-8") as file:
        written = file.read()
    found = {"state": places.state(), "machine": _machine(), "python": python, "bridge": bridge}
    for name, value in found.items():
        written = written.replace(f"@{name}@", shlex.quote(value))
    return written.replace("@others@", " ".join(map(shlex.quote, others))).encode("utf-8", "surrogateescape")


def _machine() -> str:
    """What tells this machine from others, as the launcher reads it."""
    try:
        with open("/etc/machine-id", encoding="ascii", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""


def others(known: Iterable[str]) -> list[str]:
    """The interpreters to fall back on: known ones, and where pipx and uv have theirs, or would have.

    Only such as this account or root could have put there, and no repository.
    """
    tools = [os.path.join(places.home(), each) for each in _TOOLS]
    for variable, rest in (("PIPX_HOME", "venvs/tenterhook"), ("UV_TOOL_DIR", "tenterhook")):
        if directory := os.environ.get(variable):
            tools.append(os.path.join(directory, rest, "bin/python"))
    return [each for each in dict.fromkeys((*known, *tools)) if _may_be_started(each)]


def _may_be_started(python: str) -> bool:
    """Whether no repository and no other account could have put an interpreter there, or could yet."""
    if not os.path.isabs(python) or roots.repository_can_reach(os.path.dirname(python), ""):
        return False
    there = python
    while not os.path.exists(there):  # who can write to the directory above decides what comes to be there
        there = os.path.dirname(there)
    return ownership.writable_by_others(there) is None


def renew(python: str, bridge: str, others: Iterable[str]) -> bool:
    """Write the launcher as it has to be; False if it is so already."""
    wanted = text(python, bridge, [each for each in dict.fromkeys(others) if each != python])
    try:
        os.unlink(_fallback_file())
    except FileNotFoundError:
        pass
    try:
        with open(path(), "rb") as file:
            if file.read() == wanted:
                return False
    except OSError:
        pass
    places.make_private(places.state())
    places.replace_file(path(), wanted)
    return True


def remove() -> None:
    """Remove it: no agent's settings name it any more."""
    for file in (path(), _fallback_file()):
        try:
            os.unlink(file)
        except FileNotFoundError:
            pass
