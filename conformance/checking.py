"""Compares the result of a vector with what it expects."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.leftovers import alive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.places import Place

DECISIONS = ("deny", "ask", "approve", "allow", "none")
_PROCEED = ("allow", "none")  # many engines do not tell these apart, and no source document does
PATIENCE = 10.0  # seconds for what hooks in the background leave, and for what must go away
_TOLD = ("reason", "modified_input", "modified_output", "additional_context", "messages", "failures", "problems")
_NOTHING = object()


class Difference(NamedTuple):
    """One thing that is not as it should be."""

    what: str
    expected: Any
    got: Any


def answer_differences(expect: dict[str, Any], answer: dict[str, Any], place: Place) -> list[Difference]:
    """Return the differences of an engine's answer. What the answer does not mention at all is in `untold`."""
    found = []
    wanted, got = expect["decision"], answer["decision"]
    if got not in (_PROCEED if wanted == "proceed" else (wanted,)):
        found.append(Difference("decision", wanted, got))
    for key in _TOLD:
        if key in expect and key in answer and not _CHECKS[key](expect[key], answer[key], place):
            found.append(Difference(key, expect[key], answer[key]))
    return found


def untold(expect: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """Return what a vector expects and this engine does not report."""
    return [key for key in _TOLD if key in expect and key not in answer]


def effects(expect: dict[str, Any], place: Place) -> list[Difference]:
    """Return the differences in the files that hooks have left; waits a few seconds for them."""
    end = time.monotonic() + PATIENCE
    while (found := list(_effects(expect, place))) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def _effects(expect: dict[str, Any], place: Place) -> Iterator[Difference]:
    if "ran" in expect:
        ran, wanted = (_text(place.records / "ran") or "").splitlines(), expect["ran"]
        same = ran == wanted if isinstance(wanted, list) else sorted(ran) == sorted(wanted["any_order"])
        if not same:
            yield Difference("hooks that ran", wanted, ran)
    for name, wanted in expect.get("files", {}).items():
        text = _text(place.root / name)
        if not _text_fits(place.filled(wanted), text):
            yield Difference(name, wanted, _short(text))
    for key, should_live in (("gone", False), ("alive", True)):
        for name in expect.get(key, ()):
            pid = (_text(place.root / name) or "").strip()
            if not pid.isdigit() or alive(int(pid)) is not should_live:
                yield Difference(f"the process of {name}", key, "no such record" if not pid else "the opposite")


def _text(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= 2000 else f"{text[:2000]}… ({len(text)} characters)"


def _text_fits(wanted: Any, text: str | None) -> bool:
    """Return whether a text is as expected, without surrounding white space; or matches, or holds the expected JSON."""
    if wanted == {"absent": True} or wanted is None:
        return text is None
    if text is None:
        return False
    if isinstance(wanted, str):
        return text.strip() == wanted.strip()
    ((how, value),) = wanted.items()
    if how == "json":
        try:
            return _holds(value, json.loads(text))
        except ValueError:
            return False
    return re.search(value, text) is not None


def _holds(wanted: Any, got: Any) -> bool:
    """Return whether an object has every expected key with its value; it may have more."""
    if isinstance(wanted, dict) and wanted.keys() & {"@matches", "@length"}:
        pattern, length = wanted.get("@matches", ""), wanted.get("@length")
        return isinstance(got, str) and re.search(pattern, got) is not None and length in (None, len(got))
    if isinstance(wanted, dict):
        return isinstance(got, dict) and all(_key_holds(key, each, got) for key, each in wanted.items())
    return type(wanted) is type(got) and bool(wanted == got)


def _key_holds(key: str, wanted: Any, got: dict[str, Any]) -> bool:
    value = got.get(key, _NOTHING)
    return value is _NOTHING if wanted == {"@absent": True} else value is not _NOTHING and _holds(wanted, value)


def _problems_fit(wanted: list[str], problems: Any, place: Place) -> bool:
    """Each file that is named has a problem, and no other has."""
    if not isinstance(problems, list) or not all(isinstance(each, dict) for each in problems):
        return False
    told = {str(each.get("file")) for each in problems}
    return told == {str(place.root / name) for name in wanted}


_CHECKS: dict[str, Any] = {
    "reason": lambda wanted, got, place: _text_fits(place.filled(wanted), got),
    "modified_input": lambda wanted, got, place: place.filled(wanted) == got,
    "modified_output": lambda wanted, got, place: place.filled(wanted) == got,
    "additional_context": lambda wanted, got, place: place.filled(wanted) == got,
    "messages": lambda wanted, got, place: place.filled(wanted) == got,
    "failures": lambda wanted, got, _: isinstance(got, list) and len(got) == wanted,
    "problems": _problems_fit,
}
