"""What was edited, removed, reordered, put in or cut off shows, and where; what is as it was written does not."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from journal import journals
from support import shell_call, tenterhook
from tenterhook.journal import segments, writer

if TYPE_CHECKING:
    from collections.abc import Mapping

HANG = 60  # seconds

Bytes = dict[str, bytes]  # a journal's segments by name


class Line(NamedTuple):
    """One line of a segment, and whether it is the last there is."""

    segment: str
    number: int
    is_last: bool
    closes: bool  # the last of its segment


@pytest.fixture
def written(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Bytes:
    """A journal of a few segments with a few lines each, written by an engine."""
    with monkeypatch.context() as patched:
        patched.setattr(writer, "_LARGEST_SEGMENT", 2500)
        engine = journals.engine()
        for number in range(12):
            engine.decide(shell_call(f"echo {number}", session_id=f"s-{number}"))
    found = {path.name: path.read_bytes() for path in journals.segments(journals.folder(home))}
    assert len(found) >= 3
    assert all(content.count(b"\n") >= 3 for content in found.values())
    return found


def lines_of(written: Bytes) -> list[Line]:
    names = list(written)
    counts = {name: written[name].count(b"\n") for name in names}
    return [
        Line(name, number, (name, number) == (names[-1], counts[names[-1]]), number == counts[name])
        for name in names
        for number in range(1, counts[name] + 1)
    ]


def put(place: Path, spoilt: Mapping[str, bytes]) -> Path:
    """A journal with exactly these segments."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name, content in spoilt.items():
        (place / name).write_bytes(content)
    return place


def found_in(place: Path, spoilt: Mapping[str, bytes]) -> list[segments.IntegrityFinding]:
    return segments.verify(str(put(place, spoilt))).findings


def with_lines(written: Bytes, segment: str, lines: list[bytes]) -> Bytes:
    return {**written, segment: b"".join(lines)}


def after(written: Bytes, segment: str, number: int) -> set[tuple[str, int]]:
    """The place of the line after one: further on in its segment, or where the next begins."""
    if number < written[segment].count(b"\n"):
        return {(segment, number + 1)}
    names = list(written)
    return {(name, 1) for name in names[names.index(segment) + 1 :][:1]}


def places(findings: list[segments.IntegrityFinding]) -> list[tuple[str, int]]:
    return [(each.segment, each.line) for each in findings]


# ---- as it was written


def test_a_journal_as_it_was_written_is_intact(written: Bytes) -> None:
    ended = tenterhook("log", "verify")
    count = sum(content.count(b"\n") for content in written.values())
    assert ended.returncode == 0
    assert ended.stdout == f"{count} records in {len(written)} segments: intact\n"
    assert json.loads(tenterhook("log", "verify", "--json").stdout)["findings"] == []


def test_where_there_is_no_journal_nothing_is_wrong_with_it(project: Path) -> None:
    assert journals.is_intact()
    assert json.loads(tenterhook("log", "anchor").stdout)["heads"] == {}


def test_each_line_has_the_hash_of_the_one_before_and_closes_with_its_own(written: Bytes) -> None:
    before = "0" * 32
    for name, content in written.items():
        for number, line in enumerate(content.splitlines(keepends=True), start=1):
            record = json.loads(line)
            assert record["prev"] == before, (name, number)
            assert line.endswith(f', "hash": "{record["hash"]}"}}\n'.encode())
            assert record["hash"] == writer.digest(line[: line.rindex(b', "hash": "')])
            before = record["hash"]
            assert (record["type"] == "segment") == (number == 1)


# ---- one byte


def found_after_edit(
    place: Path, written: Bytes, segment: str, position: int, byte: int
) -> list[segments.IntegrityFinding]:
    """What is found once a byte of a journal at that place is another; it is put right again."""
    content = bytearray(written[segment])
    content[position] = byte
    (place / segment).write_bytes(content)
    findings = segments.verify(str(place)).findings
    (place / segment).write_bytes(written[segment])
    return findings


