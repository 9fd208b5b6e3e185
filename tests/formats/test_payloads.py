"""What hooks are sent on stdin, in the words of their format (section 6)."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import math
import pathlib
import re
from typing import TYPE_CHECKING, Any

import pytest

from support import array_hook, decide, folder_hook, shell_call, table_hook, until, user_hooks, write_config
from tenterhook import Engine, Event
from tenterhook.events import EVENTS, EventSpec

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = ("folder", "table", "array")
SAVE = "cat > part; mv part sent"


def sent_text(project: Path, event: Event, format_: str, declared: str | None = None) -> str:
    """What a hook of this format finds on stdin; also if it runs in the background."""
    declared = declared or event.name
    (project / "sent").unlink(missing_ok=True)
    if format_ == "folder":
        folder_hook(user_hooks(project.parent / "home"), "hook", SAVE, trigger=declared)
        Engine.load().decide(event)
    else:
        make = table_hook if format_ == "table" else array_hook
        decide(write_config(project / "hooks.toml", make(SAVE, event=declared)), event)
    until((project / "sent").exists)
    return (project / "sent").read_bytes().decode()


def sent(project: Path, event: Event, format_: str = "table", declared: str | None = None) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(sent_text(project, event, format_, declared))
    return value


# ---- the base


@pytest.mark.parametrize("format_", ["folder", "table"])
def test_folder_and_table_hooks_are_sent_the_base_fields(project: Path, format_: str) -> None:
    got = sent(project, shell_call("ls", session_id="s1", tool_use_id="t1"), format_, "before_tool")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*", got.pop("timestamp"))
    assert got == {
        "event_type": "before_tool",
        "session_id": "s1",
        "work_dir": str(project),
        "context": {},
        "tool_name": "Shell",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t1",
    }


def test_array_hooks_are_sent_theirs(project: Path) -> None:
    assert sent(project, shell_call("ls", session_id="s1", tool_use_id="t1"), "array", "PreToolUse") == {
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": str(project),
        "tool_name": "Shell",
        "tool_input": {"command": "ls"},
        "tool_call_id": "t1",
    }


def test_the_timestamp_is_iso_8601(project: Path) -> None:
    stamp = sent(project, shell_call())["timestamp"]
    assert abs(datetime.datetime.fromisoformat(stamp).timestamp() - datetime.datetime.now().timestamp()) < 60


def test_the_context_is_the_callers(project: Path) -> None:
    assert sent(project, shell_call(context={"a": [1]}))["context"] == {"a": [1]}


def test_an_event_without_a_session_belongs_to_the_engines(project: Path) -> None:
    engine = Engine.load(configs=[write_config(project / "hooks.toml", table_hook("cat >> sent; echo >> sent"))])
    engine.decide(shell_call())
    engine.decide(shell_call())
    one, two = (json.loads(line)["session_id"] for line in (project / "sent").read_text().splitlines())
    assert one == two == engine.session_id != ""


# ---- names


@pytest.mark.parametrize("spec", EVENTS, ids=[spec.name for spec in EVENTS])
@pytest.mark.parametrize("format_", ["table", "array"])
def test_each_hook_is_sent_the_event_under_the_name_it_declared(project: Path, spec: EventSpec, format_: str) -> None:
    for declared in spec.names:
        for fired in (spec.names[0], spec.names[-1]):
            got = sent(project, Event(fired, tool_name="Shell", tool_input={}), format_, declared)
            assert got["hook_event_name" if format_ == "array" else "event_type"] == declared


# ---- fields


GIVEN: dict[str, dict[str, Any]] = {
    "pre-session": {"model": "m", "args": ["a"], "source": "resume"},
    "post-session": {"duration_seconds": 1.5, "total_steps": 3, "exit_reason": "user_exit", "reason": "exit"},
    "pre-agent-turn": {"prompt": "hi"},
    "post-agent-turn": {"prompt": "hi", "response": "ho"},
    "pre-agent-turn-stop": {"stop_reason": "no_tool_calls", "step_count": 2, "final_message": "done"},
    "post-agent-turn-failure": {"error_type": "E", "error_message": "m"},
    "pre-tool-call": {"tool_name": "T", "tool_input": {"a": 1}, "tool_use_id": "t"},
    "post-tool-call": {"tool_name": "T", "tool_input": {"a": 1}, "tool_use_id": "t", "tool_output": "out"},
    "post-tool-call-failure": {"tool_name": "T", "tool_input": {"a": 1}, "tool_use_id": "t", "error": "bad"},
    "permission-request": {
        "permission_request_id": "p",
        "tool_name": "T",
        "tool_input": {"a": 1},
        "tool_use_id": "t",
        "action": "run",
        "display": ["x"],
    },
    "pre-subagent": {"subagent_name": "n", "subagent_type": "y", "task_description": "d"},
    "post-subagent": {"subagent_name": "n", "subagent_type": "y", "task_description": "d", "response": "r"},
    "pre-context-compact": {"trigger": "auto", "token_count": 10},
}


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("format_", ["folder", "table"])
def test_folder_and_table_hooks_are_sent_what_the_event_has(project: Path, name: str, format_: str) -> None:
    got = sent(project, Event(name, **GIVEN[name]), format_)
    wanted = {key: value for key, value in GIVEN[name].items() if (name, key) != ("post-session", "reason")}
    assert {key: got.get(key) for key in wanted} == wanted


COLUMNS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("UserPromptSubmit", {"prompt": "hi"}, {"prompt": [{"type": "text", "text": "hi"}]}),
    ("UserPromptSubmit", {"prompt": [{"type": "image"}]}, {"prompt": [{"type": "image"}]}),
    ("PreToolUse", GIVEN["pre-tool-call"], {"tool_name": "T", "tool_input": {"a": 1}, "tool_call_id": "t"}),
    ("PostToolUse", GIVEN["post-tool-call"], {"tool_call_id": "t", "tool_output": "out"}),
    ("PostToolUseFailure", GIVEN["post-tool-call-failure"], {"tool_call_id": "t", "error": "bad"}),
    ("Stop", {}, {"stop_hook_active": False}),
    ("Stop", {"stop_hook_active": True}, {"stop_hook_active": True}),
    ("StopFailure", {"error_type": "E", "error_message": "m"}, {"error_type": "E", "error_message": "m"}),
    ("SessionStart", {}, {"source": "startup"}),
    ("SessionStart", {"source": "resume"}, {"source": "resume"}),
    ("SessionEnd", {}, {"reason": "exit"}),
    ("SubagentStart", {"agent_name": "n", "prompt": "p"}, {"agent_name": "n", "prompt": "p"}),
    ("SubagentStart", {"subagent_name": "n", "task_description": "d"}, {"agent_name": "n", "prompt": "d"}),
    ("SubagentStop", {"agent_name": "n", "response": "r"}, {"agent_name": "n", "response": "r"}),
    ("PreCompact", {"trigger": "auto", "token_count": 9}, {"trigger": "auto", "token_count": 9}),
    ("PostCompact", {"trigger": "auto", "estimated_token_count": 9}, {"estimated_token_count": 9}),
    (
        "Notification",
        {"notification_type": "task.completed", "title": "t", "body": "b", "severity": "info"},
        {"sink": "context", "notification_type": "task.completed", "title": "t", "body": "b", "severity": "info"},
    ),
    (
        "PermissionRequest",
        GIVEN["permission-request"],
        {"permission_request_id": "p", "id": "p", "tool_call_id": "t", "action": "run", "display": ["x"]},
    ),
    (
        "PermissionResult",
        {**GIVEN["permission-request"], "decision": "approved", "answered_by": "hook", "scope": "once"},
        {"id": "p", "decision": "approved", "answered_by": "hook", "scope": "once"},
    ),
    ("UserPromptQueued", {"prompt_id": "1", "prompt": "p", "queue_length": 2}, {"prompt": "p", "queue_length": 2}),
    ("TurnStarted", {"turn_id": "1", "origin_kind": "user"}, {"turn_id": "1", "origin_kind": "user"}),
    ("TaskStarted", {"task_id": "1", "kind": "k", "detached": True}, {"task_id": "1", "kind": "k", "detached": True}),
    ("Interrupt", {"reason": "key"}, {"reason": "key"}),
    ("SessionHeartbeat", {"uptime_ms": 60000}, {"uptime_ms": 60000}),
    ("AgentEvent", {"agent_event": "PostToolBatch"}, {"agent_event": "PostToolBatch"}),
]


@pytest.mark.parametrize(("name", "given", "columns"), COLUMNS)
def test_array_hooks_are_sent_the_columns_of_their_event(
    project: Path, name: str, given: dict[str, Any], columns: dict[str, Any]
) -> None:
    got = sent(project, Event(name, **given), "array")
    assert {key: got.get(key) for key in columns} == columns
    assert not {"event_type", "timestamp", "work_dir", "context", "tool_use_id", "subagent_name"} & set(got)


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("PreToolUse", {"tool_name": "T", "tool_call_id": "t"}, {"tool_use_id": "t"}),
        ("SubagentStart", {"agent_name": "n"}, {"subagent_name": "n"}),
        ("SubagentStart", {"agent_name": "n", "prompt": "do it"}, {"task_description": "do it"}),
        ("UserPromptSubmit", {"prompt": [{"type": "text", "text": "a"}, {"type": "image"}]}, {"prompt": "a"}),
        ("UserPromptSubmit", {"prompt": [{"text": "a"}, {"text": "b"}]}, {"prompt": "a\nb"}),
        ("PermissionRequest", {"tool_name": "T", "id": "p"}, {"permission_request_id": "p", "id": "p"}),
    ],
)
def test_what_an_array_agent_sends_reaches_table_hooks_in_their_words(
    project: Path, name: str, given: dict[str, Any], wanted: dict[str, Any]
) -> None:
    got = sent(project, Event(name, **given), "table")
    assert {key: got.get(key) for key in wanted} == wanted


@pytest.mark.parametrize("format_", FORMATS)
def test_an_agents_own_fields_reach_its_hooks(project: Path, format_: str) -> None:
    assert sent(project, shell_call(transcript_path="/t", extra={"a": 1}), format_)["extra"] == {"a": 1}


@pytest.mark.parametrize("format_", FORMATS)
def test_fields_the_event_does_not_have_are_not_sent(project: Path, format_: str) -> None:
    got = sent(project, Event("pre-tool-call", tool_name="T", tool_input=None), format_)
    assert "tool_input" not in got
    assert "tool_output" not in got


@pytest.mark.parametrize(
    ("name", "field", "limit"),
    [("PostToolUse", "tool_output", 2000), ("SubagentStart", "prompt", 500), ("SubagentStop", "response", 500)],
)
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_long_columns_are_cut_for_array_hooks(project: Path, name: str, field: str, limit: int, more: int) -> None:
    text = "é" * (limit + more)
    given: dict[str, Any] = {"tool_name": "T", field: text}
    assert sent(project, Event(name, **given), "array")[field] == text[:limit]


@pytest.mark.parametrize("value", [{"lines": ["x" * 3000]}, ["x"] * 3000, 12])
def test_an_output_that_is_no_text_is_cut_in_its_json_form(project: Path, value: object) -> None:
    got = sent(project, Event("PostToolUse", tool_name="T", tool_output=value), "array")["tool_output"]
    assert got == json.dumps(value)[:2000]


def test_table_hooks_are_sent_the_whole_output(project: Path) -> None:
    event = Event("after_tool", tool_name="T", tool_output="x" * 5000)
    assert sent(project, event, "table")["tool_output"] == "x" * 5000


# ---- any value


def test_there_is_a_space_after_each_colon_and_comma(project: Path) -> None:
    event = shell_call(tool_input={"command": "rm -rf /", "list": [1, 2], "more": {"a": None}})
    text = sent_text(project, event, "table")
    assert '"tool_input": {"command": "rm -rf /", "list": [1, 2], "more": {"a": null}}' in text
    assert "\n" not in text.strip()


def test_a_script_finds_a_field_with_grep(project: Path) -> None:
    line = """grep -o '"command": "[^"]*"' | cut -d'"' -f4 >&2; exit 2"""
    config = write_config(project / "hooks.toml", table_hook(line))
    assert decide(config, shell_call("rm -rf café")).reason == "rm -rf café"


@dataclasses.dataclass
class Point:
    x: int
    where: pathlib.PurePosixPath


class Model:
    """What a pydantic model looks like from outside."""

    def model_dump(self) -> dict[str, Any]:
        return {"inner": {"point": Point(1, pathlib.PurePosixPath("/a"))}}


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    GO = "go"


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "as_json"),
    [
        (Point(1, pathlib.PurePosixPath("/a")), {"x": 1, "where": "/a"}),
        (Model(), {"inner": {"point": {"x": 1, "where": "/a"}}}),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset(), []),
        ((1, (2,)), [1, [2]]),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (1.5, 1.5),
        (True, True),
        (Colour.RED, "Colour.RED"),
        (Level.HIGH, 3),
        (Word.GO, "go"),
        (Text("t"), "t"),
        (b"\xff", r"b'\xff'"),
        (pathlib.PurePosixPath("/a b"), "/a b"),
        (datetime.date(2020, 1, 2), "2020-01-02"),
        ({1: "a", None: "b", False: "c", 1.5: "d"}, {"1": "a", "null": "b", "false": "c", "1.5": "d"}),
        (Point, str(Point)),
        ("\ud800 é", "\ud800 é"),
        ("a\0b", "a\0b"),
        ({"\udcff": "\udcff"}, {"\udcff": "\udcff"}),
        (None, None),
    ],
)
@pytest.mark.parametrize("format_", ["table", "array"])
def test_any_value_goes_as_json(project: Path, value: object, as_json: object, format_: str) -> None:
    assert sent(project, shell_call(tool_input={"v": value}), format_)["tool_input"] == {"v": as_json}


def test_a_number_too_long_to_print_does_not_keep_a_guard_from_running(project: Path) -> None:
    config = write_config(project / "hooks.toml", table_hook("exit 2"))
    assert decide(config, shell_call(tool_input={"n": 10**5000})).denied


def test_the_hooks_of_an_event_cannot_change_what_others_are_sent(project: Path) -> None:
    engine = Engine.load(configs=[write_config(project / "hooks.toml", table_hook(SAVE))])

    @engine.on("pre-tool-call", priority=1000)
    def careless(event: Event) -> None:
        event.tool_input["command"] = "changed"
        event.context["a"] = "changed"

    given = {"command": "ls"}
    event = shell_call(tool_input=given, context={"a": 1})
    verdict = engine.decide(event)
    got = json.loads((project / "sent").read_text())
    assert (got["tool_input"], got["context"], given, verdict.modified_input) == (
        {"command": "ls"},
        {"a": 1},
        {"command": "ls"},
        None,
    )
