"""Creating, replacing and deleting the folder of a hook."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ..basics import places, private_files
from ..catalog import layer_settings
from ..errors import HookError
from ..events import BY_NAME
from ..formats import hook_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .templates import File


def check_name(name: str) -> None:
    """Raise `HookError` for a name that the loader refuses, that is not a valid folder, or that is an event's."""
    given = {"name": name, "trigger": "pre-session"}
    problems = [
        each for each in hook_fields.check(hook_fields.FOLDER, given, "", lambda _: None)[1] if each.key == "name"
    ]
    if problems:
        raise HookError(problems[0].message, problems[0].remedy)
    if re.search(r"[/\x00-\x1f\x7f]", name) or name.startswith(".") or name == layer_settings.FILE:
        raise HookError(f"{name!r} cannot be the name of a hook", "use lower-case letters, digits and hyphens")
    if name in BY_NAME:
        message = f"{name!r} is the name of an event, and `tenterhook show` could no longer show the event"
        raise HookError(message, "choose another name, such as what the hook does")


class Interrupted(NamedTuple):
    """A folder that was moved away to be replaced, but the process was killed before that happened."""

    folder: str
    kept: str

    @property
    def remedy(self) -> str:
        return f"put it back: mv {shlex.quote(self.kept)} {shlex.quote(self.folder)}"

    def __str__(self) -> str:
        return f"{self.folder} is missing: replacing it was interrupted, and the old one is {self.kept}"


def write(folder: str, files: dict[str, File], *, replace: bool) -> str | None:
    """Create the folder, completely or not at all. Return the path to which an existing one was moved, or None.

    It is written beside the existing one; then the old one is renamed, and the new one after it. A killed process
    leaves one of the two; between the renames, the old one with a mark (see `interrupted`).
    """
    if os.path.lexists(folder) and not replace:
        raise HookError(f"there is already a hook: {folder}", "choose another name, or replace it with --force")
    places.make_directories(os.path.dirname(folder))
    with aside(os.path.dirname(folder)) as directory:
        new = os.path.join(directory, "new")
        _create(new, files)
        return put(new, folder)


@contextmanager
def aside(directory: str) -> Iterator[str]:
    """Create a temporary directory below a directory of hooks; folders below it are not loaded as hooks."""
    made = tempfile.mkdtemp(prefix=".new-", dir=directory)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def put(new: str, folder: str) -> str | None:
    """Move a new folder from `aside` to its place; return the path to which an existing one was moved, or None."""
    if os.path.lexists(folder):
        return _exchange(folder, new, f"{new}.old")
    os.rename(new, folder)
    _sync(os.path.dirname(folder))
    return None


def _create(folder: str, files: dict[str, File]) -> None:
    os.mkdir(folder, 0o755)
    for path, file in files.items():
        full = os.path.join(folder, path)
        places.make_directories(os.path.dirname(full))
        mode = 0o755 if file.executable else 0o644
        descriptor = os.open(full, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with open(descriptor, "w", encoding="utf-8", newline="") as stream:
            stream.write(file.text)
            os.fchmod(descriptor, mode)  # despite the umask and file systems that drop the exec bit
            stream.flush()
            os.fsync(descriptor)
    for directory, _, _ in os.walk(folder):
        _sync(directory)


def _sync(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchange(folder: str, new: str, old: str) -> str:
    """Replace a folder and keep it in the state directory, where hooks are not loaded from; return its path there."""
    directory = _kept_directory()
    places.make_private(directory)
    for mark in os.listdir(directory):  # of what was put back or replaced since
        if mark.endswith(_MARK) and _interrupted(os.path.join(directory, mark)) is None:
            os.unlink(os.path.join(directory, mark))
    kept = os.path.join(directory, f"{os.path.basename(folder)}-{time.strftime('%Y%m%d-%H%M%S')}")
    number = 1
    while os.path.lexists(kept) or os.path.lexists(kept + _MARK):
        number += 1
        kept = f"{kept.rpartition('~')[0] or kept}~{number}"
    moved = kept
    if os.lstat(folder).st_dev != os.stat(directory).st_dev:  # copied first: moving it would take long
        moved = old
        if os.path.islink(folder):
            os.symlink(os.readlink(folder), kept)
        else:
            shutil.copytree(folder, kept, symlinks=True)
    places.replace_file(kept + _MARK, os.fsencode(folder))
    try:
        os.rename(folder, moved)
        os.rename(new, folder)
    except BaseException:  # on Ctrl-C too, restore the old folder
        if not os.path.lexists(folder):
            os.rename(moved, folder)
        os.unlink(kept + _MARK)
        raise
    _sync(os.path.dirname(folder))
    os.unlink(kept + _MARK)
    return kept


_MARK = ".replacing"  # after the path of a kept folder: a file with the path it is kept from


def _kept_directory() -> str:
    return os.path.join(places.state(), "replaced")


def interrupted() -> list[Interrupted]:
    """Return the folders that were moved away but not replaced, because the process was killed."""
    directory = _kept_directory()
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    found = (_interrupted(os.path.join(directory, name)) for name in names if name.endswith(_MARK))
    return [each for each in found if each is not None]


def _interrupted(mark: str) -> Interrupted | None:
    kept = mark.removesuffix(_MARK)
    folder = os.fsdecode(private_files.read_regular(mark, 8192, no_links=True) or b"")
    is_missing = folder and not os.path.lexists(folder) and os.path.lexists(kept)
    return Interrupted(folder, kept) if is_missing else None


def delete(folder: str) -> None:
    """Delete a hook's folder: it is moved first, so that it stops being a hook at once. Of a link, only the link."""
    if os.path.islink(folder):
        os.unlink(folder)
        return
    with aside(os.path.dirname(folder)) as away:
        os.rename(folder, os.path.join(away, os.path.basename(folder)))
        try:
            shutil.rmtree(away)
        except OSError as error:
            message = f"the hook is removed, but not all of its files: {error.strerror}: {error.filename}"
            raise HookError(message, f"remove {away} yourself") from None
