"""The site is built without a warning, and everything in it leads to something in it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from documents import ROOT
from hub.browser.running import CHROMIUM, browsing

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


FOUND = {
    "timeout": "hooks.html#timeouts",
    "block": "writing-hooks.html#block-ask-or-allow-what-a-script-may-say",
    "approve": "approvals.html#approve-or-deny-where-you-can-answer",
    "uninstall": "commands.html#tenterhook-uninstall",
    "not running": "getting-started.html#when-a-hook-is-not-running-or-not-doing-what-you-expect",
}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_search_finds_the_right_page_first(site: Path) -> None:
    command = ["node", str(ROOT / "tests" / "data" / "search_site.js"), str(site), *FOUND]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert {query: places[0] for query, places in found.items()} == FOUND


def test_it_looks_like_the_pages_of_the_hub(site: Path) -> None:
    static = ROOT / "src" / "tenterhook" / "hub" / "static"
    assert (site / "assets" / "icon.svg").read_text() == (static / "icon.svg").read_text()
    colours = (site / "assets" / "colours.css").read_text()
    for scheme, number in (("default", 0), ("slate", 1)):
        ground = re.findall(r"--ground: #\w+;", (static / "style.css").read_text())[number]
        assert ground in colours.partition(f"={scheme}]")[2].partition("}")[0]


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_wide_table_scrolls_and_the_page_does_not(site: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("playwright", reason="playwright is not installed")
    with browsing(tmp_path_factory.mktemp("chromium")) as browser:  # short: its sockets are in it
        page = browser.new_page(viewport={"width": 400, "height": 800})
        for name in ("index.html", "formats.html", "agents.html"):
            page.goto(f"file://{site}/{name}")
            page.wait_for_selector(".md-typeset__scrollwrap")
            assert page.evaluate("document.documentElement.scrollWidth") <= 400, name
        wraps = "[...document.querySelectorAll('.md-typeset__scrollwrap')]"
        assert page.evaluate(f"{wraps}.filter(it => it.scrollWidth > it.clientWidth).length") > 10
