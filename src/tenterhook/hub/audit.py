"""Every answer that was tried, by whom and from where, with what became of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .database import Connection, Row
    from .inbox import Answered

WON, LATE, DUPLICATE, STALE, REFUSED = "won", "late", "duplicate", "stale", "refused"
OUTCOMES = (WON, LATE, DUPLICATE, STALE, REFUSED)


def write(connection: Connection, given: Answered, became: str) -> None:
    """Write an answer down, once."""
    connection.run(
        "insert into answers (attempt, request, who, via, approved, scope, message, hash, at, became)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (attempt) do nothing",
        *(given.attempt, given.request, given.who, given.via, int(given.approved), given.scope, given.message),
        *(given.hash, time.time(), became),
    )


def became(connection: Connection, attempt: str) -> str | None:
    """What became of an answer, if it has been taken in."""
    row = connection.one("select became from answers where attempt = ?", attempt)
    return None if row is None else str(row["became"])


def of_request(connection: Connection, request: str) -> list[Row]:
    """What people have answered to a request, oldest first."""
    return connection.all(
        "select who, via, approved, scope, message, at, became from answers where request = ? order by number", request
    )
