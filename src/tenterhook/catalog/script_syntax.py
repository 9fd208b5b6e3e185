"""Syntax errors of scripts, as their interpreters report them. The script is not run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from typing import NamedTuple

_LARGEST = 1024 * 1024
_LONGEST = 5  # seconds for an interpreter to answer
_NO_SUCH_OPTION = 2  # the exit status of a Python that cannot be isolated, as Python 2


class SyntaxMistake(NamedTuple):
    """A syntax error of a script, and its line."""

    line: int | None
    message: str


def refusal(script: str, program: str, *, with_options: bool = False) -> SyntaxMistake | None:
    """Return the error of an interpreter that cannot parse a script; None if it can, or if it cannot be run."""
    if os.path.getsize(script) > _LARGEST:
        return None
    if re.fullmatch(r"python[\d.]*", program):
        return _python(script, program)
    if program in ("node", "nodejs") and not with_options:  # an option may change the language
        return _node(script, program)
    return None


def shell_called(name: str) -> str | None:
    """Return the shell of that name, if it is one that can check the syntax of a script."""
    return "/bin/sh" if name in ("sh", "dash") else shutil.which("bash") if name == "bash" else None


def refusal_by_shell(shell: str, *arguments: str) -> str | None:
    """Return a shell's error for a script or line (`-c`) that it cannot parse; None if it can, or if it cannot run."""
    status, said = _run([shell, "-n", *arguments])
    return None if status in (0, None) else next(iter(said.strip().splitlines()), "syntax error")


def _python(script: str, program: str) -> SyntaxMistake | None:
    with open(script, "rb") as file:
        source = file.read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, script, "exec", dont_inherit=True)
    except SyntaxError as error:
        found = SyntaxMistake(error.lineno, f"Python refuses it: {error.msg}")
    except (ValueError, RecursionError, MemoryError):  # nested too deeply, or not text
        return None
    else:
        return None
    # Another version may accept it. The one on the PATH is run: a path in the script might be the repository's own.
    other = shutil.which(program)
    if other is None or os.path.realpath(other) == os.path.realpath(sys.executable):
        return found
    code = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec')"
    # Isolated: nothing here is trusted yet, and it would import modules from the current directory.
    status, _ = _run([other, "-I", "-c", code, script])
    return None if status in (0, _NO_SUCH_OPTION) else found


def _node(script: str, program: str) -> SyntaxMistake | None:
    node = shutil.which(program)
    if node is None:
        return None
    with open(script, encoding="utf-8", errors="replace") as file:
        is_module = _IMPORTS(file.read()) is not None
    if is_module:  # with another suffix, node does not report errors in modules
        with tempfile.TemporaryDirectory() as place:
            module = shutil.copyfile(script, os.path.join(place, "script.mjs"))
            status, said = _run([node, "--check", module])
        said = said.replace(module, script)
    else:
        status, said = _run([node, "--check", script])
    if status in (0, None):
        return None
    message = next((line for line in said.splitlines() if re.match(r"\w*Error", line)), "syntax error")
    at = re.match(rf"{re.escape(script)}:(\d+)", said)
    return SyntaxMistake(int(at[1]) if at else None, f"node refuses it: {message}")


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