def check_edit(place: Path, written: Bytes, segment: str, position: int, byte: int) -> None:
    number = written[segment].count(b"\n", 0, position) + 1
    findings = found_after_edit(place, written, segment, position, byte)
    assert findings, (segment, position, byte)
    assert places(findings)[0] == (segment, number)
    assert set(places(findings)) <= {(segment, number), *after(written, segment, number)}


def test_an_edit_of_any_one_byte_is_found_and_located(written: Bytes, tmp_path: Path) -> None:
    place = put(tmp_path / "spoilt", written)
    for segment, content in written.items():
        structure = len(content) - 120  # the last line's end, byte by byte; the rest, here and there
        for position in (*range(0, structure, 13), *range(structure, len(content))):
            check_edit(place, written, segment, position, content[position] ^ 1)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_other_byte_anywhere_is_found_and_located(written: Bytes, tmp_path: Path, data: st.DataObject) -> None:
    segment = data.draw(st.sampled_from(sorted(written)))
    position = data.draw(st.integers(0, len(written[segment]) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != written[segment][position]))
    place = put(tmp_path / "spoilt", written)
    if byte == ord("\n"):  # two lines where one was: the second half is wrong as well, and what follows is one further
        number = written[segment].count(b"\n", 0, position) + 1
        assert places(found_after_edit(place, written, segment, position, byte))[0] == (segment, number)
        return
    check_edit(place, written, segment, position, byte)


def test_the_command_says_what_was_edited_and_where(home: Path, written: Bytes) -> None:
    segment = journals.folder(home) / "000002.jsonl"
    lines = segment.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"decision": "none"', b'"decision": "deny"', 1)
    segment.write_bytes(b"".join(lines))
    ended = tenterhook("log", "verify")
    assert ended.returncode == 1
    said, summary = ended.stdout.splitlines()
    assert said.startswith("000002.jsonl:2  edited")
    assert summary.endswith("1 found")
    assert journals.verify().places == [("000002.jsonl", 2)]


# ---- lines that are gone, elsewhere, or too many


def test_a_deleted_line_is_found_where_it_is_missing(written: Bytes, tmp_path: Path) -> None:
    for line in lines_of(written):
        if line.is_last:
            continue  # see the cut-off tail
        lines = written[line.segment].splitlines(keepends=True)
        del lines[line.number - 1]
        findings = found_in(tmp_path / "spoilt", with_lines(written, line.segment, lines))
        expected = {(line.segment, line.number)}  # where the next one is now
        if line.closes:
            expected = after(written, line.segment, line.number)
        assert findings, line
        assert places(findings)[0] in expected
        assert findings[0].what.startswith("removed")
        assert set(places(findings)) <= {*expected, *after(written, line.segment, line.number)}


def test_a_swapped_pair_is_found_where_it_begins(written: Bytes, tmp_path: Path) -> None:
    for line in lines_of(written):
        if line.closes:
            continue
        lines = written[line.segment].splitlines(keepends=True)
        first, second = line.number - 1, line.number
        lines[first], lines[second] = lines[second], lines[first]
        findings = found_in(tmp_path / "spoilt", with_lines(written, line.segment, lines))
        assert places(findings)[0] == (line.segment, line.number)
        if line.number > 1:
            assert findings[0].what.startswith("reordered")


def test_lines_that_changed_places_far_apart_are_found(written: Bytes, tmp_path: Path) -> None:
    one, other = "000001.jsonl", "000003.jsonl"
    mine, theirs = (written[name].splitlines(keepends=True) for name in (one, other))
    mine[1], theirs[1] = theirs[1], mine[1]
    findings = found_in(tmp_path / "spoilt", {**written, one: b"".join(mine), other: b"".join(theirs)})
    assert set(places(findings)) == {(one, 2), (one, 3), (other, 2), (other, 3)}


