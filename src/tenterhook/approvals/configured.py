"""Whether approvals may need more than hooks: there are rules in a settings file, or a hub was joined.

This is on the path of every event, so it imports next to nothing and parses no file.
"""

from __future__ import annotations

import os

from ..basics import places

MANAGED = "/etc/tenterhook/config.toml"
EVENTS = ("pre-tool-call", "permission-request")
AFTER = ("post-tool-call", "post-tool-call-failure")  # a question about the call is obsolete by then


def hub_file() -> str:
    return os.path.join(places.config_home(), "tenterhook", "hub.json")


def is_joined() -> bool:
    """Whether this account has joined a hub."""
    return os.path.exists(hub_file())


def asked_about(session_id: str) -> str:
    """Return the directory of a session's pending calls; it exists only while there are any."""
    return os.path.join(places.state(), "sessions", places.file_name(session_id), "asked")


def forced(session_id: str) -> str:
    """Return the directory of a session's calls for which a hook requires a question; it exists if there are any."""
    return os.path.join(places.state(), "sessions", places.file_name(session_id), "forced")


def concerns(session_id: str) -> bool:
    """Whether rules, the hub or a question that a hook requires may concern a session's calls."""
    return os.path.exists(forced(session_id)) or is_any()


def is_any() -> bool:
    """Whether there may be rules, or a hub to ask."""
    return is_joined() or _mentions_rules(places.settings_file()) or _mentions_rules(MANAGED)


def _mentions_rules(file: str) -> bool:
    try:
        with open(file, "rb") as stream:
            return b"approvals" in stream.read()
    except FileNotFoundError:
        return False
    except OSError:  # reported where the file is read
        return True
