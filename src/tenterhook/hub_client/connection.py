"""The HTTP client for the hub: JSON requests in bounded time, and the event stream.

It uses no proxy and no certificate that an environment variable names: a repository could have set it to redirect us.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ..errors import HookError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from email.message import Message

    from .inbox_client import Credentials
    from .membership import Membership

CONNECT_TIMEOUT = 2.0  # seconds
CALL_TIMEOUT = 5.0  # seconds for a call that the hub answers at once
_MAX_RESPONSE = 64 * 1024 * 1024  # bytes
_MAX_STREAM_LINE = 64 * 1024  # bytes
_REMEDY = "check the address, and that the hub is running"


class HubUnavailable(HookError):
    """The hub did not respond, or not with a valid response."""


class HubRefused(HubUnavailable):
    """The hub has rejected a request with a status of 400 to 499."""

    def __init__(self, status: int, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.status = status


class HubResponse(NamedTuple):
    """A response of the hub; without a body if it is 204 No Content or 304 Not Modified."""

    status: int
    body: dict[str, Any]
    headers: Message


class HubConnection:
    """Sends requests to a hub, one at a time. Another thread may `abort` it."""

    def __init__(self, account: Membership | Credentials, *, connect_timeout: float = CONNECT_TIMEOUT) -> None:
        self._account = account
        self._connect_timeout = connect_timeout
        self._connection: http.client.HTTPConnection | None = None
        self._done = threading.Event()
        self.is_aborted = False

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        timeout: float = CALL_TIMEOUT,
        etag: str | None = None,
        accept: int | None = None,
    ) -> HubResponse:
        """Send a request below /api/v1 and return the response. Never takes longer than `timeout`, DNS included.

        `accept` is a status from 400 on that is returned like a success.
        """
        done = self._done = threading.Event()
        ended: list[HubResponse | HubUnavailable] = []

        def exchange() -> None:
            headers = {"If-None-Match": etag} if etag else {}
            try:
                with closing(self._open()) as connection:
                    response = self._send(connection, method, path, body, timeout, headers)
                    ended.append(_parse(self._account.url, response, accept))
            except HubUnavailable as error:
                ended.append(error)
            except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
                ended.append(self._unavailable(_reason(error)))
            finally:
                done.set()

        if self.is_aborted:
            raise self._unavailable("aborted")
        threading.Thread(target=exchange, name="tenterhook-hub", daemon=True).start()
        done.wait(timeout)
        if not ended:
            self._shut_down()
            raise self._unavailable(f"no response within {timeout:g} seconds")
        if isinstance(ended[0], HubUnavailable):
            raise ended[0]
        return ended[0]

    def stream(self, path: str, timeout: float) -> Iterator[bytes]:
        """Yield the lines of an event stream, and an empty one first, once the hub has accepted the request.

        `timeout` is the longest silence of the hub.
        """
        try:
            with closing(self._open()) as connection:
                response = self._send(connection, "GET", path, None, timeout, {"Accept": "text/event-stream"})
                if response.status != http.client.OK:
                    _parse(self._account.url, response, None)
                yield b""
                while line := response.readline(_MAX_STREAM_LINE):
                    yield line
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._unavailable(_reason(error)) from None

    def abort(self) -> None:
        """End the current request, and refuse further ones."""
        self.is_aborted = True
        self._shut_down()
        self._done.set()

    def _open(self) -> http.client.HTTPConnection:
        self._connection = _connection(self._account, self._connect_timeout)
        return self._connection

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: object,
        timeout: float,
        headers: Mapping[str, str],
    ) -> http.client.HTTPResponse:
        sent = {"Accept": "application/json", "Connection": "close", **self._account.headers, **headers}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        connection.connect()
        if self.is_aborted:
            raise self._unavailable("aborted")
        connection.sock.settimeout(timeout)
        connection.request(method, f"{urlsplit(self._account.url).path}/api/v1{path}", data, sent)
        return connection.getresponse()

    def _shut_down(self) -> None:
        sock = self._connection.sock if self._connection is not None else None
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:  # closed by now
                pass

    def _unavailable(self, reason: str) -> HubUnavailable:
        return HubUnavailable(f"{self._account.url}: {reason}", _REMEDY)


def _connection(account: Membership | Credentials, timeout: float) -> http.client.HTTPConnection:
    parts = urlsplit(account.url)
    assert parts.hostname is not None
    if parts.scheme == "http":
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    known = ssl.get_default_verify_paths()
    if account.ca_file is not None:
        context.load_verify_locations(account.ca_file)
    else:
        for path, kind in ((known.openssl_cafile, "cafile"), (known.openssl_capath, "capath")):
            try:
                context.load_verify_locations(**{kind: path})
            except OSError:  # a system has one of them, or both
                continue
    return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=context)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def _parse(url: str, response: http.client.HTTPResponse, accept: int | None) -> HubResponse:
    status = response.status
    if status in (http.client.NO_CONTENT, http.client.NOT_MODIFIED):
        return HubResponse(status, {}, response.headers)
    data = response.read(_MAX_RESPONSE + 1)
    if len(data) > _MAX_RESPONSE:
        raise HubUnavailable(f"{url}: the response is too large")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict) and (200 <= status < 300 or status == accept):
        return HubResponse(status, body, response.headers)
    if 400 <= status < 500:
        error = body.get("error") if isinstance(body, dict) else None
        known = error if isinstance(error, dict) else {}
        raise HubRefused(status, f"{url}: {known.get('message') or response.reason}", str(known.get("remedy") or ""))
    raise HubUnavailable(f"{url}: not the response of a hub (status {status})", _REMEDY)
