"""The table of events: every name leads to one event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import any_text
from tenterhook import Event, UnknownEvent
from tenterhook.events import BY_NAME, EVENTS, mcp_names, mcp_spellings, spec_of, suggestion, tool_names


@given(st.sampled_from(EVENTS))
def test_every_name_of_an_event_leads_to_it_and_back(spec: Any) -> None:
    for name in spec.names:
        assert spec_of(name) is spec
        assert name in spec_of(name).names
        assert Event(name).canonical == spec.name
    assert len(set(spec.names)) == len(spec.names)


def test_no_two_events_share_a_name() -> None:
    assert len(BY_NAME) == sum(len(spec.names) for spec in EVENTS)


@given(any_text.filter(lambda name: name not in BY_NAME))
@settings(max_examples=60)
def test_any_other_name_is_an_error_with_a_remedy(name: str) -> None:
    with pytest.raises(UnknownEvent) as caught:
        spec_of(name)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pretoolcall", "did you mean 'pre-tool-call'?"),
        ("PRE-TOOL", "did you mean 'pre-tool-call' or 'PreToolUse'?"),
        ("before-tool", "did you mean 'before_tool'?"),
        ("notificatio", "did you mean 'notification'?"),
        ("nope", "use one of pre-session, "),
        ("before-stuff", "use one of pre-session, "),
    ],
)
def test_only_names_that_are_really_similar_are_suggested_our_own_first(name: str, said: str) -> None:
    assert suggestion(name).startswith(said)


@pytest.mark.parametrize(
    ("name", "spelling", "found"),
    [
        ("mcp__github__create_issue", (), ["mcp:github/create_issue"]),
        ("mcp:github/create_issue", (), ["mcp:github/create_issue"]),
        ("mcp__a__b__c", (), ["mcp:a/b__c", "mcp:a__b/c"]),
        ("mcp__a___b", (), ["mcp:a/_b", "mcp:a_/b"]),
        ("echo___echo", ("", "___"), ["mcp:echo/echo"]),
        ("mcp_s.t", ("mcp_", "."), ["mcp:s/t"]),
        ("a-b-c", ("", "-"), ["mcp:a/b-c", "mcp:a-b/c"]),
        *((name, (), []) for name in ("Bash", "mcp", "mcp__", "mcp__a", "mcp__a__", "mcp____b", "mcp:a", "x__y", "")),
    ],
)
def test_a_tool_of_an_mcp_server_has_one_name_for_each_reading(
    name: str, spelling: tuple[str, str], found: list[str]
) -> None:
    assert mcp_names(name, *spelling) == found


@given(any_text, any_text, st.sampled_from([("mcp__", "__"), ("", "-"), ("", "_"), ("mcp_", "_"), ("", "___")]))
@settings(max_examples=100)
def test_what_a_server_calls_its_tool_is_among_the_readings(server: str, tool: str, spelling: tuple[str, str]) -> None:
    prefix, separator = spelling
    found = mcp_names(f"{prefix}{server}{separator}{tool}", *spelling)
    if server and tool and len(found) < 32:
        assert f"mcp:{server}/{tool}" in found


def test_the_readings_of_an_endless_name_are_limited() -> None:
    assert len(mcp_names("_".join("a" * 100_000), "", "_")) == 32


def test_an_mcp_tool_is_also_found_in_the_spelling_of_most_agents() -> None:
    assert mcp_spellings("mcp:github/create") == ("mcp:github/create", "mcp__github__create")
    assert tool_names("github___create", ["mcp:github/create"]) == (
        "github___create",
        "mcp:github/create",
        "mcp__github__create",
    )
    assert tool_names("mcp__a__b", ["mcp:a/b"]) == ("mcp__a__b", "mcp:a/b")
