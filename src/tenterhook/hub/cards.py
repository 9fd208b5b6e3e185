"""A request as a person sees it: made of the exact tool and input that an answer is bound to, not of labels."""

from __future__ import annotations

import json
import shlex
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from ..approvals.requests import Call
from . import showing

if TYPE_CHECKING:
    from markupsafe import Markup

    from .database import Row

_LINES_OF_CARD = 24
_SHELL_WORDS = ("command", "description", "timeout")  # of a shell's input: what is shown anyway, and what does no harm


class Card(NamedTuple):
    """What a request looks like."""

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
    path: str | None = None
    dangers: tuple[showing.Danger, ...] = ()
    all_lines: int | None = None  # if not all of them are shown


class _What(NamedTuple):
    kind: str
    label: str
    shown: Markup
    all_lines: int | None = None
    path: str | None = None
    dangers: tuple[showing.Danger, ...] = ()


def of(request: Row, *, whole: bool = False) -> Card:
    """The card of a request, or as much of it as there is room for in a list."""
    call = Call(request["tool_name"], json.loads(request["tool_input"]), request["work_dir"])
    what = _what(call, json.loads(request["display"]), None if whole else _LINES_OF_CARD)
    return Card(
        request=request,
        title=call.action[:1].upper() + call.action[1:],
        input=showing.formatted(call.tool_input),
        left=showing.span(request["expires"] - time.time()),
        outcome=_outcome(request),
        by=_by(request),
        session_path=session_path(request["machine"], request["session"]),
        **what._asdict(),
    )


def session_path(machine: str, session: str) -> str:
    """Where a session's timeline is."""
    return f"/sessions/{quote(machine, safe='')}/{quote(session, safe='')}"


def _what(call: Call, display: Any, most_lines: int | None) -> _What:
    """What wants to run. Only a difference is taken from the agent's side: the file is there and not here."""
    if call.tool == "Shell" and (line := _shell_line(call.tool_input.get("command"))):
        return _command(line, call, most_lines)
    path = call.tool_input.get("file_path")
    path = path if isinstance(path, str) else None
    difference = display.get("diff") if isinstance(display, dict) else None
    if path is not None and isinstance(difference, str) and difference:
        part = showing.excerpt(difference, most_lines)
        resolved = display.get("path")
        path = resolved if isinstance(resolved, str) else path
        return _What("diff", "What would change", showing.diff(part.text), part.all_lines, path)
    part = showing.excerpt(showing.formatted(call.tool_input), most_lines)
    return _What("input", "Input", showing.lines(part.text), part.all_lines, path)


def _shell_line(command: Any) -> str:
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return shlex.join(command)
    return command if isinstance(command, str) else ""


def _command(line: str, call: Call, most_lines: int | None) -> _What:
    found = showing.command(line, call.work_dir)
    more = {key: value for key, value in call.tool_input.items() if key not in _SHELL_WORDS}
    part = showing.excerpt(line, most_lines)
    shown = found.marked if part.all_lines is None else showing.lines(part.text)
    if more:
        shown += showing.lines("\n\n" + showing.formatted(more))
    return _What("command", "Command", shown, part.all_lines, None, found.dangers)


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
