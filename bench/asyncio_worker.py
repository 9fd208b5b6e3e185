"""A worker that runs the same hooks as most agents do: `create_subprocess_shell`, `communicate`, `gather`."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from time import perf_counter

from .requests import Case, serve


def main(work_dir: str, payload_size: str) -> None:
    payload = b"x" * int(payload_size)

    async def run(command: str) -> int | None:
        process = await asyncio.create_subprocess_shell(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=work_dir)
        await process.communicate(payload)
        return process.returncode

    async def rounds_of(rounds: int, case: Case) -> list[float]:
        commands = case.commands()
        took = []
        for _ in range(rounds):
            begun = perf_counter()
            codes = await asyncio.gather(*map(run, commands))
            took.append(perf_counter() - begun)
        assert not any(codes), codes
        return took

    with asyncio.Runner() as runner:
        serve(lambda rounds, case: runner.run(rounds_of(rounds, case)))


if __name__ == "__main__":
    main(*sys.argv[1:])
