"""Replay of recorded events: what current hooks, or a candidate, would decide differently.

Hooks run in a temporary directory with its own state and `TENTERHOOK_REPLAY=1`; nothing is journaled, and asynchronous
hooks are not started.
"""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import places
from ..basics.redaction import MARK
from ..catalog import loading, project_root
from ..catalog.trust import Trust
from ..engine.engine import Engine
from ..errors import HookError
from ..events import STOPS
from ..journal.records import CANARY, meaning
from ..journal.statistics import percentile
from ..model import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..model import Hook, Verdict

NEWLY_BLOCKED, NO_LONGER_BLOCKED = "newly blocked", "no longer blocked"
NEWLY_FAILING, NO_LONGER_FAILING = "newly failing", "no longer failing"
OTHERWISE, SLOWER = "decided otherwise", "slower"
KINDS = (NEWLY_BLOCKED, NO_LONGER_BLOCKED, NEWLY_FAILING, NO_LONGER_FAILING, OTHERWISE, SLOWER)

_FAILED = ("failed", "timed_out")
_SLOWER = 2.0  # times the recorded median of a hook
_NOTICEABLE = 20.0  # ms
_REPEATS = 5  # runs of a hook that seems slower, alone: the machine may have been busy


class Difference(NamedTuple):
    """One event that would end differently, or a hook that takes longer."""

    kind: str
    hook: str | None
    event: str
    time: float
    session_id: str
    before: str
    after: str
    about: str


class Replayed(NamedTuple):
    """The result of a replay."""

    events: int
    not_comparable: int  # events whose record is redacted, cut or missing
    differences: list[Difference]


class Candidate(NamedTuple):
    """Which hooks run: all current ones, one of them by name, those of a directory, or given ones.

    They are compared with what is recorded, or with what the hooks `before` decide now.
    """

    hook: str | None = None
    directory: str | None = None
    configs: tuple[str, ...] = ()
    hooks: tuple[Hook, ...] | None = None
    before: tuple[Hook, ...] | None = None

    @property
    def is_part(self) -> bool:
        """Whether other hooks ran when the events were recorded."""
        return self.hook is not None or self.directory is not None or self.hooks is not None


def replay(records: Iterable[dict[str, Any]], candidate: Candidate) -> Replayed:
    """Run the candidate's hooks on recorded events and compare the results."""
    with tempfile.TemporaryDirectory(prefix="tenterhook-replay-") as place:
        return _Replay(place, candidate).run(list(records))


