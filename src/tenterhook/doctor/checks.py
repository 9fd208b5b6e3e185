"""Checks of an agent's settings and of the hooks: what would keep a guard from blocking, without starting the agent."""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__
from ..agents.protocol import UNPROVEN
from ..agents.settings_files import read_json
from ..approvals import configured
from ..authoring import folders, released_hooks
from ..basics import install_record, light_json, places
from ..basics.named_tuples import StrEnum
from ..catalog.trust import State
from ..errors import ERROR, HookError
from ..install import entries as own_entries
from ..install import event_wiring, interpreters, launcher, managed, plugin_editor, records, trust_tables, yaml_editor
from ..journal import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..agents.protocol import Agent, EnabledList, TrustTable
    from ..catalog.catalog import Catalog

_A_WEEK = 7 * 86400
_TIMEOUT = 30  # seconds


def guarded(agent: Agent, root: str | None = None) -> dict[str, Any] | None:
    """Return the record of an installation if our entries are still in the agent's settings, else None."""
    record = records.read(records.file(agent, root))
    return record if record is not None and _entries(agent, root) else None


def agent_findings(
    agent: Agent, catalog: Catalog, project: str | None = None, *, quickly: bool = False
) -> list[Finding]:
    """Return the findings about one agent. `project` is the root of an installation for that project only.

    `quickly`: without recent failures.
    """
    settings = agent.settings(project)
    remedy = f"tenterhook install {agent.name}" + (" --project" if project else "")
    try:
        entries = _entries(agent, project)
    except HookError as error:
        return [bad(f"{settings}: {error.message}", error.remedy)]
    if not entries:
        return [bad(f"not guarded: no entries of ours in {settings}", remedy)]
    try:
        record = install_record.read(records.file(agent, project))
    except install_record.RecordError as error:
        return [bad(f"{settings} has our entries, but no event is answered: {error}", remedy)]
    found = [ok(f"installed in {settings}")]
    if record["version"] != __version__:
        found.append(note(f"installed by version {record['version']}; this is {__version__}", remedy))
    if not agent.proven:
        found.append(note(f"by documentation, not proven: {UNPROVEN}", "try a call that one of your guards refuses"))
    found += _wired(agent, record, entries, catalog, remedy)
    found += _lines(agent, record, entries, project, remedy)
    found += _plugin(agent, entries, settings, remedy)
    if agent.enabled_in is not None:
        found += _enabled(agent, agent.enabled_in, remedy)
    if agent.trust_table is not None:
        found += _trusted(agent, agent.trust_table, settings, remedy)
    found += [bad(what, how) for what, how in agent.switches(settings, catalog.root)]
    found += _configs(record, catalog)
    found += _answers(agent, record, project)
    if not quickly:
        found += _environment(agent, record, catalog.root)
        found += _recent(agent)
    return found


def managed_findings(agent: Agent, record: dict[str, Any]) -> list[Finding]:
    """Return the findings about an agent's managed installation, which only root can change."""
    remedy = f"sudo tenterhook install --managed {agent.name}"
    if found := [bad(what, remedy) for what in managed.problems(record)]:
        return found
    events = ", ".join(record["events"])
    settings = [ok(f"managed: {record['settings']} belongs to root and applies to every account ({events})")]
    if record["version"] != __version__:
        settings.append(note(f"installed by version {record['version']}; this is {__version__}", remedy))
    if record.get("moved_by") and record["moved_by"] in os.environ:
        what = f"{record['moved_by']} is set: {agent.title} reads another file instead"
        settings.append(bad(what, f"unset {record['moved_by']}"))
    with managed.machine():
        command = ["/bin/sh", launcher.path(), agent.name, next(iter(record["events"])), "check-alone"]
    return [*settings, *_asked([command], remedy)]


def untried_guards(agent: Agent, catalog: Catalog, record: Mapping[str, Any]) -> list[Finding]:
    """Return a note about the user's own guards on tool calls, which a live run does not test."""
    names = [
        hook.name for hook in event_wiring.in_force_in(record, catalog.in_force()) if hook.event == "pre-tool-call"
    ]
    if not names:
        return []
    what = f"only a canary was tried; before a tool call {agent.title} also runs: {', '.join(names)}"
    return [note(what, "test each with its cases: tenterhook test")]


def _configs(record: dict[str, Any], catalog: Catalog) -> Iterator[Finding]:
    """Check whether the `--config` files of this agent can still be used."""
    named = {os.path.realpath(config) for config in record["configs"]}
    for config in catalog.refused_configs:
        if os.path.realpath(config) in named:
            why = next((each.message for each in catalog.problems if each.file == config), "it cannot be used")
            remedy = f"fix it, or stop using it: tenterhook install {record['host']} --no-config"
            yield bad(f"hooks of {config} do not run: {why}", remedy)
    count = sum(hook.layer == "config" and not hook.missing for hook in event_wiring.in_force_in(record, catalog.hooks))
    if count:
        yield ok(f"{count} more from {', '.join(record['configs'])}")


