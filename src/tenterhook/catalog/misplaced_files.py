"""Finds files that seem to be hooks but are not read: a misspelt HOOK.md, a folder that is nested too deeply."""

from __future__ import annotations

import os

from ..errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_ENTRIES = 500  # entries of one directory
_MOST_NAMED = 3
_BELOW = ("", "/hooks", "/.agents/hooks")  # where repositories keep their hooks


def look(directory: str, name: str) -> Iterator[Problem]:
    """Yield the problems of an entry of a hooks directory that has no HOOK.md."""
    folder = f"{directory}/{name}"
    if name.upper() == "HOOK.MD":
        remedy = f"put it and its scripts into a folder of their own: {directory}/NAME/HOOK.md"
        message = "a hook has a folder of its own in the hooks directory; this one is not read"
        yield Problem("misplaced", folder, None, None, message, remedy)
        return
    if name.startswith("."):
        return
    if unreadable := _unreadable(folder):
        yield unreadable
        return
    wrong = misspelt(folder)
    if wrong:
        yield wrong
        return
    for below in _BELOW:
        parent = f"{folder}{below}"
        found = [each for each in _directory(parent) if os.path.lexists(f"{parent}/{each}/HOOK.md")]
        if found:
            yield _too_deep(directory, parent, sorted(found))
            return


def _unreadable(folder: str) -> Problem | None:
    """Return the problem of a folder that cannot be read, or None."""
    if os.path.islink(folder) and not os.path.exists(folder):
        message = f"a broken symbolic link: {os.readlink(folder)}"
        return Problem("unreadable", folder, None, None, message, "fix the link, or remove it")
    if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
        message, remedy = "cannot read this folder: Permission denied", "make it readable, or move it elsewhere"
        return Problem("unreadable", folder, None, None, message, remedy)
    return None


def misspelt(folder: str) -> Problem | None:
    """Return the problem of a HOOK.md whose name is in another case, or None."""
    name = next((each for each in _directory(folder) if each.upper() == "HOOK.MD"), None)
    if name is None:
        return None
    message = f"the file is called {name}; only HOOK.md is read, and case matters"
    remedy = _move([f"{folder}/{name}"], f"{folder}/HOOK.md")
    return Problem("wrong-case", f"{folder}/{name}", None, None, message, remedy)


def _too_deep(directory: str, parent: str, names: list[str]) -> Problem:
    shown = ", ".join(names[:_MOST_NAMED]) + (f" and {len(names) - _MOST_NAMED} more" if names[_MOST_NAMED:] else "")
    message = f"nested too deeply, and not read: {shown}; hook folders must be directly in {directory}"
    return Problem("misplaced", parent, None, None, message, _move([f"{parent}/{name}" for name in names], directory))


def _move(paths: list[str], target: str) -> str:
    from shlex import join

    return join(["mv", *paths, target])


def _directory(path: str) -> list[str]:
    """Return the names in a directory, up to a limit; empty if it is not a directory."""
    try:
        with os.scandir(path) as entries:
            return [entry.name for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)]
    except OSError:
        return []
