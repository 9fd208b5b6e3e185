"""Whether there could be a rule or a hub: known without parsing, and never missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenterhook.approvals import configured
from tenterhook.basics import places

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's settings, elsewhere."""
    file = tmp_path / "managed.toml"
    monkeypatch.setattr(configured, "MANAGED", str(file))
    return file


@pytest.fixture
def settings(home: Path) -> Path:
    folder = home / ".config/tenterhook"
    folder.mkdir(parents=True)
    return folder


def test_without_files_there_is_neither(home: Path) -> None:
    assert not configured.is_any()
    assert not configured.is_joined()


def test_settings_without_approvals_have_no_rules(settings: Path) -> None:
    (settings / "config.toml").write_text("[journal]\nkeep_days = 3\n")
    assert not configured.is_any()


def test_rules_of_the_person_or_of_the_machine_are_seen(settings: Path, managed: Path) -> None:
    managed.write_text("[[approvals.rules]]\nanswer = 'deny'\n")
    assert configured.is_any()
    managed.unlink()
    (settings / "config.toml").write_text("[[approvals.rules]]\nanswer = 'ask'\n")
    assert configured.is_any()
    assert not configured.is_joined()


def test_a_file_that_cannot_be_read_may_have_rules(settings: Path) -> None:
    (settings / "config.toml").mkdir()
    assert configured.is_any()


def test_a_hub_that_was_joined_is_seen(settings: Path) -> None:
    (settings / "hub.json").write_text("broken")
    assert configured.is_joined()
    assert configured.is_any()


def test_a_question_that_a_hook_forced_concerns_its_session_alone(home: Path) -> None:
    assert not configured.concerns("s")
    places.make_private(configured.forced("s"))
    assert configured.concerns("s")
    assert not configured.concerns("t")
