"""The stop protocol: how often hooks may send an agent, or a subagent, back to work in one turn (PROTOCOL 8).

Folder and table hooks may do so three times; at the fourth stop they are not asked. Array hooks may do so once; then
they are asked again with `stop_hook_active`, and `decisions.judge` ignores their block. Each family counts separately.
"""

from __future__ import annotations

from ..basics.named_tuples import NamedTuple
from ..events import STOPS
from ..model import Action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model import Event, Hook, Run, Verdict
    from .sessions import Session

_LIMITS = {"folder": 3, "array": 1}
_ANNOUNCED = ":announced"  # suffix of a key in the session's file


class StopLimit(NamedTuple):
    """How often each family has sent the agent back in this turn, and which limits were announced to the user."""

    counts: dict[str, int] = dict.fromkeys(_LIMITS, 0)
    announced: tuple[str, ...] = ()

    def hooks_to_ask(self, hooks: Iterable[Hook]) -> list[Hook]:
        """Return the hooks without those whose family has reached its limit."""
        exhausted = self.counts["folder"] >= _LIMITS["folder"]
        return [hook for hook in hooks if hook.event not in STOPS or not exhausted or family(hook) == "array"]

    def with_flag(self, event: Event, hooks: Iterable[Hook]) -> Event:
        """Return the event with `stop_hook_active`, which follows the array hooks' count if there are any."""
        families = {family(hook) for hook in hooks if hook.event in STOPS}
        return event.replace(stop_hook_active=self.counts["array" if "array" in families else "folder"] > 0)

    def after(self, hooks: Iterable[Hook], verdict: Verdict) -> tuple[StopLimit, list[str]]:
        """Return the state after a verdict, and a message for each limit that now lets the agent stop.

        `hooks` are all hooks in force, also those that were not asked. A limit is announced once per turn.
        """
        if verdict.denied:
            blocking = {family(run.hook) for run in verdict.runs if _blocks(run)}
            return self._replace(counts={name: count + (name in blocking) for name, count in self.counts.items()}), []
        late = (run.hook for run in verdict.runs if run.decision.action is Action.DENY and not run.hook.is_shadow)
        unasked = (hook for hook in hooks if hook.event == verdict.event and not hook.in_background)
        objecting = {"folder": map(family, unasked), "array": map(family, late)}
        reached = [
            name
            for name, limit in _LIMITS.items()
            if self.counts[name] >= limit and name not in self.announced and name in objecting[name]
        ]
        messages = [
            f"tenterhook: stop-hook limit reached ({_LIMITS[name]} per turn); letting the agent stop"
            for name in reached
        ]
        return self._replace(announced=(*self.announced, *reached)), messages


def load(session: Session, event: Event, *, is_told: bool = True) -> StopLimit:
    """Return the state of the turn that a stop belongs to; the first stop of a turn starts at zero.

    `is_told`: the agent sends `stop_hook_active`. If it does not, the stored counts are always used.
    """
    if is_told and not event.fields.get("stop_hook_active"):
        return StopLimit()
    stored = session.stops()
    announced = tuple(name for name in _LIMITS if stored.get(_key(event, name) + _ANNOUNCED))
    return StopLimit({name: stored.get(_key(event, name), 0) for name in _LIMITS}, announced)


def save(session: Session, event: Event, limit: StopLimit) -> None:
    """Store the state for the turn's next stop, which another process may handle."""
    announced = {_key(event, name) + _ANNOUNCED: int(name in limit.announced) for name in _LIMITS}
    session.keep_stops({_key(event, name): count for name, count in limit.counts.items()} | announced)


def _key(event: Event, name: str) -> str:
    """Return the key of a family's count; each subagent has its own."""
    return f"{event.fields.get('agent_id') or event.fields.get('agentId') or ''}:{name}"


def overrule(verdict: Verdict, why: str) -> Verdict:
    """Return the verdict with blocks ignored for the reason `why`, and context kept."""
    runs = [run._replace(decision=run.decision._replace(ignored=why)) if _blocks(run) else run for run in verdict.runs]
    return verdict._replace(decision=Action.NONE, reason=None, runs=tuple(runs)) if verdict.denied else verdict


def family(hook: Hook) -> str:
    """Return which of the two limits applies to a hook."""
    return "array" if hook.has_one_matcher else "folder"


def _blocks(run: Run) -> bool:
    return run.decision.action is Action.DENY and run.decision.ignored is None
