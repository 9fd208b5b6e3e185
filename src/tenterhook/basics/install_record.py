"""Reads the record that `install` writes for each agent.

Imports nothing that would slow down the start of the bridge.
"""

from __future__ import annotations

import os

from . import light_json, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PLACES = ("home", "config", "state", "cache")  # the record's keys for directories
# Keys that a user's record adds to a managed one; none of them concerns managed hooks.
_OF_PERSON: dict[str, type] = {
    **dict.fromkeys((*_PLACES, "data", "agent_home"), str),
    **dict.fromkeys(("environment", "steering", "interpreters"), dict),
    "configs": list,
}


class RecordError(Exception):
    """A record that is missing, broken, or could have been written by another account."""


def directories(record: dict[str, Any]) -> dict[str, str]:
    """Return the directories in a record, by kind."""
    found = {kind: record[kind] for kind in _PLACES}
    return {**found, "data": record.get("data") or f"{found['home']}/.local/share/tenterhook"}  # not in 0.1


def managed(host: str) -> dict[str, Any] | None:
    """Return the record of `install --managed` for an agent; None if there is none, or others could have written it."""
    try:
        record = read(f"{places.MANAGED}/installed/{host}.json", owners=(0,))
    except RecordError:
        return None
    return record if record.get("managed") is True and record.get("host") == host else None


def for_account(record: dict[str, Any]) -> dict[str, Any]:
    """Return a managed record completed with the directories of this account.

    They are below the home in the account database, or as in the record of this user's own `install` there. Variables
    of the environment do not count.
    """
    home = places.account_home()
    usual = {
        "home": home,
        "config": f"{home}/.config",
        "state": f"{home}/.local/state/tenterhook",
        "cache": f"{home}/.cache/tenterhook",
        "agent_home": f"{home}/{record['agent_directory']}",
    }
    try:
        own = read(f"{usual['state']}/installed/{record['host']}.json")
    except RecordError:
        own = {}
    return {**record, **usual, **{key: own[key] for key, kind in _OF_PERSON.items() if isinstance(own.get(key), kind)}}


def read(file: str, owners: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return a record. Raises `RecordError` with the reason and a remedy if it cannot be used.

    `owners`: the accounts that may own it; without them, this account and root.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            found = os.fstat(descriptor)
            if found.st_uid not in (owners or (os.getuid(), 0)) or found.st_mode & 0o022:
                raise RecordError(f"another account could have written {file}")
            text = os.read(descriptor, found.st_size + 1).decode()
        finally:
            os.close(descriptor)
        record = light_json.loads(text)
    except OSError as error:
        raise RecordError(f"{error.strerror}: {file}; install again with: tenterhook install") from None
    except (ValueError, RecursionError):
        raise RecordError(f"{file} is broken; install again with: tenterhook install") from None
    if not isinstance(record, dict) or record.get("schema") != 1:
        raise RecordError(f"{file} was written by another version; install again with: tenterhook install")
    return record
