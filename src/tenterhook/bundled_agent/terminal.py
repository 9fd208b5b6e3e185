"""The interactive session: a prompt that stays available during turns, and questions answered by one key."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import termios
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.patch_stdout import patch_stdout

from ..approvals.requests import MODES, Answer, Request
from . import session_files
from .overview import overview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

    from .conversation import Conversation
    from .screen import Screen

_KEYS = "y once · s for this session · n no · f no, and say why"
_NOT_YET = 0.2  # seconds after a question in which keys are ignored: they were not meant for it
_HELP = """\
/hooks          every hook, what it did in this session, and how to manage them
/mode [MODE]    ask before Shell, writes and Task; auto: before Shell only; yolo: never
/compact        replace the context with a summary
/sessions       the sessions of this directory: when, how long, about what
/resume [ID]    resume another session; without an ID, the last one of this directory
/help           this list
/exit           end the session (or Ctrl-D); Ctrl-C interrupts a turn"""


class Question:
    """One question on a terminal, and the keys that answer it."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.wants_feedback = False
        self.pressed = ""
        self._asked = time.monotonic()

    @property
    def is_open(self) -> bool:
        return time.monotonic() - self._asked >= _NOT_YET and not self.answer.done()

    def press(self, key: str) -> None:
        self.pressed = key
        if key == "f":
            self.wants_feedback = True
        elif key == "n":
            self._give(Answer(False, "terminal", reason="The user refused this call", ends_turn=True))
        else:
            self._give(Answer(True, "terminal", "session" if key == "s" else "once"))

    def explain(self, feedback: str) -> None:
        self._give(Answer(False, "terminal", reason=f"The user refused this call: {feedback}"))

    def _give(self, answer: Answer) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


class Terminal:
    """A prompt on a terminal: reads lines and answers to questions."""

    def __init__(self, screen: Screen, *, prompts: bool = True) -> None:
        """Without `prompts` it only asks questions; `busy` is the task that Ctrl-C interrupts."""
        self._screen = screen
        if prompts:
            screen.write_to(self._write)
        self._question: Question | None = None
        self._one_at_a_time = asyncio.Lock()
        self._prompts = prompts
        self.busy: asyncio.Task[Any] | None = None
        words = WordCompleter(["/hooks", "/mode", "/compact", "/sessions", "/resume", "/help", "/exit"], sentence=True)
        self._session: PromptSession[str] = PromptSession(
            message=self._message, key_bindings=self._bindings(), completer=words, complete_while_typing=False
        )
        self.mode: Callable[[], str] = lambda: ""

    async def ask(self, request: Request) -> Answer | None:
        """Ask a question, answered by a single key. Return the answer."""
        async with self._one_at_a_time:
            if request.settled is not None and (answer := request.settled()) is not None:
                return answer
            self._screen.question(request)
            asked = self._question = Question(request)
            try:
                await asyncio.sleep(_NOT_YET)
                if not self._prompts:
                    return await self._answer_alone(asked)
                self._refresh()
                return await asked.answer
            finally:
                self._question = None
                self._refresh()

    async def _answer_alone(self, asked: Question) -> Answer | None:
        """Ask without a prompt, for a command that runs one turn."""
        while not asked.answer.done():
            try:
                line = await self._session.prompt_async(handle_sigint=False)  # SIGINT stays the command's
            except EOFError:
                asked.press("n")
                break
            if asked.wants_feedback and line.strip():
                asked.explain(line.strip())
        return await asked.answer

    async def line(self) -> str:
        """Return the next line; feedback to a question is not returned."""
        while True:
            try:
                line = await self._session.prompt_async(handle_sigint=False)  # we handle SIGINT, also without a prompt
            except OSError as error:  # the terminal was closed
                raise EOFError from error
            asked = self._question
            if asked is None or not asked.wants_feedback:
                return line
            if line.strip():
                asked.explain(line.strip())

    def _write(self, text: str) -> None:
        """Write above the prompt, which stays in raw mode: keys are read meanwhile."""
        app = self._session.app
        with suppress(OSError):  # a terminal that was closed: the session can still be ended
            if app.is_running:
                app.renderer.erase()
            app.output.enable_autowrap()
            app.output.write_raw(text)
            app.output.flush()
            if app.is_running and not app.renderer.waiting_for_cpr:
                app.renderer.request_absolute_cursor_position()
        self._refresh()

    def _refresh(self) -> None:
        if self._session.app.is_running:
            self._session.app.invalidate()

    def _message(self) -> ANSI:
        asked = self._question
        if asked is not None and asked.is_open:
            half_typed = not asked.wants_feedback and self._session.default_buffer.text
            keys = "first clear this line with Ctrl-C" if half_typed else _KEYS
            return ANSI("\x1b[33mwhy not? \x1b[0m" if asked.wants_feedback else f"\x1b[33mallow? {keys} \x1b[0m")
        if asked is not None and not self._prompts:  # what stays on the screen
            return ANSI(f"\x1b[33mallow? \x1b[0m{asked.pressed}")
        working = "… " if self.busy is not None else ""
        return ANSI(f"\x1b[2m{self.mode()}\x1b[0m {working}› ")

    def _bindings(self) -> KeyBindings:
        keys = KeyBindings()

        def is_asked() -> bool:
            asked = self._question
            empty = not self._session.default_buffer.text
            return asked is not None and not asked.wants_feedback and empty

        for key in ("y", "s", "n", "f"):
            keys.add(key, filter=Condition(is_asked))(self._pressed)

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            if self._question is not None and self._prompts and event.app.current_buffer.text:
                event.app.current_buffer.reset()  # so that a key can answer
            elif self.busy is not None:
                self.busy.cancel()
            elif event.app.current_buffer.text:
                event.app.current_buffer.reset()
            else:
                self._screen.note("press Ctrl-D to end the session")

        return keys

    def _pressed(self, event: KeyPressEvent) -> None:
        asked = self._question
        if asked is None or not asked.is_open:
            return  # too early to be an answer
        asked.press(event.data)
        if not self._prompts and asked.answer.done():
            event.app.exit(result="")
        event.app.invalidate()


