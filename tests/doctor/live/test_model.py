"""The scripted model in each protocol, spoken to over real HTTP."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest

from doctor.live.speaking import TOOLS, chat, post, said
from tenterhook.doctor.live.model import ScriptedModel, Turn


def test_tokens_are_counted_and_models_listed() -> None:
    with ScriptedModel() as model:
        assert json.loads(post(model, "/v1/messages/count_tokens", {}))["input_tokens"] > 0
        assert json.loads(post(model, "/v1beta/models/m:countTokens", {}))["totalTokens"] > 0
        with urllib.request.urlopen(f"{model.url}/v1/models", timeout=30) as response:
            assert json.load(response)["data"]


def test_an_unknown_path_is_not_found_and_noted_down() -> None:
    with ScriptedModel([Turn("unused")]) as model:
        with pytest.raises(urllib.error.HTTPError) as raised:
            post(model, "/v1/telemetry", {"a": 1})
        raised.value.close()
        model.settle()
        assert [(request.path, request.protocol) for request in model.requests] == [("/v1/telemetry", None)]
    assert raised.value.code == 404


def test_turns_are_given_in_order_and_then_a_closing_text() -> None:
    with ScriptedModel([Turn("one"), Turn("two")]) as model:
        assert [said(chat(model)) for _ in range(4)][:2] == ["one", "two"]
        model.settle()
        turns = [request.turn for request in model.requests]
    assert [turn.text if turn else None for turn in turns] == ["one", "two", None, None]


def test_a_request_without_tools_takes_nothing_but_what_is_meant_for_it() -> None:
    with ScriptedModel([Turn("main"), Turn("a title", speaker="summary")]) as model:
        assert said(chat(model, tools=[])) == "a title"
        assert said(chat(model, tools=[])) not in ("main", "a title")
        assert said(chat(model)) == "main"


def test_a_turn_waits_for_a_request_that_mentions_what_it_wants() -> None:
    turns = [Turn("child", unless='the "main" prompt'), Turn("main", when='the "main" prompt')]
    with ScriptedModel(turns) as model:
        assert said(chat(model, 'this is the "main" prompt')) == "main"
        assert said(chat(model, "something else")) == "child"


def test_a_sticky_turn_is_given_again() -> None:
    with ScriptedModel([Turn("again", sticky=True)]) as model:
        assert [said(chat(model)) for _ in range(3)] == ["again"] * 3


def test_a_status_is_an_http_error_with_the_text() -> None:
    with ScriptedModel([Turn("overloaded", status=529)]) as model:
        with pytest.raises(urllib.error.HTTPError) as raised:
            chat(model)
        with raised.value as error:
            assert error.code == 529
            assert json.load(error)["error"]["message"] == "overloaded"


def test_a_delay_passes_between_the_request_and_its_answer() -> None:
    with ScriptedModel([Turn("late", delay=0.2)]) as model:
        chat(model)
        model.settle()
        request = model.requests[0]
    assert request.answered - request.at >= 0.2


def test_a_turn_is_given_when_what_comes_before_it_returns() -> None:
    asked, may_go = threading.Event(), threading.Event()

    def before() -> None:
        asked.set()
        may_go.wait(30)

    with ScriptedModel([Turn("held", before=before)]) as model:
        waiting = threading.Thread(target=chat, args=(model,))
        waiting.start()
        assert asked.wait(30)
        assert not model.requests
        may_go.set()
        waiting.join(30)
        model.settle()
        assert len(model.requests) == 1


def test_the_last_turn_is_held_back_until_the_others_are_given() -> None:
    with ScriptedModel([Turn("main", when="main", last=True), Turn("child", when="child")]) as model:
        waiting = threading.Thread(target=chat, args=(model, "main"))
        waiting.start()
        time.sleep(0.1)
        assert model.requests == []
        chat(model, "child")
        waiting.join(30)
        model.settle()
        assert not waiting.is_alive()
        answered = {request.turn.text: request.answered for request in model.requests if request.turn}
    assert answered["main"] > answered["child"]


def test_tool_results_of_two_conversations_are_all_there_once() -> None:
    def result(call: str, text: str) -> dict[str, str]:
        return {"role": "tool", "tool_call_id": call, "content": text}

    with ScriptedModel() as model:
        chat(model, messages=[result("call_1", "from the child")])
        chat(model, messages=[result("call_2", "first")])
        chat(model, messages=[result("call_2", "first"), result("call_3", "second")])
        model.settle()
        assert model.tool_results() == ["from the child", "first", "second"]


@pytest.mark.parametrize("text", ["plain", 'with "quotes"', "two\nlines", "größer", "back\\slash"])
def test_what_was_sent_is_found_also_inside_json_in_a_string(text: str) -> None:
    with ScriptedModel() as model:
        chat(model, json.dumps({"reason": text}))
        chat(model, text + "!")
        model.settle()
        assert model.was_sent(text)
        assert not model.was_sent(text + "?")


def test_chunked_and_compressed_requests_are_read() -> None:
    content = gzip.compress(json.dumps({"messages": [], "tools": TOOLS}).encode())
    with ScriptedModel([Turn("read")]) as model:
        connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=30)
        connection.request(
            "POST",
            "/v1/chat/completions",
            iter([content[:10], content[10:]]),
            {"Content-Encoding": "gzip", "Transfer-Encoding": "chunked"},
            encode_chunked=True,
        )
        assert said(connection.getresponse().read().decode()) == "read"
        connection.close()


def test_closing_ends_delayed_answers_and_open_connections() -> None:
    model = ScriptedModel([Turn("late", delay=60)])
    host, _, port = model.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), 30) as idle:
        body = json.dumps({"messages": [], "tools": TOOLS})
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        idle.sendall((head + body).encode())
        time.sleep(0.1)
        model.close()
        idle.settimeout(30)
        while idle.recv(65536):
            pass
    with pytest.raises(OSError):
        chat(model)
