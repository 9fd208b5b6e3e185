"""Every example in the documentation does what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from documents import PAGES, ROOT, blocks, named, settled, steps
from tenterhook.formats import hook_fields

EXAMPLES = [page for page in PAGES if page.name != "cookbook.md"]  # whose recipes test_docs_cookbook.py executes


def python_pages() -> list[object]:
    """Return the pages with Python examples; those of frameworks, which take seconds to import, are slow."""
    pages = [page for page in EXAMPLES if blocks(page, "python")]
    slow = [pytest.mark.slow]
    return [pytest.param(page, marks=slow if page.name == "embedding.md" else (), id=named(page)) for page in pages]


@pytest.mark.parametrize("page", python_pages())
def test_python_examples_run(page: Path, project: Path) -> None:
    for code in blocks(page, "python"):
        subprocess.run([sys.executable, "-c", code], check=True, cwd=project)


@pytest.mark.parametrize("page", [page for page in EXAMPLES if steps(page)], ids=named)
def test_console_examples_print_what_they_show(page: Path, project: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for command, expected in steps(page):
        ended = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, cwd=project, env={**os.environ, "PATH": path}
        )
        assert settled(ended.stdout) == settled(expected), f"{command}\n{ended.stderr}"
        assert "Traceback" not in ended.stderr


def test_the_readme_fits_three_screens() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 140


@pytest.mark.parametrize(
    ("section", "table"),
    [
        ("A folder with HOOK.md", hook_fields.FOLDER),
        ("Tables in a TOML file", hook_fields.TABLE),
        ("An array in a TOML file", hook_fields.ARRAY),
    ],
)
def test_the_page_about_hooks_has_every_key_with_its_default_and_range(
    section: str, table: tuple[hook_fields.Field, ...]
) -> None:
    text = (ROOT / "docs" / "hooks.md").read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \|(.*)$", text, re.MULTILINE))
    assert list(rows) == [field.key for field in table]
    for field in table:
        if field.kind is int:
            assert f" {field.default} |" in rows[field.key]
            assert f"{field.low} to {field.high}" in rows[field.key]
        assert field.required == (" required |" in rows[field.key])
