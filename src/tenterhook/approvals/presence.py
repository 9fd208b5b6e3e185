"""Whether anybody but hooks has a say about tool calls here: rules in a settings file, or a hub.

An agent waits for the answer to this, so that nothing is imported for it and no file is parsed.
"""

from __future__ import annotations

import os

from ..basics import places

MANAGED = "/etc/tenterhook/config.toml"
EVENTS = ("pre-tool-call", "permission-request")
AFTER = ("post-tool-call", "post-tool-call-failure")  # by then nobody need be asked about the call any more


def hub_file() -> str:
    return os.path.join(places.config_home(), "tenterhook", "hub.json")


def is_joined() -> bool:
    """Whether this account has joined a hub."""
    return os.path.exists(hub_file())


def asked_about(session_id: str) -> str:
    """Where those wait who ask the hub about calls of a session; it exists only while one waits."""
    return os.path.join(places.state(), "sessions", places.file_name(session_id), "asked")


def is_any() -> bool:
    """Whether there could be a rule or a hub to ask."""
    return is_joined() or _mentions_rules(places.settings_file()) or _mentions_rules(MANAGED)


def _mentions_rules(file: str) -> bool:
    try:
        with open(file, "rb") as stream:
            return b"approvals" in stream.read()
    except FileNotFoundError:
        return False
    except OSError:  # reported where the file is read
        return True
