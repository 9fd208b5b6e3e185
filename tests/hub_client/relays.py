"""A hub with TLS before it, as a reverse proxy has it."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def certificate(folder: Path, name: str = "DNS:localhost") -> tuple[Path, Path]:
    """A certificate for a name of this machine that only those believe who were told to, and its key."""
    made, key = folder / "cert.pem", folder / "key.pem"
    line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    line += ["-addext", f"subjectAltName={name}", "-keyout", str(key), "-out", str(made)]
    subprocess.run(line, check=True, capture_output=True)
    return made, key


@contextlib.contextmanager
def with_tls(
    port: int, cert: Path, key: Path, host: str = "localhost", added: bytes = b"X-Forwarded-Proto: https\r\n"
) -> Iterator[str]:
    """Another address for what listens on a port here; `added` is added to the headers of each request."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    listener = socket.create_server(("127.0.0.1" if host == "localhost" else host, 0))
    open_ones: list[socket.socket] = []

    def pump(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def pump_requests(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError), source.makefile("rb") as stream:
            while first := stream.readline():
                headers = list(iter(stream.readline, b"\r\n"))
                lengths = [line.partition(b":")[2] for line in headers if line.lower().startswith(b"content-length:")]
                body = stream.read(sum(map(int, lengths)))
                target.sendall(b"".join((first, added, *headers, b"\r\n", body)))
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def relay(plain: socket.socket) -> None:
        with contextlib.suppress(OSError):
            outside = context.wrap_socket(plain, server_side=True)
            inside = socket.create_connection(("127.0.0.1", port))
            open_ones.extend((outside, inside))
            threading.Thread(target=pump, args=(inside, outside), daemon=True).start()
            pump_requests(outside, inside)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                plain, _ = listener.accept()
                open_ones.append(plain)
                threading.Thread(target=relay, args=(plain,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"https://{host}:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        for each in (listener, *open_ones):
            each.close()