class _Replay:
    def __init__(self, place: str, candidate: Candidate) -> None:
        self._place = place
        self._candidate = candidate
        self._engines: dict[tuple[str, ...], Engine] = {}
        self._numbers = count()

    def run(self, records: Sequence[dict[str, Any]]) -> Replayed:
        whole = [record for record in records if _is_whole(record)]
        # loaded before the state directory is replaced: trust is in it
        engines = [self._engine(record) for record in whole]
        fixed, environment = dict(places.FIXED), dict(os.environ)
        places.FIXED["state"] = os.path.join(self._place, "state")
        os.environ["TENTERHOOK_REPLAY"] = "1"
        try:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                if self._candidate.before is not None:
                    engine = Engine(_synchronous(self._candidate.before))
                    earlier = list(pool.map(self._decide, whole, [engine] * len(whole)))
                    whole = [_as_recorded(*pair) for pair in zip(whole, earlier, strict=True)]
                verdicts = list(pool.map(self._decide, whole, engines))
            slower = [each for each in _slower(whole, verdicts) if self._stays_slower(each, whole, engines)]
        finally:
            places.FIXED.clear()
            places.FIXED.update(fixed)
            os.environ.clear()
            os.environ.update(environment)
        differences = [each for pair in zip(whole, verdicts, strict=True) for each in self._compare(*pair)]
        differences += slower
        return Replayed(len(whole), len(records) - len(whole), differences)

    def _stays_slower(self, slower: Difference, records: Sequence[dict[str, Any]], engines: Sequence[Engine]) -> bool:
        """Return whether a hook is still slower when it runs alone."""
        reached = [pair for pair in zip(records, engines, strict=True) if slower.hook in _hooks(pair[0])]
        tried = (reached * _REPEATS)[:_REPEATS]
        runs = [run for pair in tried for run in self._decide(*pair).runs if run.hook.name == slower.hook]
        before = [run["duration_ms"] for record, _ in tried for run in record["runs"] if run["hook"] == slower.hook]
        return bool(runs) and _is_slower(max(before), min(run.duration_ms for run in runs))

    def _decide(self, record: dict[str, Any], engine: Engine) -> Verdict:
        number = next(self._numbers)
        work_dir = os.path.join(self._place, f"event-{number}")
        os.mkdir(work_dir)
        about = {"session_id": f"replay-{number}", "work_dir": work_dir, "context": record.get("context") or {}}
        event = Event.from_payload(record["event_name"], record["fields"] or {}, **about)
        if event.canonical in STOPS and event.fields.get("stop_hook_active"):
            engine = engine.asking(hook for hook in engine.hooks if hook.name in _hooks(record))
        return engine.decide(event)

    def _engine(self, record: dict[str, Any]) -> Engine:
        """Return the engine with the current hooks of the project where the event happened."""
        work_dir = record.get("work_dir") or os.getcwd()
        root = project_root.project_root(work_dir if os.path.isdir(work_dir) else os.getcwd())
        sources = {str(run.get("source")) for run in record.get("runs", ())}
        files = {source for source in sources if source.endswith((".toml", ".json")) and os.path.isfile(source)}
        key = (root, *sorted({*files, *self._candidate.configs}))
        if key not in self._engines:
            self._engines[key] = self._load(root, key[1:])
        return self._engines[key]

    def _load(self, root: str, configs: Sequence[str]) -> Engine:
        candidate = self._candidate
        if candidate.hooks is not None:
            return Engine(_synchronous(candidate.hooks))
        if candidate.directory is not None:
            return Engine(_synchronous(folder_hooks(candidate.directory)))
        catalog = loading.load(root, configs, trust=Trust(root))
        hooks: Iterable[Hook] = catalog.hooks
        if candidate.hook is not None:
            hooks = [hook for hook in hooks if hook.name == candidate.hook]
            if not hooks:
                raise HookError(f"no hook {candidate.hook!r} is in force in {root}", "tenterhook list shows the hooks")
        return Engine(_synchronous(hooks), catalog=catalog, tell_untrusted=False)

    def _compare(self, record: dict[str, Any], verdict: Verdict) -> Iterator[Difference]:
        """Yield the differences of an event as a whole; with one candidate, of that hook only."""
        runs = {run["hook"]: run for run in record.get("runs", ()) if run.get("outcome") != "started"}
        now = {run.hook.name: run for run in verdict.runs}
        one = self._candidate.is_part
        if not one:
            before, after = record["decision"], str(verdict.decision)
            if before != after:
                kind = NEWLY_BLOCKED if after == "deny" else NO_LONGER_BLOCKED if before == "deny" else OTHERWISE
                yield _difference(kind, None, record, before, after)
            elif (record.get("modified_input") or None) != (verdict.modified_input or None):
                yield _difference(OTHERWISE, None, record, "another input", "modified input")
            elif _is_other_output(record.get("modified_output"), verdict.modified_output):
                yield _difference(OTHERWISE, None, record, "another output", "modified output")
        for name, run in now.items():
            before = str(runs[name].get("meaning")) if name in runs else "no_decision"
            if before == "not_run" and record["decision"] != "deny":  # it was not trusted
                before = "no_decision"
            after = meaning(run.outcome, run.decision.action)
            if before == after or "not_run" in (before, after):
                continue
            if after in _FAILED and before not in _FAILED:
                yield _difference(NEWLY_FAILING, name, record, before, f"{after}: {run.why}")
            elif before in _FAILED and after not in _FAILED:
                yield _difference(NO_LONGER_FAILING, name, record, before, after)
            elif one:
                kind = NEWLY_BLOCKED if after == "blocked" else NO_LONGER_BLOCKED if before == "blocked" else OTHERWISE
                yield _difference(kind, name, record, before, after)
        names = runs if self._candidate.before is not None else [self._candidate.hook]
        for name in (name for name in names if name is not None and name in runs and name not in now):
            if runs[name].get("meaning") == "blocked":
                yield _difference(NO_LONGER_BLOCKED, name, record, "blocked", "its matcher no longer matches")


