"""Records the demo as an animation: docs/pictures/demo.svg.

The demo runs in a terminal, in which its question is answered with a key. The picture shows its output, except for
names of directories.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pexpect
import pyte

from .moving_picture import Line, Piece, drawn, screen_lines

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "pictures" / "demo.svg"
COLUMNS = 80
_LINES = 100  # more than the demo prints
_LONGEST = 300  # seconds
_QUESTION, _KEY = "allow? ", "y"


def main() -> int:
    question, said = _said()
    lines = _lines(said)
    shown = [Line([Piece(0, "$ ", "dim"), Piece(2, "make demo", "bold")])]
    for line in lines[: max(number for number, line in enumerate(lines) if line.pieces) + 1]:
        is_question = line.text.startswith(_QUESTION)
        shown.append(Line([Piece(0, question, "yellow"), Piece(len(question), _KEY, "bold")]) if is_question else line)
    PICTURE.write_text(drawn(shown, COLUMNS, "A session of the bundled agent: hooks refuse, ask and send it back"))
    print(f"{PICTURE.relative_to(ROOT)}: {len(shown)} lines, {PICTURE.stat().st_size // 1024} kB")
    return 0


def _said() -> tuple[str, str]:
    """Return the question that the demo asks, and everything it prints to a terminal."""
    child = pexpect.spawn(
        sys.executable,
        [str(ROOT / "examples" / "demo.py")],
        env={**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"},
        dimensions=(_LINES, COLUMNS),
        encoding="utf-8",
        timeout=_LONGEST,
    )
    child.expect("say why ")
    before = f"{child.before}{child.after}"
    child.send(_KEY)
    child.expect(pexpect.EOF)
    child.close()
    said = f"{before}{child.before}"
    if child.exitstatus != 0:
        sys.exit(f"the demo ended with {child.exitstatus}:\n{said}")
    question = next(line.text for line in _lines(before) if line.text.startswith(_QUESTION))
    said = said.replace("\x1b[2m", "\x1b[90m")  # the emulator does not support faint text
    said = re.sub(r"\S*/tenterhook-demo-\w+/project", "~/project", said)
    return f"{question.rstrip()} ", said.replace(".venv/bin/tenterhook", "tenterhook")


def _lines(said: str) -> list[Line]:
    """Return the lines of the final screen."""
    screen = pyte.Screen(COLUMNS, _LINES)
    pyte.Stream(screen).feed(said)
    return screen_lines(screen)


if __name__ == "__main__":
    sys.exit(main())
