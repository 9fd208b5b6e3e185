"""What a new hook looks at, event by event: the field that matters there, and a first rule worth having."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..events import TOOL_NAMES, tool_names

if TYPE_CHECKING:
    from ..events import EventSpec


class Occasion(NamedTuple):
    """A field of an event, a word a new hook looks for in it, a text with it and one without, and what it then says.

    For an observer `found` is what it takes down, and there is neither a word nor a reason.
    """

    path: tuple[str, ...]
    what: str
    found: str
    word: str = ""
    other: str = ""
    reason: str = ""


# By the tool that an event is about: what of its input matters.
_TOOLS = {
    "Shell": Occasion(
        ("tool_input", "command"), "the command", "rm -rf build", "rm -rf", "ls build",
        "Remove files by name, not with rm -rf.",
    ),
    "WriteFile": Occasion(
        ("tool_input", "file_path"), "the path", "config/.env", ".env", "config/app.toml",
        "Leave .env files alone: they hold secrets.",
    ),
    "Glob": Occasion(
        ("tool_input", "pattern"), "the pattern", "**/*.pem", ".pem", "**/*.py", "Do not look for private keys.",
    ),
    "Task": Occasion(
        ("tool_input", "description"), "the description", "Deploy the service", "Deploy", "Review the change",
        "Subagents do not deploy.",
    ),
    "FetchURL": Occasion(
        ("tool_input", "url"), "the address", "http://example.com/", "http://", "https://example.com/",
        "Fetch over https.",
    ),
    "SearchWeb": Occasion(
        ("tool_input", "query"), "the query", "our internal roadmap", "internal", "python argparse",
        "Do not search the web for what is internal.",
    ),
    "": Occasion(("tool_input",), "the whole input", "a secret", "secret", "a plain text", "Secrets stay here."),
}  # fmt: skip
_TOOLS |= {"ReadFile": _TOOLS["WriteFile"], "StrReplaceFile": _TOOLS["WriteFile"], "Grep": _TOOLS["Glob"]}

_EVENTS = {
    "pre-session": Occasion(
        ("source",), "how the session starts", "resume", "resume", "startup", "Start a new session here.",
    ),
    "post-session": Occasion(("exit_reason",), "how the session ended", "user_exit"),
    "pre-agent-turn": Occasion(
        ("prompt",), "the prompt", "Clean up production", "production", "Fix the failing test",
        "Production is looked after by people.",
    ),
    "post-agent-turn": Occasion(("response",), "the answer", "The test passes now."),
    "pre-agent-turn-stop": Occasion(
        ("final_message", "content"), "the last message", "Done, with one TODO left.", "TODO", "Done.",
        "There is a TODO left: finish it.",
    ),
    "post-agent-turn-stop": Occasion(("final_message", "content"), "the last message", "Done."),
    "post-agent-turn-failure": Occasion(("error_message",), "the error", "rate limited"),
    "post-tool-call": Occasion(
        ("tool_output",), "the output", "WARNING: 3 tests skipped", "WARNING", "12 tests passed",
        "There are warnings in the output: look at them.",
    ),
    "post-tool-call-failure": Occasion(
        ("error",), "the error", "Permission denied", "Permission denied", "exit status 1",
        "Do not work around permissions: ask for them.",
    ),
    "permission-result": Occasion(("decision",), "the answer to the question", "rejected"),
    "pre-subagent": Occasion(
        ("task_description",), "the task", "Deploy the service", "Deploy", "Review the change",
        "Subagents do not deploy.",
    ),
    "post-subagent": Occasion(
        ("response",), "the subagent's answer", "Done, with one TODO left.", "TODO", "Done.",
        "There is a TODO left: finish it.",
    ),
    "pre-context-compact": Occasion(
        ("trigger",), "who wants it", "auto", "auto", "manual", "Compaction is left to the person here.",
    ),
    "post-context-compact": Occasion(("trigger",), "who wanted it", "manual"),
    "notification": Occasion(("title",), "the title", "Task completed"),
    "prompt-queued": Occasion(("prompt",), "the prompt", "And run the tests"),
    "turn-started": Occasion(("origin_kind",), "where the turn comes from", "user"),
    "task-started": Occasion(("description",), "the task", "Review the change"),
    "interrupt": Occasion(("reason",), "the reason", "user"),
    "session-heartbeat": Occasion(("uptime_ms",), "how long the session has lasted", "60000"),
    "agent-event": Occasion(("agent_event",), "the agent's own event", "PostToolBatch"),
}  # fmt: skip


class Calls(NamedTuple):
    """Two calls of a tool: one that reaches the hook, None if no example is known, and one for the other case."""

    tool: str
    key: str
    reaching: str | None
    other: str
    told_apart: bool  # by the matcher: the other does not reach the hook


def occasion(spec: EventSpec, tool: str | None) -> Occasion:
    """What a hook of an event looks at; `tool` is the expression its matcher has."""
    return _EVENTS.get(spec.name) or _TOOLS[_canonical(tool_called(tool) or "")]


def tool_called(expression: str | None) -> str | None:
    """Return a tool's name that an expression finds, preferably one that is known; None if there is none."""
    if not expression:
        return "Shell"
    search = re.compile(expression).search
    for names in TOOL_NAMES:
        if any(search(name) for name in names):
            return names[0]
    return next((text for text in _literals(expression) if search(text)), None)


def _canonical(tool: str) -> str:
    return next((name for name in tool_names(tool) if name in _TOOLS), "")


def calls(spec: EventSpec, tool: str | None, pattern: str | None) -> Calls | None:
    """The calls that a new hook's cases are about; None for an event without a tool."""
    if not spec.has_tool:
        return None
    name = tool_called(tool)
    look = _TOOLS[_canonical(name or "")]
    key = look.path[-1] if len(look.path) > 1 else "text"
    if name is None:
        return Calls("Other", key, None, look.other, told_apart=True)
    if not pattern:
        return Calls(name, key, look.found, look.other, told_apart=False)
    search = re.compile(pattern).search
    reaching = next((text for text in (look.found, look.word, *_literals(pattern)) if search(text)), None)
    for other in (look.other, "hello", "README.md", "0", "x", "-"):
        if not search(other):
            return Calls(name, key, reaching, other, told_apart=True)
    return Calls(name, key, reaching, look.other, told_apart=False)


def _literals(expression: str) -> list[str]:
    """Texts that an expression may find: its alternatives, without anchors, groups and backslashes."""
    plain = re.sub(r"\.[*+]|\\s[*+]?", " ", expression)
    texts = [re.sub(r"\(\?[a-z:]*\)?|\\b|[\\^$()]", "", each) for each in plain.split("|")]
    return [*(text.strip() for text in texts), *texts]


def example(spec: EventSpec, path: tuple[str, ...], text: str) -> dict[str, Any]:
    """The fields of an event in which a text stands where a hook looks."""
    value: Any = int(text) if path == ("uptime_ms",) and text else text
    for key in reversed(path[1:]):
        value = {key: value}
    if path == ("final_message", "content"):
        value = {"role": "assistant", **value}
    return {path[0]: value}
