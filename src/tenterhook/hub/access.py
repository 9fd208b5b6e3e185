"""Authentication and authorization: cookies, tokens, CSRF and origin checks."""

from __future__ import annotations

import hmac
import ipaddress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from fastapi import Request  # noqa: TC002  # FastAPI reads the types of dependencies
from starlette.concurrency import run_in_threadpool

from ..errors import HookError
from . import accounts

if TYPE_CHECKING:
    from .change_feed import Feed
    from .database import Database

COOKIE = "tenterhook"
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
    def names(self) -> frozenset[str]:
        """The names that a Host header may have."""
        return frozenset((self.host.lower(), urlsplit(self.public_url).hostname or "", *_LOOPBACK))


class Hub(NamedTuple):
    """What handlers need: `request.app.state.hub`."""

    database: Database
    feed: Feed
    address: Address


class Principal(NamedTuple):
    """Who makes a request: a person, by cookie or token, or an agent."""

    kind: str  # accounts.PERSON or accounts.AGENT
    name: str
    role: str | None
    token: int | None = None
    sign_in: accounts.SignIn | None = None  # by cookie

    @property
    def is_admin(self) -> bool:
        return self.role == accounts.ADMIN


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def hub_of(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


def caller_of(request: Request) -> Principal | None:
    """Return who makes a request; None without valid credentials. Queries the database."""
    hub = hub_of(request)
    given = request.headers.get("authorization")
    if given is not None:
        scheme, _, secret = given.partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = hub.database.read(lambda connection: accounts.by_token(connection, secret.strip()))
        if token is None:
            return None
        accounts.update_last_used(hub.database, token)
        return Principal(token["kind"], token["person"] or token["name"], token["role"], token["id"])
    cookie = request.cookies.get(COOKIE)
    sign_in = hub.database.read(lambda connection: accounts.by_cookie(connection, cookie)) if cookie else None
    return None if sign_in is None else Principal(accounts.PERSON, sign_in.person, sign_in.role, sign_in=sign_in)


def authenticated(request: Request) -> Principal:
    """Return who makes a request, or raise AccessRefused."""
    caller = caller_of(request)
    if caller is None:
        raise AccessRefused(
            *(401, "not-signed-in", "this needs a sign-in or a token", "send Authorization: Bearer <token>"),
            headers={"WWW-Authenticate": "Bearer"},
        )
    return caller


def api_caller(request: Request) -> Principal:
    """Return the caller of the API: a dependency."""
    caller = authenticated(request)
    if caller.sign_in is not None and request.method not in ("GET", "HEAD", "OPTIONS"):
        check_origin(request, needed=True)
        check_csrf(caller.sign_in, request.headers.get("csrf"))
    return caller


def agent(request: Request) -> Principal:
    """Return the caller of the API, which must be an agent: a dependency."""
    caller = api_caller(request)
    if caller.kind != accounts.AGENT:
        raise AccessRefused(403, "agents-only", "only an agent's token may do this", "tenterhook hub token add NAME")
    return caller


def person(request: Request) -> Principal:
    """Return the caller of the API, who must be a person: a dependency."""
    return required_person(api_caller(request))


def admin(request: Request) -> Principal:
    """Return the caller of the API, who must be an admin: a dependency."""
    return required_admin(person(request))


def required_person(caller: Principal) -> Principal:
    """Return the caller, or raise AccessRefused if it is an agent."""
    if caller.kind != accounts.PERSON:
        raise AccessRefused(
            403, "people-only", "an agent's token can ask and report, and nothing else", "sign in as a person"
        )
    return caller


def required_admin(caller: Principal) -> Principal:
    """Return the caller, or raise AccessRefused unless they may change rules, people and tokens."""
    if not caller.is_admin:
        raise AccessRefused(403, "admins-only", f"{caller.name} is not an admin", "ask an admin to do it")
    return caller


def check_origin(request: Request, *, needed: bool) -> None:
    """Refuse a request from another site's page; `needed`: also one without an origin."""
    origin = request.headers.get("origin")
    if origin is not None:
        own = f"{request.url.scheme}://{request.headers.get('host', '')}"
        is_ours = origin in (own, hub_of(request).address.public_url)
    else:
        site = request.headers.get("sec-fetch-site")
        is_ours = site in ("same-origin", "none") if site else not needed
    if not is_ours:
        raise AccessRefused(403, "other-origin", "this request comes from another site", "use the hub's own page")


def check_csrf(sign_in: accounts.SignIn, given: str | None) -> None:
    """Refuse a change without the CSRF token of the sign-in."""
    if not hmac.compare_digest(sign_in.csrf.encode(), (given or "").encode("utf-8", "replace")):
        raise AccessRefused(403, "no-csrf", "CSRF token missing or wrong", "reload the page and try again")


def check_sign_in(request: Request) -> None:
    """Refuse a sign-in over plain HTTP from another machine, or from another site's page."""
    address = hub_of(request).address
    check_origin(request, needed=False)
    if not (address.is_tls or address.is_insecure or is_loopback(client_of(request))):
        raise AccessRefused(
            *(403, "no-tls", "signing in from another machine needs TLS"),
            "use a reverse proxy with TLS and name it with --public-url, or start the hub with --insecure",
        )


def client_of(request: Request) -> str:
    """Return the address that a request comes from."""
    return request.client.host if request.client else ""


async def is_still_authorized(request: Request) -> bool:
    """Return whether the credentials of a long-lived request are still valid."""
    return await run_in_threadpool(caller_of, request) is not None
