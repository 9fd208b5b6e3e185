"""Reading the record that `install` writes for each agent.

Nothing is imported here that slows down the start of the bridge.
"""

from __future__ import annotations

import os

from . import light_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PLACES = ("home", "config", "state", "cache")  # the record's keys for directories


class RecordError(Exception):
    """A record that is missing, broken, or could have been written by another account."""


def directories(record: dict[str, Any]) -> dict[str, str]:
    """Return the directories that a record has, by kind."""
    found = {kind: record[kind] for kind in _PLACES}
    return {**found, "data": record.get("data") or f"{found['home']}/.local/share/tenterhook"}  # not before 0.2


def read(file: str) -> dict[str, Any]:
    """Return a record; raise `RecordError` with the reason and the remedy if it cannot be used."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            found = os.fstat(descriptor)
            if found.st_uid not in (os.getuid(), 0) or found.st_mode & 0o022:
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
