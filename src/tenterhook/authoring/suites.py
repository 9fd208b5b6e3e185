"""The cases of each hook, whether they may run, and changes of their files (`test --watch`)."""

from __future__ import annotations

import os
import time
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from ..basics import places, private_files
from ..catalog import lints, project_root
from ..catalog.trust import Trust
from ..errors import ERROR, HookError, Problem
from ..formats import entry_points
from ..formats import folder as folder_format
from . import cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..catalog.catalog import Catalog
    from ..model import Hook
    from .cases import Case

FOLDER = "cases"


class Suite(NamedTuple):
    """A hook and its cases. If `untrusted` is set it may not run, and its cases were not read."""

    hook: Hook
    directory: str
    trust: Trust
    files: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    problems: tuple[Problem, ...] = ()  # of its case files, and a placeholder reason
    untrusted: str | None = None

    def refusal(self) -> str | None:
        """Return why the hook may not run now, or None; its files may have changed."""
        standing = self.trust.standing(self.hook)
        return None if standing.runs else f"not trusted: {standing.why}"


class SelectedHooks(NamedTuple):
    """The hooks to be tested, and problems of those that are broken."""

    suites: tuple[Suite, ...]
    broken: tuple[Problem, ...] = ()


def pick(catalog: Catalog, names: Sequence[str], directory: str | None = None) -> SelectedHooks:
    """Return the hooks of these names or folders with their cases, or all in force. `directory` contains their cases.

    Raises `HookError` for a name that no hook has.
    """
    hooks: list[tuple[Hook, Trust]] = []
    broken: list[Problem] = []
    if not names:
        hooks = [(hook, catalog.trust) for hook in catalog.hooks if not hook.missing]
        broken = [each for each in _broken(catalog) if cases.files_in(f"{os.path.dirname(each.file)}/{FOLDER}")]
    for name in names:
        if "/" in name:
            one = _at(name, catalog)
            hooks += one.hooks
            broken += one.problems
            continue
        every = [hook for hook in catalog.all_hooks() if not hook.missing]
        found = [hook for hook in every if name in (hook.name, os.path.basename(hook.folder or ""))]
        trouble = [problem for problem in _broken(catalog) if os.path.basename(os.path.dirname(problem.file)) == name]
        if not found and not trouble:
            raise HookError(f"no hook is called '{name}'", _suggestion(name, [hook.name for hook in every]))
        hooks += [(hook, catalog.trust) for hook in found]
        broken += trouble
    chosen = {id(hook): (hook, trust) for hook, trust in hooks}
    alone = len(chosen) == 1
    suites = [_suite(hook, _directory(hook, directory, alone=alone), trust) for hook, trust in chosen.values()]
    return SelectedHooks(tuple(suites), tuple(dict.fromkeys(broken)))


def _broken(catalog: Catalog) -> list[Problem]:
    """Return the errors of folders that could not be loaded."""
    loaded = {hook.source for hook in catalog.all_hooks()}
    return [
        problem
        for problem in catalog.problems
        if problem.severity == ERROR
        and os.path.basename(problem.file).upper() == "HOOK.MD"
        and problem.file not in loaded
    ]


def _suggestion(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else "tenterhook list shows the names; a folder needs a / in its name"


class _At(NamedTuple):
    hooks: list[tuple[Hook, Trust]]
    problems: tuple[Problem, ...]


def _at(path: str, catalog: Catalog) -> _At:
    """Return the hook in a folder. One in no layer needs trust, as a project's does."""
    folder = os.path.realpath(path)
    known = [hook for hook in catalog.hooks if hook.folder and os.path.realpath(hook.folder) == folder]
    if known:
        return _At([(hook, catalog.trust) for hook in known], ())
    if not os.path.isfile(os.path.join(folder, "HOOK.md")):
        raise HookError(f"there is no HOOK.md in {path}", "name a hook, or a hook's folder")
    read = folder_format.read(folder, "project")
    root = project_root.project_root(folder)
    trust = Trust(root, everything=catalog.trust.everything)
    return _At([(read.hook, trust)] if read.hook else [], tuple(read.problems) if read.hook is None else ())


def _directory(hook: Hook, given: str | None, *, alone: bool) -> str:
    """Return the directory of a hook's cases: in its folder, beside its file, or below the given one."""
    name = hook.name if "/" not in hook.name and not hook.name.startswith(".") else places.file_name(hook.name)
    if given is not None:
        own = os.path.join(given, name)
        return given if alone and not os.path.isdir(own) else own
    if hook.folder is not None:
        return os.path.join(hook.folder, FOLDER)
    return os.path.join(os.path.dirname(hook.source), FOLDER, name)


def _suite(hook: Hook, directory: str, trust: Trust) -> Suite:
    files = tuple(cases.files_in(directory))
    suite = Suite(hook, directory, trust, files)
    standing = trust.standing(hook)
    if not standing.runs:
        return suite._replace(untrusted=standing.why)
    read = [cases.read(file, hook) for file in files]
    return suite._replace(
        cases=tuple(case for each in read for case in each.cases),
        problems=(*(problem for each in read for problem in each.problems), *_unfinished(hook)),
    )


def _unfinished(hook: Hook) -> list[Problem]:
    """Return a problem if the script still has the placeholder reason: its cases expect it and pass."""
    script = entry_points.entry_point(hook.folder)[0] if hook.folder is not None else None
    try:
        return list(lints.placeholder(script)) if script is not None else []
    except OSError:  # its cases report that
        return []


Signature = dict[str, tuple[int, ...] | None]

_POLL = 0.2  # seconds
_MOST_FILES = 20_000


def signature(paths: Iterable[str]) -> Signature:
    """Return all files at or below these paths with what changes when they do."""
    found = {path: private_files.signature(path) for path in paths}
    for path in list(found):
        for directory, folders, names in os.walk(path):
            folders[:] = [name for name in folders if name not in (".git", "node_modules", "__pycache__")]
            inside = (os.path.join(directory, name) for name in (*folders, *names))
            found.update((each, private_files.signature(each)) for each in inside)
            if len(found) > _MOST_FILES:
                return found
    return found


def wait_for_change(paths: Iterable[str], before: Signature) -> list[str]:
    """Wait for a change, and until no more follow; return the changed paths."""
    paths = list(paths)
    while (now := signature(paths)) == before:
        time.sleep(_POLL)
    while (later := signature(paths)) != now:  # an editor writes in several steps
        now = later
        time.sleep(_POLL / 4)
    return sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
