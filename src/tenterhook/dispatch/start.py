"""The start of the bridge: the daemon, which has everything loaded, is asked first; else dispatch answers.

The daemon's socket is beside the records. A block has an exit status of its own, since an interpreter that cannot
start exits with 2, and that is no block.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

BLOCK = 10  # the launcher makes 2 of it
FAILED = 70  # the launcher reports it, and asks no other Tenterhook


def start(begun: float) -> NoReturn:
    """Answer the event on stdin. `begun`: since when the agent waits, by the monotonic clock."""
    gc.disable()  # a collection frees nothing in so short a process, and takes over a millisecond
    sent = _answered_by_daemon()
    try:
        from .dispatch import main
    except BaseException:
        if sent is None:
            raise  # the launcher gives the event to another Tenterhook
        sys.excepthook(*sys.exc_info())
        os._exit(FAILED)

    main(sys.argv[1:], block=BLOCK, sent=sent, begun=begun)


def _answered_by_daemon() -> bytes | None:
    """Exit with the daemon's answer; without one, return what stdin held, if it was read."""
    state, found, _ = sys.argv[-1].rpartition("/installed/")  # else bridge.pl has asked
    if not found:
        return None
    try:
        os.stat(f"{state}/daemon.sock")  # mostly there is none, and that is all it costs
    except OSError:
        return None
    sent = _everything_sent()
    answer = ask_daemon(f"{state}/daemon.sock", sys.argv[1:], sent)
    if answer is None:
        return sent
    status, output, trouble = answer
    _write(1, output)
    _write(2, trouble)
    os._exit(status)


def _everything_sent() -> bytes:
    """What stdin holds, however long the agent takes."""
    pieces = []
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def ask_daemon(path: str, arguments: list[str], sent: bytes) -> tuple[int, bytes, bytes] | None:
    """Its answer: an exit status and two outputs; None if it does not answer for us."""
    try:
        import _socket  # `socket` would import `enum` and `selectors`

        daemon = _socket.socket(_socket.AF_UNIX)
        daemon.settimeout(0.02)
        if len(path) > 100:  # too long for a socket: by way of its directory
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
        daemon.settimeout(1)  # from now on it sends a heartbeat twice a second
        while heard and not heard.endswith(b"\0end\n"):
            piece = daemon.recv(65536)
            if not piece:
                return None
            heard += piece
        status, output, trouble, _ = heard.lstrip(b".").split(b"\0")
        return int(status), output, trouble
    except (OSError, ValueError, ImportError, AttributeError):
        return None


def version() -> str:
    """What tells one state of the program from another: an upgrade writes every file anew."""
    found = os.stat(__file__)
    return f"{found.st_ino} {found.st_size} {found[8]}"  # the time in whole seconds, as bridge.pl has it


def _write(descriptor: int, left: bytes) -> None:
    while left:
        left = left[os.write(descriptor, left) :]