@contextmanager
def ctrl_d_is_a_key() -> Iterator[None]:
    """Keep a Ctrl-D that is typed while no prompt reads: the next prompt gets it as a key.

    As the terminal's end of input it would be consumed at once, and nothing would end.
    """
    before = termios.tcgetattr(sys.stdin)
    changed = termios.tcgetattr(sys.stdin)
    changed[6][termios.VEOF] = os.fpathconf(sys.stdin.fileno(), "PC_VDISABLE").to_bytes()
    termios.tcsetattr(sys.stdin, termios.TCSANOW, changed)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


class Interactive:
    """Runs a turn for each line; lines typed during a turn are queued."""

    def __init__(
        self, terminal: Terminal, screen: Screen, open_session: Callable[[str | None, str], Conversation]
    ) -> None:
        """`open_session` is called with the id of a session, if one is named, and the id of the current one."""
        self._terminal = terminal
        self._screen = screen
        self._open = open_session
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue()
        self._queue_hooks: set[asyncio.Task[Any]] = set()  # hooks of `prompt-queued`; typing does not wait for them
        self._numbers = 0
        self._ending = False

    async def run(self, conversation: Conversation) -> None:
        """Run until the user ends it."""
        self._conversation = conversation
        self._terminal.mode = lambda: self._conversation.gate.mode
        self._conversation.on_notification = self._wake
        self._show_past()
        worker = asyncio.create_task(self._work())
        this = asyncio.current_task()
        assert this is not None
        for number in (signal.SIGTERM, signal.SIGHUP):  # a shutdown, a closed window: as Ctrl-D
            asyncio.get_running_loop().add_signal_handler(number, self._end, this)
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt, this)
        with patch_stdout(raw=True):
            try:
                while True:
                    line = (await self._terminal.line()).strip()
                    if line == "/exit":
                        break
                    if line:
                        await self._take(line)
            except (EOFError, KeyboardInterrupt, asyncio.CancelledError):
                while this.cancelling():
                    this.uncancel()
            self._ending = True
            for task in (worker, *self._queue_hooks):
                task.cancel()
            await asyncio.gather(worker, *self._queue_hooks, return_exceptions=True)
            try:
                await self._conversation.finish()
            except asyncio.CancelledError:  # interrupted a second time: the last hooks are ended
                this.uncancel()

    def _end(self, session: asyncio.Task[Any]) -> None:
        """End the session once: a closed terminal is both end of input and a signal, which shells send again."""
        if not self._ending:
            self._ending = True
            session.cancel()

    def _interrupt(self, session: asyncio.Task[Any]) -> None:
        """Handle Ctrl-C when no prompt reads it as a key."""
        if self._terminal.busy is not None:
            self._terminal.busy.cancel()
        elif self._ending:
            session.cancel()

    def _wake(self) -> None:
        self._waiting.put_nowait(None)

    async def _take(self, line: str) -> None:
        if line in ("/hooks", "/help", "/sessions"):  # possible during a turn
            await self._command(line)
            return
        self._waiting.put_nowait(line)
        if self._terminal.busy is not None and not line.startswith("/"):
            self._numbers += 1
            about = {"prompt_id": f"prompt_{self._numbers}", "prompt": line, "queue_length": self._waiting.qsize()}
            task = asyncio.create_task(self._conversation.hooks.fire("prompt-queued", **about))
            self._queue_hooks.add(task)
            task.add_done_callback(self._queue_hooks.discard)

    async def _work(self) -> None:
        while True:
            line = await self._waiting.get()
            work = asyncio.create_task(self._command(line) if line and line.startswith("/") else self._turn(line))
            self._terminal.busy = work
            try:
                await asyncio.wait([work])
            except asyncio.CancelledError:
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
                raise
            finally:
                self._terminal.busy = None
            if work.cancelled():
                self._screen.note("interrupted")
            elif (error := work.exception()) is not None:
                self._screen.error(f"{type(error).__name__}: {error}")

    async def _turn(self, line: str | None) -> None:
        conversation = self._conversation
        if line is None:
            if not conversation.notifications:
                return
            ended = await conversation.turn("\n".join(conversation.take_notifications()), origin="notification")
        else:
            ended = await conversation.turn(line)
        if ended.outcome == "refused":
            self._screen.refused(ended.reason or "refused")
        elif ended.outcome == "failed":
            self._screen.error(ended.reason or "failed")

    async def _command(self, line: str) -> None:
        conversation = self._conversation
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        if name == "/hooks":
            conversation.show_background()
            for each in overview(conversation.engine, conversation.tally, conversation.places, _width()):
                self._screen.plain(each)
        elif name == "/help":
            for each in _HELP.split("\n"):
                self._screen.plain(each)
        elif name == "/mode":
            if rest in MODES:
                conversation.gate.mode = rest
            wrong = f"; {rest} is not a mode" if rest and rest not in MODES else ""
            self._screen.note(f"mode: {conversation.gate.mode}{wrong}")
        elif name == "/compact":
            if not await conversation.compact():
                self._screen.note("the context was not compacted")
        elif name == "/sessions":
            self._list_sessions()
        elif name == "/resume":
            await self._resume(rest or None)
        else:
            self._screen.error(f"unknown command {name}; /help lists the commands")

    async def _resume(self, session_id: str | None) -> None:
        current = self._conversation
        if session_id is not None and current.id in (session_id, session_files.existing(session_id)):
            self._screen.note(f"this session is {current.id}")
            return
        opened = self._open(session_id, current.id)
        verdict = await opened.begin()
        if verdict.denied:  # it does not start; the current one continues
            self._screen.refused(verdict.reason or "a hook refused to start the session")
            return
        await current.finish("resumed_another")
        self._conversation = opened
        opened.on_notification = self._wake
        self._show_past()

    def _show_past(self) -> None:
        """Show the end of a session that is resumed."""
        if self._conversation.resumed is not None:
            for line in session_files.resumed(self._conversation.resumed, _width()):
                self._screen.note(line)

    def _list_sessions(self) -> None:
        found = session_files.sessions(self._conversation.work_dir)
        for line in session_files.table(found, _width()):
            self._screen.plain(line)
        self._screen.note(f"this session is {self._conversation.id}; to resume another one: /resume ID")


def _width() -> int:
    return shutil.get_terminal_size().columns
