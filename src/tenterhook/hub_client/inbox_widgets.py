"""Widgets of the inbox's screen: a request, and the dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ..approvals import presenter
from ..basics.display_text import one_line, visible
from . import inbox_text

if TYPE_CHECKING:
    from textual.app import ComposeResult

_MAX_SHOWN = 100_000  # characters
_MARK_STYLES = {0: "", presenter.NOTABLE: "bold", presenter.DANGEROUS: "bold red"}
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
    """Asks for a message to the model."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "back")]

    def __init__(self, asked: dict[str, Any]) -> None:
        super().__init__()
        self._asked = asked

    def compose(self) -> ComposeResult:
        with Vertical(id="said"):
            yield Static(Text(f"Deny: {inbox_text.summary(self._asked)}"[:200]))
            yield Input(placeholder="a message for the model, or nothing", max_length=4000)
            yield Static(Text("Enter denies, Escape goes back", "dim"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class Help(ModalScreen[None]):
    """Explains the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "dismiss(None)", "back")]

    def compose(self) -> ComposeResult:
        yield Static(Text(_HELP), id="said")


def in_list(request: dict[str, Any]) -> Text:
    """Return a request in two lines: what, and from where."""
    who = " · ".join(one_line(str(request[key])) for key in ("agent", "machine", "work_dir") if request[key])
    text = Text(inbox_text.summary(request)[:200], no_wrap=True, overflow="ellipsis")
    return text.append(f"\n{who}", "dim")


def whole(request: dict[str, Any]) -> Text:
    """Return everything that a person must see to decide."""
    presented = inbox_text.presented(request)
    text = Text().append(f"\n{one_line(presented.title)}\n", "bold")
    shown = presented._replace(text=presented.text[:_MAX_SHOWN], marks=presented.marks[:_MAX_SHOWN])
    if presented.kind == presenter.DIFF:
        for line in presenter.text_lines(shown):
            text.append(f"{line}\n", _DIFF_STYLES.get(line[:1], ""))
    else:
        for part, mark in shown.parts():
            text.append(visible(part), _MARK_STYLES[mark])
        text.append("\n")
    if len(presented.text) > _MAX_SHOWN:
        text.append(f"… {len(presented.text) - _MAX_SHOWN} more characters, which are not shown\n", "bold red")
    for danger in presented.dangers:
        text.append(f"! {danger}\n", "bold red")
    for name, value in inbox_text.facts(request):
        text.append(f"\n{name:<8} ", "dim").append(value, "")
    return text
