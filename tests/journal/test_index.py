"""The index in SQLite: made again when it is of no use, and right while others write."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from journal import journals
from support import (
    array_hook,
    shell_call,
    tenterhook,
    write_config,
)
from tenterhook import Engine


def spoil_index(file: Path, how: str) -> None:
    match how:
        case "deleted":
            file.unlink()
        case "garbage":
            file.write_bytes(b"not a database" * 1000)
        case "empty":
            file.write_bytes(b"")
        case "cut":
            file.write_bytes(file.read_bytes()[:5000])
        case "holes":
            content = bytearray(file.read_bytes())
            content[4096:] = b"\xff" * (len(content) - 4096)
            file.write_bytes(content)
        case "another version" | "a later version":
            with closing(sqlite3.connect(file, isolation_level=None)) as database:
                database.execute(f"pragma user_version = {999 if how.startswith('a later') else 0}")
                database.execute("drop table runs")
        case "a table missing":
            with closing(sqlite3.connect(file, isolation_level=None)) as database:
                database.execute("drop table records")
        case "of another journal":
            with closing(sqlite3.connect(file, isolation_level=None)) as database:
                database.execute("update about set place = '/elsewhere'")
                database.execute("update records set session = 'wrong'")


SPOILT = ["deleted", "garbage", "empty", "cut", "holes", "another version", "a later version", "a table missing"]


@pytest.mark.parametrize("how", [*SPOILT, "of another journal"])
def test_an_index_that_is_of_no_use_is_made_again(home: Path, project: Path, how: str) -> None:
    records = [journals.record(number, fields={"prompt": "x" * 50}) for number in range(200)]
    journals.write(journals.folder(home), *records)
    expected = [f"s-{number}" for number in range(200)]
    assert journals.sessions("-n", "0") == expected
    file = home / ".cache" / "tenterhook" / "journal.db"
    for ending in ("-wal", "-shm"):  # all of it is in the file
        assert not Path(f"{file}{ending}").exists()
    spoil_index(file, how)
    assert journals.sessions("-n", "0") == expected
    assert journals.sessions("--session", "s-77") == ["s-77"]
    assert journals.figures("guard")["runs"] == 200
    journals.write(journals.folder(home), journals.record(200))
    assert journals.sessions("-n", "1") == ["s-200"]


def test_a_segment_that_was_replaced_is_read_again(home: Path, project: Path) -> None:
    place = journals.folder(home)
    journals.write(place, *map(journals.record, range(3)))
    assert journals.sessions() == ["s-0", "s-1", "s-2"]
    (place / "000001.jsonl").unlink()
    journals.write(place, *map(journals.record, range(7, 12)))
    assert journals.sessions() == ["s-7", "s-8", "s-9", "s-10", "s-11"]
    assert journals.figures("guard")["runs"] == 5


def test_a_name_that_is_no_text_does_not_stop_anybody(home: Path, project: Path) -> None:
    """A file name need not be UTF-8, and a model may call a tool what it likes."""
    config = write_config(Path(os.fsdecode(os.fsencode(project) + b"/h\xff.toml")), array_hook("exit 0"))
    Engine.load(configs=[config]).decide(shell_call(tool_name="\ud83d", session_id="\udcff"))
    journals.write(journals.folder(home), journals.record(1))
    assert len(journals.log_json()) == 2
    assert tenterhook("log").returncode == 0
    assert len(journals.stats_json()["hooks"]) == 2
    assert tenterhook("log", "stats").returncode == 0


@pytest.mark.slow
def test_many_readers_at_once_see_the_same(home: Path, project: Path) -> None:
    journals.write(journals.folder(home), *map(journals.record, range(300)))
    expected = [f"s-{number}" for number in range(300)]
    for _ in range(2):  # while it is made, and once it is
        command = [sys.executable, "-m", "tenterhook", "log", "--json", "-n", "0"]
        readers = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(8)
        ]
        for reader in readers:
            stdout, stderr = reader.communicate(timeout=journals.HANG)
            assert (reader.returncode, stderr) == (0, "")
            assert [json.loads(line)["session_id"] for line in stdout.splitlines()] == expected


WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from journal import journals
for number in range(3000):
    journals.write(Path(sys.argv[1]), journals.record(number))
    if number == 20:
        print("begun", flush=True)
"""


@pytest.mark.slow
def test_readers_see_whole_records_in_order_while_others_write(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [tests, os.environ.get("PYTHONPATH")])))
    writer = journals.start(WRITER, str(journals.folder(home)))
    try:
        assert journals.line_of(writer) == "begun\n"
        for _ in range(4):
            seen = journals.sessions("-n", "0")
            assert seen == [f"s-{number}" for number in range(len(seen))]
            assert len(seen) >= 20
    finally:
        writer.kill()
        writer.communicate()
