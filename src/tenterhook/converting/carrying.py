"""Hooks on their way into another format: what each becomes there, and what of it is lost."""

from __future__ import annotations

import math
import os
import re
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import shell_lines
from ..formats import entry_points, placeholders
from . import behaviour, copying, lines, matchers, scripts, sight
from .findings import Findings, Loss, Note
from .targets import FORMS, TARGETS, event_name, refuses_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..model import Hook
    from .targets import Target

_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 1024
_LONGEST_FILE_NAME = 250


class Carried(NamedTuple):
    """A hook as the target has it; a value that it would have by itself is None or empty."""

    hook: Hook
    event: str
    name: str | None
    matchers: matchers.Matchers
    timeout: float | int
    async_: bool
    command: str = ""
    script: scripts.Script | None = None  # of a folder
    files: Mapping[str, str] = {}  # beside that script: name, and where it is copied from
    copied_from: str | None = None  # the hook folder whose files these are
    priority: int = 100
    description: str = ""
    metadata: Mapping[str, Any] = {}
    fail_closed: bool = False
    sequential: bool = False
    env: Mapping[str, str] = {}


class Conversion(NamedTuple):
    """All of them, in the order in which they would run."""

    target: Target
    hooks: tuple[Carried, ...]
    losses: tuple[Loss, ...]
    notes: tuple[Note, ...]


def convert(hooks: Iterable[Hook], target: Target) -> Conversion:
    """Carry hooks into another format. Nothing is written."""
    arranged = sorted(hooks, key=lambda hook: -hook.priority)  # stable: then by order of definition
    found = [(hook, Findings(hook)) for hook in arranged]
    carried = [(each, findings) for hook, findings in found if (each := _carry(hook, target, findings))]
    behaviour.tell_order([(each.hook, findings) for each, findings in carried], target)
    carried = _in_sequence(carried, target)
    carried = _named(carried, target)
    if target.name == "folder":
        carried = _prioritized(carried)
    return Conversion(
        target,
        tuple(each for each, _ in carried),
        tuple(loss for _, findings in found for loss in findings.losses),
        tuple(note for _, findings in found for note in findings.notes),
    )


def _carry(hook: Hook, target: Target, findings: Findings) -> Carried | None:
    event = event_name(hook, target)
    if event is None:
        why = f"{target.product or target.title} has no such event"
        findings.lose("event", hook.declared, why, "keep the hook where it is", left_out=True)
        return None
    if hook.metadata.get("mode") == "shadow" and target.name != "folder":
        why = f"{_of(target)} know no shadow mode: it would decide in earnest"
        findings.lose("metadata.mode", "shadow", why, "convert it once it is to be enforced", left_out=True)
    _tell_unwritable(hook, findings)
    if findings.left_out:
        return None
    matched = matchers.carry(hook, target, findings)
    seen = sight.look(hook)
    made = _command(hook, target, event, seen, findings)
    if made is None or findings.left_out:
        findings.losses[:] = [loss for loss in findings.losses if loss.left_out]
        findings.notes.clear()
        return None
    made = made._replace(
        matchers=matched,
        timeout=_timeout(hook, target, findings),
        async_=_async(hook, target),
        fail_closed=hook.fail_closed,
        priority=hook.priority,
    )
    if refuses_event(target, event):
        why = f"{target.product} itself knows no such event, and refuses the whole file; Tenterhook reads it"
        findings.lose("event", event, why, f"take it out where {target.product} is to read the file")
    behaviour.tell_effect(hook, target, findings)
    behaviour.tell_text(hook, target, seen, findings)
    behaviour.tell_answers(hook, target, seen, findings)
    behaviour.tell_variables(hook, target, made.command, seen, findings)
    return _with_words(made, target, findings)


def _tell_unwritable(hook: Hook, findings: Findings) -> None:
    """Half characters, which JSON can hold and no other text, and NUL, which no command line can."""
    for key in ("name", "command", "tool", "pattern", "target", "description"):
        value = getattr(hook, key) or ""
        if value != value.encode("utf-8", "replace").decode() or ("\0" in value and key in ("command", "name")):
            why = "it holds a character that cannot be written"
            findings.lose(key, value, why, "take the character out", left_out=True)


# ---- what it runs


