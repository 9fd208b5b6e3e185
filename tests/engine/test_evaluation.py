"""In which order hooks run, which of them stop others, and what becomes of a modified input (section 4)."""

from __future__ import annotations

import json
import shlex
import time
from typing import TYPE_CHECKING, Any

import pytest

from support import (
    array_hook,
    fire,
    folder_hook,
    shell_call,
    table_hook,
    until,
    user_hooks,
    write_config,
)
from tenterhook import Engine, Event, Outcome, Verdict
from tenterhook.formats import folder
from tenterhook.model import Failure

if TYPE_CHECKING:
    from pathlib import Path


def mark(name: str, then: str = "true") -> str:
    """A line that writes down that it ran."""
    return f"echo {name} >> order; {then}"


def order(project: Path) -> list[str]:
    file = project / "order"
    return file.read_text().split() if file.exists() else []


def change(command: str) -> str:
    """A line that replaces the command."""
    return f"""echo '{{"modified_input": {{"command": "{command}"}}}}'"""


def append(text: str) -> str:
    """A line that adds to the command it is given, so that a second run would show."""
    get = """c=$(cat | grep -o '"command": "[^"]*"' | cut -d'"' -f4)"""
    return get + """; printf '{"modified_input": {"command": "%s"}}' "$c+""" + text + '"'


# Two of these, each with the other's name, end well only if they run at the same time.
MEET = "touch {0}; n=0; until [ -e {1} ] || [ $n -gt 500 ]; do sleep 0.02; n=$((n+1)); done; [ -e {1} ]"

SEEN = "cat >> seen; echo >> seen"


def seen(project: Path, file: str = "seen") -> list[str]:
    """The commands that a hook with the line `SEEN` was sent."""
    path = project / file
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line)["tool_input"]["command"] for line in lines]


def outcomes(verdict: Verdict) -> list[tuple[str, str | None]]:
    return [(run.outcome, run.why) for run in verdict.runs]


STOPPED = (Outcome.NOT_RUN, "stopped by an earlier block")


# ---- priority and definition


def test_the_highest_priority_runs_first(home: Path, project: Path) -> None:
    for name, priority in (("a-low", 0), ("b-high", 1000), ("c-plain", None), ("d-middle", 500)):
        front: dict[str, Any] = {} if priority is None else {"priority": priority}
        folder_hook(user_hooks(home), name, mark(name), **front)
    Engine.load().decide(shell_call())
    assert order(project) == ["b-high", "d-middle", "c-plain", "a-low"]


def test_equal_priorities_run_in_order_of_definition(home: Path, project: Path) -> None:
    for name in ("b", "B", "a", "a-1"):
        folder_hook(user_hooks(home), name, mark(name))
    folder_hook(home / ".config" / "kimi" / "hooks", "0-kimi", mark("0-kimi"))
    configs = [
        write_config(project / "one.toml", table_hook(mark("t1")) + table_hook(mark("t2"))),
        write_config(project / "two.toml", array_hook(mark("a1"))),
        write_config(project / "three.toml", table_hook(mark("t3"))),
    ]
    engine = Engine.load(configs=configs)

    @engine.on("pre-tool-call")
    def function(event: Event) -> None:
        with (project / "order").open("a") as file:
            file.write("function\n")

    engine.decide(shell_call())
    assert order(project) == ["B", "a", "a-1", "b", "0-kimi", "t1", "t2", "a1", "t3", "function"]


def test_array_and_table_hooks_have_priority_one_hundred(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "before", mark("101"), priority=101)
    folder_hook(user_hooks(home), "after", mark("99"), priority=99)
    configs = [
        write_config(project / "table.toml", table_hook(mark("table"))),
        write_config(project / "array.toml", array_hook(mark("array"))),
    ]
    Engine.load(configs=configs).decide(shell_call())
    assert order(project) == ["101", "table", "array", "99"]


# ---- one after another


def test_the_first_block_stops_the_rest(project: Path) -> None:
    verdict = fire(project, table_hook(mark("1")) + table_hook(mark("2", "exit 2")) + table_hook(mark("3")) * 2)
    assert order(project) == ["1", "2"]
    assert outcomes(verdict) == [(Outcome.OK, None), (Outcome.BLOCKED, None), STOPPED, STOPPED]


@pytest.mark.parametrize("answer", ["""echo '{"decision": "deny"}'""", "exit 2", """echo '{"decision": "block"}'"""])
def test_every_kind_of_block_stops_the_rest(project: Path, answer: str) -> None:
    fire(project, table_hook(answer) + table_hook(mark("late")))
    assert order(project) == []


