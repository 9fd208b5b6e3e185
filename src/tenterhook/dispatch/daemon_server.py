"""The daemon's socket: answers events of this account's agents in a process that has everything loaded.

The bridge (bridge.pl, start.py) connects to the socket in the state directory. Events are decided by the same code as
in the bridge, with the variables and ancestors of the bridge's process. If anything fails, no answer is sent, and the
bridge answers the event itself.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from typing import NamedTuple

from ..basics import install_record, places
from ..basics.callers import Caller
from ..engine import process_runner
from . import dispatch, start

_AT_ONCE = 64
_HEARTBEAT = 0.5  # seconds
_REQUEST_TIMEOUT = 5.0  # seconds for a request to arrive
_STOP_TIMEOUT = 1.0  # seconds for hooks to end
_LARGEST = 256 * 1024 * 1024


class EventRequest(NamedTuple):
    """An event as the bridge sends it."""

    pid: int
    arguments: list[str]
    variables: list[bytes]  # as `NAME=value`
    sent: bytes


class Server:
    """Answers processes of this account, on a socket in the state directory."""

    def __init__(self) -> None:
        self.path = os.path.join(places.state(), "daemon.sock")
        self._version = start.version()
        self._places = places.directories()
        self._waiting: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._threads = self._listening = 0
        self._listener: socket.socket | None = None
        self._is_stopped = False
        self._cancel = process_runner.Cancel()
        self._inode = 0  # of our socket

    def start(self) -> None:
        """Start listening. Raises `OSError` if the socket cannot be created."""
        directory = os.path.dirname(self.path)
        places.make_private(directory)
        listener = socket.socket(socket.AF_UNIX)
        temporary = f"{self.path}.{os.getpid()}"
        place = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
        try:  # a socket's path has at most 107 bytes
            listener.bind(f"/proc/self/fd/{place}/daemon.sock.{os.getpid()}" if len(temporary) > 100 else temporary)
        finally:
            os.close(place)
        os.chmod(temporary, 0o600)
        listener.listen(128)
        os.rename(temporary, self.path)
        self._listener, self._inode = listener, os.stat(self.path).st_ino
        places.FIXED.update(self._places)
        with self._lock:
            self._listen()
        threading.Thread(target=self._send_heartbeats, name="tenterhook-heartbeats", daemon=True).start()

    def stop(self) -> None:
        """Stop listening, and end the hooks that run; bridges that wait answer themselves."""
        self._is_stopped = True
        self._cancel.set()
        if self._listener is not None:
            try:
                if os.stat(self.path).st_ino == self._inode:  # another daemon may have begun to listen
                    os.unlink(self.path)
            except OSError:  # it was removed
                pass
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        until = time.monotonic() + _STOP_TIMEOUT
        while self._waiting and time.monotonic() < until:
            time.sleep(0.01)

    def _listen(self) -> None:
        """Start one more thread that accepts connections, if possible."""
        thread = threading.Thread(target=self._accept, name=f"tenterhook-events-{self._threads}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the other threads continue; a bridge that times out answers itself
            return
        self._threads += 1
        self._listening += 1

    def _accept(self) -> None:
        assert self._listener is not None
        while not self._is_stopped:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # stopped, or out of descriptors
                time.sleep(0.05)
                continue
            with self._lock:
                self._waiting.add(connection)
                self._listening -= 1
                if not self._listening and self._threads < _AT_ONCE:  # beyond that, bridges answer themselves
                    self._listen()
            self._serve(connection)
            with self._lock:
                self._listening += 1

    def _send_heartbeats(self) -> None:
        """Tell waiting bridges twice a second that the daemon is alive."""
        while True:
            time.sleep(_HEARTBEAT)
            with self._lock:
                for connection in self._waiting:
                    try:
                        connection.send(b".", socket.MSG_DONTWAIT)
                    except OSError:  # closed; the thread that serves it notices
                        continue

    def _serve(self, connection: socket.socket) -> None:
        try:
            request = _received(connection)
            answer = self._answer(request, connection) if request is not None else None
            with self._lock:  # no heartbeat within an answer
                self._waiting.discard(connection)
            if answer is not None:
                connection.settimeout(_REQUEST_TIMEOUT)
                connection.sendall(answer)
        except Exception:  # noqa: BLE001, S110  # no answer: the bridge will get and report the same error
            pass
        finally:
            with self._lock:
                self._waiting.discard(connection)
            connection.close()

    def _answer(self, request: EventRequest, connection: socket.socket) -> bytes | None:
        version, *arguments = request.arguments
        given = dict(zip(arguments[::2], arguments[1::2], strict=True))
        if version != self._version or given.keys() - {"--host", "--event", "--record"}:
            return None
        record = install_record.read(given["--record"])
        event = given.get("--event", "")
        if record["host"] != given["--host"] or install_record.directories(record) != self._places:
            return None
        record["event"] = event
        deadline = time.monotonic() + dispatch.longest_wait(record, event) - 1

        def make_ready(caller: Caller) -> None:
            if caller.record:  # already done
                return
            connection.send(b".")
            caller.use(dict(word.split(b"=", 1) for word in request.variables if b"=" in word), record)
            caller.environ()  # while the caller's process exists
            connection.settimeout(_REQUEST_TIMEOUT)
            if connection.recv(1) != b"+":
                raise ConnectionError("the bridge no longer waits: it answers itself")

        caller = Caller(pid=request.pid, given={}, cancel=self._cancel, make_ready=make_ready)
        answer = dispatch.answered(event, record, request.sent, deadline, caller)
        if answer is None:
            return b"0\0%b\0\0end\n" % dispatch.nothing_to_say(record, event).encode()
        output, errors = (text.encode("utf-8", "replace") for text in (answer.stdout, answer.stderr))
        if b"\0" in output + errors:  # NUL ends each part of the answer
            return None
        return b"%d\0%b\0%b\0end\n" % (start.BLOCK if answer.blocks else 0, output, errors)


def _received(connection: socket.socket) -> EventRequest | None:
    """Return the request on a connection; None if it is too large, cut off, or from another account."""
    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if uid != os.getuid():
        return None
    until = time.monotonic() + _REQUEST_TIMEOUT

    def receive(most: int) -> bytes:
        connection.settimeout(max(until - time.monotonic(), 0.001))  # for the whole request, not for each piece
        return connection.recv(most)

    data = receive(1 << 16)
    while b"\n" not in data and len(data) < 64:
        data += receive(1 << 16) or b"\n"
    head, _, rest = data.partition(b"\n")
    said, sent = map(int, head.split())
    if said + sent > _LARGEST:
        return None
    pieces, left = [rest], said + sent - len(rest)
    while left > 0:
        piece = receive(min(left, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        left -= len(piece)
    whole = b"".join(pieces)
    words = whole[:said].split(b"\0")
    end = words.index(b"")
    return EventRequest(pid, [os.fsdecode(word) for word in words[:end]], words[end + 1 :], whole[said:])
