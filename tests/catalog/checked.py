"""What check says, as data."""

from __future__ import annotations

import json
from typing import Any

from support import tenterhook


def checked(*paths: Any) -> tuple[int, list[dict[str, Any]]]:
    ended = tenterhook("check", *paths, "--json")
    found: list[dict[str, Any]] = json.loads(ended.stdout)["problems"]
    return ended.returncode, found


def only(*paths: Any) -> tuple[int, str, str, str]:
    status, found = checked(*paths)
    assert len(found) == 1, found
    return status, found[0]["code"], found[0]["message"], found[0]["remedy"]
