"""The pages that people look at, and the plain forms on them, which work without any script."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response  # noqa: TC002  # FastAPI reads it when it runs

from . import charts, inbox, records, rendering, request_html, settings_pages, sign_in_pages, timelines
from .access import AccessRefused, Principal, hub_of
from .page_auth import Fields, PageRoute, Visitor, Writer, not_found, to
from .rendering import page

if TYPE_CHECKING:
    from ..journal.statistics import HookFigures
    from .database import Row

_MOST_OPEN, _MOST_ANSWERED = 20, 5
_MOST_SESSIONS, _MOST_RECORDS = 200, 500
_DAYS = (1, 7, 30)


router = APIRouter(route_class=PageRoute, include_in_schema=False)
router.include_router(sign_in_pages.router)
router.include_router(settings_pages.router)


@router.get("/static/{name}")
def static(request: Request, name: str) -> Response:
    """The style sheet, the script, the icon."""
    found = rendering.static(request, name)
    if found is None:
        raise not_found("file")
    return found


# -- requests


@router.get("/")
def show_inbox(request: Request, caller: Visitor) -> Response:
    """What waits for an answer, and what was answered lately."""
    database = hub_of(request).database
    rows = database.read(lambda connection: inbox.listed(connection, inbox.OPEN, _MOST_OPEN + 1))
    answered = database.read(lambda connection: inbox.listed(connection, "answered", _MOST_ANSWERED))
    return page(
        *(request, caller, "inbox.html"),
        live="request",
        whole=False,
        open=[request_html.card(row) for row in rows[:_MOST_OPEN]],
        answered=[request_html.card(row) for row in answered],
        waiting=len(rows),
        most=_MOST_OPEN,
    )


@router.get("/requests/{request_id}")
def show_request(request: Request, caller: Visitor, request_id: str) -> Response:
    """One request, all of it, and who tried to answer it."""
    return _one_request(request, caller, request_id)


@router.get("/fragments/requests/{request_id}")
def show_card(request: Request, caller: Visitor, request_id: str, whole: bool = False) -> Response:
    """A request as the script swaps it in."""
    row = hub_of(request).database.read(lambda connection: inbox.found(connection, request_id))
    if row is None:
        raise not_found("request")
    return rendering.part(caller, "card.html", card=request_html.card(row, whole=whole), whole=whole)


@router.post("/requests/{request_id}/answer")
def answer(request: Request, caller: Writer, fields: Fields, request_id: str, whole: bool = False) -> Response:
    """A person's answer; whoever is late sees who was quicker."""
    given = inbox.Answered(
        attempt=secrets.token_hex(16),
        request=request_id,
        who=caller.name,
        via="page",
        approved=_approved(fields),
        scope=inbox.SESSION if fields.get("scope") == inbox.SESSION else inbox.ONCE,
        message=fields.get("message", "").strip()[:2000] or None,
        hash=fields.get("hash", ""),
    )
    became, row = hub_of(request).database.write(lambda connection: inbox.answer(connection, given))
    if row is None:
        raise not_found("request")
    has_lost = became not in (inbox.WON, inbox.DUPLICATE)
    status = 409 if has_lost else 200
    if rendering.is_fragment(request):
        return rendering.part(caller, "card.html", status, card=request_html.card(row, whole=whole), whole=whole)
    lost = "Your answer came too late and changed nothing. This is what stands." if has_lost else ""
    return _one_request(request, caller, request_id, status, lost) if has_lost else to("/")


def _approved(fields: dict[str, str]) -> bool:
    """Yes or no, and nothing else for either."""
    try:
        return {"yes": True, "no": False}[fields.get("approved", "")]
    except KeyError:
        raise AccessRefused(422, "no-answer", "that is neither yes nor no", "Use the buttons of the page.") from None


def _one_request(request: Request, caller: Principal, request_id: str, status: int = 200, lost: str = "") -> Response:
    database = hub_of(request).database
    row = database.read(lambda connection: inbox.found(connection, request_id))
    if row is None:
        raise not_found("request")
    tries = database.read(lambda connection: inbox.answers_to(connection, request_id))
    card = request_html.card(row, whole=True)
    more = {"live": "request", "whole": True, "lost": lost, "tries": tries}
    return page(request, caller, "request.html", status, card=card, **more)


# -- what agents report


@router.get("/sessions")
def show_sessions(request: Request, caller: Visitor) -> Response:
    """Every session that something is known of."""
    found = hub_of(request).database.read(lambda connection: records.sessions(connection, _MOST_SESSIONS))
    sessions = [{**row, "path": request_html.session_path(row["machine"], row["session"])} for row in found]
    return page(request, caller, "sessions.html", live="record", sessions=sessions)


@router.get("/sessions/{machine}/{session:path}")
def show_timeline(request: Request, caller: Visitor, machine: str, session: str, after: int = 0) -> Response:
    """What happened in a session."""
    rows = hub_of(request).database.read(
        lambda connection: records.timeline(connection, machine, session, after, _MOST_RECORDS + 1)
    )
    entries = [timelines.entry(row) for row in rows[:_MOST_RECORDS]]
    later = rows[_MOST_RECORDS - 1]["number"] if len(rows) > _MOST_RECORDS else None
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
    """How hooks are doing."""
    days = days if days in _DAYS else 7
    found = hub_of(request).database.read(lambda connection: records.hooks(connection, time.time() - days * 86400))
    latency = {name: _took(found.total, f"{name}_ms") for name in ("p50", "p95")}
    blocks = [(point["time"], point["blocks"]) for point in found.total]
    return page(
        *(request, caller, "hooks.html"),
        live="record",
        days=days,
        hooks=[_health(each, found.series[each.hook, each.source]) for each in found.hooks],
        latency=charts.curves("How long hooks took", latency, request_html.duration),
        blocks=charts.bars("Calls that hooks blocked", blocks, "{:.0f}".format),
    )


def _took(series: list[Row], key: str) -> list[tuple[float, float | None]]:
    """How long runs took, where there were any."""
    return [(point["time"], point[key] if point["runs"] else None) for point in series]


def _health(figures: HookFigures, series: list[Row]) -> dict[str, Any]:
    """A hook's figures with what they mean."""
    failed = figures.failures + figures.timeouts
    if figures.is_failing:
        said = ("failing", "bad")
    elif failed:
        said = ("fails at times", "warn")
    elif figures.shadow:
        said = ("in shadow", "")
    else:
        said = ("well", "good")
    spark = charts.spark("p95 over time", _took(series, "p95_ms"), request_html.duration)
    return {**figures.as_json(), "failures": failed, "health": said[0], "tone": said[1], "spark": spark}


@router.get("/{path:path}")
def show_nothing(path: str) -> Response:
    """Anything else."""
    if path.startswith("api/"):
        raise HTTPException(404)
    raise not_found("page")
