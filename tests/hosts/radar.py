"""The newest release of every agent, against what was recorded of the last one that was proven.

    python tests/hosts/radar.py [AGENT...]            install the newest releases, drive them, write what changed
    python tests/hosts/radar.py [AGENT...] --pinned   the same with the releases that the tests are written against
    python tests/hosts/radar.py [AGENT...] --record   also keep payloads of events, tools and keys that are new
    python tests/hosts/radar.py [AGENT...] --quick    without the tests with real agents

What changed is written to build/agents-latest.md: events, the keys of payloads and their types (tests/hosts/data), what
the agent does with answers (coverage.json), and the tests with real agents that fail. The exit status is 1 if anything
did. The newest releases have a cache folder of their own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if not __package__:
    sys.path[0] = str(Path(__file__).parents[1])  # run as a script: the tests' own modules are found from there
    if "--pinned" not in sys.argv:
        os.environ["LATEST"] = "1"  # read when `agents` is imported

from hosts import agents, coverage, mcp, recorded, shapes
from hosts.coverage import Hung, Runs
from tenterhook.agents import AGENTS, headless
from tenterhook.agents.protocol import AUTO_APPROVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tenterhook.agents.protocol import Agent

    Payloads = dict[str, list[dict[str, Any]]]  # by the agent's name of the event

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "build" / "agents-latest.md"
_RECORDER = """\
file=$(PATH=/usr/bin:/bin mktemp {records}/"$2".XXXXXX)
PATH=/usr/bin:/bin cat >"$file"
exec /bin/sh {launcher} "$@" <"$file"
"""


class Found(NamedTuple):
    """What came of one agent."""

    name: str
    version: str | None = None
    changes: Mapping[str, list[str]] = {}  # by a heading
    skipped: str = ""  # why it was not driven

    @property
    def is_changed(self) -> bool:
        return any(self.changes.values())


class RecordedRuns(Runs):
    """Runs in which every payload is kept as it was sent: the launcher keeps it before it goes on."""

    def __init__(self, name: str, executable: Path, scratch: Path) -> None:
        super().__init__(name, executable, scratch)
        self.records = scratch / "payloads"
        self.records.mkdir()

    def installed(self, place: coverage.Place) -> None:
        launcher = place.home / ".local" / "state" / "tenterhook" / "launcher.sh"
        own = launcher.with_name("launcher-itself.sh")
        launcher.rename(own)
        launcher.write_text(_RECORDER.format(records=self.records, launcher=own))

    def all(self) -> coverage.Cells:
        cells = super().all()
        self.other_tools()
        return cells

    def other_tools(self) -> None:
        """Calls of the tools that the other runs make no calls of."""
        live = mcp.with_server(self.live)
        place = self.place(live)
        calls = live.write_call(str(place.file("written")), "one\n"), mcp.tool_call(live, "echo", text="hi")
        self.run(place, live.script(AUTO_APPROVE, *calls), AUTO_APPROVE)

    def payloads(self) -> Payloads:
        found: Payloads = {}
        for file in sorted(self.records.iterdir()):
            try:
                payload = json.loads(file.read_text())
            except ValueError:
                continue  # the agent was ended while it wrote
            found.setdefault(file.name.rpartition(".")[0], []).append(payload)
        return found


def tried(name: str, *, record: bool) -> Found:
    """Drive one agent, and compare."""
    executable = agents.executable(name)
    version = headless.version(str(executable))
    with tempfile.TemporaryDirectory(prefix="tenterhook-radar-") as scratch:
        runs = RecordedRuns(name, executable, Path(scratch).resolve())
        try:
            cells = runs.all()
        except Hung as error:
            return Found(name, version, {"Runs": [str(error).partition("\n")[0]]})
        seen = runs.payloads()
        if record:
            for file in keep_new(AGENTS[name], recorded_payloads(name), seen, recorded.DATA / name, str(runs.scratch)):
                print(f"recorded: {file.relative_to(ROOT)}", flush=True)
    now = coverage.entry(runs, cells)
    changes = {
        "Events": [*event_changes(coverage.read()[name]["events"], now)],
        "Payloads": [str(each) for each in shapes.differences(recorded_payloads(name), seen)],
        "Answers": [*answer_changes(coverage.read()[name]["events"], now)],
    }
    return Found(name, version, changes)


def recorded_payloads(name: str) -> Payloads:
    found: Payloads = {}
    for file in recorded.recorded(name):
        found.setdefault(recorded.native_name(file), []).append(recorded.sent(file))
    return found


def event_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Which of the agent's own events are new, and which no longer come."""
    names = [{name for cells in side.values() for name in cells["names"]} for side in (before, now)]
    yield from (f"`{name}` no longer comes" for name in sorted(names[0] - names[1]))
    yield from (f"`{name}` is new" for name in sorted(names[1] - names[0]))


