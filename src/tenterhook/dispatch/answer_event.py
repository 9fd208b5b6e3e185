"""Answers one event of an agent: reads it, decides it, writes the verdict in the agent's form."""

from __future__ import annotations

import os
import time

from ..agents import AGENTS
from ..approvals import configured
from ..basics import callers, places
from ..catalog import index
from ..engine.engine import Engine, untrusted_line
from ..engine.sessions import Session, fresh_id
from ..errors import ERROR
from ..errors import BadEvent as BadEvent  # noqa: PLC0414  # exported
from ..events import STOPS
from ..journal.journal import Journal
from ..model import Action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..agents.codec import HookOutput, Received
    from ..agents.protocol import Agent
    from ..basics.callers import Caller
    from ..catalog.catalog import Catalog
    from ..model import Event, Hook, Verdict


def answer(
    native: str,
    payload: dict[str, Any],
    record: dict[str, Any],
    found: index.Index | None,
    deadline: float,
    caller: Caller,
) -> HookOutput:
    """Return the answer to one event. `found` is the current index of the session's root; None for a new session."""
    agent = AGENTS[record["host"]]
    received = _ready(agent.read_event(payload, native), caller)
    unwired: list[str] = []
    is_new = found is None
    if found is None:
        from ..catalog import project_root

        if any(payload.get(key) for key in ("session_id", "sessionId", "parentAgentId", "conversation_id")):
            _mark_agent(caller)
        root = Session(received.event.session_id).fix_root(project_root.project_root(received.event.work_dir))
        if not record.get("managed"):  # the user could have written the index
            found = index.read(root, record["configs"])
    catalog = (
        index.catalog(found, received.event.canonical) if found is not None else index.load(root, record["configs"])
    )
    journal = Journal(record["host"], tells=False)
    if is_new:
        if not caller.is_another:  # not in the daemon itself
            _ensure_services_run()
        # even if the index was current: it may have been written for another agent, with other settings
        unwired = [] if record.get("managed") else _keep_in_step(record, catalog)

    case = (agent, received, catalog, record, deadline, journal, caller)
    if not record.get("managed") and _may_be_asked_twice(received.event):
        from .shared_answers import SharedAnswer

        with SharedAnswer(record, received.event, deadline) as shared:
            verdict = shared.verdict or shared.stored(_verdict(*case))
    else:
        verdict = _verdict(*case)
    if received.event.canonical == "pre-session" or (is_new and "pre-session" not in agent.events.values()):
        verdict = verdict._replace(messages=(*verdict.messages, *_session_messages(catalog, unwired)))
        _export_variables(agent, received.event.session_id, record, caller)
    answered = agent.write_verdict(received, verdict)
    agent.hand_over(received, answered)
    if answered.lost or unwired or any(run.failed or not run.started for run in verdict.runs):
        _log(record["host"], received, verdict, answered, unwired)
    return answered


def _may_be_asked_twice(event: Event) -> bool:
    """Whether another installation may be asked about the same tool call: some agents also read others' hook files."""
    if event.canonical not in (*configured.EVENTS, *configured.AFTER) or not event.fields.get("tool_use_id"):
        return False
    try:
        return sum(name.endswith(".json") for name in os.listdir(f"{places.state()}/installed")) > 1
    except OSError:
        return False


def _verdict(
    agent: Agent,
    received: Received,
    catalog: Catalog,
    record: dict[str, Any],
    deadline: float,
    journal: Journal,
    caller: Caller,
) -> Verdict:
    """Return the verdict of hooks, rules and people."""
    verdict = _decide(agent, received, catalog, deadline, journal, caller)
    if received.event.canonical in configured.EVENTS and (
        verdict.decision is Action.ASK or configured.concerns(received.event.session_id)
    ):
        from . import approvals

        verdict = approvals.apply_policy(
            received.event,
            verdict,
            agent,
            has_question="permission-request" in record["events"].values(),
            deadline=deadline,
            journal=journal,
            caller=caller,
        )
    if received.event.canonical in configured.AFTER and os.path.exists(
        configured.asked_about(received.event.session_id)
    ):
        from . import approvals

        approvals.is_over(received.event, record["host"])
    if configured.is_joined():
        from ..hub_client.uploader_start import ensure_uploader_running

        ensure_uploader_running()
    if received.event.canonical == "pre-session":  # `_session_messages` reports all changed hooks
        return verdict
    return verdict._replace(messages=(*verdict.messages, *_changed(verdict, catalog)))


