"""The records that `install` writes: paths, options, and what `uninstall` has to remove.

`dispatch` uses these and nothing else, so that neither the environment nor a repository can redirect it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..basics import env_policy, install_record, places, processes
from . import interpreters, launcher

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..agents.protocol import Agent


def directory() -> str:
    return os.path.join(places.state(), "installed")


def file(agent: Agent, root: str | None) -> str:
    """Return the path of the record of one agent, for the user or for a project."""
    return os.path.join(directory(), installation(agent, root) + ".json")


def installation(agent: Agent, root: str | None) -> str:
    """Return the name of an installation: the agent, and the project if it is for one project only."""
    return agent.name if root is None else f"{agent.name}@{places.file_name(root)}"


def read(path: str) -> dict[str, Any] | None:
    """Return a record, or None if `dispatch` could not use it."""
    try:
        return install_record.read(path)
    except install_record.RecordError:
        return None


def all_records() -> list[dict[str, Any]]:
    """Return the records of all installations of this account, sorted by name."""
    try:
        names = sorted(os.listdir(directory()))
    except OSError:
        return []
    found = [read(os.path.join(directory(), name)) for name in names if name.endswith(".json")]
    return [record for record in found if record is not None]


# Written by commands of the user; a process of an agent, which has another environment, does not change it.
_PERSONAL = (
    *("python", "bridge", "others", "path", "home", "config", "state", "cache"),
    *("agent_home", "environment", "steering", "interpreters"),
)


def new_record(
    agent: Agent,
    root: str | None,
    events: Mapping[str, str],
    before: Mapping[str, Any],
    *,
    closed: bool,
    everywhere: bool,
    configs: Sequence[str],
    by_person: bool,
    named: Iterable[str] = (),
) -> dict[str, Any]:
    """Return a new record, without the changed files. `named`: interpreters that hooks name."""
    kept = {} if by_person else {name: before[name] for name in _PERSONAL if name in before}
    steering = kept.get("steering") or _steering()
    known = before.get("interpreters", {})
    return {
        "schema": 1,
        "version": __version__,
        "launcher": launcher.VERSION,
        "host": agent.name,
        "root": root,
        "settings": agent.settings(root),
        "python": sys.executable,
        "bridge": launcher.BRIDGE,
        "others": launcher.others([before["python"]] if "python" in before else []),
        "path": processes.module_path(),
        **places.directories(),
        "agent_home": agent.home(),
        "environment": _environment(agent),
        "steering": steering,
        "interpreters": interpreters.files(steering["PATH"], (*known, *named)) if by_person else {},
        "configs": list(configs),
        "closed": closed,
        "everywhere": everywhere,
        "timeouts": {event: agent.seconds(event) for event in events},
        "events": dict(events),
        "variants": {native: ours for native, ours in agent.variants.items() if native in events},
        "no_decision": {native: said for native, said in agent.no_decision.items() if native in events},
        "replaces": agent.project_replaces,
        "files": [],
        **kept,
    }


def _steering() -> dict[str, str]:
    """Return the user's variables that hooks get instead of the agent's."""
    path = interpreters.path_for_hooks(os.environ.get("PATH", os.defpath))
    return {**dict(env_policy.of_person(os.environb)), "PATH": path}


def _environment(agent: Agent) -> dict[str, str]:
    """Return the variable that moved the agent's settings, if one did, so that they are found again later."""
    value = os.environ.get(agent.variable) if agent.variable else None
    return {agent.variable: value} if agent.variable and value else {}


def write(path: str, record: Mapping[str, Any]) -> None:
    places.make_private(os.path.dirname(path))
    places.replace_file(path, json.dumps(record, indent=1).encode() + b"\n", mode=places.file_mode())
    os.chmod(path, places.file_mode())  # whatever the umask is
