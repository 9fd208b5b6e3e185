"""Events are wired that have hooks or carry a session's state, and a new hook's event as soon as it is noticed."""

from __future__ import annotations

import json
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from install.installations import EDITED, NAMES, SETTINGS, events, fire, install, log, wired
from support import end_of_the_agent, folder_hook, project_hooks, tenterhook, until, user_hooks
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("project")
each_agent = pytest.mark.parametrize("agent", SETTINGS)


def test_only_events_with_hooks_are_wired_and_the_sessions_start(home: Path) -> None:
    assert install(*SETTINGS).count("no hook on tool calls yet") == len(SETTINGS)
    assert events(home) == {agent: set(names[:1]) for agent, names in EDITED.items()}
    folder_hook(user_hooks(home), "guard", "exit 0")
    install(*SETTINGS)
    assert events(home) == {agent: set(names[:2]) for agent, names in EDITED.items()}
    before = {agent: wired(home, agent) for agent in SETTINGS}
    folder_hook(user_hooks(home), "prompts", "exit 0", "pre-agent-turn")
    install(*SETTINGS)
    assert events(home) == {agent: set(names[:3]) for agent, names in EDITED.items()}
    for agent, known in before.items():
        assert known.items() <= wired(home, agent).items()


def test_where_no_session_starts_tool_calls_are_wired_from_the_beginning(home: Path) -> None:
    """Else hooks of a project that is trusted later would never be wired."""
    install("vibe")
    assert set(wired(home, "vibe")) == {"pre_tool"}


@each_agent
def test_a_new_hook_is_noticed_at_the_next_event_of_any_kind(home: Path, guard: Path, agent: str) -> None:
    start, tool, _, stop = NAMES[agent]
    install(agent)
    before = wired(home, agent)
    fire(agent, tool, before[tool])
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
    fire(agent, start, before[start])
    after = until(lambda: stop in (now := wired(home, agent)) and now)
    assert after.keys() == {start, tool, stop}
    assert before.items() <= after.items()
    if agent == "codex":
        until(lambda: (home / ".codex/config.toml").read_text().count("trusted_hash") == 3)


def test_every_agent_notices_a_new_hook_not_just_the_first_one_used(home: Path, guard: Path) -> None:
    install("claude-code", "gemini")
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
    fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"])
    until(lambda: "Stop" in wired(home, "claude-code"))
    for _ in range(2):  # by now what hooks there are is known, and nothing is looked at anew
        fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"])
    fire("gemini", "BeforeTool", wired(home, "gemini")["BeforeTool"])
    until(lambda: "AfterAgent" in wired(home, "gemini"), 5)


def test_a_trusted_projects_new_event_is_noticed(home: Path, project: Path, guard: Path) -> None:
    install("claude-code")
    folder_hook(project_hooks(project), "gate", "exit 0", "pre-agent-turn-stop")
    line = wired(home, "claude-code")["PreToolUse"]
    fire("claude-code", "PreToolUse", line)
    time.sleep(1)  # in which it could be wired
    assert "Stop" not in wired(home, "claude-code")  # it may not run, so it need not be wired
    end_of_the_agent()
    assert tenterhook("trust", "gate", "--yes").returncode == 0
    fire("claude-code", "PreToolUse", line)
    until(lambda: "Stop" in wired(home, "claude-code"), 5)


@pytest.mark.parametrize("agent", ["kimi-cli", "kimi-code"])  # nobody there can be told when a session starts
def test_doctor_tells_of_a_session_that_began_too_early(home: Path, guard: Path, agent: str) -> None:
    start, _, _, stop = NAMES[agent]
    install(agent)
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
    assert f"{stop} is not wired" in tenterhook("doctor", agent).stdout
    fire(agent, start, wired(home, agent)[start])
    until(lambda: stop in wired(home, agent))
    ended = tenterhook("doctor", agent)
    assert f"hooks of {stop} do not run in the session that began at" in ended.stdout
    assert ended.returncode == 0  # the next one is guarded


def test_what_could_not_be_wired_is_wired_when_it_can_be(home: Path, guard: Path) -> None:
    install("claude-code")
    line = wired(home, "claude-code")["PreToolUse"]
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
    (home / SETTINGS["claude-code"]).chmod(0o444)
    fire("claude-code", "PreToolUse", line)
    until(lambda: any("read-only" in written for written in log(home)), 5)  # and nobody is left to guess
    (home / SETTINGS["claude-code"]).chmod(0o644)
    fire("claude-code", "PreToolUse", line)
    until(lambda: "Stop" in wired(home, "claude-code"), 5)


def test_noticing_leaves_the_persons_own_entries_alone(home: Path, guard: Path) -> None:
    path = home / SETTINGS["gemini"]
    path.parent.mkdir()
    path.write_text('{\n  // mine\n  "hooks": {"AfterAgent": [{"hooks": []}]},\n  "a": 1\n}\n')
    before = path.read_bytes()
    install("gemini")
    settings = json.loads(path.read_text().replace("// mine", ""))
    (group,) = settings["hooks"]["BeforeTool"]
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
    fire("gemini", "BeforeTool", group["hooks"][0]["command"])
    until(lambda: path.read_text().count("tenterhook/launcher.sh") == 3)
    end_of_the_agent()
    assert tenterhook("uninstall", "gemini", "--yes").returncode == 0
    assert path.read_bytes() == before


def test_a_hook_that_is_gone_unwires_nothing(home: Path, guard: Path) -> None:
    install(*SETTINGS)
    before = {agent: wired(home, agent) for agent in SETTINGS}
    shutil.rmtree(guard)
    for agent, (_, tool, *_) in EDITED.items():
        ended = fire(agent, tool, before[agent][tool])
        silence = AGENTS[agent].no_decision.get(tool, "")
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, silence, ""), agent
    end_of_the_agent()
    assert install(*SETTINGS).count("nothing changed") == len(SETTINGS)
    assert {agent: wired(home, agent) for agent in SETTINGS} == before


def test_a_hook_on_an_event_that_the_agent_has_not_is_named(home: Path) -> None:
    folder_hook(user_hooks(home), "after-all", "exit 0", "post-subagent")
    said = install("gemini")
    assert "Gemini CLI has no event for 'after-all'" in said
    assert wired(home, "gemini").keys() == {"SessionStart"}
