"""The tables of promises in docs/security.md, by opponent, from the docstrings of tests marked with `promise`."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tools.reference import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security.md"
OPPONENTS = ("a careless model", "a model that tries", "a hostile repository", "another account")
_SECTION = re.compile(r"<!-- promises: (?P<opponent>[^>]*?) -->\n.*?<!-- end -->\n", re.DOTALL)


class Promise(NamedTuple):
    """A promise about an opponent that a test demonstrates."""

    opponent: str
    text: str  # the first sentence of the test's docstring; empty if it has none
    file: str  # below the project
    test: str


def promises(tests: Path = ROOT / "tests") -> list[Promise]:
    """Return every promise that a test demonstrates, in the order of files and tests."""
    return [promise for file in sorted(tests.rglob("test_*.py")) for promise in _in_file(file, tests.parent)]


def _in_file(file: Path, root: Path) -> Iterator[Promise]:
    text = file.read_text()
    if "mark.promise(" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            said = " ".join((ast.get_docstring(node) or "").split())
            for opponent in _opponents(node):
                yield Promise(opponent, _first_sentence(said), str(file.relative_to(root)), node.name)


def _opponents(node: ast.FunctionDef) -> Iterator[str]:
    for call in node.decorator_list:
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.promise":
            for argument in call.args:
                yield ast.literal_eval(argument)


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.:])\s+(?=[A-Z])", text, maxsplit=1)[0].rstrip(":")


def page() -> str:
    """Return docs/security.md with current tables."""
    found = promises()
    return _SECTION.sub(lambda section: _table(section["opponent"], found), PAGE.read_text())


def _table(opponent: str, found: list[Promise]) -> str:
    tests: dict[str, list[str]] = {}
    for promise in found:
        if promise.opponent == opponent:
            link = f"[{Path(promise.file).stem.removeprefix('test_')}](../{promise.file})"
            shown = tests.setdefault(promise.text, [])
            if link not in shown:
                shown.append(link)
    rows = [(markdown.prose(text), ", ".join(links)) for text, links in sorted(tests.items())]
    return f"<!-- promises: {opponent} -->\n{markdown.table(('promise', 'shown by'), rows)}<!-- end -->\n"
