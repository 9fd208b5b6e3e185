"""Paths of a case: below its working directory, its home, or the hook's own state; never anywhere else."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

WORK_DIR = "{{work_dir}}"
HOME = "{{home}}"
TMP = "{{tmp}}"
STATE_DIR = "{{state_dir}}"
REMEDY = f"write a path below it, '~/…' for one in the case's home, or '{STATE_DIR}/…' for the hook's own files"


class Places(NamedTuple):
    """The directories of one case, all below `base`."""

    base: str
    work_dir: str
    home: str
    tmp: str
    state_dir: str  # TENTERHOOK_STATE_DIR of the hook

    @classmethod
    def below(cls, base: str) -> Places:
        work_dir, home, tmp = (os.path.join(base, name) for name in ("work", "home", "tmp"))
        return cls(base, work_dir, home, tmp, "")

    def path_of(self, path: str) -> str:
        """Return the real path of a path in a case."""
        return os.path.join(self.work_dir, self.filled(f"{HOME}{path[1:]}" if path.startswith("~/") else path))

    def filled(self, text: str) -> str:
        """Return the text with placeholders replaced by directories."""
        for placeholder, directory in self._names():
            text = text.replace(placeholder, directory)
        return text

    def settled(self, text: str) -> str:
        """Return the text with directories replaced by placeholders, so that it is reproducible."""
        for placeholder, directory in self._names():
            text = text.replace(directory, placeholder)
        return text

    def _names(self) -> list[tuple[str, str]]:
        named = [(STATE_DIR, self.state_dir), (WORK_DIR, self.work_dir), (HOME, self.home), (TMP, self.tmp)]
        return [(placeholder, directory) for placeholder, directory in named if directory]


def all_filled(value: Any, places: Places) -> Any:
    """Return a plain value with all placeholders in its texts replaced."""
    return _mapped(value, places.filled)


def all_settled(value: Any, places: Places) -> Any:
    """Return a plain value with all directories of the case replaced by placeholders."""
    return _mapped(value, places.settled)


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key) if isinstance(key, str) else key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    return value


def is_below(path: str) -> bool:
    """Return whether a path in a case is always inside the case's directories."""
    for start in ("~", WORK_DIR, HOME, TMP, STATE_DIR):
        if path.startswith(start + "/"):
            path = path[len(start) + 1 :]
            break
    if not path or "\0" in path or path.startswith("/") or "{{" in path:
        return False
    return ".." not in path.split("/")


def is_mode(text: str) -> bool:
    return re.fullmatch(r"0?[0-7]{3}", text) is not None


def kind_of(entry: Mapping[str, Any]) -> str:
    """Return what `read_back` found at a path, for messages."""
    return {"absent": "no such file", "folder": "a folder", "link": "a dangling link"}.get(str(entry["kind"]), "a file")
