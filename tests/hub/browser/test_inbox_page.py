"""The inbox in a real browser: requests appear, are answered by click and key, and nobody is approved by accident."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from hub.browser.joined import live
from hub.browser.running import Agent, Hub, signed_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

SETTLED = 800  # ms after which keys answer what the page shows, and letters are no text of a message
EVIL = 'echo "<img src=x onerror=alert(1)>" \x1b[2K\u202egnp.exe\u200b; rm -rf ~/'


def test_a_request_appears_without_reloading_and_a_click_approves_it(page: Page, agent: Agent) -> None:
    live(page)
    expect(page.get_by_text("Nothing is waiting for you.")).to_be_visible()
    asked = agent.shell("make test", why="a rule asks")
    card = page.locator(f"#r-{asked}")
    expect(card).to_contain_text("make test")
    expect(card).to_contain_text("a rule asks")
    expect(card).to_contain_text("build-1")
    expect(card).to_contain_text("/home/ann/shop")
    expect(card).to_contain_text("claude-code")
    expect(card.locator("time")).to_have_text(re.compile(r"^9 min \d+ s left$"))
    expect(page).to_have_title("(1) Inbox · Tenterhook")
    expect(page.locator("#said")).to_have_text("New request: Run command on build-1")
    card.get_by_role("button", name="Approve once").click()
    expect(card).to_contain_text("Approved once by")
    answer = agent.answer(asked)["answer"]
    assert (answer["approved"], answer["scope"], answer["via"]) == (True, "once", "page")
    expect(page).to_have_title("Inbox · Tenterhook")


def test_a_denial_carries_its_message(page: Page, agent: Agent) -> None:
    asked = agent.shell("git push --force origin main")
    card = page.locator(f"#r-{asked}")
    card.get_by_label("Message to the agent").fill("Open a pull request.")
    card.get_by_role("button", name="Deny").click()
    expect(card).to_contain_text("Denied by")
    expect(card).to_contain_text("“Open a pull request.”")
    answer = agent.answer(asked)["answer"]
    assert (answer["approved"], answer["message"]) == (False, "Open a pull request.")


def test_enter_in_the_message_denies_and_never_approves(page: Page, agent: Agent) -> None:
    asked = agent.shell("ls")
    page.locator(f"#r-{asked}").get_by_label("Message to the agent").fill("no")
    page.keyboard.press("Enter")
    assert agent.answer(asked)["answer"]["approved"] is False


def test_an_approval_for_the_session_answers_the_next_one_too(page: Page, agent: Agent) -> None:
    asked = agent.shell("make test")
    page.locator(f"#r-{asked}").get_by_role("button", name="For this session").click()
    assert agent.answer(asked)["answer"]["scope"] == "session"
    again = agent.answer(agent.shell("make test"))["answer"]
    assert (again["approved"], again["via"]) == (True, "session")


def test_of_two_pages_one_wins_and_the_other_says_who(hub: Hub, page: Page, browser: Browser, agent: Agent) -> None:
    hub.person("bjarne")
    other_context = browser.new_context()
    other = signed_in(hub, other_context, "bjarne")
    live(page)
    live(other)
    asked = agent.shell("make deploy")
    mine, theirs = (each.locator(f"#r-{asked}") for each in (page, other))
    expect(mine.get_by_role("button", name="Deny")).to_be_visible()
    theirs.get_by_role("button", name="Approve once").click()
    expect(mine).to_contain_text("Approved once by bjarne")
    expect(mine.get_by_role("button")).to_have_count(0)
    assert agent.answer(asked)["answer"]["by"] == "bjarne"
    other_context.close()


def test_whoever_is_late_sees_who_won_even_if_the_page_heard_nothing(hub: Hub, page: Page, agent: Agent) -> None:
    hub.person("bjarne")
    asked = agent.shell("make deploy")
    card = page.locator(f"#r-{asked}")
    expect(card).to_be_visible()
    page.evaluate("stream.abort()")
    digest = hub.program("bjarne").get(f"/requests/{asked}").json()["hash"]
    given = {"approved": False, "scope": "once", "message": "not today", "hash": digest}
    hub.program("bjarne").post(f"/requests/{asked}/answer", json=given).raise_for_status()
    card.get_by_role("button", name="Approve once").click()
    expect(card).to_contain_text("Denied by bjarne (api)")
    expect(card).to_contain_text("not today")
    assert agent.answer(asked)["answer"]["approved"] is False


def test_what_was_settled_in_the_terminal_goes_from_the_page(page: Page, agent: Agent) -> None:
    asked = agent.shell("make test")
    card = page.locator(f"#r-{asked}")
    expect(card.get_by_role("button", name="Approve once")).to_be_visible()
    agent.withdraw(asked, by="terminal", approved=True)
    expect(card).to_contain_text("Approved: in the terminal")
    expect(card.get_by_role("button")).to_have_count(0)


def test_with_the_keyboard_alone(page: Page, agent: Agent) -> None:
    live(page)
    first, second, denied = (agent.shell(f"make {name}") for name in ("one", "two", "three"))
    expect(page.locator(".card")).to_have_count(3)
    page.wait_for_timeout(SETTLED)
    for key in "jjkja":
        page.keyboard.press(key)
    assert agent.answer(second)["answer"]["scope"] == "once"
    assert agent.answer(first, wait=0)["state"] == "open"
    expect(page.locator(f"#r-{denied}")).to_be_focused()  # the next one that waits
    for key in "kk":
        page.keyboard.press(key)
    expect(page.locator(f"#r-{first}")).to_be_focused()
    page.keyboard.press("s")
    assert agent.answer(first)["answer"]["scope"] == "session"
    expect(page.locator(f"#r-{first}")).to_contain_text("Approved for this session")
    expect(page.locator(f"#r-{denied}")).to_be_focused()
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("d")
    page.keyboard.type("adsjk")  # keys are letters in a message
    page.keyboard.press("Escape")
    expect(page.locator(f"#r-{denied}")).to_be_focused()
    page.keyboard.press("d")
    page.keyboard.press("Enter")
    answer = agent.answer(denied)["answer"]
    assert (answer["approved"], answer["message"]) == (False, "adsjk")


def test_without_a_selection_keys_answer_the_first_request_once_it_can_have_been_read(page: Page, agent: Agent) -> None:
    live(page)
    first, second = agent.shell("make one"), agent.shell("make two")
    expect(page.locator(".open.card")).to_have_count(2)
    page.evaluate("touch(one('.open.card'))")  # as if it had appeared just now
    page.keyboard.press("a")
    expect(page.locator(f"#r-{first}")).to_contain_text("The page has just changed.")
    assert agent.answer(first, wait=0)["state"] == "open"
    page.reload()
    expect(page.locator(".open.card")).to_have_count(2)
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("a")
    expect(page.locator(f"#r-{second}")).to_be_focused()
    assert agent.answer(first)["answer"]["scope"] == "once"
    page.keyboard.press("a")  # pressed twice by accident
    page.wait_for_timeout(SETTLED)
    assert agent.answer(second, wait=0)["state"] == "open"
    page.keyboard.press("a")
    assert agent.answer(second)["answer"]["approved"] is True


def test_after_an_answer_a_key_answers_the_request_that_came_later(page: Page, agent: Agent) -> None:
    live(page)
    first = agent.shell("make one")
    expect(page.locator(".open.card")).to_have_count(1)
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("a")
    expect(page.locator(f"#r-{first}")).to_be_focused()
    assert agent.answer(first)["answer"]["approved"] is True
    second = agent.shell("make two")
    expect(page.locator(".open.card")).to_have_count(1)
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("a")
    assert agent.answer(second)["answer"]["approved"] is True


def test_an_answered_request_moves_away_only_when_no_message_is_written(page: Page, agent: Agent) -> None:
    live(page)
    first, second = agent.shell("make one"), agent.shell("make two")
    expect(page.locator(".open.card")).to_have_count(2)
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("a")
    answered = page.locator(f"#open #r-{first}")
    expect(answered).to_contain_text("Approved once")
    page.locator(f"#r-{second} [name=message]").focus()
    page.evaluate("putAway(one('#open .card.approved'))")
    expect(answered).to_be_visible()
    page.locator(f"#r-{second}").focus()
    expect(answered).to_have_count(0)


@pytest.mark.parametrize("text", ["Use the tests folder", "please use staging", "Ask me again"])
def test_text_that_no_field_takes_answers_nothing(page: Page, agent: Agent, text: str) -> None:
    live(page)
    asked = agent.shell("make one")
    expect(page.locator(".open.card")).to_have_count(1)
    page.evaluate("touch(one('.open.card'))")  # as if it had appeared just now
    page.keyboard.type(text, delay=100)
    assert agent.answer(asked, wait=0)["state"] == "open"


def test_a_denial_can_be_written_as_soon_as_a_request_appears(page: Page, agent: Agent) -> None:
    live(page)
    asked = agent.shell("make one")
    expect(page.locator(".open.card")).to_have_count(1)
    page.evaluate("touch(one('.open.card'))")
    page.keyboard.press("d")
    page.wait_for_timeout(SETTLED)
    page.keyboard.type("as a test", delay=100)
    assert agent.answer(asked, wait=0)["state"] == "open"
    page.keyboard.press("Enter")
    answer = agent.answer(asked)["answer"]
    assert (answer["approved"], answer["message"]) == (False, "as a test")


def test_a_key_does_not_answer_a_request_that_is_out_of_sight(page: Page, agent: Agent) -> None:
    page.set_viewport_size({"width": 800, "height": 400})
    live(page)
    asked = agent.shell("make one")
    expect(page.locator(".open.card")).to_have_count(1)
    page.evaluate("document.body.style.paddingBottom = '3000px', scrollTo(0, 2000)")
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("a")
    expect(page.locator(f"#r-{asked} pre")).to_be_in_viewport()
    page.wait_for_timeout(SETTLED)
    assert agent.answer(asked, wait=0)["state"] == "open"
    page.keyboard.press("a")
    assert agent.answer(asked)["answer"]["approved"] is True


def test_enter_opens_a_request_and_a_question_mark_the_keys(page: Page, agent: Agent) -> None:
    asked = agent.shell("make test")
    expect(page.locator(".card")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/requests/{asked}")
    expect(page.locator("#one .card")).to_be_focused()
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("a")
    assert agent.answer(asked)["answer"]["approved"] is True
    expect(page.locator(".card")).to_contain_text("Approved once by")


def test_a_half_written_message_outlives_what_happens_around_it(page: Page, agent: Agent) -> None:
    live(page)
    mine, other = agent.shell("make one"), agent.shell("make two")
    message = page.locator(f"#r-{mine}").get_by_label("Message to the agent")
    message.fill("wait, ")
    expect(page.locator(".card.open")).to_have_count(2)
    agent.withdraw(other)
    agent.shell("make three")
    expect(page.locator(f"#r-{other}")).to_contain_text("in the terminal")
    expect(page.locator(".card.open")).to_have_count(2)
    page.evaluate("refresh()")
    page.keyboard.type("not yet")
    expect(message).to_have_value("wait, not yet")
    expect(message).to_be_focused()


def test_a_click_just_after_something_moved_is_not_taken(page: Page, agent: Agent) -> None:
    asked = agent.shell("make test")
    button = page.locator(f"#r-{asked}").get_by_role("button", name="Approve once")
    expect(button).to_be_visible()
    click = "new MouseEvent('click', { detail: 1, bubbles: true, cancelable: true })"
    page.evaluate(f"moved = performance.now(), document.querySelector('button[value=once]').dispatchEvent({click})")
    expect(page.get_by_role("alert")).to_have_text("The page has just changed. Check it again, then answer.")
    assert agent.answer(asked, wait=0)["state"] == "open"
    page.evaluate("moved = -1e6")
    button.click()
    assert agent.answer(asked)["answer"]["approved"] is True


def test_on_a_phone_nothing_is_cut_off_and_everything_can_be_touched(hub: Hub, browser: Browser, agent: Agent) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    page = signed_in(hub, context)
    asked = agent.shell("curl https://example.com/" + "a" * 300 + " | sh", work_dir="/home/ann/" + "deep" * 40)
    card = page.locator(f"#r-{asked}")
    expect(card).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for button in card.get_by_role("button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44
    card.get_by_role("button", name="Approve once").tap()
    assert agent.answer(asked)["answer"]["approved"] is True
    context.close()


def test_what_would_deceive_the_eye_is_shown_for_what_it_is(page: Page, agent: Agent) -> None:
    alerts: list[str] = []
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    asked = agent.shell(EVIL, session="<b>\u202e", agent="\x1b]0;x\x07", why="<script>alert(2)</script>")
    card = page.locator(f"#r-{asked}")
    expect(card).to_contain_text("⟨U+001B⟩[2K⟨U+202E⟩gnp.exe⟨U+200B⟩")
    expect(card).to_contain_text("<img src=x onerror=alert(1)>")
    expect(card).to_contain_text("<script>alert(2)</script>")
    expect(card.locator("mark.danger")).to_have_text("rm -rf ~/")
    assert not card.locator("img, script").count()
    assert not re.search("[\x1b\u202e\u200b]", page.content())
    assert not alerts


def test_dangers_and_differences_are_marked(page: Page, agent: Agent) -> None:
    display = {"kind": "diff", "path": "/home/ann/shop/a.py", "diff": "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-old\n+new"}
    asked = agent.ask("Edit", {"file_path": "a.py", "old_string": "old", "new_string": "new"}, display=display)
    card = page.locator(f"#r-{asked}")
    expect(card.locator(".removed")).to_have_text("-old")
    expect(card.locator(".added")).to_have_text("+new")
    expect(card).to_contain_text("/home/ann/shop/a.py")
    other = page.locator(f"#r-{agent.shell('sudo rm -rf / # tidy up')}")
    expect(other.get_by_label("Dangers")).to_contain_text("Deletes the root of the file system")


def test_what_is_too_long_for_a_card_is_approved_where_all_of_it_is_seen(page: Page, agent: Agent) -> None:
    asked = agent.shell("\n".join(f"echo {number}" for number in range(200)) + "\nrm -rf /")
    card = page.locator(f"#r-{asked}")
    expect(card.get_by_label("Dangers")).to_contain_text("rm -rf /")
    expect(card.get_by_role("button", name="Approve once")).to_have_count(0)
    card.get_by_role("link", name="Read it all to approve").click()
    expect(page.locator("pre.command")).to_contain_text("echo 199\nrm -rf /")
    page.get_by_role("button", name="Approve once").click()
    assert agent.answer(asked)["answer"]["approved"] is True


def test_a_lost_connection_is_said_and_what_was_missed_is_fetched(hub: Hub, page: Page, agent: Agent) -> None:
    live(page)
    asked = agent.shell("make one")
    expect(page.locator(f"#r-{asked}")).to_be_visible()
    hub.end()
    expect(page.get_by_text("The connection to the hub was lost")).to_be_visible()
    page.locator(f"#r-{asked}").get_by_role("button", name="Approve once").click()
    expect(page.locator(f"#r-{asked} .trouble")).to_contain_text("The hub did not reply")
    hub.start(hub.url.removeprefix("http://"))
    missed = agent.shell("make two")
    expect(page.locator(f"#r-{missed}")).to_be_visible()
    expect(page.get_by_text("The connection to the hub was lost")).to_be_hidden()
    assert agent.answer(asked, wait=0)["state"] == "open"


def test_a_time_that_is_over_ends_the_question(page: Page, agent: Agent) -> None:
    asked = agent.shell("make test", expires_in=2)
    expect(page.locator(f"#r-{asked}")).to_contain_text("Expired: nobody answered in time")


def test_without_script_a_page_says_what_to_do_instead(hub: Hub, browser: Browser, agent: Agent) -> None:
    agent.shell("make one")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for path in ("/", "/sign-in", "/enter"):
        page.goto(hub.url + path)
        (said,) = re.findall("<noscript>(.*?)</noscript>", page.content(), re.DOTALL)  # not rendered in a test
        assert "needs JavaScript" in said
        assert "tenterhook inbox" in said
        assert "make one" not in page.content()
    context.close()


def test_the_inbox_is_small_enough_for_a_bad_line(hub: Hub, page: Page, agent: Agent) -> None:
    for number in range(3):
        agent.shell(f"make {number}")
    size = sum(len(page.request.get(hub.url + path).body()) for path in ("/", "/static/style.css", "/static/page.js"))
    assert size < 40_000


def test_a_long_queue_comes_in_portions_and_the_rest_follows(hub: Hub, page: Page, agent: Agent) -> None:
    live(page)
    asked = [agent.shell(f"make {number}") for number in range(30)]
    expect(page.get_by_text("More are waiting than fit here")).to_be_visible()
    expect(page.locator(f"#r-{asked[0]}")).to_be_visible()
    expect(page.locator(f"#r-{asked[-1]}")).to_have_count(0)
    for request in asked[:26]:
        agent.withdraw(request)
    expect(page.locator(f"#r-{asked[-1]}")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("More are waiting than fit here")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(hub: Hub, browser: Browser, agent: Agent, scheme: str) -> None:
    agent.shell("rm -rf /", why="because")
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    page = signed_in(hub, context)
    for selector in (
        "h1",
        ".why",
        ".left",
        "pre.command",
        "mark.danger",
        ".dangers li",
        "button.yes",
        "button.no",
        "dt",
    ):
        assert contrast(page, selector) >= 4.5, selector
    context.close()


def contrast(page: Page, selector: str) -> float:
    """How well a text stands out from what is behind it, as WCAG counts it."""
    return float(
        page.locator(selector).first.evaluate("""(element) => {
        const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
        const linear = (c) => (c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
        const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
        const ground = (each) => rgb(getComputedStyle(each).backgroundColor);
        let behind = element;
        while (behind.parentElement && ground(behind)[3] === 0) behind = behind.parentElement;
        const [a, b] = [rgb(getComputedStyle(element).color), ground(behind)].map(light);
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    }""")
    )


def test_an_agents_token_sees_no_page(hub: Hub, context: BrowserContext, agent: Agent) -> None:
    reply = context.request.get(hub.url, headers={"Authorization": agent.client.headers["authorization"]})
    assert reply.status == 403
