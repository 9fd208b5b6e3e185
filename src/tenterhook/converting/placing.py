"""What was converted, put in its place: all of it or nothing, and never over something else unless told so."""

from __future__ import annotations

import os
import shutil
import tempfile
import tomllib
from typing import TYPE_CHECKING, Any

from ..basics.places import make_directories
from ..errors import HookError
from ..formats import commented_json, toml_files
from . import folders
from .findings import Note
from .targets import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .carrying import Conversion
    from .targets import Target


def place_file(text: str, out: str, *, force: bool, sources: Sequence[str]) -> str:
    """Write one file, whole; return where it is."""
    out = os.path.abspath(out)
    if os.path.isdir(out):
        raise HookError(f"{out} is a directory", "name the file to write")
    _refuse_source(out, sources)
    if os.path.lexists(out):
        _may_replace_file(out, force)
    place = os.path.realpath(out) if force else out  # a link stays one
    try:
        _make_directory(os.path.dirname(place))
        descriptor, temporary = tempfile.mkstemp(prefix=".tenterhook-", dir=os.path.dirname(place))
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(temporary, _mode(place))
            if force:
                os.replace(temporary, place)
            else:
                _put(temporary, place)
        finally:
            if os.path.lexists(temporary):
                os.unlink(temporary)
    except FileExistsError:
        raise HookError(f"{out} exists", "name another file, or say --force to replace it") from None
    except OSError as error:
        raise HookError(f"cannot write {out}: {error.strerror}", "name a place that you may write to") from None
    return out


def _put(temporary: str, place: str) -> None:
    """Move a file where none may be."""
    try:
        os.link(temporary, place)  # fails if somebody else was quicker
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        os.rename(temporary, place)


def _make_directory(directory: str) -> None:
    """With all that is missing above it."""
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


def _may_replace_file(out: str, force: bool) -> None:
    if not force:
        raise HookError(f"{out} exists", "name another file, or say --force to replace it")
    others = _beside_hooks(out)
    if others:
        shown = ", ".join(others[:3])
        raise HookError(
            f"{out} holds other settings as well ({shown}), which would be lost",
            "write to another file, and copy its hooks over",
        )


def _beside_hooks(file: str) -> list[str]:
    """What a file holds besides hooks, as far as it can be read."""
    try:
        with open(file, encoding="utf-8-sig") as stream:
            text = stream.read()
        document: Any = tomllib.loads(text) if file.endswith(".toml") else commented_json.loads(text)
    except (OSError, ValueError, RecursionError):
        return []
    return [key for key in document if key != "hooks"] if isinstance(document, dict) else []


def _refuse_source(out: str, sources: Sequence[str]) -> None:
    """What is converted is never overwritten by what it becomes."""
    for source in sources:
        if os.path.exists(out) and os.path.exists(source) and os.path.samefile(out, source):
            raise HookError(f"{out} is what is being converted", "write to another place")


def place_folders(conversion: Conversion, out: str, *, force: bool, sources: Sequence[str]) -> list[str]:
    """Write a folder for each hook below a directory; return where they are."""
    out = os.path.abspath(out)
    if os.path.lexists(out) and not os.path.isdir(out):
        raise HookError(f"{out} is not a directory", "name the directory that the hooks' folders are to be in")
    places = [os.path.join(out, each.name or "") for each in conversion.hooks]
    for place in places:
        _refuse_source(place, [*sources, *(each.copied_from for each in conversion.hooks if each.copied_from)])
        if os.path.lexists(place):
            if not force:
                raise HookError(f"{place} exists", "name another directory with --out, or say --force to replace it")
            if not os.path.lexists(os.path.join(place, "HOOK.md")):
                raise HookError(f"{place} is no hook's folder", "move it out of the way, or name another directory")
    try:
        _move_in(conversion, out, places)
    except shutil.Error as error:
        path, _, why = error.args[0][0]
        raise HookError(f"cannot copy {path}: {why}", "take it out of the folder, or make it readable") from None
    except OSError as error:
        raise HookError(f"cannot write to {out}: {error.strerror}", "name a place that you may write to") from None
    return places


def _move_in(conversion: Conversion, out: str, places: Sequence[str]) -> None:
    """Make everything beside its place, then move it in; what was there comes back if a move fails."""
    made = not os.path.isdir(out)
    _make_directory(out)
    temporary = tempfile.mkdtemp(prefix=".tenterhook-", dir=out)
    moved: list[tuple[str, str | None]] = []
    try:
        new, old = os.path.join(temporary, "new"), os.path.join(temporary, "old")
        os.mkdir(new, 0o755)
        os.mkdir(old)
        names = folders.write(conversion, new)
        for name, place in zip(names, places, strict=True):
            kept = os.path.join(old, name) if os.path.lexists(place) else None
            if kept:
                os.rename(place, kept)
            moved.append((place, kept))
            os.rename(os.path.join(new, name), place)
    except BaseException:  # what stood there before stands there again, whatever happened
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


def misread(file: str, target: Target) -> list[Note]:
    """What to say of a settings file that its name and place do not show for what it is."""
    read = toml_files.read(file)
    forms = sorted({FORMS[hook.format] for hook in read.hooks if hook.format != target.name})
    if not forms:
        return []
    folder = f".{target.name}"
    return [Note("", f"Tenterhook takes {os.path.basename(file)} for {forms[0]} unless it is in a folder {folder}")]
