"""A request in plain text, made of the exact tool and input that an answer is bound to; nothing hidden in it."""

from __future__ import annotations

import json
import shlex
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ..approvals.requests import Call
from ..basics.shown import one_line, visible

if TYPE_CHECKING:
    from .client import Outcome

_SHELL_WORDS = ("command", "description", "timeout")  # of a shell's input: what is shown anyway, and what does no harm
_PREFIX = "permission_"


class Shown(NamedTuple):
    """What a person decides about."""

    title: str
    kind: str  # command, diff or input
    body: str
    dangers: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


def shown(request: dict[str, Any]) -> Shown:
    """A request, escaped, with everything that somebody who decides must see."""
    call = _call(request)
    line = _line(call)
    kind, body = _body(call, line, request["display"])
    dangers = _dangers(line, call.work_dir) if line else ()
    return Shown(one_line(call.action), kind, visible(body), dangers, tuple(_facts(request, call)))


def summary(request: dict[str, Any]) -> str:
    """The same in one line."""
    call = _call(request)
    about = call.tool_input.get("file_path") or json.dumps(call.tool_input)
    return one_line(_line(call) or f"{call.tool_name} {about}")


def short_id(request: dict[str, Any]) -> str:
    """As much of an id as people have to read."""
    return one_line(str(request["id"]).removeprefix(_PREFIX))


def is_called(request: dict[str, Any], prefix: str) -> bool:
    """Whether somebody may mean this request by the beginning of an id."""
    return str(request["id"]).startswith(prefix) or short_id(request).startswith(prefix)


def time_left(request: dict[str, Any]) -> str:
    """How long it may still be answered."""
    seconds = max(int(request["expires"] - time.time()), 0)
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def ending(request: dict[str, Any]) -> str:
    """How a request ended, and by whom."""
    state, answer, withdrawn = request["state"], request.get("answer"), request.get("withdrawn") or {}
    if state == "open":
        return "it waits"
    if isinstance(answer, dict):
        scope = " for the session" if answer.get("scope") == "session" and answer.get("approved") else ""
        message = f": {one_line(answer['message'])}" if answer.get("message") else ""
        return f"{one_line(answer['by'])} {state} it{scope} ({one_line(answer['via'])}){message}"
    if state == "expired":
        return "its time was over, and nobody had answered"
    by = str(withdrawn.get("by") or "gone")
    settled = {"True": "approved", "False": "denied"}.get(str(withdrawn.get("approved")), "withdrawn")
    return "the agent no longer waits" if by == "gone" else f"{settled} at the agent's side ({one_line(by)})"


def outcome_line(outcome: Outcome) -> str:
    """What became of one's answer."""
    if outcome.won:
        return ending(outcome.request)
    if outcome.why == "stale":
        return "not answered: it is another request by now, look again"
    if outcome.why == "duplicate":
        return f"you had answered before: {ending(outcome.request)}"
    return f"not answered by you: {ending(outcome.request)}"


def _call(request: dict[str, Any]) -> Call:
    given = request["tool_input"]
    return Call(str(request["tool_name"]), given, str(request["work_dir"]), str(request["session_id"]))


def _line(call: Call) -> str:
    """The command of a shell; empty for other tools."""
    command = call.tool_input.get("command") if call.tool == "Shell" else ""
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return shlex.join(command)
    return command if isinstance(command, str) else ""


def _body(call: Call, line: str, display: Any) -> tuple[str, str]:
    """What wants to run. Only a difference is taken from the agent's side: the file is there and not here."""
    if line:
        more = {key: value for key, value in call.tool_input.items() if key not in _SHELL_WORDS}
        return "command", line + (f"\n\n{_formatted(more)}" if more else "")
    difference = display.get("diff") if isinstance(display, dict) else None
    if isinstance(call.tool_input.get("file_path"), str) and isinstance(difference, str) and difference:
        return "diff", difference
    return "input", _formatted(call.tool_input)


def _formatted(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _dangers(line: str, directory: str) -> tuple[str, ...]:
    """Why a command is dangerous, where the packages that can tell are installed."""
    try:
        from ..hub import showing
    except ImportError:
        return ()
    return tuple(one_line(f"{each.why}: {each.part}") for each in showing.command(line, directory).dangers)


def _facts(request: dict[str, Any], call: Call) -> list[tuple[str, str]]:
    file = None
    if call.tool != "Shell" and (file := call.tool_input.get("file_path")):
        file = request["display"].get("path") or file
    known = (
        ("why", request["why"]),
        ("file", file),
        ("where", call.work_dir),
        ("tool", call.tool_name),
        ("agent", request["agent"]),
        ("machine", request["machine"]),
        ("session", request["session_id"]),
        ("id", request["id"]),
    )
    return [(name, one_line(str(value))) for name, value in known if value]
