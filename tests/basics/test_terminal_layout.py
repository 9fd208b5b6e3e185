"""Tables and texts as they fit into the columns of a terminal."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from tenterhook.basics.display_text import LEFT_OUT
from tenterhook.basics.terminal_layout import folded, shortened, table_lines, without_middle, wrapped

HEADERS = ("hook", "event", "priority", "what it does")
ROWS = [
    ("block-dangerous-commands", "pre-tool-call", "900", "Refuses what destroys [what] cannot be restored, or asks"),
    ("schön", "pre-agent-turn-stop", "-", "漢字"),
]


def test_without_a_terminal_every_cell_is_complete_and_on_one_line() -> None:
    lines = table_lines(("a", "b"), [("long", "x"), ("s", ""), ("two\nlines", "y" * 500)], None)
    assert lines == ["  a           b", "  long        x", "  s", f"  two\\nlines  {'y' * 500}"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_table_fits_the_terminal_and_nothing_is_left_out(width: int) -> None:
    lines = table_lines(HEADERS, ROWS, width)
    assert max(map(cell_len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert [cell for row in ROWS for cell in row[:3] if cell not in text] == []
    assert [word for row in ROWS for word in row[3].split() if word not in text] == []
    assert LEFT_OUT not in text


def test_the_last_column_is_wrapped_and_else_what_does_not_fit_stands_below_its_row() -> None:
    assert table_lines(HEADERS, ROWS[:1], 95)[1:] == [
        "  block-dangerous-commands  pre-tool-call  900       Refuses what destroys [what] cannot be",
        f"{' ' * 53}restored, or asks",
    ]
    assert table_lines(HEADERS, ROWS[:1], 60) == [
        "  hook                      event          priority",
        "  block-dangerous-commands  pre-tool-call  900",
        "      Refuses what destroys [what] cannot be restored, or",
        "      asks",
    ]
    assert table_lines(HEADERS, ROWS[:1], 45)[2] == "      priority 900 · what it does Refuses"


def test_a_text_is_wrapped_in_a_column_of_its_own_or_below_its_head() -> None:
    said = "word " * 6
    assert wrapped(said.strip(), 30, first="  ok  ") == ["  ok  word word word word word", "      word"]
    assert wrapped(said.strip(), 36, first="a head that is long ", indent=4) == [
        "a head that is long",
        "    word word word word word word",
    ]
    assert wrapped("one\ntwo", 60, first="- ") == ["- one", "  two"]
    assert wrapped("short", 60, first="a head ", indent=2) == ["a head short"]


def test_a_folded_line_keeps_every_character() -> None:
    assert folded("--- /a/long/path with  spaces", 16) == ["--- /a/long/", "    path with  s", "    paces"]


def test_styles_stay_only_where_colours_are_wanted() -> None:
    styled = "\x1b[31mred\x1b[0m"
    assert wrapped(styled, 60) == ["red"]
    assert "\x1b[31mred" in wrapped(styled, 60, colour=True)[0]
    assert "\x1b[" in table_lines(("a",), [("b",)], 60, colour=True)[0]


@pytest.mark.parametrize("line", ["plain", "漢字漢字漢字", "a\u0301e\u0301o\u0301 and more", "x" * 50])
@pytest.mark.parametrize("width", [5, 8, 13])
def test_a_line_is_cut_to_columns_not_to_characters(line: str, width: int) -> None:
    for cut in (shortened(line, width), without_middle(line, width)):
        assert cell_len(cut) <= width
        assert (cut == line) == (cell_len(line) <= width)
        assert (LEFT_OUT in cut) == (cell_len(line) > width)


def test_without_its_middle_a_line_keeps_both_ends() -> None:
    cut = without_middle("/a/long/way/to/the/file.py", 12)
    assert cut.startswith("/a/")
    assert cut.endswith("e.py")
