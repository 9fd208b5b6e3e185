"""Requests: opened by an agent, answered once by a person, or withdrawn, or expired. Never approved otherwise.

Each attempt to answer is kept, with who tried it from where and its outcome.
"""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING, NamedTuple

from ..approvals.requests import Call, content_hash
from ..errors import HookError
from . import change_feed, webhooks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .database import Connection, Row
    from .schemas import RequestGiven

OPEN, APPROVED, DENIED, WITHDRAWN, EXPIRED = "open", "approved", "denied", "withdrawn", "expired"
ONCE, SESSION = "once", "session"
OWN_WAYS = ("page", SESSION)  # of an answer: a program cannot claim them
LONGEST_WAIT = 60.0  # seconds of one long poll
LEASE = 15.0  # seconds that an agent may be silent after a poll has ended
FIRST_LEASE = 60.0  # from opening a request to its first poll, also while thousands do so at once
RECONNECT = 15.0  # seconds after the hub has started: clients repeat an interrupted poll for 10 (`asking._RESTART`)
_AT_ONCE = 1000  # overdue requests that are ended in one transaction
_DECIDED_BY = ("terminal", "hook", "rule", "session", "allow", "agent", "nobody", "gone")


class RequestSource(NamedTuple):
    """Who asks, according to the token: what the agent says about itself does not count."""

    token: int
    machine: str
    agent: str | None  # None: the token is for every agent of its machine, which says which one asks


class NewAnswer(NamedTuple):
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


class NewRequest(NamedTuple):
    """A request as an agent opens it."""

    asker: RequestSource
    given: RequestGiven


class Renewal(NamedTuple):
    """An agent that waits for so many seconds for the answer to a request of its own."""

    request: str
    token: int
    seconds: float


def check_hash(asked: RequestGiven) -> None:
    """Raise WrongHash unless a request has the hash of what it asks."""
    if content_hash(asked.tool_name, asked.tool_input, asked.work_dir) != asked.hash:
        raise WrongHash(
            "the hash does not match the tool, its input and the directory", "compute it as docs/approvals.md describes"
        )


def open_requests(connection: Connection, asked: Sequence[NewRequest]) -> list[tuple[Row, bool] | Exception]:
    """Open requests; return each, and whether it is new (an agent may resend it), or IdTaken if the id is another's."""
    now = time.time()
    keys = [_grant_key(each.asker, each.given) for each in asked]
    grants = _granted(connection, asked, keys)
    rows = connection.many(
        "insert into requests (id, agent_token, machine, agent, session, work_dir, tool_name, tool_input, display,"
        " action, why, hash, grant_key, opened, expires, lease, state, approved, answered_by, answered_via, scope,"
        " answered) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " on conflict (id) do nothing returning *",
        [
            (
                *(given.id, asker.token, asker.machine, asker.agent or given.agent, given.session_id, given.work_dir),
                *(given.tool_name, json.dumps(given.tool_input), json.dumps(given.display), given.action, given.why),
                *(given.hash, key, now, now + given.expires_in, now + FIRST_LEASE),
                *((APPROVED, 1, grant["who"], SESSION, SESSION, now) if grant else (OPEN, *[None] * 5)),
            )
            for (asker, given), key, grant in zip(asked, keys, grants, strict=True)
        ],
    )
    webhooks.add_deliveries(connection, [row["id"] for row in rows if row is not None and row["state"] == OPEN])
    for row in rows:
        if row is not None:
            change_feed.add(connection, change_feed.REQUEST, row["id"], row["state"])
    return [_known(connection, each) if row is None else (row, True) for each, row in zip(asked, rows, strict=True)]


def _known(connection: Connection, asked: NewRequest) -> tuple[Row, bool] | IdTaken:
    """Return a request that was sent before."""
    row = found(connection, asked.given.id, asked.asker.token)
    if row is None or row["hash"] != asked.given.hash:
        return IdTaken("another request has this id", "use a new id for each request")
    return row, False


def _grant_key(asker: RequestSource, asked: RequestGiven) -> str | None:
    """Return the hash of what an approval for the session covers, made from the request itself; None: nothing more.

    Only the first word of the agent's `grant` counts: its process. Paths are compared as written and, for a file, as
    shown: they can be resolved on the agent's machine only.
    """
    process = (asked.grant or "").partition(" ")[0]
    if not process or not asked.session_id:
        return None
    call = Call(asked.tool_name, asked.tool_input, asked.work_dir)
    covered = call.grant_by(lambda *written: json.dumps(written))
    parts = [process, asker.agent or asked.agent, covered, asked.display.get("path")]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _granted(connection: Connection, asked: Sequence[NewRequest], keys: Sequence[str | None]) -> list[Row | None]:
    """Return the approval for the session that covers each call, or None."""
    wanted = [place for place, key in enumerate(keys) if key is not None]
    rows = connection.many(
        "select who from grants where agent_token = ? and machine = ? and session = ? and grant_key = ?",
        [
            (asked[place].asker.token, asked[place].asker.machine, asked[place].given.session_id, keys[place])
            for place in wanted
        ],
    )
    granted = dict(zip(wanted, rows, strict=True))
    return [granted.get(place) for place in range(len(asked))]


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


