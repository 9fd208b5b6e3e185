"""The agent's settings and rules: a file that cannot be understood is an error, since it may hold denials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import write_config
from tenterhook.bundled_agent import settings
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from pathlib import Path


def write(home: Path, text: str) -> None:
    write_config(home / ".config" / "tenterhook" / "config.toml", text)


def test_without_a_file_the_defaults_hold(home: Path) -> None:
    assert settings.load() == settings.AgentSettings()
    write(home, "[journal]\nkeep_days = 3\n")
    assert settings.load() == settings.AgentSettings()


def test_settings_and_rules_are_read(home: Path) -> None:
    text = '[agent]\nmodel = "scripted:x"\nmode = "yolo"\nmax_steps = 7\ntools = { run = "Shell" }\n'
    write(home, f'{text}[[approvals.rules]]\nanswer = "deny"\n')
    found = settings.load()
    assert (found.model, found.mode, found.max_steps, found.compact_above) == ("scripted:x", "yolo", 7, 120_000)
    assert found.tools == {"run": "Shell"}
    assert [rule.answer for rule in found.rules] == ["deny"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agent = 3", "agent is not a table"),
        ("[agent]\nmodle = 'x'", "agent.modle"),
        ("[agent]\nmax_steps = true", "agent.max_steps"),
        ("[agent]\nmax_steps = '7'", "agent.max_steps"),
        ("[agent]\nmode = 'always'", "agent.mode"),
        ("[agent]\ntools = { run_shell = 'Shel' }", "agent.tools: run_shell = 'Shel' is not a tool"),
        ("[agent]\ntools = { run_shell = 3 }", "agent.tools: run_shell = 3 is not a tool"),
        ("[agent]\ntools = ['run_shell']", "agent.tools"),
        ("[agent", "config.toml"),
    ],
)
def test_a_setting_that_is_wrong_is_an_error_with_a_remedy(home: Path, text: str, message: str) -> None:
    write(home, text)
    with pytest.raises(HookError) as raised:
        settings.load()
    assert message in raised.value.message
    assert raised.value.remedy
