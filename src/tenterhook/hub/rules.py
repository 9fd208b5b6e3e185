"""The hub's rules, for every agent that has joined it."""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING, Any

from ..approvals import rules as rules_
from ..errors import HookError
from . import change_feed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .database import Connection, Row

FIELDS = ("answer", "tool", "command", "pattern", "directory", "agent", "reason", "expires")
_CONDITIONS = ("tool", "command", "pattern", "directory")  # at least one for an approval; the agent alone is none


def listed(connection: Connection) -> list[Row]:
    """Return the rules that have not expired, in order."""
    return connection.all("select * from rules where expires is null or expires > ? order by number", time.time())


def version(rules: list[Row]) -> str:
    """Return a hash of the rules."""
    return hashlib.sha256(json.dumps(rules).encode()).hexdigest()[:32]


def add(connection: Connection, given: Mapping[str, Any], who: str) -> Row:
    """Add a rule; raise HookError if it is invalid."""
    named = {key: given[key] for key in FIELDS if given.get(key) is not None}
    rules_.read([named], "the hub")
    if named["answer"] == "approve" and not any(named.get(key) for key in _CONDITIONS):
        raise HookError(
            "a rule that approves needs a condition: this one would approve everything on every machine",
            f"give at least one of {', '.join(_CONDITIONS)}",
        )
    row = connection.one(
        "insert into rules (answer, tool, command, pattern, directory, agent, reason, expires, created_by, created)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning *",
        *(named.get(key) for key in FIELDS),
        *(who, time.time()),
    )
    assert row is not None
    change_feed.add(connection, change_feed.RULES, str(row["number"]), "added")
    return row


def remove(connection: Connection, number: int) -> bool:
    """Remove a rule; return False if there is none with this number."""
    has_removed = connection.run("delete from rules where number = ?", number) == 1
    if has_removed:
        change_feed.add(connection, change_feed.RULES, str(number), "removed")
    return has_removed
