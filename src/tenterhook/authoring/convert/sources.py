"""Reading what is to be converted: hook folders, directories of them, TOML files, agents' settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ...catalog import layer_settings
from ...errors import ERROR, Problem
from ...formats import folder as folder_format
from ...formats import toml_files
from .findings import Loss, Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ...model import Hook

# Problems of entries that a reader skips: they cannot be carried.
_SKIPPED = ("foreign-event", "foreign-handler", "switched-off")
# Errors that do not keep a hook from being read.
_STILL_READABLE = ("no-script", "wrong-case")


class Sources(NamedTuple):
    """The hooks of all paths in order, the problems there, and the entries that are no hooks here."""

    hooks: tuple[Hook, ...]
    problems: tuple[Problem, ...]
    losses: tuple[Loss, ...]
    notes: tuple[Note, ...]

    @property
    def errors(self) -> list[Problem]:
        """The problems that keep a hook from being read; one without a script is read."""
        return [each for each in self.problems if each.severity == ERROR and each.code not in _STILL_READABLE]


def read(paths: Iterable[str]) -> Sources:
    """Read all paths; problems are returned, not raised."""
    hooks: list[Hook] = []
    problems: list[Problem] = []
    notes: list[Note] = []
    for path in dict.fromkeys(map(os.path.abspath, paths)):
        _read(path, hooks, problems, notes)
    passed = [problem for problem in problems if problem.code in _SKIPPED]
    return Sources(
        tuple(hooks),
        tuple(problem for problem in problems if problem.code not in _SKIPPED),
        tuple(_loss(problem) for problem in passed),
        tuple(notes),
    )


def _loss(problem: Problem) -> Loss:
    key = problem.key or "hooks"
    return Loss("", problem.file, problem.line, key, None, problem.message, problem.remedy, left_out=True)


def _read(path: str, hooks: list[Hook], problems: list[Problem], notes: list[Note]) -> None:
    if os.path.basename(path) == "HOOK.md":
        path = os.path.dirname(path)
    nested = os.path.join(path, ".agents", "hooks")
    if os.path.lexists(os.path.join(path, "HOOK.md")):
        _read_folder(path, {}, hooks, problems)
    elif os.path.isdir(nested):
        _read(nested, hooks, problems, notes)
    elif os.path.isdir(path):
        _read_directory(path, hooks, problems, notes)
    else:
        read = toml_files.read(path)
        hooks += read.hooks
        problems += read.problems


def _read_directory(path: str, hooks: list[Hook], problems: list[Problem], notes: list[Note]) -> None:
    """Read the folders of a directory, with the settings of its `hooks.toml`."""
    rules, trouble = layer_settings.read(path, ("user",))
    problems += trouble
    folders = [os.path.join(path, name) for name in sorted(os.listdir(path), key=os.fsencode)]
    folders = [folder for folder in folders if os.path.lexists(os.path.join(folder, "HOOK.md"))]
    if not folders:
        message = "no HOOK.md in this directory, nor in one right below it"
        remedy = "name a hook's folder, a directory of hooks, a project, a TOML file or an agent's settings"
        problems.append(Problem("no-hooks", path, None, None, message, remedy))
    for folder in folders:
        found: list[Hook] = []
        trouble = []
        _read_folder(folder, {"defaults": rules.defaults, "override": {}}, found, trouble)
        if found and found[0].name in rules.overrides:
            changes = {"defaults": rules.defaults, "override": rules.overrides[found[0].name]}
            found, trouble = [], []
            _read_folder(folder, changes, found, trouble)
        if found and (not rules.enabled or found[0].name in rules.disabled):
            notes.append(Note(found[0].name, f"not converted: {rules.file} switches it off"))
            continue
        hooks += found
        problems += trouble


def _read_folder(folder: str, changes: Mapping[str, Any], hooks: list[Hook], problems: list[Problem]) -> None:
    read = folder_format.read(folder, "user", changes)
    problems += read.problems
    if read.hook:
        hooks.append(read.hook)