def _entries(agent: Agent, project: str | None) -> dict[str, list[dict[str, Any]]]:
    try:
        with open(agent.settings(project), "rb") as file:
            return own_entries.found(agent, file.read())
    except OSError:
        return {}


def _wired(
    agent: Agent, record: dict[str, Any], entries: dict[str, Any], catalog: Catalog, remedy: str
) -> Iterator[Finding]:
    hooks = event_wiring.in_force_in(record, catalog.hooks)
    needed = event_wiring.needed(agent, hooks)
    for native, ours in needed.items():
        others = "your rules, the hub" if ours in (*configured.EVENTS, *configured.AFTER) else "the session's state"
        names = ", ".join(hook.name for hook in hooks if hook.event in agent.meanings(native)) or others
        if native not in entries:
            yield bad(f"{native} is not wired: {names}", remedy)
        elif native not in record["events"]:
            yield bad(f"{native} is wired, but not recorded: {names}", remedy)
    wired = [native for native in needed if native in entries]
    if wired:
        yield ok(f"wired: {', '.join(wired)}")
    for hook in event_wiring.without_event(agent, hooks):
        yield note(f"{agent.title} has no event for '{hook.name}' ({hook.declared}): it never runs there")
    if event_wiring.must_close(event_wiring.in_force_in(record, catalog.in_force())) and not record["closed"]:
        yield bad("a guard is fail-closed, but calls pass if Tenterhook cannot answer", remedy)


def _lines(
    agent: Agent, record: dict[str, Any], entries: dict[str, Any], project: str | None, remedy: str
) -> Iterator[Finding]:
    """Check whether each entry is the one that we would write now."""
    for native, groups in entries.items():
        if native not in agent.events:
            yield note(f"an entry of ours for {native}, an unknown event", remedy)
            continue
        choice = {"closed": record["closed"], "everywhere": record.get("everywhere", False)}
        line = own_entries.line(agent, native, records.installation(agent, project), **choice)
        if len(groups) > 1:
            yield note(f"{native} has {len(groups)} entries of ours", remedy)
        if any(own_entries.command_of(group) != line for group in groups):
            if "launcher" not in record:
                yield note(f"the entry for {native} is of an older version; a session's start renews it", remedy)
            else:
                yield bad(f"the command for {native} was changed: it may not run Tenterhook", remedy)
        elif any(group != agent.entry(native, line, agent.seconds(native)) for group in groups):
            yield bad(f"the entry for {native} was changed: a matcher or a timeout may keep it from running", remedy)


def _plugin(agent: Agent, entries: dict[str, Any], settings: str, remedy: str) -> Iterator[Finding]:
    """Check whether a plug-in of ours, and the files beside it, are what we would write now."""
    if agent.plugin is None:
        return
    lines = {event: own_entries.command_of(groups[0]) for event, groups in entries.items()}
    for file, content in own_entries.plugin_files(agent, settings, lines).items():
        try:
            with open(file, "rb") as stream:
                is_current = stream.read() == plugin_editor.written(*content)
        except OSError:
            is_current = False
        if not is_current:
            yield bad(f"{file} is not the plug-in of this version, or was changed", remedy)


def _enabled(agent: Agent, enabled: EnabledList, remedy: str) -> Iterator[Finding]:
    """Check whether our plug-in is among those that the agent loads."""
    file, keys = os.path.join(agent.home(), enabled.file), ".".join(enabled.keys)
    try:
        with open(file, "rb") as stream:
            is_enabled = enabled.item in yaml_editor.items_at(stream.read(), enabled.keys)
    except OSError:
        is_enabled = False
    except HookError as error:
        yield bad(f"{file}: {error.message}", error.remedy)
        return
    if not is_enabled:
        yield bad(f"{agent.title} does not load our plug-in: {enabled.item} is not in `{keys}` of {file}", remedy)


def _answers(agent: Agent, record: dict[str, Any], project: str | None) -> Iterator[Finding]:
    """Check whether the launcher can answer, and how long that takes."""
    remedy = f"tenterhook doctor {agent.name} --fix"
    installation = records.installation(agent, project)
    if "launcher" in record:
        start = ["/bin/sh", launcher.path(), installation, next(iter(record["events"]))]
        commands = [[*start, "check-alone"]]
        if os.path.exists(os.path.join(places.state(), "daemon.sock")):
            commands.append([*start, "check"])  # through the daemon, which may stop at any time
    else:  # of version 0.1
        old = [record["python"], "-I", "-S", record["bridge"], "--host", agent.name, "--check", "yes"]
        commands = [[*old, "--record", records.file(agent, project)]]
    launcher.forget_fallback()
    yield from _asked(commands, remedy)
    if instead := launcher.fallback():
        yield note(f"Tenterhook is no longer where it was installed; {instead} answers instead", remedy)


