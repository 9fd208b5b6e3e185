"""Our pages, and the code blocks in them."""

from __future__ import annotations

import re
from pathlib import Path

from support import console_steps

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("conformance/*.md"))]


def named(page: Path) -> str:
    """A page as people call it: its path in the project."""
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def steps(page: Path) -> list[tuple[str, str]]:
    """Each command of a page's console examples with the output it shows; `> ` goes on with a command."""
    return console_steps("".join(blocks(page, "console")))


def settled(output: str) -> str:
    """Output with what differs from run to run taken out."""
    return re.sub(r" +\d+\.\d ms", " N ms", output)
