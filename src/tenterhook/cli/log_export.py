"""`tenterhook log export`: export the journal to other programs, once or continuously."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..basics import places
from ..basics.display_text import one_line, visible
from ..errors import HookError
from ..events import spec_of
from .loading import event_names, hook_names, session_ids
from .log import DECISIONS, moment_since, since_option
from .printing import print_text, progress
from .refusals import refuse_writing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from ..journal.export import Sink
    from ..journal.filters import RecordFilter
    from ..journal.follower import Follower

NOT_ALL = 1
_POLL = 0.2  # seconds
_RETRY = 1.0
_GRACE = 3.0  # for work in progress after Ctrl-C


@click.command(short_help="Export the journal to other programs, once or continuously.")
@click.option(
    *("--format", "format_"),
    type=click.Choice(("jsonl", "otlp")),
    default="jsonl",
    show_default=True,
    help="Records as they are, one JSON object per line; or OpenTelemetry spans, sent to a collector.",
)
@click.option("--out", metavar="FILE", type=click.Path(dir_okay=False), help="Write to FILE instead of stdout (jsonl).")
@click.option(
    "--endpoint",
    metavar="URL",
    help="The collector's OTLP/HTTP address (otlp). Default: OTEL_EXPORTER_OTLP_ENDPOINT, or http://127.0.0.1:4318.",
)
@click.option("-f", "--follow", is_flag=True, help="Keep exporting new records; Ctrl-C sends the rest and stops.")
@click.option("--session", metavar="S", shell_complete=session_ids, help="Only this session.")
@click.option("--event", metavar="E", shell_complete=event_names, help="Only this event, by any of its names.")
@click.option("--hook", metavar="H", shell_complete=hook_names, help="Only what reached this hook.")
@click.option("--decision", metavar="D", type=click.Choice(DECISIONS), help="Only events with this decision.")
@since_option(None)
def export(
    format_: str,
    out: str | None,
    endpoint: str | None,
    follow: bool,
    session: str | None,
    event: str | None,
    hook: str | None,
    decision: str | None,
    since: str | None,
) -> int:
    """Export the journal to other programs: its records as they are, or as OpenTelemetry spans.

    \b
    tenterhook log export --since 7d --out week.jsonl
    tenterhook log export --format otlp --endpoint http://127.0.0.1:4318
    tenterhook log export --format otlp --follow

    With --follow, spans continue where the last --follow to the same endpoint with the same filters ended, and an
    unreachable collector is retried. Exit status 1 if something was not sent.
    """
    from ..journal.filters import RecordFilter

    canonical = spec_of(event).name if event else None
    wanted = RecordFilter(session, canonical, hook, decision, moment_since(since))
    if format_ == "jsonl":
        if endpoint:
            raise click.UsageError("--endpoint is for --format otlp: add that, or leave --endpoint out")
        if out not in (None, "-"):
            refuse_writing("log export", str(out))
        return _write_lines(wanted, out, follow=follow)
    if out:
        raise click.UsageError("--out is a file for --format jsonl; spans are sent to --endpoint")
    chosen = {"session": session, "event": canonical, "hook": hook, "decision": decision, "since": since}
    return _send_spans(wanted, endpoint, chosen if follow else None)


def _write_lines(wanted: RecordFilter, out: str | None, *, follow: bool) -> int:
    from ..journal.export import Lines, export
    from ..journal.follower import Follower

    with _opened(out) as stream:
        follower, sink, is_written = Follower(places.journal()), Lines(stream), True
        if not follow:
            with progress(
                "exporting", follower.unread(), is_shown=out is not None or not sys.stdout.isatty()
            ) as advance:
                export(follower, wanted, sink, advance)
        else:
            is_written = _Following(follower, wanted, sink).run()
    if out not in (None, "-"):
        print_text(f"{sink.records} records in {one_line(str(out))}", err=True)
    return 0 if is_written else NOT_ALL


@contextmanager
def _opened(out: str | None) -> Iterator[BinaryIO]:
    """Open the output; a new file is readable for this account only, as the journal is."""
    if out in (None, "-"):
        yield sys.stdout.buffer
        return
    try:
        descriptor = os.open(str(out), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise HookError(f"{error.strerror}: {out}", "name a file in a folder that exists and is yours") from None
    with open(descriptor, "wb") as stream:
        yield stream


def _send_spans(wanted: RecordFilter, endpoint: str | None, followed: dict[str, str | None] | None) -> int:
    from ..basics.redaction import redacted
    from ..journal import export
    from ..journal.follower import Follower

    url = export.endpoint_of(endpoint)
    shown = one_line(str(redacted(url)))
    if not url.startswith(("http://", "https://")):
        raise click.UsageError(f"{shown} is not a collector's address: it must begin with http:// or https://")
    collector = export.Collector(url, _warn)
    try:
        if followed is None:
            sink = export.Spans(collector)
            follower = Follower(places.journal())
            with progress("exporting", follower.unread()) as advance:
                export.export(follower, wanted, sink, advance)
            is_sent = True
        else:
            sink = export.Spans(collector, export.ExportCursor(url, followed, _warn))
            follower = Follower(places.journal(), sink.accepted)
            _warn(f"sending new spans to {shown}; Ctrl-C stops")
            is_sent = _Following(follower, wanted, sink).run()
    finally:
        collector.close()
    if not is_sent:
        _warn("not everything was delivered; the next --follow sends the rest")
    print_text(f"{sink.records} events sent to {shown}, as {sink.spans} spans")
    return 0 if is_sent and not collector.refused else NOT_ALL


class _Following:
    """Sends new records to a sink until Ctrl-C or SIGTERM; what could not be sent is retried."""

    def __init__(self, follower: Follower, wanted: RecordFilter, sink: Sink) -> None:
        self._follower = follower
        self._wanted = wanted
        self._sink = sink
        self._is_away = False

    def run(self) -> bool:
        """Return whether everything was delivered."""
        signals = _StopSignals()
        try:
            with signals.handled():
                try:
                    while True:
                        self._send_new()
                        signals.sleep(_RETRY if self._is_away else _POLL)
                except _StopRequested:
                    if not self._is_away:
                        self._send_new()  # records up to now
        except _GraceOver:
            self._is_away = True
        return not self._is_away

    def _send_new(self) -> None:
        from ..journal.export import NotSent, export
        from ..journal.follower import Follower

        try:
            export(self._follower, self._wanted, self._sink)
        except NotSent as error:
            if not self._is_away:
                _warn(f"{error.message}; retrying")
            self._is_away = True
            self._follower = Follower(self._follower.place, self._sink.accepted)
        else:
            if self._is_away:
                _warn("the collector accepts spans again")
            self._is_away = False


class _StopRequested(BaseException):
    """Ctrl-C or SIGTERM."""


class _GraceOver(BaseException):
    """The grace period is over."""


class _StopSignals:
    """Ctrl-C and SIGTERM: they end a sleep at once, and give work in progress a few seconds.

    A second one ends everything at once.
    """

    def __init__(self) -> None:
        self._is_requested = False
        self._is_asleep = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        handlers = {signal.SIGINT: self._request, signal.SIGTERM: self._request, signal.SIGALRM: self._give_up}
        before = {each: signal.signal(each, handler) for each, handler in handlers.items()}
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for each, handler in before.items():
                signal.signal(each, handler)

    def sleep(self, seconds: float) -> None:
        """Sleep. Raises `_StopRequested` at a signal, or if there was one before."""
        self._is_asleep = True
        try:
            if self._is_requested:
                raise _StopRequested
            time.sleep(seconds)
        finally:
            self._is_asleep = False

    def _request(self, *_: Any) -> None:
        if self._is_requested:
            raise KeyboardInterrupt
        self._is_requested = True
        signal.setitimer(signal.ITIMER_REAL, _GRACE)
        if self._is_asleep:
            raise _StopRequested

    def _give_up(self, *_: Any) -> None:
        raise _GraceOver


def _warn(text: str) -> None:
    print_text(f"tenterhook: {visible(text)}", err=True)