@pytest.mark.parametrize("answer", ["exit 1", """echo '{"decision": "ask"}'""", "kill -9 $$", "echo '{'"])
def test_nothing_but_a_block_stops_the_rest(project: Path, answer: str) -> None:
    fire(project, table_hook(answer) + table_hook(mark("late")))
    assert order(project) == ["late"]


def test_a_guard_that_fails_closed_stops_the_rest(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "a", "exit 1", metadata={"on_failure": "block"})
    folder_hook(user_hooks(home), "b", mark("late"))
    assert outcomes(Engine.load().decide(shell_call()))[1] == STOPPED
    assert order(project) == []


def test_a_hook_that_is_not_reached_is_not_shown_as_stopped(project: Path) -> None:
    verdict = fire(project, table_hook("exit 2") + table_hook("true", matcher={"tool": "^Read$"}))
    assert len(verdict.runs) == 1


def test_table_hooks_do_not_overlap(project: Path) -> None:
    fire(project, table_hook(f"{mark('a')}; sleep 0.2; {mark('b')}") + table_hook(mark("c")))
    assert order(project) == ["a", "b", "c"]


# ---- side by side


def test_array_hooks_run_in_parallel_and_all_results_count(project: Path) -> None:
    meet = MEET + " && exit 2"
    verdict = fire(project, array_hook(meet.format("left", "right")) + array_hook(meet.format("right", "left")))
    assert [run.outcome for run in verdict.runs] == [Outcome.BLOCKED, Outcome.BLOCKED]


def test_a_block_does_not_stop_array_hooks_beside_it(project: Path) -> None:
    verdict = fire(project, array_hook("exit 2") + array_hook(mark("beside", """echo '{"additional_context": "c"}'""")))
    assert order(project) == ["beside"]
    assert (verdict.decision, verdict.additional_context) == ("deny", ("c",))


def test_array_hooks_of_two_files_that_follow_one_another_run_together(project: Path) -> None:
    one = write_config(project / "one.toml", array_hook("sleep 0.3; " + mark("slow")))
    two = write_config(project / "two.toml", array_hook(mark("quick")))
    Engine.load(configs=[one, two]).decide(shell_call())
    assert order(project) == ["quick", "slow"]


def test_a_hook_of_another_format_parts_array_hooks_into_stages(project: Path) -> None:
    configs = [
        write_config(project / "one.toml", array_hook("sleep 0.2; " + mark("first"))),
        write_config(project / "two.toml", table_hook(mark("second"))),
        write_config(project / "three.toml", array_hook(mark("third"))),
    ]
    Engine.load(configs=configs).decide(shell_call())
    assert order(project) == ["first", "second", "third"]


def test_a_block_among_array_hooks_stops_later_stages(project: Path) -> None:
    one = write_config(project / "one.toml", array_hook("exit 2"))
    two = write_config(project / "two.toml", table_hook(mark("late")))
    verdict = Engine.load(configs=[one, two]).decide(shell_call())
    assert outcomes(verdict) == [(Outcome.BLOCKED, None), STOPPED]
    assert order(project) == []


def test_equal_commands_run_once(project: Path) -> None:
    hooks = array_hook(mark("once")) * 3 + array_hook(mark("once"), matcher="^Shell$") + array_hook(mark("other"))
    verdict = fire(project, hooks)
    assert sorted(order(project)) == ["once", "other"]
    assert len(verdict.runs) == 2


@pytest.mark.parametrize("timeouts", [(1, 30), (30, 1)])
def test_equal_commands_have_the_longest_timeout_of_them(project: Path, timeouts: tuple[int, int]) -> None:
    verdict = fire(project, "".join(array_hook("sleep 1.3; exit 2", timeout=seconds) for seconds in timeouts))
    assert verdict.denied


@pytest.mark.parametrize("modes", [("open", "closed"), ("closed", "open")])
def test_equal_commands_fail_closed_if_one_of_them_does(project: Path, modes: tuple[str, str]) -> None:
    assert fire(project, "".join(array_hook("exit 1", fail_mode=mode) for mode in modes)).denied


def test_a_command_that_does_not_match_lends_nothing_to_an_equal_one_that_does(project: Path) -> None:
    verdict = fire(project, array_hook("exit 1") + array_hook("exit 1", fail_mode="closed", matcher="^Read$"))
    assert verdict.decision == "none"


