"""The first start of a hub, in a real terminal and a real browser: one command, signed in, a test request, a phone."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import pexpect
import pytest
from playwright.sync_api import expect

import qr_codes
from hub.browser.joined import live
from hub_client import relays
from support import free_port, leave_hub, tenterhook, until
from tenterhook.hub.service import SERVICE
from tenterhook.hub_client import membership

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="services in the background need Linux")


@pytest.fixture(autouse=True)
def ended(home: Path) -> Iterator[None]:
    """No hub outlives a test, and nobody delivers records to it."""
    yield
    SERVICE.disable()
    SERVICE.stop()
    leave_hub()


def terminal(*words: str, **variables: str) -> pexpect.spawn[str]:
    """A command of ours in a terminal that is not a remote one."""
    known = {key: value for key, value in os.environ.items() if key != "SSH_CONNECTION"}
    line = ["-m", "tenterhook", *words]
    return pexpect.spawn(
        sys.executable, line, env={**known, **variables}, dimensions=(50, 100), encoding="utf-8", timeout=60
    )


def typed(*words: str, **variables: str) -> str:
    """What a terminal shows of a command of ours, once it has ended."""
    child = terminal(*words, **variables)
    shown = str(child.read())
    child.wait()
    assert child.exitstatus == 0, shown
    return shown


@pytest.fixture
def desktop(tmp_path: Path) -> dict[str, str]:
    """A desktop whose browser writes down what it is to open, keeps what it was given, and waits for the sign-in."""
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\ncp "${{1#file://}}" {tmp_path}/given.html\n')
    program.chmod(0o755)
    return {"DISPLAY": ":77", "BROWSER": f"{program} %s"}


@pytest.fixture
def started(home: Path, context: BrowserContext) -> Page:
    """The inbox after `tenterhook hub start`, by the link that it prints."""
    shown = typed("hub", "start", "--listen", "127.0.0.1:0", "--no-open")
    return entered(context, qr_codes.read(shown))


def entered(context: BrowserContext, link: str) -> Page:
    page = context.new_page()
    page.goto(link)
    page.wait_for_url(f"{link.partition('/enter')[0]}/")
    return page


def test_one_command_opens_the_browser_signed_in_and_this_machine_is_connected(
    tmp_path: Path, home: Path, context: BrowserContext, desktop: dict[str, str]
) -> None:
    child = terminal("hub", "start", "--listen", "127.0.0.1:0", **desktop)
    child.expect("opening your browser")
    until((tmp_path / "given.html").exists)
    opened = (tmp_path / "opened").read_text().strip()
    assert opened.startswith(f"file://{home}/tenterhook-sign-in-"), (
        "a link among its arguments is seen by every account"
    )
    assert os.stat(opened.removeprefix("file://")).st_mode & 0o077 == 0
    page = context.new_page()
    page.goto(f"file://{tmp_path}/given.html")
    page.wait_for_url(re.compile(r"^http://127\.0\.0\.1:\d+/$"))
    child.expect("signed in there")
    child.expect(pexpect.EOF)
    assert list(home.glob("tenterhook-sign-in-*")) == []
    joined = membership.load()
    assert joined is not None
    machine = page.locator(".machines > li").filter(has_text=joined.name)
    expect(machine).to_contain_text("connected")


def test_interrupted_while_the_browser_opens_it_leaves_no_link_behind(
    tmp_path: Path, home: Path, desktop: dict[str, str]
) -> None:
    child = terminal("hub", "start", "--listen", "127.0.0.1:0", **desktop)
    until((tmp_path / "given.html").exists)
    child.sendintr()
    child.expect(pexpect.EOF)
    assert list(home.glob("tenterhook-sign-in-*")) == []
    assert "Traceback" not in str(child.before)


def test_the_test_request_goes_out_and_comes_back(started: Page) -> None:
    live(started)
    joined = membership.load()
    assert joined is not None
    started.get_by_role("button", name="Send a test request").click()
    card = started.locator(".open.card")
    expect(card).to_contain_text(f"echo 'A test request from {joined.name}'")
    expect(card).to_contain_text("This is a test: nothing is run, whatever you answer.")
    card.get_by_role("button", name="Approve once").click()
    result = started.locator("#test-result")
    expect(result).to_contain_text("Test request: it works.")
    expect(result).to_contain_text(
        re.compile(rf"{re.escape(joined.name)} asked, got your answer \(approved by \w+\) after ")
    )
    expect(started.locator("#said")).to_contain_text("Test request: it works.")


def test_a_denied_test_request_says_so(started: Page) -> None:
    live(started)
    started.get_by_role("button", name="Send a test request").click()
    started.locator(".open.card").get_by_role("button", name="Deny").click()
    expect(started.locator("#test-result")).to_contain_text("denied by")


def test_with_the_keyboard_alone(started: Page) -> None:
    live(started)
    button = started.get_by_role("button", name="Send a test request")
    for _ in range(30):
        started.keyboard.press("Tab")
        if button.evaluate("each => each === document.activeElement"):
            break
    started.keyboard.press("Enter")
    card = started.locator(".open.card")
    expect(card).to_be_focused()
    started.wait_for_timeout(600)  # keys answer what can have been read
    started.keyboard.press("a")
    expect(started.locator("#test-result")).to_contain_text("Test request: it works.")


def test_the_link_and_the_next_step_are_printed_after_the_code(home: Path) -> None:
    (home / ".claude").mkdir()
    shown = typed("hub", "start", "--listen", "127.0.0.1:0", "--no-open")
    code = max(shown.rfind(block) for block in "█▀▄")
    assert 0 < code < shown.index("sign in http://") < shown.index("tenterhook install claude-code")


def test_an_agent_that_is_not_guarded_is_named_with_what_connects_it(
    home: Path, context: BrowserContext, project: Path
) -> None:
    (home / ".claude").mkdir()
    shown = typed("hub", "start", "--listen", "127.0.0.1:0", "--no-open")
    assert "Claude Code is not connected yet: tenterhook install claude-code" in shown
    page = entered(context, qr_codes.read(shown))
    live(page)
    agent = page.locator(".agents > li").filter(has_text="Claude Code")
    expect(agent).to_contain_text("does not ask here")
    expect(agent).to_contain_text("tenterhook install claude-code")
    installed = tenterhook("install", "claude-code", "--no-daemon")
    assert installed.returncode == 0, installed.stderr
    expect(agent).to_contain_text("asks here before each call that it would ask its user about")
    assert tenterhook("uninstall", "claude-code", "--yes").returncode == 0
    expect(agent).to_contain_text("does not ask here")


def test_a_phone_signs_in_by_the_code_of_hub_share_and_nothing_is_cut_off(
    tmp_path: Path, home: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = relays.certificate(tmp_path, "IP:127.0.0.2")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    port = int(free_port())
    with relays.with_tls(port, certificate, key, "127.0.0.2") as url:
        typed("hub", "start", "--listen", f"127.0.0.1:{port}", "--public-url", url, "--no-open")
        shown = typed("hub", "share")
        assert "the hub knows this address" in shown
        link = qr_codes.read(shown)
        assert link.startswith(f"{url}/enter#")
        context = browser.new_context(
            viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True, ignore_https_errors=True
        )
        page = entered(context, link)
        expect(page.get_by_role("button", name="Send a test request")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        for button in page.locator("main button:visible").all():
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 44
        page.get_by_role("button", name="Send a test request").tap()
        page.locator(".open.card").get_by_role("button", name="Approve once").tap()
        expect(page.locator("#test-result")).to_contain_text("Test request: it works.")
        context.close()


# ------------------------------------------------------------------ notifications


def in_the_background(page: Page) -> None:
    """Another page comes to the front; without this, Playwright lets every page believe that it has the focus."""
    context = page.context
    context.new_cdp_session(page).send("Emulation.setFocusEmulationEnabled", {"enabled": False})
    context.new_page().bring_to_front()
    until(lambda: not page.evaluate("document.hasFocus()"))


SHOWN = """async () => {
  const ready = await navigator.serviceWorker.getRegistration();
  return ready ? (await ready.getNotifications()).map((each) => [each.title, each.body]) : [];
}"""


def test_a_page_in_the_background_notifies_of_a_request_until_it_is_answered(
    home: Path, context: BrowserContext
) -> None:
    page = entered(context, qr_codes.read(typed("hub", "start", "--listen", "127.0.0.1:0", "--no-open")))
    context.grant_permissions(["notifications"], origin=page.url)
    page.reload()
    live(page)
    expect(page.locator("#notify")).to_contain_text("your browser notifies you of new requests")
    expect(page.get_by_role("button", name="Notify me")).to_be_hidden()
    in_the_background(page)
    child = terminal("hub", "test")
    until(lambda: page.evaluate(SHOWN))
    joined = membership.load()
    assert joined is not None
    assert page.evaluate(SHOWN) == [["Approval needed: Run command", f"on {joined.name}"]]
    assert tenterhook("inbox", "approve", "last", "--yes").returncode == 0
    child.expect("approved by")
    child.expect(pexpect.EOF)
    until(lambda: page.evaluate(SHOWN) == [])


def test_the_service_worker_answers_no_request_and_keeps_nothing(started: Page) -> None:
    """What it answered or kept could hold the key of a sign-in, or what was shown to the person."""
    live(started)
    started.evaluate("worker()")
    until(lambda: started.evaluate("Boolean(navigator.serviceWorker.controller)"))
    replies: list[tuple[str, bool]] = []
    started.on("response", lambda reply: replies.append((reply.url, reply.from_service_worker)))
    started.reload()
    live(started)
    assert started.evaluate("Boolean(navigator.serviceWorker.controller)")
    assert started.url in [url for url, _ in replies]
    assert [url for url, is_by_worker in replies if is_by_worker] == []
    assert started.evaluate("caches.keys()") == []


def test_a_page_that_is_looked_at_does_not_notify(started: Page, context: BrowserContext) -> None:
    context.grant_permissions(["notifications"], origin=started.url)
    started.reload()
    live(started)
    started.get_by_role("button", name="Send a test request").click()
    expect(started.locator(".open.card")).to_be_visible()
    assert started.evaluate(SHOWN) == []


def test_blocked_notifications_are_said_with_what_to_do(started: Page) -> None:
    live(started)
    ask = started.get_by_role("button", name="Notify me")
    ask.click()  # a browser without windows denies
    expect(started.locator("#notify")).to_contain_text("Notifications are blocked. Allow them in the browser’s")
    expect(ask).to_be_hidden()


def test_without_tls_the_page_says_why_it_cannot_notify(home: Path, context: BrowserContext) -> None:
    port = free_port()
    url = f"http://hub.example.org:{port}"
    typed("hub", "start", "--listen", f"127.0.0.1:{port}", "--public-url", url, "--insecure", "--no-open")
    shown = typed("hub", "start", "--no-open")
    link = qr_codes.read(shown).replace(f"http://127.0.0.1:{port}", url)
    page = entered(context, link)
    expect(page.locator("#notify")).to_contain_text("This page cannot notify you: browsers allow that over https only")
    expect(page.get_by_role("button", name="Notify me")).to_be_hidden()
