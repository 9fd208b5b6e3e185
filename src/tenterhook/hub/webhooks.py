"""Webhooks: a notification of each new request, with a link to it and nothing secret.

Deliveries are stored in the database: each is made by one of several hubs, and by another if that one fails.
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
from .database import DatabaseUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .database import Connection, Database, Row

NTFY, SLACK, JSON = "ntfy", "slack", "json"
KINDS = (NTFY, SLACK, JSON)
_MAX_ATTEMPTS = 4
_CLAIMED = 60.0  # seconds for one hub to make a delivery
_PAUSE = 2.0  # seconds before the second attempt, doubled before each further one
_TIMEOUT = 10.0
_MAX_CONCURRENT = 8
_INTERVAL = 1.0  # seconds between checks for deliveries that are due


def listed(connection: Connection) -> list[Row]:
    return connection.all("select number, kind, url, created_by, created from webhooks order by number")


def add(connection: Connection, kind: str, url: str, who: str) -> Row:
    if kind not in KINDS or not _is_url(url):
        raise HookError("that is not the URL of a webhook", "write it like https://ntfy.sh/my-topic")
    row = connection.one(
        "insert into webhooks (kind, url, created_by, created) values (?, ?, ?, ?) returning *",
        *(kind, url, who, time.time()),
    )
    assert row is not None
    change_feed.add(connection, change_feed.WEBHOOKS, str(row["number"]), "added")
    return row


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_valid and url.isprintable() and " " not in url


def remove(connection: Connection, number: int) -> bool:
    """Remove a webhook; return False if there is none with this number."""
    has_removed = connection.run("delete from webhooks where number = ?", number) == 1
    if has_removed:
        change_feed.add(connection, change_feed.WEBHOOKS, str(number), "removed")
    return has_removed


def shown_url(url: str) -> str:
    """Return the beginning of a URL: the rest is often a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}/…"


def add_deliveries(connection: Connection, requests: Sequence[str]) -> None:
    """Store a delivery to each webhook for each of these new requests."""
    if not requests or connection.one("select 1 as found from webhooks limit 1") is None:
        return
    connection.many(
        "insert into deliveries (webhook, request, tries, due) select number, ?, 0, ? from webhooks returning webhook",
        [(request, time.time()) for request in requests],
    )


def claim(connection: Connection) -> list[Row]:
    """Return the deliveries that are due, for the caller to make; those of ended requests are removed."""
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


async def deliver(database: Database, feed: change_feed.Feed, public_url: str) -> None:
    """Make the deliveries; a slow one does not delay the others."""
    room = asyncio.Semaphore(_MAX_CONCURRENT)

    async def make(call: Row) -> None:
        async with room:
            with contextlib.suppress(DatabaseUnavailable):
                await run_in_threadpool(_make, database, call, public_url)

    number = feed.last
    async with asyncio.TaskGroup() as calls:
        while True:
            with contextlib.suppress(DatabaseUnavailable):
                if await run_in_threadpool(database.read, _is_due):
                    for call in await run_in_threadpool(database.write, claim):
                        calls.create_task(make(call))
                found = await feed.next(number, _INTERVAL)
                number = found[-1].number if found else number
                if not any(change.what == change_feed.OPENED for change in found):
                    await asyncio.sleep(_INTERVAL)


def _make(database: Database, call: Row, public_url: str) -> None:
    url = f"{public_url}/requests/{quote(call['request'], safe='')}"
    body, headers = _message(call, url)
    headers["User-Agent"] = f"tenterhook/{__version__}"
    try:
        request = urllib.request.Request(call["url"], body, headers)  # noqa: S310  # http or https: checked when added
        with _OPENER.open(request, timeout=_TIMEOUT):
            pass
    except (OSError, ValueError, http.client.HTTPException) as error:
        if call["tries"] >= _MAX_ATTEMPTS:
            logging.getLogger("tenterhook.hub").warning("webhook %s: given up: %s", call["webhook"], _why(error))
            database.write(lambda connection: _done(connection, call))
        else:
            database.write(lambda connection: _later(connection, call))
    else:
        database.write(lambda connection: _done(connection, call))


def _why(error: Exception) -> str:
    """Return the error without the URL, which may be a secret."""
    return f"status {error.code}" if isinstance(error, urllib.error.HTTPError) else type(error).__name__


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Requests go only to the URL that an admin has given."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


def _message(call: Row, url: str) -> tuple[bytes, dict[str, str]]:
    """Return the body and headers of a notification: who wants to do what, and a link to answer it."""
    text = presenter.headline(call["agent"], Call(call["tool_name"], {}, ""))
    if call["kind"] == NTFY:
        return text.encode(), {"Title": "Approval needed", "Click": url, "Tags": "raised_hand"}
    if call["kind"] == SLACK:
        return _json({"text": f"{_for_slack(text)}: <{url}|answer>"})
    about = {key: call[key] for key in ("tool_name", "action", "agent", "machine", "expires")}
    return _json({"schema": 1, "event": "request", "id": call["request"], "url": url, **about})


def _for_slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _json(value: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    return json.dumps(value).encode(), {"Content-Type": "application/json"}
