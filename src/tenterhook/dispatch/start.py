"""The start of the bridge: the daemon, which has everything loaded, is tried first; else `dispatch` answers.

The daemon's socket is beside the records. A block has its own exit status, since an interpreter that cannot
start exits with 2, and that is no block.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

BLOCK = 10  # the launcher turns it into 2
FAILED = 70  # the launcher reports it, and tries no other Tenterhook


def start(begun: float) -> NoReturn:
    """Answer the event on stdin. `begun`: since when the agent waits, by the monotonic clock."""
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
        os.stat(f"{state}/daemon.sock")  # mostly it does not exist, and this call is all it costs
    except OSError:
        return None
    sent = _read_stdin()
    answer = ask_daemon(f"{state}/daemon.sock", sys.argv[1:], sent)
    if answer is None:
        return sent
    status, output, errors = answer
    _write(1, output)
    _write(2, errors)
    os._exit(status)


def _read_stdin() -> bytes:
    """Return all of stdin, however long the agent takes."""
    pieces = []
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
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
            daemon.send(b"+")  # we wait: without this it runs nothing, since we would, too
        daemon.settimeout(1)  # from now on it sends a heartbeat twice a second
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
    """Return a value that changes with each upgrade, which writes every file anew."""
    found = os.stat(__file__)
    return f"{found.st_ino} {found.st_size} {found[8]}"  # the time in whole seconds, as bridge.pl has it


def _write(descriptor: int, left: bytes) -> None:
    while left:
        left = left[os.write(descriptor, left) :]
