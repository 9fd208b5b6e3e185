"""Measures `tenterhook log` on a journal of 100,000 events, against a command that reads nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from tenterhook.journal import writer

from . import homes
from .comparing import compare, take_turns
from .rows import Measure, Row, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from .measuring import Setting

EVENTS = 100_000
_AGAINST = "`tenterhook --version`"
_QUICK_ENOUGH = Target(1.0, measure=Measure.TIME)
_COMMANDS = (
    "log",
    "log --session s-77",
    "log --event post-tool-call",
    "log --hook guard-3",
    "log --decision deny",
    "log --since 2h",
    "log --hook guard-3 --decision deny --since 1d",
    "log stats",
    "log stats --since 1d",
)


def answers(setting: Setting) -> Iterator[Row]:
    """Measure each command with an index that is up to date."""
    home = setting.directory / "journal-home"
    _write(home)
    environment = homes.clean_environment(home)
    run_command(["log", "-n", "1"], environment)()  # brings the index up to date
    for words in _COMMANDS:
        turns = {"ours": run_command(words.split(), environment), "bare": run_command(["--version"], environment)}
        found = take_turns(turns, max(setting.effort.loads // 2, 2))
        yield Row(f"`{words}`, {EVENTS:,} events", _AGAINST, compare(found["ours"], found["bare"]), _QUICK_ENOUGH)


def run_command(words: Sequence[str], environment: dict[str, str]) -> Callable[[], list[float]]:
    def run() -> list[float]:
        begun = time.perf_counter()
        argv = [sys.executable, "-m", "tenterhook", *words]
        subprocess.run(argv, env=environment, check=True, stdout=subprocess.DEVNULL)
        return [(time.perf_counter() - begun) * 1e6]

    return run


def _write(home: Path) -> None:
    """Write a journal of two weeks: 200 sessions and ten hooks, two of which run for each event."""
    place = home / ".local" / "state" / "tenterhook" / "journal"
    now = time.time()
    for number in range(EVENTS):
        writer.append(str(place), _record(number, now - 14 * 86400 * (1 - number / EVENTS)))


def _record(number: int, moment: float) -> dict[str, Any]:
    event = ("pre-tool-call", "post-tool-call")[number % 2]
    denied = number % 50 == 0
    runs = [_hook_run(event, f"guard-{(number + more) % 10}", number, denied) for more in (0, 5)]
    given = {"tool_name": "Shell", "tool_input": {"command": f"git diff --stat HEAD~{number}"}}
    return {
        **{"schema": 1, "type": "verdict", "time": round(moment, 6), "by": "claude-code"},
        **{"session_id": f"s-{number // 500}", "event": event, "event_name": event, "work_dir": "/home/me/work"},
        **{"tool_name": "Shell", "fields": given, "context": {}, "payload": "full"},
        **{"decision": "deny" if denied else "none", "waited_ms": 20.0, "runs": runs},
    }


def _hook_run(event: str, hook: str, number: int, denied: bool) -> dict[str, Any]:
    outcome, meaning = ("blocked", "blocked") if denied else ("ok", "no_decision")
    return {
        **{"hook": hook, "source": f"/home/me/.config/agents/hooks/{hook}/HOOK.md", "event_name": event},
        **{"outcome": outcome, "meaning": meaning, "decision": "deny" if denied else "none"},
        **{"duration_ms": 2.0 + number % 40, "exit_code": 2 if denied else 0},
    }
