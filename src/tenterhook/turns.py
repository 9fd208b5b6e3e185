"""One event on its way through its stages: what is reached, what ran, what the input has become."""

from __future__ import annotations

import os

from . import calling, circles, commands, jsonable, matching, processes, running, verdicts
from .decisions import read_decision
from .events import Effect
from .minding import Job, Minders
from .model import SILENT, Action, Decision, Event, Failure, Hook, Run, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterable, Sequence

    from .catalog.trust import Trust
    from .errors import Problem
    from .sessions import Before, Session


class Turn:
    """The state of one `decide`: it begins with an event and ends as a verdict."""

    def __init__(
        self,
        event: Event,
        session: Session,
        trust: Trust | None,
        *,
        cancel: running.Cancel | None = None,
        loop: AbstractEventLoop | None = None,
        debug: Callable[[str], None] | None = None,
    ) -> None:
        self.arrived = event
        self.event = event  # as modified so far
        self.session = session
        self.trust = trust
        self.cancel = cancel
        self.loop = loop
        self.debug = debug
        self.runs: list[Run] = []
        self.blocked = False
        self._sight = matching.Sight(event)
        self._starter = processes.this()
        self._environment: commands.Environment | None = None

    # ---- the stages

    def run(self, stage: matching.Stage) -> None:
        """Run what the event reaches of a stage, on the input as modified so far."""
        runs = self._run(self._sight.reached(self._standing(stage.hooks)))
        self._take_over_input(runs)

    def run_again(self, plan: matching.Plan) -> None:
        """If the input was modified: every deciding hook that has not seen the final one runs on it, once more."""
        final = self.event.tool_input
        if self.blocked or self.event is self.arrived:
            return
        self.runs = [_without_stale_consent(run, final) for run in self.runs]
        for stage in plan.stages:
            reached = self._sight.reached(hook for hook in self._standing(stage.hooks) if self._decides(hook))
            unseen = [each for each in reached if not self._has_seen(each.hook, final)]
            self._run(unseen, again=True)

    def start_background(self, hooks: Sequence[Hook]) -> None:
        """Start asynchronous hooks and observers on the input as it arrived; wait for none of them."""
        if not hooks:
            return
        sight = matching.Sight(self.arrived, self._sight.limit)
        reached = [each.hook for each in sight.reached(self._standing(hooks))]
        payloads = commands.Payloads(self.arrived)
        jobs: list[tuple[Run, Job]] = []
        for hook in _joined([hook for hook in reached if not self._note_refusal(hook)]):
            if hook is None:
                continue
            self._say(f"[ASYNC] Starting command hook '{hook.name}' for event '{hook.declared}'")
            run = Run(hook, background=True, saw=self.arrived.tool_input)
            if hook.function is not None:
                calling.start(hook, self.arrived)
                self.runs.append(run)
                continue
            prepared = commands.prepare(hook, payloads, self._env(), self._starter)
            run = run._replace(notes=prepared.notes)
            if prepared.command is None:
                self.runs.append(_not_started(run, prepared.why))
                continue
            jobs.append((run, self._job(hook, prepared.command)))
            self._say(f"[ASYNC] Hook '{hook.name}' fired (running in background)")
        if jobs:
            why = _MINDERS.start([job for _, job in jobs], self._env().base)
            self.runs += [run if why is None else _not_started(run, why) for run, _ in jobs]

    def _note_refusal(self, hook: Hook) -> bool:
        run = self._refused(hook)
        if run is not None:
            self.runs.append(run)
        return run is not None

    def verdict(self, problems: Iterable[Problem]) -> Verdict:
        modified = None if jsonable.same(self.event.tool_input, self.arrived.tool_input) else self.event.tool_input
        return verdicts.merge(self.arrived, self.runs, modified, problems)

    # ---- one stage

    def _run(self, reached: Sequence[matching.Reached], *, again: bool = False) -> list[Run]:
        runs: list[Run] = []
        ready: list[matching.Reached] = []
        for each in reached:
            run = self._refused(each.hook)
            if run is None and self.blocked:
                run = Run(each.hook, started=False, why="stopped by an earlier block")
            if run is None:
                ready.append(each)
            else:
                runs.append(self._judge(run, each.surely, again) if run.failed else run)
        for each, ended in zip(ready, self._execute([each.hook for each in ready]), strict=True):
            if ended is not None:
                runs.append(self._judge(ended, each.surely, again))
        self.runs += runs
        self.blocked = self.blocked or any(
            run.decision.action is Action.DENY and run.decision.ignored is None for run in runs
        )
        return runs

    def _refused(self, hook: Hook) -> Run | None:
        """A run that does not take place, and why."""
        if hook.layer == "project":
            standing = self.trust.standing(hook) if self.trust else None
            if standing is None or not standing.runs:
                return Run(hook, started=False, why="untrusted", notes=(standing.why or "",) if standing else ())
        if hook.function is None and circles.is_too_deep():
            return Run(hook, failure=Failure.CANNOT_START, why="cannot start: we have called ourselves too often")
        chain = self._env().chain
        if chain and hook.function is None and circles.closes(hook, chain):
            return Run(hook, failure=Failure.CANNOT_START, why="cannot start: it would call itself in a circle")
        return None

    def _execute(self, hooks: Sequence[Hook]) -> list[Run | None]:
        """Run hooks side by side; None for an equal command that ran as another."""
        if not hooks:
            return []
        if hooks[0].function is not None:
            return [calling.call(hook, self.event, self.cancel, self.loop) for hook in hooks]
        before = self.session.before(self.event.work_dir) if self.event.canonical == "pre-session" else None
        payloads = commands.Payloads(self.event)
        runs: list[Run | None] = []
        pending: list[running.Command] = []
        numbers: list[int] = []
        for number, hook in enumerate(_joined(hooks)):
            if hook is None:
                runs.append(None)
                continue
            self._say(f"[SYNC] Starting command hook '{hook.name}' for event '{hook.declared}'")
            prepared = commands.prepare(hook, payloads, self._env(), self._starter)
            run = Run(hook, notes=prepared.notes, saw=self.event.tool_input)
            if prepared.command is None:
                run = run._replace(failure=Failure.CANNOT_START, why=prepared.why)
            else:
                if self.debug is not None:
                    self._say(f"Input: {prepared.command.payload.decode('utf-8', 'replace')}")
                pending.append(prepared.command)
                numbers.append(number)
            runs.append(run)
        for number, ended in zip(numbers, running.run_stage(pending, self.cancel), strict=True):
            begun = runs[number]
            assert begun is not None
            runs[number] = _ran(begun, ended, commands.never_began(begun.hook, self.event, ended))
        if before is not None:
            self._collect(before, runs)
        return runs

    def _collect(self, before: Before, runs: list[Run | None]) -> None:
        """Take over variables that pre-session hooks have set; what was refused is noted with the stage's last run."""
        notes = self.session.collect(before)
        self._environment = None
        if notes:
            number, last = [(number, run) for number, run in enumerate(runs) if run is not None][-1]
            runs[number] = last._replace(notes=(*last.notes, *notes))

    def _judge(self, run: Run, surely: bool, again: bool) -> Run:
        """What a run means here: some answers do not count at this event, or for this hook."""
        decision = read_decision(run)
        if decision is SILENT and surely and not again and self.debug is None:
            return run  # as most are
        hook = run.hook
        notes: list[str] = []
        if not surely:
            notes.append("its matcher took too long: it ran, but may only deny or ask")
            allows = decision.action in (Action.ALLOW, Action.APPROVE)
            action = Action.NONE if allows else decision.action
            decision = decision._replace(action=action, modified_input=None)
        if decision.modified_input is not None and hook.event != "pre-tool-call":
            decision = decision._replace(modified_input=None)
            notes.append(f"the input cannot be modified at {hook.declared}")
        if again and decision.modified_input and not jsonable.same(decision.modified_input, self.event.tool_input):
            decision = Decision(Action.DENY, f"Hook '{hook.name}' would modify an input that others have modified")
        if again:
            notes.append("ran on the modified input")
            decision = self._without_repetition(hook, decision)
        if notes:
            decision = decision._replace(notes=(*decision.notes, *notes))
        ignored = self._ignored(hook, decision)
        if ignored:
            decision = decision._replace(ignored=ignored)
        run = run._replace(decision=decision)
        if self.debug is not None:
            self._say_completed(run)
        return run

    def _ignored(self, hook: Hook, decision: Decision) -> str | None:
        if decision.is_silent:
            return None
        if hook.spec.effect(hook.format) is not Effect.DECIDES:
            return f"{hook.declared} hooks of this format observe: what it says changes nothing"
        if (
            hook.event == "pre-agent-turn-stop"
            and hook.format == "array"
            and decision.action is Action.DENY
            and self.event.fields.get("stop_hook_active") is True
        ):
            return "the turn was continued once already (stop_hook_active): the block is ignored"
        return None

    # ---- the input

    def _take_over_input(self, runs: Sequence[Run]) -> None:
        if self.blocked:
            return
        for run in runs:
            if run.decision.modified_input is not None and run.decision.ignored is None:
                self.event = self.event.replace(tool_input=run.decision.modified_input)
        if self.event is not self._sight.event:
            self._sight = self._sight.with_input(self.event)

    def _has_seen(self, hook: Hook, tool_input: object) -> bool:
        """Whether a hook was sent this input, or made it."""
        return any(_is_same(run.hook, hook) and (not run.started or _knows(run, tool_input)) for run in self.runs)

    def _without_repetition(self, hook: Hook, decision: Decision) -> Decision:
        """What a hook says on its second run, but for what it has said already."""
        said = [run.decision for run in self.runs if _is_same(run.hook, hook)]
        if any(decision.additional_context == each.additional_context for each in said):
            decision = decision._replace(additional_context=None)
        if any(decision.message == each.message for each in said):
            decision = decision._replace(message=None)
        return decision

    # ---- odds and ends

    def _standing(self, hooks: Sequence[Hook]) -> list[Hook]:
        """Hooks that no other replaces: a replacement counts only while it is trusted, for exactly its bytes."""
        return [
            hook for hook in hooks if not (hook.replaced_by and self.trust and self.trust.replaces(hook.replaced_by))
        ]

    def _decides(self, hook: Hook) -> bool:
        return hook.spec.effect(hook.format) is Effect.DECIDES

    def _env(self) -> commands.Environment:
        if self._environment is None:
            self._environment = commands.Environment(self.event, self.session)
        return self._environment

    def _job(self, hook: Hook, command: running.Command) -> Job:
        base = self._env().base
        return Job(
            name=hook.name,
            source=hook.source,
            event_name=hook.declared,
            session_id=self.arrived.session_id,
            identity=circles.identity(hook),
            argv=command.argv,
            payload=command.payload.decode("utf-8", "surrogateescape"),
            cwd=command.cwd,
            env={os.fsdecode(key): os.fsdecode(value) for key, value in command.env.items() if base.get(key) != value},
            timeout=command.timeout,
        )

    def _say_completed(self, run: Run) -> None:
        self._say(
            f"[SYNC] Completed hook '{run.hook.name}' in {run.duration_ms:.0f}ms: "
            f"success={not run.failed}, decision={run.decision.action}"
        )
        if run.decision.reason or run.why:
            self._say(f"Reason: {run.decision.reason or run.why}")
        if run.decision.log:
            self._say(f"Log: {run.decision.log}")

    def _say(self, line: str) -> None:
        if self.debug is not None:
            try:
                self.debug(f"[HOOK DEBUG] {line}")
            except Exception:  # noqa: BLE001  # whoever listens must not cost anyone a verdict
                self.debug = None


