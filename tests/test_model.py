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
from support import array_hook, folder_hook, project_hooks, table_hook, trigger, write_config
from tenterhook import Event

if TYPE_CHECKING:
    from pathlib import Path


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


def test_background_and_broken_files_too(project: Path, schema: Any) -> None:
    text = table_hook("true", event="after_tool", async_=True) + table_hook("x", event="nope")
    verdict = trigger("post-tool-call", "--tool", "x", "--config", write_config(project / "c.toml", text))
    assert [run["outcome"] for run in verdict["runs"]] == ["started"]
    jsonschema.validate(verdict, schema)
