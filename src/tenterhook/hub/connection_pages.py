"""The connections section of the inbox: machines and agents, and a test request of this machine."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import Response  # noqa: TC002  # FastAPI reads it when it runs

from ..approvals.requests import fresh_id
from ..basics import places, processes
from ..hub_client import membership, trial
from ..journal.filters import number
from . import accounts, inbox, machines, rendering
from .access import AccessRefused, hub_of, is_loopback
from .page_auth import ContentRoute, Visitor

if TYPE_CHECKING:
    from ..hub_client.membership import Membership
    from .access import Address, Hub
    from .database import Connection, Row

_MAX_MACHINES = 20
_SHOWN_FOR = 60.0  # seconds after its end in which the last test request is shown
_START_TIMEOUT = 10.0  # seconds for this machine to ask
_INTERVAL = 0.1  # seconds

router = APIRouter(route_class=ContentRoute, include_in_schema=False)


@router.get("/fragments/connections")
def show_connections(request: Request, _: Visitor) -> Response:
    """Send the HTML of this section."""
    return rendering.part("connections.html", **values(request))


@router.post("/test-request")
def send_test_request(request: Request, _: Visitor) -> Response:
    """Let this machine ask as an agent would, in a process of its own; return once its request has arrived."""
    hub = hub_of(request)
    joined = _joined_here(hub)
    if joined is None:
        raise AccessRefused(
            *(409, "not-connected", "the machine on which this hub runs is not connected to it"),
            f"run there: tenterhook hub join {hub.address.own_url}",
        )
    if hub.database.read(lambda connection: _open_test(connection, joined.name)) is None:
        request_id = fresh_id()
        processes.start_detached("tenterhook.hub_client.trial:main", places.FIXED, request_id)
        _wait_for(hub, request_id)
    return rendering.part("connections.html", **values(request))


def _wait_for(hub: Hub, request_id: str) -> None:
    until = time.monotonic() + _START_TIMEOUT
    while hub.database.read(lambda connection: inbox.found(connection, request_id)) is None:
        if time.monotonic() > until:
            raise AccessRefused(
                *(504, "no-request", f"no request of this machine arrived within {_START_TIMEOUT:.0f} seconds"),
                "to see why, run there: tenterhook hub test",
            )
        time.sleep(_INTERVAL)


def _open_test(connection: Connection, machine: str) -> Row | None:
    return connection.one(
        "select id from requests where state = 'open' and agent = ? and machine = ? and expires > ?"
        " order by opened desc limit 1",
        *(trial.AGENT, machine, time.time()),
    )


def values(request: Request) -> dict[str, Any]:
    """Return what the template shows."""
    hub = hub_of(request)
    found = hub.database.read(lambda connection: machines.listed(connection, _MAX_MACHINES + 1))
    joined = _joined_here(hub)
    waiting = joined and hub.database.read(lambda connection: _open_test(connection, joined.name))
    return {
        "machines": found[:_MAX_MACHINES],
        "has_more_machines": len(found) > _MAX_MACHINES,
        "this_machine": joined and joined.name,
        "hub_url": hub.address.own_url if hub.address.is_loopback else hub.address.public_url,
        "test": hub.database.read(_last_test),
        "open_test": waiting["id"] if waiting else "",
    }


def _joined_here(hub: Hub) -> Membership | None:
    """Return the membership of the account that runs the hub, if it is one of this hub and its token is valid."""
    joined = membership.read()
    if joined is None or not _is_own(joined.url, hub.address):
        return None
    token = hub.database.read(lambda connection: accounts.by_token(connection, joined.token))
    return joined._replace(name=token["name"]) if token is not None and token["kind"] == accounts.AGENT else None


def _is_own(url: str, address: Address) -> bool:
    parts = urlsplit(url)
    is_local = is_loopback(parts.hostname or "") and (parts.port or 80) == address.port and parts.scheme == "http"
    return is_local or url == address.public_url


def _last_test(connection: Connection) -> dict[str, Any] | None:
    """Return the last answered test request, and what its machine has reported about it."""
    row = connection.one(
        "select * from requests where agent = ? and answered > ? order by answered desc limit 1",
        *(trial.AGENT, time.time() - _SHOWN_FOR),
    )
    if row is None:
        return None
    record = connection.one(
        "select body from records where machine = ? and session = ? and type = 'approval' order by number desc limit 1",
        *(row["machine"], row["session"]),
    )
    body = json.loads(record["body"]) if record else {}
    return {
        "machine": row["machine"],
        "state": row["state"],
        "reported": {"approve": "approved", "deny": "denied"}.get(str(body.get("decision"))),
        "by": row["answered_by"],  # not what the machine says
        "milliseconds": number(body.get("waited_ms")),
        "until": row["answered"] + _SHOWN_FOR,
    }
