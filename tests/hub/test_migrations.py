"""The steps that bring a database up to date: each once, and none for a newer database."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hub import hubs
from tenterhook.errors import HookError
from tenterhook.hub import accounts, migrations
from tenterhook.hub import database as databases

if TYPE_CHECKING:
    import httpx

VERSION_1 = Path(__file__).parent / "data" / "hub-1.sql"


def test_a_database_that_is_opened_again_keeps_what_is_in_it(tmp_path: Path) -> None:
    for expected in (0, 1):
        kept = databases.opened(str(tmp_path / "hub.db"))
        assert len(kept.read(accounts.listed)) == expected
        kept.write(lambda connection: accounts.add_if_missing(connection, "anna", accounts.ADMIN))
        row = kept.read(lambda connection: connection.one("select value from hub where key = 'version'"))
        assert row == {"value": str(migrations.VERSION)}
        kept.close()


def test_each_step_is_taken_on_both_databases(
    tmp_path: Path, database: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = migrations._STEPS
    monkeypatch.setattr(migrations, "_STEPS", steps[:1])
    monkeypatch.setattr(migrations, "VERSION", 1)
    kept = databases.opened(database or str(tmp_path / "hub.db"))
    kept.write(lambda connection: accounts.add_if_missing(connection, "anna", accounts.ADMIN))
    monkeypatch.setattr(migrations, "_STEPS", steps)
    monkeypatch.setattr(migrations, "VERSION", len(steps))
    migrations.bring_up_to_date(kept)
    link = kept.write(lambda connection: accounts.new_link(connection, "anna"))
    assert kept.write(lambda connection: accounts.redeem_link(connection, link)) is not None
    number, _ = kept.write(lambda connection: accounts.new_token(connection, "laptop", accounts.AGENT, agent="codex"))
    (token,) = kept.read(accounts.tokens)
    assert (token["id"], token["agent"]) == (number, "codex")
    kept.close()


def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    kept = databases.opened(str(tmp_path / "hub.db"))
    newer = str(migrations.VERSION + 1)
    kept.write(lambda connection: connection.run("update hub set value = ? where key = 'version'", newer))
    with pytest.raises(HookError, match="newer version"):
        migrations.bring_up_to_date(kept)
    with pytest.raises(HookError, match="newer version"):
        databases.opened(str(tmp_path / "hub.db"))
    row = kept.read(lambda connection: connection.one("select value from hub where key = 'version'"))
    assert row == {"value": newer}
    kept.close()


@pytest.mark.slow
def test_a_database_of_the_first_version_keeps_people_tokens_answers_and_records(tmp_path: Path) -> None:
    """Sign-ins that are bound to no key, and approvals for a session in an agent's own words, end."""
    file = tmp_path / "home/.local/state/tenterhook/hub/hub.db"
    file.parent.mkdir(parents=True)
    with sqlite3.connect(file) as old:
        old.executescript(VERSION_1.read_text())
        old.execute("update requests set expires = ?, lease = ? where state = 'open'", [time.time() + 600] * 2)
    old.close()
    with hubs.running(tmp_path / "home") as hub:
        person, agent = hub.client("th_person_of-version-1"), hub.client("th_agent_of-version-1")
        assert person.get("/me").json() == {"kind": "person", "name": "anna", "role": "admin"}
        assert hubs.name_of(agent) == "laptop"
        assert {each["name"]: each["agent"] for each in person.get("/tokens").json()["tokens"]}["laptop"] is None
        before = person.get("/requests/permission_answered").json()
        assert (before["state"], before["answer"]["by"], before["machine"]) == ("approved", "anna", "desk")
        (record,) = person.get("/sessions/desk/s-1/timeline").json()["records"]
        assert record["record"]["decision"] == "deny"
        cookie = {"cookie": "tenterhook=cookie-of-version-1"}
        for key in ({}, {"csrf": "csrf-of-version-1"}, {"tenterhook-key": "csrf-of-version-1"}):
            assert hub.client(**cookie, **key).get("/me").status_code == 401
        assert hubs.opened(agent, "make", session_id="s-1", grant="1.1 make")["state"] == "open"
        waits = person.get("/requests/permission_open").json()
        assert hubs.answered(person, waits, scope="session").status_code == 200
        signed_in = hub.client().post("/sign-in", json={"name": "anna", "password": hubs.PASSWORD})
        assert signed_in.json()["key"]
        assert {"name": "laptop", "state": "connected", "agents": None}.items() <= _machine(person, "laptop").items()
        agent.put("/machine", json={"agents": []}).raise_for_status()
        assert _machine(person, "laptop")["agents"] == []
        first = hub.client().get("/health").json()["id"]
        assert len(first) == 32
    with hubs.running(tmp_path / "home") as hub:
        assert hub.client().get("/health").json()["id"] == first


def _machine(person: httpx.Client, name: str) -> dict[str, Any]:
    (found,) = [each for each in person.get("/machines").json()["machines"] if each["name"] == name]
    return dict(found)
