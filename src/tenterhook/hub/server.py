"""The hub's server: the application, its background tasks, start and shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import pwd
import resource
import signal
import socket
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from .. import __version__
from ..errors import HookError
from ..hub_client import inbox_client
from . import (
    access,
    accounts,
    api,
    api_people,
    change_feed,
    inbox,
    long_polls,
    middleware,
    pages,
    retention,
    service,
    stream,
    webhooks,
)
from .database import DatabaseUnavailable, opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from .database import Connection, PostgreSQL, SQLite

_EXPIRE_EVERY = 1.0  # seconds
_DELETE_EVERY = 60.0
_MAX_HEADERS = 16 * 1024  # bytes of a request's first line and headers
_SHUTDOWN_TIMEOUT = 5  # seconds for responses in progress when the hub stops
_BACKLOG = 16_384  # connections that may wait to be accepted; the system has a limit of its own
_FULL_COLLECTION_EVERY = 600.0
_INBOX_NAME = "inbox on this machine"
_LOCAL_PROXIES = ("127.0.0.1", "::1", "::ffff:127.0.0.1")


def application(
    database: SQLite | PostgreSQL, address: access.Address, keep_days: int, trusted_proxies: Sequence[str] = ()
) -> FastAPI:
    """Return the ASGI application; `trusted_proxies` are addresses or networks besides this machine's own."""
    feed = change_feed.Feed(database)
    hub = access.hub(database, feed, address)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await feed.start()
        tasks = [
            asyncio.create_task(_expire(hub, keep_days)),
            asyncio.create_task(webhooks.deliver(database, feed, address.public_url)),
        ]
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await feed.stop()

    app = FastAPI(
        title="Tenterhook hub",
        version=__version__,
        summary="One inbox for the approvals of every agent.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.hub = hub
    for part in (api, api_people, stream, pages):
        app.include_router(part.router)
    for kind, answer in _ERRORS:
        app.add_exception_handler(kind, answer)
    app.add_middleware(long_polls.LongPolls, refusal=_refusal)
    app.add_middleware(middleware.HubMiddleware, address=address)
    # replaces the client and the scheme of a connection with those that a trusted proxy sends
    app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=[*_LOCAL_PROXIES, *trusted_proxies])
    return app


def _refused(_: Request, error: Any) -> Response:
    return _failure(error.status, error.code, error.message, error.remedy, error.headers)


def _away(_: Request, error: Any) -> Response:
    return _failure(503, "database-away", error.message, error.remedy, {"Retry-After": "2"})


def _not_possible(_: Request, error: Any) -> Response:
    return _failure(422, "not-possible", error.message, error.remedy)


def _unreadable(_: Request, error: Any) -> Response:
    where = [".".join(str(part) for part in each["loc"]) + ": " + each["msg"] for each in error.errors()[:5]]
    return _failure(422, "unreadable", "; ".join(where), _DESCRIBED)


_DESCRIBED = "the interface is described in /api/v1/openapi.json"
_HTTP = {
    400: ("unreadable", _DESCRIBED),
    404: ("not-found", _DESCRIBED),
    405: ("not-allowed", _DESCRIBED),
}


def _http(_: Request, error: Any) -> Response:
    code, remedy = _HTTP.get(error.status_code, ("http", ""))
    return _failure(error.status_code, code, str(error.detail), remedy, error.headers)


def _broken(_: Request, __: Any) -> Response:
    return _failure(500, "broken", "internal error of the hub", "its terminal or log has the details")


def _failure(status: int, code: str, message: str, remedy: str, headers: Any = None) -> Response:
    return api.PlainJSON(middleware.error_body(code, message, remedy), status, headers)


_ERRORS: tuple[tuple[type[Exception], Callable[[Request, Any], Response]], ...] = (
    (access.AccessRefused, _refused),
    (DatabaseUnavailable, _away),
    (HookError, _not_possible),
    (RequestValidationError, _unreadable),
    (HTTPException, _http),
    (Exception, _broken),
)


def _refusal(request: Request, error: HookError) -> Response:
    return next(answer for kind, answer in _ERRORS if isinstance(error, kind))(request, error)


async def _expire(hub: access.Hub, keep_days: int) -> None:
    """End requests that are overdue, and delete old data."""
    deleted, collected = 0.0, time.monotonic()
    while True:
        with contextlib.suppress(DatabaseUnavailable):
            await run_in_threadpool(hub.database.write, inbox.end_overdue)
            if time.monotonic() - deleted > _DELETE_EVERY:
                deleted = time.monotonic()
                await run_in_threadpool(
                    hub.database.write, lambda connection: retention.delete_old(connection, keep_days)
                )
        if time.monotonic() - collected > _FULL_COLLECTION_EVERY:
            collected = time.monotonic()
            gc.collect()
        await asyncio.sleep(_EXPIRE_EVERY)


