"""Hooks on their way into another format: what each becomes there, and what of it is lost."""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ...formats import folder as folder_format
from ...formats import placeholders
from . import commands, differences, matchers
from .findings import Findings, Loss, Note
from .naming import Naming, naming
from .targets import FORMS, event_name, refuses_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...model import Hook
    from .targets import Target

_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 1024
_LONGEST_FILE_NAME = 250


class ConvertedHook(NamedTuple):
    """A hook as the target has it; a value that is the target's default is None or empty."""

    hook: Hook
    event: str
    name: str | None
    matchers: matchers.Matchers
    timeout: float | int
    async_: bool
    command: str = ""
    script: commands.Script | None = None  # of a folder
    copied_from: str | None = None  # the hook folder whose files are copied
    priority: int = 100
    description: str = ""
    metadata: Mapping[str, Any] = {}
    fail_closed: bool = False
    sequential: bool = False
    is_named: bool = False  # the name was derived
    env: Mapping[str, str] = {}


class Conversion(NamedTuple):
    """All converted hooks, in the order in which they would run."""

    target: Target
    hooks: tuple[ConvertedHook, ...]
    losses: tuple[Loss, ...]
    notes: tuple[Note, ...]


def convert(hooks: Iterable[Hook], target: Target) -> Conversion:
    """Convert hooks to another format. Nothing is written."""
    arranged = sorted(hooks, key=lambda hook: -hook.priority)  # stable: then by order of definition
    found = [(hook, Findings(hook)) for hook in arranged]
    carried = [(each, findings) for hook, findings in found if (each := _carry(hook, target, findings))]
    differences.check_order([(each.hook, findings) for each, findings in carried], target)
    carried = _with_names(_in_sequence(carried, target), target)
    if target.name == "folder":
        carried = _with_priorities(carried)
    return Conversion(
        target,
        tuple(each for each, _ in carried),
        tuple(loss for _, findings in found for loss in findings.losses),
        tuple(note for _, findings in found for note in findings.notes),
    )


def _carry(hook: Hook, target: Target, findings: Findings) -> ConvertedHook | None:
    event = event_name(hook, target)
    if event is None:
        why = f"{target.product or target.title} has no such event"
        findings.lose("event", hook.declared, why, "keep the hook where it is", left_out=True)
        return None
    if hook.metadata.get("mode") == "shadow" and target.name != "folder":
        why = f"hooks of {target.title} have no shadow mode: its decisions would be enforced"
        findings.lose("metadata.mode", "shadow", why, "convert it once it is to be enforced", left_out=True)
    _check_characters(hook, findings)
    made = None
    if not findings.left_out:
        made = ConvertedHook(hook, event, None, matchers.carry(hook, target, findings), 0, _async(hook, target))
        made = _with_command(made, target, findings)
    if made is None or findings.left_out:
        findings.losses[:] = [loss for loss in findings.losses if loss.left_out]
        findings.notes.clear()
        return None
    made = made._replace(timeout=_timeout(hook, target, findings), fail_closed=hook.fail_closed, priority=hook.priority)
    if refuses_event(target, event):
        why = f"{target.product} itself has no such event, and refuses the whole file; Tenterhook reads it"
        findings.lose("event", event, why, f"remove it where {target.product} is to read the file", weaker=True)
    differences.check_effect(hook, target, findings)
    made = _with_words(made, target, findings)
    differences.check_script(hook, target, event, made.command, findings)
    return made


def _check_characters(hook: Hook, findings: Findings) -> None:
    """Leave out hooks with lone surrogates, which only JSON can express, or with NUL in a command."""
    for key in ("name", "command", "tool", "pattern", "target", "description"):
        value = getattr(hook, key) or ""
        if value != value.encode("utf-8", "replace").decode() or ("\0" in value and key in ("command", "name")):
            why = "it contains a character that cannot be written"
            findings.lose(key, value, why, "remove the character", left_out=True)


# ---- what it runs


