"""Every address of the hub against those who may not use it, and every text of agents where it is shown.

The addresses are those of the description and of the pages themselves, so that a new one is tried too.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import httpx
import pytest

from hub.hubs import answered, opened, request
from support import tenterhook
from tenterhook.approvals.requests import content_hash
from tenterhook.hub import api, api_people, pages, settings_pages, sign_in_pages, stream

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    import httpx

    from hub.hubs import Hub


FORM = {"content-type": "application/x-www-form-urlencoded"}
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
EVIL = "<img src=x onerror=alert(1)>\x1b[2K\x1b]0;t\x07\u202egnp.exe\u200b\r'\"</pre><script>alert(2)</script>"


class Place(NamedTuple):
    """An address, and what may be done there."""

    method: str
    path: str  # below the hub's own address
    tags: tuple[str, ...]

    @property
    def is_for_agents(self) -> bool:
        return "agents" in self.tags

    def send(self, client: httpx.Client, hub: Hub, **more: Any) -> httpx.Response:
        path = re.sub(r"\{number(:\w+)?\}", "1", self.path)
        return client.request(self.method, hub.url + re.sub(r"\{\w+(:\w+)?\}", "x", path), **more)


def described(hub: Hub) -> list[Place]:
    """What the description tells of."""
    paths: dict[str, Any] = hub.client().get("/openapi.json").json()["paths"]
    return [
        Place(method.upper(), path, tuple(said["tags"]))
        for path, methods in paths.items()
        for method, said in methods.items()
        if said["tags"] != ["everybody"]
    ]


def routed(*parts: ModuleType) -> set[tuple[str, str]]:
    """What the routers of these modules answer themselves."""
    routes = [route for part in parts for route in part.router.routes if hasattr(route, "methods")]
    return {(method, route.path) for route in routes for method in route.methods}


def forms() -> list[Place]:
    """The forms of the pages, except those for signing in."""
    found = sorted(routed(pages, settings_pages, sign_in_pages))
    return [Place(method, path, ()) for method, path in found if method == "POST"]


def test_nobody_and_strangers_get_nowhere(small_hub: Hub) -> None:
    strangers = [small_hub.client(token) for token in (None, "x", "th_agent_" + "x" * 43, "th_person_" + "x" * 43)]
    strangers.append(small_hub.client(authorization="Basic bWU6bWU="))
    strangers.append(small_hub.client(cookie="tenterhook=" + "x" * 43))
    for place in described(small_hub):
        for stranger in strangers:
            refused = place.send(stranger, small_hub)
            assert refused.status_code == 401, place
            assert set(refused.json()["error"]) == {"code", "message", "remedy"}
    for place in forms():
        for stranger in strangers:
            sent = place.send(stranger, small_hub, content="approved=yes", headers=FORM)
            assert sent.status_code == 401, place


def test_a_token_that_has_been_taken_back_gets_nowhere(small_hub: Hub) -> None:
    assert small_hub.admin is not None
    made = small_hub.admin.post("/tokens", json={"name": "gone"}).json()
    assert small_hub.admin.delete(f"/tokens/{made['id']}").status_code == 204
    for place in described(small_hub):
        assert place.send(small_hub.client(made["token"]), small_hub).status_code == 401, place


def test_an_agent_may_do_nothing_that_is_for_people(small_hub: Hub) -> None:
    agent = small_hub.agent()
    asked = opened(agent)
    given = {"approved": True, "hash": asked["hash"]}
    for place in described(small_hub):
        if not place.is_for_agents:
            assert place.send(agent, small_hub, json=given).status_code == 403, place
    for place in forms():
        sent = place.send(agent, small_hub, content=f"approved=yes&hash={asked['hash']}", headers=FORM)
        assert sent.status_code == 403, place
    assert answered(agent, asked).status_code == 403
    form = f"approved=yes&hash={asked['hash']}"
    assert agent.post(f"{small_hub.url}/requests/{asked['id']}/answer", content=form, headers=FORM).status_code == 403
    assert small_hub.admin is not None
    found = small_hub.admin.get(f"/requests/{asked['id']}").json()
    assert found["state"] == "open"
    assert {each["became"] for each in found["answers"]} == {"refused"}


def test_an_approver_may_do_nothing_that_is_for_admins(small_hub: Hub) -> None:
    approver = small_hub.person("approver")
    for place in described(small_hub):
        if "admins" in place.tags:
            assert place.send(approver, small_hub).status_code == 403, place
    for place in forms():
        if not place.path.startswith("/requests"):
            assert place.send(approver, small_hub, content="", headers=FORM).status_code == 403, place


@pytest.mark.parametrize(
    "wrong",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:1"},
        {"origin": None},
        {"origin": None, "sec-fetch-site": "cross-site"},
        {"origin": None, "sec-fetch-site": "same-site"},
        {"tenterhook-key": None},
        {"tenterhook-key": "x" * 43},
    ],
    ids=repr,
)
def test_another_sites_page_changes_nothing(small_hub: Hub, signed_in: httpx.Client, wrong: dict[str, Any]) -> None:
    """At no address that changes anything: neither with a wrong origin, nor without the key of the sign-in."""
    key = signed_in.headers["tenterhook-key"]
    status = 401 if "tenterhook-key" in wrong else 403
    for name, value in wrong.items():
        if value is None:
            del signed_in.headers[name]
        else:
            signed_in.headers[name] = value
    changing = [place for place in described(small_hub) if place.method != "GET"]
    for place in changing:
        assert place.send(signed_in, small_hub, json={}).status_code == status, place
    for place in forms():
        assert place.send(signed_in, small_hub, data={"approved": "yes"}).status_code == status, place
    assert signed_in.get("/api/v1/me", headers={"tenterhook-key": key}).status_code == 200  # it is still signed in
    assert len(changing) > 10


@pytest.mark.parametrize("host", ["evil.example", "evil.localhost", "127.0.0.1.nip.io", "0.0.0.0", "[::ffff:7f00:1]"])
def test_by_another_name_nothing_is_told(small_hub: Hub, signed_in: httpx.Client, host: str) -> None:
    """Another site's name that leads here: not even with a cookie, at no address, and no page."""
    port = small_hub.url.rpartition(":")[2]
    headers = {"host": f"{host}:{port}", "origin": f"http://{host}:{port}"}
    for place in (*described(small_hub), *forms(), Place("GET", "/", ()), Place("GET", "/static/page.js", ())):
        assert place.send(signed_in, small_hub, headers=headers).status_code == 421, place