def _asked(commands: Sequence[Sequence[str]], remedy: str) -> Iterator[Finding]:
    """Run launchers, and report whether each answers."""
    for command in commands:
        begun = time.monotonic()
        try:
            asked = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            yield bad(f"the launcher does not start: {error}", remedy)
            return
        took = (time.monotonic() - begun) * 1000
        if asked.returncode:
            said = asked.stderr.strip().splitlines()
            yield bad(f"the launcher fails: {said[-1] if said else f'status {asked.returncode}'}", remedy)
            return
    yield ok(f"the launcher answers ({took:.0f} ms once everything is loaded)")


def _trusted(agent: Agent, trust: TrustTable, settings: str, remedy: str) -> Iterator[Finding]:
    config = os.path.join(agent.home(), trust.file)
    try:
        with open(settings, "rb") as file:
            wanted = trust_tables.wanted(agent, settings, file.read())
        with open(config, "rb") as file:
            given = trust_tables.given(trust, file.read())
    except OSError as error:
        yield bad(f"{agent.title} trusts none of our entries: cannot read {error.filename}", remedy)
        return
    missing = [key for key, digest in wanted.items() if given.get(key) != digest]
    if missing:
        what = f"{agent.title} silently skips {len(missing)} of our entries: {config} does not trust their current text"
        yield bad(what, remedy)
    else:
        yield ok(f"{agent.title} trusts our entries")


def _recent(agent: Agent) -> Iterator[Finding]:
    """Report failures of the last week, as logged by the launcher and the bridge."""
    since = time.time() - _A_WEEK
    failures = [line.split() for line in _tail(own_entries.log())]
    absent = [
        words
        for words in failures
        if len(words) == 4 and words[1] == agent.name and words[2] != "wiring" and _number(words[0]) > since
    ]
    for words in failures:
        if words[1:3] == [agent.name, "wiring"] and _number(words[0]) > since:
            yield note(f"an event could not be wired: {' '.join(words[3:])}", f"tenterhook install {agent.name}")
            break
    if absent:
        when = _moment(_number(absent[-1][0]))
        what = f"the bridge did not answer {_times(len(absent))} in a week, last at {when} ({absent[-1][2]})"
        yield note(what, f"if this is still broken: tenterhook install {agent.name}")
    lost: dict[str, int] = {}
    failed: dict[str, list[str]] = {}  # the reason of each failure
    early: dict[str, Any] = {}  # the last session that began before an event of its hooks was wired
    for line in _tail(os.path.join(places.state(), "dispatch.jsonl")):
        try:
            record = light_json.loads(line)
            if record["host"] != agent.name or record["time"] < since:
                continue
            for each in record["lost"]:
                lost[each] = lost.get(each, 0) + 1
            for each in record["failed"]:
                failed.setdefault(each["hook"], []).append(str(each["why"]))
            early = record if record.get("unwired") else early
        except (ValueError, KeyError, TypeError):
            continue
    if early and not agent.reloads_hooks:
        what = (
            f"hooks of {', '.join(early['unwired'])} do not run in the session that began at {_moment(early['time'])}"
        )
        yield note(f"{what}: they were wired after that", f"restart {agent.title} if it is still running")
    for what, count in lost.items():
        yield note(f"{_times(count)} in a week, {agent.title} could not be sent: {what}")
    for hook, whys in failed.items():
        what = f"'{hook}' failed {_times(len(whys))} in a week, last: {whys[-1]}"
        yield note(what, f"see: tenterhook log --hook {hook}")


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _tail(file: str) -> list[str]:
    try:
        with open(file, "rb") as stream:
            stream.seek(max(0, os.path.getsize(file) - 256 * 1024))
            return stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _number(text: str) -> float:
    return float(text) if text.isdigit() else 0.0


_WILL_FAIL = ("missing-program",)  # warnings for an author; here the hook does not run


