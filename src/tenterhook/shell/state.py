"""The state of a shell at one point of a line: directory, variables, functions, and the files that the line wrote."""

from __future__ import annotations

from .syntax import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Sequence

    from .syntax import Function

MOST_VALUES = 8  # of one variable, from different branches


class ShellState:
    """The state of one shell, which builtins change in place."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.variables: dict[str, tuple[str, ...]] = {}  # name to a tuple of possible values
        self.lists: dict[str, list[str]] = {}
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, str] = {}  # also of programs under another name, by their path
        self.files: dict[str, str] = {}  # path to the text that the line wrote there
        self.arguments: Sequence[str] = ()
        self.sourced = False  # an unknown file may have set anything
        self.zero = "sh"
        self.is_certain = True  # the code that is walked is literally in the line, or in a word of it
        self.contained = False
        self.mounts: tuple[tuple[str, str], ...] = ()
        self.is_remote = False
        self.through: tuple[str, ...] = ()

    def size(self) -> int:
        return len(self.variables) + len(self.lists) + len(self.functions) + len(self.aliases) + len(self.files)

    def copy(self) -> ShellState:
        other = ShellState.__new__(ShellState)
        other.__dict__.update(self.__dict__)
        other.variables, other.lists, other.functions = dict(self.variables), dict(self.lists), dict(self.functions)
        other.aliases, other.files = dict(self.aliases), dict(self.files)
        return other

    def take(self, end: ShellState, arguments: Sequence[str]) -> None:
        """Take over the changes of a branch, except for variables and the directory."""
        for name in ("lists", "functions", "aliases", "files"):
            mine = getattr(self, name)
            mine.update((key, value) for key, value in getattr(end, name).items() if mine.get(key) is not value)
        self.arguments = end.arguments if end.arguments is not arguments else self.arguments
        self.sourced = self.sourced or end.sourced


def some_values(values: list[str]) -> tuple[str, ...]:
    """Return at most `MOST_VALUES` distinct values, the last of which is the mark of unknown text if there are more."""
    distinct = tuple(dict.fromkeys(values))
    return distinct if len(distinct) <= MOST_VALUES else (*distinct[: MOST_VALUES - 1], UNKNOWN)
