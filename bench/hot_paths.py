"""The code paths that `bench.check` counts and measures: those that delay an agent."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import dispatching, growth, measuring
from .instructions import Counter, Program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .rows import Row

REFERENCE = "python -I -S -c pass"
_ROOT = Path(__file__).resolve().parent.parent
_TIMES = 2  # counts of each path, of which the lowest is used: load adds some instructions
_DECISIONS = 200
_FOLDERS = 100


def counted(counter: Counter, setting: measuring.Setting) -> Iterator[tuple[str, int]]:
    """Yield the instructions of a bare start, and of each path without those of its start."""

    def least(program: Program) -> int:
        return min(counter.count(program) for _ in range(_TIMES))

    various = dispatching.with_hooks(setting, 30)
    bare = least(_isolated(various, [various.python, "-I", "-S", "-c", "pass"]))
    yield REFERENCE, bare
    with growth.running_daemon(various):  # before any event, which makes this process an agent: none starts below one
        yield "the bridge in Python, with the daemon", least(_bridge(various, dispatching.READ)) - bare
    yield "the bridge, none of 30 hooks matches", least(_bridge(various, dispatching.READ)) - bare
    yield "the bridge, one guard", least(_bridge(dispatching.with_guard(setting), dispatching.SHELL)) - bare
    once = least(_engine(setting, 1))
    yield f"{_DECISIONS} decisions of an engine with one hook", least(_engine(setting, _DECISIONS + 1)) - once
    yield f"loading {_FOLDERS} folders", least(_loading(setting, _FOLDERS)) - least(_loading(setting, 0))


def ratios(setting: measuring.Setting) -> Iterator[Row]:
    """Measure two hooks, one that does nothing and one that reads, and the bridge against a bare start."""
    yield from islice(measuring.running(setting), 2)
    yield from islice(dispatching.reaching_none(setting, dispatching.NO_MATCHES[1:2]), 1)


def _bridge(here: dispatching.Installed, call: dict[str, Any]) -> Program:
    here.begin(call)
    return _isolated(here, here.bridge, here.payload(call))


def _isolated(here: dispatching.Installed, argv: list[str], sent: bytes = b"") -> Program:
    """Return the program with the effect of `-I`, but a fixed hash seed: a random one would change the count."""
    flags = [flag for word in argv for flag in (("-s", "-P") if word == "-I" else (word,))]
    return Program(flags, _environment(here.home), here.project, sent)


def _engine(setting: measuring.Setting, rounds: int) -> Program:
    argv = [sys.executable, "-m", "bench.engine_worker", str(setting.work_dir)]
    return Program(argv, _with_modules(setting.home), _ROOT, f"{rounds} 1 :\n".encode())


def _loading(setting: measuring.Setting, folders: int) -> Program:
    home = setting.folders(folders) if folders else setting.home
    argv = [sys.executable, "-m", "bench.loading_worker", str(setting.work_dir), str(folders)]
    return Program(argv, _with_modules(home), _ROOT)


def _environment(home: Path) -> dict[str, str]:
    """Return an environment that is the same on every machine, with a fixed hash seed."""
    return {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}


def _with_modules(home: Path) -> dict[str, str]:
    """Return that environment with our modules on the path."""
    return {**_environment(home), "PYTHONPATH": str(_ROOT / "src")}
