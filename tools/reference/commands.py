"""docs/commands.md: every command and option, from their help texts."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

from tenterhook import cli
from tools.reference.markdown import code, prose, table

if TYPE_CHECKING:
    from collections.abc import Iterator

_STATUS = (
    (0, "success"),
    (1, "it failed or found a problem; the commands below give details"),
    (2, "an event was denied (`trigger`), or a prompt or session was refused (`agent`)"),
    (3, "something was lost (`convert`)"),
    (cli.USAGE, "usage error: no such command, option or event"),
    (cli.INTERRUPTED, "Ctrl-C, or a question that was not answered"),
)
_ABOUT = """# Commands

`--help` shows the same text for each command. Commands that print data accept `--json` and then print one object, or
one per line, and nothing else on stdout. Problems and questions go to stderr.

"""


def page() -> str:
    """Return the current page."""
    parts = [_ABOUT, table(("exit status", ""), ((str(number), what) for number, what in _STATUS))]
    for context in _contexts(click.Context(cli.tenterhook, info_name="tenterhook")):
        parts += _command(context)
    return "".join(parts).rstrip() + "\n"


def _contexts(context: click.Context) -> Iterator[click.Context]:
    """Yield a command, then its subcommands."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            if command is not None and not command.hidden:
                yield from _contexts(click.Context(command, info_name=name, parent=context))


def _command(context: click.Context) -> Iterator[str]:
    depth = context.command_path.count(" ")
    yield f"{'#' * max(2, depth + 1)} {context.command_path}\n\n"
    pieces = " ".join(context.command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {pieces}\n```\n\n"
    for paragraph in inspect.cleandoc(context.command.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            kept = paragraph.removeprefix("\b").strip()
            yield f"```{'sh' if kept.startswith('tenterhook ') else 'text'}\n{kept}\n```\n\n"
        else:
            yield prose(paragraph) + "\n\n"
    options = [each for each in context.command.params if isinstance(each, click.Option)]
    rows = [(code(record[0]), prose(record[1])) for each in options if (record := each.get_help_record(context))]
    if rows:
        yield table(("option", ""), rows)
