"""`tenterhook inbox` as a screen: live, answered by keys, and never by accident."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import pexpect
import pytest
from textual.widgets import OptionList

from hub import hubs
from support import close_terminal, until
from tenterhook.approvals.requests import content_hash
from tenterhook.hub_client import inbox_client, inbox_screen
from tenterhook.hub_client.inbox_screen import InboxApp

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from pathlib import Path

    import httpx
    from textual.pilot import Pilot

SECONDS = 20


class Screen:
    """What a person sees, and their keys."""

    def __init__(self, app: InboxApp, pilot: Pilot[None]) -> None:
        self.app = app
        self._pilot = pilot

    def part(self, name: str) -> str:
        """The text of one part of the screen, without how it is wrapped."""
        return str(self.app.query_one(f"#{name}").render())

    @property
    def chosen(self) -> str:
        return f"{self.part('left')}\n{self.part('text')}"

    @property
    def ids(self) -> list[str]:
        """What stands in the list."""
        return [str(option.id) for option in self.app.query_one(OptionList).options]

    async def until(self, condition: Callable[[], Any]) -> None:
        for _ in range(SECONDS * 50):
            if condition():
                return
            await self._pilot.pause(0.02)
        raise AssertionError(f"it never happened\n{self.ids}\n{self.chosen}\n{self.part('notice')}")

    async def shows(self, text: str) -> None:
        """Wait until it is chosen, and may be answered."""
        await self.until(lambda: text in self.part("text") and self.app.can_answer)

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)


def seen(me: inbox_client.Credentials, watch: Callable[[Screen], Coroutine[Any, Any, None]]) -> None:
    """Have a person look at the screen."""

    async def look() -> None:
        app = InboxApp(me)
        async with app.run_test(size=(140, 50)) as pilot:
            await watch(Screen(app, pilot))

    asyncio.run(look())


@pytest.fixture
def agent(inbox_hub: hubs.Hub, agent: httpx.Client) -> Iterator[httpx.Client]:
    """A client with an agent's token; its open requests are withdrawn when a test ends."""
    yield agent
    assert inbox_hub.admin is not None
    for each in inbox_hub.admin.get("/inbox").json()["requests"]:
        agent.post(f"/requests/{each['id']}/withdraw", json={})


def answer_of(agent: httpx.Client, asked: dict[str, Any]) -> dict[str, Any] | None:
    found: dict[str, Any] | None = agent.get(f"/requests/{asked['id']}/answer?wait=0").json()["answer"]
    return found


def test_a_request_appears_by_itself_and_one_key_approves_it(me: inbox_client.Credentials, agent: httpx.Client) -> None:
    async def watch(screen: Screen) -> None:
        await screen.until(lambda: "No open requests" in screen.part("text") and me.url in screen.part("notice"))
        asked = hubs.opened(agent, "make it", why="a rule says ask")
        await screen.shows("make it")
        for fact in ("a rule says ask", hubs.WORK_DIR, "run command", "agent", "machine", "session"):
            assert fact in screen.part("text")
        assert "left" in screen.part("left")
        await screen.press("a")
        await screen.until(lambda: screen.ids == [])
        await screen.until(lambda: "approved once by" in screen.part("notice"))
        answer = answer_of(agent, asked)
        assert answer is not None
        assert (answer["approved"], answer["scope"], answer["by"]) == (True, "once", me.name)

    seen(me, watch)


def test_another_key_approves_for_the_session(me: inbox_client.Credentials, agent: httpx.Client) -> None:
    async def watch(screen: Screen) -> None:
        asked = hubs.opened(agent, "make it")
        await screen.shows("make it")
        await screen.press("s")
        await screen.until(lambda: "for this session" in screen.part("notice"))
        answer = answer_of(agent, asked)
        assert answer is not None
        assert answer["scope"] == "session"

    seen(me, watch)


def test_a_denial_asks_for_a_message(me: inbox_client.Credentials, agent: httpx.Client) -> None:
    async def watch(screen: Screen) -> None:
        asked = hubs.opened(agent, "make it")
        await screen.shows("make it")
        await screen.press("d", "escape", "d", *"as I said")
        assert answer_of(agent, asked) is None
        await screen.press("enter")
        await screen.until(lambda: screen.ids == [])
        answer = answer_of(agent, asked)
        assert answer is not None
        assert (answer["approved"], answer["message"]) == (False, "as I said")

    seen(me, watch)


