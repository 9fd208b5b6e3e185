"""Parts of the inbox's screen: how a request looks in it, and what opens over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ..basics.shown import one_line
from . import wording

if TYPE_CHECKING:
    from textual.app import ComposeResult

_LONGEST_SHOWN = 100_000  # characters
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_HELP = """\
a        approve once: exactly this call
s        approve for this session: the same again runs, as long as the agent does
d        deny; with a message the model is told it and goes on, without one its turn ends
j, k     the next, the previous
Tab      to the text, where arrows and Page Up and Down move, and back
r        look again
q        leave

Whoever answers first decides. What was answered elsewhere is said here."""


class AskMessage(ModalScreen[str | None]):
    """Asks what the model should be told."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "back")]

    def __init__(self, asked: dict[str, Any]) -> None:
        super().__init__()
        self._asked = asked

    def compose(self) -> ComposeResult:
        with Vertical(id="said"):
            yield Static(Text(f"Deny: {wording.summary(self._asked)}"[:200]))
            yield Input(placeholder="a message for the model, or nothing", max_length=4000)
            yield Static(Text("Enter denies, Escape goes back", "dim"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class Help(ModalScreen[None]):
    """Says what the keys do."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "dismiss(None)", "back")]

    def compose(self) -> ComposeResult:
        yield Static(Text(_HELP), id="said")


def in_list(request: dict[str, Any]) -> Text:
    """Two lines: what, and who."""
    who = " · ".join(one_line(str(request[key])) for key in ("agent", "machine", "work_dir") if request[key])
    text = Text(wording.summary(request)[:200], no_wrap=True, overflow="ellipsis")
    return text.append(f"\n{who}", "dim")


def whole(request: dict[str, Any]) -> Text:
    """Everything that somebody who decides must see."""
    shown = wording.shown(request)
    text = Text().append(f"\n{shown.title}\n", "bold")
    body = shown.body[:_LONGEST_SHOWN]
    for line in body.split("\n"):
        text.append(f"{line}\n", _DIFF_STYLES.get(line[:1], "") if shown.kind == "diff" else "")
    if len(shown.body) > len(body):
        text.append(f"… {len(shown.body) - len(body)} more characters, which are not shown\n", "bold red")
    for danger in shown.dangers:
        text.append(f"! {danger}\n", "bold red")
    for name, value in shown.facts:
        text.append(f"\n{name:<8} ", "dim").append(value, "")
    return text
