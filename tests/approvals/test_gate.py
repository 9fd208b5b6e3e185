"""PROTOCOL 7 without an agent: the gate before a tool call, with the real engine, real hook processes, and people.

The docstring of a test is the sentence, or the part of it, that the test shows.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from support import alive, array_hook, folder_hook, user_hooks, write_config
from tenterhook import Engine, Event
from tenterhook.approvals import single_use
from tenterhook.approvals.gate import Gate, Permit
from tenterhook.approvals.requests import Answer, Call, Request
from tenterhook.approvals.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from pathlib import Path

YES = Answer(True, "terminal")
FOR_THE_SESSION = Answer(True, "terminal", "session")
NO = Answer(False, "page", reason="not now")
LONG = 60  # seconds: longer than any test may take
SLOW = f"echo $$ > slow; sleep {LONG}"


class Person:
    """A surface whose person gives one answer after another, and waits when there are none left."""

    def __init__(self, *answers: Answer | None, first: Callable[[], Awaitable[object]] | None = None) -> None:
        self.answers = list(answers)
        self.first = first  # what they wait for
        self.asked: list[Request] = []
        self.withdrawn: list[Request] = []

    async def ask(self, request: Request) -> Answer | None:
        self.asked.append(request)
        try:
            if self.first is not None:
                await self.first()
            if self.answers:
                return self.answers.pop(0)
            await asyncio.sleep(LONG)
        except asyncio.CancelledError:
            self.withdrawn.append(request)
            raise
        return None

    @property
    def commands(self) -> list[str]:
        return [request.call.tool_input["command"] for request in self.asked]


class Broken:
    """A surface that cannot even ask."""

    async def ask(self, request: Request) -> Answer | None:
        raise OSError("the terminal is gone")


def said(decision: str, **more: Any) -> str:
    """The command of a hook that answers a question."""
    return f"echo '{json.dumps({'hookSpecificOutput': {'permissionDecision': decision, **more}})}'"


def engine_of(project: Path, *hooks: str) -> Engine:
    """An engine with these `[[hooks]]`."""
    return Engine.load(configs=[write_config(project / "hooks.toml", "\n".join(hooks))] if hooks else ())


def asking(command: str, **keys: Any) -> str:
    """A hook that is asked for its permission."""
    return array_hook(command, "PermissionRequest", **keys)


def shell(project: Path, command: str = "ls", **more: Any) -> Call:
    return Call("Shell", {"command": command}, str(project), "session_1", **more)


def run(work: Coroutine[Any, Any, Permit]) -> Permit:
    """Never a hang: whatever a test has the gate do ends by itself."""
    return asyncio.run(asyncio.wait_for(work, LONG / 2))


def permit(gate: Gate, call: Call) -> Permit:
    return run(gate.permit(call))


async def eventually(condition: Callable[[], Any]) -> Any:
    """Wait for something that another process does."""
    async with asyncio.timeout(20):
        while not (value := condition()):
            await asyncio.sleep(0.01)
    return value


def process(file: Path) -> int:
    """The process that has written its number down, once it has."""
    text = file.read_text() if file.exists() else ""
    return int(text) if text.endswith("\n") else 0


def results(engine: Engine) -> list[Event]:
    """What `permission-result` observers are told, as it comes."""
    told: list[Event] = []
    engine.on("permission-result")(told.append)
    return told


# ------------------------------------------------------------------ before anybody is asked


def test_pre_tool_call_deny_refuses_and_nobody_is_asked(project: Path) -> None:
    """`pre-tool-call` runs first: deny refuses"""
    engine, person = engine_of(project, array_hook("echo not here >&2; exit 2")), Person(YES)
    told = results(engine)
    permitted = permit(Gate(engine.adecide, surfaces=[person]), shell(project))
    assert (permitted.allowed, permitted.by, permitted.reason) == (False, "hook", "not here")
    assert not permitted.ends_turn
    assert person.asked == []
    assert told == []


def test_pre_tool_call_approve_skips_the_question(project: Path) -> None:
    """approve skips the question"""
    engine, person = engine_of(project, array_hook(said("approve")), asking("touch asked")), Person(NO)
    permitted = permit(Gate(engine.adecide, surfaces=[person]), shell(project))
    assert (permitted.allowed, permitted.by) == (True, "hook")
    assert person.asked == []
    assert not (project / "asked").exists()


def test_allow_is_no_objection_and_the_person_is_asked(project: Path) -> None:
    """Only `permissionDecision: allow`/`approve` is approve (6); otherwise the agent's mode and rules decide"""
    engine, person = engine_of(project, array_hook('echo \'{"decision": "allow"}\'')), Person(NO)
    permitted = permit(Gate(engine.adecide, surfaces=[person]), shell(project))
    assert (permitted.allowed, permitted.by, permitted.reason) == (False, "page", "not now")