def test_an_inserted_line_is_found(written: Bytes, tmp_path: Path) -> None:
    segment = "000002.jsonl"
    lines = written[segment].splitlines(keepends=True)
    head = json.loads(lines[1])["hash"]
    made_up = json.dumps(journals.record(99)).encode()
    forged, _ = writer.closed(made_up, head)  # right in itself, and after the right line
    inserted = {
        "a copy of another": (lines[0], 3),
        "the same once more": (lines[1], 3),
        "with the right hash": (forged, 4),  # what follows names another
        "without a hash": (made_up + b"\n", 3),
        "no record": (b"hello\n", 3),
        "empty": (b"\n", 3),
    }
    for what, (line, number) in inserted.items():
        spoilt = with_lines(written, segment, [*lines[:2], line, *lines[2:]])
        findings = found_in(tmp_path / "spoilt", spoilt)
        assert places(findings)[:1] == [(segment, number)], what
        assert set(places(findings)) <= {(segment, number), (segment, number + 1)}


# ---- segments


def test_a_removed_segment_is_found_where_the_next_begins(written: Bytes, tmp_path: Path) -> None:
    names = list(written)
    for gone, following in itertools.pairwise(names):
        findings = found_in(tmp_path / "spoilt", {name: written[name] for name in names if name != gone})
        assert places(findings) == [(following, 1)], gone
        assert findings[0].what.startswith("removed")


@pytest.mark.parametrize("name", ["000009.jsonl", "000000.jsonl", "aside-1-abcdef01.jsonl"])
def test_a_renamed_segment_is_found(written: Bytes, tmp_path: Path, name: str) -> None:
    renamed = {(name if each == "000002.jsonl" else each): content for each, content in written.items()}
    findings = found_in(tmp_path / "spoilt", renamed)
    assert (name, 1) in places(findings)
    assert ("000003.jsonl", 1) in places(findings)  # before it something is missing
    assert {segment for segment, _ in places(findings)} == {name, "000003.jsonl"}


def test_segments_that_changed_names_are_found(written: Bytes, tmp_path: Path) -> None:
    spoilt = {**written, "000001.jsonl": written["000002.jsonl"], "000002.jsonl": written["000001.jsonl"]}
    found = places(found_in(tmp_path / "spoilt", spoilt))
    assert {("000001.jsonl", 1), ("000002.jsonl", 1)} <= set(found)


# ---- against an anchor


def test_what_comes_after_an_anchor_is_no_trouble(home: Path, project: Path, written: Bytes) -> None:
    anchor = journals.anchor_here(project)
    journals.write(journals.folder(home), *map(journals.record, range(3)))
    assert journals.is_intact("--anchor", anchor)


@pytest.mark.parametrize("lines", [1, 2])
def test_a_cut_off_tail_shows_against_an_anchor_only(home: Path, project: Path, written: Bytes, lines: int) -> None:
    anchor = journals.anchor_here(project)
    last = journals.segments(journals.folder(home))[-1]
    kept = last.read_bytes().splitlines(keepends=True)[:-lines]
    last.write_bytes(b"".join(kept))
    assert journals.is_intact()
    found = journals.verify("--anchor", anchor)
    assert (found.status, found.places, found.words) == (1, [(last.name, len(kept))], ["cut off"])


def test_a_cut_off_tail_still_shows_when_others_have_written_since(home: Path, project: Path, written: Bytes) -> None:
    anchor = journals.anchor_here(project)
    last = journals.segments(journals.folder(home))[-1]
    lines = last.read_bytes().splitlines(keepends=True)
    last.write_bytes(b"".join(lines[:-1]))
    journals.write(journals.folder(home), *map(journals.record, range(3)))
    assert journals.is_intact()
    found = journals.verify("--anchor", anchor)
    assert (found.places, found.words) == ([(last.name, len(lines))], ["rewritten"])


def test_a_last_segment_that_is_gone_shows_against_an_anchor_only(home: Path, project: Path, written: Bytes) -> None:
    anchor = journals.anchor_here(project)
    last = journals.segments(journals.folder(home))[-1]
    last.unlink()
    assert journals.is_intact()
    found = journals.verify("--anchor", anchor)
    assert ([segment for segment, _ in found.places], found.words) == ([last.name], ["removed"])


