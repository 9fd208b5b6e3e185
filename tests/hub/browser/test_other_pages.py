"""Sessions, hooks, rules, people and the ways in, in a real browser."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from playwright.sync_api import expect

from hub.browser.joined import live
from hub.browser.running import PASSWORD, Agent, Hub, running, signed_in

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page


def verdict(name: str, command: str, decision: str = "none", **more: Any) -> dict[str, Any]:
    """A line of a journal."""
    meaning = "blocked" if decision == "deny" else "no_decision"
    run = {"hook": "guard", "source": "~/hooks/guard", "outcome": meaning, "meaning": meaning, "duration_ms": 12.5}
    return {
        **{"schema": 1, "type": "verdict", "hash": name, "time": time.time() - 60, "by": "claude-code"},
        **{"session_id": "s-1", "event": "pre-tool-call", "tool_name": "Bash", "decision": decision, "waited_ms": 15.0},
        **{"fields": {"tool_input": {"command": command}}, "work_dir": "/home/ann/shop", "runs": [run], **more},
    }


def listed(page: Page) -> Any:
    return page.locator(".list > li")


def test_a_session_is_listed_and_its_timeline_grows_by_itself(page: Page, agent: Agent, hub: Hub) -> None:
    agent.report([verdict("a", "make test"), verdict("b", "rm -rf /", "deny", reason="it deletes everything")])
    page.get_by_role("link", name="Sessions").click()
    expect(listed(page)).to_contain_text("2 events")
    page.get_by_role("link", name="s-1").click()
    entries = page.locator(".timeline > li")
    expect(entries).to_have_count(2)
    expect(entries.nth(1)).to_contain_text("rm -rf /")
    expect(entries.nth(1)).to_contain_text("it deletes everything")
    expect(entries.nth(1).get_by_label("Hooks")).to_contain_text("guard blocked 12 ms")
    live(page)
    agent.report([verdict("c", "make \u202etest")])
    expect(entries).to_have_count(3)
    expect(entries.nth(2)).to_contain_text("make ⟨U+202E⟩test")


def test_who_answered_stands_in_the_timeline(page: Page, agent: Agent, hub: Hub) -> None:
    approval = {**verdict("a", "make"), "type": "approval", "event": "permission-request", "runs": []}
    agent.report([{**approval, "decision": "approve", "answered_by": "ann (hub)"}])
    page.goto(f"{hub.url}/sessions/build-1/s-1")
    expect(page.locator(".timeline > li")).to_contain_text("approve by ann (hub)")


def test_hooks_have_their_health_figures_and_plots_that_can_be_heard(page: Page, agent: Agent) -> None:
    broken = verdict("x", "ls")["runs"][0] | {
        "hook": "broken",
        "source": "~/hooks/broken",
        "outcome": "failed",
        "meaning": "failed",
    }
    agent.report(
        [verdict(f"a{number}", "ls", "deny" if number < 3 else "none") for number in range(10)]
        + [verdict(f"b{number}", "ls", runs=[broken]) for number in range(5)]
    )
    page.get_by_role("link", name="Hooks").click()
    guard = page.get_by_role("row", name=re.compile("guard"))
    expect(guard).to_contain_text("OK")
    expect(guard.get_by_role("cell").nth(3)).to_have_text("3")
    expect(page.get_by_role("row", name=re.compile("broken"))).to_contain_text("failing")
    latency = page.get_by_role("img", name=re.compile("Duration of hooks: p50: between 12 ms and 12 ms"))
    expect(latency).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("Calls that hooks blocked: 3 in total"))).to_be_visible()
    page.get_by_role("link", name="1 d", exact=True).click()
    expect(page.get_by_text("The last 24 hours")).to_be_visible()
    expect(guard).to_be_visible()


def test_an_admin_adds_a_rule_and_takes_it_back(hub: Hub, page: Page, agent: Agent) -> None:
    page.get_by_role("link", name="Rules").click()
    expect(page.get_by_text("No rules yet.")).to_be_visible()
    page.get_by_label("Answer").select_option("deny")
    page.get_by_label("Expression in the command").fill("(")
    page.get_by_label("Reason").fill("never <b>")
    page.get_by_role("button", name="Add the rule").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("never <b>")
    page.get_by_label("Expression in the command").fill("kubectl delete")
    page.get_by_label("Expires").select_option("in a week")
    page.get_by_role("button", name="Add the rule").click()
    expect(listed(page)).to_contain_text("deny pattern kubectl delete")
    expect(listed(page)).to_contain_text("never <b>")
    (rule,) = agent.client.get("/rules").json()["rules"]
    assert (rule["answer"], rule["pattern"]) == ("deny", "kubectl delete")
    assert 6.9 < (rule["expires"] - time.time()) / 86400 < 7.1
    live(page)
    page.get_by_label("Reason").fill("half wri")
    hub.program(hub.said["person"]).post("/rules", json={"answer": "ask", "tool": "x"}).raise_for_status()
    expect(listed(page)).to_have_count(1)  # a message is being written
    page.get_by_label("Reason").fill("")
    page.get_by_role("heading", name="Add a rule").click()
    page.evaluate("refresh()")
    expect(listed(page)).to_have_count(2)
    page.get_by_role("button", name="Remove rule 2").click()
    expect(listed(page)).to_have_count(1)
    page.get_by_role("button", name="Remove rule").click()
    expect(page.get_by_text("No rules yet.")).to_be_visible()
    assert agent.client.get("/rules").json()["rules"] == []


def test_an_approver_sees_rules_but_changes_nothing(hub: Hub, context: BrowserContext) -> None:
    hub.person("bjarne")
    page = signed_in(hub, context, "bjarne")
    expect(page.get_by_role("link", name="People")).to_have_count(0)
    page.goto(f"{hub.url}/rules")
    expect(page.get_by_role("button", name="Add the rule")).to_have_count(0)
    page.goto(f"{hub.url}/people")
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()


def test_a_person_is_added_signs_in_and_is_sent_away(hub: Hub, page: Page, browser: Browser) -> None:
    page.get_by_role("link", name="People").click()
    page.get_by_text("Add a person").click()
    page.locator("#add-person").get_by_label("Name").fill("bjarne")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Add the person").click()
    expect(listed(page).filter(has_text="bjarne")).to_contain_text("approver")
    theirs = browser.new_context()
    other = theirs.new_page()
    other.goto(f"{hub.url}/hooks")
    other.get_by_label("Name").fill("bjarne")
    other.get_by_label("Password").fill("wrong password")
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_role("alert")).to_have_text("Wrong name or password. Try again.")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_role("heading", name="Hooks")).to_be_visible()
    page.get_by_role("button", name="Remove bjarne").click()
    expect(page.get_by_text("bjarne")).to_have_count(0)
    other.goto(hub.url)
    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    theirs.close()


def test_a_new_token_is_shown_once_and_refused_when_revoked(hub: Hub, page: Page) -> None:
    page.get_by_role("link", name="People").click()
    page.get_by_text("Create a token").click()
    page.locator("#add-token").get_by_label("Name").fill("build-7")
    page.get_by_role("button", name="Create the token").click()
    secret = page.locator("#secret").inner_text()
    assert secret.startswith("th_agent_")
    with httpx.Client(base_url=f"{hub.url}/api/v1", headers={"Authorization": f"Bearer {secret}"}) as client:
        assert client.get("/rules").status_code == 200
        page.goto(f"{hub.url}/people")
        assert secret not in page.content()
        page.get_by_text("Create a token").click()
        page.locator("#add-token").get_by_label("Name").fill("build-7")
        page.get_by_role("button", name="Create the token").click()
        expect(page.get_by_text("there is already a token build-7", exact=False)).to_be_visible()
        page.goto(f"{hub.url}/people")
        page.get_by_role("button", name="Revoke build-7").click()
        expect(page.get_by_text("build-7")).to_have_count(0)
        assert client.get("/rules").status_code == 401


def test_a_webhook_is_added_and_shown_without_what_is_secret_about_it(hub: Hub, page: Page) -> None:
    page.get_by_role("link", name="People").click()
    page.get_by_text("Add a webhook").click()
    page.get_by_label("Address").fill("https://ntfy.example/secret-topic")
    page.get_by_role("button", name="Add the webhook").click()
    expect(listed(page).filter(has_text="ntfy.example")).to_be_visible()
    assert "secret-topic" not in page.content()
    page.get_by_role("button", name="Remove https://ntfy.example").click()
    expect(page.get_by_text("No webhooks yet.")).to_be_visible()


def test_a_link_from_elsewhere_leads_to_the_request_without_another_sign_in(hub: Hub, page: Page, agent: Agent) -> None:
    asked = agent.shell("make test")
    page.goto(hub.url.replace("127.0.0.1", "localhost") + "/sign-in")  # to a browser, another site
    page.evaluate(f"location.href = '{hub.url}/requests/{asked}'")
    expect(page.locator(f"#r-{asked}")).to_be_visible()


def test_a_one_time_link_works_once_and_leaves_no_trace_in_the_address(hub: Hub, browser: Browser) -> None:
    link = hub.said["enter"]
    for heading, has_cookie in (("Inbox", True), ("Sign in", False)):
        context = browser.new_context()
        page = context.new_page()
        page.goto(link)
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        expect(page).to_have_url(re.compile(r"/(enter)?$"))
        assert bool(context.cookies()) == has_cookie
        context.close()


def test_a_link_of_somebody_else_does_not_replace_the_sign_in(hub: Hub, page: Page) -> None:
    hub.person("mallory")
    page.goto(hub.link("mallory"))
    said = f"You are signed in as {hub.said['person']}, and this link is for mallory. Sign out first"
    expect(page.get_by_role("alert")).to_contain_text(said)
    page.context.add_cookies([{"name": "tenterhook", "value": "of another server", "url": hub.url}])
    page.goto("about:blank")
    page.goto(hub.link("mallory"))
    expect(page.get_by_role("alert")).to_contain_text(said)
    page.goto(f"{hub.url}/enter#main")  # skip to the content: this is no link
    expect(page.get_by_role("alert")).to_contain_text(said)
    page.goto(hub.link(hub.said["person"]))  # in the same tab, which the browser does not load again
    expect(page.locator("#sign-out")).to_contain_text(hub.said["person"])
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(hub.link("mallory"))
    expect(page.locator("#sign-out")).to_contain_text("mallory")


def test_signing_out_ends_it(hub: Hub, page: Page) -> None:
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(hub.url)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_signing_in_leads_nowhere_else(hub: Hub, context: BrowserContext, target: str) -> None:
    hub.person("bjarne")
    page = context.new_page()
    page.goto(f"{hub.url}/sign-in?next={target}")
    page.get_by_label("Name").fill("bjarne")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{hub.url}/")


def test_a_form_without_the_key_or_of_another_origin_changes_nothing(hub: Hub, page: Page, agent: Agent) -> None:
    asked = agent.shell("make test")
    card = page.locator(f"#r-{asked}")
    expect(card).to_be_visible()
    digest = card.locator("[name=hash]").first.get_attribute("value")
    fields: dict[str, str | float | bool] = {"approved": "yes", "scope": "once", "hash": digest or ""}
    key = str(page.evaluate("localStorage.getItem('tenterhook-key')"))
    for headers, status in (
        ({"Origin": hub.url}, 401),
        ({"Origin": hub.url, "Tenterhook-Key": "guessed"}, 401),
        ({"Origin": "https://evil.example", "Tenterhook-Key": key}, 403),
    ):
        reply = page.request.post(f"{hub.url}/requests/{asked}/answer", form=fields, headers=headers)
        assert reply.status == status
    assert agent.answer(asked, wait=0)["state"] == "open"


def test_what_is_not_there_is_said_in_a_page(hub: Hub, page: Page) -> None:
    for path in ("/requests/none", "/nowhere", "/static/../pages.py", "/hooks?days=x"):
        page.goto(hub.url + path)
        expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    assert httpx.get(f"{hub.url}/api/v1/nowhere").json()["error"]


def test_every_page_has_its_landmarks_and_one_heading(hub: Hub, page: Page, agent: Agent) -> None:
    agent.report([verdict("a", "ls")])
    asked = agent.shell("ls")
    session = "/sessions/build-1/s-1"
    for path in ("/", f"/requests/{asked}", "/sessions", session, "/hooks", "/rules", "/people", "/sign-in", "/enter"):
        page.goto(hub.url + path)
        expect(page.locator("[data-shell]")).to_have_count(0)
        expect(page.get_by_role("main")).to_have_count(1)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        assert page.locator("input:not([type=hidden]), select").evaluate_all(
            "fields => fields.every((field) => field.labels.length || field.ariaLabel)"
        )
        assert page.evaluate("document.querySelectorAll('[style], style, script:not([src])').length") == 0


def test_each_page_fits_a_phone(hub: Hub, browser: Browser, agent: Agent) -> None:
    agent.report([verdict("a", "ls " + "x" * 300, session_id="s" * 80)])
    context = browser.new_context(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    page = signed_in(hub, context)
    for path in ("/", "/sessions", f"/sessions/build-1/{'s' * 80}", "/hooks", "/rules", "/people"):
        page.goto(hub.url + path)
        expect(page.locator("[data-shell]")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    context.close()


@pytest.mark.promise("another account")
def test_every_page_of_an_insecure_hub_says_so(tmp_path: Path, browser: Browser) -> None:
    """Every page of a hub that was started with `--insecure` says so."""
    with running(tmp_path, "--insecure") as hub:
        asked = hub.agent("build-1").shell("make")
        context = browser.new_context()
        page = context.new_page()
        for path in ("/sign-in", "/enter"):
            page.goto(hub.url + path)
            expect(page.get_by_text("This hub was started with --insecure")).to_be_visible()
        context.close()
        context = browser.new_context(extra_http_headers={"X-Forwarded-For": "192.0.2.7"})
        page = signed_in(hub, context)
        for path in ("/", f"/requests/{asked}", "/sessions", "/hooks", "/rules", "/people", "/nowhere"):
            page.goto(hub.url + path)
            expect(page.locator("[data-shell]")).to_have_count(0)
            expect(page.get_by_text("This hub was started with --insecure")).to_be_visible()
        context.close()


def test_without_tls_a_page_from_another_machine_says_that_nobody_signs_in_there(hub: Hub, browser: Browser) -> None:
    """It asks for no password either, which would cross the network before the hub could refuse it."""
    context = browser.new_context(extra_http_headers={"X-Forwarded-For": "192.0.2.7"})
    page = context.new_page()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    secret = hub.link(hub.said["person"]).partition("#")[2]
    for path in ("/", "/sign-in", f"/enter#{secret}"):
        page.goto(hub.url + path)
        expect(page.get_by_text("Not encrypted.")).to_be_visible()
        expect(page.get_by_text("Nobody can sign in here")).to_be_visible()
        expect(page.locator("input, button")).to_have_count(0)
    assert set(sent) == {"GET"}
    assert context.cookies() == []
    context.close()