@pytest.mark.parametrize("script", ["exit 1", "kill -9 $$", "echo '{nonsense'", "sleep 60"])
def test_a_failed_pre_tool_call_hook_is_no_consent(project: Path, script: str) -> None:
    """Never an implicit approval"""
    engine, person = engine_of(project, array_hook(script, timeout=1)), Person(NO)
    assert not permit(Gate(engine.adecide, surfaces=[person]), shell(project)).allowed
    assert person.commands == ["ls"]


@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize("consent", ["rule", "session", "mode"])
def test_ask_is_satisfied_by_nothing_but_an_answer(project: Path, consent: str) -> None:
    """Where a hook asks, no rule, earlier approval or mode answers for the person, but for their rule about a guard."""
    asks = f"test -e forced && {said('ask', permissionDecisionReason='are you sure?')}; exit 0"
    engine, person = engine_of(project, array_hook(asks)), Person()
    gate = Gate(
        engine.adecide,
        mode="yolo" if consent == "mode" else "ask",
        rules=[Rule("approve", command="ls")] if consent == "rule" else [],
        surfaces=[person],
    )
    person.answers = [FOR_THE_SESSION] if consent == "session" else []
    assert permit(gate, shell(project)).allowed
    assert permit(gate, shell(project)).by == consent
    before = len(person.asked)
    (project / "forced").touch()
    person.answers = [NO]
    permitted = permit(gate, shell(project))
    assert (permitted.allowed, permitted.by) == (False, "page")
    assert [request.why for request in person.asked[before:]] == ["are you sure?"]
    gate.surfaces = []
    assert permit(gate, shell(project)).by == "nobody"


def test_a_session_approval_of_a_forced_question_does_not_answer_the_next(project: Path) -> None:
    """An ask forces it: … session approvals … do not answer it."""
    engine, person = engine_of(project, array_hook(said("ask"))), Person(FOR_THE_SESSION, NO)
    gate = Gate(engine.adecide, surfaces=[person])
    assert permit(gate, shell(project)).allowed
    assert not permit(gate, shell(project)).allowed
    assert person.commands == ["ls", "ls"]


@pytest.mark.parametrize(
    ("mode", "asked_about"),
    [("ask", ["Shell", "Bash", "WriteFile", "Edit", "Task"]), ("auto", ["Shell", "Bash"]), ("yolo", [])],
)
def test_otherwise_the_mode_decides(project: Path, mode: str, asked_about: list[str]) -> None:
    """otherwise the agent's mode and rules decide"""
    gate = Gate(engine_of(project).adecide, mode=mode)
    names = ("Shell", "Bash", "ReadFile", "Glob", "Grep", "WriteFile", "Edit", "Task", "SomethingElse")
    permits = {name: permit(gate, Call(name, {"x": 1}, str(project))) for name in names}
    assert [name for name in names if not permits[name].allowed] == asked_about
    assert {permits[name].by for name in asked_about} <= {"nobody"}


