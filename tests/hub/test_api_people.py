"""People and tokens over the HTTP interface."""

from __future__ import annotations

import os
import pwd
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hub.hubs import Hub


def test_the_only_admin_cannot_be_removed(hub: Hub) -> None:
    assert hub.admin is not None
    refused = hub.admin.delete(f"/people/{pwd.getpwuid(os.getuid()).pw_name}")
    assert refused.status_code == 422
    assert "only admin" in refused.json()["error"]["message"]


def test_a_revoked_token_is_worth_nothing(hub: Hub) -> None:
    assert hub.admin is not None
    made = hub.admin.post("/tokens", json={"name": "short-lived"}).json()
    agent = hub.client(made["token"])
    assert agent.get("/me").json()["kind"] == "agent"
    assert made["token"] not in hub.admin.get("/tokens").text
    assert hub.admin.delete(f"/tokens/{made['id']}").status_code == 204
    assert agent.get("/me").status_code == 401
    assert hub.admin.delete(f"/tokens/{made['id']}").status_code == 404


@pytest.mark.parametrize("name", ["", "a b", "a/b", "-x", "x" * 65, "\u202eevil"])
def test_a_name_that_could_deceive_is_refused(small_hub: Hub, name: str) -> None:
    assert small_hub.admin is not None
    assert small_hub.admin.post("/people", json={"name": name}).status_code == 422
