"""The pages for signing in: forms for the script, and no way to anywhere else."""

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
    """Else a person would work under another name without noticing."""
    small_hub.admin and small_hub.admin.post("/people", json={"name": "bert", "password": PASSWORD})
    given = {"name": "bert", "password": PASSWORD}
    assert small_hub.client(**headers).post("/sign-in", json=given).status_code == 403


@pytest.mark.parametrize(
    ("next_page", "led_to"),
    [
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/\r\nx: y", "/"),
        ("", "/"),
        ("/rules?x=1", "/rules?x=1"),
    ],
)
def test_a_sign_in_leads_nowhere_else(small_hub: Hub, next_page: str, led_to: str) -> None:
    shown = httpx.get(f"{small_hub.url}/sign-in", params={"next": next_page}).text
    assert re.findall(r'name="next" value="([^"]*)"', shown) == [led_to]


@pytest.mark.parametrize("path", ["/sign-in", "/enter"])
def test_a_form_that_is_sent_without_script_signs_nobody_in_and_puts_nothing_into_the_address(
    small_hub: Hub, path: str
) -> None:
    shown = httpx.get(f"{small_hub.url}{path}").text
    ((method, action),) = re.findall(r'<form method="(\w+)" action="([^"]+)"', shown)
    assert method == "post"
    sent = httpx.post(f"{small_hub.url}{action}", data={"name": "x", "password": "y", "link": "z"})
    assert sent.status_code == 422
    assert "<noscript>" in shown


@pytest.mark.parametrize("path", ["/sign-in", "/enter"])
def test_without_tls_a_page_from_another_machine_asks_for_nothing(small_hub: Hub, path: str) -> None:
    """A password would cross the network before the hub could refuse it."""
    shown = httpx.get(f"{small_hub.url}{path}", headers={"x-forwarded-for": "192.0.2.7"}).text
    assert "Nobody can sign in here" in shown
    assert "<form" not in shown
    assert "<form" in httpx.get(f"{small_hub.url}{path}").text


def test_a_one_time_link_signs_in_once_and_signing_out_ends_it(small_hub: Hub) -> None:
    name = small_hub.person_file["name"]
    given = {"link": small_hub.write(lambda connection: accounts.new_link(connection, name))}
    with httpx.Client(base_url=f"{small_hub.url}/api/v1", headers={"origin": small_hub.url}) as client:
        client.headers["tenterhook-key"] = client.post("/enter", json=given).json()["key"]
        client.headers["cookie"] = f"tenterhook={client.cookies['tenterhook']}"
        assert client.get("/me").json()["name"] == name
        assert client.post("/sign-out").status_code == 204
        assert client.get("/me").status_code == 401
    again = httpx.post(f"{small_hub.url}/api/v1/enter", json=given)
    assert (again.status_code, "set-cookie" in again.headers) == (401, False)


def test_a_link_replaces_no_sign_in_of_another_person(small_hub: Hub, signed_in: httpx.Client) -> None:
    """Who sends a link to others could have them answer in their own name."""
    small_hub.person("mallory")
    link = small_hub.write(lambda connection: accounts.new_link(connection, "mallory"))
    refused = signed_in.post("/api/v1/enter", json={"link": link})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "other-person")
    name = small_hub.person_file["name"]
    assert f"you are signed in as {name}, and this link is for mallory" in refused.json()["error"]["message"]
    assert "set-cookie" not in refused.headers
    without_cookie = httpx.Client(
        base_url=small_hub.url, headers={"tenterhook-key": signed_in.headers["tenterhook-key"]}
    )
    with without_cookie as client:  # another server on this host can overwrite it
        assert client.post("/api/v1/enter", json={"link": link}).status_code == 409
    assert signed_in.get("/api/v1/me").json()["name"] == name
    assert signed_in.post("/api/v1/sign-out").status_code == 204
    assert signed_in.post("/api/v1/enter", json={"link": link}).json()["name"] == "mallory"  # it was not used up


def test_a_new_link_of_the_same_person_signs_in_again(small_hub: Hub, signed_in: httpx.Client) -> None:
    name = small_hub.person_file["name"]
    link = small_hub.write(lambda connection: accounts.new_link(connection, name))
    assert signed_in.post("/api/v1/enter", json={"link": link}).json()["name"] == name
