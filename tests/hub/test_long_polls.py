"""Long polls without the framework are the same as with it: what they answer, and whom they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hub.hubs import answered, opened

if TYPE_CHECKING:
    import httpx

    from hub.hubs import Hub

PLAIN, OTHER = "wait=0", "wait=0.0000000"  # the second one is left to the framework


@pytest.mark.parametrize("who", ["its agent", "another agent", "a person", "nobody", "an invalid token"])
@pytest.mark.parametrize("state", ["open", "denied", "unknown"])
def test_both_ways_answer_alike(small_hub: Hub, who: str, state: str) -> None:
    agent, admin = small_hub.agent(), small_hub.admin
    assert admin is not None
    asked = opened(agent)
    if state == "denied":
        assert answered(admin, asked, approved=False).status_code == 200
    clients: dict[str, httpx.Client] = {
        "its agent": agent,
        "another agent": small_hub.agent("other"),
        "a person": admin,
        "nobody": small_hub.client(),
        "an invalid token": small_hub.client("th_agent_x"),
    }
    path = f"/requests/{asked['id'] if state != 'unknown' else 'unknown'}/answer"
    plain, other = (clients[who].get(f"{path}?{query}") for query in (PLAIN, OTHER))
    expected = {"its agent": 404 if state == "unknown" else 200, "another agent": 404, "a person": 403}.get(who, 401)
    assert plain.status_code == other.status_code == expected
    assert plain.json() == other.json()
    assert {**plain.headers, "date": ""} == {**other.headers, "date": ""}
    if expected == 200:
        assert plain.json()["state"] == state


@pytest.mark.parametrize("query", ["wait=61", "wait=-1", "wait=x", "wait=nan"])
def test_what_is_not_plain_is_left_to_the_framework(small_hub: Hub, query: str) -> None:
    agent = small_hub.agent()
    assert agent.get(f"/requests/{opened(agent)['id']}/answer?{query}").status_code == 422
