"""One script of a model: what a file says is what the bundled agent and an agent over HTTP are given."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from tenterhook.basics.model_script import AGENT, SUMMARY, ModelScript, ScriptedCall, ScriptError, Turn
from tenterhook.doctor.live.model import ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = [{"type": "function", "function": {"name": "Shell"}}]


def load(tmp_path: Path, **found: Any) -> ModelScript:
    file = tmp_path / "script.yaml"
    file.write_text(json.dumps(found))  # JSON is YAML
    return ModelScript.load(str(file))


def ask(model: ScriptedModel, text: str) -> Any:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "tools": TOOLS}
    request = urllib.request.Request(
        f"{model.url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def test_a_file_is_read_into_turns_by_speaker(tmp_path: Path) -> None:
    answer = {"calls": [{"tool": "Shell", "input": {"command": "ls"}, "id": "mine"}], "tokens": {"input": 7}}
    script = load(tmp_path, answers=[answer], tasks={"helper": [{"error": {"status": 503}}]}, summaries=[{"text": 5}])
    called = ScriptedCall("Shell", {"command": "ls"}, id="mine")
    assert script.take(AGENT, {}) == Turn(calls=(called,), tokens=7, output_tokens=0)
    assert script.take("helper", {}) == Turn("error", status=503, tokens=0, output_tokens=0, speaker="helper")
    assert script.take(SUMMARY, {}) == Turn("5", tokens=0, output_tokens=0, speaker=SUMMARY)
    assert script.is_used_up
    assert str(script.used_up("helper")).endswith("has no answer left for helper: 1 were given")


def test_a_turn_that_expects_something_else_is_refused() -> None:
    script = ModelScript([Turn("a", expect="fou[n]d")])
    turn = script.take(AGENT, {})
    assert turn is not None
    script.check_expected(turn, "it was found")
    with pytest.raises(ScriptError, match="expects 'fou"):
        script.check_expected(turn, "it was lost")


def test_a_file_can_be_served_over_http(tmp_path: Path) -> None:
    answers = [{"calls": [{"tool": "Shell", "input": {"command": "ls"}}], "tokens": {"input": 7, "output": 3}}]
    with ScriptedModel(load(tmp_path, answers=[*answers, {"text": "Done.", "expect": "found"}])) as model:
        first = ask(model, "go")
        (call,) = first["choices"][0]["message"]["tool_calls"]
        assert call["function"] == {"name": "Shell", "arguments": '{"command": "ls"}'}
        assert first["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(model, "lost")
        assert refused.value.code == 400
        assert "expects 'found'" in refused.value.read().decode()
