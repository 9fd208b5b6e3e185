"""A session of the bundled agent: its turns, context and background tasks."""

from __future__ import annotations

import asyncio
import os
import time
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.usage import UsageLimits

from ..adapters.pydantic_ai import HooksCapability, tell
from ..basics.display_text import with_stderr
from ..basics.model_script import ScriptError
from ..engine.sessions import Session, fresh_id
from . import compaction, models, session_files, session_record
from .background import BackgroundRuns
from .overview import Tally
from .subagents import Tasks
from .tools import Tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

    from ..approvals.gate import MoreRules, Surface
    from ..approvals.requests import Answer, Request
    from ..engine.engine import Engine
    from ..model import Event, Verdict
    from .screen import Screen
    from .settings import AgentSettings

_HEARTBEAT = 60.0  # seconds
_POLL = 0.3  # seconds between checks for asynchronous hooks that have ended
LAST_ENDS = 0.5  # seconds that the end of a session waits for asynchronous hooks
_LAST_POLL = 0.02  # seconds between checks meanwhile
_RETRIES = 1000  # of wrong calls; the steps of a turn are limited anyway
_INSTRUCTIONS = """\
You are a coding agent in a user's terminal. You work in {work_dir} with the tools you are given.
Do what is asked, check that it works, and report briefly what you did. A refused call was refused by the user or by
one of their hooks: take the reason seriously and find another way; never retry the same thing in disguise."""


class SessionEnded(NamedTuple):
    """How a turn ended."""

    outcome: str  # success, refused, failed, interrupted
    answer: str = ""
    reason: str | None = None
    exit_reason: str = "user_exit"  # of a session that ends with it


