"""Redacts stored records: a text that the user names, or what the current rules find."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, quote_plus

from ..basics.redaction import MARK, MARKS, Redactor
from .segments import ABOUT_JOURNAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHORTEST = 4  # characters of a text to redact: shorter ones occur in too many other texts
KINDS = re.compile(r"[a-z0-9 .]{1,30}")

_MARKS = re.compile(MARKS)
# Keys of the format itself, in records and runs, whose values are never redacted.
_FORMAT = frozenset(
    (
        *("schema", "type", "time", "event", "payload", "decision", "waited_ms", "outcome", "meaning", "duration_ms"),
        *("exit_code", "shadow", "request_hash", "redacted", "prev", "hash"),
    )
)
_NAMES = frozenset(
    (
        *("by", "session_id", "event_name", "work_dir", "tool_name", "hook", "source", "request", "answered_by"),
        *("scope", "ignored"),
    )
)


class StoredRedactor(Protocol):
    """Redacts plain values."""

    kept: frozenset[str]  # keys of records and runs whose values are left as they are

    @property
    def count(self) -> int:
        """The number of texts that were replaced."""

    def redacted(self, value: Any) -> Any:
        """Return a plain value with its secrets redacted; the same object if it has none."""


class ByRules:
    """Redacts what the rules of `basics/redaction` find, except in names, as when a record is written."""

    kept = _FORMAT | _NAMES

    def __init__(self) -> None:
        self._redactor = Redactor()

    @property
    def count(self) -> int:
        return sum(self._redactor.counts.values())

    def redacted(self, value: Any) -> Any:
        return self._redactor.redacted(value)


class ByText:
    """Redacts one text in values and keys, also if it is escaped as in JSON or percent-encoded."""

    kept = _FORMAT

    def __init__(self, text: str, kind: str) -> None:
        self.count = 0
        self._kind = kind
        self._text = text
        self._expression = re.compile(f"({MARKS})|(?:{'|'.join(sorted(_forms(text), key=len, reverse=True))})")

    def redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._expression.sub(self._mark, value) if self.is_in(value) else value
        if isinstance(value, list):
            items = [self.redacted(each) for each in value]
            return value if all(one is other for one, other in zip(items, value, strict=True)) else items
        if isinstance(value, dict):
            fields = self._fields(value)
            return value if fields == value else fields
        is_it = isinstance(value, (int, float)) and not isinstance(value, bool) and json.dumps(value) == self._text
        return self._new_mark() if is_it else value

    def is_in(self, text: str) -> bool:
        """Whether a text contains the one to redact, outside of marks."""
        return any(found[1] is None for found in self._expression.finditer(text))

    def _fields(self, value: dict[str, Any]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for key, each in value.items():
            name, number = self.redacted(key), 1
            while name != key and (name in fields or name in value):
                number += 1
                name = f"{name.partition(MARK)[0]}{MARK}: {self._kind} {number}]"
            fields[name] = self.redacted(each)
        return fields

    def _mark(self, found: re.Match[str]) -> str:
        return found[0] if found[1] else self._new_mark()

    def _new_mark(self) -> str:
        self.count += 1
        return f"{MARK}: {self._kind}]"


def _forms(text: str) -> Iterator[str]:
    """Yield expressions for a text as it is, in JSON, in JSON inside JSON, and percent-encoded."""
    encoded = text.encode("utf-8", "surrogatepass")
    for percent in (quote(encoded, safe=""), quote(encoded), quote_plus(encoded)):
        yield re.sub("%[0-9A-F]{2}", lambda found: f"(?i:{found[0]})", re.escape(percent))
    for to_ascii in (True, False):
        form = text
        for _ in range(3):
            yield re.escape(form)
            form = json.dumps(form, ensure_ascii=to_ascii)[1:-1]


def redacted_record(record: dict[str, Any], redactor: StoredRedactor) -> dict[str, Any]:
    """Return a record with its secrets redacted; the same object if it has none."""
    if record.get("type") in ABOUT_JOURNAL:
        return record
    changed = {key: _redacted_field(key, value, redactor) for key, value in record.items()}
    if all(changed[key] is value for key, value in record.items()):
        return record
    if record.get("payload") == "full" and any(
        changed.get(key) is not record.get(key) for key in ("fields", "context")
    ):
        changed["payload"] = "redacted"
    return changed


def _redacted_field(key: str, value: Any, redactor: StoredRedactor) -> Any:
    if key in redactor.kept:
        return value
    if key != "runs" or not isinstance(value, list):
        return redactor.redacted(value)
    runs = [redacted_record(run, redactor) if isinstance(run, dict) else redactor.redacted(run) for run in value]
    return value if all(one is other for one, other in zip(runs, value, strict=True)) else runs


def is_redaction_of(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Whether a record equals another one, except for texts that were replaced by marks."""
    if not _have_same_format(old, new):
        return False
    runs = [each.get("runs") for each in (old, new)]
    if all(isinstance(each, list) for each in runs):
        pairs = list(zip(*runs, strict=False))
        if not all(_have_same_format(*pair) for pair in pairs if all(isinstance(each, dict) for each in pair)):
            return False
    return is_redacted(*({key: each[key] for key in each if key not in _FORMAT} for each in (old, new)))


def _have_same_format(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if any(old.get(key) != new.get(key) for key in _FORMAT - {"hash", "redacted", "payload"}):
        return False
    return old.get("payload") == new.get("payload") or (old.get("payload"), new.get("payload")) == ("full", "redacted")


def is_redacted(old: Any, new: Any) -> bool:
    """Whether a value equals another one, except for texts that were replaced by marks."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = list(zip(old.items(), new.items(), strict=False))
        return len(old) == len(new) and all(
            is_redacted(key, other) and is_redacted(value, its_value) for (key, value), (other, its_value) in pairs
        )
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(is_redacted, old, new))
    if isinstance(old, str) and isinstance(new, str):
        return old == new or _is_redacted_text(old, new)
    if isinstance(old, (int, float)) and isinstance(new, str):
        return _MARKS.fullmatch(new) is not None
    return type(old) is type(new) and bool(old == new)


def _is_redacted_text(old: str, new: str) -> bool:
    first, *pieces = _MARKS.split(new)
    if not pieces or not old.startswith(first) or not old[len(first) :].endswith(pieces[-1]):
        return False
    start, end = len(first), len(old) - len(pieces[-1])
    for piece in pieces[:-1]:
        found = old.find(piece, start, end)
        if found < 0:
            return False
        start = found + len(piece)
    return True
