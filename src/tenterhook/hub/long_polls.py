"""Agents' long polls without the layers of the framework: thousands of them are open at the same time.

The framework's own route describes them, and serves every request that is not plain.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.requests import Request

from ..errors import HookError
from . import access, api, inbox

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

_PATH = re.compile(r"/api/v1/requests/([A-Za-z0-9._-]{1,200})/answer")
_QUERY = re.compile(rb"wait=([0-9]{1,2}(?:\.[0-9]{1,6})?)")


class LongPolls:
    """Answers long polls itself, and passes everything else on."""

    def __init__(self, app: ASGIApp, refusal: Callable[[Request, Any], Response]) -> None:
        self._app = app
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        query = _QUERY.fullmatch(scope["query_string"]) if path else None
        if path is None or query is None or float(query[1]) > inbox.LONGEST_WAIT:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        response: Response
        try:
            caller, hub = await access.agent(request), access.hub_of(request)
            response = api.PlainJSON(await api.answer_or_state(path[1], request, caller, hub, float(query[1])))
        except HookError as error:
            response = self._refusal(request, error)
        await response(scope, receive, send)
