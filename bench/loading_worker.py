"""A worker for one answer: how long the engine takes to load its HOME, and then its first event.

What is remembered within a process must not help a second load, so each answer needs a fresh process. Imports are done
before the clock starts.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from tenterhook import Engine

from .engine_worker import check, tool_call
from .homes import clean_environment
from .requests import Case


def main(work_dir: str, folders: str) -> None:
    import_everything(work_dir)
    begun = perf_counter()
    engine = Engine.load(project=work_dir)
    loaded = perf_counter()
    event = tool_call(work_dir)
    verdict = engine.decide(event)
    decided = perf_counter()
    assert not engine.problems, engine.problems
    assert len(engine.hooks) == int(folders), f"{len(engine.hooks)} hooks, not {folders}: are others installed?"
    check(verdict, Case(0))
    print(f"{(loaded - begun) * 1e6:.1f} {(decided - loaded) * 1e6:.1f}")


def import_everything(work_dir: str) -> None:
    """What a first load and a first event import: put an event to no hooks at all."""
    import os

    home = os.environ["HOME"]
    with TemporaryDirectory() as empty:
        os.environ.update(clean_environment(Path(empty)))
        Engine.load(project=work_dir).decide(tool_call(work_dir))
    os.environ["HOME"] = home


if __name__ == "__main__":
    main(*sys.argv[1:])