def answer_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What the agent does otherwise with the answers of hooks, or whether it asks them."""
    for event, capabilities in before.items():
        for capability, cells in capabilities.items():
            for mode, cell in cells.items() if capability != "names" else ():
                seen = now.get(event, {}).get(capability, {}).get(mode, "nothing was seen")
                if seen != cell:
                    yield f"{event}, {capability}, {mode}: was “{cell}”, is “{seen}”"


def keep_new(agent: Agent, known: Payloads, seen: Payloads, folder: Path, scratch: str) -> Iterator[Path]:
    """Keep the payloads of events and tools that nothing is recorded of, and those with keys that are new."""
    for event, payloads in seen.items():
        for payload in payloads:
            before, tool = known.setdefault(event, []), shapes.tool(payload)
            new = [each.key for each in shapes.differences({event: before}, {event: [payload]}) if each.is_more]
            if tool in map(shapes.tool, before) and not new:
                continue
            before.append(payload)
            what = "mcp" if agent.mcp_names(tool, payload) else new[0] if new else tool
            word = "_".join(re.findall(r"\w+", what))
            file = folder / (f"{event}-{word}.json" if word else f"{event}.json")
            file.write_text(without_paths(json.dumps(payload), scratch) + "\n")
            yield file


def without_paths(text: str, scratch: str) -> str:
    """A payload without the paths of this machine, also as they are part of names of folders."""
    for between in "/-":
        folder = re.sub(r"[^A-Za-z0-9-]", between, scratch) if between == "-" else scratch
        text = re.sub(
            rf"{re.escape(folder)}{between}[a-z-]+-\d+{between}(home|project)", rf"{between}work{between}\1", text
        )
    return text.replace(sys.executable, "/usr/bin/python3").replace(str(ROOT), "/work/tenterhook")


def failing_tests(names: Iterable[str]) -> list[str]:
    """The tests with real agents that fail with these."""
    chosen = " or ".join(f"{name}]" for name in names) + " or " + " or ".join(f"{name}-" for name in names)
    command = [sys.executable, "-m", "pytest", "-m", "agents", "-n", "2", "-q", "-rfE", "tests/hosts", "-k", chosen]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    print(lines[-1] if lines else done.stderr, flush=True)
    failed = [line.partition(" ")[2].partition(" - ")[0] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return failed or ([f"pytest ended with {done.returncode}"] if done.returncode not in (0, 5) else [])


def report(found: list[Found], failing: list[str]) -> str:
    """What changed, as a page."""
    proven = coverage.proven(coverage.read())
    lines = ["# Agents: the newest releases against what was recorded", ""]
    lines += ["| agent | recorded | newest | differences |", "|---|---|---|---|"]
    for each in found:
        count = sum(map(len, each.changes.values()))
        lines.append(
            f"| {each.name} | {proven[each.name]['version']} | {each.version or '–'} | {each.skipped or count} |"
        )
    for each in found:
        if each.is_changed:
            lines += ["", f"## {AGENTS[each.name].title} {each.version}"]
            for heading, changes in each.changes.items():
                lines += ["", f"### {heading}", "", *(f"- {change}" for change in changes)] if changes else []
    if failing:
        lines += ["", "## Tests that fail", "", *(f"- `{each}`" for each in failing)]
    if not failing and not any(each.is_changed for each in found):
        lines += ["", "Nothing has changed."]
    return "\n".join(lines) + "\n"


def main(words: list[str]) -> int:
    names = [word for word in words if not word.startswith("--")]
    if not set(words) - set(names) <= {"--pinned", "--record", "--quick"} or not set(names) <= set(agents.PACKAGES):
        print(__doc__, file=sys.stderr)
        print("AGENT is one of", *agents.PACKAGES, file=sys.stderr)
        return 64
    found: list[Found] = []
    for name in names or agents.PACKAGES:
        try:
            agents.install(name)
        except agents.CannotInstall as error:
            found.append(Found(name, skipped=f"not installed: {error}"))
    wanted = [name for name in names or agents.PACKAGES if name not in {each.name for each in found}]
    os.environ["PATH"] = os.pathsep.join((str(agents.node()), os.environ["PATH"]))
    with ThreadPoolExecutor(2) as pool:
        found += pool.map(lambda name: tried(name, record="--record" in words), wanted)
    failing = failing_tests(wanted) if wanted and "--quick" not in words else []
    text = report(found, failing)
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(text)
    print(text)
    return int(bool(failing) or any(each.is_changed for each in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
