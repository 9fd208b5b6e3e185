"""Links in Markdown: where they lead, and the names of headings, as code hosts and the site have them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_FENCED = re.compile(r"(^ *(?:```|~~~).*?^ *(?:```|~~~)[ ]*$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\](?:\([^()]*\))?)*)\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)


def rewritten(text: str, link: Callable[[re.Match[str]], str]) -> str:
    """A page with each link outside of code blocks put as `link` says: it is given `!` or nothing, text, target."""
    parts = _FENCED.split(text)
    return "".join(part if number % 2 else _LINK.sub(link, part) for number, part in enumerate(parts))


def targets(text: str) -> Iterator[str]:
    """Where the links and pictures of a page lead."""
    for part in _FENCED.split(text)[::2]:
        for found in _LINK.finditer(part):
            yield from targets(found[2])
            yield found[3]


def is_elsewhere(target: str) -> bool:
    """Whether a link leaves the project."""
    return re.match(r"[a-z]+:|//", target) is not None


def slug(heading: str, separator: str = "-") -> str:
    """The name of a heading in an address."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def anchors(text: str) -> list[str]:
    """The name of each heading of a page."""
    plain = "".join(_FENCED.split(text)[::2])
    return [slug(_LINK.sub(r"\2", heading)) for heading in _HEADING.findall(plain)]


def broken(page: Path) -> list[str]:
    """Each link of a page that leads nowhere: to no file, or to no heading or to several in it."""
    found = []
    for target in targets(page.read_text()):
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if is_elsewhere(target):
            continue
        if not file.exists() or (anchor and anchors(file.read_text()).count(anchor) != 1):
            found.append(target)
    return found
