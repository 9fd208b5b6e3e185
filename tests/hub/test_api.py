"""The description of the HTTP interface is true: answers look as it says."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from hub.hubs import answered, opened, request

if TYPE_CHECKING:
    import httpx

    from hub.hubs import Hub


@pytest.fixture(scope="module")
def description(hub: Hub) -> dict[str, Any]:
    found: dict[str, Any] = hub.client().get("/openapi.json").json()
    return found


def check(description: dict[str, Any], path: str, response: httpx.Response) -> None:
    """Hold an answer to what is said about it."""
    method = response.request.method.lower()
    said = description["paths"][f"/api/v1{path}"][method]["responses"]
    assert str(response.status_code) in said, response.text
    if response.content:
        schema = said[str(response.status_code)]["content"]["application/json"]["schema"]
        Draft202012Validator({**schema, "components": description["components"]}).validate(response.json())


def test_every_answer_looks_as_it_is_described(hub: Hub, description: dict[str, Any]) -> None:
    agent, admin, stranger = hub.agent(), hub.admin, hub.client()
    assert admin is not None
    asked, other, gone = (opened(agent, each) for each in ("one", "two", "three"))
    record = {"hash": "a", "session_id": "s", "time": time.time(), "runs": [{"hook": "h", "outcome": "ok"}]}
    records = {"machine": "m", "records": [{"segment": "1", "line": 1, "record": record}]}
    cases = [
        ("/health", stranger.get("/health")),
        ("/me", stranger.get("/me")),
        ("/me", agent.get("/me")),
        ("/me", admin.get("/me")),
        ("/requests", agent.post("/requests", json=request("three"))),
        ("/requests", agent.post("/requests", json={**request("one"), "id": other["id"]})),
        ("/requests", agent.post("/requests", json={})),
        ("/requests/{request_id}/answer", answered(admin, asked)),
        ("/requests/{request_id}/answer", answered(admin, asked, approved=False)),
        ("/requests/{request_id}/answer", answered(agent, asked)),
        ("/requests/{request_id}/answer", answered(admin, {"id": "none", "hash": "0" * 64})),
        ("/requests/{request_id}/answer", agent.get(f"/requests/{asked['id']}/answer")),
        ("/requests/{request_id}/answer", agent.get(f"/requests/{other['id']}/answer?wait=0")),
        ("/requests/{request_id}/withdraw", agent.post(f"/requests/{gone['id']}/withdraw", json={"by": "terminal"})),
        ("/requests/{request_id}", admin.get(f"/requests/{asked['id']}")),
        ("/requests/{request_id}", admin.get(f"/requests/{gone['id']}")),
        ("/requests/{request_id}", admin.get("/requests/none")),
        ("/inbox", admin.get("/inbox")),
        ("/inbox", admin.get("/inbox?state=answered")),
        ("/inbox", admin.get("/inbox?state=odd")),
        ("/records", agent.post("/records", json=records)),
        ("/sessions", admin.get("/sessions")),
        ("/sessions/{machine}/{session}/timeline", admin.get("/sessions/m/s/timeline")),
        ("/hooks", admin.get("/hooks?since=4w")),
        ("/rules", admin.post("/rules", json={"answer": "ask", "tool": "Shell"})),
        ("/rules", agent.get("/rules")),
        ("/people", admin.post("/people", json={"name": "described"})),
        ("/people", admin.get("/people")),
        ("/tokens", admin.post("/tokens", json={"name": "described"})),
        ("/tokens", admin.post("/tokens", json={"name": "described", "kind": "person", "person": "described"})),
        ("/tokens", admin.post("/tokens", json={"name": "described", "kind": "person"})),
        ("/tokens", admin.get("/tokens")),
        ("/webhooks", admin.post("/webhooks", json={"kind": "json", "url": "http://127.0.0.1:9/"})),
        ("/webhooks", admin.get("/webhooks")),
        ("/webhooks/{number}", admin.delete("/webhooks/1")),
        ("/webhooks/{number}", admin.delete("/webhooks/999")),
        ("/people/{name}", admin.delete("/people/described")),
        ("/people/{name}", admin.delete("/people/described")),
        ("/sign-in", stranger.post("/sign-in", json={"name": "described", "password": "wrong"})),
        ("/enter", stranger.post("/enter", json={"link": "wrong"})),
    ]
    for path, response in cases:
        assert response.status_code < 500
        check(description, path, response)


def test_every_address_says_what_it_is_for_and_how_it_fails(description: dict[str, Any]) -> None:
    for path, methods in description["paths"].items():
        for method, said in methods.items():
            assert said["description"], (method, path)
            assert said["tags"], (method, path)
            assert "422" in said["responses"], (method, path)
            if "everybody" not in said["tags"]:
                assert {"401", "403"} <= set(said["responses"]), (method, path)
            for status, answer in said["responses"].items():
                if status >= "400" and status != "409":
                    assert answer["content"]["application/json"]["schema"] == {
                        "$ref": "#/components/schemas/ErrorResponse"
                    }
