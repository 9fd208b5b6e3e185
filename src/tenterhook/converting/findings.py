"""What a conversion says about itself: losses, each with its remedy, and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import jsonable

if TYPE_CHECKING:
    from ..model import Hook


class Loss(NamedTuple):
    """Something of a hook that the other format cannot say; `left_out` if the hook is not written because of it."""

    hook: str
    source: str
    line: int | None
    key: str
    value: Any
    why: str
    instead: str
    left_out: bool = False

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "value": jsonable.plain(self.value)}


class Note(NamedTuple):
    """Something worth knowing that changes nothing."""

    hook: str
    text: str


class Findings:
    """What is found out about one hook on its way."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.losses: list[Loss] = []
        self.notes: list[Note] = []

    def lose(self, key: str, value: Any, why: str, instead: str, *, left_out: bool = False) -> None:
        hook = self.hook
        self.losses.append(Loss(hook.name, hook.source, hook.line, key, value, why, instead, left_out))

    def note(self, text: str) -> None:
        self.notes.append(Note(self.hook.name, text))

    @property
    def left_out(self) -> bool:
        return any(loss.left_out for loss in self.losses)
