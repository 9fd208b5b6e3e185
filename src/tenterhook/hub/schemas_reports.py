"""What goes over the wire: journal records, and what sessions and hooks look like from them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from .schemas import Given, Moment, Object, Short


class DeliveredGiven(Given):
    """One line of a journal."""

    segment: Short
    line: Annotated[int, Field(ge=0, le=2**53)]
    record: Object


class RecordsGiven(Given):
    """Lines of a journal, in their order."""

    machine: Short
    records: Annotated[list[DeliveredGiven], Field(max_length=5000)]


class Taken(BaseModel):
    taken: int
    known: int


class Session(BaseModel):
    """A session that records have come from."""

    machine: str
    session: str
    by: str | None
    records: int
    denied: int
    first: Moment
    last: Moment


class Sessions(BaseModel):
    sessions: list[Session]


class TimelineEntry(BaseModel):
    number: int
    time: Moment
    record: Object


class Timeline(BaseModel):
    records: list[TimelineEntry]


class Point(BaseModel):
    """A stretch of time in a plot."""

    time: Moment
    runs: int
    blocks: int
    failures: int
    p50_ms: float
    p95_ms: float


class HookFigures(BaseModel):
    """How one hook has been doing."""

    hook: str
    source: str
    runs: int
    blocks: int
    failures: int
    timeouts: int
    not_run: int
    allowed: int
    asked: int
    no_decision: int
    would_block: int
    changed_input: int
    told: int
    shadow: bool
    p50_ms: float
    p95_ms: float
    p99_ms: float
    is_failing: bool
    series: list[Point]


class Hooks(BaseModel):
    since: Moment
    until: Moment
    hooks: list[HookFigures]
    total: list[Point]
