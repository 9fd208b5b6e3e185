"""A request is answered once, by the first valid answer; nothing else ever approves it."""

from __future__ import annotations

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from hub.hubs import WORK_DIR, answered, name_of, opened, request
from support import until
from tenterhook.approvals.requests import content_hash

if TYPE_CHECKING:
    from hub.hubs import Hub


def told(person: httpx.Client, asked: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = person.get(f"/requests/{asked['id']}").json()
    return found


def test_an_asker_waits_and_goes_on_as_soon_as_somebody_has_answered(agent: httpx.Client, admin: httpx.Client) -> None:
    asked = opened(agent)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(agent.get, f"/requests/{asked['id']}/answer", params={"wait": 50})
        won = answered(admin, asked, scope="once", message="go on")
        assert won.status_code == 200
        assert won.json()["won"]
        waited = waiting.result(30).json()
    assert waited["state"] == "approved"
    assert waited["answer"]["approved"]
    assert waited["answer"]["message"] == "go on"
    assert waited["answer"]["via"] == "api"


def test_without_an_answer_an_asker_learns_that_nothing_is_decided(agent: httpx.Client) -> None:
    asked = opened(agent)
    assert agent.get(f"/requests/{asked['id']}/answer?wait=0.2").json() == {"state": "open", "answer": None}


def test_a_request_may_be_sent_again_but_not_another_by_its_id(hub: Hub, agent: httpx.Client) -> None:
    given = request()
    assert agent.post("/requests", json=given).status_code == 201
    assert agent.post("/requests", json=given).status_code == 200
    other = request("rm -rf /", id=given["id"])
    assert agent.post("/requests", json=other).status_code == 409
    assert hub.agent("another").post("/requests", json=given).status_code == 409


def test_a_hash_that_is_not_that_of_the_input_is_refused(agent: httpx.Client) -> None:
    refused = agent.post("/requests", json=request(hash="0" * 64))
    assert refused.status_code == 422
    assert refused.json()["error"]["code"] == "wrong-hash"


def test_the_second_answer_changes_nothing_and_is_told_who_was_quicker(
    hub: Hub, agent: httpx.Client, admin: httpx.Client
) -> None:
    asked = opened(agent)
    quick = hub.person(f"quick-{asked['id'][-6:]}")
    assert answered(quick, asked, approved=False, message="no").status_code == 200
    late = answered(admin, asked)
    assert late.status_code == 409
    assert late.json()["why"] == "late"
    assert late.json()["request"]["answer"]["by"].startswith("quick-")
    assert not late.json()["request"]["answer"]["approved"]
    assert answered(quick, asked, approved=False).json()["why"] == "duplicate"
    assert [each["became"] for each in told(admin, asked)["answers"]] == ["won", "late", "duplicate"]


def test_an_answer_to_something_else_than_was_looked_at_does_not_count(
    agent: httpx.Client, admin: httpx.Client
) -> None:
    asked = opened(agent)
    stale = answered(admin, {**asked, "hash": "1" * 64})
    assert (stale.status_code, stale.json()["why"]) == (409, "stale")
    found = told(admin, asked)
    assert found["state"] == "open"
    assert [each["became"] for each in found["answers"]] == ["stale"]


def test_an_agents_token_cannot_answer_and_its_try_is_written_down(agent: httpx.Client, admin: httpx.Client) -> None:
    asked = opened(agent)
    assert answered(agent, asked).status_code == 403
    found = told(admin, asked)
    assert found["state"] == "open"
    assert [each["became"] for each in found["answers"]] == ["refused"]


def test_of_many_answers_at_once_one_wins(hub: Hub, agent: httpx.Client, admin: httpx.Client) -> None:
    asked = opened(agent)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: answered(admin, asked, approved=bool(number % 2)), range(16)))
    winners = [each for each in answers if each.status_code == 200]
    assert len(winners) == 1
    found = told(admin, asked)
    assert found["answer"]["approved"] == winners[0].json()["request"]["answer"]["approved"]
    assert sorted(each["became"] for each in found["answers"])[-1] == "won"
    assert len(found["answers"]) == 16


