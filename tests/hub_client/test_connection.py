"""The one HTTP client of the hub: bounded in time, aborted by another thread, and misled by no variable."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from hub_client import hubs
from hub_client.hubs import BadHub, RealHub, joined
from tenterhook.hub_client.connection import HubConnection, HubRefused, HubUnavailable
from tenterhook.hub_client.membership import Membership

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    BadHubs = Callable[[Callable[[socket.socket], None]], BadHub]

LONG = 30.0  # seconds


@pytest.mark.parametrize("serve", [hubs.silent, hubs.dripping])
def test_a_call_ends_in_its_time_whatever_the_hub_does(
    bad_hub: BadHubs, serve: Callable[[socket.socket], None]
) -> None:
    began = time.monotonic()
    with pytest.raises(HubUnavailable, match=r"no response within 0\.5 seconds|timed out"):
        HubConnection(bad_hub(serve).member()).call("GET", "/health", timeout=0.5)
    assert time.monotonic() - began < LONG / 2


@pytest.mark.parametrize("way", ["call", "stream"])
def test_another_thread_aborts_what_is_under_way(bad_hub: BadHubs, way: str) -> None:
    bad = bad_hub(hubs.silent)
    connection = HubConnection(bad.member())

    def abort() -> None:
        while not bad.calls:
            time.sleep(0.01)
        time.sleep(0.1)
        connection.abort()

    threading.Thread(target=abort).start()
    began = time.monotonic()
    with pytest.raises(HubUnavailable):
        if way == "call":
            connection.call("GET", "/health", timeout=LONG)
        else:
            next(connection.stream("/stream", LONG))
    assert time.monotonic() - began < LONG / 2
    with pytest.raises(HubUnavailable, match="aborted"):
        connection.call("GET", "/health")


def test_after_a_timeout_the_next_call_is_not_disturbed(bad_hub: BadHubs) -> None:
    """The thread of the call before still ends while the next one runs."""
    answers = iter([hubs.dripping, hubs.says(hubs.said({"version": "1"}))])

    def serve(sock: socket.socket) -> None:
        next(answers)(sock)

    connection = HubConnection(bad_hub(serve).member())
    with pytest.raises(HubUnavailable):
        connection.call("GET", "/health", timeout=0.3)
    assert connection.call("GET", "/health", timeout=LONG).body == {"version": "1"}


def test_a_refusal_carries_the_hubs_own_words(bad_hub: BadHubs) -> None:
    error = {"error": {"message": "no such request", "remedy": "look again"}}
    bad = bad_hub(hubs.says(hubs.said(error, 404)))
    with pytest.raises(HubRefused) as refused:
        HubConnection(bad.member()).call("GET", "/requests/x")
    assert (refused.value.status, refused.value.message, refused.value.remedy) == (
        404,
        f"{bad.url}: no such request",
        "look again",
    )
    assert HubConnection(bad.member()).call("GET", "/requests/x", accept=404).body == error


@pytest.mark.parametrize("answer", [b"nonsense\r\n", hubs.said([1]), hubs.said(b"{"), hubs.said({}, 500)])
def test_what_is_no_response_of_a_hub_is_none(bad_hub: BadHubs, answer: bytes) -> None:
    with pytest.raises(HubUnavailable):
        HubConnection(bad_hub(hubs.says(answer)).member()).call("GET", "/health")


def test_a_missing_certificate_file_is_said_at_once() -> None:
    member = Membership("https://127.0.0.1:1", "t", "desk", "/nonexistent.pem")
    with pytest.raises(HubUnavailable, match="No such file"):
        HubConnection(member).call("GET", "/health", timeout=LONG)


def test_no_variable_leads_elsewhere(hub: RealHub, bad_hub: BadHubs, monkeypatch: pytest.MonkeyPatch) -> None:
    member, proxy = joined(hub), bad_hub(hubs.silent)
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    assert HubConnection(member).call("GET", "/health").body["version"]
    assert proxy.calls == 0
