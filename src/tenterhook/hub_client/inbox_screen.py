"""`tenterhook inbox` as a screen: open requests on the left, the chosen one on the right, answered by one key."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from ..approvals import presenter
from ..basics.display_text import one_line, visible
from ..errors import HookError
from . import inbox_client, inbox_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.events import Key

    from .inbox_client import AnswerResult, Credentials, HubEvent

_SEEN = 0.4  # seconds that a request must have been on the screen before keys answer it
_PAUSE = 0.7  # seconds without a letter after which letters are keys again: what follows one without effect is text


class InboxApp(App[None]):
    """The screen of a person at a hub."""

    TITLE = "tenterhook inbox"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #waiting { width: 40%; height: 100%; border: round $primary; }
    #chosen { width: 60%; border: round $primary; padding: 0 1; }
    #notice { height: auto; max-height: 3; padding: 0 1; }
    #said { width: 70; height: auto; border: round $primary; padding: 1 2; background: $surface; }
    ModalScreen { align: center middle; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "answer('once')", "approve"),
        Binding("s", "answer('session')", "for session"),
        Binding("d", "deny", "deny"),
        Binding("j", "move(1)", "next", show=False),
        Binding("k", "move(-1)", "previous", show=False),
        Binding("r", "reload", "reload"),
        Binding("question_mark", "help", "help"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(self, person: Credentials) -> None:
        super().__init__()
        self._person = person
        self._stream = inbox_client.EventStream(person)
        self._waiting: dict[str, dict[str, Any]] = {}
        self._ended: set[str] = set()  # an older response may still have them as open
        self._chosen: dict[str, Any] | None = None
        self._chosen_at = 0.0
        self._has_ended = False  # the chosen one
        self._sent: set[str] = set()  # requests whose answers are on their way
        self._typed = ""  # the last letter without effect
        self._typed_at = -_PAUSE  # when it was first pressed
        self._list = OptionList(id="waiting", markup=False)
        self._text = Static(id="text", markup=False)
        self._left = Static(id="left", markup=False)
        self._notice = Static(id="notice", markup=False)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self._list
            with VerticalScroll(id="chosen"):
                yield self._left
                yield self._text
        yield self._notice
        yield Footer()

    def on_mount(self) -> None:
        self._list.focus()
        self._show_chosen()
        self.set_interval(1, self._show_time_left)
        self._in_thread(self._listen)

    def on_unmount(self) -> None:
        self._stream.close()

    # ------------------------------------------------------------------ the hub

    def _listen(self) -> None:
        """Follow the hub's events, one after another: the list keeps its order."""
        for event in self._stream:
            self.call_later(self._show_event, event)
            if event.kind == inbox_client.CONNECTED:
                self._fetch(self._fetch_all)
            elif event.kind == inbox_client.REQUEST and (event.what == "open" or event.about in self._waiting):
                self._fetch(partial(self._fetch_one, event.about))

    def _in_thread(self, work: Callable[[], None]) -> None:
        """Run a function in a daemon thread, for which the end of the program does not wait."""
        threading.Thread(target=work, name="tenterhook-inbox", daemon=True).start()

    def _fetch(self, fetch: Callable[[], Callable[[], None]]) -> None:
        """Call the hub outside of the screen's thread; the function that `fetch` returns is called in it."""
        try:
            show = fetch()
        except HookError as error:
            show = partial(self._say, str(error), "red")
        self.call_later(show)

    def _fetch_one(self, request_id: str) -> Callable[[], None]:
        return partial(self._update, inbox_client.request(self._person, request_id))

    def _fetch_all(self) -> Callable[[], None]:
        return partial(self._update_all, inbox_client.requests(self._person, "open"))

    def _show_event(self, event: HubEvent) -> None:
        kind, about, what = event
        if kind == inbox_client.CONNECTED:
            self._list.border_subtitle = "live"
            self._say(f"{about} as {self._person.name}", "green")
        elif kind == inbox_client.DISCONNECTED:
            self._list.border_subtitle = "hub unavailable"
            self._say(f"hub unavailable, reconnecting: {what}", "yellow")
        elif kind == inbox_client.REQUEST and what != "open":
            self._ended.add(about)

    def action_reload(self) -> None:
        """Fetch all open requests again."""
        self._in_thread(partial(self._fetch, self._fetch_all))

    # ------------------------------------------------------------------ open requests

    def _update_all(self, found: list[dict[str, Any]]) -> None:
        now = {each["id"] for each in found}
        for request_id in [each for each in self._waiting if each not in now]:
            self._in_thread(partial(self._fetch, partial(self._fetch_one, request_id)))
        for each in found:
            self._update(each)

    def _update(self, request: dict[str, Any]) -> None:
        """Show the current state of a request."""
        request_id = str(request["id"])
        if request["state"] != "open":
            self._ended.add(request_id)
        is_known = request_id in self._waiting
        if request_id not in self._ended and not is_known:
            self._waiting[request_id] = request
            self._list.add_option(Option(in_list(request), id=request_id))
            if self._chosen is None or self._has_ended:
                self._choose(request_id)
        elif request["state"] != "open" and is_known:
            del self._waiting[request_id]
            self._end(request)
        self._list.border_title = f"{len(self._waiting)} waiting"

    def _end(self, request: dict[str, Any]) -> None:
        """Remove a request from the list; the chosen one stays on the right until another is chosen."""
        is_chosen = self._chosen is not None and self._chosen["id"] == request["id"]
        with self.prevent(OptionList.OptionHighlighted):
            self._list.remove_option(request["id"])
            self._list.highlighted = None if is_chosen or self._chosen is None else self._place()
        if is_chosen:
            self._chosen, self._has_ended = request, True
            self._show_chosen()

    def _place(self) -> int | None:
        """Return the index of the chosen request in the list."""
        ids = list(self._waiting)
        return ids.index(self._chosen["id"]) if self._chosen is not None and self._chosen["id"] in ids else None

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id in self._waiting and self._list.highlighted == event.option_index:
            self._choose(event.option_id)

    def action_move(self, steps: int) -> None:
        """Choose the next or the previous request; after the chosen one has ended, the first or the last."""
        place, most = self._place(), len(self._waiting) - 1
        if most >= 0:
            start = (-1 if steps > 0 else most + 1) if place is None else place
            self._choose(list(self._waiting)[min(max(start + steps, 0), most)])

    def _choose(self, request_id: str) -> None:
        if self._chosen is not None and self._chosen["id"] == request_id:
            return
        self._chosen, self._has_ended = self._waiting[request_id], False
        self._chosen_at = time.monotonic()
        with self.prevent(OptionList.OptionHighlighted):
            self._list.highlighted = self._place()
        self._show_chosen()
        self.query_one("#chosen").scroll_home(animate=False)

    # ------------------------------------------------------------------ the chosen one

    def _show_chosen(self) -> None:
        self._show_time_left()
        self._text.update(whole(self._chosen) if self._chosen is not None else "No open requests.")

    def _show_time_left(self) -> None:
        if self._chosen is None:
            self._left.update("")
        elif self._has_ended:
            self._left.update(Text(inbox_text.ending(self._chosen), "bold yellow"))
        else:
            self._left.update(Text(f"waits, {inbox_text.time_left(self._chosen)} left", "bold"))

    def _say(self, text: str, style: str = "") -> None:
        self._notice.update(Text(one_line(text), style))

    # ------------------------------------------------------------------ answers

    @property
    def can_answer(self) -> bool:
        """Whether an open request is chosen, has been on the screen for a moment, and no text is being typed."""
        now = time.monotonic()
        is_waiting = self._chosen is not None and not self._has_ended
        return is_waiting and now - self._chosen_at >= _SEEN and now - self._typed_at >= _PAUSE

    def _choose_open(self) -> dict[str, Any] | None:
        """Return the chosen request; if it has ended, choose the next one. None if none waits, or it was answered."""
        if self._has_ended:
            self.action_move(1)
        asked = None if self._has_ended else self._chosen
        return None if asked is None or asked["id"] in self._sent else asked

    def on_key(self, event: Key) -> None:
        """Take a letter that is not a key for a part of a text."""
        if event.is_printable and event.key not in self.active_bindings:
            self._take_for_text(event.key)

    def _take_for_text(self, key: str) -> None:
        """Remember a letter without effect; the same one again is a person who tries again."""
        now = time.monotonic()
        if key != self._typed or now - self._typed_at >= 2 * _PAUSE:
            self._typed, self._typed_at = key, now

    def action_answer(self, scope: str) -> None:
        """Approve the chosen request, if it can have been read; else the letters that follow answer nothing either."""
        can_answer, asked = self.can_answer, self._choose_open()
        if asked is not None and can_answer:
            self._answer(asked, approved=True, scope=scope)
        elif asked is not None:
            self._take_for_text(scope[0])
            self._say("the screen has just changed: check the request again, then answer", "yellow")

    def action_deny(self) -> None:
        """Ask for a message, then deny the request that was chosen before; one that cannot have been read needs one."""
        can_answer, asked = self.can_answer, self._choose_open()
        if asked is not None:

            def send(message: str | None) -> None:
                if message is not None:
                    self._answer(asked, approved=False, message=message.strip() or None)

            self.push_screen(AskMessage(asked, needs_message=not can_answer), send)

    def _answer(self, asked: dict[str, Any], **answer: Any) -> None:
        def send() -> Callable[[], None]:
            try:
                return partial(self._show_result, inbox_client.answer(self._person, asked, **answer))
            finally:
                self._sent.discard(asked["id"])

        self._sent.add(asked["id"])
        self._say("…")
        self._in_thread(partial(self._fetch, send))

    def _show_result(self, result: AnswerResult) -> None:
        said = f"{inbox_text.result_line(result)}: {inbox_text.summary(result.request)}"
        self._say(said, "green" if result.won else "yellow")
        self._update(result.request)

    def action_help(self) -> None:
        self.push_screen(Help())


