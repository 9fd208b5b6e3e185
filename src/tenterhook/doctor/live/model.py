"""An HTTP server on loopback that answers as a model from a script, in each of the protocols."""

from __future__ import annotations

import gzip
import itertools
import json
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from ...agents.protocol import MODEL
from ...basics.model_script import AGENT, CLOSING, SUMMARY, ModelScript, ScriptedCall, ScriptError, Turn, mentions
from ...basics.named_tuples import NamedTuple
from . import protocols

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["MODEL", "ModelRequest", "ScriptedCall", "ScriptedModel", "Turn"]

_MODELS = {
    "object": "list",
    "has_more": False,
    "data": [{"id": MODEL, "object": "model", "type": "model", "display_name": MODEL, "created": 0, "owned_by": "x"}],
    "models": [],
}
_LONGEST_WAIT = 20.0  # seconds for the other turns to be taken
# Requests to count tokens; the number only has to be small.
_COUNTS = {"/messages/count_tokens": {"input_tokens": 100}, ":countTokens": {"totalTokens": 100}}


class ModelRequest(NamedTuple):
    """A request of an agent; times are `time.monotonic()`."""

    at: float  # when it had arrived completely
    answered: float  # when the last of the answer had been sent
    path: str
    protocol: str | None
    body: Any
    turn: Turn | None  # None: not from the script


class ScriptedModel:
    """Answers requests that have tools from the script in turn, then with a closing text. Runs until `close`."""

    def __init__(self, script: ModelScript | Iterable[Turn] = ()) -> None:
        self._script = script if isinstance(script, ModelScript) else ModelScript(script)
        self._numbers = itertools.count(1)  # of calls
        self._done: list[ModelRequest] = []
        self._open = 0
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def __enter__(self) -> ScriptedModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[ModelRequest]:
        """The answered requests, in the order of their arrival."""
        with self._changed:
            return sorted(self._done, key=lambda request: request.at)

    def settle(self, seconds: float = 5) -> None:
        """Wait for requests in progress: an agent may exit before its last one is recorded here."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0, seconds)

    def tool_results(self) -> list[str]:
        """Return the text of every tool result, also of subagents, in the order in which they were first sent."""
        found: dict[str, str] = {}
        for request in self.requests:
            for call, result in _results(request):
                found.setdefault(call, protocols.as_text(result))
        return list(found.values())

    def was_sent(self, text: str) -> bool:
        """Return whether a text occurs in any request."""
        return any(mentions(request.body, text) for request in self.requests)

    def close(self) -> None:
        """Stop answering and end every connection."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.end_connections()

    def answer(self, handler: _Handler, path: str, body: Any) -> None:
        """Answer one request and record it."""
        at = time.monotonic()
        protocol = protocols.of_path(path)
        with self._changed:
            self._open += 1
        turn = None
        try:
            if protocol is None or not isinstance(body, dict):
                found = next((count for ending, count in _COUNTS.items() if path.endswith(ending)), None)
                handler.send_json(200 if found else 404, found or {})
            else:
                turn = self._speak(handler, protocols.PROTOCOLS[protocol], path, body)
        finally:
            with self._changed:
                self._done.append(ModelRequest(at, time.monotonic(), path, protocol, body, turn))
                self._open -= 1
                self._changed.notify_all()

    def _speak(self, handler: _Handler, speaker: protocols.Protocol, path: str, body: dict[str, Any]) -> Turn | None:
        who = AGENT if speaker.has_tools(body) else SUMMARY
        turn = self._script.take(who, body)
        given = turn or CLOSING[who]
        if turn is not None and turn.delay:
            self._closing.wait(turn.delay)
        if turn is not None and turn.before is not None:
            turn.before()
        if turn is not None and turn.last:
            with self._changed:
                self._changed.wait_for(lambda: self._script.is_used_up or self._closing.is_set(), _LONGEST_WAIT)
        try:
            self._script.check_expected(given, json.dumps(body, ensure_ascii=False))
        except ScriptError as error:
            given = given._replace(status=400, text=str(error))
        if given.status is not None:
            about = {"type": "api_error", "code": given.status, "message": given.text or "scripted"}
            handler.send_json(given.status, {"type": "error", "error": about})
            return turn
        named = (call._replace(id=call.id or f"call_{next(self._numbers)}") for call in given.calls)
        whole = speaker.whole(body, given._replace(calls=tuple(named)))
        if protocols.is_streamed(path, body):
            handler.send_events(speaker.streamed(whole))
        else:
            handler.send_json(200, whole)
        return turn


def _results(request: ModelRequest) -> Iterator[tuple[str, Any]]:
    if request.protocol is None or not isinstance(request.body, dict):
        return iter(())
    return protocols.PROTOCOLS[request.protocol].tool_results(request.body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model
        self._connections: set[Any] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        """Bind without asking for the host's name, which may go to a name server."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def end_connections(self) -> None:
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connections that the agent closed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        if self._path.endswith("/models"):
            self.send_json(200, _MODELS)
        else:
            self.send_json(404, {})

    def do_POST(self) -> None:
        content = self._read()
        if self.headers.get("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        try:
            body = json.loads(content) if content else None
        except ValueError:
            body = content.decode(errors="replace")
        self.server.model.answer(self, self._path, body)

    @property
    def _path(self) -> str:
        return self.path.partition("?")[0].rstrip("/")

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().partition(b";")[0].strip() or b"0", 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def send_json(self, status: int, value: Any) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def send_events(self, events: Iterable[tuple[str | None, Any]]) -> None:
        """Send server-sent events; the connection is closed at their end."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {text}\n\n".encode())
