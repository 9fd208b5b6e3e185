"""Session files: listing them, and summaries of their content.

It does not import pydantic-ai, so that listing and shell completion are quick.
"""

from __future__ import annotations

import json
import os
import re
import time
from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import places
from ..basics.display_text import one_line
from ..errors import HookError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ENDING = ".jsonl"
_PREFIX = "session_"  # of ids
_HEX = re.compile(r"(\w*_)?[0-9a-f]{8,}", re.IGNORECASE)  # of a word that looks like an id
_CLOSE = 0.65  # similarity of an id's digits, as difflib computes it
_SHOWN = 3  # exchanges, of a session that is resumed
_TYPE = b'{"type": "'  # how a line begins
_SAID = (b'{"type": "turn"', b'{"type": "message"')  # lines that a summary is made of
# Beginnings of user messages that are not prompts of the user.
_NOT_PROMPTS = ("<hook_context ", "<notification ", "<summary>", "[Hook blocked stop: ")


class Exchange(NamedTuple):
    """A prompt, the number of calls, and the answer."""

    prompt: str
    calls: int = 0
    answer: str = ""


class SavedSession(NamedTuple):
    """A session that can be resumed."""

    session_id: str
    work_dir: str
    last_used: float  # seconds since 1970
    messages: int
    exchanges: tuple[Exchange, ...]

    @property
    def first_prompt(self) -> str:
        return self.exchanges[0].prompt if self.exchanges else ""

    @property
    def last_prompt(self) -> str:
        return self.exchanges[-1].prompt if self.exchanges else ""

    def as_json(self) -> dict[str, Any]:
        last_used = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.last_used))
        prompts = {"first_prompt": self.first_prompt, "last_prompt": self.last_prompt}
        where = {"session_id": self.session_id, "work_dir": self.work_dir, "last_used": last_used}
        return {**where, "messages": self.messages, "prompts": len(self.exchanges), **prompts}


def directory() -> str:
    return os.path.join(places.state(), "agent")


def path_of(session_id: str) -> str:
    return os.path.join(directory(), f"{places.file_name(session_id)}{_ENDING}")


def existing(given: str) -> str | None:
    """Return the id of an existing session, given with or without its prefix; None if there is none."""
    return next((each for each in (given, _PREFIX + given) if os.path.isfile(path_of(each))), None)


def is_like_an_id(given: str) -> bool:
    """Return whether a word looks like a session id rather than a prompt, even if no such session exists."""
    if not given or re.search(r"\s", given):
        return False
    is_id = given.lower().startswith(_PREFIX.rstrip("_")) or _HEX.fullmatch(given) is not None
    return is_id or _closest(given) is not None


def missing(given: str, why: str = "") -> HookError:
    """Return the error for an unknown session id."""
    close = _closest(given)
    meant = f"did you mean {close}? " if close else ""
    return HookError(f"no session {given}{why}", f"{meant}to list those of this directory: tenterhook agent --sessions")


def _closest(given: str) -> str | None:
    """Return the session id with the most similar digits, or None."""
    names = os.listdir(directory()) if os.path.isdir(directory()) else ()
    ids = {_digits(name.removesuffix(_ENDING)): name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)}
    close = get_close_matches(_digits(given), ids, n=1, cutoff=_CLOSE)
    return ids[close[0]] if close else None


def _digits(session_id: str) -> str:
    return session_id.rpartition("_")[2].lower()


def read(session_id: str) -> list[dict[str, Any]]:
    """Return the entries of a session, without incomplete lines. Raises `HookError` if there are none."""
    path = path_of(session_id)
    try:
        found = list(_entries(path))
    except OSError as error:
        raise missing(session_id, f": {error.strerror}: {path}") from None
    if not found:
        raise HookError(f"{path} contains no session", "start a new one: tenterhook agent")
    return found


