"""The hub's rules: fetched when they change, and in force from the cache while the hub is away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hub_client import hubs
from hub_client.hubs import BadHub, RealHub, joined
from tenterhook.hub_client import hub_rules

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    BadHubs = Callable[[Callable[[socket.socket], None]], BadHub]


@pytest.mark.slow
def test_rules_of_the_hub_hold_here_and_while_it_is_away(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ruling = RealHub(tmp_path / "ruling")
    try:
        member = joined(ruling)
        assert hub_rules.current(member) == []
        ruling.api("POST", "/rules", {"answer": "deny", "tool": "Shell", "pattern": "prod", "reason": "not there"})
        assert hub_rules.current(member) == []  # asked a moment ago
        monkeypatch.setattr(hub_rules, "_FRESH", 0.0)
        (rule,) = hub_rules.current(member)
        assert (rule.answer, rule.pattern, rule.source) == ("deny", "prod", ruling.url)
        assert hub_rules.current(member) == [rule]  # as they were
    finally:
        ruling.kill()
    assert hub_rules.current(member) == [rule]
    monkeypatch.setattr(hub_rules, "_MAX_AGE", -1.0)
    assert hub_rules.current(member) == []


def test_rules_that_cannot_be_understood_leave_those_that_are_known(
    hub: RealHub, bad_hub: BadHubs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_rules, "_FRESH", 0.0)
    monkeypatch.setattr(hub_rules, "_RETRY", 0.0)
    now: dict[str, Any] = {"rules": [{"answer": "deny", "tool": "Shell", "number": 1, "created_by": "x"}]}

    def serve(connection: socket.socket) -> None:
        hubs.says(hubs.said(now))(connection)

    bad = bad_hub(serve)
    (rule,) = hub_rules.current(bad.member())
    for found in ([{"answer": "never"}], [{"answer": "deny", "pattern": "("}], "none", None):
        now["rules"] = found
        assert hub_rules.current(bad.member()) == [rule]


def test_a_hub_that_hangs_is_not_asked_for_rules_at_every_call(bad_hub: BadHubs) -> None:
    bad = bad_hub(hubs.silent)
    for _ in range(5):
        assert hub_rules.current(bad.member()) == []
    assert bad.calls == 1
