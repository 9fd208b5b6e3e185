"""`Task`: subagents, in the foreground or in the background."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic_ai import RunContext  # noqa: TC002  # a tool's signature is read when it is made one
from pydantic_ai.exceptions import ToolFailed

if TYPE_CHECKING:
    from .conversation import Conversation


class Rejected(ToolFailed):
    """The user refused a subagent's call, which also ends the turn of the agent that waits for it."""


class Tasks:
    """The subagents of one session."""

    def __init__(self, conversation: Conversation, number: int = 0) -> None:
        """`number`: of the last task of the session."""
        self._conversation = conversation
        self._number = number
        self._running: dict[str, asyncio.Task[None]] = {}

    async def task(
        self, ctx: RunContext[Any], name: str, description: str, prompt: str, background: bool = False
    ) -> str:
        """Let a subagent do a task and report. It has your tools, but knows only what you tell it.

        Args:
            name: What kind of worker it is, such as reviewer or tester.
            description: The task in a few words.
            prompt: Everything it needs to know.
            background: Return immediately; you are notified when it is done.
        """
        self._number += 1
        task_id = f"task_{self._number}"
        self._note(task_id, name, "started", description=description, background=background)
        started = {"task_id": task_id, "kind": "subagent", "description": description, "detached": background}
        await self._conversation.hooks.fire("task-started", **started)
        if not background:
            try:
                return await self._awaited(task_id, name, description, prompt)
            except Rejected as error:
                self._conversation.hooks.turn.reject(error.message)
                raise
        work = self._in_background(task_id, name, description, prompt)
        self._running[task_id] = asyncio.create_task(work)
        return f"Started {task_id} ({name}) in the background"

    async def wait(self) -> None:
        """Wait until none is running."""
        while self._running:
            await asyncio.wait(self._running.values())

    @property
    def running(self) -> int:
        return len(self._running)

    async def kill(self) -> None:
        """Cancel those that still run."""
        left = list(self._running.values())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def lost(self, entry: dict[str, Any]) -> None:
        """Report a task of an earlier process, which has ended without a result."""
        task_id, name = str(entry.get("task_id")), str(entry.get("name"))
        self._note(task_id, name, "lost")
        body = "The process that ran it has ended."
        await self._conversation.notify(
            "task.lost", f"{name}: {entry.get('description')}", body, task_id, severity="error"
        )

    async def _awaited(self, task_id: str, name: str, description: str, prompt: str) -> str:
        try:
            answer = await self._run(task_id, name, description, prompt)
        except asyncio.CancelledError:
            self._note(task_id, name, "killed")
            raise
        except ToolFailed as error:
            self._note(task_id, name, "failed", error=str(error))
            raise
        except Exception as error:  # noqa: BLE001  # any error is reported to the caller
            self._note(task_id, name, "failed", error=str(error))
            raise ToolFailed(f"The subagent failed: {type(error).__name__}: {error}") from None
        self._note(task_id, name, "completed")
        return answer

    async def _in_background(self, task_id: str, name: str, description: str, prompt: str) -> None:
        notify = self._conversation.notify
        title = f"{name}: {description}"
        try:
            answer = await self._awaited(task_id, name, description, prompt)
        except asyncio.CancelledError:
            await asyncio.shield(notify("task.killed", title, "The session ended.", task_id, severity="warning"))
        except ToolFailed as error:
            await notify("task.failed", title, str(error), task_id, severity="error")
        else:
            await notify("task.completed", title, answer, task_id)
        finally:
            self._running.pop(task_id, None)

    async def _run(self, task_id: str, name: str, description: str, prompt: str) -> str:
        from .conversation import subagent

        conversation = self._conversation
        hooks = conversation.hooks.for_subagent(name, description, task_id)
        shown = conversation.screen.of_subagent(name)
        result = await subagent(conversation, hooks, name).run(prompt, event_stream_handler=shown)
        conversation.count(result.usage)
        if hooks.turn.stop_reason == "tool_rejected":
            raise Rejected(hooks.turn.answer)
        return result.output

    def _note(self, task_id: str, name: str, status: str, **more: Any) -> None:
        self._conversation.record.write("task", task_id=task_id, name=name, status=status, **more)
