"""Scripts of a project that a command names: copied into the hook's folder, which then holds all that it runs."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from ..basics import shell_lines
from . import scripts, sight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from ..model import Hook
    from .findings import Findings

_INTERPRETER = re.compile(r"(?:.*/)?(?:python|node|bun|deno|tsx|(?:ba|da|z|k)?sh|ruby|perl|php|lua)[\d.]*")
_SHELL = re.compile(r"(?:.*/)?(?:ba|da|z|k)?sh")
_CODE = re.compile(r"-[cempr]|--eval|--print")  # options after which no script follows
_SHELL_CODE = re.compile(r"-\w*c")
_OWN_PLACE = re.compile(
    r"__file__|__dirname|__filename|import\.meta|BASH_SOURCE|\$0\b|\$\{0|sys\.path\b|sys\.argv\[0"
    r"|(?:require\(|from |import |import\()\s*['\"]\."
)


class Copied(NamedTuple):
    """A command that names its scripts in the hook's folder, and these: name there, and where each is now."""

    command: str
    files: dict[str, str]


def with_files(command: str, hook: Hook, findings: Findings) -> Copied:
    """The command for a folder, with the project's scripts that it names; what cannot be copied is said."""
    files: dict[str, str] = {}
    data = command.encode()
    for node in reversed(list(_scripts(shell_lines.parse(data)))):
        word = (node.text or b"").decode()
        path = sight.in_project(shlex.split(word)[0], hook)
        if path is None or not _is_project_name(word, path):
            continue
        why = _unfit(path, command)
        if why is not None:
            findings.note(
                f"it runs {word}, which was not copied: {why}. Keep it there, or copy what it needs into scripts/ "
                f"and write {scripts.HERE}{os.path.basename(path)} instead"
            )
            continue
        name = next((known for known, where in files.items() if where == path), None)
        if name is None:
            name = _name(path, files)
            files[name] = path
            findings.note(f"{path} is copied to scripts/{name}, and no longer needed where it is")
        data = data[: node.start_byte] + f"{scripts.HERE}{shlex.quote(name)}".encode() + data[node.end_byte :]
    return Copied(data.decode(), files)


def tell_kept(command: str, hook: Hook, findings: Findings) -> None:
    """Say which scripts of the project must stay, where a file of hooks cannot hold them."""
    for node in _scripts(shell_lines.parse(command.encode())):
        word = (node.text or b"").decode()
        path = sight.in_project(shlex.split(word)[0], hook)
        if path is not None and os.path.isfile(path) and _is_project_name(word, path):
            findings.note(f"it runs {path}: keep that file, or convert to folders (--to folder), which hold a copy")


def _is_project_name(word: str, path: str) -> bool:
    """Whether a word says a file by an agent's variable, or as it stands in the project."""
    return "_DIR" in word or "/" in word or os.path.isfile(path)


def _scripts(tree: Node) -> Iterator[Node]:
    """The words of a shell line that are scripts to run: a command with a slash, or what an interpreter is given."""
    left = [tree]
    while left:
        node = left.pop()
        left.extend(reversed(node.children))
        if node.type != "command":
            continue
        words = [child for child in node.children if child.type in ("command_name", *_WORDS)]
        name = words[0] if words else None
        if name is None or not name.text:
            continue
        script = name if "/" in name.text.decode() and not _INTERPRETER.fullmatch(name.text.decode()) else None
        if _INTERPRETER.fullmatch(name.text.decode()):
            code = _SHELL_CODE if _SHELL.fullmatch(name.text.decode()) else _CODE
            script = _argument(words[1:], code)
        if script is not None and _is_one_word(script):
            yield script


_WORDS = ("word", "string", "raw_string", "concatenation", "simple_expansion", "expansion")


def _argument(words: list[Node], code: re.Pattern[str]) -> Node | None:
    """What an interpreter runs: its first argument that is no option."""
    for word in words:
        text = (word.text or b"").decode()
        if code.fullmatch(text):
            return None
        if not text.startswith("-") and text != "run":
            return word
    return None


def _is_one_word(node: Node) -> bool:
    try:
        return len(shlex.split((node.text or b"").decode())) == 1 and b"'" not in (node.text or b"")
    except ValueError:
        return False


def _unfit(path: str, command: str) -> str | None:
    """Why a script cannot be copied alone."""
    if not os.path.isfile(path):
        return "there is no such file"
    text = sight.read(path)
    if text is None:
        return "it is no text, or too long"
    if re.search(r"(?:^|[;&|({\n]\s*)(?:cd|pushd)\s", command):
        return "the command changes its directory"
    if _OWN_PLACE.search(text):
        return "it looks for other files beside itself"
    others = [name for name in _beside(path) if _mentions(text, name)]
    return f"it uses {', '.join(others)} beside it" if others else None


def _beside(path: str) -> list[str]:
    return sorted(name for name in os.listdir(os.path.dirname(path)) if name != os.path.basename(path))


def _mentions(text: str, name: str) -> bool:
    """Whether a script names a file, or imports it as a module."""
    stem = re.escape(os.path.splitext(name)[0])
    imported = rf"^\s*(?:import|from)\s+{stem}\b|['\"]\./{stem}['\"]"
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])|{imported}", text, re.MULTILINE) is not None


def _name(path: str, taken: dict[str, str]) -> str:
    """A name below scripts/ that is nobody else's, nor an entry point's."""
    name = os.path.basename(path)
    others = (name, *(f"{number}-{name}" for number in range(2, 1000)))
    return next(each for each in others if each not in taken and each not in ("run", "run.sh", "run.py"))
