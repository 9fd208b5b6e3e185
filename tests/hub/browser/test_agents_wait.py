"""Sessions of the bundled agent wait, in their terminal and at the hub; a person answers on a page."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from bundled_agent.playing import Play, shell, tool
from hub.browser.joined import card_of, joined, live
from hub.browser.running import Hub, signed_in
from support import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

    from bundled_agent.playing import Terminal

OPEN = "once · s for this session · n no · f no, and say why"  # the question's keys, once it is open
PHONE = {"width": 360, "height": 740}


@pytest.fixture
def play(tmp_path: Path, home: Path, project: Path, hub: Hub) -> Iterator[Play]:
    """A stage for the bundled agent on a machine that has joined the hub."""
    with joined(hub, "build-1"):
        yield Play(tmp_path, home, project)


@pytest.fixture
def person(hub: Hub) -> str:
    """The person who started the hub and looks at its page."""
    name: str = hub.said["person"]
    return name


def reloads(page: Page) -> list[str]:
    """The addresses that a page goes to from now on."""
    gone_to: list[str] = []
    page.on("framenavigated", lambda frame: gone_to.append(frame.url))
    return gone_to


def is_asked(terminal: Terminal) -> str:
    """Begin a turn, and wait for its question."""
    terminal.say("go")
    return terminal.sees(OPEN)


def test_a_click_approves_what_a_session_waits_for(page: Page, play: Play, person: str) -> None:
    live(page)
    gone_to = reloads(page)
    with play.terminal([shell("touch ran")], "Done.") as terminal:
        assert "touch ran" in is_asked(terminal)
        card = card_of(page, "touch ran")
        expect(card).to_contain_text("build-1")
        expect(card).to_contain_text(str(play.project))
        assert not play.ran("ran")
        card.get_by_role("button", name="Approve once").click()
        expect(card).to_contain_text(f"Approved once by {person}")
        terminal.sees(re.escape(f"Shell approved by {person} (hub)"))
        terminal.sees("Done\\.")
        assert play.ran("ran")
        terminal.child.send("n")  # the question is gone: this is a letter of the next prompt
        terminal.say("othing else")
        until(lambda: terminal.last.users[-1] == "nothing else")
    assert gone_to == []


def test_a_denial_and_its_message_reach_the_model(page: Page, play: Play, person: str) -> None:
    live(page)
    with play.terminal([shell("git push --force")], "I see.") as terminal:
        is_asked(terminal)
        card = card_of(page, "git push --force")
        card.get_by_label("Message to the agent").fill("Open a pull request.")
        card.get_by_role("button", name="Deny").click()
        terminal.sees(re.escape(f"Shell refused by {person} (hub)"))
        terminal.sees("I see\\.")
        (told,) = terminal.last.failed
        assert told.endswith(f"{person} refused this call: Open a pull request.")


def test_a_denial_without_a_message_ends_the_turn(page: Page, play: Play, person: str) -> None:
    live(page)
    with play.terminal([shell("touch ran")], "What now?") as terminal:
        is_asked(terminal)
        card_of(page, "touch ran").get_by_role("button", name="Deny").click()
        terminal.sees(re.escape(f"Shell refused by {person} (hub)"))
        terminal.say("then not")
        terminal.sees("What now\\?")
        assert f"{person} refused this call" in terminal.last.failed[0]
        assert len(terminal.requests) == 2
    assert not play.ran("ran")


def test_an_approval_for_the_session_holds_in_the_terminal_too(page: Page, play: Play) -> None:
    live(page)
    line = "echo again >> ran"
    with play.terminal([shell(line)], [shell(line)], "Done.") as terminal:
        is_asked(terminal)
        card_of(page, line).get_by_role("button", name="For this session").click()
        terminal.sees("Done\\.")
    assert (play.project / "ran").read_text() == "again\nagain\n"


def test_a_key_in_the_terminal_withdraws_the_question_from_the_page(page: Page, play: Play) -> None:
    live(page)
    with play.terminal([shell("touch ran")], "Done.") as terminal:
        is_asked(terminal)
        card = card_of(page, "touch ran")
        expect(card.get_by_role("button", name="Approve once")).to_be_visible()
        terminal.child.send("y")
        expect(card).to_contain_text("Approved: in the terminal")
        expect(card.get_by_role("button")).to_have_count(0)
        terminal.sees("Done\\.")
    assert play.ran("ran")


def test_a_session_that_ends_takes_its_question_along(page: Page, play: Play) -> None:
    live(page)
    with play.terminal([shell("touch ran")], "Done.") as terminal:
        is_asked(terminal)
        card = card_of(page, "touch ran")
        terminal.leave()
        expect(card.get_by_role("button")).to_have_count(0)
    assert not play.ran("ran")


def test_a_file_is_shown_with_what_would_change_in_it(page: Page, play: Play) -> None:
    (play.project / "shop.py").write_text("price = 1\n")
    live(page)
    change = tool("StrReplaceFile", file_path="shop.py", old_string="price = 1", new_string="price = 2")
    with play.terminal([change], "Done.") as terminal:
        is_asked(terminal)
        card = page.locator(".card.open")
        expect(card.locator(".removed")).to_have_text("-price = 1")
        expect(card.locator(".added")).to_have_text("+price = 2")
        card.get_by_role("button", name="Approve once").click()
        terminal.sees("Done\\.")
    assert (play.project / "shop.py").read_text() == "price = 2\n"


# ------------------------------------------------------------------ two pages


@pytest.fixture
def other_page(hub: Hub, browser: Browser) -> Iterator[Page]:
    """The inbox of another person, in a browser of their own."""
    hub.person("bjarne")
    context = browser.new_context()
    yield signed_in(hub, context, "bjarne")
    context.close()


def click_at(page: Page, moment: float, command: str, button: str) -> None:
    """Have a button clicked at a moment; not waited for."""
    card = card_of(page, command)
    expect(card.get_by_role("button", name=button)).to_be_visible()
    script = "(button, moment) => { setTimeout(() => button.click(), moment - Date.now()) }"
    card.get_by_role("button", name=button).evaluate(script, moment)


def test_of_two_pages_that_answer_at_once_one_wins_and_the_other_says_who(
    hub: Hub, page: Page, other_page: Page, play: Play, person: str
) -> None:
    live(page)
    live(other_page)
    commands = [f"touch ran{number}" for number in range(4)]
    clicks = ((page, person, "Approve once"), (other_page, "bjarne", "Deny"))
    with play.terminal(*([shell(line)] for line in commands), "Done.") as terminal:
        is_asked(terminal)
        for number, line in enumerate(commands):
            other_page_card = card_of(other_page, line)
            other_page_card.get_by_label("Message to the agent").fill("no")
            moment = time.time() * 1000 + 500
            for at, _, button in clicks if number % 2 else reversed(clicks):
                click_at(at, moment, line, button)
            outcomes = [card_of(at, line).locator(".outcome").text_content() or "" for at, _, _ in clicks]
            is_approved = "Approved" in outcomes[0]
            winner = f"Approved once by {person}" if is_approved else "Denied by bjarne"
            assert all(winner in outcome for outcome in outcomes)
            who, how = (person, "approved") if is_approved else ("bjarne", "refused")
            terminal.sees(re.escape(f"Shell {how} by {who} (hub)"))
            until(lambda count=number + 2: len(terminal.requests) == count)  # type: ignore[misc]
            assert play.ran(f"ran{number}") == is_approved
        terminal.sees("Done\\.")
    program = hub.program(person)
    asked = program.get("/inbox", params={"state": "answered"}).json()["requests"]
    tried = [program.get(f"/requests/{request['id']}").json()["answers"] for request in asked]
    became = [sorted(each["became"] for each in answers) for answers in tried]
    assert len(became) == len(commands)
    assert all(each in (["won"], ["late", "won"]) for each in became)  # a page may hear of the other before its click
    assert ["late", "won"] in became


# ------------------------------------------------------------------ a phone, a keyboard


def test_on_a_phone(hub: Hub, browser: Browser, play: Play, person: str) -> None:
    context = browser.new_context(viewport=PHONE, is_mobile=True, has_touch=True)  # type: ignore[arg-type]
    page = signed_in(hub, context)
    live(page)
    with play.terminal([shell("touch ran")], [shell("touch other")], "I see.") as terminal:
        is_asked(terminal)
        card_of(page, "touch ran").get_by_role("button", name="Approve once").tap()
        terminal.sees(re.escape(f"Shell approved by {person} (hub)"))
        card = card_of(page, "touch other")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        card.get_by_label("Message to the agent").tap()
        page.keyboard.type("not this one")
        card.get_by_role("button", name="Deny").tap()
        terminal.sees("I see\\.")
        assert "not this one" in terminal.last.failed[0]
    context.close()
    assert play.ran("ran")
    assert not play.ran("other")


_READABLE = 600  # milliseconds, from when on keys answer a request that has just appeared


def test_with_the_keyboard_alone(hub: Hub, context: BrowserContext, play: Play, person: str) -> None:
    page = context.new_page()
    page.goto(hub.link(person))
    page.wait_for_url(f"{hub.url}/")
    live(page)
    with play.terminal([shell("touch ran")], [shell("touch other")], "I see.") as terminal:
        is_asked(terminal)
        card_of(page, "touch ran")
        page.wait_for_timeout(_READABLE)
        for key in ("j", "a"):
            page.keyboard.press(key)
        terminal.sees(re.escape(f"Shell approved by {person} (hub)"))
        other = card_of(page, "touch other")
        page.wait_for_timeout(_READABLE)
        for _ in range(3):
            page.keyboard.press("j")
            if other.evaluate("card => card === document.activeElement"):
                break
        expect(other).to_be_focused()
        page.keyboard.press("d")
        page.keyboard.type("just not")
        page.keyboard.press("Enter")
        terminal.sees("I see\\.")
        assert "just not" in terminal.last.failed[0]
    assert play.ran("ran")
    assert not play.ran("other")


def test_with_tab_and_enter_alone(page: Page, play: Play, person: str) -> None:
    """As a screen reader's user goes: from control to control, none of our own keys."""
    live(page)
    with play.terminal([shell("touch ran")], "Done.") as terminal:
        is_asked(terminal)
        button = card_of(page, "touch ran").get_by_role("button", name="Approve once")
        for _ in range(40):
            page.keyboard.press("Tab")
            if button.evaluate("button => button === document.activeElement"):
                break
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
        terminal.sees(re.escape(f"Shell approved by {person} (hub)"))
        terminal.sees("Done\\.")
    assert play.ran("ran")
