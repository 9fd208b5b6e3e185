"""Groups of commands whose help lists the complete summary of each command, under headings."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WHOLE = 1000  # characters: a summary is the first sentence of a help text, however long


class Group(click.Group):
    """A group of commands; those without a heading are listed under "Commands"."""

    headings: ClassVar[Mapping[str, Sequence[str]]] = {}

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        found = {name: self.get_command(context, name) for name in self.list_commands(context)}
        named = {name for names in self.headings.values() for name in names}
        others = [name for name in found if name not in named]
        widest = max(map(len, found))
        for heading, names in {**self.headings, "Commands": others}.items():
            rows = [
                (f"{name:<{widest}}", each.get_short_help_str(_WHOLE)) for name in names if (each := found.get(name))
            ]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
