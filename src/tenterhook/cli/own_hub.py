"""The hub that runs on this machine for this account: its address, its database, and one-time links to sign in."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ..errors import HookError
from ..hub import service
from ..hub_client import inbox_client
from ..hub_client.connection import HubConnection, HubUnavailable
from ..hub_client.membership import is_loopback_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..hub.database import PostgreSQL, SQLite

_START = "start one with: tenterhook hub start"
_TIMEOUT = 15.0  # seconds: it may have just been started


class OwnHub(NamedTuple):
    """A hub that answers on this machine."""

    listen: str  # its address for programs on this machine
    person: str | None  # who this account is there; None: a hub that listens to other machines has named no one
    url: str  # its public address
    id: str
    database: str  # sqlite or postgresql


def find() -> OwnHub:
    """Return the hub of this account on this machine, the one started last; raise HookError if none answers."""
    try:
        person = inbox_client.signed_in()
    except HookError:
        person = None
    addresses = [service.last_address()]
    if person is not None and is_loopback_url(person.url):
        addresses.append(person.url)
    why = ""
    for address in dict.fromkeys(each for each in addresses if each):
        try:
            health = HubConnection(inbox_client.Credentials(address, "")).call("GET", "/health", timeout=_TIMEOUT).body
            name = person.name if person is not None and person.url == address else None
            return OwnHub(address, name, str(health["url"]), str(health["id"]), str(health["database"]))
        except HubUnavailable as error:
            why = error.message
        except KeyError:
            raise HookError(
                "the running hub is an earlier version", "tenterhook hub stop, then: tenterhook hub start"
            ) from None
    if person is not None and not is_loopback_url(person.url):
        remedy = f"do this on the machine where the hub runs; or {_START}"
        raise HookError(f"you are signed in at {person.url}, which is not on this machine", remedy)
    if why:
        raise HookError(f"no hub answers on this machine: {why}", _START)
    raise HookError("this account has no hub running on this machine", _START)


@contextmanager
def opened(hub: OwnHub, database: str | None) -> Iterator[SQLite | PostgreSQL]:
    """Open the database of a running hub: the given one, else that of the hub in the background."""
    from ..hub import migrations
    from ..hub.database import opened as opened_

    config = service.SERVICE.config() or {}
    kept = opened_(database or config.get("database"))
    try:
        if kept.read(migrations.hub_id) != hub.id:
            raise HookError(f"{hub.listen} uses another database", "specify it: --database FILE|URL")
        yield kept
    finally:
        kept.close()
