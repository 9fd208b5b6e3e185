"""How often hooks may send an agent back: three times, or once; each family for itself; anew in each turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenterhook import Action, Decision, Event, Hook, Run, Verdict
from tenterhook.engine import decisions, stop_limit, verdicts
from tenterhook.engine.sessions import Session
from tenterhook.engine.stop_limit import StopLimit
from tenterhook.formats import agent_answers
from tenterhook.model import STOP_LIMIT_REACHED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

STOP = "pre-agent-turn-stop"
FOLDER = Hook("folder", STOP, STOP, "folder")
TABLE = Hook("table", STOP, "before_stop", "table")
ARRAY = Hook("array", STOP, "Stop", "array")
CLAUDE = Hook("claude", STOP, "Stop", "claude")
OTHER = Hook("other", "pre-tool-call", "pre-tool-call", "folder")


def stop(active: bool) -> Event:
    return Event(STOP, session_id="s", stop_hook_active=active)


def verdict(limit: StopLimit, hooks: Sequence[Hook], blocking: Sequence[Hook]) -> Verdict:
    """What the engine says if some of the hooks block, each with its name as the reason."""
    event = limit.with_flag(stop(False), hooks)
    ended = [Run(hook, exit_code=2 if hook in blocking else 0, stderr=hook.name) for hook in hooks]
    runs = [decisions.judge(agent_answers.read(run) if run.hook is CLAUDE else run, event) for run in ended]
    return verdicts.merge(event, runs)


def turn(session: Session, hooks: Sequence[Hook], stops: int = 8) -> list[tuple[list[str], bool | None, bool]]:
    """A turn in which every hook always blocks: for each stop who was asked, what they were told, was it blocked."""
    seen = []
    for number in range(stops):
        event = stop(number > 0)
        limit = stop_limit.load(session, event)
        asked = limit.hooks_to_ask(hooks)
        sent = limit.with_flag(event, hooks)
        given = verdict(limit, asked, asked)
        stop_limit.save(session, event, limit.after(hooks, given)[0])
        seen.append(([hook.name for hook in asked], sent.fields.get("stop_hook_active"), given.denied))
        if not given.denied:
            break
    return seen


@pytest.fixture
def session(home: Path) -> Session:
    session = Session("s")
    session.open()
    return session


@pytest.mark.parametrize("hook", [FOLDER, TABLE])
def test_a_folder_or_table_hook_blocks_three_times_and_is_then_not_asked(session: Session, hook: Hook) -> None:
    assert turn(session, [hook]) == [
        ([hook.name], False, True),
        ([hook.name], True, True),
        ([hook.name], True, True),
        ([], True, False),
    ]


@pytest.mark.parametrize("hook", [ARRAY, CLAUDE])
def test_an_array_hook_blocks_once_is_asked_again_and_ignored(session: Session, hook: Hook) -> None:
    assert turn(session, [hook]) == [([hook.name], False, True), ([hook.name], True, False)]


def test_a_turn_begins_anew(session: Session) -> None:
    first = turn(session, [FOLDER])
    assert turn(session, [FOLDER]) == first


def test_of_a_stop_that_does_not_say_so_the_stored_count_says_that_the_turn_goes_on(session: Session) -> None:
    stop_limit.save(session, stop(False), StopLimit({"folder": 2, "array": 0}))
    assert stop_limit.load(session, stop(False), is_told=False).counts == {"folder": 2, "array": 0}
    assert stop_limit.load(session, stop(False)) == StopLimit()
    stop_limit.save(session, stop(False), StopLimit())
    assert stop_limit.load(session, stop(False), is_told=False) == StopLimit()


def test_two_of_one_family_have_no_more_than_one(session: Session) -> None:
    assert [blocked for _, _, blocked in turn(session, [FOLDER, TABLE])] == [True, True, True, False]


def test_families_count_for_themselves(session: Session) -> None:
    """After a folder hook's block an array hook still has its one."""
    both = [FOLDER, ARRAY]
    limit, _ = stop_limit.load(session, stop(False)).after(both, verdict(StopLimit(), both, [FOLDER]))
    assert limit.counts == {"folder": 1, "array": 0}
    stop_limit.save(session, stop(False), limit)
    limit = stop_limit.load(session, stop(True))
    given = verdict(limit, both, [ARRAY])
    assert given.denied
    limit, _ = limit.after(both, given)
    assert limit.counts == {"folder": 1, "array": 1}
    given = verdict(limit, both, [ARRAY])
    assert not given.denied
    assert limit.after(both, given)[0].counts == limit.counts
    assert verdict(limit, both, [FOLDER]).denied


