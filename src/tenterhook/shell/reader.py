"""Returns the commands that a shell line would run, read as a shell reads it. Nothing is run.

`read(line, directory, variables)` returns a `Reading`: every command with its expanded words, in the order of
execution, and notes. It follows what is known: variables that the line sets, directories it changes to, what `echo` and
here-documents feed to a shell, files that it writes and then runs, programs that run others (`sudo`, `xargs`, `sh -c`,
`find -exec` …). All branches are walked. Unknown text is a mark in a word (`UNKNOWN` …), and so is an unquoted pattern
(`STAR` …): `syntax.decoded` returns the text as it was written.

    reading = read("sudo git push --force", "/home/me/project", os.environ)
    [command.words for command in reading.commands]  # [['sudo', 'git', …], ['git', 'push', '--force']]
    reading.commands[1].through  # ('sudo',)
"""

from __future__ import annotations

import os

from .commands import Reading, ReadingNote, ShellCommand, because
from .expansion import changed_variables, without_private
from .state import ShellState
from .walk import Walk

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Mapping

__all__ = [
    "Reading",
    "ReadingNote",
    "ShellCommand",
    "agents_home",
    "changed_variables",
    "read",
]


def read(line: str | list[str], directory: str, variables: Mapping[str, str]) -> Reading:
    """Return everything that a line would run, or a program with its arguments that is started without a shell.

    Never raises: for what cannot be read, there is a note of the kind `unreadable`.
    """
    given = [line] if isinstance(line, str) else line
    texts = [without_private(text).replace("\0", "\ufffd") for text in given]
    walk = Walk(variables, texts[0] if isinstance(line, str) else "")
    if sum(map(len, texts)) < sum(map(len, given)):
        walk.note("unreadable", because(" ".join(texts[:64]), "it contains too many private characters"))
    if isinstance(line, str) and "\0" in line:  # arguments cannot have one, and shells differ
        walk.note("unreadable", because(texts[0], "it contains a NUL character"))
    walk.all_of(texts[0] if isinstance(line, str) else texts, ShellState(os.path.normpath(directory)))
    return Reading(walk.commands, walk.notes, walk.code_run)


def agents_home(environment: Mapping[str, str]) -> str:
    """Return the home directory as the agent's own shell has it."""
    theirs = changed_variables(environment).get("HOME")
    return theirs if isinstance(theirs, str) else environment.get("HOME") or os.path.expanduser("~")
