"""Who may do what: no token, the wrong one, another site's page, another name, too large a body."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from hub import hubs
from hub.hubs import PASSWORD, answered, opened, request
from support import until
from tenterhook.hub import access, accounts, change_feed, server
from tenterhook.hub import database as databases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hub.hubs import Hub
    from tenterhook.hub.database import Connection, SQLite


@pytest.fixture(scope="module")
def alice(small_hub: Hub) -> httpx.Client:
    """A person with a password."""
    return small_hub.person("alice", password=PASSWORD)


@pytest.fixture
def browser(small_hub: Hub, alice: httpx.Client) -> Iterator[httpx.Client]:
    """A client signed in by a cookie, as a page of the hub is."""
    with httpx.Client(base_url=f"{small_hub.url}/api/v1", headers={"origin": small_hub.url}) as client:
        signed_in = client.post("/sign-in", json={"name": "alice", "password": PASSWORD})
        assert signed_in.status_code == 200, signed_in.text
        client.headers["tenterhook-key"] = signed_in.json()["key"]
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
        {"origin": "http://127.0.0.1:1"},
    ],
)
def test_a_page_of_another_origin_may_not(small_hub: Hub, browser: httpx.Client, headers: dict[str, str]) -> None:
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


THIS_MACHINE, PROXY, ELSEWHERE = "127.0.0.1", "10.0.0.2", "192.0.2.7"


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[SQLite]:
    database = databases.opened(str(tmp_path / "hub.db"))
    assert isinstance(database, databases.SQLite)
    yield database
    database.close()


def call(kept: SQLite, peer: str, host: str, secret: str, *, insecure: bool = False, **headers: str) -> httpx.Response:
    """Call the hub's application by a connection that comes from an address."""
    address = access.Address("0.0.0.0", 7717, "https://hub.example.org", insecure)
    app = server.application(kept, address, 90, [f"{PROXY}/32"])
    sent = {"host": host, "authorization": f"Bearer {secret}"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}

    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(app, client=(peer, 50000))
        async with httpx.AsyncClient(transport=transport, base_url="http://hub") as client:
            return await client.get("/api/v1/me", headers=sent)

    return asyncio.run(get())


HTTPS = {"x_forwarded_for": ELSEWHERE, "x_forwarded_proto": "https"}


@pytest.mark.parametrize(
    ("peer", "host", "headers", "is_accepted"),
    [
        (THIS_MACHINE, "127.0.0.1:7717", {}, True),
        ("::1", "localhost:7717", {}, True),
        ("::ffff:127.0.0.1", "localhost", {}, True),
        (THIS_MACHINE, "hub.example.org", HTTPS, True),  # a proxy on this machine
        (PROXY, "hub.example.org", HTTPS, True),  # a proxy that was named
        (ELSEWHERE, "0.0.0.0:7717", {}, False),
        (ELSEWHERE, "hub.example.org", {}, False),  # past the proxy
        (ELSEWHERE, "hub.example.org", HTTPS, False),  # no proxy of ours: nobody believes it
        (ELSEWHERE, "localhost", {"x_forwarded_for": "127.0.0.1", "x_forwarded_proto": "https"}, False),
        (THIS_MACHINE, "hub.example.org", {"x_forwarded_for": ELSEWHERE, "x_forwarded_proto": "http"}, False),
        (THIS_MACHINE, "localhost", {"x_forwarded_for": ELSEWHERE}, False),
        (THIS_MACHINE, "hub.example.org", {}, False),  # a proxy that says nothing of TLS
        (PROXY, "hub.example.org", {"x_forwarded_for": ELSEWHERE}, False),
    ],
)
@pytest.mark.promise("another account")
def test_a_persons_token_is_accepted_over_tls_or_from_this_machine_only(
    kept: SQLite, peer: str, host: str, headers: dict[str, Any], is_accepted: bool
) -> None:
    """Without TLS the hub accepts no person's token from another machine, unless it was started with `--insecure`."""

    def tokens(connection: Connection) -> tuple[str, str]:
        accounts.add_if_missing(connection, "alice", accounts.ADMIN)
        person = accounts.new_token(connection, "terminal", accounts.PERSON, "alice")[1]
        return person, accounts.new_token(connection, "laptop", accounts.AGENT)[1]

    person, agent = kept.write(tokens)
    told = call(kept, peer, host, person, **headers)
    if is_accepted:
        assert told.json()["name"] == "alice"
    else:
        assert (told.status_code, told.json()["error"]["code"]) == (403, "no-tls")
        assert "--insecure" in told.json()["error"]["remedy"]
    assert call(kept, peer, host, person, insecure=True, **headers).status_code == 200
    assert call(kept, peer, host, agent, **headers).json()["name"] == "laptop"  # it cannot answer


