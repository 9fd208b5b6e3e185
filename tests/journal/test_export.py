"""`log export`: the journal for other programs, as it is and as spans, once and as things happen."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from journal import journals
from support import folder_hook, tenterhook, trigger, until, user_hooks

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[2] / "docs" / "journal-export.md"
NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter", "opentelemetry.proto")


def is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


needs_otel = pytest.mark.skipif(
    not all(is_installed(name) for name in NEEDED), reason="tenterhook[otel] is not installed here"
)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the caller's collectors or proxies."""
    for name in list(os.environ):
        if name.startswith("OTEL_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


class Span(NamedTuple):
    """One span as a collector got it."""

    name: str
    trace: str
    id: str
    parent: str
    start: int
    end: int
    is_error: bool
    message: str
    attributes: dict[str, Any]  # without `tenterhook.`


class Collector:
    """An OTLP/HTTP collector on the loopback that can go away, come back, refuse and keep silent."""

    def __init__(self, port: int = 0) -> None:
        self.requests: list[list[Span]] = []
        self.paths: set[str] = set()
        self.headers: list[dict[str, str]] = []
        self.resources: list[dict[str, Any]] = []
        self.status = 200
        self.location = ""
        self.refused = 0
        self.asked = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.port = port
        self._server: ThreadingHTTPServer | None = None
        self._open: set[socket.socket] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def spans(self) -> list[Span]:
        return [span for batch in self.requests for span in batch]

    @property
    def events(self) -> list[Span]:
        return [span for span in self.spans if "async" not in span.attributes]

    def has(self, events: int) -> None:
        """Wait until so many have come."""
        until(lambda: len(self.events) == events)

    def start(self) -> None:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 30

            def setup(self) -> None:
                super().setup()
                collector._open.add(self.connection)

            def finish(self) -> None:
                collector._open.discard(self.connection)
                super().finish()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.asked.set()
                collector.may_answer.wait(30)
                data = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
                answer = collector.take(self.path, dict(self.headers.items()), data)
                try:
                    self.send_response(collector.status)
                    if collector.location:
                        self.send_header("Location", collector.location)
                    self.send_header("Content-Type", "application/x-protobuf")
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                except (BrokenPipeError, ConnectionResetError):
                    pass  # they did not wait for it

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self.may_answer.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            for connection in list(self._open):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # closed already
            self._server = None

    def take(self, path: str, headers: dict[str, str], data: bytes) -> bytes:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
            ExportTraceServiceResponse,
        )

        self.paths.add(path)
        self.headers.append({name.lower(): value for name, value in headers.items()})
        if self.status == 200:
            batch = []
            for resource in ExportTraceServiceRequest.FromString(data).resource_spans:
                self.resources.append(_values(resource.resource.attributes))
                batch += [_read(span) for scope in resource.scope_spans for span in scope.spans]
            self.requests.append(batch)
        answer = ExportTraceServiceResponse()
        if self.refused:
            answer.partial_success.rejected_spans = self.refused
            answer.partial_success.error_message = "too old for us"
        return bytes(answer.SerializeToString())


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


def _read(span: Any) -> Span:
    attributes = _values(span.attributes)
    assert all(name.startswith("tenterhook.") for name in attributes)
    return Span(
        *(span.name, span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()),
        *(span.start_time_unix_nano, span.end_time_unix_nano, span.status.code == 2, span.status.message),
        {name.removeprefix("tenterhook."): value for name, value in attributes.items()},
    )


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    collector.start()
    try:
        yield collector
    finally:
        collector.stop()


@pytest.fixture
def place(home: Path) -> Path:
    return journals.folder(home)