@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize("mode", ["ask", "yolo"])
def test_approve_never_overrides_a_deny_rule(project: Path, mode: str) -> None:
    """A hook's approval never overrides a deny rule."""
    engine, person = engine_of(project, array_hook(said("approve")), asking(said("approve"))), Person(YES)
    rules = [Rule("approve"), Rule("deny", tool="^Shell$", pattern="^ls", reason="the rule says no")]
    gate = Gate(engine.adecide, mode=mode, rules=rules, surfaces=[person])
    permitted = permit(gate, shell(project))
    assert (permitted.allowed, permitted.by, permitted.reason) == (False, "rule", "the rule says no")
    assert person.asked == []
    assert permit(gate, shell(project, "pwd")).allowed


def test_a_session_approval_never_overrides_a_deny_rule(project: Path) -> None:
    """Approve never overrides a deny rule."""
    gate = Gate(engine_of(project).adecide, surfaces=[Person(FOR_THE_SESSION)])
    assert permit(gate, shell(project)).allowed
    gate.rules.append(Rule("deny", command="ls"))
    assert permit(gate, shell(project)).by == "rule"


def test_a_rule_may_ask_where_the_mode_does_not(project: Path) -> None:
    """otherwise the agent's mode and rules decide"""
    person = Person(NO)
    rules = [Rule("ask", pattern="^git push", reason="look at it first")]
    gate = Gate(engine_of(project).adecide, mode="yolo", rules=rules, surfaces=[person])
    assert permit(gate, shell(project, "git status")).by == "mode"
    assert not permit(gate, shell(project, "git push")).allowed
    assert [request.why for request in person.asked] == ["look at it first"]


def test_rules_and_people_judge_the_input_that_will_run(project: Path) -> None:
    """An approval is bound to the exact tool and input; a changed input is a new question."""
    changed = array_hook('echo \'{"modified_input": {"command": "rm -rf x"}}\'')
    engine, person = engine_of(project, changed, asking("cat > sent")), Person(YES)
    gate = Gate(engine.adecide, rules=[Rule("approve", command="ls")], surfaces=[person])
    permitted = permit(gate, shell(project))
    assert permitted.call.tool_input == {"command": "rm -rf x"}
    assert person.commands == ["rm -rf x"]
    assert json.loads((project / "sent").read_text())["tool_input"] == {"command": "rm -rf x"}
    gate.rules.append(Rule("deny", pattern="rm"))
    assert permit(gate, shell(project)).by == "rule"


# ------------------------------------------------------------------ the question, put to hooks


def test_permission_request_says_what_is_asked(project: Path) -> None:
    """`permission-request`, with `permission_request_id` (also as `id`), `tool_name`, `tool_input`, `tool_call_id`,
    `action` and `display` (the real command or path, and the directory)."""
    array_hook_is_done = project / "done"

    async def hook_is_done() -> None:
        while not array_hook_is_done.exists():
            await asyncio.sleep(0.01)

    engine = engine_of(project, asking("cat > array; touch done"))
    person = Person(NO, first=hook_is_done)  # who would answer a slow hook's question before it has read the event
    sent: list[Event] = []
    engine.on("permission-request")(sent.append)
    permit(
        Gate(engine.adecide, surfaces=[person]), shell(project, "rm x", tool_use_id="call_7", more={"agent_id": "a"})
    )
    (event,) = sent
    array = json.loads((project / "array").read_text())
    for got in (event.fields | {"tool_name": event.tool_name, "tool_input": event.tool_input}, array):
        assert got["permission_request_id"] == got["id"] == person.asked[0].id != ""
        assert (got["tool_name"], got["tool_input"], got["tool_call_id"]) == ("Shell", {"command": "rm x"}, "call_7")
        assert got["action"] == "run command"
        assert got["display"]["command"] == "rm x"
        assert str(project) in got["display"].values()
    assert event.fields["agent_id"] == "a"


