"""PROTOCOL 6: the fields each event has when the agent sends it, in the words of each format."""

from __future__ import annotations

import json
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest

from bundled_agent.life import FOUND, PROMPT, ROWS, TASK_PROMPT
from bundled_agent.playing import shell
from support import tenterhook, until

if TYPE_CHECKING:
    from bundled_agent.life import Life
    from bundled_agent.playing import Heard, Play

_TOOL = {"tool_name", "tool_input", "tool_use_id"}
_ARRAY_TOOL = {"tool_name", "tool_input", "tool_call_id"}
_STOP = {"stop_reason", "step_count", "final_message", "stop_hook_active"}
_PERMISSION = {"permission_request_id", "id", "tool_name", "tool_input", "tool_call_id", "action", "display"}
_RESULT = {"decision", "answered_by", "scope", "duration_ms"}
_SUBAGENT = {"subagent_name", "subagent_type", "task_description"}
_NOTIFICATION = {"sink", "notification_type", "title", "body", "severity", "source_kind", "source_id"}
_TURN = {"turn_id", "origin_kind", "origin_name", "prompt"}
_TASK = {"task_id", "kind", "description", "detached"}
_WHOSE = {"agent_id", "agent_type"}  # the agent's own, beyond the formats: which subagent it is

# beside the base fields of its format: what folder and table hooks are sent, what array hooks are sent
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "pre-session": ({"model", "args", "source"}, {"source", "model"}),
    "post-session": ({"duration_seconds", "total_steps", "exit_reason"}, {"reason"}),
    "pre-agent-turn": ({"prompt"}, {"prompt"}),
    "post-agent-turn": ({"prompt", "response"}, {"prompt", "response"}),
    "pre-agent-turn-stop": (_STOP, {"stop_hook_active"}),
    "post-agent-turn-stop": (_STOP, {"stop_hook_active"}),
    "pre-tool-call": (_TOOL, _ARRAY_TOOL),
    "post-tool-call": (_TOOL | {"tool_output"}, _ARRAY_TOOL | {"tool_output"}),
    "post-tool-call-failure": (_TOOL | {"error"}, _ARRAY_TOOL | {"error"}),
    "permission-request": (_PERMISSION | {"tool_use_id"}, _PERMISSION),
    "permission-result": (_PERMISSION | _RESULT | {"tool_use_id"}, _PERMISSION | _RESULT),
    "pre-subagent": (_SUBAGENT | _WHOSE, {"agent_name", "prompt"} | _WHOSE),
    "post-subagent": (
        _SUBAGENT | _WHOSE | {"response", "stop_hook_active"},
        {"agent_name", "response", "stop_hook_active"} | _WHOSE,
    ),
    "pre-context-compact": ({"trigger", "token_count"}, {"trigger", "token_count"}),
    "post-context-compact": ({"trigger", "estimated_token_count"}, {"trigger", "estimated_token_count"}),
    "notification": (_NOTIFICATION, _NOTIFICATION),
    "turn-started": (_TURN, _TURN),
    "task-started": (_TASK, _TASK),
}
_BASE = {"event_type", "timestamp", "session_id", "work_dir", "context"}
_ARRAY_BASE = {"hook_event_name", "session_id", "cwd"}
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def test_every_row_has_its_fields() -> None:
    assert list(FIELDS) == [row.folder for row in ROWS]


@pytest.mark.parametrize("event", FIELDS)
@pytest.mark.parametrize("family", ["folder", "table"])
def test_folder_and_table_hooks_are_sent_the_fields_of_the_event(life: Life, event: str, family: str) -> None:
    """Folder and table hooks are sent `event_type`, `timestamp` (ISO 8601), `session_id`, `work_dir` and `context` …,
    and the fields that the event has."""
    for sent in life.sent(event, family):
        assert set(sent) == _BASE | FIELDS[event][0]
        assert (sent["session_id"], sent["work_dir"]) == (life.session.id, str(life.play.project))
        assert _ISO.fullmatch(sent["timestamp"])
        assert isinstance(sent["context"], dict)


@pytest.mark.parametrize("event", FIELDS)
def test_array_hooks_are_sent_their_columns(life: Life, event: str) -> None:
    """Array hooks are sent `hook_event_name`, `session_id`, `cwd`, and S1's columns."""
    for sent in life.sent(event, "array"):
        assert set(sent) == _ARRAY_BASE | FIELDS[event][1]
        assert (sent["session_id"], sent["cwd"]) == (life.session.id, str(life.play.project))


_OPTIONAL = {"exit_code"}  # of a command that has failed; a tool that is none has none


