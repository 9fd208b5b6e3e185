"""Lines of the journal: what is kept of an event, of an approval, and of what hooks wrote."""

from __future__ import annotations

from typing import Any

import pytest

from support import shell_call
from tenterhook import Answer, Verdict
from tenterhook.approvals.requests import Call, Request
from tenterhook.journal import records
from tenterhook.model import Action

SECRET = "PASSWORD=zx81spectrum"


@pytest.mark.parametrize(
    ("outcome", "decision", "meaning"),
    [
        ("ok", "none", "no_decision"),
        ("ok", "approve", "approved"),
        ("ok", "deny", "would_block"),
        ("blocked", "deny", "blocked"),
        ("timed_out", "none", "timed_out"),
        ("not_run", "none", "not_run"),
    ],
)
def test_a_run_has_one_word_for_what_became_of_it(outcome: str, decision: str, meaning: str) -> None:
    assert records.meaning(outcome, decision) == meaning


@pytest.mark.parametrize(
    ("payloads", "kept", "what"),
    [("full", SECRET, "full"), ("redacted", "PASSWORD=[redacted: password]", "redacted"), ("none", None, "none")],
)
def test_of_an_event_as_much_is_kept_as_the_settings_say(payloads: str, kept: str | None, what: str) -> None:
    event = shell_call(SECRET)
    verdict = Verdict(event.canonical, Action.DENY, SECRET)
    record = records.of_verdict(event, verdict, "library", 1.23456, payloads)
    assert (record["payload"], record["waited_ms"], record["decision"]) == (what, 1.235, "deny")
    assert record["reason"] == kept
    assert (record["fields"] or {}).get("tool_input", {}).get("command") == kept


def test_an_approval_says_who_answered_or_that_nobody_did() -> None:
    request = Request("permission_1", Call("Shell", {"command": SECRET}, "/work", "s-1"), "why")
    given: dict[str, Any] = {"by": "agent", "waited_ms": 2.0, "payloads": records.REDACTED}
    answered = records.of_approval(request, Answer(True, "anna (hub)", scope="session"), **given)
    assert (answered["decision"], answered["answered_by"], answered["scope"]) == ("approve", "anna (hub)", "session")
    assert (answered["request"], answered["request_hash"]) == (request.id, request.hash)
    assert SECRET not in str(answered)
    withdrawn = records.of_approval(request, None, **given)
    assert (withdrawn["decision"], withdrawn["answered_by"], withdrawn["scope"]) == ("none", None, None)


def test_of_a_long_output_the_beginning_is_kept_and_of_stderr_the_end() -> None:
    text = "first" + "x" * 50_000 + "last"
    record = records.of_background(records.REDACTED, {"stdout": text, "stderr": text, "why": None}, hook="h")
    assert (record["type"], record["hook"], record["why"]) == ("async", "h", None)
    assert record["stdout"].startswith("firstx")
    assert record["stderr"].endswith("xlast")
    assert len(record["stdout"]) == len(record["stderr"]) == 4096


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"prompt": "do it"}, "do it"),
        ({"tool_input": {"path": "/a", "command": "ls"}}, "ls"),
        ({"tool_input": {"file_path": "/a"}, "error": "no"}, "/a"),
        ({"tool_input": {"odd": 1}, "error": "no"}, "no"),
        ({"tool_input": {"odd": 1}}, '{"odd": 1}'),
        ({"tool_input": {}}, None),
        (None, None),
    ],
)
def test_the_subject_is_the_field_that_tells_most(fields: Any, text: str | None) -> None:
    found = records.subject({"fields": fields})
    assert (found and found.text) == text