@pytest.mark.parametrize("answer", [said("approve"), said("allow"), 'echo \'{"decision": "allow"}\''])
def test_hooks_answer_in_either_vocabulary(project: Path, answer: str) -> None:
    """Hooks answer with `permissionDecision` (or `decision`; here both approve) and `scope`, `once` (default) …"""
    engine = engine_of(project, asking(answer))
    told = results(engine)
    permitted = permit(Gate(engine.adecide), shell(project))
    assert (permitted.allowed, permitted.by) == (True, "hook")
    assert [event.fields["scope"] for event in told] == ["once"]


def test_any_deny_wins_at_once_although_others_approve_or_are_slow(project: Path) -> None:
    """Any deny wins, at once"""
    engine = engine_of(
        project,
        asking(said("approve", scope="session")),
        asking(f"{SLOW}; {said('approve')}", timeout=2 * LONG),
        asking("while ! test -s slow; do sleep 0.02; done; echo never >&2; exit 2"),
    )
    person = Person()
    permitted = permit(Gate(engine.adecide, surfaces=[person]), shell(project))
    assert (permitted.allowed, permitted.by, permitted.reason) == (False, "hook", "never")
    assert not alive(process(project / "slow"))
    assert person.withdrawn == person.asked


def test_an_approval_counts_only_when_all_have_ended(project: Path) -> None:
    """An approval counts only when all hooks have ended …"""
    engine = engine_of(project, asking(said("approve")), asking("sleep 0.6; touch ended"))
    permitted = permit(Gate(engine.adecide), shell(project))
    assert (permitted.allowed, permitted.by) == (True, "hook")
    assert (project / "ended").exists()


@pytest.mark.parametrize(
    "trouble", ["exit 1", "kill -9 $$", "sleep 60", "/no/such/program", "echo '{nonsense'", said("perhaps"), "if; fi"]
)
@pytest.mark.parametrize("has_surface", [True, False])
def test_an_approval_beside_trouble_is_none(project: Path, trouble: str, has_surface: bool) -> None:
    """… and none failed. No answer, timeout, crash, unreadable answer: **the person is asked**. … If nobody can be
    asked (headless), the call is refused, with the reason."""
    engine, person = engine_of(project, asking(said("approve")), asking(trouble, timeout=1)), Person(YES)
    told = results(engine)
    gate = Gate(engine.adecide, surfaces=[person] if has_surface else [])
    permitted = permit(gate, shell(project))
    assert (permitted.allowed, permitted.by) == ((True, "terminal") if has_surface else (False, "nobody"))
    assert len(person.asked) == has_surface
    if not has_surface:
        assert permitted.reason
        assert permitted.reason.startswith("There is nobody to ask: run command needs an approval. To allow ")
    assert [event.fields["answered_by"] for event in told] == ["terminal" if has_surface else "nobody"]


def test_without_a_person_to_ask_the_refusal_names_an_id_that_allows_the_call_once(project: Path) -> None:
    """A refusal because nobody could be asked ends with `tenterhook allow ID`."""
    told: list[tuple[str, str]] = []
    gate = Gate(
        engine_of(project).adecide,
        told=lambda request, answer, _: told.append((request.id, answer.by if answer else "")),
    )
    refused = permit(gate, shell(project))
    (waiting,) = single_use.waiting()
    assert refused.reason
    assert refused.reason.endswith(f"tenterhook allow {waiting.id}")
    assert single_use.allow(waiting)
    assert not permit(gate, shell(project, "touch other")).allowed
    permitted = permit(gate, shell(project))
    assert (permitted.allowed, permitted.by) == (True, "allow")
    assert told[-1] == (waiting.id, "allow")
    assert not permit(gate, shell(project)).allowed


def test_folder_hooks_answer_one_after_another(home: Path, project: Path) -> None:
    """Any deny wins"""
    folder_hook(user_hooks(home), "approves", said("approve"), "permission-request", priority=200)
    folder_hook(user_hooks(home), "denies", "echo no >&2; exit 2", "permission-request", priority=100)
    permitted = permit(Gate(Engine.load().adecide), shell(project))
    assert (permitted.allowed, permitted.reason) == (False, "no")


