"""What differs between two formats beside the fields of a definition: effects, stdin, stdout, variables, order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...engine.decisions import read_decision
from ...events import STOPS, Effect
from ...formats import agent_answers, payloads
from ...model import Event, Hook, Run
from . import commands
from .targets import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .findings import Findings
    from .targets import Target

_COUNTS = {
    Effect.DECIDES: "a hook's answer decides",
    Effect.INFORMS: "a hook's answer is shown and blocks nothing",
    Effect.OBSERVES: "a hook's answer changes nothing",
}
# How an answer in JSON blocks, by format: all that it understands, the usual one first.
_BLOCKS = {
    **dict.fromkeys(("folder", "table", "array"), ('decision "deny"', 'decision "block"', 'permissionDecision "deny"')),
    **dict.fromkeys(("claude", "codex", "qwen"), ('permissionDecision "deny"', 'decision "block"', "continue false")),
    "gemini": ('decision "deny"', 'decision "block"', "continue false"),
}
# The other fields of an answer: changed input, context, message to the person.
_OURS = ("modified_input", "additional_context", "message")
_CLAUDE = ("updatedInput", "additionalContext", "systemMessage")
_FIELDS = {
    **dict.fromkeys(("folder", "table", "array"), _OURS),
    **dict.fromkeys(("claude", "qwen"), _CLAUDE),
    "codex": ('updatedInput beside permissionDecision "allow"', *_CLAUDE[1:]),
    "gemini": ("hookSpecificOutput.tool_input (merged)", *_CLAUDE[1:]),
}
# How an answer replaces a tool's output: all that a format understands, the usual one first.
_OUTPUTS = {
    **dict.fromkeys(("folder", "table", "array"), ("modified_output", "updatedToolOutput")),
    "claude": ("updatedToolOutput",),
    **dict.fromkeys(("codex", "gemini"), ("a block, whose reason replaces the output",)),
    "qwen": ("continue false, whose stopReason replaces the output",),
}


def check_effect(hook: Hook, target: Target, findings: Findings) -> None:
    """List what the hook's answer no longer does, or does in addition, at its event."""
    before, after = hook.spec.effect(hook.format), hook.spec.effect(target.name)
    if hook.in_background:
        if after is not Effect.BACKGROUND and "async" not in target.keys:
            counts = ", and its answer counts" if after is Effect.DECIDES else ""
            why = f"hooks of {target.title} are never asynchronous: the agent waits for it{counts}"
            findings.lose("async", True, why, "let the command start its work in the background, and exit with 0")
    elif after is Effect.BACKGROUND:
        why = f"hooks of {target.title} are not waited for at {hook.event}, and their answers change nothing"
        findings.lose("async", False, why, _keep(hook), weaker=True)
    elif before is not after:
        why = f"at {hook.event} {_COUNTS[before]} in {FORMS[hook.format]}; {_COUNTS[after]} in {target.title}"
        if before is Effect.DECIDES:
            findings.lose("answer", hook.event, f"{why}. A block meant: {hook.spec.block}", _keep(hook), weaker=True)
        else:
            remedy = "make sure that it neither exits with 2 nor prints a decision"
            findings.lose("answer", hook.event, why, remedy)
    elif hook.event in STOPS and after is Effect.DECIDES and _stops(hook.format) != _stops(target.name):
        limits = [f"{_stops(form)} in {FORMS[form]}" for form in (hook.format, target.name)]
        why = f"how often it may send the agent back in a turn: {', '.join(limits)}"
        findings.lose("answer", hook.event, why, _keep(hook), weaker=_stops(hook.format) > _stops(target.name))


def _keep(hook: Hook) -> str:
    if hook.format == "folder":
        return "keep the folder, and let Tenterhook run it in the agent (tenterhook install)"
    return "keep it where it is, and name the file with --config"


def _stops(form: str) -> int:
    """Return how often hooks of a format may refuse a stop in one turn."""
    return 3 if form in ("folder", "table") else 1


def check_script(hook: Hook, target: Target, declared: str, command: str, findings: Findings) -> None:
    """List what the target sends to the command and reads from it differently: a person has to check the command."""
    if hook.format == target.name:
        return
    stdin = stdin_differences(hook, target, declared)
    missing = commands.missing_variables(hook, target, command)
    checks = {
        "stdin": ([f"{name} → {now}" for name, now in stdin.items()], "let the script read both names"),
        "stdout": (_stdout_differences(hook, target), "exit with 2 and the reason on stderr, which blocks everywhere"),
        "environment": ([f"{name} → not set" for name in missing], "set what the script needs in the command"),
    }
    for key, (found, remedy) in checks.items():
        if found:
            findings.lose(key, None, ", ".join(found), remedy, weaker=True, to_check=True)


