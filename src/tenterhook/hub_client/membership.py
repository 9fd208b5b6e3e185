"""The hub that this account has joined: `hub.json` beside the user's settings, readable by this account only."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple
from urllib.parse import urlsplit

from ..approvals.configured import hub_file
from ..basics import light_json, places
from ..errors import HookError

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Membership(NamedTuple):
    """A hub, and this machine's name and credentials there."""

    url: str  # without a slash at its end
    token: str
    name: str  # of the machine
    ca_file: str | None = None  # certificate authorities for the hub; None: the system's

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def is_exposed(self) -> bool:
        """Whether others on the network can read and change the traffic."""
        return urlsplit(self.url).scheme != "https" and not is_loopback_url(self.url)


def is_loopback_url(url: str) -> bool:
    """Return whether an address is one of this machine."""
    return urlsplit(url).hostname in _LOOPBACK


def checked_url(given: str) -> str:
    """Return the normalized address of a hub, or raise HookError."""
    parts = urlsplit(given.strip())
    try:
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_one = False
    if not is_one or parts.username or parts.query or parts.fragment:
        raise HookError(f"{given!r} is not the address of a hub", "write it like http://127.0.0.1:7717")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def read() -> Membership | None:
    """Return the membership, or None if there is none or another account could have written the file."""
    try:
        return load()
    except HookError:
        return None


def load() -> Membership | None:
    """Return the membership, or None if there is none. Raise HookError if the file cannot be trusted."""
    file = hub_file()
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HookError(f"{error.strerror}: {file}", "join again: tenterhook hub join URL") from None
    with open(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise HookError(f"other accounts can read or write {file}", f"check its content, then: chmod 600 {file}")
        data = stream.read()
    try:
        kept = light_json.loads(data.decode())
        texts = [kept[key] for key in ("url", "token", "name")]
        if kept["schema"] != 1 or not all(isinstance(text, str) and text for text in texts):
            raise ValueError
        url, token, name = texts
        return Membership(checked_url(url), token, name, kept.get("ca_file") or None)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise HookError(f"{file} is broken", "join again: tenterhook hub join URL") from None


def save(membership: Membership) -> None:
    file = hub_file()
    places.make_private(os.path.dirname(file))
    places.replace_file(file, light_json.dumps({"schema": 1, **membership._asdict()}).encode() + b"\n")


def delete() -> bool:
    """Delete the membership; False if there was none."""
    try:
        os.unlink(hub_file())
    except FileNotFoundError:
        return False
    return True
