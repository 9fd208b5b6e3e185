"""People sign in by password, token or a link that works once; who guesses is slowed down."""

from __future__ import annotations

import math
import os
import pwd
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest

from hub import hubs
from hub.hubs import PASSWORD
from tenterhook.hub import accounts
from tenterhook.hub.database import opened as opened_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hub.hubs import Hub


def sign_in(hub: Hub, name: str, password: str, address: str = "127.0.0.1") -> httpx.Response:
    """A try, from an address that a reverse proxy on this machine tells of."""
    headers = {"x-forwarded-for": address}
    return hub.client(**headers).post("/sign-in", json={"name": name, "password": password})


@pytest.fixture
def own_hub(tmp_path: Path) -> Iterator[Hub]:
    with hubs.running(tmp_path / "hub", "--insecure") as hub:
        yield hub


def test_the_account_that_starts_a_hub_enters_by_a_link_that_works_once(small_hub: Hub) -> None:
    link = small_hub.first["enter"].partition("#")[2]
    with httpx.Client(base_url=f"{small_hub.url}/api/v1") as client:
        entered = client.post("/enter", json={"link": link})
        assert entered.status_code == 200
        name = pwd.getpwuid(os.getuid()).pw_name
        assert {key: entered.json()[key] for key in ("name", "role")} == {"name": name, "role": "admin"}
        client.headers["tenterhook-key"] = entered.json()["key"]
        assert client.get("/me").json()["name"] == name
        assert client.get("/people").status_code == 200
    assert httpx.post(f"{small_hub.url}/api/v1/enter", json={"link": link}).status_code == 401
    assert httpx.post(f"{small_hub.url}/api/v1/enter", json={"link": "x"}).status_code == 401


def test_a_person_signs_in_and_out(hub: Hub) -> None:
    hub.person("anna", password=PASSWORD)
    with httpx.Client(base_url=f"{hub.url}/api/v1", headers={"origin": hub.url}) as client:
        signed_in = client.post("/sign-in", json={"name": "anna", "password": PASSWORD})
        client.headers["tenterhook-key"] = signed_in.json()["key"]
        cookie = client.cookies["tenterhook"]
        assert client.get("/me").json()["name"] == "anna"
        assert client.post("/sign-out").status_code == 204
        assert client.get("/me", headers={"cookie": f"tenterhook={cookie}"}).status_code == 401


def test_a_wrong_name_is_told_the_same_as_a_wrong_password(hub: Hub) -> None:
    hub.person("berta", password=PASSWORD)
    wrong, nobody = sign_in(hub, "berta", "wrong"), sign_in(hub, "nobody", PASSWORD)
    assert (wrong.status_code, nobody.status_code) == (401, 401)
    assert wrong.json() == nobody.json()
    assert sign_in(hub, "berta", PASSWORD).status_code == 200


def test_somebody_without_a_password_cannot_sign_in_by_any(hub: Hub) -> None:
    hub.person("carla")
    assert sign_in(hub, "carla", "").status_code == 401
    assert sign_in(hub, pwd.getpwuid(os.getuid()).pw_name, "").status_code == 401


@pytest.mark.slow
def test_who_guesses_is_slowed_down_and_the_right_password_is_not_even_looked_at(own_hub: Hub) -> None:
    own_hub.person("dora", password=PASSWORD)
    statuses = [sign_in(own_hub, "dora", "wrong", f"192.0.2.{number}").status_code for number in range(8)]
    assert statuses[:5] == [401] * 5
    slow = sign_in(own_hub, "dora", PASSWORD, "192.0.2.99")
    for number in range(100, 200):  # on a busy machine, the time to wait may be over by then
        if slow.status_code == 429:
            break
        if sign_in(own_hub, "dora", "wrong", f"192.0.2.{number}").status_code == 429:
            slow = sign_in(own_hub, "dora", PASSWORD, "192.0.2.99")
    assert slow.status_code == 429
    assert int(slow.headers["retry-after"]) >= 1
    assert sign_in(own_hub, "somebody", "wrong", "192.0.2.99").status_code == 401


@pytest.mark.slow
def test_an_address_is_slowed_down_too_whatever_names_it_tries(own_hub: Hub) -> None:
    statuses = [sign_in(own_hub, f"name{number}", "wrong", "192.0.2.1").status_code for number in range(8)]
    assert statuses[:5] == [401] * 5
    assert 429 in statuses[5:]
    assert sign_in(own_hub, "other", "wrong", "192.0.2.2").status_code == 401


@pytest.mark.slow
def test_many_guesses_at_once_get_no_further_than_a_few(own_hub: Hub) -> None:
    own_hub.person("emma", password=PASSWORD)
    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(lambda _: sign_in(own_hub, "emma", "wrong").status_code, range(60)))
    assert set(statuses) == {401, 429}
    assert statuses.count(401) <= 8  # five are free, and a second or two have passed


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_ten_thousand_guesses_are_slowed_down(own_hub: Hub) -> None:
    own_hub.person("frida", password=PASSWORD)
    begun = time.monotonic()
    with httpx.Client(base_url=f"{own_hub.url}/api/v1", timeout=60) as client:
        statuses = [
            client.post("/sign-in", json={"name": "frida", "password": f"guess {number}"}).status_code
            for number in range(10_000)
        ]
    looked_at = statuses.count(401)
    assert set(statuses) == {401, 429}
    assert looked_at <= 6 + math.log2(time.monotonic() - begun + 1)


