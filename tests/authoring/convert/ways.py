"""From one format to another and back, below a temporary directory."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from support import array_hook, folder_hook, table_hook, write_config
from tenterhook.authoring.convert import carrying, commands, documents, placing, sources, targets
from tenterhook.events import TOOL_NAMES, tool_names
from tenterhook.formats import expressions

if TYPE_CHECKING:
    from tenterhook import Hook
    from tenterhook.authoring.convert.findings import Loss, Note

FORMATS = tuple(targets.TARGETS)
# Where a file of each format is, so that it is taken for one.
FILES = {
    "table": "table/config.toml",
    "array": ".kimi-code/config.toml",
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
    "folder": "hooks",
}


class Converted(NamedTuple):
    """What became of some hooks, read again from what was written."""

    path: Path
    hooks: tuple[Hook, ...]
    losses: tuple[Loss, ...]
    notes: tuple[Note, ...]
    checks: tuple[Loss, ...] = ()  # what is to be checked by hand

    def lost(self) -> dict[str, list[str]]:
        """For each hook the keys that were lost."""
        found: dict[str, list[str]] = {}
        for loss in self.losses:
            found.setdefault(loss.hook, []).append(loss.key)
        return found


def read(*paths: Path) -> tuple[Hook, ...]:
    """The hooks behind paths, which must be without mistakes."""
    found = sources.read(map(str, paths))
    assert not found.errors, found.errors
    return found.hooks


def convert(source: Path | list[Path], to: str, directory: Path, *, file: str | None = None) -> Converted:
    """Convert, write and read again what was written."""
    found = sources.read([str(each) for each in (source if isinstance(source, list) else [source])])
    assert not found.errors, found.errors
    out = directory / (file or FILES[to])
    out.parent.mkdir(parents=True, exist_ok=True)
    target = targets.target_for(to, str(out))
    made = carrying.convert(found.hooks, target)
    if to == "folder":
        out.mkdir()
        placing.write_folders(made, str(out))
    else:
        out.write_text(documents.text_of(made, toml=out.suffix == ".toml"), encoding="utf-8", newline="")
    hooks = read(out) if made.hooks else ()
    assert len(hooks) == len(made.hooks)
    assert {hook.format for hook in hooks} <= {to}
    losses = [loss for loss in (*found.losses, *made.losses) if not loss.to_check]
    checks = [loss for loss in made.losses if loss.to_check]
    return Converted(out, hooks, tuple(losses), (*found.notes, *made.notes), tuple(checks))


def meaning(hook: Hook) -> dict[str, Any]:
    """Everything of a hook that does not say where and how it is written down."""
    metadata = {key: value for key, value in hook.metadata.items() if key not in ("number", "on_failure")}
    derived = carrying.derived_naming(hook)
    return {
        "name": None if carrying.is_automatic(hook) else hook.name,
        "event": hook.event,
        "runs": hook.command if hook.folder is None else _files(hook.folder),
        "tool": hook.tool,
        "pattern": hook.pattern,
        "target": hook.target,
        "timeout": round(hook.timeout, 9),
        "background": hook.in_background,
        "priority": hook.priority,
        "description": "" if derived is not None and derived.description == hook.description else hook.description,
        "metadata": metadata,
        "fail_closed": hook.fail_closed,
        "never_matches": hook.never_matches,
    }


def _files(folder: str) -> dict[str, str]:
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = Path(where) / name
            if name != "HOOK.md":
                found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


# ---- sources of one hook

GUARD = "cat > /dev/null; echo no >&2; exit 2"


def table(directory: Path, command: str = GUARD, event: str = "before_tool", **keys: Any) -> Path:
    return write_config(directory / FILES["table"], table_hook(command, event, **keys))


def array(directory: Path, command: str = GUARD, event: str = "PreToolUse", **keys: Any) -> Path:
    return write_config(directory / FILES["array"], array_hook(command, event, **keys))


def agent(directory: Path, name: str, event: str, command: str = GUARD, matcher: str = "", **keys: Any) -> Path:
    group = {"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": 30, **keys}]}
    file = directory / FILES[name]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"hooks": {event: [group]}}))
    return file


def folder(directory: Path, script: str = GUARD, trigger: str = "pre-tool-call", **front: Any) -> Path:
    return folder_hook(directory / FILES["folder"], "guard", script, trigger, **{"description": "", **front}).parent


def found(converted: Converted) -> list[tuple[str, Any, bool]]:
    return [(loss.key, loss.value, loss.left_out) for loss in converted.losses]


# ---- the same hooks

SAMPLES = ["", "startup", "resume", "task.completed", "deploy", "deploys", "x y", "a\n", "Bash\n", "mcp__x__run", "aab"]
SAMPLES += [name for names in TOOL_NAMES for name in names]


def finds(hook: Hook, expression: str | None) -> Any:
    """What an expression means: where it is found."""
    if expression is None or hook.never_matches:
        return expression and "never"
    found = expressions.search(hook.dialect, expression)
    if hook.spec.target is None:
        return None if found("") else "never"
    if hook.spec.has_tool:
        return [any(found(name) for name in tool_names(text)) for text in SAMPLES if text.isprintable()]
    return [bool(found(text)) for text in SAMPLES]


def comparable(hooks: tuple[Hook, ...]) -> list[dict[str, Any]]:
    """Hooks by event, in the order in which they run."""
    arranged = sorted(hooks, key=lambda hook: -hook.priority)
    waiting = [hook.event for hook in hooks if not hook.in_background]
    made: list[tuple[tuple[str, bool, str], dict[str, Any]]] = []
    for hook in arranged:
        value = meaning(hook)
        for key in ("tool", "target"):
            value[key] = finds(hook, value[key])
        if hook.folder is None:  # variables in a key or in the command are the same
            variables, command = commands.split(value["runs"])
            env = {name: shlex.quote(text) for name, text in value["metadata"].pop("env", {}).items()}
            given = commands.provided(hook.format, hook)  # by its agent anyway
            value["runs"] = (
                {name: word for name, word in {**env, **variables}.items() if given.get(name) != word},
                command,
            )
        if waiting.count(hook.event) < 2:
            value["metadata"].pop("sequential", None)
        made.append(((hook.event, hook.in_background, repr(value) if hook.in_background else ""), value))
    return [value for _, value in sorted(made, key=lambda each: each[0])]  # stable: those that wait keep their order


# ---- through the command line

_RUN = "import sys; from tenterhook import cli; sys.exit(cli.run(sys.argv[1:]))"


def tenterhook(*arguments: str | os.PathLike[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """The real command line."""
    options.setdefault("timeout", 60)
    line = [sys.executable, "-c", _RUN, *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, **options)


def program(directory: Path) -> Path:
    """The same as a program `tenterhook` in a directory for the PATH."""
    directory.mkdir()
    file = directory / "tenterhook"
    file.write_text(f"#!{sys.executable}\n{_RUN}")
    file.chmod(0o755)
    return file


def config(project: Path, text: str | None = None, name: str = "config.toml") -> Path:
    return write_config(project / name, array_hook(GUARD, matcher="Bash", timeout=5) if text is None else text)


def tree(directory: Path) -> dict[str, Any]:
    """Everything below a directory, to see that nothing has changed."""
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None
        for path in sorted(directory.rglob("*"))
    }
