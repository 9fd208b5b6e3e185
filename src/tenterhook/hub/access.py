"""Authentication and authorization: sign-ins, tokens, checks of the origin and of TLS."""

from __future__ import annotations

import ipaddress
import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from fastapi import Request  # noqa: TC002  # FastAPI reads the types of dependencies
from starlette.concurrency import run_in_threadpool

from ..errors import HookError
from . import accounts
from .writes import Writes

if TYPE_CHECKING:
    from .change_feed import Feed
    from .database import Database

COOKIE = "tenterhook"
KEY = "tenterhook-key"  # the header with the key of a sign-in, without which its cookie is of no use
_LAST_USED_EVERY = 60.0  # seconds between two updates of a token's `last_used`
_MOST_TOKENS = 100_000  # in the cache
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class AccessRefused(HookError):
    """A request that is refused, with an HTTP status and a code for programs."""

    def __init__(
        self, status: int, code: str, message: str, remedy: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message, remedy)
        self.status = status
        self.code = code
        self.headers = headers


class Address(NamedTuple):
    """The address that the hub listens on, and its public URL."""

    host: str
    port: int
    public_url: str
    is_insecure: bool = False  # people may sign in over plain HTTP from other machines

    @property
    def is_tls(self) -> bool:
        return self.public_url.startswith("https://")

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def own_url(self) -> str:
        """Where programs on this machine reach the hub."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104  # it is replaced
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def names(self) -> frozenset[str]:
        """The names that a Host header may have."""
        return frozenset((self.host.lower(), urlsplit(self.public_url).hostname or "", *_LOOPBACK))


class Hub(NamedTuple):
    """What handlers need: `request.app.state.hub`."""

    database: Database
    feed: Feed
    address: Address
    tokens: TokenCache
    writes: Writes  # of requests and answers
    uploads: Writes  # of records, which may take longer
    renewals: Writes  # of what a power failure of this machine may undo


def hub(database: Database, feed: Feed, address: Address) -> Hub:
    """Return what handlers need, over a database."""
    renewals = Writes(database, lasting=False)
    return Hub(
        database, feed, address, TokenCache(database, feed, renewals), Writes(database), Writes(database), renewals
    )


class Principal(NamedTuple):
    """Who makes a request: a person, by cookie or token, or an agent."""

    kind: str  # accounts.PERSON or accounts.AGENT
    name: str
    role: str | None
    token: int | None = None
    agent: str | None = None  # the only agent that may use the token, if it is for one
    sign_in: accounts.SignIn | None = None  # by cookie

    @property
    def is_admin(self) -> bool:
        return self.role == accounts.ADMIN


def is_loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def hub_of(request: Request) -> Hub:
    found: Hub = request.app.state.hub
    return found


async def here(request: Request) -> Hub:
    """Return what handlers need: a dependency, which is called without a thread."""
    return hub_of(request)


def has_credentials(request: Request) -> bool:
    """Return whether a request has credentials that a browser does not send by itself: a token or a sign-in's key."""
    return "authorization" in request.headers or KEY in request.headers


async def caller_of(request: Request) -> Principal | None:
    """Return who makes a request; None without valid credentials.

    Raise AccessRefused for a person's credentials that came over plain HTTP from another machine.
    """
    caller = await _known(request)
    if caller is not None and caller.kind == accounts.PERSON:
        check_private(request)
    return caller


async def _known(request: Request) -> Principal | None:
    hub = hub_of(request)
    given = request.headers.get("authorization")
    if given is not None:
        scheme, _, secret = given.partition(" ")
        return await hub.tokens.find(secret.strip()) if scheme.lower() == "bearer" else None
    cookie, key = request.cookies.get(COOKIE), request.headers.get(KEY)
    if not cookie or not key:
        return None
    sign_in = await run_in_threadpool(hub.database.read, lambda connection: accounts.by_cookie(connection, cookie, key))
    return None if sign_in is None else Principal(accounts.PERSON, sign_in.person, sign_in.role, sign_in=sign_in)


