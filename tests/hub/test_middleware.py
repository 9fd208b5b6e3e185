"""What stands before every request: the host's name, the size of a body, and the headers of every response."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hub.hubs import Hub


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example", "evil.example:7717", "", "[", "hub@evil"])
def test_another_name_for_the_hub_is_refused(small_hub: Hub, name: str) -> None:
    assert small_hub.admin is not None
    assert small_hub.admin.get("/inbox", headers={"host": name}).status_code in (400, 421)


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1:1234", "[::1]:7717", "LOCALHOST"])
def test_its_own_names_are_fine(small_hub: Hub, name: str) -> None:
    assert small_hub.admin is not None
    assert small_hub.admin.get("/inbox", headers={"host": name}).status_code == 200


@pytest.mark.parametrize("path", ["/requests", "/records", "/sign-in", "/nowhere"])
def test_a_body_of_20_mb_is_refused_before_it_is_read(small_hub: Hub, path: str) -> None:
    refused = small_hub.agent().post(path, content=b"x" * 20_000_000)
    assert refused.status_code == 413
    assert refused.json()["error"]["code"] == "too-large"


def test_a_body_that_does_not_say_how_large_it_is_is_refused_too(small_hub: Hub) -> None:
    pieces = (b"x" * 65536 for _ in range(400))
    assert small_hub.agent().post("/requests", content=pieces).status_code == 413
    assert small_hub.client().get("/health").status_code == 200


def test_records_may_be_larger_than_other_bodies(small_hub: Hub) -> None:
    record = {"hash": "large", "type": "verdict", "time": 1.0, "fields": {"text": "x" * 2_000_000}}
    given = {"machine": "m", "records": [{"segment": "1", "line": 1, "record": record}]}
    assert small_hub.agent().post("/records", json=given).json() == {"taken": 1, "known": 0}


def test_every_answer_carries_the_headers_that_keep_pages_safe(small_hub: Hub) -> None:
    for path in ("/health", "/inbox", "/nowhere"):
        headers = small_hub.client().get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
