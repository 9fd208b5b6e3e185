"""Hooks in a TOML file, read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support import write_config
from tenterhook.formats import toml_files

if TYPE_CHECKING:
    from pathlib import Path


def read(tmp_path: Path, text: str, name: str = "config.toml") -> toml_files.TomlDefinitions:
    """What is found in a file with this text."""
    return toml_files.read(str(write_config(tmp_path / name, text)))
