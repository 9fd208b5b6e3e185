"""Helpers for headless runs: edit an agent's settings in a temporary home, find out a program's version."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import tomlkit
import tomlkit.exceptions

from ..errors import HookError
from ..formats import commented_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OTHER_MODELS = ("ANTHROPIC_", "CLAUDE_", "OPENAI_", "GEMINI_", "GOOGLE_", "QWEN_", "AWS_", "VERTEX_", "OTEL_")
_CREDENTIALS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PROXY")


class BadSettings(HookError):
    """A settings file that is missing permissions or not valid."""


@contextmanager
def edited_json(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the settings, to be changed in place; empty if there is no file. Comments are lost."""
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
def edited_yaml(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the settings, to be changed in place; empty if there is no file. Comments are lost."""
    import yaml

    try:
        settings = yaml.safe_load(_text(file)) or {}
    except (yaml.YAMLError, ValueError) as error:
        raise BadSettings(f"{file} is not YAML: {error}", "fix the file") from error
    if not isinstance(settings, dict):
        raise BadSettings(f"{file} is not a YAML mapping", "fix the file")
    yield settings
    _write(file, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))


@contextmanager
def edited_toml(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the settings, to be changed in place; empty if there is no file. Comments and order are kept."""
    try:
        settings = tomlkit.parse(_text(file))
    except (tomlkit.exceptions.TOMLKitError, ValueError) as error:
        raise BadSettings(f"{file} is not TOML: {error}", "fix the file") from error
    yield settings
    _write(file, tomlkit.dumps(settings))


def table(settings: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return the table below these keys; create it if it is missing, and replace anything else."""
    for key in keys:
        if not isinstance(settings.get(key), dict):
            settings[key] = {}
        settings = settings[key]
    return settings


def drop(settings: dict[str, Any], *keys: str) -> None:
    """Remove these keys, if they exist."""
    for key in keys:
        settings.pop(key, None)


def drop_credentials(settings: dict[str, Any]) -> None:
    """Remove variables with credentials or other models from settings, and keep the others, which hooks may need."""
    for name in list(table(settings, "env")):
        if name.startswith(_OTHER_MODELS) or name.upper().endswith(_CREDENTIALS):
            del settings["env"][name]
    if not settings["env"]:
        del settings["env"]


def version(executable: str, **variables: str) -> str | None:
    """Return the version that a program prints in an empty home, with `variables` set; None if it prints none."""
    own = {"PATH": search_path(executable), "NO_COLOR": "1", "TERM": "dumb", **variables}
    own["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else that library asks the network for prices
    with tempfile.TemporaryDirectory(prefix="tenterhook-") as home:
        try:
            done = subprocess.run(
                [executable, "--version"],
                env={**own, "HOME": home, "TMPDIR": home},
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    found = re.search(r"\d+(?:\.\d+)+[\w.+-]*", done.stdout)
    return found[0].rstrip(".") if found else None


def search_path(executable: str) -> str:
    """Return a PATH with the folders of the executable and of `node`, and the system's."""
    import shutil

    node = shutil.which("node")
    folders = [os.path.dirname(executable), os.path.dirname(node or ""), "/usr/local/bin", "/usr/bin", "/bin"]
    return os.pathsep.join(dict.fromkeys(filter(None, folders)))


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