def hook_findings(catalog: Catalog) -> list[Finding]:
    """Return the findings about the hooks, independent of agents."""
    from ..catalog import lints

    found: list[Finding] = []
    problems = [*catalog.problems, *(problem for hook in catalog.hooks for problem in lints.lint(hook))]
    for problem in problems:
        place = problem.file + (f":{problem.line}" if problem.line else "")
        fails = problem.severity == ERROR or problem.code in _WILL_FAIL
        level = Level.BAD if fails else Level.NOTE
        found.append(Finding(level, f"{place}: {problem.message}", problem.remedy))
    found += [bad(str(lost), lost.remedy) for lost in folders.interrupted()]
    if old := released_hooks.problems(released_hooks.outdated_hooks(catalog)):
        names = ", ".join(os.path.basename(each.file) for each in old)
        found.append(note(f"written by an earlier version: {names}", "tenterhook update"))
    for hook in catalog.hooks:
        standing = catalog.trust.standing(hook)
        if standing.state is State.CHANGED:
            found.append(bad(f"'{hook.name}' does not run: {standing.why}", standing.remedy))
        elif standing.state is State.UNTRUSTED:
            found.append(note(f"'{hook.name}' does not run: {standing.why}", standing.remedy))
    for each in catalog.disabled():
        found.append(note(f"'{each.hook.name}' does not run: {each.why}", f"tenterhook enable {each.hook.name}"))
    running = sum(catalog.trust.standing(hook).runs for hook in catalog.hooks if not hook.missing)
    if running:
        found.insert(0, ok(f"{running} {'hook' if running == 1 else 'hooks'} in force here"))
    else:
        found.insert(0, note("no hook is in force here: nothing would be blocked"))
    why = statistics.why_not_written()
    if why is not None:
        remedy = "verdicts are not affected; free disk space or fix the cause"
        found.append(note(f"nothing is written to the journal: {why}", remedy))
    for (name, _), remark in statistics.remarks(catalog.hooks).items():
        if any(hook.name == name for hook in catalog.in_force()):
            level = Level.BAD if remark.startswith("failing") else Level.NOTE  # a failing guard does not block
            found.append(Finding(level, f"'{name}' is {remark}", f"see: tenterhook log --hook {name}"))
    return found


class Level(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    NOTE = "note"
    BAD = "bad"  # a guard would not block


class Finding(NamedTuple):
    """One result of a check, and the remedy unless it is OK."""

    level: Level
    what: str
    remedy: str = ""

    def as_json(self) -> dict[str, str]:
        return {"level": str(self.level), "what": self.what, "remedy": self.remedy}


def ok(what: str) -> Finding:
    return Finding(Level.OK, what)


def note(what: str, remedy: str = "") -> Finding:
    return Finding(Level.NOTE, what, remedy)


def bad(what: str, remedy: str) -> Finding:
    return Finding(Level.BAD, what, remedy)


# Variables of the loader and the C library affect any shell, the others bash.
_ACTING = re.compile(
    r"LD_.*|DYLD_.*|GCONV_PATH|GLIBC_TUNABLES|LOCPATH|MALLOC_TRACE|BASH_ENV|BASHOPTS|BASH_FUNC_.*|SHELLOPTS"
)
_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*[=:]")


def _environment(agent: Agent, record: Mapping[str, Any], root: str) -> Iterator[Finding]:
    """Check variables that a project or the environment sets, and interpreters that a project could choose."""
    for file, names in _of_project(agent, root):
        for name in (each for each in names if _acts(agent, each)):
            what = f"{file} sets {name}: it affects {agent.title}'s own shell and may keep our entries from running"
            yield bad(what, "remove it, or do not start the agent there")
    known = record.get("steering", {})
    for name, value in os.environ.items():
        if _acts(agent, name) and value != known.get(name):
            what = f"{name} is set here but was not at install: it affects the shell of an agent that inherits it"
            yield note(what, f"unset {name}; if it is your own: tenterhook install {agent.name}")
    path = known.get("PATH", "")
    behind = [each for each in interpreters.path_for_hooks(path).split(":") if each not in path.split(":")]
    if behind:
        what = f"an interpreter of your hooks is a shim, which a project can redirect; behind it: {', '.join(behind)}"
        yield note(what, f"let hooks use the interpreter itself: tenterhook install {agent.name}")

    gone = [file for file in record.get("interpreters", {}).values() if not os.access(file, os.X_OK)]
    if gone:
        what = f"{', '.join(gone)}, which ran hooks, no longer exists; the one on PATH is used"
        yield note(what, f"record the new one: tenterhook install {agent.name}")


def _of_project(agent: Agent, root: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the files of a project that set variables in an agent, each with their names."""
    for file in (os.path.join(root, name) for name in agent.env_settings):
        env = read_json(file).get("env")
        yield file, list(env) if isinstance(env, dict) else []
    for file in (os.path.join(root, name) for name in agent.env_files):
        yield file, _assigned(file)


def _acts(agent: Agent, variable: str) -> bool:
    """Return whether a variable affects the shell that runs our entry."""
    return variable in agent.shell_variables or _ACTING.fullmatch(variable) is not None


def _assigned(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return [found[1] for line in stream if (found := _ASSIGNMENT.match(line))]
    except OSError:
        return []
