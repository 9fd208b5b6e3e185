"""Requests to a scripted model over real HTTP, and what it answered."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

from tenterhook.doctor.live.model import ScriptedCall

if TYPE_CHECKING:
    from tenterhook.doctor.live.model import ScriptedModel

SHELL = ScriptedCall("shell", {"command": "echo 'hi'"})
TOOLS = [{"name": "shell"}]


def post(model: ScriptedModel, path: str, body: Any) -> str:
    data = json.dumps(body).encode()
    request = urllib.request.Request(model.url + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return str(response.read().decode())


def events(text: str) -> list[tuple[str | None, Any]]:
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        data = lines["data"]
        found.append((lines.get("event"), data if data == "[DONE]" else json.loads(data)))
    return found


def chat(model: ScriptedModel, content: str = "go", **more: Any) -> str:
    """One chat completion; with tools unless told otherwise."""
    body = {"model": "m", "messages": [{"role": "user", "content": content}], "tools": TOOLS, **more}
    return post(model, "/v1/chat/completions", body)


def said(answer: str) -> Any:
    return json.loads(answer)["choices"][0]["message"]["content"]
