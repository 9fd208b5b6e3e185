"""What is marked as runnable on our pages is run.

`console` (commands with what they print) and `python` are run as they stand, on every page, by test_docs.py.
`shellsession` is for commands that need something around them, and is run by a test of the page's own. `sh` is for the
reader alone: what installs, asks, goes on for ever or needs an account; its commands must exist.
"""

from __future__ import annotations

import re
import shlex
from contextlib import ExitStack
from pathlib import Path

import click
import pytest

from documents import PAGES, ROOT, blocks, named
from tenterhook.cli import tenterhook

RUN = {"console", "python"}
SESSION = "shellsession"
NOT_RUN = {"sh", "text", "toml", "yaml", "json", "ini", "nginx"}
MADE = ("build", "dist")
SESSIONS = {
    "docs/approvals.md": "test_docs_hub.py",
    "docs/hub.md": "test_docs_hub.py",
    "docs/journal.md": "journal/test_page.py",
}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_block_says_whether_it_is_run(page: Path) -> None:
    fences = re.findall(r"^[ >]*(?:```|~~~).*$", page.read_text(), re.MULTILINE)
    known = {f"```{language}" for language in (*RUN, SESSION, *NOT_RUN)}
    assert [fence for fence in fences[::2] if fence not in known] == []
    assert {*fences[1::2]} <= {"```"}
    typed = [block for block in blocks(page, "text") if block.startswith("$ ")]
    assert typed == [], "console if it is to be run, sh if not"


def test_every_session_is_run_by_a_test_of_its_page() -> None:
    assert {named(page) for page in PAGES if blocks(page, SESSION)} == set(SESSIONS)
    for page, test in SESSIONS.items():
        text = (ROOT / "tests" / test).read_text()
        assert SESSION in text
        assert Path(page).name in text


def test_no_other_page_has_something_to_run() -> None:
    folders = [each for each in ROOT.iterdir() if each.is_dir() and each.name[0] != "." and each.name not in MADE]
    data = ROOT / "tests" / "data"
    others = [page for folder in folders for page in folder.rglob("*.md") if page not in PAGES]
    others = [page for page in others if data not in page.parents]
    assert [named(page) for page in others if any(blocks(page, language) for language in (*RUN, SESSION))] == []


def commands() -> list[str]:
    """Our commands in `sh` blocks: each is a line, perhaps with something piped into it."""
    lines = [line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines()]
    return sorted({found[0] for line in lines if (found := re.search(r"\btenterhook( .*|$)", line)) and is_typed(line)})


def is_typed(line: str) -> bool:
    """Whether our program is called there, and not only named."""
    return re.match(r"(.*\| *)?tenterhook\b", line) is not None


@pytest.mark.parametrize("line", commands())
def test_the_commands_of_our_pages_exist_with_their_options(line: str, project: Path) -> None:
    words = shlex.split(line.partition(" < ")[0], comments=True)[1:]
    (project / "token").touch()
    (project / "lines.txt").touch()
    for word in words:
        if word.startswith("~/"):
            (project / word).mkdir(parents=True)
    command: click.Command = tenterhook
    with ExitStack() as opened:
        context = tenterhook.make_context("tenterhook", words)
        while isinstance(command, click.Group) and (rest := [*context._protected_args, *context.args]):
            name, found, left = command.resolve_command(context, rest)
            assert found is not None
            command, context = found, found.make_context(name, left, parent=context)
            opened.callback(context.close)
