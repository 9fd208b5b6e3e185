"""The agents that the tests install, for benchmarks."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))  # for `hosts`

from hosts import agents
from tenterhook.agents import headless


class NotHere(Exception):
    """An agent is not installed; the message says why."""


class RealAgent(NamedTuple):
    """One agent's program, and what its environment needs here."""

    name: str
    version: str
    executable: Path
    environment: dict[str, str]


def real_agent(name: str) -> RealAgent:
    """Return an agent by its name, and add `node` to PATH; raises `NotHere`."""
    if name in agents.skipped():
        raise NotHere(agents.skipped()[name])
    folder = str(agents.node())
    if folder not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join((folder, os.environ["PATH"]))
    executable = agents.executable(name)
    # Copilot unpacks itself for each home, 235 MB
    environment = {"XDG_CACHE_HOME": str(agents.FOLDER / "unpacked")} if name == "copilot" else {}
    return RealAgent(name, headless.version(str(executable)) or "", executable, environment)
