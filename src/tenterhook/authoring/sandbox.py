"""The sandbox of a case: fresh directories with its files, and an environment that refers to nothing real."""

from __future__ import annotations

import os
import re
import shutil
import stat
from typing import TYPE_CHECKING, Any

from ..agents import AGENTS
from ..errors import HookError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .paths import Places

_LARGEST = 1024 * 1024
_MOST_CHANGED = 50
_OURS = (".local/state/tenterhook", ".cache/tenterhook")  # written by the engine, not by hooks

# Variables of the caller that refer to something real: its desktop, its keys, its repository, its agent.
_REAL = re.compile(
    rf"XDG_\w*|TENTERHOOK_(?!CHAIN$)\w*|GIT_\w*|({'|'.join(agent.variable_prefix for agent in AGENTS.values())})\w*"
    r"|DISPLAY|WAYLAND_DISPLAY|DBUS_\w*|SSH_AUTH_SOCK|SSH_AGENT_PID|GNUPGHOME|GPG_AGENT_INFO|BASH_ENV|ENV|OLDPWD"
).fullmatch


def environment(caller: Mapping[str, str], places: Places, given: Mapping[str, str | None]) -> dict[str, str]:
    """Return the environment of a hook: the caller's variables that refer to nothing real, and those of the case."""
    env = {name: value for name, value in caller.items() if not _REAL(name)}
    env |= {
        "HOME": places.home,
        "PWD": places.work_dir,
        "TMPDIR": places.tmp,
        "GIT_CEILING_DIRECTORIES": places.base,
    }
    for name, value in given.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = places.filled(value)
    return env


def make(places: Places) -> None:
    """Create the directories of a case."""
    for directory in (places.work_dir, places.home, places.tmp):
        os.mkdir(directory, 0o700)


def remove(base: str) -> None:
    """Delete everything of a case, including files without permissions."""

    def unlock(_: Callable[..., Any], path: str, __: object) -> None:
        try:
            if path != base:  # the directory above is not ours
                os.chmod(os.path.dirname(path), 0o700)
            if stat.S_ISDIR(os.lstat(path).st_mode):
                os.chmod(path, 0o700)
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        except OSError:  # deleted already, or not permitted
            pass

    shutil.rmtree(base, onerror=unlock)
    if os.path.isdir(base):
        shutil.rmtree(base, ignore_errors=True)


def write_files(places: Places, files: Mapping[str, Mapping[str, str | None]]) -> None:
    """Write the files of a case, links last, so that none is written through. Raises `HookError` if one leads out."""
    for path, entry in sorted(files.items(), key=lambda item: item[1]["link"] is not None):
        full = places.path_of(path)
        parent = os.path.dirname(full.rstrip("/"))
        if not f"{os.path.realpath(parent)}/".startswith(f"{places.base}/"):
            raise HookError(f"{path} is outside the case's directory", "fix the link in its path")
        os.makedirs(parent, mode=0o700, exist_ok=True)
        if entry["link"] is not None:
            os.symlink(places.filled(entry["link"]), full)
            continue
        if path.endswith("/"):
            os.makedirs(full, mode=0o700, exist_ok=True)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(full, flags, 0o644), "wb") as stream:
                stream.write(places.filled(entry["content"] or "").encode("utf-8", "surrogatepass"))
        if entry["mode"] is not None:
            os.chmod(full, int(entry["mode"], 8))


def read_back(full: str) -> dict[str, Any]:
    """Return the kind and mode of a path, and its text if it is a file."""
    try:
        found = os.stat(full)
    except OSError:
        kind = "link" if os.path.islink(full) else "absent"
        return {"kind": kind, "mode": "", "content": None}
    mode = f"{stat.S_IMODE(found.st_mode):03o}"
    if not stat.S_ISREG(found.st_mode):
        return {"kind": "folder" if stat.S_ISDIR(found.st_mode) else "special", "mode": mode, "content": None}
    try:
        with open(full, "rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        return {"kind": "file", "mode": mode, "content": f"(unreadable: {error.strerror})"}
    rest = f"… and {found.st_size - _LARGEST} more bytes" if len(data) > _LARGEST else ""
    return {"kind": "file", "mode": mode, "content": data[:_LARGEST].decode("utf-8", "replace") + rest}


def snapshot(places: Places) -> dict[str, tuple[int, int, int]]:
    """Return all files of the working directory, the home and the hook's state, by their path in a case."""
    found: dict[str, tuple[int, int, int]] = {}
    for name, full in _all_files(places):
        try:
            seen = os.lstat(full)
        except OSError:  # deleted meanwhile
            continue
        if stat.S_ISREG(seen.st_mode):
            found[name] = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
    return found


def _all_files(places: Places) -> Iterator[tuple[str, str]]:
    for start, shown in ((places.work_dir, ""), (places.home, "~/"), (places.state_dir, "{{state_dir}}/")):
        for directory, folders, names in os.walk(start):
            if start == places.home:
                relative = os.path.relpath(directory, start)
                folders[:] = [name for name in folders if f"{relative}/{name}" not in _OURS]
            folders[:] = [name for name in folders if name != ".git"]
            for name in names:
                full = os.path.join(directory, name)
                yield shown + os.path.relpath(full, start), full


def changed(places: Places, before: Mapping[str, tuple[int, int, int]]) -> dict[str, Any]:
    """Return the created, changed and deleted files: their text, False if deleted, True if not text."""
    after = snapshot(places)
    found: dict[str, Any] = {name: False for name in before if name not in after}
    for name in sorted(after):
        if before.get(name) != after[name] and len(found) < _MOST_CHANGED:
            content = read_back(places.path_of(name))["content"]
            found[name] = content if content is not None and "\ufffd" not in content else True
    return found
