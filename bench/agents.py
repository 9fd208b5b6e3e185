"""python -m bench.agents: the cost of one guarded tool call in each real agent.

A scripted model makes the agent run harmless shell commands. From the end of the response that contains a call to the
arrival of the next request is the time of the agent, the guard and the command. Sessions with each guard are open at
the same time and make their calls in turn.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from tenterhook.agents import AGENTS
from tenterhook.agents.codex import Codex
from tenterhook.agents.protocol import AUTO_APPROVE, DONE, Agent
from tenterhook.basics.model_script import Turn
from tenterhook.doctor.live import trial
from tenterhook.formats.toml_writing import array_table
from tenterhook.install import entries, plugin_editor, yaml_editor
from tenterhook.journal.statistics import percentile

from . import homes, tables
from .comparing import p95
from .dispatching import GUARD, SHELL_GUARD
from .laps import Laps
from .real_agents import NotHere, RealAgent, real_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
_COMMAND = "python -m bench.agents --write"
_LONGEST = 600  # seconds for the sessions of a round
_RESAMPLES = 1000
_LIMIT = 20.0  # milliseconds over the native guard in sh, at the 95th percentile

_PYTHON_GUARD = """\
#!/usr/bin/env python3
import json
import sys

if "forbidden" in json.dumps(json.load(sys.stdin)):
    print("the guard says no", file=sys.stderr)
    sys.exit(2)
"""
_NODE_GUARD = """\
#!/usr/bin/env node
const event = JSON.parse(require("fs").readFileSync(0, "utf8"));
if (JSON.stringify(event).includes("forbidden")) {
    console.error("the guard says no");
    process.exit(2);
}
"""
NOTHING, NATIVE, OURS, WITH_DAEMON = "no guard", "native, sh", "Tenterhook, sh", "Tenterhook, sh, daemon"
GUARDS = {NATIVE: SHELL_GUARD, "native, Python": _PYTHON_GUARD, "native, Node": _NODE_GUARD}


class _WarmUp(NamedTuple):
    """The calls of a session that are not measured, and how long the model pauses after them."""

    calls: int = 1
    pause: float = 0.0  # seconds


# These parse shell commands in WebAssembly. After some of them V8 begins to optimise the parser, in a thread that
# takes seconds and up to 1.8 GB, and meanwhile every process that such an agent starts takes up to ten times as long.
_COMPILING = _WarmUp(calls=8, pause=20.0)  # enough for six sessions on two cores
_WARM_UPS = {"gemini": _COMPILING, "qwen": _COMPILING}


class Unmeasured(Exception):
    """A session failed."""


class _TrustingCodex(Codex):
    """Codex with the option that makes it run hooks without a review, such as ours; it skips them otherwise."""

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        command = super().command(executable, prompt, project, mode, resume=resume)
        return [*command[:-1], "--dangerously-bypass-hook-trust", command[-1]]


def _native_settings(agent: Agent, event: str, script: str) -> bytes:
    """Return settings with one entry that is not ours. The TOML editor adds only entries that it could remove."""
    if agent.toml:
        line = f"{script} || exit 2"  # as if it failed closed: Vibe marks such an entry as strict, and only then blocks
        return array_table(("hooks",), agent.entry(event, line, agent.seconds(event))).encode()
    return entries.added(agent, b"", {event: script}, frozenset()).text


class Contender:
    """One agent with one guard, or with none, in a home that lasts for all its sessions."""

    def __init__(self, agent: RealAgent, directory: Path, guard: str) -> None:
        self._agent = agent
        self._live: Agent = _TrustingCodex() if agent.name == Codex.name else AGENTS[agent.name]
        self._warm_up = _WARM_UPS.get(agent.name, _WarmUp())
        self._guard = guard
        self._home = directory / "home"
        self._project = directory / "project"
        (self._project / ".git").mkdir(parents=True)
        self._home.mkdir()
        if guard in (OURS, WITH_DAEMON):
            self._install()
        elif guard != NOTHING:
            self._write_natively(homes.write_script(directory / "guard", GUARDS[guard]))

    def _install(self) -> None:
        homes.write_folder(self._home, "guard", GUARD, SHELL_GUARD)
        self._tenterhook("install", self._agent.name)

    @contextmanager
    def daemon(self) -> Iterator[None]:
        """Start the daemon, which answers instead of a process for each call."""
        self._tenterhook("install", self._agent.name, "--daemon")
        try:
            yield
        finally:
            self._tenterhook("daemon", "stop")

    def _tenterhook(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "tenterhook", *arguments]
        environment = homes.clean_environment(self._home)
        done = subprocess.run(command, cwd=self._project, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unmeasured(f"tenterhook {arguments[0]}: {done.stderr.strip() or done.stdout.strip()}")

    def _write_natively(self, script: Path) -> None:
        """Write the guard into the agent's own settings, or into our plug-in, in the form that `install` would use."""
        agent = AGENTS[self._agent.name]
        event = next(native for native, ours in agent.events.items() if ours == "pre-tool-call")
        file = self._home / agent.directory / agent.file
        file.parent.mkdir(parents=True)
        if agent.plugin is None:
            file.write_bytes(_native_settings(agent, event, str(script)))
        for path, content in entries.plugin_files(agent, str(file), {event: str(script)}).items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(plugin_editor.written(*content))
        if (enabled := agent.enabled_in) is not None:
            listing = yaml_editor.with_item(b"", enabled.keys, enabled.item).text
            (self._home / agent.directory / enabled.file).write_bytes(listing)

    def session(self, calls: int, laps: Laps) -> list[float]:
        """Run a session; return the milliseconds of each call after the warm-up."""
        try:
            return self._session(calls, partial(laps.wait, self._guard))
        finally:
            laps.give_up()  # if it is not over already

    def _session(self, calls: int, turn: Callable[[], None]) -> list[float]:
        forbidden = self._project / "forbidden"
        forbidden.unlink(missing_ok=True)
        # every call is a different one: an agent takes repeated calls for a loop
        commands = [*(f"true {number}" for number in range(self._warm_up.calls + calls)), f"touch {forbidden}"]
        script = [Turn(calls=(self._live.shell_call(command),)) for command in commands]
        warming, measured = script[: self._warm_up.calls], script[self._warm_up.calls :]
        measured = [each._replace(before=turn) for each in measured]
        measured[0] = measured[0]._replace(delay=self._warm_up.pause)
        script = [*warming, *measured, Turn(text=DONE)]
        came = trial.run(
            self._live,
            self._agent.executable,
            home=self._home,
            project=self._project,
            script=script,
            mode=AUTO_APPROVE,
            timeout=_LONGEST,
            extra_env=self._agent.environment,
        )
        asked = [request for request in came.requests if request.turn is not None]
        said = (came.stderr or came.stdout).strip()[-300:]
        if came.timed_out or len(asked) != len(script):
            raise Unmeasured(f"{len(asked)} of {len(script)} requests came, exit {came.exit_code}: {said}")
        if forbidden.exists() is not (self._guard == NOTHING):  # a figure counts only if the guard is in force
            raise Unmeasured(f"{self._guard}: the forbidden call {'ran' if forbidden.exists() else 'did not run'}")
        took = [(later.at - earlier.answered) * 1000 for earlier, later in pairwise(asked)]
        return took[self._warm_up.calls : -1]