@pytest.mark.parametrize("late", [ARRAY, CLAUDE])
def test_beside_another_block_a_late_one_is_ignored_and_gives_no_reason(late: Hook) -> None:
    limit = StopLimit({"folder": 0, "array": 1})
    given = verdict(limit, [late, FOLDER], [late, FOLDER])
    assert (given.denied, given.reason) == (True, "folder")
    assert [run.decision.ignored for run in given.runs] == [STOP_LIMIT_REACHED, None]
    assert limit.after([late, FOLDER], given) == (StopLimit({"folder": 1, "array": 1}), [])


def test_hooks_on_other_events_are_left_alone() -> None:
    limit = StopLimit({"folder": 3, "array": 1})
    assert limit.hooks_to_ask([FOLDER, OTHER, ARRAY, TABLE, CLAUDE]) == [OTHER, ARRAY, CLAUDE]


def test_a_block_that_does_not_count_is_not_counted() -> None:
    ignored = Decision(Action.DENY, "go on", ignored="observers change nothing")
    seen = Verdict(STOP, runs=(Run(ARRAY, decision=ignored), Run(FOLDER, decision=Decision(Action.ASK, "why"))))
    limit = StopLimit({"folder": 0, "array": 0})
    assert limit.after([ARRAY, FOLDER], seen) == (limit, [])


@pytest.mark.parametrize("hook", [ARRAY, CLAUDE])
def test_what_a_late_hook_says_beside_its_block_is_kept(hook: Hook) -> None:
    denial = Decision(Action.DENY, "go on", additional_context="known", message="told", ignored=STOP_LIMIT_REACHED)
    given = verdicts.merge(stop(True), [Run(hook, decision=denial)])
    assert (given.decision, given.reason) == (Action.NONE, None)
    assert (given.messages, given.additional_context) == (("told",), ("known",))


def test_a_stop_that_cannot_be_prevented_shows_blocks_as_ignored_and_keeps_what_else_was_said() -> None:
    blocked = verdict(StopLimit(), [FOLDER], [FOLDER])._replace(messages=("told",), additional_context=("known",))
    given = stop_limit.overrule(blocked, "no step left")
    assert (given.decision, given.reason) == (Action.NONE, None)
    assert (given.messages, given.additional_context) == (("told",), ("known",))
    assert [(run.decision.action, run.decision.ignored) for run in given.runs] == [(Action.DENY, "no step left")]


@pytest.mark.parametrize("kept", ["", "{", "[]", '{":folder": "x"}', '{":folder": null}', '{"other": 9}', "\x00"])
def test_counts_that_were_spoiled_begin_anew(session: Session, home: Path, kept: str) -> None:
    stop_limit.save(session, stop(False), StopLimit({"folder": 1, "array": 0}))
    (file,) = (home / ".local" / "state" / "tenterhook" / "sessions").glob("*/stops.json")
    file.write_text(kept)
    assert stop_limit.load(session, stop(True)).counts == {"folder": 0, "array": 0}


def test_counts_last_for_other_processes_of_the_session(session: Session) -> None:
    stop_limit.save(session, stop(False), StopLimit({"folder": 2, "array": 1}))
    assert stop_limit.load(Session("s"), stop(True)).counts == {"folder": 2, "array": 1}
    assert stop_limit.load(Session("another"), stop(True)).counts == {"folder": 0, "array": 0}
    assert stop_limit.load(Session("s"), stop(False)).counts == {"folder": 0, "array": 0}


