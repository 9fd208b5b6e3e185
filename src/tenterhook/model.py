"""The data model: an `Event` runs `Hook`s, each `Run` is read as a `Decision`, the decisions are merged to a `Verdict`.

A `Run` is what happened, a `Decision` is what one hook answered, a `Verdict` is what Tenterhook does about the event.
"""

from __future__ import annotations

import os
import time

from .basics import light_json
from .basics.named_tuples import NamedTuple, StrEnum
from .errors import Problem
from .events import (
    AGENT_FORMATS,
    FIELD_ALIASES,
    FIELD_DEFAULTS,
    OUTPUT_FIELDS,
    TOOL_KINDS,
    Effect,
    EventSpec,
    mcp_names,
    spec_of,
    tool_names,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .guards.calls import GuardFinding


class Action(StrEnum):
    """The decision of one hook, or of all of them together."""

    DENY = "deny"
    ASK = "ask"
    APPROVE = "approve"  # skip the question
    ALLOW = "allow"  # no objection: the agent's rules still ask
    NONE = "none"  # no decision, which is not an allow


PRECEDENCE = (Action.DENY, Action.ASK, Action.APPROVE, Action.ALLOW, Action.NONE)


class Failure(StrEnum):
    """Why a run has no usable answer."""

    EXIT = "exit"
    SIGNAL = "signal"
    TIMED_OUT = "timed_out"
    CANNOT_START = "cannot_start"
    RAISED = "raised"  # a Python function
    UNREADABLE = "unreadable"  # it succeeded, but its answer is not valid


class Outcome(StrEnum):
    """How one hook's run is shown in a verdict."""

    OK = "ok"
    BLOCKED = "blocked"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    NOT_RUN = "not_run"
    STARTED = "started"


class Event:
    """An event in an agent's session. Frozen; every value in `fields` is plain JSON.

    Each of the event's names is accepted, and the payload fields of every format.
    """

    __slots__ = ("_at", "context", "fields", "name", "session_id", "spec", "work_dir")

    name: str
    spec: EventSpec
    session_id: str
    work_dir: str
    context: dict[str, Any]
    fields: dict[str, Any]
    _at: str | float

    def __init__(
        self,
        name: str,
        *,
        session_id: str = "",
        work_dir: str | os.PathLike[str] = ".",
        timestamp: str | None = None,
        context: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> None:
        put = object.__setattr__
        spec = spec_of(name)
        work_dir = fields.pop("cwd", None) or work_dir
        fields.pop("hook_event_name", None)
        fields.pop("event_type", None)
        put(self, "name", name)
        put(self, "spec", spec)
        put(self, "session_id", session_id)
        put(self, "work_dir", os.path.abspath(work_dir))
        put(self, "_at", timestamp or time.time())
        put(self, "context", light_json.plain(dict(context)) if context else {})
        given = {**FIELD_DEFAULTS.get(spec.name, {})}
        for key, value in fields.items():
            if value is not None:
                given[FIELD_ALIASES.get(key, key)] = light_json.plain(value)
        tool = given.get("tool_name")
        if tool is not None and not isinstance(tool, str):
            tool = given["tool_name"] = light_json.text(tool)
        if "tool_kind" in given and given["tool_kind"] not in TOOL_KINDS:
            del given["tool_kind"]
        if "mcp_names" in given or (tool is not None and tool.startswith("mcp")):
            given["mcp_names"] = _texts(given.get("mcp_names")) or mcp_names(tool or "")
            if not given["mcp_names"]:
                del given["mcp_names"]
        if "tool_call_id" in given and "tool_use_id" not in given:  # some agents give both, and they differ
            given["tool_use_id"] = given.pop("tool_call_id")
        put(self, "fields", given)

    @classmethod
    def from_payload(cls, name: str, payload: Mapping[str, Any], **fixed: Any) -> Event:
        """Return the event of a JSON object in any format; values of `fixed` replace those in it."""
        merged = {FIELD_ALIASES.get(key, key): value for key, value in payload.items()}
        merged.pop("event_type", None)
        merged.update({key: value for key, value in fixed.items() if value is not None})
        return cls(name, **{str(key): value for key, value in merged.items() if key not in ("name", "self")})

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(f"an Event is frozen; use replace({key}=…)")

    def __repr__(self) -> str:
        return f"Event({self.name!r}, session_id={self.session_id!r}, work_dir={self.work_dir!r}, **{self.fields!r})"

    def replace(self, **changes: Any) -> Event:
        """Return the event with other fields; `name`, `session_id` and `work_dir` may be among them."""
        base: dict[str, Any] = {slot: changes.pop(slot, getattr(self, slot)) for slot in _BASE}
        return Event(base.pop("name"), **base, **{**self.fields, **changes})

    @property
    def timestamp(self) -> str:
        """When it happened, in ISO 8601."""
        if isinstance(self._at, str):
            return self._at
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._at))

    @property
    def canonical(self) -> str:
        return self.spec.name

    @property
    def tool_name(self) -> str | None:
        return self.fields.get("tool_name")

    @property
    def mcp_names(self) -> list[str]:
        """The names `mcp:server/tool` of an MCP server's tool: one for each reading of the agent's own name."""
        return self.fields.get("mcp_names") or []

    @property
    def tool_kind(self) -> str | None:
        """The kind of a custom tool, one of `TOOL_KINDS`; None for a tool that is known by its name."""
        return self.fields.get("tool_kind")

    def with_kind(self, kinds: Mapping[str, str]) -> Event:
        """Return the event with the tool's kind; `kinds` maps the names of custom tools to kinds."""
        kind = kinds.get(self.fields.get("tool_name", "")) if kinds else None
        return self if kind in (None, self.tool_kind) else self.replace(tool_kind=kind)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """All names of the tool; a matcher that matches one of them matches the tool."""
        if "tool_name" not in self.fields:
            return ()
        return tool_names(self.fields["tool_name"], self.mcp_names, self.tool_kind)

    @property
    def tool_input(self) -> Any:
        return self.fields.get("tool_input")

    @property
    def tool_output(self) -> Any:
        """The result of a tool call as the model sees it: its output or, after a failure, the error."""
        return self.fields.get(OUTPUT_FIELDS.get(self.spec.name, ""))

    @property
    def prompt(self) -> Any:
        return self.fields.get("prompt")


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


