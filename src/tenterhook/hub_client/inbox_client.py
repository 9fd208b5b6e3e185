"""A person's requests to the hub: sign in, list what is open, answer, follow events."""

from __future__ import annotations

import http.client
import json
import os
import threading
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit

from ..basics import places, private_files
from ..errors import HookError
from .connection import HubConnection, HubRefused, HubResponse, HubUnavailable
from .membership import checked_url

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECTED, DISCONNECTED, REQUEST = "connected", "disconnected", "request"
_COOKIE, _KEY = "tenterhook", "Tenterhook-Key"
_MAX_REQUESTS = 1000
_TIMEOUT = 10.0  # seconds
_SILENCE = 40.0  # seconds that a stream may be silent; the hub sends something every fifteen
_FIRST_PAUSE, _LAST_PAUSE = 0.5, 10.0  # seconds between attempts to reconnect


class Credentials(NamedTuple):
    """What authenticates a person at a hub: a token, or the session of a sign-in."""

    url: str
    name: str
    token: str | None = None
    cookie: str | None = None
    key: str | None = None
    ca_file: str | None = None  # certificate authorities for the hub; None: the system's

    @property
    def headers(self) -> dict[str, str]:
        """The headers that authenticate a request."""
        if self.token is not None:
            return {"Authorization": f"Bearer {self.token}"}
        if self.cookie is None:
            return {}
        parts = urlsplit(self.url)
        origin = f"{parts.scheme}://{parts.netloc}"
        return {"Cookie": f"{_COOKIE}={self.cookie}", _KEY: self.key or "", "Origin": origin}


class AnswerResult(NamedTuple):
    """Whether an answer counts; if not, why, and the request says who answered first."""

    won: bool
    why: str | None  # late, duplicate, stale, expired, withdrawn
    request: dict[str, Any]


class HubEvent(NamedTuple):
    """An event of the hub, or of the connection to it; `what` is a request's state."""

    kind: str
    about: str
    what: str


def person_file() -> str:
    """Return the file to which this machine's hub, or a sign-in, writes the credentials."""
    return os.path.join(places.state(), "hub", "person.json")


def signed_in() -> Credentials:
    """Return the person that this account is signed in as."""
    remedy = "start one: tenterhook hub start; or sign in: tenterhook inbox sign-in URL"
    data = private_files.read(person_file())
    if data is None:
        raise HookError("no hub is running here, and you have not signed in at one", remedy)
    try:
        kept = json.loads(data)
        found = Credentials(checked_url(kept["url"]), *(kept.get(key) for key in Credentials._fields[1:]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found = None
    if found is None or not all(isinstance(each, str | None) for each in found) or not (found.token or found.cookie):
        raise HookError(f"{person_file()} is broken", remedy)
    return found


def save(person: Credentials) -> None:
    """Stay signed in as a person."""
    places.make_private(os.path.dirname(person_file()))
    about = {key: value for key, value in person._asdict().items() if value is not None}
    places.replace_file(person_file(), json.dumps({"schema": 1, **about}).encode())


def with_token(url: str, token: str) -> Credentials:
    """Return the person that a token belongs to."""
    person = Credentials(url, "", token, ca_file=_ca_file())
    me = _call(person, "GET", "/me").body
    if me.get("kind") != "person":
        raise HubRefused(403, "an agent's token can only ask and report", "use a person's token")
    return person._replace(name=str(me.get("name")))


def with_password(url: str, name: str, password: str) -> Credentials:
    """Sign in with a password."""
    person = Credentials(url, name, ca_file=_ca_file())
    response = _call(person, "POST", "/sign-in", {"name": name, "password": password})
    try:
        cookie = SimpleCookie(response.headers.get("Set-Cookie", ""))[_COOKIE].value
    except (CookieError, KeyError):
        raise HubUnavailable(f"{url}: not a response of a hub") from None
    return person._replace(cookie=cookie, key=str(response.body.get("key")))


def _ca_file() -> str | None:
    return os.environ.get("SSL_CERT_FILE") or None


def requests(person: Credentials, state: str, limit: int = _MAX_REQUESTS) -> list[dict[str, Any]]:
    """Return requests in a state: `open`, the oldest first, or `answered`, the newest first."""
    found = _call(person, "GET", f"/inbox?state={state}&limit={limit}").body.get("requests")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def request(person: Credentials, request_id: str) -> dict[str, Any]:
    """Return a request, open or not."""
    return _call(person, "GET", f"/requests/{quote(request_id, safe='')}").body


def answer(
    person: Credentials, asked: dict[str, Any], *, approved: bool, scope: str = "once", message: str | None = None
) -> AnswerResult:
    """Answer a request; the answer is bound to the hash of what was shown."""
    given = {"approved": approved, "scope": scope, "message": message, "hash": asked["hash"], "via": "inbox"}
    path = f"/requests/{quote(asked['id'], safe='')}/answer"
    result = _call(person, "POST", path, given, accept=http.client.CONFLICT).body
    if not isinstance(result.get("request"), dict):
        raise HubUnavailable(f"{person.url}: not a response of a hub")
    return AnswerResult(result.get("won") is True, result.get("why"), result["request"])


def _call(person: Credentials, method: str, path: str, body: object = None, accept: int | None = None) -> HubResponse:
    connection = HubConnection(person, connect_timeout=_TIMEOUT)
    try:
        return connection.call(method, path, body, timeout=_TIMEOUT, accept=accept)
    except HubRefused as error:
        if error.status == http.client.UNAUTHORIZED:
            error.remedy = "sign in again: tenterhook inbox sign-in URL"
        raise


class EventStream:
    """Follows the hub's events, and reconnects for as long as it takes; another thread may `close` it."""

    def __init__(self, person: Credentials) -> None:
        self._url = person.url
        self._connection = HubConnection(person, connect_timeout=_TIMEOUT)
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[HubEvent]:
        """Yield events; after each CONNECTED, earlier ones must be looked up."""
        pause = _FIRST_PAUSE
        while not self._closed.is_set():
            try:
                for each in self._connection.stream("/stream", _SILENCE):
                    pause = _FIRST_PAUSE
                    if not each:
                        yield HubEvent(CONNECTED, self._url, "")
                    elif each.startswith(b"data: "):
                        yield _event(each[len(b"data: ") :])
                reason = "it closed the stream"
            except HubUnavailable as error:
                reason = error.message
            except (KeyError, TypeError, ValueError):
                reason = f"{self._url}: not an event stream of a hub"
            if not self._closed.is_set():
                yield HubEvent(DISCONNECTED, self._url, reason)
                self._closed.wait(pause)
                pause = min(pause * 2, _LAST_PAUSE)

    def close(self) -> None:
        """End the stream, also while it waits."""
        self._closed.set()
        self._connection.abort()


def _event(data: bytes) -> HubEvent:
    found = json.loads(data)
    return HubEvent(str(found["kind"]), str(found["id"]), str(found.get("what")))