def refusal(native: str, record: dict[str, Any], why: str) -> HookOutput:
    """Return a block of a tool call that cannot be sent to hooks; for other events, no decision."""
    from ..agents.codec import Received
    from ..model import Event, Verdict

    agent = AGENTS[record["host"]]
    event = Event(agent.events.get(native, "agent-event"))
    action = Action.DENY if event.canonical in ("pre-tool-call", "permission-request") else Action.NONE
    verdict = Verdict(event.canonical, action, why)
    if verdict.denied:
        Journal(record["host"], tells=False).add(event, verdict, 0.0)
    return agent.write_verdict(Received(event, native, {}), verdict)


def _ready(received: Received, caller: Caller) -> Received:
    """Return the event with a session ID and an existing working directory, which the agent may have removed."""
    event = received.event
    work_dir = event.work_dir
    if caller.is_another and work_dir == os.getcwd():  # the daemon's: the event named none
        work_dir = caller.working_directory()
    while not os.path.isdir(work_dir):
        work_dir = os.path.dirname(work_dir)
    if not caller.is_another:
        try:
            os.chdir(work_dir)  # hooks start quicker where we are
        except OSError:  # not permitted; if a hook cannot start there, that is reported
            pass
    if event.session_id and work_dir == event.work_dir:
        return received
    return received._replace(event=event.replace(session_id=event.session_id or fresh_id(), work_dir=work_dir))


def _mark_agent(caller: Caller) -> None:
    """Mark the agent's process, so that commands below it may not weaken the protection."""
    from ..basics import agent_marks, processes

    agent = callers.agent_above(caller.pid)
    try:
        if agent is not None:
            agent_marks.mark(agent)
        elif not os.path.isdir("/proc/self"):  # program names are unknown too: mark each possible agent
            for process in list(processes.ancestors(caller.pid))[1:4]:
                agent_marks.mark(process)
    except OSError:  # not writable: the verdict does not depend on it
        pass


def _ensure_services_run() -> None:
    """Start the daemon and the hub, if they are enabled and not running."""
    if any(os.path.exists(f"{places.state()}/{name}") for name in ("daemon.json", "hub-in-background.json")):
        from . import daemon

        daemon.ensure_running()


def _keep_in_step(record: dict[str, Any], catalog: Catalog) -> list[str]:
    """Add entries for events that have hooks to the agent's settings; return the events that are not in force yet."""
    from ..install import event_wiring

    hooks = catalog.in_force()  # hooks that are trusted later get entries then
    return event_wiring.keep_in_step(record, AGENTS[record["host"]], hooks, closed=event_wiring.must_close(hooks))


def _export_variables(agent: Agent, session_id: str, record: dict[str, Any], caller: Caller) -> None:
    """Pass variables that pre-session hooks have set to the agent's own tools, if the agent supports that."""
    if agent.env_file is None:
        return
    session = Session(session_id)
    session.open()
    try:
        agent_home = record.get("agent_home", os.path.dirname(record["settings"]))
        agent.export_variables(session.variables(), agent_home, caller.environ())
    except OSError:  # the verdict does not depend on it
        pass


