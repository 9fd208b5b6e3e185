"""The launcher: the file that agents run at each event, which finds a working Tenterhook.

It contains everything that all installations of this account share, so that an agent's settings only name it.
"""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from ..agents import AGENTS
from ..agents.codec import Reply
from ..basics import env_policy, light_json, places, private_files
from ..catalog import project_root
from . import event_wiring

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VERSION = 2  # of the launcher and of the entries that name it; those of another version are renewed
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
    """Return the interpreter that answered instead of the installed one since the launcher was written, or None."""
    try:
        with open(_fallback_file(), encoding="utf-8", errors="replace") as file:
            return file.read().strip() or None
    except OSError:
        return None


def forget_fallback() -> None:
    """Delete the record of a fallback: the launcher writes it again if another Tenterhook answers."""
    Path(_fallback_file()).unlink(missing_ok=True)


def _fallback_file() -> str:
    return os.path.join(places.state(), "fallback")


def text(python: str, bridge: str, others: Iterable[str], recorded: Mapping[str, str]) -> bytes:
    """Return the launcher that starts `bridge` with `python`, or else Tenterhook with one of the other interpreters.

    `recorded`: the user's own variables.
    """
    with open(_TEMPLATE, encoding="utf-8") as file:
        written = file.read()
    names = [name.decode() for name in env_policy.AT_START]
    own = [f"export {name}={shlex.quote(recorded[name])}\n" for name in names if name in recorded]
    unset = " \\\n    ".join(textwrap.wrap(" ".join(names), 110))
    written = written.replace("@unset@", unset).replace("@exports@\n", "".join(own))
    found = {"state": places.state(), "machine": _machine(), "python": python, "bridge": bridge}
    for name, value in found.items():
        written = written.replace(f"@{name}@", shlex.quote(value))
    refusals, passes = _answers()
    written = written.replace("@refusals@\n", refusals).replace("@passes@\n", passes)
    return written.replace("@others@", " ".join(map(shlex.quote, others))).encode("utf-8", "surrogateescape")


def _answers() -> tuple[str, str]:
    """Return the cases of agents that take any failure for a refusal, without its reason: to refuse, and not to."""
    refusals = passes = ""
    for agent in AGENTS.values():
        if agent.open_status == 1:
            continue
        for native, ours in agent.events.items():
            if event_wiring.closes(ours, closed=True):
                text = light_json.encode(agent.answer(Reply(ours, native, deny="$message"))).decode()
                echo = 'echo "{}"'.format(text.replace('"', '\\"'))
                refusals += f"        closed*:{agent.name}:{native})\n            {echo}\n            exit 0 ;;\n"
        passes += f"        open:{agent.name}) exit {agent.open_status} ;;\n"
    return refusals, passes


def _machine() -> str:
    """Return an identifier of this machine among those that share the home directory, computed as in the launcher.

    Containers have their own id, none, or that of their host; all without an id count as one machine.
    """
    try:
        with open("/etc/machine-id", encoding="ascii", errors="replace") as file:
            machine = file.readline().strip()
    except OSError:
        machine = ""
    is_container = os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv")
    return f"{machine} in a container" if is_container else machine


def others(known: Iterable[str]) -> list[str]:
    """Return the interpreters to fall back on: known ones, and those where pipx and uv install them.

    Only paths that this account or root, and no repository, can write to. The exception are other names of the
    interpreter that runs `install`: the user chose it, and its name changes with a minor version.
    """
    own = [os.path.join(os.path.dirname(sys.executable), name) for name in ("python3", "python")]
    tools = [os.path.join(places.home(), each) for each in _TOOLS]
    for variable, rest in (("PIPX_HOME", "venvs/tenterhook"), ("UV_TOOL_DIR", "tenterhook")):
        if directory := os.environ.get(variable):
            tools.append(os.path.join(directory, rest, "bin/python"))
    found = [*own, *filter(_may_be_started, (*known, *tools))]
    return [each for each in dict.fromkeys(found) if each != sys.executable]


def _may_be_started(python: str) -> bool:
    """Return whether no repository and no other account can write an interpreter there."""
    if not os.path.isabs(python) or project_root.repository_can_reach(os.path.dirname(python), ""):
        return False
    there = python
    while not os.path.exists(there):  # a missing path can be created by any account that can write to its parent
        there = os.path.dirname(there)
    return private_files.writable_by_others(there) is None


def renew(python: str, bridge: str, others: Iterable[str], recorded: Mapping[str, str], *, by_person: bool) -> None:
    """Write the launcher if it differs. A command of the user also deletes the record of a fallback."""
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
    places.replace_file(path(), wanted, mode=places.file_mode())
    os.chmod(path(), places.file_mode())  # whatever the umask is


def remove() -> None:
    """Delete the launcher and the record of a fallback."""
    Path(path()).unlink(missing_ok=True)
    forget_fallback()
