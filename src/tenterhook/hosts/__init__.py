"""The agents we live in: for each an event reader and a verdict writer. One table lists them."""

from __future__ import annotations

from ..values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from ..model import Verdict
    from .wire import Answer, Received

    class Codec(Protocol):
        """What a module here provides."""

        EVENTS: Mapping[str, str]  # the agent's name for an event, to ours

        def read_event(self, payload: dict[str, Any], native: str) -> Received:
            """The event that the agent tells of, with its payload kept whole."""

        def write_verdict(self, received: Received, verdict: Verdict) -> Answer:
            """The verdict as the agent is known to honour it."""


class Host(NamedTuple):
    """One agent: its name on our command line, what people call it, and the module that speaks its language."""

    name: str
    title: str
    module: str


HOSTS = {
    host.name: host
    for host in (
        Host("claude-code", "Claude Code", "claude_code"),
        Host("kimi-code", "Kimi Code", "kimi_code"),
        Host("kimi-cli", "Kimi CLI", "kimi_cli"),
        Host("codex", "Codex", "codex"),
        Host("gemini", "Gemini CLI", "gemini"),
        Host("qwen", "Qwen Code", "qwen"),
        Host("copilot", "Copilot CLI", "copilot"),
    )
}


def codec(name: str) -> Codec:
    """Load the module of one agent: the others cost nothing."""
    module: Codec = __import__(f"{__name__}.{HOSTS[name].module}", fromlist=["EVENTS"])
    return module
