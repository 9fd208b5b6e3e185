"""JSON with comments: everything else keeps its place and its meaning."""

from __future__ import annotations

import json

import pytest

from tenterhook.formats import commented_json


def test_comments_and_last_commas_are_left_out() -> None:
    text = '{ // mine\n "a": [1, 2,], /* two\nlines */ "b": {"c": null,},\n}'
    assert commented_json.loads(text) == {"a": [1, 2], "b": {"c": None}}


def test_what_looks_like_a_comment_inside_a_string_is_kept() -> None:
    values = {"url": "http://x/*y*/", "quote": '"// ,]'}
    assert commented_json.loads(json.dumps(values)) == values


def test_every_line_stays_where_it_was() -> None:
    text = "{\n/* one\ntwo */\n// three\n1}"
    assert commented_json.plain(text).split("\n").index("1}") == text.split("\n").index("1}")


@pytest.mark.parametrize("text", ["", "{", "// only a comment", "{} {}", "[,]x"])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        commented_json.loads(text)
