"""Bodies of requests: what is not as described is refused, and the response says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hub.hubs import request

if TYPE_CHECKING:
    from hub.hubs import Hub


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[" * 100_000,
        b'{"id": 1e999}',
        b'{"tool_input": {"x": NaN}}',
        b"\xff\xfe",
        json.dumps({**request(), "more": 1}).encode(),
        json.dumps({**request(), "tool_input": {"x": float("inf")}}).encode(),
        json.dumps({**request(), "id": "../x"}).encode(),
        json.dumps({**request(), "agent": "\ud800"}).encode(),
        b'{"tool_input": ' + b"9" * 10_000 + b"}",
        json.dumps({**request(), "tool_input": {"x": 10**400}}).encode(),
    ],
)
def test_what_cannot_be_read_is_said_to_be_so(small_hub: Hub, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    refused = small_hub.agent().post("/requests", content=body, headers=headers)
    assert refused.status_code in (400, 422)
    assert refused.json()["error"]["message"]