def test_a_hook_that_asks_leaves_it_to_the_person(project: Path) -> None:
    """Together deny > ask > approve (6): **the person is asked**"""
    engine, person = engine_of(project, asking(said("approve")), asking(said("ask"))), Person(YES)
    assert permit(Gate(engine.adecide, surfaces=[person]), shell(project)).by == "terminal"
    assert permit(Gate(engine.adecide), shell(project)).by == "nobody"


def test_what_hooks_add_is_for_the_model(project: Path) -> None:
    """`additional_context` is sent (8), of every hook that was asked about a call"""
    before = array_hook('echo \'{"additional_context": "before"}\'')
    asked = asking('echo \'{"decision": "allow", "additional_context": "asked"}\'')
    permitted = permit(Gate(engine_of(project, before, asked).adecide), shell(project))
    assert permitted.allowed
    assert permitted.context == ("before", "asked")


# ------------------------------------------------------------------ the question, put to people


def test_a_quick_answer_of_a_hook_spares_the_person(project: Path) -> None:
    """the terminal's question opens after at most 300 ms: the hooks are asked first"""
    engine, person = engine_of(project), Person(NO)
    engine.on("permission-request")(lambda event: {"decision": "allow"})
    assert permit(Gate(engine.adecide, surfaces=[person]), shell(project)).by == "hook"
    assert person.asked == []


def test_the_person_is_asked_while_hooks_still_run_and_their_answer_ends_them(project: Path) -> None:
    """the terminal's question opens after at most 300 ms and need not wait for the hooks; a person's answer ends
    them"""
    grandchild = f"sleep {LONG} & echo $! > child; {SLOW}; {said('deny')}"
    engine = engine_of(project, asking(grandchild, timeout=2 * LONG))
    told = results(engine)
    processes: list[int] = []

    async def seen() -> None:
        await eventually(lambda: process(project / "slow"))
        processes.extend(process(project / name) for name in ("child", "slow"))
        assert all(map(alive, processes))

    person = Person(YES, first=seen)
    begun = time.monotonic()
    permitted = permit(Gate(engine.adecide, surfaces=[person]), shell(project))
    assert time.monotonic() - begun < LONG / 2
    assert (permitted.allowed, permitted.by) == (True, "terminal")
    assert len(processes) == 2
    assert not any(map(alive, processes))
    assert [event.fields["answered_by"] for event in told] == ["terminal"]


def test_a_persons_answer_does_not_wait_for_a_function(project: Path) -> None:
    """a person's answer ends them … never a hang"""
    engine, over = engine_of(project), threading.Event()

    @engine.on("permission-request")
    def slow(event: Event) -> dict[str, Any]:
        over.wait(LONG)
        return {"decision": "deny"}

    try:
        assert permit(Gate(engine.adecide, surfaces=[Person(YES)]), shell(project)).by == "terminal"
    finally:
        over.set()


@pytest.mark.parametrize(("decision", "allowed"), [("approve", True), ("deny", False)])
def test_a_hooks_answer_withdraws_the_persons_question(project: Path, decision: str, allowed: bool) -> None:
    """The first valid answer wins wherever it comes from (hook, rule, terminal, page, API); the other surfaces
    withdraw."""
    engine, person = (
        engine_of(project, asking(f"until test -e opened; do sleep 0.02; done; {said(decision)}")),
        Person(),
    )

    async def opened() -> None:
        (project / "opened").touch()

    person.first = opened
    permitted = permit(Gate(engine.adecide, surfaces=[person]), shell(project))
    assert (permitted.allowed, permitted.by) == (allowed, "hook")
    assert person.withdrawn == person.asked != []


@pytest.mark.parametrize("answer", [YES, NO])
def test_of_two_surfaces_the_first_answer_wins_and_the_other_withdraws(project: Path, answer: Answer) -> None:
    """The first valid answer wins …; the other surfaces withdraw."""
    terminal, page = Person(), Person(answer)
    permitted = permit(Gate(engine_of(project).adecide, surfaces=[terminal, page]), shell(project))
    assert (permitted.allowed, permitted.by) == (answer.approved, answer.by)
    assert terminal.withdrawn == terminal.asked != []
    assert page.withdrawn == []


