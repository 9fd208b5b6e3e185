"""`hooks.toml` is edited without touching what is not about the hook."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from tenterhook.errors import HookError
from tenterhook.install import hooks_toml

if TYPE_CHECKING:
    from pathlib import Path

UNTIL = datetime(2999, 1, 2, 3, 4, 5, tzinfo=UTC)
FILES = {
    "empty table": "[hooks]\n",
    "comments, no end of line": "# mine\n[hooks]\nenabled = true # yes\n\n[[hooks.override]]\nname = 'x'\npriority = 7",
    "windows": "[hooks]\r\nenabled = true\r\n[hooks.defaults]\r\ntimeout = 500\r\n",
    "byte order mark": "\ufeff[hooks]\nenabled = true\n",
    "another entry": "[[hooks.disable]]\nname = 'other'\n\n[[hooks.override]]\nname = 'x'\npriority = 7\n",
    "quoted header": '[["hooks".\'disable\']]\nname = "other"\n',
    "inline array": "[hooks]\ndisable = [{ name = 'other' }] # these\n",
    "inline array over lines": "[hooks]\ndisable = [\n    { name = 'other' },  # why\n]\nenabled = true\n",
    "empty inline array": "[hooks]\ndisable = []\nenabled = true\n",
    "dotted": "hooks.enabled = true\nhooks.disable = [{name = 'other'}]\n",
    "dotted without entries": "hooks.enabled = true\n",
    "a text like a header": "[hooks]\n[hooks.defaults]\n[other]\ntext = '''\n[[hooks.disable]]\nname = 'x'\n'''\n",
    "another table": "[tool]\nhooks = []\n[tool.hooks2]\ndisable = 1\n",
}


def entries(file: Path) -> list[Any]:
    found: list[Any] = tomllib.loads(file.read_bytes().decode("utf-8-sig")).get("hooks", {}).get("disable", [])
    return found


@pytest.mark.parametrize("before", FILES.values(), ids=FILES)
@pytest.mark.parametrize("until", [None, UNTIL], ids=["for good", "for a while"])
def test_what_is_disabled_is_enabled_again_to_the_byte(tmp_path: Path, before: str, until: datetime | None) -> None:
    file = tmp_path / "hooks.toml"
    file.write_bytes(before.encode())
    file.chmod(0o640)
    known = entries(file)
    assert hooks_toml.disable(str(file), 'odd "name" ü', until)
    wanted = {"name": 'odd "name" ü', **({"until": until} if until else {})}
    assert entries(file) == [*known, wanted]
    assert not hooks_toml.disable(str(file), 'odd "name" ü', until)
    assert hooks_toml.enable(str(file), 'odd "name" ü')
    assert file.read_bytes() == before.encode()
    assert file.stat().st_mode & 0o777 == 0o640
    assert not hooks_toml.enable(str(file), 'odd "name" ü')


def test_disabling_again_changes_the_entry_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "hooks.toml"
    text = "[[hooks.disable]]\nname = 'one'\n# about two\n[[hooks.disable]]\nname = 'two'\n"
    file.write_text(text)
    assert hooks_toml.disable(str(file), "one", UNTIL)
    assert entries(file) == [{"name": "one", "until": UNTIL}, {"name": "two"}]
    assert "# about two\n" in file.read_text()
    assert hooks_toml.disable(str(file), "one")
    assert entries(file) == [{"name": "one"}, {"name": "two"}]


def test_a_file_that_was_made_is_removed_again_and_every_entry_of_a_name_goes(tmp_path: Path) -> None:
    file = tmp_path / "new" / "hooks.toml"
    assert hooks_toml.disable(str(file), "one")
    assert file.read_text() == '[[hooks.disable]]\nname = "one"\n'
    file.write_text(file.read_text() * 3)
    assert hooks_toml.enable(str(file), "one")
    assert not file.exists()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.toml", tmp_path / "hooks.toml"
    real.write_text("[hooks]\n")
    link.symlink_to(real)
    assert hooks_toml.disable(str(link), "one")
    assert link.is_symlink()
    assert entries(real) == [{"name": "one"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[hooks\n", "line 1: not TOML"),
        ("x = 1\nhooks = { enabled = true }\n", "line 2: `hooks.disable` is written in a form that cannot be edited"),
        ("[hooks.disable]\nname = 'x'\n", "not an array of tables"),
        ("[[hooks]]\nevent = 'Stop'\n", "not an array of tables"),
        ("[hooks]\ndisable = ['x']\n", "not an array of tables"),
    ],
)
def test_what_cannot_be_edited_is_refused_and_stays(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "hooks.toml"
    file.write_text(text)
    with pytest.raises(HookError, match=said):
        hooks_toml.disable(str(file), "one")
    assert file.read_text() == text


def test_a_time_in_any_zone_is_written(tmp_path: Path) -> None:
    file = tmp_path / "hooks.toml"
    until = datetime(2999, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2), "somewhere"))
    assert hooks_toml.disable(str(file), "one", until)
    assert [entry["until"] == until for entry in entries(file)] == [True]
    assert hooks_toml.enable(str(file), "one")
    assert not file.exists()
