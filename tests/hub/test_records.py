"""Journal records from agents: each once, in order, and what is made of them."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from hub.deliveries import deliver, line, run, timeline
from hub.hubs import answered, name_of, opened

if TYPE_CHECKING:
    import httpx

    from hub.hubs import Hub

TABLES = ("requests", "answers", "grants", "records", "runs", "sessions")


def test_records_are_kept_in_order_and_each_once(agent: httpx.Client, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    lines = [line(number, session, note=number) for number in range(20)]
    assert deliver(agent, lines[:12]) == {"taken": 12, "known": 0}
    assert deliver(agent, lines[8:]) == {"taken": 8, "known": 4}
    assert [each["record"]["note"] for each in timeline(admin, agent, session)] == list(range(20))


def test_the_same_delivery_many_times_at_once_is_taken_once(agent: httpx.Client, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    lines = [line(number, session) for number in range(50)]
    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(lambda _: deliver(agent, lines), range(6)))
    assert sum(each["taken"] for each in taken) == 50
    assert len(timeline(admin, agent, session)) == 50


@pytest.mark.promise("another account")
def test_machines_are_kept_apart_by_their_tokens_whatever_they_call_themselves(
    hub: Hub, agent: httpx.Client, admin: httpx.Client
) -> None:
    """A machine adds records to its own timeline at the hub only."""
    session = uuid.uuid4().hex
    other = hub.agent("other")
    assert deliver(agent, [line(1, session, note="mine")])["taken"] == 1
    forged = [line(2, session, note="forged")]
    assert deliver(other, forged, machine=name_of(agent)) == {"taken": 1, "known": 0}
    assert deliver(other, forged, machine="another") == {"taken": 0, "known": 1}
    assert [each["record"]["note"] for each in timeline(admin, agent, session)] == ["mine"]
    assert [each["record"]["note"] for each in timeline(admin, other, session)] == ["forged"]
    machines = [each["machine"] for each in admin.get("/sessions").json()["sessions"] if each["session"] == session]
    assert set(machines) == {name_of(agent), name_of(other)}


def test_records_of_a_token_for_one_agent_are_of_this_agent(hub: Hub, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    only = hub.client(hub.token("build", agent="claude-code"))
    old = line(1, session, by="codex", reason="hunter2")
    deliver(only, [old])
    found = session_of(admin, session)
    assert (found and found["by"]) == "claude-code"
    renamed = f"{session[:8]}[redacted: secret]"
    deliver(only, [{**redacted(old, session_id=renamed, reason="[redacted: password]"), "replaces": True}])
    found = session_of(admin, renamed)
    assert (found and found["by"]) == "claude-code"


@pytest.mark.promise("another account")
def test_an_answer_in_a_record_is_confirmed_only_if_a_person_gave_it_here(
    hub: Hub, agent: httpx.Client, admin: httpx.Client
) -> None:
    """An answer that a machine reports and the hub does not know is shown as what the machine says.

    A machine writes what it likes into its own journal; what the hub does not know itself is shown as a claim.
    """
    asked = opened(agent, "make deploy")
    answered(admin, asked)
    session = uuid.uuid4().hex
    told = {"type": "approval", "request": asked["id"], "request_hash": asked["hash"], "decision": "approve"}
    true = {**told, "answered_by": f"{name_of(admin)} (hub)", "fields": {"tool_input": asked["tool_input"]}}
    in_part = [{**true, "fields": {"tool_input": {"command": "make [redacted: secret]"}}}, {**true, "fields": None}]
    claims = [
        {**true, "answered_by": "alice (hub)"},
        {**true, "answered_by": "alice"},
        {**true, "decision": "deny"},
        {**true, "request": opened(agent)["id"]},
        {**true, "request_hash": "0" * 64},
        {**true, "request": ["odd"]},
        {**true, "tool_name": "WriteFile"},
        {**true, "fields": {"tool_input": {"command": "rm -rf /"}}},
        {**true, "fields": {"command": "rm -rf /"}},
    ]
    lines = [line(number, session, **each) for number, each in enumerate([true, *in_part, *claims])]
    deliver(agent, [*lines, line(99, session, **told, answered_by="terminal")])
    confirmed = [each["confirmed"] for each in timeline(admin, agent, session)]
    assert confirmed == [*[True] * 3, *[False] * len(claims), None]
    other = hub.agent("other")
    deliver(other, [line(1, session, **true)])
    assert [each["confirmed"] for each in timeline(admin, other, session)] == [False]


def test_a_timeline_is_read_piece_by_piece(agent: httpx.Client, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    deliver(agent, [line(number, session, note=number) for number in range(7)])
    first = timeline(admin, agent, session, limit=3)
    rest = timeline(admin, agent, session, after=first[-1]["number"])
    assert [each["record"]["note"] for each in (*first, *rest)] == list(range(7))


def test_sessions_say_who_when_and_how_much(agent: httpx.Client, admin: httpx.Client) -> None:
    session = f"odd/session {uuid.uuid4().hex}"
    deliver(agent, [line(1, session), line(2, session, decision="deny")])
    (found,) = [each for each in admin.get("/sessions").json()["sessions"] if each["session"] == session]
    assert (found["machine"], found["by"]) == (name_of(agent), "agent")
    assert (found["records"], found["denied"]) == (2, 1)
    assert found["first"] <= found["last"]


def test_a_record_from_the_future_is_kept_no_longer_than_others(hub: Hub, agent: httpx.Client) -> None:
    assert hub.admin is not None
    deliver(agent, [line(1, "future", time=1e14), line(2, "soon", time=time.time() + 3600)])
    shown = hub.admin.get("/sessions").json()["sessions"]
    last = {each["session"]: each["last"] for each in shown if each["machine"] == name_of(agent)}
    assert time.time() < last["soon"] < last["future"] < time.time() + 2 * 86400


def test_hooks_have_figures_and_series(agent: httpx.Client, admin: httpx.Client) -> None:
    hook = f"guard-{uuid.uuid4().hex}"
    runs = [run(hook, took=took) for took in (1.0, 2.0, 100.0)]
    runs += [run(hook, "blocked", "blocked"), run(hook, "failed", "failed"), run(hook, "not_run", "not_run")]
    deliver(agent, [line(number, "s", each) for number, each in enumerate(runs)])
    found = admin.get("/hooks?since=1d").json()
    (figures,) = [each for each in found["hooks"] if each["hook"] == hook]
    assert (figures["runs"], figures["blocks"], figures["failures"], figures["not_run"]) == (5, 1, 1, 1)
    assert figures["p50_ms"] == 5.0
    assert figures["p99_ms"] == 100.0
    assert sum(point["runs"] for point in figures["series"]) == 5
    assert sum(point["blocks"] for point in found["total"]) >= 1
    assert found["since"] < figures["series"][-1]["time"] < found["until"]


def test_what_makes_no_sense_is_kept_all_the_same(agent: httpx.Client, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    odd = [
        line(1, session, time="yesterday", decision=["deny"], runs="none"),
        line(
            2,
            session,
            time=10**30,
            waited_ms=True,
            runs=[None, {"hook": 3}, {"hook": "x\u0000", "duration_ms": "long"}],
        ),
        line(3, session, tool_name="\ud800\u0000", by=None, event={"a": 1}),
        {"segment": "", "line": 0, "record": {"session_id": session}},
    ]
    assert deliver(agent, odd) == {"taken": 4, "known": 0}
    assert [each["record"] for each in timeline(admin, agent, session)] == [each["record"] for each in odd]
    assert admin.get("/hooks").status_code == 200
    assert admin.get("/sessions").status_code == 200


# ---- redacted


def redacted(delivered: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """The same line after `log redact`."""
    record = delivered["record"]
    was = record.get("redacted", {}).get("was", record["hash"])
    return {**delivered, "record": {**record, **changed, "redacted": {"was": was}, "hash": uuid.uuid4().hex}}


def session_of(admin: httpx.Client, session: str) -> dict[str, Any] | None:
    found = [each for each in admin.get("/sessions").json()["sessions"] if each["session"] == session]
    return found[0] if found else None


@pytest.mark.parametrize("replaces", [True, False])
def test_a_redacted_record_replaces_the_one_that_it_was(
    agent: httpx.Client, admin: httpx.Client, replaces: bool
) -> None:
    session, hook = uuid.uuid4().hex, f"guard-{uuid.uuid4().hex}"
    lines = [line(number, session, run(hook), reason=f"say hunter2 {number}") for number in range(3)]
    deliver(agent, lines)
    new = redacted(lines[1], reason="say [redacted: password] 1")
    for _ in range(2):
        assert deliver(agent, [{**new, "replaces": replaces}]) == {"taken": 0, "known": 1}
    assert deliver(agent, lines)["taken"] == 0  # what was on its way is not added again
    shown = [each["record"] for each in timeline(admin, agent, session)]
    assert shown == [lines[0]["record"], new["record"], lines[2]["record"]]
    found = session_of(admin, session)
    assert found is not None
    assert found["records"] == 3
    (figures,) = [each for each in admin.get("/hooks?since=1d").json()["hooks"] if each["hook"] == hook]
    assert figures["runs"] == 3
    again = redacted(new, reason="[redacted: text] [redacted: password] 1")
    deliver(agent, [{**again, "replaces": True}])
    assert timeline(admin, agent, session)[1]["record"] == again["record"]


def test_a_redacted_record_that_is_not_known_is_added_unless_it_only_replaces(
    agent: httpx.Client, admin: httpx.Client
) -> None:
    session = uuid.uuid4().hex
    new = redacted(line(1, session, reason="x"), reason="[redacted: password]")
    assert deliver(agent, [{**new, "replaces": True}]) == {"taken": 0, "known": 1}
    assert timeline(admin, agent, session) == []
    assert deliver(agent, [new]) == {"taken": 1, "known": 0}
    assert [each["record"] for each in timeline(admin, agent, session)] == [new["record"]]


@pytest.mark.parametrize(
    "changed", [{"decision": "none"}, {"reason": "harmless"}, {"reason": "[redacted: x] harmless"}, {"time": 1.0}]
)
def test_a_record_cannot_be_rewritten_as_a_redaction(
    agent: httpx.Client, admin: httpx.Client, changed: dict[str, Any]
) -> None:
    session = uuid.uuid4().hex
    old = line(1, session, decision="deny", reason="rm -rf")
    deliver(agent, [old])
    deliver(agent, [{**redacted(old, **changed), "replaces": True}])
    assert [each["record"] for each in timeline(admin, agent, session)] == [old["record"]]


def test_records_of_other_machines_are_not_replaced(hub: Hub, agent: httpx.Client, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    old = line(1, session, reason="hunter2")
    deliver(agent, [old])
    new = {**redacted(old, reason="[redacted: password]"), "replaces": True}
    deliver(hub.agent("third"), [new])
    assert [each["record"] for each in timeline(admin, agent, session)] == [old["record"]]


def test_a_session_with_a_redacted_name_has_its_figures(agent: httpx.Client, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    lines = [line(number, session, decision="deny") for number in range(2)]
    deliver(agent, lines)
    name = f"{session[:8]}[redacted: secret]"
    for number, each in enumerate(lines):
        deliver(agent, [{**redacted(each, session_id=name), "replaces": True}])
        old, new = session_of(admin, session), session_of(admin, name)
        assert (old and (old["records"], old["denied"])) == ((1, 1) if number == 0 else None)
        assert new is not None
        assert (new["records"], new["denied"]) == (number + 1, number + 1)
    assert len(timeline(admin, agent, name)) == 2