_BASE = ("name", "session_id", "work_dir", "timestamp", "context")


STOP_LIMIT_REACHED = "stop-hook limit reached (1 per turn): the block is ignored"  # `Decision.ignored` of a late block
WITH_ONE_MATCHER = frozenset(("array", *AGENT_FORMATS))  # of the formats


class Hook(NamedTuple):
    """One definition of a hook, checked, from any format."""

    name: str
    event: str  # canonical
    declared: str  # the event's name in the definition, as it is sent
    format: str  # folder, table, array, function, or one of AGENT_FORMATS
    layer: str = "python"  # managed, user, project, config, python
    source: str = ""
    line: int | None = None
    folder: str | None = None  # the folder format's directory
    command: str | None = None  # the other formats' shell line
    function: Callable[[Event], Any] | None = None
    tool: str | None = None
    pattern: str | None = None
    target: str | None = None  # an array matcher on an event without a tool
    dialect: str = "python"
    timeout: float = 30.0  # seconds
    async_: bool = False
    priority: int = 100
    description: str = ""
    metadata: Mapping[str, Any] = {}
    fail_closed: bool = False
    never_matches: bool = False  # an array matcher that is not a valid expression
    replaced_by: str | None = None  # a project's folder that replaces it while it is trusted
    missing: str | None = None  # why it can no longer be loaded; other fields are as last loaded, and every run fails
    pack: Mapping[str, str] = {}  # of a pack's hook: the pack's name, source, rev, commit, tree, lock; its own digest

    @property
    def spec(self) -> EventSpec:
        return spec_of(self.event)

    @property
    def has_one_matcher(self) -> bool:
        """Whether its format has a single matcher, instead of one for the tool and one for its input."""
        return self.format in WITH_ONE_MATCHER

    @property
    def in_parallel(self) -> bool:
        """Whether it runs in parallel with adjacent hooks of its format, and equal commands only once."""
        return self.has_one_matcher and not self.metadata.get("sequential")

    @property
    def needs_trust(self) -> bool:
        """Whether a person must have approved it: a project's hooks, and those of packs that are not managed."""
        return self.layer == "project" or bool(self.pack)

    @property
    def guard(self) -> str | None:
        """The built-in guard that runs instead of the folder's script, if the definition names one."""
        named = self.metadata.get("guard") if self.folder is not None else None
        return named if named is None else str(named)

    @property
    def is_shadow(self) -> bool:
        """Whether its decisions are recorded but not enforced."""
        return self.metadata.get("mode") == "shadow"

    @property
    def budget_ms(self) -> float | None:
        """The time budget in its metadata, or None."""
        budget = self.metadata.get("budget_ms")
        return float(budget) if isinstance(budget, (int, float)) and not isinstance(budget, bool) else None

    @property
    def in_background(self) -> bool:
        """Whether the verdict does not wait for it: asynchronous hooks, and observers of the array format."""
        return self.async_ or self.spec.effect(self.format) is Effect.BACKGROUND


