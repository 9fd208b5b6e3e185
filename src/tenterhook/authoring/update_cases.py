"""Rewriting expectations in their file; everything else, including comments, stays as it is."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from ..basics.places import replace_file
from ..errors import HookError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .cases import Case


def rewrite(file: str, edits: Sequence[tuple[Case, Mapping[str, Any]]]) -> None:
    """Give cases of a file other expectations. Raises `HookError`, without a change, if it cannot be edited."""
    with open(file, encoding="utf-8-sig", newline="") as stream:
        before = stream.read()
    wanted = json.loads(before) if file.endswith(".json") else tomllib.loads(before)
    for case, expect in edits:
        _owner(wanted, case)["expect"] = dict(expect)
    if file.endswith(".json"):
        _replace(file, json.dumps(wanted, indent=2, ensure_ascii=False) + "\n")
        return
    after = _toml(before, edits)
    if after is None or tomllib.loads(after) != wanted:
        raise HookError(f"{file} is written in a form that cannot be edited", "edit its expectations by hand")
    _replace(file, after)


def _owner(document: Any, case: Case) -> Any:
    """Return the table of a case."""
    return document if case.number is None else document["case"][case.number]


def _toml(before: str, edits: Sequence[tuple[Case, Mapping[str, Any]]]) -> str | None:
    """Return the edited text; None if tomlkit cannot edit it."""
    try:
        document = tomlkit.parse(before)
        for case, expect in edits:
            owner = _owner(document, case)
            is_new = "expect" not in owner
            if is_new:
                owner["expect"] = tomlkit.table()
            merge(owner["expect"], expect)
            if is_new and case.number is not None:
                owner["expect"].add(tomlkit.nl())  # before the next case
        return tomlkit.dumps(document).rstrip("\n") + "\n"
    except (TOMLKitError, ValueError, KeyError, TypeError):
        return None


def merge(table: Any, wanted: Mapping[str, Any]) -> None:
    """Make a table of TOML the wanted one; what is as wanted is not touched."""
    for key in [key for key in table if key not in wanted]:
        table.pop(key)
    for key, value in wanted.items():
        if key in ("files", "env"):
            if key not in table:
                table[key] = {}
            merge(table[key], value)
        elif table.get(key) != value:
            table[key] = _item(value)


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
    replace_file(file, text.encode(), mode=os.stat(file).st_mode & 0o777)
