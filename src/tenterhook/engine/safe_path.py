"""`PYTHONSAFEPATH` for Python that a shell line starts with `-c`, `-m` or on stdin: no imports from the project.

Started like this, Python searches the working directory first and would import a `json.py` there. `PYTHONSAFEPATH`
prevents that, from Python 3.11 on. It also removes the directory of a script that is run by its path, which must stay
importable, so lines that run such a script as well are left alone.
"""

from __future__ import annotations

from ..basics.named_tuples import cached

_VARIABLE = {b"PYTHONSAFEPATH": b"1"}
_SHELLS = (b"sh", b"bash", b"dash", b"zsh", b"ksh", b"ash")
_TAKE_A_VALUE = ("-W", "-X", "--check-hash-based-pycs")
_QUOTES = "\"'`(){}$;&|"


def for_script(script: str, text: bytes) -> dict[bytes, bytes]:
    """Return the variable if a script is a shell script that needs it, else nothing."""
    first = text.partition(b"\n")[0]
    if first.startswith(b"#!"):
        is_shell = any(word.rpartition(b"/")[2] in _SHELLS for word in first[2:].split())
    else:
        is_shell = not script.endswith(".py")
    return for_line(text.decode("utf-8", "replace")) if is_shell else {}


def for_line(line: str) -> dict[bytes, bytes]:
    """Return the variable if a shell line needs it, else nothing."""
    return _VARIABLE if _needs_safe_path(line) else {}


@cached(maxsize=256)
def _needs_safe_path(text: str) -> bool:
    """Whether a shell line starts Python with code that is not in a file, and runs no Python file."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    words = "\n".join(lines).replace("\n", " ; ").split()
    started = {_what_runs(words[number + 1 :]) for number, word in enumerate(words) if _is_python(word)}
    scripts = any("/" in word and word.strip(_QUOTES).endswith(".py") for word in words)
    return "code" in started and "file" not in started and not scripts


def _is_python(word: str) -> bool:
    name = word.rstrip(_QUOTES)
    for before in "/=" + _QUOTES:
        name = name.rpartition(before)[2]
    return name.startswith("python") and not name[6:].strip("0123456789.")


def _what_runs(words: list[str]) -> str | None:
    """Return what an interpreter with these arguments runs: "code", "file", or None if unknown."""
    while words:
        word = words.pop(0)
        if word in _TAKE_A_VALUE:
            del words[:1]
        elif word == "-" or word[0] in "<>|;&)":
            return "code"
        elif word[0] != "-":
            return "file" if "/" in word or "$" in word or word.strip(_QUOTES).endswith(".py") else None
        elif not word.startswith("--") and ("c" in word or "m" in word):
            return "code"
    return "code"
