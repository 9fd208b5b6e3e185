"""Our entries in an agent's settings: the command in each, how it is recognised, and edits that add and remove them."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from ..basics import places
from ..formats.own_entries import is_own_entry, own_groups
from . import event_tables_editor, event_wiring, json_editor, launcher, plugin_editor, text_edits, toml_editor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..agents.protocol import Agent


def line(agent: Agent, native: str, installation: str, *, closed: bool, everywhere: bool = False) -> str:
    """Return the command line for one event, by the agent's name for it; `installation` is the name of the record."""
    ours = agent.events[native]
    if event_wiring.closes(ours, closed):
        template = _COMMANDS[EVERYWHERE if everywhere else CLOSED]
    else:
        template = _FIRST if ours == "pre-session" else _COMMANDS[OPEN]
    words = f"{shlex.quote(installation)} {native}"
    return template.format(path=shlex.quote(launcher.path()), words=words, status=agent.open_status)


def added(agent: Agent, text: bytes, wanted: Mapping[str, str], created: frozenset[str]) -> text_edits.Edited:
    """Return the settings in which our entries are exactly these: the agent's name of an event, to its line."""
    entries = {event: agent.entry(event, line, agent.seconds(event)) for event, line in wanted.items()}
    if agent.event_tables:
        return event_tables_editor.with_entries(text, entries, is_own_entry, created, agent.beside)
    if agent.toml:
        return toml_editor.with_entries(text, list(entries.values()), is_own_entry, created)
    for event in json_editor.hooks_of(text, flat=agent.hooks_at_top) if agent.knows_no_others else ():
        if event not in agent.events:
            what = f"{agent.title} runs no hooks at all if there is an event {event!r} beside ours"
            raise text_edits.EditRefused(what, 1, f"write it as one of {', '.join(agent.events)}, or remove it")
    grouped = {event: [entry] for event, entry in entries.items()}
    return json_editor.with_entries(text, grouped, is_own_entry, created, agent.beside, flat=agent.hooks_at_top)


def removed(agent: Agent, text: bytes, created: frozenset[str]) -> bytes:
    """Return the settings without our entries, and without what was created for them."""
    if agent.event_tables:
        return event_tables_editor.without_entries(text, is_own_entry, created)
    if agent.toml:
        return toml_editor.without_entries(text, is_own_entry, created)
    return json_editor.without_entries(text, is_own_entry, created, flat=agent.hooks_at_top)


def found(agent: Agent, text: bytes) -> dict[str, list[dict[str, Any]]]:
    """Return our entries, by the agent's name of the event."""
    if agent.plugin is not None:
        return {event: [entry] for event, entry in plugin_editor.entries_of(text).items() if is_own_entry(entry)}
    if agent.event_tables:
        return event_tables_editor.entries_of(text, is_own_entry)
    if not agent.toml:
        groups = own_groups(json_editor.hooks_of(text, flat=agent.hooks_at_top))
        return {event: [group for _, group in numbered] for event, numbered in groups.items()}
    own: dict[str, list[dict[str, Any]]] = {}
    for hook in filter(is_own_entry, toml_editor.hooks_of(text)):
        own.setdefault(str(hook.get(agent.event_key)), []).append(hook)
    return own


def plugin_files(agent: Agent, settings: str, wanted: Mapping[str, str]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return all files of a plug-in of ours: by path, the template and the entries in it. Empty for other agents."""
    entries = {event: agent.entry(event, line, agent.seconds(event)) for event, line in wanted.items()}
    directory = os.path.dirname(settings)
    further = {os.path.normpath(os.path.join(directory, name)): each for name, each in agent.plugin_files.items()}
    own = {settings: agent.plugin} if agent.plugin is not None else {}
    return {path: (template, entries) for path, template in {**own, **further}.items()}


# What happens if Tenterhook cannot answer. CLOSED is for a fail-closed guard: calls pass where this account never had
# Tenterhook, as in a container that shares the agent's settings. EVERYWHERE is chosen by the user.
OPEN, CLOSED, EVERYWHERE = "open", "closed", "closed-everywhere"
_COMMANDS = {
    OPEN: 't={path}; [ ! -f "$t" ] || /bin/sh "$t" {words} open',
    CLOSED: 't={path}; [ ! -d "${{t%/*}}" ] || /bin/sh "$t" {words} closed || exit 2',
    EVERYWHERE: (
        't={path}; [ -f "$t" ] || echo tenterhook install >&2; /bin/sh "$t" {words} closed-everywhere || exit 2'
    ),
}
# For the first event of a session, so that the message appears once.
_FIRST = (
    't={path}; [ -f "$t" ] || {{ echo Tenterhook is not installed here >&2; exit {status}; }}; '
    '/bin/sh "$t" {words} open'
)


def log() -> str:
    """Return the path of the log in which the launcher records failures."""
    return os.path.join(places.state(), "bridge.log")


def command_of(entry: Mapping[str, Any]) -> str:
    """Return the command of an entry of ours."""
    inner = entry["hooks"][0] if "hooks" in entry else entry
    return str(inner.get("command") or inner.get("bash"))
