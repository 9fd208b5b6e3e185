"""Verdicts in each agent's own words, read as the released agents were observed to read them."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hosts.observed import DOES, Does, parsed
from hosts.recorded import DATA, RECORDED, each_agent, native_name
from tenterhook import Action, Decision, Hook, Run, Verdict
from tenterhook.agents import AGENTS, codec
from tenterhook.events import OUTPUT_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tenterhook.agents.codec import HookOutput, Received

OUTPUT = "[redacted]"
REASON, CONTEXT, MESSAGE = "because of §1", "the model should know", "the person should know"


# ---- what must come out


def received_events(agent: str) -> Iterator[tuple[str, Received]]:
    for file in RECORDED:
        if file.parent.name == agent:
            yield file.stem, AGENTS[agent].read_event(json.loads(file.read_text()), native_name(file))


def done(agent: str, received: Received, answer: HookOutput) -> Does:
    """What the agent does with an answer: nothing else is on its streams."""
    assert not (answer.stdout and answer.blocks), "where the exit status blocks, stdout says nothing"
    assert bool(answer.stderr) == answer.blocks, "stderr is for a block's reason"
    does: Does = DOES[agent](received.native, answer.stdout, answer.stderr, 2 if answer.blocks else 0)
    is_original = does.instead is not None and does.instead == received.event.fields.get("error")
    return does._replace(instead=None) if is_original else does  # the error itself, beside a text


def verdicts(received: Received) -> Iterator[Verdict]:
    """Every kind of verdict the engine gives at an event, and all their combinations."""
    event = received.event.canonical
    native = received.event.tool_input
    is_tool = event == "pre-tool-call" and isinstance(native, dict)
    changes: list[dict[str, Any] | None] = [None, {**native, "command": "echo changed"}] if is_tool else [None]
    outputs = [None, OUTPUT] if event in OUTPUT_FIELDS else [None]
    for action, reason, changed, context, message, output in itertools.product(
        Action, (REASON, None), changes, ((), (CONTEXT,), (CONTEXT, "more")), ((), (MESSAGE,)), outputs
    ):
        if action is Action.DENY and changed is not None:
            continue  # verdicts.merge never makes one
        yield Verdict(event, action, reason, changed, context, messages=message, modified_output=output)


def said_to_be_lost(answer: HookOutput, what: str) -> bool:
    return any(entry.startswith(what) for entry in answer.lost)


def check(agent: str, received: Received, verdict: Verdict) -> Does:
    """What the agent would do is what the verdict means, or the answer says what became of it."""
    answer = AGENTS[agent].write_verdict(received, verdict)
    does = done(agent, received, answer)
    event, action = received.event.canonical, verdict.decision
    whole = "\n".join(filter(None, (does.block, does.ask, does.context, does.instead)))
    reason = verdict.reason or ("Blocked by" if action is Action.DENY else "")
    # the output
    if verdict.modified_output is None:
        assert does.instead is None, "a tool's result is never taken away"
    else:
        replaced = verdict.modified_output in (does.instead or "")
        assert replaced != said_to_be_lost(answer, "modified output"), "the output is replaced, or said to be lost"
        told = "wanted to replace this output" in whole + (does.message or "")
        assert replaced or told or said_to_be_lost(answer, "message"), "why it was not replaced is told"
    # decisions
    if action is Action.DENY:
        assert reason in whole or said_to_be_lost(answer, "block"), "a block is never lost in silence"
        assert does.ask is None
        assert does.input is None
    elif action is Action.ASK and event == "pre-tool-call":
        assert does.ask is not None or does.block is not None, "a question is never lost into an allow"
        assert reason in whole or verdict.modified_input is not None
        assert (does.ask is not None) != (said_to_be_lost(answer, "ask") or said_to_be_lost(answer, "modified"))
    else:
        assert does.ask is None
        assert does.block is None or said_to_be_lost(answer, "modified")
    may_approve = action is Action.APPROVE and event in ("pre-tool-call", "permission-request")
    assert does.approve <= may_approve, "nothing but an approval approves"
    if may_approve:
        assert does.approve or any(said_to_be_lost(answer, what) for what in ("approve", "modified"))
        assert not (does.approve and said_to_be_lost(answer, "approve"))
    # the input
    if verdict.modified_input is not None:
        if does.block is not None:
            assert any(said_to_be_lost(answer, what) for what in ("modified", "ask"))
            assert does.input is None
        else:
            assert does.input is not None
            assert does.input["command"] == "echo changed"
    else:
        assert does.input is None
    # texts
    for text in verdict.additional_context:
        assert (text in whole) != said_to_be_lost(answer, "context"), "context"
    for text in verdict.messages:
        assert (text in (does.message or "")) != said_to_be_lost(answer, "message"), "message"
    if not answer.lost and verdict == Verdict(event, action) and action in (Action.NONE, Action.ALLOW):
        silence = AGENTS[agent].no_decision.get(received.native, "")
        assert (answer.stdout, answer.stderr, answer.blocks) == (silence, "", False), "nothing to say: nothing is said"
    return does


@each_agent
def test_an_agent_does_what_the_verdict_means_or_the_answer_says_what_was_lost(agent: str) -> None:
    wrong: dict[str, str] = {}
    for stem, received in received_events(agent):
        for verdict in verdicts(received):
            try:
                check(agent, received, verdict)
            except AssertionError as error:
                shown = f"{verdict.decision} {verdict.reason} {verdict.modified_input} {verdict.additional_context}"
                wrong.setdefault(
                    f"{received.native}: {str(error).splitlines()[0]}", f"{stem}: {shown} {verdict.messages}"
                )
    assert not wrong


def does_at(agent: str, native: str, verdict: Callable[[str], Verdict]) -> Does:
    file = DATA / agent / f"{native}.json"
    received = AGENTS[agent].read_event(json.loads(file.read_text()), native)
    return check(agent, received, verdict(received.event.canonical))


# Where a block was seen to be honoured; everywhere else it must be said to be lost, or stand beside a result.
BLOCKS = {
    "claude-code": ("PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact"),
    "codex": ("SessionStart", "PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop"),
    "gemini": ("BeforeTool", "BeforeAgent", "AfterAgent"),
    "qwen": ("PreToolUse", "UserPromptSubmit", "Stop", "SubagentStop"),
    "copilot": ("preToolUse", "permissionRequest", "userPromptSubmitted", "agentStop", "subagentStop"),
    "droid": ("PreToolUse", "UserPromptSubmit", "Stop", "PreCompact"),
    "pi": ("tool_call", "input", "agent_before_settle", "session_before_compact"),
    "kimi-code": ("PreToolUse", "UserPromptSubmit", "Stop"),
    "kimi-cli": ("PreToolUse", "UserPromptSubmit", "Stop"),
    "vibe": ("pre_tool", "post_agent"),
    "openhands": ("pre_tool_use", "user_prompt_submit", "stop"),
    "hermes": ("pre_tool_call", "pre_verify"),
    "cline": ("PreToolUse", "SessionStart", "UserPromptSubmit", "Stop", "SubagentStart"),
    "opencode": (
        *("tool.execute.before", "permission.asked", "session.created", "chat.message", "session.idle"),
        *("subagent.created", "subagent.idle"),
    ),
    "goose": ("PreToolUse",),
    "cursor": ("preToolUse", "beforeSubmitPrompt", "stop", "subagentStart", "subagentStop"),
}
# Where text was seen to reach the model.
HEARD = {
    "claude-code": (
        *("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SubagentStart"),
    ),
    "codex": ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStart"),
    "gemini": ("AfterTool", "BeforeAgent", "SessionStart"),
    "qwen": ("PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "PreCompact"),
    "copilot": (
        *("preToolUse", "postToolUse", "postToolUseFailure", "userPromptSubmitted", "sessionStart", "subagentStart"),
    ),
    "droid": ("PostToolUse", "UserPromptSubmit", "SessionStart"),
    "pi": ("session_start", "input", "tool_call", "tool_result", "tool_error"),
    "kimi-code": ("UserPromptSubmit",),
    "kimi-cli": (),
    "vibe": ("post_tool",),
    "openhands": ("user_prompt_submit",),
    "hermes": (
        *("on_session_start", "pre_llm_call", "pre_tool_call", "post_tool_call", "post_tool_call_error"),
        "subagent_start",
    ),
    "cline": ("PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "SubagentStart"),
    "opencode": (
        *("tool.execute.before", "tool.execute.after", "tool.execute.error", "session.created", "chat.message"),
        *("subagent.created", "experimental.session.compacting"),
    ),
    "cursor": ("sessionStart", "postToolUse"),
    "goose": (),
}
BEFORE_TOOL = {**dict.fromkeys(AGENTS, "PreToolUse"), "gemini": "BeforeTool", "copilot": "preToolUse"}
BEFORE_TOOL |= {"vibe": "pre_tool", "openhands": "pre_tool_use"}
BEFORE_TOOL |= {"pi": "tool_call", "opencode": "tool.execute.before"}
BEFORE_TOOL |= {"hermes": "pre_tool_call", "cursor": "preToolUse"}
ASKS = (
    "claude-code",
    "qwen",
    "copilot",
    "pi",
    "hermes",
)
CHANGES_INPUT = (
    "claude-code",
    "codex",
    "gemini",
    "copilot",
    "droid",
    "vibe",
    "pi",
    "hermes",
    "cline",
    "opencode",
    "cursor",
)


@each_agent
def test_a_block_is_one_wherever_the_agent_honours_one(agent: str) -> None:
    for native in {native_name(file) for file in RECORDED if file.parent.name == agent and "-" not in file.stem}:
        does = does_at(agent, native, lambda event: Verdict(event, Action.DENY, REASON))
        assert (does.block is not None) == (native in BLOCKS[agent]), native
        if native in BLOCKS[agent]:
            assert REASON in (does.block or ""), native


@each_agent
def test_a_block_after_a_tool_stands_beside_the_result_wherever_it_can(agent: str) -> None:
    after = ("PostToolUse", "PostToolUseFailure", "AfterTool", "postToolUse", "postToolUseFailure", "post_tool")
    for native in (*after, "tool_result", "post_tool_call", "tool.execute.after", "tool.execute.error"):
        if native in HEARD[agent]:
            does = does_at(agent, native, lambda event: Verdict(event, Action.DENY, REASON))
            assert REASON in (does.context or ""), native


@each_agent
def test_context_reaches_the_model_wherever_it_can(agent: str) -> None:
    for native in {native_name(file) for file in RECORDED if file.parent.name == agent and "-" not in file.stem}:
        does = does_at(agent, native, lambda event: Verdict(event, additional_context=(CONTEXT,)))
        assert (does.context == CONTEXT) == (native in HEARD[agent]), native


@each_agent
def test_a_question_is_the_agents_own_or_else_a_refusal(agent: str) -> None:
    does = does_at(agent, BEFORE_TOOL[agent], lambda event: Verdict(event, Action.ASK, REASON))
    if agent in ASKS:
        assert does == Does(ask=REASON)
    else:
        assert REASON in (does.block or "")


@each_agent
def test_an_approval_is_given_only_where_the_agent_takes_one_before_a_tool(agent: str) -> None:
    does = does_at(agent, BEFORE_TOOL[agent], lambda event: Verdict(event, Action.APPROVE, REASON))
    assert does == Does(approve=agent in ("claude-code", "copilot", "droid", "cline", "opencode"))


@pytest.mark.parametrize(
    ("agent", "native"),
    [
        *(("claude-code", "PermissionRequest"), ("codex", "PermissionRequest"), ("copilot", "permissionRequest")),
        ("opencode", "permission.asked"),
    ],
)
def test_a_permission_request_is_answered(agent: str, native: str) -> None:
    assert does_at(agent, native, lambda event: Verdict(event, Action.APPROVE, REASON)) == Does(approve=True)
    assert does_at(agent, native, lambda event: Verdict(event, Action.DENY, REASON)) == Does(block=REASON)
    for action in (Action.NONE, Action.ALLOW, Action.ASK):
        assert does_at(agent, native, lambda event, a=action: Verdict(event, a, REASON)) == Does()  # type: ignore[misc]


@each_agent
def test_a_modified_input_is_what_runs_or_nothing_runs(agent: str) -> None:
    changed = {"command": "echo changed", "description": "d"}
    does = does_at(agent, BEFORE_TOOL[agent], lambda event: Verdict(event, modified_input=changed))
    if agent in CHANGES_INPUT:
        assert does == Does(input=changed)
    else:
        assert "echo changed" in (does.block or ""), "the reason names it"


RENAMED = [
    ("copilot", "preToolUse-create", {"file_path": "path", "content": "file_text"}),
    ("copilot", "preToolUse-edit", {"file_path": "path"}),
    ("kimi-cli", "PreToolUse-WriteFile", {"file_path": "path"}),
    ("kimi-code", "PreToolUse-Write", {"file_path": "path"}),
    ("opencode", "tool.execute.before-write", {"file_path": "filePath"}),
]
CHANGED_INPUT = {
    "copilot": "modifiedArgs",
    "opencode": "input",
}  # the key of the answer; others' is the reason of a block


@pytest.mark.parametrize(("agent", "stem", "names"), RENAMED)
def test_a_modified_input_is_told_in_the_agents_own_keys(agent: str, stem: str, names: dict[str, str]) -> None:
    payload = json.loads((DATA / agent / f"{stem}.json").read_text())
    received = AGENTS[agent].read_event(payload, stem.partition("-")[0])
    native = payload.get("tool_input", payload.get("toolArgs"))
    for key, theirs in names.items():
        changed = {**received.event.tool_input, key: "changed"}
        answer = AGENTS[agent].write_verdict(received, Verdict("pre-tool-call", modified_input=changed))
        told = {**native, theirs: "changed"}
        if agent in CHANGED_INPUT:
            assert parsed(answer.stdout) == {CHANGED_INPUT[agent]: told}
        else:
            assert json.dumps(told) in answer.stderr
        # a hook that changed the agent's own key is heard as well
        changed = {**received.event.tool_input, theirs: "changed"}
        answer = AGENTS[agent].write_verdict(received, Verdict("pre-tool-call", modified_input=changed))
        assert json.dumps(told) in answer.stdout + answer.stderr
        # and one that knows only the expected keys
        changed = {**{k: v for k, v in received.event.tool_input.items() if k != theirs}, key: "changed"}
        answer = AGENTS[agent].write_verdict(received, Verdict("pre-tool-call", modified_input=changed))
        shown = answer.stdout or answer.stderr[answer.stderr.index("{") :]
        assert json.loads(shown).get(CHANGED_INPUT.get(agent), json.loads(shown)) == told


texts = st.text(max_size=30)


@each_agent
@settings(max_examples=100, deadline=None, database=None, derandomize=True)
@given(
    which=st.integers(min_value=0),
    action=st.sampled_from(list(Action)),
    reason=st.none() | texts,
    context=st.lists(texts.filter(str.strip), max_size=2),
    messages=st.lists(texts.filter(str.strip), max_size=2),
    changed=st.none() | st.dictionaries(texts, texts | st.integers() | st.none(), min_size=1, max_size=3),
    output=st.none() | texts | st.lists(texts, max_size=2) | st.dictionaries(texts, texts | st.integers(), max_size=3),
)
def test_no_words_of_a_hook_break_an_answer(
    agent: str,
    which: int,
    action: Action,
    reason: str | None,
    context: list[str],
    messages: list[str],
    changed: dict[str, Any] | None,
    output: Any,
) -> None:
    """Whatever a hook says, the agent understands the answer, and nothing in a text becomes a decision."""
    events = EVENTS_OF[agent]
    received = events[which % len(events)]
    event = received.event.canonical
    stripped = (reason or "").strip() or None  # as decisions.py leaves it
    modified = changed if event == "pre-tool-call" and action is not Action.DENY else None
    replaced = output if event in OUTPUT_FIELDS else None
    verdict = Verdict(
        event, action, stripped, modified, tuple(context), messages=tuple(messages), modified_output=replaced
    )
    answer = AGENTS[agent].write_verdict(received, verdict)
    answer.stdout.encode()
    answer.stderr.encode()
    if agent.startswith("kimi") and parsed(answer.stdout) is not None:
        return  # a hook's text that is JSON stays what it is
    does = done(agent, received, answer)
    assert does.approve <= (action is Action.APPROVE)
    assert (does.instead is not None) == (replaced is not None and not said_to_be_lost(answer, "modified output"))
    may_be_empty = agent == "copilot" or AGENTS[agent].plugin is not None
    assert does.instead is None or does.instead.strip() or may_be_empty, "an empty text would be ignored"
    blocks = event not in ("agent-event", "post-agent-turn-failure") and received.native in BLOCKS[agent]
    if action is Action.DENY and blocks:
        assert (does.block or "").strip()
    if action in (Action.NONE, Action.ALLOW) and modified is None:
        assert (does.block, does.ask) == (None, None)


EVENTS_OF = {agent: [received for _, received in received_events(agent)] for agent in AGENTS}


@pytest.mark.parametrize(("host", "tool"), [("kimi-cli", "WriteFile"), ("kimi-code", "Write"), ("copilot", "create")])
def test_a_decoy_beside_the_key_that_the_tool_reads_hides_nothing(host: str, tool: str) -> None:
    native, named, given = BEFORE[host]
    tool_input = {"path": "/etc/secret", "file_path": "/tmp/harmless", "filename": "/tmp/other", "content": "x"}
    received = AGENTS[host].read_event({named: tool, given: tool_input, "cwd": "/"}, native)
    assert received.event.tool_input["file_path"] == "/etc/secret"
    changed = {**received.event.tool_input, "file_path": "/elsewhere"}
    assert codec.native_input(received, changed)["path"] == "/elsewhere"


BEFORE = {
    "kimi-cli": ("PreToolUse", "tool_name", "tool_input"),
    "kimi-code": ("PreToolUse", "tool_name", "tool_input"),
    "copilot": ("preToolUse", "toolName", "toolArgs"),
}


# ---- a replaced output


def run_that_replaces(reason: str | None, *, ignored: str | None = None) -> Run:
    hook = Hook("redact", "post-tool-call", "after_tool", "folder")
    return Run(hook, decision=Decision(reason=reason, modified_output=OUTPUT, ignored=ignored))


def test_where_the_output_cannot_be_replaced_the_hooks_reason_is_beside_the_original() -> None:
    received = next(received for _, received in received_events("droid") if received.native == "PostToolUse")
    runs = (run_that_replaces("an AWS key"), run_that_replaces("an AWS key"), run_that_replaces("no", ignored="shadow"))
    verdict = Verdict("post-tool-call", runs=runs, modified_output=OUTPUT, additional_context=(CONTEXT,))
    answer = AGENTS["droid"].write_verdict(received, verdict)
    context = json.loads(answer.stdout)["hookSpecificOutput"]["additionalContext"]
    beside = "A hook wanted to replace this output, which was not possible in Factory Droid: an AWS key"
    assert context == f"{CONTEXT}\n\n{beside}"
    assert OUTPUT not in answer.stdout
    assert answer.lost == ("modified output: the model sees the original",)


def test_an_agent_that_takes_only_text_is_never_given_an_empty_one() -> None:
    received = next(received for _, received in received_events("codex") if received.native == "PostToolUse")
    answer = AGENTS["codex"].write_verdict(received, Verdict("post-tool-call", modified_output=""))
    assert json.loads(answer.stdout) == {"decision": "block", "reason": "(no output)"}
