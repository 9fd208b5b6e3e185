"""Sessions with hooks that set variables, and a hook that shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support import table_hook, write_config
from tenterhook import Engine, Event, Verdict

if TYPE_CHECKING:
    from pathlib import Path


ENV_FILE = '>> "$KIMI_ENV_FILE"'
SESSION = "session-1"


def engine_of(project: Path, *hooks: str) -> Engine:
    return Engine.load(configs=[write_config(project / "hooks.toml", "".join(hooks))])


def start(engine: Engine, session: str = SESSION, **fields: Any) -> Verdict:
    return engine.decide(Event("pre-session", session_id=session, **fields))


def call(engine: Engine, session: str = SESSION) -> Verdict:
    return engine.decide(Event("pre-tool-call", session_id=session, tool_name="Shell", tool_input={}))


def setup_hook(line: str, **keys: Any) -> str:
    return table_hook(line, event="session_start", **keys)


def all_notes(verdict: Verdict) -> str:
    return " | ".join(note for run in verdict.runs for note in run.notes)


SHOW = table_hook('echo "A=$A B=$B" >&2; exit 2')
