"""The texts of `tenterhook inbox`, on its screen and in its commands."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ..approvals import presenter
from ..approvals.requests import Call
from ..basics.display_text import one_line

if TYPE_CHECKING:
    from .inbox_client import AnswerResult

_PREFIX = "permission_"


def presented(request: dict[str, Any]) -> presenter.Presentation:
    """Return a request as the presenter shows it."""
    return presenter.present(_call(request), request["display"])


def summary(request: dict[str, Any]) -> str:
    """Return a request in one line."""
    return presenter.summary(_call(request))


def facts(request: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the facts that a person needs about a request: its reason, and where it comes from."""
    known = (
        ("why", request["why"]),
        ("file", presented(request).path),
        ("where", request["work_dir"]),
        ("tool", request["tool_name"]),
        ("agent", request["agent"]),
        ("machine", request["machine"]),
        ("session", request["session_id"]),
        ("id", request["id"]),
    )
    return [(name, one_line(str(value))) for name, value in known if value]


def short_id(request: dict[str, Any]) -> str:
    """Return an id without its prefix."""
    return one_line(str(request["id"]).removeprefix(_PREFIX))


def is_called(request: dict[str, Any], prefix: str) -> bool:
    """Return whether an id begins so, with or without its prefix."""
    return str(request["id"]).startswith(prefix) or short_id(request).startswith(prefix)


def time_left(request: dict[str, Any]) -> str:
    """Return how long a request stays open."""
    seconds = max(int(request["expires"] - time.time()), 0)
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def ending(request: dict[str, Any]) -> str:
    """Return how a request ended, and who answered it."""
    answer, withdrawn = request.get("answer") or {}, request.get("withdrawn") or {}
    via = answer.get("via") or withdrawn.get("by")
    given = (request["state"], withdrawn.get("approved"), via, answer.get("scope"), answer.get("by"))
    ended = presenter.ending(*given, machine=withdrawn.get("machine"))
    return one_line(f"{ended}: {answer['message']}" if answer.get("message") else str(ended))


def result_line(result: AnswerResult) -> str:
    """Return the result of the person's answer."""
    if result.won:
        return ending(result.request)
    if result.why == "stale":
        return "not answered: the request has changed; read it again"
    if result.why == "duplicate":
        return f"you had already answered: {ending(result.request)}"
    return f"not answered by you: {ending(result.request)}"


def _call(request: dict[str, Any]) -> Call:
    return Call(str(request["tool_name"]), request["tool_input"], str(request["work_dir"]), str(request["session_id"]))
