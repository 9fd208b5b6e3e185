"""One event answered: in its session and directory, with trusted hooks only, and in the agent's own words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from dispatch.bridges import (
    BEFORE_TOOL,
    HANG,
    STOP,
    call,
    does,
    each_host,
    install,
    line,
    payload,
    reason,
    record,
)
from hosts.recorded import DATA, sent
from support import (
    array_hook,
    folder_hook,
    project_hooks,
    tenterhook,
    user_hooks,
    write_config,
)
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("answering")


def test_a_permission_guard_is_reached_by_copilots_question(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", trigger="permission-request", matcher={"pattern": "forbidden"})
    install("copilot")
    said = {"hookName": "permissionRequest", "sessionId": "s-1", "cwd": str(project), "toolName": "bash"}
    said["toolInput"] = {"command": "forbidden"}  # type: ignore[assignment]
    assert [reason("copilot", said, "permissionRequest") is not None for _ in range(3)] == [True, True, True]


def test_a_guard_is_reached_by_arguments_that_come_as_text(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", matcher={"pattern": "^forbidden$"})
    install("copilot")
    said = payload("copilot", project, toolArgs=json.dumps({"command": "forbidden"}))
    assert [reason("copilot", said) is not None for _ in range(3)] == [True, True, True]


def test_an_observer_of_a_subagents_stop_is_reached_while_no_hook_is_on_stops(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "seen", 'echo >> "$TENTERHOOK_WORK_DIR/seen"', trigger="agent-event")
    stop = folder_hook(user_hooks(home), "stop", trigger="pre-agent-turn-stop")
    install("copilot")
    shutil.rmtree(stop)
    said = {"sessionId": "s-1", "cwd": str(project), "stopReason": "end_turn", "agentId": "a"}
    for count in (1, 2, 3):
        assert call(line("copilot", "agentStop"), said).returncode == 0
        assert len((project / "seen").read_text().splitlines()) == count


@each_host
def test_a_modified_input_a_context_and_a_question_reach_the_agent(host: str, home: Path, project: Path) -> None:
    answer = {"modified_input": {"command": "safe"}, "additional_context": "mind this"}
    folder_hook(user_hooks(home), "rewrite", f"echo '{json.dumps(answer)}'")
    install(host)
    done = does(host, BEFORE_TOOL[host], call(line(host, BEFORE_TOOL[host]), payload(host, project)))
    if AGENTS[host].capabilities.modifies:
        assert done.input == {"command": "safe"}
        assert done.block is None
    else:
        assert "safe" in done.block
    assert not done.approve


def test_a_projects_hooks_run_once_they_are_trusted_and_only_then(home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    folder_hook(project_hooks(project), "theirs", 'echo "theirs" >&2; exit 2')
    install("claude-code")
    command = line("claude-code", "PreToolUse")
    said = payload("claude-code", project)
    lifted = {**os.environ, "TENTERHOOK_TRUST_PROJECT": str(project)}
    # each below a process of its own: an agent that was seen may not trust anything
    for _ in range(2):
        assert asked_by_another(command, said) is None
        assert asked_by_another(command, said, lifted) is None
    assert tenterhook("trust", "--all", "--yes").returncode == 0
    for _ in range(2):
        assert asked_by_another(command, said) == "theirs"
    (project_hooks(project) / "theirs" / "scripts" / "run.sh").write_text("#!/bin/sh\necho other >&2; exit 2\n")
    assert asked_by_another(command, said) is None


@pytest.mark.promise("a model that tries")
def test_a_projects_hook_that_was_changed_is_not_missed_without_a_word(home: Path, project: Path) -> None:
    """A project's hook that was trusted and changed since does not run, and each call that it is for says so."""
    (project / ".git").mkdir()
    hook = folder_hook(project_hooks(project), "theirs", 'echo "theirs" >&2; exit 2')
    install("claude-code")
    assert tenterhook("trust", "--all", "--yes").returncode == 0
    script = hook / "scripts" / "run.sh"
    script.write_text(script.read_text() + "\n")
    ended = call(line("claude-code", "PreToolUse"), payload("claude-code", project), cwd=project)
    message = json.loads(ended.stdout)["systemMessage"]
    assert "hook theirs did not run: changed since it was trusted: scripts/run.sh" in message


