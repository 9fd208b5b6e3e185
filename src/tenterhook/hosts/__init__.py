"""The agents we live in: for each an event reader and a verdict writer. One table lists them."""

from __future__ import annotations

from ..basics.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .wire import Codec


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
    """The language of one agent: the others are not even loaded."""
    module = __import__(f"{__name__}.{HOSTS[name].module}", fromlist=["CODEC"])
    found: Codec = module.CODEC
    return found
