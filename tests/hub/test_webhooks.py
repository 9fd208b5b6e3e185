"""The phone rings for each waiting request, with a link to it and nothing secret."""

from __future__ import annotations

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from hub.hubs import answered, opened
from support import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hub.hubs import Hub

SECRET = "export TOKEN=hunter2"


class Called:
    """A server that remembers how it was called; it fails as often as it is told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, str], bytes]] = []
        self.failures = 0
        called = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                called.calls.append((self.path, {key.lower(): value for key, value in self.headers.items()}, body))
                called.failures -= 1
                self.send_response(503 if called.failures >= 0 else 302 if self.path == "/away" else 200)
                self.send_header("location", "/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *_: Any) -> None:  # noqa: A002  # its name there
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextlib.contextmanager
    def serving(self) -> Iterator[Called]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def about(self, asked: dict[str, Any]) -> list[tuple[str, dict[str, str], bytes]]:
        """The calls that lead to a request."""
        return [call for call in self.calls if asked["id"] in call[2].decode() or asked["id"] in str(call[1])]


@pytest.fixture
def called() -> Iterator[Called]:
    with Called().serving() as server:
        yield server


@contextlib.contextmanager
def webhook(hub: Hub, kind: str, url: str) -> Iterator[None]:
    assert hub.admin is not None
    made = hub.admin.post("/webhooks", json={"kind": kind, "url": url})
    assert made.status_code == 201, made.text
    try:
        yield
    finally:
        assert hub.admin.delete(f"/webhooks/{made.json()['number']}").status_code == 204


@pytest.mark.parametrize("kind", ["ntfy", "slack", "json"])
def test_a_waiting_request_rings_with_a_link_to_it_and_nothing_secret(hub: Hub, called: Called, kind: str) -> None:
    with webhook(hub, kind, f"{called.url}/topic"):
        asked = opened(hub.agent(), SECRET, why=SECRET)
        ((path, headers, body),) = until(lambda: called.about(asked))
    link = f"{hub.first['url']}/requests/{asked['id']}"
    assert path == "/topic"
    assert "hunter2" not in body.decode() + str(headers)
    if kind == "ntfy":
        assert headers["click"] == link
        assert b"run command" in body
    elif kind == "slack":
        assert f"<{link}|" in json.loads(body)["text"]
    else:
        told = json.loads(body)
        assert (told["id"], told["url"], told["tool_name"]) == (asked["id"], link, "Shell")


@pytest.mark.slow
def test_a_call_that_fails_is_made_again_and_not_twice_when_it_went_well(hub: Hub, called: Called) -> None:
    called.failures = 1
    with webhook(hub, "json", called.url):
        asked = opened(hub.agent())
        until(lambda: len(called.about(asked)) == 2)
        other = opened(hub.agent())
        until(lambda: called.about(other))
        assert len(called.about(asked)) == 2


@pytest.mark.slow
def test_a_server_that_is_away_keeps_nothing_back(hub: Hub, called: Called) -> None:
    with webhook(hub, "json", "http://127.0.0.1:9/closed"), webhook(hub, "json", called.url):
        agent = hub.agent()
        for _ in range(3):
            asked = opened(agent)
            until(lambda asked=asked: called.about(asked))  # type: ignore[misc]
            assert hub.admin is not None
            assert answered(hub.admin, asked).status_code == 200


@pytest.mark.slow
def test_a_redirection_is_not_followed(hub: Hub, called: Called) -> None:
    with webhook(hub, "json", f"{called.url}/away"), webhook(hub, "json", f"{called.url}/here"):
        asked = opened(hub.agent())
        until(lambda: {path for path, *_ in called.about(asked)} == {"/away", "/here"})
    assert "/elsewhere" not in {path for path, *_ in called.calls}


def test_an_address_is_shown_without_what_is_secret_about_it(hub: Hub) -> None:
    with webhook(hub, "slack", "https://hooks.example/services/T000/B000/XXXX"):
        assert hub.admin is not None
        listed = hub.admin.get("/webhooks").text
    assert "hooks.example" in listed
    assert "XXXX" not in listed


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x", "javascript:1", "", "http://a b", "http://"])
def test_only_addresses_that_can_be_called_are_taken(small_hub: Hub, url: str) -> None:
    assert small_hub.admin is not None
    assert small_hub.admin.post("/webhooks", json={"kind": "json", "url": url}).status_code == 422