def test_of_two_answers_at_once_the_no_counts(project: Path) -> None:
    """Never an implicit approval"""
    for surfaces in ([Person(YES), Person(NO)], [Person(NO), Person(YES)]):
        assert not permit(Gate(engine_of(project).adecide, surfaces=surfaces), shell(project)).allowed


def test_a_surface_that_fails_or_has_nobody_is_no_answer(project: Path) -> None:
    """There is never an implicit approval and never a hang."""
    engine = engine_of(project)
    told = results(engine)
    assert permit(Gate(engine.adecide, surfaces=[Broken(), Person(None), Person(YES)]), shell(project)).by == "terminal"
    permitted = permit(Gate(engine.adecide, surfaces=[Broken(), Person(None)]), shell(project))
    assert (permitted.allowed, permitted.by) == (False, "nobody")
    assert permitted.reason
    assert permitted.reason.startswith("Nobody answered: run command needs an approval. To allow ")
    assert [event.fields["decision"] for event in told] == ["approved", "rejected"]


def test_a_surface_that_fails_does_not_silence_the_hooks(project: Path) -> None:
    """The first valid answer wins"""
    engine = engine_of(project, asking(f"sleep 0.6; {said('approve')}"))
    assert permit(Gate(engine.adecide, surfaces=[Broken()]), shell(project)).by == "hook"


def test_a_persons_no_ends_the_turn_only_if_it_says_so(project: Path) -> None:
    """`tool_rejected` (8) is a plain no; one with feedback is not"""
    plain = Answer(False, "terminal", reason="no", ends_turn=True)
    gate = Gate(engine_of(project).adecide, surfaces=[Person(plain, NO)])
    assert permit(gate, shell(project)).ends_turn
    assert not permit(gate, shell(project)).ends_turn


def test_two_calls_at_once_are_two_questions(project: Path) -> None:
    """An approval is bound to the exact tool and input"""
    engine, person = engine_of(project), Person(NO)

    async def answered() -> None:
        await eventually(lambda: len(person.asked) == 2)

    async def both() -> list[Permit]:
        person.first = answered
        person.answers = [YES, NO]
        gate = Gate(engine.adecide, surfaces=[person])
        return list(await asyncio.gather(gate.permit(shell(project, "one")), gate.permit(shell(project, "two"))))

    permits = asyncio.run(asyncio.wait_for(both(), LONG / 2))
    assert sorted(permitted.allowed for permitted in permits) == [False, True]
    assert sorted(person.commands) == ["one", "two"]
    assert len({request.id for request in person.asked}) == 2


@pytest.mark.parametrize("forced", [False, True])
def test_a_question_that_waited_is_settled_by_an_approval_for_the_session(project: Path, forced: bool) -> None:
    """`session` covers … the exact command and directory, of a call that was made before it too; not if a hook asks"""
    engine, person = engine_of(project, *([array_hook(said("ask"))] if forced else [])), Person(FOR_THE_SESSION, NO)
    gate = Gate(engine.adecide, surfaces=[person])
    permit(gate, shell(project))
    assert person.asked[0].settled is None if forced else person.asked[0].settled is not None
    person.answers = [NO]
    permit(gate, shell(project, "other"))
    settled = [request.settled() if request.settled else None for request in person.asked]
    assert settled == [None if forced else Answer(True, "session"), None]


# ------------------------------------------------------------------ what an approval covers


def grants(project: Path, *calls: Call) -> list[bool]:
    """Whether a person was asked about each of these calls, if every answer is yes, for this session."""
    person = Person()
    gate = Gate(engine_of(project).adecide, surfaces=[person])
    asked = []
    for call in calls:
        before = len(person.asked)
        person.answers = [FOR_THE_SESSION]
        assert permit(gate, call).allowed
        asked.append(len(person.asked) > before)
    return asked


