"""Reads settings files of agents for `doctor`; a missing or broken one is read as empty."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING, Any

from ..formats import commented_json

if TYPE_CHECKING:
    from collections.abc import Callable


def read_json(file: str) -> dict[str, Any]:
    """Return the object in a JSON file, which may have comments; empty if there is none."""
    return _read(file, commented_json.loads)


def read_toml(file: str) -> dict[str, Any]:
    """Return the document in a TOML file; empty if there is none."""
    return _read(file, tomllib.loads)


def read_yaml(file: str) -> dict[str, Any]:
    """Return the mapping in a YAML file; empty if there is none."""
    import yaml

    return _read(file, yaml.safe_load, (*_ERRORS, yaml.YAMLError))


_ERRORS = (OSError, ValueError, RecursionError)  # reported elsewhere


def _read(file: str, parse: Callable[[str], Any], errors: tuple[type[Exception], ...] = _ERRORS) -> dict[str, Any]:
    try:
        with open(file, encoding="utf-8-sig") as stream:
            value = parse(stream.read())
    except errors:
        return {}
    return value if isinstance(value, dict) else {}


def disabled_hooks(settings: str, project: str, managed: str) -> list[tuple[str, str]]:
    """Return the settings of Claude Code and Qwen Code that disable all hooks, each with a remedy.

    `project` is the folder of a project's settings, which also disable the user's own hooks; `managed` is the file of
    the machine's administrator.
    """
    found = []
    for file in (
        settings,
        *(os.path.join(project, name) for name in ("settings.json", "settings.local.json")),
        managed,
    ):
        if read_json(file).get("disableAllHooks"):
            found.append((f"disableAllHooks in {file} switches every hook off", "remove it"))
    if read_json(managed).get("allowManagedHooksOnly"):
        found.append((f"allowManagedHooksOnly in {managed} switches off every hook that is not in it", ASK_ADMIN))
    return found


ASK_ADMIN = "ask the administrator of this machine to add Tenterhook's hooks there"
