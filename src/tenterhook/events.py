"""The table of events: their names, their fields, what a matcher is tested against, what a block means."""

from __future__ import annotations

from .basics.named_tuples import NamedTuple, StrEnum
from .errors import HookError, UnknownEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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

# Agents whose own settings files are read as they are; each is also the name of a format.
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
_TOOL_FIELDS = ("tool_name", "tool_kind", "mcp_names", "tool_input", "tool_use_id")
_PERMISSION_FIELDS = (
    "permission_request_id",
    "id",
    *_TOOL_FIELDS,
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

# The field that holds a tool call's result, which hooks may replace, by event.
OUTPUT_FIELDS = {"post-tool-call": "tool_output", "post-tool-call-failure": "error"}

# Where a block sends the agent or subagent back to work.
STOPS = ("pre-agent-turn-stop", "post-subagent")

# Alternative names of fields, as in the array format; both are read.
FIELD_ALIASES = {"agent_name": "subagent_name", "cwd": "work_dir", "hook_event_name": "event_type"}

# The values of fields that the caller leaves out.
FIELD_DEFAULTS: dict[str, dict[str, object]] = {
    "pre-session": {"source": "startup"},
    "post-session": {"reason": "exit"},
    "pre-agent-turn-stop": {"stop_hook_active": False},
    "notification": {"sink": "context"},
}

# The names that agents give to each tool, ours first: a matcher that matches one of them matches the tool.
TOOL_NAMES: tuple[tuple[str, ...], ...] = (
    (
        *("Shell", "Bash", "run_shell_command", "exec_command", "local_shell", "bash", "shell", "Execute"),
        *("file_system.bash", "process.start", "terminal", "run_commands", "developer__shell"),
    ),
    ("WriteFile", "Write", "write_file", "create", "Create", "write", "file_system.write_file"),
    ("ReadFile", "Read", "read_file", "view", "read", "file_system.read_file", "read_files"),
    ("StrReplaceFile", "Edit", "replace", "edit", "str_replace_editor", "file_system.edit", "StrReplace"),
    ("Glob", "glob"),
    ("Grep", "grep", "grep_search", "search_file_content", "search_files", "search_codebase"),
    ("Task", "Agent", "task", "agent", "agents.spawn", "delegate_task", "spawn_agent", "delegate"),
    ("FetchURL", "WebFetch", "web_fetch", "FetchUrl", "web_extract", "fetch_web_content", "webfetch"),
    ("SearchWeb", "WebSearch", "google_web_search", "web_search", "websearch"),
)
# How most agents spell the tools of MCP servers: the prefix, and the separator of server and tool.
MCP_SPELLING = ("mcp__", "__")
_MOST_READINGS = 32
# Keys of a tool's input that hold the directory in which a shell line runs.
DIRECTORY_KEYS = ("workdir", "cwd", "directory", "dir_path", "working_directory", "dir")
NAMES_OF_TOOL = {name: (name, *(n for n in names if n != name)) for names in TOOL_NAMES for name in names}
# A patch may create files and edit them.
for _name in ("apply_patch", "patch", "editor"):
    NAMES_OF_TOOL[_name] = (_name, *NAMES_OF_TOOL["WriteFile"], *NAMES_OF_TOOL["StrReplaceFile"])
# An editor tool whose input names a command; the agent's module appends the command to the tool's name.
EDITOR = {"view": "ReadFile", "create": "WriteFile", "str_replace": "StrReplaceFile", "insert": "StrReplaceFile"}
EDITOR["undo_edit"] = "StrReplaceFile"
NAMES_OF_TOOL |= {
    f"file_editor.{command}": (f"file_editor.{command}", "file_editor", *NAMES_OF_TOOL[tool])
    for command, tool in EDITOR.items()
}


def spec_of(name: str) -> EventSpec:
    """Return an event's row, by any of its names. Raises `UnknownEvent`, which suggests similar names."""
    try:
        return BY_NAME[name]
    except (KeyError, TypeError):
        raise UnknownEvent(f"unknown event {name!r}", suggestion(str(name))) from None


def suggestion(name: str) -> str:
    """Return a remedy for an unknown event name: similar names, those of our own events first, else all of these."""
    from difflib import get_close_matches

    lowered = {known.lower(): known for known in sorted(BY_NAME)}  # of `Notification` and `notification` the latter
    close = [lowered[match] for match in get_close_matches(name.lower(), lowered, n=3, cutoff=0.75)]
    if close:
        close.sort(key=lambda known: BY_NAME[known].name != known)
        return "did you mean " + " or ".join(f"'{match}'" for match in close) + "?"
    return "use one of " + ", ".join(spec.name for spec in EVENTS)


OTHER_TOOL = "other"  # the kind of a custom tool that is like none of the known ones
TOOL_KINDS = (*(names[0] for names in TOOL_NAMES), OTHER_TOOL)


def tool_kinds(tools: Mapping[str, str]) -> dict[str, str]:
    """Return the kind of each custom tool, from the name of a similar tool. Raises `HookError` if that is unknown."""
    found = {}
    for name, kind in tools.items():
        if not isinstance(kind, str) or (kind != OTHER_TOOL and kind not in NAMES_OF_TOOL):
            known = ", ".join(names[0] for names in TOOL_NAMES)
            raise HookError(f"tools: {name} = {kind!r} is not a tool", f"use one of {known}, or {OTHER_TOOL}")
        found[name] = next((names[0] for names in TOOL_NAMES if kind in names), kind)
    return found


def tool_names(name: str, mcp: Sequence[str] = (), kind: str | None = None) -> tuple[str, ...]:
    """Return a tool's name, followed by the names that other agents give it.

    `mcp` are its `mcp_names`; `kind` is its `tool_kind`, for a custom tool.
    """
    names = NAMES_OF_TOOL.get(name, (name,))
    if kind is not None and kind not in names:
        names = (name, *NAMES_OF_TOOL.get(kind, ()))
    return (*names, *(each for reading in mcp for each in mcp_spellings(reading) if each != name)) if mcp else names


def mcp_names(name: str, prefix: str = MCP_SPELLING[0], separator: str = MCP_SPELLING[1]) -> list[str]:
    """Return the names `mcp:server/tool` of an MCP server's tool; empty for any other tool.

    There is one for each way to split the agent's name, since a server's name may contain the separator.
    """
    if name.startswith("mcp:") and "/" in name:
        return [name]
    found: list[str] = []
    rest = name[len(prefix) :] if name.startswith(prefix) else ""
    at = rest.find(separator, 1)
    while 0 < at < len(rest) - len(separator) and len(found) < _MOST_READINGS:
        found.append(f"mcp:{rest[:at]}/{rest[at + len(separator) :]}")
        at = rest.find(separator, at + 1)
    return found


def mcp_spellings(name: str) -> tuple[str, str]:
    """Return a name `mcp:server/tool`, and the same in the spelling of most agents, which most matchers use."""
    server, _, tool = name.removeprefix("mcp:").partition("/")
    return name, MCP_SPELLING[1].join((MCP_SPELLING[0] + server, tool))
