"""A text is found in every form that JSON and addresses give it; a redacted record is told from another one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal import journals
from tenterhook.journal.redacted_records import ByRules, ByText, is_redaction_of, redacted_record

if TYPE_CHECKING:
    from collections.abc import Callable

SECRETS = (
    "hunter2-hunter2",
    'with "quotes" and \\ in it',
    "-----BEGIN KEY-----\nabc\tdef\n-----END KEY-----",
    "pässwörd €100",
    "a/b+c=d&e f",
    "\N{KEY} emoji",
)
FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "in JSON": json.dumps,
    "in JSON with other letters": lambda text: json.dumps(text, ensure_ascii=False),
    "in JSON in JSON": lambda text: json.dumps(json.dumps({"a": text})),
    "in an address": lambda text: quote(text, safe=""),
    "in an address in small letters": lambda text: quote(text, safe="").replace("%2F", "%2f").replace("%3D", "%3d"),
    "in a form": quote_plus,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", SECRETS)
def test_a_text_is_found_in_every_form(secret: str, form: str) -> None:
    written = FORMS[form](secret)
    bare = written.strip('"')
    kept = ByText(secret, "password").redacted(f"before {written} after")
    assert bare not in kept
    assert secret not in kept
    assert kept.startswith("before ")
    assert kept.endswith(" after")
    assert "[redacted: password]" in kept


def test_values_of_all_types_and_keys_are_redacted() -> None:
    redactor = ByText("4711", "pin")
    value = {"a": ["x4711x", {"4711": 4711, "b": 4711.0, "c": 47110, "d": True, "e": None}]}
    mark = "[redacted: pin]"
    expected = {"a": [f"x{mark}x", {mark: mark, "b": 4711.0, "c": 47110, "d": True, "e": None}]}
    assert redactor.redacted(value) == expected
    assert redactor.count == 3


def test_keys_that_become_the_same_are_kept_apart() -> None:
    value = {"secret/1": 1, "secret%2F1": 2, "[redacted: pin]": 3}
    kept = ByText("secret/1", "pin").redacted(value)
    assert sorted(kept.values()) == [1, 2, 3]
    assert len(kept) == 3
    assert not any("secret" in key for key in kept)


def test_what_has_no_secret_is_the_same_object() -> None:
    record = journals.record(0)
    for redactor in (ByText("hunter2", "password"), ByRules()):
        assert redacted_record(record, redactor) is record


@pytest.mark.parametrize("word", ["verdict", "none", "full", "no_decision", "pre-tool-call"])
def test_words_of_the_format_stay(word: str) -> None:
    record = journals.record(0, runs=[journals.run()], reason=f"it says {word}")
    kept = redacted_record(record, ByText(word, "word"))
    assert kept["reason"] == "it says [redacted: word]"
    for key in ("type", "decision", "payload", "event"):
        assert kept[key] == record[key]
    assert kept["runs"][0]["meaning"] == "no_decision"


def test_names_are_redacted_if_they_have_the_text() -> None:
    record = journals.record(0, session_id="s-hunter2", work_dir="/hunter2", runs=[journals.run("hunter2")])
    kept = redacted_record(record, ByText("hunter2", "name"))
    assert "hunter2" not in json.dumps(kept)
    assert kept["payload"] == "full"  # what the event told is all there


# ---- is it a redaction?

OLD = journals.record(
    0,
    fields={"command": "echo one two three", "one": 1, "list": ["a", {"two": 22222}]},
    reason="two and three",
    runs=[journals.run(stdout="one")],
)


@pytest.mark.parametrize("word", ["one", "two", "three", "22222", "echo one two three", " ", "e", "a"])
def test_a_redacted_record_is_a_redaction(word: str) -> None:
    new = redacted_record(OLD, ByText(word, "word"))
    assert new is not OLD
    assert is_redaction_of({**new, "redacted": {"was": "x"}, "hash": "y"}, OLD)
    assert not is_redaction_of(OLD, new)
    again = redacted_record(new, ByText("echo", "other"))
    assert is_redaction_of(again, OLD)
    assert is_redaction_of(again, new)


def changed(**fields: Any) -> dict[str, Any]:
    return {**redacted_record(OLD, ByText("two", "word")), **fields}


@pytest.mark.parametrize(
    "new",
    [
        changed(reason="[redacted: word] or three"),
        changed(reason="more [redacted: word] and three"),
        changed(reason="[redacted: word] and three and more"),
        changed(decision="deny"),
        changed(decision="[redacted: word]"),
        changed(time=1.0),
        changed(fields=None),
        changed(fields={}),
        changed(runs=[]),
        changed(runs=[journals.run(stdout="one", meaning="blocked")]),
        changed(prev="f"),
        changed(more="[redacted: word]"),
        changed(payload="none"),
        changed(waited_ms="[redacted: word]"),
        changed(reason=["[redacted: word]"]),
    ],
)
def test_other_changes_are_no_redaction(new: dict[str, Any]) -> None:
    assert not is_redaction_of(new, OLD)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("abc[]: redacted"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
)


@given(value=_VALUES, text=st.text("abc", min_size=1, max_size=3))
def test_every_redaction_is_one(value: Any, text: str) -> None:
    old = {"type": "verdict", "payload": "full", "fields": value}
    assert is_redaction_of(redacted_record(old, ByText(text, "word")), old)