class TokenCache:
    """Finds tokens with one query. An agent's token is cached until any token, person or sign-in is removed.

    The change feed reports removals, including those by another hub; while the feed is not up to date, the cache is not
    used. What authenticates a person is never cached: they can answer.
    """

    def __init__(self, database: Database, feed: Feed, writes: Writes) -> None:
        self._database = database
        self._feed = feed
        self._writes = writes
        self._agents: dict[str, Principal] = {}  # by the hash of the token
        self._used: dict[int, float] = {}  # when `last_used` was stored, by number of the token
        self._times_forgotten = 0
        feed.on_people = self.forget

    def forget(self) -> None:
        """Have every token looked up again."""
        self._agents.clear()
        self._times_forgotten += 1

    async def find(self, secret: str) -> Principal | None:
        """Return the owner of a token; None if it is invalid."""
        key = accounts.digest(secret)
        known = self._agents.get(key) if self._feed.is_current else None
        if known is None:
            times = self._times_forgotten
            row = await run_in_threadpool(self._database.read, lambda connection: accounts.by_hash(connection, key))
            if row is None:
                return None
            known = Principal(row["kind"], row["person"] or row["name"], row["role"], row["id"], row["agent"])
            self._used.setdefault(row["id"], row["last_used"] or 0.0)
            # a token revoked during the query is not cached
            if row["kind"] == accounts.AGENT and times == self._times_forgotten and len(self._agents) < _MOST_TOKENS:
                self._agents[key] = known
        assert known.token is not None
        now = time.time()
        if now - self._used.get(known.token, 0.0) > _LAST_USED_EVERY:
            self._used[known.token] = now
            await self._writes.do(accounts.update_last_used, known.token)
        return known


async def authenticated(request: Request) -> Principal:
    """Return who makes a request, or raise AccessRefused."""
    caller = await caller_of(request)
    if caller is None:
        raise AccessRefused(
            *(401, "not-signed-in", "this requires a sign-in or a token", "send Authorization: Bearer <token>"),
            headers={"WWW-Authenticate": "Bearer"},
        )
    return caller


async def api_caller(request: Request) -> Principal:
    """Return the caller of the API: a dependency."""
    caller = await authenticated(request)
    if caller.sign_in is not None and request.method not in ("GET", "HEAD", "OPTIONS"):
        check_origin(request, needed=True)
    return caller


async def agent(request: Request) -> Principal:
    """Return the caller of the API, which must be an agent: a dependency."""
    caller = await api_caller(request)
    if caller.kind != accounts.AGENT:
        raise AccessRefused(403, "agents-only", "this requires an agent's token", "tenterhook hub token add NAME")
    return caller


async def person(request: Request) -> Principal:
    """Return the caller of the API, who must be a person: a dependency."""
    return required_person(await api_caller(request))


async def admin(request: Request) -> Principal:
    """Return the caller of the API, who must be an admin: a dependency."""
    return required_admin(await person(request))


def required_person(caller: Principal) -> Principal:
    """Return the caller, or raise AccessRefused if it is an agent."""
    if caller.kind != accounts.PERSON:
        raise AccessRefused(403, "people-only", "an agent's token can only ask and report", "sign in as a person")
    return caller


def required_admin(caller: Principal) -> Principal:
    """Return the caller, or raise AccessRefused unless they may change rules, people and tokens."""
    if not caller.is_admin:
        raise AccessRefused(403, "admins-only", f"{caller.name} is not an admin", "ask an admin to do this")
    return caller


def check_origin(request: Request, *, needed: bool) -> None:
    """Refuse a request from another site's page; with `needed`, also one without an origin."""
    origin = request.headers.get("origin")
    if origin is not None:
        own = f"{request.url.scheme}://{request.headers.get('host', '')}"
        is_ours = origin in (own, hub_of(request).address.public_url)
    else:
        site = request.headers.get("sec-fetch-site")
        is_ours = site in ("same-origin", "none") if site else not needed
    if not is_ours:
        raise AccessRefused(403, "other-origin", "this request comes from another site", "use the hub's own page")


def check_sign_in(request: Request) -> None:
    """Refuse a sign-in over plain HTTP from another machine, or from another site's page."""
    check_origin(request, needed=False)
    check_private(request)


def check_private(request: Request) -> None:
    """Refuse a person's credentials over plain HTTP from another machine, unless the hub is `--insecure`."""
    if not is_private(request) and not hub_of(request).address.is_insecure:
        raise AccessRefused(
            *(403, "no-tls", "people on other machines need TLS"),
            "use a reverse proxy with TLS that sets X-Forwarded-Proto, and give its address with --public-url;"
            " or start the hub with --insecure",
        )


def is_private(request: Request) -> bool:
    """Return whether a request came over TLS, or from this machine under one of its own names.

    The scheme and the client are those of the connection, or what a trusted proxy says (`ProxyHeadersMiddleware`).
    """
    if request.url.scheme == "https":
        return True
    return is_loopback(client_of(request)) and is_loopback(request.url.hostname or "")


def client_of(request: Request) -> str:
    """Return the address that a request comes from."""
    return request.client.host if request.client else ""


async def is_still_authorized(request: Request) -> bool:
    """Return whether the credentials of a long-lived request are still valid."""
    return await caller_of(request) is not None