def test_a_person_who_was_quicker_than_a_withdrawal_is_followed(agent: httpx.Client, admin: httpx.Client) -> None:
    asked = opened(agent)
    assert answered(admin, asked, approved=False).status_code == 200
    stands = agent.post(f"/requests/{asked['id']}/withdraw", json={"by": "terminal", "approved": True}).json()
    assert stands["state"] == "denied"
    assert not stands["answer"]["approved"]


def test_what_was_settled_elsewhere_is_withdrawn_and_says_by_whom(agent: httpx.Client, admin: httpx.Client) -> None:
    asked = opened(agent)
    stands = agent.post(f"/requests/{asked['id']}/withdraw", json={"by": "terminal", "approved": True}).json()
    assert (stands["state"], stands["answer"]) == ("withdrawn", None)
    assert stands["withdrawn"]["by"] == "terminal"
    assert stands["withdrawn"]["approved"] is True
    late = answered(admin, asked)
    assert (late.status_code, late.json()["why"]) == (409, "withdrawn")


def test_a_request_expires_and_is_never_approved_then(agent: httpx.Client, admin: httpx.Client) -> None:
    asked = opened(agent, expires_in=0.3)
    waited = agent.get(f"/requests/{asked['id']}/answer?wait=30").json()
    assert waited == {"state": "expired", "answer": None}
    late = answered(admin, asked)
    assert (late.status_code, late.json()["why"]) == (409, "expired")


def test_an_approval_for_the_session_covers_what_it_was_given_for_and_nothing_else(
    agent: httpx.Client, admin: httpx.Client
) -> None:
    here: dict[str, Any] = {"session_id": "s-1", "grant": "1.1 make here"}
    first, second = (opened(agent, "make", **here) for _ in range(2))
    assert answered(admin, first, scope="session").status_code == 200
    assert told(admin, second)["answer"]["via"] == "session"
    third = agent.post("/requests", json=request("make", **here)).json()
    assert (third["state"], third["answer"]["via"]) == ("approved", "session")
    for other in ({"session_id": "s-2"}, {"session_id": ""}, {"grant": "2.2 make here"}, {"grant": None}):
        assert agent.post("/requests", json=request("make", **here | other)).json()["state"] == "open"


@pytest.mark.promise("another account")
def test_what_an_approval_for_the_session_covers_is_not_what_the_agent_says(
    hub: Hub, agent: httpx.Client, admin: httpx.Client
) -> None:
    """At the hub, an approval for the session covers the call that was approved, whatever the agent says of another.

    The agent sends the same `grant` with another call: a person is asked.
    """
    here: dict[str, Any] = {"session_id": "s-1", "grant": "1.1 anything"}
    waits = opened(agent, "rm -rf build", **here)
    assert answered(admin, opened(agent, "make", **here), scope="session").status_code == 200
    assert told(admin, waits)["state"] == "open"
    others = [
        _call("Shell", {"command": "rm -rf /"}, WORK_DIR),
        _call("Shell", {"command": "make"}, "/elsewhere"),
        _call("Shell", {"command": "make", "workdir": "/elsewhere"}, WORK_DIR),
        _call("Shell", {"command": "make", "dangerouslyDisableSandbox": True}, WORK_DIR),
        _call("Shell", {"command": "make", "dangerouslyDisableSandbox": 1}, WORK_DIR),
        _call("Shell", {"command": "make", "sandbox": False}, WORK_DIR),
        {"agent": "another"},
        _call("WriteFile", {"file_path": "make", "content": ""}, WORK_DIR),
        _call("mcp__files__write", {"command": "make"}, WORK_DIR),
    ]
    for other in others:
        assert agent.post("/requests", json=request("make", **here) | other).json()["state"] == "open", other
    same = _call("Shell", {"command": "make", "description": "Build it", "yield_time_ms": 1000}, WORK_DIR)
    assert agent.post("/requests", json=request(**here) | same).json()["state"] == "approved"
    assert hub.agent().post("/requests", json=request("make", **here)).json()["state"] == "open"


