"""What tests of the journal write, read and spoil it with."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from support import tenterhook, write_config
from tenterhook import Engine
from tenterhook.journal import writer
from tenterhook.journal.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tenterhook import Event

HANG = 60  # seconds: what takes this long has stopped


def folder(home: Path) -> Path:
    """Where the journal of a home is."""
    return home / ".local" / "state" / "tenterhook" / "journal"


def segments(place: Path) -> list[Path]:
    """The numbered segments, in order."""
    return sorted(path for path in place.glob("*.jsonl") if path.stem.isdecimal())


def asides(place: Path) -> list[Path]:
    return sorted(place.glob("aside-*.jsonl"))


def recorded(place: Path, kind: str = "verdict") -> list[dict[str, Any]]:
    """Every record of a kind, whole lines only."""
    lines = [line for path in place.glob("*.jsonl") for line in path.read_bytes().splitlines(keepends=True)]
    records = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return [record for record in records if record["type"] == kind]


def record(number: int = 0, **fields: Any) -> dict[str, Any]:
    """A verdict as a writer hands it over, with one silent hook unless told otherwise."""
    about: dict[str, Any] = {
        "schema": 1,
        "type": "verdict",
        "time": round(time.time(), 6),
        "by": "library",
        "session_id": f"s-{number}",
        "event": "pre-tool-call",
        "event_name": "pre-tool-call",
        "work_dir": "/",
        "tool_name": "Shell",
        "fields": {"tool_name": "Shell", "tool_input": {"command": f"echo {number}"}},
        "context": {},
        "payload": "full",
        "decision": "none",
        "reason": None,
        "modified_input": None,
        "additional_context": [],
        "waited_ms": 1.0,
        "runs": [run()],
    }
    return {**about, **fields}


def run(hook: str = "guard", meaning: str = "no_decision", duration_ms: float = 1.0, **fields: Any) -> dict[str, Any]:
    """What one hook did, as a record holds it."""
    words = {
        "no_decision": ("ok", "none"),
        "allowed": ("ok", "allow"),
        "approved": ("ok", "approve"),
        "asked": ("ok", "ask"),
        "would_block": ("ok", "deny"),
        "blocked": ("blocked", "deny"),
    }
    outcome, decision = words.get(meaning, (meaning, "none"))
    about: dict[str, Any] = {
        "hook": hook,
        "source": f"/hooks/{hook}/HOOK.md",
        "event_name": "pre-tool-call",
        "outcome": outcome,
        "meaning": meaning,
        "why": None,
        "decision": decision,
        "reason": None,
        "ignored": None,
        "shadow": False,
        "exit_code": 0,
        "duration_ms": duration_ms,
        "stdout": "",
        "stderr": "",
        "notes": [],
    }
    return {**about, **fields}


def write(place: Path, *records: dict[str, Any]) -> None:
    for each in records:
        writer.append(str(place), each)


class Findings(NamedTuple):
    """What `log verify` said."""

    status: int
    places: list[tuple[str, int]]  # segment and line
    words: list[str]  # the first of each finding: edited, removed, reordered …
    stdout: str


def verify(*arguments: str | Path, **options: Any) -> Findings:
    """`tenterhook log verify --json`."""
    ended = tenterhook("log", "verify", "--json", *arguments, **options)
    assert "Traceback" not in ended.stderr, ended.stderr
    found = json.loads(ended.stdout)["findings"]
    places = [(each["segment"], each["line"]) for each in found]
    return Findings(ended.returncode, places, [each["what"].partition(":")[0] for each in found], ended.stdout)


def is_intact(*arguments: str | Path, **options: Any) -> bool:
    ended = tenterhook("log", "verify", *arguments, **options)
    assert (ended.returncode == 0) == ended.stdout.endswith(" intact\n"), ended.stdout + ended.stderr
    return ended.returncode == 0


def engine(function: Callable[[Event], Any] = lambda _: None) -> Engine:
    """An engine with one function for a hook, which keeps a journal."""
    made = Engine(journal=Journal("library"))
    made.on("pre-tool-call", name="hook")(function)
    return made


def log_json(*arguments: str, **options: Any) -> list[dict[str, Any]]:
    """`tenterhook log --json …`, line by line."""
    ended = tenterhook("log", "--json", *arguments, **options)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def stats_json(*arguments: str, **options: Any) -> dict[str, Any]:
    """`tenterhook log stats --json …`."""
    ended = tenterhook("log", "stats", "--json", *arguments, **options)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def start(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """A Python process of its own, with pipes to and from it."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def sessions(*arguments: str) -> list[str]:
    """The sessions that `tenterhook log …` shows, a record each."""
    return [each["session_id"] for each in log_json(*arguments)]


def figures(hook: str, *arguments: str) -> dict[str, Any]:
    """What `tenterhook log stats …` says of a hook."""
    found: list[dict[str, Any]] = [each for each in stats_json(*arguments)["hooks"] if each["hook"] == hook]
    assert len(found) == 1
    return found[0]


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def anchor_here(project: Path) -> Path:
    """What `log anchor` prints now, kept elsewhere."""
    file = project / "anchor.json"
    ended = tenterhook("log", "anchor")
    assert (ended.returncode, ended.stderr) == (0, "")
    file.write_text(ended.stdout)
    return file


def keep(home: Path, text: str) -> None:
    """Write the person's settings."""
    write_config(home / ".config" / "tenterhook" / "config.toml", text)


def checkpoints(home: Path) -> list[dict[str, Any]]:
    return recorded(folder(home), "checkpoint")
