"""`tenterhook log export` to a file; to a collector: journal/test_export.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from journal import journals

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


@pytest.fixture(autouse=True)
def recorded(home: Path, project: Path) -> None:
    journals.write(journals.folder(home), *map(journals.record, range(3)))


def test_records_are_written_for_this_account_alone_and_counted(project: Path, run: Run) -> None:
    ended = run("log", "export", "--out", "all.jsonl", "--session", "s-1")
    assert (ended.status, ended.out, ended.err) == (0, "", "1 records in all.jsonl\n")
    (record,) = map(json.loads, (project / "all.jsonl").read_text().splitlines())
    assert record["session_id"] == "s-1"
    assert (project / "all.jsonl").stat().st_mode & 0o077 == 0


def test_a_place_that_cannot_be_written_is_said_with_a_remedy(run: Run) -> None:
    ended = run("log", "export", "--out", "no/such/folder.jsonl")
    assert ended.status == 1
    assert ended.err == (
        "tenterhook: No such file or directory: no/such/folder.jsonl\n"
        "  name a file in a folder that exists and is yours\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--endpoint", "http://127.0.0.1:4318"], "--endpoint is for --format otlp"),
        (["--format", "otlp", "--out", "x"], "--out is a file for --format jsonl"),
        (["--format", "otlp", "--endpoint", "collector:4318"], "http:// or https://"),
        (["--event", "no-such-event"], "no-such-event"),
        (["--decision", "maybe"], "maybe"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(run: Run, arguments: list[str], said: str) -> None:
    ended = run("log", "export", *arguments)
    assert (ended.status, ended.out) == (64, "")
    assert said in ended.err
