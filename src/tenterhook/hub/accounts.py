"""People, their passwords, tokens and sign-ins. Only a hash of each secret is stored."""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ..errors import HookError
from . import change_feed, inbox
from .database import PEOPLE_TURN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from argon2 import PasswordHasher

    from .database import Connection, Database, Row

APPROVER, ADMIN = "approver", "admin"
ROLES = (APPROVER, ADMIN)
AGENT, PERSON = "agent", "person"
NAME = r"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$"
SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 1000
SIGN_IN_LASTS = 30 * 86400.0
LINK_LASTS = 600.0
_FREE_TRIES = 5
_LONGEST_PAUSE = 300.0
_ATTEMPTS_KEPT = 86400.0
_HASHING_TIMEOUT = 2.0  # seconds that a sign-in waits for others, in a thread that agents need
_HASHING = threading.BoundedSemaphore(2)  # each takes 64 MB


class SignIn(NamedTuple):
    """A sign-in of a person: a cookie, and a key that only the hub's own page, or a terminal's file, holds.

    A browser sends a cookie to every port of a host. So the cookie alone is not enough: each request needs both.
    """

    cookie: str
    key: str
    person: str
    role: str


class TooManyAttempts(HookError):
    """Too many failed sign-ins; the next is refused for `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__("too many attempts", f"wait {seconds:.0f} s")
        self.seconds = seconds


def digest(secret: str) -> str:
    """Return the hash of a random secret, as it is stored."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


@cache
def _hasher() -> PasswordHasher:

    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _random_hash() -> str:
    return _hasher().hash(secrets.token_hex())


def hashed(password: str) -> str:
    """Return the hash of a password; raise HookError if it is too short or too long."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise HookError(
            f"the password has {len(password)} characters", f"use {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters"
        )
    with _HASHING:
        return _hasher().hash(_bytes(password))


def _bytes(password: str) -> bytes:
    return password[:LONGEST_PASSWORD].encode("utf-8", "surrogatepass")


def _is_right(password: str, kept: str | None) -> bool:
    """Return whether a password matches its hash; without one, False after the same time."""
    from argon2.exceptions import VerificationError

    random = _random_hash()
    if not _HASHING.acquire(timeout=_HASHING_TIMEOUT):
        raise TooManyAttempts(_HASHING_TIMEOUT)
    try:
        return _hasher().verify(kept or random, _bytes(password)) and kept is not None
    except VerificationError:
        return False
    finally:
        _HASHING.release()


def listed(connection: Connection) -> list[Row]:
    return connection.all(
        "select name, role, created, password_hash is not null as has_password from people"
        " where disabled = 0 order by name"
    )


def found(connection: Connection, name: str) -> Row | None:
    return connection.one("select * from people where name = ? and disabled = 0", name)


def add(connection: Connection, name: str, role: str, password_hash: str | None) -> None:
    """Add a person, or add one again who was removed."""
    if not re.match(NAME, name) or role not in ROLES:
        raise HookError(f"{name!r} cannot be a person's name", "use letters, digits and . _ @ + -, at most 64")
    connection.take_turns(PEOPLE_TURN)
    if found(connection, name):
        raise HookError(f"there is already a person {name}", "choose another name")
    connection.run(
        "insert into people (name, password_hash, role, created, disabled) values (?, ?, ?, ?, 0)"
        " on conflict (name) do update set password_hash = excluded.password_hash, role = excluded.role, disabled = 0",
        *(name, password_hash, role, time.time()),
    )
    change_feed.add(connection, change_feed.PEOPLE, name, "added")


def add_if_missing(connection: Connection, name: str, role: str) -> None:
    """Add a person without a password, unless there is one; several hubs may do so at the same time."""
    added = connection.run(
        "insert into people (name, role, created, disabled) values (?, ?, ?, 0) on conflict (name)"
        " do update set role = excluded.role, disabled = 0 where people.disabled = 1",
        *(name, role, time.time()),
    )
    if added:
        change_feed.add(connection, change_feed.PEOPLE, name, "added")


def remove(connection: Connection, name: str) -> None:
    """Remove a person: their sign-ins, tokens and approvals for sessions end. Their answers stay."""
    connection.take_turns(PEOPLE_TURN)
    person = _existing(connection, name)
    admins = [each for each in listed(connection) if each["role"] == ADMIN]
    if person["role"] == ADMIN and len(admins) == 1:
        raise HookError(f"{name} is the only admin", "add another admin first")
    connection.run("update people set disabled = 1, password_hash = null where name = ?", name)
    connection.run("update tokens set revoked = ? where person = ? and revoked is null", time.time(), name)
    connection.run("delete from grants where who = ?", name)
    _sign_out_everywhere(connection, name)
    change_feed.add(connection, change_feed.PEOPLE, name, "removed")


def set_password(connection: Connection, name: str, password_hash: str) -> None:
    """Set a person's password, and end their sign-ins."""
    _existing(connection, name)
    connection.run("update people set password_hash = ? where name = ?", password_hash, name)
    _sign_out_everywhere(connection, name)
    change_feed.add(connection, change_feed.PEOPLE, name, "password")


