"""Exports the journal: its lines as they are, or its events as OpenTelemetry spans.

Reads the segments from a stored cursor, not the index.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from .. import __version__
from ..basics import places, private_files
from ..basics.light_json import printable
from ..basics.redaction import redacted
from ..errors import HookError
from . import segments
from .filters import conditions, fits, runs_in
from .follower import load_cursor
from .writer import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO

    from opentelemetry.sdk.trace import ReadableSpan

    from .filters import RecordFilter
    from .follower import Follower, Position

DEFAULT_ENDPOINT = "http://127.0.0.1:4318"
_TRACES = "/v1/traces"
_BATCH = 512  # spans
_MAX_TEXT = 4096  # characters of an attribute
_FAILED = ("failed", "timed_out")
_REMEDY = "does it run, and is this its address for OTLP over HTTP? Export again then: what has arrived keeps its ids"
_MAX_TIME = 2**63 - 1  # nanoseconds


class Sink(Protocol):
    """A destination of records. All records before the cursor `accepted` have arrived there."""

    accepted: Mapping[str, Position]

    def add(self, line: segments.Line, record: dict[str, Any], cursor: Mapping[str, Position]) -> None:
        """Add a record; `cursor` is the position in the journal after it."""

    def flush(self, cursor: Mapping[str, Position]) -> None:
        """Send the added records. Raises `NotSent` if they did not arrive; the next export sends them again."""


def export(follower: Follower, wanted: RecordFilter, sink: Sink, seen: Callable[[int], None] | None = None) -> None:
    """Send new records that match the filters to a sink; `seen` is called with the size of each line."""
    chosen = conditions(wanted)
    for line in follower.lines():
        record = line.record
        if record is not None and segments.is_ours(line) and fits(record, chosen):
            sink.add(line, record, follower.cursor)
        if seen is not None:
            seen(len(line.raw))
    sink.flush(follower.cursor)


class Lines:
    """A sink that writes records as they are, one JSON object a line."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.records = 0
        self.accepted: Mapping[str, Position] = {}

    def add(self, line: segments.Line, record: dict[str, Any], cursor: Mapping[str, Position]) -> None:
        self._stream.write(line.raw)
        self.records += 1

    def flush(self, cursor: Mapping[str, Position]) -> None:
        self._stream.flush()
        self.accepted = dict(cursor)


class NotSent(HookError):
    """The collector did not accept the spans."""


class Spans:
    """A sink that sends records as spans, in batches."""

    def __init__(self, collector: Collector, stored: ExportCursor | None = None) -> None:
        self.collector = collector
        self.records = self.spans = 0
        self.accepted: Mapping[str, Position] = stored.read() if stored else {}
        self._stored = stored
        self._batch: list[ReadableSpan] = []
        self._in_batch = 0

    def add(self, line: segments.Line, record: dict[str, Any], cursor: Mapping[str, Position]) -> None:
        self._batch += spans_of(record, line.raw, self.collector.about)
        self._in_batch += 1
        if len(self._batch) >= _BATCH:
            self.flush(cursor)

    def flush(self, cursor: Mapping[str, Position]) -> None:
        batch, records, self._batch, self._in_batch = self._batch, self._in_batch, [], 0
        if batch:
            self.collector.send(batch)
            self.records += records
            self.spans += len(batch)
        if cursor != self.accepted:
            self.accepted = dict(cursor)
            if self._stored is not None:
                self._stored.write(self.accepted)


class ExportCursor:
    """The stored cursor of a collector, one for each set of filters."""

    def __init__(self, endpoint: str, chosen: Mapping[str, str | None], tell: Callable[[str], None]) -> None:
        """`tell` is called once if the cursor cannot be stored."""
        self._about = {"endpoint": redacted(endpoint), "chosen": {key: value for key, value in chosen.items() if value}}
        name = digest(json.dumps([endpoint, self._about["chosen"]], sort_keys=True).encode())
        self.file = os.path.join(places.state(), "export", f"{name}.json")
        self._tell: Callable[[str], None] | None = tell

    def read(self) -> dict[str, Position]:
        try:
            return load_cursor(private_files.read_json(self.file).get("segments", {}))
        except (ValueError, TypeError):
            return {}  # better to send records twice than not at all

    def write(self, cursor: Mapping[str, Position]) -> None:
        data = json.dumps({"schema": 1, **self._about, "segments": cursor}).encode()
        try:
            places.make_private(os.path.dirname(self.file))
            places.replace_file(self.file, data)
        except OSError as error:
            if self._tell is not None:
                self._tell(f"the position cannot be stored, the next export sends everything again: {error}")
                self._tell = None


