"""A round trip of a lossless conversion gives the same definitions, whatever they are."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from authoring.convert.ways import FILES, FORMATS, comparable, convert, read
from tenterhook.agents import dialect
from tenterhook.events import AGENT_FORMATS, BY_NAME, EVENTS
from tenterhook.formats import expressions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVENTS_OF = {name: dialect(name).events for name in AGENT_FORMATS}
settings.register_profile(
    "converting",
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("converting")

# ---- hooks of every kind

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30)
LINES = st.text("abz {}'\"\\$|#=-\n\t\r\u00e9\u2028[]<>", min_size=1, max_size=30).filter(str.strip)
COMMANDS = st.one_of(
    st.sampled_from(
        [
            "exit 2",
            "echo no >&2; exit 2",
            "input=$(cat)\necho \"$input\" | grep -q 'rm'\n",
            "python /nowhere/guard.py --strict",
            "export A=1 B='x y'; run",
            'export C="$PWD"; run',
            'cat > "$KIMI_WORK_DIR/sent"',
            "jq -r .tool_input.command",
            "jq -r .cwd",
            'echo \'{"decision": "deny"}\'',
            '"$CLAUDE_PROJECT_DIR"/hooks/x',
            "docker ps --format '{{.Names}}'",
            'export CLAUDE_PROJECT_DIR="$PWD"; run',
            'export GEMINI_SESSION_ID="$TENTERHOOK_SESSION_ID" A=1; echo "$GEMINI_SESSION_ID"',
            "echo '''",
        ]
    ),
    LINES,
)
PLACEHOLDERS = st.sampled_from(["black {{tool_input.file_path}}", "echo '{{tool_name}}' \"{{session_id}}\"\n"])
NAMES = st.one_of(st.sampled_from(["guard", "My Guard", "a-b", "pre-tool-call-7", "x[0]"]), TEXT).filter(
    lambda name: name.strip() and len(name) <= 64
)
TOOLS = st.one_of(
    st.sampled_from(
        [
            *("Shell", "Bash", "^Bash$", "Write|Edit", "Read.*|Write.*", "mcp__.*", "^(Bash)$", "(?:Shell)"),
            *("Shell|^Bash$", "^Shell$", "WriteFile", r"mcp__\w+__run", "(a)(b)", "x{2}", "[A-Z]hell", " Bash", "a b"),
        ]
    ),
    st.text("abSh|^$.*()[]\\dw?+{},1", min_size=1, max_size=8),
)
TOOLS = TOOLS.filter(lambda expression: not re.search(r"\[\^?\[|\|\|", expression))  # Python warns of some sets
PATTERNS = st.sampled_from([r"\.py$", "rm -rf /", "^x", r"a\b", "(?i)secret"])
TARGETS = st.sampled_from(["startup", "^startup$", "startup|resume", r"task\.completed", ".*", r"deploy\b", "x y", "("])
EVENT_NAMES = st.sampled_from(sorted(BY_NAME))
MS = st.one_of(st.sampled_from([100, 1000, 1500, 30000, 60000, 600000]), st.integers(100, 600000))


def _is_python(expression: str) -> bool:
    try:
        expressions.search(expressions.PYTHON, expression)
    except expressions.BadExpression:
        return False
    return all(ord(char) > 31 for char in expression)


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    keys: dict[str, Any] = {}
    event_name = draw(EVENT_NAMES)
    matcher = {}
    if draw(st.booleans()) and (BY_NAME[event_name].has_tool or draw(st.integers(0, 5)) == 0):
        matcher["tool"] = draw(TOOLS.filter(_is_python))
        if draw(st.integers(0, 3)) == 0:
            matcher["pattern"] = draw(PATTERNS)
    if matcher:
        keys["matcher"] = matcher
    for key, values in (("name", NAMES), ("timeout", MS), ("async_", st.booleans()), ("description", TEXT)):
        if draw(st.integers(0, 2)) == 0:
            keys[key] = draw(values)
    return event_name, {"command": draw(st.one_of(COMMANDS, COMMANDS, PLACEHOLDERS)), **keys}


@st.composite
def arrays(draw: st.DrawFn) -> dict[str, Any]:
    event_name = draw(st.sampled_from([spec.array_name for spec in EVENTS if spec.array_name]))
    keys: dict[str, Any] = {"event": event_name, "command": draw(COMMANDS)}
    if draw(st.booleans()):
        keys["matcher"] = draw(TOOLS if BY_NAME[event_name].has_tool else TARGETS)
    if draw(st.booleans()):
        keys["timeout"] = draw(st.integers(1, 600))
    if draw(st.integers(0, 4)) == 0:
        keys["fail_mode"] = draw(st.sampled_from(["open", "closed"]))
    return keys


SECONDS = st.one_of(st.integers(1, 700), st.sampled_from([0.5, 1.5]))
# What each agent itself knows.
OWN_KEYS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "claude": {"timeout": SECONDS, "async": st.booleans()},
    "codex": {"timeout": st.integers(1, 700)},
    "gemini": {
        "timeout": MS,
        "name": NAMES.map(str.strip),
        "description": TEXT,
        "env": st.dictionaries(st.sampled_from(["A", "B_2"]), TEXT, max_size=2),
    },
    "qwen": {"timeout": SECONDS, "name": NAMES, "description": TEXT},
}


ALL_KEYS = {**OWN_KEYS["gemini"], "timeout": SECONDS, "async": st.booleans()}


@st.composite
def groups(draw: st.DrawFn, agent: str, keys: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    native = draw(st.sampled_from(sorted(EVENTS_OF[agent])))
    handler: dict[str, Any] = {"type": "command", "command": draw(COMMANDS)}
    for key, values in (keys or OWN_KEYS[agent]).items():
        if draw(st.integers(0, 3)) == 0:
            handler[key] = draw(values)
    group: dict[str, Any] = {"hooks": [handler]}
    if draw(st.booleans()):
        has_tool = BY_NAME[EVENTS_OF[agent][native]].has_tool
        group["matcher"] = draw(TOOLS if has_tool else TARGETS)
    if agent == "gemini" and draw(st.integers(0, 4)) == 0:
        group["sequential"] = True
    return native, group


@st.composite
def fronts(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    front: dict[str, Any] = {"trigger": draw(EVENT_NAMES)}
    if draw(st.booleans()) and BY_NAME[front["trigger"]].has_tool:
        front["matcher"] = {"tool": draw(TOOLS.filter(_is_python))}
    for key, values in (
        ("description", TEXT),
        ("timeout", MS),
        ("async", st.booleans()),
        ("priority", st.integers(0, 1000)),
        ("metadata", st.sampled_from([{"on_failure": "block"}, {"run": True, "n": [1, {"a": None}]}, {}])),
    ):
        if draw(st.integers(0, 4)) == 0:
            front[key] = draw(values)
    script = draw(st.sampled_from(["exit 2", "cat >/dev/null; echo no >&2; exit 2", "jq .event_type", "echo '{{x}}'"]))
    return front, script


def _write_tables(path: Path, hooks: list[Any]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("".join(_toml(f"hooks.{name}", keys) for name, keys in hooks), encoding="utf-8", newline="")


def _write_arrays(path: Path, hooks: list[Any]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("".join(_toml("hooks", keys) for keys in hooks), encoding="utf-8", newline="")


def _toml(header: str, keys: dict[str, Any]) -> str:
    """One table, written by other means than the converter's."""
    return "\n".join([f"[[{header}]]", *(f"{key} = {_value(value)}" for key, value in keys.items())]) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write_groups(path: Path, hooks: list[Any]) -> None:
    path.parent.mkdir(parents=True)
    events: dict[str, list[Any]] = {}
    for native, group in hooks:
        events.setdefault(native, []).append(group)
    path.write_text(json.dumps({"hooks": events}), encoding="utf-8")


