"""The evaluation of one event, stage by stage."""

from __future__ import annotations

import time

from ..basics import light_json, processes
from ..basics.callers import THIS
from ..events import AGENT_FORMATS, OUTPUT_FIELDS
from ..model import SILENT, Action, Event, Failure, Hook, Run, Verdict
from . import commands, decisions, matching, recursion, verdicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..basics.callers import Caller
    from ..catalog.trust import Trust
    from ..errors import Problem
    from . import background
    from .process_runner import Cancel, Command, ProcessEnd
    from .sessions import EnvFilesBefore, Session


class Evaluation:
    """The state of one `decide`: the runs so far, and the tool's input and output as modified so far."""

    def __init__(
        self,
        event: Event,
        session: Session,
        trust: Trust | None,
        *,
        caller: Caller = THIS,
        cancel: Cancel | None = None,
        loop: AbstractEventLoop | None = None,
        deadline: float | None = None,
        debug: Callable[[str], None] | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """`meanwhile` is called while the first hooks run, for example to import modules."""
        self.arrived = event
        self.event = event  # as modified so far
        self.session = session
        self.trust = trust
        self.caller = caller
        self.cancel = cancel
        self.loop = loop
        self.deadline = deadline
        self.debug = debug
        self._meanwhile = meanwhile
        self.runs: list[Run] = []
        self.blocked = False
        self._matcher = matching.MatcherSearch(event)
        self._starter = processes.this()
        self._environment: commands.Environment | None = None
        self._may_recurse: bool | None = None
        self._checked: dict[str, object] = {}  # folders of packs, as they were before their bytes were compared

    def run(self, stage: matching.Stage) -> None:
        """Run the hooks of a stage that the event reaches, on the input and output as modified so far."""
        reached = stage.reached or self._matcher.reached(self._not_replaced(stage.hooks))
        said = self._run(reached)
        if self.event.canonical in OUTPUT_FIELDS:
            self._apply_modified_output(said)
        else:
            self._apply_modified_input(said)

    def run_again(self, plan: matching.Plan) -> None:
        """If the input was modified, run each deciding hook that has not seen the final input once more."""
        final = self.event.tool_input
        if self.blocked or self.event is self.arrived or self.event.canonical in OUTPUT_FIELDS:
            return
        self.runs = [decisions.without_stale_consent(run, final) for run in self.runs]
        for stage in plan.stages:
            reached = self._matcher.reached(hook for hook in self._not_replaced(stage.hooks) if decisions.decides(hook))
            unseen = [each for each in reached if not decisions.has_seen(each.hook, final, self.runs)]
            self._run(unseen, again=True)

    def start_background(self, hooks: Sequence[Hook]) -> None:
        """Start asynchronous hooks and observers with the original input, without waiting for them."""
        if not hooks:
            return
        from . import background

        matcher = matching.MatcherSearch(self.arrived, self._matcher.limit)
        reached = [each.hook for each in matcher.reached(self._not_replaced(hooks))]
        payloads = commands.Payloads(self.arrived)
        jobs: list[tuple[Run, background.BackgroundJob]] = []
        for hook in _deduplicated([hook for hook in reached if not self._note_refusal(hook)]):
            if hook is None:
                continue
            self._say(f"[ASYNC] Starting command hook '{hook.name}' for event '{hook.declared}'")
            run = Run(hook, background=True, saw=self.arrived.tool_input)
            if hook.function is not None:
                from . import function_hooks

                function_hooks.start(hook, self.arrived)
                self.runs.append(run)
                continue
            prepared = self._prepare(hook, payloads)
            run = run._replace(notes=prepared.notes)
            if prepared.command is None:
                self.runs.append(_not_started(run, prepared.why))
                continue
            job = background.job(hook, prepared.command, self.arrived.session_id, self._env().base)
            jobs.append((run, job))
            self._say(f"[ASYNC] Hook '{hook.name}' fired (running in background)")
        if jobs:
            why = background.start([job for _, job in jobs], self._env().base)
            self.runs += [run if why is None else _not_started(run, why) for run, _ in jobs]

    def _note_refusal(self, hook: Hook) -> bool:
        """Add the run of a hook that must not be started; return whether there is one."""
        run = self._refused(hook)
        if run is not None:
            self.runs.append(run)
        return run is not None

    def verdict(self, problems: Iterable[Problem]) -> Verdict:
        if self.event.canonical == "pre-session":
            self._note_left_out()
        now, arrived = self.event, self.arrived
        modified = None if light_json.same(now.tool_input, arrived.tool_input) else now.tool_input
        output = None if light_json.same(now.tool_output, arrived.tool_output) else now.tool_output
        return verdicts.merge(arrived, self.runs, modified, problems, output)

    def _run(self, reached: Sequence[matching.MatchedHook], *, again: bool = False) -> list[Run]:
        """Run hooks; return the runs with a decision or output."""
        runs: list[Run] = []
        ready: list[matching.MatchedHook] = []
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
        said = [run for run in runs if run.decision is not SILENT]
        if self.event.canonical not in OUTPUT_FIELDS:  # the tool has run: a later hook may have to replace its output
            self.blocked = self.blocked or any(
                run.decision.action is Action.DENY and run.decision.ignored is None for run in said
            )
        return said

    def _judge(self, run: Run, surely: bool, again: bool) -> Run:
        if run.hook.format in AGENT_FORMATS:
            from ..formats import agent_answers

            run = agent_answers.read(run)
        judged = decisions.judge(run, self.event, surely=surely, earlier=self.runs if again else None)
        if self.debug is not None:
            self._say_completed(judged)
        return judged

    def _refused(self, hook: Hook) -> Run | None:
        """Return the run of a hook that must not be started, with the reason; None if it may run."""
        if hook.pack and hook.folder is not None:
            from ..catalog import packs

            self._checked[hook.folder] = packs.stats_of(hook.folder)  # before its bytes are compared
        if hook.needs_trust:
            standing = self.trust.standing(hook) if self.trust else None
            if standing is not None and standing.state == "changed" and hook.pack and hook.fail_closed:
                return Run(hook, failure=Failure.CANNOT_START, why=hook.missing or standing.why)
            if standing is None or not standing.runs:
                said = (standing.why, standing.hint) if standing else ()
                is_other = hook.pack and standing is not None and standing.state == "changed"
                why = "not the bytes of hooks.lock" if is_other else "untrusted"
                return Run(hook, started=False, why=why, notes=tuple(note for note in said if note))
        if hook.missing is not None:
            return Run(hook, failure=Failure.CANNOT_START, why=hook.missing)
        if hook.function is None and self._may_be_recursive():
            if recursion.is_too_deep(self.caller.pid):
                return Run(hook, failure=Failure.CANNOT_START, why="cannot start: we have called ourselves too often")
            if recursion.closes(hook, self._env().chain):
                return Run(hook, failure=Failure.CANNOT_START, why="cannot start: it would call itself in a circle")
        return None

    def _may_be_recursive(self) -> bool:
        """Whether a hook may have called us; determined once for all hooks."""
        if self._may_recurse is None:
            self._may_recurse = bool(self._env().chain) or recursion.is_too_deep(self.caller.pid)
        return self._may_recurse

    def _execute(self, hooks: Sequence[Hook]) -> list[Run | None]:
        """Run hooks in parallel and return their runs; None for a hook whose command an equal one has run."""
        if not hooks:
            return []
        left = self._time_left()
        if left <= 0:
            why = "no time was left for it"
            return [Run(_closed_if_managed(hook), failure=Failure.TIMED_OUT, why=why) for hook in hooks]
        if hooks[0].function is not None:
            from . import function_hooks

            timed = [hook if hook.timeout <= left else hook._replace(timeout=left) for hook in hooks]
            return [function_hooks.call(hook, self.event, self.cancel, self.loop) for hook in timed]
        before = self.session.before(self.event.work_dir) if self.event.canonical == "pre-session" else None
        payloads = commands.Payloads(self.event)
        runs: list[Run | None] = [None] * len(hooks)
        begun: list[tuple[int, Hook, Command, tuple[str, ...]]] = []

        def prepared() -> Iterator[Command]:
            for number, hook in enumerate(_deduplicated(hooks)):
                if hook is None:
                    continue
                if self.debug is not None:
                    self._say(f"[SYNC] Starting command hook '{hook.name}' for event '{hook.declared}'")
                if hook.guard is not None:
                    from . import guard_hooks

                    runs[number] = guard_hooks.run(hook, self.event, self._env().base)
                    continue
                command, why, notes = self._prepare(hook, payloads)
                if command is None:
                    runs[number] = Run(hook, Failure.CANNOT_START, why, notes=notes, saw=self.event.tool_input)
                    continue
                if self.debug is not None:
                    self._say(f"Input: {command.payload.decode('utf-8', 'replace')}")
                command = command if command.timeout <= left else command._replace(timeout=left)
                begun.append((number, hook, command, notes))
                yield command
            if self._meanwhile is not None:
                meanwhile, self._meanwhile = self._meanwhile, None
                meanwhile()

        def take(place: int, ended: ProcessEnd) -> bool:
            number, hook, command, notes = begun[place]
            run = runs[number] = self._ran(hook, command, notes, ended, since)
            return is_permission and self._denies(run)  # the first denial decides

        is_permission = self.event.canonical == "permission-request"
        since = time.time()
        if all(hook.guard is not None for hook in hooks):
            list(prepared())  # no processes: the runner is not imported for them
        else:
            from . import process_runner

            for place, ended in enumerate(process_runner.run_stage(prepared(), self.cancel, take)):
                if runs[begun[place][0]] is None:  # ended because another hook has decided
                    take(place, ended)
        if before is not None:
            self._collect(before, runs)
        return runs

    def _ran(
        self,
        hook: Hook,
        command: Command,
        notes: tuple[str, ...],
        ended: ProcessEnd,
        since: float,
    ) -> Run:
        """Return the run of an ended process; `since` is a `time.time` before its start."""
        from . import start_check

        failure, why, code, duration, stdout, stderr, dropped_stdout, dropped_stderr = ended
        if failure is Failure.CANNOT_START:
            hook = _closed_if_managed(hook)
        if code == 2 and failure is None and (refused := start_check.refused_by_shell(command, since)):
            failure, why = Failure.CANNOT_START, refused
        elif code == 1 and decisions.meant_to_block(hook, stderr):
            notes = (*notes, "it exited with 1: only exit 2 blocks")
        if failure is Failure.TIMED_OUT and command.timeout < hook.timeout:
            hook = _closed_if_managed(hook)
        if dropped_stdout:
            notes = (*notes, f"{dropped_stdout} bytes of stdout were dropped")
        if dropped_stderr:
            notes = (*notes, f"{dropped_stderr} bytes of stderr were dropped")
        if hook.layer == "project" and not hook.pack and self.trust is not None:
            notes = (*notes, *self.trust.changed_by_run(hook, since))
        run = Run(
            *(hook, failure, why, True, False, code, duration * 1000),  # started, not in the background
            stdout.decode("utf-8", "replace") if stdout else "",
            stderr.decode("utf-8", "replace") if stderr else "",
            *(notes, None, self.event.tool_input),  # `answer` is None: it is in the output
        )
        return self._unless_replaced(run) if hook.pack else run

    def _unless_replaced(self, run: Run) -> Run:
        """Return the run of a pack's hook; it has failed if its files changed after they were compared with the lock.

        A denial counts nevertheless.
        """
        from ..catalog import packs

        folder = run.hook.folder or ""
        if self._checked.get(folder) == packs.stats_of(folder):
            return run
        why = "its files were changed while it ran"
        if self._denies(run):
            return run._replace(notes=(*run.notes, why))
        return run._replace(failure=run.failure or Failure.UNREADABLE, why=run.why or why)

    def _denies(self, run: Run) -> bool:
        if run.hook.format in AGENT_FORMATS:
            from ..formats import agent_answers

            run = agent_answers.read(run)
        decision = decisions.judge(run, self.event).decision
        return decision.action is Action.DENY and decision.ignored is None

    def _time_left(self) -> float:
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def _prepare(self, hook: Hook, payloads: commands.Payloads) -> commands.Prepared:
        try:
            return commands.prepare(hook, payloads, self._env(), self._starter)
        except Exception as error:  # noqa: BLE001  # one hook's failure never affects another
            return commands.Prepared(None, f"cannot start: {type(error).__name__}: {error}")

    def _collect(self, before: EnvFilesBefore, runs: list[Run | None]) -> None:
        """Collect variables that pre-session hooks have set; refused ones are noted with the stage's last run."""
        began = [run for run in runs if run is not None and run.failure is not Failure.CANNOT_START]
        notes = self.session.collect(before, {run.hook.source for run in began})
        self._environment = None
        if notes:
            number, last = [(number, run) for number, run in enumerate(runs) if run is not None][-1]
            runs[number] = last._replace(notes=(*last.notes, *notes))

    def _note_left_out(self) -> None:
        """Note with the last run which variables of the project's env file are ignored."""
        ran = [number for number, run in enumerate(self.runs) if run.started and not run.background]
        note = self.session.left_out(self.event.work_dir) if ran else None
        if note is not None:
            last = self.runs[ran[-1]]
            self.runs[ran[-1]] = last._replace(notes=(*last.notes, note))

    def _apply_modified_input(self, runs: Sequence[Run]) -> None:
        if self.blocked:
            return
        for run in runs:
            if run.decision.modified_input is not None and run.decision.ignored is None:
                self.event = self.event.replace(tool_input=run.decision.modified_input)
        if self.event is not self._matcher.event:
            self._matcher = matching.MatcherSearch(self.event, self._matcher.limit)  # time spent stays spent

    def _apply_modified_output(self, runs: Sequence[Run]) -> None:
        """Replace the output. A hook that replaces it too, and ran in parallel, runs again on the replaced output."""
        before = self.event
        for run in runs:
            replacing = [run]
            if self.event is not before and _replaces_output(run):
                replacing = self._run([matching.MatchedHook(run.hook, surely=True)], again=True)
            for each in filter(_replaces_output, replacing):
                field = OUTPUT_FIELDS[self.event.canonical]
                self.event = self.event.replace(**{field: each.decision.modified_output})

    def _not_replaced(self, hooks: Sequence[Hook]) -> list[Hook]:
        """Return the hooks that are not replaced: a replacement counts only while its current content is trusted."""
        return [
            hook for hook in hooks if not (hook.replaced_by and self.trust and self.trust.replaces(hook.replaced_by))
        ]

    def _env(self) -> commands.Environment:
        if self._environment is None:
            self._environment = commands.Environment(self.event, self.session, self.trust, self.caller)
        return self._environment

    def _say_completed(self, run: Run) -> None:
        self._say(
            f"[SYNC] Completed hook '{run.hook.name}' in {run.duration_ms:.0f}ms: "
            f"success={not run.failed}, decision={run.decision.action}"
        )
        reason = run.decision.reason or run.why
        if reason:
            from ..basics.display_text import with_stderr

            self._say(f"Reason: {with_stderr(reason, run.stderr) if run.failed else reason}")
        if run.decision.log:
            self._say(f"Log: {run.decision.log}")

    def _say(self, line: str) -> None:
        if self.debug is not None:
            try:
                self.debug(f"[HOOK DEBUG] {line}")
            except Exception:  # noqa: BLE001  # a failing debug function must not change the verdict
                self.debug = None


def _replaces_output(run: Run) -> bool:
    return run.decision.modified_output is not None and run.decision.ignored is None


def _not_started(run: Run, why: str | None) -> Run:
    return run._replace(background=False, failure=Failure.CANNOT_START, why=why)


def _closed_if_managed(hook: Hook) -> Hook:
    """Return a hook that has got no time or no process: a managed one blocks, since users could have it happen."""
    return hook._replace(fail_closed=True) if hook.layer == "managed" else hook


def _deduplicated(hooks: Sequence[Hook]) -> Sequence[Hook | None]:
    """Return the hooks with None for repeated commands of the array format; the first gets the longest timeout."""
    if len({hook.command for hook in hooks}) == len(hooks):
        return hooks
    unique: list[Hook | None] = []
    first: dict[tuple[str, str], int] = {}
    for hook in hooks:
        key = (hook.format, hook.command or "")
        number = first.get(key) if hook.in_parallel else None
        if number is None:
            if hook.in_parallel:
                first[key] = len(unique)
            unique.append(hook)
            continue
        other = unique[number]
        assert other is not None
        unique[number] = other._replace(
            timeout=max(other.timeout, hook.timeout), fail_closed=other.fail_closed or hook.fail_closed
        )
        unique.append(None)
    return unique