def test_an_approval_of_a_file_for_the_session_is_for_this_file(agent: httpx.Client, admin: httpx.Client) -> None:
    def ask(path: str, shown: str) -> dict[str, Any]:
        call = _call("WriteFile", {"file_path": path, "content": uuid.uuid4().hex}, WORK_DIR)
        more = {"session_id": "s-1", "grant": "1.1 file", "display": {"kind": "file", "path": shown}}
        made: dict[str, Any] = agent.post("/requests", json=request() | call | more).json()
        return made

    assert answered(admin, ask("a", "/real/a"), scope="session").status_code == 200
    assert ask("a", "/real/a")["state"] == "approved"  # other content, as it was promised
    for path, shown in (("b", "/real/a"), ("~/a", "/real/a"), (f"{WORK_DIR}/a", "/real/a"), ("a", "/etc/passwd")):
        assert ask(path, shown)["state"] == "open", (path, shown)


def test_an_approval_of_any_other_tool_for_the_session_is_for_this_input(
    agent: httpx.Client, admin: httpx.Client
) -> None:
    def ask(**given: str) -> dict[str, Any]:
        call = _call("mcp__db__run", {"file_path": "shop.db", **given}, WORK_DIR)
        made: dict[str, Any] = agent.post("/requests", json=request(session_id="s-1", grant="1.1 x") | call).json()
        return made

    assert answered(admin, ask(sql="select 1"), scope="session").status_code == 200
    assert ask(sql="select 1")["state"] == "approved"
    assert ask(sql="drop table orders")["state"] == "open"


def _call(tool: str, given: dict[str, Any], work_dir: str) -> dict[str, Any]:
    about = {"tool_name": tool, "tool_input": given, "work_dir": work_dir}
    return {**about, "hash": content_hash(tool, given, work_dir)}


@pytest.mark.promise("another account")
def test_the_machine_and_the_agent_are_those_of_the_token(hub: Hub, agent: httpx.Client, admin: httpx.Client) -> None:
    """At the hub, a machine asks under the name of its token, and cannot take another's."""
    claims = {"machine": "the-boss's-laptop", "agent": "codex"}
    asked = agent.post("/requests", json=request() | claims).json()
    assert (asked["machine"], asked["agent"]) == (name_of(agent), "codex")  # a token for every agent of its machine
    only = hub.client(hub.token("build", agent="claude-code"))
    asked = only.post("/requests", json=request() | claims).json()
    assert (asked["machine"], asked["agent"]) == (name_of(only), "claude-code")
    (listed,) = [each for each in admin.get("/tokens").json()["tokens"] if each["name"] == name_of(only)]
    assert listed["agent"] == "claude-code"


def test_an_answer_has_the_name_of_the_token_and_no_way_that_is_the_hubs_own(
    hub: Hub, agent: httpx.Client, admin: httpx.Client
) -> None:
    for via, shown in (("page", "api"), ("session", "api"), ("slack", "slack")):
        asked = opened(agent)
        assert answered(admin, asked, via=via, by="alice").status_code == 422  # nobody says who they are
        assert answered(admin, asked, via=via).status_code == 200
        answer = told(admin, asked)["answer"]
        assert (answer["by"], answer["via"]) == (name_of(admin), shown)


@pytest.mark.promise("another account")
def test_what_is_withdrawn_says_which_machine_did_so_and_names_no_person(
    agent: httpx.Client, admin: httpx.Client
) -> None:
    """A machine cannot withdraw a request in the name of a person."""
    for by, shown in (("terminal", "terminal"), ("alice", "elsewhere"), ("nobody", "nobody")):
        asked = opened(agent)
        ended = agent.post(f"/requests/{asked['id']}/withdraw", json={"by": by, "approved": True})
        assert ended.status_code == 200
        withdrawn = told(admin, asked)["withdrawn"]
        assert (withdrawn["by"], withdrawn["machine"]) == (shown, name_of(agent))


