"""The socket of the daemon: whatever is sent there, it goes on, answers others, and keeps nothing open."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fuzz import inputs
from hosts.recorded import RECORDED
from support import folder_hook, user_hooks
from tenterhook.agents import AGENTS
from tenterhook.basics import places
from tenterhook.dispatch import daemon_server, start
from tenterhook.install import records, settings_change

_CLAUDE = AGENTS["claude-code"]
_PAYLOADS = [file.read_bytes() for file in RECORDED if file.parent.name == "claude-code"]
_WORDS = [
    b"\0",
    b"\0\0",
    b"\n",
    b" ",
    b"0",
    b"-1",
    b"99999999",
    b"268435457",
    b"9" * 5000,
    b"=",
    b"--host\0",
    b"PATH=\0",
]
_WORDS += [b"--event\0PreToolUse\0", b"\xff", b"1_0", b"+5", b"{", b'"session_id": "', b"--check\0yes\0", b"LC_ALL=x\0"]


@functools.cache
def _served() -> Path:
    """A daemon in this process, for an agent whose calls are all refused."""
    folder_hook(user_hooks(Path(places.home())), "guard", "echo refused >&2; exit 2")
    settings_change.apply(settings_change.plan(_CLAUDE, None, (), also=_CLAUDE.events))
    daemon_server.Server().start()
    return Path(places.state()) / "daemon.sock"


@functools.cache
def _warm() -> None:
    """Have the daemon open what it keeps open: the journal."""
    _is_answered()


def _request(payload: bytes, event: str = "PreToolUse") -> bytes:
    """What the launcher sends."""
    words = [start.version(), "--host", "claude-code", "--event", event]
    words += ["--record", records.file(_CLAUDE, None), "", "PATH=/usr/bin:/bin"]
    said = "\0".join(words).encode()
    return b"%d %d\n%b%b" % (len(said), len(payload), said, payload)


class Client:
    """One connection; what does not go through at once is not sent."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(10)
        self._socket.connect(str(_served()))

    def send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # it may have been refused by now
            self._socket.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)

    def end_sending(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def answer(self) -> bytes:
        """What comes until the other side closes the connection."""
        heard = b""
        with contextlib.suppress(ConnectionError):
            while piece := self._socket.recv(1 << 16):
                if not heard and piece.startswith(b"."):
                    self.send(b"+")  # as the launcher does: it still waits
                heard += piece
        return heard.lstrip(b".")

    def close(self) -> None:
        self._socket.close()


@st.composite
def requests(draw: st.DrawFn) -> list[bytes]:
    """A request in pieces: as it should be, changed, with a head of its own, or any bytes."""
    _served()
    good = [_request(payload, event) for payload in _PAYLOADS[:4] for event in ("PreToolUse", "", "Stop", "odd")]
    kind = draw(st.sampled_from(["good", "changed", "changed", "head", "bytes"]))
    data = draw(st.sampled_from(good))
    if kind == "changed":
        data = draw(inputs.changed_bytes(good, _WORDS))
    elif kind == "head":
        numbers = st.sampled_from([-1, 0, 1, 10**6, 2**28, 2**28 + 1, 2**63, -(2**63)]) | st.integers()
        head = b"%d %d\n" % (draw(numbers), draw(numbers))
        data = head + draw(st.binary(max_size=50) | st.just(data.partition(b"\n")[2]))
    elif kind == "bytes":
        data = draw(st.binary(max_size=100))
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=3)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@given(data=st.data(), last=st.sampled_from(["close", "half", "wait"]))
def fuzz(data: st.DataObject, last: str) -> None:
    """While odd requests come in, and after them, a good one is answered; then nothing of them is left."""
    _warm()
    before = _open_files()
    clients: list[tuple[Client, list[bytes]]] = []
    try:
        for pieces in data.draw(st.lists(requests(), min_size=1, max_size=3), label="requests"):
            clients.append((Client(), pieces))
        while any(pieces for _, pieces in clients):
            for client, pieces in clients:
                if pieces:
                    client.send(pieces.pop(0))
        _is_answered()
        if last == "half":
            for client, _ in clients:
                client.end_sending()
                _check(client.answer())
    finally:
        for client, _ in clients:
            client.close()
    _is_answered()
    _until(lambda: _open_files() <= before, "descriptors are left open")
    _until(lambda: threading.active_count() <= 70, "there are ever more threads")
    assert any(each.name == "tenterhook-heartbeats" for each in threading.enumerate())


def _is_answered() -> None:
    good = Client()
    try:
        good.send(_request(_tool_call()))
        heard = good.answer()
    finally:
        good.close()
    status, output, _, end = heard.split(b"\0")
    assert (status, end) == (b"0", b"end\n"), heard
    assert b'"deny"' in output, heard


@functools.cache
def _tool_call() -> bytes:
    return next(file.read_bytes() for file in RECORDED if file.parts[-2:] == ("claude-code", "PreToolUse.json"))


def _check(answer: bytes) -> None:
    """No answer, or a whole one."""
    if answer:
        status, output, trouble, end = answer.split(b"\0")
        assert int(status) in (0, start.BLOCK)
        assert end == b"end\n"
        assert not output.strip() or isinstance(json.loads(output), dict)
        assert not trouble


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _until(condition: Any, otherwise: str) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, otherwise
        time.sleep(0.005)
