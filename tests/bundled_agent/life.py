"""One session in which every event happens that needs no person: with a hook of each format on each of them.

Wherever a format's hooks only observe, that hook objects; nothing may come of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bundled_agent.playing import Ended, Heard, Play, block, permission, shell, task, tool

if TYPE_CHECKING:
    from pathlib import Path

FAMILIES = ("folder", "table", "array")


class Row(NamedTuple):
    """An event under the name that each format's hook gives it here, and the formats whose hooks observe it."""

    folder: str
    table: str
    array: str
    observers: tuple[str, ...]

    def declared(self, family: str) -> str:
        """The hook of one format, as tests name it."""
        return f"{family} {getattr(self, family)}"


# PROTOCOL 1's columns, where one has no name, another's is used: every name means the same event in every format
ROWS = (
    Row("pre-session", "session_start", "SessionStart", ("array",)),
    Row("post-session", "session_end", "SessionEnd", FAMILIES),
    Row("pre-agent-turn", "before_agent", "UserPromptSubmit", ()),
    Row("post-agent-turn", "after_agent", "after_agent", FAMILIES),
    Row("pre-agent-turn-stop", "before_stop", "Stop", ()),
    Row("post-agent-turn-stop", "after_stop", "after_stop", FAMILIES),
    Row("pre-tool-call", "before_tool", "PreToolUse", ()),
    Row("post-tool-call", "after_tool", "PostToolUse", ("table", "array")),
    Row("post-tool-call-failure", "after_tool_failure", "PostToolUseFailure", ("table", "array")),
    Row("permission-request", "permission-request", "PermissionRequest", ()),
    Row("permission-result", "permission-result", "PermissionResult", FAMILIES),
    Row("pre-subagent", "subagent_start", "SubagentStart", ("array",)),
    Row("post-subagent", "subagent_stop", "SubagentStop", ("array",)),
    Row("pre-context-compact", "pre_compact", "PreCompact", ("array",)),
    Row("post-context-compact", "post-context-compact", "PostCompact", FAMILIES),
    Row("notification", "notification", "Notification", FAMILIES),
    Row("turn-started", "turn-started", "TurnStarted", FAMILIES),
    Row("task-started", "task-started", "TaskStarted", FAMILIES),
)
OBSERVED = [(row.folder, family) for row in ROWS for family in row.observers]
PROMPT = "do everything there is"
ENDS = ("All is done.", "Good to know.")  # the answer, and that to a notification of the worker where it ends later
TASK_PROMPT = "look at all of it, " + "closely, " * 80  # more than array hooks are sent
FOUND = "found " + "much " * 800  # of a tool, or a subagent: the same


@dataclass
class Life:
    """The session, and what each of its hooks was sent."""

    session: Ended
    heard: dict[str, Heard]
    play: Play

    @classmethod
    def played(cls, root: Path) -> Life:
        (home, project) = (root / "home", root / "project")
        home.mkdir()
        project.mkdir()
        play = Play(root, home, project, settings={"compact_above": 50_000})
        heard = {}
        for row in ROWS:
            for family in FAMILIES:
                declared = row.declared(family)
                script = block(f"objection: {declared}") if family in row.observers else ""
                if row.array == "PermissionRequest" and family == "array":
                    script = permission("approve", scope="once")
                heard[declared] = play.hook(declared, script)
        (project / "much.txt").write_text(FOUND)
        session = play.run(
            [shell("echo made > made.txt")],
            [tool("ReadFile", file_path="much.txt")],
            [tool("ReadFile", file_path="missing.txt")],
            [task("reviewer", TASK_PROMPT)],
            [task("worker", "work", background=True)],
            {"calls": [tool("Glob", pattern="*.txt")], "tokens": {"input": 60_000, "output": 10}},
            *ENDS,
            prompt=PROMPT,
            mode="ask",
            tasks={"reviewer": [FOUND], "worker": ["worked"]},
            summaries=["They did everything."],
        )
        return cls(session, heard, play)

    def sent(self, event: str, family: str) -> list[dict[str, Any]]:
        """What the hook of one format was sent at an event, each time."""
        (row,) = (row for row in ROWS if row.folder == event)
        return self.heard[row.declared(family)].times(1)

    def first(self, event: str, family: str) -> dict[str, Any]:
        return self.sent(event, family)[0]