def test_a_journal_that_is_gone_shows_against_an_anchor_only(home: Path, project: Path, written: Bytes) -> None:
    anchor = journals.anchor_here(project)
    shutil.rmtree(journals.folder(home))
    assert journals.is_intact()
    assert len(journals.verify("--anchor", anchor).places) == len(written)


def test_a_journal_that_was_written_anew_shows_against_an_anchor_only(
    home: Path, project: Path, tmp_path: Path
) -> None:
    place = journals.folder(home)
    journals.write(place, *map(journals.record, range(5)))
    anchor = journals.anchor_here(project)
    forged = tmp_path / "forged"
    journals.write(forged, *(journals.record(number, decision="allow") for number in range(5)))
    shutil.rmtree(place)
    forged.rename(place)
    assert journals.is_intact()
    found = journals.verify("--anchor", anchor)
    assert (found.status, found.places, found.words) == (1, [("000001.jsonl", 6)], ["rewritten"])


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"heads": 3}', '{"heads": {"000001.jsonl": {}}}', "no JSON"])
def test_a_file_that_is_no_anchor_is_a_wrong_use_of_the_command(project: Path, written: Bytes, text: str) -> None:
    (project / "anchor.json").write_text(text)
    ended = tenterhook("log", "verify", "--anchor", "anchor.json")
    assert (ended.returncode, ended.stdout) == (64, "")
    assert "anchor.json is not the output of `tenterhook log anchor`" in ended.stderr


def test_an_anchor_may_have_seen_a_segment_without_a_line(home: Path, project: Path, written: Bytes) -> None:
    (journals.folder(home) / "stray.jsonl").touch()
    found = journals.verify("--anchor", journals.anchor_here(project))
    assert {segment for segment, _ in found.places} <= {"stray.jsonl"}


# ---- what is no tampering, or not ours


def test_a_half_written_last_line_is_no_finding_and_what_comes_after_goes_on(home: Path, written: Bytes) -> None:
    """Its writer was killed; a system may end a write in the middle for that, and nobody was told of it."""
    place = journals.folder(home)
    last = journals.segments(place)[-1]
    with last.open("ab") as stream:
        stream.write(b'{"schema": 1, "type": "verdict", "ti')
    assert journals.is_intact()
    journals.write(place, *map(journals.record, range(3)))
    assert {"s-0", "s-1", "s-2"} <= {record["session_id"] for record in journals.recorded(place)}
    assert journals.is_intact()
    assert [each["session_id"] for each in journals.log_json("-n", "3")] == ["s-0", "s-1", "s-2"]


def test_a_last_line_that_lacks_only_its_end_is_found(home: Path, written: Bytes) -> None:
    last = journals.segments(journals.folder(home))[-1]
    number = last.read_bytes().count(b"\n")
    last.write_bytes(last.read_bytes()[:-1])
    found = journals.verify()
    assert (found.status, found.places, found.words) == (1, [(last.name, number)], ["cut off"])


def test_a_segment_that_was_begun_without_a_line_is_no_trouble(home: Path, project: Path) -> None:
    """Its writer found the disk full, or was killed."""
    place = journals.folder(home)
    place.mkdir(parents=True)
    (place / "000001.jsonl").touch()
    assert journals.is_intact()
    journals.write(place, *map(journals.record, range(3)))
    assert journals.is_intact()
    following = place / f"{len(journals.segments(place)) + 1:06}.jsonl"
    following.touch()
    assert journals.is_intact()
    journals.write(place, journals.record(3))
    assert journals.is_intact()
    assert len(journals.log_json()) == 4


@pytest.mark.parametrize("name", ["notes.txt", ".000001.jsonl.swp", "000001.jsonl~", "folder/", "000001.jsonl.gz"])
def test_a_file_that_is_no_segment_is_nothing_to_us(home: Path, written: Bytes, name: str) -> None:
    strange = journals.folder(home) / name
    if name.endswith("/"):
        strange.mkdir()
    else:
        strange.write_bytes(b"\x00\xff hello")
    assert journals.is_intact()
    journals.write(journals.folder(home), journals.record())
    assert journals.is_intact()
    assert len(journals.log_json("-n", "0")) == 13


