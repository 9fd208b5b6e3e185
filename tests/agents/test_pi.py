"""pi: an extension of ours asks Tenterhook, and a project's extensions need trust."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hosts.homes import prepared
from hosts.recorded import answer
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

PI = AGENTS["pi"]


def test_a_question_is_put_by_the_extension() -> None:
    said = answer("pi/tool_call", Verdict("", Action.ASK, "sure?"))
    assert json.loads(said.stdout) == {"ask": "sure?"}
    assert said.lost == ()


def test_without_an_interface_no_person_can_be_asked() -> None:
    assert PI.is_attended({})
    assert not PI.is_attended({b"PI_UNATTENDED": b"1"})


@pytest.mark.parametrize(
    ("decisions", "settings", "trusted"),
    [
        ({}, {}, False),
        ({}, {"defaultProjectTrust": "always"}, True),
        ({"": True}, {}, True),
        ({"..": True}, {}, True),
        ({"": False, "..": True}, {}, False),  # the closest one counts
    ],
)
def test_a_projects_extension_counts_only_if_pi_trusts_the_project(
    home: Path, project: Path, decisions: dict[str, bool], settings: dict[str, str], trusted: bool
) -> None:
    own = home / ".pi" / "agent"
    own.mkdir(parents=True)
    (own / "settings.json").write_text(json.dumps(settings))
    known = {str((project / path).resolve()): decision for path, decision in decisions.items()}
    (own / "trust.json").write_text(json.dumps(known))
    found = [what for what, _ in PI.switches(PI.settings(str(project)), str(project))]
    assert ["does not trust" in what for what in found] == [True] * (not trusted)
    assert not list(PI.switches(PI.settings(), str(project)))  # one's own needs none


def test_an_entry_that_switches_our_extension_off_is_found(home: Path, project: Path) -> None:
    file = project / ".pi" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"extensions": ["-builtin:mcp", "!**/tenterhook.ts"]}))
    [(what, _)] = PI.switches(PI.settings(), str(project))
    assert "!**/tenterhook.ts" in what


def test_other_models_and_their_keys_are_left_out_of_a_trial(home: Path) -> None:
    after = prepared(home, "pi", json.dumps({"providers": {"mine": {"apiKey": "real"}}}))
    assert list(after["providers"]) == ["tenterhook"]
    assert "real" not in json.dumps(after)
