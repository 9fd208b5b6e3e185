"""Who may see a page, and the pages for those who may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from hub.hubs import opened

if TYPE_CHECKING:
    from hub.hubs import Hub


def test_without_a_sign_in_a_page_leads_to_it_and_back(small_hub: Hub) -> None:
    sent = httpx.get(f"{small_hub.url}/hooks?days=30")
    assert (sent.status_code, sent.headers["location"]) == (303, "/sign-in?next=%2Fhooks%3Fdays%3D30")


def test_a_link_from_another_site_is_followed_once_more_with_the_cookie(small_hub: Hub) -> None:
    """A strict cookie does not come along with a link in a chat."""
    shown = httpx.get(f"{small_hub.url}/rules", headers={"sec-fetch-site": "cross-site"})
    assert shown.status_code == 200
    assert "location" not in shown.headers
    assert "refresh" in shown.text


def test_the_script_of_a_page_is_told_that_its_person_is_signed_out(small_hub: Hub) -> None:
    assert httpx.get(f"{small_hub.url}/", headers={"x-fragment": "1"}).status_code == 401


@pytest.mark.parametrize("wrong", [{"csrf": ""}, {"csrf": "x" * 43}, {"origin": "https://evil.example"}])
def test_a_form_needs_the_pages_origin_and_csrf_token(
    small_hub: Hub, signed_in: httpx.Client, wrong: dict[str, str]
) -> None:
    asked = opened(small_hub.agent())
    form = {"approved": "yes", "hash": asked["hash"], "csrf": wrong.get("csrf", signed_in.headers["csrf"])}
    headers = {"origin": wrong.get("origin", small_hub.url)}
    refused = signed_in.post(f"/requests/{asked['id']}/answer", data=form, headers=headers)
    assert refused.status_code == 403
    assert refused.headers["content-type"].startswith("text/html")
    assert signed_in.get(f"/api/v1/requests/{asked['id']}").json()["state"] == "open"


def test_what_is_not_there_is_a_page_that_says_so(signed_in: httpx.Client) -> None:
    for path in ("/nowhere", "/requests/none", "/hooks?days=many", "/sessions/m/s?after=x"):
        missing = signed_in.get(path)
        assert (missing.status_code, missing.headers["content-type"][:9]) == (404, "text/html"), path
    assert signed_in.get("/api/nowhere").json()["error"]["code"] == "not-found"
