"""The output of a session: the model's text, its calls, messages of hooks, answers to approval requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolReturnPart,
)

from ..approvals.presenter import present, text_lines
from ..basics.display_text import one_line, visible, with_stderr
from ..basics.terminal_layout import wrapped
from ..engine.decisions import decides
from ..model import Action

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable, Callable, Iterator, Mapping

    from pydantic_ai.tools import RunContext

    from ..approvals.presenter import Presentation
    from ..approvals.requests import Answer, Request
    from ..model import Event, Run, Verdict

    Write = Callable[[str], None]

_LONGEST = 110
_DIM, _BOLD, _RED, _YELLOW, _CYAN = "2", "1", "31", "33", "36"


class Screen:
    """Writes the model's text to `said` and everything else to `about`, line by line."""

    def __init__(
        self, said: Write, about: Write, *, colour: bool = False, width: Callable[[], int] | None = None
    ) -> None:
        """`width` returns that of the terminal, to which lines are wrapped; without it they are not."""
        self._width = width
        self._said = said
        self._about = about
        self._colour = colour
        self._line = ""
        self._refusals: set[str] = set()  # reasons shown in this turn

    def write_to(self, write: Write) -> None:
        """Write everything to a prompt's terminal from now on."""
        self._said = self._about = write

    def begin_turn(self) -> None:
        """Forget which refusals were shown: in a new turn they are shown again."""
        self._refusals.clear()

    def note(self, text: str) -> None:
        """Show a message."""
        self._print(visible(text), _DIM)

    def question(self, request: Request) -> None:
        """Show a request for an approval, and the dangers of its command."""
        presented = present(request.call, request.call.display)
        self._print(_shown(request, presented), _DIM, is_exact=True)
        for danger in presented.dangers:
            self._print(f"    ! {danger}", _RED)

    def plain(self, text: str) -> None:
        """Show a line of a table, unstyled."""
        self._end_line()
        self._about(text + "\n")

    def error(self, text: str) -> None:
        self._print(visible(text), _RED)

    async def events(self, _: RunContext[Any], events: AsyncIterable[Any]) -> None:
        """Show a run as it happens."""
        async for event in events:
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                self._text(event.part.content)
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                self._text(event.delta.content_delta)
            elif isinstance(event, PartEndEvent):
                self._end_line()
            elif isinstance(event, FunctionToolCallEvent):
                self._print(f"▸ {event.part.tool_name}  {_short(event.part.args)}", _CYAN)
            elif isinstance(event, FunctionToolResultEvent):
                self._result(event.part)

    def of_subagent(self, name: str) -> Callable[[RunContext[Any], AsyncIterable[Any]], Awaitable[None]]:
        """Return a handler that shows the calls of a subagent, and not its text, which is for the agent."""

        async def events(_: RunContext[Any], events: AsyncIterable[Any]) -> None:
            async for event in events:
                if isinstance(event, FunctionToolCallEvent):
                    self._print(f"  {one_line(name)} ▸ {event.part.tool_name}  {_short(event.part.args)}", _CYAN)

        return events

    def verdict(self, event: Event, verdict: Verdict) -> None:
        """Show messages, refusals and failures of hooks, and a modified input or output."""
        for message in verdict.messages:
            self._print(f"  {_indented(message)}", _DIM)
        for run in verdict.runs:
            self._run(run, event.canonical)
        if verdict.modified_input is not None:
            self._print(f"  ~ the input was modified: {_short(verdict.modified_input)}", _YELLOW)
        if verdict.modified_output is not None:
            self._print("  ~ the output was modified: the model sees the following", _YELLOW)

    def _run(self, run: Run, event: str) -> None:
        decision, name = run.decision, f"{run.hook.name} ({event})"
        if decision.action is Action.DENY and decision.ignored is None:
            self._refusals.add((decision.reason or "").strip())
            reason = with_stderr(decision.reason or "", run.stderr) if run.failed else decision.reason
            self._print(_indented(f"  ✗ {name}: {reason}"), _YELLOW)
        elif run.failed:
            self._print(_indented(f"  ! {name} failed: {with_stderr(run.why or '', run.stderr)}"), _RED)
        else:
            if decision.reason and decision.action in (Action.DENY, Action.ASK) and not decides(run.hook):
                self._observer(run.hook.name, run.hook.declared, decision.reason)
            if event != "pre-session":  # there, a variable may be missing for the whole session
                return
        for note in (*run.notes, *decision.notes):
            self._print(f"    {_indented(note)}", _DIM)

    def _observer(self, hook: str, event: str, reason: str) -> None:
        self._print(_indented(f"  hook {hook} ({event}) said: {reason.strip()}; it cannot decide anything here"), _DIM)

    def background(self, record: Mapping[str, Any]) -> None:
        """Show how an asynchronous hook ended, from its journal record, if it failed or gave a reason."""
        hook, event = str(record.get("hook")), str(record.get("event_name"))
        stderr = str(record.get("stderr") or "")
        if record.get("outcome") in ("failed", "timed_out"):
            why = with_stderr(str(record.get("why")), stderr)
            self._print(_indented(f"  ! {hook} ({event}, async) failed: {why}"), _RED)
        elif record.get("exit_code") == 2 and stderr.strip():
            self._observer(hook, f"{event}, async", stderr)

    def refused(self, reason: str) -> None:
        """Show why a turn or a session does not continue, unless that was shown already."""
        if not self.has_shown(reason):
            self._print(visible(reason), _YELLOW)

    def has_shown(self, reason: str) -> bool:
        """Return whether a refusal was shown in this turn."""
        return reason.strip() in self._refusals

    def answered(self, request: Request, answer: Answer) -> None:
        """Show how an approval request ended, unless the reason was already shown for a hook."""
        refusal = (answer.reason or "").strip() if not answer.approved else ""
        if answer.by == "hook" and refusal and self.has_shown(refusal):
            return
        scope = " for this session" if answer.scope == "session" else ""
        how = f"approved{scope}" if answer.approved else "refused"
        reason = f": {answer.reason}" if answer.reason else ""
        if refusal:
            self._refusals.add(refusal)
        by = f" by {answer.by}" if answer.by != "nobody" else ""
        self._print(_indented(f"  {request.call.tool_name} {how}{by}{reason}"), _YELLOW)

    def _result(self, part: Any) -> None:
        failed = not isinstance(part, ToolReturnPart) or part.outcome != "success"
        text = part.model_response_str(wrap_if_error=False) if isinstance(part, ToolReturnPart) else str(part.content)
        if failed and self.has_shown(text):
            return
        first, _, rest = visible(text).strip().partition("\n")
        left = rest.count("\n") + 1
        more = f"  (+{left} {'line' if left == 1 else 'lines'})" if rest else ""
        self._print(f"  {'✗' if failed else '·'} {first[:_LONGEST]}{more}", _RED if failed else _DIM)

    def _text(self, piece: str) -> None:
        """Write the model's text, line by line as lines become complete."""
        *whole, self._line = (self._line + visible(piece)).split("\n")
        for line in whole:
            self._said(line + "\n")

    def _end_line(self) -> None:
        if self._line:
            self._said(self._line + "\n")
            self._line = ""

    def _print(self, text: str, style: str, *, is_exact: bool = False) -> None:
        """Write a text, wrapped unless it is to be shown exactly as it is."""
        self._end_line()
        for line in text.split("\n") if is_exact or self._width is None else _wrapped(text, self._width()):
            self._about((f"\x1b[{style}m{line}\x1b[0m" if self._colour else line) + "\n")


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Yield lines that fit into a width; continuation lines are indented further."""
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        yield from wrapped(line.strip(), width, first=" " * indent, indent=indent + 2)


def _indented(text: str) -> str:
    return visible(text).replace("\n", "\n    ")


def _shown(request: Request, presented: Presentation) -> str:
    """Return what the user must see to decide about a call, with hidden characters escaped."""
    call = request.call
    path = [one_line(presented.path)] if presented.path else []
    why = [f"  because: {visible(request.why)}"] if request.why else []
    body = [f"    {line}" for line in (*path, *text_lines(presented))]
    head = one_line(f"{call.tool_name} wants to {call.action} in {call.work_dir}")
    return "\n".join((head, *body, *why))


def _short(given: Any) -> str:
    """Return an input on one line, shortened."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            pass
    if isinstance(given, dict) and given:
        first = next(iter(given.values()))
        text = first if isinstance(first, str) else json.dumps(given, ensure_ascii=False)
    else:
        text = str(given or "")
    text = one_line(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
