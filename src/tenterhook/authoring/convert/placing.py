"""Writing converted hooks, as folders or as one file: all or nothing, and never over other files unless forced."""

from __future__ import annotations

import os
import shutil
import tempfile
import tomllib
from typing import TYPE_CHECKING, Any

import yaml

from ...basics.places import make_directories
from ...errors import HookError
from ...formats import commented_json, toml_files
from ...formats import folder as folder_format
from .findings import Note
from .targets import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .carrying import Carried, Conversion
    from .targets import Target

_ELSEWHERE = "name a place that you may write to"


def place_file(text: str, out: str, *, force: bool, sources: Sequence[str]) -> str:
    """Write one file atomically; return its path."""
    out = os.path.abspath(out)
    if os.path.isdir(out):
        raise HookError(f"{out} is a directory", "name the file to write")
    _refuse_source(out, sources)
    exists = HookError(f"{out} exists", "name another file, or use --force to replace it")
    if os.path.lexists(out):
        if not force:
            raise exists
        _refuse_other_settings(out)
    place = os.path.realpath(out) if force else out  # a link stays one
    temporary = None
    try:
        _make_directory(os.path.dirname(place))
        descriptor, temporary = tempfile.mkstemp(prefix=".tenterhook-", dir=os.path.dirname(place))
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, _mode(place))
        _move(temporary, place, force=force)
    except FileExistsError:
        raise exists from None
    except OSError as error:
        raise HookError(f"cannot write {out}: {error.strerror}", _ELSEWHERE) from None
    finally:
        if temporary is not None and os.path.lexists(temporary):
            os.unlink(temporary)
    return out


def _move(temporary: str, place: str, *, force: bool) -> None:
    """Move a file into its place; without `force`, fail if there is one by now."""
    if force:
        os.replace(temporary, place)
        return
    try:
        os.link(temporary, place)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        os.rename(temporary, place)


def _make_directory(directory: str) -> None:
    """Make a directory and its parents."""
    try:
        make_directories(directory)
    except NotADirectoryError as error:
        raise HookError(f"{error.filename} is not a directory", "name another place") from None


def _mode(out: str) -> int:
    if os.path.exists(out):
        return os.stat(out).st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o644 & ~umask


def _refuse_other_settings(file: str) -> None:
    """Raise if a file contains anything besides hooks, as far as it can be read."""
    try:
        with open(file, encoding="utf-8-sig") as stream:
            text = stream.read()
        document: Any = tomllib.loads(text) if file.endswith(".toml") else commented_json.loads(text)
    except (OSError, ValueError, RecursionError):
        return
    others = [key for key in document if key != "hooks"] if isinstance(document, dict) else []
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
    """Write a folder for each hook below a directory; return their paths."""
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
    try:
        _move_in(conversion, out, places)
    except shutil.Error as error:
        path, _, why = error.args[0][0]
        raise HookError(f"cannot copy {path}: {why}", "remove it from the folder, or make it readable") from None
    except OSError as error:
        raise HookError(f"cannot write to {out}: {error.strerror}", _ELSEWHERE) from None
    return places


def _move_in(conversion: Conversion, out: str, places: Sequence[str]) -> None:
    """Write everything to a temporary directory, then move it; restore replaced folders if a move fails."""
    made = not os.path.isdir(out)
    _make_directory(out)
    temporary = tempfile.mkdtemp(prefix=".tenterhook-", dir=out)
    moved: list[tuple[str, str | None]] = []
    try:
        new, old = os.path.join(temporary, "new"), os.path.join(temporary, "old")
        os.mkdir(new, 0o755)
        os.mkdir(old)
        names = write_folders(conversion, new)
        for name, place in zip(names, places, strict=True):
            kept = os.path.join(old, name) if os.path.lexists(place) else None
            if kept:
                os.rename(place, kept)
            moved.append((place, kept))
            os.rename(os.path.join(new, name), place)
    except BaseException:  # also if interrupted
        for place, kept in reversed(moved):
            if os.path.lexists(place):
                shutil.rmtree(place)
            if kept:
                os.rename(kept, place)
        raise
    finally:
        shutil.rmtree(temporary)
        if made and not os.listdir(out):
            os.rmdir(out)


def file_name_notes(file: str, target: Target) -> list[Note]:
    """Return a note on a settings file whose name and place make Tenterhook read it as another agent's."""
    read = toml_files.read(file)
    forms = sorted({FORMS[hook.format] for hook in read.hooks if hook.format != target.name})
    if not forms:
        return []
    folder = f".{target.name}"
    return [Note("", f"Tenterhook reads {os.path.basename(file)} as {forms[0]} unless it is in a folder {folder}")]


def write_folders(conversion: Conversion, directory: str) -> list[str]:
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
    title = " ".join((each.name or "").split())
    definition = os.path.join(folder, "HOOK.md")
    if os.path.lexists(definition):
        os.unlink(definition)  # it may be a link to a file elsewhere
    _write_file(definition, f"---\n{_front_matter(each)}---\n\n{body or f'# {title}'}\n", 0o644)


def _write_file(path: str, text: str, mode: int) -> None:
    """Create a file with this mode, or a stricter umask's: a hook that others can write to is refused."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with open(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _says_the_same(each: Carried, folder: str) -> bool:
    """Return whether the copied HOOK.md defines exactly this hook."""
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
