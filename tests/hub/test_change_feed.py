"""Whoever listens hears of everything, once, in order; also after an interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hub import hubs
from hub.hubs import answered, opened
from hub.listening import Listener
from support import until

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from hub.hubs import Hub


def listening(hub: Hub, last: str | None = None) -> Listener:
    return Listener(hub.client(hub.person_file["token"]), last)


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


def test_a_hub_that_ends_closes_its_streams_and_long_polls(tmp_path: Path, database: str | None) -> None:
    with hubs.running(tmp_path / "hub", database=database) as hub:
        asked = opened(hub.agent())
        with listening(hub) as listener:
            hub.process.terminate()
            assert hub.process.wait(30) == 0
            until(lambda: listener.has_ended_well)
        assert hub.said == ""
        assert asked["state"] == "open"


def test_two_hubs_on_one_server_are_one_inbox(tmp_path: Path, postgresql: hubs.PostgreSQL) -> None:
    database = postgresql.new_database()
    with (
        hubs.running(tmp_path / "one", database=database) as one,
        hubs.running(tmp_path / "two", database=database) as two,
    ):
        with listening(two) as listener:
            agent = one.agent()
            asked = opened(agent)
            until(lambda: listener.saw("request", asked["id"], "open"))
        assert two.admin is not None
        assert answered(two.admin, asked).status_code == 200
        assert agent.get(f"/requests/{asked['id']}/answer?wait=20").json()["state"] == "approved"
