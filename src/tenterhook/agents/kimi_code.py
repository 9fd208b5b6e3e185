"""Kimi Code: it sends the payloads of the array format, and exit status 2 is a block."""

from __future__ import annotations

from . import codec, kimi_cli

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import ClassVar


class KimiCode(kimi_cli.Kimi):
    name = "kimi-code"
    title = "Kimi Code"

    # Kimi Code drops every hook if one of them names an event that is not listed here.
    events: ClassVar = {
        **kimi_cli.KimiCli.events,
        "PermissionRequest": "permission-request",
        "PermissionResult": "permission-result",
        "UserPromptQueued": "prompt-queued",
        "TurnStarted": "turn-started",
        "TaskStarted": "task-started",
        "Interrupt": "interrupt",
        "SessionHeartbeat": "session-heartbeat",
    }
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop")),
        context=frozenset(("pre-agent-turn",)),
    )

    executables = ("kimi-code", "kimi")
    directory = ".kimi-code"
    variable = "KIMI_CODE_HOME"
    is_node_script = True
    bad_entry = "drops every hook"

    headless_settings = ".kimi-code/config.toml"
    provider_type = "openai"
    model_capabilities = ("tool_use",)

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"KIMI_DISABLE_TELEMETRY": "1", "KIMI_CODE_NO_AUTO_UPDATE": "1"}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        return [str(executable), *(["--continue"] if resume else []), "--prompt", prompt]


AGENT = KimiCode()
