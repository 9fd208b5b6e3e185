"""So that the phone rings: a call to the outside for each waiting request, with a link to it and nothing secret.

What is to be sent stands in the database, so that each call is made by one hub, and by another if that one dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import logging
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from starlette.concurrency import run_in_threadpool

from .. import __version__
from ..approvals import presenter
from ..approvals.requests import Call
from ..errors import HookError
from . import change_feed
from .database import DatabaseAway

if TYPE_CHECKING:
    from .database import Connection, Database, Row

NTFY, SLACK, JSON = "ntfy", "slack", "json"
KINDS = (NTFY, SLACK, JSON)
_TRIES = 4
_CLAIMED = 60.0  # seconds that one hub has for a call
_PAUSE = 2.0  # seconds before the second try, twice as many before each further one
_TIMEOUT = 10.0
_AT_ONCE = 8
_LOOK = 1.0  # seconds after which it is looked whether a call is due


def listed(connection: Connection) -> list[Row]:
    return connection.all("select number, kind, url, created_by, created from webhooks order by number")


def add(connection: Connection, kind: str, url: str, who: str) -> Row:
    if not _is_address(url):
        raise HookError("that is no address to call", "write it like https://ntfy.sh/my-topic")
    row = connection.one(
        "insert into webhooks (kind, url, created_by, created) values (?, ?, ?, ?) returning *",
        *(kind, url, who, time.time()),
    )
    assert row is not None
    change_feed.add(connection, change_feed.WEBHOOKS, str(row["number"]), "added")
    return row


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def remove(connection: Connection, number: int) -> bool:
    was_there = connection.run("delete from webhooks where number = ?", number) == 1
    if was_there:
        change_feed.add(connection, change_feed.WEBHOOKS, str(number), "removed")
    return was_there


def shown_url(url: str) -> str:
    """An address as it may be shown: whoever knows all of it can send there."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}/…"


def plan(connection: Connection, request: str) -> None:
    """Have everybody called for a request that has just been opened."""
    connection.run(
        "insert into deliveries (webhook, request, tries, due) select number, ?, 0, ? from webhooks",
        *(request, time.time()),
    )


def claim(connection: Connection) -> list[Row]:
    """The calls that are due, for whoever asks to make; requests that no longer wait need none."""
    now = time.time()
    connection.run("delete from deliveries where request in (select id from requests where state <> 'open')")
    claimed = connection.all(
        "update deliveries set due = ?, tries = tries + 1 where due <= ? returning webhook, request, tries",
        *(now + _CLAIMED, now),
    )
    return [
        {**each, **about}
        for each in claimed
        if (
            about := connection.one(
                "select kind, url, tool_name, action, agent, machine, expires from webhooks, requests"
                " where webhooks.number = ? and requests.id = ?",
                *(each["webhook"], each["request"]),
            )
        )
    ]


def _done(connection: Connection, call: Row) -> None:
    connection.run("delete from deliveries where webhook = ? and request = ?", call["webhook"], call["request"])


def _later(connection: Connection, call: Row) -> None:
    connection.run(
        "update deliveries set due = ? where webhook = ? and request = ?",
        *(time.time() + _PAUSE * 2 ** (call["tries"] - 1), call["webhook"], call["request"]),
    )


def _is_due(connection: Connection) -> bool:
    return connection.one("select 1 as due from deliveries where due <= ? limit 1", time.time()) is not None


async def ring(database: Database, feed: change_feed.Feed, public_url: str) -> None:
    """Make the calls for waiting requests, soon after they were opened; one that takes long keeps no other back."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def make(call: Row) -> None:
        async with room:
            with contextlib.suppress(DatabaseAway):
                await run_in_threadpool(_make, database, call, public_url)

    number = feed.last
    async with asyncio.TaskGroup() as calls:
        while True:
            with contextlib.suppress(DatabaseAway):
                if await run_in_threadpool(database.read, _is_due):
                    for call in await run_in_threadpool(database.write, claim):
                        calls.create_task(make(call))
                found = await feed.next(number, _LOOK)
                number = found[-1].number if found else number
                if not any(change.what == "open" for change in found):
                    await asyncio.sleep(_LOOK)


def _make(database: Database, call: Row, public_url: str) -> None:
    url = f"{public_url}/requests/{quote(call['request'], safe='')}"
    body, headers = _message(call, url)
    headers["User-Agent"] = f"tenterhook/{__version__}"
    try:
        request = urllib.request.Request(call["url"], body, headers)  # noqa: S310  # http or https: checked when added
        with _OPENER.open(request, timeout=_TIMEOUT):
            pass
    except (OSError, ValueError, http.client.HTTPException) as error:
        if call["tries"] >= _TRIES:
            logging.getLogger("tenterhook.hub").warning("webhook %s: given up: %s", call["webhook"], _why(error))
            database.write(lambda connection: _done(connection, call))
        else:
            database.write(lambda connection: _later(connection, call))
    else:
        database.write(lambda connection: _done(connection, call))


def _why(error: Exception) -> str:
    """What went wrong, without the address, which may be a secret."""
    return f"status {error.code}" if isinstance(error, urllib.error.HTTPError) else type(error).__name__


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """An address is where an admin has pointed it, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


def _message(call: Row, url: str) -> tuple[bytes, dict[str, str]]:
    """What is sent: that something waits, what kind of thing, and where to answer it."""
    text = presenter.headline(call["agent"], Call(call["tool_name"], {}, ""))
    if call["kind"] == NTFY:
        return text.encode(), {"Title": "An approval is waiting", "Click": url, "Tags": "raised_hand"}
    if call["kind"] == SLACK:
        return _json({"text": f"{_for_slack(text)}: <{url}|answer>"})
    about = {key: call[key] for key in ("tool_name", "action", "agent", "machine", "expires")}
    return _json({"schema": 1, "event": "request", "id": call["request"], "url": url, **about})


def _for_slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _json(value: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    return json.dumps(value).encode(), {"Content-Type": "application/json"}
