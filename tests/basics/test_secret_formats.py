"""The tables of secrets: each row can be used, and its signs are in what it matches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from basics.redaction import corpus
from tenterhook.basics import secret_formats
from tenterhook.basics.redaction import kinds, redacted, secrets

EXPRESSIONS = [expression for _, _, expression in (*secret_formats.TOKENS, *secret_formats.SHAPES)]
OPTIONS = [
    secret_formats.of_option(program, option, between)
    for _, programs, options, between in secret_formats.OPTIONS
    for program in programs.split(" ")
    for option in options.split(" ")
]


@pytest.mark.parametrize("expression", [*EXPRESSIONS, *OPTIONS, *(each for _, each in secret_formats.NAMES)])
def test_every_expression_compiles_and_matches_nothing_empty(expression: str) -> None:
    assert re.compile(expression.replace("(?-i:", "(?:", 1)).match("") is None


def test_no_sign_of_a_token_is_in_most_texts() -> None:
    signs = [sign for _, signs, _ in secret_formats.TOKENS for sign in signs.split(" ")]
    assert min(map(len, signs)) >= 3
    words = Path(__file__).read_text().split()
    assert sum(any(sign in word for word in words) for sign in signs) < 10


def test_signs_of_shapes_are_in_small_letters() -> None:
    assert all(sign == sign.lower() for _, signs, _ in secret_formats.SHAPES for sign in signs)


def test_the_corpus_has_every_common_provider() -> None:
    found = {sample.kind for sample in corpus.samples("secrets")}
    common = ("aws", "google", "azure", "github", "gitlab", "slack", "stripe", "openai", "anthropic", "npm", "pypi")
    assert not {each for each in common if not any(kind.startswith(each) for kind in found)}


def test_kinds_can_be_written_in_a_mark() -> None:
    assert len(kinds()) > 90
    assert all(re.fullmatch("[a-z0-9][a-z0-9 .]{1,38}", kind) for kind in kinds())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mysql -u root -pS3cret shop", "mysql -u root -p[redacted: password] shop"),
        ("mysql -u root -p shop", "mysql -u root -p shop"),
        ("mysql -u root -p S3cret", "mysql -u root -p [redacted: password]"),
        ("mysql -P 3306 -u root shop", "mysql -P 3306 -u root shop"),
        ("docker login -u me -p S3cret r.io", "docker login -u me -p [redacted: password] r.io"),
        ("docker run -u 1000 -p 8080:80 web", "docker run -u 1000 -p 8080:80 web"),
        ("curl -u me:S3cret https://x", "curl -u me:[redacted: password] https://x"),
        ("curl --user 'me:S3cret' https://x", "curl --user 'me:[redacted: password]' https://x"),
        ("curl -s -b 'sid=abcdef12' https://x", "curl -s -b '[redacted: cookie]' https://x"),
        ("curl -b cookies.txt https://x", "curl -b cookies.txt https://x"),
        ("sshpass -p 'two words' ssh x", "sshpass -p '[redacted: password]' ssh x"),
        ("redis-cli -h c -a S3cret ping", "redis-cli -h c -a [redacted: password] ping"),
        ("gh secret set KEY --body S3cret", "gh secret set KEY --body [redacted: secret]"),
        ("ssh -p 2222 me@host", "ssh -p 2222 me@host"),
        ("mkdir -p build/S3cret", "mkdir -p build/S3cret"),
    ],
)
def test_options_of_programs_are_known(line: str, expected: str) -> None:
    assert redacted(line) == expected


def test_a_token_counts_only_where_a_word_begins() -> None:
    token = "AKIA" + "ABCDEFGH12345678"
    assert [each.kind for each in secrets(f"key {token}")] == ["aws key"]
    assert secrets(f"keyX{token}") == []
    assert [each.kind for each in secrets(f"https://x/?q=%3D{token}")] == ["aws key"]
