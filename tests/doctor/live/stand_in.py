"""An agent for tests, whose program is a shell script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenterhook.agents.protocol import Agent

if TYPE_CHECKING:
    from pathlib import Path


class StandIn(Agent):
    """An agent whose command is whatever a test wants it to be."""

    name = "stand-in"

    def __init__(self, *command: str) -> None:
        self.words = command

    def prepare(self, home: Path, url: str) -> None:
        home.mkdir(exist_ok=True)

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"URL": url}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        return [str(executable), *self.words, "resumed" if resume else "new"]


ASK = """
import json, sys, urllib.request
def ask(results):
    body = {"tools": [1], "messages": [{"role": "tool", "tool_call_id": str(n), "content": r} for n, r in results]}
    data = json.dumps(body).encode()
    with urllib.request.urlopen(sys.argv[1] + "/v1/chat/completions", data) as answer:
        return json.load(answer)["choices"][0]["message"]
"""