# Line ends and other characters that YAML wants escaped.
ODD = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)}


def _write_folders(path: Path, hooks: list[Any]) -> None:
    for number, (front, script) in enumerate(hooks):
        folder = path / f"hook {number}"
        (folder / "scripts").mkdir(parents=True)
        head = json.dumps({"name": folder.name, **front}, ensure_ascii=False).translate(ODD)
        (folder / "HOOK.md").write_text(f"---\n{head}\n---\n\n# About it\n", encoding="utf-8")
        entry = folder / "scripts" / "run.sh"
        entry.write_text(f"#!/bin/sh\n{script}\n")
        entry.chmod(0o755)


KINDS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Path, list[Any]], None]]] = {
    "table": (tables(), _write_tables),
    "array": (arrays(), _write_arrays),
    "folder": (fronts(), _write_folders),
    **{agent: (groups(agent), _write_groups) for agent in ("claude", "codex", "gemini", "qwen")},
}


@pytest.fixture
def directory() -> Iterator[Path]:
    made = tempfile.mkdtemp()
    yield Path(made)
    shutil.rmtree(made)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(data=st.data())
def test_a_round_trip_of_a_lossless_conversion_is_the_same_hooks(
    directory: Path, kind: str, to: str, data: st.DataObject
) -> None:
    strategy, write = KINDS[kind]
    place = Path(tempfile.mkdtemp(dir=directory))
    source = place / "a" / FILES[kind]
    write(source, data.draw(st.lists(strategy, min_size=1, max_size=3)))
    if kind == "qwen":
        kind = "claude" if to != "claude" else "gemini"
    hooks = read(source)
    there = convert(source, to, place / "b")
    assert len(there.hooks) + len({(loss.hook, loss.line) for loss in there.losses if loss.left_out}) >= len(hooks)
    if there.losses:
        event("lossy")
        return
    event("lossless")
    back = convert(there.path, kind, place / "c")
    if source.parent.name != ".qwen":
        assert comparable(back.hooks) == comparable(hooks)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
@settings(max_examples=15)
@given(data=st.data())
def test_keys_that_only_tenterhook_reads_there_are_not_lost_unsaid(
    directory: Path, agent: str, to: str, data: st.DataObject
) -> None:
    place = Path(tempfile.mkdtemp(dir=directory))
    source = place / "a" / FILES[agent]
    _write_groups(source, data.draw(st.lists(groups(agent, ALL_KEYS), min_size=1, max_size=2)))
    there = convert(source, to, place / "b")
    if there.losses:
        return
    back = convert(there.path, agent, place / "c")
    if not back.losses:
        assert comparable(back.hooks) == comparable(read(source))
