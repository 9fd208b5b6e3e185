"""What can be seen of a hook without running it: its command, and the scripts that the command names."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from . import scripts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..model import Hook

_LARGEST = 256 * 1024
_MOST_FILES = 64
_SCRIPT = re.compile(r".+\.(?:py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|php|lua)")


class Sight(NamedTuple):
    """The texts behind a hook, and the scripts it names that could not be read."""

    texts: tuple[str, ...]
    unseen: tuple[str, ...] = ()

    def reads(self, names: Iterable[str]) -> list[str]:
        """Those of these fields of a JSON object that the texts speak of: `"name"`, `.name`."""
        return [name for name in names if any(_field(name).search(text) for text in self.texts)]

    def names(self, words: Iterable[str]) -> list[str]:
        """Those of these words, such as variables, that are in the texts."""
        return [word for word in words if any(re.search(rf"\b{word}\b", text) for text in self.texts)]


def _field(name: str) -> re.Pattern[str]:
    quoted = rf"[\"'`]{name}\\?[\"'`]"
    return re.compile(rf"{quoted}|(?<=[\w\])}}?'\" ])\??\.{name}\b(?!\s*\()")


def look(hook: Hook) -> Sight:
    """Read what a hook would run; of a script that was made from a command also what the command names."""
    if hook.folder is None:
        return _look_at(hook.command or "")
    inside = _look_into(os.path.join(hook.folder, "scripts"))
    origin = scripts.command_of(hook.folder, hook.spec)
    if origin is None:
        return inside
    named = _look_at(origin.text)
    return Sight((*inside.texts, *named.texts), (*inside.unseen, *named.unseen))


def _look_at(command: str) -> Sight:
    texts, unseen = [command], []
    for path in _paths(command):
        text = _read(path)
        if text is not None:
            texts.append(text)
        elif _SCRIPT.fullmatch(path) or os.access(path, os.X_OK):
            unseen.append(path)
    return Sight(tuple(texts), tuple(dict.fromkeys(unseen)))


def _look_into(folder: str) -> Sight:
    texts: list[str] = []
    unseen: list[str] = []
    files: list[str] = []
    for where, directories, names in os.walk(folder):
        directories[:] = [name for name in directories if not name.startswith((".", "__pycache__"))]
        files += [os.path.join(where, name) for name in names if not name.startswith(".")]
    for number, path in enumerate(sorted(files)):
        text = _read(path) if number < _MOST_FILES else None
        if text is not None:
            texts.append(text)
        elif _SCRIPT.fullmatch(path) or os.access(path, os.X_OK):
            unseen.append(path)
    return Sight(tuple(texts), tuple(unseen))


def _paths(command: str) -> Iterator[str]:
    """The files that a shell line names, as far as that can be told by a look."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        words = command.split()
    for word in words:
        path = re.sub(r"^(?:\$HOME|\$\{HOME\})(?=/)", "~", word)
        path = os.path.expanduser(re.sub(r"^\$\{?\w+_(?:PROJECT|WORK)_DIR\}?(?=/)", ".", path))
        if not ("/" in path or _SCRIPT.fullmatch(path)) or set(path) & set("$`*?<>|;&(){}\n\0 "):
            continue
        if not os.path.isdir(path) and not path.startswith("/dev/"):
            yield path


def _read(path: str) -> str | None:
    """A script's text; None for what is not there, is no text or is too long."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None