def _sign_out_everywhere(connection: Connection, name: str) -> None:
    connection.run("delete from sign_ins where person = ?", name)
    connection.run("delete from links where person = ?", name)


def _existing(connection: Connection, name: str) -> Row:
    person = found(connection, name)
    if person is None:
        raise HookError(f"there is no person {name}", "tenterhook hub person list shows them")
    return person


def tokens(connection: Connection) -> list[Row]:
    return connection.all(
        "select id, name, kind, person, agent, created, last_used from tokens where revoked is null order by id"
    )


def new_token(
    connection: Connection, name: str, kind: str, person: str | None = None, agent: str | None = None
) -> tuple[int, str]:
    """Create a token; return its number, and the token itself, which is not stored.

    An agent's token names the machine whose agents use it, and with `agent` the only one of them.
    """
    connection.take_turns(PEOPLE_TURN)
    if kind == PERSON:
        _existing(connection, person or "")
    if name in _token_names(connection, kind, person):
        raise HookError(f"there is already a token {name}", "choose another name, or revoke that one first")
    secret = f"th_{kind}_{secrets.token_urlsafe(32)}"
    row = connection.one(
        "insert into tokens (name, kind, person, agent, hash, created) values (?, ?, ?, ?, ?, ?) returning id",
        *(name, kind, person if kind == PERSON else None, agent if kind == AGENT else None, digest(secret)),
        time.time(),
    )
    assert row is not None
    change_feed.add(connection, change_feed.PEOPLE, name, change_feed.TOKEN_ADDED)
    return row["id"], secret


def unused_token_name(connection: Connection, name: str, kind: str, person: str | None = None) -> str:
    """Return an unused name for a token that is created in this transaction: this one, or with a number."""
    connection.take_turns(PEOPLE_TURN)
    taken = _token_names(connection, kind, person)
    return next(each for each in (name, *(f"{name} ({n})" for n in range(2, len(taken) + 3))) if each not in taken)


def _token_names(connection: Connection, kind: str, person: str | None) -> set[str]:
    """Return the names of the valid tokens, for agents or of one person."""
    whose = person if kind == PERSON else None
    return {each["name"] for each in tokens(connection) if (each["kind"], each["person"]) == (kind, whose)}


def revoke(connection: Connection, number: int) -> bool:
    """Revoke a token and withdraw its open requests; return False if there is none with this number."""
    row = connection.one(
        "update tokens set revoked = ? where id = ? and revoked is null returning name", time.time(), number
    )
    if row is not None:
        inbox.withdraw_all(connection, number)
        change_feed.add(connection, change_feed.PEOPLE, row["name"], "token revoked")
    return row is not None


def by_token(connection: Connection, secret: str) -> Row | None:
    """Return a token's row, and for a person's their role; None if it is invalid."""
    return by_hash(connection, digest(secret))


def by_hash(connection: Connection, token_hash: str) -> Row | None:
    """Return what `by_token` does, by the hash of the token."""
    row = connection.one(
        "select tokens.id, tokens.name, kind, person, agent, role, last_used, disabled from tokens"
        " left join people on people.name = tokens.person where hash = ? and revoked is null",
        token_hash,
    )
    return None if row is None or row["disabled"] else row


def update_last_used(connection: Connection, numbers: Sequence[int]) -> list[Row | None]:
    """Store that tokens are used now."""
    now = time.time()
    return connection.many(
        "update tokens set last_used = ? where id = ? returning id", [(now, number) for number in numbers]
    )


def by_cookie(connection: Connection, cookie: str, key: str) -> SignIn | None:
    """Return the sign-in that a cookie and its key belong to; None if either is wrong."""
    row = connection.one(
        "select person, role from sign_ins join people on people.name = sign_ins.person"
        " where hash = ? and key_hash = ? and expires > ? and disabled = 0",
        *(digest(cookie), digest(key), time.time()),
    )
    return None if row is None else SignIn(cookie, key, row["person"], row["role"])


