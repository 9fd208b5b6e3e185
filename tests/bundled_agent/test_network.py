"""The agent against a live server on loopback that speaks the OpenAI chat protocol, streamed: the real network path."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bundled_agent.playing import answer, block, when
from tenterhook.doctor.live.model import ScriptedCall, ScriptedModel, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bundled_agent.playing import Play

DONE = Turn(text="All done.")


class Agent:
    """The command line of a session with a server's model."""

    def __init__(self, play: Play, url: str, *model: str) -> None:
        self._play = play
        self._model = model or ("--model", "openai:anything", "--base-url", f"{url}/v1")

    def start(self, prompt: str, *options: str) -> subprocess.Popen[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
        return subprocess.Popen(
            [sys.executable, "-m", "tenterhook", "agent", prompt, *self._model, "--mode", "yolo", *options],
            cwd=self._play.project,
            env={**kept, "HOME": str(self._play.home), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, prompt: str = "go", *options: str, exits: int = 0) -> dict[str, Any]:
        """Its report; `shown` is what a person saw beside it."""
        process = self.start(prompt, "--json", *options)
        try:
            stdout, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
        assert process.returncode == exits, stderr
        assert "Traceback" not in stderr
        return {**json.loads(stdout), "shown": stderr}


def shell(command: str) -> ScriptedCall:
    return ScriptedCall("Shell", {"command": command})


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"]]


def well_formed(body: dict[str, Any]) -> bool:
    """Whether every call has its result, right after it, and every result its call: servers refuse anything else."""
    left: set[str] = set()
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in left:
                return False
            left.remove(message["tool_call_id"])
            continue
        if left:
            return False
        left = {call["id"] for call in message.get("tool_calls") or ()}
    return not left


# ------------------------------------------------------------------ whole sessions


def test_a_session_with_several_calls_one_of_which_a_hook_refuses(play: Play) -> None:
    guard = play.hook("folder pre-tool-call", when("rm -rf", block("not that, use trash")), matcher={"tool": "Shell"})
    failed = play.hook("folder post-tool-call-failure")
    (play.project / "a.txt").write_text("from a file\n")
    script = [
        Turn(text="I will look.", calls=(shell("echo one"), ScriptedCall("ReadFile", {"file_path": "a.txt"}))),
        Turn(calls=(shell("rm -rf a.txt"),)),
        Turn(text="Then so.", calls=(shell("mv a.txt trash"), ScriptedCall("Glob", {"pattern": "*"}), shell("exit 3"))),
        DONE,
    ]
    with ScriptedModel(script) as server:
        report = Agent(play, server.url).run("clean up")
        server.settle()
        bodies = [request.body for request in server.requests]
        results = server.tool_results()
    assert (report["outcome"], report["answer"], report["steps"]) == ("success", "All done.", 4)
    assert report["usage"] == {"input_tokens": 400, "output_tokens": 40}
    assert {request["model"] for request in bodies} == {"anything"}
    assert all(request["stream"] is True for request in bodies)
    assert all(map(well_formed, bodies))
    names = {tool["function"]["name"] for tool in bodies[0]["tools"]}
    assert names == {"Shell", "ReadFile", "WriteFile", "StrReplaceFile", "Glob", "Grep", "Task"}
    assert roles(bodies[0]) == ["system", "user"]
    assert bodies[0]["messages"][1]["content"] == "clean up"
    assert roles(bodies[1])[2:] == ["assistant", "tool", "tool"]
    assert len(results) == 6
    one, read, refused, moved, _, status = results
    assert one == "one"
    assert "from a file" in read
    assert "not that, use trash" in refused
    assert moved == "[no output]"
    assert status.endswith("[exit status 3]")
    assert not (play.project / "a.txt").exists()
    assert (play.project / "trash").exists()
    seen = [sent["tool_input"]["command"] for sent in guard.all]
    assert sorted(seen) == sorted(["echo one", "rm -rf a.txt", "mv a.txt trash", "exit 3"])
    refused_call, failed_command = failed.times(2)
    assert refused_call["error"] == "not that, use trash"
    assert failed_command["exit_code"] == 3


def test_hooks_change_what_the_server_is_sent_next(play: Play) -> None:
    play.hook("folder pre-session", answer(additional_context="CONTEXT-session"))
    play.hook("folder pre-agent-turn", answer(additional_context="CONTEXT-prompt"))
    play.hook("folder pre-tool-call", answer(modified_input={"command": "echo changed"}))
    play.hook("folder post-tool-call", answer(additional_context="CONTEXT-result"))
    play.hook("folder pre-agent-turn-stop", f"test -e once || {{ touch once; {block('not yet')}; }}")
    with ScriptedModel([Turn(calls=(shell("echo given"),)), Turn(text="Done?"), DONE]) as server:
        report = Agent(play, server.url).run("the prompt")
        server.settle()
        first, second, third = (request.body for request in server.requests)
        assert server.tool_results() == ["changed"]
    assert report["answer"] == "All done."
    system = [message["content"] for message in first["messages"] if message["role"] == "system"]
    assert "CONTEXT-session" in "".join(system)
    assert "CONTEXT-prompt" in json.dumps(first["messages"][len(system) :])
    assert "CONTEXT-result" in json.dumps(second["messages"][-1])
    assert "[Hook blocked stop: not yet]" in json.dumps(third["messages"][-1])
    assert all(map(well_formed, (first, second, third)))


def test_a_subagent_and_a_compaction(play: Play) -> None:
    task = ScriptedCall("Task", {"name": "reviewer", "description": "review", "prompt": "look closely"})
    script = [
        Turn(calls=(task,)),
        Turn(calls=(shell("echo by the reviewer"),)),
        Turn(text="It looks fine."),
        Turn(calls=(shell("echo after"),), tokens=200_000),
        Turn(text="<summary>They reviewed it.</summary>", speaker="summary"),
        DONE,
    ]
    compacted = play.hook("folder post-context-compact")
    with ScriptedModel(script) as server:
        report = Agent(play, server.url).run("have it reviewed")
        server.settle()
        bodies = [request.body for request in server.requests]
    assert report["answer"] == "All done."
    assert len(bodies) == 6
    subagent, again, summary, last = bodies[1], bodies[2], bodies[4], bodies[5]
    assert "Task" not in {tool["function"]["name"] for tool in subagent["tools"]}
    assert "have it reviewed" not in json.dumps(subagent)
    assert "by the reviewer" in json.dumps(again["messages"])
    assert "It looks fine." in json.dumps(bodies[3]["messages"])
    assert not summary.get("tools")
    assert "They reviewed it." in json.dumps(last["messages"])
    assert "have it reviewed" not in json.dumps(last["messages"])
    assert all(map(well_formed, bodies))
    assert compacted.once["trigger"] == "auto"


def test_a_resumed_session_sends_all_of_it_once(play: Play) -> None:
    with ScriptedModel([Turn(calls=(shell("echo one"), shell("echo two"))), DONE, Turn(text="Again.")]) as server:
        first = Agent(play, server.url).run("begin")
        second = Agent(play, server.url).run("go on", "--resume", first["session_id"])
        server.settle()
        last = server.requests[-1].body
    assert second["answer"] == "Again."
    assert roles(last) == ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
    assert well_formed(last)


def test_text_is_shown_while_it_comes(play: Play) -> None:
    go_on = threading.Event()

    def speak(voice: Voice) -> None:
        voice.says({"content": "The first line.\nThe sec"})
        go_on.wait(30)
        voice.says({"content": "ond line."})
        voice.says({}, "stop")
        voice.ends()

    with serving(speak) as server:
        process = Agent(play, server.url).start("go")
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "The first line.\n"
            assert process.poll() is None
            go_on.set()
            assert process.stdout.read() == "The second line.\n"
            assert process.wait(20) == 0
        finally:
            go_on.set()
            process.kill()
            process.communicate()


def test_calls_that_come_in_pieces_are_put_together(play: Play) -> None:
    def call(index: int, **function: str) -> dict[str, Any]:
        begun = {"id": f"call_{index}", "type": "function"} if "name" in function else {}
        return {"tool_calls": [{"index": index, **begun, "function": function}]}

    def calls(voice: Voice) -> None:
        voice.says(call(0, name="Shell", arguments=""))
        voice.says(call(0, arguments='{"comm'))
        voice.says(call(0, arguments='and": "echo one"}'))
        voice.says(call(1, name="Shell", arguments='{"command": "ec'))
        voice.says(call(1, arguments='ho two"}'))
        voice.says({}, "tool_calls")
        voice.ends()

    def text(voice: Voice) -> None:
        voice.says({"content": "Done."})
        voice.says({}, "stop")
        voice.ends()

    with serving(calls, text) as server:
        report = Agent(play, server.url).run()
    assert report["answer"] == "Done."
    results = [message["content"] for message in server.bodies[1]["messages"] if message["role"] == "tool"]
    assert results == ["one", "two"]


# ------------------------------------------------------------------ servers in trouble


def assert_failed_and_resumable(play: Play, failing: Agent, *words: str) -> dict[str, Any]:
    """A turn that fails says so, tells hooks, and leaves a session that a healthy server goes on with."""
    failure, over = play.hook("folder post-agent-turn-failure"), play.hook("folder post-session")
    array = play.hook("folder StopFailure")
    report = failing.run("please", exits=1)
    assert (report["outcome"], report["answer"]) == ("failed", "")
    for word in words:
        assert word.lower() in report["reason"].lower()
    assert report["reason"].strip() in report["shown"].strip()
    assert failure.once["error_type"] == array.once["error_type"] != ""
    assert failure.once["error_message"]
    assert over.once
    with ScriptedModel([DONE]) as server:
        resumed = Agent(play, server.url).run("again", "--resume", report["session_id"])
        server.settle()
        (request,) = server.requests
        assert well_formed(request.body)
        assert "please" in json.dumps(request.body["messages"])
    assert resumed["answer"] == "All done."
    return report


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "text"),
    [
        (500, "it broke"),
        pytest.param(401, "wrong key", marks=pytest.mark.thorough),
        pytest.param(404, "no such model", marks=pytest.mark.thorough),
    ],
)
def test_a_server_that_refuses(play: Play, status: int, text: str) -> None:
    with ScriptedModel([Turn(text=text, status=status, sticky=True)]) as server:
        assert_failed_and_resumable(play, Agent(play, server.url), str(status), text)