def test_equal_table_commands_run_each(project: Path) -> None:
    fire(project, table_hook(mark("each")) * 2)
    assert order(project) == ["each", "each"]


# ---- modified inputs


def test_a_later_hook_sees_the_input_as_modified_so_far(project: Path) -> None:
    verdict = fire(project, table_hook(change("two")) + table_hook(SEEN) + table_hook(SEEN.replace("seen", "again")))
    assert (seen(project), seen(project, "again")) == (["two"], ["two"])
    assert verdict.modified_input == {"command": "two"}


def test_a_later_hook_matches_the_input_as_modified_so_far(project: Path) -> None:
    hooks = table_hook(change("new"), matcher={"pattern": "^old$"})
    hooks += table_hook(mark("new"), matcher={"pattern": "^new$"}) + table_hook(mark("old"), matcher={"pattern": "old"})
    fire(project, hooks, shell_call("old"))
    assert order(project) == ["new"]


def test_array_hooks_of_a_stage_all_see_the_stages_input(project: Path) -> None:
    verdict = fire(project, array_hook(change("new")) + array_hook("sleep 0.2; " + SEEN), shell_call("old"))
    assert seen(project) == ["old", "new"]  # the second time in the second pass
    assert verdict.modified_input == {"command": "new"}


def test_of_several_modified_inputs_the_last_in_order_wins(project: Path) -> None:
    # in the second pass both leave the input alone
    once = "echo >> ran-{0}; [ $(wc -l < ran-{0}) -gt 1 ] || "
    hooks = array_hook("sleep 0.3; " + once.format("a") + change("a")) + array_hook(once.format("b") + change("b"))
    verdict = fire(project, hooks)
    assert verdict.modified_input == {"command": "b"}


def test_a_hook_that_saw_another_input_runs_once_more_on_the_final_one(project: Path) -> None:
    verdict = fire(project, table_hook(SEEN) + table_hook(change("new")), shell_call("old"))
    assert seen(project) == ["old", "new"]
    assert verdict.modified_input == {"command": "new"}


def test_a_hook_that_saw_the_final_input_does_not_run_again(project: Path) -> None:
    fire(project, table_hook(change("new")) + table_hook(SEEN), shell_call("old"))
    assert seen(project) == ["new"]


def test_the_hook_that_modified_the_input_does_not_run_again(project: Path) -> None:
    verdict = fire(project, table_hook(append("x")), shell_call("a"))
    assert (verdict.decision, verdict.modified_input) == ("none", {"command": "a+x"})


def test_a_hook_that_did_not_match_before_runs_if_it_matches_the_final_input(project: Path) -> None:
    guard = table_hook("echo caught >&2; exit 2", matcher={"pattern": "^rm"})
    verdict = fire(project, guard + table_hook(change("rm -rf /")), shell_call("ls"))
    assert (verdict.decision, verdict.reason, verdict.modified_input) == ("deny", "caught", None)


def test_a_hook_that_no_longer_matches_does_not_run_again(project: Path) -> None:
    guard = table_hook(mark("guard"), matcher={"pattern": "^old$"})
    fire(project, guard + table_hook(change("new")), shell_call("old"))
    assert order(project) == ["guard"]


def test_the_second_pass_reaches_array_hooks_of_the_same_stage(project: Path) -> None:
    guard = array_hook("grep -q 'rm -rf' && exit 2; true")
    verdict = fire(project, guard + array_hook(change("rm -rf /")), shell_call("ls"))
    assert verdict.denied


def test_a_modification_in_the_second_pass_denies(project: Path) -> None:
    verdict = fire(project, table_hook(append("1")) + table_hook(append("2")), shell_call("a"))
    assert verdict.denied
    assert verdict.reason is not None and "modif" in verdict.reason
    assert verdict.modified_input is None


def test_a_hook_that_says_the_final_input_again_modifies_nothing(project: Path) -> None:
    verdict = fire(project, table_hook(change("new")) * 2, shell_call("old"))
    assert (verdict.decision, verdict.modified_input) == ("none", {"command": "new"})


def test_an_input_that_was_changed_and_changed_back_is_not_modified(project: Path) -> None:
    verdict = fire(project, table_hook(SEEN) + table_hook(change("b")) + table_hook(change("a")), shell_call("a"))
    assert (verdict.decision, verdict.modified_input) == ("none", None)
    assert seen(project) == ["a"]