class Decision(NamedTuple):
    """What one hook answered. If `ignored` is set, the decision is shown but has no effect, for that reason."""

    action: Action = Action.NONE
    reason: str | None = None
    modified_input: dict[str, Any] | None = None
    additional_context: str | None = None
    message: str | None = None
    scope: str | None = None
    log: str | None = None
    modified_output: Any | None = None  # a text or the tool's own JSON value; None: unchanged
    notes: tuple[str, ...] = ()
    unreadable: bool = False  # part of the answer is not valid; the notes, or the run's `why`, say which
    ignored: str | None = None
    error: str | None = None  # why the answer as a whole cannot be used, which makes the run a failure

    @property
    def is_silent(self) -> bool:
        """Whether it has no action, input, output, context or message."""
        says = self.modified_input or self.additional_context or self.message or self.modified_output is not None
        return self.action is Action.NONE and not says


SILENT = Decision()


class Run(NamedTuple):
    """What happened to one hook at one event."""

    hook: Hook
    failure: Failure | None = None
    why: str | None = None
    started: bool = True
    background: bool = False
    exit_code: int | None = None
    duration_ms: float = 0.0
    stdout: str = ""
    stderr: str = ""
    notes: tuple[str, ...] = ()
    answer: Any = None  # what a Python function returned, or another agent's hook answered, in our form
    saw: Any = None  # the tool's input that was sent to this run
    decision: Decision = SILENT
    findings: tuple[GuardFinding, ...] = ()  # of a built-in guard

    @property
    def failed(self) -> bool:
        return self.failure is not None

    @property
    def timed_out(self) -> bool:
        return self.failure is Failure.TIMED_OUT

    @property
    def outcome(self) -> Outcome:
        if not self.started:
            return Outcome.NOT_RUN
        if self.background:
            return Outcome.STARTED
        if self.failure is not None:
            return Outcome.TIMED_OUT if self.timed_out else Outcome.FAILED
        if self.decision.action is Action.DENY and self.decision.ignored is None:
            return Outcome.BLOCKED
        return Outcome.OK


class Verdict(NamedTuple):
    """What Tenterhook does about an event, and the runs that led to it."""

    event: str
    decision: Action = Action.NONE
    reason: str | None = None
    modified_input: dict[str, Any] | None = None
    additional_context: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    scope: str | None = None
    runs: tuple[Run, ...] = ()
    problems: tuple[Problem, ...] = ()
    modified_output: Any | None = None  # what the model sees instead of the tool's output; None: unchanged

    @property
    def denied(self) -> bool:
        return self.decision is Action.DENY

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as JSON; `schema` is its version."""
        return {
            "schema": 1,
            "event": self.event,
            "decision": str(self.decision),
            "reason": self.reason,
            "modified_input": self.modified_input,
            "modified_output": self.modified_output,
            "additional_context": list(self.additional_context),
            "messages": list(self.messages),
            "runs": [_run_as_json(run) for run in self.runs],
            "problems": [problem._asdict() for problem in self.problems],
        }


def _run_as_json(run: Run) -> dict[str, Any]:
    decision = run.decision
    notes = [*run.notes, *decision.notes]
    if decision.ignored:
        notes.append(decision.ignored)
    return {
        "hook": run.hook.name,
        "source": run.hook.source,
        "event_name": run.hook.declared,
        "async": run.background or run.hook.in_background,
        "outcome": str(run.outcome),
        "why": run.why,
        "decision": str(decision.action),
        "reason": decision.reason,
        "exit_code": run.exit_code,
        "duration_ms": round(run.duration_ms, 3),
        "stdout": run.stdout,
        "stderr": run.stderr,
        "notes": notes,
    }
