"""Syntax errors of scripts, as their interpreters report them without running the script."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from typing import NamedTuple

_LARGEST = 1024 * 1024
_LONGEST = 5  # seconds for an interpreter to answer
_NO_SUCH_OPTION = 2  # the exit status of a Python that cannot be isolated, as Python 2


class SyntaxMistake(NamedTuple):
    """A syntax error of a script, and its line."""

    line: int | None
    message: str


def refusal(script: str, program: str, *, with_options: bool = False) -> SyntaxMistake | None:
    """Return the interpreter's error for a script it cannot parse; None if it can, or if it is not available.

    The interpreter is the one on the PATH: a path in the script might be the repository's own.
    """
    interpreter = shutil.which(program)
    if interpreter is None or os.path.getsize(script) > _LARGEST:
        return None
    if re.fullmatch(r"python[\d.]*", program):
        # isolated: nothing here is trusted yet, and it would import modules from the current directory
        status, said = _run([interpreter, "-I", "-W", "ignore", "-c", _COMPILES, script])
        return None if status in (0, None, _NO_SUCH_OPTION) else _mistake(said, "Python", r"line (\d+)")
    if program not in ("node", "nodejs") or with_options:  # an option may change the language
        return None
    with tempfile.TemporaryDirectory() as place, open(script, encoding="utf-8", errors="replace") as file:
        checked = script
        if _IMPORTS(file.read()):  # with another suffix, node does not report errors in modules
            checked = shutil.copyfile(script, os.path.join(place, "script.mjs"))
        status, said = _run([interpreter, "--check", checked])
    return None if status in (0, None) else _mistake(said, "node", rf"{re.escape(checked)}:(\d+)")


def _mistake(said: str, interpreter: str, place: str) -> SyntaxMistake:
    message = next((line for line in said.splitlines() if re.match(r"\w*Error", line)), "syntax error")
    at = re.findall(place, said)
    return SyntaxMistake(int(at[-1]) if at else None, f"{interpreter} refuses it: {message}")


def shell_called(name: str) -> str | None:
    """Return the path of the shell with a name, if it can check the syntax of a script; else None."""
    return "/bin/sh" if name in ("sh", "dash") else shutil.which("bash") if name == "bash" else None


def refusal_by_shell(shell: str, *arguments: str) -> str | None:
    """Return a shell's error for a script or line (`-c`) that it cannot parse; None if it can, or cannot be run."""
    status, said = _run([shell, "-n", *arguments])
    return None if status in (0, None) else next(iter(said.strip().splitlines()), "syntax error")


_COMPILES = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec')"
_IMPORTS = re.compile(
    r"^(?:import\s*[\w{*'\"]|export\s+(?:default|const|let|class|function|async|\{))", re.MULTILINE
).search


def _run(command: list[str]) -> tuple[int | None, str]:
    """Return an interpreter's exit status and stderr; None and an empty text if it cannot be run."""
    try:
        asked = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_LONGEST)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None, ""
    return asked.returncode, asked.stderr.decode("utf-8", "replace")
