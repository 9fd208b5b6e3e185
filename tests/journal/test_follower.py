"""What is new in the journal: each complete line once, after rotation, retention, replacement and a stored cursor."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from journal import journals
from tenterhook.journal.follower import Follower, Position, load_cursor
from tenterhook.journal.writer import digest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(home: Path) -> Path:
    return journals.folder(home)


def read(follower: Follower) -> list[bytes]:
    return [line.raw for line in follower.lines()]


def lines_of(place: Path) -> list[bytes]:
    return [line for segment in journals.segments(place) for line in segment.read_bytes().splitlines(keepends=True)]


def stored(follower: Follower) -> dict[str, Position]:
    return load_cursor(json.loads(json.dumps(follower.cursor)))


def test_a_line_is_read_once_it_is_complete(place: Path) -> None:
    journals.write(place, journals.record(0))
    follower = Follower(str(place))
    assert len(read(follower)) == 2  # with the segment's head
    segment = journals.segments(place)[0]
    before = segment.read_bytes()
    journals.write(place, journals.record(1))
    line = segment.read_bytes()[len(before) :]
    segment.write_bytes(before + line[:200])
    assert read(follower) == []
    segment.write_bytes(before + line)
    assert read(follower) == [line]
    assert read(follower) == []


def test_a_stored_cursor_goes_on_behind_rotation_with_the_numbers_of_lines(place: Path) -> None:
    journals.write(place, journals.record(0))
    first = Follower(str(place))
    before = read(first)
    journals.write(place, *[journals.record(number, reason="x" * 900_000) for number in range(1, 12)])
    assert len(journals.segments(place)) > 1
    later = list(Follower(str(place), stored(first)).lines())
    assert before + [line.raw for line in later] == lines_of(place)
    assert later[0].number == len(before) + 1
    assert later[-1].number == len(journals.segments(place)[-1].read_bytes().splitlines())


def test_a_segment_that_retention_removed_is_dropped_from_the_cursor(place: Path) -> None:
    journals.write(place, *[journals.record(number, reason="x" * 900_000) for number in range(12)])
    follower = Follower(str(place))
    read(follower)
    old = journals.segments(place)[0]
    old.unlink()
    journals.write(place, journals.record(12))
    again = Follower(str(place), stored(follower))
    assert read(again) == lines_of(place)[-1:]
    assert old.name not in again.cursor


@pytest.mark.parametrize("is_stored", [True, False])
@pytest.mark.parametrize("records", [1, 5])
def test_a_segment_replaced_by_another_of_its_name_is_read_from_its_beginning(
    place: Path, records: int, is_stored: bool
) -> None:
    journals.write(place, *map(journals.record, range(3)))
    follower = Follower(str(place))
    read(follower)
    for segment in journals.segments(place):
        segment.unlink()
    journals.write(place, *[journals.record(number, reason="another") for number in range(records)])
    assert read(Follower(str(place), stored(follower)) if is_stored else follower) == lines_of(place)


def test_from_now_reads_only_what_comes_later(place: Path) -> None:
    journals.write(place, journals.record(0))
    follower = Follower.from_now(str(place))
    assert follower.unread() == 0
    journals.write(place, journals.record(1))
    assert follower.unread() > 0
    assert read(follower) == lines_of(place)[-1:]


def test_what_is_not_a_segment_does_not_keep_those_behind_it(place: Path) -> None:
    journals.write(place, journals.record(0))
    whole = lines_of(place)
    os.mkfifo(place / "00000000.jsonl")
    (place / "aside.jsonl").symlink_to("/dev/zero")
    assert read(Follower(str(place), {"00000000.jsonl": Position(0, 10, digest(b""))})) == whole


def test_cursors_that_version_0_1_stored_are_read(place: Path) -> None:
    journals.write(place, journals.record(0))
    (segment,) = journals.segments(place)
    head, line = segment.read_bytes().splitlines(keepends=True)
    of_uploader = load_cursor({segment.name: [len(head), 1]})
    of_export = load_cursor({segment.name: [0, len(head), digest(head)]})
    for cursor in (of_uploader, of_export):
        assert read(Follower(str(place), cursor)) == [line]
    assert [line.number for line in Follower(str(place), of_uploader).lines()] == [2]


@pytest.mark.parametrize("spoiled", [None, [], "x", {"a": []}, {"a": [1]}, {"a": "xyz"}, {"a": [1, 2, "x", 4, 5]}])
def test_what_is_no_cursor_is_refused(spoiled: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        load_cursor(spoiled)
