"""Creating, replacing and deleting the folder of a hook."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from typing import TYPE_CHECKING

from ..basics import places
from ..catalog import layer_settings
from ..errors import HookError
from ..events import BY_NAME
from ..formats import fields

if TYPE_CHECKING:
    from .templates import File


def check_name(name: str) -> None:
    """Raise `HookError` for a name that the loader refuses, that is not a valid folder, or that is an event's."""
    given = {"name": name, "trigger": "pre-session"}
    problems = [each for each in fields.check(fields.FOLDER, given, "", lambda _: None)[1] if each.key == "name"]
    if problems:
        raise HookError(problems[0].message, problems[0].remedy)
    if re.search(r"[/\x00-\x1f\x7f]", name) or name.startswith(".") or name == layer_settings.FILE:
        raise HookError(f"{name!r} cannot be the name of a hook", "use lower-case letters, digits and hyphens")
    if name in BY_NAME:
        message = f"{name!r} is the name of an event, and `tenterhook show` could no longer show that"
        raise HookError(message, "choose another name, such as what the hook does")


def write(folder: str, files: dict[str, File], *, replace: bool) -> str | None:
    """Create the folder, completely or not at all. Return the path to which an existing one was moved, or None.

    The definition must be the last file: without it, the folder is not a hook.
    """
    kept = None
    if os.path.lexists(folder):
        if not replace:
            raise HookError(f"there is a hook already: {folder}", "choose another name, or replace it with --force")
        kept = _keep(folder)
    places.make_directories(os.path.dirname(folder))
    os.mkdir(folder, 0o755)
    try:
        for path, file in files.items():
            full = os.path.join(folder, path)
            places.make_directories(os.path.dirname(full))
            mode = 0o755 if file.executable else 0o644
            descriptor = os.open(full, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            with open(descriptor, "w", encoding="utf-8", newline="") as stream:
                stream.write(file.text)
                os.fchmod(descriptor, mode)  # despite the umask and file systems that drop the exec bit
    except BaseException:  # leave nothing half-written
        shutil.rmtree(folder, ignore_errors=True)
        if kept is not None:
            shutil.move(kept, folder)
        raise
    return kept


def delete(folder: str) -> None:
    """Delete a hook's folder: it is first moved, so that it is no longer a hook at once. Of a link, only the link."""
    if os.path.islink(folder):
        os.unlink(folder)
        return
    aside = tempfile.mkdtemp(
        prefix=".removed-", dir=os.path.dirname(folder)
    )  # folders below it are not loaded as hooks
    try:
        os.rename(folder, os.path.join(aside, os.path.basename(folder)))
    except OSError:
        os.rmdir(aside)
        raise
    try:
        shutil.rmtree(aside)
    except OSError as error:
        message = f"the hook is removed, but not all of its files: {error.strerror}: {error.filename}"
        raise HookError(message, f"remove {aside} yourself") from None


def _keep(folder: str) -> str:
    """Move a folder to the state directory, where hooks are not loaded from; return its new path."""
    directory = os.path.join(places.state(), "replaced")
    places.make_private(directory)
    kept = os.path.join(directory, f"{os.path.basename(folder)}-{time.strftime('%Y%m%d-%H%M%S')}")
    number = 1
    while os.path.lexists(kept):
        number += 1
        kept = f"{kept.rpartition('~')[0] or kept}~{number}"
    shutil.move(folder, kept)
    return kept
