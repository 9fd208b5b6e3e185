"""The one table of events: their names, their fields, what a matcher is tested against, what a block means."""

from __future__ import annotations

from .basics.named_tuples import NamedTuple, StrEnum
from .errors import UnknownEvent


class Effect(StrEnum):
    """What the answer of a hook of one format does at one event."""

    DECIDES = "decides"
    INFORMS = "informs"  # its context and messages count, its decision does not
    OBSERVES = "observes"  # awaited, the answer changes nothing
    BACKGROUND = "background"  # started when the verdict is known, never waited for


class Column(NamedTuple):
    """A field of the array format: its name there, the event's fields it is taken from, and its longest length."""

    name: str
    sources: tuple[str, ...]
    limit: int | None = None


class EventSpec(NamedTuple):
    """One event. Each of its names is accepted in every format."""

    name: str
    table_name: str | None
    array_name: str | None
    target: str | None  # the field an array matcher is searched in; None: the empty string
    fields: tuple[str, ...]  # what folder and table hooks are sent beside the base fields
    columns: tuple[Column, ...]  # what array hooks are sent beside theirs
    folder: Effect
    table: Effect
    array: Effect
    block: str
    array_block: str | None = None  # where it differs

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (self.name, self.table_name, self.array_name) if name)

    @property
    def has_tool(self) -> bool:
        return self.target == "tool_name"

    def effect(self, family: str) -> Effect:
        if family == "array":
            return self.array
        if family in AGENT_FORMATS:
            return _AGENT_EFFECTS.get((family, self.name)) or _AGENT_EFFECTS.get(("", self.name), self.array)
        return self.table if family == "table" else self.folder


_D, _O, _B = Effect.DECIDES, Effect.OBSERVES, Effect.BACKGROUND

# Agents whose own settings are read as they are; each is a format of that name.
AGENT_FORMATS = ("claude", "codex", "gemini", "qwen")

# The effects that differ from the array format's, by agent and event; "" stands for every agent.
_AGENT_EFFECTS = {
    ("", "pre-session"): Effect.INFORMS,
    ("", "post-tool-call"): _D,
    ("", "post-tool-call-failure"): _D,
    ("", "pre-subagent"): Effect.INFORMS,
    ("", "post-subagent"): _D,
    ("claude", "pre-context-compact"): _D,
    ("codex", "pre-context-compact"): _D,
    ("gemini", "pre-context-compact"): _B,
}
_OBSERVER = "nothing: observers change nothing"
_TOOL = (
    Column("tool_name", ("tool_name",)),
    Column("tool_input", ("tool_input",)),
    Column("tool_call_id", ("tool_use_id",)),
)
_TOOL_FIELDS = ("tool_name", "tool_input", "tool_use_id")
_PERMISSION_FIELDS = (
    "permission_request_id",
    "id",
    "tool_name",
    "tool_input",
    "tool_use_id",
    "tool_call_id",
    "action",
    "display",
)
_RESULT_FIELDS = ("decision", "answered_by", "scope", "duration_ms")
_STOP_FIELDS = ("stop_reason", "step_count", "final_message", "stop_hook_active")


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, (name,)) for name in names)


_PERMISSION = _columns("permission_request_id", "id", "tool_name", "tool_input", "tool_call_id", "action", "display")
_NOTIFICATION = ("sink", "notification_type", "title", "body", "severity", "source_kind", "source_id")


def _observer(name: str, array_name: str, target: str | None, *fields: str) -> EventSpec:
    return EventSpec(name, None, array_name, target, fields, _columns(*fields), _O, _O, _B, _OBSERVER)


