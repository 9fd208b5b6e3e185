"""The launcher: the file that agents run at each event, which finds a Tenterhook that works.

What is true of every installation of this account stands in it, so that an agent's settings name it and no more.
"""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from typing import TYPE_CHECKING

from ..basics import env_policy, places, private_files
from ..catalog import project_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VERSION = 2  # of the launcher and of the entries that name it; what another version wrote is renewed
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


def forget_fallback() -> None:
    """Have the launcher say again whether the Tenterhook answers that was installed."""
    _remove(_fallback_file())


def _fallback_file() -> str:
    return os.path.join(places.state(), "fallback")


def text(python: str, bridge: str, others: Iterable[str], recorded: Mapping[str, str]) -> bytes:
    """The launcher that starts `bridge` with `python`, and else what the other interpreters have.

    `recorded`: the person's own variables.
    """
    with open(_TEMPLATE, encoding="utf-8") as file:
        written = file.read()
    names = [name.decode() for name in env_policy.AT_START]
    own = [f"export {name}={shlex.quote(recorded[name])}\n" for name in names if name in recorded]
    written = written.replace("@unset@", _wrapped(names)).replace("@exports@\n", "".join(own))
    found = {"state": places.state(), "machine": _machine(), "python": python, "bridge": bridge}
    for name, value in found.items():
        written = written.replace(f"@{name}@", shlex.quote(value))
    return written.replace("@others@", " ".join(map(shlex.quote, others))).encode("utf-8", "surrogateescape")


def _wrapped(words: Iterable[str]) -> str:
    return " \\\n    ".join(textwrap.wrap(" ".join(words), 110))


def _machine() -> str:
    """What tells this machine from others that may share the home, as the launcher has it.

    Containers have an id of their own, none, or that of their host; several without an id count as one machine.
    """
    try:
        with open("/etc/machine-id", encoding="ascii", errors="replace") as file:
            machine = file.readline().strip()
    except OSError:
        machine = ""
    is_container = os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv")
    return f"{machine} in a container" if is_container else machine


def others(known: Iterable[str]) -> list[str]:
    """The interpreters to fall back on: known ones, and where pipx and uv have theirs, or would have.

    Only such as this account or root could have put there, and no repository. The interpreter that `install` runs with
    is a person's choice, wherever it is: its other names are among them, since a new minor version changes its name.
    """
    own = [os.path.join(os.path.dirname(sys.executable), name) for name in ("python3", "python")]
    tools = [os.path.join(places.home(), each) for each in _TOOLS]
    for variable, rest in (("PIPX_HOME", "venvs/tenterhook"), ("UV_TOOL_DIR", "tenterhook")):
        if directory := os.environ.get(variable):
            tools.append(os.path.join(directory, rest, "bin/python"))
    found = [*own, *filter(_may_be_started, (*known, *tools))]
    return [each for each in dict.fromkeys(found) if each != sys.executable]


def _may_be_started(python: str) -> bool:
    """Whether no repository and no other account could have put an interpreter there, or could yet."""
    if not os.path.isabs(python) or project_root.repository_can_reach(os.path.dirname(python), ""):
        return False
    there = python
    while not os.path.exists(there):  # who can write to the directory above decides what comes to be there
        there = os.path.dirname(there)
    return private_files.writable_by_others(there) is None


def renew(python: str, bridge: str, others: Iterable[str], recorded: Mapping[str, str], *, by_person: bool) -> None:
    """Write the launcher as it has to be. After a person's own command no fallback answers any more."""
    wanted = text(python, bridge, [each for each in dict.fromkeys(others) if each != python], recorded)
    if by_person:
        forget_fallback()
    try:
        with open(path(), "rb") as file:
            if file.read() == wanted:
                return
    except OSError:
        pass
    places.make_private(places.state())
    places.replace_file(path(), wanted)


def remove() -> None:
    """Remove it: no agent's settings name it any more."""
    _remove(path())
    forget_fallback()


def _remove(file: str) -> None:
    try:
        os.unlink(file)
    except FileNotFoundError:
        pass
