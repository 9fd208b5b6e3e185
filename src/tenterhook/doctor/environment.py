"""Variables that act on the agent's own shell, before the entry of ours that it runs: nothing of ours can stop them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from ..agents.settings_files import read_json
from ..install import interpreters
from .findings import Finding, bad, note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..agents.protocol import Agent

# The loader and the C library act on any shell, the others on bash.
_ACTING = re.compile(
    r"LD_.*|DYLD_.*|GCONV_PATH|GLIBC_TUNABLES|LOCPATH|MALLOC_TRACE|BASH_ENV|BASHOPTS|BASH_FUNC_.*|SHELLOPTS"
)
_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*[=:]")


def findings(agent: Agent, record: Mapping[str, Any], root: str) -> Iterator[Finding]:
    """What a project sets in an agent, what is set here, and interpreters that a project may choose."""
    for file, names in _of_project(agent, root):
        for name in (each for each in names if _acts(agent, each)):
            what = f"{file} sets {name}: it acts on {agent.title}'s own shell, and may keep our entries from running"
            yield bad(what, "take it out, or do not start the agent there")
    known = record.get("steering", {})
    for name, value in os.environ.items():
        if _acts(agent, name) and value != known.get(name):
            what = f"{name} is set here and was not at install: it acts on the shell of an agent that inherits it"
            yield note(what, f"unset {name}; if it is your own: tenterhook install {agent.name}")
    path = known.get("PATH", "")
    behind = [each for each in interpreters.path_for_hooks(path).split(":") if each not in path.split(":")]
    if behind:
        what = (
            f"an interpreter of your hooks is a shim, which obeys files of the project; behind it: {', '.join(behind)}"
        )
        yield note(what, f"have hooks use that one: tenterhook install {agent.name}")

    gone = [file for file in record.get("interpreters", {}).values() if not os.access(file, os.X_OK)]
    if gone:
        what = f"{', '.join(gone)}, which ran hooks, is not there any more; what PATH has instead runs them"
        yield note(what, f"record that one: tenterhook install {agent.name}")


def _of_project(agent: Agent, root: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the files of a project that set variables in an agent, each with their names."""
    for file in (os.path.join(root, name) for name in agent.env_settings):
        env = read_json(file).get("env")
        yield file, list(env) if isinstance(env, dict) else []
    for file in (os.path.join(root, name) for name in agent.env_files):
        yield file, _assigned(file)


def _acts(agent: Agent, variable: str) -> bool:
    """Return whether a variable acts on the shell that runs our entry."""
    return variable in agent.shell_variables or _ACTING.fullmatch(variable) is not None


def _assigned(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return [found[1] for line in stream if (found := _ASSIGNMENT.match(line))]
    except OSError:
        return []
