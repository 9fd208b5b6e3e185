"""Secrets are replaced by what they were, in text and in JSON; what is none stays as it is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basics.redaction import corpus
from hosts.recorded import RECORDED
from support import takes_less_than
from tenterhook.basics import secret_formats, secret_values
from tenterhook.basics.redaction import MARK, OWN, Redactor, could_hold_secret, kinds, redacted, secrets

TOKEN = "ghp_" + "a1B2c3" * 6

# ---- the corpus


@pytest.mark.parametrize("seed", range(1, 6))
def test_at_least_95_percent_of_the_secrets_are_found(seed: int) -> None:
    samples = corpus.samples("secrets", seed)
    missed = [sample.text for sample in samples if sample.left_in(redacted(sample.text))]
    assert len(samples) >= 200
    assert len(missed) <= 0.05 * len(samples), "\n".join(missed)


@pytest.mark.parametrize("seed", range(1, 6))
def test_at_most_2_percent_of_the_harmless_texts_are_changed(seed: int) -> None:
    samples = corpus.samples("harmless", seed)
    changed = [redacted(sample.text) for sample in samples if redacted(sample.text) is not sample.text]
    assert len(samples) >= 200
    assert len(changed) <= 0.02 * len(samples), "\n".join(changed)


def test_the_page_has_these_figures() -> None:
    page = (Path(__file__).parents[2] / "docs" / "built-in-hooks.md").read_text()
    for name, title in (("secrets", "texts with secrets"), ("harmless", "harmless texts")):
        samples = corpus.samples(name)
        if name == "secrets":
            replaced = sum(not sample.left_in(redacted(sample.text)) for sample in samples)
        else:
            replaced = sum(redacted(sample.text) is not sample.text for sample in samples)
        assert f"| {title} | {len(samples)} | {replaced} |" in page


def test_the_mark_says_what_it_was() -> None:
    samples = corpus.samples("secrets")
    others = [sample.text for sample in samples if f"{MARK}: {sample.kind}]" not in redacted(sample.text)]
    assert len(others) <= 0.05 * len(samples), "\n".join(others)


def test_little_but_the_secret_is_taken_out() -> None:
    samples = corpus.samples("secrets")
    exact = 0
    for sample in samples:
        expected = sample.text
        for secret in sample.secrets:
            expected = expected.replace(secret, MARK)
        exact += re.sub(r"\[redacted: [^]]*\]", MARK, redacted(sample.text)) == expected
    assert exact >= 0.9 * len(samples)


@pytest.mark.parametrize("name", ["secrets", "harmless"])
def test_the_files_of_the_corpus_hold_no_token_of_a_provider(name: str) -> None:
    """A scanner that reads this repository has nothing to report: what is random in a sample is made up by the test."""
    written = "\n".join(json.dumps(row, ensure_ascii=False) for row in corpus.rows(name))
    assert not [kind for kind, _, expression in secret_formats.TOKENS if re.search(expression, written)]


def test_every_kind_of_the_corpus_is_one_that_can_be_allowed() -> None:
    assert {sample.kind for sample in corpus.samples("secrets")} <= {*kinds()}


@pytest.mark.parametrize("name", ["secrets", "harmless"])
def test_the_texts_of_the_corpus_are_distinct(name: str) -> None:
    assert not [text for text, times in Counter(row["text"] for row in corpus.rows(name)).items() if times > 1]


# ---- what is replaced


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PGPASSWORD=x9Qe4rT psql -h db", "PGPASSWORD=[redacted: password] psql -h db"),
        ("psql postgres://app:x9Qe4rT@db/app", "psql postgres://app:[redacted: url password]@db/app"),
        ("login --token x9Qe4rT7 --verbose", "login --token [redacted: token] --verbose"),
        ("DB_PASSWORD=MySecret2024", "DB_PASSWORD=[redacted: password]"),
        ("mysql --password=password123 shop", "mysql --password=[redacted: password] shop"),
        ("API_TOKEN=my-token-9f8e7d6c", "API_TOKEN=[redacted: token]"),
        (f"{TOKEN}: rejected", "[redacted: github token]: rejected"),
        (f"GH_TOKEN={TOKEN}", "GH_TOKEN=[redacted: github token]"),
        (f"https://x:{TOKEN}@github.com/a/b", "https://x:[redacted: github token]@github.com/a/b"),
        (f"x-access-token:{TOKEN}@github.com", "x-access-token:[redacted: github token]@github.com"),
        (f'{{"password": "{TOKEN}+x"}}', '{"password": "[redacted: github token]"}'),
        ("\x1b[32mDB_PASS\x1b[0m=\x1b[33mx9Qe4rT\x1b[0m", "\x1b[32mDB_PASS\x1b[0m=\x1b[33m[redacted: password]\x1b[0m"),
        (r"A=1\nDB_PASSWORD=x9Qe4rT\nB=2", r"A=1\nDB_PASSWORD=[redacted: password]\nB=2"),
        ("İPASSWORD=x9Qe4rT", "İPASSWORD=[redacted: password]"),
    ],
)  # fmt: skip
def test_only_the_secret_is_taken_out_of_a_text(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": 1, "token": "x9Qe4rT", "b": ["x"]}, {"a": 1, "token": "[redacted: token]", "b": ["x"]}),
        ({"password": 87654321, "port": 5432}, {"password": "[redacted: password]", "port": 5432}),
        ({"passwords": ["amiga500", "st520"]}, {"passwords": ["[redacted: password]"] * 2}),
        (["tool", "--api-key", "zx81-48k", "-v"], ["tool", "--api-key", "[redacted: api key]", "-v"]),
        ({"name": "DB_PASSWORD", "value": "zx81"}, {"name": "DB_PASSWORD", "value": "[redacted: password]"}),
        (
            {"db_password": {"type": "string", "value": "zx81-48k"}},
            {"db_password": {"type": "string", "value": "[redacted: password]"}},
        ),
        ({"token": TOKEN}, {"token": "[redacted: github token]"}),
        ([[{"stdout": f"it is {TOKEN}"}]], [[{"stdout": "it is [redacted: github token]"}]]),
    ],
)
def test_secrets_are_taken_out_of_plain_values(value: Any, expected: Any) -> None:
    assert redacted(value) == expected


@pytest.mark.parametrize(
    "value",
    [None, True, 12, "", [], {"token": None, "secret": ""}, {"has_token": True}, {"password": {"type": "string"}}],
)
def test_a_value_without_secrets_is_the_same_object(value: Any) -> None:
    assert redacted(value) is value


def test_what_was_redacted_is_left_alone_the_second_time() -> None:
    for sample in corpus.samples("secrets"):
        once = redacted(sample.text)
        assert redacted(once) == once
        before = re.sub(r"\[redacted: [^]]*\]", "[redacted]", once)  # as earlier versions wrote it
        assert redacted(before) == before


# ---- settings of a redactor


def test_secrets_are_counted_by_kind() -> None:
    redactor = Redactor()
    redactor.redacted({"a": f"{TOKEN} {TOKEN}", "password": "x9Qe4rT"})
    assert redactor.counts == {"github token": 2, "password": 1}


def test_kinds_can_be_left_alone() -> None:
    redactor = Redactor(allow=["password"])
    text = f"DB_PASSWORD=x9Qe4rT {TOKEN}"
    assert redactor.redacted([text, {"password": "x9Qe4rT"}]) == [
        "DB_PASSWORD=x9Qe4rT [redacted: github token]",
        {"password": "x9Qe4rT"},
    ]
    assert redactor.counts == {"github token": 1}


def test_further_secrets_are_replaced_in_texts_without_any_sign() -> None:
    redactor = Redactor(more=[lambda _: [(0, 9)], lambda _: [(14, 17), (17, 17)]])
    assert redactor.redacted("ACME-1234, id abc") == f"{MARK}: {OWN}], id {MARK}: {OWN}]"
    assert redactor.counts == {OWN: 2}


# ---- whatever comes

# letters that none of the signs of a secret can be written with
PLAIN = st.text(st.sampled_from("bdfghijlmquvxz02345789 ,()[]{}<>+*%\n\täöß漢字🎣"), max_size=200)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
PIECES = st.sampled_from(
    (
        *(
            "password",
            "token",
            "=",
            ":",
            " ",
            '"',
            "'",
            "\\",
            "\n",
            "https://",
            "u:",
            "@",
            "Bearer ",
            "sk-",
            "eyJ",
            ".",
        ),
        *(
            "-",
            "-----BEGIN ",
            "PRIVATE KEY-----",
            "--",
            "AKIA",
            "a1" * 9,
            "{",
            "}",
            "(",
            "$",
            "key",
            "\ud800",
            "ſ",
            "İ",
        ),
        *(
            "é",
            "curl -u ",
            "mysql -p",
            "[redacted",
            "]",
            "value",
            " is ",
            "\x1b[0m",
            "|\n",
            "cookie: ",
            "%3D",
            "<",
            ">",
        ),
    )
)


@given(PLAIN)
def test_a_text_without_any_sign_is_returned_as_it_is(text: str) -> None:
    assert not could_hold_secret(text)
    assert redacted(text) is text


@given(ANYTHING)
def test_redaction_never_raises(value: Any) -> None:
    json.dumps(redacted(value))


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_redaction_of_what_looks_like_secrets_never_raises(text: str) -> None:
    once = redacted(text)
    assert isinstance(once, str)
    assert redacted({"a": [text]}) == {"a": [once]}


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_a_text_that_could_hold_no_secret_holds_none(text: str) -> None:
    assert could_hold_secret(text) or not secrets(text)


@pytest.mark.parametrize("name", ["secrets", "harmless"])
def test_no_secret_of_the_corpus_is_without_a_sign(name: str) -> None:
    for sample in corpus.samples(name):
        assert could_hold_secret(json.dumps({"command": sample.text})) or not secrets(sample.text)


def test_the_modes_of_agents_are_not_worth_a_look() -> None:
    for mode in ("default", "plan", "acceptEdits", "dontAsk", "bypassPermissions", "yolo", "never", "on-request"):
        assert not could_hold_secret(f'{{"permission_mode": "{mode}", "tool_use_id": "toolu_01"}}')


# ---- time

MEGABYTE = 1_000_000
RUNAWAYS = {
    "names": "token",
    "names apart": "token-",
    "words": "a-",
    "addresses": "://a.b.",
    "tokens": "eyJaaaaaaaa-",
    "keys": "sk-a-",
    "spaces": " ",
    "quotes": 'password="',
    "colons": "https://a:",
    "passwords in addresses": "://a:abc@",
    "beginnings": "-----BEGIN PRIVATE KEY----- ",
    "equals": "secret=",
    "options": "--token ",
    "backslashes": "\\",
    "empty values": "pwd=;",
    "values": "pwd=a1b2c3;",
    "lines": "pw: a\n",
    "programs": "a-mysql ",
    "options of programs": "curl -u ",
    "cookies": "cookie:a",
    "named values": '"token":{"a":"b",',
    "marks": "[redacted: token] ",
    "prose": "token for aaaa ",
    "escapes": "\\n",
    "colours": "\x1b[0m",
}


def hostile(name: str) -> str:
    text = RUNAWAYS[name]
    return "password=" + text * (MEGABYTE // len(text))


@pytest.mark.parametrize("name", RUNAWAYS)
def test_a_megabyte_of_hostile_text_takes_no_longer_than_200_ms(name: str) -> None:
    """An agent waits for it, and a model may have written it. Time of this process, with room for a shared core."""
    redacted("password=x9Qe4rT")
    text = hostile(name)
    assert takes_less_than(0.2, lambda: redacted(text))


def test_a_megabyte_with_every_sign_and_every_name_once_does_not_take_longer_either() -> None:
    signs = " ".join((*corpus.signs(), *(f"n{number}_token=a{number}b2" for number in range(4000))))
    text = signs + "s" * MEGABYTE
    assert takes_less_than(0.2, lambda: redacted(text))


def test_a_text_with_more_candidates_than_any_real_one_is_redacted_from_there_on() -> None:
    text = "first " + "pwd=abcdef12;" * 100_000
    kept = redacted(text)
    assert kept.startswith("first pwd=[redacted: password];")
    assert kept.endswith(f"{MARK}: {secret_values.TOO_MANY}]")
    assert "abcdef12" not in kept
    many = "://a:x9Qe4rT@ " * 100_000
    assert redacted(many) == f"{MARK}: {secret_values.TOO_MANY}]"


def test_a_large_log_is_read_to_its_end() -> None:
    line = "2026-03-02T10:00:00Z INFO request id=42 path=/api/token status=200 duration=12ms user=me token refreshed\n"
    text = line * 9_000 + f"GH_TOKEN={TOKEN}\n"
    assert redacted(text) == line * 9_000 + "GH_TOKEN=[redacted: github token]\n"


def test_a_recorded_event_that_names_no_secret_needs_no_expressions() -> None:
    """An agent waits for it: importing `re` and the expressions would double the cost of a guarded call."""
    code = (
        "import json, sys; from tenterhook.basics.redaction import redacted;"
        "event = json.loads(sys.argv[1]); assert redacted(event) is event;"
        "assert 'tenterhook.basics.secret_values' not in sys.modules"
    )
    source = str(Path(secret_formats.__file__).parents[2])
    recorded = [file for file in RECORDED if file.parts[-2:] in ORDINARY]
    assert len(recorded) == len(ORDINARY)
    for file in recorded:
        event = json.dumps(json.loads(file.read_text()))
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({source!r}); {code}", event], check=True
        )


ORDINARY = {("claude-code", "PreToolUse.json"), ("codex", "PreToolUse.json"), ("kimi-code", "PreToolUse.json")}
