"""TOML settings are edited without touching what is not ours."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from tenterhook.errors import HookError
from tenterhook.install import text_edits, toml_editor

DATA = sorted((Path(__file__).parent / "data").glob("*.toml"))
REFUSED = ("inline_with_comments", "inline_with_space")  # they could not be restored to the byte
corpus = pytest.mark.parametrize(
    "file", [file for file in DATA if file.stem not in REFUSED], ids=lambda file: file.stem
)


def hook(event: str, command: str, **more: Any) -> dict[str, Any]:
    return {"event": event, "command": f"exec tenterhook {command}", "timeout": 600, **more}


def is_ours(entry: Any) -> bool:
    return "exec tenterhook" in str(entry.get("command"))


ENTRIES = [hook("PreToolUse", "pre", matcher="Bash"), hook("Stop", "'ü\" \\ \x7f\x01\n[[hooks]]"), hook("Stop", "#")]
OTHERS = [hook("Stop", "#"), hook("SessionStart", "new")]


def meaning(text: bytes) -> dict[str, Any]:
    return tomllib.loads(text.decode("utf-8-sig"))


def without_ours(value: dict[str, Any]) -> dict[str, Any]:
    hooks = [entry for entry in value.get("hooks", []) if not is_ours(entry)]
    return {key: item for key, item in value.items() if key != "hooks"} | ({"hooks": hooks} if hooks else {})


def ours(hooks: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(entry) for entry in hooks if is_ours(entry))


def check(before: bytes, entries: list[dict[str, Any]]) -> text_edits.Edited:
    """All that is promised of one file."""
    edited = toml_editor.with_entries(before, entries, is_ours)
    after = meaning(edited.text)
    assert ours(after.get("hooks", [])) == ours(entries)
    assert without_ours(after) == without_ours(meaning(before))
    assert toml_editor.hooks_of(edited.text) == after.get("hooks", [])
    assert toml_editor.with_entries(edited.text, entries, is_ours, edited.created) == edited
    assert toml_editor.with_entries(edited.text, entries, is_ours).text == edited.text
    assert toml_editor.without_entries(edited.text, is_ours, edited.created) == before
    return edited


@corpus
def test_what_is_installed_can_be_taken_back_to_the_byte(file: Path) -> None:
    check(file.read_bytes(), ENTRIES)


@corpus
def test_one_set_of_hooks_can_follow_another_before_all_are_taken_back(file: Path) -> None:
    before = file.read_bytes()
    first = toml_editor.with_entries(before, ENTRIES, is_ours)
    second = toml_editor.with_entries(first.text, OTHERS, is_ours, first.created)
    assert ours(toml_editor.hooks_of(second.text)) == ours(OTHERS)
    assert toml_editor.without_entries(second.text, is_ours, second.created) == before


@corpus
def test_a_file_without_hooks_of_ours_is_left_alone(file: Path) -> None:
    before = file.read_bytes()
    assert toml_editor.without_entries(before, is_ours) == before


@corpus
def test_line_ends_and_mark_are_the_files_own(file: Path) -> None:
    before = file.read_bytes()
    after = toml_editor.with_entries(before, ENTRIES, is_ours).text
    assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
    if b"\n" in before:
        assert (after.count(b"\r\n") == after.count(b"\n")) == (b"\r\n" in before)
    if before:
        assert after.endswith(b"\n") == before.endswith(b"\n")


TOP = [
    "a = 1",
    'b = """\n[[hooks]]\n# "quoted" \\"\\"\\" \n"""  # behind',
    "c = '''\n[hooks]\n'''",
    "d.hooks = []",
    "e = [ # [\n  1, '#', [2,\n 3], # ]\n]",
    'f = {g = "}", h = [1]}',
    '"i = [" = "= ["',
]
TABLES = [
    "[t]\nhooks = []",
    "[u.hooks]\nx = [\n{y = 1},\n]",
    "[[v]]\nz = '[[hooks]]'",
    "  [ w ]  # [[hooks]]\n",
    "[[v.x]]\n",
]
BLOCKS = [
    '[[hooks]]\nevent = "Stop"\ncommand = """\na\n[[hooks]]"""',
    "[[hooks]]",
    "  [[ 'hooks' ]] # theirs\n\tcommand = 'b'\n\n  # inside\n  event = 'x'",
    "[[hooks]]\nevent = 'y'\n[hooks.env]\nA = '1'\n[[hooks.list]]\nB = 2",
]
INLINE = ["{command = 'a'}", '{event = "Stop", command = "]},#"}', "{}", "{x = {y = [1, 2]}}"]
between = st.lists(st.sampled_from(["", "# [[hooks]]", "  ", "\t# c", toml_editor.START + "?"]), max_size=3)
spaces = st.sampled_from(["", " ", "\n", "\n    ", " # c ]\n", "\n # {\n\t"])


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """TOML with hooks of others in either form, or none."""
    parts = draw(st.lists(st.sampled_from(TOP), unique=True, max_size=4))
    tables = draw(st.lists(st.sampled_from(TABLES), unique=True, max_size=4))
    tables.sort(key=lambda table: table.startswith("[[v.x"))
    if "[[v]]\nz = '[[hooks]]'" not in tables:
        tables = [table for table in tables if not table.startswith("[[v.x")]
    if draw(st.booleans()):
        items = [draw(spaces) + draw(st.sampled_from(INLINE)) + draw(spaces) for _ in range(draw(st.integers(0, 3)))]
        last = draw(st.sampled_from(["", ","])) if items else ""
        array = "hooks = [" + (",".join(items) or draw(spaces)) + last + draw(spaces) + "]"
        parts.insert(draw(st.integers(0, len(parts))), array + draw(st.sampled_from(["", " # end"])))
    else:
        for block in draw(st.lists(st.sampled_from(BLOCKS), max_size=3)):
            tables.insert(draw(st.integers(0, len(tables))), block)
        tables.sort(key=lambda table: table.startswith("[[v.x"))
    lines = draw(between)
    for part in [*parts, *tables]:
        lines += [part, *draw(between)]
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()


