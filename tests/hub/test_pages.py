"""The pages that people look at, and the forms on them."""

from __future__ import annotations

import re
import time
import uuid
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest

from hub.deliveries import deliver, line, run
from hub.hubs import WORK_DIR, name_of, opened
from tenterhook.approvals.requests import content_hash

if TYPE_CHECKING:
    from hub.hubs import Hub


def test_an_answer_to_what_was_shown_before_is_none(small_hub: Hub, signed_in: httpx.Client) -> None:
    """The page showed one thing, and another would run."""
    asked = opened(small_hub.agent(), "ls")
    shown_before = content_hash("Shell", {"command": "rm -rf /"}, WORK_DIR)
    way = f"/requests/{asked['id']}/answer"
    form = {"approved": "yes", "hash": shown_before}
    assert signed_in.post(way, data=form).status_code == 409
    assert signed_in.post(way, data={**form, "hash": ""}).status_code == 409
    given = {"approved": True, "hash": shown_before}
    assert signed_in.post(f"/api/v1{way}", json=given).json()["why"] == "stale"
    found = signed_in.get(f"/api/v1/requests/{asked['id']}").json()
    assert found["state"] == "open"
    assert [each["became"] for each in found["answers"]] == ["stale"] * 3


def test_a_timeline_shows_why_a_hook_failed(small_hub: Hub, signed_in: httpx.Client) -> None:
    failed = {"outcome": "failed", "meaning": "failed", "why": "exit 3", "duration_ms": 1.0}
    common = {"schema": 1, "time": time.time(), "by": "agent", "session_id": "failures", "event": "pre-tool-call"}
    run = {**failed, "hook": "guard", "stderr": "Traceback:\nlost <the> line\n"}
    later = {**failed, "hook": "later", "why": "exit 7", "stderr": "too late\n", "hash": uuid.uuid4().hex}
    records = [
        {**common, "type": "verdict", "decision": "none", "runs": [run], "hash": uuid.uuid4().hex},
        {**common, "type": "async", **later},
    ]
    lines = [{"segment": "000001.jsonl", "line": line, "record": each} for line, each in enumerate(records, start=1)]
    agent = small_hub.agent()
    assert agent.post("/records", json={"records": lines}).status_code == 200
    shown = signed_in.get(f"/sessions/{name_of(agent)}/failures").text
    assert "exit 3:\nTraceback:\nlost &lt;the&gt; line</span>" in shown
    assert "exit 7: too late</span>" in shown


def test_the_inbox_shows_a_request_and_its_form_answers_it(small_hub: Hub, signed_in: httpx.Client) -> None:
    small_hub.write(lambda connection: connection.run("update requests set lease = 1"))  # those of other tests
    asked = opened(small_hub.agent(), "uname <all>")
    page = signed_in.get("/").text
    assert "uname &lt;all&gt;" in page
    assert asked["hash"] in page
    form = {"hash": asked["hash"], "message": " go on "}
    way = f"/requests/{asked['id']}/answer"
    assert signed_in.post(way, data=form).status_code == 422  # neither yes nor no
    answered = signed_in.post(way, data={**form, "approved": "yes", "scope": "session"})
    assert (answered.status_code, "<html" in answered.text) == (200, False)  # the card, as it is now
    found = signed_in.get(f"/api/v1/requests/{asked['id']}").json()
    assert (found["state"], found["answer"]["via"]) == ("approved", "page")
    assert (found["answer"]["scope"], found["answer"]["message"]) == ("session", "go on")
    assert asked["hash"] not in signed_in.get("/").text  # nothing to answer any more


def test_an_answer_that_comes_too_late_shows_who_answered(small_hub: Hub, signed_in: httpx.Client) -> None:
    asked = opened(small_hub.agent())
    quick = small_hub.person("quick")
    assert quick.post(f"/requests/{asked['id']}/answer", json={"approved": False, "hash": asked["hash"]}).is_success
    form = {"hash": asked["hash"], "approved": "yes"}
    late = signed_in.post(f"/requests/{asked['id']}/answer", data=form)
    assert late.status_code == 409
    assert "quick" in late.text


def test_sessions_and_hooks_are_listed_with_what_agents_reported(small_hub: Hub, signed_in: httpx.Client) -> None:
    run = {"hook": "my-guard", "source": "/hooks/my-guard", "outcome": "ok", "meaning": "blocked", "duration_ms": 3.0}
    record = {"type": "verdict", "time": time.time(), "session_id": "odd/session", "decision": "deny", "runs": [run]}
    lines = [{"segment": "1", "line": 1, "record": {**record, "hash": uuid.uuid4().hex}}]
    agent = small_hub.agent("desk")
    assert agent.post("/records", json={"records": lines}).is_success
    machine = quote(name_of(agent))
    (path,) = re.findall(rf'href="(/sessions/{machine}/[^"]+)"', signed_in.get("/sessions").text)
    assert "my-guard" in signed_in.get(path).text
    hooks = signed_in.get("/hooks?days=1").text
    assert "my-guard" in hooks
    assert hooks.count("<svg") >= 3  # two plots, and one beside the hook


@pytest.mark.parametrize("when", [-1e14, 1e14, pytest.param(2**1024 - 1, id="huge")])
def test_a_record_of_no_time_that_exists_breaks_no_page(small_hub: Hub, signed_in: httpx.Client, when: float) -> None:
    agent = small_hub.agent("clock")
    deliver(agent, [line(1, "strange", run("guard", took=when), time=when, waited_ms=when)])
    for path in ("/", "/sessions", f"/sessions/{name_of(agent)}/strange", "/hooks"):
        assert signed_in.get(path).status_code == 200, path


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/sessions/machine/session?after="),
        ("POST", "/rules/{}/remove"),
        ("POST", "/tokens/{}/revoke"),
        ("POST", "/webhooks/{}/remove"),
    ],
)
def test_a_number_that_no_database_can_store_is_not_found(signed_in: httpx.Client, method: str, path: str) -> None:
    for number in ("9" * 25, "-1"):
        wanted = path.format(number) if "{}" in path else path + number
        response = signed_in.request(method, wanted)
        assert (response.status_code, "Not found" in response.text) == (404, True), wanted


def test_a_program_that_answers_as_a_page_does_is_not_called_one(small_hub: Hub) -> None:
    asked = opened(small_hub.agent(), "make program")
    assert small_hub.admin is not None
    token = {"authorization": f"Bearer {small_hub.person_file['token']}"}
    form = {"approved": "yes", "hash": asked["hash"]}
    assert httpx.post(f"{small_hub.url}/requests/{asked['id']}/answer", data=form, headers=token).status_code == 200
    assert small_hub.admin.get(f"/requests/{asked['id']}").json()["answer"]["via"] == "api"
