"""The corpus of command lines, and what a guard says about a line."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tenterhook.guards.calls import GuardedCall

if TYPE_CHECKING:
    from tenterhook.guards.calls import Objection

CORPUS = Path(__file__).parent / "corpus"
WORK_DIR = "/home/dev/project"
ENVIRONMENT = {
    "HOME": "/home/dev",
    "LANG": "C.UTF-8",
    "LOGNAME": "dev",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "SHELL": "/bin/bash",
    "TERM": "xterm",
    "TMPDIR": "/tmp",
    "USER": "dev",
}


class Line(NamedTuple):
    """A case of the corpus: the heading it stands under, and the text."""

    heading: str
    text: str


def lines(name: str) -> list[Line]:
    """A file of the corpus: `== heading`, `## comment`, a case per line, or one between `<<<` and `>>>`."""
    found: list[Line] = []
    heading = ""
    block: list[str] | None = None
    for line in (CORPUS / name).read_text().splitlines():
        if block is not None:
            if line == ">>>":
                found.append(Line(heading, "\n".join(block)))
                block = None
            else:
                block.append(line)
        elif line == "<<<":
            block = []
        elif line.startswith("== "):
            heading = line[3:]
        elif line.strip() and not line.startswith("## "):
            found.append(Line(heading, line))
    return found


DANGEROUS = lines("dangerous.txt")
HARMLESS = lines("harmless.txt")


def judged(guard: str, line: Any, work_dir: object = WORK_DIR, /, **settings: Any) -> Objection | None:
    """What a guard module says about a shell line, or about a tool's input."""
    tool_input = line if isinstance(line, dict) else {"command": line}
    call = GuardedCall("Shell", tool_input, str(work_dir), ENVIRONMENT, settings)
    found: Objection | None = import_module(f"tenterhook.guards.{guard}").judge(call)
    return found
