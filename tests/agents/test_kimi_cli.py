"""Kimi CLI, and what Kimi Code shares with it: entries that it cannot read, and text instead of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hosts.homes import URL, prepared, write
from hosts.recorded import answer
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.parametrize(("first", "which"), [("#!/usr/bin/env node", "kimi-code"), ("#!/bin/python3", "kimi-cli")])
def test_two_programs_are_called_kimi(first: str, which: str, tmp_path: Path) -> None:
    program = tmp_path / "kimi"
    program.write_text(f"{first}\n")
    assert [name for name in ("kimi-cli", "kimi-code") if AGENTS[name].is_program(str(program))] == [which]


@pytest.mark.parametrize(
    ("shim", "which"),
    [
        ("#!/usr/bin/env bash\n# asdf-plugin: nodejs 24.1.0\n", "kimi-code"),
        ("#!/usr/bin/env bash\nexec pyenv exec kimi\n", "kimi-cli"),
        ("#!/bin/sh\n'''exec' '/a/long/path/bin/python' kimi\n", "kimi-cli"),
    ],
)
def test_a_shim_is_the_program_of_the_language_that_it_names(shim: str, which: str, tmp_path: Path) -> None:
    program = tmp_path / "kimi"
    program.write_text(shim)
    assert [name for name in ("kimi-cli", "kimi-code") if AGENTS[name].is_program(str(program))] == [which]


@pytest.mark.parametrize(
    ("settings", "which"), [((), "kimi-code"), ((".kimi",), "kimi-cli"), ((".kimi", ".kimi-code"), "kimi-code")]
)
def test_a_shim_that_names_no_language_is_the_program_with_settings(
    settings: tuple[str, ...], which: str, home: Path, tmp_path: Path
) -> None:
    program = tmp_path / "kimi"
    program.write_bytes(b"\x7fELF")
    for directory in settings:
        (home / directory).mkdir()
    assert [name for name in ("kimi-cli", "kimi-code") if AGENTS[name].is_program(str(program))] == [which]


def test_it_honours_a_block_and_hears_nothing_else() -> None:
    said = answer("kimi-cli/PreToolUse", Verdict("", Action.DENY, "no", additional_context=("more",)))
    assert (said.blocks, said.stdout, said.stderr) == (True, "", "no\n\nmore\n")
    said = answer("kimi-cli/UserPromptSubmit", Verdict("", additional_context=("ctx",), messages=("look",)))
    assert (said.stdout, said.stderr, said.blocks) == ("", "", False)
    assert len(said.lost) == 2


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ('event = "PreToolUse"\ncommand = "x"', None),
        ('event = "PreToolUse"\ncommand = "x"\ntimeout = 600\nmatcher = ""\nfail_mode = "closed"', None),
        ('event = "PermissionRequest"\ncommand = "x"', "unknown event"),
        ('command = "x"', "unknown event None"),
        ('event = ["Stop"]\ncommand = "x"', "unknown event ['Stop']"),
        ('event = "Stop"\ncommand = "x"\npriority = 1', "unknown key 'priority'"),
        ('event = "Stop"\ncommand = "x"\ntimeout = 601', "not between 1 and 600"),
        ('event = "Stop"\ncommand = " "', "no command"),
    ],
)
def test_an_entry_that_it_cannot_read_keeps_it_from_starting(home: Path, entry: str, wrong: str | None) -> None:
    good = '[[hooks]]\nevent = "Stop"\ncommand = "x"\n'
    file = write(home, "kimi-cli", f"{good}[[hooks]]\n{entry}\n")
    found = [what for what, _ in AGENTS["kimi-cli"].switches(str(file), "/")]
    assert len(found) == (wrong is not None)
    if wrong:
        assert f"number 2: {wrong}" in found[0] or wrong in found[0]
        assert found[0].endswith("Kimi CLI does not start")