entry_sets = st.lists(
    st.builds(hook, st.sampled_from(["Stop", "PreToolUse"]), st.text(st.characters(codec="utf-8"), max_size=4)),
    max_size=3,
)


@settings(max_examples=200, deadline=None)
@given(texts(), entry_sets, entry_sets)
def test_any_file_can_be_edited_and_taken_back(
    before: bytes, entries: list[dict[str, Any]], others: list[dict[str, Any]]
) -> None:
    try:
        first = check(before, entries)
        second = toml_editor.with_entries(first.text, others, is_ours, first.created)
    except text_edits.EditRefused as error:
        inline = re.search(rb"^(?:\xef\xbb\xbf)?hooks = \[", before, re.MULTILINE)
        assert inline, "a file without an inline array is never refused"
        assert "[[hooks]]" in error.remedy
        return
    assert ours(toml_editor.hooks_of(second.text)) == ours(others)
    assert toml_editor.without_entries(second.text, is_ours, second.created) == before


@pytest.mark.parametrize("name", REFUSED)
def test_an_inline_array_that_could_not_be_restored_is_refused(name: str) -> None:
    text = (Path(__file__).parent / "data" / f"{name}.toml").read_bytes()
    with pytest.raises(
        text_edits.EditRefused, match="line 1: `hooks` is written in a way that cannot be edited and restored"
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


def test_nothing_to_write_makes_no_file() -> None:
    assert toml_editor.with_entries(b"", [], is_ours) == (b"", frozenset())


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
    anew = tomlkit.dumps({**meaning(edited.text), "b": {"c": 1}}).encode()
    assert toml_editor.START.encode() not in anew
    assert meaning(toml_editor.without_entries(anew, is_ours, edited.created)) == {"a": 1, "b": {"c": 1}}


def test_a_hook_that_somebody_put_between_the_markers_stays() -> None:
    edited = toml_editor.with_entries(b"a = 1\n", ENTRIES, is_ours)
    theirs = b"# mine\n[[hooks]]\ncommand = 'theirs'\n"
    text = edited.text.replace(toml_editor.END.encode(), theirs + toml_editor.END.encode())
    assert toml_editor.without_entries(text, is_ours, edited.created) == b"a = 1\n\n" + theirs


def test_empty_hooks_as_kimi_writes_them_are_there_again_afterwards() -> None:
    before = b"a = 1\nhooks = []\n\n[b]\nc = 1\n"
    check(before, ENTRIES)


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


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (b"a = 1\nb = \n", 2, "not TOML"),
        (b"a = 1\n\nb = '''\n", 3, "not TOML"),
        (b"a = 1\na = 2\n", 2, "not TOML"),
        (b"a = 1\n[hooks]\n", 2, "table format"),
        (b"a = 1\n\n[[hooks.PreToolUse]]\ncommand = 'x'\n", 3, "table format"),
        (b"a = 1\n\n[hooks.PreToolUse.x]\n", 3, "table format"),
        (b"a = 1\nhooks.x = 1\n", 2, "table format"),
        (b"hooks = {x = 1}\n", 1, "table format"),
        (b"\nhooks = 'x'\n", 2, "not an array of tables"),
        (b"\nhooks = [1]\n", 2, "not an array of tables"),
        (b"a = 1\nb = '\xff'\n", 2, "not UTF-8"),
        (b"\r", 1, "not TOML"),
        (b"a = 1\n# c\r", 2, "not TOML"),
        (b"a = " + b"[" * 100_000, 1, "TOML"),
    ],
)
def test_a_file_that_cannot_be_edited_is_refused_with_line_and_remedy(text: bytes, line: int, says: str) -> None:
    for call in (
        lambda: toml_editor.hooks_of(text),
        lambda: toml_editor.with_entries(text, ENTRIES, is_ours),
        lambda: toml_editor.without_entries(text, is_ours),
    ):
        with pytest.raises(text_edits.EditRefused, match=says) as refused:
            call()
        assert refused.value.line == line
        assert f"line {line}: " in str(refused.value)
        assert refused.value.remedy
        assert isinstance(refused.value, HookError)
