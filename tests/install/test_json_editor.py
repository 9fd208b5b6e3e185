"""JSON settings are edited without touching what is not ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenterhook.errors import HookError
from tenterhook.install import json_editor, text_edits
from tenterhook.install.settings_change import diff

DATA = sorted((Path(__file__).parent / "data").glob("*.json"))
corpus = pytest.mark.parametrize("file", DATA, ids=lambda file: file.stem)


def group(command: str, **more: Any) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": f"exec tenterhook {command}", "timeout": 600}], **more}


def is_ours(entry: Any) -> bool:
    return "exec tenterhook" in json.dumps(entry)


ENTRIES = {
    "PreToolUse": [group("pre", matcher="Bash"), group('"ü\\', matcher="*")],
    "Stop": [group("stop")],
    "SessionStart": [group("start")],
}
OTHERS = {"Stop": [group("stop", matcher="x"), group("stop")], "PreToolUse": [group("pre", matcher="Bash")]}


def meaning(text: bytes) -> Any:
    """The value of a file, comments taken out one character after the other."""
    source, kept, at = text.decode("utf-8-sig"), "", 0
    while at < len(source):
        if source[at] == '"':
            end = at + 1
            while source[end] != '"':
                end += 2 if source[end] == "\\" else 1
            kept += source[at : end + 1]
            at = end + 1
        elif source.startswith("//", at):
            at = (source + "\n").index("\n", at)
        elif source.startswith("/*", at):
            at = source.index("*/", at + 2) + 2
        else:
            kept += source[at]
            at += 1
    return json.loads(kept) if kept.strip() else {}


def without_ours(value: Any) -> Any:
    """A file's value but for our entries and for arrays and objects of hooks that are empty."""
    hooks = {
        event: [entry for entry in entries if not is_ours(entry)] for event, entries in value.get("hooks", {}).items()
    }
    hooks = {event: entries for event, entries in hooks.items() if entries}
    return {key: item for key, item in value.items() if key != "hooks"} | ({"hooks": hooks} if hooks else {})


def ours(value: Any) -> dict[str, list[str]]:
    found = {event: [e for e in entries if is_ours(e)] for event, entries in value.get("hooks", {}).items()}
    return {event: sorted(map(json.dumps, entries)) for event, entries in found.items() if entries}


def check(before: bytes, entries: dict[str, list[Any]] = ENTRIES) -> text_edits.Edited:
    """All that is promised of one file."""
    edited = json_editor.with_entries(before, entries, is_ours)
    after = meaning(edited.text)
    assert ours(after) == ours({"hooks": entries})
    assert json.dumps(without_ours(after)) == json.dumps(without_ours(meaning(before)))
    assert json_editor.hooks_of(edited.text) == after.get("hooks", {})
    assert json_editor.with_entries(edited.text, entries, is_ours, edited.created) == edited
    assert json_editor.with_entries(edited.text, entries, is_ours).text == edited.text
    assert json_editor.without_entries(edited.text, is_ours, edited.created) == before
    return edited


@corpus
def test_what_is_installed_can_be_taken_back_to_the_byte(file: Path) -> None:
    check(file.read_bytes())


@corpus
def test_one_set_of_entries_can_follow_another_before_all_are_taken_back(file: Path) -> None:
    before = file.read_bytes()
    first = json_editor.with_entries(before, ENTRIES, is_ours)
    second = json_editor.with_entries(first.text, OTHERS, is_ours, first.created)
    assert ours(meaning(second.text)) == ours({"hooks": OTHERS})
    assert json_editor.without_entries(second.text, is_ours, second.created) == before


@corpus
def test_a_file_without_hooks_of_ours_is_left_alone(file: Path) -> None:
    before = file.read_bytes()
    assert json_editor.without_entries(before, is_ours) == before


@corpus
def test_line_ends_mark_and_indentation_are_the_files_own(file: Path) -> None:
    before = file.read_bytes()
    after = json_editor.with_entries(before, ENTRIES, is_ours).text
    assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
    if b"\n" in before:
        assert (after.count(b"\r\n") == after.count(b"\n")) == (b"\r\n" in before)
    if before:
        assert after.endswith(b"\n") == before.endswith(b"\n")


