"""`tenterhook new`: create a hook's folder from a template."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import click

from ..agents import AGENTS
from ..authoring import folders, templates
from ..basics.display_text import visible
from ..catalog import catalog, project_root
from ..errors import HookError
from ..events import Effect, spec_of
from ..formats import entry_points, expressions
from ..install import event_wiring, records, sync
from .loading import catalog_here, event_names
from .printing import print_problems, print_said, print_text, short_path
from .refusals import refuse_below_agent, refuse_outside

if TYPE_CHECKING:
    from ..catalog.catalog import Catalog
    from ..errors import Problem
    from ..model import Hook


@click.command(short_help="Create a hook that works right away.")
@click.argument("name", metavar="NAME")
@click.option(
    "--on", "event", metavar="EVENT", required=True, shell_complete=event_names, help="The event, by any of its names."
)
@click.option("--tool", metavar="T", help="Only for tools whose name matches this expression: Shell, Write|Edit …")
@click.option("--pattern", metavar="P", help="Only for calls whose input matches this expression.")
@click.option("--reason", metavar="TEXT", help="The message to the model when it blocks: why, and what to do instead.")
@click.option(
    "--lang", type=click.Choice(templates.LANGUAGES), default="sh", show_default=True, help="The script's language."
)
@click.option("--project", "for_project", is_flag=True, help="In this project's .agents/hooks instead of your own.")
@click.option("--force", is_flag=True, help="Replace a hook of that name; the old folder is kept elsewhere.")
def new(
    name: str,
    event: str,
    tool: str | None,
    pattern: str | None,
    reason: str | None,
    lang: str,
    for_project: bool,
    force: bool,
) -> int:
    """Create a hook: a folder with its definition, a script that reads the fields of EVENT, and cases that pass.

    With --tool and --reason, but no --pattern, it refuses every call of that tool. Without them it begins with an
    example of what to look for. The script's comments say what it may answer at that event. Change it, and
    `tenterhook test NAME` checks whether it does what its cases say.

    \b
    tenterhook new no-force-push --on pre-tool-call --tool Shell --pattern 'push .*--force' --reason 'Ask me first.'
    tenterhook new no-mail --on pre-tool-call --tool '^mcp:mail/' --reason 'People write mail here.'
    tenterhook new finish-first --on Stop --lang python --project
    """
    if not for_project or force:
        refuse_below_agent("new")  # it can replace a guard with another hook
    spec = spec_of(event)
    try:
        folders.check_name(name)
    except HookError as error:
        raise click.UsageError(str(error)) from None
    if (tool or pattern) and not spec.has_tool:
        raise click.UsageError(f"{event} has no tool: --tool and --pattern would keep the hook from ever running")
    for option, expression in (("--tool", tool), ("--pattern", pattern)):
        if expression:
            try:
                expressions.search(expressions.PYTHON, expression)
            except expressions.BadExpression as error:
                raise click.UsageError(f"{option}: {error.message}") from None
    made = templates.render(name, event, lang, tool or None, pattern or None, _checked(reason, event))
    root = project_root.project_root(os.getcwd())
    folder = os.path.join(f"{root}/.agents/hooks" if for_project else catalog.directories(root)[1], name)
    if for_project:
        refuse_outside("new --project", folder, root)
    kept = folders.write(folder, made.files, replace=force)
    print_text(f"created {short_path(folder)}")
    for path in sorted(made.files):
        print_text(f"  {path}")
    if kept:
        print_text(f"the previous hook is kept in {short_path(kept)}")
    if made.example:
        print_text(f"it refuses {made.example}, as an example: change that in the script")
    for gap in made.gaps:
        print_text(f"{click.style('to do', fg='yellow')}: {visible(gap)}")
    return _say_what_next(name, folder)


def _checked(reason: str | None, event: str) -> str | None:
    """Return the reason, stripped. Raises `UsageError` if it is empty, has several lines, or would never be used."""
    if reason is None:
        return None
    if spec_of(event).effect("folder") is not Effect.DECIDES:
        raise click.UsageError(f"{event} is only observed: the hook refuses nothing, and --reason would never be used")
    if not reason.strip():
        raise click.UsageError("--reason is empty: say why, and what to do instead")
    if not reason.strip().isprintable():
        raise click.UsageError("--reason must be one line of plain text, without line breaks and control characters")
    return reason.strip()


def _say_what_next(name: str, folder: str) -> int:
    """Print why the hook is not in force, or the next commands; return the exit status."""
    catalog = catalog_here()
    real = os.path.realpath(folder)
    hook = next((hook for hook in catalog.hooks if hook.folder and os.path.realpath(hook.folder) == real), None)
    print_problems(_about(catalog, folder), err=True)
    left_out = next((each.why for each in catalog.left_out if each.hook.folder == folder), None)
    if hook is None:
        why = left_out or "it was not loaded"
        print_text(f"{click.style('not in force', fg='yellow')}: {visible(why)}", err=True)
        return 1
    shown = shlex.quote(visible(name))
    for each in catalog.left_out:
        if each.hook.name == name:
            print_text(f"no longer in force: {short_path(each.hook.folder or each.hook.source)}: {visible(each.why)}")
    once = " --trust-project" if hook.layer == "project" else ""
    script = entry_points.entry_point(folder)[0] or folder
    steps = [(f"$EDITOR {short_path(script)}", "change what it looks for and its message to the model")]
    steps += [(f"tenterhook test {shown}{once}", "runs its cases; with --watch, after each change")]
    if hook.layer == "project":
        steps.append((f"tenterhook trust {shown}", "lets it run with its current files; until then it does not"))
    else:
        for line in _wired(hook):
            print_text(line)
    if not records.all_records():
        steps.append(("tenterhook install", "puts your hooks in force in the agents you use"))
    print_text("next:")
    width = max(len(command) for command, _ in steps)
    for command, what in steps:
        print_said(f"  {command:<{width}}  ", what, indent=6)
    return 0


def _about(catalog: Catalog, folder: str) -> list[Problem]:
    """Return the problems of the folder, or of the directory it is in."""
    return [
        each for each in catalog.problems if each.file.startswith(f"{folder}/") or folder.startswith(f"{each.file}/")
    ]


def _wired(hook: Hook) -> list[str]:
    """Wire the event in every guarded agent. Return what to print about it."""
    said = [str(each) for each in sync.wire([hook])]
    hosts = dict.fromkeys(record["host"] for record in records.all_records())
    for agent in (AGENTS[host] for host in hosts if host in AGENTS):
        if event_wiring.without_event(agent, [hook]):
            said.append(f"{agent.title} has no event for it ({hook.declared}): it never runs there")
    return said
