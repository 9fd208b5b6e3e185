"""What the editors of JSON and of TOML settings promise alike, with entries and files to test it with."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tenterhook.install import json_editor, toml_editor

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenterhook.install.text_edits import Edited

DATA = Path(__file__).parent / "data"
NOT_RESTORABLE = ("inline_with_comments", "inline_with_space")  # refused: they could not be restored to the byte


def is_ours(entry: Any) -> bool:
    return "exec tenterhook" in json.dumps(entry, default=str)


def group(command: str, **more: Any) -> dict[str, Any]:
    """An entry of JSON settings."""
    return {"hooks": [{"type": "command", "command": f"exec tenterhook {command}", "timeout": 600}], **more}


def hook(event: str, command: str, **more: Any) -> dict[str, Any]:
    """An entry of TOML settings."""
    return {"event": event, "command": f"exec tenterhook {command}", "timeout": 600, **more}


def json_value(text: bytes) -> Any:
    """The value of a JSON file, comments taken out one character after the other."""
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


def toml_value(text: bytes) -> dict[str, Any]:
    return tomllib.loads(text.decode("utf-8-sig"))


class Editor(NamedTuple):
    """An editor, its corpus, two sets of entries, and a reader that is independent of it."""

    module: Any
    corpus: list[Path]
    entries: Any
    others: Any
    value: Callable[[bytes], Any]

    def check(self, before: bytes, entries: Any) -> Edited:
        """Entries can be added to a file, a second time without a change, and removed again to the byte."""
        edited: Edited = self.module.with_entries(before, entries, is_ours)
        after = self.value(edited.text)
        assert ours(after.get("hooks", {})) == ours(entries)
        assert json.dumps(without_ours(after), default=str) == json.dumps(without_ours(self.value(before)), default=str)
        assert self.module.hooks_of(edited.text) == after.get("hooks", type(entries)())
        assert self.module.with_entries(edited.text, entries, is_ours, edited.created) == edited
        assert self.module.with_entries(edited.text, entries, is_ours).text == edited.text
        assert self.module.without_entries(edited.text, is_ours, edited.created) == before
        return edited

    def check_replaced(self, first: Edited, before: bytes, others: Any) -> None:
        """Other entries can replace those of an edit, and be removed to what was there before both."""
        second = self.module.with_entries(first.text, others, is_ours, first.created)
        assert ours(self.module.hooks_of(second.text)) == ours(others)
        assert self.module.without_entries(second.text, is_ours, second.created) == before


def ours(hooks: Any) -> dict[str, list[str]]:
    """Our entries by event; TOML names the event in the entry."""
    groups = hooks if isinstance(hooks, dict) else {"": hooks}
    found = {event: [entry for entry in entries if is_ours(entry)] for event, entries in groups.items()}
    return {event: sorted(map(json.dumps, entries)) for event, entries in found.items() if entries}


def without_ours(value: Any) -> Any:
    """A file's value without our entries, and without hooks where none are left."""
    hooks = value.get("hooks", {})
    groups = hooks if isinstance(hooks, dict) else {"": hooks}
    left = {event: [entry for entry in entries if not is_ours(entry)] for event, entries in groups.items()}
    left = {event: entries for event, entries in left.items() if entries}
    return {key: item for key, item in value.items() if key != "hooks"} | ({"hooks": left} if left else {})


JSON = Editor(
    json_editor,
    sorted(DATA.glob("*.json")),
    {
        "PreToolUse": [group("pre", matcher="Bash"), group('"ü\\', matcher="*")],
        "Stop": [group("stop")],
        "SessionStart": [group("start")],
    },
    {"Stop": [group("stop", matcher="x"), group("stop")], "PreToolUse": [group("pre", matcher="Bash")]},
    json_value,
)
TOML = Editor(
    toml_editor,
    [file for file in sorted(DATA.glob("*.toml")) if file.stem not in NOT_RESTORABLE],
    [hook("PreToolUse", "pre", matcher="Bash"), hook("Stop", "'ü\" \\ \x7f\x01\n[[hooks]]"), hook("Stop", "#")],
    [hook("Stop", "#"), hook("SessionStart", "new")],
    toml_value,
)
