"""Pages of other sites, in a browser that is signed in to the hub: they answer nothing, and learn nothing."""

from __future__ import annotations

import http.server
import json
import threading
from typing import TYPE_CHECKING, Any

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
    method: "POST", credentials: "include", body: given, headers: { csrf: "x", "Content-Type": "application/json" },
  }).then(() => "read", () => "refused");
  said.inbox = await fetch(hub + "/api/v1/inbox", { credentials: "include" }).then(() => "read", () => "refused");
  said.page = await fetch(hub + "/", { credentials: "include" }).then(() => "read", () => "refused");
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
# A form that a person is made to send, which leaves the page.
FORM = """
({ hub, request, hash }) => {
  const form = Object.assign(document.createElement("form"), {
    method: "post", action: hub + "/requests/" + request + "/answer",
  });
  for (const [name, value] of Object.entries({ approved: "yes", scope: "once", hash, csrf: "x" }))
    form.append(Object.assign(document.createElement("input"), { name, value }));
  document.body.append(form);
  form.submit();
}
"""


class _Elsewhere(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
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


@pytest.mark.parametrize("name", ["127.0.0.1", "evil.localhost"])
def test_a_form_on_another_site_answers_nothing(
    hub: Hub, signed_in_page: Page, known: dict[str, str], elsewhere: int, name: str
) -> None:
    signed_in_page.goto(f"http://{name}:{elsewhere}/")
    with signed_in_page.expect_response(lambda reply: reply.url.endswith("/answer")) as sent:
        signed_in_page.evaluate(FORM, known)
    assert sent.value.status == (403 if name == "127.0.0.1" else 200)  # from another site, the cookie stays at home
    signed_in_page.wait_for_load_state()
    assert stands(hub, known) == ("open", [])


def test_a_name_that_was_made_to_lead_here_gets_nothing(hub: Hub, signed_in_page: Page, known: dict[str, str]) -> None:
    """DNS rebinding: the browser takes the hub for a part of somebody else's site."""
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