def _command(hook: Hook, target: Target, event: str, seen: sight.Sight, findings: Findings) -> Carried | None:
    """The command, or the script, of the hook to be; None if there is no way to say it."""
    made = Carried(hook, event, None, matchers.Matchers(), 0, False)
    if hook.folder is not None:
        return _from_folder(made, hook.folder, target, seen, findings)
    command = hook.command or ""
    fields = placeholders.template(command).fields
    if target.name == "folder":
        return _to_folder(made, command, bool(fields) and hook.format == "table", seen, findings)
    if fields and (hook.format == "table") != (target.name == "table"):
        _tell_placeholders(fields, target, findings)
        return None
    behaviour.tell_payload(hook, target, event, seen, findings)
    if hook.format != target.name:
        copying.tell_kept(command, hook, findings)
    command, env = _with_variables(hook, target, command, seen, findings)
    return made._replace(command=command, env=env)


def _tell_placeholders(fields: Sequence[str], target: Target, findings: Findings) -> None:
    shown = ", ".join(f"{{{{{field}}}}}" for field in dict.fromkeys(fields))
    if target.name == "table":
        why = "text in the command that the table format would take for a placeholder"
        findings.lose("command", shown, why, "put the command into a script, and name that", left_out=True)
        return
    why = f"commands of {target.title} have no placeholders"
    instead = (
        "read the value from the JSON on stdin in a script; "
        "`tenterhook convert … --to folder` writes such a script, and the folder can be converted"
    )
    findings.lose("command", shown, why, instead, left_out=True)


def _from_folder(made: Carried, folder: str, target: Target, seen: sight.Sight, findings: Findings) -> Carried | None:
    hook = made.hook
    if target.name == "folder":
        return made._replace(copied_from=folder)
    origin = scripts.command_of(folder, hook.spec)
    if origin is not None and origin.form in ("folder", target.name):
        if origin.form == "folder":
            fields = placeholders.template(origin.text).fields
            if fields and target.name == "table":
                _tell_placeholders(fields, target, findings)
                return None
            behaviour.tell_payload(hook, target, made.event, seen, findings)
        command, env = _with_variables(hook, target, origin.text, seen, findings)
        return made._replace(command=command, env=env)
    line = lines.entry_line(folder)
    script, _ = entry_points.entry_point(folder)
    if line is None or script is None:
        why = "the folder has no script that could be run"
        findings.lose("scripts", folder, why, "add scripts/run.sh", left_out=True)
        return None
    shell = shell_lines.shell_of(script)
    refusal = shell_lines.refusal(shell, script) if shell else None
    if refusal:
        why = f"the shell refuses it ({refusal}), and its status 2 would be a block there"
        findings.lose("scripts", script, why, "fix the script", left_out=True)
        return None
    behaviour.tell_payload(hook, target, made.event, seen, findings)
    findings.note(f"it runs {line}: keep the folder. Where that is in force as well, the hook runs twice")
    return made._replace(command=line)


def _to_folder(
    made: Carried, command: str, has_placeholders: bool, seen: sight.Sight, findings: Findings
) -> Carried | None:
    hook, target = made.hook, TARGETS["folder"]
    copied = lines.folder_of(command)
    if copied is not None:
        behaviour.tell_payload(hook, target, made.event, seen, findings)
        findings.note(f"the files of {copied} are copied")
        return made._replace(copied_from=copied)
    command, files = copying.with_files(command, hook, findings)
    made = made._replace(files=files)
    if files:
        seen = seen._replace(texts=(sight.Text(command), *seen.texts[1:]))
    if has_placeholders:
        findings.note("scripts/run.py fills in the placeholders, as data; it needs python3")
        return made._replace(script=scripts.of(command, hook.spec, form="table"))
    if hook.format == "array":
        changed = behaviour.payload_differences(hook, target, made.event)
        if (seen.unseen or seen.reads(changed)) and shell_lines.refusal("/bin/sh", "-c", command) is None:
            missing = seen.reads(name for name, now in changed.items() if now == "nothing")
            if missing:
                why = f"folder hooks are not sent it at {hook.event}"
                findings.lose("payload", ", ".join(missing), why, "do without it")
            findings.note("scripts/run.py hands on the event in the words of the array format; it needs python3")
            return made._replace(script=scripts.of(command, hook.spec, form="array", declared=hook.declared))
    behaviour.tell_payload(hook, target, made.event, seen, findings)
    command, _ = _with_variables(hook, target, command, seen, findings)
    return made._replace(script=scripts.of(command, hook.spec))


