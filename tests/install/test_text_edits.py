"""Settings in JSON and in TOML are edited without touching what is not ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from install.editors import JSON, TOML, Editor, is_ours
from tenterhook.errors import HookError
from tenterhook.install import text_edits

if TYPE_CHECKING:
    from pathlib import Path

corpus = pytest.mark.parametrize(
    ("editor", "file"),
    [pytest.param(editor, file, id=file.name) for editor in (JSON, TOML) for file in editor.corpus],
)


@corpus
def test_what_is_installed_can_be_taken_back_to_the_byte(editor: Editor, file: Path) -> None:
    before = file.read_bytes()
    edited = editor.check(before, editor.entries)
    editor.check_replaced(edited, before, editor.others)


@corpus
def test_a_file_without_hooks_of_ours_is_left_alone(editor: Editor, file: Path) -> None:
    before = file.read_bytes()
    assert editor.module.without_entries(before, is_ours) == before


@corpus
def test_line_ends_and_byte_order_mark_are_the_files_own(editor: Editor, file: Path) -> None:
    before = file.read_bytes()
    after = editor.module.with_entries(before, editor.entries, is_ours).text
    assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
    if b"\n" in before:
        assert (after.count(b"\r\n") == after.count(b"\n")) == (b"\r\n" in before)
    if before:
        assert after.endswith(b"\n") == before.endswith(b"\n")


@pytest.mark.parametrize(("editor", "nothing"), [(JSON, {"Stop": []}), (TOML, [])], ids=["json", "toml"])
def test_nothing_to_write_makes_no_file(editor: Editor, nothing: object) -> None:
    assert editor.module.with_entries(b"", nothing, is_ours) == (b"", frozenset())


REFUSED_JSON = [
    (b'{\n  "a": 1,\n}\n', 2, "comma after the last item"),
    (b'{"hooks": {"Stop": [\n  {},\n\n]}}', 2, "comma after the last item"),
    (b'{\n  "a" 1\n}', 2, "not JSON"),
    (b'{\n  "a": "b\n}', 2, "not JSON"),
    (b'{\n  "a": 1 /* open\n}', 2, "not JSON"),
    (b'{"a": 1}\n{"b": 2}', 2, "not JSON"),
    (b'{"a": "NaN",\n"b": NaN}', 2, "NaN is not JSON"),
    (b"{" * 3, 1, "not JSON"),
    (b'{"a": ' + b"[" * 100_000, 1, "not readable as JSON"),
    (b"\n[1]", 2, "not a JSON object"),
    (b"null", 1, "not a JSON object"),
    (b'{\n"hooks": {},\n"hooks": {}}', 3, "twice"),
    (b'{\n"hooks": {},\n"\\u0068ooks": {}}', 3, "twice"),
    (b'{"hooks": {"Stop": [],\n"Stop": []}}', 2, "twice"),
    (b'{"a": 1,\n"hooks": null}', 2, "not an object"),
    (b'{"hooks":\n[]}', 2, "not an object"),
    (b'{"hooks": {\n"Stop": {}}}', 2, "not an array"),
    (b'{\n"a": "\xff"}', 2, "not UTF-8"),
]
REFUSED_TOML = [
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
]


@pytest.mark.parametrize(
    ("editor", "text", "line", "says"),
    [
        pytest.param(editor, *case, id=f"{name}-{case[2]}-{number}")
        for name, editor, cases in (("json", JSON, REFUSED_JSON), ("toml", TOML, REFUSED_TOML))
        for number, case in enumerate(cases)
    ],
)
def test_a_file_that_cannot_be_edited_is_refused_with_line_and_remedy(
    editor: Editor, text: bytes, line: int, says: str
) -> None:
    for function, arguments in (
        (editor.module.hooks_of, ()),
        (editor.module.with_entries, (editor.entries, is_ours)),
        (editor.module.without_entries, (is_ours,)),
    ):
        with pytest.raises(text_edits.EditRefused, match=says) as refused:
            function(text, *arguments)
        assert refused.value.line == line
        assert f"line {line}: " in str(refused.value)
        assert refused.value.remedy
        assert isinstance(refused.value, HookError)
