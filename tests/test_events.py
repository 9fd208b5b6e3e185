"""The table of events: every name leads to one event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import any_text
from tenterhook import Event, UnknownEvent
from tenterhook.events import BY_NAME, EVENTS, spec_of


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
