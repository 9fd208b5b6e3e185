"""A worker in which kimi-cli's engine runs the hooks. With zero hooks it has one for each matcher in a JSON file."""

from __future__ import annotations

import asyncio
import json
import sys
from functools import cache
from pathlib import Path
from time import perf_counter

from kimi_cli.hooks.config import HookDef  # type: ignore[import-not-found]  # runs in an environment of its own
from kimi_cli.hooks.engine import HookEngine  # type: ignore[import-not-found]

from .requests import Case, serve


def main(work_dir: str, other_tools: str) -> None:
    others = json.loads(Path(other_tools).read_text())

    @cache
    def engine_for(case: Case) -> HookEngine:
        here = [HookDef(event="PreToolUse", command=command) for command in case.commands()]
        elsewhere = [HookDef(event="PreToolUse", command=":", matcher=tool) for tool in others]
        return HookEngine(here if case.hooks else elsewhere, cwd=work_dir)

    async def rounds_of(rounds: int, case: Case) -> list[float]:
        engine = engine_for(case)
        took = []
        for _ in range(rounds):
            begun = perf_counter()
            results = await engine.trigger("PreToolUse", matcher_value="Shell", input_data=tool_call(work_dir))
            took.append(perf_counter() - begun)
        assert [result.exit_code for result in results] == [0] * case.hooks, results
        return took

    with asyncio.Runner() as runner:
        serve(lambda rounds, case: runner.run(rounds_of(rounds, case)))


def tool_call(work_dir: str) -> dict[str, object]:
    return {
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": work_dir,
        "tool_name": "Shell",
        "tool_input": {"command": "git status --short && git diff --stat"},
        "tool_call_id": "t1",
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
