"""The forms for rules, people, tokens and webhooks: what an admin changes by them."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest

from hub.hubs import PASSWORD

if TYPE_CHECKING:
    import httpx

    from hub.hubs import Hub


def send(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    return client.post(path, data=fields)


def test_a_rule_is_added_with_its_end_and_removed(small_hub: Hub, signed_in: httpx.Client) -> None:
    added = send(signed_in, "/rules", answer="deny", tool="Shell", command=" rm <b> ", reason="no", days="2")
    assert (added.status_code, added.headers["location"]) == (303, "/rules")
    *_, rule = signed_in.get("/api/v1/rules").json()["rules"]
    assert (rule["answer"], rule["command"], rule["directory"]) == ("deny", "rm <b>", None)
    assert rule["created_by"] == small_hub.person_file["name"]
    assert 86400 < rule["expires"] - time.time() <= 2 * 86400
    assert "rm &lt;b&gt;" in signed_in.get("/rules").text
    assert send(signed_in, f"/rules/{rule['number']}/remove").status_code == 303
    assert rule not in signed_in.get("/api/v1/rules").json()["rules"]
    assert send(signed_in, f"/rules/{rule['number']}/remove").status_code == 404


def test_a_rule_that_is_wrong_is_the_form_again_with_what_was_typed(signed_in: httpx.Client) -> None:
    before = signed_in.get("/api/v1/rules").json()
    again = send(signed_in, "/rules", answer="approve", pattern="(", reason="a reason")
    assert again.status_code == 422
    assert 'value="a reason"' in again.text
    assert signed_in.get("/api/v1/rules").json() == before


def test_the_empty_form_adds_no_rule_that_approves_everything(signed_in: httpx.Client) -> None:
    assert "<option selected>ask</option>" in signed_in.get("/rules").text
    before = signed_in.get("/api/v1/rules").json()
    empty = dict.fromkeys(("tool", "command", "pattern", "directory", "agent", "reason", "days"), "")
    again = send(signed_in, "/rules", answer="approve", **empty)
    assert again.status_code == 422
    assert "at least one of tool, command, pattern, directory" in again.text
    assert "<option selected>approve</option>" in again.text
    assert signed_in.get("/api/v1/rules").json() == before


def test_a_person_is_added_and_removed(small_hub: Hub, signed_in: httpx.Client) -> None:
    assert send(signed_in, "/people", name="bob", role="approver", password="short").status_code == 422
    assert send(signed_in, "/people", name="bob", role="approver", password=PASSWORD).status_code == 303
    assert send(signed_in, "/people", name="bob", role="approver", password=PASSWORD).status_code == 422
    given = {"name": "bob", "password": PASSWORD}
    assert small_hub.client().post("/sign-in", json=given).status_code == 200
    assert send(signed_in, "/people/bob/remove").status_code == 303
    assert small_hub.client().post("/sign-in", json=given).status_code == 401


def test_a_token_is_shown_once_and_counts_until_it_is_revoked(small_hub: Hub, signed_in: httpx.Client) -> None:
    shown = send(signed_in, "/tokens", name="laptop", kind="agent").text
    (secret,) = set(re.findall(r"th_agent_[\w-]+", shown))
    agent = small_hub.client(secret)
    assert agent.get("/me").json()["kind"] == "agent"
    assert secret not in signed_in.get("/people").text
    assert send(signed_in, "/tokens", name="laptop", kind="agent").status_code == 422
    (token,) = [each for each in signed_in.get("/api/v1/tokens").json()["tokens"] if each["name"] == "laptop"]
    assert send(signed_in, f"/tokens/{token['id']}/revoke").status_code == 303
    assert agent.get("/me").status_code == 401


@pytest.mark.parametrize("fields", [{"kind": "json", "url": "file:///etc/passwd"}, {"kind": "odd", "url": "http://x"}])
def test_a_webhook_needs_a_known_kind_and_an_address(signed_in: httpx.Client, fields: dict[str, str]) -> None:
    before = signed_in.get("/api/v1/webhooks").json()
    assert send(signed_in, "/webhooks", **fields).status_code == 422
    assert signed_in.get("/api/v1/webhooks").json() == before
