"""The table of programs that run others."""

from __future__ import annotations

import re

import pytest

from tenterhook.shell.programs import nested_commands
from tenterhook.shell.wrappers import LOADER, WRAPPERS, synopsis

ROWS = [(name, row) for name, rows in WRAPPERS.items() for row in ((rows,) if isinstance(rows, str) else rows)]
WORD = (
    r"[a-z]+|-[A-Za-z/]+|--[a-z0-9-]*|-[-A-Za-z]+=(?:LINE|COMMAND|DIRECTORY)|(?:IF|UNLESS)=-[-a-zA-Z]+|NAME=VALUE|[A-Z]+"
    r"|@[~/]"
)


@pytest.mark.parametrize(("name", "row"), [*ROWS, ("ld.so", LOADER)])
def test_every_row_is_a_synopsis(name: str, row: str) -> None:
    assert [part for part in row.split() if not re.fullmatch(WORD, part)] == []
    found = synopsis(row)
    if found.operands:
        assert found.operands[-1] in ("COMMAND", "LINE", "SHELL", "INPUT")
    else:
        assert {"LINE", "COMMAND"} & set(found.options.values())


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_every_program_runs_what_its_synopsis_says(name: str, row: str) -> None:
    found = synopsis(row)
    options = [word for name, kind in found.options.items() if not kind and len(name) == 2 for word in (name, "v")]
    if found.operands:
        skipped = [{"--": "--", "NAME=VALUE": "A=b"}.get(operand, "operand") for operand in found.operands[:-1]]
        command = [*options, *skipped, *(["--", "-c", "ls -l"] if found.operands[-1] == "SHELL" else ["ls", "-l"])]
    else:
        option, kind = next(iter(found.options.items()))
        command = [option, "ls -l"] if kind == "LINE" else [option, "ls", "-l"]
    ran = nested_commands([name, *found.subcommand, *command], None)
    assert [each.value if isinstance(each.value, str) else " ".join(each.value) for each in ran] == ["ls -l"]
    assert [each.is_remote for each in ran] == [found.is_remote]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sudo A=b ls", [("words", ["ls"], None)]),
        ("sudo -s ls -l", [("shell", "ls -l", None)]),
        ("sudo -i ls", [("shell", "ls", "~")]),
        ("sudo -i", [("stdin", "", "~")]),
        ("sudo -D /srv ls", [("words", ["ls"], "/srv")]),
        ("sudo -l ls", []),
        ("sudo -e file", []),
        ("command -v ls", []),
        ("command ls", [("words", ["ls"], None)]),
        ("runuser -u eve ls", [("words", ["ls"], None)]),
        ("runuser eve -c ls", [("shell", "ls", "~")]),
    ],
)
def test_options_decide_whether_a_synopsis_fits(line: str, expected: list[tuple[str, object, str | None]]) -> None:
    assert [(each.kind, each.value, each.directory) for each in nested_commands(line.split(), None)] == expected


def test_a_synopsis_is_taken_apart() -> None:
    found = synopsis("exec -ab --name -c=LINE --dir=DIRECTORY HOST -- COMMAND @~ REMOTE")
    assert found.subcommand == ["exec"]
    assert found.options == {"-a": "", "-b": "", "--name": "", "-c": "LINE", "--dir": "DIRECTORY"}
    assert found.operands == ["HOST", "--", "COMMAND"]
    assert (found.short, found.directory, found.is_remote) == ("abc", "~", True)
