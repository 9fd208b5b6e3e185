"""A secret is taken out of the journal; what is left verifies, says what was redacted, and is as strict as before."""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journal import journals
from support import shell_call, tenterhook
from tenterhook.basics import places
from tenterhook.journal import redact_stored, retention, segments, writer
from tenterhook.journal.filters import RecordFilter
from tenterhook.journal.follower import Follower
from tenterhook.journal.index import Index
from tenterhook.journal.redacted_records import ByRules, ByText

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "correct-horse-battery"
SCHEMA = json.loads((Path(segments.__file__).parent.parent / "schemas" / "record.json").read_text())
HANG = 60  # seconds


@pytest.fixture
def place(home: Path) -> Path:
    return journals.folder(home)


def with_secret(number: int, **more: Any) -> dict[str, Any]:
    given = {"tool_input": {"command": f"echo {SECRET} {number}"}}
    return journals.record(number, fields=given, **more)


def fill(place: Path, monkeypatch: pytest.MonkeyPatch, count: int = 18, every: int = 3) -> None:
    """Several segments; every third record has the secret."""
    with monkeypatch.context() as patched:
        patched.setattr(writer, "_LARGEST_SEGMENT", 4000)
        journals.write(place, *(journals.record(n) if n % every else with_secret(n) for n in range(count)))
    assert len(journals.segments(place)) >= 3


def redacted(place: Path, text: str = SECRET, kind: str = "password") -> list[redact_stored.Redacted]:
    return redact_stored.Redaction(str(place), ByText(text, kind)).run()


def findings(place: Path) -> list[tuple[str, int, str]]:
    return [(each.segment, each.line, each.what) for each in segments.verify(str(place)).findings]


def noted(place: Path) -> list[tuple[str, int]]:
    return [(each.segment, each.line) for each in segments.verify(str(place)).redacted]


