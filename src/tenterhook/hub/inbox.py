"""Requests: opened by an agent, answered once by a person, or withdrawn, or expired. Never approved otherwise.

Each attempt to answer is kept, with who tried it from where and its outcome.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, NamedTuple

from ..approvals.requests import content_hash
from ..errors import HookError
from . import change_feed, webhooks

if TYPE_CHECKING:
    from .database import Connection, Row
    from .schemas import RequestGiven

OPEN, APPROVED, DENIED, WITHDRAWN, EXPIRED = "open", "approved", "denied", "withdrawn", "expired"
ONCE, SESSION = "once", "session"
LONGEST_WAIT = 60.0  # seconds of one long poll
LEASE = 15.0  # seconds that an agent may be silent after a poll has ended
FIRST_LEASE = 30.0


class Answered(NamedTuple):
    """An answer as a person gives it."""

    attempt: str  # a unique id: the transaction may be run again after it was committed
    request: str
    who: str
    via: str
    approved: bool
    scope: str
    message: str | None
    hash: str


class WrongHash(HookError):
    """The hash of a request is not that of its tool and input."""


class IdTaken(HookError):
    """Another request has this id."""


def open_request(connection: Connection, token: int, asked: RequestGiven) -> tuple[Row, bool]:
    """Open a request; return it, and whether it is new: an agent may send it again."""
    if content_hash(asked.tool_name, asked.tool_input, asked.work_dir) != asked.hash:
        raise WrongHash(
            "the hash is not that of the tool, its input and the directory", "compute it as docs/approvals.md says"
        )
    known = connection.one("select * from requests where id = ?", asked.id)
    if known is not None:
        if known["hash"] != asked.hash or known["agent_token"] != token:
            raise IdTaken("another request has this id", "use a new id for each request")
        return known, False
    grant = _granted(connection, token, asked)
    now = time.time()
    row = connection.one(
        "insert into requests (id, agent_token, machine, agent, session, work_dir, tool_name, tool_input, display,"
        " action, why, hash, grant_key, opened, expires, lease, state, approved, answered_by, answered_via, scope,"
        " answered) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " on conflict (id) do nothing returning *",
        *(asked.id, token, asked.machine, asked.agent, asked.session_id, asked.work_dir, asked.tool_name),
        *(json.dumps(asked.tool_input), json.dumps(asked.display), asked.action, asked.why, asked.hash, asked.grant),
        *(now, now + asked.expires_in, now + FIRST_LEASE),
        *((APPROVED, 1, grant["who"], SESSION, SESSION, now) if grant else (OPEN, None, None, None, None, None)),
    )
    if row is None:  # it was sent twice at the same time
        return open_request(connection, token, asked)
    if not grant:
        webhooks.add_deliveries(connection, asked.id)
    change_feed.add(connection, change_feed.REQUEST, asked.id, row["state"])
    return row, True


def _granted(connection: Connection, token: int, asked: RequestGiven) -> Row | None:
    """Return the approval for the session that covers this call, or None."""
    if asked.grant is None or not asked.session_id:
        return None
    return connection.one(
        "select who from grants where agent_token = ? and machine = ? and session = ? and grant_key = ?",
        *(token, asked.machine, asked.session_id, asked.grant),
    )


def found(connection: Connection, request: str, token: int | None = None) -> Row | None:
    """Return a request, or None; with an agent's token, only one of its own."""
    row = connection.one("select * from requests where id = ?", request)
    return row if row is not None and token in (None, row["agent_token"]) else None


def listed(connection: Connection, state: str, limit: int) -> list[Row]:
    """Return open requests, the oldest first, or ended ones, the newest first."""
    if state == OPEN:
        now = time.time()
        return connection.all(
            "select * from requests where state = 'open' and expires > ? and lease > ? order by opened limit ?",
            *(now, now, limit),
        )
    return connection.all("select * from requests where answered is not null order by answered desc limit ?", limit)


def renew(connection: Connection, request: str, token: int, seconds: float) -> Row | None:
    """Extend the lease of a request by so many seconds; return the request, or None."""
    now = time.time()
    row = connection.one(
        "update requests set lease = ? where id = ? and agent_token = ? and state = 'open' and lease > ?"
        " and expires > ? returning *",
        *(now + seconds + LEASE, request, token, now, now),
    )
    if row is None:
        end_overdue(connection)
        row = found(connection, request, token)
    return row


