"""An MCP server called `canary` in the settings of an agent, for a run of it, and calls of its tools."""

from __future__ import annotations

import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from hosts import mcp_server
from tenterhook.agents.headless import edited_json, edited_toml, edited_yaml
from tenterhook.agents.protocol import call

if TYPE_CHECKING:
    from tenterhook.agents.protocol import Agent
    from tenterhook.basics.model_script import ScriptedCall


class Setting(NamedTuple):
    """Where an agent is told of a server, below the home, and what else it is told than the command."""

    file: str
    more: dict[str, Any] = {}
    key: str = "mcpServers"


SETTINGS = {
    "claude-code": Setting(".claude.json", {"type": "stdio"}),
    "cline": Setting(".cline/data/settings/cline_mcp_settings.json", {"type": "stdio", "disabled": False}),
    "codex": Setting(".codex/config.toml", key="mcp_servers"),
    "copilot": Setting(".copilot/mcp-config.json", {"type": "local", "tools": ["*"]}),
    "droid": Setting(".factory/mcp.json", {"type": "stdio"}),
    "gemini": Setting(".gemini/settings.json", {"trust": True}),
    "hermes": Setting(".hermes/config.yaml", key="mcp_servers"),
    "kimi-cli": Setting(".kimi/mcp.json"),
    "kimi-code": Setting(".kimi-code/mcp.json"),
    "opencode": Setting(".config/opencode/opencode.json", {"type": "local"}, "mcp"),
    "openhands": Setting(".openhands/mcp.json"),
    "pi": Setting(".pi/agent/mcp.json", {"exposure": "direct"}),
    "qwen": Setting(".qwen/settings.json", {"trust": True}),
    "vibe": Setting(".vibe/config.toml", {"name": "canary", "transport": "stdio"}, "mcp_servers"),
}
_EDITED = {".toml": edited_toml, ".yaml": edited_yaml, ".json": edited_json}
_NAMESPACES = {"codex": "mcp__canary"}  # in which models find the tool, where hooks are told both in one name
WITHOUT_SERVER = ("openhands",)  # these call a tool by its bare name


def with_server(live: Agent, file: Path | None = None) -> Agent:
    """The agent with the server, which is added when its home has been prepared; `file` is what its `read` returns."""
    setting = SETTINGS[live.name]
    command, arguments = sys.executable, [mcp_server.__file__, *([str(file)] if file else [])]
    own = {"command": [command, *arguments]} if live.name == "opencode" else {"command": command, "args": arguments}
    entry = {**own, **setting.more}

    class WithServer(type(live)):  # type: ignore[misc]  # the class is one of several
        def prepare(self, home: Path, url: str) -> None:
            super().prepare(home, url)
            with _EDITED[PurePath(setting.file).suffix](home / setting.file) as settings:
                settings[setting.key] = [entry] if live.name == "vibe" else {"canary": entry}

    agent: Agent = WithServer()
    return agent


def tool_call(live: Agent, tool: str, **given: str) -> ScriptedCall:
    """A call of one of the server's tools, as the agent's model makes it."""
    if live.name == "vibe":  # in programs only
        passed = ", ".join(f"{key}: '{value}'" for key, value in given.items())
        program = f"async function main() {{ return await tools.mcp_canary.{tool}({{{passed}}}) }}"
        return call("run_typescript", {"code": program})
    if live.name == "openhands":
        given["security_risk"] = "LOW"
    namespace, spelling = _NAMESPACES.get(live.name), live.mcp_spelling
    is_bare = namespace or spelling is None or live.name in WITHOUT_SERVER
    name = tool if is_bare or spelling is None else f"{spelling[0]}canary{spelling[1]}{tool}"
    return call(name, given)._replace(namespace=namespace)
