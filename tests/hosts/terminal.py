"""An agent's interactive program on a terminal of its own.

    python tests/hosts/terminal.py PROMPT END PROGRAM [ARGUMENT...]

It types the prompt, waits until END is on the screen, and interrupts the program. What was seen is printed.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

_SIZE = struct.pack("HHHH", 40, 160, 0, 0)
_QUIET = 2.0  # seconds without output: it waits for input
_LONGEST = 80.0  # seconds
# What a terminal answers when it is asked for the cursor, for what it is, and for its colours.
_ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;c",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b[?u": b"\x1b[?0u",
}


def main(prompt: str, end: str, *program: str) -> int:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(program[0], program)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, _SIZE)
    # a first key wakes a screen that only greets
    keys = [b"x", b"\x7f", prompt.encode(), b"\r"]
    seen, begun, heard = b"", time.monotonic(), time.monotonic()
    while time.monotonic() - begun < _LONGEST and end.encode() not in seen:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # it has ended
                break
            seen, heard = seen + piece, time.monotonic()
            for question, answer in _ANSWERS.items():
                if question in piece:
                    os.write(terminal, answer)
        elif keys and seen and time.monotonic() - heard > (_QUIET if len(keys) > 2 else 0.5):
            os.write(terminal, keys.pop(0))
            heard = time.monotonic()
    for _ in range(2):
        os.write(terminal, b"\x03")
        time.sleep(0.5)
    os.close(terminal)  # hangs up
    sys.stdout.buffer.write(seen)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
