"""Filters of records: the same for log, whichever way it is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from journal import journals
from support import (
    tenterhook,
)
from tenterhook import cli
from tenterhook.journal import filters
from tenterhook.journal.filters import RecordFilter

if TYPE_CHECKING:
    from pathlib import Path


ALL = ["old", "a", "b", "a", "b", "c", "c"]


FILTERS: dict[tuple[str, ...], list[str]] = {
    (): ALL,
    ("--session", "a"): ["a", "a"],
    ("--session", "nobody"): [],
    ("--event", "pre-tool-call"): ["old", "a", "a", "b", "c"],
    ("--event", "PreToolUse"): ["old", "a", "a", "b", "c"],
    ("--event", "before_tool"): ["old", "a", "a", "b", "c"],
    ("--event", "UserPromptSubmit"): ["b"],
    ("--event", "post-session"): ["c"],
    ("--hook", "g"): ["a", "a"],
    ("--hook", "later"): ["c"],
    ("--hook", "nobody"): [],
    ("--decision", "deny"): ["a"],
    ("--decision", "ask"): ["a"],
    ("--decision", "approve"): ["c"],
    ("--decision", "allow"): ["b"],
    ("--decision", "none"): ["old", "b"],
    ("--since", "2h"): ["b", "a", "b", "c", "c"],
    ("--since", "100m"): ["b", "a", "b", "c", "c"],
    ("--since", "1.5d"): ["a", "b", "a", "b", "c", "c"],
    ("--since", "250s"): ["c", "c"],
    ("--since", "1w"): ALL,
    ("-n", "2"): ["c", "c"],
    ("-n", "0"): ALL,
    ("--session", "a", "--decision", "deny", "--hook", "g", "--event", "pre-tool-call", "--since", "1d"): ["a"],
    ("--session", "a", "-n", "1"): ["a"],
}


@pytest.mark.usefixtures("mixed")
def test_each_filter_shows_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in FILTERS.items():
        assert cli.run(["log", "--json", *arguments]) == 0
        shown = [json.loads(line)["session_id"] for line in capsys.readouterr().out.splitlines()]
        assert shown == expected, arguments
        assert cli.run(["log", *arguments]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len([line for line in lines if line.startswith("20")]) == len(expected)
        if not expected:
            assert lines == ["nothing recorded that matches"]


@pytest.mark.usefixtures("mixed")
def test_the_real_command_filters_as_well() -> None:
    assert journals.sessions("--session", "a", "--since", "2h") == ["a"]


@pytest.mark.parametrize(
    "arguments",
    [["--since", "soon"], ["--since", "2"], ["--decision", "maybe"], ["--event", "pre-tool-cal"], ["-n", "many"]],
)
def test_a_wrong_filter_is_a_wrong_use_of_the_command(project: Path, arguments: list[str]) -> None:
    ended = tenterhook("log", *arguments)
    assert (ended.returncode, ended.stdout) == (64, "")
    assert arguments[1] in ended.stderr


def fits(record: dict[str, Any], **wanted: Any) -> bool:
    return filters.fits(record, filters.conditions(RecordFilter(**wanted)))


def test_a_record_at_hand_fits_by_its_time_and_by_any_of_its_runs() -> None:
    record = journals.record(time=100.0, runs=[journals.run("a"), journals.run("b", shadow=True)])
    assert fits(record, since=100.0)
    assert not fits(record, until=100.0)
    assert fits(record, hook="a")
    assert fits(record, shadow=True)
    assert not fits(record, hook="a", shadow=True)  # of the same run
    assert not fits({**record, "type": "checkpoint"})


def test_values_that_are_of_no_use_are_as_if_they_were_not_there() -> None:
    odd = journals.record(time="yesterday", waited_ms=True, session_id=3, runs=[None, {"hook": 3}, {"hook": "\ud800"}])
    columns = filters.columns_of(odd)
    assert columns is not None
    assert (columns.time, columns.waited, columns.session) == (0.0, None, None)
    assert [run.hook for run in filters.runs_of(odd)] == ["?"]
    assert fits(odd, hook="\ud800")
    assert not fits(odd, since=1.0)
