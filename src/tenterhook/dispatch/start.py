"""The start of the bridge: asks the daemon, which has everything loaded; without an answer, runs `dispatch`.

The daemon's socket is beside the records. A block has its own exit status, since an interpreter that cannot start
exits with 2, which is not a block.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

BLOCK = 10  # the launcher turns it into 2
FAILED = 70  # never an accidental 2; the launcher does not try another Tenterhook
LARGEST_PAYLOAD = 256 * 1024 * 1024


def start(begun: float) -> NoReturn:
    """Answer the event on stdin and exit. `begun` is the `time.monotonic` at which the agent started us."""
    gc.disable()  # a collection frees nothing in a short process, and takes over a millisecond
    sent = _answered_by_daemon()
    try:
        from .dispatch import main
    except BaseException:  # a broken installation, whatever is wrong with it
        if sent is None:
            raise  # the launcher gives the event to another Tenterhook
        sys.excepthook(*sys.exc_info())
        os._exit(FAILED)

    main(sys.argv[1:], block=BLOCK, sent=sent, begun=begun)


def _answered_by_daemon() -> bytes | None:
    """Exit with the daemon's answer; without one, return stdin, if it was read."""
    state, found, _ = sys.argv[-1].rpartition("/installed/")  # else bridge.pl has tried
    if not found:
        return None
    try:
        os.stat(f"{state}/daemon.sock")  # the only cost if there is no daemon
    except OSError:
        return None
    sent = read_stdin()
    answer = ask_daemon(f"{state}/daemon.sock", sys.argv[1:], sent)
    if answer is None:
        return sent
    status, output, errors = answer
    write(1, output)
    write(2, errors)
    os._exit(status)


def read_stdin() -> bytes:
    """Return all of stdin, but only the beginning of what is larger than a payload may be."""
    pieces = []
    left = LARGEST_PAYLOAD
    while left >= 0 and (piece := os.read(0, 1 << 20)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def ask_daemon(path: str, arguments: list[str], sent: bytes) -> tuple[int, bytes, bytes] | None:
    """Return the daemon's answer: exit status, stdout and stderr; None if there is none."""
    try:
        import _socket  # `socket` would import `enum` and `selectors`

        daemon = _socket.socket(_socket.AF_UNIX)
        daemon.settimeout(0.02)
        if len(path) > 100:  # too long for a socket: use its directory's descriptor
            path = f"/proc/self/fd/{os.open(path[:-12], os.O_RDONLY)}/daemon.sock"
        daemon.connect(path)
        credentials = daemon.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        if int.from_bytes(credentials[4:8], sys.byteorder) != os.getuid():
            return None
        words = (
            version().encode(),
            *map(str.encode, arguments),
            b"",
            *(b"%b=%b" % each for each in os.environb.items()),
        )
        said = b"\0".join(words)
        message = memoryview(b"%d %d\n%b%b" % (len(said), len(sent), said, sent))
        while message:
            message = message[daemon.send(message) :]
        heard = daemon.recv(65536)
        if not heard.endswith(b"\0end\n"):
            daemon.send(b"+")  # we still wait; else it must not run hooks, since we would run them too
        daemon.settimeout(1)  # it sends a heartbeat twice a second
        while heard and not heard.endswith(b"\0end\n"):
            piece = daemon.recv(65536)
            if not piece:
                return None
            heard += piece
        status, output, errors, _ = heard.lstrip(b".").split(b"\0")
        return int(status), output, errors
    except (OSError, ValueError, ImportError, AttributeError):
        return None


def version() -> str:
    """Return a value that changes with each upgrade: the identity of this file, which an upgrade replaces."""
    found = os.stat(__file__)
    return f"{found.st_ino} {found.st_size} {found[8]}"  # the time in whole seconds, as bridge.pl has it


def write(descriptor: int, left: bytes) -> None:
    """Write all of it."""
    while left:
        left = left[os.write(descriptor, left) :]