def documented(event: str, family: str) -> dict[str, Any]:
    """The sample that `tenterhook show EVENT` prints."""
    shown = json.loads(tenterhook("show", event, "--json").stdout)["event"]
    return dict(shown["array_example" if family == "array" else "example"])


def kind(value: Any) -> str | dict[str, str]:
    """A value's type in JSON; of an object, those of its keys."""
    if isinstance(value, dict):
        return {key: str(kind(each)) for key, each in value.items()}
    names = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", type(None): "null"}
    return names[type(value)]


def differences(sent: dict[str, Any], sample: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Fields that are not as documented: what was sent, and what the sample has."""
    missing = {key: (None, value) for key, value in sample.items() if key not in sent and key not in _OPTIONAL}
    unknown = {key: (value, None) for key, value in sent.items() if key not in sample and key not in _WHOSE}
    free = ("tool_input", "display", "context")  # objects whose keys depend on the tool, or the agent
    wrong = {
        key: (value, sample[key])
        for key, value in sent.items()
        if key in sample
        and (type(value) is not type(sample[key]) if key in free else kind(value) != kind(sample[key]))
        and not (key == "prompt" and isinstance(value, list))
    }
    return missing | unknown | wrong


@pytest.mark.parametrize("event", FIELDS)
@pytest.mark.parametrize("family", ["folder", "table", "array"])
def test_payloads_are_as_show_documents_them(life: Life, event: str, family: str) -> None:
    sample = documented(event, family)
    for sent in life.sent(event, family):
        assert differences(sent, sample) == {}


@pytest.mark.slow
def test_payloads_of_events_that_are_no_ordinary_ones_are_as_documented(play: Play) -> None:
    """A failing command, an interruption, a heartbeat, a turn that fails, a prompt that waits."""
    play.env["TENTERHOOK_HEARTBEAT"] = "0.2"
    names = ("post-tool-call-failure", "interrupt", "session-heartbeat", "post-agent-turn-failure", "prompt-queued")
    heard: dict[str, list[Heard]] = {name: [play.hook(f"{of} {name}") for of in ("folder", "array")] for name in names}
    running = play.start([shell("exit 3")], [shell("touch begun; sleep 60")], "Never said.")
    try:
        until(lambda: play.ran("begun"))
        running.process.send_signal(signal.SIGINT)
        running.end(130)
    finally:
        running.process.kill()
    play.run({"error": {"status": 503, "message": "overloaded"}}, exits=1)
    with play.terminal([shell("touch waiting; sleep 2")], "One.", "Two.", mode="yolo") as terminal:
        terminal.sees(" ›")
        terminal.say("first")
        until(lambda: play.ran("waiting"))
        terminal.say("second")
        terminal.sees(r"Two\.")
        terminal.leave()
    for event, hooks in heard.items():
        for family, each in zip(("folder", "array"), hooks, strict=True):
            assert differences(each.times(1)[0], documented(event, family)) == {}


def test_args_say_how_the_agent_was_started(play: Play) -> None:
    """`args`: `{"ui", "agent"}` (S3)"""
    heard = play.hook("folder session_start")
    play.run("Done.")
    with play.terminal("Done.") as terminal:
        terminal.sees(" ›")
        terminal.leave()
    assert [sent["args"] for sent in heard.times(2)] == [{"ui": ui, "agent": "default"} for ui in ("print", "shell")]


def test_the_session_and_its_figures(life: Life) -> None:
    """`model`, `args`, `source` | `duration_seconds`, `total_steps` (session), `exit_reason` (`user_exit` …)"""
    begun, ended = life.first("pre-session", "folder"), life.first("post-session", "folder")
    assert begun["source"] == life.first("pre-session", "array")["source"] == "startup"
    assert "script" in begun["model"]
    assert 0 < ended["duration_seconds"] < 100
    assert ended["total_steps"] == life.session.report["steps"] >= 7
    assert isinstance(ended["exit_reason"], str)
    assert life.first("post-session", "array")["reason"] == "exit"


def test_a_prompt_is_text_or_a_list_of_content_parts(life: Life) -> None:
    """`prompt` (string) … `prompt` of UserPromptSubmit is a list of content parts"""
    for family in ("folder", "table"):
        assert life.first("pre-agent-turn", family)["prompt"] == PROMPT
    assert life.first("pre-agent-turn", "array")["prompt"] == [{"type": "text", "text": PROMPT}]


def test_a_tools_call_result_and_error(life: Life) -> None:
    """`tool_name`, `tool_input`, `tool_use_id`, `tool_output`, `error` … `tool_output` is cut at 2000 characters"""
    before, after = life.sent("pre-tool-call", "folder"), life.sent("post-tool-call", "folder")
    names = ["Shell", "ReadFile", "ReadFile", "Task", "Task", "Glob"]
    assert [sent["tool_name"] for sent in before] == names
    assert before[0]["tool_input"] == {"command": "echo made > made.txt"}
    assert len({sent["tool_use_id"] for sent in before}) == len(names)
    read = next(sent for sent in after if sent["tool_name"] == "ReadFile")
    assert read["tool_use_id"] == before[1]["tool_use_id"]
    assert FOUND.strip() in read["tool_output"]
    cut = next(sent for sent in life.sent("post-tool-call", "array") if sent["tool_name"] == "ReadFile")
    assert len(cut["tool_output"]) == 2000
    assert cut["tool_output"] == read["tool_output"][:2000]
    assert cut["tool_call_id"] == read["tool_use_id"]
    failed = life.first("post-tool-call-failure", "folder")
    assert (failed["tool_name"], failed["tool_input"]) == ("ReadFile", {"file_path": "missing.txt"})
    assert "missing.txt" in failed["error"]
    assert life.first("post-tool-call-failure", "array")["error"] == failed["error"]


def test_a_subagents_name_task_and_response(life: Life) -> None:
    """`subagent_name`, `subagent_type`, `task_description`, `response` … a subagent's `prompt` and `response` at 500"""
    begun, ended = life.first("pre-subagent", "folder"), life.first("post-subagent", "folder")
    assert begun["subagent_name"] == ended["subagent_name"] == "reviewer"
    assert isinstance(begun["subagent_type"], str)
    assert ended["response"].strip() == FOUND.strip()
    by_name = {sent["agent_name"]: sent for sent in life.sent("pre-subagent", "array")}
    assert by_name["reviewer"]["prompt"] == TASK_PROMPT[:500]
    assert by_name["worker"]["prompt"] == "work"
    ends = {sent["agent_name"]: sent for sent in life.heard["array SubagentStop"].times(2)}
    assert ends["reviewer"]["response"] == FOUND[:500]
    assert ends["worker"]["response"] == "worked"


def test_a_stop_its_reason_and_the_turns_steps(life: Life) -> None:
    """`stop_reason` (`no_tool_calls`, `tool_rejected`, `max_steps`), `step_count` (turn), `final_message`,
    `stop_hook_active`"""
    sent = life.first("pre-agent-turn-stop", "folder")
    assert (sent["stop_reason"], sent["step_count"], sent["stop_hook_active"]) == ("no_tool_calls", 7, False)
    assert sent["final_message"] == {"role": "assistant", "content": "All is done."}
    assert life.first("pre-agent-turn-stop", "array")["stop_hook_active"] is False


def test_a_compaction_and_its_tokens(life: Life) -> None:
    """`trigger`, `token_count`"""
    for family in ("folder", "table", "array"):
        before, after = life.first("pre-context-compact", family), life.first("post-context-compact", family)
        assert before["trigger"] == after["trigger"] == "auto"
        assert before["token_count"] >= 60_000
        assert 0 < after["estimated_token_count"] < before["token_count"]


def test_permissions_and_what_became_of_them(life: Life) -> None:
    """`permission-result` then carries `decision`, `answered_by`, `scope`, `duration_ms` (7)"""
    asked, told = life.sent("permission-request", "array"), life.sent("permission-result", "folder")
    assert [sent["id"] for sent in asked] == [sent["permission_request_id"] for sent in told]
    assert [sent["tool_input"] for sent in asked] == [sent["tool_input"] for sent in told]
    calls = {sent["tool_use_id"] for sent in life.sent("pre-tool-call", "folder")}
    assert {sent["tool_call_id"] for sent in asked} <= calls


def test_the_environment_tells_the_session(play: Play) -> None:
    """Environment: the caller's, plus `KIMI_SESSION_ID`, `KIMI_WORK_DIR`, `KIMI_PROJECT_DIR`, `KIMI_ENV_FILE` (5)"""
    play.hook("folder pre-session", 'echo "FLAVOUR=vanilla" >> "$KIMI_ENV_FILE"')
    show = 'echo "$FLAVOUR $KIMI_SESSION_ID $KIMI_WORK_DIR $KIMI_PROJECT_DIR" > seen'
    play.hook("folder pre-tool-call", show)
    calls: list[dict[str, Any]] = [{"tool": "Shell", "input": {"command": "echo $FLAVOUR > tool"}}]
    session = play.run(calls, "Done.")
    seen = (play.project / "seen").read_text().split()
    assert seen == ["vanilla", session.id, str(play.project), str(play.project)]
    assert (play.project / "tool").read_text() == "vanilla\n"