def send(collector: Collector, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return tenterhook("log", "export", "--format", "otlp", "--endpoint", collector.url, *arguments, **options)


def lines_of(place: Path) -> list[bytes]:
    """Every line that holds a record, as it stands."""
    lines = [line for path in journals.segments(place) for line in path.read_bytes().splitlines(keepends=True)]
    return [line for line in lines if json.loads(line)["type"] in ("verdict", "async", "approval")]


def ended_async(**fields: Any) -> dict[str, Any]:
    """The end of an asynchronous hook, as it is in the journal."""
    about = {"schema": 1, "type": "async", "time": round(time.time(), 6), "session_id": "s-0", "event": "pre-tool-call"}
    return {**about, "event_name": "pre-tool-call", **journals.run("notify"), **fields}


def approval(**fields: Any) -> dict[str, Any]:
    """How a question ended, as an agent's side writes it."""
    about = {"schema": 1, "type": "approval", "time": round(time.time(), 6), "by": "claude-code", "session_id": "s-0"}
    about |= {"event": "permission-request", "work_dir": "/", "tool_name": "Shell", "request": "permission_1"}
    about |= {"fields": {"tool_input": {"command": "make deploy"}}, "payload": "full", "why": None}
    about |= {"decision": "approve", "reason": None, "answered_by": "terminal", "scope": "once", "waited_ms": 1.0}
    return {**about, **fields}


class Following:
    """`log export --follow`, running."""

    def __init__(self, process: subprocess.Popen[bytes], said: Path, printed: Path) -> None:
        self.process = process
        self._said, self._printed = said, printed

    @property
    def said(self) -> str:
        return self._said.read_text()

    @property
    def printed(self) -> bytes:
        return self._printed.read_bytes()

    def says(self, text: str, times: int = 1) -> None:
        """Wait until it has said something so many times."""
        until(lambda: self.said.count(text) == times)

    def end(self, how: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(how)
        return self.process.wait(30)


@contextmanager
def following(tmp_path: Path, *arguments: str) -> Iterator[Following]:
    number = len(list(tmp_path.glob("*.stderr")))
    said, printed = tmp_path / f"{number}.stderr", tmp_path / f"{number}.stdout"
    command = [sys.executable, "-m", "tenterhook", "log", "export", "--follow", *arguments]
    with said.open("wb") as stderr, printed.open("wb") as stdout:
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr)
    try:
        yield Following(process, said, printed)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    assert "Traceback" not in said.read_text(), said.read_text()


def sending(tmp_path: Path, collector: Collector, *arguments: str) -> Any:
    return following(tmp_path, "--format", "otlp", "--endpoint", collector.url, *arguments)


# As they are


def test_lines_are_the_journals_own_byte_for_byte_and_in_its_order(place: Path) -> None:
    odd = journals.record(1, reason="„größer“ \ud800 \x00", time=1.5)
    journals.write(place, journals.record(), odd, ended_async(), journals.record(2))
    ended = subprocess.run([sys.executable, "-m", "tenterhook", "log", "export"], capture_output=True)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.splitlines(keepends=True) == lines_of(place)
    assert len(lines_of(place)) == 4


def test_every_segment_is_exported_and_a_half_written_line_is_not(place: Path) -> None:
    journals.write(place, *[journals.record(number, reason="x" * 900_000) for number in range(12)])
    assert len(journals.segments(place)) > 1
    whole = lines_of(place)
    last = journals.segments(place)[-1]
    with last.open("ab") as file:
        file.write(b'{"schema": 1, "type": "verdict"')
    assert tenterhook("log", "export").stdout.encode() == b"".join(whole)


FILTERS: dict[tuple[str, ...], int] = {
    (): 10,
    ("--session", "s-1"): 1,
    ("--session", "s-\udcff"): 1,
    ("--event", "PreToolUse"): 8,
    ("--event", "post-tool-call"): 1,
    ("--event", "permission-request"): 1,
    ("--hook", "notify"): 2,
    ("--hook", "guard"): 5,
    ("--hook", "hook-\udcff"): 1,
    ("--hook", "nobody"): 0,
    ("--decision", "deny"): 1,
    ("--decision", "approve"): 1,
    ("--decision", "none"): 8,
    ("--since", "1h"): 7,
    ("--since", "1h", "--decision", "none", "--hook", "guard"): 1,
    ("--session", "s-0", "--decision", "approve", "--event", "PermissionRequest"): 1,
}


@pytest.fixture
def every_kind(place: Path) -> Path:
    """A journal with each type of record, and with lines that no reader is shown."""
    journals.write(
        place,
        journals.record(0, time=time.time() - 7200),
        journals.record(1, decision="deny"),
        journals.record(2, event="post-tool-call"),
        journals.record(3, runs=[journals.run("other"), journals.run("notify")]),
        ended_async(),
        approval(),
        journals.record(4, session_id="s-\udcff", runs=[]),
        journals.record(5, runs=[journals.run("hook-\udcff"), {"hook": 5}, "not a run"]),
        journals.record(6, time=None),
        journals.record(7, time=True),
        journals.record(8, type="checkpoint"),
        journals.record(9, type="note"),
    )
    with journals.segments(place)[0].open("ab") as file:
        file.write(json.dumps(journals.record(10)).encode() + b"\n")  # without a hash: none of the journal's
    return place


@pytest.mark.usefixtures("every_kind")
@pytest.mark.parametrize(("filters", "expected"), FILTERS.items())
def test_filters_choose_what_log_chooses(filters: tuple[str, ...], expected: int) -> None:
    exported = [json.loads(line) for line in tenterhook("log", "export", *filters).stdout.splitlines()]
    logged = journals.log_json("-n", "0", *filters)
    assert sorted(each["hash"] for each in exported) == sorted(each["hash"] for each in logged)
    assert len(exported) == expected


def test_a_file_is_written_for_this_account_alone_and_anew_each_time(place: Path, tmp_path: Path) -> None:
    journals.write(place, journals.record())
    file = tmp_path / "out.jsonl"
    for _ in range(2):
        ended = tenterhook("log", "export", "--out", file)
        assert (ended.returncode, ended.stdout) == (0, "")
        assert ended.stderr == f"1 records in {file}\n"
    assert file.read_bytes() == b"".join(lines_of(place))
    assert file.stat().st_mode & 0o777 == 0o600


def test_without_a_journal_there_is_nothing_to_export() -> None:
    ended = tenterhook("log", "export")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_lines_that_are_no_records_are_passed_over(place: Path) -> None:
    journals.write(place, journals.record())
    with journals.segments(place)[0].open("ab") as file:
        file.write(b"garbage\n[]\n\xff\xfe\n{}\n")
    journals.write(place, journals.record(1))
    assert [json.loads(line)["session_id"] for line in tenterhook("log", "export").stdout.splitlines()] == [
        "s-0",
        "s-1",
    ]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_following_writes_what_comes_and_ends_when_asked(place: Path, tmp_path: Path, how: signal.Signals) -> None:
    journals.write(place, journals.record())
    with following(tmp_path) as export:
        until(lambda: export.printed.count(b"\n") == 1)
        journals.write(place, journals.record(1))
        until(lambda: export.printed.count(b"\n") == 2)
        journals.write(place, journals.record(2))
        assert export.end(how) == 0
        assert export.printed == b"".join(lines_of(place))
        assert export.said == ""


def test_a_reader_that_has_seen_enough_ends_it(place: Path) -> None:
    journals.write(place, *[journals.record(number, reason="x" * 50_000) for number in range(20)])
    code = f"{sys.executable} -m tenterhook log export | head -c 1"
    ended = subprocess.run(["sh", "-c", code], capture_output=True)
    assert (ended.stdout, ended.stderr) == (b"{", b"")


def test_long_work_shows_on_a_terminal_how_far_it_is(place: Path) -> None:
    journals.write(place, *[journals.record(number, reason="x" * 60_000) for number in range(100)])
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    shown = b""
    command = [sys.executable, "-m", "tenterhook", "log", "export"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        assert process.stdout is not None
        while process.stdout.read(65536):
            if b"%" not in shown:
                time.sleep(0.05)  # a slow reader makes it long work
            try:
                shown += os.read(ours, 4096)
            except OSError:
                pass  # nothing there, or it has ended
    os.close(ours)
    assert re.search(rb"exporting .* \d+%", shown), shown


@pytest.mark.parametrize(
    "arguments",
    [
        ("--endpoint", "http://127.0.0.1:1"),
        ("--format", "otlp", "--out", "file"),
        ("--format", "otlp", "--endpoint", "127.0.0.1:4318"),
        ("--format", "csv"),
        ("--since", "yesterday"),
        ("--event", "no-such-event"),
    ],
)
def test_wrong_usage_is_said(project: Path, arguments: tuple[str, ...]) -> None:
    ended = tenterhook("log", "export", *arguments)
    assert ended.returncode == 64
    assert "Traceback" not in ended.stderr
    assert not (project / "file").exists()


def test_without_the_packages_the_remedy_is_named(place: Path, tmp_path: Path) -> None:
    journals.write(place, journals.record())
    hidden = tmp_path / "hidden" / "opentelemetry"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").touch()  # stands before whatever is installed, and has nothing in it
    path = f"{hidden.parent}:{os.environ.get('PYTHONPATH', '')}"
    ended = tenterhook("log", "export", "--format", "otlp", env={**os.environ, "PYTHONPATH": path})
    assert ended.returncode == 1
    assert re.fullmatch(
        r"tenterhook: sending spans needs opentelemetry\S+\n  install it with: \S+ .*otel.*\n",
        ended.stderr,
    )
    assert tenterhook("log", "export", env={**os.environ, "PYTHONPATH": path}).stdout.count("\n") == 1


# As spans


@needs_otel
def test_an_event_is_a_span_and_each_hook_one_below_it(home: Path, place: Path, collector: Collector) -> None:
    hooks = user_hooks(home)
    folder_hook(hooks, "a-silent", "exit 0")
    folder_hook(hooks, "b-broken", "echo oh >&2; exit 7")
    folder_hook(hooks, "c-guard", "echo 'not here' >&2; exit 2")
    verdict = trigger("pre-tool-call", "--tool", "Shell", "--session", "s-1")
    assert verdict["decision"] == "deny"
    ended = send(collector)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == f"1 events sent to {collector.url}/v1/traces, as 4 spans\n"
    assert collector.paths == {"/v1/traces"}

    (record,) = journals.recorded(place)
    event, *runs = collector.spans
    assert event.name == "pre-tool-call"
    assert event.parent == ""
    assert event.id == record["hash"][:16]
    assert event.end == round(record["time"] * 1e6) * 1000
    assert event.end - event.start == round(record["waited_ms"] * 1000) * 1000
    assert not event.is_error
    assert event.attributes == {
        "event": "pre-tool-call",
        "event_name": record["event_name"],
        "session_id": "s-1",
        "record": record["hash"],
        "decision": "deny",
        "reason": "not here",
        "tool_name": "Shell",
        "by": "trigger",
    }
    assert [run.name for run in runs] == [run["hook"] for run in record["runs"]]
    for span, run in zip(runs, record["runs"], strict=True):
        assert (span.trace, span.parent) == (event.trace, event.id)
        assert span.end - span.start == round(run["duration_ms"] * 1000) * 1000
        assert event.start <= span.start <= span.end <= event.end
        for key in ("hook", "source", "outcome", "meaning", "decision", "exit_code", "shadow", "duration_ms"):
            assert span.attributes.get(key) == run.get(key)
        assert span.attributes["async"] is False
    of = {span.name: span for span in runs}
    assert len({span.id for span in collector.spans}) == 4
    assert {name: span.attributes["meaning"] for name, span in of.items()} == {
        "a-silent": "no_decision",
        "b-broken": "failed",
        "c-guard": "blocked",
    }
    assert [name for name, span in of.items() if span.is_error] == ["b-broken"]
    assert of["b-broken"].message == of["b-broken"].attributes["why"]
    assert of["c-guard"].attributes["reason"] == "not here"


@needs_otel
def test_a_session_is_one_trace_and_an_event_without_one_is_a_trace_by_itself(
    place: Path, collector: Collector
) -> None:
    sessions = ("one", "two", "one", "", "")
    journals.write(place, *[journals.record(session_id=each) for each in sessions], ended_async(session_id="two"))
    assert send(collector).returncode == 0
    one, two, again, alone, alone_too = (span.trace for span in collector.events)
    assert one == again
    assert len({one, two, alone, alone_too}) == 4
    (ended,) = [span for span in collector.spans if span.attributes.get("async")]
    assert (ended.trace, ended.parent) == (two, "")


@needs_otel
def test_the_end_of_an_asynchronous_hook_is_a_span_as_long_as_it_ran(place: Path, collector: Collector) -> None:
    journals.write(place, ended_async(time=1000.25, duration_ms=250.5, outcome="timed_out", why="too slow"))
    assert send(collector).returncode == 0
    (span,) = collector.spans
    assert (span.name, span.start, span.end) == ("notify", 999_999_500_000, 1_000_250_000_000)
    assert (span.is_error, span.message) == (True, "too slow")


@needs_otel
def test_exported_twice_everything_is_the_same(place: Path, collector: Collector) -> None:
    journals.write(place, *[journals.record(0, runs=[journals.run("a"), journals.run("b")]) for _ in range(3)])
    assert send(collector).returncode == 0
    assert send(collector).returncode == 0
    first, second = collector.requests
    assert first == second
    assert len({span.id for span in first}) == 9
    assert collector.resources[0] == collector.resources[1]


@needs_otel
def test_filters_choose_spans_too(place: Path, collector: Collector) -> None:
    journals.write(place, journals.record(0), journals.record(1, decision="deny"))
    assert send(collector, "--decision", "deny").returncode == 0
    assert [span.attributes["session_id"] for span in collector.events] == ["s-1"]


@needs_otel
def test_no_secret_leaves_the_machine_even_if_the_journal_keeps_it(place: Path, collector: Collector) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    run = journals.run("guard", "failed", why=f"ValueError: {secret}", reason=f"token {secret}")
    journals.write(place, journals.record(reason=f"no: {secret}", runs=[run], fields={"env": {"TOKEN": secret}}))
    assert send(collector).returncode == 0
    assert len(collector.spans) == 2
    assert secret not in str(collector.spans)
    assert collector.spans[0].attributes["reason"] == "no: [redacted: github token]"


@needs_otel
def test_an_approval_is_a_span(place: Path, collector: Collector) -> None:
    journals.write(place, approval(waited_ms=1500.0))
    assert send(collector).returncode == 0
    (span,) = collector.spans
    assert (span.name, (span.end - span.start) // 1_000_000) == ("approval", 1500)
    told = {key: span.attributes[key] for key in ("event", "decision", "tool_name", "by", "answered_by", "scope")}
    assert told == {
        **{"event": "permission-request", "decision": "approve", "tool_name": "Shell"},
        **{"by": "claude-code", "answered_by": "terminal", "scope": "once"},
    }


@needs_otel
def test_odd_records_are_sent_as_far_as_they_go(place: Path, collector: Collector) -> None:
    journals.write(
        place,
        journals.record(0, reason="\ud800 half", event="\udfff", tool_name=["a", "list"], waited_ms="long"),
        journals.record(1, time="noon", runs="none"),
        journals.record(2, time=1e300, waited_ms=-1, runs=[None, {"hook": None, "exit_code": 2**70}]),
        journals.record(3, reason="x" * 10_000),
        {"type": "verdict"},
    )
    ended = send(collector)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("5 events ")
    assert len(collector.events) == 5
    assert collector.events[0].attributes["reason"] == "? half"
    assert len(collector.events[3].attributes["reason"]) == 4097


@needs_otel
def test_many_are_sent_in_batches_each_once(place: Path, collector: Collector) -> None:
    journals.write(place, *[journals.record(number) for number in range(700)])
    assert send(collector).returncode == 0
    assert len(collector.requests) > 1
    assert [span.attributes["session_id"] for span in collector.events] == [f"s-{number}" for number in range(700)]
    assert len({span.id for span in collector.spans}) == 1400


@needs_otel
def test_opentelemetrys_own_variables_count(place: Path, collector: Collector) -> None:
    journals.write(place, journals.record())
    env = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url + "/",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=abc",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
        "OTEL_SERVICE_NAME": "my-agents",
        "OTEL_RESOURCE_ATTRIBUTES": "host.name=desk",
    }
    assert tenterhook("log", "export", "--format", "otlp", env=env).returncode == 0
    assert len(collector.spans) == 2
    assert collector.headers[0]["x-key"] == "abc"
    assert collector.headers[0]["content-encoding"] == "gzip"
    assert collector.resources[0]["service.name"] == "my-agents"
    assert collector.resources[0]["host.name"] == "desk"

    env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = f"{collector.url}/mine"
    assert tenterhook("log", "export", "--format", "otlp", env=env).returncode == 0
    assert tenterhook("log", "export", "--format", "otlp", "--endpoint", f"{collector.url}/a", env=env).returncode == 0
    whole = f"{collector.url}/b/v1/traces/"
    assert tenterhook("log", "export", "--format", "otlp", "--endpoint", whole, env=env).returncode == 0
    assert collector.paths == {"/v1/traces", "/mine", "/a/v1/traces", "/b/v1/traces"}


@needs_otel
def test_a_collector_that_is_away_is_an_error_with_its_remedy(place: Path, collector: Collector) -> None:
    journals.write(place, journals.record())
    collector.stop()
    ended = send(collector)
    assert (ended.returncode, ended.stdout) == (1, "")
    first, second = ended.stderr.splitlines()
    where = f"{collector.url}/v1/traces"
    assert first == f"tenterhook: the collector at {where} does not accept spans: Connection refused"
    assert "OTLP over HTTP" in second


@needs_otel
@pytest.mark.parametrize(
    ("status", "said"), [(404, "404 Not Found"), (401, "401 Unauthorized"), (302, "it redirects (302 Found)")]
)
def test_an_answer_that_is_no_success_is_none(place: Path, collector: Collector, status: int, said: str) -> None:
    journals.write(place, journals.record())
    collector.status = status
    collector.location = f"{collector.url}/login" if status == 302 else ""
    ended = send(collector)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == 2


@needs_otel
def test_what_a_collector_refuses_is_said_once_and_shows_in_the_status(place: Path, collector: Collector) -> None:
    journals.write(place, *[journals.record(number) for number in range(700)])
    collector.refused = 1
    ended = send(collector)
    assert ended.returncode == 1
    assert ended.stderr == "tenterhook: the collector rejects some of the spans: too old for us\n"


@needs_otel
def test_a_password_in_the_address_is_not_shown(place: Path, collector: Collector) -> None:
    journals.write(place, journals.record())
    url = collector.url.replace("://", "://me:hunter2@")
    ended = tenterhook("log", "export", "--format", "otlp", "--endpoint", url)
    assert ended.returncode == 0
    assert "hunter2" not in ended.stdout + ended.stderr
    assert collector.headers[0]["authorization"].startswith("Basic ")


# As things happen


@needs_otel
def test_what_comes_is_sent_and_the_next_time_goes_on_there(
    home: Path, place: Path, tmp_path: Path, collector: Collector
) -> None:
    journals.write(place, journals.record(0))
    with sending(tmp_path, collector) as export:
        collector.has(1)
        journals.write(place, journals.record(1))
        collector.has(2)
        assert export.end() == 0
        assert export.printed == f"2 events sent to {collector.url}/v1/traces, as 4 spans\n".encode()
    journals.write(place, journals.record(2))
    for database in (home / ".cache" / "tenterhook").glob("journal.db*"):
        database.unlink()  # what can be made again is not what the place depends on
    with sending(tmp_path, collector) as export:
        collector.has(3)
        journals.write(place, journals.record(3))
        collector.has(4)
        assert export.end(signal.SIGTERM) == 0
    assert [span.attributes["session_id"] for span in collector.events] == ["s-0", "s-1", "s-2", "s-3"]


@needs_otel
def test_what_came_right_before_the_end_is_still_sent(place: Path, tmp_path: Path, collector: Collector) -> None:
    journals.write(place, journals.record(0))
    with sending(tmp_path, collector) as export:
        collector.has(1)
        journals.write(place, *[journals.record(number) for number in range(1, 20)])
        assert export.end() == 0
    sent = [span.attributes["session_id"] for span in collector.events]
    assert set(sent) == {f"s-{number}" for number in range(20)}


@needs_otel
def test_a_collector_that_is_away_is_said_once_and_gets_everything_when_it_is_back(
    place: Path, tmp_path: Path, collector: Collector
) -> None:
    journals.write(place, journals.record(0))
    with sending(tmp_path, collector) as export:
        collector.has(1)
        for outage in (1, 2):
            collector.stop()
            journals.write(place, journals.record(outage * 10))
            export.says("does not accept spans", outage)
            journals.write(place, journals.record(outage * 10 + 1))
            collector.start()
            collector.has(1 + 2 * outage)
            export.says("accepts spans again", outage)
        assert export.end() == 0
        said = export.said.splitlines()
    assert [span.attributes["session_id"] for span in collector.events] == ["s-0", "s-10", "s-11", "s-20", "s-21"]
    assert len(said) == 5
    assert said[1].endswith("Connection refused; retrying")


@needs_otel
def test_a_collector_that_fails_gets_everything_when_it_has_recovered(
    place: Path, tmp_path: Path, collector: Collector
) -> None:
    collector.status = 500
    journals.write(place, *[journals.record(number) for number in range(3)])
    with sending(tmp_path, collector) as export:
        export.says("500 Internal Server Error")
        asked = len(collector.headers)
        until(lambda: len(collector.headers) > asked)
        assert export.said.count("does not accept spans") == 1
        collector.status = 200
        collector.has(3)
        assert export.end() == 0


@needs_otel
def test_ended_while_the_collector_is_away_the_next_time_sends_it(
    place: Path, tmp_path: Path, collector: Collector
) -> None:
    journals.write(place, journals.record(0))
    with sending(tmp_path, collector) as export:
        collector.has(1)
        collector.stop()
        journals.write(place, journals.record(1))
        export.says("does not accept spans")
        assert export.end() == 1
        assert "the next --follow sends the rest" in export.said
        assert export.printed.startswith(b"1 events ")
    collector.start()
    with sending(tmp_path, collector) as export:
        collector.has(2)
        assert export.end() == 0
    assert [span.attributes["session_id"] for span in collector.events] == ["s-0", "s-1"]


@needs_otel
def test_killed_it_sends_again_rather_than_not_at_all(place: Path, tmp_path: Path, collector: Collector) -> None:
    journals.write(place, journals.record(0))
    collector.may_answer.clear()
    with sending(tmp_path, collector) as export:
        until(collector.asked.is_set)
        export.process.kill()
        export.process.wait()
    collector.may_answer.set()
    collector.has(1)
    with sending(tmp_path, collector) as export:
        collector.has(2)
        assert export.end() == 0
    first, second = collector.requests
    assert first == second


@needs_otel
def test_a_collector_that_does_not_answer_cannot_keep_it_from_ending(
    place: Path, tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "300")
    journals.write(place, journals.record(0))
    collector.may_answer.clear()
    with sending(tmp_path, collector) as export:
        until(collector.asked.is_set)
        assert export.end() == 1
        assert "not everything was delivered" in export.said


@needs_otel
def test_another_choice_of_records_has_a_place_of_its_own(place: Path, tmp_path: Path, collector: Collector) -> None:
    journals.write(place, journals.record(0, decision="deny"), journals.record(1))
    with sending(tmp_path, collector, "--decision", "deny") as export:
        collector.has(1)
        assert export.end() == 0
    with sending(tmp_path, collector) as export:
        collector.has(3)
        assert export.end() == 0


@needs_otel
@pytest.mark.parametrize("spoilt", ["another journal", "garbage"])
def test_a_place_that_is_none_means_from_the_beginning(
    home: Path, place: Path, tmp_path: Path, collector: Collector, spoilt: str
) -> None:
    journals.write(place, journals.record(0))
    with sending(tmp_path, collector) as export:
        collector.has(1)
        assert export.end() == 0
    (kept,) = (home / ".local" / "state" / "tenterhook" / "export").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    if spoilt == "garbage":
        kept.write_bytes(b"\xff[")
    else:
        journals.segments(place)[0].unlink()
        journals.write(place, journals.record(5, reason="x" * 5000))
    with sending(tmp_path, collector) as export:
        collector.has(2)
        assert export.end() == 0
    assert collector.events[1].attributes["session_id"] == ("s-0" if spoilt == "garbage" else "s-5")


@needs_otel
def test_where_no_place_can_be_kept_it_is_said_once_and_spans_are_sent(
    home: Path, place: Path, tmp_path: Path, collector: Collector
) -> None:
    journals.write(place, journals.record(0))
    (home / ".local" / "state" / "tenterhook" / "export").write_text("a file in the way")
    with sending(tmp_path, collector) as export:
        collector.has(1)
        journals.write(place, journals.record(1))
        collector.has(2)
        assert export.end() == 0
        assert export.said.count("the position cannot be stored") == 1


# What the page says


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@needs_otel
def test_the_examples_of_the_page_send_spans(
    place: Path, tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(commands) == 3
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    journals.write(place, journals.record())
    for number, command in enumerate(commands, start=1):
        words = command.replace("http://127.0.0.1:4318", collector.url).split()
        assert words.pop(0) == "tenterhook"
        if "--follow" in words:
            words.remove("--follow")
            with following(tmp_path, *words[2:]) as export:
                collector.has(number)
                assert export.end() == 0
        else:
            assert tenterhook(*words).returncode == 0
        assert len(collector.events) == number


@needs_otel
def test_the_page_names_every_attribute(place: Path, collector: Collector) -> None:
    full = journals.run("guard", "failed", why="w", reason="r", ignored="i")
    journals.write(place, journals.record(reason="r", runs=[full]))
    assert send(collector).returncode == 0
    rows = re.findall(r"^\| (every one|event|hook) \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    named = {kind: set(re.findall(r"`(\w+)`", cell)) for kind, cell in rows}
    event, run = collector.spans
    assert named["every one"] | named["event"] == set(event.attributes)
    assert named["every one"] | named["hook"] == set(run.attributes)
