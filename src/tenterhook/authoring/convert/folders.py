"""Carried hooks as folders: HOOK.md, and the script or the files of another folder."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import yaml

from ...formats import folder as folder_format

if TYPE_CHECKING:
    from .carrying import Carried, Conversion


def write(conversion: Conversion, directory: str) -> list[str]:
    """Make a folder for each hook in a directory of our own; return their names."""
    for each in conversion.hooks:
        _write_one(each, os.path.join(directory, each.name or ""))
    return [each.name or "" for each in conversion.hooks]


def _write_one(each: Carried, folder: str) -> None:
    body = ""
    if each.copied_from is not None:
        shutil.copytree(each.copied_from, folder, symlinks=True)
        if _says_the_same(each, folder):
            return
        body = folder_format.body(each.copied_from)
    else:
        os.mkdir(folder, 0o755)
    if each.script is not None:
        path = os.path.join(folder, each.script.path)
        os.mkdir(os.path.dirname(path), 0o755)
        _write_file(path, each.script.text, 0o755)
    definition = os.path.join(folder, "HOOK.md")
    if os.path.lexists(definition):
        os.unlink(definition)  # it may be a link to a file elsewhere
    _write_file(definition, f"---\n{_front_matter(each)}---\n\n{body or f'# {_title(each)}'}\n", 0o644)


def _write_file(path: str, text: str, mode: int) -> None:
    """With this mode at most, whatever the umask: a hook that others can write to is refused."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with open(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _title(each: Carried) -> str:
    return " ".join((each.name or "").split())


def _says_the_same(each: Carried, folder: str) -> bool:
    """Whether the HOOK.md that was copied defines just this hook."""
    read = folder_format.read(folder, "user").hook
    return read is not None and all(getattr(read, key) == value for key, value in _wanted(each).items())


def _wanted(each: Carried) -> dict[str, Any]:
    return {
        "name": each.name,
        "event": each.hook.event,
        "declared": each.event,
        "tool": each.matchers.tool,
        "pattern": each.matchers.pattern,
        "timeout": each.timeout / 1000,
        "async_": each.async_,
        "priority": each.priority,
        "description": each.description,
        "metadata": each.metadata,
        "fail_closed": each.fail_closed,
    }


def _front_matter(each: Carried) -> str:
    """Timeout, async and priority are always there: a `hooks.toml` may set other defaults."""
    front: dict[str, Any] = {"name": each.name}
    if each.description:
        front["description"] = each.description
    front["trigger"] = each.event
    matcher = {key: value for key, value in (("tool", each.matchers.tool), ("pattern", each.matchers.pattern)) if value}
    if matcher:
        front["matcher"] = matcher
    front.update({"timeout": each.timeout, "async": each.async_, "priority": each.priority})
    if each.metadata:
        front["metadata"] = dict(each.metadata)
    return yaml.dump(front, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**6)


class _Dumper(yaml.SafeDumper):
    """Texts with line ends of any kind in double quotes: other styles fold them."""


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    folds = len(text.splitlines()) > 1 or text != text.rstrip("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if folds else None)


_Dumper.add_representer(str, _text)