_MAX_SHOWN = 100_000  # characters
_MARK_STYLES = {0: "", presenter.NOTABLE: "bold", presenter.DANGEROUS: "bold red"}
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_HELP = """\
a        approve once: exactly this call
s        approve for this session: the same call runs again for as long as the agent does
d        deny, with or without a message for the model
j, k     next, previous
Tab      move to the text (arrows, Page Up and Page Down scroll it) and back
r        reload
q        quit

The first answer counts. Answers given elsewhere are shown here."""


class AskMessage(ModalScreen[str | None]):
    """Asks for a message to the model."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "back")]

    def __init__(self, asked: dict[str, Any], *, needs_message: bool) -> None:
        super().__init__()
        self._asked = asked
        self._needs_message = needs_message

    def compose(self) -> ComposeResult:
        with Vertical(id="said"):
            yield Static(Text(f"Deny: {inbox_text.summary(self._asked)}"[:200]))
            optional = "" if self._needs_message else " (optional)"
            yield Input(placeholder=f"message for the model{optional}", max_length=4000)
            yield Static(Text("Enter denies, Escape goes back", "dim"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip() or not self._needs_message:
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
        text.append(f"… {len(presented.text) - _MAX_SHOWN} more characters not shown\n", "bold red")
    for danger in presented.dangers:
        text.append(f"! {danger}\n", "bold red")
    for name, value in inbox_text.facts(request):
        text.append(f"\n{name:<8} ", "dim").append(value, "")
    return text