def _entries(path: str, *, said_only: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the entries of a file; with `said_only` only turns and messages."""
    with open(path, "rb") as file:
        for line in file:
            if said_only and line.startswith(_TYPE) and not line.startswith(_SAID):
                continue  # not parsed: it may be long
            if (entry := _entry(line)) is not None:
                yield entry


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("type"), str) else None


def newest(work_dir: str, *, but: str | None = None) -> str | None:
    """Return the session of a directory that was used last, other than `but`; None if there is none."""
    return next((session_id for session_id, _, _ in _of_directory(work_dir) if session_id != but), None)


def sessions(work_dir: str) -> list[SavedSession]:
    """Return the sessions of a directory, the last used first."""
    found = []
    for session_id, path, last_used in _of_directory(work_dir):
        try:
            found.append(summary(session_id, work_dir, last_used, list(_entries(path, said_only=True))))
        except OSError:  # deleted meanwhile
            continue
    return found


def first_prompts(work_dir: str) -> dict[str, str]:
    """Return the first prompt of each session of a directory, the last used first. Reads no file further than that."""
    found = {}
    for session_id, path, _ in _of_directory(work_dir):
        try:
            prompts = (text for _, texts in _with_prompts(_entries(path, said_only=True)) for text in texts)
            found[session_id] = next(prompts, "")
        except OSError:  # deleted meanwhile
            continue
    return found


def _of_directory(work_dir: str) -> Iterator[tuple[str, str, float]]:
    """Yield id, path and time of each session of a directory, the last used first."""
    found: list[tuple[float, str]] = []
    for name in os.listdir(directory()) if os.path.isdir(directory()) else ():
        path = os.path.join(directory(), name)
        try:
            if name.endswith(_ENDING) and os.path.isfile(path):
                found.append((os.path.getmtime(path), path))
        except OSError:  # deleted meanwhile
            continue
    for last_used, path in sorted(found, reverse=True):
        try:
            with open(path, "rb") as file:
                first = _entry(file.readline())
        except OSError:
            continue
        if first is not None and first["type"] == "session" and first.get("work_dir") == work_dir:
            yield str(first.get("session_id")), path, last_used


def summary(session_id: str, work_dir: str, last_used: float, entries: Sequence[dict[str, Any]]) -> SavedSession:
    """Return the summary of a session. Adjacent requests count as one message."""
    messages = (entry.get("message") for entry in entries if entry["type"] == "message")
    kinds = [message.get("kind") for message in messages if isinstance(message, dict)]
    count = sum(kind == "response" or before == "response" for before, kind in pairwise(["response", *kinds]))
    return SavedSession(session_id, work_dir, last_used, count, tuple(_exchanges(entries)))


def _exchanges(entries: Iterable[dict[str, Any]]) -> list[Exchange]:
    """Return the prompts with their answers, in order."""
    found: list[Exchange] = []
    for entry, prompts in _with_prompts(entries):
        found += [Exchange(text) for text in prompts]
        message = _message(entry)
        if message.get("kind") == "response" and found:
            calls, said = _response(message)
            last = found[-1]
            found[-1] = last._replace(calls=last.calls + calls, answer=said or last.answer)
    return found


def _with_prompts(entries: Iterable[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield each entry with its prompts. Files of older versions have no `turn` entries."""
    has_turns = False
    for entry in entries:
        prompts: list[str] = []
        if entry["type"] == "turn":
            has_turns = True
            if entry.get("origin") == "user":
                prompts = [str(entry.get("prompt"))]
        elif not has_turns and (message := _message(entry)).get("kind") == "request":
            prompts = _prompts(message)
        yield entry, prompts


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the message of an entry; empty if it has none."""
    message = entry.get("message") if entry["type"] == "message" else None
    return message if isinstance(message, dict) else {}


def _parts(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    parts = message.get("parts")
    return [part for part in parts or () if isinstance(part, dict) and part.get("part_kind") == kind]


def _response(message: dict[str, Any]) -> tuple[int, str]:
    """Return the number of calls and the text of a response."""
    said = "\n".join(str(part.get("content") or "") for part in _parts(message, "text"))
    return len(_parts(message, "tool-call")), said.strip()


def _prompts(message: dict[str, Any]) -> list[str]:
    """Return the prompts of the user in a request."""
    texts = [part.get("content") for part in _parts(message, "user-prompt")]
    return [text for text in texts if isinstance(text, str) and not text.startswith(_NOT_PROMPTS)]


# For display


def table(saved: Sequence[SavedSession], width: int | None) -> list[str]:
    """Return a heading and a line for each session, with as much of its first prompt as fits into `width` columns."""
    from ..basics.terminal_layout import table_lines

    rows = []
    for each in saved:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.last_used))
        rows.append((when, str(each.messages), each.session_id, _first_line(each.first_prompt)))
    lines = table_lines(("last used", "messages", "session", "first prompt"), rows, None)
    return lines if width is None else [_fitted(line, width) for line in lines]


def resumed(saved: SavedSession, width: int) -> list[str]:
    """Return the headline and the last exchanges of a session that is resumed."""
    lines = [headline(saved, width)]
    for exchange in saved.exchanges[-_SHOWN:]:
        lines.append(f"  › {_first_line(exchange.prompt)}")
        if exchange.calls:
            lines.append(f"    ▸ {exchange.calls} {'call' if exchange.calls == 1 else 'calls'}")
        if exchange.answer:
            lines.append(f"    {_first_line(exchange.answer)}")
    if len(saved.exchanges) > _SHOWN:
        lines.insert(1, f"  … {len(saved.exchanges) - _SHOWN} earlier")
    return [_fitted(line, width) for line in lines]


def headline(saved: SavedSession, width: int) -> str:
    count = f"{saved.messages} {'message' if saved.messages == 1 else 'messages'}"
    prompt = f", last prompt: {_first_line(saved.last_prompt)}" if saved.exchanges else ""
    return _fitted(f"resumed {one_line(saved.session_id)}: {count}{prompt}", width)


def _fitted(line: str, width: int) -> str:
    from ..basics.terminal_layout import shortened  # not needed to complete a session's name

    return shortened(line, width)


def _first_line(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return one_line(first) + (" …" if rest else "")
