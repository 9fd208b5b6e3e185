"""Who may do what: no token, the wrong one, another site's page, another name, too large a body."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from hub import hubs
from hub.hubs import PASSWORD, answered, opened, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hub.hubs import Hub


@pytest.fixture(scope="module")
def alice(small_hub: Hub) -> httpx.Client:
    """A person with a password."""
    return small_hub.person("alice", password=PASSWORD)


@pytest.fixture
def browser(small_hub: Hub, alice: httpx.Client) -> Iterator[httpx.Client]:
    """Somebody signed in by a cookie, as a page of the hub's own."""
    with httpx.Client(base_url=f"{small_hub.url}/api/v1", headers={"origin": small_hub.url}) as client:
        signed_in = client.post("/sign-in", json={"name": "alice", "password": PASSWORD})
        assert signed_in.status_code == 200, signed_in.text
        client.headers["csrf"] = signed_in.json()["csrf"]
        yield client


def test_an_agents_token_can_ask_and_report_and_nothing_else(small_hub: Hub) -> None:
    agent = small_hub.agent()
    asked = opened(agent)
    assert answered(agent, asked).status_code == 403
    for path in ("/inbox", f"/requests/{asked['id']}", "/people", "/tokens", "/webhooks", "/sessions", "/hooks"):
        assert agent.get(path).status_code == 403, path
    assert agent.post("/rules", json={"answer": "approve"}).status_code == 403
    assert agent.post("/tokens", json={"name": "x"}).status_code == 403
    assert agent.get("/rules").status_code == 200


def test_a_persons_token_cannot_ask_for_an_agent(small_hub: Hub, alice: httpx.Client) -> None:
    assert alice.post("/requests", json=request()).status_code == 403
    assert alice.post("/records", json={"machine": "m", "records": []}).status_code == 403


def test_an_approver_answers_but_changes_no_rules_people_or_tokens(small_hub: Hub, alice: httpx.Client) -> None:
    assert answered(alice, opened(small_hub.agent())).status_code == 200
    assert alice.post("/rules", json={"answer": "approve"}).status_code == 403
    assert alice.get("/rules").status_code == 200
    for path in ("/people", "/tokens", "/webhooks"):
        assert alice.get(path).status_code == 403


def test_a_cookie_is_out_of_reach_of_scripts_and_other_sites(small_hub: Hub, alice: httpx.Client) -> None:
    signed_in = httpx.post(f"{small_hub.url}/api/v1/sign-in", json={"name": "alice", "password": PASSWORD})
    flags = {part.strip().lower() for part in signed_in.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= flags
    assert "secure" not in flags


@pytest.mark.slow
def test_behind_tls_a_cookie_is_secure(tmp_path: Path) -> None:
    with hubs.running(tmp_path / "hub", "--public-url", "https://hub.example.org") as hub:
        link = hub.first["enter"].partition("#")[2]
        entered = httpx.post(f"{hub.url}/api/v1/enter", json={"link": link})
        assert "secure" in entered.headers["set-cookie"].lower()
        assert httpx.get(f"{hub.url}/api/v1/health", headers={"host": "hub.example.org"}).status_code == 200


def test_a_page_of_the_hub_may_answer(small_hub: Hub, browser: httpx.Client) -> None:
    won = answered(browser, opened(small_hub.agent()))
    assert won.status_code == 200
    assert won.json()["request"]["answer"]["via"] == "page"
    assert won.json()["request"]["answer"]["by"] == "alice"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"csrf": ""},
        {"csrf": "x" * 32},
        {"origin": "http://127.0.0.1:1"},
    ],
)
def test_a_page_of_another_origin_or_without_our_mark_may_not(
    small_hub: Hub, browser: httpx.Client, headers: dict[str, str]
) -> None:
    asked = opened(small_hub.agent())
    browser.headers.update(headers)
    assert answered(browser, asked).status_code == 403
    browser.headers["sec-fetch-site"] = "cross-site"
    assert answered(browser, asked).status_code == 403
    assert small_hub.admin is not None
    assert small_hub.admin.get(f"/requests/{asked['id']}").json()["state"] == "open"


def test_a_cookie_without_any_word_of_where_it_comes_from_changes_nothing(
    small_hub: Hub, browser: httpx.Client
) -> None:
    del browser.headers["origin"]
    asked = opened(small_hub.agent())
    assert answered(browser, asked).status_code == 403
    browser.headers["sec-fetch-site"] = "same-origin"
    assert answered(browser, asked).status_code == 200


@pytest.mark.slow
def test_without_tls_nobody_signs_in_from_another_machine(tmp_path: Path) -> None:
    other = {"x-forwarded-for": "192.0.2.7"}  # as a reverse proxy on this machine says it
    with hubs.running(tmp_path / "hub") as hub:
        hub.person("bob", password=PASSWORD)
        url = f"{hub.url}/api/v1/sign-in"
        refused = httpx.post(url, json={"name": "bob", "password": PASSWORD}, headers=other)
        assert refused.status_code == 403
        assert refused.json()["error"]["code"] == "no-tls"
    with hubs.running(tmp_path / "hub", "--insecure") as hub:
        url = f"{hub.url}/api/v1/sign-in"
        assert httpx.post(url, json={"name": "bob", "password": PASSWORD}, headers=other).status_code == 200
