"""Our entries in an agent's settings: the command line of each, and edits that add and remove them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..formats.own_entries import is_own_entry, own_groups
from . import event_wiring, json_editor, lines, text_edits, toml_editor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..agents.protocol import Agent


def line(agent: Agent, native: str, installation: str, *, closed: bool, everywhere: bool = False) -> str:
    """Return the command line for one event, by the agent's name for it; `installation` is the name of the record."""
    ours = agent.events[native]
    if event_wiring.closes(ours, closed):
        return lines.command(installation, native, lines.EVERYWHERE if everywhere else lines.CLOSED)
    if ours == "pre-session":
        return lines.first_command(installation, native, agent.open_status)
    return lines.command(installation, native, lines.OPEN)


def added(agent: Agent, text: bytes, wanted: Mapping[str, str], created: frozenset[str]) -> text_edits.Edited:
    """Return the settings in which our entries are exactly these: the agent's name of an event, to its line."""
    entries = {event: agent.entry(event, line, agent.seconds(event)) for event, line in wanted.items()}
    if agent.toml:
        return toml_editor.with_entries(text, list(entries.values()), is_own_entry, created)
    grouped = {event: [entry] for event, entry in entries.items()}
    return json_editor.with_entries(text, grouped, is_own_entry, created, agent.beside)


def removed(agent: Agent, text: bytes, created: frozenset[str]) -> bytes:
    """Return the settings without our entries, and without what was created for them."""
    edit = toml_editor.without_entries if agent.toml else json_editor.without_entries
    return edit(text, is_own_entry, created)


def found(agent: Agent, text: bytes) -> dict[str, list[dict[str, Any]]]:
    """Return our entries, by the agent's name of the event."""
    if not agent.toml:
        groups = own_groups(json_editor.hooks_of(text))
        return {event: [group for _, group in numbered] for event, numbered in groups.items()}
    own: dict[str, list[dict[str, Any]]] = {}
    for hook in filter(is_own_entry, toml_editor.hooks_of(text)):
        own.setdefault(str(hook.get("event")), []).append(hook)
    return own
