"""`tenterhook new`: what it refuses, what it makes in whose folder, and what it says comes next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, project_hooks, tenterhook, user_hooks
from tenterhook.basics import agent_marks, processes

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


@pytest.mark.parametrize(
    ("event", "reason", "said"),
    [
        ("post-session", "Why.", "is only observed"),
        ("Stop", " ", "--reason is empty"),
        ("Stop", "one\ntwo", "one line of plain text"),
        ("Stop", "\x1b[31m", "one line of plain text"),
    ],
)
def test_a_reason_that_nobody_could_be_told_is_wrong_usage(
    event: str, reason: str, said: str, home: Path, project: Path, run: Run
) -> None:
    ended = run("new", "guard", "--on", event, "--reason", reason)
    assert ended.status == 64
    assert said in ended.err
    assert not user_hooks(home).exists()


def test_any_name_of_an_event_will_do_and_is_kept(home: Path, project: Path, run: Run) -> None:
    for number, name in enumerate(("pre-tool-call", "before_tool", "PreToolUse")):
        assert run("new", f"guard-{number}", "--on", name).status == 0
        assert f"\ntrigger: {name}\n" in (user_hooks(home) / f"guard-{number}" / "HOOK.md").read_text()


def test_an_unknown_event_suggests(home: Path, project: Path, run: Run) -> None:
    ended = run("new", "guard", "--on", "PreToolUsed")
    assert ended.status == 64
    assert "did you mean 'PreToolUse'" in ended.err
    assert not user_hooks(home).exists()


def test_a_name_that_cannot_be_a_hooks_is_wrong_usage(home: Path, project: Path, run: Run) -> None:
    for name, said in (("a/b", "lower-case letters"), ("PreToolUse", "is the name of an event")):
        ended = run("new", name, "--on", "Stop")
        assert ended.status == 64
        assert said in ended.err
    assert not user_hooks(home).exists()


@pytest.mark.parametrize("event", ["Stop", "pre-session", "Notification"])
def test_a_matcher_where_there_is_no_tool_is_refused(event: str, home: Path, project: Path, run: Run) -> None:
    ended = run("new", "guard", "--on", event, "--tool", "Shell")
    assert ended.status == 64
    assert f"{event} has no tool" in ended.err


def test_a_matcher_that_is_no_expression_is_refused(home: Path, project: Path, run: Run) -> None:
    ended = run("new", "guard", "--on", "PreToolUse", "--pattern", "(")
    assert ended.status == 64
    assert "--pattern: not a Python regular expression" in ended.err


def test_a_hook_that_is_there_is_replaced_only_by_force_and_kept(home: Path, project: Path, run: Run) -> None:
    run("new", "guard", "--on", "Stop")
    precious = user_hooks(home) / "guard" / "cases" / "precious.toml"
    precious.write_text("# a night's work\n")
    refused = run("new", "guard", "--on", "Stop", "--lang", "python")
    assert refused.status == 1
    assert "there is already a hook" in refused.err
    assert precious.exists()
    forced = run("new", "guard", "--on", "Stop", "--lang", "python", "--force")
    assert forced.status == 0
    assert "the previous hook is kept in ~/.local/state/tenterhook/replaced/guard-" in forced.out
    (kept,) = (home / ".local/state/tenterhook/replaced").iterdir()
    assert (kept / "cases" / "precious.toml").read_text() == "# a night's work\n"
    assert [path.name for path in (user_hooks(home) / "guard" / "scripts").iterdir()] == ["run.py"]


def test_a_project_hook_needs_trust_and_it_says_so(home: Path, project: Path, run: Run) -> None:
    made = run("new", "guard", "--on", "Stop", "--project")
    assert made.status == 0
    assert (project_hooks(project) / "guard" / "HOOK.md").exists()
    assert "  tenterhook test guard --trust-project " in made.out
    assert "  tenterhook trust guard " in made.out
    assert not user_hooks(home).exists()


def test_a_new_hook_is_wired_in_an_agent_that_is_guarded(home: Path, project: Path, run: Run) -> None:
    (home / ".claude").mkdir()
    assert run("install", "claude-code").status == 0
    settings = home / ".claude" / "settings.json"
    assert "Stop" not in json.loads(settings.read_text())["hooks"]
    made = run("new", "finish", "--on", "pre-agent-turn-stop")
    assert "wired in Claude Code: Stop; restart it if it is running" in made.out
    assert "Stop" in json.loads(settings.read_text())["hooks"]
    assert "not-wired" not in run("list").out
    never = run("new", "beat", "--on", "session-heartbeat")
    assert "Claude Code has no event for it (session-heartbeat): it never runs there" in never.out


def test_a_wiring_that_fails_is_said(home: Path, project: Path, run: Run) -> None:
    (home / ".claude").mkdir()
    assert run("install", "claude-code").status == 0
    (home / ".claude" / "settings.json").write_text("{ broken")
    made = run("new", "finish", "--on", "Stop")
    assert made.status == 0
    assert "not wired in Claude Code: Stop; to see why: tenterhook install claude-code" in made.out


def test_an_agent_that_is_guarded_may_not_make_hooks_of_the_person(home: Path, project: Path) -> None:
    agent_marks.mark(processes.this())
    ended = tenterhook("new", "guard", "--on", "Stop")
    assert ended.returncode == 1
    assert "was called from an agent that Tenterhook guards" in ended.stderr
    assert not user_hooks(home).exists()
    assert tenterhook("new", "guard", "--on", "Stop", "--project").returncode == 0


def test_a_hook_that_it_takes_the_place_of_is_named(home: Path, project: Path, run: Run) -> None:
    folder_hook(home / ".config" / "kimi" / "hooks", "guard", "exit 2", "Stop")
    made = run("new", "guard", "--on", "Stop")
    assert "no longer in force: ~/.config/kimi/hooks/guard: replaced by the hook of that name" in made.out


def test_a_disabled_name_is_said(home: Path, project: Path, run: Run) -> None:
    user_hooks(home).mkdir(parents=True)
    (user_hooks(home) / "hooks.toml").write_text('[[hooks.disable]]\nname = "guard"\n')
    ended = run("new", "guard", "--on", "Stop")
    assert ended.status == 1
    assert "not in force: disabled by" in ended.err


def test_where_no_folder_can_be_made_nothing_is_left(home: Path, project: Path, run: Run) -> None:
    (home / ".config").mkdir()
    (home / ".config" / "agents").write_text("a file")
    ended = run("new", "guard", "--on", "Stop")
    assert ended.status == 1
    assert "Traceback" not in ended.err
    assert "Not a directory" in ended.err or "File exists" in ended.err