EVENTS: tuple[EventSpec, ...] = (
    EventSpec(
        "pre-session",
        "session_start",
        "SessionStart",
        "source",
        ("model", "args", "source"),
        _columns("source", "model"),
        _D,
        _D,
        _O,
        "the session does not start",
        "nothing: the hook is awaited, its answer ignored",
    ),
    EventSpec(
        "post-session",
        "session_end",
        "SessionEnd",
        "reason",
        ("duration_seconds", "total_steps", "exit_reason"),
        _columns("reason"),
        _O,
        _O,
        _O,
        _OBSERVER,
    ),
    EventSpec(
        "pre-agent-turn",
        "before_agent",
        "UserPromptSubmit",
        "prompt",
        ("prompt",),
        _columns("prompt"),
        _D,
        _D,
        _D,
        "no model call; the reason is the answer",
    ),
    EventSpec(
        "post-agent-turn",
        "after_agent",
        None,
        None,
        ("prompt", "response"),
        _columns("prompt", "response"),
        _O,
        _O,
        _B,
        _OBSERVER,
    ),
    EventSpec(
        "pre-agent-turn-stop",
        "before_stop",
        "Stop",
        None,
        _STOP_FIELDS,
        _columns("stop_hook_active"),
        _D,
        _D,
        _D,
        "the agent goes on, the reason in its context",
    ),
    EventSpec(
        "post-agent-turn-stop",
        "after_stop",
        None,
        None,
        _STOP_FIELDS,
        _columns("stop_hook_active"),
        _O,
        _O,
        _B,
        _OBSERVER,
    ),
    EventSpec(
        "post-agent-turn-failure",
        None,
        "StopFailure",
        "error_type",
        ("error_type", "error_message"),
        _columns("error_type", "error_message"),
        _O,
        _O,
        _B,
        _OBSERVER,
    ),
    EventSpec(
        "pre-tool-call",
        "before_tool",
        "PreToolUse",
        "tool_name",
        _TOOL_FIELDS,
        _TOOL,
        _D,
        _D,
        _D,
        "the tool does not run; the model gets a failed result with the reason",
    ),
    EventSpec(
        "post-tool-call",
        "after_tool",
        "PostToolUse",
        "tool_name",
        (*_TOOL_FIELDS, "tool_output"),
        (*_TOOL, Column("tool_output", ("tool_output",), 2000)),
        _D,
        _O,
        _B,
        "the reason goes to the model beside the result (folder format; a table hook is an observer)",
        _OBSERVER,
    ),
    EventSpec(
        "post-tool-call-failure",
        "after_tool_failure",
        "PostToolUseFailure",
        "tool_name",
        (*_TOOL_FIELDS, "error", "exit_code"),
        (*_TOOL, *_columns("error", "exit_code")),
        _D,
        _O,
        _B,
        "the reason goes to the model beside the error (folder format; a table hook is an observer)",
        _OBSERVER,
    ),
    EventSpec(
        "permission-request",
        None,
        "PermissionRequest",
        "tool_name",
        _PERMISSION_FIELDS,
        _PERMISSION,
        _D,
        _D,
        _D,
        "the call is refused",
    ),
    EventSpec(
        "permission-result",
        None,
        "PermissionResult",
        "tool_name",
        (*_PERMISSION_FIELDS, *_RESULT_FIELDS),
        (*_PERMISSION, *_columns(*_RESULT_FIELDS)),
        _O,
        _O,
        _B,
        _OBSERVER,
    ),
    EventSpec(
        "pre-subagent",
        "subagent_start",
        "SubagentStart",
        "subagent_name",
        ("subagent_name", "subagent_type", "task_description"),
        (Column("agent_name", ("subagent_name",)), Column("prompt", ("prompt", "task_description"), 500)),
        _D,
        _D,
        _O,
        "the subagent does not run, its caller gets the reason",
        "nothing: the hook is awaited, its answer ignored",
    ),
    EventSpec(
        "post-subagent",
        "subagent_stop",
        "SubagentStop",
        "subagent_name",
        ("subagent_name", "subagent_type", "task_description", "response", "stop_hook_active"),
        (
            Column("agent_name", ("subagent_name",)),
            Column("response", ("response",), 500),
            *_columns("stop_hook_active"),
        ),
        _D,
        _D,
        _B,
        "the subagent goes on with the reason",
        _OBSERVER,
    ),
    EventSpec(
        "pre-context-compact",
        "pre_compact",
        "PreCompact",
        "trigger",
        ("trigger", "token_count"),
        _columns("trigger", "token_count"),
        _D,
        _D,
        _O,
        "compaction is skipped",
        "nothing: the hook is awaited, its answer ignored",
    ),
    _observer("post-context-compact", "PostCompact", "trigger", "trigger", "estimated_token_count"),
    _observer("notification", "Notification", "notification_type", *_NOTIFICATION),
    _observer("prompt-queued", "UserPromptQueued", "prompt", "prompt_id", "prompt", "queue_length"),
    _observer("turn-started", "TurnStarted", "origin_kind", "turn_id", "origin_kind", "origin_name", "prompt"),
    _observer("task-started", "TaskStarted", "kind", "task_id", "kind", "description", "detached"),
    _observer("interrupt", "Interrupt", None, "reason"),
    _observer("session-heartbeat", "SessionHeartbeat", None, "uptime_ms"),
    _observer("agent-event", "AgentEvent", "agent_event", "agent_event"),  # an agent's own event that is none of these
)

