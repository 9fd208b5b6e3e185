"""No link of our pages leads nowhere, on a code host and on the site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from documents import PAGES, ROOT, named
from tools import links, pages

if TYPE_CHECKING:
    from pathlib import Path

MKDOCS = yaml.safe_load((ROOT / "mkdocs.yml").read_text())


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert links.broken(page) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(
        "# Other\n\n## What it's `for`\n\n## Twice\n\n## Twice\n\n```sh\n# not one\n```\n"
    )
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n[a](other.md) [b](other.md#what-its-for) [c](#a-page) [d](https://example.org/x#y)\n"
        "[e](gone.md) [f](other.md#gone) [g](#gone) [h](other.md#twice) [i](other.md#not-one)\n"
        "[![j](no.png)](other.md) [in\ntwo lines](gone-too.md)\n```text\n[k](in-code.md)\n```\n"
    )
    nowhere = ["gone.md", "other.md#gone", "#gone", "other.md#twice", "other.md#not-one", "no.png", "gone-too.md"]
    assert links.broken(page) == nowhere


def test_on_the_site_links_lead_to_its_pages_and_sources_are_named() -> None:
    text = "[h](docs/hooks.md#keys) [s](src/a.py) [a.py](src/a.py) ![p](docs/p.png) [w](https://example.org) [x](#x)"
    on_site = {"hooks.md", "p.png", "index.md", "architecture.md"}
    shown = "[h](hooks.md#keys) s (`src/a.py`) `a.py` ![p](p.png) [w](https://example.org) [x](#x)"
    assert pages.shown(text, "architecture.md", on_site) == shown
    up = "[a](../ARCHITECTURE.md) [r](../README.md#formats) [h](hooks.md)"
    assert pages.shown(up, "agent.md", on_site) == "[a](architecture.md) [r](index.md#formats) [h](hooks.md)"


def listed(entry: object) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ()
    return [page for part in parts for page in listed(part)]


def test_every_page_has_its_place_on_the_site() -> None:
    beside = {name for file, name in pages.BESIDE.items() if (ROOT / file).exists()}
    there = {page.name for page in ROOT.glob("docs/*.md")} | beside
    assert sorted(listed(MKDOCS["nav"])) == sorted(there), "mkdocs.yml: nav"


def test_the_site_asks_nobody_else_for_anything() -> None:
    assert MKDOCS["theme"]["font"] is False
    assert "offline" in MKDOCS["plugins"]
    assert MKDOCS["strict"] is True
