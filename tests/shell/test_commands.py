"""What a line is read as."""

from __future__ import annotations

from tenterhook.shell.commands import LONGEST_SHOWN, Reading, ReadingNote, ShellCommand, because, shortened
from tenterhook.shell.syntax import STAR, UNKNOWN


def test_a_command_has_the_name_of_its_program() -> None:
    assert ShellCommand(["/usr/bin/python3.11", "x"], [], None, "/", "", ()).name == "python"
    assert ShellCommand([], [], None, "/", "", ()).name == ""


def test_a_reading_with_something_unreadable_is_not_complete() -> None:
    assert Reading([], [ReadingNote("fork-bomb", "")], []).is_complete
    assert not Reading([], [ReadingNote("unreadable", "")], []).is_complete


def test_what_is_shown_is_short_and_without_marks() -> None:
    assert shortened(f"rm  {STAR}\n{UNKNOWN}") == "rm * …"
    assert len(shortened("a" * 1000)) == LONGEST_SHOWN
    assert because("rm a", "it is too long") == "rm a: it is too long"
    assert len(because("a" * 1000, "it is too long")) == LONGEST_SHOWN
