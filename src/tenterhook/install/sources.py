"""Which hooks files are in force where: settings of agents, and files named with `--config`, at install or now.

Hook folders are in force everywhere. All commands use this module, so that they show the same hooks.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ..agents import AGENTS
from ..basics import install_record
from ..basics.display_text import listed
from ..basics.places import file_identity
from ..catalog import loading, project_root
from ..catalog.trust import Trust
from ..errors import Problem
from . import event_wiring, records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..agents.protocol import Agent
    from ..catalog.catalog import Catalog
    from ..model import Hook

BUNDLED = "agent"  # the bundled agent, as in `trigger --agent`
TRIGGER = "trigger"


class Source(NamedTuple):
    """A hooks file. `places`: where it is in force (the bundled agent, `trigger`, agents); empty: this command."""

    file: str
    places: tuple[str, ...] = ()
    settings_of: str | None = None  # the agent whose settings these are; it runs these hooks itself

    def __str__(self) -> str:
        titles = [title(place) for place in self.places]
        text = f"in force in {listed(titles)}" if titles else "named with --config"
        return f"{text}; {title(self.settings_of)}'s own settings" if self.settings_of else text

    def as_json(self) -> dict[str, object]:
        """Return the file as printed with --json."""
        return {"file": self.file, "in_force_in": list(self.places), "settings_of": self.settings_of}


def title(place: str) -> str:
    """Return the display name of a place where hooks are in force."""
    if place in AGENTS:
        return AGENTS[place].title
    return "the bundled agent" if place == BUNDLED else place


class InForce(NamedTuple):
    """All hooks that are in force somewhere, and where."""

    catalog: Catalog
    sources: tuple[Source, ...]
    refused: tuple[str, ...] = ()  # files named on the command line that cannot be used

    def source_of(self, hook: Hook) -> Source | None:
        """Return the hooks file of a hook; None for a folder."""
        return next((source for source in self.sources if source.file == hook.source), None)

    def places(self, hook: Hook) -> tuple[str, ...]:
        """Return where a hook that may run is in force."""
        source = self.source_of(hook)
        return source.places if source is not None else (BUNDLED, TRIGGER, *guarded(self.catalog.root))

    def problems(self) -> list[Problem]:
        """Return the problems of the catalog, and hooks whose event is not wired in an agent."""
        return [*self.catalog.problems, *event_wiring.problems(self.catalog.expected(), self.catalog.root)]


def here(named: Sequence[str] = (), *, trust_project: bool = False) -> InForce:
    """Load everything that is in force somewhere, for the project of the current directory."""
    root = project_root.project_root(os.getcwd())
    own, problems = _agents_own(root)
    trust = Trust(root, everything=trust_project)
    return _loaded(root, _merged((*own, *_installed(root)), named), named, problems, trust)


def for_agent(agent: str, root: str, named: Sequence[str] = (), trust: Trust | None = None) -> InForce:
    """Load what is in force in one agent; `BUNDLED` is the bundled one."""
    files, problems = files_of(agent, root, named)
    return _loaded(root, files, named, problems, trust)


def files_of(agent: str, root: str, named: Sequence[str] = ()) -> tuple[tuple[Source, ...], list[Problem]]:
    """Return the hooks files that are in force in one agent, and problems of those that are not used."""
    if agent == BUNDLED:
        own, problems = _agents_own(root)
        return _merged(own, named), problems
    return _merged([source for source in _installed(root) if agent in source.places], named), []


def runs_itself(agent: Agent, file: str, root: str | None) -> bool:
    """Return whether an agent runs the hooks of a file itself."""
    own = [os.path.join(agent.home(), name) for name in (agent.file, *agent.also_read)]
    if root and agent.project_file:
        own.append(agent.settings(root))
    return file_identity(file) in map(file_identity, own)


def _agents_own(root: str) -> tuple[list[Source], list[Problem]]:
    """Return the existing settings of agents that are sources of hooks (PROTOCOL 2).

    Settings that an environment variable moved into a repository are not used.
    """
    found, problems = [], []
    for agent in sorted(AGENTS.values(), key=lambda agent: agent.name):
        file = agent.settings()
        if not agent.is_hook_source or not os.path.isfile(file):
            continue
        if os.environ.get(agent.variable or "") and project_root.repository_can_reach(file, root):
            message = f"{agent.variable} points to a folder that a repository can change; its hooks are not used"
            remedy = f"unset {agent.variable}, or name the file with --config"
            problems.append(Problem("moved-into-repository", file, None, None, message, remedy))
            continue
        found.append(Source(file, (BUNDLED, TRIGGER), agent.name))
    return found, problems


def _installed(root: str) -> Iterator[Source]:
    """Yield the files of `install --config`, for the user and for this project."""
    for record in records.all_records():
        if record["host"] in AGENTS and record["root"] in (None, root):
            yield from (Source(config, (record["host"],)) for config in record["configs"])


def guarded(root: str) -> Iterator[str]:
    """Return the agents that are guarded in this project."""
    hosts = [record["host"] for record in records.all_records() if record["root"] in (None, root)]
    return (name for name in AGENTS if name in hosts or install_record.managed(name) is not None)


def _merged(found: Iterable[Source], named: Iterable[str]) -> tuple[Source, ...]:
    """Return each file once, also if it has several names, with all places where it is in force."""
    merged: dict[object, Source] = {}
    for source in (*found, *(Source(os.path.abspath(file)) for file in named)):
        key = file_identity(source.file)
        known = merged.setdefault(key, source)
        merged[key] = known._replace(places=tuple(dict.fromkeys((*known.places, *source.places))))
    return tuple(merged.values())


def _loaded(
    root: str,
    files: Sequence[Source],
    named: Sequence[str],
    problems: Sequence[Problem],
    trust: Trust | None = None,
) -> InForce:
    not_named = files_not_named(files, named)
    catalog = loading.load(root, [source.file for source in files], trust=trust).without_empty(not_named)
    refused = tuple(file for file in catalog.refused_configs if file not in not_named)
    return InForce(catalog._replace(problems=(*catalog.problems, *problems)), tuple(files), refused)


def files_not_named(files: Iterable[Source], named: Iterable[str]) -> frozenset[str]:
    """Return the files that were not named on the command line."""
    asked = set(map(file_identity, named))
    return frozenset(source.file for source in files if file_identity(source.file) not in asked)
