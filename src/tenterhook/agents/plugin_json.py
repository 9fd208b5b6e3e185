"""The JSON between Tenterhook and its own plug-ins (agents/plugins), for agents that have no settings for hooks.

A plug-in sends Claude Code's payloads, with the agent's own names of events, and maps the answer. A block is exit
status 2 with the reason on stderr, as for the launcher.
"""

from __future__ import annotations

from ..basics import light_json
from . import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .codec import Received, Reply


class PluginAgent(protocol.Agent):
    """An agent in which our plug-in, which is written to `file`, runs our entries."""

    plugin: str

    def entry(self, event: str, line: str, seconds: int) -> dict[str, Any]:
        return {"command": line, "timeout": seconds}

    def native_output(self, received: Received, output: Any) -> Any:
        return light_json.text(output)

    def answer(self, reply: Reply) -> dict[str, Any] | None:
        if reply.deny is not None:
            return None
        given = {
            "ask": reply.ask,
            "approve": reply.approve,
            "input": reply.tool_input,
            "output": reply.output,
            "context": reply.context,
            "systemMessage": reply.message,
        }
        return {name: value for name, value in given.items() if value is not None}
