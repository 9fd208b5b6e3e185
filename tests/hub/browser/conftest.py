"""A hub and a browser for each test that needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hub.browser.running import CHROMIUM, Agent, Hub, browsing, running, signed_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Not for the whole run: its event loop would be in the way of everybody else's."""
    pytest.importorskip("playwright", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with browsing(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running(tmp_path) as hub:
        yield hub


@pytest.fixture
def agent(hub: Hub) -> Agent:
    return hub.agent("build-1")


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of its own that lets no script error pass."""
    context = browser.new_context()
    context.set_default_timeout(20_000)
    wrong: list[str] = []
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("console", lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None)
    yield context
    context.close()
    assert not wrong


@pytest.fixture
def page(hub: Hub, context: BrowserContext) -> Page:
    """The inbox of the person who started the hub."""
    return signed_in(hub, context)
