"""Settings of agents as doctor reads them: what is missing or broken is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenterhook.agents.settings_files import disabled_hooks, read_json, read_toml

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("content", [None, b"", b"[1, 2]", b"3", b"{", b"\xff", b"[" * 100_000], ids=range(7))
def test_a_file_that_is_missing_broken_or_no_table_is_empty(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "settings"
    if content is not None:
        file.write_bytes(content)
    assert read_json(str(file)) == {}
    assert read_toml(str(file)) == {}


def test_comments_and_a_byte_order_mark_are_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_bytes(b'\xef\xbb\xbf{"a": 1, // mine\n}')
    (tmp_path / "config.toml").write_bytes(b"\xef\xbb\xbfa = 1 # mine\n")
    assert read_json(str(tmp_path / "settings.json")) == read_toml(str(tmp_path / "config.toml")) == {"a": 1}


@pytest.mark.parametrize("name", ["own.json", "project/settings.json", "project/settings.local.json", "managed.json"])
def test_hooks_are_switched_off_by_the_person_the_project_or_the_administrator(tmp_path: Path, name: str) -> None:
    (tmp_path / "project").mkdir()
    own, project, managed = (str(tmp_path / each) for each in ("own.json", "project", "managed.json"))
    assert disabled_hooks(own, project, managed) == []
    (tmp_path / name).write_text('{"disableAllHooks": true}')
    ((what, remedy),) = disabled_hooks(own, project, managed)
    assert str(tmp_path / name) in what
    assert remedy


def test_an_administrator_may_allow_only_hooks_that_are_managed(tmp_path: Path) -> None:
    (tmp_path / "managed.json").write_text('{"allowManagedHooksOnly": true}')
    ((what, remedy),) = disabled_hooks(str(tmp_path / "own.json"), str(tmp_path), str(tmp_path / "managed.json"))
    assert "every hook that is not in it" in what
    assert "administrator" in remedy
