"""One interface to SQLite and PostgreSQL: transactions, and values as both can hold them."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from tenterhook.errors import HookError
from tenterhook.hub import database as databases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tenterhook.hub.database import Connection, Database

INSERT = "insert into hub (key, value) values (?, ?)"
SELECT = "select value from hub where key = ?"


@pytest.fixture
def opened(tmp_path: Path, database: str | None) -> Iterator[Database]:
    kept = databases.opened(database or str(tmp_path / "hub.db"))
    yield kept
    kept.write(lambda connection: connection.run("delete from hub where key <> 'version'"))
    kept.close()


def test_work_that_raises_changes_nothing_and_wakes_nobody(opened: Database) -> None:
    told: list[bool] = []
    opened.told = lambda _: told.append(True)

    def break_off(connection: Connection) -> None:
        connection.run(INSERT, "a", "1")
        connection.changes.append(("people", "a", "added"))
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        opened.write(break_off)
    assert opened.read(lambda connection: connection.one(SELECT, "a")) is None
    assert opened.write(lambda connection: connection.run(INSERT, "a", "2")) == 1
    assert opened.read(lambda connection: connection.one(SELECT, "a")) == {"value": "2"}
    assert told == []


def test_those_who_wait_are_woken_when_a_change_can_be_read(opened: Database) -> None:
    seen: list[object] = []
    opened.told = lambda _: seen.append(opened.read(lambda connection: connection.one(SELECT, "a")))

    def change(connection: Connection) -> None:
        connection.run(INSERT, "a", "1")
        connection.changes.append(("people", "a", "added"))

    opened.write(change)
    assert seen == [{"value": "1"}]


@pytest.mark.parametrize("text", ["100 % of it?", "\ud800", "a\0b", "日本"])
def test_any_text_can_be_stored(opened: Database, text: str) -> None:
    opened.write(lambda connection: connection.run(INSERT, "odd", text), lasting=False)
    (row,) = opened.read(lambda connection: connection.all(SELECT, "odd"))
    assert row["value"] == text.replace("\ud800", "?").replace("\0", "\N{REPLACEMENT CHARACTER}")


def test_readers_of_sqlite_cannot_write(tmp_path: Path) -> None:
    kept = databases.opened(f"sqlite:///{tmp_path}/hub.db")
    with pytest.raises(Exception, match="readonly"):
        kept.read(lambda connection: connection.run(INSERT, "a", "1"))
    kept.close()


def test_a_file_that_cannot_be_opened_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "hub.db").mkdir()
    with pytest.raises(HookError) as raised:
        databases.opened(str(tmp_path / "hub.db"))
    assert "--database" in raised.value.remedy


def test_a_new_file_was_never_open_to_other_accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another account opens while it may is readable to it later, too."""
    connect, modes = sqlite3.connect, []

    def noting(file: str, *arguments: Any, **options: Any) -> sqlite3.Connection:
        modes.append(os.stat(file).st_mode & 0o777)
        made: sqlite3.Connection = connect(file, *arguments, **options)
        return made

    monkeypatch.setattr(sqlite3, "connect", noting)
    before = os.umask(0)
    try:
        kept = databases.opened(str(tmp_path / "hub.db"))
        kept.write(lambda connection: connection.run(INSERT, "a", "1"))
    finally:
        os.umask(before)
    assert {each.stat().st_mode & 0o777 for each in tmp_path.glob("hub.db*")} == {0o600}
    assert modes[0] == 0o600
    kept.close()


def test_one_hub_at_a_time_claims_a_file(tmp_path: Path) -> None:
    first, second = (databases.opened(str(tmp_path / "hub.db")) for _ in range(2))
    first.claim()
    with pytest.raises(HookError, match="another hub is running"):
        second.claim()
    first.close()
    second.claim()
    second.close()
