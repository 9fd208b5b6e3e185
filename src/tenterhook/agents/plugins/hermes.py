"""Tenterhook's plug-in for Hermes: sends each event to the launcher and applies its answer. Standard library only."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import signal
import subprocess
import threading
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRIES: dict[str, dict[str, Any]] = {}

_MANY = 1000  # the most entries that are kept of calls, sessions and contexts
_calls: dict[Any, tuple[Any, Any, dict[str, Any]]] = {}  # the tool, its input and our answer, until a call has run
_sessions: dict[str, str] = {}  # by task, for the calls of execute_code, which name no session
_contexts: dict[str, str] = {}  # by session, for its next prompt
_thread = threading.local()


def register(ctx: Any) -> None:
    # Hermes calls `tool_request`, `pre_tool_call` and `tool_execution` in this order for each tool call
    ctx.register_middleware("tool_request", tool_request)
    ctx.register_middleware("tool_execution", tool_execution)
    for hook in (pre_tool_call, on_session_start, pre_llm_call, pre_verify):
        ctx.register_hook(hook.__name__, hook)
    for event, payload in _OBSERVED.items():
        if event in ENTRIES:
            ctx.register_hook(event, _observer(event, payload))


def tool_request(*, tool_name: str, args: dict[str, Any], **given: Any) -> dict[str, Any] | None:
    """Have hooks decide a call, and change its input, which is possible only here."""
    answer = _decide(tool_name, args, given)
    changed = answer.pop("input", None)
    _remember(_calls, _key(given), (tool_name, copy.deepcopy(args if changed is None else changed), answer))
    return None if changed is None else {"args": changed, "source": "tenterhook"}


def pre_tool_call(*, tool_name: str, args: dict[str, Any], **given: Any) -> dict[str, Any] | None:
    """Block a call, or make Hermes ask the user."""
    tool, judged, answer = _calls.get(_key(given), (None, None, {}))
    if (tool, judged) != (tool_name, args):  # another plug-in has changed it since
        answer = _decide(tool_name, args, given)
        if "input" in answer:
            answer = {"deny": "A hook changes the input of this call, and so does another plug-in of Hermes: refused"}
        _remember(_calls, _key(given), (tool_name, copy.deepcopy(args), answer))
    if "deny" in answer:
        return {"action": "block", "message": answer["deny"]}
    if "ask" in answer:
        shown = json.dumps(args, ensure_ascii=False, default=str)
        asked = f"{answer['ask']}: {tool_name} {shown}"
        # with this key, the user's answer "always" is for exactly this call; with Hermes's own, for the tool
        key = "tenterhook:" + hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()[:16]
        return {"action": "approve", "message": asked[:2000], "rule_key": key}
    return None


def tool_execution(*, tool_name: str, args: dict[str, Any], next_call: Callable[[Any], Any], **given: Any) -> Any:
    """Run a call that was not blocked, and return its result as changed by hooks."""
    running = _thread.__dict__.setdefault("running", [])
    call = tool_name, _key(given)
    if call in running:  # Hermes calls this twice for a call that runs in parallel with others
        return next_call(args)
    _, _, answer = _calls.pop(_key(given), (None, None, {}))
    if "deny" in answer:  # Hermes uses only the first plug-in's answer, and another one asked the user
        return _as_text({"error": answer["deny"]})
    running.append(call)
    try:
        result = next_call(args)
    finally:
        running.remove(call)
    return _after(tool_name, args, given, result, answer.get("context"))


def on_session_start(*, source: str = "startup", **given: Any) -> None:
    session = _session(given)
    _remember(_contexts, session, _contexts.get(session, ""))
    _keep_context(session, _ask("on_session_start", given, source=source, model=given.get("model")))


def pre_llm_call(**given: Any) -> dict[str, Any] | None:
    session = _session(given)
    if session not in _contexts:  # Hermes has no event for a session that is resumed
        on_session_start(**{**given, "source": "resume"})
    answer = _ask("pre_llm_call", given, prompt=given.get("user_message"))
    context = "\n\n".join(filter(None, (_contexts[session], answer.get("context"))))
    _contexts[session] = ""
    return {"context": context} if context else None


def pre_verify(**given: Any) -> dict[str, Any] | None:
    """Send Hermes back to work if a hook blocks the stop. Called only after files have changed, at most three times."""
    said = {"stop_hook_active": bool(given.get("attempt")), "last_assistant_message": given.get("final_response")}
    answer = _ask("pre_verify", given, **said, changed_paths=given.get("changed_paths"))
    return {"action": "continue", "message": answer["deny"]} if "deny" in answer else None


def _tool_of(given: dict[str, Any]) -> dict[str, Any] | None:
    """Return the tool call that Hermes itself asks the user about; None if it asks a model instead."""
    if given.get("surface") == "smart":
        return None
    named = {"tool_name": "terminal", "tool_input": {"command": given.get("command")}}
    return {**named, "tool_use_id": given.get("tool_call_id") or None, "message": given.get("description")}


def _answer_of(given: dict[str, Any]) -> dict[str, Any] | None:
    asked, choice = _tool_of(given), given.get("choice")
    decision = "denied" if choice in ("deny", "timeout") else "approved"
    return None if asked is None else {**asked, "decision": decision, "scope": choice}


def _subagent_of(given: dict[str, Any]) -> dict[str, Any]:
    about = {"agent_type": given.get("child_role"), "agent_id": given.get("child_session_id")}
    return {**about, "task_description": given.get("child_goal")}


def _result_of_subagent(given: dict[str, Any]) -> dict[str, Any]:
    ended = {"last_assistant_message": given.get("child_summary"), "status": given.get("child_status")}
    return {**_subagent_of(given), **ended}


def _failure_of(given: dict[str, Any]) -> dict[str, Any] | None:
    """Return the error of a failed turn; None if Hermes will try again."""
    if given.get("retryable") and (given.get("retry_count") or 0) + 1 < (given.get("max_retries") or 0):
        return None
    return {"error": given.get("reason"), "error_details": (given.get("error") or {}).get("message")}


# Events at which an answer has no effect, except for a subagent's context.
_OBSERVED: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
    "post_llm_call": lambda given: {"prompt": given.get("user_message"), "response": given.get("assistant_response")},
    "api_request_error": _failure_of,
    "subagent_start": _subagent_of,
    "subagent_stop": _result_of_subagent,
    "pre_approval_request": _tool_of,
    "post_approval_response": _answer_of,
    "on_session_end": lambda given: {"completed": given.get("completed"), "interrupted": given.get("interrupted")},
    "on_session_reset": lambda given: {"reason": given.get("reason")},
    "on_session_finalize": lambda given: {"reason": given.get("reason")},
}


def _observer(event: str, payload: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Callable[..., None]:
    def observe(**given: Any) -> None:
        said = payload(given)
        if said is not None:
            _keep_context(given.get("child_session_id"), _ask(event, given, **said))

    return observe


def _after(tool_name: str, args: dict[str, Any], given: dict[str, Any], result: Any, context: str | None) -> Any:
    """Return the result that the model sees, as hooks after the call have changed it."""
    if not context and not {"post_tool_call", "post_tool_call_error"} & {*ENTRIES}:
        return result
    try:
        parsed = json.loads(result) if isinstance(result, str) else None
    except (ValueError, RecursionError):
        parsed = None
    fields = parsed if isinstance(parsed, dict) else {}
    called = {"tool_name": tool_name, "tool_input": args, "tool_use_id": given.get("tool_call_id") or None}
    is_text = isinstance(result, str)
    if fields.get("error"):
        is_only_error = fields.keys() == {"error"}
        answer = _ask("post_tool_call_error", given, **called, error=fields["error"] if is_only_error else result)
        if is_only_error and "output" in answer:
            answer["output"] = {"error": answer["output"]}
    else:
        seen = result if parsed is None else parsed
        if not is_text and isinstance(result, dict):  # with an image
            seen = result.get("text_summary")
        answer = _ask("post_tool_call", given, **called, tool_response=seen)
    if "output" in answer:
        parsed = answer["output"]
        result = parsed if isinstance(parsed, str) else _as_text(parsed)
        fields = parsed if isinstance(parsed, dict) else {}
    context = "\n\n".join(filter(None, (context, answer.get("deny"), answer.get("context"))))
    if not context or not isinstance(result, str):
        return result
    # some results are JSON objects, which Hermes parses
    return _as_text({**fields, "additional_context": context}) if fields else f"{result}\n\n{context}"


def _decide(tool_name: str, args: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    return _ask(
        "pre_tool_call", given, tool_name=tool_name, tool_input=args, tool_use_id=given.get("tool_call_id") or None
    )


def _ask(event: str, given: dict[str, Any], **payload: Any) -> dict[str, Any]:
    """Send an event to Tenterhook. The answer has those of deny, ask, input, output and context that were decided."""
    entry = ENTRIES.get(event)
    if entry is None:
        return {}
    try:
        session, directory = _session(given), _directory(given.get("task_id"))
        payload = {"hook_event_name": event, "session_id": session, "cwd": directory, **payload}
        text = json.dumps({key: value for key, value in payload.items() if value is not None}, default=str)
        status, stdout, stderr = _run(entry["command"], text.encode(), entry["timeout"])
        if status == 2:
            return {"deny": stderr.decode("utf-8", "replace").strip() or "Blocked by a hook"}
        if status == 0:
            answer = json.loads(stdout) if stdout.strip() else {}
            if isinstance(answer, dict):
                return answer
        why = "did not answer in time" if status is None else f"could not answer (status {status})"
    except Exception as error:  # noqa: BLE001  # if it were raised, Hermes would run the tool
        why = f"could not answer ({error})"
    return {"deny": f"Tenterhook {why}: this is refused"} if entry["command"].endswith("|| exit 2") else {}


def _run(command: str, given: bytes, timeout: float) -> tuple[int | None, bytes, bytes]:
    """Run a command until its process exits, even if another holds its pipes. The status is None after a timeout."""
    deadline = time.monotonic() + timeout
    variables = {**os.environ, "HERMES_UNATTENDED": "1"} if _is_unattended() else None
    child = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=variables,
        start_new_session=True,  # a process group, so that its children are killed too
    )
    # `communicate` may lose the rest of a large input after its first timeout
    stdin, child.stdin = child.stdin, None
    threading.Thread(target=_write, args=(stdin, given), daemon=True).start()
    is_over = False
    try:
        while True:
            try:
                stdout, stderr = child.communicate(timeout=0.2)
                return child.returncode, stdout, stderr
            except subprocess.TimeoutExpired as late:
                if is_over:
                    return child.returncode, late.output or b"", late.stderr or b""
                is_over = child.poll() is not None  # if so, read its last output
                if not is_over and time.monotonic() > deadline:
                    return None, b"", b""
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        for stream in filter(None, (child.stdout, child.stderr)):
            stream.close()


def _write(stdin: Any, given: bytes) -> None:
    try:
        with stdin:
            stdin.write(given)
    except OSError:  # the command ended without reading
        pass


def _is_unattended() -> bool:
    """Whether Hermes cannot ask the user: it would run the call, or wait for a minute, as `hermes chat -q` does."""
    try:
        approval = import_module("tools.approval")
        manager = import_module("hermes_cli.plugins").get_plugin_manager()
        is_yolo = os.environ.get("HERMES_YOLO_MODE") or approval.is_current_session_yolo_enabled()
        has_screen = manager._cli_ref is not None or approval._is_gateway_approval_context()
        return bool(is_yolo) or not has_screen
    except Exception:  # noqa: BLE001  # another version of Hermes
        return True


def _session(given: dict[str, Any]) -> str:
    """Return the session of an event. Approvals name only the turn, and execute_code's calls only the task."""
    task = given.get("task_id") or ""
    session = given.get("session_id") or given.get("parent_session_id")
    session = session or (given.get("turn_id") or "").partition(":")[0] or _sessions.get(task, "")
    if task and session:
        _remember(_sessions, task, session)
    return session


def _directory(task: str | None) -> str:
    """Return the directory in which tools run, which a `cd` may have changed."""
    try:
        changed = import_module("tools.terminal_tool").get_session_cwd(task)
        return changed or str(import_module("agent.runtime_cwd").resolve_agent_cwd())
    except Exception:  # noqa: BLE001  # another version of Hermes
        return os.getcwd()


def _key(given: dict[str, Any]) -> Any:
    """Return the key of a running call: its ID, or the thread for calls of execute_code, which have none."""
    return given.get("session_id"), given.get("tool_call_id") or threading.get_ident()


def _keep_context(session: Any, answer: dict[str, Any]) -> None:
    if answer.get("context"):
        _remember(_contexts, session, "\n\n".join(filter(None, (_contexts.get(session), answer["context"]))))


def _remember(known: dict[Any, Any], key: Any, value: Any) -> None:
    known[key] = value
    for old in list(known)[:-_MANY]:
        known.pop(old, None)


def _as_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