@pytest.mark.slow
def test_a_server_that_breaks_in_the_middle_of_a_session(play: Play) -> None:
    script = [Turn(calls=(shell("echo x >> ran"),)), Turn(text="it broke", status=500, sticky=True)]
    with ScriptedModel(script) as server:
        assert_failed_and_resumable(play, Agent(play, server.url), "500")
    assert (play.project / "ran").read_text() == "x\n"


@pytest.mark.slow
def test_a_server_that_is_not_there(play: Play) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        assert_failed_and_resumable(play, Agent(play, f"http://127.0.0.1:{taken.getsockname()[1]}"), "connect")


@pytest.mark.slow
def test_a_server_that_recovers_is_asked_again(play: Play) -> None:
    with ScriptedModel([Turn(text="busy", status=503), DONE]) as server:
        assert Agent(play, server.url).run()["answer"] == "All done."


def disconnect(voice: Voice) -> None:
    """Whatever was promised does not come."""
    voice.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    voice.connection.close()


@pytest.mark.thorough
def test_a_server_that_disconnects_before_a_word(play: Play) -> None:
    with serving(*[disconnect] * 8) as server:
        assert_failed_and_resumable(play, Agent(play, server.url))


def text_and_disconnect(voice: Voice) -> None:
    voice.says({"content": "Half a sent"})
    voice.connection.close()


