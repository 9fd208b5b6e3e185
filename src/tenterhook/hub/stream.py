"""`/api/v1/stream`: changes as server-sent events, for pages and other clients."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import StreamingResponse

from . import access, change_feed
from .api import Here, Person, error_responses
from .database import DatabaseUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from .access import Hub, Principal

_KEEP_ALIVE = 15.0  # seconds between comments in a silent stream
_PAUSE = 0.1  # seconds between two writes: changes in quick succession are sent together
_JITTER = 0.1  # seconds at most that a stream waits: an agent that waits for its answer goes first
router = APIRouter(prefix="/api/v1")


@router.get(
    "/stream",
    tags=["people"],
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "server-sent events"},
        **error_responses(401, 403),
    },
)
async def stream(
    request: Request, caller: Person, hub: Here, last_event_id: Annotated[str | None, Header()] = None
) -> StreamingResponse:
    """Stream changes as server-sent events, after `Last-Event-ID` or from now on."""
    begin = int(last_event_id) if last_event_id and re.fullmatch(r"\d{1,15}", last_event_id, re.ASCII) else None
    number = hub.feed.last if begin is None else min(begin, hub.feed.last)
    return StreamingResponse(
        _stream(request, caller, hub, number), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


async def _stream(request: Request, caller: Principal, hub: Hub, number: int) -> AsyncIterator[str]:
    yield f"id: {number}\nretry: 2000\n: hello\n\n"
    checked = time.monotonic()
    while not hub.feed.is_closed:
        try:
            if await hub.feed.next(number, _KEEP_ALIVE):
                await asyncio.sleep(random.uniform(0, _JITTER))  # noqa: S311  # nothing secret
            found = await hub.feed.next(number, 0)
            may_be_revoked = any(change.kind == change_feed.PEOPLE for change in found)
            if may_be_revoked or time.monotonic() - checked > _KEEP_ALIVE:
                checked = time.monotonic()
                if not await access.is_still_authorized(request):
                    return
        except DatabaseUnavailable:
            continue  # the read has already waited
        said = "".join(_event(change) for change in found if caller.is_admin or change.kind != change_feed.PEOPLE)
        number = found[-1].number if found else number
        if said or not found:
            yield said or ": still here\n\n"
        await asyncio.sleep(_PAUSE)


def _event(change: change_feed.Change) -> str:
    data = json.dumps({"kind": change.kind, "id": change.about, "what": change.what})
    return f"id: {change.number}\nevent: {change.kind}\ndata: {data}\n\n"
