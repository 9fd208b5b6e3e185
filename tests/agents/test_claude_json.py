"""The JSON that several agents speak: tool results in each one's shape, and answers without an unknown key."""

from __future__ import annotations

from typing import Any

import pytest

from tenterhook.agents import claude_json
from tenterhook.agents.codec import Reply


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "plain"),
        ({"stdout": "out", "stderr": "e"}, "out"),
        ({"llmContent": "for the model", "returnDisplay": "for the person"}, "for the model"),
        ({"output": "o", "metadata": {}}, "o"),
        ({"content": ["not text"]}, '{"content": ["not text"]}'),
        ([1, "a"], '[1, "a"]'),
        (None, "null"),
    ],
)
def test_the_text_of_a_result_is_found_whichever_agents_it_is(output: Any, text: str) -> None:
    assert claude_json.text_response(output) == text


def test_a_result_that_has_geminis_shape_already_keeps_it() -> None:
    given = {"llmContent": [{"text": "a"}], "error": None}
    assert claude_json.llm_response(given) is given
    assert claude_json.llm_response("a") == {"llmContent": "a", "returnDisplay": "a"}


def test_a_block_has_no_answer_for_the_exit_status_says_it() -> None:
    assert claude_json.answer(Reply("pre-tool-call", "PreToolUse", deny="no")) is None


def test_nothing_to_say_is_an_empty_answer() -> None:
    assert claude_json.answer(Reply("pre-tool-call", "PreToolUse")) == {}
    assert claude_json.answer(Reply("permission-request", "PermissionRequest", context="x", message="y")) == {}


@pytest.mark.parametrize(
    ("reply", "decision"),
    [({"deny": "no"}, {"behavior": "deny", "message": "no"}), ({"approve": "fine"}, {"behavior": "allow"})],
)
def test_a_permission_is_answered_by_its_behavior(reply: dict[str, str], decision: dict[str, str]) -> None:
    answer = claude_json.answer(Reply("permission-request", "PermissionRequest", **reply))  # type: ignore[arg-type]
    assert answer == {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def test_texts_for_the_model_and_for_the_person_stand_in_their_own_places() -> None:
    reply = Reply("pre-tool-call", "PreToolUse", tool_input={"a": 1}, context="model", message="person")
    assert claude_json.answer(reply) == {
        "systemMessage": "person",
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"a": 1}, "additionalContext": "model"},
    }
