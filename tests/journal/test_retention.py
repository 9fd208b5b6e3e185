"""How long the journal reaches back: old segments go, and the rest still verifies."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from journal import journals
from tenterhook.journal import writer

if TYPE_CHECKING:
    from pathlib import Path

    pass


def fill(home: Path, count: int, *, size: int = 40_000, first: int = 0) -> None:
    for number in range(first, first + count):
        journals.write(journals.folder(home), journals.record(number, fields={"prompt": "x" * size}))


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_LARGEST_SEGMENT", 100_000)


@pytest.mark.usefixtures("small_segments")
def test_what_is_beyond_the_size_to_keep_goes_and_the_rest_verifies(home: Path, project: Path) -> None:
    journals.keep(home, "[journal]\nkeep_mb = 1\n")
    fill(home, 15)
    anchor = journals.anchor_here(project)
    fill(home, 50, first=15)
    names = [path.name for path in journals.segments(journals.folder(home))]
    assert names[0] > "000006.jsonl"
    assert sum(path.stat().st_size for path in journals.segments(journals.folder(home))) < 1.3 * 1024 * 1024
    assert journals.checkpoints(home)
    assert journals.is_intact()
    assert journals.is_intact("--anchor", anchor)  # it has seen what is gone, and a checkpoint says so
    shown = journals.log_json("-n", "0")
    assert [each["session_id"] for each in shown][-1] == "s-64"
    assert 15 < len(shown) < 40


@pytest.mark.usefixtures("small_segments")
def test_what_is_older_than_the_days_to_keep_goes_and_the_rest_verifies(home: Path, project: Path) -> None:
    journals.keep(home, "[journal]\nkeep_days = 30\n")
    fill(home, 12)
    long_ago = time.time() - 31 * 86400
    old = journals.segments(journals.folder(home))[:2]
    for path in old:
        os.utime(path, (long_ago, long_ago))
    anchor = journals.anchor_here(project)
    assert len(journals.log_json("-n", "0")) == 12
    fill(home, 6, first=12)
    left = journals.segments(journals.folder(home))
    assert not set(old) & set(left)
    assert left[0].name == "000003.jsonl"
    assert [each["through"] for each in journals.checkpoints(home)] == [2]
    assert journals.is_intact()
    assert journals.is_intact("--anchor", anchor)
    assert 0 < len(journals.log_json("-n", "0")) < 18  # the index has forgotten them too


@pytest.mark.usefixtures("small_segments")
def test_nothing_goes_that_is_neither_old_nor_too_much(home: Path, project: Path) -> None:
    fill(home, 40)
    assert len(journals.log_json("-n", "0")) == 40
    assert journals.checkpoints(home) == []


@pytest.mark.usefixtures("small_segments")
def test_a_checkpoint_excuses_what_it_names_and_nothing_else(home: Path, project: Path) -> None:
    journals.keep(home, "[journal]\nkeep_mb = 1\n")
    fill(home, 40)
    first, second = journals.segments(journals.folder(home))[:2]
    first.unlink()
    found = journals.verify()
    assert (found.status, found.places, found.words) == (1, [(second.name, 1)], ["removed"])


@pytest.mark.usefixtures("small_segments")
def test_old_segments_that_are_still_there_are_no_trouble(home: Path, project: Path) -> None:
    """The process that removes them may be killed after the checkpoint, with some of them removed."""
    journals.keep(home, "[journal]\nkeep_days = 30\n")
    fill(home, 12)
    place = journals.folder(home)
    old = journals.segments(place)[:3]
    copies = {path: path.read_bytes() for path in old}
    for path in old:
        os.utime(path, (0, 0))
    fill(home, 6, first=12)
    assert not any(path.exists() for path in old)
    for path in reversed(old):
        path.write_bytes(copies[path])
        assert journals.is_intact(), path.name


@pytest.mark.usefixtures("small_segments")
def test_a_segment_that_cannot_be_removed_costs_no_record(home: Path, project: Path) -> None:
    journals.keep(home, "[journal]\nkeep_mb = 1\n")
    (journals.folder(home) / "000000.jsonl").mkdir(parents=True)  # as good as one that may not be removed
    fill(home, 60)
    (journals.folder(home) / "000000.jsonl").rmdir()
    there = {record["session_id"] for record in journals.recorded(journals.folder(home))}
    assert {f"s-{number}" for number in range(40, 60)} <= there


@pytest.mark.usefixtures("small_segments")
def test_what_was_written_aside_goes_with_age_too(home: Path, project: Path) -> None:
    journals.keep(home, "[journal]\nkeep_days = 30\n")
    place = journals.folder(home)
    fill(home, 2)
    aside = place / "aside-1-00000000.jsonl"
    head, own = writer.closed(writer._header(0, writer.START), writer.START)
    aside.write_bytes(head + writer.closed(json.dumps(journals.record()).encode(), own)[0])
    assert journals.is_intact()
    os.utime(aside, (0, 0))
    fill(home, 6, first=2)
    assert not aside.exists()
    assert journals.is_intact()
