"""How often hooks may send an agent back: three times, or once; each family for itself; anew in each turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenterhook import Action, Decision, Event, Hook, Run, Verdict, stopping
from tenterhook.sessions import Session

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


def verdict(hooks: Sequence[Hook], blocking: Sequence[Hook]) -> Verdict:
    """What the engine says if some of the hooks block."""
    denial = Decision(Action.DENY, "go on")
    runs = tuple(Run(hook, decision=denial if hook in blocking else Decision()) for hook in hooks)
    return Verdict(STOP, Action.DENY if blocking else Action.NONE, "go on" if blocking else None, runs=runs)


def turn(session: Session, hooks: Sequence[Hook], stops: int = 8) -> list[tuple[list[str], bool | None, bool]]:
    """A turn in which every hook always blocks: for each stop who was asked, what they were told, was it blocked."""
    seen = []
    for number in range(stops):
        event = stop(number > 0)
        gate = stopping.gate(session, event)
        asked = gate.asked(hooks)
        told = gate.told(event, hooks)
        settled = gate.settle(verdict(asked, asked))
        stopping.keep(session, event, gate.after(settled))
        seen.append(([hook.name for hook in asked], told.fields.get("stop_hook_active"), settled.denied))
        if not settled.denied:
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


def test_two_of_one_family_have_no_more_than_one(session: Session) -> None:
    assert [blocked for _, _, blocked in turn(session, [FOLDER, TABLE])] == [True, True, True, False]


def test_families_count_for_themselves(session: Session) -> None:
    """After a folder hook's block an array hook still has its one."""
    gate = stopping.gate(session, stop(False))
    gate = gate.after(gate.settle(verdict([FOLDER, ARRAY], [FOLDER])))
    assert gate.counts == {"folder": 1, "array": 0}
    stopping.keep(session, stop(False), gate)
    gate = stopping.gate(session, stop(True))
    settled = gate.settle(verdict([FOLDER, ARRAY], [ARRAY]))
    assert settled.denied
    gate = gate.after(settled)
    assert gate.counts == {"folder": 1, "array": 1}
    settled = gate.settle(verdict([FOLDER, ARRAY], [ARRAY]))
    assert not settled.denied
    assert gate.after(settled).counts == gate.counts
    assert gate.settle(verdict([FOLDER, ARRAY], [FOLDER])).denied


def test_an_array_hook_that_has_had_its_say_takes_no_folder_hooks_block_away() -> None:
    gate = stopping.Gate({"folder": 0, "array": 1})
    settled = gate.settle(verdict([FOLDER, ARRAY], [FOLDER, ARRAY]))
    assert settled.denied
    assert gate.after(settled).counts["folder"] == 1


def test_hooks_on_other_events_are_left_alone() -> None:
    gate = stopping.Gate({"folder": 3, "array": 1})
    assert gate.asked([FOLDER, OTHER, ARRAY, TABLE, CLAUDE]) == [OTHER, ARRAY, CLAUDE]


def test_a_block_that_does_not_count_is_not_counted() -> None:
    ignored = Decision(Action.DENY, "go on", ignored="observers change nothing")
    seen = Verdict(STOP, runs=(Run(ARRAY, decision=ignored), Run(FOLDER, decision=Decision(Action.ASK, "why"))))
    gate = stopping.Gate({"folder": 0, "array": 0})
    assert gate.settle(seen) == seen
    assert gate.after(seen).counts == {"folder": 0, "array": 0}


def test_what_a_late_hook_says_beside_its_block_is_kept() -> None:
    late = verdict([ARRAY], [ARRAY])._replace(messages=("told",), additional_context=("known",))
    settled = stopping.Gate({"folder": 0, "array": 1}).settle(late)
    assert (settled.decision, settled.reason) == (Action.NONE, None)
    assert (settled.messages, settled.additional_context) == (("told",), ("known",))
    assert [(run.decision.action, bool(run.decision.ignored)) for run in settled.runs] == [(Action.DENY, True)]


