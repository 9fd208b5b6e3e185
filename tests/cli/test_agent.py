"""`tenterhook agent`: exit statuses and sessions; what happens in a session: tests/bundled_agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


@pytest.fixture
def script(project: Path) -> str:
    file = project / "session.yaml"
    file.write_text(json.dumps({"answers": [{"text": "Done."}]}))
    return f"scripted:{file}"


def test_one_prompt_is_one_turn_and_its_session_is_listed(script: str, run: Run) -> None:
    ended = tenterhook("agent", "go", "--model", script, "--mode", "yolo", "--json")
    said = json.loads(ended.stdout)
    assert (ended.returncode, said["outcome"], said["answer"]) == (0, "success", "Done.")
    (session,) = json.loads(run("agent", "--sessions", "--json").out)["sessions"]
    assert said["session_id"] in session.values()
    assert said["session_id"] in run("agent", "--sessions").out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--sessions", "go"], 64, "cannot be combined"),
        (["--sessions", "--resume"], 64, "cannot be combined"),
        ([" "], 64, "the prompt is empty"),
        (["go", "--mode", "nope"], 64, "--mode"),
        (["go", "--resume"], 1, "there is no session in"),
        (["go", "--model", "scripted:nowhere.yaml"], 1, "nowhere.yaml"),
    ],
)
def test_what_cannot_be_run_is_said(project: Path, run: Run, arguments: list[str], status: int, said: str) -> None:
    ended = run("agent", *arguments)
    assert (ended.status, ended.out) == (status, "")
    assert said in ended.err


def test_where_no_session_was_it_says_how_to_start_one(project: Path, run: Run) -> None:
    assert run("agent", "--sessions").out == f"no sessions in {project}; start one: tenterhook agent\n"
