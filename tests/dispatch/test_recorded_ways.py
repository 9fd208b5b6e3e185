"""What agents really sent, through the line in their settings: alone and with a hub, the same to the byte."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from dispatch.bridges import BRIDGE, HANG, answered, install, record, serving
from hosts.recorded import native_name, placed, recorded, sent
from support import FEW, folder_hook, user_hooks
from tenterhook.agents import AGENTS
from tenterhook.events import EVENTS

if TYPE_CHECKING:
    from pathlib import Path

SAYS = {"decision": "ask", "reason": "are you sure", "additional_context": "mind this", "message": "heard"}
SCRIPT = f"""cat >> "$TENTERHOOK_WORK_DIR/heard"; echo >> "$TENTERHOOK_WORK_DIR/heard"; echo '{json.dumps(SAYS)}'"""
# One agent is tried always, two more with the slow tests, the others where there is time.
TRIED = [
    "claude-code",
    *(pytest.param(name, marks=pytest.mark.slow) for name in FEW if name != "claude-code"),
    *(pytest.param(name, marks=pytest.mark.thorough) for name in AGENTS if name not in FEW),
]


def answers(agent: str, home: Path, project: Path) -> list[tuple[int, bytes, bytes, str]]:
    """What comes of each recording, and what hooks were sent, but for the time."""
    said = []
    for file in recorded(agent):
        shutil.rmtree(home / ".local/state/tenterhook/sessions", ignore_errors=True)
        (project / "heard").unlink(missing_ok=True)
        payload = json.dumps(placed(sent(file), project)).encode()
        arguments = ["--host", agent, "--event", native_name(file), "--record", str(record(agent))]
        line = [sys.executable, "-I", "-S", BRIDGE, *arguments]
        ended = subprocess.run(line, input=payload, capture_output=True, timeout=HANG)
        heard = (project / "heard").read_text() if (project / "heard").exists() else ""
        told = (ended.returncode, ended.stdout, ended.stderr, re.sub(r'"timestamp": "[^"]*"', "", heard))
        said.append(told)
    return said


@pytest.mark.parametrize("agent", TRIED)
def test_a_hub_answers_what_was_recorded_as_the_line_does_alone(agent: str, home: Path, project: Path) -> None:
    for event in EVENTS:
        folder_hook(user_hooks(home), event.name, SCRIPT, event.name)
    install(agent)
    alone = answers(agent, home, project)
    assert any(stdout or stderr for _, stdout, stderr, _ in alone)
    assert sum(bool(heard) for *_, heard in alone) > len(alone) // 2
    with serving():
        assert answers(agent, home, project) == alone
    assert answered(home) > len(alone) // 2  # on a busy machine the line does not always wait for the hub