def test_what_a_revoked_token_has_asked_is_withdrawn_and_not_answered(hub: Hub, admin: httpx.Client) -> None:
    made = admin.post("/tokens", json={"name": f"stolen {uuid.uuid4().hex}"}).json()
    agent = hub.client(made["token"])
    asked = opened(agent)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(agent.get, f"/requests/{asked['id']}/answer", params={"wait": 50})
        time.sleep(0.3)
        assert admin.delete(f"/tokens/{made['id']}").status_code == 204
        assert waiting.result(20).json() == {"state": "withdrawn", "answer": None}
    late = answered(admin, asked)
    assert (late.status_code, late.json()["why"]) == (409, "withdrawn")
    assert told(admin, asked)["withdrawn"]["by"] == "revoked"


def test_an_agent_sees_its_own_requests_only(hub: Hub, agent: httpx.Client) -> None:
    asked = opened(agent)
    other = hub.agent("other")
    assert other.get(f"/requests/{asked['id']}/answer?wait=0").status_code == 404
    assert other.post(f"/requests/{asked['id']}/withdraw", json={}).status_code == 404
    assert agent.get("/inbox").status_code == 403


def test_the_inbox_shows_what_waits_and_what_was_answered(agent: httpx.Client, admin: httpx.Client) -> None:
    asked = opened(agent, "uname -a", why="a rule says so")
    (found,) = [each for each in admin.get("/inbox?limit=1000").json()["requests"] if each["id"] == asked["id"]]
    assert found["display"]["command"] == "uname -a"
    assert found["why"] == "a rule says so"
    assert found["expires"] > time.time()
    answered(admin, asked)
    assert asked["id"] not in [each["id"] for each in admin.get("/inbox?limit=1000").json()["requests"]]
    assert asked["id"] in [each["id"] for each in admin.get("/inbox?state=answered&limit=20").json()["requests"]]


def test_what_no_text_column_can_hold_comes_back_as_it_was(agent: httpx.Client, admin: httpx.Client) -> None:
    odd = {"command": "cat \ud800\u0000\u202e.txt", "nested": [{"\ud801": None}]}
    given = {**request(), "tool_input": odd, "hash": content_hash("Shell", odd, WORK_DIR)}
    made = agent.post("/requests", content=json.dumps(given), headers={"content-type": "application/json"})
    assert made.status_code == 201, made.text
    assert told(admin, given)["tool_input"] == odd


def test_an_asker_that_has_gone_is_not_approved_any_more(hub: Hub, agent: httpx.Client, admin: httpx.Client) -> None:
    asked = opened(agent)
    _let_lease_run_out(hub, asked["id"])
    late = answered(admin, asked)
    assert (late.status_code, late.json()["why"]) == (409, "withdrawn")
    assert told(admin, asked)["withdrawn"]["by"] == "gone"
    other = opened(agent)
    _let_lease_run_out(hub, other["id"])
    until(lambda: told(admin, other)["state"] == "withdrawn")


def _let_lease_run_out(hub: Hub, request: str) -> None:
    """As if a minute had passed without a word from the asker."""
    hub.write(lambda connection: connection.run("update requests set lease = 1 where id = ?", request))


def test_an_asker_that_hangs_up_is_gone_soon(hub: Hub, agent: httpx.Client) -> None:
    asked = opened(agent)
    with pytest.raises(httpx.ReadTimeout):
        agent.get(f"/requests/{asked['id']}/answer?wait=60", timeout=0.5)
    until(lambda: _lease(hub, asked["id"]) < time.time() + 16)


def _lease(hub: Hub, request: str) -> float:
    row = hub.write(lambda connection: connection.one("select lease from requests where id = ?", request))
    assert row is not None
    return float(row["lease"])