BY_NAME: dict[str, EventSpec] = {name: spec for spec in EVENTS for name in spec.names}

# Where a block sends the agent or subagent back to work.
STOPS = ("pre-agent-turn-stop", "post-subagent")

# Fields that the array format names differently; both names are read.
FIELD_ALIASES = {"agent_name": "subagent_name", "cwd": "work_dir", "hook_event_name": "event_type"}

# The values of fields that the caller leaves out.
FIELD_DEFAULTS: dict[str, dict[str, object]] = {
    "pre-session": {"source": "startup"},
    "post-session": {"reason": "exit"},
    "pre-agent-turn-stop": {"stop_hook_active": False},
    "notification": {"sink": "context"},
}

# Every name that some agent gives the same tool: a matcher that finds one of them finds the tool.
TOOL_NAMES: tuple[tuple[str, ...], ...] = (
    ("Shell", "Bash", "run_shell_command", "exec_command", "local_shell", "bash", "shell", "Execute"),
    ("WriteFile", "Write", "write_file", "create", "Create"),
    ("ReadFile", "Read", "read_file", "view"),
    ("StrReplaceFile", "Edit", "replace", "edit", "str_replace_editor"),
    ("Glob", "glob"),
    ("Grep", "grep", "grep_search", "search_file_content"),
    ("Task", "Agent", "task", "agent"),
    ("FetchURL", "WebFetch", "web_fetch", "FetchUrl"),
    ("SearchWeb", "WebSearch", "google_web_search", "web_search"),
)
# Keys under which agents say in which directory a shell line runs.
DIRECTORY_KEYS = ("workdir", "cwd", "directory", "dir_path", "working_directory", "dir")
NAMES_OF_TOOL = {name: (name, *(n for n in names if n != name)) for names in TOOL_NAMES for name in names}
# A patch writes files and changes them.
NAMES_OF_TOOL["apply_patch"] = ("apply_patch", *NAMES_OF_TOOL["WriteFile"], *NAMES_OF_TOOL["StrReplaceFile"])


def spec_of(name: str) -> EventSpec:
    """Return the row of an event by any of its names; raise `UnknownEvent` with similar names."""
    try:
        return BY_NAME[name]
    except (KeyError, TypeError):
        raise UnknownEvent(f"unknown event {name!r}", suggestion(str(name))) from None


def suggestion(name: str) -> str:
    """Return a remedy for an unknown event name: similar names, else all names."""
    from difflib import get_close_matches

    close = get_close_matches(name, BY_NAME, n=3, cutoff=0.5)
    if not close:
        lowered = {known.lower(): known for known in BY_NAME}
        close = [lowered[match] for match in get_close_matches(name.lower(), lowered, n=3, cutoff=0.7)]
    if close:
        return "did you mean " + " or ".join(f"'{match}'" for match in close) + "?"
    return "use one of " + ", ".join(spec.name for spec in EVENTS)


def tool_names(name: str) -> tuple[str, ...]:
    """Return a tool's name, followed by the names that other agents give it."""
    return NAMES_OF_TOOL.get(name, (name,))