@pytest.mark.slow
def test_large_bodies_are_refused_everywhere(small_hub: Hub, signed_in: httpx.Client) -> None:
    large = b"x" * 20_000_000
    changing = [place for place in described(small_hub) if place.method in ("POST", "PUT")]
    for place in (*changing, *forms(), Place("POST", "/api/v1/sign-in", ()), Place("POST", "/api/v1/enter", ())):
        assert place.send(signed_in, small_hub, content=large).status_code == 413, place
    with open(f"/proc/{small_hub.process.pid}/status") as file:
        peak = int(file.read().partition("VmHWM:")[2].split()[0])
    assert peak < 300_000  # kB: none of it was kept


# ------------------------------------------------------------------ guessing


# ------------------------------------------------------------------ what agents say, where it is shown


def evil_request(agent: httpx.Client) -> dict[str, Any]:
    """One with something bad in every text that an agent may write."""
    given = {"command": EVIL, EVIL: [EVIL, {EVIL: EVIL}]}
    file = {"kind": "diff", "path": f"/tmp/{EVIL}", "diff": f"--- {EVIL}\n+++ {EVIL}\n@@ -1 +1 @@\n-{EVIL}\n+{EVIL}"}
    texts = dict.fromkeys(("action", "why", "session_id", "agent", "machine", "tool_name"), EVIL[:64])
    digest = content_hash(texts["tool_name"], given, f"/{EVIL}")
    more = {"tool_input": given, "display": file, "work_dir": f"/{EVIL}", "hash": digest}
    made = agent.post("/requests", json={**request(), **texts, **more})
    assert made.status_code == 201, made.text
    asked: dict[str, Any] = made.json()
    return asked


