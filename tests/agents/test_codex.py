"""Codex: patches, answers with no unknown key, and what switches its hooks off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hosts.homes import prepared
from hosts.recorded import answer
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS, codec

if TYPE_CHECKING:
    from pathlib import Path


def test_a_patch_names_the_file_that_it_changes() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/a b.py\n*** Move to: c\n@@\n-x\n+y\n*** Delete File: d\n*** End Patch"
    )
    payload = {"tool_name": "apply_patch", "tool_input": {"command": patch}, "session_id": "s", "cwd": "/"}
    received = AGENTS["codex"].read_event(payload, "PreToolUse")
    paths = ["src/a b.py", "c", "d"]
    assert received.event.tool_input == {"command": patch, "file_path": "src/a b.py", "file_paths": paths}
    changed = {**received.event.tool_input, "command": patch.replace("+y", "+z")}
    assert codec.native_input(received, changed) == {"command": patch.replace("+y", "+z")}


@pytest.mark.promise("a model that tries")
def test_space_around_a_head_of_a_patch_hides_no_file() -> None:
    """Hooks are told every file of a Codex patch, also where spaces or form feeds are around a name."""
    patch = (
        "*** Begin Patch\n*** Add File: x\n+a\n  *** Update File: b\n@@\n\t*** Delete File: d \r\n*** Add File:  \f/e\n"
    )
    payload = {"tool_name": "apply_patch", "tool_input": {"command": patch}, "session_id": "s", "cwd": "/"}
    received = AGENTS["codex"].read_event(payload, "PreToolUse")
    assert received.event.tool_input["file_paths"] == ["x", "b", "d", " \f/e"]  # as Codex reads them


def test_codex_keeps_hooks_and_their_trust(home: Path) -> None:
    before = """
        model = "mine"
        profile = "work"
        [hooks.state."/x/hooks.json:pre_tool_use:0:0"]
        trusted_hash = "sha256:1"
        [mcp_servers.real]
        command = "x"
        [model_providers.real]
        name = "real"
        """
    after = prepared(home, "codex", before)
    assert after["hooks"]["state"]["/x/hooks.json:pre_tool_use:0:0"] == {"trusted_hash": "sha256:1"}
    assert list(after["model_providers"]) == [after["model_provider"]]
    assert "mcp_servers" not in after
    assert "profile" not in after


def test_a_session_is_stopped_at_its_start_and_a_tool_by_its_exit_status() -> None:
    said = answer("codex/SessionStart", Verdict("", Action.DENY, "no"))
    assert json.loads(said.stdout) == {"continue": False, "stopReason": "no"}
    said = answer("codex/PreToolUse", Verdict("", Action.DENY, "no"))
    assert (said.blocks, said.stdout, said.stderr) == (True, "", "no\n")


def test_a_changed_input_stands_beside_an_allow_without_which_it_would_not_count() -> None:
    said = answer("codex/PreToolUse", Verdict("", modified_input={"command": "ls"}))
    assert json.loads(said.stdout)["hookSpecificOutput"] == {
        "hookEventName": "PreToolUse",
        "updatedInput": {"command": "ls"},
        "permissionDecision": "allow",
    }


@pytest.mark.parametrize(
    ("own", "of_project", "said"),
    [
        ("", "", None),
        ("[features]\nhooks = false\n", "", "features.hooks"),
        ("[features]\nhooks = true\ncodex_hooks = false\n", "", None),
        ("[features]\nhooks = true\n", "[features]\nhooks = false\n", "features.hooks"),
        ('[projects."{project}"]\ntrust_level = "untrusted"\n', "[features]\nhooks = false\n", None),
        ("not [ toml", "", None),  # reported where it is read to be changed
    ],
)
def test_its_settings_or_those_of_a_trusted_project_switch_hooks_off(
    home: Path, project: Path, own: str, of_project: str, said: str | None
) -> None:
    for folder, text in ((home, own), (project, of_project)):
        (folder / ".codex").mkdir()
        (folder / ".codex" / "config.toml").write_text(text.replace("{project}", str(project)))
    agent = AGENTS["codex"]
    found = [what for what, _ in agent.switches(agent.settings(), str(project))]
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_hooks_of_a_project_that_the_person_does_not_trust_are_ignored(home: Path, project: Path) -> None:
    agent = AGENTS["codex"]
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(f'[projects."{project}"]\ntrust_level = "untrusted"\n')
    assert [what for what, _ in agent.switches(agent.settings(str(project)), str(project)) if "not trusted" in what]
    assert list(agent.switches(agent.settings(), str(project))) == []


@pytest.mark.parametrize(
    "hooks",
    [
        "theirs",
        ["theirs"],
        {"Stop": [{"hooks": [{"type": "command", "command": 't=/x/tenterhook/launcher.sh; /bin/sh "$t" a b open'}]}]},
    ],
)
def test_edited_hooks_are_looked_at_without_an_error(home: Path, project: Path, hooks: object) -> None:
    agent = AGENTS["codex"]
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    assert list(agent.switches(agent.settings(), str(project))) == []
