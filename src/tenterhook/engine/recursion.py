"""A hook that calls Tenterhook, which would run it again: found by ancestry, whatever the environment claims."""

from __future__ import annotations

from ..basics import env_policy, places, processes
from ..basics.named_tuples import remembered
from ..model import Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..basics.callers import Caller

# Each link names the process that started a hook, and the hook. Only links to ancestors that can have done so count.
CHAIN = env_policy.CHAIN


def identity(hook: Hook) -> str:
    """What makes a hook the same hook in another process."""
    return _identity(hook.source, hook.name, hook.event)


@remembered(maxsize=4096)
def _identity(*parts: str) -> str:
    return places.file_name("#".join(parts))


_DEEPEST = 4


def is_too_deep(pid: int) -> bool:
    """Whether our own command is among a process's ancestors so often that only a circle explains it."""
    if pid not in _DEPTH:
        _DEPTH.clear()
        _DEPTH[pid] = sum(processes.is_ours(process) for process in processes.ancestors(pid))
    return _DEPTH.get(pid, 0) > _DEEPEST


_DEPTH: dict[int, int] = {}


def chain(before: str, starter: processes.Process, hook_identity: str) -> str:
    """The chain for a hook that `starter` is about to start, given the one that led there."""
    return f"{before} {starter}:{hook_identity}".strip()


def confirmed(links: str, caller: Caller) -> str:
    """The links of a chain that the system confirms: a repository can set the variable, but not our ancestors.

    Where an agent runs us, they must run our own command. Elsewhere they may be any program that uses our library.
    """
    if not links:
        return ""
    believed = caller.given is None
    this = processes.this()  # a hub, whose hooks call us
    found = (each for each in processes.ancestors(caller.pid) if believed or each == this or processes.is_ours(each))
    starters = set(map(str, found))
    return " ".join(link for link in links.split() if link.partition(":")[0] in starters)


def closes(hook: Hook, links: str) -> bool:
    """Whether this very hook is what called us, by the confirmed links of the chain that we were started with."""
    mine = identity(hook)
    return any(link.partition(":")[2] == mine for link in links.split())
