"""The part of the inbox about connections; in a browser: hub/browser/test_first_start.py."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hub.deliveries import deliver, line
from hub.hubs import answered, request
from tenterhook.hub_client import trial

if TYPE_CHECKING:
    import httpx

    from hub.hubs import Hub


def test_a_machine_that_never_used_its_token_is_named_with_what_connects_it(
    small_hub: Hub, signed_in: httpx.Client
) -> None:
    of_other_tests = "update tokens set revoked = 1 where kind = 'agent'"
    small_hub.write(lambda connection: connection.run(of_other_tests))
    small_hub.agent("never-joined")
    page = signed_in.get("/").text
    assert "never-joined" in page
    assert f"tenterhook hub join {small_hub.url}" in page
    assert "never-joined" in signed_in.get("/fragments/connections").text


def test_what_a_machine_says_of_itself_is_text(small_hub: Hub, signed_in: httpx.Client) -> None:
    agent = small_hub.agent("<b>evil</b>\u202e")
    about = {"name": "x", "title": "<i>x</i>", "connected": False, "why": "<u>why</u>", "remedy": "<s>do</s>"}
    agent.put("/machine", json={"agents": [about]}).raise_for_status()
    page = signed_in.get("/").text
    for text in ("<b>evil", "<i>x", "<u>why", "<s>do", "\u202e"):
        assert text not in page
    assert "&lt;u&gt;why&lt;/u&gt;" in page


def test_without_a_membership_here_there_is_no_test_request(small_hub: Hub, signed_in: httpx.Client) -> None:
    assert "Send a test request" not in signed_in.get("/").text
    refused = signed_in.post("/test-request")
    assert refused.status_code == 409
    assert f"tenterhook hub join {small_hub.url}" in refused.text


def test_a_test_request_is_sent_by_a_page_of_ours_with_its_key_only(small_hub: Hub, signed_in: httpx.Client) -> None:
    assert signed_in.post("/test-request", headers={"origin": "http://127.0.0.1:1"}).status_code == 403
    del signed_in.headers["tenterhook-key"]
    assert signed_in.post("/test-request").status_code == 401
    assert "never-joined" not in signed_in.get("/fragments/connections").text
    assert small_hub.agent().post(f"{small_hub.url}/test-request").status_code in (401, 403)


def test_who_answered_a_test_request_is_not_what_the_machine_says(small_hub: Hub, signed_in: httpx.Client) -> None:
    assert small_hub.admin is not None
    agent = small_hub.agent("tester")
    asked = agent.post("/requests", json=request(agent=trial.AGENT, session_id="test-1")).json()
    assert answered(small_hub.admin, asked).status_code == 200
    record = {"type": "approval", "decision": "approve", "answered_by": "mallory (hub)", "waited_ms": 1e300}
    deliver(agent, [line(1, "test-1", **record, time=time.time())])
    shown = signed_in.get("/fragments/connections").text
    assert f"got your answer (approved by {small_hub.person_file['name']}), and reported it" in shown
    a_minute_ago = "update requests set answered = answered - 61 where agent = ?"
    small_hub.write(lambda connection: connection.run(a_minute_ago, trial.AGENT))
    assert "Test request:" not in signed_in.get("/").text
