"""A Python hook in a long-lived engine: begun in a prepared interpreter, and started as always."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tenterhook import Engine

from . import homes
from .comparing import Block, compare, take_turns
from .engine_worker import tool_call
from .requests import Case, Worker, serve
from .rows import Row, Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .measuring import Setting

TARGET = Target(5, at_least=True)
_ROOT = Path(__file__).resolve().parent.parent
_ROUNDS = 5
_SOON = 20.0  # seconds for an interpreter to be ready
_HOOK = """\
---
name: no-force-push
description: Asks before a push that rewrites history
trigger: pre-tool-call
matcher:
  tool: Shell
metadata:
  warm: true
---
"""
_SCRIPT = f"""\
#!{sys.executable}
import json
import re
import sys

command = json.load(sys.stdin)["tool_input"]["command"]
if re.search(r"git push.*(--force|\\s-f\\b)", command):
    print(json.dumps({{"decision": "ask", "reason": open("/proc/self/cmdline").read()}}))
"""


def beginning(setting: Setting) -> Iterator[Row]:
    """How many times faster an event is decided by one such hook, `json` and `re` imported."""
    home = setting.directory / "warm-home"
    write_hook(home)
    argv = [sys.executable, "-m", "bench.warming", str(setting.work_dir)]
    with Worker(argv, homes.clean_environment(home), _ROOT) as worker:
        found = take_turns({kind: _block(worker, kind) for kind in ("cold", "warm")}, setting.effort.blocks)
    turned = compare(found["cold"], found["warm"])
    over = -turned.over[0], -turned.over[1]
    faster = turned._replace(ours=turned.theirs, theirs=turned.ours, over=over)
    yield Row("1 warm hook in Python (times faster)", "the same, started as always", faster, TARGET)


def write_hook(home: Path) -> None:
    """A hook in Python that asks to begin in a prepared interpreter."""
    folder = homes.hooks_directory(home) / "no-force-push"
    (folder / "scripts").mkdir(parents=True)
    (folder / "HOOK.md").write_text(_HOOK)
    homes.write_script(folder / "scripts" / "run.py", _SCRIPT)


def _block(worker: Worker, kind: str) -> Block:
    return lambda: worker.microseconds(_ROUNDS, Case(1, kind))


def main(work_dir: str) -> None:
    """The worker: the case's command says which of two engines decides."""
    os.environ.pop("PYTHONPATH", None)  # it led here; a hook with it would be started as always
    os.chdir(work_dir)
    engines = {kind: Engine.load(work_dir, journal=False, warm=kind == "warm") for kind in ("cold", "warm")}
    _wait_until_ready(engines["warm"], work_dir)

    def timed(rounds: int, case: Case) -> list[float]:
        engine = engines[case.command]
        took = []
        for _ in range(rounds):
            event = tool_call(work_dir)
            begun = time.perf_counter()
            verdict = engine.decide(event)
            took.append(time.perf_counter() - begun)
        assert [run.failed for run in verdict.runs] == [False], verdict.runs
        return took

    serve(timed)


def _wait_until_ready(engine: Engine, work_dir: str) -> None:
    """A figure counts only if the hook begins warm, which its command line shows."""
    push = tool_call(work_dir).replace(tool_input={"command": "git push --force"})
    end = time.monotonic() + _SOON
    while "prepared_python" not in (engine.decide(push).reason or ""):
        assert time.monotonic() < end, "the hook never begins warm"


if __name__ == "__main__":
    main(*sys.argv[1:])
