"""Claude Code in its own terminal, driven by a scripted model: what is on the screen, what keys do."""

from __future__ import annotations

import contextlib
import json
import re
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple

import pexpect

from support import close_terminal
from tenterhook.agents import AGENTS
from tenterhook.agents.headless import search_path
from tenterhook.agents.protocol import PROMPT
from tenterhook.doctor.live.model import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hosts.real import Guarded
    from tenterhook.basics.model_script import Turn

CLAUDE = AGENTS["claude-code"]
_MOVES = r"(?:\s|\x1b\[[0-9;?]*[ -/]*[@-~])*"  # what may stand between two words on a screen that is drawn
_PATIENCE = 60  # seconds


class ClaudeTerminal(NamedTuple):
    """A session with a person at a terminal."""

    child: pexpect.spawn[str]
    model: ScriptedModel

    def sees(self, text: str) -> None:
        """Wait until these words are written, one after another."""
        self.child.expect(_MOVES.join(map(re.escape, text.split())), timeout=_PATIENCE)

    def press(self, key: str) -> None:
        self.child.send(key)

    def say(self, text: str) -> None:
        """Type a line; the program takes keys that come all at once for something pasted."""
        self.child.send(text)
        self.sees(text)
        self.child.send("\r")


@contextlib.contextmanager
def session(guarded: Guarded, *turns: Turn) -> Iterator[ClaudeTerminal]:
    """A session in which the model says this, ready for its first prompt."""
    with ScriptedModel(turns) as model:
        CLAUDE.prepare(guarded.home, model.url)
        answer_first_questions(guarded.home, guarded.project)
        child: pexpect.spawn[str] = pexpect.spawn(
            str(guarded.executable),
            ["--permission-mode", "default"],
            cwd=str(guarded.project),
            env={
                "PATH": search_path(str(guarded.executable)),
                "HOME": str(guarded.home),
                "TMPDIR": str(guarded.home),
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                "SHELL": "/bin/sh",
                **CLAUDE.environment(guarded.home, model.url),
            },
            encoding="utf-8",
            codec_errors="replace",
            dimensions=(50, 140),
            use_poll=True,
        )
        child.logfile_read = StringIO()
        terminal = ClaudeTerminal(child, model)
        try:
            terminal.sees("? for shortcuts")
            yield terminal
        finally:
            close_terminal(child)


def begin(terminal: ClaudeTerminal) -> None:
    """Give the prompt that the script is for."""
    terminal.say(PROMPT)


def answer_first_questions(home: Path, project: Path) -> None:
    """A first start asks about colours, the key and the folder."""
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["not-a-key"], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(known))
