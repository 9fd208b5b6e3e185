"""The hub's rules, fetched when they are needed and kept: a hub that is away for less than a day still rules."""

from __future__ import annotations

import os
import time
from typing import Any

from ..approvals import rules
from ..basics import light_json, places, private_files
from ..errors import HookError
from .calling_hub import CONNECT, HubAway, Line
from .membership import Membership

_FRESH = 5.0  # seconds in which they are not asked for again
_AWAY = 30.0  # seconds in which a hub that was away is not asked again
_LASTS = 86400.0  # seconds


def current(membership: Membership) -> list[rules.Rule]:
    """The rules of the hub; none if it has been away for a day."""
    kept = _kept(membership)
    now = time.time()
    if not 0 <= now - kept["asked"] < (_FRESH if kept["asked"] == kept["fetched"] else _AWAY):
        kept = _fetched(membership, kept, now)
        private_files.write(_file(membership), light_json.dumps(kept).encode())
    return _read(kept["rules"], membership.url) if 0 <= now - kept["fetched"] < _LASTS else []


def _fetched(membership: Membership, kept: dict[str, Any], now: float) -> dict[str, Any]:
    try:
        reply = Line(membership).call("GET", "/rules", within=CONNECT, etag=kept["etag"])
        if reply.status == 304:
            return {**kept, "asked": now, "fetched": now}
        found = reply.body.get("rules")
        _read(found, membership.url)
    except HookError:  # away, or with rules that we do not understand: those that we have stand
        return {**kept, "asked": now}
    return {"asked": now, "fetched": now, "etag": reply.etag, "rules": found}


def _read(found: Any, url: str) -> list[rules.Rule]:
    if not isinstance(found, list):
        raise HubAway(f"{url}: no list of rules")
    keys = set(rules.Rule._fields) - {"source"}
    tables = [
        {key: value for key, value in each.items() if key in keys and value is not None}
        for each in found
        if isinstance(each, dict)
    ]
    return rules.read(tables, url)


def _kept(membership: Membership) -> dict[str, Any]:
    nothing: dict[str, Any] = {"asked": 0.0, "fetched": -1.0, "etag": None, "rules": []}
    data = private_files.read(_file(membership))
    try:
        found = light_json.loads(data.decode()) if data else nothing
        return {key: found[key] for key in nothing}
    except (ValueError, KeyError, TypeError, RecursionError):
        return nothing


def _file(membership: Membership) -> str:
    return os.path.join(places.state(), "hub-rules", places.file_name(membership.url) + ".json")