def endpoint_of(given: str | None) -> str:
    """Return the URL that spans are posted to: the given one, that of OpenTelemetry's variables, or the default."""
    if not given and os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        return os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]  # defined as the whole URL
    base = (given or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")
    return base if base.endswith(_TRACES) else base + _TRACES


class Collector:
    """A client of an OpenTelemetry collector over HTTP. It does not retry."""

    def __init__(self, endpoint: str, tell: Callable[[str], None]) -> None:
        """`tell` is called once if the collector rejects spans."""
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        except ImportError as error:
            from ..basics.install_hints import install_command

            remedy = f"install it with: {install_command('otel')}"
            raise HookError(f"sending spans needs {error.name}", remedy) from None
        import logging

        ours = {"service.name": "tenterhook", "service.version": __version__}
        self.about: Any = Resource(ours).merge(OTELResourceDetector().detect())  # OpenTelemetry's variables win
        self.refused = 0
        self._endpoint = endpoint
        self._tell = tell
        self._session = _session(self._note_refused)
        self._exporter = OTLPSpanExporter(endpoint=endpoint, session=self._session)
        log = logging.getLogger("opentelemetry")
        log.addHandler(logging.NullHandler())  # `send` reports its errors
        log.propagate = False

    def send(self, spans: list[ReadableSpan]) -> None:
        """Send a batch. Raises `NotSent` if it did not arrive."""
        from opentelemetry.sdk.trace.export import SpanExportResult
        from requests import RequestException

        self._session.trouble = "they cannot be encoded"
        try:
            result = self._exporter.export(spans)
        except RequestException:  # raised by some versions of the exporter
            result = SpanExportResult.FAILURE
        if result is not SpanExportResult.SUCCESS:
            where = redacted(self._endpoint)
            raise NotSent(f"the collector at {where} does not accept spans: {self._session.trouble}", _REMEDY)

    def close(self) -> None:
        self._session.close()

    def _note_refused(self, count: int, why: str) -> None:
        if not self.refused:
            self._tell(f"the collector rejects some of the spans: {why or 'it does not say why'}")
        self.refused += count


def _session(note_refused: Callable[[int, str], None]) -> Any:
    """Return a session that keeps the last error as `trouble`, never retries, and treats a redirect as an error."""
    import requests
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    class Session(requests.Session):
        trouble = ""

        def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
            options["allow_redirects"] = False  # a POST would become a GET without a body
            try:
                try:
                    response = super().send(request, **options)
                except requests.ConnectionError:  # the collector may have closed an idle connection
                    response = super().send(request, **options)
            except requests.RequestException as error:
                self.trouble = _cause(error)
                raise requests.RequestException(self.trouble) from error  # after this one, the exporter does not retry
            self.trouble = f"{response.status_code} {response.reason}"
            if 300 <= response.status_code < 400:  # the exporter may treat that as success
                self.trouble = f"it redirects ({self.trouble})"
                raise requests.RequestException(self.trouble)
            if response.ok:
                self._note_partial_success(response)
            return response

        def _note_partial_success(self, response: requests.Response) -> None:
            try:
                partial = ExportTraceServiceResponse.FromString(response.content).partial_success
            except Exception:  # noqa: BLE001  # a success with a body that is not as in the protocol
                return
            if partial.rejected_spans:
                note_refused(partial.rejected_spans, partial.error_message)

    return Session()


def _cause(error: BaseException) -> str:
    """Return the message of the system error that an exception wraps."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, TimeoutError) or type(at).__name__ in ("ReadTimeout", "ConnectTimeout"):
            return "timed out"
        if isinstance(at, OSError) and at.strerror:
            return at.strerror
        at = at.__cause__ or at.__context__
    return str(error)


def spans_of(record: Mapping[str, Any], raw: bytes, about: Any) -> list[ReadableSpan]:
    """Return an event as a span with a child for each run; another record as one span. The IDs are deterministic."""
    trace = _Trace(record, raw, about)
    end = _nanoseconds(record.get("time"), 10**9)
    if record.get("type") == "async":
        start = max(end - _nanoseconds(record.get("duration_ms"), 10**6), 0)
        return [trace.run(trace.hash, record, (start, end), is_async=True)]
    start = max(end - _nanoseconds(record.get("waited_ms"), 10**6), 0)
    spans = [trace.event(record, (start, end))]
    for number, run in enumerate(runs_in(record)):
        until = min(start + _nanoseconds(run.get("duration_ms"), 10**6), _MAX_TIME)
        spans.append(trace.run(digest(f"{trace.hash} {number}".encode()), run, (start, until), parent=spans[0]))
    return spans


class _Trace:
    """The trace of a record's spans: one per session, or per event if it has no session."""

    def __init__(self, record: Mapping[str, Any], raw: bytes, about: Any) -> None:
        self.hash = _hash(record, raw)
        session = record.get("session_id")
        name = digest(b"session " + str(session).encode("utf-8", "replace")) if session else self.hash
        self._id = int(name, 16) or 1
        self._common = {"event": record.get("event"), "session_id": session, "record": self.hash}
        self._about = about

    def event(self, record: Mapping[str, Any], times: tuple[int, int]) -> ReadableSpan:
        keys = ("event_name", "decision", "reason", "tool_name", "by", "answered_by", "scope")
        name = "approval" if record.get("type") == "approval" else str(record.get("event"))
        return self._span(self.hash, name, {key: record.get(key) for key in keys}, times)

    def run(
        self,
        id_: str,
        run: Mapping[str, Any],
        times: tuple[int, int],
        *,
        parent: ReadableSpan | None = None,
        is_async: bool = False,
    ) -> ReadableSpan:
        keys = ("hook", "source", "outcome", "meaning", "why", "decision", "reason", "ignored", "shadow", "exit_code")
        said = {key: run.get(key) for key in (*keys, "duration_ms")}
        failure = str(run.get("why") or run.get("outcome")) if run.get("outcome") in _FAILED else None
        return self._span(id_, str(run.get("hook")), {**said, "async": is_async}, times, parent, failure)

    def _span(
        self,
        id_: str,
        name: str,
        said: dict[str, Any],
        times: tuple[int, int],
        parent: ReadableSpan | None = None,
        failure: str | None = None,
    ) -> ReadableSpan:
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope
        from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

        sampled = TraceFlags(TraceFlags.SAMPLED)
        attributes = {**self._common, **said}
        return ReadableSpan(
            _text(name),
            SpanContext(self._id, int(id_[:16], 16) or 1, is_remote=False, trace_flags=sampled),
            parent.get_span_context() if parent is not None else None,
            self._about,
            {f"tenterhook.{key}": _attribute(value) for key, value in attributes.items() if value is not None},
            status=Status(StatusCode.ERROR, _text(failure)) if failure is not None else Status(StatusCode.UNSET),
            start_time=times[0],
            end_time=times[1],
            instrumentation_scope=InstrumentationScope("tenterhook", __version__),
        )


def _hash(record: Mapping[str, Any], raw: bytes) -> str:
    """Return the hash in a record, or that of its line if it has none."""
    hash_ = record.get("hash")
    is_one = isinstance(hash_, str) and len(hash_) == 32 and all(char in "0123456789abcdef" for char in hash_)
    return str(hash_) if is_one else digest(raw)


def _nanoseconds(value: Any, unit: int) -> int:
    """Return a time or duration of the journal in nanoseconds, rounded to microseconds; 0 if it is not valid."""
    if not isinstance(value, (int, float)) or not 0 <= value <= _MAX_TIME / unit:
        return 0
    return min(round(value * (unit // 1000)) * 1000, _MAX_TIME)


def _attribute(value: Any) -> str | bool | int | float:
    if isinstance(value, (bool, float)) or (isinstance(value, int) and -(2**63) <= value < 2**63):
        return value
    return _text(value if isinstance(value, str) else json.dumps(value))


@lru_cache(maxsize=1000)  # most are names, which are repeated
def _text(text: str) -> str:
    """Return a text as it may leave this machine: without secrets even if the journal has them, shortened, valid."""
    kept = str(redacted(text))
    if len(kept) > _MAX_TEXT:
        kept = kept[:_MAX_TEXT] + "…"
    return printable(kept)
