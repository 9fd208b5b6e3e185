"""`tenterhook replay`: what is printed of the differences, and the exit status."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from journal import journals
from support import folder_hook, user_hooks

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


@pytest.fixture(autouse=True)
def recorded(home: Path, project: Path) -> None:
    """Two events that were blocked, and one of which only a part was recorded."""
    runs = [journals.run("guard", "blocked", 1000.0)]
    blocked = [journals.record(number, work_dir=str(project), decision="deny", runs=runs) for number in range(2)]
    journals.write(journals.folder(home), *blocked, journals.record(2, work_dir=str(project), payload="none"))


def test_no_difference_is_status_zero(home: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    said = "2 events replayed: no difference; 1 more recorded only in part, not compared\n"
    assert run("replay") == (0, said, "")


def test_differences_are_listed_by_kind_and_status_is_one(home: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 0")
    ended = run("replay")
    lines = ended.out.splitlines()
    assert (ended.status, lines[0]) == (1, "no longer blocked: 2")
    assert all("deny → none  echo " in line for line in lines[1:3])
    assert run("replay", "--session", "s-1").out.splitlines()[0] == "no longer blocked: 1"
    found = json.loads(run("replay", "--json").out)
    assert (found["events"], found["not_comparable"], len(found["differences"])) == (2, 1, 2)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--hook", "guard", "--with", "."], 64, "cannot be combined"),
        (["--event", "no-such-event"], 64, "no-such-event"),
        (["--since", "soon"], 64, "--since soon"),
        (["--with", "nowhere"], 1, "No such file or directory"),
        (["--hook", "unheard-of"], 1, "no hook 'unheard-of' is in force"),
    ],
)
def test_what_cannot_be_replayed_is_said(run: Run, arguments: list[str], status: int, said: str) -> None:
    ended = run("replay", *arguments)
    assert (ended.status, ended.out) == (status, "")
    assert said in ended.err
