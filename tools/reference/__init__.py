"""Generates the reference pages of docs/ from the tables and commands themselves: `make reference`."""

from __future__ import annotations

from pathlib import Path

from tools.reference import commands, formats, problems, promises

DOCS = Path(__file__).parents[2] / "docs"
COMMAND = "make reference"
_MARK = f"<!-- Generated: change what it is made from, then `{COMMAND}`. -->\n\n"


def pages() -> dict[Path, str]:
    """Return the text of every page that is generated, in whole or in part."""
    made = {"formats.md": formats.page(), "commands.md": commands.page(), "problems.md": problems.page()}
    return {**{DOCS / name: _MARK + text for name, text in made.items()}, promises.PAGE: promises.page()}
