"""`tenterhook log`: what is printed of records; filters and figures: journal/test_log.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from journal import journals

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


def written(home: Path, **fields: Any) -> None:
    journals.write(journals.folder(home), journals.record(**fields))


def test_without_records_it_says_when_they_begin(project: Path, run: Run) -> None:
    assert run("log").out == "nothing recorded yet: the next event will be\n"
    assert run("log", "--hook", "guard").out == "nothing recorded that matches\n"
    assert run("log", "--json").out == ""
    assert "nothing recorded in shadow mode in the last 7d" in run("log", "stats", "--shadow").out


def test_an_event_is_shown_with_its_decision_subject_and_hooks(home: Path, project: Path, run: Run) -> None:
    runs = [journals.run("guard", "blocked", reason="not here"), journals.run("slow", "timed_out", why="after 5 s")]
    written(home, decision="deny", reason="not here", work_dir=f"{home}/project", runs=runs)
    head, subject, guard, slow = run("log").out.splitlines()
    assert head.endswith("  pre-tool-call Shell  deny  not here  (library)")
    assert subject == "    ~/project  echo 0"
    assert guard.split()[:2] == ["guard", "blocked"]
    assert "not here" not in guard  # it was told above
    assert slow.split()[:3] == ["slow", "timed", "out"]
    assert slow.endswith("after 5 s")


def test_an_approval_says_who_answered_and_after_how_long(home: Path, project: Path, run: Run) -> None:
    written(home, type="approval", decision="approved", answered_by="alice", scope="session", waited_ms=1500.0, runs=[])
    assert "approval Shell  approved for the session by alice after 1.5 s" in run("log").out


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"decision": "deny", "answered_by": "nobody"}, "denied: nobody could be asked"),
        ({"decision": "deny", "answered_by": "nobody", "waited_ms": 60_000.0}, "denied: nobody answered after 60.0 s"),
        ({"decision": "approve", "answered_by": "allow"}, "approved with tenterhook allow"),
        ({"decision": "approve", "answered_by": "rule"}, "approved by a rule"),
        ({"decision": "deny", "answered_by": "alice (hub)", "waited_ms": 1500.0}, "denied by alice (hub) after 1.5 s"),
        ({"decision": "none", "waited_ms": 1500.0}, "no answer after 1.5 s"),
    ],
)
def test_an_approval_is_shown_in_plain_words(
    home: Path, project: Path, run: Run, fields: dict[str, Any], shown: str
) -> None:
    written(home, **{"type": "approval", "reason": "it asks\nabout it", "waited_ms": 0.0, "runs": [], **fields})
    assert run("log").out.splitlines()[0].endswith(f"  approval Shell  {shown}  it asks about it  (library)")


def test_an_anchor_is_kept_elsewhere_and_shows_a_cut_off_tail(home: Path, project: Path, run: Run) -> None:
    for _ in range(2):
        written(home)
    anchor = project / "anchor.json"
    anchor.write_text(run("log", "anchor").out)
    assert run("log", "verify", "--anchor", anchor).status == 0
    (segment,) = journals.segments(journals.folder(home))
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:-1]))
    assert run("log", "verify").status == 0
    ended = run("log", "verify", "--anchor", anchor, "--json")
    assert (ended.status, len(json.loads(ended.out)["findings"])) == (1, 1)


@pytest.mark.parametrize("text", ["", "[]", '{"heads": {"000001": {}}}'])
def test_a_file_that_is_no_anchor_is_wrong_usage(project: Path, run: Run, text: str) -> None:
    (project / "anchor.json").write_text(text)
    ended = run("log", "verify", "--anchor", "anchor.json")
    assert ended.status == 64
    assert "anchor.json is not the output of `tenterhook log anchor`" in ended.err
