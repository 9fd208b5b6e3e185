"""What agents do on a terminal that they cannot do headless."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from hosts import terminal
from hosts.real import shown, told
from tenterhook.agents.cline import Cline
from tenterhook.basics.model_script import Turn

if TYPE_CHECKING:
    from pathlib import Path

    from hosts.real import Guarded

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]
END = "The-report-is-written."


class OnTerminal(Cline):
    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        return [sys.executable, terminal.__file__, prompt, END, str(executable), "--tui"]


@pytest.mark.parametrize("name", ["cline"])
@pytest.mark.parametrize("seconds", [0, 4], ids=["quick", "slower than a plug-in may be"])
def test_a_stop_gate_sends_the_agent_back_with_the_reason(name: str, guarded: Guarded, seconds: int) -> None:
    reason = "the report is missing"
    script = f'sleep {seconds}; [ -e "$KIMI_PROJECT_DIR/report" ] || {{ echo "{reason}" >&2; exit 2; }}'
    guarded.hook("gate", script, "pre-agent-turn-stop")
    guarded.install()
    guarded = guarded._replace(live=OnTerminal())
    came = guarded.run(
        Turn(text="I stop here.", unless=reason),
        Turn(calls=(guarded.touch("report"),), when=reason),
        Turn(text=END, when=reason),
    )
    assert told(came, reason), shown(came)
    assert guarded.left("report"), shown(came)
