"""The result of reading a line: the commands it would run, and notes."""

from __future__ import annotations

from ..basics.named_tuples import NamedTuple
from .programs import program
from .syntax import UNKNOWNS, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Collection

    Span = tuple[int, int]

LONGEST_SHOWN = 120


class ShellCommand(NamedTuple):
    """A command that would run: its expanded words, and where and how it runs."""

    words: list[str]  # empty for redirections or assignments without a command
    redirects: list[tuple[str, str]]  # of (operator, target), for output
    stdin: str | None  # the text it reads, or None
    directory: str
    shown: str  # the part of the line that it comes from, shortened
    upstream: Collection[list[str]]  # the words of the commands whose output it reads
    span: Span | None = None  # start and end of that part in the line, if it is literally there
    # its words, assignments and redirections do not depend on variables, substitutions, patterns, braces or input
    is_certain: bool = False
    assignments: tuple[tuple[str, str], ...] = ()  # set for this command only, or by a line of assignments
    contained: bool = False  # in a new container, whose paths are not those of this machine, except for the mounts
    mounts: tuple[tuple[str, str], ...] = ()  # of (path in the container, path here)
    is_remote: bool = False  # on another machine, or in an existing container: `ssh`, `docker exec` …
    through: tuple[str, ...] = ()  # the programs that run it, outermost first: sudo, env …
    unset: tuple[str, ...] = ()  # variables without a value, which are assumed to be empty here
    inputs: tuple[str, ...] = ()  # the files of its redirections for input

    @property
    def name(self) -> str:
        """The program's name without its directory, version and `.exe`; empty if there is none."""
        return program(self.words[0]) if self.words else ""


class ReadingNote(NamedTuple):
    """A finding about the line that does not belong to a single command.

    `kind` is `unreadable`, `fork-bomb`, `run-download`, `run-decoded` (either with `-directly` if the code is a file
    that is started by its path).
    """

    kind: str
    shown: str


class Reading(NamedTuple):
    """The commands of a line in the order in which they would run, and notes."""

    commands: list[ShellCommand]
    notes: list[ReadingNote]
    code: Collection[str] = ()  # known texts that interpreters in the line run

    @property
    def is_complete(self) -> bool:
        """Whether the line was understood to its end. If not, `commands` has those before that place."""
        return not any(note.kind == "unreadable" for note in self.notes)


def shortened(text: str) -> str:
    """Return a part of a line for display: decoded, on one line, cut off."""
    text = " ".join(decoded(text[: 4 * LONGEST_SHOWN]).split())
    for mark in UNKNOWNS:
        text = text.replace(mark, "…")
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def because(shown: str, why: str) -> str:
    """Return a part of a line with what is wrong with it."""
    return f"{shortened(shown)[: LONGEST_SHOWN - len(why) - 2]}: {why}"
