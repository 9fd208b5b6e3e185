"""Journal records from agents: each once, in order, and what is made of them."""

from __future__ import annotations

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

    from hub.hubs import Hub

TABLES = ("requests", "answers", "grants", "records", "runs", "sessions")


def run(hook: str, outcome: str = "ok", meaning: str = "allowed", took: float = 5.0) -> dict[str, Any]:
    return {"hook": hook, "source": f"/hooks/{hook}", "outcome": outcome, "meaning": meaning, "duration_ms": took}


def line(number: int, session: str, *runs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A line of a journal, as an agent's machine sends it."""
    record = {
        "schema": 1,
        "type": "verdict",
        "time": time.time(),
        "by": "agent",
        "session_id": session,
        "event": "pre-tool-call",
        "decision": "none",
        "tool_name": "Shell",
        "waited_ms": 1.5,
        "runs": list(runs),
        "hash": uuid.uuid4().hex,
        **more,
    }
    return {"segment": "000001.jsonl", "line": number, "record": record}


def deliver(agent: httpx.Client, lines: list[dict[str, Any]], machine: str = "machine") -> dict[str, Any]:
    body = json.dumps({"machine": machine, "records": lines})
    taken = agent.post("/records", content=body, headers={"content-type": "application/json"})
    assert taken.status_code == 200, taken.text
    found: dict[str, Any] = taken.json()
    return found


def timeline(person: httpx.Client, session: str, machine: str = "machine", **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = person.get(f"/sessions/{machine}/{session}/timeline", params=query).json()["records"]
    return found


def test_records_are_kept_in_order_and_each_once(agent: httpx.Client, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    lines = [line(number, session, note=number) for number in range(20)]
    assert deliver(agent, lines[:12]) == {"taken": 12, "known": 0}
    assert deliver(agent, lines[8:]) == {"taken": 8, "known": 4}
    assert [each["record"]["note"] for each in timeline(admin, session)] == list(range(20))


def test_the_same_delivery_many_times_at_once_is_taken_once(agent: httpx.Client, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    lines = [line(number, session) for number in range(50)]
    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(lambda _: deliver(agent, lines), range(6)))
    assert sum(each["taken"] for each in taken) == 50
    assert len(timeline(admin, session)) == 50


def test_machines_and_tokens_are_kept_apart(hub: Hub, agent: httpx.Client, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    lines = [line(1, session)]
    assert deliver(agent, lines)["taken"] == 1
    assert deliver(agent, lines, machine="another")["taken"] == 1
    assert deliver(hub.agent("third"), lines)["taken"] == 1
    assert len(timeline(admin, session, "another")) == 1


def test_a_timeline_is_read_piece_by_piece(agent: httpx.Client, admin: httpx.Client) -> None:
    session = uuid.uuid4().hex
    deliver(agent, [line(number, session, note=number) for number in range(7)])
    first = timeline(admin, session, limit=3)
    rest = timeline(admin, session, after=first[-1]["number"])
    assert [each["record"]["note"] for each in (*first, *rest)] == list(range(7))


def test_sessions_say_who_when_and_how_much(agent: httpx.Client, admin: httpx.Client) -> None:
    session = f"odd/session {uuid.uuid4().hex}"
    deliver(agent, [line(1, session), line(2, session, decision="deny")])
    (found,) = [each for each in admin.get("/sessions").json()["sessions"] if each["session"] == session]
    assert (found["machine"], found["by"], found["records"], found["denied"]) == ("machine", "agent", 2, 1)
    assert found["first"] <= found["last"]


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
    assert [each["record"] for each in timeline(admin, session)] == [each["record"] for each in odd]
    assert admin.get("/hooks").status_code == 200
    assert admin.get("/sessions").status_code == 200
