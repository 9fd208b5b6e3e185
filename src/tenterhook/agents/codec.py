"""Shared by the codecs of all agents: received events with their payloads, verdicts reduced to what is supported."""

from __future__ import annotations

from ..basics import light_json
from ..basics.named_tuples import NamedTuple
from ..events import tool_names
from ..model import Action, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..model import Verdict


OTHER = "agent-event"  # an event of an agent that has no counterpart here


class Received(NamedTuple):
    """An event from an agent. `payload` is as it was sent; `renamed` maps keys added to the tool's input to its own."""

    event: Event
    native: str
    payload: dict[str, Any]
    renamed: Mapping[str, str] = {}


class HookOutput(NamedTuple):
    """The output of our process; `lost` lists the parts of the verdict that the agent does not support as they are."""

    stdout: str = ""
    stderr: str = ""
    blocks: bool = False  # exit status 2, else 0
    lost: tuple[str, ...] = ()


class Reply(NamedTuple):
    """A verdict reduced to what the agent supports; None for what it does not have."""

    event: str
    native: str
    deny: str | None = None
    ask: str | None = None
    approve: str | None = None
    tool_input: dict[str, Any] | None = None
    context: str | None = None
    message: str | None = None
    output: Any | None = None  # what the model sees instead of a tool's output or error, in the agent's own form


class Capabilities(NamedTuple):
    """What an agent supports, as observed on the released program (docs/agents.md)."""

    blocks: frozenset[str]  # the events at which a block has an effect
    context: frozenset[str]  # the events at which text of a hook reaches the model
    asks: bool = False  # a hook can make the agent ask the user
    approves: bool = False  # a hook can skip the agent's question
    modifies: bool = False  # a hook can change a tool's input
    answers_permission: bool = False  # a hook can answer the agent's permission request
    messages: bool = False  # a hook's message reaches the user
    replaces_output: bool = False  # a hook can replace what the model sees of a tool's result
    replaces_error: bool = False  # the same for a failed call, at `post-tool-call-failure`


def read_array(payload: dict[str, Any], native: str, events: Mapping[str, str]) -> Event:
    """Return the event in a payload of the array format, which some agents send."""
    if native not in events:
        return unknown_event(native, payload)
    fields = {key: value for key, value in payload.items() if key not in _OF_EVENT}
    return Event(events[native], **session_and_directory(payload), **fields)


def unknown_event(native: str, payload: dict[str, Any]) -> Event:
    """Return an `agent-event`, whose hooks are sent the whole payload."""
    return Event(OTHER, **session_and_directory(payload), agent_event=native)


