"""What it takes to have real agents wait at a hub: a machine that has joined it, a page that listens."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from support import leave_hub, tenterhook, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator, Page

    from hub.browser.running import Hub

expect.set_options(timeout=20_000)  # ms: agents take their time on a busy machine


@contextlib.contextmanager
def joined(hub: Hub, machine: str) -> Iterator[None]:
    """This test's account joins; at the end it leaves, and nobody delivers records any more."""
    made = tenterhook("hub", "--database", hub.file, "token", "add", machine)
    ended = tenterhook("hub", "join", hub.url, "--name", machine, "--yes", input=made.stdout)
    assert ended.returncode == 0, made.stderr + ended.stderr
    try:
        yield
    finally:
        leave_hub()


def live(page: Page) -> None:
    """Wait until a page hears of everything."""
    until(lambda: page.evaluate("Boolean(stream?.isOpen)"))


def card_of(page: Page, command: str) -> Locator:
    """The card of a command, once it is there."""
    card = page.locator(".card").filter(has=page.get_by_text(command, exact=True))
    expect(card).to_be_visible()
    return card
