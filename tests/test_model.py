"""The values: events are frozen and hold plain JSON; a verdict as JSON keeps to its schema."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import json_values
from support import array_hook, folder_hook, project_hooks, table_hook, trigger, user_hooks, write_config
from tenterhook import Action, Decision, Event, Hook, Outcome, Run
from tenterhook.model import Failure

if TYPE_CHECKING:
    from pathlib import Path

HOOK = Hook("guard", "pre-tool-call", "PreToolUse", "array")
DENY = Decision(Action.DENY, "no")


@given(fields=st.dictionaries(st.text("abcdefghij_", min_size=1), json_values, max_size=4))
@settings(max_examples=80)
def test_an_event_replaced_by_itself_is_the_same(fields: dict[str, Any]) -> None:
    event = Event("pre-tool-call", session_id="s", **{f"f_{key}": value for key, value in fields.items()})
    again = event.replace()
    assert (again.fields, again.timestamp, again.work_dir) == (event.fields, event.timestamp, event.work_dir)


@pytest.fixture
def schema() -> Any:
    return json.loads(resources.files("tenterhook").joinpath("schemas/verdict.json").read_text())


@pytest.mark.parametrize(
    "command",
    [
        "exit 0",
        "echo no >&2; exit 2",
        "exit 1",
        "kill -9 $$",
        'echo \'{"modified_input": {"a": 1}, "additional_context": "c", "message": "m"}\'',
        "echo '{'",
    ],
)
def test_every_verdict_keeps_to_the_schema(project: Path, schema: Any, command: str) -> None:
    folder_hook(project_hooks(project), "untrusted")
    text = array_hook(command) + array_hook("if", matcher="(")
    verdict = trigger("pre-tool-call", "--tool", "x", "--config", write_config(project / "c.toml", text))
    assert len(verdict["runs"]) == 2
    assert len(verdict["problems"]) == 1
    jsonschema.validate(verdict, schema)


@pytest.mark.parametrize("output", ["text", "", {"stdout": "x"}, [], False])
def test_a_verdict_with_a_modified_output_keeps_to_the_schema(
    home: Path, project: Path, schema: Any, output: object
) -> None:
    folder_hook(user_hooks(home), "redact", f"echo '{json.dumps({'modified_output': output})}'", "post-tool-call")
    verdict = trigger("post-tool-call", "--tool", "x")
    assert verdict["modified_output"] == output
    jsonschema.validate(verdict, schema)


def test_background_and_broken_files_too(project: Path, schema: Any) -> None:
    text = table_hook("true", event="after_tool", async_=True) + table_hook("x", event="nope")
    verdict = trigger("post-tool-call", "--tool", "x", "--config", write_config(project / "c.toml", text))
    assert [run["outcome"] for run in verdict["runs"]] == ["started"]
    jsonschema.validate(verdict, schema)


def test_an_event_is_frozen_and_a_replaced_one_is_another() -> None:
    event = Event("PreToolUse", tool_name="Shell", tool_input={"command": "ls"})
    with pytest.raises(AttributeError, match="replace"):
        event.name = "Stop"
    changed = event.replace(tool_input={"command": "rm"}, session_id="s")
    assert (event.tool_input, event.session_id) == ({"command": "ls"}, "")
    assert (changed.tool_input, changed.session_id, changed.name) == ({"command": "rm"}, "s", "PreToolUse")


def test_a_payload_of_any_format_is_an_event_and_what_is_fixed_wins() -> None:
    payload = {"hook_event_name": "PreToolUse", "cwd": "/work", "agent_name": "coder", "self": 1, "tool_call_id": "t"}
    event = Event.from_payload("PreToolUse", payload, session_id="s")
    assert (event.work_dir, event.session_id) == ("/work", "s")
    assert event.fields == {"subagent_name": "coder", "tool_use_id": "t"}
    assert Event.from_payload("PreToolUse", payload, work_dir="/else").work_dir == "/else"


@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (Run(HOOK), Outcome.OK),
        (Run(HOOK, started=False, failure=Failure.EXIT), Outcome.NOT_RUN),
        (Run(HOOK, background=True), Outcome.STARTED),
        (Run(HOOK, failure=Failure.TIMED_OUT, decision=DENY), Outcome.TIMED_OUT),
        (Run(HOOK, failure=Failure.SIGNAL), Outcome.FAILED),
        (Run(HOOK, decision=DENY), Outcome.BLOCKED),
        (Run(HOOK, decision=DENY._replace(ignored="observer")), Outcome.OK),
    ],
)
def test_the_outcome_of_a_run_is_what_became_of_its_hook(run: Run, outcome: Outcome) -> None:
    assert run.outcome is outcome


@pytest.mark.parametrize("given", [None, "mcp:a/b", 5, {}, [1, {}], []])
def test_names_of_an_mcp_tool_that_are_none_are_left_out(given: Any) -> None:
    assert "mcp_names" not in Event("pre-tool-call", tool_name="Bash", mcp_names=given).fields
    assert Event("pre-tool-call", tool_name="mcp__a__b", mcp_names=given).mcp_names == ["mcp:a/b"]


def test_an_event_has_every_name_of_its_tool() -> None:
    event = Event("pre-tool-call", tool_name="a-b", mcp_names=["mcp:a/b", 7])
    assert event.tool_names == ("a-b", "mcp:a/b", "mcp__a__b")
    assert event.replace(tool_input={}).tool_names == event.tool_names
    assert Event("pre-tool-call").tool_names == ()