def session_and_directory(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the session and the working directory of an event, also by the keys of VS Code and Cursor.

    Those run the hooks in Claude Code's settings with their own payloads.
    """
    session = payload.get("session_id") or payload.get("sessionId") or payload.get("conversation_id")
    roots, cwd = payload.get("workspace_roots"), payload.get("cwd")
    if not cwd and isinstance(roots, list) and roots:
        cwd = roots[0]
    return {
        "session_id": session if isinstance(session, str) else "",
        "work_dir": cwd if isinstance(cwd, str) and cwd else ".",
    }


_OF_EVENT = ("hook_event_name", "session_id", "cwd", "name", "self", "work_dir", "context", "timestamp", "event_type")


def received(
    native: str,
    event: Event,
    payload: dict[str, Any],
    agent: str,
    input_keys: Mapping[str, str] = {},
    mcp_names: list[str] | None = None,
) -> Received:
    """Return the event with the keys that hooks expect, and the rest of the payload as its context."""
    tool_input, renamed = with_canonical_keys(event.tool_name, event.tool_input, input_keys)
    whole = event.canonical == OTHER
    rest = {key: value for key, value in payload.items() if whole or key not in _EVENT_KEYS}
    context = {"agent": {"name": agent, "event": native, "payload": rest}}
    changes: dict[str, Any] = {"context": context}
    if renamed:
        changes["tool_input"] = tool_input
    if mcp_names:
        changes["mcp_names"] = mcp_names
    if event.canonical == "permission-request":
        changes["display"] = event.fields.get("display") or _display(tool_input, event.work_dir)
        changes["action"] = event.fields.get("action") or f"run {event.tool_name}"
    return Received(event.replace(**changes), native, payload, renamed)


# Keys that become fields of the event; the rest of a payload is its context.
_EVENT_KEYS = frozenset(
    (
        *("tool_input", "toolArgs", "tool_response", "toolResult", "tool_output", "prompt", "session_id", "sessionId"),
        *("cwd", "hook_event_name", "tool_name", "toolName", "last_assistant_message", "prompt_response"),
    )
)

# The keys that hooks expect, each with agents' names for it.
_KEYS: dict[str, tuple[str, ...]] = {
    "command": ("cmd", "script"),
    "file_path": ("path", "filePath", "absolute_path", "target_file", "filename", "notebook_path"),
    "content": ("file_text", "contents", "new_content"),
}
_EXPECTED = {"Shell": ("command",), "WriteFile": ("file_path", "content")}
_EXPECTED |= dict.fromkeys(("ReadFile", "StrReplaceFile"), ("file_path",))
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")


def with_canonical_keys(
    tool: str | None, tool_input: Any, input_keys: Mapping[str, str] = {}
) -> tuple[Any, dict[str, str]]:
    """Return a tool's input with the keys that hooks expect added, and the native key of each added one.

    `input_keys` are the keys that the agent's own tools read. They outrank what a model may write under the expected
    key: a call with `path` and a harmless `file_path` writes to `path`.
    """
    if not tool or not isinstance(tool_input, dict):
        return tool_input, {}
    expected = next((keys for name in tool_names(tool) if (keys := _EXPECTED.get(name))), ())
    renamed: dict[str, str] = {}
    for key in expected:
        native = input_keys.get(key, "")
        if native not in tool_input and key not in tool_input:
            native = next((name for name in _KEYS[key] if isinstance(tool_input.get(name), str)), "")
        if native in tool_input and native != key:
            renamed[key] = native
    added = {key: _as_lines(tool_input[native]) for key, native in renamed.items()}
    paths: list[str] = []
    if tool == "apply_patch":
        paths = _patched_paths(tool_input)
    elif "file_path" in expected and input_keys.get("file_path") not in tool_input:
        paths = _listed_paths(tool_input)
    if paths:
        added |= {"file_path": paths[0], "file_paths": paths}
        renamed |= {"file_path": "", "file_paths": ""}
    return {**tool_input, **added}, renamed


def _as_lines(value: Any) -> Any:
    """Return a list of command lines, or of programs with arguments, as one text with a line for each."""
    if not isinstance(value, list):
        return value
    words = [[each.get("command"), *_list(each.get("args"))] if isinstance(each, dict) else [each] for each in value]
    return "\n".join(" ".join(map(light_json.text, each)) for each in words)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _listed_paths(tool_input: dict[str, Any]) -> list[str]:
    """Return the paths of all `files` in the input of a tool that takes several."""
    paths = [each.get("path") for each in _list(tool_input.get("files")) if isinstance(each, dict)]
    return [path for path in paths if isinstance(path, str)]


def _patched_paths(tool_input: dict[str, Any]) -> list[str]:
    """Return every file that a patch names. As in Codex, spaces around a header are ignored."""
    lines = [line.strip() for value in tool_input.values() if isinstance(value, str) for line in value.split("\n")]
    return [line[len(start) :] for line in lines for start in _PATCHED if line.startswith(start)]


def native_input(received: Received, changed: dict[str, Any]) -> dict[str, Any]:
    """Return a modified input with the agent's own keys."""
    native = dict(changed)
    seen = received.event.tool_input
    for key, own in received.renamed.items():
        value = native.pop(key, None)
        is_new = value is not None and value != seen.get(key)
        if own and value is not None and (is_new or own not in native):
            native[own] = [value] if isinstance(seen.get(own), list) else value
    return native


def _display(tool_input: Any, work_dir: str) -> dict[str, Any]:
    shown = tool_input if isinstance(tool_input, dict) else {}
    what = {key: shown[key] for key in ("command", "file_path") if key in shown}
    return {**what, "cwd": work_dir}


_BESIDE_RESULT = ("post-tool-call", "post-tool-call-failure")


def output_text(output: Any) -> str:
    """Return a replaced output as non-empty text, for agents that require it."""
    return light_json.text(output).strip() or "(no output)"


def _not_replaced(title: str, verdict: Verdict) -> str:
    replacing = [run.decision for run in verdict.runs if run.decision.modified_output is not None]
    reasons = dict.fromkeys(each.reason for each in replacing if each.reason and each.ignored is None)
    said = f"A hook wanted to replace this output, which was not possible in {title}"
    return ": ".join((said, "; ".join(reasons))) if reasons else said


def reply(
    title: str,
    can: Capabilities,
    received: Received,
    verdict: Verdict,
    native_output: Callable[[Received, Any], Any | None] = lambda received, output: output,
) -> tuple[Reply, list[str]]:
    """Return the verdict reduced to what the agent supports, and a note for each part that was lost or changed.

    `native_output` returns a replaced output in the agent's form, or None if that is not possible.
    """
    event, lost = received.event.canonical, []
    context = "\n\n".join(verdict.additional_context) or None
    message = "\n".join(verdict.messages) or None
    deny = ask = approve = None
    changed = output = None
    reason = verdict.reason or f"Blocked by {received.native} hook"
    if verdict.decision is Action.DENY:
        deny = reason
    elif event == "pre-tool-call" and verdict.decision is Action.ASK:
        ask = reason
    elif event in ("pre-tool-call", "permission-request") and verdict.decision is Action.APPROVE:
        approve = verdict.reason or "approved by a hook"
    if verdict.modified_input is not None and deny is None:
        changed = native_input(received, verdict.modified_input)
    if changed is not None and not can.modifies:
        wanted = light_json.encode(changed).decode()
        deny = f"{title} cannot change a tool's input. A hook wants it to be: {wanted}"
        changed = ask = approve = None
        lost.append("modified input: denied, the reason names it")
    if verdict.modified_output is not None:
        if can.replaces_error if event == "post-tool-call-failure" else can.replaces_output:
            output = native_output(received, verdict.modified_output)
        if output is None:
            lost.append("modified output: the model sees the original")
            if event in can.context:
                context = "\n\n".join(filter(None, (context, _not_replaced(title, verdict))))
            else:
                message = "\n".join(filter(None, (message, _not_replaced(title, verdict))))
    if ask is not None and not can.asks:
        deny, ask = f"{reason} (a hook wants a person to be asked, and {title} has no way to do so)", None
        lost.append("ask: denied")
    if approve is not None and not (can.approves if event == "pre-tool-call" else can.answers_permission):
        approve = None
        lost.append("approve: no decision")
    if deny is not None and event in _BESIDE_RESULT and event in can.context:
        context, deny = "\n\n".join(filter(None, (deny, context))), None  # that is what a block means there
    if deny is not None and event not in can.blocks:
        lost.append("block: it has no effect")
        context = "\n\n".join(filter(None, (deny, context)))
        deny = None
    if context is not None and deny is not None:
        deny, context = f"{deny}\n\n{context}", None
    if context is not None and event not in can.context:
        lost.append("context: the model does not see it")
        context = None
    if message is not None and not can.messages and event == "pre-session" and event in can.context:
        context, message = "\n\n".join(filter(None, (context, message))), None  # better the model than nobody
        lost.append("message: shown to the model instead")
    if message is not None and not can.messages:
        lost.append("message: it is not shown")
        message = None
    return Reply(event, received.native, deny, ask, approve, changed, context, message, output), lost
