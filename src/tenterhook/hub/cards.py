"""Requests as cards of the pages."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from ..approvals import presenter
from ..approvals.requests import Call
from . import request_html

if TYPE_CHECKING:
    from markupsafe import Markup

    from .database import Row

_LINES_OF_CARD = 24
_LABELS = {presenter.COMMAND: "Command", presenter.DIFF: "What would change", presenter.INPUT: "Input"}


class Card(NamedTuple):
    """A request as the templates show it."""

    request: Row
    title: str
    kind: str  # command, diff or input
    label: str
    shown: Markup
    input: str
    left: str
    outcome: str
    by: str
    session_path: str
    path: str | None
    dangers: tuple[presenter.CommandDanger, ...]
    all_lines: int | None  # None: all of them are shown


def of(request: Row, *, whole: bool = False) -> Card:
    """Return the card of a request, shortened for a list unless it is shown whole."""
    call = Call(request["tool_name"], json.loads(request["tool_input"]), request["work_dir"])
    presented = presenter.present(call, json.loads(request["display"]))
    part = request_html.excerpt(presented.text, None if whole else _LINES_OF_CARD)
    return Card(
        request=request,
        title=presented.title[:1].upper() + presented.title[1:],
        kind=presented.kind,
        label=_LABELS[presented.kind],
        shown=request_html.request(presented._replace(text=part.text, marks=presented.marks[: len(part.text)])),
        input=presenter.formatted(call.tool_input),
        left=request_html.span(request["expires"] - time.time()),
        outcome=_outcome(request),
        by=_by(request),
        session_path=session_path(request["machine"], request["session"]),
        path=presented.path,
        dangers=presented.dangers,
        all_lines=part.all_lines,
    )


def session_path(machine: str, session: str) -> str:
    """Where a session's timeline is."""
    return f"/sessions/{quote(machine, safe='')}/{quote(session, safe='')}"


def _outcome(request: Row) -> str:
    state, via = request["state"], request["answered_via"]
    if state == "approved":
        return "Approved for this session" if request["scope"] == "session" else "Approved once"
    if state == "denied":
        return "Denied"
    if state == "expired":
        return "Time was over, nobody answered"
    settled = {1: "Approved", 0: "Denied", None: "Withdrawn"}[request["approved"]]
    where = {"gone": "the agent no longer waits", "terminal": "in the terminal", "hook": "by a hook"}
    return f"{settled}: {where.get(via, via)}" if via else settled


def _by(request: Row) -> str:
    """Who answered, and from where if that was no page."""
    by, via = request["answered_by"], request["answered_via"]
    if not by:
        return ""
    if via == "session":
        return f"{by}, earlier in this session"
    return by if via == "page" else f"{by} ({via})"
