"""Lines of journals, as agents' machines deliver them, and what became of them."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any

from hub.hubs import name_of

if TYPE_CHECKING:
    import httpx


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


def deliver(agent: httpx.Client, lines: list[dict[str, Any]], **more: str) -> dict[str, Any]:
    body = json.dumps({"records": lines, **more})
    taken = agent.post("/records", content=body, headers={"content-type": "application/json"})
    assert taken.status_code == 200, taken.text
    found: dict[str, Any] = taken.json()
    return found


def timeline(person: httpx.Client, agent: httpx.Client, session: str, **query: Any) -> list[dict[str, Any]]:
    """What a machine has reported about a session."""
    path = f"/sessions/{name_of(agent)}/{session}/timeline"
    found: list[dict[str, Any]] = person.get(path, params=query).json()["records"]
    return found
