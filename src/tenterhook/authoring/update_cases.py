"""Rewriting expectations in their file; everything else, also comments, stays as it is."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from ..errors import HookError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .cases import Case
    from .expectations import ExpectationChange


def rewrite(file: str, edits: Sequence[tuple[Case, Sequence[ExpectationChange]]]) -> None:
    """Edit the expectations of these cases of a file. Raises `HookError`, without a change, if it cannot be edited."""
    with open(file, encoding="utf-8-sig", newline="") as stream:
        before = stream.read()
    wanted = json.loads(before) if file.endswith(".json") else tomllib.loads(before)
    for case, changes in edits:
        _apply(_owner(wanted, case).setdefault("expect", {}), changes)
    if file.endswith(".json"):
        _replace(file, json.dumps(wanted, indent=2, ensure_ascii=False) + "\n")
        return
    after = _toml(before, edits)
    if after is None or tomllib.loads(after) != wanted:
        raise HookError(f"{file} is written in a way that cannot be edited", "edit its expectations by hand")
    _replace(file, after)


def _owner(document: Any, case: Case) -> Any:
    """Return the table of a case."""
    return document if case.number is None else document["case"][case.number]


def _apply(expect: Any, changes: Sequence[ExpectationChange]) -> None:
    for keys, value in changes:
        inside = expect
        for key in keys[:-1]:
            if key not in inside:
                inside[key] = {}
            inside = inside[key]
        if value is None:
            inside.pop(keys[-1], None)
        else:
            inside[keys[-1]] = value


def _toml(before: str, edits: Sequence[tuple[Case, Sequence[ExpectationChange]]]) -> str | None:
    """Return the edited text; None if tomlkit cannot edit it."""
    try:
        document = tomlkit.parse(before)
        for case, changes in edits:
            owner = _owner(document, case)
            is_new = "expect" not in owner
            if is_new:
                owner["expect"] = tomlkit.table()
            _apply(owner["expect"], [change._replace(value=_item(change.value)) for change in changes])
            if is_new and case.number is not None:
                owner["expect"].add(tomlkit.nl())  # before the next case
        return tomlkit.dumps(document).rstrip("\n") + "\n"
    except (TOMLKitError, ValueError, KeyError, TypeError):
        return None


def _item(value: Any) -> Any:
    """Return a value as TOML: a text of several lines as such, a table on one line."""
    if isinstance(value, str):
        if not _reads_better_as_lines(value):
            return tomlkit.string(value)
        # the line break right after the quotes is not part of the text
        return tomlkit.value('"""\n' + tomlkit.string(value, multiline=True).as_string()[3:])
    if isinstance(value, dict):
        inline = tomlkit.inline_table()
        for key, inner in value.items():
            inline[key] = _item(inner) if isinstance(inner, dict) else inner
        return inline
    return value


def _reads_better_as_lines(text: str) -> bool:
    """Return whether a text has several lines, and nothing that a multi-line string would hide or lose."""
    if "\n" not in text.rstrip("\n") or text.startswith("\n") or '"""' in text or text.endswith('"'):
        return False
    return all(char == "\n" or char.isprintable() for char in text)


def _replace(file: str, text: str) -> None:
    """Write the file so that a crash leaves the old or the new one; its mode stays."""
    temporary = f"{file}.{os.getpid()}.new"
    try:
        with open(temporary, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        os.chmod(temporary, os.stat(file).st_mode & 0o7777)
        os.replace(temporary, file)
    except BaseException:  # leave nothing half-written
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
