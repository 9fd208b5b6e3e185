"""TOML settings are edited without touching what is not ours."""

from __future__ import annotations

import re
from typing import Any

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from install.editors import DATA, NOT_RESTORABLE, TOML, hook, is_ours, ours, toml_value
from install.generated_settings import toml_texts
from tenterhook.install import text_edits, toml_editor

ENTRIES, OTHERS = TOML.entries, TOML.others
entry_sets = st.lists(
    st.builds(hook, st.sampled_from(["Stop", "PreToolUse"]), st.text(st.characters(codec="utf-8"), max_size=4)),
    max_size=3,
)


@settings(max_examples=200, deadline=None)
@given(toml_texts(), entry_sets, entry_sets)
def test_any_file_can_be_edited_and_taken_back(
    before: bytes, entries: list[dict[str, Any]], others: list[dict[str, Any]]
) -> None:
    try:
        TOML.check_replaced(TOML.check(before, entries), before, others)
    except text_edits.EditRefused as error:
        inline = re.search(rb"^(?:\xef\xbb\xbf)?hooks = \[", before, re.MULTILINE)
        assert inline, "a file without an inline array is never refused"
        assert "[[hooks]]" in error.remedy


@pytest.mark.parametrize("name", NOT_RESTORABLE)
def test_an_inline_array_that_could_not_be_restored_is_refused(name: str) -> None:
    text = (DATA / f"{name}.toml").read_bytes()
    with pytest.raises(
        text_edits.EditRefused, match="line 1: `hooks` is written in a form that cannot be edited and restored"
    ):
        toml_editor.with_entries(text, ENTRIES, is_ours)


def test_a_new_file_is_tidy() -> None:
    edited = toml_editor.with_entries(b"", [{"event": "Stop", "command": "exec tenterhook", "timeout": 5}], is_ours)
    assert edited.text.decode().split("\n") == [
        toml_editor.START,
        "[[hooks]]",
        'event = "Stop"',
        'command = "exec tenterhook"',
        "timeout = 5",
        toml_editor.END,
        "",
    ]
    assert edited.created == {text_edits.FILE}


def test_hooks_are_found_again_without_the_comment() -> None:
    edited = toml_editor.with_entries(b"a = 1\n", ENTRIES, is_ours)
    bare = edited.text.replace(toml_editor.START.encode() + b"\n", b"")
    assert toml_editor.without_entries(bare, is_ours, edited.created) == b"a = 1\n"


def test_hooks_are_found_again_in_the_other_form() -> None:
    inline = b"a = 1\nhooks = [{command = 'exec tenterhook x'}, {command = 'exec tenterhook y'}]\n[b]\n"
    assert toml_editor.without_entries(inline, is_ours) == b"a = 1\nhooks = []\n[b]\n"


VERSION_0_1 = """\
# Written by `tenterhook install`; `tenterhook uninstall` takes it out again.
[[hooks]]
event = "Stop"
command = "exec tenterhook 'x' \\"y\\""
timeout = 600

[[hooks]]
event = "PreToolUse"
command = "exec tenterhook"
timeout = 600
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("before", ["", "a = 1\n", "a = 1\n\n# mine\n", "[[hooks]]\ncommand = 'theirs'\n"])
def test_hooks_of_version_0_1_are_removed_to_the_byte_and_upgraded(before: str, newline: str) -> None:
    text, old = (
        each.replace("\n", newline).encode() for each in (before, before + ("\n" if before else "") + VERSION_0_1)
    )
    assert toml_editor.without_entries(old, is_ours) == text
    upgraded = toml_editor.with_entries(old, OTHERS, is_ours)
    assert ours(toml_editor.hooks_of(upgraded.text)) == ours(OTHERS)
    assert upgraded.text.count(toml_editor.START.encode()) == 1
    assert toml_editor.without_entries(upgraded.text, is_ours) == text


def test_hooks_that_the_agent_has_written_anew_are_removed() -> None:
    edited = toml_editor.with_entries(b"a = 1\n", ENTRIES, is_ours)
    anew = tomlkit.dumps({**toml_value(edited.text), "b": {"c": 1}}).encode()
    assert toml_editor.START.encode() not in anew
    assert toml_value(toml_editor.without_entries(anew, is_ours, edited.created)) == {"a": 1, "b": {"c": 1}}


def test_a_hook_that_somebody_put_between_the_markers_stays() -> None:
    edited = toml_editor.with_entries(b"a = 1\n", ENTRIES, is_ours)
    theirs = b"# mine\n[[hooks]]\ncommand = 'theirs'\n"
    text = edited.text.replace(toml_editor.END.encode(), theirs + toml_editor.END.encode())
    assert toml_editor.without_entries(text, is_ours, edited.created) == b"a = 1\n\n" + theirs


def test_empty_hooks_as_kimi_writes_them_are_there_again_afterwards() -> None:
    before = b"a = 1\nhooks = []\n\n[b]\nc = 1\n"
    TOML.check(before, ENTRIES)


def test_what_others_wrote_behind_ours_stays() -> None:
    edited = toml_editor.with_entries(b"a = 1\n", ENTRIES, is_ours)
    more = b"# mine\n\n[[hooks]]\nevent = 'Stop'\ncommand = 'theirs'\n\n[b]\nc = 1"
    assert toml_editor.without_entries(edited.text + more, is_ours, edited.created) == b"a = 1\n" + more


def test_a_hook_of_ours_goes_with_the_tables_inside_it() -> None:
    before = b"[[hooks]]\ncommand = 'exec tenterhook'\n[hooks.env]\nA = '1'\n[b]\nc = 1\n"
    assert toml_editor.without_entries(before, is_ours) == b"[b]\nc = 1\n"


def test_a_hook_of_ours_that_changed_is_written_in_its_place() -> None:
    before = b"[[hooks]]\ncommand = \"exec tenterhook 1\"\n# next\n[[hooks]]\ncommand = 'theirs'\n"
    edited = toml_editor.with_entries(before, [{"command": "exec tenterhook 2"}], is_ours)
    assert edited.text == before.replace(b"hook 1", b"hook 2")
