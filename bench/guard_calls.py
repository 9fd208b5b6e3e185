"""Measures how long a guarded call delays an agent: the line that `install` wrote and other guards, in turn."""

from __future__ import annotations

import sys
from contextlib import ExitStack, chdir
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from tenterhook.journal.statistics import percentile

from . import dispatching, homes
from .comparing import Block, take_turns
from .dispatching import PASS, SHELL, Installed
from .growth import running_daemon
from .guard_contenders import CC_SAFETY_NET, OURS, SH, SH_GUARD, cc_safety_net_command
from .packages import CannotInstall
from .requests import WorkerEnded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from .guard_contenders import Laptop

HOSTS = ("claude-code", "kimi-code")
OVER_NOTHING = 8.0  # milliseconds, with the daemon: without a hook an agent starts nothing
TIMES_PASS = 3.0  # without the daemon
_FORBIDDEN = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}
_ROUNDS = 3
_EMPTY = "an empty hook, `sh -c :`"

_DEFINITION = """\
---
name: {name}
description: The built-in guard
trigger: pre-tool-call
matcher:
  tool: ^Shell$
metadata:
  guard: {name}
  on_failure: block
---
"""
_SHIM = """\
#!/bin/sh
sleep 0.08
exec {python} "$@"
"""


class Timed(NamedTuple):
    """The duration of a guarded call in milliseconds, and its limit if it has one."""

    title: str
    fastest: float  # other load on the machine hardly changes it
    median: float
    p95: float
    limit: float | None = None

    @property
    def mark(self) -> str:
        return "" if self.limit is None else "pass" if self.median <= self.limit else "miss"


def timed(laptop: Laptop, guards: Sequence[str], others: Sequence[str], blocks: int) -> tuple[list[Timed], list[str]]:
    """Return the duration of a harmless call with each guard, and what was skipped; raises `WorkerEnded`."""
    skipped: list[str] = []
    with ExitStack() as stack, chdir(laptop.project):
        alone = _installed(laptop, laptop.home.parent / "alone", guards)
        handed_over = _installed(laptop, laptop.home.parent / "with-daemon", guards)
        for each in handed_over:
            stack.enter_context(running_daemon(each))
        python = alone[0].python
        turns: dict[str, Block] = {
            _EMPTY: alone[0].block(["/bin/sh", "-c", ":"], alone[0].payload(SHELL)),
            PASS: alone[0].block([python, "-I", "-S", "-c", "pass"], alone[0].payload(SHELL)),
        }
        commands = {}
        if SH in others:
            commands["the guard in sh"] = f"'{SH_GUARD}'"
        if CC_SAFETY_NET in others:
            try:
                commands[CC_SAFETY_NET] = cc_safety_net_command()
            except CannotInstall as reason:
                skipped.append(f"{CC_SAFETY_NET}: {reason}")
        for title, command in commands.items():
            turns[title] = _calls(alone[0], command, alone[0].environment)
        for here, way in [*((each, "no daemon") for each in alone), *((each, "daemon") for each in handed_over)]:
            here.begin(SHELL)
            for variant, environment in _variants(here, laptop.home.parent / "shims").items():
                turns[f"{OURS}, {here.host}, {way}{variant}"] = _calls(here, here.line, environment)
        print(f"guarded calls: {len(turns)} contenders, {blocks} blocks each", file=sys.stderr)
        found = {name: [took for block in each for took in block] for name, each in take_turns(turns, blocks).items()}
    limit = TIMES_PASS * median(found[PASS]) / 1000
    return [_timed(title, took, limit) for title, took in found.items()], skipped


def _timed(title: str, took: list[float], limit: float) -> Timed:
    own = title.startswith(OURS)
    target = (limit if "no daemon" in title else OVER_NOTHING) if own else None
    return Timed(title, min(took) / 1000, median(took) / 1000, percentile(sorted(took), 0.95) / 1000, target)


def _installed(laptop: Laptop, directory: Path, guards: Sequence[str]) -> list[Installed]:
    """Install into a home for each agent: in one home, agents would share their answers for some seconds."""
    for host in HOSTS:
        for name in guards:
            homes.write_folder(directory / host, name, _DEFINITION.format(name=name))
    return [Installed(directory / host, laptop.project, host) for host in HOSTS]


def _variants(here: Installed, shims: Path) -> dict[str, dict[str, str]]:
    """Return an agent's environments: unchanged, with a slow `python3` shim first on PATH, and without bytecode."""
    shims.mkdir(exist_ok=True)
    for name in ("python", "python3"):
        homes.write_script(shims / name, _SHIM.format(python=sys.executable))
    path = f"{shims}:{here.environment.get('PATH', '')}"
    return {
        "": here.environment,
        ", python3 is a shim": {**here.environment, "PATH": path},
        ", PYTHONDONTWRITEBYTECODE": {**here.environment, "PYTHONDONTWRITEBYTECODE": "1"},
    }


def _calls(here: Installed, command: str, environment: Mapping[str, str]) -> Block:
    """Return a block of calls that a guard allows; raises `WorkerEnded` if it does not refuse a forbidden call."""
    argv, payload = ["/bin/sh", "-c", command], here.payload(SHELL)

    def called() -> float:
        took, status, said = dispatching.run(argv, environment, payload)
        if status or b"deny" in said:
            raise WorkerEnded(f"{command} ended with {status} and said: {said.decode(errors='replace').strip()}")
        return took

    _, status, said = dispatching.run(argv, environment, here.payload({**_FORBIDDEN, "session_id": "another"}))
    if status != 2 and not any(word in said for word in (b'"deny"', b'"ask"')):
        raise WorkerEnded(f"the guard is not in force: {command}")
    return lambda: [called() for _ in range(_ROUNDS)]
