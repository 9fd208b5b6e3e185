"""Writing converted hooks, as folders or as one file: complete or not at all, never over other files unless forced."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import yaml

from ...agents.settings_files import read_json, read_toml
from ...basics.places import make_directories, replace_file
from ...errors import HookError
from ...formats import folder as folder_format
from ...formats import toml_files
from .. import folders
from .carrying import NAMED
from .findings import Note
from .targets import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .carrying import Conversion, ConvertedHook
    from .targets import Target

_ELSEWHERE = "name a place that you may write to"


def place_file(text: str, out: str, *, force: bool, sources: Sequence[str]) -> str:
    """Write one file; return its path."""
    out = os.path.abspath(out)
    if os.path.isdir(out):
        raise HookError(f"{out} is a directory", "name the file to write")
    _refuse_source(out, sources)
    if os.path.lexists(out):
        if not force:
            raise HookError(f"{out} exists", "name another file, or use --force to replace it")
        _refuse_other_settings(out)
    place = os.path.realpath(out)  # a link stays one
    try:
        make_directories(os.path.dirname(place))
        mode = os.stat(place).st_mode & 0o777 if os.path.exists(place) else 0o644
        replace_file(place, text.encode(), mode=mode)
    except OSError as error:
        raise HookError(f"cannot write {out}: {error.strerror}", _ELSEWHERE) from None
    return out


def _refuse_other_settings(file: str) -> None:
    """Raise if a file contains anything besides hooks, as far as it can be read."""
    document = read_toml(file) if file.endswith(".toml") else read_json(file)
    others = [key for key in document if key != "hooks"]
    if others:
        raise HookError(
            f"{file} contains other settings as well ({', '.join(others[:3])}), which would be lost",
            "write to another file, and copy its hooks over",
        )


def _refuse_source(out: str, sources: Sequence[str]) -> None:
    """Raise if a conversion would overwrite its own source."""
    for source in sources:
        if os.path.exists(out) and os.path.exists(source) and os.path.samefile(out, source):
            raise HookError(f"{out} is what is being converted", "write to another place")


def place_folders(conversion: Conversion, out: str, *, force: bool, sources: Sequence[str]) -> list[str]:
    """Write a folder for each hook below a directory; return their paths. Folders that are replaced are kept."""
    out = os.path.abspath(out)
    if os.path.lexists(out) and not os.path.isdir(out):
        raise HookError(f"{out} is not a directory", "name the directory that the hooks' folders are to be in")
    places = [os.path.join(out, each.name or "") for each in conversion.hooks]
    for place in places:
        _refuse_source(place, [*sources, *(each.copied_from for each in conversion.hooks if each.copied_from)])
        if os.path.lexists(place):
            if not force:
                raise HookError(f"{place} exists", "name another directory with --out, or use --force to replace it")
            if not os.path.lexists(os.path.join(place, "HOOK.md")):
                raise HookError(f"{place} is not a hook's folder", "move it out of the way, or name another directory")
    is_new = not os.path.isdir(out)
    try:
        make_directories(out)
        with folders.aside(out) as new:
            write_folders(conversion, new)
            for place in places:
                folders.put(os.path.join(new, os.path.basename(place)), place)
    except shutil.Error as error:
        path, _, why = error.args[0][0]
        raise HookError(f"cannot copy {path}: {why}", "remove it from the folder, or make it readable") from None
    except OSError as error:
        raise HookError(f"cannot write to {out}: {error.strerror}", _ELSEWHERE) from None
    finally:
        if is_new and os.path.isdir(out) and not os.listdir(out):
            os.rmdir(out)
    return places


def file_name_notes(file: str, target: Target) -> list[Note]:
    """Return a note on a settings file whose name and place make Tenterhook read it as another agent's."""
    read = toml_files.read(file)
    forms = sorted({FORMS[hook.format] for hook in read.hooks if hook.format != target.name})
    if not forms:
        return []
    folder = f".{target.name}"
    return [Note("", f"Tenterhook reads {os.path.basename(file)} as {forms[0]} unless it is in a folder {folder}")]


def write_folders(conversion: Conversion, directory: str) -> None:
    """Make a folder for each hook in a directory of our own."""
    for each in conversion.hooks:
        _write_one(each, os.path.join(directory, each.name or ""))


def _write_one(each: ConvertedHook, folder: str) -> None:
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
    title = " ".join((each.name or "").split())
    said = f"\n\n{NAMED}" if each.is_named and each.copied_from is None else ""
    definition = os.path.join(folder, "HOOK.md")
    if os.path.lexists(definition):
        os.unlink(definition)  # it may be a link to a file elsewhere
    _write_file(definition, f"---\n{_front_matter(each)}---\n\n{body or f'# {title}{said}'}\n", 0o644)


def _write_file(path: str, text: str, mode: int) -> None:
    """Create a file with this mode, or a stricter umask's: a hook that others can write to is refused."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with open(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _says_the_same(each: ConvertedHook, folder: str) -> bool:
    """Return whether the copied HOOK.md defines exactly this hook."""
    read = folder_format.read(folder, "user").hook
    return read is not None and all(getattr(read, key) == value for key, value in _wanted(each).items())


def _wanted(each: ConvertedHook) -> dict[str, Any]:
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


def _front_matter(each: ConvertedHook) -> str:
    """Return the front matter, always with timeout, async and priority: a `hooks.toml` may set other defaults."""
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
