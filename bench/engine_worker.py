"""A worker that times `Engine.decide`. With zero hooks the engine has those in HOME, none of which may match."""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from pathlib import Path
from time import perf_counter

from tenterhook import Engine, Event, Verdict

from .requests import Case, serve, text_of

MEBIBYTE = 1024 * 1024


def main(work_dir: str, held_mebibytes: str = "0", journal: str = "", more_bytes: str = "0") -> None:
    os.chdir(work_dir)  # like an agent and the C program
    held = bytearray(b"x") * (int(held_mebibytes) * MEBIBYTE)  # written to, so that every page is resident
    more = text_of(int(more_bytes))

    @cache
    def engine_for(case: Case) -> Engine:
        config = Path.home() / f"{case.hooks}-{len(case.command)}.toml"
        config.write_text("\n".join(map(array_hook, case.commands())))
        engine = Engine.load(project=work_dir, configs=[config] if case.hooks else [], journal=bool(journal))
        assert not engine.problems, engine.problems
        check(engine.decide(tool_call(work_dir, more)), case)
        return engine

    def timed(rounds: int, case: Case) -> list[float]:
        engine = engine_for(case)
        took = []
        for _ in range(rounds):
            event = tool_call(work_dir, more)
            begun = perf_counter()
            verdict = engine.decide(event)
            took.append(perf_counter() - begun)
        check(verdict, case)
        return took

    serve(timed)
    del held


def tool_call(work_dir: str, more: str = "") -> Event:
    return Event(
        "pre-tool-call",
        session_id="s1",
        work_dir=work_dir,
        tool_name="Shell",
        tool_input={"command": "git status --short && git diff --stat" + more},
    )


def array_hook(command: str) -> str:
    return f'[[hooks]]\nevent = "PreToolUse"\ncommand = {json.dumps(command)}\n'


def check(verdict: Verdict, case: Case) -> None:
    """Check that every hook ran and succeeded."""
    assert len(verdict.runs) == case.hooks, f"{len(verdict.runs)} hooks ran, not {case.hooks}: are others installed?"
    assert not any(run.failed for run in verdict.runs), verdict.runs


if __name__ == "__main__":
    main(*sys.argv[1:])
