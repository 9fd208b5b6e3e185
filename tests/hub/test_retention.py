"""How long the hub keeps things."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tenterhook.approvals.requests import content_hash
from tenterhook.hub import accounts, database, inbox, records, retention, schemas

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook.hub.database import Connection

TABLES = ("requests", "answers", "grants", "records", "runs", "sessions")


def ask(connection: Connection, token: int, name: str) -> None:
    about: dict[str, Any] = {"agent": "a", "session_id": name, "work_dir": "/", "tool_name": "Shell"}
    rest: dict[str, Any] = {"tool_input": {}, "action": "run", "hash": content_hash("Shell", {}, "/"), "grant": "g"}
    asker = inbox.RequestSource(token, "laptop", None)
    given = schemas.RequestGiven(id=name, **about, **rest, expires_in=60.0)
    inbox.open_requests(connection, [inbox.NewRequest(asker, given)])


def answer(connection: Connection, name: str) -> None:
    digest = content_hash("Shell", {}, "/")
    given = inbox.NewAnswer(f"attempt-{name}", name, "anna", "page", True, inbox.SESSION, None, digest)
    assert inbox.answer(connection, given)[0] == "won"


def take_in(connection: Connection, token: int, name: str, moment: float) -> None:
    run = {"hook": "guard", "outcome": "ok", "meaning": "no_decision", "decision": "none", "duration_ms": 1.0}
    record = {"type": "verdict", "hash": name, "time": moment, "session_id": name, "runs": [run]}
    line = schemas.DeliveredGiven(segment="000001.jsonl", line=2, record=record)
    records.store(connection, [records.Upload(token, "laptop", schemas.RecordsGiven(records=[line]))])


def counts(connection: Connection) -> dict[str, int]:
    return {table: len(connection.all(f"select * from {table}")) for table in TABLES}


@pytest.mark.parametrize("days", [1, 90])
def test_old_things_go_and_the_rest_stays(tmp_path: Path, days: int) -> None:
    kept = database.opened(str(tmp_path / "hub.db"))
    token = kept.write(lambda connection: accounts.new_token(connection, "laptop", accounts.AGENT)[0])
    long_ago = time.time() - days * 86400.0 - 60

    def fill(connection: Connection) -> None:
        for name in ("old", "new"):
            ask(connection, token, name)
            answer(connection, name)
        ask(connection, token, "waiting")
        take_in(connection, token, "old", long_ago)
        take_in(connection, token, "new", time.time())
        connection.run("update requests set opened = ? where id <> 'new'", long_ago)
        connection.run("update answers set at = ? where request = 'old'", long_ago)
        connection.run("update grants set at = ? where session = 'old'", long_ago)

    kept.write(fill)
    for _ in range(2):
        kept.write(lambda connection: retention.delete_old(connection, days))
        assert kept.read(counts) == {**dict.fromkeys(TABLES, 1), "requests": 2}
        assert kept.read(lambda connection: inbox.found(connection, "waiting")) is not None
    kept.close()