class Conversation:
    """One session. `begin` first, `finish` last."""

    def __init__(
        self,
        engine: Engine,
        model: Model,
        settings: AgentSettings,
        screen: Screen,
        *,
        work_dir: str,
        surfaces: Sequence[Surface] = (),
        more_rules: MoreRules | None = None,
        recorded: Callable[[], None] = lambda: None,
        resume: str | None = None,
        places: Mapping[str, str] | None = None,
    ) -> None:
        """`recorded` is called when the journal may have grown; `places`: where each hooks file is in force."""
        self.places = places or {}
        self.engine = engine
        self.model = model
        self.settings = settings
        self.screen = screen
        self.work_dir = work_dir
        self._recorded = recorded
        self.id = resume or fresh_id()
        entries = session_files.read(resume) if resume else []
        self.resumed = session_files.summary(self.id, work_dir, time.time(), entries) if resume else None
        self.history: list[ModelMessage] = session_record.history(entries)
        self._lost = list(session_record.lost_tasks(entries))
        self._unheard = session_record.unsent_texts(entries, "notification")
        self._source = "resume" if resume else "startup"
        self.record = session_record.SessionRecord(self.id, screen.note)
        self.record.follows(self.history)
        self.tally = Tally()
        self._background = BackgroundRuns(self.id)
        self._watch: asyncio.Task[None] | None = None
        self.hooks = HooksCapability(
            engine,
            session_id=self.id,
            work_dir=work_dir,
            mode=settings.mode,
            rules=settings.rules,
            more_rules=more_rules,
            surfaces=surfaces,
            answered=self._answered,
            max_steps=settings.max_steps,
            tools=settings.tools,
            told=self._on_verdict,
            say=screen.note,
            keep=lambda text: self._record_text("hook_result", text),
            kept_waiting=lambda text: self._record_text("context", text),
        )
        self.hooks.waiting += session_record.unsent_texts(entries, "context")
        self.gate = self.hooks.gate
        self.tools = Tools(work_dir, lambda: engine.session_variables(self.id))
        self.tasks = Tasks(self, max(map(session_record.task_number, entries), default=0))
        self._recording = _Recording(self)
        task_tool = Tool(self.tasks.task, name="Task", takes_ctx=True)
        self._agent = Agent(
            model,
            instructions=_INSTRUCTIONS.format(work_dir=work_dir),
            tools=[*self.tools.all(), task_tool],
            capabilities=[self.hooks, self._recording],
            retries=_RETRIES,
        )
        self.usage = {"input_tokens": 0, "output_tokens": 0}
        self.steps = 0
        self._began = time.monotonic()
        self._heartbeat: asyncio.Task[None] | None = None
        self.notifications: list[str] = []  # not sent to the model yet
        self.on_notification: Callable[[], None] = lambda: None

    async def begin(self, ui: str = "shell") -> Verdict:
        """Start the session; if denied, it must not continue. `ui`: `shell` (interactive) or `print` (one prompt)."""
        Session(self.id).fix_root(self.engine.catalog.root if self.engine.catalog else self.work_dir)
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        about = {"session_id": self.id, "work_dir": self.work_dir, "model": self.model.model_id}
        self.record.write(
            "session", schema=session_record.SCHEMA, **about, mode=self.gate.mode, source=self._source, started=started
        )
        verdict = await self.hooks.begin(
            source=self._source, model=self.model.model_id, args={"ui": ui, "agent": "default"}
        )
        if verdict.denied:
            return verdict
        if any(hook.event == "session-heartbeat" for hook in self.engine.hooks):
            self._heartbeat = asyncio.create_task(self._beat())
        self.notifications += self._unheard
        for task in self._lost:
            await self.tasks.lost(task)
        return verdict

    async def turn(self, prompt: str, *, origin: str = "user") -> SessionEnded:
        """Run the agent with a prompt until it stops. The history stays valid if it is cancelled."""
        self.screen.begin_turn()
        self.hooks.origin = origin
        self.record.write("turn", origin=origin, prompt=prompt)
        self._recording.messages = self.history
        limits = UsageLimits(request_limit=None)
        try:
            result = await self._agent.run(
                prompt, message_history=self.history, event_stream_handler=self.screen.events, usage_limits=limits
            )
        except asyncio.CancelledError:
            await asyncio.shield(self._interrupted())
            raise
        except Exception as error:  # noqa: BLE001  # a model, its server, a tool: the session goes on
            self._settle()
            reason = str(error) if isinstance(error, ScriptError) else f"{type(error).__name__}: {error}"
            return SessionEnded("failed", reason=reason, exit_reason="failed")
        turn = self.hooks.turn
        if turn.refusal is not None:
            self.record.write("refused", prompt=prompt, reason=turn.refusal)
            return SessionEnded("refused", turn.refusal, turn.refusal, "refused")
        self._settle()
        if turn.stop_reason == "tool_rejected":
            return SessionEnded("refused", str(result.output), str(result.output), turn.stop_reason)
        if turn.stop_reason == "max_steps":
            return SessionEnded("failed", reason=str(result.output), exit_reason=turn.stop_reason)
        return SessionEnded("success", str(result.output))

    async def compact(self, trigger: str = "manual") -> bool:
        """Replace the history with a summary. Return False if there is none, a hook blocks, or the model fails."""
        compacted = await compaction.compact(self, self.history, trigger)
        if compacted is not None:
            self.history = compacted
        return compacted is not None

    async def finish(self, exit_reason: str = "user_exit", *, awaits_background: bool = False) -> None:
        """End the session: background tasks, the record, hooks. `awaits_background`: wait briefly for async hooks."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        await self.tasks.kill()
        self.record.write("end", reason=exit_reason)
        self.record.close()
        took = time.monotonic() - self._began
        about = {"duration_seconds": round(took, 3), "total_steps": self.steps, "exit_reason": exit_reason}
        await self.hooks.end(reason="exit", **about)
        if self._watch is not None:
            self._watch.cancel()
        self.show_background()
        self.record.close()  # with what the last hooks did
        if awaits_background:
            await self._await_background()

    async def notify(self, kind: str, title: str, body: str, source_id: str, *, severity: str = "info") -> None:
        """Notify hooks of a background event, and the model with its next request."""
        about = {"title": title, "body": body, "severity": severity, "source_kind": "task", "source_id": source_id}
        shown = body.replace("</notification>", "&lt;/notification>")
        text = f'<notification type="{kind}" source="{source_id}" title="{escape(title)}">{shown}</notification>'
        self.record.write("notification", text=text)
        await self.hooks.fire("notification", sink="context", notification_type=kind, **about)
        self.screen.note(f"{kind}: {title}")
        self.notifications.append(text)
        self.on_notification()

    def take_notifications(self) -> list[str]:
        """Return and clear the notifications for the model."""
        taken = list(self.notifications)
        self.notifications.clear()
        return taken

    def count(self, usage: Any) -> None:
        """Add the usage of a request or of a subagent."""
        self.usage["input_tokens"] += usage.input_tokens
        self.usage["output_tokens"] += usage.output_tokens

    def _settle(self) -> None:
        """Take over the messages and steps of the run."""
        self.history = session_record.repaired(self._recording.messages)
        self.record.write_new(self.history)
        self.steps += self.hooks.turn.steps

    async def _interrupted(self) -> None:
        self._settle()
        await self.hooks.fire("interrupt", reason="user")

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(float(os.environ.get("TENTERHOOK_HEARTBEAT", _HEARTBEAT)))
            await self.hooks.fire("session-heartbeat", uptime_ms=round((time.monotonic() - self._began) * 1000))

    def show_background(self) -> None:
        """Count and show asynchronous hooks that have ended."""
        for ended in self._background.ended():
            self.tally.add_ended(ended)
            self.screen.background(ended)
            took, success = ended["duration_ms"], ended["outcome"] == "ok"
            self.engine.say_debug(f"[ASYNC] Completed hook '{ended['hook']}' in {took:.0f}ms: success={success}")
            if not success:
                self.engine.say_debug(f"Reason: {with_stderr(str(ended['why']), ended['stderr'] or '')}")

    async def _await_background(self) -> None:
        """Wait briefly for asynchronous hooks and show how they end, and how many still run."""
        until = time.monotonic() + LAST_ENDS
        while self._background.is_running and time.monotonic() < until:
            await asyncio.sleep(_LAST_POLL)
            self.show_background()
        if running := self._background.running:
            still = "1 asynchronous hook is" if running == 1 else f"{running} asynchronous hooks are"
            ends = "it ends" if running == 1 else "they end"
            self.screen.note(f"{still} still running; tenterhook log shows how {ends}")

    async def _watch_background(self) -> None:
        while self._background.is_running:
            await asyncio.sleep(_POLL)
            self.show_background()

    def _on_verdict(self, event: Event, verdict: Verdict) -> None:
        self.tally.add(verdict)
        self._background.add(verdict)
        if self._background.is_running and (self._watch is None or self._watch.done()):
            self._watch = asyncio.create_task(self._watch_background())
        if verdict.runs:
            whole = verdict.as_json()
            kept = {key: whole[key] for key in ("decision", "reason", "modified_input", "modified_output", "runs")}
            self.record.write("hooks", event=event.canonical, **kept)
            self._recorded()
        self.screen.verdict(event, verdict)

    def _answered(self, request: Request, answer: Answer | None, took: float) -> None:
        decision = "cancelled" if answer is None else "approved" if answer.approved else "rejected"
        by = {"answered_by": "nobody", "scope": "once"}
        if answer is not None:
            by = {"answered_by": answer.by, "scope": answer.scope, "reason": answer.reason or ""}
        call = request.call
        asked = {"id": request.id, "tool_name": call.tool_name, "tool_input": call.tool_input}
        self.record.write("permission", **asked, decision=decision, **by, duration_ms=round(took))
        self._recorded()
        if answer is not None:
            self.screen.answered(request, answer)

    def _record_text(self, kind: str, text: str) -> None:
        self.record.write(kind, text=text)


class _Recording(AbstractCapability[Any]):
    """Records each message before the model gets it, compacts the context, and adds notifications."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self.messages: list[ModelMessage] = []

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        conversation = self._conversation
        self.messages = ctx.messages
        conversation.record.write_new(ctx.messages)
        if compaction.tokens(ctx.messages) > conversation.settings.compact_above:
            compacted = await compaction.compact(conversation, ctx.messages, "auto", keep_last=True)
            if compacted is not None:
                ctx.messages[:] = compacted
                request_context.messages = list(compacted)
        tell(ctx, request_context, [*conversation.hooks.take_waiting(), *conversation.take_notifications()])
        conversation.record.write_new(ctx.messages)
        return request_context

    async def after_node_run(self, ctx: RunContext[Any], *, node: Any, result: Any) -> Any:
        self.messages = ctx.messages
        self._conversation.record.write_new(ctx.messages)
        return result

    async def after_model_request(self, ctx: RunContext[Any], *, request_context: Any, response: Any) -> Any:
        self._conversation.count(response.usage)
        return response


def subagent(conversation: Conversation, hooks: HooksCapability, name: str) -> Agent[Any, str]:
    """Return a subagent, with the session's tools but without `Task`."""
    return Agent(
        models.for_speaker(conversation.model, name),
        instructions=_INSTRUCTIONS.format(work_dir=conversation.work_dir),
        tools=conversation.tools.all(),
        capabilities=[hooks],
        retries=_RETRIES,
    )
