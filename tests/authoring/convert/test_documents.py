"""Converted hooks as the text of one file."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from authoring.convert.ways import GUARD, config, read, tenterhook
from support import array_hook, table_hook
from tenterhook.authoring.convert import carrying, documents, targets
from tenterhook.formats import toml_files

if TYPE_CHECKING:
    from pathlib import Path


def text_of(source: Path, to: str, **options: Any) -> str:
    return documents.text_of(carrying.convert(read(source), targets.TARGETS[to]), **options)


@pytest.mark.parametrize("to", ["table", "array", "claude", "codex", "gemini"])
def test_without_hooks_the_text_is_still_a_file_of_hooks(to: str) -> None:
    text = documents.text_of(carrying.convert((), targets.TARGETS[to]))
    value = json.loads(text) if to in ("claude", "codex", "gemini") else tomllib.loads(text)
    assert list(value) == ["hooks"]
    assert not value["hooks"]


def test_a_default_timeout_is_left_to_the_target(project: Path) -> None:
    entries = [text_of(config(project, table_hook(GUARD, timeout=ms)), "array") for ms in (30_000, 5_000)]
    assert ["timeout" in tomllib.loads(text)["hooks"][0] for text in entries] == [False, True]


def test_neighbours_with_the_same_matcher_share_a_group(project: Path) -> None:
    hooks = [array_hook(command, matcher=matcher) for command, matcher in (("a", "Bash"), ("b", "Bash"), ("c", "Edit"))]
    groups = json.loads(text_of(config(project, "".join(hooks)), "claude"))["hooks"]["PreToolUse"]
    assert [[hook["command"] for hook in group["hooks"]] for group in groups] == [["a", "b"], ["c"]]


def test_hooks_of_codex_are_the_same_in_toml_and_in_json(project: Path) -> None:
    source = config(project, array_hook('echo "ü\\n"', matcher="Bash", timeout=5) + array_hook("x", "Stop"))
    assert tomllib.loads(text_of(source, "codex", toml=True)) == json.loads(text_of(source, "codex"))


def test_codex_can_be_toml(project: Path) -> None:
    ended = tenterhook("convert", config(project), "--to", "codex", "--out", "codex.toml")
    (hook,) = toml_files.read(str(project / "codex.toml")).hooks
    assert (hook.format, hook.command, hook.timeout) == ("codex", GUARD, 5.0)
    assert "Tenterhook reads" not in ended.stderr
