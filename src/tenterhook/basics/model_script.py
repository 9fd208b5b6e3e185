"""The script of a model: its turns, written in Python or read from a YAML file.

`bundled_agent.scripted` serves it to the bundled agent, `doctor.live.model` over HTTP to any other.
"""

from __future__ import annotations

import json
import os
import re
import threading
from typing import TYPE_CHECKING, Any

from ..errors import HookError
from .named_tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

AGENT, SUMMARY = "agent", "summary"  # speakers; the others are subagents, by their names
ANSWER_KEYS = {"text", "calls", "tokens", "delay", "expect", "error"}
CALL_KEYS = {"tool", "input", "id"}


class ScriptError(Exception):
    """The script cannot continue: no turn is left, or the request is not the expected one."""


class ScriptedCall(NamedTuple):
    """A tool call, by the name and with the input that the agent's own model would use."""

    tool: str
    input: dict[str, Any] | str
    custom: bool = False  # a freeform tool of the Responses API, whose input is text
    namespace: str | None = None  # in the Responses API
    id: str | None = None  # None: generated


class Turn(NamedTuple):
    """One answer of the model; `status` makes it an HTTP error with `text` as its message."""

    text: str | None = None
    calls: tuple[ScriptedCall, ...] = ()
    status: int | None = None
    when: str | None = None  # only for requests that mention this
    unless: str | None = None  # not for requests that mention this
    sticky: bool = False  # used for all such requests, not only once
    delay: float = 0  # seconds before it is given
    before: Callable[[], object] | None = None  # called before the turn is given
    tokens: int = 100  # the reported length of the conversation; a high number makes an agent compact it
    output_tokens: int = 10
    speaker: str = AGENT  # SUMMARY: for requests without tools, such as for a title
    last: bool = False  # only after all others: subagents end with their agent
    expect: str | None = None  # an expression that must be found in the request


# The answers of the HTTP model when the script has no turn left.
CLOSING = {AGENT: Turn("The script is used up."), SUMMARY: Turn("<summary>A short summary.</summary>")}


class ModelScript:
    """The turns of a script that are left. Safe to use from several threads."""

    def __init__(self, turns: Iterable[Turn], name: str = "the script", log: str | None = None) -> None:
        """`log` is a file to which requests are written."""
        self.name = name
        self._left = list(turns)
        self._log = log
        self._given: dict[str, int] = {}
        self._lock = threading.Lock()

    @classmethod
    def load(cls, path: str) -> ModelScript:
        """Return the script in a YAML file. Raises `HookError` if any part of it is not valid."""
        import yaml

        try:
            with open(path, encoding="utf-8") as file:
                found = yaml.safe_load(file)
        except OSError as error:
            raise HookError(f"{error.strerror}: {path}", "scripted:FILE names a YAML script of answers") from None
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise HookError(f"{path} is not YAML: {' '.join(str(error).split())}", "see docs/agent.md") from None
        turns = _turns(found, path)
        log = found.get("log")
        return cls(turns, path, None if log is None else os.path.join(os.path.dirname(path), str(log)))

    def take(self, speaker: str, body: Any) -> Turn | None:
        """Return the first turn that is left for a request to a speaker, and remove it unless it is sticky; or None."""
        with self._lock:
            for number, turn in enumerate(self._left):
                if turn.speaker == speaker and _suits(turn, body):
                    self._given[speaker] = self._given.get(speaker, 0) + 1
                    return turn if turn.sticky else self._left.pop(number)
        return None

    def used_up(self, speaker: str) -> ScriptError:
        """Return the error for a speaker that has no turn left."""
        return ScriptError(f"{self.name} has no answer left for {speaker}: {self._given.get(speaker, 0)} were given")

    def check_expected(self, turn: Turn, sent: str) -> None:
        """Raise `ScriptError` if a request is not the one that a turn expects."""
        if turn.expect is not None and not re.search(turn.expect, sent):
            raise ScriptError(f"{self.name} expects {turn.expect!r} in what the model is sent, which is: {sent}")

    @property
    def is_used_up(self) -> bool:
        return not self._left

    def log(self, request: Mapping[str, Any]) -> None:
        """Write a request to the script's log, if it has one."""
        if self._log is not None:
            with open(self._log, "a", encoding="utf-8") as file:
                file.write(json.dumps(request) + "\n")


