"""How each agent is found, where it keeps its hooks, and in which form."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import places
from ..errors import HookError
from ..hosts import HOSTS, codec
from . import edits, json_text, lines, toml_text, wiring

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LONGEST = 600  # seconds: what every agent takes, and the longest a hook may have


class Agent(NamedTuple):
    """One row: what `install` and `doctor` know about an agent beyond its language."""

    name: str
    executables: tuple[str, ...]
    directory: str  # below the home
    variable: str | None  # moves that directory
    file: str  # in that directory
    project_file: str | None  # below a project's root; None: it has no settings of a project
    entry: Callable[[str, str, int], dict[str, Any]]  # event, line, seconds
    toml: bool = False
    beside: Mapping[str, Any] = {}  # what the file needs next to `hooks`
    open_status: int = 1  # an exit status that is visible and blocks nothing
    shorter: Mapping[str, int] = {}  # events with a timeout of their own, in seconds
    also_read: tuple[str, ...] = ()  # more files of its directory in which it finds hooks

    @property
    def title(self) -> str:
        return HOSTS[self.name].title

    @property
    def events(self) -> Mapping[str, str]:
        """The agent's events, each with ours."""
        return codec(self.name).events

    def home(self) -> str:
        """Where the agent keeps its settings for this person."""
        moved = os.environ.get(self.variable, "") if self.variable else ""
        return moved if moved.startswith("/") else os.path.join(places.home(), self.directory)

    def settings(self, root: str | None = None) -> str:
        """The file that names hooks: the person's, or that of a project."""
        if root is None:
            return os.path.join(self.home(), self.file)
        if self.project_file is None:
            raise HookError(
                f"{self.title} has no settings of a project", f"tenterhook install {self.name} guards every project"
            )
        return os.path.join(root, self.project_file)

    def line(self, native: str, installation: str, *, closed: bool, everywhere: bool = False) -> str:
        """The command for one event, by the agent's name for it; `installation` is the name of the record."""
        ours = self.events[native]
        if wiring.closes(ours, closed):
            return lines.command(installation, native, lines.EVERYWHERE if everywhere else lines.CLOSED)
        if ours == "pre-session":
            return lines.first_command(installation, native, self.open_status)
        return lines.command(installation, native, lines.OPEN)

    def seconds(self, event: str) -> int:
        """How long the agent waits for the line."""
        return self.shorter.get(event, LONGEST)

    def executable(self) -> str | None:
        """The agent's program on this machine, if it can be found."""
        return next((found for name in self.executables if (found := shutil.which(name)) and self._is(found)), None)

    def _is(self, program: str) -> bool:
        """Tell Kimi CLI and Kimi Code apart: both are called `kimi`."""
        if "kimi" not in self.executables:
            return True
        node = _is_node_script(program)
        return node if self.name == "kimi-code" else not node

    def is_present(self) -> bool:
        return self.executable() is not None or os.path.isdir(self.home())

    def version(self) -> str | None:
        """What the program says of itself; None if it is not there or does not say."""
        program = self.executable()
        if program is None:
            return None
        try:
            asked = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        words = asked.stdout.replace(",", " ").split()
        return next((word.lstrip("v") for word in words if word.lstrip("v")[:1].isdigit()), None)

    def with_entries(self, text: bytes, wanted: Mapping[str, str], created: frozenset[str]) -> edits.Edited:
        """The settings in which our entries are exactly these: the agent's name of an event, to its line."""
        entries = {event: self.entry(event, line, self.seconds(event)) for event, line in wanted.items()}
        if self.toml:
            return toml_text.with_entries(text, list(entries.values()), lines.is_ours, created)
        grouped = {event: [entry] for event, entry in entries.items()}
        return json_text.with_entries(text, grouped, lines.is_ours, created, self.beside)

    def without_entries(self, text: bytes, created: frozenset[str]) -> bytes:
        """The settings without our entries, and without what was made for them."""
        edit = toml_text.without_entries if self.toml else json_text.without_entries
        return edit(text, lines.is_ours, created)

    def entries(self, text: bytes) -> dict[str, list[dict[str, Any]]]:
        """Our own entries, by the agent's name of the event."""
        found: dict[str, list[dict[str, Any]]] = {}
        if self.toml:
            for hook in toml_text.hooks_of(text):
                if lines.is_ours(hook):
                    found.setdefault(str(hook.get("event")), []).append(hook)
            return found
        for event, groups in json_text.hooks_of(text).items():
            ours = [group for group in groups if lines.is_ours(group)]
            if ours:
                found[event] = ours
        return found


def _is_node_script(program: str) -> bool:
    try:
        with open(program, "rb") as file:
            first = file.readline(256)
    except OSError:
        return False
    return b"node" in first or "node_modules" in os.path.realpath(program)


def _group(unit: int = 1) -> Callable[[str, str, int], dict[str, Any]]:
    return lambda _, line, seconds: {"hooks": [{"type": "command", "command": line, "timeout": seconds * unit}]}


def _table(event: str, line: str, seconds: int) -> dict[str, Any]:
    return {"event": event, "command": line, "timeout": seconds}


def _bash(_: str, line: str, seconds: int) -> dict[str, Any]:
    return {"type": "command", "bash": line, "timeoutSec": seconds}


AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            "claude-code",
            ("claude",),
            ".claude",
            "CLAUDE_CONFIG_DIR",
            "settings.json",
            ".claude/settings.local.json",
            _group(),
        ),
        Agent(
            "kimi-code", ("kimi-code", "kimi"), ".kimi-code", "KIMI_CODE_HOME", "config.toml", None, _table, toml=True
        ),
        Agent("kimi-cli", ("kimi-cli", "kimi"), ".kimi", "KIMI_SHARE_DIR", "config.toml", None, _table, toml=True),
        Agent(
            "codex",
            ("codex",),
            ".codex",
            "CODEX_HOME",
            "hooks.json",
            ".codex/hooks.json",
            _group(),
            shorter={"SessionEnd": 3, "Interrupt": 3},
            also_read=("config.toml",),
        ),
        Agent(
            "gemini",
            ("gemini",),
            ".gemini",
            None,
            "settings.json",
            ".gemini/settings.json",
            _group(1000),
        ),
        Agent(
            "qwen",
            ("qwen",),
            ".qwen",
            None,
            "settings.json",
            ".qwen/settings.json",
            _group(),
        ),
        Agent(
            "copilot",
            ("copilot",),
            ".copilot",
            "COPILOT_HOME",
            "hooks/tenterhook.json",
            ".github/hooks/tenterhook.json",
            _bash,
            beside={"version": 1},
            open_status=0,
        ),
    )
}
