"""The pages for signing in: a cookie that scripts and other sites cannot use, and no way to anywhere else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest

from hub.hubs import PASSWORD
from tenterhook.hub import accounts

if TYPE_CHECKING:
    from hub.hubs import Hub


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}])
def test_another_sites_page_signs_nobody_in(small_hub: Hub, headers: dict[str, str]) -> None:
    """Or one would work, and be seen, as somebody else."""
    small_hub.admin and small_hub.admin.post("/people", json={"name": "bert", "password": PASSWORD})
    given = {"name": "bert", "password": PASSWORD}
    assert small_hub.client(**headers).post("/sign-in", json=given).status_code == 403
    assert httpx.post(f"{small_hub.url}/sign-in", data=given, headers=headers).status_code == 403


def test_a_cookie_of_the_pages_has_the_same_flags(small_hub: Hub) -> None:
    small_hub.person("carl", password=PASSWORD)
    entered = httpx.post(f"{small_hub.url}/sign-in", data={"name": "carl", "password": PASSWORD})
    assert entered.status_code == 303
    value, *flags = (part.strip().lower() for part in entered.headers["set-cookie"].split(";"))
    assert {"httponly", "samesite=strict", "path=/"} <= set(flags)
    assert not any(flag.startswith("domain") for flag in flags)
    assert len(value) > 40


@pytest.mark.parametrize("next_page", ["//evil.example", "https://evil.example", "/\\evil.example", "/\r\nx: y", ""])
def test_a_sign_in_leads_nowhere_else(small_hub: Hub, next_page: str) -> None:
    small_hub.admin and small_hub.admin.post("/people", json={"name": "dana", "password": PASSWORD})
    form = {"name": "dana", "password": PASSWORD, "next": next_page}
    entered = httpx.post(f"{small_hub.url}/sign-in", data=form)
    assert (entered.status_code, entered.headers["location"]) == (303, "/")


def test_a_wrong_password_is_the_form_again_without_a_cookie(small_hub: Hub) -> None:
    small_hub.person("emil", password=PASSWORD)
    form = {"name": "emil", "password": "wrong", "next": "/rules"}
    refused = httpx.post(f"{small_hub.url}/sign-in", data=form)
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers
    assert 'value="emil"' in refused.text
    assert "wrong" not in re.findall(r'value="([^"]*)"', refused.text)
    entered = httpx.post(f"{small_hub.url}/sign-in", data={**form, "password": PASSWORD})
    assert (entered.status_code, entered.headers["location"]) == (303, "/rules")


def test_a_one_time_link_signs_in_once_and_signing_out_ends_it(small_hub: Hub) -> None:
    name = small_hub.person_file["name"]
    form = {"code": small_hub.write(lambda connection: accounts.new_link(connection, name))}
    with httpx.Client(base_url=small_hub.url, headers={"origin": small_hub.url}) as client:
        assert client.post("/enter", data=form).headers["location"] == "/"
        cookie = client.cookies["tenterhook"]
        csrf = client.get("/api/v1/me").json()["csrf"]
        assert client.post("/sign-out", data={"csrf": csrf}).headers["location"] == "/sign-in"
    assert httpx.get(f"{small_hub.url}/", headers={"cookie": f"tenterhook={cookie}"}).status_code == 303
    again = httpx.post(f"{small_hub.url}/enter", data=form)
    assert (again.status_code, "set-cookie" in again.headers) == (403, False)