def call_and_disconnect(voice: Voice) -> None:
    function = {"name": "Shell", "arguments": '{"command": "touch half"}'}
    voice.says({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
    voice.connection.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "half",
    [pytest.param(text_and_disconnect, marks=pytest.mark.thorough), call_and_disconnect],
    ids=["in a text", "in a call"],
)
def test_a_server_that_disconnects_in_the_middle(play: Play, half: Callable[[Voice], None]) -> None:
    """Half an answer is none: no call of it runs."""
    with serving(*[half] * 8) as server:
        assert_failed_and_resumable(play, Agent(play, server.url))
    assert not (play.project / "half").exists()


@pytest.mark.thorough
def test_a_server_that_speaks_something_else(play: Play) -> None:
    def page(voice: Voice) -> None:
        voice.connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>"
        )
        voice.connection.close()

    with serving(*[page] * 8) as server:
        assert_failed_and_resumable(play, Agent(play, server.url))


@pytest.mark.slow
def test_a_server_that_never_answers_is_not_waited_for_after_ctrl_c(play: Play) -> None:
    interrupt, over = play.hook("folder interrupt"), play.hook("folder post-session")
    asked, over_now = threading.Event(), threading.Event()

    def silent(voice: Voice) -> None:
        asked.set()
        over_now.wait(60)
        voice.connection.close()

    with serving(silent) as server:
        process = Agent(play, server.url).start("go", "--json")
        try:
            assert asked.wait(20)
            process.send_signal(signal.SIGINT)
            stdout, _ = process.communicate(timeout=20)
        finally:
            over_now.set()
            process.kill()
            process.communicate()
    assert process.returncode == 130
    assert json.loads(stdout)["outcome"] == "interrupted"
    assert interrupt.once
    assert over.once


