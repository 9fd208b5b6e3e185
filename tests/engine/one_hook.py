"""Engines with a single hook, and how that hook ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support import array_hook, fire, folder_hook, table_hook, user_hooks, write_config
from tenterhook import Engine, Event

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook import Run


HANG = 30.0  # seconds; far more than anything here needs, far less than the sleeps in the hooks


def run_of(project: Path, hooks: str, event: Event | None = None) -> Run:
    """The run of the only hook in a text."""
    (run,) = fire(project, hooks, event).runs
    return run


def engine_of(
    project: Path, format_: str, *, event: str = "pre-tool-call", line: str = "exit 2", **keys: Any
) -> Engine:
    """An engine with one hook that blocks whatever it is reached by."""
    matcher = {key: value for key, value in keys.items() if value is not None}
    if format_ == "folder":
        front: dict[str, Any] = {"matcher": matcher} if matcher else {}
        folder_hook(user_hooks(project.parent / "home"), "guard", line, trigger=event, **front)
        return Engine.load()
    if format_ == "table":
        hooks = table_hook(line, event=event, **({"matcher": matcher} if matcher else {}))
    else:
        hooks = array_hook(line, event=event, **({"matcher": matcher["tool"]} if matcher else {}))
    return Engine.load(configs=[write_config(project / "hooks.toml", hooks)])


def call(tool: str | None = "Shell", tool_input: Any = None) -> Event:
    return Event("pre-tool-call", tool_name=tool, tool_input=tool_input)
