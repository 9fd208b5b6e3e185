"""examples/companion.py, as it stands there, at a real hub."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pexpect
import pytest

from hub import hubs
from support import close_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "companion.py"
QUESTION = "may it? y, n, or nothing: "
pytestmark = pytest.mark.usefixtures("me")


@contextlib.contextmanager
def companion() -> Iterator[pexpect.spawn[str]]:
    child: pexpect.spawn[str] = pexpect.spawn(
        sys.executable, [str(EXAMPLE)], encoding="utf-8", timeout=30, dimensions=(40, 400), use_poll=True
    )
    child.delaybeforesend = None
    try:
        yield child
    finally:
        close_terminal(child)


def answered(agent: httpx.Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The answer, once it is there."""
    found: dict[str, Any] = agent.get(f"/requests/{asked['id']}/answer?wait=30").json()["answer"]
    return found


def test_it_is_as_short_as_it_says() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 50
    assert "in fifty lines" in EXAMPLE.read_text()


def test_it_answers_what_waited_before_and_what_comes(inbox_hub: hubs.Hub) -> None:
    agent = inbox_hub.agent("\x1b]0;x")
    first = hubs.opened(agent, "make \x1b[2J\u202e first")
    with companion() as child:
        child.expect_exact(QUESTION)
        shown = child.before or ""
        assert r'"make \u001b[2J\u202e first"' in shown
        assert "\x1b" not in shown
        child.sendline("y")
        assert answered(agent, first)["approved"] is True
        second = hubs.opened(agent, "make second")
        child.expect_exact("make second")
        child.expect_exact(QUESTION)
        child.sendline("n")
        answer = answered(agent, second)
        assert (answer["approved"], answer["via"]) == (False, "companion")


def test_it_goes_on_when_another_was_first(agent: httpx.Client, bob: httpx.Client) -> None:
    with companion() as child:
        first = hubs.opened(agent, "make first")
        child.expect_exact("make first")
        child.expect_exact(QUESTION)
        assert hubs.answered(bob, first, approved=False).status_code == 200
        child.sendline("y")
        child.expect_exact('"won":false')
        assert answered(agent, first)["by"] == "bob"
        second = hubs.opened(agent, "make second")
        child.expect_exact("make second")
        child.expect_exact(QUESTION)
        child.sendline("y")
        assert answered(agent, second)["approved"] is True