@pytest.mark.parametrize(
    ("arrived", "changed"),
    [({"n": True}, {"n": 1}), ({"n": 1}, {"n": True}), ({"n": 0}, {"n": False}), ({"n": [1]}, {"n": [True]})],
)
def test_true_and_one_are_different_inputs(project: Path, arrived: dict[str, Any], changed: dict[str, Any]) -> None:
    (project / "answer").write_text(json.dumps({"modified_input": changed}))
    verdict = fire(project, table_hook("cat answer"), shell_call(tool_input=arrived))
    assert json.dumps(verdict.modified_input) == json.dumps(changed)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_modified_input_with_a_number_that_is_no_json_does_not_deny_itself(project: Path, number: str) -> None:
    verdict = fire(project, table_hook(f"""echo '{{"modified_input": {{"n": {number}}}}}'"""))
    assert verdict.decision == "none"


def test_equal_array_commands_that_modify_the_input_do_not_deny_each_other(project: Path) -> None:
    verdict = fire(project, array_hook(append("x")) * 2, shell_call("a"))
    assert (verdict.decision, verdict.modified_input) == ("none", {"command": "a+x"})


def test_equal_array_commands_that_saw_the_final_input_do_not_run_again(project: Path) -> None:
    one = write_config(project / "one.toml", table_hook(change("new")))
    two = write_config(project / "two.toml", array_hook(SEEN) * 2)
    Engine.load(configs=[one, two]).decide(shell_call("old"))
    assert seen(project) == ["new"]


@pytest.mark.parametrize(
    "consent",
    ['{"decision": "allow"}', '{"hookSpecificOutput": {"permissionDecision": "allow"}}'],
    ids=["allow", "approve"],
)
def test_consent_to_an_input_is_none_to_what_became_of_it(project: Path, consent: str) -> None:
    once = f"echo >> ran; [ $(wc -l < ran) -gt 1 ] || echo '{consent}'"
    verdict = fire(project, table_hook(once) + table_hook(change("new")), shell_call("old"))
    assert verdict.decision == "none"


def test_consent_to_the_final_input_counts(project: Path) -> None:
    approve = """echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'"""
    verdict = fire(project, table_hook(approve) + table_hook(change("new")), shell_call("old"))
    assert (verdict.decision, verdict.modified_input) == ("approve", {"command": "new"})


def test_an_ask_stays_an_ask_after_a_modification(project: Path) -> None:
    once = """echo >> ran; [ $(wc -l < ran) -gt 1 ] || echo '{"decision": "ask"}'"""
    verdict = fire(project, table_hook(once) + table_hook(change("new")), shell_call("old"))
    assert (verdict.decision, verdict.modified_input) == ("ask", {"command": "new"})


def test_what_a_hook_adds_in_both_passes_is_kept_once(project: Path) -> None:
    both = """echo '{"additional_context": "c"}'"""
    verdict = fire(project, table_hook(both) + table_hook(change("new")), shell_call("old"))
    assert verdict.additional_context == ("c",)


def test_after_a_block_nothing_is_modified_and_nothing_runs_again(project: Path) -> None:
    verdict = fire(project, table_hook(SEEN) + table_hook(change("new")) + table_hook("exit 2"), shell_call("old"))
    assert (verdict.decision, verdict.modified_input) == ("deny", None)
    assert seen(project) == ["old"]


def test_a_block_in_the_second_pass_stops_the_rest_of_it(project: Path) -> None:
    guard = "grep -q new && exit 2; true"
    hooks = table_hook(guard) + table_hook(SEEN) + table_hook(change("new"))
    assert fire(project, hooks, shell_call("old")).denied
    assert seen(project) == ["old"]


# ---- in the background


@pytest.mark.parametrize("line", ["true", "exit 2"], ids=["allowed", "blocked"])
def test_async_hooks_start_after_the_verdict_on_the_input_as_it_arrived(project: Path, line: str) -> None:
    hooks = table_hook("cat > later; echo >> later; mv later seen", async_=True)
    hooks += table_hook("sleep 0.2; [ ! -e seen ] || touch early; " + change("new")) + table_hook(line)
    verdict = fire(project, hooks, shell_call("old"))
    assert verdict.denied is (line == "exit 2")
    until((project / "seen").exists)
    assert seen(project) == ["old"]
    assert not (project / "early").exists()


def test_async_hooks_decide_nothing_and_are_shown_as_started(project: Path) -> None:
    verdict = fire(project, table_hook(mark("ran", "exit 2"), async_=True) + table_hook("true"))
    assert verdict.decision == "none"
    assert outcomes(verdict) == [(Outcome.OK, None), (Outcome.STARTED, None)]
    until(lambda: order(project))


