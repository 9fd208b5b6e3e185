"""Recorded events fired once more: which differences are told, and which events cannot be compared."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from journal import journals
from support import folder_hook, user_hooks
from tenterhook.authoring import replay
from tenterhook.authoring.replay import Candidate
from tenterhook.basics.redaction import MARK
from tenterhook.errors import HookError
from tenterhook.journal.records import CANARY

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("project")


def record(**fields: Any) -> dict[str, Any]:
    """A record of an event in the project."""
    return journals.record(**{"work_dir": os.getcwd(), **fields})


def replayed(*records: dict[str, Any], **candidate: Any) -> list[tuple[str, str | None, str, str]]:
    found = replay.replay(records, Candidate(**candidate))
    return [(each.kind, each.hook, each.before, each.after) for each in found.differences]


def test_a_hook_that_does_the_same_makes_no_difference(home: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    blocked = record(decision="deny", runs=[journals.run("guard", "blocked", 1000.0)])
    assert replayed(blocked) == []


@pytest.mark.parametrize(
    ("script", "before", "expected"),
    [
        ("exit 2", "no_decision", ("newly blocked", None, "none", "deny")),
        ("exit 0", "blocked", ("no longer blocked", None, "deny", "none")),
        ("exit 1", "no_decision", ("newly failing", "guard", "no_decision", "failed: exit 1")),
        ("exit 0", "failed", ("no longer failing", "guard", "failed", "no_decision")),
    ],
)
def test_a_hook_that_decides_otherwise_is_told(home: Path, script: str, before: str, expected: tuple[str, ...]) -> None:
    folder_hook(user_hooks(home), "guard", script)
    decision = "deny" if before == "blocked" else "none"
    event = record(decision=decision, runs=[journals.run("guard", before, 1000.0)])
    assert replayed(event) == [expected]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("[redacted]", []),
        (None, [("decided otherwise", None, "another output", "modified output")]),
        ("[removed]", [("decided otherwise", None, "another output", "modified output")]),
        (f"a {MARK}", []),
    ],
    ids=["same", "none", "another", "not comparable"],
)
def test_a_hook_that_replaces_the_output_otherwise_is_told(
    home: Path, before: str | None, expected: list[tuple[str, ...]]
) -> None:
    folder_hook(user_hooks(home), "redact", """echo '{"modified_output": "[redacted]"}'""", "post-tool-call")
    about = {
        "event": "post-tool-call",
        "event_name": "post-tool-call",
        "fields": {"tool_name": "x", "tool_output": "o"},
    }
    event = record(**about, modified_output=before, runs=[journals.run("redact", "no_decision", 1000.0)])
    assert replayed(event) == expected


def test_a_candidate_is_compared_with_the_hook_alone(home: Path, tmp_path: Path) -> None:
    folder_hook(user_hooks(home), "other", "exit 2")
    folder_hook(tmp_path / "new", "guard", "exit 2")
    event = record(runs=[journals.run("guard", "no_decision", 1000.0)])
    assert replayed(event, directory=str(tmp_path / "new")) == [("newly blocked", "guard", "no_decision", "blocked")]
    with pytest.raises(HookError, match="no hook 'guard'"):
        replayed(event, hook="guard")
    with pytest.raises(HookError, match="no hook"):
        replayed(event, directory=str(tmp_path))


@pytest.mark.parametrize(
    "fields",
    [{"payload": "none"}, {"payload": "cut"}, {"fields": None}, {"payload": "redacted", "fields": {"prompt": MARK}}],
)
def test_an_event_of_which_only_a_part_was_recorded_is_counted_apart(home: Path, fields: dict[str, Any]) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    found = replay.replay([record(**fields), record()], Candidate())
    assert (found.events, found.not_comparable) == (1, 1)


def test_hooks_run_elsewhere_and_know_it_and_nothing_of_that_stays(home: Path, project: Path, tmp_path: Path) -> None:
    script = f'env >{tmp_path}/env; pwd >{tmp_path}/pwd; : >"$TENTERHOOK_STATE_DIR/x"'
    folder_hook(user_hooks(home), "guard", script)
    before = dict(os.environ)
    replayed(record())
    assert "TENTERHOOK_REPLAY=1" in (tmp_path / "env").read_text().splitlines()
    place = (tmp_path / "pwd").read_text().strip()
    assert place != str(project)
    assert not os.path.exists(place)
    assert not (home / ".local/state/tenterhook/hooks").exists()
    assert dict(os.environ) == before


def test_the_canary_of_doctor_is_not_replayed() -> None:
    assert replay.is_replayed(record())
    assert not replay.is_replayed(record(runs=[journals.run(CANARY, "blocked")]))
    assert not replay.is_replayed({"type": "approval"})
