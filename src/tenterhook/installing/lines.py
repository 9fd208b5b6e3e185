"""The line that `install` writes into an agent's settings, and how it is known again."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

from ..basics import places
from ..formats.own_entries import is_own_command

if TYPE_CHECKING:
    from collections.abc import Mapping

# What a shell does when Tenterhook is gone, was killed or crashed. The interpreter's own exit status 2 is no block, so
# a block comes as 10. Every agent was seen to run hooks in `sh` or `bash`, whatever the person's own shell is.
_SCRIPT = (
    "{command}; s=$?; case $s in 0) exit 0;; 10) exit 2;; esac; "
    '{{ echo "$(PATH=/usr/bin:/bin date +%s) {host} {event} $s" >>{log}; }} 2>/dev/null; '
    'm="Tenterhook could not answer (status $s): {consequence}. Look into it with: tenterhook doctor {host}"; '
    "[ -x {python} ] && [ -r {bridge} ] || "
    'm="Tenterhook is gone (status $s): {consequence}. Install it again, then: tenterhook install {host}; '
    'or take the lines with tenterhook/bridge.py out of the settings"; {end}'
)
# While a hub is there, Perl asks it: that begins in a quarter of the time. Variables must not tell it to do more.
_QUICKER = (
    "set -- {command}; if [ -S {socket} ] && [ -x {perl} ] && [ -r {script} ]; "
    'then PERL5OPT= PERLIO= PERL_BADLANG=0 {asking} "$@"; else "$@"; fi'
)
BRIDGE = os.path.join(places.PACKAGE, "bridge.py")
PERL = "/usr/bin/perl"
ASKING = (PERL, "-C0", "-f", os.path.join(places.PACKAGE, "bridge.pl"))


def line(host: str, event: str, record: str, *, closed: bool, open_status: int, refusal: str | None = None) -> str:
    """One command for a POSIX shell, with absolute paths only.

    `refusal` is what an agent must be told on stdout that does not read stderr; `$m` in it is the reason.
    """
    consequence = "this is refused" if closed else "hooks did not run"
    end = f'echo "$m" >&2; exit {2 if closed else open_status}'
    if closed and refusal is not None:
        end = f'echo "{refusal}"; exit 0'
    started = (sys.executable, "-I", "-S", BRIDGE, "--host", host, "--event", event, "--record", record)
    command = " ".join(map(shlex.quote, started))
    if sys.platform == "linux" and os.access(PERL, os.X_OK):
        words = [shlex.quote(word) for word in ASKING]
        named = {"socket": shlex.quote(hub_socket()), "perl": PERL, "script": words[-1], "asking": " ".join(words)}
        command = _QUICKER.format(command=command, **named)
    return _SCRIPT.format(
        command=command,
        python=shlex.quote(sys.executable),
        bridge=shlex.quote(BRIDGE),
        host=host,
        event=event,
        log=shlex.quote(log()),
        consequence=consequence,
        end=end,
    )


def hub_socket() -> str:
    """Where a hub listens for events."""
    return os.path.join(places.state(), "hub.sock")


def log() -> str:
    """Where the line writes down that nobody answered."""
    return os.path.join(places.state(), "bridge.log")


def is_ours(entry: Any) -> bool:
    """Whether an entry of an agent's settings, or a group of them, is one that we wrote."""
    if not isinstance(entry, dict):
        return False
    inner = entry.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(is_ours(each) for each in inner)
    return any(is_own_command(command) for key in ("command", "bash") if isinstance(command := entry.get(key), str))


def command_of(entry: Mapping[str, Any]) -> str:
    """The command in an entry of ours."""
    inner = entry["hooks"][0] if "hooks" in entry else entry
    return str(inner.get("command") or inner.get("bash"))
