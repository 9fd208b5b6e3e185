"""`Engine.decide` turns an event into a verdict. It never waits for people; one hook's failure affects no other."""

from __future__ import annotations

import os
import time
from _thread import allocate_lock

from ..basics.callers import THIS
from ..errors import HookError
from ..events import spec_of, tool_kinds
from ..model import Event, Hook, Run, Verdict
from . import matching, verdicts
from .evaluation import Evaluation
from .sessions import Session, fresh_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..basics.callers import Caller
    from ..catalog.catalog import Catalog
    from ..catalog.live_catalog import LiveCatalog
    from ..errors import Problem
    from ..journal.journal import Journal
    from .process_runner import Cancel

_REMEMBERED_SESSIONS = 64


class Engine:
    """A set of hooks that decides events. Safe to use from several threads."""

    def __init__(
        self,
        hooks: Iterable[Hook] = (),
        *,
        catalog: Catalog | None = None,
        debug: Callable[[str], None] | None = None,
        tell_untrusted: bool = True,
        journal: Journal | None = None,
        followed: LiveCatalog | None = None,
        tools: Mapping[str, str] | None = None,
    ) -> None:
        """Make an engine of `hooks` and those of `followed`, whose changes are in force at the next event.

        `journal` records each verdict before it is returned; its failures never change a verdict. `tools`: see `load`.
        """
        self.tools = tool_kinds(tools or {})
        self.journal = journal
        self._followed = followed
        self.catalog = catalog if followed is None else followed.latest
        self._tells_untrusted = tell_untrusted
        self.session_id = fresh_id()  # for events without one
        self._debug = debug
        self._own_hooks = tuple(hooks)  # those that are not in `followed`
        self._adding = allocate_lock()
        self._arranged = self._arrange(None if followed is None else followed.latest)
        self._sessions: dict[str, Session] = {}
        self._told: set[str] = set()

    @classmethod
    def load(
        cls,
        project: str | os.PathLike[str] = ".",
        configs: Iterable[str | os.PathLike[str]] | str | os.PathLike[str] = (),
        trust_project: bool = False,
        *,
        debug: Callable[[str], None] | None = None,
        journal: bool = True,
        tools: Mapping[str, str] | None = None,
    ) -> Engine:
        """Load the hooks in force for a directory: managed, the user's, the project's, and those of `configs`.

        A project's hooks run only if the user has trusted them, or with `trust_project`. Broken definitions are in
        `problems`, not raised. What is edited, added, removed or trusted later is in force at the next event.
        `tools` says as which known tool matchers, rules and guards treat a custom one: `{"run_shell": "Shell"}`.
        """
        from ..catalog import project_root, trust
        from ..catalog.live_catalog import LiveCatalog
        from ..formats import payloads  # noqa: F401  # imported now: later, no descriptor may be free
        from . import process_runner, start_check  # noqa: F401  # likewise

        if isinstance(configs, (str, os.PathLike)):
            configs = [configs]
        if not os.path.isdir(project):
            raise HookError(f"no such directory: {os.fspath(project)}", "name the directory the agent works in")
        root = project_root.project_root(os.fspath(project))
        named = [os.path.abspath(config) for config in configs]
        followed = LiveCatalog(root, named, trust.project_trust(root, trust_project))
        written = None
        if journal:
            from ..journal.journal import Journal

            written = Journal("library")
        return cls(followed=followed, debug=debug, journal=written, tools=tools)

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """The hooks in force now, in the order in which they run."""
        return self._current_hooks().hooks

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.catalog.problems if self.catalog else ()

    def decide(
        self,
        event: Event,
        *,
        caller: Caller = THIS,
        cancel: Cancel | None = None,
        loop: AbstractEventLoop | None = None,
        deadline: float | None = None,
        settle: Callable[[Verdict], Verdict] | None = None,
    ) -> Verdict:
        """Run the hooks that an event reaches and return the verdict. Blocks until they have ended.

        `caller` is who waits for the verdict. `cancel` ends the hooks from another thread. `loop`, which runs in
        another thread, runs coroutine functions. At the `deadline`, a `time.monotonic` time, all hooks that have not
        ended time out. `settle` may replace the verdict before it is recorded and returned.
        """
        begun = time.monotonic()
        event = event.with_kind(self.tools)
        plan = matching.plan(self._current_hooks(), event)
        if not plan.stages and not plan.background:
            nothing = verdicts.merge(event, (), None, self.problems)
            return settle(nothing) if settle is not None else nothing
        evaluation = self._evaluation(event, caller, cancel, loop, deadline)
        for stage in plan.stages:
            evaluation.run(stage)
        evaluation.run_again(plan)
        evaluation.start_background(plan.background)
        if self._tells_untrusted:
            self._warn_of_untrusted(evaluation.runs)
        verdict = evaluation.verdict(self.problems)
        if settle is not None:
            verdict = settle(verdict)
        if self.journal is not None:
            self.journal.add(evaluation.arrived, verdict, (time.monotonic() - begun) * 1000)
        return verdict

    def asking(self, hooks: Iterable[Hook]) -> Engine:
        """Return an engine with the same catalog, journal and tools, but only these hooks."""
        return Engine(
            hooks,
            catalog=self.catalog,
            debug=self._debug_output(),
            journal=self.journal,
            tell_untrusted=self._tells_untrusted,
            tools=self.tools,
        )

    async def adecide(self, event: Event, *, settle: Callable[[Verdict], Verdict] | None = None) -> Verdict:
        """Like `decide`, without blocking the event loop. If cancelled, end the hooks' process groups, then raise."""
        import asyncio
        import threading

        from .process_runner import Cancel

        loop = asyncio.get_running_loop()
        done: asyncio.Future[Verdict] = loop.create_future()
        cancel = Cancel()

        def work() -> None:
            try:
                verdict = self.decide(event, cancel=cancel, loop=loop, settle=settle)
            except BaseException as error:  # noqa: BLE001  # carried over to the awaiting task
                loop.call_soon_threadsafe(done.set_exception, error)
            else:
                loop.call_soon_threadsafe(done.set_result, verdict)

        threading.Thread(target=work, name="tenterhook", daemon=True).start()
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            cancel.set()
            await _settled(done)
            done.exception()  # retrieved: else asyncio logs it
            raise
        finally:
            if done.done():
                cancel.close()

    def on(
        self,
        event: str,
        *,
        tool: str | None = None,
        pattern: str | None = None,
        timeout: float = 30.0,
        priority: int = 100,
        async_: bool = False,
        name: str | None = None,
    ) -> Callable[[Callable[[Event], Any]], Callable[[Event], Any]]:
        """Return a decorator that makes a function a hook: `@engine.on("pre-tool-call", tool="Shell")`.

        The function gets the Event and may return None, a dict as a script would print it, or a Decision.
        """
        from ..formats.expressions import PYTHON, search

        spec = spec_of(event)
        if not 0 < timeout <= 600 or not 0 <= priority <= 1000:
            raise HookError(f"timeout {timeout} or priority {priority} is out of range", "up to 600 s; 0 to 1000")
        for expression in (tool, pattern):
            if expression is not None:
                search(PYTHON, expression)

        def add(function: Callable[[Event], Any]) -> Callable[[Event], Any]:
            shown = getattr(function, "__qualname__", repr(function))
            hook = Hook(
                name=name or str(getattr(function, "__name__", "function")),
                event=spec.name,
                declared=event,
                format="function",
                source=f"{getattr(function, '__module__', '')}:{shown}",
                function=function,
                tool=tool or None,
                pattern=pattern or None,
                timeout=timeout,
                async_=async_,
                priority=priority,
                description=(getattr(function, "__doc__", None) or "").strip(),
            )
            with self._adding:
                self._own_hooks = (*self._own_hooks, hook)
            return function

        return add

    def say_debug(self, line: str) -> None:
        """Write a debug line, if debugging is on."""
        say = self._debug_output()
        if say is not None:
            say(f"[HOOK DEBUG] {line}")

    def session_variables(self, session_id: str) -> dict[str, str]:
        """Return the variables that pre-session hooks have set, for the environment of the agent's tools."""
        session = self._session(session_id)
        session.open()
        return dict(session.variables())

    def _current_hooks(self) -> matching.OrderedHooks:
        """Return the hooks in force now, reloaded if a definition has changed."""
        latest = None if self._followed is None else self._followed.current()
        known, own, arranged = self._arranged
        if latest is not known or own is not self._own_hooks:
            self._arranged = _, _, arranged = self._arrange(latest)
            self.catalog = latest or self.catalog
        return arranged

    def _arrange(self, found: Catalog | None) -> tuple[Catalog | None, tuple[Hook, ...], matching.OrderedHooks]:
        """Return the ordered hooks and what they were made from, as one value that threads can replace at once."""
        own = self._own_hooks
        return found, own, matching.OrderedHooks((*(found.hooks if found else ()), *own))

    def _debug_output(self) -> Callable[[str], None] | None:
        """Return where debug lines go: the caller's function, stderr if `hooks.toml` asks for them, or None."""
        is_asked = self._followed is not None and self.catalog is not None and self.catalog.debug
        return self._debug or (_print_debug if is_asked else None)

    def _evaluation(
        self,
        event: Event,
        caller: Caller,
        cancel: Cancel | None,
        loop: AbstractEventLoop | None,
        deadline: float | None,
    ) -> Evaluation:
        if not event.session_id:
            event = event.replace(session_id=self.session_id)
        session = self._session(event.session_id)
        problem = session.open()
        debug = self._debug_output()
        if problem and debug:
            debug(f"[HOOK DEBUG] {problem}")
        trust = self.catalog.trust if self.catalog else None
        meanwhile = self.journal.make_ready if self.journal is not None else None
        return Evaluation(
            event,
            session,
            trust,
            caller=caller,
            cancel=cancel,
            loop=loop,
            deadline=deadline,
            debug=debug,
            meanwhile=meanwhile,
        )

    def _session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            if len(self._sessions) >= _REMEMBERED_SESSIONS:
                self._sessions.pop(next(iter(list(self._sessions))), None)
            session = self._sessions[session_id] = Session(session_id)
        return session

    def _warn_of_untrusted(self, runs: Iterable[Run]) -> None:
        """Log a warning about hooks that were not run because they are not trusted, once for each definition."""
        new = [run for run in runs if run.why == "untrusted" and run.hook.source not in self._told]
        if new:
            import logging

            self._told |= {run.hook.source for run in new}
            logging.getLogger("tenterhook").warning("%s", untrusted_line(len(new), untrusted_hints(new)))


def _print_debug(line: str) -> None:
    import sys

    from ..basics.display_text import visible

    print(visible(line), file=sys.stderr)


def untrusted_line(count: int, hints: Iterable[str] = ()) -> str:
    """Return the warning that this many hooks were not run, with the hints."""
    hooks = "1 hook was" if count == 1 else f"{count} hooks were"
    line = f"tenterhook: {hooks} not run: not trusted. Look at them and trust them with: tenterhook trust"
    return "; ".join((line, *dict.fromkeys(hints)))


def untrusted_hints(runs: Iterable[Run]) -> list[str]:
    """Return the hints of hooks that are not trusted: their notes after the first."""
    return [hint for run in runs for hint in run.notes[1:]]


async def _settled(done: Any) -> None:
    """Wait until a future is done, even if the current task is cancelled meanwhile."""
    import asyncio

    while not done.done():
        try:
            await asyncio.wait([done])
        except asyncio.CancelledError:
            continue
