"""The hub as a person has it: what waits there, an answer, and what happens, as it happens."""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import threading
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit

from ..basics import places, private_files
from ..errors import HookError
from ..joining.calling_hub import HubAway, Refused
from ..joining.membership import checked_url

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE, AWAY, REQUEST = "here", "away", "request"
_COOKIE = "tenterhook"
_MOST = 1000  # requests of one look
_WITHIN = 10.0  # seconds that the hub may be silent in a call
_SILENT = 40.0  # seconds that it may be silent in a stream; it says something every fifteen
_LONGEST_LINE = 64 * 1024
_FIRST_PAUSE, _LAST_PAUSE = 0.5, 10.0  # seconds between looks for a hub that is away


class Person(NamedTuple):
    """Somebody at a hub: by a token, or by a sign-in, which lasts a while."""

    url: str
    name: str
    token: str | None = None
    cookie: str | None = None
    csrf: str | None = None
    ca_file: str | None = None  # whom to believe about the hub's certificate; without, whom the system believes

    @property
    def headers(self) -> dict[str, str]:
        """What says to the hub who asks."""
        if self.token is not None:
            return {"Authorization": f"Bearer {self.token}"}
        if self.cookie is None:
            return {}
        parts = urlsplit(self.url)
        origin = f"{parts.scheme}://{parts.netloc}"
        return {"Cookie": f"{_COOKIE}={self.cookie}", "csrf": self.csrf or "", "Origin": origin}


class Outcome(NamedTuple):
    """What became of an answer; if it does not count, why, and the request says who was first."""

    won: bool
    why: str | None  # late, duplicate, stale, expired, withdrawn
    request: dict[str, Any]


class Happened(NamedTuple):
    """Something at the hub: `here` and `away` are about itself, of a request `what` is its state."""

    kind: str
    about: str
    what: str


def person_file() -> str:
    """Where the hub of this machine, or a sign-in, has left who we are."""
    return os.path.join(places.state(), "hub", "person.json")


