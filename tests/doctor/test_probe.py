"""The canary, with shell scripts for agents: what counts as held, as not held, and as not tried."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from doctor.live.stand_in import ASK, StandIn
from install.installations import executable
from tenterhook.agents import protocol
from tenterhook.basics import places
from tenterhook.doctor import probe

if TYPE_CHECKING:
    from tenterhook.doctor.probe import ModeResult

CALL = ASK + 'command = __import__("json").loads(ask([])["tool_calls"][0]["function"]["arguments"])["command"]\n'


class Headless(StandIn):
    """A stand-in with settings and one mode."""

    title = "Stand-in"
    executables = ("stand-in",)
    directory = ".stand-in"
    headless_settings = ".stand-in/settings.json"
    modes = (protocol.MODES[0],)


def tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> ModeResult:
    """The one mode of an agent that is this shell script; `$PROGRAM` asks the model for `command`."""
    executable(tmp_path / "bin/stand-in", f'#!/bin/sh\ncat > call.py <<"END"\n{CALL}END\n{script}\n')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (found,) = probe.probe_modes(Headless(), None, timeout=30)
    return found


def test_an_agent_that_is_not_there_is_not_tried() -> None:
    (found,) = probe.probe_modes(Headless(), None, timeout=30)
    assert (found.held, found.what) == (None, "stand-in is not on the PATH")


def test_a_forbidden_command_that_ran_was_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = 'echo "import os; os.system(command)" >> call.py; python3 call.py "$URL"'
    found = tried(tmp_path, monkeypatch, runs)
    assert (found.held, found.what) == (False, "the forbidden command ran")


@pytest.mark.parametrize(
    ("result", "held", "says"),
    [
        ("{token} is forbidden", True, "was refused by a hook"),
        ("Tenterhook is gone (status 127)", True, "blocked because Tenterhook could not answer"),
        ("permission denied", None, "not because of our guard: permission denied"),
    ],
)
def test_what_the_model_is_told_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, result: str, held: bool | None, says: str
) -> None:
    tells = (
        f"""echo 'token = command.rpartition("/")[2]; ask([(1, f"{result}")])' >> call.py; python3 call.py "$URL" """
    )
    found = tried(tmp_path, monkeypatch, tells)
    assert found.held is held
    assert says in found.what


def test_an_agent_that_makes_no_call_is_not_tried_and_its_error_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tried(tmp_path, monkeypatch, "echo starting >&2; echo 'Error: no licence' >&2; exit 3")
    assert found.held is None
    assert found.what.endswith("made no tool call: it ended with status 3: Error: no licence")


def test_nothing_of_the_canary_is_left_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried(tmp_path, monkeypatch, "exit 0")
    left = [path for path in Path(places.state()).rglob("*") if path.is_file() and "canary" in path.read_text()]
    assert left == []