def contents(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


def is_anywhere(text: str = SECRET) -> bool:
    """Whether a text is in any file of the state and the cache."""
    files = [path for top in (places.state(), places.cache()) for path in Path(top).rglob("*") if path.is_file()]
    assert files
    return any(text.encode() in path.read_bytes() for path in files)


# ---- what is done


def test_the_secret_is_gone_and_the_journal_verifies(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(place, monkeypatch)
    before = journals.recorded(place)
    names = [path.name for path in journals.segments(place)]
    modified = {path.name: path.stat().st_mtime_ns for path in journals.segments(place)[:-1]}
    found = redacted(place)
    assert len(found) == 6
    assert not is_anywhere()
    assert findings(place) == []
    assert noted(place) == [(each.line.segment, each.line.number) for each in found]
    assert [path.name for path in journals.segments(place)] == names
    assert {name: (place / name).stat().st_mtime_ns for name in modified} == modified  # by which retention goes
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in journals.segments(place))
    after = journals.recorded(place)
    by_session = {each["session_id"]: each for each in before}
    for each in after:
        old = by_session[each["session_id"]]
        if "redacted" in each:
            assert each["redacted"] == {"was": old["hash"]}
            assert each["fields"] == {"tool_input": {"command": f"echo [redacted: password] {each['session_id'][2:]}"}}
            assert each["payload"] == "redacted"
            changed = ("fields", "payload", "redacted", "hash")
            assert {k: v for k, v in each.items() if k not in changed} == {
                k: v for k, v in old.items() if k not in changed
            }
        else:
            assert each == old


def test_the_redaction_is_recorded_without_the_secret(place: Path) -> None:
    journals.write(place, with_secret(0), journals.record(1))
    start = time.time()
    (line,) = redacted(place)
    (record,) = journals.recorded(place, "redaction")
    assert record["by"] == redact_stored.account()
    assert start - 1 < record["time"] < time.time() + 1
    assert record["lines"] == [{"segment": "000001.jsonl", "line": 2, "was": line.was, "now": line.now}]
    assert set(record) == {"schema", "type", "time", "by", "lines", "prev", "hash"}
    jsonschema.validate(record, SCHEMA)


def test_a_redacted_record_fits_the_schema(home: Path) -> None:
    engine = journals.engine()
    engine.decide(shell_call(f"echo {SECRET}"))
    place = journals.folder(home)
    redacted(place)
    (record,) = journals.recorded(place)
    assert "redacted" in record
    jsonschema.validate(record, SCHEMA)
    broken = {**record, "redacted": {"was": 3}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA)


def test_a_journal_without_the_text_is_left_as_it_is(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(place, monkeypatch)
    before = contents(place)
    assert redacted(place, "something else") == []
    assert contents(place) == before


def test_a_line_can_be_redacted_again(place: Path) -> None:
    journals.write(place, with_secret(0, reason="another-secret"), journals.record(1))
    redacted(place)
    middle = segments.verify(str(place)).heads
    redacted(place, "another-secret", "token")
    assert not is_anywhere("another-secret")
    assert findings(place) == []
    assert noted(place) == [("000001.jsonl", 2)]
    assert segments.verify(str(place), middle).findings == []
    first, second = journals.recorded(place, "redaction")
    assert first["lines"][0]["was"] == second["lines"][0]["was"]  # the original, which the next line continues


def test_the_last_line_and_the_end_of_a_segment_can_be_redacted(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(place, monkeypatch, every=1)
    redacted(place)
    assert findings(place) == []
    journals.write(place, journals.record(1))
    assert findings(place) == []


def test_segments_written_aside_are_redacted(place: Path) -> None:
    journals.write(place, journals.record(0))
    name = str(place / "aside-1-00000000.jsonl")
    writer._write_line(name, writer._header(0, writer.START), writer.START)
    writer._write_line(name, json.dumps(with_secret(1)).encode(), writer.head_of(name) or "")
    redacted(place)
    assert not is_anywhere()
    assert findings(place) == []
    assert noted(place) == [("aside-1-00000000.jsonl", 2)]


def test_what_the_rules_of_today_find_is_redacted(place: Path) -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
    journals.write(place, journals.record(0, fields={"prompt": f"use {token}"}, session_id="password=hunter22"))
    redact_stored.Redaction(str(place), ByRules()).run()
    assert not is_anywhere(token)
    (record,) = journals.recorded(place)
    assert record["fields"] == {"prompt": "use [redacted: github token]"}
    assert record["session_id"] == "password=hunter22"  # names are not looked at, as when a record is written
    assert redact_stored.Redaction(str(place), ByRules()).run() == []
    assert findings(place) == []


def test_an_incomplete_last_line_is_redacted_and_still_no_finding(place: Path) -> None:
    journals.write(place, journals.record(0))
    with (place / "000001.jsonl").open("ab") as stream:
        stream.write(f'{{"schema": 1, "type": "verdict", "reason": "{SECRET}", "f'.encode())
    redacted(place)
    assert not is_anywhere()
    assert findings(place) == []
    journals.write(place, journals.record(1))
    assert findings(place) == []


def test_an_edited_line_is_redacted_and_still_found(place: Path) -> None:
    journals.write(place, with_secret(0), journals.record(1))
    segment = place / "000001.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b'"decision": "none"', b'"decision": "deny"', 1))
    before = findings(place)
    assert [each[1] for each in before] == [2]
    redacted(place)
    assert not is_anywhere()
    assert findings(place) == before


def test_a_line_that_is_nested_too_deeply_to_be_read_is_redacted(place: Path) -> None:
    journals.write(place, journals.record(0))
    deep = b'{"schema": 1, "type": "verdict", "x": %b"%b"%b}' % (b"[" * 90_000, SECRET.encode(), b"]" * 90_000)
    writer._write_line(str(place / "000001.jsonl"), deep, writer.head_of(str(place / "000001.jsonl")) or "")
    journals.write(place, journals.record(1))
    for text in (SECRET, "redacted: password"):
        redacted(place, text)
    assert not is_anywhere()
    assert findings(place) == []


def test_marks_are_not_redacted(place: Path) -> None:
    journals.write(place, journals.record(0, reason="[redacted: password]"))
    assert redacted(place, "redacted") == []
    assert redacted(place, "password") == []


# ---- who reads and writes meanwhile

WRITER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from journal import journals
    place = Path(sys.argv[1])
    print("begun", flush=True)
    for number in range(100_000):
        journals.write(place, journals.record(number, reason=sys.argv[2] if number % 5 == 0 else None))
        print(number, flush=True)
    """
)


@pytest.fixture
def tests_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [tests, os.environ.get("PYTHONPATH")])))


@pytest.mark.slow
def test_processes_that_have_the_journal_open_go_on(place: Path, project: Path, tests_on_path: None) -> None:
    journals.write(place, with_secret(0))
    process = journals.start(WRITER, str(place), SECRET)
    try:
        for _ in range(30):
            journals.line_of(process)
        for _ in range(4):
            redacted(place)
            assert findings(place) == []
            for _ in range(30):
                journals.line_of(process)
    finally:
        process.kill()
        told, _ = process.communicate(timeout=HANG)
    redacted(place)
    assert not is_anywhere()
    assert findings(place) == []
    sessions = [each["session_id"] for each in journals.recorded(place)]
    last = int([line for line in told.split("\n") if line][-2]) if told.count("\n") > 1 else 100
    assert {f"s-{number}" for number in range(last)} <= set(sessions)


def test_the_index_is_built_again(place: Path, project: Path) -> None:
    journals.write(place, journals.record(0, session_id=f"s-{SECRET}"), journals.record(1))
    assert len(journals.log_json()) == 2
    assert is_anywhere()
    open_index = Index()
    open_index.update()
    redacted(place)
    assert not is_anywhere()
    assert [each["session_id"] for each in journals.log_json()] == ["s-[redacted: password]", "s-1"]
    open_index.update()  # one that was open, as of `log --follow`
    assert [each["session_id"] for _, each in open_index.records(RecordFilter())] == ["s-[redacted: password]", "s-1"]
    open_index.close()


@pytest.mark.parametrize("read", range(1, 8))
def test_a_cursor_continues_after_the_same_line(place: Path, read: int) -> None:
    journals.write(place, *(with_secret(n) if n in (1, 3, 5) else journals.record(n) for n in range(6)))
    follower = Follower(str(place))
    for _ in itertools.islice(follower.lines(), read):
        pass
    stored = dict(follower.cursor)
    redacted(place)
    for each in (follower, Follower(str(place), stored)):
        assert [line.number for line in each.lines()] == list(range(read + 1, 9))


def test_a_long_secret_leaves_no_shorter_line(place: Path) -> None:
    """A position after the line must not fit by chance; and the length of the secret does not show."""
    lengths = set()
    for size in range(70, 110):
        journals.write(place, journals.record(0, reason="x" * 40, session_id="s" * size))
        (line,) = redacted(place, "s" * size)
        assert len(line.new) > len(line.line.raw)
        lengths.add(len(line.new))
        shutil.rmtree(place)
    assert len(lengths) < 10


# ---- retention


def test_what_was_redacted_may_be_removed_by_retention(
    home: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(place, monkeypatch, every=1)
    redacted(place)
    anchor = segments.verify(str(place)).heads
    journals.keep(home, "[journal]\nkeep_mb = 1\n")
    journals.write(place, *(journals.record(n, reason="x" * 900_000) for n in range(12)))
    assert not (place / "000001.jsonl").exists()
    assert findings(place) == []
    assert segments.verify(str(place), anchor).findings == []


def test_the_end_of_a_removed_segment_may_have_been_redacted(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(place, monkeypatch, every=1)
    redacted(place)
    os.utime(place / "000001.jsonl", (0, 0))
    retention.delete_old(str(place))
    assert not (place / "000001.jsonl").exists()
    assert (place / "000002.jsonl").exists()
    assert findings(place) == []


def test_a_redacted_aside_segment_outlives_the_record_of_its_redaction(
    home: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test_segments_written_aside_are_redacted(place)
    journals.keep(home, "[journal]\nkeep_mb = 1\n")
    journals.write(place, *(journals.record(n, reason="x" * 900_000) for n in range(20)))
    assert not (place / "000001.jsonl").exists()
    assert findings(place) == []
    assert noted(place) == [("aside-1-00000000.jsonl", 2)]


# ---- as strict as before


def spoil(data: st.DataObject, before: dict[str, bytes]) -> dict[str, bytes]:
    """Edit, remove, repeat, swap or restore something; the end of the journal is not cut off."""
    what = data.draw(st.sampled_from(["byte", "remove", "repeat", "swap", "segment"]))
    which, where, bits = (data.draw(st.integers(0, 10**9)) for _ in range(3))  # lengths differ from run to run
    names = sorted(before)
    name = names[which % len(names)]
    lines = before[name].splitlines(keepends=True)
    is_last = name == names[-1]
    at = where % (len(lines) - is_last)
    match what:
        case "byte":
            content = bytearray(before[name])
            content[where % len(content)] ^= bits % 255 + 1
            return {**before, name: bytes(content)}
        case "remove":
            del lines[at]
        case "repeat":
            lines.insert(at, lines[at])
        case "swap" if at + 1 < len(lines):
            lines[at], lines[at + 1] = lines[at + 1], lines[at]
        case "segment" if not is_last and len(names) > 1:
            return {other: content for other, content in before.items() if other != name}
        case _:
            del lines[at]
    return {**before, name: b"".join(lines)}


@settings(max_examples=60)
@given(data=st.data())
def test_any_edit_of_any_redacted_journal_is_found(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    place = tmp_path / f"journal-{time.monotonic_ns()}"
    monkeypatch.setattr(writer, "_LARGEST_SEGMENT", data.draw(st.sampled_from([2500, 100_000])))
    words = ["first-secret", "second-secret", "third-secret"]
    for _ in range(data.draw(st.integers(1, 3))):
        for number in range(data.draw(st.integers(1, 6))):
            said = " ".join(data.draw(st.lists(st.sampled_from([*words, "harmless"]), max_size=3)))
            journals.write(place, journals.record(number, reason=said))
        word = data.draw(st.sampled_from(words))
        redacted(place, word)
        assert word.encode() not in b"".join(contents(place).values())
        assert findings(place) == []
    before = {name: content for name, content in contents(place).items() if name.endswith(".jsonl")}
    spoilt = spoil(data, before)
    if spoilt == before:
        return
    for name in before:
        (place / name).unlink()
    for name, content in spoilt.items():
        (place / name).write_bytes(content)
    assert findings(place) != []


@pytest.mark.slow
def test_each_single_byte_of_a_redacted_journal_counts(place: Path) -> None:
    journals.write(place, with_secret(0), journals.record(1))
    redacted(place)
    journals.write(place, journals.record(2))
    segment = place / "000001.jsonl"
    before = segment.read_bytes()
    for position in range(0, len(before), 3):
        content = bytearray(before)
        content[position] ^= 1
        segment.write_bytes(content)
        number = before.count(b"\n", 0, position) + 1
        found = [line for _, line, _ in findings(place)]
        assert number in found or number + 1 in found, position
        segment.write_bytes(before)


def edited(place: Path, number: int, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a line and give it a hash that is right."""
    segment = place / "000001.jsonl"
    lines = segment.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[number - 1])
    prev = record.pop("prev")
    record.pop("hash")
    change(record)
    lines[number - 1] = writer.closed(json.dumps(record).encode(), prev)[0]
    segment.write_bytes(b"".join(lines))


def test_a_redacted_line_that_was_edited_again_is_found(place: Path) -> None:
    journals.write(place, with_secret(0), journals.record(1))
    redacted(place)
    edited(place, 2, lambda record: record.update(decision="allow"))
    assert ("000001.jsonl", 2) in [each[:2] for each in findings(place)]


def test_a_line_that_only_says_it_was_redacted_is_found(place: Path) -> None:
    journals.write(place, with_secret(0), journals.record(1))
    was = journals.recorded(place)[0]["hash"]
    edited(place, 2, lambda record: record.update(reason="forged", redacted={"was": was}))
    (found,) = findings(place)
    assert found == ("000001.jsonl", 2, "redacted: no redaction record accounts for it")


@pytest.mark.parametrize(
    "forged",
    [
        {"reason": "nothing happened here"},
        {"type": "checkpoint", "through": 1, "head": "0" * 32, "reason": "[redacted: password]"},
        {"type": "redaction", "time": 1.0, "by": "[redacted: name]", "lines": []},
        {"type": "segment", "number": 1, "reason": "[redacted: password]"},
    ],
    ids=["no mark", "checkpoint", "redaction", "header"],
)
def test_a_line_that_was_rewritten_as_a_redaction_with_a_record_of_it_is_found(
    place: Path, forged: dict[str, Any]
) -> None:
    journals.write(place, with_secret(0), journals.record(1))
    lines = list(segments.lines(str(place), "000001.jsonl"))
    old = segments.Closing.of(lines[1].raw)
    body = json.dumps({"schema": 1, **forged}).encode()[:-1] + segments.redacted_mark(str(old.claimed)) + b"}"
    new, now = writer.closed(body, old.prev)
    journals.write(place, redact_stored._record([redact_stored.Redacted(lines[1], new, 1, str(old.claimed), now)]))
    segment = place / "000001.jsonl"
    segment.write_bytes(segment.read_bytes().replace(lines[1].raw, new))
    assert [(line, what.partition(":")[0]) for _, line, what in findings(place)] == [(2, "rewritten")]


def test_a_redaction_record_in_a_segment_written_aside_is_not_believed(place: Path) -> None:
    journals.write(place, with_secret(0), journals.record(1))
    (line,) = redact_stored.Redaction(str(place), ByText(SECRET, "password")).lines()
    name = str(place / "aside-1-00000000.jsonl")
    writer._write_line(name, writer._header(0, writer.START), writer.START)
    record = json.dumps(redact_stored._record([line])).encode()
    writer._write_line(name, record, writer.head_of(name) or "")
    segment = place / "000001.jsonl"
    segment.write_bytes(segment.read_bytes().replace(line.line.raw, line.new))
    assert [each[:2] for each in findings(place)] == [("000001.jsonl", 2)]


def test_a_redaction_of_a_line_that_was_never_there_is_found(place: Path) -> None:
    journals.write(place, journals.record(0))
    about = {"segment": "000001.jsonl", "line": 2, "was": "a" * 32, "now": "b" * 32}
    record = {"schema": 1, "type": "redaction", "time": 1.0, "by": "eve"}
    journals.write(place, {**record, "lines": [about]})
    assert findings(place) == [("000001.jsonl", 3, "redaction of 000001.jsonl:2: that line is missing")]


@pytest.mark.parametrize("lines", [None, 3, [3], [{}], [{"segment": 1, "line": "x", "was": None, "now": []}]])
def test_a_redaction_record_that_makes_no_sense_is_no_reason_to_stop(place: Path, lines: Any) -> None:
    journals.write(place, with_secret(0))
    journals.write(place, {"schema": 1, "type": "redaction", "time": 1.0, "by": "eve", "lines": lines})
    assert all(segment == "000001.jsonl" and line == 3 for segment, line, _ in findings(place))
    redacted(place)
    assert not is_anywhere()


def test_the_original_in_the_place_of_the_redacted_line_is_found(place: Path) -> None:
    journals.write(place, with_secret(0), journals.record(1))
    (line,) = redacted(place)
    segment = place / "000001.jsonl"
    segment.write_bytes(segment.read_bytes().replace(line.new, line.line.raw))
    ((_, number, what),) = findings(place)
    assert (number, what) == (2, "its redaction is incomplete: run the same `log redact` again")


def test_an_anchor_of_before_still_shows_what_is_cut_off_or_rewritten(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(place, monkeypatch, every=1)
    anchor = segments.verify(str(place)).heads
    redacted(place)
    assert segments.verify(str(place), anchor).findings == []
    name = journals.segments(place)[0].name
    forged = {**anchor, name: segments.Head(anchor[name].lines, "f" * 32)}
    assert [each.segment for each in segments.verify(str(place), forged).findings] == [name]


# ---- interrupted

ONE_REDACTION = textwrap.dedent(
    """
    import os, signal, sys
    from tenterhook.basics import places
    from tenterhook.journal import redact_stored, writer
    from tenterhook.journal.redacted_records import ByText
    left = int(sys.argv[2])
    def counted(function):
        def call(*arguments, **options):
            global left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)
        return call
    os.replace, os.fsync, os.utime, os.write = map(counted, (os.replace, os.fsync, os.utime, os.write))
    redact_stored.Redaction(sys.argv[1], ByText(sys.argv[3], "password")).run()
    """
)


def test_a_redaction_that_is_killed_anywhere_is_completed_by_the_next(
    home: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(place, monkeypatch)
    before = {each["session_id"] for each in journals.recorded(place)}
    anchor = segments.verify(str(place)).heads
    copy = home / "copy"
    shutil.copytree(place, copy)
    said = set()
    for calls in itertools.count():
        shutil.rmtree(place)
        shutil.copytree(copy, place)
        process = journals.start(ONE_REDACTION, str(place), str(calls), SECRET)
        process.communicate(timeout=HANG)
        found = {what for _, _, what in findings(place)}
        assert found <= {"its redaction is incomplete: run the same `log redact` again"}
        said.add((process.returncode, bool(found)))
        journals.write(place, journals.record(99))  # life goes on
        redacted(place)
        assert not is_anywhere()
        assert findings(place) == []
        assert segments.verify(str(place), anchor).findings == []
        assert {each["session_id"] for each in journals.recorded(place)} == {*before, "s-99"}
        assert not list(place.glob("*.new"))
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
    assert said == {(-signal.SIGKILL, False), (-signal.SIGKILL, True), (0, False)}


def test_redactions_that_are_killed_at_any_time_lose_nothing(
    home: Path, place: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(place, monkeypatch)
    before = {each["session_id"] for each in journals.recorded(place)}
    command = [sys.executable, "-m", "tenterhook", "log", "redact", "--stdin", "--yes"]
    for _ in range(6):
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdin is not None
        process.stdin.write(SECRET)
        process.stdin.close()
        time.sleep(random.uniform(0.1, 0.6))
        process.kill()
        process.wait(HANG)
        assert {what.partition(":")[0] for _, _, what in findings(place)} <= {"its redaction is incomplete"}
    assert subprocess.run(command, input=SECRET, text=True, capture_output=True, timeout=HANG).returncode == 0
    assert findings(place) == []
    assert not is_anywhere()
    assert {each["session_id"] for each in journals.recorded(place)} == before


def test_a_full_disk_leaves_an_incomplete_redaction_that_says_so(place: Path, project: Path) -> None:
    journals.write(place, with_secret(0, reason="x" * 900_000), journals.record(1))
    shutil.copytree(place, project / "copy")
    redacted(project / "copy")
    limit = (project / "copy" / "000001.jsonl").stat().st_size - 20  # enough for the record, not for the longer line

    def no_space() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-m", "tenterhook", "log", "redact", "--stdin", "--yes"]
    ended = subprocess.run(
        command,
        input=SECRET,
        text=True,
        capture_output=True,
        timeout=HANG,
        preexec_fn=no_space,
    )
    assert ended.returncode == 1
    assert "the redaction is incomplete: File too large" in ended.stderr
    assert "run the same command again" in ended.stderr
    assert findings(place) == [("000001.jsonl", 2, "its redaction is incomplete: run the same `log redact` again")]
    said = tenterhook("log", "verify")
    assert (said.returncode, "its redaction is incomplete" in said.stdout) == (1, True)
    redacted(place, kind="secret")
    assert findings(place) == []
    assert not is_anywhere()
    assert len(journals.recorded(place, "redaction")) == 1


def test_a_stopped_writer_with_the_lock_is_reported(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journals.write(place, with_secret(0))
    code = "import os,sys; d=os.open(sys.argv[1],os.O_RDWR); os.lockf(d,os.F_LOCK,0); print(1,flush=True); input()"
    holder = journals.start(code, str(place / "lock"))
    try:
        journals.line_of(holder)
        monkeypatch.setattr(redact_stored, "_LOCK_TIMEOUT", 0.1)
        with pytest.raises(TimeoutError):
            redacted(place)
        assert findings(place) == []
        assert is_anywhere()
    finally:
        holder.communicate("\n", timeout=HANG)
    redacted(place)
    assert not is_anywhere()
