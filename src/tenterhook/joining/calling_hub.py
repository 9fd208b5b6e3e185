"""JSON over HTTP to the hub, in bounded time: whatever goes wrong is `HubAway`.

No proxy and no certificate that the environment names is used: a repository may have set it, and would answer in the
hub's place.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ..errors import HookError

if TYPE_CHECKING:
    from .membership import Membership

CONNECT = 2.0  # seconds
QUICK = 5.0  # seconds for a call that the hub answers at once
_LARGEST = 8 * 1024 * 1024  # bytes of an answer


class HubAway(HookError):
    """The hub did not answer, or with nothing that we understand."""


class Refused(HubAway):
    """The hub has understood, and says no."""

    def __init__(self, status: int, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.status = status


class Reply(NamedTuple):
    """What the hub has said."""

    status: int
    body: dict[str, Any]
    etag: str | None = None


class Line:
    """A way to the hub. One call at a time; another thread may hang up."""

    def __init__(self, membership: Membership) -> None:
        self._membership = membership
        self._connection: http.client.HTTPConnection | None = None
        self._done = threading.Event()
        self.is_hung_up = False

    def call(
        self, method: str, path: str, body: object = None, *, within: float = QUICK, etag: str | None = None
    ) -> Reply:
        """Ask, and return the answer. Never takes longer than `within`, whatever the hub or a name server does."""
        done = self._done = threading.Event()
        ended: list[Reply | HubAway] = []

        def exchange() -> None:
            try:
                ended.append(self._exchange(method, path, body, within, etag))
            except HubAway as error:
                ended.append(error)
            except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
                ended.append(HubAway(f"{self._membership.url}: {str(error) or type(error).__name__}"))
            finally:
                done.set()

        if self.is_hung_up:
            raise HubAway(f"{self._membership.url}: hung up")
        threading.Thread(target=exchange, name="tenterhook-hub", daemon=True).start()
        done.wait(within)
        if not ended:
            self._cut()
            raise HubAway(f"{self._membership.url}: no answer within {within:g} seconds")
        if isinstance(ended[0], HubAway):
            raise ended[0]
        return ended[0]

    def hang_up(self) -> None:
        """End the call that is going on, and let there be no further one."""
        self.is_hung_up = True
        self._cut()
        self._done.set()

    def _cut(self) -> None:
        connection = self._connection
        if connection is not None and connection.sock is not None:
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _exchange(self, method: str, path: str, body: object, within: float, etag: str | None) -> Reply:
        parts = urlsplit(self._membership.url)
        connection = self._connection = _connection(self._membership)
        headers = {"Authorization": f"Bearer {self._membership.token}", "Accept": "application/json"}
        headers |= {"Connection": "close", **({"If-None-Match": etag} if etag else {})}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        try:
            connection.connect()
            if self.is_hung_up:
                raise HubAway(f"{self._membership.url}: hung up")
            connection.sock.settimeout(within)
            connection.request(method, f"{parts.path}/api/v1{path}", data, headers)
            response = connection.getresponse()
            said = response.read(_LARGEST + 1)
            return _understood(self._membership.url, response, said)
        finally:
            connection.close()


def _connection(membership: Membership) -> http.client.HTTPConnection:
    parts = urlsplit(membership.url)
    assert parts.hostname is not None
    if parts.scheme == "http":
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=CONNECT)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    known = ssl.get_default_verify_paths()
    if membership.ca_file is not None:
        context.load_verify_locations(membership.ca_file)
    else:
        for path, kind in ((known.openssl_cafile, "cafile"), (known.openssl_capath, "capath")):
            try:
                context.load_verify_locations(**{kind: path})
            except OSError:  # a system has one of them, or both
                continue
    return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=CONNECT, context=context)


def _understood(url: str, response: http.client.HTTPResponse, said: bytes) -> Reply:
    status = response.status
    if status == http.client.NOT_MODIFIED:
        return Reply(status, {})
    if len(said) > _LARGEST:
        raise HubAway(f"{url}: it answers without end")
    try:
        body = json.loads(said)
    except (ValueError, RecursionError):
        body = None
    if 400 <= status < 500:
        error = body.get("error") if isinstance(body, dict) else None
        known = error if isinstance(error, dict) else {}
        raise Refused(status, f"{url}: {known.get('message') or response.reason}", str(known.get("remedy") or ""))
    if not 200 <= status < 300 or not isinstance(body, dict):
        raise HubAway(f"{url}: no answer of a hub (status {status})")
    return Reply(status, body, response.headers.get("ETag"))
