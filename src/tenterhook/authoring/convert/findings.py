"""What a conversion reports: fields that are lost, scripts to check by hand, and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...basics import light_json
from ...errors import ERROR, WARNING
from ...events import Effect

if TYPE_CHECKING:
    from ...model import Hook


class Loss(NamedTuple):
    """A part of a hook that the target format cannot express. An error if a block is, or may be, lost with it."""

    hook: str
    source: str
    line: int | None
    key: str
    value: Any
    why: str
    instead: str
    left_out: bool = False  # the hook is not written because of it
    severity: str = ERROR
    to_check: bool = False  # it depends on what the command reads and prints, which is not analysed

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "value": light_json.plain(self.value)}


class Note(NamedTuple):
    """Information about a hook that is carried completely."""

    hook: str
    text: str


class Findings:
    """The losses and notes of one hook."""

    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        self.losses: list[Loss] = []
        self.notes: list[Note] = []

    def lose(
        self,
        key: str,
        value: Any,
        why: str,
        instead: str,
        *,
        left_out: bool = False,
        weaker: bool = False,
        to_check: bool = False,
    ) -> None:
        """Add a loss; `weaker`: a hook that can block would block less."""
        hook = self.hook
        severity = ERROR if left_out or (weaker and can_block(hook)) else WARNING
        place = hook.name, hook.source, hook.line
        self.losses.append(Loss(*place, key, value, why, instead, left_out, severity, to_check))

    def note(self, text: str) -> None:
        self.notes.append(Note(self.hook.name, text))

    @property
    def left_out(self) -> bool:
        return any(loss.left_out for loss in self.losses)


def can_block(hook: Hook) -> bool:
    """Return whether the hook's decision counts in its own format."""
    return hook.spec.effect(hook.format) is Effect.DECIDES and not hook.in_background