def folder_hooks(directory: str) -> list[Hook]:
    """Return the hooks of a directory: one folder with a HOOK.md, or a directory of such folders."""
    from .convert import sources

    found = sources.read([directory])
    hooks = [hook for hook in found.hooks if hook.folder is not None]
    if not hooks:
        why = "".join(f": {problem.message}" for problem in found.problems[:1])
        raise HookError(
            f"{directory} contains no hook{why}", "name a folder with a HOOK.md, or a directory of such folders"
        )
    return hooks


def _as_recorded(record: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    """Return a record with what was decided now."""
    runs = [
        {
            "hook": run.hook.name,
            "outcome": str(run.outcome),
            "meaning": meaning(run.outcome, run.decision.action),
            "duration_ms": run.duration_ms,
        }
        for run in verdict.runs
    ]
    return {**record, "decision": str(verdict.decision), "runs": runs}


def _hooks(record: dict[str, Any]) -> set[str]:
    """Return the hooks that ran: at a repeated stop, some no longer do."""
    return {run["hook"] for run in record.get("runs", ())}


def _synchronous(hooks: Iterable[Hook]) -> list[Hook]:
    return [hook for hook in hooks if not hook.in_background]


def _is_other_output(before: Any, after: Any) -> bool:
    """Whether a hook replaced an output differently than before; what is redacted in the record cannot be compared."""
    return bool(before != after) and MARK not in str(before)


def _is_whole(record: dict[str, Any]) -> bool:
    """Return whether an event was recorded completely, so that hooks get the same input."""
    if record.get("payload") in ("none", "cut") or not isinstance(record.get("fields"), dict):
        return False
    return record.get("payload") == "full" or MARK not in str(record["fields"])


def _difference(kind: str, hook: str | None, record: dict[str, Any], before: str, after: str) -> Difference:
    fields = record.get("fields") or {}
    given = fields.get("tool_input") or {}
    about = given.get("command") or given.get("file_path") if isinstance(given, dict) else None
    about = str(about or fields.get("prompt") or record.get("tool_name") or "")
    return Difference(kind, hook, record["event"], record["time"], record["session_id"], before, after, about)


def is_replayed(record: dict[str, Any]) -> bool:
    """Return whether a record is of an event, and not of `doctor --live`."""
    is_canary = any(run.get("hook") == CANARY for run in record.get("runs", ()))
    return record.get("type") == "verdict" and not is_canary


def _slower(records: Sequence[dict[str, Any]], verdicts: Sequence[Verdict]) -> Iterator[Difference]:
    """Yield the hooks whose median duration is much longer than recorded."""
    before: dict[str, list[float]] = {}
    after: dict[str, list[float]] = {}
    for record, verdict in zip(records, verdicts, strict=True):
        for run in record.get("runs", ()):
            before.setdefault(run["hook"], []).append(run.get("duration_ms") or 0.0)
        for each in verdict.runs:
            after.setdefault(each.hook.name, []).append(each.duration_ms)
    for name in sorted(before.keys() & after.keys()):
        old, new = (percentile(sorted(values), 0.5) for values in (before[name], after[name]))
        if _is_slower(old, new):
            said = (f"{old:.0f} ms", f"{new:.0f} ms")
            yield Difference(SLOWER, name, "", 0.0, "", *said, f"median of {len(after[name])} runs")


def _is_slower(before: float, after: float) -> bool:
    return after > before * _SLOWER and after - before > _NOTICEABLE
