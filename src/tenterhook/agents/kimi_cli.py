"""Kimi CLI: like Kimi Code, with fewer events; it supports only blocks."""

from __future__ import annotations

import os

from . import codec, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

_KEYS = {"event", "matcher", "command", "timeout", "fail_mode"}


class Kimi(protocol.Agent):
    """The part that the two programs called `kimi` share: the array format, and exit status 2 as a block."""

    input_keys: ClassVar = {"file_path": "path"}
    tools = ("CreateSubagent", "ReadMediaFile", "SendDMail", "SetTodoList", "Think", "TodoList")

    def read_event(self, payload: dict[str, Any], native: str) -> codec.Received:
        return self.received(codec.read_array(payload, native, self.events), native, payload)

    def answer(self, reply: codec.Reply) -> str | None:
        """Return the context as plain text; JSON would be shown as it is."""
        return None if reply.deny is not None else reply.context or ""

    variable_prefix = "KIMI_"
    file = "config.toml"
    toml = True
    is_hook_source = True
    is_node_script: bool
    bad_entry: str  # what happens to an entry that it cannot read

    def entry(self, event: str, line: str, seconds: int) -> dict[str, Any]:
        return {"event": event, "command": line, "timeout": seconds}

    def is_program(self, program: str) -> bool:
        """Decide by the interpreter; a shim that does not name it, by which of the two programs has settings here."""
        try:
            with open(program, "rb") as file:
                head = file.read(512)
        except OSError:
            head = b""
        if b"python" in head.partition(b"\n")[0]:
            return not self.is_node_script
        if b"node" in head or "node_modules" in os.path.realpath(program):
            return self.is_node_script
        if b"python" in head or b"pyenv" in head:
            return not self.is_node_script
        homes = [os.path.isdir(os.path.expanduser(directory)) for directory in ("~/.kimi", "~/.kimi-code")]
        return self.is_node_script != (homes == [True, False])

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        from .settings_files import read_toml

        hooks = read_toml(settings).get("hooks")
        for number, hook in enumerate(hooks if isinstance(hooks, list) else (), start=1):
            if wrong := self._wrong(hook):
                what = f"{settings}, [[hooks]] number {number}: {wrong}; {self.title} {self.bad_entry}"
                yield what, "fix or remove it"

    def _wrong(self, hook: Any) -> str | None:
        if not isinstance(hook, dict):
            return "it is not a table"
        event = hook.get("event")
        if not isinstance(event, str) or event not in self.events:
            return f"unknown event {event!r}"
        if unknown := set(hook) - _KEYS:
            return f"unknown key {min(unknown)!r}"
        timeout = hook.get("timeout", 30)
        if not isinstance(timeout, int) or not 1 <= timeout <= protocol.LONGEST:
            return f"timeout {timeout!r} is not between 1 and {protocol.LONGEST}"
        return None if isinstance(hook.get("command"), str) and hook["command"].strip() else "no command"

    subagent_type = "coder"
    provider_type: str
    model_capabilities: tuple[str, ...] = ()

    def prepare(self, home: Path, url: str) -> None:
        from .headless import drop, edited_toml

        with edited_toml(home / self.headless_settings) as settings:
            drop(settings, "services", "mcp")
            settings["default_model"] = protocol.PROVIDER
            settings["telemetry"] = False
            model: dict[str, Any] = {
                "provider": protocol.PROVIDER,
                "model": protocol.MODEL,
                "max_context_size": 200_000,
            }
            if self.model_capabilities:
                model["capabilities"] = list(self.model_capabilities)
            settings["models"] = {protocol.PROVIDER: model}
            settings["providers"] = {
                protocol.PROVIDER: {"type": self.provider_type, "base_url": f"{url}/v1", "api_key": protocol.KEY}
            }


class KimiCli(Kimi):
    name = "kimi-cli"
    title = "Kimi CLI"

    # It refuses to start with an event that is not among these.
    events: ClassVar = {
        "PreToolUse": "pre-tool-call",
        "PostToolUse": "post-tool-call",
        "PostToolUseFailure": "post-tool-call-failure",
        "UserPromptSubmit": "pre-agent-turn",
        "Stop": "pre-agent-turn-stop",
        "StopFailure": "post-agent-turn-failure",
        "SessionStart": "pre-session",
        "SessionEnd": "post-session",
        "SubagentStart": "pre-subagent",
        "SubagentStop": "post-subagent",
        "PreCompact": "pre-context-compact",
        "PostCompact": "post-context-compact",
        "Notification": "notification",
    }
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop")), context=frozenset()
    )

    mcp_spelling = None

    executables = ("kimi-cli", "kimi")
    directory = ".kimi"
    variable = "KIMI_SHARE_DIR"
    is_node_script = False
    bad_entry = "does not start"

    headless_settings = ".kimi/config.toml"
    provider_type = "openai_legacy"
    shell_tool = "Shell"
    write_tool = "WriteFile"

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"KIMI_CLI_NO_AUTO_UPDATE": "1"}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = [] if mode == protocol.PLAIN else ["--yolo"]
        flags += ["--continue"] if resume else []
        return [str(executable), "--print", "--work-dir", str(project), *flags, "--prompt", prompt]


AGENT = KimiCli()
