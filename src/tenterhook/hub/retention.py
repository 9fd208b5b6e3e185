"""How long the hub keeps data: records, statistics, ended requests and the answers to them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from . import change_feed

if TYPE_CHECKING:
    from .database import Connection

_DELETE_OLD = (
    "delete from runs where record in (select number from records where time < ?)",
    "delete from records where time < ?",
    "delete from sessions where last < ?",
    "delete from grants where at < ?",
    "delete from deliveries where request in (select id from requests where state <> 'open' and opened < ?)",
    "delete from requests where state <> 'open' and opened < ?",
    "delete from answers where at < ?",
)


def delete_old(connection: Connection, days: int) -> None:
    """Delete data older than so many days, and old changes."""
    change_feed.delete_old(connection)
    before = time.time() - days * 86400
    for statement in _DELETE_OLD:
        connection.run(statement, before)
