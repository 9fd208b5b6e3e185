"""Gemini's generateContent of the scripted model, as one object and as a stream."""

from __future__ import annotations

import json

from doctor.live.speaking import SHELL, TOOLS, events, post
from tenterhook.doctor.live import generate_content
from tenterhook.doctor.live.model import ScriptedModel, Turn


def test_a_text_and_calls_are_one_object_whole_or_streamed() -> None:
    body = {"contents": [], "tools": [{"functionDeclarations": [{"name": "shell"}]}]}
    with ScriptedModel([Turn("so", (SHELL,), sticky=True)]) as model:
        whole = json.loads(post(model, "/v1beta/models/m:generateContent", body))
        streamed = events(post(model, "/v1beta/models/m:streamGenerateContent?alt=sse", body))
    for answer in (whole, streamed[0][1]):
        text, call = answer["candidates"][0]["content"]["parts"]
        assert text == {"text": "so"}
        assert (call["functionCall"]["name"], call["functionCall"]["args"]) == ("shell", SHELL.input)


def test_json_is_answered_where_it_is_asked_for() -> None:
    body = {"contents": [], "generationConfig": {"responseMimeType": "application/json"}}
    with ScriptedModel() as model:
        answer = json.loads(post(model, "/v1beta/models/m:generateContent", body))
    assert json.loads(answer["candidates"][0]["content"]["parts"][0]["text"])["next_speaker"] == "user"


def test_tools_without_a_declaration_are_none() -> None:
    assert not generate_content.has_tools({"tools": [{"googleSearch": {}}]})
    assert generate_content.has_tools({"tools": [{"functionDeclarations": TOOLS}]})


def test_a_scripted_turn_is_given_as_it_is_where_json_is_asked_for() -> None:
    body: dict[str, object] = {"generationConfig": {"responseSchema": {}}}
    answer = generate_content.whole(body, Turn("so"))
    assert answer["candidates"][0]["content"]["parts"] == [{"text": "so"}]
