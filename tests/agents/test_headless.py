"""What is done to an agent's home before it is run there, and what it is told to do."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tenterhook.agents import AGENTS, headless
from tenterhook.agents.headless import BadSettings
from tenterhook.agents.protocol import MODES, PROMPT, SUBAGENT

URL = "http://127.0.0.1:1"
EVERY = pytest.mark.parametrize("name", AGENTS)
HOOK = {"type": "command", "command": "guard", "timeout": 5}
HOOKS = {"PreToolUse": [{"matcher": "Bash", "hooks": [HOOK]}]}


def write(home: Path, name: str, text: str) -> Path:
    file = home / AGENTS[name].headless_settings
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def prepared(home: Path, name: str, text: str) -> dict[str, Any]:
    """The settings after a home with this text was made ready."""
    file = write(home, name, text)
    AGENTS[name].prepare(home, URL)
    after = file.read_text()
    parsed: dict[str, Any] = tomllib.loads(after) if file.suffix == ".toml" else json.loads(after)
    return parsed


@EVERY
def test_an_empty_home_is_made_ready_twice_over(name: str, home: Path) -> None:
    AGENTS[name].prepare(home, URL)
    AGENTS[name].prepare(home, URL)
    assert (home / AGENTS[name].headless_settings).parent.is_dir()


@pytest.mark.parametrize("name", ["kimi-cli", "kimi-code"])
def test_the_kimis_keep_their_hooks_and_lose_the_key_of_the_real_model(name: str, home: Path) -> None:
    before = """
        # my settings
        default_model = "mine"
        theme = "dark"
        [models.mine]
        provider = "real"
        model = "k"
        max_context_size = 1
        [providers.real]
        type = "kimi"
        base_url = "https://example.invalid"
        api_key = "sk-real"
        [[hooks]]
        event = "PreToolUse"
        matcher = "Bash"
        command = "guard"
        """
    after = prepared(home, name, before)
    assert after["hooks"] == [{"event": "PreToolUse", "matcher": "Bash", "command": "guard"}]
    assert after["theme"] == "dark"
    model = after["models"][after["default_model"]]
    assert after["providers"][model["provider"]]["base_url"] == f"{URL}/v1"
    text = (home / AGENTS[name].headless_settings).read_text()
    assert "sk-real" not in text
    assert "# my settings" in text


def test_claude_code_keeps_hooks_and_loses_what_outranks_the_scripted_model(home: Path) -> None:
    kept = {"hooks": HOOKS, "disableAllHooks": True}
    before = {**kept, "apiKeyHelper": "x", "env": {"ANTHROPIC_BASE_URL": "x", "MY_TOKEN": "x", "GUARD_MODE": "strict"}}
    assert prepared(home, "claude-code", json.dumps(before)) == {**kept, "env": {"GUARD_MODE": "strict"}}


def test_codex_keeps_hooks_and_their_trust(home: Path) -> None:
    before = """
        model = "mine"
        profile = "work"
        [hooks.state."/x/hooks.json:pre_tool_use:0:0"]
        trusted_hash = "sha256:1"
        [mcp_servers.real]
        command = "x"
        [model_providers.real]
        name = "real"
        """
    after = prepared(home, "codex", before)
    assert after["hooks"]["state"]["/x/hooks.json:pre_tool_use:0:0"] == {"trusted_hash": "sha256:1"}
    assert list(after["model_providers"]) == [after["model_provider"]]
    assert "mcp_servers" not in after
    assert "profile" not in after


@pytest.mark.parametrize("name", ["gemini", "qwen"])
def test_gemini_and_qwen_keep_hooks_beside_comments(name: str, home: Path) -> None:
    before = '{"hooks": %s, // mine\n "ui": {"theme": "http://x"}, "security": {"auth": {"apiKey": "sk-real"}}}'
    after = prepared(home, name, before % json.dumps(HOOKS))
    assert after["hooks"] == HOOKS
    assert after["ui"] == {"theme": "http://x"}
    assert list(after["security"]["auth"]) == ["selectedType"]


def test_copilot_keeps_hooks_and_loses_its_login(home: Path) -> None:
    before = {"hooks": HOOKS, "model": "mine", "copilotTokens": {"x": "gho_real"}}
    assert prepared(home, "copilot", json.dumps(before)) == {"hooks": HOOKS}


@EVERY
def test_settings_that_cannot_be_read_are_an_error_that_names_the_file_and_leaves_it_alone(
    name: str, home: Path
) -> None:
    file = write(home, name, "= { nonsense")
    with pytest.raises(BadSettings, match=file.name):
        AGENTS[name].prepare(home, URL)
    assert file.read_text() == "= { nonsense"


@EVERY
def test_every_mode_has_a_command_that_says_the_prompt_or_a_reason_why_not(name: str, tmp_path: Path) -> None:
    agent = AGENTS[name]
    assert {*agent.modes, *agent.missing_modes} == set(MODES)
    for mode in agent.modes:
        assert PROMPT in agent.command(Path("/bin/agent"), PROMPT, tmp_path, mode)


@EVERY
def test_a_subagents_calls_are_kept_for_requests_without_the_main_prompt(name: str) -> None:
    agent = AGENTS[name]
    call = agent.shell_call("true")
    holding = [turn for turn in agent.script(SUBAGENT, call, prompt="mine") if call in turn.calls]
    assert [turn.unless for turn in holding] == ["mine"]


@pytest.mark.parametrize(
    ("says", "version"), [("kimi, version 1.49.0", "1.49.0"), ("v2.1.0 (beta)", "2.1.0"), ("what?", None)]
)
def test_the_version_is_in_what_a_program_prints(says: str, version: str | None, tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)
    assert headless.version(str(program)) == version
    program.write_text("#!/bin/sh\nexit 1\n")
    assert headless.version(str(program)) is None
    assert headless.version(str(tmp_path / "missing")) is None


@pytest.mark.parametrize(("first", "which"), [("#!/usr/bin/env node", "kimi-code"), ("#!/bin/python3", "kimi-cli")])
def test_two_programs_are_called_kimi(first: str, which: str, tmp_path: Path) -> None:
    program = tmp_path / "kimi"
    program.write_text(f"{first}\n")
    assert [name for name in ("kimi-cli", "kimi-code") if AGENTS[name].is_program(str(program))] == [which]
