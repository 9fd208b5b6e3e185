"""Where secrets are kept, by path, and which programs print them."""

from __future__ import annotations

import re

import pytest

from tenterhook.guards import protect_secrets, secret_places
from tenterhook.guards.secret_places import prints_secrets, rule_of
from tenterhook.shell.syntax import STAR


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/home/dev/.ssh/id_ed25519", "private-key"),
        ("/home/dev/.ssh/id_ed25519.pub", None),
        ("/home/dev/.ssh/known_hosts", None),
        ("/work/certs/server.key", "private-key"),
        ("/home/dev/.aws/credentials", "credentials"),
        ("C:\\Users\\dev\\.aws\\credentials", "credentials"),
        ("/home/dev/.aws/config", None),
        ("/work/.env", "env-file"),
        ("/work/.env.production", "env-file"),
        ("/work/.env.example", None),
        ("/home/dev/.bash_history", "history"),
        ("/etc/shadow", "credentials"),
        ("/work/etc/shadow", None),
        ("/etc/passwd", None),
        (f"/home/dev/.ssh/{STAR}", "private-key"),
        (f"/work/.env{STAR}", "env-file"),
        (f"/work/src/{STAR}.py", None),
        ("/work/README.md", None),
        ("", None),
    ],
)
def test_a_path_has_the_rule_of_what_is_kept_there(path: str, rule: str | None) -> None:
    assert rule_of(path) == rule


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gh auth token", True),
        ("gh auth status", False),
        ("pass show mail/work", True),
        ("pass insert mail/work", False),
        ("kubectl get secret db -o yaml", True),
        ("kubectl get pods -o yaml", False),
        ("vault kv get secret/db", True),
        ("vault status", False),
        ("make test", False),
    ],
)
def test_a_program_prints_secrets_if_it_is_asked_for_them(line: str, expected: bool) -> None:
    name, *words = line.split()
    assert prints_secrets(name, words) is expected


def test_every_row_has_a_rule_of_the_guard_and_an_expression_that_compiles() -> None:
    for rule, ends in secret_places.PLACES:
        assert rule in protect_secrets.RULES, rule
        re.compile(ends)
    for programs, expression in secret_places.STORES:
        assert programs.split(), expression
        re.compile(expression)