def test_each_subagent_counts_for_itself(session: Session) -> None:
    for name in ("one", "two"):
        event = Event("post-subagent", agent_id=name, stop_hook_active=True)
        assert stop_limit.load(session, event).counts == {"folder": 0, "array": 0}
        stop_limit.save(session, event, StopLimit({"folder": 3, "array": 0}))
        assert stop_limit.load(session, event).counts == {"folder": 3, "array": 0}
    assert stop_limit.load(session, stop(True)).counts == {"folder": 0, "array": 0}


REACHED = "tenterhook: stop-hook limit reached ({} per turn); letting the agent stop"


def lines_of_a_turn(hooks: Sequence[Hook], stops: Sequence[Sequence[Hook]]) -> list[list[str]]:
    """What the agent says at each stop of a turn, given who would block at it."""
    limit = StopLimit()
    said = []
    for blocking in stops:
        asked = limit.hooks_to_ask(hooks)
        limit, messages = limit.after(hooks, verdict(limit, asked, [hook for hook in asked if hook in blocking]))
        said.append(messages)
    return said


def test_a_limit_is_named_only_when_it_lets_the_agent_stop_against_a_block() -> None:
    once, thrice = REACHED.format(1), REACHED.format(3)
    assert lines_of_a_turn([ARRAY], [[ARRAY], [ARRAY]]) == [[], [once]]
    assert lines_of_a_turn([ARRAY], [[ARRAY], []]) == [[], []]  # content by then
    assert lines_of_a_turn([FOLDER], [[FOLDER]] * 4) == [[], [], [], [thrice]]
    assert lines_of_a_turn([FOLDER], [[FOLDER], [FOLDER], []]) == [[], [], []]


def test_a_limit_of_one_family_is_not_named_while_another_keeps_the_agent_going() -> None:
    both = [[FOLDER, ARRAY]] * 4
    assert lines_of_a_turn([FOLDER, ARRAY], both) == [[], [], [], [REACHED.format(3), REACHED.format(1)]]


def test_a_limit_is_named_once_per_turn() -> None:
    """Turns that notifications begin go on counting."""
    assert lines_of_a_turn([ARRAY], [[ARRAY]] * 4) == [[], [REACHED.format(1)], [], []]


def test_a_shadow_hooks_block_is_no_reason_to_name_a_limit() -> None:
    shadow = ARRAY._replace(metadata={"mode": "shadow"})
    ignored = Decision(Action.DENY, "go on", ignored="shadow")
    limit = StopLimit({"folder": 0, "array": 1})
    assert limit.after([shadow], Verdict(STOP, runs=(Run(shadow, decision=ignored),))) == (limit, [])


def test_hooks_of_another_event_are_no_reason_to_name_a_limit() -> None:
    subagent = Hook("subagent", "post-subagent", "post-subagent", "folder")
    limit = StopLimit({"folder": 3, "array": 0})
    assert limit.after([subagent, OTHER], Verdict(STOP))[1] == []


def test_that_a_limit_was_named_lasts_for_other_processes_and_ends_with_the_turn(session: Session) -> None:
    stop_limit.save(session, stop(True), StopLimit({"folder": 0, "array": 1}, ("array",)))
    assert stop_limit.load(Session("s"), stop(True)).announced == ("array",)
    stop_limit.save(session, stop(False), stop_limit.load(session, stop(False)))
    assert stop_limit.load(session, stop(True)).announced == ()


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(blocks=st.lists(st.sets(st.sampled_from(["folder", "table", "array", "claude"])), min_size=1, max_size=12))
def test_a_turn_always_ends(blocks: list[set[str]]) -> None:
    """Whichever hooks block, there are at most four continuations."""
    hooks = [FOLDER, TABLE, ARRAY, CLAUDE]
    limit = StopLimit({"folder": 0, "array": 0})
    continued = 0
    for blocking in blocks:
        asked = limit.hooks_to_ask(hooks)
        given = verdict(limit, asked, [hook for hook in asked if hook.name in blocking])
        limit, _ = limit.after(hooks, given)
        continued += given.denied
    assert continued <= 4