@pytest.mark.slow
def test_a_success_begins_the_count_anew(own_hub: Hub) -> None:
    own_hub.person("gerda", password=PASSWORD)
    for _ in range(3):
        for _ in range(3):
            assert sign_in(own_hub, "gerda", "wrong").status_code == 401
        assert sign_in(own_hub, "gerda", PASSWORD).status_code == 200


def test_who_was_removed_or_given_a_new_password_is_out_at_once(hub: Hub) -> None:
    person = hub.person("hanna", password=PASSWORD)
    assert hub.admin is not None
    with httpx.Client(base_url=f"{hub.url}/api/v1") as client:
        signed_in = client.post("/sign-in", json={"name": "hanna", "password": PASSWORD})
        client.headers["tenterhook-key"] = signed_in.json()["key"]
        assert client.get("/me").status_code == 200
        assert hub.admin.put("/people/hanna/password", json={"password": PASSWORD + "!"}).status_code == 204
        assert client.get("/me").status_code == 401
    assert person.get("/me").status_code == 200
    assert hub.admin.delete("/people/hanna").status_code == 204
    assert person.get("/me").status_code == 401
    assert sign_in(hub, "hanna", PASSWORD + "!").status_code == 401


def test_approvals_for_a_session_end_with_the_person_who_gave_them(hub: Hub) -> None:
    person, agent = hub.person("ines"), hub.agent("ines-machine")
    assert hub.admin is not None
    here: dict[str, str] = {"session_id": "s-ines", "grant": "1.1 make"}
    first = hubs.opened(agent, "make", **here)
    assert hubs.answered(person, first, scope="session").status_code == 200
    assert hubs.opened(agent, "make", **here)["state"] == "approved"
    assert hub.admin.delete("/people/ines").status_code == 204
    assert hubs.opened(agent, "make", **here)["state"] == "open"


@pytest.mark.slow
def test_two_tokens_that_could_not_be_told_apart_are_refused(hub: Hub) -> None:
    assert hub.command("token", "add", "twice").returncode == 0
    again = hub.command("token", "add", "twice")
    assert (again.returncode, again.stdout) == (1, "")
    assert "there is already a token twice" in again.stderr
    assert "revoke that one first" in again.stderr
    assert hub.admin is not None
    refused = hub.admin.post("/tokens", json={"name": "twice"})
    assert refused.status_code == 422
    assert "there is already a token twice" in refused.text
    (made,) = [each for each in hub.admin.get("/tokens").json()["tokens"] if each["name"] == "twice"]
    assert hub.command("token", "revoke", str(made["id"])).returncode == 0
    assert hub.command("token", "add", "twice").returncode == 0


@pytest.mark.slow
def test_people_and_tokens_are_looked_after_on_the_command_line(hub: Hub) -> None:
    added = hub.command("person", "add", "ilse", "--admin", "--password-stdin", input=f"{PASSWORD}\n")
    assert added.returncode == 0, added.stderr
    assert sign_in(hub, "ilse", PASSWORD).status_code == 200
    token = hub.command("token", "add", "ilse's", "--person", "ilse").stdout.strip()
    assert hub.client(token).get("/me").json() == {"kind": "person", "name": "ilse", "role": "admin"}
    assert "ilse" in hub.command("person", "list").stdout
    assert token not in hub.command("token", "list").stdout
    changed = hub.command("person", "password", "ilse", "--password-stdin", input="another password\n")
    assert changed.returncode == 0
    assert sign_in(hub, "ilse", "another password").status_code == 200
    assert hub.command("person", "remove", "ilse").returncode == 0
    assert hub.client(token).get("/me").status_code == 401
    unknown = hub.command("person", "remove", "ilse")
    assert unknown.returncode == 1
    assert "no person ilse" in unknown.stderr


def test_a_short_password_is_refused(small_hub: Hub) -> None:
    assert small_hub.admin is not None
    assert small_hub.admin.post("/people", json={"name": "kurz", "password": "short"}).status_code == 422
    assert small_hub.command("person", "add", "kurz", "--password-stdin", input="short\n").returncode == 1


def test_passwords_are_kept_as_argon2_hashes(small_hub: Hub) -> None:
    small_hub.person("lena", password=PASSWORD)
    file = small_hub.home / ".local/state/tenterhook/hub/hub.db"
    database = sqlite3.connect(file)
    try:
        (kept,) = database.execute("select password_hash from people where name = 'lena'").fetchone()
    finally:
        database.close()
    assert kept.startswith("$argon2id$")


class Looked:
    """Counts how many passwords are looked at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        monkeypatch.setattr(accounts, "_is_right", self)

    def __call__(self, *_: object) -> bool:
        self.times += 1
        return False


@pytest.mark.parametrize("who", ["one name from many addresses", "many names from one address"])
def test_of_ten_thousand_guesses_next_to_none_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    database = opened_database(str(tmp_path / "hub.db"))
    looked = Looked(monkeypatch)
    slowed = 0
    try:
        for number in range(10_000):
            name, address = ("anna", f"192.0.2.{number}") if who.startswith("one") else (f"name{number}", "192.0.2.1")
            try:
                accounts.sign_in(database, name, f"guess {number}", address)
            except accounts.TooManyAttempts:
                slowed += 1
    finally:
        database.close()
    assert looked.times + slowed == 10_000
    assert 5 <= looked.times < 20  # five are free; each further one takes twice as long
