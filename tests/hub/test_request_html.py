"""What a person sees: nothing hidden, nothing that becomes markup, every danger marked."""

from __future__ import annotations

import html
import json
import re
import time
import unicodedata
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenterhook.approvals import presenter
from tenterhook.approvals.requests import Call
from tenterhook.basics.display_text import is_hidden
from tenterhook.hub import request_html

ALLOWED_TAGS = {"span", "mark"}
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)  # lone surrogates, too
HIDDEN = ("\x1b[31m", "\u202e", "\u2066", "\u200b", "\ufeff", "\x00", "\r", "\u3164", "\u00a0", "\u2028", "\U000e0041")
MARKUP = (
    "<script>",
    "</code>",
    '"><img src=x onerror=alert(1)>',
    "&lt;",
    "rm -rf /",
    "; sudo ",
    "\n",
    "\t",
    "⟨U+0041⟩",
)
NASTY = st.lists(st.one_of(ANYTHING, st.sampled_from(HIDDEN + MARKUP)), max_size=8).map("".join)


class Reader(HTMLParser):
    """The text and the tags that a browser would see."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: set[str] = set()
        self.feed(str(markup))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"class", "title"}

    def handle_data(self, data: str) -> None:
        self.text += data


def read_back(shown: str) -> str:
    return re.sub(r"⟨U\+([0-9A-F]{4,6})⟩", lambda found: chr(int(found[1], 16)), shown)


@given(NASTY)
def test_nothing_hidden_is_left_and_nothing_is_lost(text: str) -> None:
    for show, kept in ((request_html.one_line, ""), (request_html.lines, "\n\t")):
        seen = Reader(show(text))
        assert seen.tags <= ALLOWED_TAGS
        assert not [char for char in seen.text if is_hidden(char) and char not in kept]
        assert read_back(seen.text) == read_back(text)


@given(NASTY)
def test_the_plain_form_says_the_same_as_the_marked_one(text: str) -> None:
    assert request_html.plain(text) == Reader(request_html.one_line(text)).text


@given(NASTY)
def test_a_command_is_shown_whole_whatever_it_holds(line: str) -> None:
    seen = Reader(request_html.request(presenter.present(Call("Shell", {"command": line or "true"}, "/"), None)))
    assert seen.tags <= ALLOWED_TAGS
    assert seen.text == Reader(request_html.lines(line or "true")).text


@given(NASTY)
def test_a_difference_is_shown_whole_a_line_each(text: str) -> None:
    seen = Reader(request_html.diff(text))
    assert seen.text.removesuffix("\n").split("\n") == [
        Reader(request_html._marked(line, "\t")).text for line in text.split("\n")
    ]


@pytest.mark.parametrize(
    "char",
    ["\u202e", "\u2066", "\u200b", "\u200d", "\u061c", "\x1b", "\x9b", "\x7f", "\u00ad", "\u00a0", "\u3164", "\ufe0f"],
)
def test_what_deceives_the_eye_is_written_out(char: str) -> None:
    assert Reader(request_html.one_line(f"a{char}b")).text == f"a⟨U+{ord(char):04X}⟩b"


def test_a_mark_says_what_it_stands_for() -> None:
    assert 'title="right-to-left override"' in request_html.one_line("\u202e")


@pytest.mark.parametrize("text", ["naïve café", "日本語", "Привет", "עברית", "a b", "→ ✓"])
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert request_html.one_line(text) == html.escape(text)
    assert unicodedata.is_normalized("NFC", text)


def test_lines_of_a_difference_are_told_apart_by_their_sign() -> None:
    shown = request_html.diff("--- a\n+++ a\n@@ -1 +1 @@\n same\n--- x\n+<b>")
    kinds = re.findall(r'<span class="(\w+)">', shown)
    assert kinds == ["file", "file", "where", "same", "removed", "added"]
    assert "+&lt;b&gt;" in shown


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-3, "0 s"),
        (0.9, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (252, "4 min 12 s"),
        (11_100, "3 h 5 min"),
        (187_200, "2 d 4 h"),
    ],
)
def test_a_span_of_time_is_said_in_its_two_largest_units(seconds: float, said: str) -> None:
    assert request_html.span(seconds) == said


@pytest.mark.parametrize(
    ("milliseconds", "said"), [(0.4, "0.4 ms"), (12.3, "12 ms"), (3400, "3.4 s"), (125_000, "2 min 5 s")]
)
def test_a_duration_is_as_exact_as_it_is_short(milliseconds: float, said: str) -> None:
    assert request_html.duration(milliseconds) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-1e14, "1970-01-01T00:00:00Z"), (1e9, "2001-09-09T01:46:40Z"), (1e14, "9999-12-31T23:59:59Z")],
)
def test_a_time_that_a_machine_made_up_is_a_date(seconds: float, said: str) -> None:
    assert request_html.moment(seconds) == said
    assert request_html.clock(seconds).endswith(" UTC")


def request(
    tool: str, tool_input: dict[str, Any], display: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    row = {"tool_name": tool, "tool_input": json.dumps(tool_input), "display": json.dumps(display or {})}
    where = {"machine": "m/1", "session": "s 1", "work_dir": "/home/ann/shop", "expires": time.time() + 60}
    answered = {"state": "open", "answered_by": None, "answered_via": None, "scope": None, "approved": None}
    return {**row, **where, **answered, **more}


def test_a_card_shows_the_command_of_the_input_whatever_the_display_says() -> None:
    card = request_html.card(
        request("Bash", {"command": "rm -rf ~"}, {"kind": "command", "command": "ls"}, action="list files")
    )
    assert (card.title, card.kind) == ("Run command", "command")
    assert Reader(card.shown).text == "rm -rf ~"
    assert card.dangers
    assert card.session_path == "/sessions/m%2F1/s%201"


def test_a_command_in_another_directory_says_so() -> None:
    shown = Reader(request_html.card(request("Shell", {"command": ["rm", "a b"], "workdir": "/etc"})).shown).text
    assert shown.startswith("rm 'a b'\n")
    assert '"workdir": "/etc"' in shown


def test_a_long_text_is_cut_on_a_card_and_whole_on_its_own_page() -> None:
    long = request("Shell", {"command": "\n".join(f"echo {number}" for number in range(100)) + "\nrm -rf /"})
    card = request_html.card(long)
    assert (card.all_lines, Reader(card.shown).text.count("\n")) == (101, 23)
    assert [danger.part for danger in card.dangers] == ["rm -rf /"]
    assert Reader(request_html.card(long, whole=True).shown).text.endswith("rm -rf /")


def test_an_input_of_any_other_tool_is_shown_as_json() -> None:
    card = request_html.card(request("mcp__mail__send", {"to": "x\u202e", "n": [1]}))
    assert card.kind == "input"
    assert json.loads(read_back(Reader(card.shown).text)) == {"to": "x\u202e", "n": [1]}


@pytest.mark.parametrize(
    ("answered", "outcome", "by"),
    [
        ({"state": "approved", "scope": "once", "answered_by": "ann", "answered_via": "page"}, "Approved once", "ann"),
        ({"state": "denied", "answered_by": "ann", "answered_via": "inbox"}, "Denied", "ann (inbox)"),
        ({"state": "expired"}, "Expired: nobody answered in time", ""),
        ({"state": "withdrawn", "answered_via": "terminal", "approved": 1}, "Approved: in the terminal, says m/1", ""),
        ({"state": "withdrawn", "answered_via": "gone"}, "Withdrawn: the agent no longer waits", ""),
    ],
)
def test_a_card_says_what_became_of_a_request(answered: dict[str, Any], outcome: str, by: str) -> None:
    card = request_html.card(request("Shell", {"command": "ls"}, **answered))
    assert (card.outcome, card.by) == (outcome, by)
