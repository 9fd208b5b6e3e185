"""Which model answers, and what is said about one that cannot be used."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from support import tenterhook
from tenterhook.bundled_agent import models
from tenterhook.bundled_agent.scripted import PydanticScriptedModel
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from pathlib import Path

FILE = "/home/me/.config/tenterhook/config.toml"


def test_without_a_model_it_is_said_how_to_name_one(project: Path) -> None:
    ended = tenterhook("agent", "go", stdin=subprocess.DEVNULL)
    assert ended.returncode == 1
    assert "no model is configured" in ended.stderr
    assert "scripted:FILE" in ended.stderr
    assert "config.toml" in ended.stderr


@pytest.mark.parametrize("model", ["nosuchprovider:x", "nonsense", "openai:"])
def test_a_model_that_nobody_knows_is_said(model: str) -> None:
    with pytest.raises(HookError) as raised:
        models.named(model, None, FILE)
    assert "--model" in raised.value.remedy


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("ollama:qwen3", "OLLAMA_BASE_URL"),
    ],
)
def test_a_model_without_its_key_names_the_variable_and_the_way_without_one(
    model: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(HookError) as raised:
        models.named(model, None, FILE)
    assert f"{model} needs {variable}" in raised.value.message
    assert f"export {variable}=" in raised.value.remedy
    assert "--model scripted:FILE" in raised.value.remedy


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name in ("openai:local", "local"):
        model = models.named(name, "http://127.0.0.1:9/v1", FILE)
        assert (model.model_name, str(model.base_url).rstrip("/")) == ("local", "http://127.0.0.1:9/v1")


def test_a_script_speaks_for_each_with_answers_of_their_own(project: Path) -> None:
    (project / "script.yaml").write_text("answers: [{text: hello}]\ntasks: {reviewer: [{text: fine}]}\n")
    model = models.named("scripted:script.yaml", "http://ignored", FILE)
    assert isinstance(model, PydanticScriptedModel)
    assert models.for_speaker(model, "reviewer") is not model
