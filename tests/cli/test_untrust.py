"""`tenterhook untrust`: hooks that were trusted do not run any more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, on_a_terminal, project_hooks
from tenterhook.catalog.trust import Trust

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


@pytest.fixture
def trust(project: Path, run: Run) -> Trust:
    """The trust of a project of which two hooks are trusted."""
    for name in ("one", "two"):
        folder_hook(project_hooks(project), name, "exit 2")
    assert run("trust", "--all", "--yes").status == 0
    return Trust(str(project))


def names(trust: Trust) -> list[str]:
    return sorted(map(os.path.basename, trust.keys()))


def test_one_by_its_name_and_the_rest_by_all(trust: Trust, run: Run) -> None:
    assert run("untrust", "one", "--yes").status == 0
    assert names(trust) == ["two"]
    assert run("untrust", "--all", "--yes").status == 0
    assert names(trust) == []
    assert run("untrust", "--all", "--yes").out == "nothing was trusted here\n"


def test_a_name_that_is_not_trusted_takes_no_other_back(trust: Trust, run: Run) -> None:
    ended = run("untrust", "one", "three", "--yes")
    assert ended.status == 1
    assert "'three' is not trusted" in ended.err
    assert "trusted here: " in ended.err
    assert names(trust) == ["one", "two"]


def test_on_a_terminal_each_is_asked_for(trust: Trust) -> None:
    question = b"Untrust "
    status, seen = on_a_terminal(["untrust", "one"], {question: b"n\n"})
    assert (status, names(trust)) == (0, ["one", "two"]), seen
    on_a_terminal(["untrust", "one"], {question: b"\n"})
    assert names(trust) == ["two"]
