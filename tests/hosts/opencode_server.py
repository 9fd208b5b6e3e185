"""opencode as its own interface drives it, through `opencode serve`: `opencode run` answers every question by itself.

    python tests/hosts/opencode_server.py EXECUTABLE PROMPT

The person in front of it says no to every question that nobody has answered for a while, and watches until nothing
has happened for a while.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
import urllib.request
from typing import TYPE_CHECKING, Any

from tenterhook.agents.headless import edited_json
from tenterhook.agents.opencode import OpenCode

if TYPE_CHECKING:
    from pathlib import Path

_PATIENCE = 8.0  # seconds for hooks to answer a question
_QUIET = 8.0  # seconds for hooks to send it back


class AskingOpencode(OpenCode):
    """It asks before each shell command."""

    def prepare(self, home: Path, url: str) -> None:
        super().prepare(home, url)
        with edited_json(home / self.headless_settings) as settings:
            settings["permission"] = {"bash": "ask"}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        return [sys.executable, __file__, str(executable), prompt]


class ServedOpencode(AskingOpencode):
    """It asks nothing."""

    def prepare(self, home: Path, url: str) -> None:
        OpenCode.prepare(self, home, url)


class _Person:
    def __init__(self, url: str) -> None:
        self._url = url
        self._open: dict[str, float] = {}  # questions, with the time when they came
        self._idle_since = float("inf")  # it is not
        threading.Thread(target=self._watch, daemon=True).start()
        session = self._call("/session", {})
        self._call(f"/session/{session['id']}/prompt_async", {"parts": [{"type": "text", "text": sys.argv[2]}]})
        while time.monotonic() - self._idle_since < _QUIET:
            time.sleep(0.2)
            for question, since in list(self._open.items()):
                if time.monotonic() - since > _PATIENCE:
                    del self._open[question]
                    self._call(f"/permission/{question}/reply", {"reply": "reject", "message": "The person says no."})

    def _call(self, path: str, body: Any) -> Any:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def _watch(self) -> None:
        with urllib.request.urlopen(f"{self._url}/event", timeout=600) as stream:
            for line in stream:
                if line.startswith(b"data:"):
                    event = json.loads(line[5:])
                    self._see(event["type"], event.get("properties", {}))

    def _see(self, what: str, about: dict[str, Any]) -> None:
        if what == "permission.asked":
            self._open[about["id"]] = time.monotonic()
        elif what == "permission.replied":
            self._open.pop(about["requestID"], None)
        elif what == "session.error":
            self._idle_since = time.monotonic()
        elif what == "session.status":
            self._idle_since = time.monotonic() if about["status"]["type"] == "idle" else float("inf")
        elif what == "tui.toast.show":
            print(about["message"], flush=True)


def main() -> None:
    words = [sys.argv[1], "serve", "--port", "0", "--hostname", "127.0.0.1", "--print-logs"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        found = next(filter(None, (re.search(r"listening on (http://\S+)", line) for line in server.stdout)))
        threading.Thread(target=server.stdout.read, daemon=True).start()
        try:
            _Person(found[1])
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
