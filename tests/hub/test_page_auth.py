"""Who may see a page, and the pages for those who may not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest

from hub.hubs import opened
from tenterhook.hub import accounts

if TYPE_CHECKING:
    from hub.hubs import Hub


def test_a_navigation_gets_the_same_empty_page_with_a_sign_in_and_without(
    small_hub: Hub, signed_in: httpx.Client
) -> None:
    """A browser sends nothing but the cookie, which is not enough; the page's script fetches the content."""
    asked = opened(small_hub.agent(), "make deploy")
    cookie = {"cookie": f"tenterhook={signed_in.cookies['tenterhook']}"}
    for path in ("/", f"/requests/{asked['id']}", "/sessions", "/hooks?days=30", "/rules", "/people"):
        content = signed_in.get(path)
        assert (content.status_code, "Sign out" in content.text) == (200, True), path
        plain, with_cookie = (httpx.get(f"{small_hub.url}{path}", headers=headers) for headers in ({}, cookie))
        assert (plain.status_code, with_cookie.status_code) == (200, 200), path
        assert without_time(plain.text) == without_time(with_cookie.text), path
        for secret in ("make deploy", small_hub.person_file["name"], "Sign out"):
            assert secret not in with_cookie.text.replace("/work/", ""), (path, secret)


def without_time(page: str) -> str:
    return re.sub(r'data-now="[^"]+"', "", page)


@pytest.mark.parametrize("key", [None, "", "x" * 43, "th_person_" + "x" * 43])
def test_the_content_of_a_page_needs_the_key_besides_the_cookie(
    small_hub: Hub, signed_in: httpx.Client, key: str | None
) -> None:
    asked = opened(small_hub.agent())
    right = signed_in.headers.pop("tenterhook-key")
    for path in ("/", "/people", f"/fragments/requests/{asked['id']}"):
        shown = signed_in.get(path, headers={} if key is None else {"tenterhook-key": key})
        assert shown.status_code == (200 if key is None else 401), path
        assert asked["hash"] not in shown.text
        assert signed_in.get(path, headers={"tenterhook-key": right}).status_code == 200
    form = {"approved": "yes", "hash": asked["hash"]}
    headers = {"origin": small_hub.url, **({} if key is None else {"tenterhook-key": key})}
    assert signed_in.post(f"/requests/{asked['id']}/answer", data=form, headers=headers).status_code == 401
    assert small_hub.admin is not None
    assert small_hub.admin.get(f"/requests/{asked['id']}").json()["state"] == "open"


def test_a_key_without_its_cookie_or_with_another_is_of_no_use(small_hub: Hub, signed_in: httpx.Client) -> None:
    key = signed_in.headers["tenterhook-key"]
    name = small_hub.person_file["name"]
    link = small_hub.write(lambda connection: accounts.new_link(connection, name))
    with httpx.Client(base_url=small_hub.url) as other:
        assert other.get("/api/v1/me", headers={"tenterhook-key": key}).status_code == 401
        assert other.post("/api/v1/enter", json={"link": link}).status_code == 200
        assert other.get("/api/v1/me", headers={"tenterhook-key": key}).status_code == 401
    assert signed_in.get("/api/v1/me").status_code == 200


def test_a_form_needs_the_pages_origin(small_hub: Hub, signed_in: httpx.Client) -> None:
    asked = opened(small_hub.agent())
    form = {"approved": "yes", "hash": asked["hash"]}
    headers = {"origin": "https://evil.example"}
    refused = signed_in.post(f"/requests/{asked['id']}/answer", data=form, headers=headers)
    assert refused.status_code == 403
    assert refused.headers["content-type"].startswith("text/html")
    assert signed_in.get(f"/api/v1/requests/{asked['id']}").json()["state"] == "open"


def test_what_is_not_there_is_a_page_that_says_so(signed_in: httpx.Client) -> None:
    for path in ("/nowhere", "/requests/none", "/hooks?days=many", "/sessions/m/s?after=x"):
        missing = signed_in.get(path)
        assert (missing.status_code, missing.headers["content-type"][:9]) == (404, "text/html"), path
    assert signed_in.get("/api/nowhere").json()["error"]["code"] == "not-found"