def stdin_differences(hook: Hook, target: Target, declared: str) -> dict[str, str]:
    """Return the fields of the hook's stdin that have another name or value in the target, with what they are there."""
    event = _sample(hook)
    before = payloads.payload(hook, event)
    after = payloads.payload(Hook(hook.name, hook.event, declared, target.name), event)
    found: dict[str, str] = {}
    for name, value in before.items():
        if name in after and after[name] == value:
            continue
        if name in ("hook_event_name", "event_type"):
            key = next(key for key in after if key in ("hook_event_name", "event_type"))
            found[name] = f"{declared!r}" if key == name else f"{key} {declared!r}"
        elif name in after:
            found[name] = f"{name} in another form"
        else:
            found[name] = _renamed(value, {key: each for key, each in after.items() if key not in before})
    return found


def _renamed(value: Any, others: dict[str, Any]) -> str:
    """Return the name under which a value is sent in another format."""
    marker = re.search(r"<\w+>", str(value))  # of the sample
    same = next((key for key, each in others.items() if each == value), None)
    alike = next((key for key, each in others.items() if marker and marker[0] in str(each)), None)
    return same or (f"{alike} in another form" if alike else "nothing")


def _sample(hook: Hook) -> Event:
    """Return an event with a value of its own in every field."""
    spec = hook.spec
    names = dict.fromkeys((*spec.fields, *(name for column in spec.columns for name in (column.name, *column.sources))))
    left_out = ("agent_name", "cwd", *(("prompt",) if "task_description" in names else ()))  # other names of the same
    values: dict[str, Any] = {name: f"<{name}>" for name in names if name not in left_out}
    values.update({name: f"<{name}>" * 1000 for name in ("tool_output", "response") if name in values})
    if "tool_name" in values:
        values.update(tool_name="Shell", tool_input={"command": "<command>"})
    if "stop_hook_active" in values:
        values["stop_hook_active"] = True
    return Event(spec.name, session_id="<session>", work_dir="/", timestamp="<timestamp>", **values)


def _stdout_differences(hook: Hook, target: Target) -> list[str]:
    if hook.in_background or hook.spec.effect(hook.format) is Effect.OBSERVES:
        return []
    known = _BLOCKS[target.name]
    found = [f"{word} → {known[0]}" for word in _BLOCKS[hook.format] if word not in known]
    fields = zip(_FIELDS[hook.format], _FIELDS[target.name], strict=True)
    found += [f"{before} → {after}" for before, after in fields if before != after]
    if hook.event == "post-tool-call" and _OUTPUTS[hook.format][0] not in _OUTPUTS[target.name]:
        found.append(f"{_OUTPUTS[hook.format][0]} → {_OUTPUTS[target.name][0]}")
    texts = [_text_means(form, hook.event) for form in (hook.format, target.name)]
    return found if texts[0] == texts[1] else [*found, f"plain text {texts[0]} → {texts[1]}"]


def _text_means(form: str, event: str) -> str:
    """Return what plain text on stdout does in a format."""
    run = agent_answers.read(Run(Hook("", event, event, form), exit_code=0, stdout="text"))
    decision = read_decision(run)
    shown = "shown to the person" if decision.message else "ignored"
    return "sent to the model" if decision.additional_context else shown


def check_order(hooks: Sequence[tuple[Hook, Findings]], target: Target) -> None:
    """List hooks of one event that waited for each other and run at the same time in the target, or the reverse."""
    by_event: dict[str, list[tuple[Hook, Findings]]] = {}
    for hook, findings in hooks:
        if not hook.in_background and hook.spec.effect(target.name) is not Effect.BACKGROUND:
            by_event.setdefault(hook.event, []).append((hook, findings))
    for event, together in by_event.items():
        waiting = sum(not hook.in_parallel for hook, _ in together)
        is_mixed = 0 < waiting < len(together)
        for number, (hook, findings) in enumerate(together):
            if hook.format == target.name or not (number or is_mixed):
                continue
            others = ", ".join(other.name for other, _ in together if other is not hook)
            is_twin = hook.command and any(other.command == hook.command for other, _ in together if other is not hook)
            if not hook.in_parallel and "order" not in target.keys:
                why = f"it waited for those before it, whose block stopped it; hooks of {target.title} run in parallel"
                twins = "; equal commands ran twice, and will run once" if is_twin else ""
                findings.lose("order", others, f"at {event} {why}{twins}", "join them in one script")
            elif hook.in_parallel and (target.name in ("folder", "table") or (waiting and "order" in target.keys)):
                why = f"it ran beside the others; hooks of {target.title} run one after another, up to the first block"
                twins = "; an equal command ran once, and will run twice" if is_twin else ""
                findings.lose("order", others, f"at {event} {why}{twins}", "make sure that each may be skipped")
