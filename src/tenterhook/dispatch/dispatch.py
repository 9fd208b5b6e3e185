"""`tenterhook dispatch`, which an agent runs for each event: from stdin to the answer in the agent's own form.

An event that reaches no hook is answered from the index, with very little imported. Directories and trust come from
the record of `install`, never from the environment, which a repository may set.
"""

from __future__ import annotations

import os
import sys
import time

from ..basics import callers, install_record, light_json, places
from . import start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from ..agents.codec import HookOutput
    from ..basics.callers import Caller

_USAGE = "usage: tenterhook dispatch --host NAME [--event EVENT] [--record FILE]"
_LONGEST = 600  # seconds
_SPARE = 5  # seconds between our timeout and the agent's


class DispatchError(Exception):
    """The event cannot be answered; the message says why."""


class UnreadableEvent(DispatchError):
    """An event that cannot be sent to hooks. It is blocked, as a model could write one on purpose to avoid hooks."""


def main(
    arguments: Sequence[str], *, block: int = 2, sent: bytes | None = None, begun: float | None = None
) -> NoReturn:
    """Answer one event and exit.

    `block` is the exit status of a block; `sent` is stdin if it was already read; `begun` is the `time.monotonic` at
    which the agent started us.
    """
    record: dict[str, Any] = {}
    try:
        status = block if _dispatch(arguments, record, sent, begun) else 0
    except BaseException as error:  # noqa: BLE001  # the agent gets a valid answer in every case
        status = _failed(error, record, block)
    # Skips the interpreter's clean-up; no output is buffered.
    os._exit(status)


def _dispatch(arguments: Sequence[str], record: dict[str, Any], sent: bytes | None, begun: float | None) -> bool:
    options = _options(arguments)
    record.update(install_record.read(options["record"]), event=options["event"])
    if record.get("host") != options["host"]:
        raise DispatchError(f"{options['record']} is not the record of {options['host']!r}")
    if record.get("managed"):
        record.update(install_record.for_account(record))
    places.FIXED.update(install_record.directories(record))
    caller = callers.drop_untrusted_env()
    if options["check"]:
        return _check(record, caller)
    now = time.monotonic()
    taken = now - begun if begun else 0.0  # on a slow disk, the start takes long
    left = longest_wait(record, options["event"]) - taken
    _end_after(left)
    deadline = now + max(left - 1, left / 2)  # before the alarm of `_end_after`
    answer = answered(options["event"], record, start.read_stdin() if sent is None else sent, deadline, caller)
    if answer is None:
        start.write(1, nothing_to_say(record, options["event"]).encode("utf-8", "replace"))
        return False
    start.write(1, answer.stdout.encode("utf-8", "replace"))
    start.write(2, answer.stderr.encode("utf-8", "replace"))
    return bool(answer.blocks)


def nothing_to_say(record: dict[str, Any], event: str) -> str:
    """Return the output if no hook is reached; empty for most agents."""
    said: str = record.get("no_decision", {}).get(event, "")
    return said


