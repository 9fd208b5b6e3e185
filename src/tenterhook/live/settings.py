"""An agent's settings file in a temporary home: read, changed in places, and written back with all the rest kept."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import tomlkit
import tomlkit.exceptions

from ..errors import HookError
from ..formats import commented_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class BadSettings(HookError):
    """A settings file that the agent itself could not read."""


@contextmanager
def edited_json(file: Path) -> Iterator[dict[str, Any]]:
    """The settings, to be changed in place; empty if there is no file. Comments are read over and lost."""
    text = _text(file)
    try:
        settings = commented_json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise BadSettings(f"{file} is not JSON: {error}", "fix the file") from error
    if not isinstance(settings, dict):
        raise BadSettings(f"{file} is not a JSON object", "fix the file")
    yield settings
    _write(file, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")


@contextmanager
def edited_toml(file: Path) -> Iterator[dict[str, Any]]:
    """The settings, to be changed in place; empty if there is no file. Comments and order are kept."""
    try:
        settings = tomlkit.parse(_text(file))
    except (tomlkit.exceptions.TOMLKitError, ValueError) as error:
        raise BadSettings(f"{file} is not TOML: {error}", "fix the file") from error
    yield settings
    _write(file, tomlkit.dumps(settings))


def table(settings: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The table below these keys, made where there is none; anything else in its place is replaced."""
    for key in keys:
        if not isinstance(settings.get(key), dict):
            settings[key] = {}
        settings = settings[key]
    return settings


def drop(settings: dict[str, Any], *keys: str) -> None:
    for key in keys:
        settings.pop(key, None)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{file} cannot be read: {error}", "fix the file") from error


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
