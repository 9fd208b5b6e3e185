"""Appending to the journal: each line closes with a hash and carries on the chain, whatever was left there."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from journal import journals
from tenterhook.journal import segments, writer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def findings(place: Path) -> list[str]:
    return [each.what for each in segments.verify(str(place)).findings]


def test_files_are_for_this_account_alone(place: Path) -> None:
    journals.write(place, journals.record())
    assert place.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in place.iterdir()} == {0o600}


def test_a_full_segment_is_followed_by_the_next_and_the_chain_goes_on(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_LARGEST_SEGMENT", 1500)
    journals.write(place, *(journals.record(number) for number in range(6)))
    found = journals.segments(place)
    assert len(found) >= 3
    assert writer.last_number(str(place)) == len(found)
    for before, after in pairwise(found):
        assert json.loads(after.read_bytes().splitlines()[0])["prev"] == writer.end_of(str(before))
    assert [each["session_id"] for each in journals.recorded(place)] == [f"s-{number}" for number in range(6)]
    assert findings(place) == []


def test_half_a_line_of_a_writer_that_was_killed_is_cut_off_before_the_next(place: Path) -> None:
    journals.write(place, journals.record(1))
    with (place / "000001.jsonl").open("ab") as file:
        file.write(b'{"schema": 1, "type": "verd')
    journals.write(place, journals.record(2))
    assert [each["session_id"] for each in journals.recorded(place)] == ["s-1", "s-2"]
    assert findings(place) == []


def test_trouble_is_found_without_writing_anything(place: Path) -> None:
    journals.write(place, journals.record())
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    writer.check_writable(str(place))
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before
    os.unlink(place / "000001.jsonl")
    (place / "000001.jsonl").mkdir()
    with pytest.raises(OSError, match="directory"):
        writer.check_writable(str(place))
