"""Help in groups, with complete summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from tenterhook import cli

if TYPE_CHECKING:
    from collections.abc import Iterator


def help_of(*names: str, width: int) -> str:
    return CliRunner().invoke(cli.tenterhook, [*names, "--help"], terminal_width=width, max_content_width=width).output


def groups(group: click.Group, *names: str) -> Iterator[tuple[str, ...]]:
    """The names of all groups, from the first command on."""
    yield names
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from groups(found, *names, name)


def test_every_command_is_under_one_of_four_headings() -> None:
    lines = help_of(width=80).partition("Options:")[2].splitlines()
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Start:", "Write:", "Watch:", "Share:"]
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2].isalpha()]
    known = cli.tenterhook.list_commands(click.Context(cli.tenterhook))
    assert [name for name in known if listed.count(name) != 1] == []


@pytest.mark.parametrize("width", [60, 80, 120])
def test_summaries_are_complete_and_fit(width: int) -> None:
    found = list(groups(cli.tenterhook))
    assert ("hub", "token") in found
    for names in found:
        text = help_of(*names, width=width)
        listed = text.partition("Options:")[2]  # what is above has examples, which are not wrapped
        assert "..." not in listed, names
        assert max(map(len, listed.splitlines())) <= width, names