def _with_variables(
    hook: Hook, target: Target, command: str, seen: sight.Sight, findings: Findings
) -> tuple[str, dict[str, str]]:
    """The command with the variables that the hook was given and would lack; where there is a key, they go there."""
    env = dict(hook.metadata.get("env", {})) if hook.format != "folder" else {}
    if hook.format == target.name and ("env" in target.keys or not env):
        return command, env
    given = lines.provided(hook.format, hook)
    theirs = lines.provided(target.name, hook)
    used = {name: given[name] for name in seen.names(given)}
    missing = [name for name, word in given.items() if name not in used and theirs.get(name) != word]
    if seen.unseen and missing:
        findings.note(f"{', '.join(seen.unseen)} could not be read; it no longer finds {', '.join(missing)}")
    own = {**used, **{name: shlex.quote(value) for name, value in env.items()}}
    if not own and not target.is_agent:
        return command, {}
    before, rest = lines.split(command)
    needed = {name: word for name, word in {**own, **before}.items() if theirs.get(name) != word}
    env = {}
    if "env" in target.keys:
        env = {name: value for name, word in needed.items() if (value := lines.literal(word)) is not None}
        needed = {name: word for name, word in needed.items() if name not in env}
    gained = [name for name in seen.names(theirs) if name not in given and name not in before]
    if gained:
        why = f"{target.product} sets it, and {FORMS[hook.format]} did not"
        findings.lose("environment", ", ".join(gained), why, "see that the command means the same with it")
    added = [name for name in needed if name not in before]
    if added:
        findings.note(f"the command sets {', '.join(added)}, which {FORMS[hook.format]} gave it")
    return lines.with_variables(rest, needed), env


# ---- when, how long, under which name


def _timeout(hook: Hook, target: Target, findings: Findings) -> float | int:
    units = round(hook.timeout * target.per_second, 6)
    value = math.ceil(units) if target.whole else units
    low, high = target.shortest * target.per_second, target.longest * target.per_second
    value = min(max(value, math.ceil(low) if target.whole else low), math.floor(high) if target.whole else high)
    seconds = value / target.per_second
    if abs(seconds - hook.timeout) > 1e-9:
        unit = "whole seconds" if target.per_second == 1 else "whole milliseconds"
        limits = f", {target.shortest:g} to {target.longest:g} s" if target.longest < 10**5 else ""
        why = f"a timeout in {target.title} is in {unit}{limits}: it is {seconds:g} s there"
        findings.lose("timeout", f"{hook.timeout:g} s", why, "say a timeout that both can say")
    return int(value) if value == int(value) else value


def _async(hook: Hook, target: Target) -> bool:
    """Whether the target must be told: hooks that their format never waits for are asynchronous elsewhere."""
    forced = hook.spec.effect(target.name) == "background"
    return "async" in target.keys and (hook.async_ if forced else hook.in_background)


def _with_words(made: Carried, target: Target, findings: Findings) -> Carried:
    """The carried hook with its name, description and metadata, as far as the target has them."""
    hook = made.hook
    name: str | None = None if is_automatic(hook) else hook.name
    if name is not None and "name" not in target.keys:
        findings.lose("name", name, f"{_of(target)} have no names", "write it into a comment, or into the command")
        name = None
    elif name is not None and (why := _unfit(name, target)):
        findings.lose("name", name, why, "give it a name of lower-case letters, digits and hyphens")
        name = None
    description = hook.description
    if description.strip() and "description" not in target.keys:
        findings.lose("description", description, f"{_of(target)} have no description", "write it into the script")
        description = ""
    elif len(description.strip()) > _LONGEST_DESCRIPTION and target.name in ("folder", "table"):
        why = f"{target.title} takes {_LONGEST_DESCRIPTION} characters"
        findings.lose("description", description, why, "make it shorter")
        description = description.strip()[:_LONGEST_DESCRIPTION]
    if hook.priority != 100 and "priority" not in target.keys:
        why = f"{_of(target)} have no priority: among these it keeps its place, among others it has 100"
        findings.lose("priority", hook.priority, why, "see that nothing else must run before or after it")
    if hook.fail_closed and "fail closed" not in target.keys:
        key = "fail_mode" if hook.format == "array" else "metadata.on_failure"
        why = f"{_of(target)} cannot fail closed: if it fails, the operation goes on"
        findings.lose(key, "closed" if key == "fail_mode" else "block", why, "end the command with `|| exit 2`")
    return made._replace(name=name, description=description, metadata=_metadata(hook, target, findings))


