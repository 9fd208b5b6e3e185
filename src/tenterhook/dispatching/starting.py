"""The start of the bridge: the daemon, which has everything loaded, is asked first; else dispatch answers.

The daemon's socket is beside the records. A block has an exit status of its own, since an interpreter that cannot
begin exits with 2, and that is no block.

This runs without the package, and with what is built into the interpreter: not even `__future__` is.
"""

import gc
import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import FileIO
    from types import ModuleType
    from typing import NoReturn

BLOCK = 10  # the launcher makes 2 of it
FAILED = 70  # the launcher says so, and asks no other Tenterhook


def start(package: str, kept: "FileIO | None", begun: float) -> "NoReturn":
    """Answer the event on stdin. `kept` is our modules in one file, open where their index begins.

    `begun`: since when the agent waits, by the monotonic clock.
    """
    gc.disable()  # nothing here lives long enough to be worth a look
    sent = _answered_by_daemon()
    if kept is not None:
        sys.path.append(package[: -len("/tenterhook")])  # behind the standard library
        _find_modules_in(kept)
    try:
        from tenterhook.dispatching.dispatch import main
    except BaseException:
        if sent is None:
            raise  # the launcher gives the event to another Tenterhook
        sys.excepthook(*sys.exc_info())
        posix._exit(FAILED)

    main(sys.argv[1:], block=BLOCK, sent=sent, begun=begun)


def _find_modules_in(kept: "FileIO") -> None:
    from marshal import loads

    try:
        code, *about = loads(kept.read(int(kept.read(8))))  # noqa: S302  # it stands beside the `.pyc` files
        exec(code, {"__name__": "bundle", "opened": (kept, kept.tell(), *about)})  # noqa: S102  # bundle.py
    except Exception:  # noqa: BLE001, S110  # it is broken: modules are found one by one
        pass


def _answered_by_daemon() -> bytes | None:
    """Exit with the daemon's answer; without one, return what stdin held, if it was read."""
    state, found, _ = sys.argv[-1].rpartition("/installed/")  # else bridge.pl has asked
    if not found:
        return None
    try:
        posix.stat(f"{state}/daemon.sock")  # mostly there is none, and that is all it costs
    except OSError:
        return None
    sent = _everything_sent()
    answer = ask_daemon(f"{state}/daemon.sock", sys.argv[1:], sent)
    if answer is None:
        return sent
    status, output, trouble = answer
    _write(1, output)
    _write(2, trouble)
    posix._exit(status)


def _everything_sent() -> bytes:
    """What stdin holds, however long the agent takes."""
    pieces = []
    while piece := posix.read(0, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def ask_daemon(path: str, arguments: list[str], sent: bytes) -> tuple[int, bytes, bytes] | None:
    """Its answer: an exit status and two outputs; None if it does not answer for us."""
    try:
        sockets = _sockets()
        daemon = sockets.socket(sockets.AF_UNIX)
        daemon.settimeout(0.02)
        if len(path) > 100:  # too long for a socket: by way of its directory
            path = f"/proc/self/fd/{posix.open(path[:-12], posix.O_RDONLY)}/daemon.sock"
        daemon.connect(path)
        credentials = daemon.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12)
        if int.from_bytes(credentials[4:8], sys.byteorder) != posix.getuid():
            return None
        words = (
            version().encode(),
            *map(str.encode, arguments),
            b"",
            *(b"%b=%b" % each for each in posix.environ.items()),
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
    found = posix.stat(__file__)
    return f"{found.st_ino} {found.st_size} {found[8]}"  # the time in whole seconds, as bridge.pl has it


def _sockets() -> "ModuleType":
    """`_socket`, taken from where it mostly is: Python would look through its whole library first."""
    from _frozen_importlib import ModuleSpec
    from _frozen_importlib_external import EXTENSION_SUFFIXES, ExtensionFileLoader

    file = f"{sys.path[-1]}/_socket{EXTENSION_SUFFIXES[0]}"
    loader = ExtensionFileLoader("_socket", file)
    try:
        module = loader.create_module(ModuleSpec("_socket", loader, origin=file))
        loader.exec_module(module)
    except ImportError:
        import _socket as module
    return module


def _write(descriptor: int, left: bytes) -> None:
    while left:
        left = left[posix.write(descriptor, left) :]