def evil_command(agent: httpx.Client) -> dict[str, Any]:
    return opened(agent, EVIL, session_id=EVIL[:64])


@pytest.fixture
def evil(small_hub: Hub) -> list[dict[str, Any]]:
    """Requests and records with something bad in every text."""
    agent = small_hub.agent(EVIL[:60])
    run = {"hook": EVIL, "source": EVIL, "outcome": EVIL, "meaning": EVIL, "reason": EVIL, "message": EVIL}
    record = {
        **dict.fromkeys(("type", "by", "event", "work_dir", "decision", "reason", "tool_name", "answered_by"), EVIL),
        "session_id": "evil",
        "hash": "e" * 64,
        "time": 1.0,
        "fields": {"tool_name": EVIL, "tool_input": {"command": EVIL, "file_path": EVIL}, "prompt": EVIL},
        "runs": [{**run, "duration_ms": 1.0}],
    }
    delivered = {"records": [{"segment": "1", "line": 1, "record": record}]}
    taken = agent.post("/records", json=delivered)
    assert taken.status_code == 200, taken.text
    assert small_hub.admin is not None
    small_hub.admin.post("/rules", json={"answer": "ask", "tool": "x", "reason": EVIL}).raise_for_status()
    return [evil_request(agent), evil_command(agent)]


def bad_html(text: str) -> list[str]:
    """What a page must not hold: characters that deceive, and tags that came from an agent."""
    return [*UNSAFE.findall(text), *re.findall(r"<img src=x|<script(?! src=)", text)]


def test_pages_show_what_agents_say_escaped(
    small_hub: Hub, signed_in: httpx.Client, evil: list[dict[str, Any]]
) -> None:
    assert small_hub.admin is not None
    answered(small_hub.admin, evil[1], approved=False, message=EVIL)
    timeline = f"/sessions/{quote(evil[0]['machine'], safe='')}/evil"
    one = [f"{way}/{asked['id']}" for asked in evil for way in ("/requests", "/fragments/requests")]
    for path in ("/", "/sessions", timeline, "/hooks", "/rules", "/people", *one):
        shown = signed_in.get(path)
        assert shown.status_code == 200, path
        assert "U+202E" in shown.text or "gnp.exe" not in shown.text, path
        assert bad_html(shown.text) == [], path
    assert "gnp.exe" in signed_in.get(timeline).text
    for path in ("/requests/<script>alert(1)</script>", "/sign-in?next=<script>", "/hooks?days=<img>", "/<img>"):
        assert bad_html(signed_in.get(path).text) == [], path


def test_the_interface_gives_it_back_as_data(small_hub: Hub, evil: list[dict[str, Any]]) -> None:
    assert small_hub.admin is not None
    for asked in evil:
        reply = small_hub.admin.get(f"/requests/{asked['id']}")
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.content.isascii()  # it can be printed as it is, too
        assert not UNSAFE.search(reply.text)
        assert reply.json()["tool_input"]["command"] == EVIL
    assert small_hub.admin.get("/inbox").content.isascii()


@pytest.mark.slow
def test_the_inbox_on_a_terminal_shows_it_escaped(small_hub: Hub, home: Path, evil: list[dict[str, Any]]) -> None:
    folder = home / ".local/state/tenterhook/hub"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(small_hub.home / ".local/state/tenterhook/hub/person.json", folder)
    for options in ((), ("--json",)):
        listed = tenterhook("inbox", "list", *options)
        assert listed.returncode == 0, listed.stderr
        assert "gnp.exe" in listed.stdout
        assert not UNSAFE.search(listed.stdout)


def test_every_address_of_the_interface_is_described(small_hub: Hub) -> None:
    paths: dict[str, Any] = small_hub.client().get("/openapi.json").json()["paths"]
    known = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert known == routed(api, api_people, stream)
    assert len(forms()) >= 9
