"""`tenterhook inbox` where there is no hub or no terminal; with a hub: hub_client/test_inbox_client.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import tenterhook
from tenterhook.basics import agent_marks, processes

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

NOBODY = "http://127.0.0.1:1"


def test_the_screen_needs_a_terminal_and_names_the_commands_for_scripts(run: Run) -> None:
    ended = run("inbox")
    assert (ended.status, ended.out) == (1, "")
    assert "needs a terminal" in ended.err
    assert "tenterhook inbox list, approve, deny" in ended.err


def test_an_answer_without_a_terminal_needs_yes(run: Run) -> None:
    for command in ("approve", "deny"):
        ended = run("inbox", command, "last")
        assert ended.status == 1
        assert f"'tenterhook inbox {command}' needs confirmation" in ended.err


def test_an_empty_id_answers_nothing(run: Run) -> None:
    ended = run("inbox", "approve", "", "--yes")
    assert ended.status == 64
    assert "which request?" in ended.err


@pytest.mark.parametrize("text", ["", "two words", "ünïcode"])
def test_what_is_no_token_is_refused_before_the_hub_is_asked(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "token").write_text(text)
    ended = run("inbox", "sign-in", NOBODY, "--token-file", tmp_path / "token", "--yes")
    assert ended.status == 1
    assert "there is no token in this file" in ended.err


def test_an_agent_that_is_guarded_may_not_answer_for_its_person() -> None:
    agent_marks.mark(processes.this())
    for arguments in (("approve", "last", "--yes"), ("sign-in", NOBODY, "--yes")):
        ended = tenterhook("inbox", *arguments)
        assert ended.returncode == 1
        assert "an agent that Tenterhook guards" in ended.stderr
