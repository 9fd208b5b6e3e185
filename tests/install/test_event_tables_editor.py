"""Entries in TOML files with a table for each event."""

from __future__ import annotations

import tomllib

import pytest

from tenterhook.formats.own_entries import is_own_entry
from tenterhook.install import event_tables_editor as editor
from tenterhook.install.text_edits import EditRefused

LINE = 't=/etc/tenterhook/launcher.sh; [ ! -f "$t" ] || /bin/sh "$t" codex PreToolUse open'
ENTRY = {"hooks": [{"type": "command", "command": LINE, "timeout": 600}]}
ENTRIES = {"PreToolUse": ENTRY}
BESIDE = {"features": {"hooks": True}}

TEXTS = {
    "nothing": b"",
    "a key": b'allowed_sandbox_modes = ["read-only"]\n',
    "without a line break at its end": b'allowed_sandbox_modes = ["read-only"]',
    "with Windows line breaks": b"a = 1\r\nb = 2\r\n",
    "with a mark at its start": b"\xef\xbb\xbfa = 1\n",
    "with hooks of others": b'[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "other"\n',
    "with a folder of hooks": b'[hooks]\nmanaged_dir = "/etc/hooks"\n',
    "with the feature": b"[features]\nhooks = true\n# the end\n",
    "with a value that is not equal to itself": b"a = nan\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_entries_are_added_and_removed_byte_for_byte(text: bytes) -> None:
    edited = editor.with_entries(text, ENTRIES, is_own_entry, frozenset(), BESIDE)
    document = tomllib.loads(edited.text.decode("utf-8-sig"))
    assert document["features"]["hooks"] is True
    assert ENTRY in document["hooks"]["PreToolUse"]
    assert editor.entries_of(edited.text, is_own_entry) == {"PreToolUse": [ENTRY]}
    assert editor.with_entries(edited.text, ENTRIES, is_own_entry, edited.created, BESIDE).text == edited.text
    assert editor.without_entries(edited.text, is_own_entry, edited.created) == text


def test_other_entries_replace_those_that_were_there() -> None:
    first = editor.with_entries(b"a = 1\n", ENTRIES, is_own_entry, frozenset(), BESIDE)
    second = editor.with_entries(first.text, {"SessionStart": ENTRY}, is_own_entry, first.created, BESIDE)
    assert editor.entries_of(second.text, is_own_entry) == {"SessionStart": [ENTRY]}
    assert editor.without_entries(second.text, is_own_entry, second.created) == b"a = 1\n"


def test_what_was_written_behind_our_block_stays() -> None:
    edited = editor.with_entries(b"a = 1\n", ENTRIES, is_own_entry, frozenset(), BESIDE)
    assert editor.without_entries(edited.text + b"[more]\nb = 2\n", is_own_entry) == b"a = 1\n[more]\nb = 2\n"


@pytest.mark.parametrize("text", [b"[features]\nhooks = false\n", b"[features]\nother = true\n", b"features = 1\n"])
def test_a_table_without_what_managed_hooks_need_is_refused(text: bytes) -> None:
    with pytest.raises(EditRefused, match="hooks = true") as refused:
        editor.with_entries(text, ENTRIES, is_own_entry, frozenset(), BESIDE)
    assert "features" in refused.value.remedy


@pytest.mark.parametrize("text", [b"hooks = { PreToolUse = [] }\n", b"hooks = []\n"])
def test_hooks_that_take_no_more_tables_are_refused(text: bytes) -> None:
    with pytest.raises(EditRefused, match="no tables can be added"):
        editor.with_entries(text, ENTRIES, is_own_entry, frozenset(), BESIDE)


def test_what_is_not_toml_is_refused_with_its_line() -> None:
    with pytest.raises(EditRefused, match="line 2"):
        editor.with_entries(b"a = 1\nb =\n", ENTRIES, is_own_entry)


def test_entries_outside_of_our_markers_are_refused() -> None:
    edited = editor.with_entries(b"", ENTRIES, is_own_entry)
    unmarked = b"\n".join(line for line in edited.text.split(b"\n") if not line.startswith(b"#"))
    with pytest.raises(EditRefused, match="not between our markers"):
        editor.without_entries(unmarked, is_own_entry)
