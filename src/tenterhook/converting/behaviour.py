"""What a hook would do otherwise in another format, although its definition is the same.

Formats differ in what an answer does at an event, in the JSON a hook is sent, in the words it may answer with, in how
often a stop may be refused, and in whether hooks wait for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..agents import dialect
from ..events import AGENTS, STOPS, Effect
from ..formats import payloads
from ..model import Event, Hook
from . import lines, printed
from .sight import Text
from .targets import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .findings import Findings
    from .sight import Sight
    from .targets import Target


# ---- what an answer does


def tell_effect(hook: Hook, target: Target, findings: Findings) -> None:
    """What the hook's word counts for there, if it is waited for at all."""
    before, after = hook.spec.effect(hook.format), hook.spec.effect(target.name)
    if hook.in_background:
        if after is not Effect.BACKGROUND and "async" not in target.keys:
            counts = ", and what it says counts" if after is Effect.DECIDES else ""
            why = f"{_of(target)} know no asynchronous hooks: it is waited for{counts}"
            findings.lose("async", True, why, "let the command start its work in the background, and exit with 0")
        return
    if after is Effect.BACKGROUND:
        why = f"{_of(target)} are not waited for at {hook.event}, and what they say changes nothing"
        findings.lose("async", False, why, _keep(hook))
        return
    if before is not after:
        why = f"{_COUNTS[before]} in {FORMS[hook.format]}; {_COUNTS[after]} in {target.title}"
        if before is Effect.DECIDES:
            why += f". A block meant: {hook.spec.block}"
            instead = _keep(hook)
        else:
            instead = "see to it that it neither exits with 2 nor prints a decision"
        findings.lose("answer", hook.event, f"at {hook.event} {why}", instead)
    elif hook.event in STOPS and after is Effect.DECIDES and _stops(hook.format) != _stops(target.name):
        why = (
            f"it may send the agent back {_stops(hook.format)} in a turn in {FORMS[hook.format]}, "
            f"{_stops(target.name)} in {target.title}"
        )
        findings.lose("answer", hook.event, why, _keep(hook))


_COUNTS = {
    Effect.DECIDES: "what a hook says decides",
    Effect.INFORMS: "what a hook says is shown and nothing is refused",
    Effect.OBSERVES: "what a hook says changes nothing",
}


def _keep(hook: Hook) -> str:
    if hook.format == "folder":
        return "keep the folder, and let Tenterhook run it in the agent (tenterhook install)"
    return "keep it where it is, and name the file with --config"


def _of(target: Target) -> str:
    return f"hooks of {target.title}"


def _stops(form: str) -> str:
    """How often hooks of a format may refuse a stop."""
    return "three times" if form in ("folder", "table") else "once"


# ---- what plain text on stdout does


def _text_means(form: str, event: str) -> str:
    if form in AGENTS and event in dialect(form).text_is_context:
        return "goes to the model"
    return "is shown to the person" if form == "gemini" or (form, event) == _SHOWN else "means nothing"


_SHOWN = ("array", "pre-agent-turn")


def tell_text(hook: Hook, target: Target, seen: Sight, findings: Findings) -> None:
    """What becomes of text that the hook prints."""
    before, after = _text_means(hook.format, hook.event), _text_means(target.name, hook.event)
    if hook.in_background or before == after or not printed.may_be_text(seen):
        return
    says = f"text that it prints at {hook.event} {before} in {FORMS[hook.format]} and {after} in {target.title}"
    if before == "means nothing":
        findings.note(says)
        return
    key = "additional_context" if "model" in before else "message"
    instead = f'print {{"{key}": "…"}}' if not target.is_agent else "see what the agent's own documentation says"
    findings.lose("answer", "text", says, instead)


# ---- the words of an answer

_OUR_WORDS = ("decision", "modified_input", "additional_context", "hookSpecificOutput", "permissionDecision")
_THEIR_WORDS = (
    *("updatedInput", "additionalContext", "systemMessage", "stopReason", "continue", "behavior"),
    *("updatedToolOutput", "approve"),
)


def tell_answers(hook: Hook, target: Target, seen: Sight, findings: Findings) -> None:
    """Whether what the hook says would be understood."""
    if hook.in_background or hook.format == target.name or hook.spec.effect(hook.format) is Effect.OBSERVES:
        return
    if not target.is_agent:
        if hook.format not in AGENTS:
            return  # both vocabularies in every format of ours
        words = [*_THEIR_WORDS, *(["permissionDecision"] if hook.format != "claude" else [])]
        why = f"words of {FORMS[hook.format]} mean nothing, or something else, in {target.title}"
        instead = (
            'answer with {"decision": "deny", "reason": "…"}, "modified_input" or "additional_context", '
            "or exit with 2 and the reason on stderr"
        )
    else:
        words = [*_OUR_WORDS, *(_THEIR_WORDS if hook.format in AGENTS else ())]
        why = f"{target.product} itself may not understand such an answer"
        if hook.format not in AGENTS and hook.event != "permission-request":
            why += ", though Tenterhook does"
        instead = (
            f"exit with 2 and the reason on stderr, which blocks everywhere; or answer in {target.product}'s words"
        )
    said = seen.reads(words)
    if said:
        findings.lose("answer", ", ".join(said), why, instead)
    elif seen.unseen:
        findings.lose("answer", ", ".join(seen.unseen), f"it could not be read; if it answers in JSON: {why}", instead)


