"""`tenterhook hub join`, `leave` and `status` where no hub answers; with one: hub_client/test_join_command.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tenterhook.approvals import configured

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

NOBODY = "http://127.0.0.1:1"


@pytest.fixture
def token(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text("agent-token\n")
    return file


def test_a_hub_that_does_not_answer_is_not_joined(run: Run, token: Path) -> None:
    ended = run("hub", "join", NOBODY, "--token-file", token, "--yes")
    assert (ended.status, ended.out) == (1, "")
    assert not configured.is_joined()


@pytest.mark.parametrize("text", ["", "\n", "two words", "ünïcode", "a\x1bb"])
def test_what_is_no_token_is_refused_before_the_hub_is_asked(run: Run, token: Path, text: str) -> None:
    token.write_text(text)
    ended = run("hub", "join", NOBODY, "--token-file", token, "--yes")
    assert ended.status == 1
    assert "no token was given" in ended.err
    assert "tenterhook hub token add" in ended.err


@pytest.mark.parametrize("url", ["hub.example.org", "ftp://hub.example.org", "http://user:secret@hub.example.org"])
def test_what_is_no_address_is_refused(run: Run, token: Path, url: str) -> None:
    ended = run("hub", "join", url, "--token-file", token, "--yes")
    assert ended.status == 1
    assert not configured.is_joined()


def test_without_a_hub_status_and_leave_say_so(run: Run) -> None:
    said = json.loads(run("hub", "status", "--json").out)
    assert said == {"schema": 1, "running": None, "background": False, "joined": False}
    assert "this machine has not joined a hub" in run("hub", "status").out
    for options in ((), ("--yes",), ("-y",)):
        assert run("hub", "leave", *options) == (0, "this machine has not joined a hub\n", "")
