"""The files of a hook's folder: the script it runs, its interpreter, and problems with both."""

from __future__ import annotations

import os
import stat
import sys

from ..basics.named_tuples import NamedTuple
from ..errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ENTRY_POINTS = ("scripts/run", "scripts/run.sh", "scripts/run.py")


class FolderState(NamedTuple):
    """The `stat` results of a hook's folder, and of HOOK.md, scripts and the entry point if they exist."""

    stats: Mapping[str, os.stat_result]
    script: str | None
    links: tuple[str, ...] = ()


def read_state(folder: str) -> FolderState | None:
    """Return the state of a hook's folder; None if it is not a hook."""
    stats: dict[str, os.stat_result] = {}
    links: list[str] = []
    script = None
    for relative in ("HOOK.md", "", "scripts", *ENTRY_POINTS):
        path = f"{folder}/{relative}" if relative else folder
        try:
            found = os.lstat(path)
            if stat.S_ISLNK(found.st_mode):
                links.append(path)
                found = os.stat(path)
        except OSError:
            if relative == "HOOK.md" and not links:
                return None
            continue
        if relative in ENTRY_POINTS:
            if not stat.S_ISREG(found.st_mode):
                continue
            script = path
        stats[path] = found
        if script:
            break
    return FolderState(stats, script, tuple(links))


def entry_point(folder: str, seen: FolderState | None = None) -> tuple[str | None, Problem | None]:
    """Return the first entry point that a hook's folder has, and its problem; None for either if there is none."""
    seen = seen or read_state(folder)
    script = seen.script if seen else None
    if seen is None or script is None:
        if meant := _no_file(folder) or _in_other_case(folder):
            return None, meant
        message = "no scripts/run, scripts/run.sh or scripts/run.py"
        remedy = "add one of them and make it executable"
        return None, Problem("no-script", f"{folder}/HOOK.md", None, None, message, remedy)
    if seen.stats[script].st_mode & 0o111:
        return script, None
    remedy = f"chmod +x {script}"
    return script, Problem("not-executable", script, None, None, "the script has no exec bit", remedy)


def _no_file(folder: str) -> Problem | None:
    """Return the problem of an entry point that is not a regular file, or of a broken link; or None."""
    for relative in ("scripts", *ENTRY_POINTS):
        path = f"{folder}/{relative}"
        if os.path.islink(path) and not os.path.exists(path):
            message = f"{relative} is a broken symbolic link: {os.readlink(path)}"
            return Problem("no-script", path, None, None, message, "fix the link, or put the file itself there")
        if relative in ENTRY_POINTS and os.path.lexists(path):
            message = f"{relative} is not a regular file"
            return Problem("no-script", path, None, None, message, "put the script itself there")
    return None


def _in_other_case(folder: str) -> Problem | None:
    """Return the problem of a script whose name differs from an entry point by case only; or None."""
    for directory in in_any_case(folder, "scripts"):
        for name in ENTRY_POINTS:
            for found in in_any_case(f"{folder}/{directory}", name.rpartition("/")[2]):
                message = f"the script is called {directory}/{found}; only {name} is run, and case matters"
                return Problem(
                    "wrong-case", f"{folder}/{directory}/{found}", None, None, message, f"rename it to {name}"
                )
    return None


def in_any_case(directory: str, name: str) -> list[str]:
    """Return the names in a directory that equal a name if case is ignored."""
    try:
        return [each for each in os.listdir(directory) if each.lower() == name.lower()]
    except OSError:
        return []


def interpreter(first: bytes) -> str | None:
    """Return the program that a script's `#!` line names, as the system reads it; None without such a line."""
    if not first.startswith(b"#!"):
        return None
    words = first[2:].rstrip(b"\n").decode("utf-8", "surrogateescape").strip(" \t")
    return words.replace("\t", " ").split(" ")[0]


def named_interpreter(first: bytes) -> list[str]:
    """Return the interpreter that a `#!` line names without a path, also after `env` or `env -S`, and its arguments.

    Empty if it has a path, or if `env` has other arguments than a program and plain words.
    """
    words = first[2:].decode("utf-8", "surrogateescape").split() if first.startswith(b"#!") else []
    if words[:1] in (["/usr/bin/env"], ["/bin/env"]):
        del words[0]
        if words and words[0].startswith("-S"):
            words[:1] = [words[0][2:]] if words[0] != "-S" else []
        elif len(words) != 1:  # Linux passes them as one word, which names no program
            return []
    elif len(words) > 2:
        words[1:] = [" ".join(words[1:])]
    is_plain = words and words[0][0] != "-" and not set("/=") & set(words[0])
    return words if is_plain and not set("\"'\\$#") & set("".join(words)) else []


def named_program(first: bytes) -> list[str]:
    """Return the program that a `#!` line starts, directly or through `env`, and its arguments; empty if unknown."""
    words = first[2:].decode("utf-8", "replace").replace("\t", " ").strip() if first.startswith(b"#!") else ""
    program, _, argument = words.partition(" ")
    argument = argument.strip()
    if os.path.basename(program) != "env":
        return [each for each in (program, argument) if each]
    if argument.startswith(("-S", "--split-string")):
        from ..shell import reader

        reading = reader.read(f"env {argument.removeprefix('-S').removeprefix('--split-string').lstrip('= ')}", "/", {})
        return reading.commands[-1].words if reading.is_complete and len(reading.commands) > 1 else []
    if argument.startswith("-"):
        return []
    # Linux passes the rest as one word, which names no program if it has options
    return [argument] if argument and sys.platform == "linux" else argument.split()


def on_path(name: str, path: str) -> str | None:
    """Return the path of a program on a `PATH`; None if there is none, or if a relative entry comes first."""
    for directory in path.split(":"):
        if not os.path.isabs(directory):
            return None
        program = os.path.join(directory, name)
        if can_run(program):
            return program
    return None


def can_run(program: str) -> bool:
    return os.path.isfile(program) and os.access(program, os.X_OK)
