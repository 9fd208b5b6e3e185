"""`tenterhook check`: every problem with its remedy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ..authoring import released_hooks
from ..catalog import layer_settings, lints, misplaced_files, project_root
from ..catalog.loading import names_twice
from ..errors import ERROR, Problem
from ..formats import folder as folder_format
from ..formats import toml_files
from ..install import sources
from .loading import json_option
from .printing import counted, print_json, print_problems, print_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..authoring.released_hooks import OutdatedHook
    from ..model import Hook


@click.command(short_help="Find mistakes in hooks and say how to fix them.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@json_option
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "github"]),
    default="text",
    help="github: annotations on a pull request.",
)
def check(paths: tuple[str, ...], as_json: bool, style: str) -> int:
    """Find mistakes in hooks and say how to fix each of them.

    PATH is a hook's folder, a directory of hooks, a project, or a TOML or JSON file; without one, all hooks in force
    here are checked. Exit status 1 if there are errors, 0 if there are warnings only.

    \b
    tenterhook check
    tenterhook check .agents/hooks ~/.kimi-code/config.toml
    """
    problems: list[Problem] = []
    hooks: list[Hook] = []
    outdated: list[OutdatedHook] = []
    disabled = 0
    named: list[Hook] = []
    if not paths:
        found = sources.here()
        problems += found.problems()
        disabled = len(found.catalog.disabled())
        hooks += found.catalog.all_hooks()
        outdated += released_hooks.outdated_hooks(found.catalog)
    for path in map(os.path.abspath, paths):
        for read, trouble in _read(path):
            named += read
            problems += trouble
    hooks += named
    problems += names_twice(named)
    problems += [problem for hook in hooks for problem in lints.lint(hook)]
    outdated += released_hooks.outdated(hook.folder for hook in named if hook.folder and hook.layer != "project")
    problems += released_hooks.problems(outdated)
    if as_json:
        print_json({"schema": 1, "hooks": len(hooks), "problems": [problem.as_json() for problem in problems]})
    elif style == "github":
        for problem in problems:
            click.echo(_annotation(problem))
    else:
        print_problems(problems)
        errors = sum(problem.severity == ERROR for problem in problems)
        off = f" ({disabled} disabled)" if disabled else ""
        found_problems = f"{counted(errors, 'error')}, {counted(len(problems) - errors, 'warning')}"
        print_text(f"{counted(len(hooks), 'hook')}{off}, {found_problems}")
    return 1 if any(problem.severity == ERROR for problem in problems) else 0


def _read(path: str) -> Iterator[tuple[Iterable[Hook], Iterable[Problem]]]:
    """Yield the hooks and problems found at a path."""
    if os.path.basename(path).upper() == "HOOK.MD":
        path = os.path.dirname(path)
    nested = os.path.join(path, ".agents", "hooks")
    if os.path.lexists(os.path.join(path, "HOOK.md")):
        read = folder_format.read(path, _layer(path))
        yield [read.hook] if read.hook else [], read.problems
    elif wrong := misplaced_files.misspelt(path):
        yield [], [wrong]
    elif os.path.isdir(nested) or os.path.lexists(f"{nested}.toml"):
        yield [], layer_settings.read(os.path.dirname(nested), ())[1]
        if os.path.isdir(nested):
            yield from _read(nested)
    elif os.path.isdir(path):
        rules, problems = layer_settings.read(path, ())
        yield [], problems
        folders = [os.path.join(path, name) for name in sorted(os.listdir(path))]
        folders = [folder for folder in folders if os.path.lexists(os.path.join(folder, "HOOK.md"))]
        others = [name for name in sorted(os.listdir(path)) if os.path.join(path, name) not in folders]
        astray = [problem for name in others for problem in misplaced_files.look(path, name)]
        yield [], astray
        if not folders and not astray:
            message = "no HOOK.md in this directory, nor in one right below it"
            remedy = (
                "name a hook's folder, a directory of hooks, a project or a TOML file; "
                "a hook's definition must be called HOOK.md exactly"
            )
            yield [], [Problem("no-hooks", path, None, None, message, remedy)]
        for folder in folders:
            read = folder_format.read(folder, _layer(folder), {"defaults": rules.defaults, "override": {}})
            yield [read.hook] if read.hook else [], read.problems
    elif os.path.basename(path) == layer_settings.FILE:
        yield [], layer_settings.read(os.path.dirname(path), ())[1]
    else:
        file = toml_files.read(path)
        yield file.hooks, file.problems


def _layer(folder: str) -> str:
    """Return the layer of a folder: `project` if it is in a project's `.agents/hooks`, else `user`."""
    above = os.path.realpath(os.path.dirname(folder))
    hooks = os.path.join(project_root.project_root(above), ".agents", "hooks")
    return "project" if above == os.path.realpath(hooks) else "user"


def _annotation(problem: Problem) -> str:
    """Return a GitHub workflow command that shows a problem beside the file."""
    file = _escaped(os.path.relpath(problem.file)).replace(":", "%3A").replace(",", "%2C")
    place = f"file={file}" + (f",line={problem.line}" if problem.line else "")
    text = _escaped(f"{problem.message}: {problem.remedy}")
    return f"::{problem.severity} {place},title={problem.code}::{text}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