@pytest.mark.promise("another account")
def test_without_tls_a_cookie_counts_from_this_machine_only(small_hub: Hub, browser: httpx.Client) -> None:
    """Without TLS the hub accepts no sign-in from another machine, unless it was started with `--insecure`."""
    asked = opened(small_hub.agent())
    for path in ("/me", "/inbox", "/stream"):
        refused = browser.get(path, headers={"x-forwarded-for": ELSEWHERE})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "no-tls"), path
    browser.headers["x-forwarded-for"] = ELSEWHERE
    assert answered(browser, asked).status_code == 403
    del browser.headers["x-forwarded-for"]
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


def test_an_agents_token_is_looked_up_once_until_one_is_revoked_and_a_persons_each_time(tmp_path: Path) -> None:
    kept = databases.opened(str(tmp_path / "hub.db"))

    def add(connection: Connection) -> tuple[tuple[int, str], tuple[int, str]]:
        accounts.add(connection, "ada", accounts.ADMIN, None)
        person = accounts.new_token(connection, "ada's", accounts.PERSON, "ada")
        return accounts.new_token(connection, "laptop", accounts.AGENT), person

    (number, agent), (_, person) = kept.write(add)

    async def run() -> None:
        feed = change_feed.Feed(kept)
        try:
            await check(feed, access.hub(kept, feed, access.Address("127.0.0.1", 0, "http://127.0.0.1")).tokens)
        finally:
            await feed.stop()

    async def check(feed: change_feed.Feed, tokens: access.TokenCache) -> None:
        assert await tokens.find(agent) is not None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(accounts, "by_hash", None)
            with pytest.raises(TypeError):  # the feed is not up to date: nothing that is remembered counts
                await tokens.find(agent)
        await feed.start()
        while not feed.is_current:
            await asyncio.sleep(0.01)
        await tokens.find(agent)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(accounts, "by_hash", None)
            assert await tokens.find(agent) is not None
            with pytest.raises(TypeError):
                await tokens.find(person)
        await asyncio.to_thread(kept.write, lambda connection: accounts.revoke(connection, number))
        assert await tokens.find(agent) is None

    try:
        asyncio.run(run())
    finally:
        kept.close()


@pytest.mark.slow
def test_a_token_revoked_at_one_hub_is_refused_by_the_other_at_once(
    tmp_path: Path, postgresql: hubs.PostgreSQL
) -> None:
    database = postgresql.new_database()
    with (
        hubs.running(tmp_path / "one", database=database) as one,
        hubs.running(tmp_path / "two", database=database) as two,
    ):
        assert one.admin is not None
        made = one.admin.post("/tokens", json={"name": "laptop"}).json()
        agents = [hub.client(made["token"]) for hub in (one, two)]
        assert [agent.get("/me").status_code for agent in agents * 2] == [200] * 4
        assert one.admin.delete(f"/tokens/{made['id']}").status_code == 204
        assert agents[0].get("/me").status_code == 401
        begun = time.monotonic()
        until(lambda: agents[1].get("/me").status_code == 401)
        assert time.monotonic() - begun < 5
