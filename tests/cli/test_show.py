"""`tenterhook show`: one hook with its text and script, or one event with its fields."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support import (
    folder_hook,
    project_hooks,
)
from tenterhook.events import EVENTS

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


def test_show_prints_a_hook_with_body_and_script(blocker: Path, project: Path, run: Run) -> None:
    text = run("show", "blocker").out
    assert "# blocker" in text
    assert "echo 'not here'" in text
    (shown,) = json.loads(run("show", "blocker", "--json").out)["hooks"]
    assert shown["body"].strip() == "# blocker"
    assert "exit 2" in shown["script_text"]


@pytest.mark.parametrize("spec", EVENTS, ids=lambda spec: spec.name)
def test_show_prints_an_event(project: Path, spec: Any, run: Run) -> None:
    shown = json.loads(run("show", spec.names[-1], "--json").out)["event"]
    assert shown["names"] == list(spec.names)
    assert {*shown["fields"]} - {"mcp_names", "tool_kind"} <= {*shown["example"]}  # which is of a shell
    assert set(shown["array_fields"]) <= set(shown["array_example"])
    assert shown["block"]


def test_what_is_neither_is_an_error(project: Path, run: Run) -> None:
    ended = run("show", "nothing")
    assert ended.status == 1
    assert "no hook and no event" in ended.err
    assert "hooks: tenterhook list; events: use one of pre-session," in ended.err


def test_a_similar_hook_or_event_is_suggested(project: Path, run: Run) -> None:
    folder_hook(project_hooks(project), "guard")
    assert "did you mean 'guard'?" in run("show", "guarb").err
    assert "events: did you mean 'pre-tool-call'" in run("show", "pre-tool-cal").err
    assert "did you mean" not in run("show", "nope").err


def test_what_cannot_be_seen_is_written_out(project: Path, run: Run) -> None:
    script = folder_hook(project_hooks(project), "guard") / "scripts/run.sh"
    script.write_bytes(b"#!/bin/sh\n# one\rtwo\fthree\xe9\n" + b"# more\n" * 50_000 + b"exit 7\n")
    shown = run("show", "guard").out
    assert "# one\\rtwo\\x0cthree\\xe9\n" in shown
    assert shown.endswith("exit 7\n\n")