@pytest.mark.parametrize("kept", ["", "{", "[]", '{":folder": "x"}', '{":folder": null}', '{"other": 9}', "\x00"])
def test_counts_that_were_spoiled_begin_anew(session: Session, home: Path, kept: str) -> None:
    stopping.keep(session, stop(False), stopping.Gate({"folder": 1, "array": 0}))
    (file,) = (home / ".local" / "state" / "tenterhook" / "sessions").glob("*/stops.json")
    file.write_text(kept)
    assert stopping.gate(session, stop(True)).counts == {"folder": 0, "array": 0}


def test_counts_last_for_other_processes_of_the_session(session: Session) -> None:
    stopping.keep(session, stop(False), stopping.Gate({"folder": 2, "array": 1}))
    assert stopping.gate(Session("s"), stop(True)).counts == {"folder": 2, "array": 1}
    assert stopping.gate(Session("another"), stop(True)).counts == {"folder": 0, "array": 0}
    assert stopping.gate(Session("s"), stop(False)).counts == {"folder": 0, "array": 0}


def test_each_subagent_counts_for_itself(session: Session) -> None:
    for name in ("one", "two"):
        event = Event("post-subagent", agent_id=name, stop_hook_active=True)
        assert stopping.gate(session, event).counts == {"folder": 0, "array": 0}
        stopping.keep(session, event, stopping.Gate({"folder": 3, "array": 0}))
        assert stopping.gate(session, event).counts == {"folder": 3, "array": 0}
    assert stopping.gate(session, stop(True)).counts == {"folder": 0, "array": 0}


REACHED = "tenterhook: stop-hook limit reached ({} per turn); letting the agent stop"


def lines_of_a_turn(hooks: Sequence[Hook], stops: Sequence[Sequence[Hook]]) -> list[list[str]]:
    """What the agent says at each stop of a turn, given who would block at it."""
    gate = stopping.fresh()
    said = []
    for blocking in stops:
        asked = gate.asked(hooks)
        settled = gate.settle(verdict(asked, [hook for hook in asked if hook in blocking]))
        gate, news = gate.after(settled).announce(hooks, settled)
        said.append(news)
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
    gate = stopping.Gate({"folder": 0, "array": 1})
    assert gate.announce([shadow], Verdict(STOP, runs=(Run(shadow, decision=ignored),))) == (gate, [])


def test_hooks_of_another_event_are_no_reason_to_name_a_limit() -> None:
    subagent = Hook("subagent", "post-subagent", "post-subagent", "folder")
    gate = stopping.Gate({"folder": 3, "array": 0})
    assert gate.announce([subagent, OTHER], Verdict(STOP))[1] == []


def test_that_a_limit_was_named_lasts_for_other_processes_and_ends_with_the_turn(session: Session) -> None:
    stopping.keep(session, stop(True), stopping.Gate({"folder": 0, "array": 1}, ("array",)))
    assert stopping.gate(Session("s"), stop(True)).announced == ("array",)
    stopping.keep(session, stop(False), stopping.gate(session, stop(False)))
    assert stopping.gate(session, stop(True)).announced == ()


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(blocks=st.lists(st.sets(st.sampled_from(["folder", "table", "array", "claude"])), min_size=1, max_size=12))
def test_a_turn_always_ends(blocks: list[set[str]]) -> None:
    """Whoever blocks whenever: four continuations are the most there can be."""
    hooks = [FOLDER, TABLE, ARRAY, CLAUDE]
    gate = stopping.Gate({"folder": 0, "array": 0})
    continued = 0
    for blocking in blocks:
        asked = gate.asked(hooks)
        settled = gate.settle(verdict(asked, [hook for hook in asked if hook.name in blocking]))
        gate = gate.after(settled)
        continued += settled.denied
    assert continued <= 4
