"""What agents really sent, read as events: under the right name, with everything that was in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hosts.recorded import (
    DATA,
    FORMATS,
    MEANS,
    MEANS_HERE,
    RECORDED,
    WITHOUT,
    each_agent,
    native_name,
    plain,
    read,
    recorded,
    sent,
    told,
)
from tenterhook.agents import AGENTS
from tenterhook.agents.protocol import MODES, PROMPT, SUBAGENT
from tenterhook.events import tool_names

if TYPE_CHECKING:
    from tenterhook.agents.codec import Received


any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)


def given_input(payload: dict[str, Any]) -> Any:
    payload = plain(payload)
    return payload.get("tool_input", payload.get("toolArgs", payload.get("toolInput")))


def test_there_is_something_recorded_of_every_agent_and_the_events_that_decide() -> None:
    assert {file.parent.name for file in RECORDED} == set(AGENTS)
    for agent in AGENTS:
        recorded = {MEANS[agent].get(native_name(file)) for file in RECORDED if file.parent.name == agent}
        deciding = {"pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop", "pre-session"}
        assert deciding - WITHOUT.get(agent, set()) == deciding & recorded, agent


def named_tool(payload: dict[str, Any]) -> Any:
    """The tool's name; that of OpenHands's editor has what it is told to do."""
    name = payload.get("tool_name", payload.get("toolName"))
    return f"{name}.{payload['tool_input']['command']}" if name == "file_editor" else name


@each_agent
def test_an_event_has_its_name_its_session_and_its_place(agent: str) -> None:
    for file in recorded(agent):
        native, payload = native_name(file), sent(file)
        expected = MEANS_HERE.get(f"{agent}/{file.stem}", MEANS[agent].get(native, "agent-event"))
        received = read(file)
        assert received.event.canonical == expected
        whose = payload.get("parentAgentId", payload.get("sessionId"))  # a subagent belongs to the session around it
        found = plain(payload)
        assert received.event.session_id == found.get("session_id", payload.get("conversation_id", whose))
        [root, *_] = payload.get("workspace_roots", [str(Path.cwd())])
        assert received.event.work_dir == found.get("cwd", payload.get("working_dir", root))
        assert received.event.tool_name == named_tool(found)
        assert received.native == native
        assert received.payload == payload


@each_agent
def test_a_tools_input_is_native_plus_the_keys_that_hooks_expect(agent: str) -> None:
    for file in recorded(agent):
        payload, received = sent(file), read(file)
        native = given_input(payload)
        if native is None:
            assert received.event.tool_input is None
            continue
        seen = received.event.tool_input
        assert {key: seen[key] for key in native} == native
        names = tool_names(str(named_tool(plain(payload))))
        expected = []
        if "apply_patch" in names:
            expected = ["file_path", "file_paths"]
            assert seen["file_paths"] == [seen["file_path"]]
        elif "Shell" in names:
            expected = ["command"]
        elif "WriteFile" in names and names[0] != "patch":
            expected = ["file_path", "content"]
        elif "ReadFile" in names or "StrReplaceFile" in names:
            expected = ["file_path"]
        for key in expected:
            assert isinstance(seen[key], list if key == "file_paths" else str), key
        assert set(seen) - {"file_paths"} == {*native, *expected} - {"file_paths"}


@pytest.mark.parametrize(
    ("file", "key", "value"),
    [
        ("copilot/preToolUse-create", "file_path", "/work/project/n.txt"),
        ("copilot/preToolUse-create", "content", "hello\n"),
        ("copilot/preToolUse-edit", "file_path", "/work/project/n.txt"),
        ("copilot/postToolUseFailure", "file_path", "/nonexistent/x"),
        ("kimi-cli/PreToolUse-WriteFile", "file_path", "/work/project/n.txt"),
        ("kimi-code/PreToolUse-Read", "file_path", "/work/project/nope.txt"),
        ("gemini/BeforeTool-write_file", "content", "hello\n"),
        ("codex/PreToolUse", "command", "echo hi >> /work/out/side.txt; echo hi-out"),
        ("cline/PreToolUse", "command", "ls -a"),
        ("cline/PreToolUse-two-commands", "command", "echo hi\necho oops >&2; exit 3"),
        ("cline/PreToolUse-editor", "content", "one\n"),
        ("cline/PreToolUse-read_files", "file_paths", ["/home/user/project/a.txt", "/home/user/project/none.txt"]),
    ],
)
def test_the_expected_keys_have_the_native_values(file: str, key: str, value: Any) -> None:
    assert read(DATA / f"{file}.json").event.tool_input[key] == value


@each_agent
def test_nothing_of_a_payload_is_lost_to_a_folder_hook(agent: str) -> None:
    for file in recorded(agent):
        payload, received = sent(file), read(file)
        got = told(received)
        kept = got["context"]["agent"]["payload"]
        assert got["context"]["agent"]["event"] == native_name(file)
        fields = [value for key, value in got.items() if key != "context"] + list(received.event.fields.values())
        fields += [value for field in fields if isinstance(field, dict) for value in field.values()]
        for key, value in payload.items():
            if key in kept:
                assert kept[key] == value, key
            elif key == "hook_event_name":
                assert got["context"]["agent"]["event"].lower() == value.lower()
            elif key in ("tool_input", "toolArgs", "toolInput") and value is not None:
                assert got["tool_input"].items() >= value.items()
            elif key == "tool_name":
                assert got.get("tool_name") == named_tool(payload)
            else:
                assert value is None or value in fields, key


@settings(max_examples=200)
@given(
    file=st.sampled_from(RECORDED),
    extra=st.dictionaries(
        st.sampled_from(["brand_new", "name", "self", "context", "work_dir", "event_type", "timestamp", "cls", "model"])
        | any_text.filter(bool),
        json_values,
        max_size=3,
    ),
)
def test_a_field_that_nobody_knows_reaches_a_folder_hook(file: Path, extra: dict[str, Any]) -> None:
    new = {key: value for key, value in extra.items() if key not in sent(file)}
    received = read(file, **new)
    assert received.payload == {**sent(file), **new}
    kept = told(received)["context"]["agent"]["payload"]
    carried = {"prompt", "session_id", "sessionId", "cwd", "hook_event_name", "tool_name", "toolName", "tool_input"}
    assert {key: kept.get(key) for key in new if key not in carried} == {
        k: v for k, v in new.items() if k not in carried
    }


@each_agent
@settings(max_examples=25)
@given(
    native=any_text.filter(lambda name: name not in {each for names in MEANS.values() for each in names}),
    payload=st.dictionaries(any_text, json_values, max_size=5),
)
def test_an_unknown_event_reaches_hooks_whole(agent: str, native: str, payload: dict[str, Any]) -> None:
    if native in AGENTS[agent].events:
        return
    received = AGENTS[agent].read_event(payload, native)
    assert received.event.canonical == "agent-event"
    assert received.event.fields["agent_event"] == native
    assert told(received)["context"]["agent"]["payload"] == payload


@each_agent
def test_a_recorded_event_that_has_no_name_here_reaches_hooks_whole(agent: str) -> None:
    for file in recorded(agent):
        if read(file).event.canonical == "agent-event":
            assert told(read(file))["context"]["agent"]["payload"] == sent(file)
            assert told(read(file))["agent_event"] == native_name(file)


def without_added_keys(payload: dict[str, Any], received: Received) -> dict[str, Any]:
    if not received.renamed:
        return payload
    kept = {key: value for key, value in payload["tool_input"].items() if key not in received.renamed}
    return {**payload, "tool_input": kept}


@each_agent
def test_an_agents_own_hooks_are_sent_what_the_agent_sent(agent: str) -> None:
    """The codec that a format and a host share is its own inverse."""
    for file in recorded(agent):
        format_ = FORMATS.get(file.parent.name)
        received = read(file)
        if format_ is None or received.event.canonical == "agent-event":
            continue
        got = without_added_keys(told(received, format_), received)
        expected = sent(file)
        if format_ == "array" and isinstance(expected.get("tool_output"), str):
            expected["tool_output"] = expected["tool_output"][:2000]  # as the format limits it
        if agent == "kimi-cli" and isinstance(expected.get("prompt"), str) and native_name(file) == "UserPromptSubmit":
            expected["prompt"] = [{"type": "text", "text": expected["prompt"]}]  # as Kimi Code has it
        got.pop("permission_request_id", None)  # which stands beside `id`
        assert got == expected, file.stem


RESULTS = [file for file in RECORDED if file.parent.name in ("claude-code", "codex", "gemini", "qwen")]
RESULTS = [file for file in RESULTS if file.stem in ("PostToolUse", "AfterTool")]


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.parent.name)
@settings(max_examples=40)
@given(response=json_values.filter(lambda value: value is not None))
def test_a_tools_result_of_any_shape_comes_back_as_it_was(file: Path, response: Any) -> None:
    """Tools of other servers answer with lists, strings and numbers as well."""
    received = read(file, tool_response=response)
    assert received.event.fields["tool_output"] == response
    assert told(received, FORMATS[file.parent.name])["tool_response"] == response


PROMPTS = [file for file in RECORDED if file.stem in ("UserPromptSubmit", "BeforeAgent")]
PROMPTS = [
    file for file in PROMPTS if file.parent.name not in ("kimi-cli", "droid", "cline", "goose")
]  # not their shape, or no format


@pytest.mark.parametrize("file", PROMPTS, ids=lambda file: file.parent.name)
@settings(max_examples=20)
@given(prompt=any_text | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": any_text}), max_size=3))
def test_a_prompt_of_any_shape_comes_back_as_it_was(file: Path, prompt: Any) -> None:
    received = read(file, prompt=prompt)
    assert received.event.prompt == prompt
    if isinstance(prompt, list) == isinstance(sent(file)["prompt"], list):  # the shape this agent has
        assert told(received, FORMATS[file.parent.name])["prompt"] == prompt


@each_agent
@settings(max_examples=60)
@given(
    native=st.sampled_from(["PreToolUse", "BeforeTool", "preToolUse", "Stop", "agentStop", "SessionStart"]),
    payload=st.dictionaries(
        st.sampled_from(
            ["session_id", "sessionId", "cwd", "tool_name", "toolName", "tool_input", "toolArgs", "toolInput", "prompt"]
        )
        | st.sampled_from(
            ["hook_event_name", "timestamp", "tool_use_id", "tool_call_id", "stop_hook_active", "display"]
        ),
        json_values,
        max_size=6,
    ),
)
def test_a_payload_of_wrong_types_is_still_an_event(agent: str, native: str, payload: dict[str, Any]) -> None:
    received = AGENTS[agent].read_event(payload, native)
    assert isinstance(received.event.session_id, str)
    assert isinstance(received.event.work_dir, str)
    assert isinstance(received.event.tool_name, str | None)
    assert received.payload == payload
    told(received)


@pytest.mark.parametrize("name", AGENTS)
def test_every_mode_has_a_command_that_says_the_prompt_or_a_reason_why_not(name: str, tmp_path: Path) -> None:
    agent = AGENTS[name]
    assert {*agent.modes, *agent.missing_modes} == set(MODES)
    for mode in agent.modes:
        assert PROMPT in agent.command(Path("/bin/agent"), PROMPT, tmp_path, mode)


@pytest.mark.parametrize("name", AGENTS)
def test_a_subagents_calls_are_kept_for_requests_without_the_main_prompt(name: str) -> None:
    agent = AGENTS[name]
    call = agent.shell_call("true")
    holding = [turn for turn in agent.script(SUBAGENT, call, prompt="mine") if call in turn.calls]
    assert [turn.unless for turn in holding] == ["mine"]


@pytest.mark.parametrize(
    ("agent", "tool", "more", "names"),
    [
        ("claude-code", "mcp__github__create_issue", {}, ["mcp:github/create_issue"]),
        ("codex", "mcp__github__create_issue", {}, ["mcp:github/create_issue"]),
        ("qwen", "mcp__github__create_issue", {}, ["mcp:github/create_issue"]),
        ("kimi-code", "mcp__github__create_issue", {}, ["mcp:github/create_issue"]),
        ("kimi-cli", "create_issue", {}, []),
        ("droid", "my_server___create_issue", {}, ["mcp:my_server/create_issue"]),
        ("gemini", "mcp_github_list", {"mcp_context": {"server_name": "a_b", "tool_name": "c"}}, ["mcp:a_b/c"]),
        ("gemini", "mcp_github_list", {"mcp_context": "github"}, ["mcp:github/list"]),
        ("gemini", "run_shell_command", {}, []),
        ("copilot", "a-b-list_issues", {}, ["mcp:a-b/list_issues", "mcp:a/b-list_issues"]),
        ("copilot", "a-b/list_issues", {}, ["mcp:a-b/list_issues"]),  # as a permission request names it
        ("copilot", "report_intent", {}, []),
    ],
)
def test_an_mcp_tool_has_one_name_in_every_agent(agent: str, tool: str, more: dict[str, Any], names: list[str]) -> None:
    native = next(name for name, ours in AGENTS[agent].events.items() if ours == "pre-tool-call")
    keys = ("toolName", "toolArgs") if agent == "copilot" else ("tool_name", "tool_input")
    payload = {keys[0]: tool, keys[1]: {"text": "hi"}, "cwd": "/work", **more}
    received = AGENTS[agent].read_event(payload, native)
    assert received.event.mcp_names == names
    assert received.event.tool_name == tool
    assert told(received).get("mcp_names", []) == names


RECORDED_MCP = [file for file in RECORDED if "mcp" in file.stem and AGENTS[file.parent.name].proven]


@pytest.mark.parametrize("file", RECORDED_MCP, ids=lambda file: file.parent.name)
def test_what_agents_really_call_a_tool_of_an_mcp_server_is_understood(file: Path) -> None:
    event = read(file).event
    if file.parent.name == "openhands":  # which tells no server
        assert event.mcp_names == ["mcp:unknown/echo"]
        assert event.tool_input["data"] == {"text": "hi"}
    else:
        assert event.mcp_names[0] in ("mcp:echo/echo", "mcp:s/echo", "mcp:canary/echo")
        assert event.tool_input["text"] == "hi"
