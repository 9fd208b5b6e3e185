"""Hooks for mkdocs (mkdocs.yml), which add pages from outside docs/ to the site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools import links

if TYPE_CHECKING:
    from collections.abc import Collection

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent

# Pages that are not in docs/, and their names on the site.
BESIDE = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
    "conformance/README.md": "conformance-kit.md",
}
_CODE = re.compile(r"`[^`]+`")
_HOME = "index.md"
# Links to the README lead to the home page, which has the same content with animations.
_NAMES = {**BESIDE, "README.md": _HOME}
# The weight of pages in the search, by default 1; low for those that mention everything.
BOOST = {
    **{"getting-started.md": 2, "hooks.md": 2, "writing-hooks.md": 2, "approvals.md": 2},
    **{"commands.md": 0.5, "formats.md": 0.5, "agents.md": 0.5},
    **{"changes.md": 0.1, "protocol.md": 0.3, "conformance.md": 0.2, "conformance-kit.md": 0.2, "architecture.md": 0.2},
    **{
        "contributing.md": 0.2,
        "performance.md": 0.3,
        "guards-measured.md": 0.2,
        "moving.md": 0.5,
        "converting.md": 0.5,
    },
}
_STATIC = ROOT / "src" / "tenterhook" / "hub" / "static"
_SOURCE = {name: file for file, name in BESIDE.items()}


def on_config(config: MkDocsConfig) -> None:
    """Give headings the same anchors as code hosts do."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = links.slug


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages outside of docs/."""
    from mkdocs.structure.files import File

    for file, name in BESIDE.items():
        if (ROOT / file).exists():
            files.append(File.generated(config, name, abs_src_path=str(ROOT / file)))
    files.append(File.generated(config, "assets/icon.svg", abs_src_path=str(_STATIC / "icon.svg")))
    files.append(File.generated(config, "assets/colours.css", content=colours((_STATIC / "style.css").read_text())))


def colours(style: str) -> str:
    """Return the variables of the hub's style sheet, for the theme's two schemes."""
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[:2]
    return f"[data-md-color-scheme=default] {{{light}}}\n[data-md-color-scheme=slate] {{{light}{dark}}}\n"


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Rewrite links for the site, and tables for mkdocs; set how a page is shown and found."""
    if page.file.src_uri == _HOME:
        page.meta["hide"] = ["navigation", "toc"]
    if page.file.src_uri in BOOST:
        page.meta["search"] = {"boost": BOOST[page.file.src_uri]}
    return _tables(shown(markdown, page.file.src_uri, files.src_uris))


def shown(markdown: str, name: str, on_site: Collection[str]) -> str:
    """Return a page with links for the site; a link to a file that is not on the site becomes its name."""
    here = posixpath.dirname(_SOURCE.get(name, f"docs/{name}"))

    def link(found: re.Match[str]) -> str:
        picture, text, target = found.groups()
        path, _, anchor = target.partition("#")
        if links.is_elsewhere(target) or not path:
            return found[0]
        file = posixpath.normpath(posixpath.join(here, path))
        site = _NAMES.get(file, file.removeprefix("docs/"))
        if site not in on_site:
            plain = text.replace("`", "")
            return f"`{plain}`" if file.endswith(plain) else f"{text} (`{file}`)"
        to = posixpath.relpath(site, posixpath.dirname(name) or ".")
        return f"{picture}[{text}]({to}{'#' * bool(anchor)}{anchor})"

    return links.rewritten(markdown, link)


def _tables(markdown: str) -> str:
    """Replace `a\\|b` with `a|b` in tables, as code hosts do; mkdocs would show the backslash."""
    return re.sub(r"(?m)^\|.*", lambda row: _CODE.sub(lambda code: code[0].replace(r"\|", "|"), row[0]), markdown)
