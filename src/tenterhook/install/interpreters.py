"""The interpreters of hooks as `install` records them: files, and those behind the shims of version managers.

pyenv, rbenv, nodenv, asdf, mise and others replace `python3` or `node` with a program of their own. A file of a
cloned project (`.python-version`, `.tool-versions`) can make it fail, and a guard with it. So on hooks' `PATH` the
interpreter that the shim starts outside of any project comes before the shim. Our own interpreter must not be in a
temporary environment either.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from ..basics import env_policy, places
from ..formats import entry_points
from .launcher import BRIDGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model import Hook

# The arguments with which each prints its own path.
_PATH_ARGUMENTS = {
    "python3": ("-I", "-c", "import sys; print(sys.executable)"),
    "python": ("-I", "-c", "import sys; print(sys.executable)"),
    "node": ("-p", "process.execPath"),
    "ruby": ("-e", "require 'rbconfig'; puts RbConfig.ruby"),
    "perl": ("-e", "print $^X"),
    "php": ("-r", "echo PHP_BINARY;"),
    "bun": ("-e", "console.log(process.execPath)"),
    "deno": ("eval", "console.log(Deno.execPath())"),
}
_TIMEOUT = 10  # seconds
_COMMON = ("python3", "python", "node", "bash", "sh", "zsh", "perl", "ruby", "php", "deno", "bun")


@functools.cache
def path_for_hooks(path: str) -> str:
    """Return a `PATH` with the directories of the real interpreters before the directories of their shims."""
    path = os.fsdecode(env_policy.absolute_only(os.fsencode(path)))
    for name, arguments in _PATH_ARGUMENTS.items():
        shim = _found_shim(name, path)
        behind = _behind(shim, arguments) if shim is not None else None
        if shim is not None and behind is not None:
            entries = path.split(":")
            entries.insert(entries.index(os.path.dirname(shim)), os.path.dirname(behind))
            path = ":".join(dict.fromkeys(entries))
    return path


def files(path: str, more: Iterable[str] = ()) -> dict[str, str]:
    """Return the files of the common interpreters, and of `more`, as found on a `PATH`; for a shim, the real one.

    A shim whose interpreter cannot be determined is left out.
    """
    found = {}
    for name in dict.fromkeys((*_COMMON, *more)):
        file = entry_points.on_path(name, path)
        arguments = _PATH_ARGUMENTS.get(name) or _PATH_ARGUMENTS.get(name.rstrip("0123456789."))
        if file is not None and arguments is not None and _may_be_shim(file, name):
            file = _behind(file, arguments)
        if file is not None:
            found[name] = file
    return found


def named_by(hooks: Iterable[Hook]) -> set[str]:
    """Return the interpreters that the scripts of hooks name without a path."""
    found = set()
    for hook in hooks:
        script = entry_points.entry_point(hook.folder)[0] if hook.folder is not None else None
        try:
            with open(script or os.devnull, "rb") as file:
                found.update(entry_points.named_interpreter(file.readline(256))[:1])
        except OSError:
            continue
    return found


def _found_shim(name: str, path: str) -> str | None:
    """Return the first program of this name on a `PATH` if it may be a shim."""
    found = entry_points.on_path(name, path)
    return found if found is not None and _may_be_shim(found, name) else None


def _may_be_shim(program: str, name: str) -> bool:
    """Return whether it is a script, a link to another kind of program, or in a directory of shims."""
    real = os.path.realpath(program)
    kind = name.rstrip("0123456789.")
    if os.path.basename(os.path.dirname(program)) == "shims" or not os.path.basename(real).startswith(kind):
        return True
    try:
        with open(real, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _behind(shim: str, arguments: tuple[str, ...]) -> str | None:
    """Return the interpreter that a shim starts in the home directory, outside of any project."""
    try:
        asked = subprocess.run(
            [shim, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=places.home(),
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    real = os.fsdecode(asked.stdout).strip()
    # it is looked up by name, so its file must have that name
    behind = os.path.join(os.path.dirname(real), os.path.basename(shim))
    is_one = asked.returncode == 0 and os.path.isabs(real) and entry_points.can_run(behind)
    return behind if is_one and os.path.dirname(behind) != os.path.dirname(shim) else None


_TEMPORARY = (
    *("/uv/archive-v", "/uv/environments-v", "/uv/builds-v"),
    *("/.cache/pipx/", "/pipx/.cache/"),  # what current and earlier versions of `pipx run` create
    *("/build/", "/.tox/", "/.nox/"),
)


def temporary() -> str | None:
    """Return why this Tenterhook will probably be deleted soon; None if nothing indicates that."""
    for path in (sys.executable, BRIDGE):
        real = os.path.realpath(os.path.dirname(path))
        for part in _TEMPORARY:
            if part in path or part in real:
                return f"{path} belongs to a temporary environment"
        for place in dict.fromkeys(("/tmp", "/var/tmp", tempfile.gettempdir())):  # noqa: S108
            if (path + "/").startswith(place.rstrip("/") + "/"):
                return f"{path} is in a temporary directory"
    return None
