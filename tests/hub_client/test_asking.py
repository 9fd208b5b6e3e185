"""A question at the hub: answered there once, taken back when it is over, and never in the way."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from hub_client import hubs
from hub_client.gates import Session, Terminal, call, surface
from hub_client.hubs import BadHub, RealHub, joined
from support import until
from tenterhook import Engine
from tenterhook.approvals.gate import Gate
from tenterhook.approvals.requests import Answer, Request
from tenterhook.hub_client import asking
from tenterhook.hub_client.asking import HubRequest, HubSurface

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    BadHubs = Callable[[Callable[[socket.socket], None]], BadHub]

# ------------------------------------------------------------------ answered at the hub


def test_an_approval_at_the_hub_lets_the_call_run_and_withdraws_the_terminals_question(hub: RealHub) -> None:
    terminal = Terminal()
    session = Session([terminal, surface(joined(hub))])
    wanted = call()
    end = session.begin(wanted)
    request = hub.waiting(wanted.tool_input["command"])
    assert request["machine"].startswith(f"{hubs.MACHINE} ")
    assert (request["agent"], request["work_dir"]) == ("agent", "/tmp")
    assert hub.answer(request, approved=True)[0] == 200
    (permit,) = end()
    by = f"{hub.person} (hub)"
    assert (permit.allowed, permit.by) == (True, by)
    assert terminal.withdrawn_for == session.told[0] == Answer(True, by)


def test_a_denial_at_the_hub_carries_its_message(hub: RealHub) -> None:
    session = Session([surface(joined(hub))])
    wanted = call()
    end = session.begin(wanted)
    hub.answer(hub.waiting(wanted.tool_input["command"]), approved=False, message="use the staging copy")
    (permit,) = end()
    assert not permit.allowed
    assert permit.reason == f"{hub.person} refused this call: use the staging copy"
    assert not permit.ends_turn


def test_a_denial_without_a_message_ends_the_turn(hub: RealHub) -> None:
    wanted = call()
    end = Session([surface(joined(hub))]).begin(wanted)
    hub.answer(hub.waiting(wanted.tool_input["command"]), approved=False)
    (permit,) = end()
    assert (permit.allowed, permit.ends_turn) == (False, True)


def test_an_approval_once_is_for_one_call(hub: RealHub) -> None:
    wanted = call()
    end = Session([surface(joined(hub))]).begin(wanted, wanted)
    command = wanted.tool_input["command"]
    first = hub.waiting(command)
    hub.answer(first, approved=True)
    second = until(lambda: [each for each in hub.open_requests() if each["tool_input"]["command"] == command])[0]
    assert second["id"] != first["id"]
    hub.answer(second, approved=False)
    assert [permit.allowed for permit in end()] == [True, False]


def test_an_approval_for_the_session_is_not_asked_for_again(hub: RealHub) -> None:
    wanted = call()
    end = Session([surface(joined(hub))]).begin(wanted, wanted)
    hub.answer(hub.waiting(wanted.tool_input["command"]), approved=True, scope="session")
    assert [permit.by for permit in end()] == [f"{hub.person} (hub)", "session"]


def test_an_approval_for_the_session_of_another_process_does_not_count(hub: RealHub) -> None:
    member, wanted = joined(hub), call()
    first = Session([HubSurface(member, "1.1")]).begin(wanted)
    hub.answer(hub.waiting(wanted.tool_input["command"]), approved=True, scope="session")
    assert first()[0].allowed
    second = Session([HubSurface(member, "2.2")]).begin(wanted)  # the same session, resumed
    hub.answer(hub.waiting(wanted.tool_input["command"]), approved=False)
    assert not second()[0].allowed


def test_a_hook_that_forces_the_question_is_not_satisfied_by_the_hubs_memory(hub: RealHub) -> None:
    member = joined(hub)
    wanted = call()
    free, forced = Request("p1", wanted), Request("p2", wanted, is_forced=True)
    assert free.as_json("m", "1.1")["grant"] is not None
    assert forced.as_json("m", "1.1")["grant"] is None
    end = Session([HubSurface(member, "1.1")]).begin(wanted)
    hub.answer(hub.waiting(wanted.tool_input["command"]), approved=True, scope="session")
    end()
    assert HubRequest(member, forced._replace(id="forced-1"), "1.1").answer(time.monotonic() + 0.5) is None


# ------------------------------------------------------------------ answered elsewhere


def test_the_terminals_answer_withdraws_the_question_at_the_hub(hub: RealHub) -> None:
    terminal = Terminal()
    wanted = call()
    end = Session([terminal, surface(joined(hub))]).begin(wanted)
    request = hub.waiting(wanted.tool_input["command"])
    terminal.press(Answer(True, "terminal"))
    assert end()[0].by == "terminal"
    now = hub.look(request)
    assert now["state"] == "withdrawn"
    assert (now["withdrawn"]["by"], now["withdrawn"]["approved"]) == ("terminal", True)


def test_a_late_answer_at_the_hub_changes_nothing(hub: RealHub) -> None:
    terminal = Terminal()
    session = Session([terminal, surface(joined(hub))])
    wanted = call()
    end = session.begin(wanted)
    request = hub.waiting(wanted.tool_input["command"])
    terminal.press(Answer(False, "terminal", reason="no"))
    (permit,) = end()
    status, said = hub.answer(request, approved=True)
    assert (status, said["won"], said["why"]) == (409, False, "withdrawn")
    assert not permit.allowed
    assert session.told == [Answer(False, "terminal", reason="no")]


def test_an_answer_at_the_hub_that_came_before_the_terminals_is_the_one_that_counts(hub: RealHub) -> None:
    """It was given, and others see it as given: the asker follows it, although it hears of it last."""

    class Slow(HubSurface):
        async def ask(self, request: Request) -> Answer | None:
            question = HubRequest(member, request, "1.1")
            opened = await asyncio.to_thread(
                question._connection.call, "POST", "/requests", request.as_json("desk", "1.1")
            )
            hub.answer(opened.body, approved=False, message="not today")
            terminal.press(Answer(True, "terminal"))
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return await asyncio.to_thread(question.withdraw, "terminal", True)
            return None

    member, terminal = joined(hub), Terminal()
    (permit,) = Session([terminal, Slow(member, "1.1")]).permits(call())
    assert not permit.allowed
    assert "not today" in (permit.reason or "")


def test_a_session_that_is_cancelled_withdraws_its_question(hub: RealHub) -> None:
    wanted, member = call(), joined(hub)

    async def run() -> None:
        task = asyncio.create_task(Gate(Engine().adecide, surfaces=[surface(member)]).permit(wanted))
        request = await asyncio.to_thread(hub.waiting, wanted.tool_input["command"])
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await asyncio.to_thread(hub.look, request))["state"] == "withdrawn"

    asyncio.run(run())


# ------------------------------------------------------------------ a hub that is no help


def trouble() -> dict[str, Callable[[socket.socket], None]]:
    approved = {"state": "approved", "answer": {"approved": True, "by": "x", "scope": "once"}}
    return {
        "silent": hubs.silent,
        "dripping": hubs.dripping,
        "hangs up": lambda connection: connection.close(),
        "not HTTP": hubs.says(b"220 mail.example.org ESMTP\r\n"),
        "half an answer": hubs.says(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"),
        "a page": hubs.says(hubs.said(b"<html>sign in to the hotel's network</html>")),
        "another place": hubs.says(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"),
        "its own trouble": hubs.says(hubs.said({"error": {}}, 500)),
        "no such token": hubs.says(hubs.said({"error": {"code": "x", "message": "no"}}, 401)),
        "another request's answer": hubs.says(hubs.said(approved)),  # without this request's hash
        "a list": hubs.says(hubs.said([approved])),
        "deep": hubs.says(hubs.said(b"[" * 100_000)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("what", trouble())
def test_a_hub_that_is_no_help_leaves_the_terminal_to_answer(bad_hub: BadHubs, what: str) -> None:
    bad = bad_hub(trouble()[what])
    terminal = Terminal()
    end = Session([terminal, surface(bad.member())]).begin(call())
    terminal.press(Answer(True, "terminal"))
    assert [permit.by for permit in end()] == ["terminal"]


@pytest.mark.slow
@pytest.mark.parametrize("what", trouble())
def test_alone_it_is_no_answer_in_bounded_time(bad_hub: BadHubs, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_RESTART", 0.5)
    (permit,) = Session([surface(bad_hub(trouble()[what]).member())]).permits(call())
    assert (permit.allowed, permit.by) == (False, "nobody")


@pytest.mark.parametrize(
    "answer",
    [
        {"state": "approved"},
        {"state": "approved", "answer": {"approved": False, "by": "x"}},
        {"state": "approved", "answer": {"approved": 1, "by": "x"}},
        {"state": "approved", "answer": {"approved": "true", "by": "x"}},
        {"state": "approved", "answer": {"approved": True}},
        {"state": "denied", "answer": {"approved": True, "by": "x"}},
        {"state": "expired", "answer": {"approved": True, "by": "x"}},
        {"state": ["approved"], "answer": {"approved": True, "by": "x"}},
        {"answer": {"approved": True, "by": "x"}},
        {},
    ],
    ids=str,
)
def test_only_what_is_clearly_an_approval_is_one(bad_hub: BadHubs, answer: dict[str, Any]) -> None:
    request = Request("p1", call())
    bad = bad_hub(hubs.says(hubs.said({"hash": request.hash, **answer})))
    assert HubRequest(bad.member(), request, None).answer(time.monotonic() + 5) is None


def test_an_input_that_cannot_be_sent_is_no_answer(hub: RealHub) -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    request = Request("deep", call()._replace(tool_input={"deep": deep}))
    assert HubRequest(joined(hub), request, None).answer(time.monotonic() + 5) is None


def test_a_hub_that_is_not_there_is_no_answer(hub: RealHub, bad_hub: BadHubs) -> None:
    gone = bad_hub(hubs.silent)
    gone.stop()
    (permit,) = Session([surface(gone.member())]).permits(call())
    assert (permit.allowed, permit.by) == (False, "nobody")


@pytest.mark.slow
def test_a_hub_that_dies_in_the_middle_is_no_answer(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_RESTART", 1.0)
    dying = RealHub(tmp_path / "dying")
    wanted = call()
    try:
        end = Session([surface(joined(dying))]).begin(wanted)
        dying.waiting(wanted.tool_input["command"])
    finally:
        dying.kill()
    (permit,) = end()
    assert (permit.allowed, permit.by) == (False, "nobody")


@pytest.mark.slow
@pytest.mark.parametrize("polled", [0.0, 6.0])
def test_a_hub_that_is_restarted_still_has_the_question(
    polled: float, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the agent has waited for longer than a restart may take."""
    monkeypatch.setattr(asking, "_RESTART", 5.0)
    first = RealHub(tmp_path / "restarted")
    wanted = call()
    listen = first.listen
    try:
        end = Session([surface(joined(first))]).begin(wanted)
        request = first.waiting(wanted.tool_input["command"])
        time.sleep(polled)
    finally:
        first.kill()
    second = RealHub(tmp_path / "restarted", listen)
    try:
        assert second.answer(request, approved=True)[0] == 200
        assert end()[0].allowed
    finally:
        second.stop()