def _session_messages(catalog: Catalog, unwired: list[str]) -> list[str]:
    """Return messages for the start of a session, about hooks that are not in force."""
    from ..install import launcher

    projects = [hook for hook in catalog.hooks if hook.needs_trust]
    untrusted = [standing for hook in projects if not (standing := catalog.trust.standing(hook)).runs]
    hints = [standing.hint for standing in untrusted if standing.hint]
    messages = [untrusted_line(len(untrusted), hints)] if untrusted else []
    messages += _broken(catalog)
    messages += [f"tenterhook: {each}" for each in catalog.disabled()]
    if instead := launcher.fallback():
        messages.append(
            f"tenterhook: it is not where it was installed; that of {instead} answers: tenterhook doctor --fix"
        )
    if unwired:
        messages.append(f"tenterhook: {', '.join(unwired)} has hooks and was not wired; it is from the next start on")
    return messages


def _broken(catalog: Catalog) -> list[str]:
    """Return messages about hooks that cannot be used; about those that block their event, with the remedy."""
    errors = [problem for problem in catalog.problems if problem.severity == ERROR]
    others = [problem for problem in errors if not problem.code.startswith("fail-closed-")]
    said = [f"{len(others)} of your hooks cannot be used: tenterhook check, tenterhook doctor"] if others else []
    missing = [hook for hook in catalog.hooks if hook.missing]
    said += [f"{hook.name} {hook.missing}" for hook in missing if catalog.trust.standing(hook).state != "untrusted"]
    said += [f"{each.file}: {each.message}: {each.remedy}" for each in errors if each.code == "fail-closed-unknown"]
    return [f"tenterhook: {each}" for each in said]


def _changed(verdict: Verdict, catalog: Catalog) -> list[str]:
    """Return messages about hooks that did not run because they have changed since they were trusted."""
    kept = [run.hook for run in verdict.runs if not run.started and run.hook.needs_trust]
    standings = [(hook, catalog.trust.standing(hook)) for hook in kept]
    return [
        f"tenterhook: {_whose(hook)} hook {hook.name} did not run: {standing.why}; {standing.remedy}"
        for hook, standing in standings
        if standing.state == "changed"
    ]


def _whose(hook: Hook) -> str:
    return {"project": "the project's", "managed": "the machine's"}.get(hook.layer, "your")


def _decide(
    agent: Agent, received: Received, catalog: Catalog, deadline: float, journal: Journal, caller: Caller
) -> Verdict:
    event = received.event
    if event.canonical not in STOPS:
        engine = Engine(catalog.hooks, catalog=catalog, tell_untrusted=False, journal=journal)
        return engine.decide(event, deadline=deadline, caller=caller, cancel=caller.cancel)
    from ..engine import stop_limit

    session = Session(event.session_id)
    limit = stop_limit.load(session, event, is_told=agent.tells_stops)
    asked = limit.hooks_to_ask(catalog.hooks)
    engine = Engine(asked, catalog=catalog, tell_untrusted=False, journal=journal)
    sent = limit.with_flag(event, asked)
    verdict = engine.decide(sent, deadline=deadline, caller=caller, cancel=caller.cancel)
    limit, messages = limit.after(catalog.hooks, verdict)
    is_over = not verdict.denied and not agent.tells_stops  # the next stop belongs to another turn
    stop_limit.save(session, event, stop_limit.StopLimit() if is_over else limit)
    return verdict._replace(messages=(*verdict.messages, *messages))


def _log(host: str, received: Received, verdict: Verdict, answered: HookOutput, unwired: list[str]) -> None:
    """Log what the answer could not express, and the hooks that failed or did not run, for `doctor`."""
    from ..basics import light_json

    line = light_json.dumps(
        {
            "schema": 1,
            "time": time.time(),
            "host": host,
            "event": received.native,
            "session_id": received.event.session_id,
            "decision": str(verdict.decision),
            "lost": list(answered.lost),
            "failed": [{"hook": run.hook.name, "why": run.why} for run in verdict.runs if run.failed],
            "not_run": [{"hook": run.hook.name, "why": run.why} for run in verdict.runs if not run.started],
            "unwired": unwired,
        }
    )
    try:
        places.append_line(os.path.join(places.state(), "dispatch.jsonl"), line)
    except OSError:  # the verdict does not depend on it
        pass
