"""A worker that runs hooks the way most agents do: with `create_subprocess_shell`, `communicate` and `gather`.

The payload is prepared once, or encoded with `json.dumps` for each event.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from time import perf_counter

from .requests import Case, serve, text_of


def main(work_dir: str, payload_size: str, encoding: str = "") -> None:
    ready = b"x" * int(payload_size)
    event = {"text": text_of(int(payload_size) - len('{"text": ""}'))}

    async def run(command: str, payload: bytes) -> int | None:
        process = await asyncio.create_subprocess_shell(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=work_dir)
        await process.communicate(payload)
        return process.returncode

    async def rounds_of(rounds: int, case: Case) -> list[float]:
        commands = case.commands()
        took = []
        for _ in range(rounds):
            begun = perf_counter()
            payload = json.dumps(event).encode() if encoding else ready
            codes = await asyncio.gather(*(run(command, payload) for command in commands))
            took.append(perf_counter() - begun)
        assert not any(codes), codes
        return took

    with asyncio.Runner() as runner:
        serve(lambda rounds, case: runner.run(rounds_of(rounds, case)))


if __name__ == "__main__":
    main(*sys.argv[1:])
