"""pi: our extension (plugins/pi.ts) runs our entries. pi has no permissions and no subagents."""

from __future__ import annotations

import os

from . import claude_json, codec, protocol
from .plugin_json import PluginAgent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

# The extension sends a `tool_result` that is an error as `tool_error`, and a `message_end` only for a failure.
_EVENTS = {
    "session_start": "pre-session",
    "session_shutdown": "post-session",
    "input": "pre-agent-turn",
    "tool_call": "pre-tool-call",
    "tool_result": "post-tool-call",
    "tool_error": "post-tool-call-failure",
    "agent_before_settle": "pre-agent-turn-stop",
    "message_end": "post-agent-turn-failure",
    "session_before_compact": "pre-context-compact",
    "session_compact": "post-context-compact",
}


class Pi(PluginAgent):
    name = "pi"
    title = "pi"

    events: ClassVar = _EVENTS
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop", "pre-context-compact")),
        context=frozenset(
            ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call", "post-tool-call-failure")
        ),
        asks=True,
        modifies=True,
        replaces_output=True,
        replaces_error=True,
    )
    dialect = claude_json.Dialect("pi", _EVENTS, tool_response=claude_json.text_response)
    input_keys: ClassVar = {"file_path": "path"}
    tools = ("codemode", "find", "ls", "powershell", "tool_search")
    unattended = (b"PI_UNATTENDED", b"1")  # set by the extension if pi has no interface for questions

    executables = ("pi",)
    variable_prefix = "PI_"
    directory = ".pi/agent"
    variable = "PI_CODING_AGENT_DIR"
    file = "extensions/tenterhook.ts"
    project_file = ".pi/extensions/tenterhook.ts"
    plugin = "pi.ts"
    needs_project_trust = True

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        from .settings_files import read_json

        name = os.path.splitext(os.path.basename(settings))[0]
        for file in (os.path.join(self.home(), "settings.json"), os.path.join(root, ".pi", "settings.json")):
            listed = read_json(file).get("extensions")
            for each in listed if isinstance(listed, list) else ():
                if isinstance(each, str) and each.startswith(("-", "!")) and name in each:
                    yield f"{each!r} in `extensions` of {file} switches our extension off", "remove it"
        if settings != self.settings() and not self._trusts(root):
            what = f"pi does not trust {root}: it asks first, and run with -p it ignores the project's extensions"
            yield what, "start it there and trust the folder, or: tenterhook install pi"

    def _trusts(self, root: str) -> bool:
        """Whether pi trusts a folder, by the user's decision about it or its nearest parent, else by default."""
        from .settings_files import read_json

        decisions = read_json(os.path.join(self.home(), "trust.json"))
        here = os.path.realpath(root)
        while not isinstance(decisions.get(here), bool) and here != "/":
            here = os.path.dirname(here)
        default = read_json(os.path.join(self.home(), "settings.json")).get("defaultProjectTrust") == "always"
        return bool(decisions.get(here, default))

    headless_settings = ".pi/agent/models.json"
    shell_tool = "bash"
    write_tool = "write"
    modes = (protocol.AUTO_APPROVE, protocol.RESUMED)
    missing_modes: ClassVar = {
        protocol.PLAIN: "it has no permissions: every run is one without questions",
        protocol.SUBAGENT: "it has no subagents",
    }

    def prepare(self, home: Path, url: str) -> None:
        from .headless import edited_json

        model: dict[str, Any] = {"id": protocol.MODEL, "name": protocol.MODEL, "reasoning": False, "input": ["text"]}
        model |= {"contextWindow": 200_000, "maxTokens": 4096}
        model["cost"] = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
        with edited_json(home / self.headless_settings) as settings:
            settings["providers"] = {
                protocol.PROVIDER: {
                    "baseUrl": f"{url}/v1",
                    "api": "openai-completions",
                    "apiKey": protocol.KEY,
                    "models": [model],
                }
            }

    def copy_trust(self, home: Path, root: str | None, project: Path) -> None:
        import json

        if root is not None and self._trusts(root):
            copy = home / self.directory
            copy.mkdir(parents=True, exist_ok=True)
            (copy / "trust.json").write_text(json.dumps({str(project): True}))

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = ["--provider", protocol.PROVIDER, "--model", protocol.MODEL, *(["--continue"] if resume else [])]
        return [str(executable), *flags, "--print", prompt]


AGENT = Pi()