def comments() -> st.SearchStrategy[str]:
    inside = st.text(st.sampled_from('ab "{}[],:/\\é'), max_size=6)
    return inside.map(lambda text: f"//{text}\n") | inside.map(lambda text: f"/*{text.replace('*/', '')}\n*/")


gaps = st.lists(st.sampled_from(["", "", " ", "\n", "\n  ", "\t"]) | comments(), max_size=3).map("".join)
strings = st.text(st.sampled_from('abé"\\/{}[],:\n*'), max_size=5)
scalars = st.none() | st.booleans() | st.integers() | strings
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3))
names = st.sampled_from(["PreToolUse", "Stop", "PostToolUse"])
files = st.dictionaries(strings.filter(lambda key: key != "hooks"), values, max_size=3)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """JSON with anything that may stand between its marks."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            members = [
                f"{draw(gaps)}{json.dumps(k)}{draw(gaps)}:{draw(gaps)}{written(v)}{draw(gaps)}"
                for k, v in value.items()
            ]
            return "{" + (",".join(members) or draw(gaps)) + "}"
        if isinstance(value, list):
            return "[" + (",".join(draw(gaps) + written(item) + draw(gaps) for item in value) or draw(gaps)) + "]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    members = list(draw(files).items())
    if draw(st.booleans()):
        hooks = draw(st.dictionaries(names, st.lists(values, max_size=3), max_size=3))
        members.insert(draw(st.integers(0, len(members))), ("hooks", hooks))
    text = draw(gaps) + written(dict(members)) + draw(gaps)
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()


entry_sets = st.dictionaries(
    names,
    st.lists(st.builds(lambda word, matcher: group(word, matcher=matcher), strings, strings), max_size=3),
    max_size=3,
)


@settings(max_examples=100, deadline=None)
@given(texts(), entry_sets, entry_sets)
def test_any_file_can_be_edited_and_taken_back(
    before: bytes, entries: dict[str, list[Any]], others: dict[str, list[Any]]
) -> None:
    first = check(before, entries)
    second = json_editor.with_entries(first.text, others, is_ours, first.created)
    assert ours(meaning(second.text)) == ours({"hooks": others})
    assert json_editor.without_entries(second.text, is_ours, second.created) == before


@settings(max_examples=100, deadline=None)
@given(texts(), entry_sets, st.randoms(use_true_random=False))
def test_entries_of_others_that_came_later_stay(before: bytes, entries: dict[str, list[Any]], random: Any) -> None:
    edited = json_editor.with_entries(before, entries, is_ours)
    value = meaning(edited.text)
    for groups in value.get("hooks", {}).values():
        groups.insert(random.randrange(len(groups) + 1), {"theirs": 1})
    rewritten = json.dumps(value, indent=random.choice([None, 1, 2])).encode()
    left = meaning(json_editor.without_entries(rewritten, is_ours, edited.created))
    assert without_ours(left) == without_ours(value)
    assert not ours(left)


def test_a_new_file_is_tidy() -> None:
    edited = json_editor.with_entries(b"", {"Stop": [group("stop")]}, is_ours)
    assert edited.text.decode() == json.dumps({"hooks": {"Stop": [group("stop")]}}, indent=2) + "\n"
    assert edited.created == {text_edits.FILE, "hooks", "hooks.Stop"}


def test_nothing_to_write_makes_no_file() -> None:
    assert json_editor.with_entries(b"", {"Stop": []}, is_ours) == (b"", frozenset())


def test_what_a_file_needs_beside_hooks_comes_and_goes_with_them() -> None:
    entries = {"preToolUse": [{"type": "command", "bash": "exec tenterhook pre", "timeoutSec": 600}]}
    for before in (b"", b"{}", b'{"hooks":{}}', b'{\n  "a": 1 // one\n}\n'):
        edited = json_editor.with_entries(before, entries, is_ours, beside={"version": 1})
        assert meaning(edited.text)["version"] == 1
        assert "version" in edited.created
        assert json_editor.without_entries(edited.text, is_ours, edited.created) == before


def test_what_a_file_needs_beside_hooks_stays_for_the_hooks_of_others() -> None:
    edited = json_editor.with_entries(b"", {"stop": [group("x")]}, is_ours, beside={"version": 1})
    value = meaning(edited.text)
    value["hooks"]["stop"].append({"bash": "theirs"})
    left = json_editor.without_entries(json.dumps(value).encode(), is_ours, edited.created)
    assert meaning(left) == {"version": 1, "hooks": {"stop": [{"bash": "theirs"}]}}


def test_an_own_entry_that_changed_is_written_in_its_place() -> None:
    before = b'{"hooks": {"Stop": [{"a": 1}, {"x": "exec tenterhook 1"}, {"b": 2}]}}'
    edited = json_editor.with_entries(before, {"Stop": [{"x": "exec tenterhook 2"}]}, is_ours)
    assert edited.text == before.replace(b"hook 1", b"hook 2")


def test_a_number_that_became_a_boolean_is_a_change() -> None:
    before = b'{"hooks": {"Stop": [{"x": "exec tenterhook", "async": 1}]}}'
    edited = json_editor.with_entries(before, {"Stop": [{"x": "exec tenterhook", "async": True}]}, is_ours)
    assert edited.text == before.replace(b"1", b"true")


def test_an_empty_array_that_was_there_before_stays() -> None:
    before = b'{"hooks": {"Stop": [{"x": "exec tenterhook"}]}}'
    assert json_editor.without_entries(before, is_ours) == b'{"hooks": {"Stop": []}}'


def test_a_comment_put_into_what_we_made_keeps_it() -> None:
    edited = json_editor.with_entries(b"{}", {"Stop": [group("x")]}, is_ours)
    commented = edited.text.replace(b'"Stop": [', b'"Stop": [ // mine')
    left = json_editor.without_entries(commented, is_ours, edited.created)
    assert b"// mine" in left
    assert meaning(left) == {"hooks": {"Stop": []}}


def test_a_comment_stays_beside_what_it_is_about() -> None:
    before = b'{"hooks": {"Stop": [\n  1 // one\n  // below\n]}}'
    edited = json_editor.with_entries(before, {"Stop": [["exec tenterhook"]]}, is_ours)
    assert edited.text.startswith(b'{"hooks": {"Stop": [\n  1, // one\n  // below\n  [\n')


def test_comments_around_an_entry_outlive_it() -> None:
    ours_here = '{"x": "exec tenterhook"}'
    for text in (
        f'{{"hooks": {{"Stop": [1, // a\n {ours_here}]}}}}',
        f'{{"hooks": {{"Stop": [1, // a\n {ours_here} /* b\n */]}}}}',
        f'{{"hooks": {{"Stop": [{ours_here} // a\n , /* b */ 1]}}}}',
        f'{{"hooks": {{"Stop": [/* b */ {ours_here}, // a\n 1]}}}}',
    ):
        left = json_editor.without_entries(text.encode(), is_ours)
        assert meaning(left) == {"hooks": {"Stop": [1]}}
        assert text.count("//") == left.count(b"//") and text.count("/*") == left.count(b"/*")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
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
    ],
)
def test_a_file_that_cannot_be_edited_is_refused_with_line_and_remedy(text: bytes, line: int, says: str) -> None:
    for call in (
        lambda: json_editor.hooks_of(text),
        lambda: json_editor.with_entries(text, ENTRIES, is_ours),
        lambda: json_editor.without_entries(text, is_ours),
    ):
        with pytest.raises(text_edits.EditRefused, match=says) as refused:
            call()
        assert refused.value.line == line
        assert f"line {line}: " in str(refused.value)
        assert refused.value.remedy
        assert isinstance(refused.value, HookError)


def test_the_hooks_are_read_as_they_are() -> None:
    assert json_editor.hooks_of(b'{"hooks": {"Stop": [1, {"a": []}]}} // end') == {"Stop": [1, {"a": []}]}
    assert json_editor.hooks_of(b"") == json_editor.hooks_of(b"{}") == json_editor.hooks_of(b"// c") == {}


def test_the_diff_shows_added_lines_and_nothing_else() -> None:
    before = b'{\n  "a": 1\n}'
    after = json_editor.with_entries(before, {"Stop": [1]}, is_ours).text
    shown = diff(before, after, "settings.json (now)", "settings.json (then)")
    assert [line for line in shown.split("\n") if line.startswith(("-", "\\"))] == [
        "--- settings.json (now)",
        '-  "a": 1',
        "\\ No newline at end of file",
    ]
    assert diff(before, before, "now", "then") == ""
    assert diff(b"a", b"a\n", "now", "then").count("\\ No newline at end of file\n") == 1
