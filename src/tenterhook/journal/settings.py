"""`[journal]` in the user's `config.toml`: what of an event is stored, and for how long.

A process that an agent waits for does not parse TOML: the settings are cached with the file's signature.
"""

from __future__ import annotations

import os

from ..basics import light_json, places, private_files
from .records import PAYLOADS, REDACTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEFAULTS: dict[str, Any] = {"payloads": REDACTED, "keep_days": 90, "keep_mb": 256}


def payloads(file: str) -> str:
    """Return how payloads are stored: redacted, full or none."""
    return str(read(file)["payloads"])


def read(file: str) -> dict[str, Any]:
    """Return the settings, with defaults for those that are missing or invalid."""
    if not os.access(file, os.F_OK):  # the usual case; a `stat` that fails takes four times as long
        return _DEFAULTS
    signature = private_files.signature(file)
    if signature is None:
        return _DEFAULTS
    if _KNOWN.get(file, (None,))[0] != signature:
        _KNOWN[file] = signature, _read(file, signature)
    return _KNOWN[file][1]


_KNOWN: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {}  # in this process


def _read(file: str, signature: tuple[int, ...]) -> dict[str, Any]:
    kept = os.path.join(places.cache(), "journal.json")
    known = private_files.read_json(kept)
    if known.get("signature") == list(signature) and isinstance(known.get("settings"), dict):
        return {**_DEFAULTS, **known["settings"]}
    chosen = _parse(file)
    private_files.write(kept, light_json.dumps({"signature": list(signature), "settings": chosen}).encode())
    return {**_DEFAULTS, **chosen}


def _parse(file: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(file, "rb") as stream:
            found = tomllib.load(stream).get("journal", {})
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    chosen: dict[str, Any] = {}
    if found.get("payloads") in PAYLOADS:
        chosen["payloads"] = found["payloads"]
    for key in ("keep_days", "keep_mb"):
        if type(found.get(key)) is int and 0 < found[key] < 1_000_000:
            chosen[key] = found[key]
    return chosen