def test_a_call_that_names_its_input_twice_is_read_before_it_is_called_idle(home: Path, project: Path) -> None:
    """Copilot CLI's name of a tool's input has changed: the index looks at the same one as the hooks."""
    folder_hook(user_hooks(home), "guard", "echo 'not this' >&2; exit 2", matcher={"pattern": "forbidden"})
    install("copilot")
    time.sleep(0.1)  # what has just changed is not kept in an index
    command = line("copilot", "preToolUse")
    assert does("copilot", "preToolUse", call(command, payload("copilot", project))).block is None
    twice = {"tool_input": {"command": "ls"}, **payload("copilot", project, "forbidden")}
    assert does("copilot", "preToolUse", call(command, twice)).block == "not this"


def asked_by_another(command: str, said: dict[str, Any], environment: dict[str, str] | None = None) -> Any:
    """The same, run by a process that is not this one."""
    code = "import subprocess, sys; sys.exit(subprocess.run(['sh', '-c', sys.argv[1]]).returncode)"
    ended = subprocess.run(
        [sys.executable, "-c", code, command],
        input=json.dumps(said),
        capture_output=True,
        text=True,
        timeout=HANG,
        env=environment,
    )
    return does("claude-code", "PreToolUse", ended).block


AGENT = """
import json, subprocess, sys
line, said = sys.argv[1:3]
if line:
    for _ in range(2):
        subprocess.run(["sh", "-c", line], input=said, text=True, check=True)
command = [sys.executable, "-m", "tenterhook", "trust", "--all", "--yes"]
sys.exit(subprocess.run(["sh", "-c", '"$@"', "sh", *command]).returncode)
"""