class Cost(NamedTuple):
    """The duration of a call with one guard, in milliseconds, and the difference to the native guard in sh."""

    guard: str
    p50: float
    p95: float
    over_p50: float
    over_p95: float
    spread: tuple[float, float]  # the 90 % confidence interval of `over_p95`

    @property
    def mark(self) -> str:
        if self.guard not in (OURS, WITH_DAEMON):
            return ""
        return "pass" if self.over_p95 <= _LIMIT else "miss"


class Measured(NamedTuple):
    """The result of one agent, or the reason why there is none."""

    agent: str
    version: str
    costs: tuple[Cost, ...] = ()
    skipped: str | None = None


def measure(agent: RealAgent, calls: int, rounds: int) -> Measured:
    """Measure all contenders side by side, several times; the first sessions, which set up homes, do not count."""
    with TemporaryDirectory(prefix="tenterhook-bench-") as directory:
        try:
            contenders = {
                guard: Contender(agent, Path(directory).resolve() / str(number), guard)
                for number, guard in enumerate((NOTHING, *GUARDS, OURS, WITH_DAEMON))
            }
            with contenders[WITH_DAEMON].daemon():
                chance = Random(0)
                _side_by_side(contenders, 2, chance)
                found = [_side_by_side(contenders, calls, chance) for _ in range(rounds)]
        except Unmeasured as reason:
            return Measured(agent.name, agent.version, skipped=str(reason))
    calls_of = {guard: list(chain.from_iterable(each[guard] for each in found)) for guard in contenders}
    return Measured(agent.name, agent.version, costs(calls_of))


