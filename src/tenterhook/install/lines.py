"""The entries that `install` writes into an agent's settings: the command in them, and how it is known again."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from ..basics import places
from . import launcher

if TYPE_CHECKING:
    from collections.abc import Mapping

# What happens where nobody answers. CLOSED is for the sake of a guard that asks for it: where this account never had
# Tenterhook, as in a container that shares the agent's settings, there is none. EVERYWHERE is a person's choice.
OPEN, CLOSED, EVERYWHERE = "open", "closed", "closed-everywhere"
_COMMANDS = {
    OPEN: 't={path}; [ ! -f "$t" ] || /bin/sh "$t" {words} open',
    CLOSED: 't={path}; [ ! -d "${{t%/*}}" ] || /bin/sh "$t" {words} closed || exit 2',
    EVERYWHERE: (
        't={path}; [ -f "$t" ] || echo tenterhook install >&2; /bin/sh "$t" {words} closed-everywhere || exit 2'
    ),
}
# At the beginning of a session, so that it is said once.
_FIRST = (
    't={path}; [ -f "$t" ] || {{ echo Tenterhook is not installed here >&2; exit {status}; }}; '
    '/bin/sh "$t" {words} open'
)


def command(installation: str, event: str, mode: str) -> str:
    """The command for one event; agents run it with a POSIX shell. `installation`: the name of its record."""
    words = f"{shlex.quote(installation)} {event}"
    return _COMMANDS[mode].format(path=shlex.quote(launcher.path()), words=words)


def first_command(installation: str, event: str, open_status: int) -> str:
    """The command for the event with which a session begins."""
    words = f"{shlex.quote(installation)} {event}"
    return _FIRST.format(path=shlex.quote(launcher.path()), words=words, status=open_status)


def log() -> str:
    """Where the launcher writes down that nobody answered."""
    return os.path.join(places.state(), "bridge.log")


def command_of(entry: Mapping[str, Any]) -> str:
    """The command in an entry of ours."""
    inner = entry["hooks"][0] if "hooks" in entry else entry
    return str(inner.get("command") or inner.get("bash"))