def _suits(turn: Turn, body: Any) -> bool:
    if turn.when is not None and not mentions(body, turn.when):
        return False
    return turn.unless is None or not mentions(body, turn.unless)


def mentions(body: Any, text: str) -> bool:
    """Whether a text occurs anywhere in a request, including in strings that are JSON themselves."""
    whole = json.dumps(body, ensure_ascii=False)
    plain = _quoted(text)
    return any(form in whole for form in (plain, _quoted(plain), _quoted(json.dumps(text)[1:-1])))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _turns(found: Any, path: str) -> list[Turn]:
    """Return the turns in a file's content, by speaker. Raises `HookError` if any part is not valid."""
    if not isinstance(found, dict) or not set(found) <= {"answers", "tasks", "summaries", "log"}:
        raise HookError(f"{path} is no script", "its keys are answers, tasks, summaries and log; see docs/agent.md")
    tasks = found.get("tasks") or {}
    if not isinstance(tasks, dict):
        raise HookError(f"{path}: tasks is not a table", "write a list of answers below each subagent's name")
    lists = {AGENT: found.get("answers"), SUMMARY: found.get("summaries"), **tasks}
    checked = {str(who): _checked(each, f"{path}: {who}") for who, each in lists.items() if each is not None}
    return [turn_of(answer, who) for who, answers in checked.items() for answer in answers]


def turn_of(answer: Mapping[str, Any], speaker: str) -> Turn:
    """Return the turn for an answer in a file."""
    error, tokens = answer.get("error"), answer.get("tokens", {})
    text = answer.get("text") if error is None else error.get("message", "error")
    calls = (ScriptedCall(each["tool"], each.get("input", {}), id=each.get("id")) for each in answer.get("calls", ()))
    return Turn(
        text=None if text is None else str(text),
        calls=tuple(calls),
        status=None if error is None else error.get("status", 500),
        delay=answer.get("delay", 0),
        tokens=int(tokens.get("input", 0)),
        output_tokens=int(tokens.get("output", 0)),
        speaker=speaker,
        expect=None if answer.get("expect") is None else str(answer["expect"]),
    )


def _checked(found: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(found, list):
        raise HookError(f"{where}: not a list of answers", "begin each answer with a hyphen")
    for number, answer in enumerate(found, 1):
        if not isinstance(answer, dict) or not set(answer) <= ANSWER_KEYS:
            raise HookError(f"{where}: answer {number} is not valid", f"its keys are {', '.join(sorted(ANSWER_KEYS))}")
        for key, (is_right, form) in _FORMS.items():
            if key in answer and not is_right(answer[key]):
                raise HookError(f"{where}: {key} of answer {number} is {answer[key]!r}", f"write it as {form}")
    return found


def _is_call(value: Any) -> bool:
    if not isinstance(value, dict) or not set(value) <= CALL_KEYS:
        return False
    return isinstance(value.get("tool"), str) and isinstance(value.get("input", {}), dict)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _is_expression(value: Any) -> bool:
    try:
        re.compile(str(value))
    except re.error:
        return False
    return True


# For each part of an answer, a check and an example.
_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "calls": (
        lambda value: isinstance(value, list) and all(map(_is_call, value)),
        "[{tool: Shell, input: {command: ls}}]",
    ),
    "tokens": (
        lambda value: (
            isinstance(value, dict) and set(value) <= {"input", "output"} and all(map(_is_number, value.values()))
        ),
        "{input: 1200, output: 30}",
    ),
    "delay": (_is_number, "seconds: 0.5"),
    "expect": (_is_expression, "a regular expression"),
    "error": (
        lambda value: (
            isinstance(value, dict)
            and set(value) <= {"status", "message"}
            and isinstance(value.get("status", 500), int)
        ),
        "{status: 503, message: overloaded}",
    ),
}
