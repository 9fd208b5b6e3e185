"""A client of a hub's event stream."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from types import TracebackType

    from hub.hubs import Hub


class Listener:
    """Collects the events of a stream in a thread, from when it is entered on."""

    def __init__(self, client: httpx.Client, last: str | None = None) -> None:
        self._client = client
        self._headers = {"last-event-id": last} if last is not None else {}
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self._response: httpx.Response | None = None
        self.status = 0
        self.last = ""
        self.events: list[dict[str, Any]] = []
        self.has_ended_well = False

    def _listen(self) -> None:
        try:
            with self._client.stream("GET", "/stream", headers=self._headers, timeout=60) as response:
                self._response, self.status = response, response.status_code
                for line in response.iter_lines():
                    self._read(line)
                self.has_ended_well = True
        except httpx.HTTPError:
            pass
        finally:
            self._begun.set()

    def _read(self, line: str) -> None:
        key, _, value = line.partition(": ")
        if key == "id":
            self.last = value
        elif key == "data":
            self.events.append(json.loads(value))
        elif not line:
            self._begun.set()

    def saw(self, kind: str, about: str, what: str | None = None) -> bool:
        return any(
            each["kind"] == kind and each["id"] == about and what in (None, each["what"]) for each in list(self.events)
        )

    def __enter__(self) -> Listener:
        self._thread.start()
        assert self._begun.wait(30)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._response is not None and not self._response.is_closed:
            wire: socket.socket = self._response.extensions["network_stream"].get_extra_info("socket")
            with contextlib.suppress(OSError):  # it is over by now
                wire.shutdown(socket.SHUT_RDWR)
        self._thread.join(30)
        assert not self._thread.is_alive()


def listening(hub: Hub, last: str | None = None) -> Listener:
    """The hub's own person, who listens."""
    return Listener(hub.client(hub.person_file["token"]), last)