FOREIGN = {
    "text": b"hello\nworld\n",
    "bytes": bytes(range(256)) * 20,
    "JSON": b'{"type": "verdict", "time": {}, "session_id": "fake"}\n[]\n3\nnull\n',
    "odd verdicts": b'{"type": "verdict", "time": "x", "runs": 5}\n{"type": "verdict", "runs": [1, {"hook": []}]}\n',
    "numbers": b'{"type": "verdict", "time": ' + b"9" * 400 + b"}\n",
    "deep": b"[" * 200_000 + b"\n",
    "checkpoint": b'{"type": "checkpoint", "through": "x"}\n',
}


NAMES = ["aside-1-00000000.jsonl", "000042.jsonl"]


@pytest.mark.parametrize(
    ("name", "what"), [*(("foreign.jsonl", what) for what in FOREIGN), *((name, "JSON") for name in NAMES)]
)
def test_a_foreign_segment_is_found_and_disturbs_nothing_else(home: Path, written: Bytes, name: str, what: str) -> None:
    place = journals.folder(home)
    (place / name).write_bytes(FOREIGN[what])
    found = journals.verify()
    assert found.status == 1
    assert {segment for segment, _ in found.places} == {name}
    journals.write(place, journals.record(100))
    assert {segment for segment, _ in journals.verify().places} == {name}
    shown = [each["session_id"] for each in journals.log_json("-n", "0")]
    assert shown == [*(f"s-{number}" for number in range(12)), "s-100"]
    assert tenterhook("log").returncode == 0
    assert journals.stats_json()["hooks"]


@pytest.mark.parametrize("kind", ["folder", "fifo", "link to nowhere", "link to a device"])
def test_something_else_in_a_segments_place_is_found_and_read_by_nobody(home: Path, written: Bytes, kind: str) -> None:
    strange = journals.folder(home) / "strange.jsonl"
    match kind:
        case "folder":
            strange.mkdir()
        case "fifo":
            os.mkfifo(strange)
        case "link to nowhere":
            strange.symlink_to("nowhere")
        case "link to a device":
            strange.symlink_to("/dev/null")
    found = journals.verify(timeout=20)
    assert {segment for segment, _ in found.places} == {"strange.jsonl"}
    assert len(journals.log_json("-n", "0", timeout=20)) == 12


def test_a_checkpoint_that_makes_no_sense_is_no_reason_to_stop(home: Path, written: Bytes) -> None:
    place = journals.folder(home)
    nonsense: tuple[Any, ...] = ("x", None, [], {"a": 1}, 1e300)
    for through in nonsense:
        journals.write(place, {"schema": 1, "type": "checkpoint", "time": 1.0, "through": through, "head": None})
    first = journals.segments(place)[0]
    first.unlink()
    found = journals.verify()
    assert ("000002.jsonl", 1) in found.places


# ---- while others write

BUSY = textwrap.dedent(
    """
    import sys
    from journal import journals
    from tenterhook.journal import writer
    from pathlib import Path
    writer._LARGEST_SEGMENT = 400_000
    place, number = Path(sys.argv[1]), 0
    print("begun", flush=True)
    while True:
        journals.write(place, journals.record(number, fields={"prompt": "x" * (number * 7919 % 150_000)}))
        number += 1
    """
)


def test_nothing_is_found_while_others_write_and_forget(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [tests, os.environ.get("PYTHONPATH")])))
    journals.keep(home, "[journal]\nkeep_mb = 2\n")
    writers = [journals.start(BUSY, str(journals.folder(home))) for _ in range(2)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "begun\n"
        for _ in range(30):
            assert segments.verify(str(journals.folder(home))).findings == []
        assert journals.is_intact()
        assert tenterhook("log").returncode == 0
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate(timeout=HANG)
    assert journals.checkpoints(home)
