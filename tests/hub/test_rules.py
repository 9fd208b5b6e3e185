"""The hub's rules: the same for every agent, and sent only when they have changed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

    from hub.hubs import Hub


def test_rules_are_the_same_for_everybody_and_not_sent_twice(
    hub: Hub, agent: httpx.Client, admin: httpx.Client
) -> None:
    given = {"answer": "deny", "command": "rm -rf /", "reason": "no", "expires": time.time() + 3600}
    made = admin.post("/rules", json=given)
    assert made.status_code == 201
    first = agent.get("/rules")
    assert made.json() in first.json()["rules"]
    same = agent.get("/rules", headers={"if-none-match": first.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    assert admin.delete(f"/rules/{made.json()['number']}").status_code == 204
    changed = agent.get("/rules", headers={"if-none-match": first.headers["etag"]})
    assert changed.status_code == 200
    assert made.json() not in changed.json()["rules"]
    assert admin.post("/rules", json={"answer": "approve", "pattern": "("}).status_code == 422
    assert admin.post("/rules", json={"answer": "perhaps"}).status_code == 422


def test_a_rule_that_has_expired_is_not_sent(agent: httpx.Client, admin: httpx.Client) -> None:
    made = admin.post("/rules", json={"answer": "approve", "command": "ls", "expires": time.time() - 1}).json()
    assert made["number"] not in [each["number"] for each in agent.get("/rules").json()["rules"]]


def test_a_rule_that_approves_needs_a_condition(agent: httpx.Client, admin: httpx.Client) -> None:
    before = agent.get("/rules").json()
    for more in ({}, {"tool": "", "pattern": ""}, {"agent": "claude-code"}):
        refused = admin.post("/rules", json={"answer": "approve", **more})
        assert refused.status_code == 422
        assert "needs a condition" in refused.json()["error"]["message"]
        assert "directory" in refused.json()["error"]["remedy"]
    assert agent.get("/rules").json() == before
    for given in ({"answer": "ask"}, {"answer": "approve", "directory": "/srv/shop"}):
        made = admin.post("/rules", json=given)
        assert made.status_code == 201
        assert admin.delete(f"/rules/{made.json()['number']}").status_code == 204
