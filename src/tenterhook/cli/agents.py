"""`tenterhook agents`: every known agent, whether it is installed here, its versions, guarded or not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import click

from ..agents import AGENTS
from ..basics import install_record
from ..doctor import checks, proofs
from ..errors import HookError
from ..install import event_wiring, sources
from .loading import json_option
from .printing import print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..agents.protocol import Agent
    from ..model import Hook

_PLACES = {"managed": "managed", "user": "yes", "project": "in this project"}


@click.command(short_help="List the known agents: installed, proven, guarded.")
@json_option
def agents(as_json: bool) -> None:
    """List every agent that Tenterhook knows: its version here, the version it was last proven with, guarded or not.

    Proven means that the released program was run with hooks and its behaviour recorded, in docs/agents.md. For a newer
    version, `tenterhook doctor AGENT --live` shows whether your guards block in it. A managed agent is guarded by root,
    for every account of this machine.

    \b
    tenterhook agents
    tenterhook install codex      guard one of them
    tenterhook doctor codex       is it in force?
    """
    catalog = sources.here().catalog
    root, hooks = catalog.root, catalog.in_force()
    with ThreadPoolExecutor() as pool:  # each program prints its version
        found = list(pool.map(lambda agent: _facts(agent, root, hooks), AGENTS.values()))
    if as_json:
        print_json({"schema": 1, "root": root, "agents": found})
        return
    print_table(("agent", "here", "proven", "on", "guarded"), [_row(facts) for facts in found])
    for line in _hints(found):
        click.echo(line)


def _facts(agent: Agent, root: str, hooks: Sequence[Hook]) -> dict[str, Any]:
    program, proof = agent.executable(), proofs.last_proof(agent)
    records: dict[str, dict[str, Any] | None] = {"managed": install_record.managed(agent.name) or {}}
    records |= {place: _record(agent, where) for place, where in (("user", None), ("project", root))}
    installed = {place: record if record is None else bool(record) for place, record in records.items()}
    guarded = {
        place: bool(record) and event_wiring.is_guarded(agent, record, hooks) if record is not None else None
        for place, record in records.items()
    }
    return {
        "name": agent.name,
        "title": agent.title,
        "program": program,
        "version": agent.version() if program else None,
        "proven": proof,
        "installed": installed,
        "guarded": guarded,
    }


def _record(agent: Agent, root: str | None) -> dict[str, Any] | None:
    """Return the record of an installation, empty if there is none; None if the agent's settings cannot be read."""
    if root is not None and agent.project_file is None:
        return {}
    try:
        return checks.guarded(agent, root) or {}
    except HookError:
        return None


def _row(facts: dict[str, Any]) -> tuple[str, ...]:
    here = "not found" if facts["program"] is None else facts["version"] or "no version"
    proof = facts["proven"] or {"version": "never", "date": ""}
    words = [_PLACES[place] for place, is_guarded in facts["guarded"].items() if is_guarded]
    if not words and any(facts["installed"].values()):
        words.append("no hook yet")
    if None in facts["guarded"].values():
        words.append("unreadable settings")
    return facts["name"], here, proof["version"], proof["date"], ", ".join(words) or "no"


def _hints(found: list[dict[str, Any]]) -> list[str]:
    here = [facts for facts in found if facts["program"] is not None]
    open_ = [facts["name"] for facts in here if not any(facts["installed"].values())]
    idle = [facts for facts in here if any(facts["installed"].values()) and not any(facts["guarded"].values())]
    guarded = [facts for facts in here if any(facts["guarded"].values())]
    others = [facts["name"] for facts in guarded if facts["version"] != (facts["proven"] or {}).get("version")]
    hints = [f"not guarded: tenterhook install {' '.join(open_)}"] if open_ else []
    hints += ["installed, but no hook is in force there: tenterhook add"] if idle else []
    hints += [f"not the version that was proven: tenterhook doctor {' '.join(others)} --live"] if others else []
    return hints