def longest_wait(record: dict[str, Any], event: str) -> int:
    """Return the seconds until our timeout, which is a little before the agent's own."""
    longest: int = record.get("timeouts", {}).get(event, _LONGEST)
    return longest - min(_SPARE, longest // 3)


def answered(event: str, record: dict[str, Any], sent: bytes, deadline: float, caller: Caller) -> HookOutput | None:
    """Return the answer to an event, given as the agent sent it; None if there is nothing to answer."""
    try:
        payload = _payload(sent)
    except UnreadableEvent as error:
        return _refusal(event, record, str(error), caller)
    native = event or payload.get("hook_event_name")
    if not isinstance(native, str):
        raise DispatchError("the agent named no event")
    root = _root(payload) if _is_known_agent(caller) else None
    found = None
    # The user could have written an index that reaches no managed hook.
    if root is not None and native in record["events"] and not record.get("managed"):
        from ..catalog import index

        found = index.read(root, record["configs"])
        if found is not None:
            seen, ours = _matched_values(payload), record["events"][native]
            meant = {ours, record.get("variants", {}).get(native, ours)}
            is_idle = seen is not None and all(index.reaches_nothing(found, each, *seen) for each in meant)
            if is_idle and not _concerns_others(ours, _session(payload)):
                return None
    if _is_answered_elsewhere(record, native, caller):
        return None
    _load(record, caller)
    from . import answer_event

    try:
        return answer_event.answer(native, payload, record, found, deadline, caller)
    except answer_event.BadEvent as error:
        return _refusal(native, record, error.message, caller)


def _concerns_others(event: str, session: str) -> bool:
    """Whether rules or the hub may concern an event that reaches no hook."""
    if event not in ("pre-tool-call", "permission-request", "post-tool-call", "post-tool-call-failure"):
        return False
    from ..approvals import configured

    if event in configured.AFTER:
        return os.path.exists(configured.asked_about(session))
    return configured.concerns(session)


def _refusal(native: str, record: dict[str, Any], why: str, caller: Caller) -> HookOutput:
    """Return the answer to an event that cannot be sent to hooks: a block if it is a tool call, else no decision."""
    _load(record, caller)
    from . import answer_event

    return answer_event.refusal(native, record, f"Tenterhook cannot show this to your hooks: {why}")


def _load(record: dict[str, Any], caller: Caller) -> None:
    """Prepare for running hooks: restore the user's variables and the module path."""
    if caller.make_ready is not None:
        caller.make_ready(caller)
        return
    callers.restore_trusted_env(caller, record)
    if "site" not in sys.modules:  # else the path is complete
        sys.path += [path for path in _module_path(record["path"]) if path not in sys.path]


def _module_path(recorded: list[str]) -> list[str]:
    """Return the module path for this interpreter: its minor version may differ from the recorded one."""
    own = f"/lib/python{sys.version_info[0]}.{sys.version_info[1]}/"
    found: dict[str, None] = {}
    for path in recorded:
        head, is_versioned, tail = path.rpartition("/lib/python3.")
        name = tail.partition("/")[2]
        if is_versioned and name.endswith("-packages"):
            found[head + own + name] = None
        found[path] = None
    return list(found)


def _is_answered_elsewhere(record: dict[str, Any], native: str, caller: Caller) -> bool:
    """Whether another installation also gets this event and answers it, so that hooks do not run twice.

    The machine's installation goes before the user's, and the user's before a project's.
    """
    if record.get("managed"):
        return False
    if _is_answered_by_machine(record, native, caller):
        return True
    if record.get("root") is None or record.get("replaces"):
        return False
    try:
        own = install_record.read(f"{record['state']}/installed/{record['host']}.json")
    except install_record.RecordError:
        return False
    return native in own["events"]


def _is_answered_by_machine(record: dict[str, Any], native: str, caller: Caller) -> bool:
    """Whether the managed installation answers this event, with all hooks of this one."""
    if not os.path.exists(f"{places.MANAGED}/installed"):  # the common case, which must be fast
        return False
    found = install_record.managed(record["host"])
    if found is None or native not in found["events"]:
        return False
    if found.get("moved_by") and os.fsencode(found["moved_by"]) in (caller.given or {}):
        return False  # the agent may not have read the managed settings
    theirs = install_record.for_account(found)
    return all(theirs[kind] == record[kind] for kind in ("home", "config", "state", "configs"))


def _check(record: dict[str, Any], caller: Caller) -> bool:
    """Load everything that an answer may need, without answering. Returns False: nothing is blocked."""
    _load(record, caller)
    from ..agents import AGENTS
    from ..catalog import index
    from ..journal import records, settings, writer  # noqa: F401  # imported late
    from . import answer_event  # noqa: F401  # with all that it imports

    AGENTS[record["host"]]
    index.load(record["root"] or record["home"], record["configs"])
    return False


def _matched_values(payload: dict[str, Any]) -> tuple[Any, Any] | None:
    """Return a tool's name and input; None if the agent's module would change them, or the event."""
    tools = [payload[key] for key in ("tool_name", "toolName") if key in payload]
    inputs = [payload[key] for key in ("tool_input", "toolArgs", "toolInput") if key in payload]
    if len(tools) > 1 or len(inputs) > 1:  # the agent's module decides which of them counts
        return None
    tool, tool_input = tools[0] if tools else None, inputs[0] if inputs else None
    is_other = tool in ("apply_patch", "patch", "file_editor") or isinstance(tool_input, str)
    if is_other or "agentId" in payload or "mcp_context" in payload:
        return None
    commands = tool_input.get("commands") if isinstance(tool_input, dict) else None
    if isinstance(commands, list) and not (len(commands) == 1 and isinstance(commands[0], str)):
        return None  # hooks also get all of them as one text
    return tool, tool_input


def _options(arguments: Sequence[str]) -> dict[str, str]:
    # "hub": the daemon, in launchers of earlier versions
    given = {"host": "", "event": "", "record": "", "check": "", "daemon": "", "hub": ""}
    words = list(arguments)
    while words:
        name = words.pop(0).removeprefix("--")
        if name not in given or not words:
            raise DispatchError(_USAGE)
        given[name] = words.pop(0)
    if not given["host"]:
        raise DispatchError(_USAGE)
    if not given["record"]:  # called by hand: in the account's home, not the environment's
        given["record"] = f"{places.account_home()}/.local/state/tenterhook/installed/{given['host']}.json"
    return given


def _payload(sent: bytes) -> dict[str, Any]:
    if len(sent) > start.LARGEST_PAYLOAD:
        raise DispatchError("the agent sent more than 256 MiB")
    try:
        payload = light_json.loads(sent.decode("utf-8", "replace").removeprefix("\ufeff"))  # Cursor may write a BOM
    except RecursionError:
        raise UnreadableEvent("it nests too deeply") from None
    except ValueError as error:
        if "digits" in str(error):  # a number of thousands of digits, which Python refuses
            raise UnreadableEvent("it holds a number that is too long") from None
        payload = None
    if not isinstance(payload, dict):
        raise DispatchError("the agent sent no JSON object")
    if "sessionContext" in payload:
        from ..agents import nested_payloads

        return nested_payloads.flat(payload)
    return payload


def _end_after(seconds: float) -> None:
    """Have the system end this process after a time, in case it hangs: agents ignore a late answer."""
    from _signal import ITIMER_REAL, setitimer  # type: ignore[import-not-found]  # `signal` would import `enum`

    if seconds <= 0:
        raise DispatchError("the start took too long")
    setitimer(ITIMER_REAL, seconds)


def _root(payload: dict[str, Any]) -> str | None:
    """Return the project root that the session started with; None at its first event."""
    session = _session(payload)
    if not session:
        return None
    try:
        with open(f"{places.state()}/sessions/{places.file_name(session)}/root", "rb") as file:
            return os.fsdecode(file.read()) or None
    except OSError:
        return None


def _session(payload: dict[str, Any]) -> str:
    session = payload.get("session_id") or payload.get("parentAgentId") or payload.get("sessionId")
    session = session or payload.get("conversation_id")
    return session if isinstance(session, str) else ""


def _is_known_agent(caller: Caller) -> bool:
    """Whether the agent that runs us is marked as guarded, or is unknown."""
    agent = callers.agent_above(caller.pid)
    return agent is None or os.path.exists(f"{places.marks()}/{agent}")


def _failed(error: BaseException, record: dict[str, Any], block: int) -> int:
    """Report an error and return the exit status: `FAILED` for the launcher, which decides whether to block.

    Without the launcher, the record decides.
    """
    said = (
        str(error)
        if isinstance(error, (DispatchError, install_record.RecordError))
        else f"{type(error).__name__}: {error}"
    )
    try:
        start.write(2, f"tenterhook: cannot answer: {said}\n".encode("utf-8", "replace"))
    except OSError:
        pass
    if block != 2:
        return start.FAILED
    event = record.get("events", {}).get(record.get("event"))
    return block if record.get("closed") and event in ("pre-tool-call", "permission-request") else 1
