"""Gemini CLI: it is never told to ask, and takes a changed input by a name of its own."""

from __future__ import annotations

import json

from hosts.recorded import answer
from tenterhook import Action, Verdict


def test_a_question_is_a_refusal_for_its_own_would_hang_a_headless_run() -> None:
    said = answer("gemini/BeforeTool", Verdict("", Action.ASK, "sure?"))
    assert (said.blocks, said.stdout, said.lost) == (True, "", ("ask: denied",))
    assert said.stderr.startswith("sure? (a hook wants a person to be asked")


def test_a_changed_input_has_its_own_name() -> None:
    said = answer("gemini/BeforeTool", Verdict("", modified_input={"command": "ls"}))
    told = {"hookEventName": "BeforeTool", "tool_input": {"command": "ls"}}
    assert json.loads(said.stdout) == {"hookSpecificOutput": told}
