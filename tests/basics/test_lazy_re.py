"""`re`, imported when an expression could match: the answers are those of `re`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tenterhook

SOURCE = str(Path(tenterhook.__file__).parent.parent)


def printed(code: str) -> str:
    """Return what code prints in an interpreter in which nothing is imported yet."""
    start = f"import sys; sys.path.append({SOURCE!r})\nfrom tenterhook.basics import lazy_re\n"
    command = [sys.executable, "-I", "-S", "-c", start + code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    ("expression", "text", "imported"),
    [
        (r"\brm\b", "git status", False),
        (r"\brm\b", "rm x", True),
        ("^(?:publish|unpublish) ", "run build", False),
        ("^(?:publish|unpublish) ", "unpublish x", True),
        (r"(?i)^drop\s", "select", False),
        (r"(?i)^drop\s", "DROP table", True),
        ("(?i)kill", "\u212aill", True),  # a Kelvin sign is a k
        ("(?is)mask", "ma\u017fk", True),  # and this an s
        (r"^(?!.*--dry)(?=.*force)", "push", False),
        (r"(?:ab)?|c", "git", True),
        (r"a{0,2}b*", "git", True),
        (r"(?x) r m", "rm", True),
    ],
)
def test_an_expression_is_compiled_only_if_it_could_match(expression: str, text: str, imported: bool) -> None:
    for function in ("search", "match", "fullmatch", "findall"):
        code = f"found = bool(lazy_re.{function}({expression!r}, {text!r}))\nwas = 're' in sys.modules\nimport re\n"
        code += f"print(was, found == bool(re.{function}({expression!r}, {text!r})))"
        assert printed(code) == f"{imported} True"


def test_a_text_in_which_nothing_matches_is_returned_as_it_is() -> None:
    code = "print(lazy_re.sub('rm', 'x', 'git'), list(lazy_re.finditer('rm', 'git')), 're' in sys.modules)"
    assert printed(code) == "git [] False"
    assert printed("print(lazy_re.sub('g.t', 'x', 'git'))") == "x"


def test_a_pattern_is_compiled_when_it_is_used_and_other_names_are_those_of_re() -> None:
    code = "pattern = lazy_re.compile('a+'); was = 're' in sys.modules\n"
    code += "print(was, pattern.match('aab', 1).group(), lazy_re.escape('.'), lazy_re.search('a', 'a').end())"
    assert printed(code) == "False a \\. 1"
