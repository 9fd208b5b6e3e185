"""Agents' settings: installing and uninstalling gives the bytes there were, or the file is refused as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from fuzz import inputs
from install.editors import json_value, toml_value
from install.generated_settings import json_texts, toml_texts
from tenterhook.agents import AGENTS
from tenterhook.errors import HookError
from tenterhook.formats.own_entries import is_own_entry
from tenterhook.install import entries, trust_tables

if TYPE_CHECKING:
    from tenterhook.agents.protocol import Agent, TrustTable

# Plug-ins are files of our own, written whole.
_EDITED = [agent.name for agent in AGENTS.values() if agent.plugin is None]
_TESTS = Path(__file__).parents[2] / "install"
_FILES = [*_TESTS.glob("data/*"), *(file for file in _TESTS.glob("settings/*/*") if file.is_file())]
_EVENTS = sorted({f'"{event}"' for agent in AGENTS.values() for event in agent.events})
_SHARED = [
    *("\n", "\r\n", "\r", " ", "\t", "\ufeff", "\u2028", "\x0c", "\x85", "\xa0", "\0", "é", '"', "'", "\\", ",", "1"),
]
_WORDS = {
    "json": [
        *_SHARED,
        *_EVENTS,
        *("{", "}", "[", "]", ":", "//", "// c\n", "/*", "*/", "/* c */", '"hooks"', '"hooks":{}'),
        *('"hooks": {"Stop": []}', '"version": 1,', "{}", "[]", "null", "NaN", "1e999", '"\\"', '"//"', '"/*"'),
        *("{},", "[],", '"hooks"/**/:'),
    ],
    "toml": [
        *_SHARED,
        *("[[hooks]]\n", "[hooks]\n", "hooks = []\n", "hooks", "[", "]", "{", "}", "=", "#", "# c\n", '"""', "'''"),
        *('""', "[hooks.state]\n", "hooks.state = {}\n", "\n[[hooks]]\nevent = 'Stop'\n", "[a]\n", "[[a.b]]\n", "."),
        *("true", "a = [\n", "]\n", "{a = 1}", "1979-05-27T07:32:00Z", "nan", "a = {b = [", "\\\n", "[hooks.x]\n"),
        *("[[hooks.x]]\n",),
    ],
}
_GOOD = {
    kind: [b"", b"\n", *(file.read_bytes() for file in sorted(_FILES) if file.suffix == f".{kind}")] for kind in _WORDS
}
_TEXTS = {
    kind: inputs.changed_bytes(_GOOD[kind], [word.encode() for word in _WORDS[kind]]) | written
    for kind, written in (("json", json_texts()), ("toml", toml_texts()))
}


def _value(kind: str, text: bytes) -> Any:
    """What the file says to its agent; None if it says nothing that can be read."""
    try:
        return json_value(text) if kind == "json" else toml_value(text)
    except (ValueError, IndexError, RecursionError):
        return None


def _without_ours(value: Any) -> Any:
    """The value without our entries, and without what is empty because of that."""
    if not isinstance(value, dict) or "hooks" not in value:
        return value
    hooks, rest = value["hooks"], {key: each for key, each in value.items() if key != "hooks"}
    left: Any = hooks
    if isinstance(hooks, list):
        left = [entry for entry in hooks if not is_own_entry(entry)]
    elif isinstance(hooks, dict):
        left = {
            event: found
            for event, entries in hooks.items()
            if (found := [entry for entry in entries if not is_own_entry(entry)])
        }
    return {**rest, "hooks": left} if left else rest


@given(data=st.data(), name=st.sampled_from(_EDITED))
def fuzz(data: st.DataObject, name: str) -> None:
    """Our entries are there, nothing else changes, and taking them out gives the same bytes."""
    agent = AGENTS[name]
    kind = "toml" if agent.toml else "json"
    before = data.draw(_TEXTS[kind], label="settings")
    events = data.draw(st.lists(st.sampled_from(sorted(agent.events)), min_size=1, max_size=3, unique=True))
    steps = [events[:1], events] if data.draw(st.booleans()) else [events]
    value = _value(kind, before)
    text, created = before, frozenset[str]()
    for step in steps:
        wanted = {event: entries.line(agent, event, agent.name, closed=data.draw(st.booleans())) for event in step}
        try:
            edited = entries.added(agent, text, wanted, created)
        except HookError as error:
            assert error.message and error.remedy
            assert step is steps[0], "refused after it was accepted"
            has_other_keys = isinstance(value, dict) and "hooks" not in value and not agent.hooks_at_top
            assert not (has_other_keys and _is_strict(kind, before)), error
            return
        text, created = edited
        written = entries.found(agent, text).items()
        assert {event: [entries.command_of(each) for each in found] for event, found in written} == {
            event: [line] for event, line in wanted.items()
        }
        assert entries.added(agent, text, wanted, created) == edited, "the second time changes something"
        assert _plain(agent, _value(kind, text)) == _plain(agent, value), "something else has changed"
    assert entries.removed(agent, text, created) == before
    if agent.trust_table is not None:
        _trust(agent, agent.trust_table, data.draw(_TEXTS["toml"], label="config.toml"), text)


def _plain(agent: Agent, value: Any) -> str:
    """All that is not ours, in its order; as text, in which one NaN is like another."""
    if agent.hooks_at_top and isinstance(value, dict) and "hooks" not in value:
        value = {"hooks": value}
    rest = _without_ours(value or {})
    return json.dumps({key: each for key, each in rest.items() if key not in agent.beside}, default=repr)


def _is_strict(kind: str, text: bytes) -> bool:
    """Whether a program that is strict reads the file, too."""
    return kind == "toml" or not re.search(r"NaN|Infinity|[^\S \t\r\n]", text.decode())


def _trust(agent: Agent, trust: TrustTable, config: bytes, settings: bytes) -> None:
    """Hashes that were added can be removed."""
    wanted = trust_tables.wanted(agent, "/home/me/.codex/hooks.json", settings)
    try:
        trusting = trust_tables.with_hashes(trust, config, wanted)
    except HookError as error:
        assert error.message and error.remedy
        return
    assert wanted.items() <= trust_tables.given(trust, trusting).items()
    assert trust_tables.with_hashes(trust, trusting, wanted) == trusting
    assert trust_tables.without(trust, trusting, wanted) == config