def signed_in() -> Person:
    """Whoever this account is at a hub."""
    remedy = "start one here: tenterhook hub; or: tenterhook inbox sign-in URL"
    data = private_files.read(person_file())
    if data is None:
        raise HookError("no hub runs here, and you have signed in at none", remedy)
    try:
        kept = json.loads(data)
        found = Person(checked_url(kept["url"]), *(kept.get(key) for key in Person._fields[1:]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found = None
    if found is None or not all(isinstance(each, str | None) for each in found) or not (found.token or found.cookie):
        raise HookError(f"{person_file()} is broken", remedy)
    return found


def keep(person: Person) -> None:
    """Be this person from now on."""
    places.make_private(os.path.dirname(person_file()))
    about = {key: value for key, value in person._asdict().items() if value is not None}
    places.replace_file(person_file(), json.dumps({"schema": 1, **about}).encode())


def with_token(url: str, token: str) -> Person:
    """Whose token it is, as the hub says."""
    person = Person(url, "", token, ca_file=_ca_file())
    me = _call(person, "GET", "/me").body
    if me.get("kind") != "person":
        raise Refused(403, "an agent's token can ask and report, and nothing else", "use a token of a person")
    return person._replace(name=str(me.get("name")))


def with_password(url: str, name: str, password: str) -> Person:
    """Sign in."""
    person = Person(url, name, ca_file=_ca_file())
    reply = _call(person, "POST", "/sign-in", {"name": name, "password": password})
    try:
        cookie = SimpleCookie(reply.cookie)[_COOKIE].value
    except (CookieError, KeyError):
        raise HubAway(f"{url}: no answer of a hub") from None
    return person._replace(cookie=cookie, csrf=str(reply.body.get("csrf")))


def _ca_file() -> str | None:
    return os.environ.get("SSL_CERT_FILE") or None


def waiting(person: Person) -> list[dict[str, Any]]:
    """What waits for an answer, the oldest first."""
    return _requests(_call(person, "GET", f"/inbox?state=open&limit={_MOST}").body)


def ended(person: Person, most: int) -> list[dict[str, Any]]:
    """What no longer waits, the newest first."""
    return _requests(_call(person, "GET", f"/inbox?state=answered&limit={most}").body)


def _requests(said: dict[str, Any]) -> list[dict[str, Any]]:
    found = said.get("requests")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def request(person: Person, request_id: str) -> dict[str, Any]:
    """One request as it stands, waiting or not."""
    return _call(person, "GET", f"/requests/{quote(request_id, safe='')}").body


def answer(
    person: Person, asked: dict[str, Any], *, approved: bool, scope: str = "once", message: str | None = None
) -> Outcome:
    """Answer exactly the request that was looked at."""
    given = {"approved": approved, "scope": scope, "message": message, "hash": asked["hash"], "via": "inbox"}
    way = f"/requests/{quote(asked['id'], safe='')}/answer"
    said = _call(person, "POST", way, given, also=http.client.CONFLICT).body
    if not isinstance(said.get("request"), dict):
        raise HubAway(f"{person.url}: no answer of a hub")
    return Outcome(said.get("won") is True, said.get("why"), said["request"])


class _Reply(NamedTuple):
    body: dict[str, Any]
    cookie: str


def _call(person: Person, method: str, path: str, body: object = None, also: int | None = None) -> _Reply:
    """Ask the hub; `also` is a status that is an answer like any other."""
    headers = {"Accept": "application/json", "Content-Type": "application/json", **person.headers}
    connection = _connection(person, _WITHIN)
    try:
        connection.request(method, _way(person, path), None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        return _understood(person.url, response, response.read(), also)
    except (OSError, http.client.HTTPException) as error:
        raise HubAway(f"{person.url}: {_why(error)}", "does it run, and is this its address?") from None
    finally:
        connection.close()


def _way(person: Person, path: str) -> str:
    return f"{urlsplit(person.url).path}/api/v1{path}"


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def _connection(person: Person, within: float) -> http.client.HTTPConnection:
    parts = urlsplit(person.url)
    assert parts.hostname is not None
    if parts.scheme == "http":
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=within)
    context = ssl.create_default_context(cafile=person.ca_file)
    return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=within, context=context)


def _understood(url: str, response: http.client.HTTPResponse, said: bytes, also: int | None) -> _Reply:
    try:
        body = json.loads(said)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict) and (response.status < 300 or response.status == also):
        return _Reply(body, response.headers.get("Set-Cookie", ""))
    if 400 <= response.status < 500:
        error = body.get("error") if isinstance(body, dict) else None
        known = error if isinstance(error, dict) else {}
        remedy = "sign in again: tenterhook inbox sign-in URL" if response.status == http.client.UNAUTHORIZED else ""
        message = str(known.get("message") or response.reason)
        raise Refused(response.status, f"{url}: {message}", remedy or str(known.get("remedy") or ""))
    raise HubAway(f"{url}: no answer of a hub (status {response.status})")


class Stream:
    """What happens at the hub. One that is away is looked for until it is back; another thread may `close`."""

    def __init__(self, person: Person) -> None:
        self._person = person
        self._connection: http.client.HTTPConnection | None = None
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[Happened]:
        """Begin; after each `here`, what happened before must be looked up."""
        pause = _FIRST_PAUSE
        while not self._closed.is_set():
            try:
                for each in self._listen():
                    pause = _FIRST_PAUSE
                    yield each
                why = "it has ended the stream"
            except HubAway as error:
                why = error.message
            except (OSError, http.client.HTTPException, ValueError) as error:
                why = _why(error)
            if not self._closed.is_set():
                yield Happened(AWAY, self._person.url, why)
                self._closed.wait(pause)
                pause = min(pause * 2, _LAST_PAUSE)

    def close(self) -> None:
        """Let it end, also in the middle of waiting."""
        self._closed.set()
        wire = self._connection.sock if self._connection is not None else None
        if wire is not None:
            try:
                wire.shutdown(socket.SHUT_RDWR)
            except OSError:  # it is over by now
                pass

    def _listen(self) -> Iterator[Happened]:
        connection = self._connection = _connection(self._person, _SILENT)
        try:
            headers = {"Accept": "text/event-stream", **self._person.headers}
            connection.request("GET", _way(self._person, "/stream"), None, headers)
            response = connection.getresponse()
            if response.status != http.client.OK:
                _understood(self._person.url, response, response.read(), None)
            yield Happened(HERE, self._person.url, "")
            while line := response.readline(_LONGEST_LINE):
                if line.startswith(b"data: "):
                    data = json.loads(line[len(b"data: ") :])
                    yield Happened(str(data["kind"]), str(data["id"]), str(data.get("what")))
        except (KeyError, TypeError):
            raise HubAway(f"{self._person.url}: no stream of a hub") from None
        finally:
            connection.close()
