"""What can be seen of a hook without running it: its command, and the scripts that the command names."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from ..basics import places
from . import scripts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..model import Hook

_LARGEST = 256 * 1024
_MOST_FILES = 64
_SCRIPT = re.compile(r".+\.(?:py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|php|lua)")
_PROJECT = re.compile(r"\$(\{)?(?:CLAUDE|GEMINI|QWEN|KIMI|TENTERHOOK)_(?:PROJECT|WORK)_DIR(?(1)\})/")
_PYTHON = re.compile(r"^(?:#!.*python|from [\w.]+ import |import [\w., ]+$|def \w+\(.*:$)", re.MULTILINE)


class Text(NamedTuple):
    """What a hook runs: a command, or the script at a path."""

    content: str
    path: str = ""

    @property
    def language(self) -> str:
        """`sh`, `py` or `js`; empty for any other."""
        first = self.content.partition("\n")[0] if self.content.startswith("#!") else ""
        if not self.path or re.search(r"\b(?:ba|da|z|k)?sh\b", first):
            return "sh"
        if first:
            return "py" if "python" in first else "js" if re.search(r"\bnode\b", first) else ""
        ending = os.path.splitext(self.path)[1]
        return {".sh": "sh", ".bash": "sh", ".py": "py", ".js": "js", ".mjs": "js", ".cjs": "js"}.get(ending, "")


class Sight(NamedTuple):
    """The texts behind a hook, and the scripts it names that could not be read."""

    texts: tuple[Text, ...]
    unseen: tuple[str, ...] = ()

    def reads(self, names: Iterable[str]) -> list[str]:
        """Those of these fields of a JSON object that the texts speak of: `"name"`, `.name`, `{name: …}`."""
        return [name for name in names if any(_speaks_of(name, text.content) for text in self.texts)]

    def names(self, words: Iterable[str]) -> list[str]:
        """Those of these words, such as variables, that are in the texts."""
        return [word for word in words if any(re.search(rf"\b{word}\b", text.content) for text in self.texts)]


def _speaks_of(name: str, text: str) -> bool:
    quoted = rf"[\"'`]{name}\\?[\"'`]"
    if re.search(rf"{quoted}|(?<=[\w\])}}?'\"| ])\??\.{name}\b(?!\s*\()", text):
        return True
    if _PYTHON.search(text):
        return False  # there a name before a colon is no key
    key = rf"(?:^|[{{,])\s*{name}\s*:(?!:)"
    if name != "continue":  # which can also be a statement
        key += (
            rf"|(?<!\$)\{{\s*(?:[\w$.]+(?:\s*:\s*[\w$.]+)?\s*,\s*)*{name}\s*[,}}]"  # of an object, its value's name too
        )
    return re.search(key, text, re.MULTILINE) is not None


def look(hook: Hook) -> Sight:
    """Read what a hook would run; of a script that was made from a command also what the command names."""
    if hook.folder is None:
        return _look_at(hook.command or "", hook)
    inside = _look_into(os.path.join(hook.folder, "scripts"))
    origin = scripts.command_of(hook.folder, hook.spec)
    if origin is None:
        return inside
    named = _look_at(origin.text, hook)
    return Sight((*inside.texts, *named.texts), (*inside.unseen, *named.unseen))


def _look_at(command: str, hook: Hook) -> Sight:
    texts, unseen = [Text(command)], []
    for path in _paths(command, hook):
        text = read(path)
        if text is not None:
            texts.append(Text(text, path))
        elif _SCRIPT.fullmatch(path) or os.access(path, os.X_OK):
            unseen.append(path)
    return Sight(tuple(texts), tuple(dict.fromkeys(unseen)))


def _look_into(folder: str) -> Sight:
    texts: list[Text] = []
    unseen: list[str] = []
    files: list[str] = []
    for where, directories, names in os.walk(folder):
        directories[:] = [name for name in directories if not name.startswith((".", "__pycache__"))]
        files += [os.path.join(where, name) for name in names if not name.startswith(".")]
    for number, path in enumerate(sorted(files)):
        text = read(path) if number < _MOST_FILES else None
        if text is not None:
            texts.append(Text(text, path))
        elif _SCRIPT.fullmatch(path) or os.access(path, os.X_OK):
            unseen.append(path)
    return Sight(tuple(texts), tuple(unseen))


def _paths(command: str, hook: Hook) -> Iterator[str]:
    """The files that a shell line names, as far as that can be told by a look."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        words = command.split()
    for word in words:
        path = in_project(word, hook) or os.path.expanduser(re.sub(r"^(?:\$HOME|\$\{HOME\})(?=/)", "~", word))
        if not ("/" in word or _SCRIPT.fullmatch(word)) or set(path) & set("$`*?<>|;&(){}\n\0 "):
            continue
        if not os.path.isdir(path) and not path.startswith("/dev/"):
            yield path


def in_project(word: str, hook: Hook) -> str | None:
    """Where a file of the project is that a word names by an agent's variable or as it is; None for any other."""
    inside = _PROJECT.sub("", word, count=1) if _PROJECT.match(word) else word
    if not inside or inside.startswith(("/", "~")) or "$" in inside:
        return None
    found = [os.path.normpath(os.path.join(root, inside)) for root in _projects(hook)]
    return next((path for path in found if os.path.isfile(path)), found[0] if inside != word else inside)


def _projects(hook: Hook) -> list[str]:
    """The project whose file defines the hook, if that can be told, and the current directory."""
    above = os.path.dirname(os.path.abspath(hook.source))
    above = os.path.dirname(above) if os.path.basename(above).startswith(".") else above
    here = os.getcwd()
    return [here] if os.path.realpath(above) == os.path.realpath(places.home()) else [above, here]


def read(path: str) -> str | None:
    """A script's text; None for what is not there, is no text or is too long."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None
