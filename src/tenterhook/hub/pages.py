"""The pages: the inbox, requests, and what agents report."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response  # noqa: TC002  # FastAPI reads it when it runs

from . import (
    charts,
    connection_pages,
    inbox,
    records,
    rendering,
    request_html,
    settings_pages,
    sign_in_pages,
    timelines,
)
from .access import AccessRefused, hub_of
from .page_auth import ContentRoute, Fields, PageRoute, Visitor, not_found
from .rendering import page
from .schemas import Number

if TYPE_CHECKING:
    from ..journal.statistics import HookFigures
    from .database import Row

_MAX_OPEN, _MAX_ANSWERED = 20, 5
_MAX_SESSIONS, _MAX_RECORDS = 200, 500
_DAYS = (1, 7, 30)


router = APIRouter(route_class=ContentRoute, include_in_schema=False)
others = APIRouter(route_class=PageRoute, include_in_schema=False)  # included last: one of them matches every path
router.include_router(sign_in_pages.router)
router.include_router(settings_pages.router)
router.include_router(connection_pages.router)


@others.get("/static/{name}")
def static(request: Request, name: str) -> Response:
    """Send the style sheet, a script or the icon."""
    found = rendering.static(request, name)
    if found is None:
        raise not_found("file")
    return found


@others.get("/worker.js")
def worker(request: Request) -> Response:
    """Send the service worker from the root: it may only control pages below its own path."""
    found = rendering.static(request, "worker.js")
    assert found is not None
    return found


# -- requests


@router.get("/")
def show_inbox(request: Request, caller: Visitor) -> Response:
    """Show open requests, and those that were answered recently."""
    database = hub_of(request).database
    rows = database.read(lambda connection: inbox.listed(connection, inbox.OPEN, _MAX_OPEN + 1))
    answered = database.read(lambda connection: inbox.listed(connection, "answered", _MAX_ANSWERED))
    return page(
        *(request, caller, "inbox.html"),
        live="request machine record",
        whole=False,
        **connection_pages.values(request),
        open=[request_html.card(row) for row in rows[:_MAX_OPEN]],
        answered=[request_html.card(row) for row in answered],
        waiting=len(rows),
        most=_MAX_OPEN,
    )


@router.get("/requests/{request_id}")
def show_request(request: Request, caller: Visitor, request_id: str) -> Response:
    """Show a whole request, and all answers to it."""
    database = hub_of(request).database
    row = database.read(lambda connection: inbox.found(connection, request_id))
    if row is None:
        raise not_found("request")
    tries = database.read(lambda connection: inbox.answers_to(connection, request_id))
    card = request_html.card(row, whole=True)
    return page(request, caller, "request.html", live="request", whole=True, card=card, tries=tries)


@router.get("/fragments/requests/{request_id}")
def show_card(request: Request, _: Visitor, request_id: str, whole: bool = False) -> Response:
    """Send the HTML of one request."""
    row = hub_of(request).database.read(lambda connection: inbox.found(connection, request_id))
    if row is None:
        raise not_found("request")
    return rendering.part("card.html", card=request_html.card(row, whole=whole), whole=whole)


@router.post("/requests/{request_id}/answer")
def answer(request: Request, caller: Visitor, fields: Fields, request_id: str, whole: bool = False) -> Response:
    """Take a person's answer and send the HTML of the request; after a late answer, it names who answered first."""
    given = inbox.NewAnswer(
        attempt=secrets.token_hex(16),
        request=request_id,
        who=caller.name,
        via="page" if caller.sign_in is not None else "api",
        approved=_approved(fields),
        scope=inbox.SESSION if fields.get("scope") == inbox.SESSION else inbox.ONCE,
        message=fields.get("message", "").strip()[:2000] or None,
        hash=fields.get("hash", ""),
    )
    became, row = hub_of(request).database.write(lambda connection: inbox.answer(connection, given))
    if row is None:
        raise not_found("request")
    status = 200 if became in (inbox.WON, inbox.DUPLICATE) else 409
    return rendering.part("card.html", status, card=request_html.card(row, whole=whole), whole=whole)


def _approved(fields: dict[str, str]) -> bool:
    approved = fields.get("approved")
    if approved not in ("yes", "no"):
        raise AccessRefused(422, "no-answer", "the answer is neither yes nor no", "use the buttons of the page")
    return approved == "yes"


# -- what agents report


@router.get("/sessions")
def show_sessions(request: Request, caller: Visitor) -> Response:
    """Show the sessions that have records."""
    found = hub_of(request).database.read(lambda connection: records.sessions(connection, _MAX_SESSIONS))
    sessions = [{**row, "path": request_html.session_path(row["machine"], row["session"])} for row in found]
    return page(request, caller, "sessions.html", live="record", sessions=sessions)


@router.get("/sessions/{machine}/{session:path}")
def show_timeline(request: Request, caller: Visitor, machine: str, session: str, after: Number = 0) -> Response:
    """Show the timeline of a session."""
    rows = hub_of(request).database.read(
        lambda connection: records.timeline(connection, machine, session, after, _MAX_RECORDS + 1)
    )
    entries = [timelines.entry(row) for row in rows[:_MAX_RECORDS]]
    later = rows[_MAX_RECORDS - 1]["number"] if len(rows) > _MAX_RECORDS else None
    work_dir = rows[0]["record"].get("work_dir") if rows else ""
    return page(
        *(request, caller, "timeline.html"),
        live="record",
        machine=machine,
        session=session,
        work_dir=work_dir,
        records=entries,
        later=later,
    )


@router.get("/hooks")
def show_hooks(request: Request, caller: Visitor, days: int = 7) -> Response:
    """Show statistics of hooks."""
    days = days if days in _DAYS else 7
    found = hub_of(request).database.read(lambda connection: records.hooks(connection, time.time() - days * 86400))
    latency = {name: _took(found.total, f"{name}_ms") for name in ("p50", "p95")}
    blocks = [(point["time"], point["blocks"]) for point in found.total]
    return page(
        *(request, caller, "hooks.html"),
        live="record",
        days=days,
        hooks=[_health(each, found.series[each.hook, each.source]) for each in found.hooks],
        latency=charts.curves("Duration of hooks", latency, request_html.duration),
        blocks=charts.bars("Calls that hooks blocked", blocks, "{:.0f}".format),
    )


def _took(series: list[Row], key: str) -> list[tuple[float, float | None]]:
    """Return a series of durations, None where there were no runs."""
    return [(point["time"], point[key] if point["runs"] else None) for point in series]


def _health(figures: HookFigures, series: list[Row]) -> dict[str, Any]:
    """Return a hook's figures with an assessment of them."""
    failed = figures.failures + figures.timeouts
    if figures.is_failing:
        health, tone = "failing", "bad"
    elif failed:
        health, tone = "fails sometimes", "warn"
    elif figures.shadow:
        health, tone = "in shadow mode", ""
    else:
        health, tone = "OK", "good"
    spark = charts.spark("p95 over time", _took(series, "p95_ms"), request_html.duration)
    return {**figures.as_json(), "failures": failed, "health": health, "tone": tone, "spark": spark}


@others.get("/{path:path}")
def show_nothing(path: str) -> Response:
    """Respond that there is no such page."""
    if path.startswith("api/"):
        raise HTTPException(404)
    raise not_found("page")


router.include_router(others)
