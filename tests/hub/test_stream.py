"""The stream of server-sent events: everything once and in order, also after an interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hub.hubs import answered, opened
from hub.listening import Listener, listening
from support import until

if TYPE_CHECKING:
    import httpx

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
