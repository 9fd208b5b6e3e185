"""OpenHands: one editor for files, a file that it must be able to read, a project's that replaces the person's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hosts.homes import HOOK
from hosts.recorded import DATA, answer, read
from support import folder_hook, tenterhook, user_hooks
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS
from tenterhook.events import tool_names

OPENHANDS = AGENTS["openhands"]
GROUPS = [{"matcher": "*", "hooks": [HOOK]}]


@pytest.mark.parametrize(
    ("recorded", "tool"),
    [
        ("pre_tool_use-file_editor-create", "WriteFile"),
        ("pre_tool_use-file_editor-view", "ReadFile"),
        ("pre_tool_use-file_editor-str_replace", "StrReplaceFile"),
    ],
)
def test_its_editor_is_the_tool_that_its_command_makes_it(recorded: str, tool: str) -> None:
    event = read(DATA / "openhands" / f"{recorded}.json").event
    names = set(tool_names(str(event.tool_name)))
    assert names & {"WriteFile", "ReadFile", "StrReplaceFile"} == {tool}
    assert "file_editor" in names
    assert event.tool_input["file_path"].startswith("/home/user/proj/")


@pytest.mark.parametrize("command", [None, "unheard-of", ["create"], {}])
def test_a_command_that_its_editor_does_not_have_makes_it_no_other_tool(command: Any) -> None:
    payload = {"tool_name": "file_editor", "tool_input": {"command": command}, "working_dir": "/"}
    assert OPENHANDS.read_event(payload, "pre_tool_use").event.tool_name == "file_editor"


def test_a_guard_on_written_files_is_reached_by_its_editor(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "echo no >&2; exit 2", matcher={"tool": "WriteFile"})
    assert tenterhook("install", "openhands").returncode == 0
    for command, status in (("create", 2), ("view", 0)):
        given = {"command": command, "path": str(project / "x"), "file_text": "x"}
        for _ in range(2):  # the second time the index is there
            assert dispatched(home, project, "file_editor", given) == status, command


def test_the_error_of_a_failed_call_is_its_text() -> None:
    event = read(DATA / "openhands" / "post_tool_use-error.json").event
    assert event.canonical == "post-tool-call-failure"
    assert event.fields["error"].startswith("Invalid `path` parameter: ")


def test_context_beside_a_refused_prompt_is_part_of_the_reason() -> None:
    """As a key of its own it would lose the refusal."""
    given = answer("openhands/user_prompt_submit", Verdict("", Action.DENY, "no", additional_context=("mind this",)))
    assert (given.blocks, given.stdout, given.stderr) == (True, "", "no\n\nmind this\n")


def test_the_call_that_ends_its_turn_is_not_refused() -> None:
    entry = OPENHANDS.entry("pre_tool_use", "line", 1)
    names = ("terminal", "finish", "finisher", "think", "file_editor")
    assert [name for name in names if not re.fullmatch(entry["matcher"], name)] == ["finish"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"stop": GROUPS}, None),
        ({"hooks": {"Stop": GROUPS, "PreToolUse": GROUPS}}, None),
        ({"hooks": {"SubagentStop": GROUPS}}, "unknown event 'SubagentStop'"),
        ({"no_such": []}, "unknown event 'no_such'"),
        ({"hooks": []}, "not an object of events"),
        ([], "not an object of events"),
        ("{ // a comment\n}", "not JSON"),
        ("\ufeff{}", "not JSON"),
    ],
)
def test_what_ends_every_conversation_is_found(home: Path, project: Path, content: Any, said: str | None) -> None:
    (home / ".openhands").mkdir()
    text = content if isinstance(content, str) else json.dumps(content)
    (home / ".openhands/hooks.json").write_text(text)
    found = [what for what, _ in OPENHANDS.switches(OPENHANDS.settings(), str(project))]
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


@pytest.mark.parametrize("event", ["PreToolUse", "no_such"])
def test_nothing_is_written_beside_an_event_with_which_it_would_not_run(home: Path, event: str) -> None:
    (home / ".openhands").mkdir()
    file = home / ".openhands/hooks.json"
    file.write_text(json.dumps({event: GROUPS}))
    ended = tenterhook("install", "openhands")
    assert ended.returncode == 1
    assert event in ended.stderr
    assert file.read_text() == json.dumps({event: GROUPS})


@pytest.mark.parametrize("content", [{}, {"stop": GROUPS}, {"hooks": {}}])
def test_a_projects_file_replaces_the_persons_until_ours_is_in_it(
    home: Path, project: Path, content: dict[str, Any]
) -> None:
    folder_hook(user_hooks(home), "guard", "echo no >&2; exit 2")
    assert tenterhook("install", "openhands").returncode == 0
    assert tenterhook("doctor", "openhands").returncode == 0
    (project / ".openhands").mkdir()
    (project / ".openhands/hooks.json").write_text(json.dumps(content))
    ended = tenterhook("doctor", "openhands")
    assert ended.returncode == 1
    assert "none of our hooks runs here" in ended.stdout
    assert tenterhook("install", "openhands", "--project").returncode == 0
    ended = tenterhook("doctor", "openhands")
    assert "none of our hooks runs here" not in ended.stdout
    # and the project's answers, although the person's would
    [record] = (home / ".local/state/tenterhook/installed").glob("openhands@*.json")
    assert dispatched(home, project, "terminal", {"command": "ls"}, record.stem) == 2


def test_install_says_that_subagents_are_not_guarded(home: Path, project: Path) -> None:
    assert "subagents (`task`) reach no hook" in tenterhook("install", "openhands").stdout


def test_the_rule_of_the_page_refuses_subagents(home: Path, project: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/agents.md").read_text()
    terms = 'agent = "^openhands$"', 'tool = "^Task$"', 'answer = "deny"'
    assert all(f"`{term}`" in page for term in terms)
    rule = "\n".join(("[[approvals.rules]]", *terms)) + "\n"
    config = home / ".config/tenterhook/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(rule)
    assert tenterhook("install", "openhands").returncode == 0
    for tool, status in (("task", 2), ("terminal", 0)):
        assert dispatched(home, project, tool, {"prompt": "do it", "command": "ls"}) == status


def dispatched(
    home: Path, project: Path, tool: str, tool_input: dict[str, Any], installation: str = "openhands"
) -> int:
    """The exit status for a call, at an installation."""
    sent = {"tool_name": tool, "tool_input": tool_input, "session_id": "s", "working_dir": str(project)}
    record = home / f".local/state/tenterhook/installed/{installation}.json"
    words = ("--host", "openhands", "--event", "pre_tool_use", "--record", str(record))
    return tenterhook("dispatch", *words, input=json.dumps(sent)).returncode
