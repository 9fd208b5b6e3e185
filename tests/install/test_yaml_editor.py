"""A name in a list of YAML settings is added and removed without touching anything else."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tenterhook.install import yaml_editor
from tenterhook.install.text_edits import EditRefused

KEYS, NAME = ("plugins", "enabled"), "tenterhook"


def listed(value: Any) -> Any:
    """The list in a document; None if there is none."""
    for key in KEYS:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def without_the_name(value: Any) -> Any:
    """A document without the name, and without the keys that have nothing else."""
    value = dict(value or {})
    plugins = dict(value.pop("plugins", None) or {})
    names = [each for each in plugins.pop("enabled", None) or [] if each != NAME]
    plugins |= {"enabled": names} if names else {}
    return value | ({"plugins": plugins} if plugins else {})


def check(before: bytes) -> bytes:
    """The name can be added, a second time without a change, and removed to the byte; all else means the same."""
    edited = yaml_editor.with_item(before, KEYS, NAME)
    after, was = yaml.safe_load(edited.text), yaml.safe_load(before)
    assert listed(after).count(NAME) == 1
    assert yaml_editor.items_at(edited.text, KEYS) == listed(after)
    assert repr(without_the_name(after)) == repr(without_the_name(was))
    assert yaml_editor.with_item(edited.text, KEYS, NAME, edited.created) == edited
    assert yaml_editor.without_item(edited.text, KEYS, NAME, edited.created) == before
    assert yaml_editor.without_item(before, KEYS, NAME, edited.created) == before
    return edited.text


FORMS = {
    "no file": (b"", b"plugins:\n  enabled:\n    - tenterhook\n"),
    "no such key": (b"a: 1\n", b"a: 1\nplugins:\n  enabled:\n    - tenterhook\n"),
    "no final newline": (b"a: 1", b"a: 1\nplugins:\n  enabled:\n    - tenterhook"),
    "windows": (b"a: 1\r\nb: 2\r\n", b"a: 1\r\nb: 2\r\nplugins:\r\n  enabled:\r\n    - tenterhook\r\n"),
    "byte order mark": (b"\xef\xbb\xbfa: 1\n", b"\xef\xbb\xbfa: 1\nplugins:\n  enabled:\n    - tenterhook\n"),
    "indented": (b"  a: 1\n", b"  a: 1\n  plugins:\n    enabled:\n      - tenterhook\n"),
    "a key without a value": (b"plugins:\nz: 1\n", b"plugins:\n  enabled:\n    - tenterhook\nz: 1\n"),
    "without the list": (
        b"plugins: # c\n  # d\n  disabled: [x]\n",
        b"plugins: # c\n  enabled:\n    - tenterhook\n  # d\n  disabled: [x]\n",
    ),
    "an empty list": (b"plugins:\n  enabled:\n", b"plugins:\n  enabled:\n    - tenterhook\n"),
    "a list": (
        b"plugins:\n  enabled: # mine\n  - a\n  - b # c\nz: 1\n",
        b"plugins:\n  enabled: # mine\n  - tenterhook\n  - a\n  - b # c\nz: 1\n",
    ),
    "a list of several lines each": (
        b"plugins:\n  enabled:\n    - >\n      a\n    - b\n",
        b"plugins:\n  enabled:\n    - tenterhook\n    - >\n      a\n    - b\n",
    ),
    "an anchor": (b"plugins: &p\n  x: 1\n", b"plugins: &p\n  enabled:\n    - tenterhook\n  x: 1\n"),
    "brackets": (b"plugins: {enabled: [a, b,]}\n", b"plugins: {enabled: [a, b, tenterhook,]}\n"),
    "empty brackets": (b"plugins:\n  enabled: [ ]\n", b"plugins:\n  enabled: [tenterhook ]\n"),
    "empty braces": (b"plugins: {}\n", b"plugins: {enabled: [tenterhook]}\n"),
    "all in braces": (b"{a: 1}\n", b"{a: 1, plugins: {enabled: [tenterhook]}}\n"),
    "brackets with a comment": (
        b"plugins:\n  enabled: [a, b # c, d\n  ]\n",
        b"plugins:\n  enabled: [a, b, # c, d\n  tenterhook\n  ]\n",
    ),
    "quoted keys": (b'"plugins":\n  "enabled":\n    - x\n', b'"plugins":\n  "enabled":\n    - tenterhook\n    - x\n'),
    "the name elsewhere": (
        b"plugins:\n  enabled:\n    - not-tenterhook\n  note: |\n    - tenterhook\n",
        b"plugins:\n  enabled:\n    - tenterhook\n    - not-tenterhook\n  note: |\n    - tenterhook\n",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_list_keeps_its_form(form: str) -> None:
    before, after = FORMS[form]
    assert check(before) == after


REFUSED = {
    "an alias": (b"x: &e [a]\nplugins:\n  enabled: *e\n", 3),
    "a merged list": (b"b: &b {enabled: [a]}\nplugins:\n  <<: *b\n", 2),
    "a list that an alias repeats": (b"plugins:\n  enabled: &e [a]\nx: *e\n", 2),
    "a word": (b"a: 1\nplugins:\n  enabled: all\n", 3),
    "a written null": (b"plugins: ~\n", 1),
    "two documents": (b"a: 1\n---\nb: 1\n", 2),
    "the end of a document": (b"a: 1\n...\n", 1),
    "a text at the end without a newline": (b"a: |\n  text", 1),
    "a list": (b"- a\n", 1),
    "not YAML": (b"a: 1\nb: [1\n", 3),
    "not UTF-8": (b"a: 1\nb: \xff\n", 2),
    "a character that YAML does not allow": (b"a: \x01\n", 1),
    "too deep": (b"a: " + b"[" * 2000 + b"]" * 2000, 1),
    "a loop": (b"a: &a [*a]\nplugins: *a\n", 2),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_edited_and_restored_is_refused_with_its_line_and_a_remedy(case: str) -> None:
    before, line = REFUSED[case]
    with pytest.raises(EditRefused) as refused:
        yaml_editor.with_item(before, KEYS, NAME)
    assert refused.value.line == line
    assert refused.value.remedy


def test_a_name_that_was_there_before_is_not_ours() -> None:
    before = b"plugins:\n  enabled: [tenterhook]\n"
    edited = yaml_editor.with_item(before, KEYS, NAME)
    assert (edited.text, edited.created) == (before, frozenset())
    assert yaml_editor.without_item(before, KEYS, NAME, edited.created) == before


def test_what_an_agent_wrote_anew_is_found_again() -> None:
    edited = yaml_editor.with_item(b"# mine\na: 1\n", KEYS, NAME)
    anew = yaml.safe_dump(yaml.safe_load(edited.text) | {"b": [1, 2]}).encode()
    assert yaml_editor.without_item(anew, KEYS, NAME, edited.created) == b"a: 1\nb:\n- 1\n- 2\n"
    joined = b"plugins:\n  enabled: [other, tenterhook]\n  disabled: []\n"
    left = yaml_editor.without_item(joined, KEYS, NAME, edited.created)
    assert left == b"plugins:\n  enabled: [other]\n  disabled: []\n"


def test_a_comment_of_the_person_is_never_removed_with_the_name() -> None:
    edited = yaml_editor.with_item(b"a: 1\n", KEYS, NAME)
    commented = edited.text.replace(b"- tenterhook\n", b"- tenterhook  # the guard\n")
    with pytest.raises(EditRefused, match="cannot be removed"):
        yaml_editor.without_item(commented, KEYS, NAME, edited.created)


def test_aliases_that_repeat_each_other_many_times_take_no_time() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    edited = yaml_editor.with_item("\n".join(lines).encode(), KEYS, NAME)
    assert edited.text.endswith(b"- tenterhook")


words = st.sampled_from(["a", "b-c", "1", "true", '"q # r"', "'s, t'", "~", "x y", NAME + "s", "é"])
comments = st.sampled_from(["", "", "  # note", " # [x], - y"])
spaces = st.sampled_from(["", " ", "  "])


@st.composite
def lists(draw: st.DrawFn, indent: int) -> str:
    """A list, behind its key: nothing, in brackets, or with a line for each item."""
    items = draw(st.lists(words, max_size=3))
    kind = draw(st.sampled_from(["nothing", "brackets", "lines", "tall brackets"]))
    if kind == "nothing":
        return draw(comments) + "\n"
    if kind == "brackets":
        comma = "," if items and draw(st.sampled_from([True, False])) else ""
        inside = f",{draw(spaces)}".join(items) + comma
        return f" [{draw(spaces)}{inside}{draw(spaces)}]{draw(comments)}\n"
    pad = " " * (indent + draw(st.sampled_from([0, 2, 4])))
    if kind == "tall brackets":
        pad += " "
        inside = "".join(f"{pad}{item},{draw(comments)}\n" for item in items)
        return f" [{draw(comments)}\n{inside}{pad}]{draw(comments)}\n"
    return draw(comments) + "\n" + "".join(f"{pad}- {item}{draw(comments)}\n" for item in items)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    others = st.sampled_from(
        [
            "model: x # y\n",
            "# a comment\n",
            "\n",
            "text: |\n  - tenterhook\n  plugins:\n",
            "deep:\n  plugins:\n    enabled: [z]\n",
            "kept: |+\n  a\n\n",
            "base: &base {q: 1}\n",
            "'odd key': [1, {a: b}]\n",
            "date: 2026-01-01\nnumber: 1.0\n",
        ]
    )
    parts = [draw(others) for _ in range(draw(st.integers(0, 3)))]
    if draw(st.booleans()):
        inner = []
        names: st.SearchStrategy[list[str]] = st.permutations(["disabled", "enabled", "entries"])
        for name in draw(names):
            if draw(st.booleans()):
                value = draw(lists(2)) if name != "entries" else "\n    x: {y: 1}\n"
                inner.append(f"  {name}:{value}")
        parts.append(f"plugins:{draw(comments)}\n" + "".join(inner))
    parts += [draw(others) for _ in range(draw(st.integers(0, 2)))]
    text = "".join(parts)
    text = text.rstrip("\n") if draw(st.booleans()) else text
    text = text.replace("\n", "\r\n") if draw(st.booleans()) else text
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()


@settings(max_examples=150, deadline=None)
@given(documents())
def test_any_file_can_be_edited_and_taken_back_or_is_refused(before: bytes) -> None:
    try:
        yaml.safe_load(before)
    except yaml.YAMLError:
        with pytest.raises(EditRefused):
            yaml_editor.with_item(before, KEYS, NAME)
        return
    try:
        check(before)
    except EditRefused as error:
        assert error.remedy == "end its last line with a newline"
        check(before + b"\n")


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), documents(), st.integers(0, 200))
@example(b"", b"plugins:\n  enabled:\n    - a\n", 20)
def test_a_damaged_file_is_edited_and_taken_back_or_refused(noise: bytes, whole: bytes, at: int) -> None:
    damaged = whole[:at] + noise[: 1 + at % 5] + whole[at:]
    try:
        edited = yaml_editor.with_item(damaged, KEYS, NAME)
    except EditRefused:
        return
    assert yaml_editor.without_item(edited.text, KEYS, NAME, edited.created) == damaged
    assert yaml_editor.with_item(edited.text, KEYS, NAME, edited.created) == edited