# ------------------------------------------------------------------ a server, byte by byte


class Voice:
    """One answer of a server, piece by piece."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._begun = False

    def says(self, delta: dict[str, Any], finish: str | None = None) -> None:
        """One piece of it."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        piece = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "anything", "choices": [choice]}
        self._send(f"data: {json.dumps(piece)}\n\n".encode())

    def ends(self) -> None:
        self._send(b"data: [DONE]\n\n")
        self.connection.sendall(b"0\r\n\r\n")
        self.connection.close()

    def _send(self, data: bytes) -> None:
        if not self._begun:
            self._begun = True
            self.connection.sendall(_HEAD)
        self.connection.sendall(b"%x\r\n%s\r\n" % (len(data), data))


class Serving:
    """Takes one connection after another and gives each to the next of its speakers."""

    def __init__(self, speakers: Sequence[Callable[[Voice], None]]) -> None:
        self._speakers = list(speakers)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.bodies: list[Any] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join(20)
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:  # closed
                return
            with connection:
                self.bodies.append(_body(connection))
                if self._speakers:
                    self._speakers.pop(0)(Voice(connection))


@contextmanager
def serving(*speakers: Callable[[Voice], None]) -> Iterator[Serving]:
    server = Serving(speakers)
    try:
        yield server
    finally:
        server.close()


def _body(connection: socket.socket) -> Any:
    """What is asked, read to its end."""
    with connection.makefile("rb") as stream:
        length = 0
        while (line := stream.readline()).strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return json.loads(stream.read(length) or b"null")


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"


def test_a_session_over_anthropics_protocol(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that pydantic-ai knows, with the provider's own variables for key and address."""
    play.hook("folder pre-tool-call", when("forbidden", block("not this")), matcher={"tool": "Shell"})
    script = [Turn(text="I look.", calls=(shell("echo forbidden"), shell("echo seen >> ran"))), DONE]
    with ScriptedModel(script) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        report = Agent(play, server.url, "--model", "anthropic:claude-sonnet-4-5").run()
        told = json.dumps([request.body for request in server.requests])
    assert (report["outcome"], report["answer"]) == ("success", "All done.")
    assert (play.project / "ran").read_text() == "seen\n"
    assert "not this" in told