def test_async_hooks_match_the_input_as_it_arrived(project: Path) -> None:
    hooks = table_hook(mark("old"), async_=True, matcher={"pattern": "old"})
    hooks += table_hook(mark("new"), async_=True, matcher={"pattern": "new"}) + table_hook(change("new"))
    verdict = fire(project, hooks, shell_call("old"))
    until(lambda: order(project))
    assert [run.hook.name for run in verdict.runs if run.background] == ["before_tool[0]"]
    assert order(project) == ["old"]


def test_async_hooks_run_side_by_side_and_nobody_waits_for_them(project: Path) -> None:
    met = MEET + " && touch {0}-met"
    lines = met.format("left", "right"), met.format("right", "left")
    begun = time.monotonic()
    fire(project, "".join(table_hook(line, async_=True) for line in lines))
    assert time.monotonic() - begun < 5
    until(lambda: (project / "left-met").exists() and (project / "right-met").exists())


# ---- every time anew


def test_no_verdict_is_reused_for_an_identical_call(project: Path) -> None:
    hooks = table_hook(mark("asked", "[ ! -e closed ] || exit 2"))
    engine = Engine.load(configs=[write_config(project / "hooks.toml", hooks)])
    event = shell_call("ls", session_id="s", tool_use_id="1")
    assert not engine.decide(event).denied
    (project / "closed").touch()
    assert engine.decide(event).denied
    (project / "closed").unlink()
    assert not engine.decide(event).denied
    assert len(order(project)) == 3


@pytest.mark.promise("a model that tries")
def test_an_input_that_is_changed_and_changed_back_does_not_slip_past_a_guard(project: Path) -> None:
    """What hooks change in a call is put to the guards again before it runs."""
    change = """echo '{"modified_input": {"command": "%s"}}'"""
    hooks = table_hook(change % "ls", matcher={"pattern": "rm"})
    hooks += table_hook("exit 2", matcher={"pattern": "rm -rf"})
    hooks += table_hook(change % "rm -rf /", matcher={"pattern": "ls"})
    assert Engine.load(configs=[write_config(project / "c.toml", hooks)]).decide(shell_call("rm -rf /")).denied


def test_a_debug_function_that_raises_costs_no_verdict(project: Path) -> None:
    def fail(line: str) -> None:
        raise RuntimeError(line)

    config = write_config(project / "c.toml", array_hook("exit 2"))
    assert Engine.load(configs=[config], debug=fail).decide(shell_call()).denied


# ---- a modified output (4.2, 4.3, 6)


def result(output: object = "key=abc token=def", **fields: Any) -> Event:
    return shell_call(event="post-tool-call", tool_output=output, **fields)


def replace(old: str, new: str) -> str:
    """The script of a hook that replaces a text in the output it is sent."""
    return (
        "#!/usr/bin/env python3\nimport json, sys\n"
        f"said = json.load(sys.stdin)['tool_output'].replace({old!r}, {new!r})\n"
        "print(json.dumps({'modified_output': said}))\n"
    )


def claude_hooks(project: Path, *lines: str) -> Path:
    """Claude Code's settings with hooks after a tool, which run in parallel."""
    file = project / "claude" / ".claude" / "settings.json"
    file.parent.mkdir(parents=True)
    handlers = [{"type": "command", "command": line} for line in lines]
    file.write_text(json.dumps({"hooks": {"PostToolUse": [{"hooks": handlers}]}}))
    return file


def updated(old: str, new: str) -> str:
    """A command of Claude Code's settings that replaces a text in the output it is sent."""
    code = (
        "import json, sys; r = json.load(sys.stdin)['tool_response']; "
        f"r['stdout'] = r['stdout'].replace({old!r}, {new!r}); "
        "print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PostToolUse', 'updatedToolOutput': r}}))"
    )
    return f"python3 -c {shlex.quote(code)}"


def test_a_later_hook_is_sent_the_output_as_replaced_so_far(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "a", replace("abc", "[1]"), "post-tool-call", file="run.py")
    folder_hook(user_hooks(home), "b", replace("def", "[2]"), "post-tool-call", file="run.py")
    verdict = Engine.load(project).decide(result())
    assert (verdict.decision, verdict.modified_output) == ("none", "key=[1] token=[2]")
    assert [run.decision.modified_output for run in verdict.runs] == ["key=[1] token=def", "key=[1] token=[2]"]