def _side_by_side(contenders: Mapping[str, Contender], calls: int, chance: Random) -> dict[str, list[float]]:
    """Run a session with each guard; return the durations of their calls, lap by lap."""
    laps = Laps(tuple(contenders), calls, chance)
    with ThreadPoolExecutor(len(contenders)) as pool:
        sessions = {guard: pool.submit(each.session, calls, laps) for guard, each in contenders.items()}
        try:
            return {guard: session.result() for guard, session in sessions.items()}
        except BaseException:  # Ctrl-C, or one failed: release the others, which the pool waits for
            laps.give_up()
            raise


def costs(found: Mapping[str, Sequence[float]]) -> tuple[Cost, ...]:
    """Return the cost of each guard, from the durations of all calls, in the same order for each."""
    middle, high = ({guard: of(took) for guard, took in found.items()} for of in (median, p95))
    return tuple(
        Cost(
            *(guard, middle[guard], high[guard], middle[guard] - middle[NATIVE], high[guard] - high[NATIVE]),
            spread=_spread(took, found[NATIVE]),
        )
        for guard, took in found.items()
    )


def _spread(took: Sequence[float], native: Sequence[float]) -> tuple[float, float]:
    """Return the 90 % bootstrap confidence interval of the difference of the 95th percentiles."""
    chance = Random(0)
    drawn = []
    for _ in range(_RESAMPLES):
        laps = chance.choices(range(len(took)), k=len(took))
        drawn.append(p95([took[lap] for lap in laps]) - p95([native[lap] for lap in laps]))
    drawn.sort()
    return percentile(drawn, 0.05), percentile(drawn, 0.95)


def table(measured: Sequence[Measured], before: Iterable[tuple[str, ...]] = ()) -> str:
    """Return the table; agents that were not measured keep their rows from `before`."""
    headings = ("agent", "guard", "p50", "p95", "over native sh, p50", "p95", "within", "target", "")
    rows: dict[str, list[tuple[str, ...]]] = {}
    name = ""
    for row in before:
        name = row[0].partition(" ")[0] or name
        rows.setdefault(name, []).append(row)
    rows |= {one.agent: _rows(one) for one in measured if one.costs}
    return tables.lined_up([headings, *(row for name in AGENTS for row in rows.get(name, ()))], range(2, 8))


def _rows(one: Measured) -> list[tuple[str, ...]]:
    return [
        (
            f"{one.agent} {one.version}" if not number else "",
            cost.guard,
            f"{cost.p50:.1f} ms",
            f"{cost.p95:.1f} ms",
            "" if cost.guard == NATIVE else f"{cost.over_p50:+.1f} ms",
            "" if cost.guard == NATIVE else f"{cost.over_p95:+.1f} ms",
            "" if cost.guard == NATIVE else "{:+.0f} … {:+.0f}".format(*cost.spread),
            f"≤ {_LIMIT:g} ms" if cost.mark else "",
            cost.mark,
        )
        for number, cost in enumerate(one.costs)
    ]


def main() -> int:
    options = _options()
    measured: list[Measured] = []
    for name in options.agents or [name for name in AGENTS if AGENTS[name].proven]:
        try:
            one = measure(real_agent(name), options.calls, options.rounds)
        except NotHere as reason:
            one = Measured(name, "", skipped=str(reason))
        measured.append(one)
        print(f"{name}: {'skipped' if one.skipped else 'done'}", file=sys.stderr, flush=True)
    reasons = [f"Skipped: {one.agent}: {one.skipped}" for one in measured if one.skipped]
    effort = f"{options.rounds} sessions of {options.calls} calls each"
    before = tables.cells(_PAGE, _COMMAND) if options.write and options.agents else ()
    text = "\n\n".join((table(measured, before), *reasons, f"{tables.machine()}; {effort}"))
    if options.write:
        tables.put(_PAGE, _COMMAND, text)
    print(json.dumps(as_json(measured), indent=1) if options.json else f"\n{text}")
    return 0


def as_json(measured: Sequence[Measured]) -> list[dict[str, object]]:
    return [{**one._asdict(), "costs": [cost._asdict() for cost in one.costs]} for one in measured]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.agents", description="Measure what one guarded tool call costs in real agents."
    )
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=f"all, or these: {', '.join(AGENTS)}")
    parser.add_argument("--calls", type=int, default=30, help="calls measured in a session (default: 30)")
    parser.add_argument("--rounds", type=int, default=6, help="sessions with each guard (default: 6)")
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    unknown = sorted(set(options.agents) - set(AGENTS))
    if unknown:
        parser.error(f"no such agent: {', '.join(unknown)}; there are {', '.join(AGENTS)}")
    if options.calls < 2 or options.rounds < 2:
        parser.error("at least two calls and two rounds")
    return options


if __name__ == "__main__":
    sys.exit(main())
