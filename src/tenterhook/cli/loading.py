"""The catalog of the current project, and options and completions that several commands share."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from ..basics import places
from ..catalog import loading, project_root, trust

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..agents.protocol import Agent
    from ..catalog.catalog import Catalog

config_option = click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Read hooks from this file too: TOML (array or table format), or the settings of Claude Code, Codex, "
    "Gemini CLI or Qwen Code. May be given more than once.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask; for scripts.")


def catalog_here() -> Catalog:
    """Load the hook folders that are in force in the current directory's project, without hooks files."""
    root = project_root.project_root(os.getcwd())
    return loading.load(root, trust=trust.Trust(root))


def hook_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion: the hooks in force here, with those of --config files named before."""
    from ..install import sources

    hooks = sources.here(context.params.get("configs") or ()).catalog.hooks
    return offered(sorted({hook.name for hook in hooks}), incomplete)


def offered(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that match and need no quoting: a shell might run parts of others."""
    return [name for name in names if name.startswith(incomplete) and re.fullmatch(r"\w[\w.@+:-]*", name, re.ASCII)]


def session_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion: known sessions, the last used first."""
    return ids_in("sessions", incomplete)


def ids_in(directory: str, incomplete: str, ending: str = "") -> list[str]:
    """For shell completion: the files with this ending in a directory of the state directory, the last used first."""
    try:
        with os.scandir(os.path.join(places.state(), directory)) as entries:
            found = [(entry.stat().st_mtime, entry.name) for entry in entries if entry.name.endswith(ending)]
    except OSError:  # none yet
        return []
    names = [name.removesuffix(ending) for _, name in sorted(found, reverse=True)]
    return offered(names, incomplete)


def agents_named(names: Sequence[str]) -> list[Agent]:
    """Return the agents of these names, each once. Raises `UsageError` for an unknown name."""
    from ..agents import AGENTS

    return [AGENTS[known_name(name, AGENTS, "agent")] for name in dict.fromkeys(names)]


def known_name(name: str, known: Iterable[str], kind: str) -> str:
    """Return the name if it is known. Raises `UsageError` with a suggestion if not."""
    known = list(known)
    if name in known:
        return name
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}? One of: " if close else "one of: "
    raise click.UsageError(f"there is no {kind} {name!r}; {hint}{', '.join(known)}")


def caller(_: click.Context, __: click.Parameter, name: str) -> str:
    """Check the value of `--agent`: `agent`, the bundled one, or the name of another."""
    from ..agents import AGENTS

    return known_name(name, ("agent", *AGENTS), "agent")


def caller_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    from ..agents import AGENTS

    return [name for name in ("agent", *AGENTS) if name.startswith(incomplete)]


def agent_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    from ..agents import AGENTS

    return [name for name in AGENTS if name.startswith(incomplete)]


def event_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    from ..events import BY_NAME

    return sorted(name for name in BY_NAME if name.startswith(incomplete))
