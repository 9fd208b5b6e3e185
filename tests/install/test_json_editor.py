"""JSON settings are edited without touching what is not ours."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from install.editors import JSON, group, is_ours, json_value, ours, without_ours
from install.generated_settings import json_texts, names, strings
from tenterhook.install import json_editor, text_edits
from tenterhook.install.settings_change import diff

entry_sets = st.dictionaries(
    names,
    st.lists(st.builds(lambda word, matcher: group(word, matcher=matcher), strings, strings), max_size=3),
    max_size=3,
)


@settings(max_examples=100, deadline=None)
@given(json_texts(), entry_sets, entry_sets)
def test_any_file_can_be_edited_and_taken_back(
    before: bytes, entries: dict[str, list[Any]], others: dict[str, list[Any]]
) -> None:
    JSON.check_replaced(JSON.check(before, entries), before, others)


@settings(max_examples=100, deadline=None)
@given(json_texts(), entry_sets, st.randoms(use_true_random=False))
def test_entries_of_others_that_came_later_stay(before: bytes, entries: dict[str, list[Any]], random: Any) -> None:
    edited = json_editor.with_entries(before, entries, is_ours)
    value = json_value(edited.text)
    for groups in value.get("hooks", {}).values():
        groups.insert(random.randrange(len(groups) + 1), {"theirs": 1})
    rewritten = json.dumps(value, indent=random.choice([None, 1, 2])).encode()
    left = json_value(json_editor.without_entries(rewritten, is_ours, edited.created))
    assert without_ours(left) == without_ours(value)
    assert not ours(left.get("hooks", {}))


def test_a_new_file_is_tidy() -> None:
    edited = json_editor.with_entries(b"", {"Stop": [group("stop")]}, is_ours)
    assert edited.text.decode() == json.dumps({"hooks": {"Stop": [group("stop")]}}, indent=2) + "\n"
    assert edited.created == {text_edits.FILE, "hooks", "hooks.Stop"}


def test_events_at_the_top_are_edited_there_unless_the_file_has_hooks() -> None:
    entries = {"stop": [group("stop")], "session_start": [group("start")]}
    new = json_editor.with_entries(b"", entries, is_ours, flat=True)
    assert new.text.decode() == json.dumps(entries, indent=2) + "\n"
    for before, path in (
        (b"", ()),
        (b"{}\n", ()),
        (b'{"stop":[{"hooks":[]}]}', ()),
        (b'{\n  "stop": []\n}', ()),
        (b'{\n  "hooks": {\n    "stop": [{"hooks": []}]\n  },\n  "x": 1\n}\n', ("hooks",)),
        (b'{"x": 1, "hooks": {}}', ("hooks",)),
    ):
        edited = json_editor.with_entries(before, entries, is_ours, flat=True)
        found = json_value(edited.text)
        for key in path:
            found = found[key]
        assert [entry for entry in found["stop"] if is_ours(entry)] == entries["stop"]
        assert json_editor.with_entries(edited.text, entries, is_ours, edited.created, flat=True).text == edited.text
        assert json_editor.without_entries(edited.text, is_ours, edited.created, flat=True) == before


def test_what_a_file_needs_beside_hooks_comes_and_goes_with_them() -> None:
    entries = {"preToolUse": [{"type": "command", "bash": "exec tenterhook pre", "timeoutSec": 600}]}
    for before in (b"", b"{}", b'{"hooks":{}}', b'{\n  "a": 1 // one\n}\n'):
        edited = json_editor.with_entries(before, entries, is_ours, beside={"version": 1})
        assert json_value(edited.text)["version"] == 1
        assert "version" in edited.created
        assert json_editor.without_entries(edited.text, is_ours, edited.created) == before


def test_what_a_file_needs_beside_hooks_stays_for_the_hooks_of_others() -> None:
    edited = json_editor.with_entries(b"", {"stop": [group("x")]}, is_ours, beside={"version": 1})
    value = json_value(edited.text)
    value["hooks"]["stop"].append({"bash": "theirs"})
    left = json_editor.without_entries(json.dumps(value).encode(), is_ours, edited.created)
    assert json_value(left) == {"version": 1, "hooks": {"stop": [{"bash": "theirs"}]}}


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
    assert json_value(left) == {"hooks": {"Stop": []}}


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
        assert json_value(left) == {"hooks": {"Stop": [1]}}
        assert text.count("//") == left.count(b"//") and text.count("/*") == left.count(b"/*")


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
