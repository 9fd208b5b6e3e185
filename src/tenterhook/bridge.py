"""What the line in an agent's settings runs: `python -I -S bridge.py --host NAME --event EVENT --record FILE`.

It is a file of its own so that it can be started with no package on the path. A hub on this machine, which has
everything loaded, is asked first; it stands beside the record, and is believed only if it is of this account. Exit
status 10 is a block, which the line's shell turns into 2: an interpreter that cannot begin exits with 2 as well, and
that is no block.
"""

import gc
import sys


def hub_socket(arguments):  # type: ignore[no-untyped-def]  # compiled at every start: as short as can be
    """Where a hub would listen; None if there is none."""
    place, _, name = arguments[-1].rpartition("/installed/") if arguments[-2:-1] == ["--record"] else ("", "", "")
    try:
        return name and posix.stat(place + "/hub.sock") and place + "/hub.sock"
    except OSError:
        return None


def everything_sent():  # type: ignore[no-untyped-def]
    """What stdin holds, however long the agent takes; but not for ever."""
    from _signal import alarm  # type: ignore[import-not-found]

    alarm(600)
    pieces = []
    while piece := posix.read(0, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def ask_hub(path, arguments, sent):  # type: ignore[no-untyped-def]
    """Its answer: an exit status and two outputs; None if it does not answer for us."""
    try:
        from _socket import AF_UNIX, SO_PEERCRED, SOL_SOCKET, socket

        hub = socket(AF_UNIX)
        hub.settimeout(0.02)
        if len(path) > 100:  # too long for a socket: by way of its directory
            path = f"/proc/self/fd/{posix.open(path[:-9], posix.O_RDONLY)}/hub.sock"
        hub.connect(path)
        if int.from_bytes(hub.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)[4:8], sys.byteorder) != posix.getuid():
            return None
        version = str(posix.stat(__file__).st_mtime_ns).encode()
        words = (version, *map(str.encode, arguments), b"", *(b"%b=%b" % each for each in posix.environ.items()))
        said = b"\0".join(words)
        message = memoryview(b"%d %d\n%b%b" % (len(said), len(sent), said, sent))
        while message:
            message = message[hub.send(message) :]
        heard = hub.recv(65536)
        hub.settimeout(1)  # from now on it tells twice a second that it is there
        while heard and not heard.endswith(b"\0end\n"):
            piece = hub.recv(65536)
            if not piece:
                return None
            heard += piece
        status, output, trouble, _ = heard.lstrip(b".").split(b"\0")
        return int(status), output, trouble
    except (OSError, ValueError, ImportError):
        return None


if __name__ == "__main__":
    gc.disable()  # nothing here lives long enough to be worth a look
    import posix

    path = hub_socket(sys.argv[1:])  # type: ignore[no-untyped-call]
    sent = everything_sent() if path else None  # type: ignore[no-untyped-call]
    if path and (answer := ask_hub(path, sys.argv[1:], sent)):  # type: ignore[no-untyped-call]
        for descriptor in (1, 2):
            left = answer[descriptor]
            while left:
                left = left[posix.write(descriptor, left) :]
        posix._exit(answer[0])
    package = __file__.rpartition("/")[0]
    sys.path.append(package.rpartition("/")[0])  # behind the standard library
    try:
        from _frozen_importlib_external import MAGIC_NUMBER
        from marshal import loads

        file = open(f"{package}/__pycache__/{sys.implementation.cache_tag}.bundle", "rb", 0)  # noqa: SIM115  # stays open
        if file.read(4) == MAGIC_NUMBER:
            length = int(file.read(8))
            code, entries = loads(file.read(length))  # noqa: S302  # it stands beside the `.pyc` files
            bundle: dict[str, object] = {"__name__": "bundle", "opened": (file.fileno(), 12 + length, entries)}
            exec(code, bundle)  # noqa: S102  # bundle.py
    except Exception:  # noqa: BLE001, S110  # there is none, or it is broken: modules are found one by one
        pass
    from tenterhook.dispatch import main

    main(sys.argv[1:], block=10, sent=sent)
