"""The site is built without a warning, and everything in it leads to something in it."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from documents import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(find_spec("mkdocs") is None, reason="needs mkdocs: make docs")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder


class Page(HTMLParser):
    """The names in a page, what it links to, and what it needs to be shown."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.names: set[str] = {""}
        self.links: list[str] = []
        self.needs: list[str] = []
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attributes}
        self.names |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("img", "script", "iframe") and "src" in given:
            self.needs.append(given["src"])
        elif tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.needs.append(given.get("href", ""))


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    pages = {file: Page(file) for file in site.glob("*.html") if file.name != "404.html"}
    assert len(pages) > 20
    nowhere = []
    for file, page in pages.items():
        for link in page.links:
            path, _, name = unquote(link).partition("#")
            if "://" in path:
                continue
            target = (file.parent / path).resolve() if path and path != "." else file
            target = target / "index.html" if target.is_dir() else target
            known = pages[target].names if target in pages else {""}
            if not target.exists() or name not in known:
                nowhere.append(f"{file.name}: {link}")
    assert nowhere == []


def test_no_page_needs_anything_from_elsewhere(site: Path) -> None:
    for file in site.glob("*.html"):
        needs = Page(file).needs
        assert not [need for need in needs if "//" in need and not need.startswith("data:")], file.name
        if file.name != "404.html":  # which is shown at any address
            assert [need for need in needs if not (site / need).exists()] == []