@pytest.mark.slow
def test_a_request_that_another_answered_stays_in_sight_and_no_other_takes_its_place(
    me: inbox_client.Credentials, agent: httpx.Client, bob: httpx.Client
) -> None:
    async def watch(screen: Screen) -> None:
        first, second = hubs.opened(agent, "make first"), hubs.opened(agent, "make second")
        await screen.shows("make first")
        await screen.until(lambda: len(screen.ids) == 2)
        assert hubs.answered(bob, first, approved=False, message="not now").status_code == 200
        await screen.until(lambda: "denied by bob (api): not now" in screen.part("left"))
        assert "make first" in screen.part("text")
        assert screen.ids == [second["id"]]
        await screen.press("a", "s", "d", "enter", "escape")
        assert answer_of(agent, second) is None
        await screen.shows("make second")

    seen(me, watch)


@pytest.mark.slow
def test_whoever_was_first_is_named_even_if_the_news_is_late(
    me: inbox_client.Credentials, agent: httpx.Client, bob: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deaf(stream: inbox_client.EventStream) -> Iterator[inbox_client.HubEvent]:
        yield inbox_client.HubEvent(inbox_client.CONNECTED, me.url, "")

    monkeypatch.setattr(inbox_client.EventStream, "__iter__", deaf)
    asked = hubs.opened(agent, "make it")

    async def watch(screen: Screen) -> None:
        await screen.shows("make it")
        assert hubs.answered(bob, asked).status_code == 200
        await screen.press("d", "enter")
        await screen.until(lambda: "not answered by you: approved once by bob (api)" in screen.part("notice"))
        assert screen.ids == []

    seen(me, watch)


@pytest.mark.slow
def test_keys_move_through_the_list_and_stop_at_its_ends(me: inbox_client.Credentials, agent: httpx.Client) -> None:
    async def watch(screen: Screen) -> None:
        asked = [hubs.opened(agent, f"make {number}.") for number in range(3)]
        await screen.until(lambda: screen.ids == [each["id"] for each in asked])
        for keys, shown in ((["k"], 0), (["j"], 1), (["j", "j", "j"], 2), (["up"], 1), (["down"], 2), (["k", "k"], 0)):
            await screen.press(*keys)
            await screen.shows(f"make {shown}.")
        await screen.press("j")
        await screen.shows("make 1.")
        await screen.press("a")
        await screen.until(lambda: len(screen.ids) == 2)
        assert answer_of(agent, asked[1]) is not None
        assert answer_of(agent, asked[0]) is answer_of(agent, asked[2]) is None

    seen(me, watch)


@pytest.mark.slow
def test_keys_do_not_count_before_a_request_could_be_seen(
    me: inbox_client.Credentials, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_screen, "_SEEN", 3600)

    async def watch(screen: Screen) -> None:
        asked = hubs.opened(agent, "make it")
        await screen.until(lambda: "make it" in screen.part("text"))
        await screen.press("a", "s", "d", "enter", "escape")
        assert answer_of(agent, asked) is None
        monkeypatch.setattr(inbox_screen, "_SEEN", 0)
        monkeypatch.setattr(inbox_screen, "_PAUSE", 0)
        await screen.press("a")
        await screen.until(lambda: answer_of(agent, asked))

    seen(me, watch)


def test_a_message_that_no_field_takes_answers_nothing(
    me: inbox_client.Credentials, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_screen, "_PAUSE", 3600)

    async def watch(screen: Screen) -> None:
        asked = hubs.opened(agent, "make it")
        await screen.shows("make it")
        await screen.press(*"Use a test")
        await screen.press("s")
        assert answer_of(agent, asked) is None

    seen(me, watch)


@pytest.mark.slow
def test_a_denial_can_be_written_as_soon_as_a_request_appears(
    me: inbox_client.Credentials, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_screen, "_SEEN", 3600)

    async def watch(screen: Screen) -> None:
        asked = hubs.opened(agent, "make it")
        await screen.until(lambda: "make it" in screen.part("text"))
        await screen.press("d", *"as a test", "enter")
        await screen.until(lambda: screen.ids == [])
        answer = answer_of(agent, asked)
        assert answer is not None
        assert (answer["approved"], answer["message"]) == (False, "as a test")

    seen(me, watch)


@pytest.mark.slow
def test_keys_in_one_burst_answer_once(
    me: inbox_client.Credentials, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []
    answer = inbox_client.answer

    def counted(person: inbox_client.Credentials, asked: dict[str, Any], **how: Any) -> inbox_client.AnswerResult:
        given.append(how["scope"])
        return answer(person, asked, **how)

    monkeypatch.setattr(inbox_client, "answer", counted)

    async def watch(screen: Screen) -> None:
        hubs.opened(agent, "make it")
        await screen.shows("make it")
        await screen.press("a", "s", "a")
        await screen.until(lambda: screen.ids == [])
        assert given == ["once"]

    seen(me, watch)


def test_a_request_that_comes_after_the_last_one_was_answered_is_chosen_and_can_be_answered(
    me: inbox_client.Credentials, agent: httpx.Client
) -> None:
    async def watch(screen: Screen) -> None:
        for what in ("make first", "make second"):
            asked = hubs.opened(agent, what)
            await screen.shows(what)
            await screen.press("a")
            await screen.until(lambda: screen.ids == [])
            assert answer_of(agent, asked) is not None

    seen(me, watch)


def test_what_a_request_holds_is_shown_as_it_is(me: inbox_client.Credentials, inbox_hub: hubs.Hub) -> None:
    async def watch(screen: Screen) -> None:
        given = "echo [red]x[/red] [@click=app.quit]y[/] \x1b[2J \u202e\u200b\nrm -rf /"
        agent = inbox_hub.agent("\x1b]0;x\x07[b]")
        asked = hubs.opened(agent, given)
        await screen.shows(r"echo [red]x[/red] [@click=app.quit]y[/] \x1b[2J \u202e\u200b")
        assert r"\x1b]0;x\x07[b]" in screen.part("text")
        assert "! " in screen.part("text")
        agent.post(f"/requests/{asked['id']}/withdraw", json={}).raise_for_status()

    seen(me, watch)


@pytest.mark.slow
def test_a_change_of_a_file_is_shown_as_a_difference(me: inbox_client.Credentials, agent: httpx.Client) -> None:
    async def watch(screen: Screen) -> None:
        given = {"file_path": "a.txt", "content": "new"}
        display = {"kind": "diff", "path": f"{hubs.WORK_DIR}/a.txt", "diff": "--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new"}
        bound = content_hash("WriteFile", given, hubs.WORK_DIR)
        hubs.opened(agent, tool_name="WriteFile", tool_input=given, display=display, action="x", hash=bound)
        await screen.shows("-old\n+new")
        assert f"{hubs.WORK_DIR}/a.txt" in screen.part("text")
        assert "write file" in screen.part("text")

    seen(me, watch)


@pytest.mark.slow
def test_a_hub_that_went_away_is_found_again(tmp_path: Path) -> None:
    home = tmp_path / "hub"
    home.mkdir()
    first = hubs.Hub(home)
    port = first.url.rpartition(":")[2]
    token = first.token()
    me = inbox_client.Credentials(first.url, "me", first.person_file["token"])
    second: list[hubs.Hub] = []

    async def watch(screen: Screen) -> None:
        await screen.until(lambda: me.url in screen.part("notice"))
        first.end()
        await screen.until(lambda: "hub unavailable" in screen.part("notice"))
        await screen.press("r", "j", "a")
        second.append(await asyncio.to_thread(hubs.Hub, home, "--listen", f"127.0.0.1:{port}"))
        hubs.opened(second[0].client(token), "make it")
        await screen.shows("make it")

    try:
        seen(me, watch)
    finally:
        for each in (first, *second):
            each.end() if not each.log.closed else None


@pytest.mark.slow
def test_keys_are_explained_and_one_leaves(me: inbox_client.Credentials) -> None:
    async def watch(screen: Screen) -> None:
        await screen.press("question_mark")
        assert "approve for this session" in str(screen.app.screen.query_one("#said").render())
        await screen.press("escape", "q")
        await screen.until(lambda: not screen.app.is_running)

    seen(me, watch)


@contextlib.contextmanager
def terminal() -> Iterator[pexpect.spawn[str]]:
    child: pexpect.spawn[str] = pexpect.spawn(
        sys.executable,
        ["-m", "tenterhook", "inbox"],
        env={**os.environ, "TERM": "xterm-256color"},
        encoding="utf-8",
        codec_errors="replace",
        dimensions=(40, 140),
        timeout=30,
        use_poll=True,
    )
    child.delaybeforesend = None
    try:
        yield child
    finally:
        close_terminal(child)


@pytest.mark.usefixtures("me")
@pytest.mark.slow
def test_in_a_real_terminal_a_request_appears_and_is_approved(agent: httpx.Client) -> None:
    with terminal() as child:
        child.expect("No open requests")
        asked = hubs.opened(agent, "make-it-so", expires_in=600)
        waited: list[dict[str, Any]] = []
        way = f"/requests/{asked['id']}/answer?wait=60"
        waiter = threading.Thread(target=lambda: waited.append(agent.get(way).json()))
        waiter.start()
        child.expect("make-it-so")
        until(lambda: child.send("a") and answer_of(agent, asked))
        waiter.join(60)
        assert waited[0]["answer"]["approved"] is True
        child.expect("approved once by")
        child.send("q")
        child.expect(pexpect.EOF)
        assert child.wait() == 0