def answer(connection: Connection, given: Answered) -> tuple[str, Row | None]:
    """Answer a request; return the outcome (won, late, duplicate, stale, …), and the request.

    One statement decides: the answer that updates the row has won. Every answer is recorded.
    """
    before = connection.one("select became from answers where attempt = ?", given.attempt)
    if before is not None:  # it was committed, and the connection was lost before we knew
        return before["became"], found(connection, given.request)
    now = time.time()
    row = connection.one(
        "update requests set state = ?, approved = ?, answered_by = ?, answered_via = ?, scope = ?, message = ?,"
        " answered = ? where id = ? and hash = ? and state = 'open' and expires > ? and lease > ? returning *",
        *(APPROVED if given.approved else DENIED, int(given.approved), given.who, given.via, given.scope),
        *(given.message, now, given.request, given.hash, now, now),
    )
    if row is not None:
        became = WON
        if given.approved and given.scope == SESSION and row["grant_key"] is not None:
            _grant(connection, row, now)
    else:
        end_overdue(connection)
        row = found(connection, given.request)
        became = _lost(row, given)
    record_answer(connection, given, became)
    if became == WON:
        change_feed.add(connection, change_feed.REQUEST, given.request, APPROVED if given.approved else DENIED)
    return became, row


def _lost(row: Row | None, given: Answered) -> str:
    """Return why an answer does not count."""
    if row is None:
        return REFUSED
    if row["hash"] != given.hash:
        return STALE
    if row["answered_by"] == given.who and row["approved"] == int(given.approved) and row["scope"] == given.scope:
        return DUPLICATE
    return LATE


def _grant(connection: Connection, row: Row, now: float) -> None:
    """Store an approval for the session; open requests that it covers are approved, too."""
    connection.run(
        "insert into grants (agent_token, machine, session, grant_key, who, at) values (?, ?, ?, ?, ?, ?)"
        " on conflict (agent_token, machine, session, grant_key) do nothing",
        *(row["agent_token"], row["machine"], row["session"], row["grant_key"], row["answered_by"], now),
    )
    covered = connection.all(
        "update requests set state = 'approved', approved = 1, answered_by = ?, answered_via = 'session',"
        " scope = 'session', answered = ? where state = 'open' and expires > ? and lease > ? and agent_token = ?"
        " and machine = ? and session = ? and session <> '' and grant_key = ? returning id",
        *(row["answered_by"], now, now, now, row["agent_token"], row["machine"], row["session"], row["grant_key"]),
    )
    for each in covered:
        change_feed.add(connection, change_feed.REQUEST, each["id"], APPROVED)


def withdraw(connection: Connection, request: str, token: int, by: str, approved: bool | None) -> Row | None:
    """Withdraw a request that was decided elsewhere, unless a person has answered it; return the request, or None."""
    row = connection.one(
        "update requests set state = 'withdrawn', approved = ?, answered_via = ?, answered = ? where id = ?"
        " and agent_token = ? and state = 'open' returning *",
        *(None if approved is None else int(approved), by, time.time(), request, token),
    )
    if row is None:
        return found(connection, request, token)
    change_feed.add(connection, change_feed.REQUEST, request, WITHDRAWN)
    return row


def end_overdue(connection: Connection) -> int:
    """End requests that have expired, or whose agent no longer waits; return how many."""
    now = time.time()
    expired = connection.all(
        "update requests set state = 'expired', answered = ? where state = 'open' and expires <= ? returning id, state",
        *(now, now),
    )
    gone = connection.all(
        "update requests set state = 'withdrawn', answered_via = 'gone', answered = ? where state = 'open'"
        " and lease <= ? returning id, state",
        *(now, now),
    )
    for row in (*expired, *gone):
        change_feed.add(connection, change_feed.REQUEST, row["id"], row["state"])
    return len(expired) + len(gone)


WON, LATE, DUPLICATE, STALE, REFUSED = "won", "late", "duplicate", "stale", "refused"


def record_answer(connection: Connection, given: Answered, became: str) -> None:
    """Record an answer and its outcome, once."""
    connection.run(
        "insert into answers (attempt, request, who, via, approved, scope, message, hash, at, became)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (attempt) do nothing",
        *(given.attempt, given.request, given.who, given.via, int(given.approved), given.scope, given.message),
        *(given.hash, time.time(), became),
    )


def answers_to(connection: Connection, request: str) -> list[Row]:
    """Return all answers to a request, oldest first."""
    return connection.all(
        "select who, via, approved, scope, message, at, became from answers where request = ? order by number", request
    )
