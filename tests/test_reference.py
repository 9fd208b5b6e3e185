"""The generated pages are what would be generated now, and leave nothing out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenterhook.errors import CODES
from tenterhook.events import EVENTS
from tools import reference
from tools.reference import commands, promises, words
from tools.reference.remedies import REMEDIES

PAGES = reference.pages()


@pytest.mark.parametrize("file", PAGES, ids=lambda file: Path(file).name)
def test_the_page_is_current(file: Path) -> None:
    assert file.read_text() == PAGES[file], f"what it is made from has changed: {reference.COMMAND}"


def test_every_problem_has_a_remedy_and_no_other() -> None:
    assert set(REMEDIES) == set(CODES)


def test_every_event_and_every_field_has_its_sentence() -> None:
    assert list(words.WHEN) == [spec.name for spec in EVENTS]
    sources = {source for spec in EVENTS for column in spec.columns for source in column.sources}
    assert set(words.FIELDS) == sources | {field for spec in EVENTS for field in spec.fields}


def test_no_key_is_without_a_meaning() -> None:
    text = PAGES[reference.DOCS / "formats.md"].partition("\n## What every hook is sent\n")[0]
    assert text.count("\n| `") > 70
    assert [line for line in text.splitlines() if line.startswith("| `") and line.endswith("|  |")] == []


def test_every_command_is_on_the_page() -> None:
    from tenterhook.cli import _COMMANDS

    text = commands.page()
    assert all(f"\n## tenterhook {name}\n" in text for name in _COMMANDS)
    assert "\n#### tenterhook hub token add\n" in text


def test_every_promise_names_its_opponent_and_says_what_is_promised() -> None:
    found = promises.promises()
    assert len(found) > 10
    assert {promise.opponent for promise in found} <= set(promises.OPPONENTS)
    assert [promise for promise in found if not promise.text] == []
    page = promises.PAGE.read_text()
    assert all(f"<!-- promises: {opponent} -->" in page for opponent in promises.OPPONENTS)