def test_a_block_after_a_tool_does_not_stop_a_hook_that_replaces_the_output(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "a", "echo look >&2; exit 2", "post-tool-call", priority=900)
    folder_hook(user_hooks(home), "b", replace("abc", "[1]"), "post-tool-call", file="run.py")
    verdict = Engine.load(project).decide(result())
    assert (verdict.decision, verdict.reason) == ("deny", "look")
    assert verdict.modified_output == "key=[1] token=def"


def test_hooks_that_replace_the_output_in_parallel_add_up(project: Path) -> None:
    file = claude_hooks(project, updated("abc", "[1]"), updated("def", "[2]"))
    verdict = Engine.load(project, configs=[file]).decide(
        result({"stdout": "key=abc token=def", "stderr": ""}, tool_name="Bash")
    )
    assert verdict.modified_output == {"stdout": "key=[1] token=[2]", "stderr": ""}
    again = verdict.runs[-1]
    assert len(verdict.runs) == 3
    assert "ran on the modified output" in again.decision.notes


def test_a_hook_that_leaves_the_output_alone_does_not_run_again(project: Path) -> None:
    file = claude_hooks(project, updated("abc", "[1]"), "true")
    verdict = Engine.load(project, configs=[file]).decide(
        result({"stdout": "key=abc token=def", "stderr": ""}, tool_name="Bash")
    )
    assert len(verdict.runs) == 2


def test_the_error_of_a_failed_call_is_replaced(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "a", """echo '{"modified_output": "[1]"}'""", "post-tool-call-failure")
    folder_hook(user_hooks(home), "b", "cat > $PWD/seen", "post-tool-call-failure")
    verdict = Engine.load(project).decide(shell_call(event="post-tool-call-failure", error="abc", work_dir=project))
    assert verdict.modified_output == "[1]"
    assert json.loads((project / "seen").read_text())["error"] == "[1]"


def test_an_output_that_is_replaced_by_itself_is_not_modified(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "a", replace("no such", "text"), "post-tool-call", file="run.py")
    assert Engine.load(project).decide(result()).modified_output is None


def test_an_asynchronous_hook_is_sent_the_output_as_it_arrived(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "a", replace("abc", "[1]"), "post-tool-call", file="run.py")
    late: dict[str, Any] = {"async": True}
    folder_hook(user_hooks(home), "b", "cat > part; mv part seen", "post-tool-call", **late)
    Engine.load(project).decide(result(work_dir=project))
    until((project / "seen").exists)
    assert json.loads((project / "seen").read_text())["tool_output"] == "key=abc token=def"


def test_a_shadow_hook_replaces_nothing(home: Path, project: Path) -> None:
    metadata = {"mode": "shadow"}
    folder_hook(user_hooks(home), "a", replace("abc", "[1]"), "post-tool-call", file="run.py", metadata=metadata)
    verdict = Engine.load(project).decide(result())
    assert verdict.modified_output is None
    assert verdict.runs[0].decision.modified_output == "key=[1] token=def"


@pytest.mark.parametrize("layer", ["managed", "user"])
@pytest.mark.parametrize("left", [0.3, 0.7])
def test_a_managed_hook_to_which_others_leave_no_time_blocks(tmp_path: Path, layer: str, left: float) -> None:
    """Else a user's slow hook that goes before it would have the call pass."""
    for name, script in (("slow", "sleep 0.5"), ("guard", "sleep 0.5; exit 2")):
        folder_hook(tmp_path, name, script)
    slow = folder.read(str(tmp_path / "slow"), "user").hook
    guard = folder.read(str(tmp_path / "guard"), layer).hook
    assert slow is not None
    assert guard is not None
    engine = Engine((slow._replace(priority=1000), guard))
    verdict = engine.decide(shell_call("ls"), deadline=time.monotonic() + left)
    assert verdict.denied == (layer == "managed"), verdict


@pytest.mark.parametrize("layer", ["managed", "user"])
def test_a_managed_hook_that_the_system_does_not_start_blocks(tmp_path: Path, layer: str) -> None:
    """Else a user who limits their processes, or removes the directory of the session, would have the call pass."""
    guard = folder.read(str(folder_hook(tmp_path, "guard", "exit 2")), layer).hook
    assert guard is not None
    verdict = Engine((guard,)).decide(shell_call("ls").replace(work_dir=str(tmp_path / "gone")))
    assert [run.failure for run in verdict.runs] == [Failure.CANNOT_START]
    assert verdict.denied == (layer == "managed"), verdict