def by_key(connection: Connection, key: str) -> str | None:
    """Return the person who is signed in with a key, whatever cookie comes with it. This authenticates nobody."""
    row = connection.one("select person from sign_ins where key_hash = ? and expires > ?", digest(key), time.time())
    return None if row is None else str(row["person"])


def sign_in(database: Database, name: str, password: str, address: str) -> SignIn | None:
    """Sign a person in; None if the name or password is wrong. Raises TooManyAttempts after too many attempts.

    An attempt is counted before the password is checked, so that simultaneous ones are counted too.
    """
    keys = (f"name {digest(name)}", f"address {digest(address)}")  # a name may be of any length
    database.read(lambda connection: _check(connection, keys))  # repeated attempts do not block writers
    database.write(lambda connection: _count(connection, keys))
    person = database.read(lambda connection: found(connection, name))
    if not _is_right(password, person["password_hash"] if person else None):
        return None

    def succeed(connection: Connection) -> SignIn | None:
        if found(connection, name) is None:
            return None
        for key in keys:
            connection.run("delete from attempts where who = ?", key)
        return _signed_in(connection, name)

    return database.write(succeed)


def _check(connection: Connection, keys: tuple[str, ...]) -> None:
    """Raise TooManyAttempts during the pause after too many failed attempts."""
    now = time.time()
    for key in keys:
        kept = connection.one("select next from attempts where who = ?", key)
        if kept is not None and kept["next"] > now:
            raise TooManyAttempts(kept["next"] - now)


def _count(connection: Connection, keys: tuple[str, ...]) -> None:
    """Count an attempt, or raise TooManyAttempts if there were too many."""
    now = time.time()
    connection.run("delete from attempts where next < ?", now - _ATTEMPTS_KEPT)
    for key in sorted(keys):
        row = connection.one(
            "insert into attempts (who, failures, next) values (?, 1, ?)"
            " on conflict (who) do update set failures = attempts.failures + 1 where attempts.next <= excluded.next"
            " returning failures",
            *(key, now),
        )
        if row is None:
            _check(connection, keys)
            raise TooManyAttempts(1.0)
        over = row["failures"] - _FREE_TRIES
        if over >= 0:
            pause = min(2.0 ** min(over, 10), _LONGEST_PAUSE)
            connection.run("update attempts set next = ? where who = ?", now + pause, key)


def _signed_in(connection: Connection, name: str) -> SignIn:
    now = time.time()
    cookie, key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    connection.run("delete from sign_ins where expires < ?", now)
    connection.run(
        "insert into sign_ins (hash, key_hash, person, created, expires) values (?, ?, ?, ?, ?)",
        *(digest(cookie), digest(key), name, now, now + SIGN_IN_LASTS),
    )
    return SignIn(cookie, key, name, _existing(connection, name)["role"])


def sign_out(connection: Connection, cookie: str) -> None:
    row = connection.one("delete from sign_ins where hash = ? returning person", digest(cookie))
    if row is not None:
        change_feed.add(connection, change_feed.PEOPLE, row["person"], "signed out")  # ends the streams of its pages


def new_link(connection: Connection, name: str) -> str:
    """Return the secret of a link that signs a person in once."""
    now = time.time()
    secret = secrets.token_urlsafe(32)
    connection.run("delete from links where expires < ?", now)
    connection.run(
        "insert into links (hash, person, created, expires) values (?, ?, ?, ?)",
        *(digest(secret), name, now, now + LINK_LASTS),
    )
    return secret


def link_was_used(connection: Connection, secret: str) -> bool:
    """Return whether a person has signed in with a one-time link."""
    row = connection.one("select used from links where hash = ?", digest(secret))
    return row is not None and row["used"] is not None


def link_person(connection: Connection, secret: str) -> str | None:
    """Return whom a one-time link signs in; None if it was used or has expired."""
    row = connection.one(
        "select person from links where hash = ? and used is null and expires > ?", digest(secret), time.time()
    )
    return None if row is None else str(row["person"])


def redeem_link(connection: Connection, secret: str) -> SignIn | None:
    """Sign a person in with a one-time link; None if it was used or has expired."""
    now = time.time()
    row = connection.one(
        "update links set used = ? where hash = ? and used is null and expires > ? returning person",
        *(now, digest(secret), now),
    )
    return None if row is None or found(connection, row["person"]) is None else _signed_in(connection, row["person"])
