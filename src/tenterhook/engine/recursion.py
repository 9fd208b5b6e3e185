"""Detects hooks that call Tenterhook, which would run them again, by process ancestry and not by environment alone."""

from __future__ import annotations

from ..basics import env_policy, places, processes
from ..basics.named_tuples import cached
from ..model import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..basics.callers import Caller

# The variable with a chain of links, each a process and the hook that it started. Only links to our ancestors count.
CHAIN = env_policy.CHAIN


def identity(hook: Hook) -> str:
    """Return an identifier of a hook that is the same in every process."""
    return _identity(hook.source, hook.name, hook.event)


@cached(maxsize=4096)
def _identity(*parts: str) -> str:
    return places.file_name("#".join(parts))


_DEEPEST = 4


def is_too_deep(pid: int) -> bool:
    """Whether more than `_DEEPEST` of a process's ancestors run our own command."""
    if pid not in _DEPTH:
        _DEPTH.clear()
        _DEPTH[pid] = sum(processes.is_ours(process) for process in processes.ancestors(pid))
    return _DEPTH.get(pid, 0) > _DEEPEST


_DEPTH: dict[int, int] = {}


def chain(before: str, starter: processes.Process, hook_identity: str) -> str:
    """Return the chain for a hook that `starter` is about to start."""
    return f"{before} {starter}:{hook_identity}".strip()


def confirmed(links: str, caller: Caller) -> str:
    """Return the links of a chain whose processes are our ancestors: a repository can set the variable, but not those.

    If an agent runs us, those processes must run our own command; in a library, they may run any program.
    """
    if not links:
        return ""
    is_library = caller.given is None
    this = processes.this()  # a daemon may be an ancestor of its own caller
    found = (each for each in processes.ancestors(caller.pid) if is_library or each == this or processes.is_ours(each))
    starters = set(map(str, found))
    return " ".join(link for link in links.split() if link.partition(":")[0] in starters)


def closes(hook: Hook, links: str) -> bool:
    """Whether running this hook would close a circle: it is in one of the confirmed links."""
    mine = identity(hook)
    return any(link.partition(":")[2] == mine for link in links.split())
