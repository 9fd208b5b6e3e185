"""Shell lines: any text gives commands and notes, in time, and nothing is raised."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from fuzz import inputs
from shell.forms import FORMS, MENTIONS
from shell.generated import Lines
from support import takes_less_than
from tenterhook.guards import block_dangerous_commands, protect_hooks
from tenterhook.guards.calls import GuardedCall
from tenterhook.shell import effects, reader
from tenterhook.shell.syntax import BREAK, CLOSE, COMMA, OPEN, QUOTED, decoded

_LIMIT = 0.1  # seconds of CPU time
_WORDS = [
    *(
        "'",
        '"',
        "`",
        "$",
        "\\",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "|",
        "&",
        ";",
        "\n",
        " ",
        "#",
        "!",
        "~",
        "*",
        "?",
    ),
    *(
        "$(",
        "${",
        "$((",
        "))",
        "<<E\n",
        "\nE\n",
        "<<<",
        "<(",
        ">(",
        "&&",
        "||",
        ";;",
        "[[ ",
        " ]]",
        "{a,b}",
        "{1..9}",
        "$'",
        "\\\n",
    ),
    *(
        "if ",
        "then ",
        "fi",
        "for i in ",
        "do ",
        "done",
        "while ",
        "case a in ",
        "esac",
        "f() ",
        "function ",
        "time ",
        "coproc ",
    ),
    *(
        "x=",
        "x+=(",
        "$x",
        "${x:-",
        "${x//",
        "${x[@]}",
        '"$@"',
        "$1",
        "eval ",
        "sh -c ",
        "xargs ",
        "sudo ",
        "env -S ",
        "find . -exec ",
    ),
    *(
        "| sh",
        "| base64 -d",
        "\0",
        "\r",
        "\ue000",
        "\ue008",
        "\ud800",
        "é",
        "²",
        "9" * 5000,
        "a" * 3000,
        "(" * 80,
        "$(" * 80,
        "x;" * 3000,
    ),
]
_lines = Lines(0)
_GOOD = [*FORMS, *MENTIONS, *(_lines.sequence() for _ in range(200)), *(_lines.words() for _ in range(50))]
lines = inputs.changed_bytes(
    [line.encode() for line in _GOOD], [word.encode("utf-8", "surrogatepass") for word in _WORDS]
).map(lambda data: data.decode("utf-8", "surrogateescape"))
_VARIABLES = {"HOME": "/home/me", "x": "a b *", "IFS": " \t\n"}


def _seen(reading: reader.Reading) -> list[object]:
    commands = [(each.words, each.redirects, each.stdin, each.span, each.is_certain) for each in reading.commands]
    return [*commands, *((note.kind, note.shown) for note in reading.notes)]


@given(line=lines | inputs.any_text, repeated=st.sampled_from([1, 1, 1, 1, 50, 2000]))
def fuzz(line: str, repeated: int) -> None:
    """Reading ends in time with commands that stand where they say, and the same again; a guard can judge them."""
    line *= repeated
    assert takes_less_than(_LIMIT, lambda: reader.read(line, "/home/me/project", _VARIABLES)), "it took too long"
    reading = reader.read(line, "/home/me/project", _VARIABLES)
    for command in reading.commands:
        if command.span is not None:
            first, last = command.span
            assert 0 <= first <= last <= len(line), command.span
        for word in command.words:
            assert not any(mark in word for mark in (BREAK, QUOTED, OPEN, COMMA, CLOSE)), word
            decoded(word)
        effects.effects(command)
        assert os.path.isabs(command.directory)
    if repeated == 1:
        assert _seen(reader.read(line, "/home/me/project", _VARIABLES)) == _seen(reading)
        reader.read(line.split(" "), "/home/me/project", _VARIABLES)
        block_dangerous_commands.judge(GuardedCall("Bash", {"command": line}, "/home/me/project", _VARIABLES))
        protect_hooks.judge(GuardedCall("Bash", {"command": line}, "/home/me/project", _VARIABLES))
