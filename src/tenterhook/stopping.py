"""How often hooks may send an agent, or a subagent, back to work before it may stop (PROTOCOL 8).

Folder and table hooks may do so three times in a turn; at the fourth stop they are not asked. Array hooks may do so
once; then they are asked again, told so, and a block is ignored. Each family counts for itself.
"""

from __future__ import annotations

from .basics.values import NamedTuple
from .events import STOPS
from .model import Action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .model import Event, Hook, Run, Verdict
    from .sessions import Session

_MOST = {"folder": 3, "array": 1}
_ANNOUNCED = ":announced"  # of a key in what the session keeps


class Gate(NamedTuple):
    """The continuations of one turn so far, by family."""

    counts: dict[str, int]
    announced: tuple[str, ...] = ()  # families whose limit was reported in this turn

    def asked(self, hooks: Iterable[Hook]) -> list[Hook]:
        """The hooks without those that have had their say."""
        exhausted = self.counts["folder"] >= _MOST["folder"]
        return [hook for hook in hooks if hook.event not in STOPS or not exhausted or family(hook) == "array"]

    def announce(self, hooks: Iterable[Hook], verdict: Verdict) -> tuple[Gate, list[str]]:
        """What to say if a limit lets the agent stop against its hooks: once per turn for each family."""
        if verdict.denied:  # another hook keeps the agent going
            return self, []
        reached = [name for name in self._let_stop(hooks, verdict) if name not in self.announced]
        news = [
            f"tenterhook: stop-hook limit reached ({_MOST[name]} per turn); letting the agent stop" for name in reached
        ]
        return self._replace(announced=(*self.announced, *reached)), news

    def _let_stop(self, hooks: Iterable[Hook], verdict: Verdict) -> list[str]:
        """The families that were not asked any more, or whose block came too late."""
        late = (run.hook for run in verdict.runs if run.decision.action is Action.DENY and not run.hook.is_shadow)
        unasked = (hook for hook in hooks if hook.event == verdict.event and not hook.in_background)
        would = {"folder": map(family, unasked), "array": map(family, late)}
        return [name for name in _MOST if self.counts[name] >= _MOST[name] and name in would[name]]

    def told(self, event: Event, hooks: Iterable[Hook]) -> Event:
        """The event as hooks are sent it: whether the agent was sent back before, by array hooks if there are any."""
        families = {family(hook) for hook in hooks if hook.event in STOPS}
        return event.replace(stop_hook_active=self.counts["array" if "array" in families else "folder"] > 0)

    def settle(self, verdict: Verdict) -> Verdict:
        """The verdict without blocks that come too late."""
        if self._is_too_late(verdict):
            return overruled(verdict, "array hooks have continued the turn once already: the block is ignored")
        return verdict

    def after(self, verdict: Verdict) -> Gate:
        """Where the turn stands once a verdict was given."""
        if self._is_too_late(verdict):
            return self
        blocking = _blocking(verdict)
        return self._replace(counts={name: count + (name in blocking) for name, count in self.counts.items()})

    def _is_too_late(self, verdict: Verdict) -> bool:
        return _blocking(verdict) == {"array"} and self.counts["array"] >= _MOST["array"]


def fresh() -> Gate:
    """Where a turn stands that was not sent back yet."""
    return Gate(dict.fromkeys(_MOST, 0))


def gate(session: Session, event: Event) -> Gate:
    """Where a turn stands; one that was not sent back yet begins anew."""
    if not event.fields.get("stop_hook_active"):
        return fresh()
    kept = session.stops()
    announced = tuple(name for name in _MOST if kept.get(_key(event, name) + _ANNOUNCED))
    return Gate({name: _count(kept.get(_key(event, name))) for name in _MOST}, announced)


def _count(kept: object) -> int:
    return kept if isinstance(kept, int) else 0


def keep(session: Session, event: Event, after: Gate) -> None:
    """Remember where a turn stands, for whoever serves its next stop."""
    announced = {_key(event, name) + _ANNOUNCED: int(name in after.announced) for name in _MOST}
    session.keep_stops({_key(event, name): count for name, count in after.counts.items()} | announced)


def _key(event: Event, name: str) -> str:
    """Each subagent counts for itself."""
    return f"{event.fields.get('agent_id') or event.fields.get('agentId') or ''}:{name}"


def overruled(verdict: Verdict, why: str) -> Verdict:
    """The verdict of a stop that no hook can prevent: their blocks are shown as ignored, their context counts."""
    runs = [run._replace(decision=run.decision._replace(ignored=why)) if _blocks(run) else run for run in verdict.runs]
    return verdict._replace(decision=Action.NONE, reason=None, runs=tuple(runs)) if verdict.denied else verdict


def family(hook: Hook) -> str:
    """Which of the two counts a hook's blocks go to."""
    return "folder" if hook.format in ("folder", "table", "function") else "array"


def _blocking(verdict: Verdict) -> set[str]:
    """The families whose hooks block."""
    return {family(run.hook) for run in verdict.runs if _blocks(run)}


def _blocks(run: Run) -> bool:
    return run.decision.action is Action.DENY and run.decision.ignored is None
