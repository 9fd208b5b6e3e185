"""A worker that has strictyaml parse the front matter of the first hook folders below its HOME.

The texts are in memory: neither finding nor reading the files is timed, which the engine has to do.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from time import perf_counter

import strictyaml  # type: ignore[import-untyped]  # ships no types

from .homes import hooks_directory
from .requests import Case, serve


@cache
def front_matter(count: int) -> tuple[str, ...]:
    files = sorted(hooks_directory(Path.home()).glob("*/HOOK.md"))[:count]
    assert len(files) == count, f"{len(files)} folders, not {count}"
    return tuple(file.read_text().split("---\n")[1] for file in files)


def timed(rounds: int, case: Case) -> list[float]:
    texts = front_matter(case.hooks)
    took = []
    for _ in range(rounds):
        begun = perf_counter()
        for text in texts:
            strictyaml.load(text)
        took.append(perf_counter() - begun)
    return took


if __name__ == "__main__":
    serve(timed)
