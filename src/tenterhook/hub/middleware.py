"""The middleware of every request: Host header, size of the body, security headers."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .access import Address

LARGEST_BODY = 1024 * 1024
LARGEST_RECORDS = 5 * 1024 * 1024
_RECORDS = "/api/v1/records"
_BODY_TIMEOUT = 30.0  # seconds
_LINGER = 2.0  # seconds in which the rest of a refused body is discarded, so that the response arrives
_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class HubMiddleware:
    """Refuses foreign Host names and large bodies, and adds headers to every response."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app = app
        self._names = address.names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        send = _with_headers(send)
        if _name(headers.get(b"host", b"")) not in self._names:
            remedy = "use the hub's own address, or start the hub with this one as --public-url"
            await _refuse(send, 421, "wrong-host", "the hub does not know this host name", remedy)
            return
        largest = LARGEST_RECORDS if scope["path"] == _RECORDS else LARGEST_BODY
        length = headers.get(b"content-length", b"0")
        is_too_large = length.isdigit() and int(length) > largest
        body = None if is_too_large else await _body(receive, largest)
        if body is None:
            await _refuse_large(receive, send, largest)
            return
        await self._app(scope, _replayed(body, receive), send)


def _name(host: bytes) -> str | None:
    """Return the name in a Host header, without its port."""
    try:
        return urlsplit("//" + host.decode("latin-1")).hostname
    except ValueError:
        return None


async def _body(receive: Receive, largest: int) -> Message | None:
    """Return a body as one message; None if it is too large or takes too long."""
    pieces: list[bytes] = []
    left = largest
    try:
        async with asyncio.timeout(_BODY_TIMEOUT):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return message
                pieces.append(message.get("body", b""))
                left -= len(pieces[-1])
                if left < 0:
                    return None
                if not message.get("more_body"):
                    return {"type": "http.request", "body": b"".join(pieces), "more_body": False}
    except TimeoutError:
        return None


def _replayed(first: Message, receive: Receive) -> Receive:
    """Return a callable that receives this message first."""
    waiting = [first]

    async def receiving() -> Message:
        return waiting.pop() if waiting else await receive()

    return receiving


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            more = [header for header in (*_HEADERS, (b"cache-control", b"no-store")) if header[0] not in names]
            message = {**message, "headers": [*given, *more]}
        await send(message)

    return sending


def error_body(code: str, message: str, remedy: str) -> dict[str, Any]:
    """Return the JSON body of an error."""
    return {"error": {"code": code, "message": message, "remedy": remedy}}


async def _refuse(send: Send, status: int, code: str, message: str, remedy: str, *, is_last: bool = True) -> None:
    body = json.dumps(error_body(code, message, remedy)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if not is_last:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": not is_last})


async def _refuse_large(receive: Receive, send: Send, largest: int) -> None:
    """Respond at once, and close the connection later: the client would lose a response while it still sends."""
    message = f"a request body may have at most {largest} bytes and take at most {_BODY_TIMEOUT:.0f} s"
    await _refuse(send, 413, "too-large", message, "send less at a time", is_last=False)
    try:
        async with asyncio.timeout(_LINGER):
            while (await receive()).get("more_body"):
                pass
    except TimeoutError:
        pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})
