"""The journal for other programs: its lines as they are, or its events as OpenTelemetry spans.

Read from the segments with a stored cursor, not from the index.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from .. import __version__
from ..basics import places, private_files
from ..errors import HookError
from . import segments
from .filters import conditions, fits
from .follower import load_cursor
from .redaction import redacted
from .writer import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO

    from opentelemetry.sdk.trace import ReadableSpan

    from .filters import Wanted
    from .follower import Follower, Position

DEFAULT_ENDPOINT = "http://127.0.0.1:4318"
_TRACES = "/v1/traces"
_SPANS_AT_ONCE = 512
_LONGEST_TEXT = 4096  # characters of an attribute
_FAILED = ("failed", "timed_out")
_REMEDY = "does it run, and is this its address for OTLP over HTTP? Export again then: what has arrived keeps its ids"
_LAST_MOMENT = 2**63 - 1  # nanoseconds


def _runs(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What each hook did; the end of an asynchronous one is a record of its own."""
    if record.get("type") == "async":
        return [record]
    runs = record.get("runs")
    return [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []


class Sink(Protocol):
    """Where records go. `accepted` says how far everything has arrived there."""

    accepted: Mapping[str, Position]

    def add(self, line: segments.Line, record: dict[str, Any], cursor: Mapping[str, Position]) -> None:
        """Take one; `cursor` say where the journal stands after it."""

    def flush(self, cursor: Mapping[str, Position]) -> None:
        """Let go of everything that was taken; raises `NotSent`, and then go on from `accepted`."""


def go_through(follower: Follower, wanted: Wanted, sink: Sink, seen: Callable[[int], None] | None = None) -> None:
    """Give a sink what is new and wanted; `seen` is told the size of every line."""
    chosen = conditions(wanted)
    for line in follower.lines():
        record = line.record
        if record is not None and segments.is_ours(line) and fits(record, chosen):
            sink.add(line, record, follower.cursor)
        if seen is not None:
            seen(len(line.raw))
    sink.flush(follower.cursor)


class Lines:
    """Records as they are, one JSON object a line."""

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
    """The collector did not take what it was sent."""


class Spans:
    """Records as spans, sent in batches."""

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
        if len(self._batch) >= _SPANS_AT_ONCE:
            self.flush(cursor)

    def flush(self, cursor: Mapping[str, Position]) -> None:
        batch, taken, self._batch, self._in_batch = self._batch, self._in_batch, [], 0
        if batch:
            self.collector.send(batch)
            self.records += taken
            self.spans += len(batch)
        if cursor != self.accepted:
            self.accepted = dict(cursor)
            if self._stored is not None:
                self._stored.write(self.accepted)


class ExportCursor:
    """How far a collector has got everything, kept from one export to the next; one for each choice of records."""

    def __init__(self, endpoint: str, chosen: Mapping[str, str | None], tell: Callable[[str], None]) -> None:
        self._about = {"endpoint": redacted(endpoint), "chosen": {key: value for key, value in chosen.items() if value}}
        name = digest(json.dumps([endpoint, self._about["chosen"]], sort_keys=True).encode())
        self.file = os.path.join(places.state(), "export", f"{name}.json")
        self._tell = tell
        self._told = False

    def read(self) -> dict[str, Position]:
        found = private_files.read(self.file)
        try:
            return load_cursor(json.loads(found)["segments"]) if found is not None else {}
        except (ValueError, KeyError, TypeError):
            return {}  # sent twice is better than not at all

    def write(self, cursor: Mapping[str, Position]) -> None:
        data = json.dumps({"schema": 1, **self._about, "segments": cursor}).encode()
        try:
            places.make_private(os.path.dirname(self.file))
            places.replace_file(self.file, data)
        except OSError as error:
            if not self._told:
                self._told = True
                self._tell(f"the place reached is not kept, the next time sends it all again: {error}")


def endpoint_of(given: str | None) -> str:
    """The address that spans are posted to: as given, or as OpenTelemetry's variables say, or on this machine."""
    if not given and os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        return os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]  # by its definition the whole address
    base = (given or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")
    return base if base.endswith(_TRACES) else base + _TRACES


class Collector:
    """An OpenTelemetry collector, spoken to over HTTP. One attempt at a time: when to try again is the caller's."""

    def __init__(self, endpoint: str, tell: Callable[[str], None]) -> None:
        """`tell` is told once if it refuses spans."""
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        except ImportError as error:
            from ..basics.install_hints import install_command

            remedy = f"install it with: {install_command('otel')}"
            raise HookError(f"sending spans needs {error.name}", remedy) from None
        import logging

        ours = {"service.name": "tenterhook", "service.version": __version__}
        self.about: Any = Resource(ours).merge(OTELResourceDetector().detect())  # what the person has set wins
        self.refused = 0
        self._endpoint = endpoint
        self._tell = tell
        self._session = _session(self._note_refused)
        self._exporter = OTLPSpanExporter(endpoint=endpoint, session=self._session)
        log = logging.getLogger("opentelemetry")
        log.addHandler(logging.NullHandler())  # what it would say about sending, `send` does
        log.propagate = False

    def send(self, spans: list[ReadableSpan]) -> None:
        """Send a batch; raises `NotSent` if it did not arrive."""
        from opentelemetry.sdk.trace.export import SpanExportResult
        from requests import RequestException

        self._session.trouble = "they cannot be encoded"
        try:
            result = self._exporter.export(spans)
        except RequestException:  # some versions of the exporter let it through
            result = SpanExportResult.FAILURE
        if result is not SpanExportResult.SUCCESS:
            where = redacted(self._endpoint)
            raise NotSent(f"the collector at {where} does not take spans: {self._session.trouble}", _REMEDY)

    def close(self) -> None:
        self._session.close()

    def _note_refused(self, count: int, why: str) -> None:
        if not self.refused:
            self._tell(f"the collector refuses some of the spans: {why or 'it does not say why'}")
        self.refused += count


def _session(note_refused: Callable[[int, str], None]) -> Any:
    """A session that knows what went wrong, tries once, and takes being sent elsewhere for no success."""
    import requests
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    class Session(requests.Session):
        trouble = ""

        def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
            options["allow_redirects"] = False  # a POST would go on as a GET, without what it holds
            try:
                try:
                    response = super().send(request, **options)
                except requests.ConnectionError:  # a connection kept open may have been closed over there
                    response = super().send(request, **options)
            except requests.RequestException as error:
                self.trouble = _cause(error)
                raise requests.RequestException(self.trouble) from error  # none that the exporter would try again for
            self.trouble = f"{response.status_code} {response.reason}"
            if 300 <= response.status_code < 400:  # which the exporter may take for success
                self.trouble = f"it sends us elsewhere ({self.trouble})"
                raise requests.RequestException(self.trouble)
            if response.ok:
                self._look_at(response)
            return response

        def _look_at(self, response: requests.Response) -> None:
            try:
                partial = ExportTraceServiceResponse.FromString(response.content).partial_success
            except Exception:  # noqa: BLE001  # not an answer as the protocol has it: it was accepted all the same
                return
            if partial.rejected_spans:
                note_refused(partial.rejected_spans, partial.error_message)

    return Session()


def _cause(error: BaseException) -> str:
    """What the system said, from below the layers that wrapped it."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, TimeoutError) or type(at).__name__ in ("ReadTimeout", "ConnectTimeout"):
            return "no answer in time"
        if isinstance(at, OSError) and at.strerror:
            return at.strerror
        at = at.__cause__ or at.__context__
    return str(error)


def spans_of(record: Mapping[str, Any], raw: bytes, about: Any) -> list[ReadableSpan]:
    """An event as a span, and below it one for each hook; an approval as one span. The ids are the same each time."""
    trace = _Trace(record, raw, about)
    end = _nanoseconds(record.get("time"), 10**9)
    if record.get("type") == "async":
        start = max(end - _nanoseconds(record.get("duration_ms"), 10**6), 0)
        return [trace.run(trace.hash, record, (start, end), is_async=True)]
    start = max(end - _nanoseconds(record.get("waited_ms"), 10**6), 0)
    spans = [trace.event(record, (start, end))]
    for number, run in enumerate(_runs(record)):
        until = min(start + _nanoseconds(run.get("duration_ms"), 10**6), _LAST_MOMENT)
        spans.append(trace.run(digest(f"{trace.hash} {number}".encode()), run, (start, until), parent=spans[0]))
    return spans


class _Trace:
    """What the spans of one record share. A session is one trace; an event without a session is one by itself."""

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
    """The hash that a record ends with; of one that has none, that of its line."""
    hash_ = record.get("hash")
    is_one = isinstance(hash_, str) and len(hash_) == 32 and all(char in "0123456789abcdef" for char in hash_)
    return str(hash_) if is_one else digest(raw)


def _nanoseconds(value: Any, unit: int) -> int:
    """A time or a duration of the journal, which it keeps to the microsecond."""
    if not isinstance(value, (int, float)) or not 0 <= value <= _LAST_MOMENT / unit:
        return 0
    return min(round(value * (unit // 1000)) * 1000, _LAST_MOMENT)


def _attribute(value: Any) -> str | bool | int | float:
    if isinstance(value, (bool, float)) or (isinstance(value, int) and -(2**63) <= value < 2**63):
        return value
    return _text(value if isinstance(value, str) else json.dumps(value))


@lru_cache(maxsize=1000)  # most are names, which come again and again
def _text(text: str) -> str:
    """Text that may leave this machine: without secrets, however it is kept here, not too long, and valid."""
    kept = str(redacted(text))
    if len(kept) > _LONGEST_TEXT:
        kept = kept[:_LONGEST_TEXT] + "…"
    return kept.encode("utf-8", "replace").decode()
