"""Measures once how long the engine takes to load the hooks of HOME, for its first event, and to load them again.

Each measurement needs a new process, so that no cache in memory helps, and removes the cache of earlier ones. Imports
are not timed. The last figure is a `stat` of each file.
"""

from __future__ import annotations

import os
import shutil
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
    kept = Path(os.environ["HOME"], ".cache/tenterhook/loaded")
    shutil.rmtree(kept, ignore_errors=True)
    begun = perf_counter()
    engine = Engine.load(project=work_dir)
    loaded = perf_counter()
    event = tool_call(work_dir)
    verdict = engine.decide(event)
    decided = perf_counter()
    assert not engine.problems, engine.problems
    assert len(engine.hooks) == int(folders), f"{len(engine.hooks)} hooks, not {folders}: are others installed?"
    check(verdict, Case(0))
    assert kept.is_dir(), "nothing was kept: are the folders new?"
    again = perf_counter()
    assert Engine.load(project=work_dir).hooks == engine.hooks
    looked = perf_counter()
    for path in files():
        os.stat(path)
    took = loaded - begun, decided - loaded, looked - again, perf_counter() - looked
    print(*(f"{seconds * 1e6:.1f}" for seconds in took))


def files() -> list[str]:
    """Return each hook folder, its definition, its script and the script's directory."""
    hooks = Path(os.environ["HOME"], ".config/agents/hooks")
    folders = [str(folder) for folder in hooks.iterdir()] if hooks.is_dir() else []
    return [f"{folder}{part}" for folder in folders for part in ("", "/HOOK.md", "/scripts", "/scripts/run.sh")]


def import_everything(work_dir: str) -> None:
    """Import what a first load and a first event need, by deciding an event without hooks."""
    home = os.environ["HOME"]
    with TemporaryDirectory() as empty:
        os.environ.update(clean_environment(Path(empty)))
        Engine.load(project=work_dir).decide(tool_call(work_dir))
    os.environ["HOME"] = home


if __name__ == "__main__":
    main(*sys.argv[1:])