def test_for_the_session_shell_covers_the_exact_command_and_directory(project: Path) -> None:
    """An approval for the `session` … covers, for Shell, the exact command and directory; … never the `action`
    label."""
    calls = [shell(project, line) for line in ("rm a", "rm a", "rm a ", "rm  a", "rm b", "rm a; rm b", "rm a")]
    assert grants(project, *calls) == [True, False, True, True, True, True, False]
    assert grants(project, shell(project), shell(project / "sub"), shell(project)) == [True, True, False]
    timed = Call("Shell", {"command": "ls", "timeout": 5}, str(project))
    assert grants(project, shell(project), timed) == [True, False]


def test_for_the_session_file_tools_cover_the_tool_and_the_resolved_path(project: Path) -> None:
    """file tools: tool and resolved path"""
    (project / "sub").mkdir()
    (project / "a").write_text("")
    (project / "link").symlink_to("a")
    (project / "linked").symlink_to("sub", target_is_directory=True)

    def write(path: str, tool: str = "WriteFile", text: str = "x", below: Path = project) -> Call:
        return Call(tool, {"file_path": path, "content": text, "old_string": "y"}, str(below))

    same = [write("a"), write("./a", text="y"), write("sub/../a"), write(str(project / "a")), write("link")]
    assert grants(project, *same) == [True, False, False, False, False]
    assert grants(project, write("a"), write("../a", below=project / "sub")) == [True, False]
    assert grants(project, write("sub/b"), write("linked/b")) == [True, False]
    assert grants(project, write("a"), write("b"), write("sub/a"), write("a", "StrReplaceFile")) == [True] * 4
    (project / "link").unlink()
    (project / "link").symlink_to("sub/c")
    assert grants(project, write("a"), write("link")) == [True, True]


def test_a_link_that_leads_elsewhere_by_now_is_a_new_question(project: Path) -> None:
    """file tools: tool and resolved path"""
    (project / "link").symlink_to("a")
    call = Call("WriteFile", {"file_path": "link", "content": "x"}, str(project))
    gate = Gate(engine_of(project).adecide, surfaces=[Person(FOR_THE_SESSION, NO)])
    assert permit(gate, call).allowed
    assert permit(gate, call).by == "session"
    (project / "link").unlink()
    (project / "link").symlink_to("b")
    assert not permit(gate, call).allowed


def test_for_the_session_other_tools_cover_the_exact_input(project: Path) -> None:
    """others: the exact input"""

    def task(**given: Any) -> Call:
        return Call("Task", given, str(project))

    calls = [task(name="a", prompt="x"), task(prompt="x", name="a"), task(name="a", prompt="y"), task(name="a")]
    assert grants(project, *calls) == [True, False, True, True]


@pytest.mark.parametrize("answer", [YES, Answer(False, "terminal", "session", "no")])
def test_only_a_yes_for_the_session_lasts(project: Path, answer: Answer) -> None:
    """`scope`, `once` (default) or `session`"""
    person = Person(answer, NO)
    gate = Gate(engine_of(project).adecide, surfaces=[person])
    assert permit(gate, shell(project)).allowed == answer.approved
    assert not permit(gate, shell(project)).allowed
    assert len(person.asked) == 2


def test_a_hooks_yes_for_the_session_lasts_as_long_as_the_gate(project: Path) -> None:
    """An approval for the `session` lasts for the life of the process and is not restored on resume."""
    engine = engine_of(project, asking(f"test -e once || {said('approve', scope='session')}; touch once"))
    gate = Gate(engine.adecide)
    assert [permit(gate, shell(project)).by for _ in range(3)] == ["hook", "session", "session"]
    assert permit(Gate(engine.adecide), shell(project)).by == "nobody"


def test_an_approval_for_the_session_is_as_narrow_as_the_narrowest(project: Path) -> None:
    """`scope`, `once` (default) or `session`: what only one of two hooks says does not last"""
    engine = engine_of(project, asking(said("approve", scope="session")), asking(said("approve") + " # once"))
    gate = Gate(engine.adecide)
    assert [permit(gate, shell(project)).by for _ in range(2)] == ["hook", "hook"]


