"""What is old enough goes: records, figures, requests that have ended, and who answered them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from . import change_feed

if TYPE_CHECKING:
    from .database import Connection

KEEP_DAYS = 90
_DAY = 86400.0
_OLD = (
    "delete from runs where record in (select number from records where time < ?)",
    "delete from records where time < ?",
    "delete from sessions where last < ?",
    "delete from grants where at < ?",
    "delete from deliveries where request in (select id from requests where state <> 'open' and opened < ?)",
    "delete from requests where state <> 'open' and opened < ?",
    "delete from answers where at < ?",
)


def forget_old(connection: Connection, days: int) -> None:
    """Drop what is older than so many days, and changes that nobody will ask for any more."""
    change_feed.forget_old(connection)
    before = time.time() - days * _DAY
    for statement in _OLD:
        connection.run(statement, before)
