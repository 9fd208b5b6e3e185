"""Hooks of earlier versions: recognised by their files, and their settings by the front matter."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest

from tenterhook.authoring import released_hooks

DATA = Path(__file__).parent.parent / "data" / "version_0_1" / "hooks.tar.xz"


def test_the_table_has_every_file_of_version_0_1() -> None:
    with tarfile.open(DATA) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is None:
                continue
            name, _, path = member.name.partition("/")
            data = content.read()
            text = released_hooks.parts(data)[1] if path == "HOOK.md" else data
            assert released_hooks.digest(text) in released_hooks.table()[name]["files"][path], member.name


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"timeout": 1}, "timeout: 1\n"),
        ({"matcher": {"tool": "x"}}, "matcher:\n  tool: x\ntimeout: 2\n"),
        ({"async": True}, "async: true\n---\n"),
        ({"metadata": {"guard": "other"}}, "metadata:\n  guard: other\n  on_failure: block\n"),
        ({"metadata": {"allow": ["é"]}}, "  on_failure: block\n  allow:\n  - é\n---\n"),
    ],
)
def test_settings_replace_fields_of_the_definition_or_are_added(settings: dict[str, Any], line: str) -> None:
    front = "name: x\nmatcher:\n  tool: y\ntimeout: 2\nmetadata:\n  guard: x\n  on_failure: block\n"
    definition = f"---\n{front}---\n\nText\n---\nmore\n"
    changed = released_hooks.with_settings(definition, settings)
    assert line in changed
    assert changed.endswith("\n---\n\nText\n---\nmore\n")


@pytest.mark.parametrize(
    "key", ["no: te", "- a", "", "'", "#", "a" * 300, "é", "\u2028", "\x7f", "yes", "1", "x\ny", "🪝"]
)
@pytest.mark.parametrize(
    "value", ["a: b", "- a", "", "#", "\u2028\x85\n x\n", "\x7f🪝", {"": [[], {}, None, True]}, "a " * 9999]
)
def test_any_key_and_value_is_read_as_it_was(key: str, value: Any) -> None:
    definition = "---\nname: x\nmetadata:\n  guard: x\n---\n\nText\n"
    changed = released_hooks.with_settings(definition, {key: value, "metadata": {key: value}})
    expected = {"name": "x", "metadata": {"guard": "x", key: value}, key: value}
    assert released_hooks.parts(changed.encode()) == (expected, b"\nText\n")


def test_what_would_not_be_read_again_is_refused() -> None:
    with pytest.raises(ValueError, match=r"."):
        released_hooks.with_settings("---\nname: x\n---\n", {"pattern": "\ud800"})


def test_what_the_person_has_removed_is_left_out_and_what_is_new_is_not() -> None:
    versions = [
        {"name": "x", "timeout": 1},
        {"name": "x", "matcher": {"tool": "y"}, "timeout": 2, "metadata": {"on_failure": "block", "old": 1}},
    ]
    removed = released_hooks.removed_fields({"name": "x", "timeout": 2, "metadata": {"old": 1}}, versions)
    assert removed == ("matcher", "metadata.on_failure")
    front = "name: x\nmatcher:\n  tool: y\ntimeout: 2\nmetadata:\n  guard: x\n  on_failure: block\n"
    changed = released_hooks.with_settings(f"---\n{front}---\n", {}, removed)
    assert changed == "---\nname: x\ntimeout: 2\nmetadata:\n  guard: x\n---\n"
    assert released_hooks.removed_fields(versions[0], versions) == ()


@pytest.mark.parametrize(
    ("fields", "own"),
    [
        ({"name": "x", "timeout": 1}, {}),
        ({"name": "x", "timeout": 2}, {}),  # of the other version
        ({"name": "x", "timeout": 3}, {"timeout": 3}),
        ({"metadata": {"on_failure": "block"}}, {}),
        ({"metadata": {"on_failure": "open", "guard": "x"}}, {"metadata": {"on_failure": "open"}}),
        ({"metadata": "none"}, {}),
    ],
)
def test_settings_of_the_person_are_those_that_no_version_came_with(fields: Any, own: Any) -> None:
    versions = [
        {"name": "x", "timeout": 1, "metadata": {"on_failure": "block"}},
        {"name": "x", "timeout": 2, "metadata": {"on_failure": "block", "guard": "x"}},
    ]
    assert released_hooks.own_settings(fields, versions) == own


@pytest.mark.parametrize(
    "definition", [b"", b"no front matter", b"---\nname: x\n", b"---\n- a\n---\n", b"---\n{\n---\n"]
)
def test_a_definition_without_front_matter_is_none(definition: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        released_hooks.parts(definition)


def test_windows_line_ends_and_a_byte_order_mark_are_no_change() -> None:
    assert released_hooks.parts("\ufeff---\r\nname: x\r\n---\r\n\r\nText\r\n".encode()) == ({"name": "x"}, b"\nText\n")