class _Server(uvicorn.Server):
    """Stops at the first signal: long polls and streams end, and responses in progress are finished."""

    def __init__(self, config: uvicorn.Config, feed: change_feed.Feed) -> None:
        super().__init__(config)
        self._feed = feed

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, self._end)
        try:
            yield
        finally:
            for each in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(each)

    def _end(self) -> None:
        self.should_exit = True
        self._feed.close()


def run(
    listen: str,
    database: str | None,
    public_url: str | None,
    keep_days: int,
    insecure: bool,
    say: Callable[[dict[str, Any]], None],
    trusted_proxies: Sequence[str] = (),
) -> None:
    """Serve until a signal; `say` is called first, with the address and a link to sign in."""
    _raise_limits()
    kept = opened(database)
    try:
        kept.claim()
        with _listening(*_host_and_port(listen)) as listener:
            if kept.kind == "sqlite":  # no other hub serves it: nobody is polling now
                kept.write(inbox.shorten_leases)
            host, port = listener.getsockname()[:2]
            own = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            address = access.Address(host, port, (public_url or own).rstrip("/"), insecure)
            service.save_address(address.own_url)
            say(_announcement(kept, address, own))
            app = application(kept, address, keep_days, trusted_proxies)
            _collect_garbage_seldom()
            config = uvicorn.Config(
                app,
                log_config=None,
                access_log=False,  # URLs hold ids; headers, with tokens, are never logged
                proxy_headers=False,  # the application's own middleware reads them
                http="h11",
                ws="none",
                h11_max_incomplete_event_size=_MAX_HEADERS,
                server_header=False,
                timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
                backlog=_BACKLOG,
            )
            asyncio.run(_Server(config, app.state.hub.feed).serve(sockets=[listener]))
    finally:
        kept.close()


def _raise_limits() -> None:
    """Allow as many connections as the system does; the usual limit is a thousand."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _collect_garbage_seldom() -> None:
    """Exclude long-lived objects from garbage collection: with 10,000 waiting agents, it takes a third of a second.

    What a request leaves behind is collected while it is young; a full collection runs every few minutes (`_expire`).
    """
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young * 10, middle, 1_000_000)


def _host_and_port(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65535 or not host:
        raise HookError(f"{listen!r} is not an address to listen on", "write it like 127.0.0.1:7717")
    return host.strip("[]"), int(port)


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        remedy = "choose another address, such as --listen 127.0.0.1:7718"
        raise HookError(f"cannot listen on {host}:{port}: {error.strerror}", remedy) from None
    # asyncio does not set it on a given socket; without it each response waits 40 ms for an acknowledgement
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _announcement(database: SQLite | PostgreSQL, address: access.Address, own: str) -> dict[str, Any]:
    """Return the hub's address; on loopback, also a link that signs this account's person in."""
    said = {
        "url": address.public_url,
        "listen": own,
        "database": database.kind,
        "insecure": address.is_insecure,
    }
    if not address.is_loopback:
        return said
    name = pwd.getpwuid(os.getuid()).pw_name
    link = database.write(lambda connection: _link(connection, name))
    _save_person(database, own, name)
    return {**said, "person": name, "enter": f"{own}/enter#{link}"}


def _link(connection: Connection, name: str) -> str:
    accounts.add_if_missing(connection, name, accounts.ADMIN)
    return accounts.new_link(connection, name)


def _save_person(database: SQLite | PostgreSQL, url: str, name: str) -> None:
    """Save a token for this account's inbox, unless it is signed in at another hub; a valid token is reused."""
    try:
        saved = inbox_client.signed_in()
    except HookError:
        saved = inbox_client.Credentials(url, name)
    if not access.is_loopback(urlsplit(saved.url).hostname or ""):
        return
    token = saved.token or ""
    known = database.read(lambda connection: accounts.by_token(connection, token))
    if known is None or known["person"] != name:
        _, token = database.write(lambda connection: _token(connection, name))
    inbox_client.save(inbox_client.Credentials(url, name, token))


def _token(connection: Connection, name: str) -> tuple[int, str]:
    """Create a token. Others may have the same name: lost ones, and those of machines that share the database."""
    unused = accounts.unused_token_name(connection, _INBOX_NAME, accounts.PERSON, name)
    return accounts.new_token(connection, unused, accounts.PERSON, name)
