"""What agents send: whatever it is, the answer is one that the agent understands, and no refusal is lost."""

from __future__ import annotations

import functools
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fuzz import inputs
from hosts.observed import DOES
from hosts.recorded import RECORDED, native_name
from support import folder_hook, user_hooks
from tenterhook.agents import AGENTS
from tenterhook.basics import callers, install_record, places
from tenterhook.dispatch import answer_event, dispatch
from tenterhook.install import records, settings_change

REFUSED = ("pre-tool-call", "permission-request")
_EVENTS = [(host, native) for host in AGENTS for native in AGENTS[host].events]
# Where an agent heeds a refusal: Kimi Code tells of its question, and asks it whatever is said.
_TOOL_EVENTS = [
    (host, native)
    for host, native in _EVENTS
    if AGENTS[host].events[native] in REFUSED and AGENTS[host].events[native] in AGENTS[host].capabilities.blocks
]
_PAYLOADS = {
    each: [json.loads(file.read_text()) for file in RECORDED if (file.parent.name, native_name(file)) == each]
    for each in _EVENTS
}
_ALL = [payload for payloads in _PAYLOADS.values() for payload in payloads]
_KEYS = sorted(
    {key for payload in _ALL for key in payload} | {"decision", "reason", "modified_output", "self", "name", "agentId"}
)
_WORDS = [word.encode() for word in (*map(json.dumps, _KEYS), *"{}[]:,", "null", "-1", '""', "\\ud800", "\\u0000")]


def _values(payload: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values for the members of a payload: any, or one of those that mean something."""
    known: list[Any] = ["", ".", "/", "..", "nowhere", "/nowhere/x", "a\0b", "\ud800", "x" * 300, "{}", "apply_patch"]
    known += ["Bash", "Shell", "Task", "allow", "approve", "deny", "block", 0, -1, True, None, [], {}, {"command": 1}]
    known += ["forbidden", {"command": "forbidden"}, {"a": ["forbidden"]}, '{"command": "forbidden"}', {"forbidden": 1}]
    return st.sampled_from([*known, *payload.values()]) | inputs.json_values


@st.composite
def sent(draw: st.DrawFn, event: tuple[str, str]) -> bytes:
    good = _PAYLOADS[event] or _ALL
    kind = draw(st.sampled_from(["changed", "changed", "changed", "bytes", "json", "spliced", "odd"]))
    if kind == "bytes":
        return draw(st.binary(max_size=60))
    if kind == "json":
        return json.dumps(draw(inputs.json_values)).encode()
    if kind == "spliced":
        texts = [json.dumps(payload).encode() for payload in good]
        return draw(inputs.changed_bytes(texts, _WORDS))
    payload = draw(inputs.changed_object(good, _KEYS, _values(good[0])))
    text = json.dumps(payload, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    if kind == "odd":  # what no encoder of ours would write
        odd = draw(inputs.nested | inputs.long_numbers).encode()
        text = text.replace(b"{", b"{%b: %b, " % (json.dumps(draw(st.sampled_from(_KEYS))).encode(), odd), 1)
    return text


@functools.cache
def _installed(matcher: str | None) -> dict[str, dict[str, Any]]:
    """Every agent, wired at all events: guards refuse calls, and every other event has a hook that echoes."""
    home = Path(os.environ["HOME"], matcher or "all")
    places.FIXED["home"] = str(home)
    for kind in ("config", "state", "cache"):
        places.FIXED.pop(kind, None)
    front: dict[str, Any] = {"matcher": {"pattern": matcher}} if matcher else {}
    for event in sorted({AGENTS[host].events[native] for host, native in _EVENTS}):
        if event in REFUSED:
            folder_hook(user_hooks(home), event, "echo refused >&2; exit 2", event, **front)
        elif matcher is None:
            folder_hook(user_hooks(home), event, "cat", event)
    for agent in AGENTS.values():
        settings_change.apply(settings_change.plan(agent, None, (), also=agent.events))
    return {name: install_record.read(records.file(AGENTS[name], None)) for name in AGENTS}


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text.decode("utf-8", "replace")), dict)
    except (ValueError, RecursionError):
        return False


_runs = 0


def _forget() -> None:
    """Now and then, remove what thousands of sessions leave."""
    global _runs  # noqa: PLW0603
    _runs += 1
    if _runs % 1000 == 0:
        for name in ("sessions", "journal"):
            shutil.rmtree(f"{places.state()}/{name}", ignore_errors=True)


@given(
    data=st.data(),
    event=st.sampled_from(_TOOL_EVENTS) | st.sampled_from(_EVENTS),
    matcher=st.sampled_from([None, "forbidden"]),
)
def fuzz(data: st.DataObject, event: tuple[str, str], matcher: str | None) -> None:
    """Every answer is valid for its agent; a call is refused, or it is said that there is no answer."""
    host, native = event
    text = data.draw(sent(event), label="sent")
    record = {**_installed(matcher)[host], "event": native}
    places.FIXED.update({kind: record[kind] for kind in ("home", "config", "state", "cache")})
    _forget()
    os.chdir(places.home())
    variables = dict(os.environ)
    caller = callers.drop_untrusted_env()  # as dispatch does in a process of its own
    try:
        answer = dispatch.answered(native, record, text, time.monotonic() + 60, caller)
    except dispatch.DispatchError:
        assert not _is_object(text), "what is a JSON object is answered"
        return
    finally:
        os.environ.update(variables)
    if answer is None:
        assert matcher or event not in _TOOL_EVENTS, "a call that was put to no hook"
        caller.use(caller.given or {}, record)  # as dispatch does before hooks run
        try:
            answer = answer_event.answer(native, dispatch._payload(text), record, None, time.monotonic() + 60, caller)
        except answer_event.BadEvent:  # no hook could be told of it, and none is for it
            return
        nothing = dispatch.nothing_to_say(record, native)
        assert (answer.stdout, answer.stderr, answer.blocks) == (nothing, "", False), (
            "the index says that no hook is reached"
        )
        return
    answer.stdout.encode()
    answer.stderr.encode()
    assert "\0" not in answer.stdout + answer.stderr
    does = DOES[host](native, answer.stdout, answer.stderr, 2 if answer.blocks else 0)
    assert not does.approve
    if event in _TOOL_EVENTS and matcher is None:
        assert does.block, "a call that is not refused"
