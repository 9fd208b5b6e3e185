"""The agents that Tenterhook runs in: one module each, with an instance of `protocol.Agent` called `AGENT`.

A new agent is one module, one row of `_MODULES`, and its recorded payloads in tests/hosts/data. A module is imported
when it is first used, so that an event imports the module of its own agent only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .claude_json import Dialect
    from .protocol import Agent

# The name of each agent on the command line and in records, and its module.
_MODULES = {
    "claude-code": "claude_code",
    "kimi-code": "kimi_code",
    "kimi-cli": "kimi_cli",
    "codex": "codex",
    "gemini": "gemini",
    "qwen": "qwen",
    "copilot": "copilot",
    "droid": "droid",
    "pi": "pi",
    "vibe": "vibe",
    "openhands": "openhands",
    "hermes": "hermes",
    "cline": "cline",
    "opencode": "opencode",
    "cursor": "cursor",
    "goose": "goose",
}
# The agent of each format in `events.AGENT_FORMATS`.
FORMATS = {"claude": "claude-code", "codex": "codex", "gemini": "gemini", "qwen": "qwen"}


class _Agents:
    """The agents by name, like a dict, whose modules are imported on access."""

    def __getitem__(self, name: str) -> Agent:
        module = __import__(f"{__name__}.{_MODULES[name]}", fromlist=["AGENT"])
        found: Agent = module.AGENT
        return found

    def __contains__(self, name: object) -> bool:
        return name in _MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)

    def values(self) -> list[Agent]:
        """Return all agents; imports all modules."""
        return [self[name] for name in _MODULES]


AGENTS = _Agents()


def dialect(format_: str) -> Dialect:
    """Return the dialect of an agent's own settings; `format_` is a key of `FORMATS`."""
    found = AGENTS[FORMATS[format_]].dialect
    assert found is not None, format_
    return found