def _with_command(made: ConvertedHook, target: Target, findings: Findings) -> ConvertedHook | None:
    """Add the command or the script; None if there is no way to write it."""
    hook = made.hook
    command, from_table = hook.command or "", hook.format == "table"
    if hook.folder is not None:
        if target.name == "folder":
            return made._replace(copied_from=hook.folder)
        origin = commands.command_of(hook.folder)
        if origin is None or (origin[1] and target.name != "table"):
            return _with_entry_point(made, hook.folder, findings)
        command, from_table = origin
    fields = placeholders.template(command).fields
    if target.name == "folder":
        copied_from = commands.folder_of(command)
        if copied_from is not None:
            findings.note(f"a copy of the files of {copied_from}")
            return made._replace(copied_from=copied_from)
        if fields and from_table:
            findings.note("scripts/run.py fills in the placeholders, as data; it needs python3")
    elif fields and from_table != (target.name == "table"):
        shown = ", ".join(f"{{{{{field}}}}}" for field in dict.fromkeys(fields))
        if target.name == "table":
            why = "text in the command that the table format would take for a placeholder"
            remedy = "move the command into a script, and run that"
        else:
            why = f"commands of {target.title} have no placeholders"
            remedy = "`tenterhook convert … --to folder` writes a script that fills them in; convert that folder"
        findings.lose("command", shown, why, remedy, left_out=True)
        return None
    added = commands.added_variables(hook, target, command)
    if added:
        why = f"{target.product} sets it, and {FORMS[hook.format]} did not"
        findings.lose("environment", ", ".join(added), why, "check that the command does the same with it")
    command, env = commands.with_variables(hook, target, command)
    made = made._replace(command=command, env=env)
    if target.name == "folder":
        return made._replace(script=commands.script_of(command, placeholders_too=bool(fields) and from_table))
    return made


def _with_entry_point(made: ConvertedHook, folder: str, findings: Findings) -> ConvertedHook | None:
    line = commands.entry_line(folder)
    if line is None:
        why = "the folder has no script that could be run"
        findings.lose("scripts", folder, why, "add scripts/run.sh", left_out=True)
        return None
    findings.note(f"it runs {line}: keep the folder. Where that is in force as well, the hook runs twice")
    return made._replace(command=line)


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
        remedy = "set a timeout that both allow"
        findings.lose("timeout", f"{hook.timeout:g} s", why, remedy, weaker=seconds < hook.timeout)
    return int(value) if value == int(value) else value


def _async(hook: Hook, target: Target) -> bool:
    """Whether the target needs the key: hooks that their format never waits for are asynchronous elsewhere."""
    forced = hook.spec.effect(target.name) == "background"
    return "async" in target.keys and (hook.async_ if forced else hook.in_background)


def _with_words(made: ConvertedHook, target: Target, findings: Findings) -> ConvertedHook:
    """Add name, description and metadata, as far as the target has them."""
    hook, of_target = made.hook, f"hooks of {target.title}"
    derived = derived_naming(hook)
    name: str | None = None if is_automatic(hook) else hook.name
    if name is not None and "name" not in target.keys:
        findings.lose("name", name, f"{of_target} have no names", "write it into a comment, or into the command")
        name = None
    elif name is not None and (why := _unfit(name, target)):
        findings.lose("name", name, why, "give it a name of lower-case letters, digits and hyphens")
        name = None
    description = "" if derived is not None and hook.description == derived.description else hook.description
    if description.strip() and "description" not in target.keys:
        findings.lose("description", description, f"{of_target} have no description", "write it into the script")
        description = ""
    elif len(description.strip()) > _LONGEST_DESCRIPTION and target.name in ("folder", "table"):
        why = f"{target.title} takes {_LONGEST_DESCRIPTION} characters"
        findings.lose("description", description, why, "make it shorter")
        description = description.strip()[:_LONGEST_DESCRIPTION]
    if hook.priority != 100 and "priority" not in target.keys:
        why = f"{of_target} have no priority: among these it keeps its place, among others it has 100"
        findings.lose("priority", hook.priority, why, "check that no other hook must run before or after it")
    if hook.fail_closed and "fail closed" not in target.keys:
        key, value = ("fail_mode", "closed") if hook.format == "array" else ("metadata.on_failure", "block")
        why = f"{of_target} cannot fail closed: if it fails, the operation goes on"
        findings.lose(key, value, why, "end the command with `|| exit 2`", weaker=True)
    return made._replace(name=name, description=description, metadata=_metadata(hook, target, findings))


def _metadata(hook: Hook, target: Target, findings: Findings) -> Mapping[str, Any]:
    if hook.format != "folder":
        return {"on_failure": "block"} if hook.fail_closed and target.name == "folder" else {}
    if target.name == "folder":
        return hook.metadata
    for key, value in hook.metadata.items():
        if key != "on_failure":
            why = f"hooks of {target.title} have no metadata"
            remedy = "the script still finds it in its folder, as long as that stays"
            findings.lose(f"metadata.{key}", value, why, remedy)
    return {}


# In the text of a folder whose name was derived: on the way back to a format without names, none is lost.
NAMED = "Named by `tenterhook convert` after what it does."