_MINDERS = Minders()


def _not_started(run: Run, why: str | None) -> Run:
    return run._replace(background=False, failure=Failure.CANNOT_START, why=why)


def _is_same(one: Hook, other: Hook) -> bool:
    """Whether two hooks run as one: equal commands of the array format do."""
    return one is other or (one.format == other.format == "array" and one.command == other.command)


def _knows(run: Run, tool_input: object) -> bool:
    """Whether a run was sent an input, or made it."""
    return jsonable.same(run.saw, tool_input) or jsonable.same(run.decision.modified_input, tool_input)


def _joined(hooks: Sequence[Hook]) -> list[Hook | None]:
    """Equal commands of the array format as one, with the longest timeout; None where another stands for a hook."""
    if len(hooks) == 1:
        return list(hooks)
    joined: list[Hook | None] = []
    first: dict[str, int] = {}
    for hook in hooks:
        number = first.get(hook.command or "") if hook.format == "array" else None
        if number is None:
            if hook.format == "array":
                first[hook.command or ""] = len(joined)
            joined.append(hook)
            continue
        other = joined[number]
        assert other is not None
        joined[number] = other._replace(
            timeout=max(other.timeout, hook.timeout), fail_closed=other.fail_closed or hook.fail_closed
        )
        joined.append(None)
    return joined


def _ran(run: Run, ended: running.Ended, never_began: str | None) -> Run:
    notes = run.notes
    if ended.dropped_stdout:
        notes = (*notes, f"{ended.dropped_stdout} bytes of stdout were dropped")
    if ended.dropped_stderr:
        notes = (*notes, f"{ended.dropped_stderr} bytes of stderr were dropped")
    return Run(
        run.hook,
        Failure.CANNOT_START if never_began else ended.failure,
        never_began or ended.why,
        exit_code=ended.exit_code,
        duration_ms=ended.duration * 1000,
        stdout=ended.stdout.decode("utf-8", "replace"),
        stderr=ended.stderr.decode("utf-8", "replace"),
        notes=notes,
        saw=run.saw,
    )


def _without_stale_consent(run: Run, final: object) -> Run:
    """Allow and approve are bound to the input they were given for."""
    decision = run.decision
    if decision.action not in (Action.ALLOW, Action.APPROVE) or _knows(run, final):
        return run
    note = f"its {decision.action} was for an input that has been modified since"
    return run._replace(decision=decision._replace(action=Action.NONE, notes=(*decision.notes, note)))
