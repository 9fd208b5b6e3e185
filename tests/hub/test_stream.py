"""The stream of server-sent events: everything once and in order, also after an interruption."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx
import pytest

from hub.hubs import PASSWORD, answered, name_of, opened
from hub.listening import Listener, listening
from support import until

if TYPE_CHECKING:
    from hub.hubs import Hub


def test_a_page_hears_of_a_request_and_of_its_answer(hub: Hub, agent: httpx.Client, admin: httpx.Client) -> None:
    with listening(hub) as listener:
        asked = opened(agent)
        until(lambda: listener.saw("request", asked["id"], "open"))
        answered(admin, asked, approved=False)
        until(lambda: listener.saw("request", asked["id"], "denied"))
        states = [each["what"] for each in listener.events if each["id"] == asked["id"]]
    assert states == ["open", "denied"]


def test_a_page_that_was_away_hears_what_it_has_missed(hub: Hub, agent: httpx.Client) -> None:
    with listening(hub) as listener:
        first = opened(agent)
        until(lambda: listener.saw("request", first["id"]))
    second = opened(agent)
    with listening(hub, listener.last) as later:
        until(lambda: later.saw("request", second["id"]))
        assert not later.saw("request", first["id"])


def test_a_number_from_another_time_does_not_make_a_page_deaf(hub: Hub, agent: httpx.Client) -> None:
    with listening(hub, "999999999999") as listener:
        asked = opened(agent)
        until(lambda: listener.saw("request", asked["id"]))


@pytest.mark.promise("another account")
def test_a_revoked_token_loses_its_stream_at_once(hub: Hub, agent: httpx.Client, admin: httpx.Client) -> None:
    """A token that is revoked at the hub loses its stream at once.

    Also when nothing else happens, and before the next event.
    """
    made = admin.post("/tokens", json={"name": f"stream {time.time()}", "kind": "person", "person": name_of(admin)})
    with Listener(hub.client(made.json()["token"])) as listener:
        assert admin.delete(f"/tokens/{made.json()['id']}").status_code == 204
        revoked = time.monotonic()
        until(lambda: listener.has_ended_well)
        assert time.monotonic() - revoked < 5
        asked = opened(agent)
    assert not listener.saw("request", asked["id"])


@pytest.mark.parametrize("how", ["signed out", "removed", "new password"])
def test_who_is_signed_out_loses_the_stream_at_once(hub: Hub, admin: httpx.Client, how: str) -> None:
    name = f"{how.replace(' ', '-')}-{time.time()}"
    admin.post("/people", json={"name": name, "password": PASSWORD}).raise_for_status()
    with httpx.Client(base_url=f"{hub.url}/api/v1", headers={"origin": hub.url}, timeout=60) as client:
        signed_in = client.post("/sign-in", json={"name": name, "password": PASSWORD})
        client.headers["tenterhook-key"] = signed_in.json()["key"]
        with Listener(client) as listener:
            begun = time.monotonic()
            if how == "signed out":
                client.post("/sign-out").raise_for_status()
            elif how == "removed":
                admin.delete(f"/people/{name}").raise_for_status()
            else:
                admin.put(f"/people/{name}/password", json={"password": PASSWORD}).raise_for_status()
            until(lambda: listener.has_ended_well)
            assert time.monotonic() - begun < 5


def test_an_agents_token_may_not_listen(hub: Hub) -> None:
    with Listener(hub.agent()) as listener:
        pass
    assert listener.status == 403


def test_who_is_no_admin_does_not_hear_about_people(hub: Hub, agent: httpx.Client) -> None:
    person = hub.person("listener")
    with Listener(person) as listener:
        hub.person("newcomer")
        asked = opened(agent)
        until(lambda: listener.saw("request", asked["id"]))
    assert {each["kind"] for each in listener.events} == {"request"}