# ---- the JSON it is sent


def payload_differences(hook: Hook, target: Target, declared: str) -> dict[str, str]:
    """The fields that the hook is sent and would not find there under the same name, with what becomes of each."""
    event = _sample(hook)
    before = payloads.payload(hook, event)
    after = payloads.payload(Hook(hook.name, hook.event, declared, target.name), event)
    found: dict[str, str] = {}
    for name, value in before.items():
        if name in after and after[name] == value:
            continue
        if name in ("hook_event_name", "event_type"):
            found[name] = _named(next(key for key in after if key in ("hook_event_name", "event_type")), name, declared)
        elif name in after:
            found[name] = f"{name} in another form"
        else:
            same = next((key for key, other in after.items() if other == value and key not in before), None)
            found[name] = same or "nothing"
    return found


def _named(key: str, name: str, declared: str) -> str:
    return f"{declared!r}" if key == name else f"{key}, {declared!r}"


def _sample(hook: Hook) -> Event:
    """An event with a value of its own in every field there is."""
    spec = hook.spec
    names = dict.fromkeys((*spec.fields, *(name for column in spec.columns for name in (column.name, *column.sources))))
    left_out = ("agent_name", "cwd", *(("prompt",) if "task_description" in names else ()))  # other words for the same
    values: dict[str, Any] = {name: f"<{name}>" for name in names if name not in left_out}
    values.update({name: f"<{name}>" * 1000 for name in ("tool_output", "response") if name in values})
    if "tool_name" in values:
        values.update(tool_name="Shell", tool_input={"command": "<command>"})
    if "stop_hook_active" in values:
        values["stop_hook_active"] = True
    return Event(spec.name, session_id="<session>", work_dir="/", timestamp="<timestamp>", **values)


def tell_payload(hook: Hook, target: Target, declared: str, seen: Sight, findings: Findings) -> None:
    """Which fields the hook reads that it would no longer find."""
    changed = payload_differences(hook, target, declared)
    if not changed:
        return
    read = seen.reads(changed)
    shown = "; ".join(f"{name} → {changed[name]}" for name in (read or changed))
    if read:
        why = f"the hook reads what {_of(target)} are sent under another name or not at all: {shown}"
        findings.lose("payload", ", ".join(read), why, "let the script read both names")
    elif seen.unseen:
        why = f"it could not be read; {_of(target)} are sent other JSON: {shown}"
        findings.lose("payload", ", ".join(seen.unseen), why, "see that the script finds what it reads")
    else:
        findings.note(f"it is sent other JSON in {target.title} ({shown}); nothing in it was seen to read that")


def tell_variables(hook: Hook, target: Target, command: str, seen: Sight, findings: Findings) -> None:
    """Which variables the agent itself would not set."""
    if not target.is_agent:
        return
    both = seen._replace(texts=(*seen.texts, Text(command)))
    missing = both.names(lines.OURS)
    if missing:
        why = f"{target.product} itself sets no such variables; Tenterhook does"
        findings.lose("environment", ", ".join(missing), why, "use $PWD for the project's directory")


# ---- how hooks stand to each other


def tell_order(hooks: Sequence[tuple[Hook, Findings]], target: Target) -> None:
    """Whether hooks of one event that waited for each other run at the same time there, or the other way round."""
    by_event: dict[str, list[tuple[Hook, Findings]]] = {}
    for hook, findings in hooks:
        if not hook.in_background and hook.spec.effect(target.name) is not Effect.BACKGROUND:
            by_event.setdefault(hook.event, []).append((hook, findings))
    for event, together in by_event.items():
        if len(together) < 2:
            continue
        for hook, findings in together[1:]:
            others = ", ".join(other.name for other, _ in together if other is not hook)
            is_twin = any(other.command == hook.command for other, _ in together if other is not hook)
            if not hook.in_parallel and "order" not in target.keys:
                why = f"it waited for those before it, and a block of theirs stopped it; {_of(target)} run side by side"
                twins = "; equal commands ran twice, and will run once" if is_twin and hook.command else ""
                findings.lose("order", others, f"at {event} {why}{twins}", "join them in one script")
            elif hook.in_parallel and target.name in ("folder", "table"):
                why = f"it ran beside the others; {_of(target)} run one after another, the first block stops the rest"
                twins = "; an equal command ran once, and will run twice" if is_twin else ""
                instead = "see that each of them may be missing after a block"
                findings.lose("order", others, f"at {event} {why}{twins}", instead)
