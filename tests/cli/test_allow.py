"""`tenterhook allow`: what it lists, shows, permits and says; through agents' lines: dispatch/test_allow.py."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from support import on_a_terminal
from tenterhook.approvals import single_use
from tenterhook.approvals.requests import Call
from tenterhook.basics import agent_marks, processes

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

CALL = Call("Bash", {"command": "git push --force"}, "/p", session_id="s", agent="codex")


@pytest.fixture
def name(home: Path) -> str:
    name = single_use.record(CALL, "it overwrites what others pushed")
    assert name is not None
    return name


def state(name: str) -> str:
    found = single_use.find(name)
    assert found is not None
    return found.state


def test_without_an_id_it_lists_what_waits(run: Run, name: str) -> None:
    listed = run("allow")
    assert listed.status == 0
    assert name in listed.out
    assert "git push --force" in listed.out
    (waiting,) = json.loads(run("allow", "--json").out)["waiting"]
    assert {key: waiting[key] for key in ("id", "state", "agent", "session_id", "work_dir")} == {
        "id": name,
        "state": "asked",
        "agent": "codex",
        "session_id": "s",
        "work_dir": "/p",
    }
    assert waiting["tool_input"] == CALL.tool_input


def test_with_nothing_to_list_it_says_so(run: Run, home: Path) -> None:
    assert "no call was refused" in run("allow").out
    assert json.loads(run("allow", "--json").out) == {"schema": 1, "waiting": []}


def test_a_person_sees_the_whole_call_before_it_is_allowed(name: str) -> None:
    status, seen = on_a_terminal(["allow", name], {b"Allow it once?": b"y\n"})
    assert status == 0
    for shown in (b"git push --force", b"codex", b"/p", b"it overwrites what others pushed", b"allowed once, until"):
        assert shown in seen
    assert state(name) == single_use.ALLOWED


def test_no_is_the_default(name: str) -> None:
    status, _ = on_a_terminal(["allow", name], {b"Allow it once?": b"\n"})
    assert (status, state(name)) == (1, single_use.ASKED)


def test_without_a_terminal_it_needs_yes(run: Run, name: str) -> None:
    ended = run("allow", name)
    assert (ended.status, state(name)) == (1, single_use.ASKED)
    assert "needs confirmation" in ended.err
    assert "no refused call has the ID 'zzzzzzzz'" in run("allow", "zzzzzzzz").err


def test_capital_letters_do_not_matter(run: Run, name: str) -> None:
    assert run("allow", name.upper(), "--yes").status == 0


def test_for_programs_it_prints_until_when(run: Run, name: str) -> None:
    printed = json.loads(run("allow", name, "--yes", "--json").out)
    assert (printed["id"], printed["state"]) == (name, "allowed")
    assert 590 < printed["until"] - time.time() <= 600


def test_allowed_twice_is_allowed_once(run: Run, name: str) -> None:
    assert [run("allow", name, "--yes").status for _ in range(2)] == [0, 0]
    assert len([each for each in single_use.waiting() if each.id == name]) == 0


@pytest.mark.parametrize("given", ["zzzzzzzz", "../../x", "a.b", ""])
def test_an_unknown_id_is_refused(run: Run, name: str, given: str) -> None:
    ended = run("allow", given, "--yes")
    assert ended.status == 1
    assert f"no refused call has the ID {given!r}" in ended.err
    assert "`tenterhook allow` lists" in ended.err


def test_a_used_id_says_when_it_was_used(run: Run, name: str) -> None:
    run("allow", name, "--yes")
    allowed = single_use.allowed(CALL)
    assert allowed is not None
    assert single_use.use(allowed)
    ended = run("allow", name, "--yes")
    assert ended.status == 1
    assert f"{name} was used at" in ended.err


def test_an_old_id_is_refused_with_what_to_do(run: Run, home: Path, name: str) -> None:
    for file in (home / ".local/state/tenterhook/single-use").iterdir():
        os.utime(file, (time.time() - 4000,) * 2)
    ended = run("allow", name, "--yes")
    assert ended.status == 1
    assert f"{name} has expired" in ended.err
    assert "let the agent retry it" in ended.err


def test_it_is_refused_below_an_agent(run: Run, name: str) -> None:
    agent_marks.mark(processes.this())
    for arguments in ((), (name, "--yes")):
        assert "an agent that Tenterhook guards" in run("allow", *arguments).err
    assert state(name) == single_use.ASKED


def test_control_characters_are_written_out(run: Run, home: Path) -> None:
    single_use.record(CALL._replace(tool_input={"command": "ls \x1b[8m; rm x"}), None)
    assert "\x1b" not in run("allow").out