def renew(connection: Connection, renewals: Sequence[Renewal]) -> list[Row | None]:
    """Extend the leases of requests; return each one that has ended, None if it does not exist, or just its state."""
    now = time.time()
    order = sorted(range(len(renewals)), key=lambda place: renewals[place].request)  # at every hub: no deadlock
    rows = connection.many(
        "update requests set lease = ? where id = ? and agent_token = ? and state = 'open' and lease > ?"
        " and expires > ? returning state",
        [
            (now + seconds + LEASE, request, token, now, now)
            for request, token, seconds in (renewals[place] for place in order)
        ],
    )
    renewed = dict(zip(order, rows, strict=True))
    return [renewed[place] or _ended(connection, each) for place, each in enumerate(renewals)]


def shorten_leases(connection: Connection) -> None:
    """Let the leases of open requests end soon, unless their agents poll again; for a start of the only hub."""
    until = time.time() + RECONNECT
    connection.run("update requests set lease = ? where state = 'open' and lease > ?", until, until)


def _ended(connection: Connection, renewal: Renewal) -> Row | None:
    end_overdue(connection, renewal.request)
    return found(connection, renewal.request, renewal.token)


def answer_each(connection: Connection, given: Sequence[NewAnswer]) -> list[tuple[str, Row | None]]:
    """Answer several requests."""
    order = sorted(range(len(given)), key=lambda place: given[place].request)
    outcomes = {place: answer(connection, given[place]) for place in order}
    return [outcomes[place] for place in range(len(given))]


def answer(connection: Connection, given: NewAnswer) -> tuple[str, Row | None]:
    """Answer a request; return the outcome (won, late, duplicate, stale, …), and the request.

    One statement decides: the answer that updates the row has won. Every answer is recorded.
    """
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
        before = connection.one("select became from answers where attempt = ?", given.attempt)
        if before is not None:  # it was committed, but the connection was lost before we knew
            return before["became"], found(connection, given.request)
        end_overdue(connection, given.request)
        row = found(connection, given.request)
        became = _lost(row, given)
    record_answer(connection, given, became)
    if became == WON:
        change_feed.add(connection, change_feed.REQUEST, given.request, APPROVED if given.approved else DENIED)
    return became, row


def _lost(row: Row | None, given: NewAnswer) -> str:
    """Return why an answer does not count."""
    if row is None:
        return REFUSED
    if row["hash"] != given.hash:
        return STALE
    if row["answered_by"] == given.who and row["approved"] == int(given.approved) and row["scope"] == given.scope:
        return DUPLICATE
    return LATE


def _grant(connection: Connection, row: Row, now: float) -> None:
    """Store an approval for the session; open requests that it covers are approved too."""
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
    """Withdraw a request that was decided elsewhere, unless a person has answered it; return the request, or None.

    `by` is one of a few words: an agent cannot name a person.
    """
    by = by if by in _DECIDED_BY else "elsewhere"
    row = connection.one(
        "update requests set state = 'withdrawn', approved = ?, answered_via = ?, answered = ? where id = ?"
        " and agent_token = ? and state = 'open' returning *",
        *(None if approved is None else int(approved), by, time.time(), request, token),
    )
    if row is None:
        return found(connection, request, token)
    change_feed.add(connection, change_feed.REQUEST, request, WITHDRAWN)
    return row


def withdraw_all(connection: Connection, token: int) -> None:
    """Withdraw the open requests of a token that is revoked; an agent that waits for one is woken."""
    ended = connection.all(
        "update requests set state = 'withdrawn', answered_via = 'revoked', answered = ? where agent_token = ?"
        " and state = 'open' returning id",
        *(time.time(), token),
    )
    for row in ended:
        change_feed.add(connection, change_feed.REQUEST, row["id"], WITHDRAWN)


def end_overdue(connection: Connection, request: str | None = None) -> int:
    """End requests that have expired or whose agent no longer waits, in batches, or only this one; return how many."""
    now = time.time()
    overdue = [request] if request else [row["id"] for row in connection.all(_OVERDUE, now, now, _AT_ONCE)]
    rows = connection.many(
        "update requests set state = case when expires <= ? then 'expired' else 'withdrawn' end,"
        " answered_via = case when expires <= ? then null else 'gone' end, answered = ?"
        " where id = ? and state = 'open' and (expires <= ? or lease <= ?) returning id, state",
        [(now, now, now, each, now, now) for each in overdue],
    )
    ended = [row for row in rows if row is not None]
    for row in ended:
        change_feed.add(connection, change_feed.REQUEST, row["id"], row["state"])
    return len(ended)


_OVERDUE = "select id from requests where state = 'open' and (expires <= ? or lease <= ?) order by id limit ?"
WON, LATE, DUPLICATE, STALE, REFUSED = "won", "late", "duplicate", "stale", "refused"


def record_answer(connection: Connection, given: NewAnswer, became: str) -> None:
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
