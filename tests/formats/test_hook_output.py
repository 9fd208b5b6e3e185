"""What a hook printed: an object, an object after stray text, text, or JSON that is broken."""

from __future__ import annotations

import json

import pytest

from tenterhook.formats.hook_output import Parsed, parse

DENY = {"decision": "deny", "reason": "r"}
ON_ONE_LINE = json.dumps(DENY)
OVER_LINES = json.dumps(DENY, indent=2)
EITHER = pytest.mark.parametrize("printed", [ON_ONE_LINE, OVER_LINES], ids=["one line", "several lines"])


@EITHER
@pytest.mark.parametrize("before", ["", "\n\n", "  ", "\ufeff"], ids=["nothing", "lines", "spaces", "byte order mark"])
def test_an_object_is_read_whatever_white_space_is_around_it(before: str, printed: str) -> None:
    assert parse(f"{before}{printed}\n") == Parsed(DENY)


@EITHER
@pytest.mark.parametrize("before", ["loading…\n", "one\ntwo\n\n", 'debug {"decision": "allow"}\n'])
def test_an_object_at_the_end_is_used_and_the_text_before_it_reported(before: str, printed: str) -> None:
    note = f"stdout held {len(before.strip())} characters of text before the JSON object"
    assert parse(f"{before}{printed}  \n\n") == Parsed(DENY, note)


@pytest.mark.parametrize("text", [f"see {ON_ONE_LINE}", 'x\n["deny"]', "[INFO] {}", "[1, 2", "fine", "null", ""])
def test_text_is_no_answer_even_with_an_object_in_it(text: str) -> None:
    assert parse(text) == Parsed()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("{", "line 1, "),
        ('{"decision": "deny"', "line 1, "),
        ("{'decision': 'deny'}", "line 1, "),
        ('{"decision": "deny",}', "line 1, "),
        ("{}{}", "line 1, column 3"),
        (f"{ON_ONE_LINE} trailing", "line 1, "),
        ('{\n "decision": "deny"\n "reason": "no"\n}', "line 3, "),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "too large or nested too deeply"),
    ],
)
def test_what_begins_like_an_object_but_does_not_parse_says_where(text: str, where: str) -> None:
    found = parse(text)
    assert (found.answer, found.note) == (None, None)
    assert f"stdout is not valid JSON ({where}" in (found.error or "")
