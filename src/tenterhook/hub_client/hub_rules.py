"""The hub's rules, with a cache: they stay in force for a day while the hub is unavailable."""

from __future__ import annotations

import os
import time
from typing import Any

from ..approvals import rules
from ..basics import light_json, places, private_files
from ..errors import HookError
from .connection import CONNECT_TIMEOUT, HubConnection, HubUnavailable
from .membership import Membership

_FRESH = 5.0  # seconds before they are fetched again
_RETRY = 30.0  # seconds before an unavailable hub is tried again
_MAX_AGE = 86400.0  # seconds


def current(membership: Membership) -> list[rules.Rule]:
    """Return the hub's rules; none if it has been unavailable for a day."""
    cached = _cached(membership)
    now = time.time()
    if not 0 <= now - cached["asked"] < (_FRESH if cached["asked"] == cached["fetched"] else _RETRY):
        cached = _fetch(membership, cached, now)
        private_files.write(_file(membership), light_json.dumps(cached).encode())
    return _read(cached["rules"], membership.url) if 0 <= now - cached["fetched"] < _MAX_AGE else []


def _fetch(membership: Membership, cached: dict[str, Any], now: float) -> dict[str, Any]:
    try:
        response = HubConnection(membership).call("GET", "/rules", timeout=CONNECT_TIMEOUT, etag=cached["etag"])
        if response.status == 304:
            return {**cached, "asked": now, "fetched": now}
        found = response.body.get("rules")
        _read(found, membership.url)
    except HookError:  # unavailable, or rules that we cannot read: the cached ones stay in force
        return {**cached, "asked": now}
    return {"asked": now, "fetched": now, "etag": response.headers.get("ETag"), "rules": found}


def _read(found: Any, url: str) -> list[rules.Rule]:
    if not isinstance(found, list):
        raise HubUnavailable(f"{url}: not a list of rules")
    keys = set(rules.Rule._fields) - {"source"}
    tables = [
        {key: value for key, value in each.items() if key in keys and value is not None}
        for each in found
        if isinstance(each, dict)
    ]
    return rules.read(tables, url)


def _cached(membership: Membership) -> dict[str, Any]:
    nothing: dict[str, Any] = {"asked": 0.0, "fetched": -1.0, "etag": None, "rules": []}
    found = private_files.read_json(_file(membership))
    return found if found.keys() >= nothing.keys() else nothing


def _file(membership: Membership) -> str:
    return os.path.join(places.state(), "hub-rules", places.file_name(membership.url) + ".json")
