"""Translates the answers of hooks in agents' own settings to ours. Pure."""

from __future__ import annotations

from .. import agents
from ..events import AGENT_FORMATS, STOPS
from .hook_output import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..agents.claude_json import Dialect
    from ..model import Run

# Answers that the agent supports and Tenterhook does not: noted in the log.
_UNSUPPORTED = (
    "tool_output",
    "tailToolCallRequest",
    "clearContext",
    "initialUserMessage",
    "sessionTitle",
    "watchPaths",
    "retry",
)
_OUTPUTS = ("updatedToolOutput", "updatedMCPToolOutput")


def read(run: Run) -> Run:
    """Return the run with its answer translated. Runs of other formats, and failed ones, are returned unchanged."""
    hook = run.hook
    if hook.format not in AGENT_FORMATS or run.failed or run.exit_code != 0 or not run.stdout.strip():
        return run
    dialect = agents.dialect(hook.format)
    said, note, error = parse(run.stdout)
    if isinstance(said, dict):
        notes = (*run.notes, note) if note else run.notes
        return run._replace(answer=answer(dialect, hook.event, said, run.saw), notes=notes)
    if said is not None or error is not None:
        return run  # not a JSON object: `decisions` reports it as a failure
    if dialect.text_is_message:
        return run._replace(answer={"message": run.stdout.strip()})
    if hook.event in dialect.text_is_context:
        return run._replace(answer={"additional_context": run.stdout.strip()})
    return run


def answer(dialect: Dialect, event: str, said: dict[str, Any], current: Any = None) -> dict[str, Any]:
    """Return a hook's answer in an agent's dialect as one of ours; `current` is the tool input that the hook was sent.

    Only what the agent itself takes for an approval becomes one.
    """
    given = said.get("hookSpecificOutput")
    specific: dict[str, Any] = given if isinstance(given, dict) else {}
    ours = {key: value for key, value in said.items() if key not in ("decision", "hookSpecificOutput")}
    inner: dict[str, Any] = {key: specific[key] for key in _OUTPUTS if key in specific}
    left = [key for key in _UNSUPPORTED if key in specific]
    approves = dialect.approves and event == "pre-tool-call"
    for key, value in (("decision", said.get("decision")), ("permissionDecision", specific.get("permissionDecision"))):
        if value is None:
            continue
        if dialect.defers and value == "defer":  # the program that runs the agent decides
            left.append(f"{key} defer")
        elif value not in ("allow", "approve"):
            (ours if key == "decision" else inner)[key] = value
        elif approves and (key, value) != ("decision", "allow"):
            inner.setdefault("permissionDecision", "allow")
        elif event != "permission-request":  # there only `behavior` counts
            ours.setdefault("decision", "allow")
    reason = specific.get("permissionDecisionReason")
    if event == "permission-request" and isinstance(specific.get("decision"), dict):
        chosen = specific["decision"]
        if chosen.get("behavior") == "allow" and chosen.get("updatedInput") not in (None, {}, current):
            left.append("decision.updatedInput")  # not an approval of the input that would run
        else:
            inner["permissionDecision"] = chosen.get("behavior")
        reason = chosen.get("message") or reason
    if said.get("continue") is False:
        stop = said.get("stopReason")
        if event in STOPS:  # the agent must stop, whatever else was answered
            ours.pop("decision", None)
            inner.pop("permissionDecision", None)
            ours["message"] = _joined(said.get("message"), stop)
        else:
            ours["decision"] = "deny"
            reason = stop or reason
    if reason is not None:
        inner["permissionDecisionReason"] = reason
    modified = _modified(dialect, event, specific, current)
    if modified is not None:
        ours["modified_input"] = modified
    context = _joined(
        ours.get("additional_context"), specific.get("additionalContext") or said.get("additionalContext")
    )
    if context:
        ours["additional_context"] = context
    if said.get("systemMessage"):
        ours["message"] = _joined(said["systemMessage"], ours.get("message"))
    if left:
        ours["log"] = _joined(said.get("log"), f"not done here: hookSpecificOutput {', '.join(left)}")
    if inner or (given is not None and not isinstance(given, dict)):
        ours["hookSpecificOutput"] = inner or given
    return ours


def _modified(dialect: Dialect, event: str, specific: dict[str, Any], current: Any) -> Any:
    is_heard = not dialect.input_needs_allow or specific.get("permissionDecision") == "allow"
    if event != "pre-tool-call" or not is_heard:
        return None
    changed = specific.get(dialect.input_key)
    if dialect.merges_input and isinstance(changed, dict) and isinstance(current, dict):
        return {**current, **changed}
    return changed


def _joined(*texts: Any) -> Any:
    """Return texts on separate lines; a single value unchanged; None if there are none."""
    given = [text for text in texts if text]
    return "\n".join(map(str, given)) if len(given) > 1 else given[0] if given else None
