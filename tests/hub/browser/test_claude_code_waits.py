"""Claude Code waits, in its terminal and without one; a person answers on the hub's page."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from hosts.conftest import guarded  # noqa: F401  # the fixture
from hosts.real import results_with, shown
from hub.browser import claude
from hub.browser.joined import card_of, joined, live
from support import until
from tenterhook.agents.protocol import AUTO_APPROVE, DONE, PLAIN
from tenterhook.basics.model_script import Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator, Page

    from hosts.real import Guarded
    from hub.browser.running import Hub
    from tenterhook.doctor.live.trial import Trial

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]
QUESTION = "Do you want to proceed?"


@pytest.fixture
def name() -> str:
    return "claude-code"


@pytest.fixture
def waiting(guarded: Guarded, hub: Hub) -> Iterator[Guarded]:  # noqa: F811
    """Claude Code on a machine that has joined the hub."""
    with joined(hub, "desk"):
        guarded.install()
        yield guarded


@pytest.fixture
def person(hub: Hub) -> str:
    found: str = hub.said["person"]
    return found


def asked_about(waiting: Guarded, name: str) -> tuple[Turn, Turn]:
    return Turn(calls=(waiting.touch(name),)), Turn(text=DONE)


def test_a_click_approves_what_its_terminal_asks(page: Page, waiting: Guarded, person: str) -> None:
    live(page)
    with claude.session(waiting, *asked_about(waiting, "ran")) as terminal:
        claude.begin(terminal)
        terminal.sees(QUESTION)
        card = card_of(page, f"touch {waiting.project / 'ran'}")
        expect(card).to_contain_text("claude-code")
        expect(card).to_contain_text("desk")
        assert not waiting.left("ran")
        card.get_by_role("button", name="Approve once").click()
        expect(card).to_contain_text(f"Approved once by {person}")
        terminal.sees(DONE)  # without a key: the model was told that the call ran
    assert waiting.left("ran")


def test_a_denial_and_its_message_reach_the_model(page: Page, waiting: Guarded, person: str) -> None:
    live(page)
    with claude.session(waiting, *asked_about(waiting, "ran")) as terminal:
        claude.begin(terminal)
        terminal.sees(QUESTION)
        card = card_of(page, f"touch {waiting.project / 'ran'}")
        card.get_by_label("Message to the agent").fill("Use make instead.")
        card.get_by_role("button", name="Deny").click()
        terminal.sees(DONE)
        (told,) = terminal.model.tool_results()
    assert f"{person} refused this call: Use make instead." in told
    assert not waiting.left("ran")


def press_until_withdrawn(terminal: claude.ClaudeTerminal, key: str, card: Locator) -> None:
    """The program does not take a key in the first moments of its question, so that nobody answers by accident."""

    def is_withdrawn() -> bool:
        terminal.press(key)
        card.page.wait_for_timeout(1_000)
        return card.get_by_role("button").count() == 0

    until(is_withdrawn)


@pytest.mark.parametrize(("key", "approved"), [("1", True), ("4", False), ("\x1b", False)], ids=["yes", "no", "escape"])
def test_a_key_in_its_terminal_withdraws_the_question_from_the_page(
    page: Page, waiting: Guarded, key: str, approved: bool
) -> None:
    live(page)
    with claude.session(waiting, *asked_about(waiting, "ran")) as terminal:
        claude.begin(terminal)
        terminal.sees(QUESTION)
        card = card_of(page, f"touch {waiting.project / 'ran'}")
        expect(card.get_by_role("button", name="Approve once")).to_be_visible()
        press_until_withdrawn(terminal, key, card)
        if approved:  # the hook still runs: that the tool ran is how the hub learns of it
            expect(card).to_contain_text("Approved: in the terminal")
    assert waiting.left("ran") == approved


class Headless:
    """A run that nobody sits at, in a thread: a browser belongs to the thread that has started it."""

    def __init__(self, waiting: Guarded, name: str, mode: str) -> None:
        self._came: list[Trial] = []
        self._thread = threading.Thread(target=lambda: self._came.append(waiting.calls(waiting.touch(name), mode=mode)))

    def __enter__(self) -> Headless:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def came(self) -> Trial:
        self._thread.join()
        return self._came[0]


@pytest.mark.parametrize("mode", [PLAIN, AUTO_APPROVE])
@pytest.mark.parametrize("approved", [True, False], ids=["approved", "denied"])
def test_what_a_guard_wants_asked_waits_at_the_hub_where_nobody_sits(
    page: Page, waiting: Guarded, person: str, mode: str, approved: bool
) -> None:
    reason = "a person should look at this"
    said = json.dumps({"decision": "ask", "reason": reason})
    waiting.hook("ask", f"cat <<'END'\n{said}\nEND", matcher={"pattern": "doubtful"})
    waiting.install()
    live(page)
    with Headless(waiting, "doubtful", mode) as run:
        card = card_of(page, f"touch {waiting.project / 'doubtful'}")
        expect(card.locator(".why")).to_contain_text(reason)
        if approved:
            card.get_by_role("button", name="Approve once").click()
        else:
            card.get_by_label("Message to the agent").fill("Not on Fridays.")
            card.get_by_role("button", name="Deny").click()
        came = run.came()
    assert waiting.left("doubtful") == approved, shown(came)
    assert approved or results_with(came, f"{person} refused this call: Not on Fridays."), shown(came)
