"""Claude Code: what only it sends and says, and what switches its hooks off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from hosts.homes import HOOKS, prepared
from hosts.recorded import DATA, answer, read, sent
from support import folder_hook, tenterhook, user_hooks
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path


def test_it_says_that_no_person_can_be_asked() -> None:
    claude_code = AGENTS["claude-code"]
    assert claude_code.is_attended({})
    assert claude_code.is_attended({b"CLAUDE_CODE_SESSION_ATTENDED": b"1"})
    assert not claude_code.is_attended({b"CLAUDE_CODE_SESSION_ATTENDED": b"0"})


def test_of_others_it_is_assumed_that_a_person_can_be_asked() -> None:
    assert AGENTS["codex"].is_attended({b"CLAUDE_CODE_SESSION_ATTENDED": b"0"})


def test_a_hook_on_agent_event_is_run_by_an_event_that_only_the_agent_knows(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "all", 'cat > "$TENTERHOOK_WORK_DIR/got.json"', trigger="agent-event")
    assert tenterhook("install", "claude-code").returncode == 0
    payload = {**sent(DATA / "claude-code" / "PostToolBatch.json"), "cwd": str(project)}
    record = home / ".local" / "state" / "tenterhook" / "installed" / "claude-code.json"
    arguments = ["--host", "claude-code", "--event", "PostToolBatch", "--record", str(record)]
    ended = tenterhook("dispatch", *arguments, input=json.dumps(payload))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    got = json.loads((project / "got.json").read_text())
    assert got["agent_event"] == "PostToolBatch"
    assert got["context"]["agent"]["payload"] == payload


def test_claude_code_keeps_hooks_and_loses_what_outranks_the_scripted_model(home: Path) -> None:
    kept = {"hooks": HOOKS, "disableAllHooks": True}
    before = {**kept, "apiKeyHelper": "x", "env": {"ANTHROPIC_BASE_URL": "x", "MY_TOKEN": "x", "GUARD_MODE": "strict"}}
    assert prepared(home, "claude-code", json.dumps(before)) == {**kept, "env": {"GUARD_MODE": "strict"}}


def test_a_block_is_answered_in_json_for_it_shows_the_whole_command_beside_an_exit_status() -> None:
    said = answer("claude-code/PreToolUse", Verdict("", Action.DENY, "no", messages=("look",)))
    assert (said.blocks, said.stderr) == (False, "")
    specific = {"permissionDecision": "deny", "permissionDecisionReason": "no"}
    told = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **specific}, "systemMessage": "look"}
    assert json.loads(said.stdout) == told
    assert json.loads(answer("claude-code/Stop", Verdict("", Action.DENY, "no")).stdout) == {
        "decision": "block",
        "reason": "no",
    }


def test_variables_for_its_tools_are_written_only_inside_its_own_folder(tmp_path: Path) -> None:
    own, elsewhere = tmp_path / "session-env" / "s" / "env", tmp_path / "elsewhere"
    own.parent.mkdir(parents=True)
    for file in (own, elsewhere):
        environ = {b"CLAUDE_ENV_FILE": str(file).encode()}
        AGENTS["claude-code"].export_variables({"A": "it's"}, str(tmp_path), environ)
    assert own.read_text() == "export A='it'\\''s'\n"
    assert not elsewhere.exists()


def test_a_project_may_switch_the_persons_hooks_off(project: Path) -> None:
    agent = AGENTS["claude-code"]
    assert list(agent.switches(agent.settings(), str(project))) == []
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.local.json").write_text('{"disableAllHooks": true}')
    ((what, remedy),) = agent.switches(agent.settings(), str(project))
    assert str(project / ".claude" / "settings.local.json") in what
    assert remedy


def test_events_that_only_it_has_are_kept_whole() -> None:
    received = read(DATA / "claude-code" / "PostToolBatch.json")
    assert (received.event.canonical, received.event.fields["agent_event"]) == ("agent-event", "PostToolBatch")
