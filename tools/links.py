"""Links and anchors in Markdown."""

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
    """Return a page with each link outside of code blocks replaced by `link`; the match has `!`, text and target."""
    parts = _FENCED.split(text)
    return "".join(part if number % 2 else _LINK.sub(link, part) for number, part in enumerate(parts))


def targets(text: str) -> Iterator[str]:
    """Yield the targets of the links and pictures of a page."""
    for part in _FENCED.split(text)[::2]:
        for found in _LINK.finditer(part):
            yield from targets(found[2])
            yield found[3]


def is_elsewhere(target: str) -> bool:
    """Whether a link is external."""
    return re.match(r"[a-z]+:|//", target) is not None


def slug(heading: str, separator: str = "-") -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def anchors(text: str) -> list[str]:
    """Return the anchors of a page's headings."""
    plain = "".join(_FENCED.split(text)[::2])
    return [slug(_LINK.sub(r"\2", heading)) for heading in _HEADING.findall(plain)]


def broken(page: Path) -> list[str]:
    """Return the broken links of a page: without a file, or with an anchor that is missing or ambiguous."""
    found = []
    for target in targets(page.read_text()):
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if is_elsewhere(target):
            continue
        if not file.exists() or (anchor and anchors(file.read_text()).count(anchor) != 1):
            found.append(target)
    return found