@pytest.mark.promise("a model that tries")
def test_an_input_changed_since_is_a_new_question(project: Path) -> None:
    """An approval is bound to the exact tool and input; a changed input is a new question."""
    changes = 'test -e change && echo \'{"modified_input": {"command": "rm b"}}\'; exit 0'
    person = Person(FOR_THE_SESSION, NO)
    gate = Gate(engine_of(project, array_hook(changes)).adecide, surfaces=[person])
    assert permit(gate, shell(project, "rm a")).allowed
    (project / "change").touch()
    assert not permit(gate, shell(project, "rm a")).allowed
    assert person.commands == ["rm a", "rm b"]


# ------------------------------------------------------------------ how it ended


def test_permission_result_carries_who_decided_what(project: Path) -> None:
    """`permission-result` then carries `decision` (`approved`, `rejected`, `cancelled`), `answered_by`, `scope`,
    `duration_ms`."""
    engine = engine_of(project)
    heard: list[tuple[Request, Answer | None, float]] = []
    told = results(engine)
    person = Person(YES, FOR_THE_SESSION, NO)
    gate = Gate(engine.adecide, surfaces=[person], told=lambda *each: heard.append(each))
    for command in ("a", "b", "c"):
        permit(gate, shell(project, command))
    fields = [event.fields for event in told]
    assert [(each["decision"], each["answered_by"], each["scope"]) for each in fields] == [
        ("approved", "terminal", "once"),
        ("approved", "terminal", "session"),
        ("rejected", "page", "once"),
    ]
    assert [each["id"] for each in fields] == [request.id for request in person.asked]
    assert all(isinstance(each["duration_ms"], int) and each["duration_ms"] >= 0 for each in fields)
    assert [event.tool_input for event in told] == [{"command": "a"}, {"command": "b"}, {"command": "c"}]
    assert [answer for _, answer, _ in heard] == [YES, FOR_THE_SESSION, NO]


def test_an_observer_of_the_result_changes_nothing(project: Path) -> None:
    """`permission-result`: observer (1)"""
    engine = engine_of(project, array_hook("exit 2", "PermissionResult"))
    engine.on("permission-result")(lambda event: {"decision": "deny"})
    assert permit(Gate(engine.adecide, surfaces=[Person(YES)]), shell(project)).allowed


def test_cancelled_the_result_says_so_and_nothing_is_left(project: Path) -> None:
    """`permission-result` then carries `decision` (… `cancelled`); the other surfaces withdraw"""
    engine = engine_of(project, asking(SLOW, timeout=2 * LONG))
    told, person, answers = results(engine), Person(), []

    async def cancelled() -> None:
        gate = Gate(engine.adecide, surfaces=[person], told=lambda request, answer, took: answers.append(answer))
        others = asyncio.all_tasks()
        asking = asyncio.create_task(gate.permit(shell(project)))
        await eventually(lambda: person.asked and process(project / "slow"))
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert asyncio.all_tasks() == others

    asyncio.run(asyncio.wait_for(cancelled(), LONG / 2))
    assert [event.fields["decision"] for event in told] == ["cancelled"]
    assert answers == [None]
    assert person.withdrawn == person.asked
    assert not alive(process(project / "slow"))


def test_nothing_that_was_cancelled_is_granted(project: Path) -> None:
    """Never an implicit approval"""
    engine, person = engine_of(project), Person()
    gate = Gate(engine.adecide, surfaces=[person])

    async def cancelled() -> None:
        asking = asyncio.create_task(gate.permit(shell(project)))
        await eventually(lambda: person.asked)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    asyncio.run(asyncio.wait_for(cancelled(), LONG / 2))
    person.answers = [NO]
    assert not permit(gate, shell(project)).allowed
    assert len(person.asked) == 2