def derived_naming(hook: Hook) -> Naming | None:
    """Return the name and the description that `convert` derives for a folder that it has written, or None."""
    origin = commands.command_of(hook.folder) if hook.folder is not None else None
    return naming(hook.event, hook.tool, hook.pattern, origin[0]) if origin is not None else None


def is_automatic(hook: Hook) -> bool:
    """Whether the name was generated: `<event>[n]`, or the folder name made for such a hook."""
    patterns = [rf"{re.escape(hook.declared)}\[\d+\]", rf"{re.escape(hook.event)}-\d+"]
    derived = derived_naming(hook)
    if derived is not None and hook.folder is not None and NAMED in folder_format.body(hook.folder):
        patterns.append(rf"{re.escape(derived.name)}(?:-\d+)?")
    return any(re.fullmatch(pattern, hook.name) for pattern in patterns)


def _unfit(name: str, target: Target) -> str | None:
    """Return why a name is not possible in the target, or None."""
    if len(name.strip()) > _LONGEST_NAME and target.name in ("folder", "table"):
        return f"{target.title} takes {_LONGEST_NAME} characters"
    if target.name == "folder" and ("/" in name or any(ord(char) < 32 or ord(char) == 127 for char in name)):
        return "the name of a folder contains no slash and no control characters"
    if target.name == "folder" and (name in (".", "..") or len(os.fsencode(name)) > _LONGEST_FILE_NAME):
        return "no folder can have this name"
    if name != name.strip() and target.name == "gemini":
        return "Gemini CLI's names do not begin or end with a space"
    return None


# ---- all of them together

_All = list[tuple[ConvertedHook, Findings]]


def _in_sequence(carried: _All, target: Target) -> _All:
    """Mark hooks that waited for each other, for Gemini CLI, which runs hooks in parallel by default."""
    if target.name != "gemini":
        return carried
    waiting = [each.event for each, _ in carried if not each.hook.in_background]

    def is_sequential(each: ConvertedHook) -> bool:
        hook = each.hook
        return not hook.in_parallel and (waiting.count(each.event) > 1 or hook.metadata.get("sequential") is True)

    return [(each._replace(sequential=is_sequential(each)), findings) for each, findings in carried]


def _with_names(carried: _All, target: Target) -> _All:
    """Give each hook a name of its own, where the target needs one."""
    if target.name not in ("folder", "gemini"):
        return carried
    taken: set[str] = set()
    made: _All = []
    for each, findings in carried:
        name = each.name
        if name is not None and name in taken:
            name = next(new for number in range(2, 10**6) if (new := f"{each.name}-{number}") not in taken)
            why = f"another hook has this name: it is called {name}"
            findings.lose("name", each.name, why, "give it a name of its own")
        if name is not None:
            taken.add(name)
        made.append((each._replace(name=name), findings))
    if target.name != "folder":
        return made
    for index, (each, findings) in enumerate(made):
        derived = _naming_of(each)
        name = each.name
        if name is None:
            names = (derived.name + (f"-{number}" if number > 1 else "") for number in range(1, 10**6))
            name = next(name for name in names if name not in taken)
            taken.add(name)
        described = each._replace(name=name, is_named=each.name is None)
        if not each.description.strip():
            described = described._replace(description=derived.description)
        made[index] = (described, findings)
    return made


def _naming_of(each: ConvertedHook) -> Naming:
    """Return the name and the description of a folder; those of a folder that is copied are its own."""
    if each.copied_from is not None:
        read = folder_format.read(each.copied_from, "user").hook
        if read is not None:
            return Naming(read.name, read.description)
    return naming(each.hook.event, each.matchers.tool, each.matchers.pattern, each.command)


def _with_priorities(carried: _All) -> _All:
    """Folders run by priority, then by name: where that is another order than before, change the priorities."""
    last: dict[str, ConvertedHook] = {}
    made: _All = []
    for each, findings in carried:
        before = last.get(each.hook.event)
        if before is not None and not each.hook.in_background:
            comes_after = os.fsencode(each.name or "") > os.fsencode(before.name or "")
            highest = before.priority if comes_after else before.priority - 1
            if highest < 0:
                why = f"it ran after {before.name}, and there is no lower priority"
                findings.lose("order", before.name, why, "give the hooks names or priorities in their order")
            elif each.priority > highest:
                each = each._replace(priority=highest)  # noqa: PLW2901  # the same one, later
                findings.note(f"priority {highest}, to run after {before.name}")
        if not each.hook.in_background:
            last[each.hook.event] = each
        made.append((each, findings))
    return made
