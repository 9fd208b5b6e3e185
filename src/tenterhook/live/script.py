"""What a scripted model says, turn by turn, and to which request."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from ..basics.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_AT_THE_END = "The script is used up."
_WITHOUT_TOOLS = "<summary>A short summary.</summary>"


class Call(NamedTuple):
    """A tool call, by the name and with the input that the agent's own model would use."""

    tool: str
    input: dict[str, Any] | str
    custom: bool = False  # a freeform tool of the responses protocol: its input is text
    namespace: str | None = None  # of the responses protocol


class Turn(NamedTuple):
    """One answer of the model; `status` makes it an HTTP error with `text` as its message."""

    text: str | None = None
    calls: tuple[Call, ...] = ()
    status: int | None = None
    when: str | None = None  # only to a request that mentions this
    unless: str | None = None  # not to a request that mentions this
    sticky: bool = False  # given as often as it is asked for
    delay: float = 0  # seconds before it is given
    before: Callable[[], object] | None = None  # called then, and given when it returns
    tokens: int = 100  # how long it says the conversation is; many make an agent compact it
    aux: bool = False  # for a request without tools: a title, a summary
    last: bool = False  # held back until all others have been given: an agent that ends takes its subagents along


class Issued(NamedTuple):
    """A call as it was handed out, under its own id."""

    id: str
    call: Call


class Completion(NamedTuple):
    """A turn on its way to one request. `turn` is None where the script had none."""

    turn: Turn | None
    text: str | None
    calls: tuple[Issued, ...]
    tokens: int


class Script:
    """The turns not given yet. Threads may take from it at the same time."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._left = list(turns)
        self._issued = 0
        self._lock = threading.Lock()

    def take(self, body: Any, *, has_tools: bool) -> Completion:
        """The first turn that suits the request, or a closing text."""
        with self._lock:
            for number, turn in enumerate(self._left):
                if _suits(turn, body, has_tools):
                    if not turn.sticky:
                        del self._left[number]
                    return Completion(turn, turn.text, tuple(map(self._issue, turn.calls)), turn.tokens)
        return Completion(None, _AT_THE_END if has_tools else _WITHOUT_TOOLS, (), 100)

    @property
    def is_used_up(self) -> bool:
        return not self._left

    def _issue(self, call: Call) -> Issued:
        self._issued += 1
        return Issued(f"call_{self._issued}", call)


def _suits(turn: Turn, body: Any, has_tools: bool) -> bool:
    if turn.aux == has_tools:
        return False
    if turn.when is not None and not mentions(body, turn.when):
        return False
    return turn.unless is None or not mentions(body, turn.unless)


def mentions(body: Any, text: str) -> bool:
    """Whether a text occurs anywhere in a request, also inside JSON that is itself a string there."""
    whole = json.dumps(body, ensure_ascii=False)
    plain = _quoted(text)
    return any(form in whole for form in (plain, _quoted(plain), _quoted(json.dumps(text)[1:-1])))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
