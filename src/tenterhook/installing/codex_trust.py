"""Codex runs a hook only if its own `config.toml` holds the hook's hash; else it skips it without a word.

The key names the file, the event and the place of the entry in it, so an entry put before ours takes our trust away.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any

from . import edits, json_text, lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_WITHOUT_MATCHER = ("PreModelRequest", "UserPromptSubmit", "Stop", "Interrupt")


def wanted(settings: str, text: bytes) -> dict[str, str]:
    """The hash of each entry of ours, by the key that Codex looks it up under."""
    found: dict[str, str] = {}
    for event, groups in json_text.hooks_of(text).items():
        for number, group in enumerate(groups):
            if not lines.is_ours(group):
                continue
            for place, handler in enumerate(group["hooks"]):
                for spelling in dict.fromkeys((settings, _resolved(settings))):
                    found[f"{spelling}:{_snake(event)}:{number}:{place}"] = _hash(event, group, handler)
    return found


def given(config: bytes) -> dict[str, str]:
    """The hashes that a `config.toml` holds."""
    state: Any = _parsed(config)
    for name in ("hooks", "state"):
        state = state.get(name, {})
        if not isinstance(state, dict):
            line = _line_of(config, name)
            raise edits.Refused(f"`{name}` is not a table", line, "make it one; Codex cannot read it")
    return {key: str(value.get("trusted_hash")) for key, value in state.items() if isinstance(value, dict)}


def with_trust(config: bytes, settings: str, text: bytes, old: Iterable[str] = ()) -> bytes:
    """The `config.toml` that trusts our entries as they are, and no `old` ones."""
    asked = wanted(settings, text)
    config = without(config, [key for key in old if key not in asked])
    known = given(config)
    bom, body = edits.decoded(config)
    newline = edits.newline_of(body)
    for key, digest in asked.items():
        if known.get(key) == digest:
            continue
        body = _without(body, key)
        block = f'{newline}[hooks.state.{json.dumps(key)}]{newline}trusted_hash = "{digest}"'
        body += block + (newline if not body or body.endswith("\n") else "")
    edited = edits.encoded(bom, body)
    try:
        found = given(edited)
    except edits.Refused:  # a table on one line takes no more keys
        found = {}
    if any(found.get(key) != digest for key, digest in asked.items()):
        line = _line_of(config, "hooks")
        remedy = (
            "write [hooks] and [hooks.state] as tables of their own, or trust our hooks in Codex: start it, then /hooks"
        )
        raise edits.Refused("no place for [hooks.state] here", line, remedy)
    return edited


def without(config: bytes, keys: Iterable[str]) -> bytes:
    """The `config.toml` without the trust that we gave."""
    bom, body = edits.decoded(config)
    for key in keys:
        body = _without(body, key)
    edited = edits.encoded(bom, body)
    _parsed(edited)
    return edited


def _without(body: str, key: str) -> str:
    header = re.escape(f"[hooks.state.{json.dumps(key)}]")
    found = re.search(
        rf'(\r?\n)?{header}\r?\ntrusted_hash = "[^"\n]*"(\r?\n(?![ \t]*(\[|#|\r?\n|\Z))[^\n]*[^\r\n])*', body
    )
    if found is None:
        return body
    start, end = found.span()
    if body[:start].endswith("\n") or not start:
        end += len(re.match(r"(\r?\n)?", body[end:])[0])  # type: ignore[index]  # it always matches
    return body[:start] + body[end:]


def _parsed(config: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(edits.decoded(config)[1])
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else 1
        raise edits.Refused(f"not TOML: {error}", line, "fix it; Codex cannot read it") from None
    except (ValueError, RecursionError) as error:
        remedy = "shorten the number or the nesting it speaks of"
        raise edits.Refused(f"not readable as TOML: {error}", 1, remedy) from None


def _line_of(config: bytes, name: str) -> int:
    """Where a key or a table of that name is first spoken of."""
    text = edits.decoded(config)[1]
    found = re.search(rf"^[ \t]*\[?[ \t]*{name}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _hash(event: str, group: Mapping[str, Any], handler: Mapping[str, Any]) -> str:
    hashed: dict[str, Any] = {
        "event_name": _snake(event),
        "hooks": [
            {
                "type": "command",
                "command": handler["command"],
                "timeout": handler["timeout"],
                "async": False,
            }
        ],
    }
    if group.get("matcher") is not None and event not in _WITHOUT_MATCHER:
        hashed["matcher"] = group["matcher"]
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def _resolved(settings: str) -> str:
    """The folder as Codex spells it when `CODEX_HOME` names it."""
    return os.path.join(os.path.realpath(os.path.dirname(settings)), os.path.basename(settings))