def test_what_a_guarded_agent_runs_may_not_trust_anything(home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    folder_hook(project_hooks(project), "theirs", "exit 2")
    install("claude-code")
    said = json.dumps(payload("claude-code", project))

    def agent(command: str) -> subprocess.CompletedProcess[str]:
        started = [sys.executable, "-c", AGENT, command, said]
        return subprocess.run(started, capture_output=True, text=True, timeout=HANG)

    refused = agent(line("claude-code", "PreToolUse"))
    assert refused.returncode == 1, refused.stdout
    assert "agent" in refused.stderr
    assert agent("").returncode == 0  # another one, which is not guarded


def test_the_root_of_a_session_is_where_it_began(home: Path, project: Path, tmp_path: Path) -> None:
    (project / ".git").mkdir()
    folder_hook(project_hooks(project), "theirs", 'echo "in $(pwd)" >&2; exit 2')
    assert tenterhook("trust", "--all", "--yes").returncode == 0
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    install("claude-code")
    assert reason("claude-code", payload("claude-code", project)) == f"in {project}"
    for _ in range(2):
        assert reason("claude-code", payload("claude-code", other)) == f"in {other}"
    assert reason("claude-code", payload("claude-code", other, session_id="s-2")) is None


def test_a_session_that_the_agent_does_not_name_is_answered(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    said = payload("claude-code", project)
    del said["session_id"]
    assert reason("claude-code", said) == "held"


def test_a_directory_that_is_gone_is_no_reason_not_to_guard(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    for cwd in (project / "gone", project / "long" / "gone"):
        assert reason("claude-code", payload("claude-code", cwd)) == "held"


@pytest.mark.parametrize("where", ["the home", "above it", "its configuration"])
def test_the_persons_hooks_are_in_force_wherever_the_agent_is(home: Path, where: str) -> None:
    """Where they are was written down at install: no repository can have put them there."""
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    cwd = {"the home": home, "above it": home.parent, "its configuration": home / ".config"}[where]
    for _ in range(2):
        assert reason("claude-code", payload("claude-code", cwd)) == "held"


@pytest.mark.parametrize("place", ["state", "cache"])
def test_no_place_to_write_is_no_reason_not_to_guard(home: Path, project: Path, place: str) -> None:
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    written = json.loads(record("claude-code").read_text())
    (home / "a-file").write_text("")
    record("claude-code").write_text(json.dumps({**written, place: str(home / "a-file" / "below")}))
    for _ in range(2):
        assert reason("claude-code", payload("claude-code", project)) == "held"


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "qwen", "copilot"])
def test_a_folder_hook_sends_the_agent_back_three_times_in_a_turn(host: str, home: Path, project: Path) -> None:
    script = 'cat >> "$TENTERHOOK_WORK_DIR/asked"; echo >> "$TENTERHOOK_WORK_DIR/asked"; echo "go on" >&2; exit 2'
    folder_hook(user_hooks(home), "gate", script, trigger="pre-agent-turn-stop")
    install(host)
    said = payload(host, project)
    for key in ("tool_name", "tool_input", "toolName", "toolArgs"):
        said.pop(key, None)

    def stops(active: bool) -> bool:
        return reason(host, {**said, "stop_hook_active": active}, STOP[host]) is None

    assert [stops(active) for active in (False, True, True, True, True)] == [False, False, False, True, True]
    told = [json.loads(entry)["stop_hook_active"] for entry in (project / "asked").read_text().splitlines() if entry]
    assert told == [False, True, True]  # not asked at the fourth
    assert not stops(False), "the next turn begins anew"


@pytest.mark.parametrize("host", ["vibe", "openhands"])
def test_an_agent_that_does_not_say_whether_it_was_sent_back_is_counted(host: str, home: Path, project: Path) -> None:
    """A stop after a blocked one is of the same turn, one after a stop that was let through is of the next."""
    script = """
        cat >> "$TENTERHOOK_WORK_DIR/asked"; echo >> "$TENTERHOOK_WORK_DIR/asked"
        [ ! -e "$TENTERHOOK_WORK_DIR/done" ] || exit 0
        echo "go on" >&2; exit 2
        """
    folder_hook(user_hooks(home), "gate", script, trigger="pre-agent-turn-stop")
    install(host)
    said = payload(host, project)
    del said["tool_name"], said["tool_input"]

    def stops() -> bool:
        return reason(host, said, STOP[host]) is None

    assert [stops() for _ in range(6)] == [False, False, False, True, False, False]
    (project / "done").touch()
    assert stops()
    (project / "done").unlink()
    assert [stops() for _ in range(4)] == [False, False, False, True]
    told = [json.loads(entry)["stop_hook_active"] for entry in (project / "asked").read_text().splitlines() if entry]
    assert told == [False, True, True, False, True, True, False, True, True]


@pytest.mark.parametrize(
    ("host", "file", "native", "event"),
    [
        ("vibe", "post_tool-failure", "post_tool", "post-tool-call-failure"),
        ("vibe", "post_agent-in-subagent", "post_agent", "post-subagent"),
        ("openhands", "post_tool_use-error", "post_tool_use", "post-tool-call-failure"),
    ],
)
def test_a_hook_on_the_second_meaning_of_an_event_is_wired_and_reached(
    host: str, file: str, native: str, event: str, home: Path, project: Path
) -> None:
    folder_hook(user_hooks(home), "seen", 'echo >> "$TENTERHOOK_WORK_DIR/seen"', trigger=event)
    install(host)
    said = {**sent(DATA / host / f"{file}.json"), "session_id": "s-1", "cwd": str(project), "working_dir": str(project)}
    time.sleep(0.1)  # what has just changed is not kept in an index
    for count in (1, 2, 3):  # the index is used from the second on
        assert call(line(host, native), said).returncode == 0
        assert len((project / "seen").read_text().splitlines()) == count


STARTS = ("SessionStart", "sessionStart", "session_start", "on_session_start", "session.created")
SAYS_NOTHING = ("kimi-code", "kimi-cli", "openhands", "goose")  # they show and hear nothing at a session's start


@each_host
def test_the_first_session_in_a_clone_asks_one_question_through_what_the_agent_can_show(
    host: str, home: Path, project: Path
) -> None:
    (project / ".git").mkdir()
    for name in ("theirs", "more"):
        folder_hook(project_hooks(project), name, "exit 0")
    install(host)
    start = next((name for name in STARTS if name in AGENTS[host].events), None)
    if start is None:
        said, start = payload(host, project), BEFORE_TOOL[host]
    else:
        said = sent(DATA / host / f"{start}.json")
        said |= {key: str(project) for key in ("cwd", "working_dir") if key in said}
        said |= {key: [str(project)] for key in ("workspaceRoots", "workspace_roots") if key in said}
    ended = call(line(host, start), said, cwd=project)
    question = "2 hooks were not run: not trusted. Look at them and trust them with: tenterhook trust"
    assert ended.stdout.count(question) == (host not in SAYS_NOTHING), ended


def test_where_no_session_starts_its_first_event_says_what_is_not_in_force(home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    folder_hook(project_hooks(project), "theirs", "exit 0")
    install("vibe")
    said = payload("vibe", project)
    first = json.loads(call(line("vibe", "pre_tool"), said).stdout)
    assert "tenterhook trust" in first["system_message"]
    assert any(call(line("vibe", "pre_tool"), said).stdout == "" for _ in range(20))  # once the index is written


def test_an_array_hook_sends_the_agent_back_once(home: Path, project: Path) -> None:
    command = f'cat >> {project}/asked; echo >> {project}/asked; echo "go on" >&2; exit 2'
    config = write_config(home / "hooks.toml", array_hook(command, event="Stop"))
    install("claude-code", config=config)
    said = {"session_id": "s-1", "cwd": str(project), "hook_event_name": "Stop"}
    stops = [
        reason("claude-code", {**said, "stop_hook_active": active}, "Stop") is None for active in (False, True, True)
    ]
    assert stops == [False, True, True]
    told = [json.loads(entry)["stop_hook_active"] for entry in (project / "asked").read_text().splitlines() if entry]
    assert told == [False, True, True]


def test_a_hook_that_prints_broken_json_takes_nobodys_block_away(home: Path, project: Path) -> None:
    """Where `json` was never imported, C code has no error to raise for it."""
    for number, said in enumerate(("{not json}", '{"a" 1}', "[1", '{"a": "\\q"}', '{"a": 1} {')):
        folder_hook(user_hooks(home), f"a{number}", f"echo '{said}'", priority=200 + number)
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    for _ in range(2):
        assert reason("claude-code", payload("claude-code", project)) == "held"


@pytest.mark.parametrize(
    "extra", ["[" * 250 + "]" * 250, "[" * 5000 + "]" * 5000, "9" * 5000], ids=["deep", "deeper", "long number"]
)
@each_host
def test_a_call_that_no_hook_can_be_told_is_refused(host: str, home: Path, project: Path, extra: str) -> None:
    """A model could write it so, to be let pass."""
    folder_hook(user_hooks(home), "guard", "exit 0", matcher={"tool": "Shell"})
    install(host)
    said = json.dumps(payload(host, project))
    for key in ("tool_input", "toolArgs", "input"):
        said = said.replace(f'"{key}": {{', f'"{key}": {{"extra": {extra}, ', 1)
    native = BEFORE_TOOL[host]
    command = ["sh", "-c", line(host, native)]
    ended = subprocess.run(command, input=said, capture_output=True, text=True, timeout=HANG)
    assert "cannot show this to your hooks" in (does(host, native, ended).block or "")


def test_a_hook_that_is_not_trusted_closes_nothing(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 0", matcher={"tool": "Shell"})
    install("claude-code")
    (project / ".git").mkdir()
    folder_hook(project / ".agents" / "hooks", "theirs", "exit 0", metadata={"on_failure": "block"})
    assert reason("claude-code", payload("claude-code", project)) is None
    time.sleep(1)  # for what might be done in the background
    assert json.loads(record("claude-code").read_text())["closed"] is False
