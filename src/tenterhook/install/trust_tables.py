"""Hashes of trusted hooks in an agent's TOML settings (`protocol.TrustTable`), one table `[hooks.state."key"]` each."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from . import json_editor, text_edits, toml_editor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..agents.protocol import Agent, TrustTable


def wanted(agent: Agent, settings: str, text: bytes) -> dict[str, str]:
    """Return the hash of each entry of ours in the file `settings` with this text, by its key."""
    return agent.trusted_hashes(settings, json_editor.hooks_of(text))


def given(trust: TrustTable, config: bytes) -> dict[str, str]:
    """Return the hashes in the agent's settings, by key."""
    text = text_edits.decoded(config)[1]
    state: Any = toml_editor.parsed(text)
    for name in trust.table.split("."):
        state = state.get(name, {})
        if not isinstance(state, dict):
            line = toml_editor.line_of(text, name)
            raise text_edits.EditRefused(f"`{name}` is not a table", line, "make it a table; the agent cannot read it")
    return {key: str(value.get(trust.field)) for key, value in state.items() if isinstance(value, dict)}


def with_hashes(trust: TrustTable, config: bytes, hashes: dict[str, str], old: Iterable[str] = ()) -> bytes:
    """Return the settings with these hashes, and without those of `old` keys."""
    config = without(trust, config, [key for key in old if key not in hashes])
    known = given(trust, config)
    bom, body = text_edits.decoded(config)
    newline = text_edits.newline_of(body)
    for key, digest in hashes.items():
        if known.get(key) == digest:
            continue
        body = _without(trust, body, key)
        block = f'{newline}[{trust.table}.{json.dumps(key)}]{newline}{trust.field} = "{digest}"'
        body += block + (newline if not body or body.endswith("\n") else "")
    edited = text_edits.encoded(bom, body)
    try:
        found = given(trust, edited)
    except text_edits.EditRefused:  # no keys can be added to an inline table
        found = {}
    if any(found.get(key) != digest for key, digest in hashes.items()):
        parents = trust.table.split(".")
        tables = " and ".join(f"[{'.'.join(parents[: number + 1])}]" for number in range(len(parents)))
        remedy = f"write {tables} as tables of their own, or trust our hooks in the agent itself"
        line = toml_editor.line_of(body, parents[0])
        raise text_edits.EditRefused(f"[{trust.table}] cannot be added here", line, remedy)
    return edited


def without(trust: TrustTable, config: bytes, keys: Iterable[str]) -> bytes:
    """Return the settings without the hashes of these keys."""
    bom, body = text_edits.decoded(config)
    for key in keys:
        body = _without(trust, body, key)
    toml_editor.parsed(body)
    return text_edits.encoded(bom, body)


def _without(trust: TrustTable, body: str, key: str) -> str:
    header = re.escape(f"[{trust.table}.{json.dumps(key)}]")
    found = re.search(
        rf'(\r?\n)?{header}\r?\n{trust.field} = "[^"\n]*"(\r?\n(?![ \t]*(\[|#|\r?\n|\Z))[^\n]*[^\r\n])*', body
    )
    if found is None:
        return body
    start, end = found.span()
    if body[:start].endswith("\n") or not start:
        end += len(re.match(r"(\r?\n)?", body[end:])[0])  # type: ignore[index]  # it always matches
    return body[:start] + body[end:]
