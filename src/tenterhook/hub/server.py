"""The hub as a process: the application, what it does on the side, and how it begins and ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
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

from .. import __version__
from ..basics import places
from ..errors import HookError
from . import access, accounts, api, api_people, change_feed, inbox, middleware, pages, records, stream, webhooks
from .database import DatabaseAway, opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from .database import Connection, PostgreSQL, SQLite

_SWEEP = 1.0  # seconds
_FORGET = 60.0
_LARGEST_HEAD = 16 * 1024  # bytes of a request's first line and headers
_LAST_WORDS = 5  # seconds for answers that are under way when the hub ends
_THIS_MACHINE = "inbox on this machine"


def application(database: SQLite | PostgreSQL, address: access.Address, keep_days: int) -> FastAPI:
    """The hub, ready to be served."""
    feed = change_feed.Feed(database)
    hub = access.Hub(database, feed, address)

    @contextlib.asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        await feed.start()
        chores = [
            asyncio.create_task(_sweep(hub, keep_days)),
            asyncio.create_task(webhooks.ring(database, feed, address.public_url)),
        ]
        yield
        for chore in chores:
            chore.cancel()
        await asyncio.gather(*chores, return_exceptions=True)
        await feed.stop()

    app = FastAPI(
        title="Tenterhook hub",
        version=__version__,
        summary="One inbox for the approvals of every agent.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=alive,
    )
    app.state.hub = hub
    for part in (api, api_people, stream, pages):
        app.include_router(part.router)
    for kind, answer in _ERRORS:
        app.add_exception_handler(kind, answer)
    app.add_middleware(middleware.Door, address=address)
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
    return _failure(
        500, "broken", "the hub has made a mistake", "what its terminal or log says about it helps to fix it"
    )


def _failure(status: int, code: str, message: str, remedy: str, headers: Any = None) -> Response:
    return api.PlainJSON(middleware.error_body(code, message, remedy), status, headers)


_ERRORS: tuple[tuple[type[Exception], Callable[[Request, Any], Response]], ...] = (
    (access.AccessRefused, _refused),
    (DatabaseAway, _away),
    (HookError, _not_possible),
    (RequestValidationError, _unreadable),
    (HTTPException, _http),
    (Exception, _broken),
)


async def _sweep(hub: access.Hub, keep_days: int) -> None:
    """End what is overdue, and forget what nobody will ask for."""
    forgotten = 0.0
    while True:
        with contextlib.suppress(DatabaseAway):
            await run_in_threadpool(hub.database.write, inbox.end_overdue)
            if time.monotonic() - forgotten > _FORGET:
                forgotten = time.monotonic()
                await run_in_threadpool(
                    hub.database.write, lambda connection: records.forget_old(connection, keep_days)
                )
        await asyncio.sleep(_SWEEP)


class _Server(uvicorn.Server):
    """Ends at the first signal: whoever waits is sent home, and answers that are under way are finished."""

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
) -> None:
    """Serve until a signal comes; `say` hears first where, and with which link to sign in."""
    _raise_limits()
    kept = opened(database)
    try:
        kept.claim()
        with _listening(*_host_and_port(listen)) as listener:
            host, port = listener.getsockname()[:2]
            own = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            address = access.Address(host, port, (public_url or own).rstrip("/"), insecure)
            say(_first_words(kept, address, own))
            app = application(kept, address, keep_days)
            config = uvicorn.Config(
                app,
                log_config=None,
                access_log=False,  # addresses hold ids; headers, with tokens, are never written anywhere
                http="h11",
                ws="none",
                h11_max_incomplete_event_size=_LARGEST_HEAD,
                server_header=False,
                timeout_graceful_shutdown=_LAST_WORDS,
                backlog=2048,
            )
            asyncio.run(_Server(config, app.state.hub.feed).serve(sockets=[listener]))
    finally:
        kept.close()


def _raise_limits() -> None:
    """Have room for a connection of every agent and page; the usual limit is a thousand."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _host_and_port(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65535 or not host:
        raise HookError(f"{listen!r} is no address to listen on", "write it like 127.0.0.1:7717")
    return host.strip("[]"), int(port)


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise HookError(f"cannot listen on {host}:{port}: {error.strerror}", "choose another with --listen") from None
    # asyncio leaves it to us for a socket of ours: else each answer waits 40 ms for the other side's receipt
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _first_words(database: SQLite | PostgreSQL, address: access.Address, own: str) -> dict[str, Any]:
    """Where the hub is; on loopback, also how this account's person signs in."""
    said = {
        "url": address.public_url,
        "listen": own,
        "database": database.kind,
        "insecure": address.is_insecure,
    }
    if not address.is_loopback:
        return said
    name = pwd.getpwuid(os.getuid()).pw_name
    link = database.write(lambda connection: _welcome_account(connection, name))
    _remember(database, own, name)
    return {**said, "person": name, "enter": f"{own}/enter#{link}"}


def _welcome_account(connection: Connection, name: str) -> str:
    accounts.add_unless_there(connection, name, accounts.ADMIN)
    return accounts.new_link(connection, name)


def person_file() -> str:
    """Where this account finds its own hub: address and token, for it alone."""
    return os.path.join(places.state(), "hub", "person.json")


def _remember(database: SQLite | PostgreSQL, url: str, name: str) -> None:
    """Leave a token for this account's own inbox; the one that is there is used on if it still counts.

    Somebody who has signed in at another hub stays there.
    """
    kept = _remembered()
    if kept.get("url") and not access.is_loopback(urlsplit(str(kept["url"])).hostname or ""):
        return
    token = str(kept.get("token", ""))
    known = database.read(lambda connection: accounts.by_token(connection, token))
    if known is None or known["person"] != name:
        _, token = database.write(lambda connection: _token(connection, name))
    places.make_private(os.path.dirname(person_file()))
    about = {"schema": 1, "url": url, "token": token, "name": name}
    places.replace_file(person_file(), json.dumps(about).encode())


def _token(connection: Connection, name: str) -> tuple[int, str]:
    """A new one, though others may have come from machines that share the database, or have been lost."""
    called = accounts.free_name(connection, _THIS_MACHINE, accounts.PERSON, name)
    return accounts.new_token(connection, called, accounts.PERSON, name)


def _remembered() -> dict[str, Any]:
    try:
        with open(person_file(), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