def _metadata(hook: Hook, target: Target, findings: Findings) -> Mapping[str, Any]:
    if hook.format != "folder":
        return {"on_failure": "block"} if hook.fail_closed and target.name == "folder" else {}
    if target.name == "folder":
        return hook.metadata
    for key, value in hook.metadata.items():
        if key != "on_failure":
            why = f"{_of(target)} have no metadata"
            findings.lose(
                f"metadata.{key}", value, why, "the script still finds it in its folder, as long as that stays"
            )
    return {}


def _of(target: Target) -> str:
    return f"hooks of {target.title}"


def is_automatic(hook: Hook) -> bool:
    """Whether nobody gave the hook its name: `<event>[n]`, or what a folder is called that was made from such a one."""
    patterns = (rf"{re.escape(hook.declared)}\[\d+\]", rf"{re.escape(hook.event)}-\d+")
    return any(re.fullmatch(pattern, hook.name) for pattern in patterns)


def _unfit(name: str, target: Target) -> str | None:
    if len(name.strip()) > _LONGEST_NAME and target.name in ("folder", "table"):
        return f"{target.title} takes {_LONGEST_NAME} characters"
    if target.name == "folder" and ("/" in name or any(ord(char) < 32 or ord(char) == 127 for char in name)):
        return "the name of a folder holds no slash and no control characters"
    if target.name == "folder" and (name in (".", "..") or len(os.fsencode(name)) > _LONGEST_FILE_NAME):
        return "no folder can be called so"
    if name != name.strip() and target.name == "gemini":
        return "Gemini CLI's names do not begin or end with a space"
    return None


# ---- all of them together


def _in_sequence(carried: list[tuple[Carried, Findings]], target: Target) -> list[tuple[Carried, Findings]]:
    """Gemini CLI runs the hooks of a group one after another if it is told so."""
    if target.name != "gemini":
        return carried
    waiting = [each.event for each, _ in carried if not each.hook.in_background]
    return [
        (
            each._replace(
                sequential=not each.hook.in_parallel
                and (waiting.count(each.event) > 1 or each.hook.metadata.get("sequential") is True)
            ),
            findings,
        )
        for each, findings in carried
    ]


def _named(carried: list[tuple[Carried, Findings]], target: Target) -> list[tuple[Carried, Findings]]:
    """Each with a name of its own, where the target needs one."""
    if target.name not in ("folder", "gemini"):
        return carried
    taken: set[str] = set()
    made: list[tuple[Carried, Findings]] = []
    for each, findings in carried:
        name = each.name
        if name is not None and name in taken:
            other = next(f"{name}-{number}" for number in range(2, 10**6) if f"{name}-{number}" not in taken)
            findings.lose(
                "name", name, f"another hook has this name: it is called {other}", "give it a name of its own"
            )
            name = other
        if name is not None:
            taken.add(name)
        made.append((each._replace(name=name), findings))
    return _with_numbers(made, taken) if target.name == "folder" else made


def _with_numbers(carried: list[tuple[Carried, Findings]], taken: set[str]) -> list[tuple[Carried, Findings]]:
    count = {each.hook.event: 0 for each, _ in carried}
    width = len(str(sum(each.name is None for each, _ in carried)))
    made: list[tuple[Carried, Findings]] = []
    for each, findings in carried:
        name = each.name
        while name is None or (each.name is None and name in taken):
            name = f"{each.hook.event}-{count[each.hook.event]:0{width}}"
            count[each.hook.event] += 1
        taken.add(name)
        made.append((each._replace(name=name), findings))
    return made


def _prioritized(carried: list[tuple[Carried, Findings]]) -> list[tuple[Carried, Findings]]:
    """Folders run by priority, then by name: where that is another order than before, priorities make it the same."""
    last: dict[str, Carried] = {}
    made: list[tuple[Carried, Findings]] = []
    for each, findings in carried:
        before = last.get(each.hook.event)
        if before is not None and not each.hook.in_background:
            comes_after = os.fsencode(each.name or "") > os.fsencode(before.name or "")
            highest = before.priority if comes_after else before.priority - 1
            if highest < 0:
                why = f"it ran after {before.name}, and there is no lower priority to say so with"
                findings.lose("order", before.name, why, "give the hooks names or priorities in their order")
            elif each.priority > highest:
                each = each._replace(priority=highest)  # noqa: PLW2901  # the same one, later
                findings.note(f"it has priority {highest}, to run after {before.name}")
        if not each.hook.in_background:
            last[each.hook.event] = each
        made.append((each, findings))
    return made
