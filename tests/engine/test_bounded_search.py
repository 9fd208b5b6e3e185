"""Expressions that run away are cut off when the event's time is up, and the guard runs."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING

import pytest

from engine.one_hook import call, engine_of
from support import (
    decide,
    shell_call,
    table_hook,
    write_config,
)
from tenterhook import Event, Outcome, Verdict
from tenterhook.engine import bounded_search

if TYPE_CHECKING:
    from pathlib import Path


RUNAWAY = "(a+)+$"
VICTIM = "a" * 30 + "!"
ENOUGH = 10.0  # seconds; without a limit these take minutes


@pytest.mark.parametrize("format_", ["table", "folder"])
def test_a_runaway_pattern_is_cut_off_and_the_guard_runs(project: Path, format_: str) -> None:
    begun = time.monotonic()
    verdict = engine_of(project, format_, pattern=RUNAWAY).decide(call("Shell", {"command": VICTIM}))
    assert time.monotonic() - begun < ENOUGH
    assert verdict.denied


def test_a_runaway_array_matcher_is_cut_off_and_the_guard_runs(project: Path) -> None:
    begun = time.monotonic()
    engine = engine_of(project, "array", event="UserPromptSubmit", tool=RUNAWAY)
    verdict = engine.decide(Event("UserPromptSubmit", prompt=VICTIM))
    assert time.monotonic() - begun < ENOUGH
    assert verdict.denied


def test_a_runaway_expression_on_a_tool_name_is_cut_off_too(project: Path) -> None:
    assert engine_of(project, "array", tool=RUNAWAY).decide(call(VICTIM)).denied


def test_a_runaway_expression_is_cut_off_in_a_thread_too(project: Path) -> None:
    engine = engine_of(project, "table", pattern=RUNAWAY)
    verdicts: list[Verdict] = []
    thread = threading.Thread(target=lambda: verdicts.append(engine.decide(call("Shell", {"command": VICTIM}))))
    thread.start()
    thread.join(ENOUGH)
    assert [verdict.decision for verdict in verdicts] == ["deny"]


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ('{"decision": "allow"}', "none"),
        ('{"hookSpecificOutput": {"permissionDecision": "allow"}}', "none"),
        ('{"decision": "ask"}', "ask"),
        ('{"decision": "deny"}', "deny"),
    ],
)
def test_a_hook_whose_matcher_was_cut_off_may_deny_and_ask_but_not_allow(
    project: Path, answer: str, decision: str
) -> None:
    engine = engine_of(project, "table", line=f"echo '{answer}'", pattern=RUNAWAY)
    verdict = engine.decide(call("Shell", {"command": VICTIM}))
    assert verdict.decision == decision
    assert any("took too long" in note for note in verdict.runs[0].decision.notes)


def test_the_time_is_limited_for_all_expressions_of_an_event_together(project: Path) -> None:
    hooks = "".join(table_hook("true", matcher={"pattern": f"(a+)+{n}$"}) for n in range(100))
    begun = time.monotonic()
    verdict = decide(write_config(project / "hooks.toml", hooks), shell_call(VICTIM))
    assert time.monotonic() - begun < ENOUGH  # 100 ms each would be no shorter than this
    assert len(verdict.runs) == 100


def test_a_plain_expression_beside_a_runaway_one_still_decides_what_it_rules_out(project: Path) -> None:
    hooks = table_hook("exit 2", matcher={"tool": "^WriteFile$", "pattern": RUNAWAY})
    hooks += table_hook("true", matcher={"pattern": RUNAWAY})
    verdict = decide(write_config(project / "hooks.toml", hooks), shell_call(VICTIM))
    assert [run.outcome for run in verdict.runs] == [Outcome.OK]


FROZEN = """
    import sys
    from tenterhook import Engine, Event
    engine = Engine()
    engine.on("pre-tool-call", pattern=sys.argv[1])(lambda event: {"decision": "deny"})
    print(engine.decide(Event("pre-tool-call", tool_name="Shell", tool_input={"command": sys.argv[2]})).decision)
"""


@pytest.mark.parametrize(
    "expression",
    [
        RUNAWAY,
        "(a*)*$",
        "(a|aa)+$",
        "(a|a)*b",
        "(.*a){20}",
        "(a+){20}$",
        "(a+){,}$",
        r"(\w{1,20}\s?){1,20}$",
        "(a|a){20}(a|a){20}b",
        "(a?){20}(a?){20}(a?){20}b",
        "((a{1,20}){1,20}){1,20}b",
        "(?:a|a)" * 30 + "b",
        "(a+)(?#[)+$",
        r"(?x)(a+ #[" + "\n" + r")+$",
        r"(a+)+\1$",
        "a*a*a*a*a*a*a*a*a*b",
    ],
)
def test_matching_never_freezes_an_agent(expression: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FROZEN), expression, "a" * 40 + "!"],
        capture_output=True,
        text=True,
        timeout=5,  # without a limit these take minutes
    )
    assert ended.stdout.strip() in ("deny", "none"), ended.stderr


def test_a_long_text_and_an_expression_with_many_ways_do_not_freeze_anyone(project: Path) -> None:
    pattern = "a{0,19}a{0,19}a{0,19}b"
    code = (
        "import sys; from tenterhook import Engine, Event\n"
        f"engine = Engine(); engine.on('pre-tool-call', pattern={pattern!r})(lambda event: None)\n"
        "engine.decide(Event('pre-tool-call', tool_name='x', tool_input={'c': 'a' * 2_000_000}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)


def test_an_expression_past_the_limit_has_no_answer_and_leaves_no_time_for_others() -> None:
    limit = bounded_search.TimeLimit()
    assert bounded_search.search([("python", RUNAWAY, [VICTIM])], limit) == [None]
    assert limit.left() == 0
    assert bounded_search.search([("python", "a", ["a"])], limit) == [None]
