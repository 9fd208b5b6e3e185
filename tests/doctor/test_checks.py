"""`tenterhook doctor` without an agent: what keeps a guard from blocking is found, and its remedy fixes it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from support import array_hook, folder_hook, lose_tenterhook, project_hooks, tenterhook, user_hooks
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BLOCK = "echo no >&2; exit 2"


def doctor(*arguments: str) -> tuple[int, dict[str, Any]]:
    ended = tenterhook("doctor", *arguments, "--json")
    found: dict[str, Any] = json.loads(ended.stdout)
    assert found["holds"] is (ended.returncode == 0)
    return ended.returncode, found


def said(found: dict[str, Any], level: str) -> str:
    findings = [*found["hooks"], *(each for agent in found["agents"] for each in agent["findings"])]
    return "\n".join(f"{each['what']} | {each['remedy']}" for each in findings if each["level"] == level)


@pytest.fixture
def guarded(home: Path, project: Path) -> Path:
    """A person with one guard, in force in every agent."""
    folder_hook(user_hooks(home), "guard", BLOCK, matcher={"tool": "Shell"})
    assert tenterhook("install", *AGENTS).returncode == 0
    return home


def test_a_guard_that_is_installed_would_hold_everywhere(guarded: Path) -> None:
    status, found = doctor()
    assert (status, said(found, "bad")) == (0, "")
    assert {agent["agent"] for agent in found["agents"]} == set(AGENTS)
    text = tenterhook("doctor").stdout
    assert text.count("the launcher answers") == len(AGENTS)
    assert text.splitlines()[-1].startswith("every guard would block")


def test_an_agent_that_is_named_and_not_guarded_is_bad(home: Path, project: Path) -> None:
    status, found = doctor("gemini")
    assert status == 1
    assert "not guarded" in said(found, "bad")
    assert "tenterhook install gemini" in said(found, "bad")


def test_an_agent_that_was_only_found_is_a_note(home: Path, project: Path) -> None:
    (home / ".claude").mkdir()
    status, found = doctor()
    assert (status, said(found, "bad")) == (0, "")
    assert "not guarded" in said(found, "note")


def test_a_name_nobody_has_is_used_wrongly(project: Path) -> None:
    ended = tenterhook("doctor", "clod")
    assert ended.returncode == 64
    assert "claude-code" in ended.stderr


def edit(file: Path, change: Callable[[str], str]) -> None:
    text = file.read_text()
    changed = change(text)
    assert changed != text
    file.write_text(changed)


def settings_with(file: Path, **more: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    settings = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**settings, **more}))


def copied(file: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True)
    copy.write_bytes(file.read_bytes())


# What was changed, in which agent, and what doctor reports.
SPOILED: dict[str, tuple[str, Callable[[Path, Path], object], str]] = {
    "the entries are gone": (
        "claude-code",
        lambda home, _: (home / ".claude/settings.json").write_text("{}"),
        "not guarded",
    ),
    "the settings do not parse": (
        "qwen",
        lambda home, _: (home / ".qwen/settings.json").write_text("{"),
        "settings.json",
    ),
    "what install wrote down is gone": (
        "gemini",
        lambda home, _: (home / ".local/state/tenterhook/installed/gemini.json").unlink(),
        "no event is answered: No such file",
    ),
    "others may write what install wrote down": (
        "gemini",
        lambda home, _: (home / ".local/state/tenterhook/installed/gemini.json").chmod(0o666),
        "no event is answered: another account could have written",
    ),
    "every interpreter is gone": (
        "kimi-cli",
        lambda home, _: lose_tenterhook(home),
        "the launcher fails: Tenterhook is gone",
    ),
    "the launcher is gone": (
        "kimi-cli",
        lambda home, _: (home / ".local/state/tenterhook/launcher.sh").unlink(),
        "the launcher fails",
    ),
    "a hook for another event was added": (
        "claude-code",
        lambda home, _: folder_hook(user_hooks(home), "gate", BLOCK, trigger="pre-agent-turn-stop"),
        "Stop is not wired: gate",
    ),
    "a guard is to fail closed now": (
        "codex",
        lambda home, _: folder_hook(user_hooks(home), "strict", BLOCK, metadata={"on_failure": "block"}),
        "calls pass if Tenterhook cannot answer",
    ),
    "Claude's hooks are switched off": (
        "claude-code",
        lambda home, _: settings_with(home / ".claude/settings.json", disableAllHooks=True),
        "switches every hook off",
    ),
    "a project switches Claude's hooks off": (
        "claude-code",
        lambda _, project: settings_with(project / ".claude/settings.json", disableAllHooks=True),
        "switches every hook off",
    ),
    "Qwen's hooks are switched off": (
        "qwen",
        lambda home, _: settings_with(home / ".qwen/settings.json", disableAllHooks=True),
        "switches every hook off",
    ),
    "Gemini's hooks are switched off": (
        "gemini",
        lambda home, _: settings_with(home / ".gemini/settings.json", hooksConfig={"enabled": False}),
        "switches every hook off",
    ),
    "Copilot's file is switched off": (
        "copilot",
        lambda home, _: settings_with(home / ".copilot/hooks/tenterhook.json", disableAllHooks=True),
        "switches this file off",
    ),
    "a file beside them replaces Droid's hooks": (
        "droid",
        lambda home, _: (home / ".factory/hooks.json").write_text('{"PreToolUse": []}'),
        "replaces the hooks of",
    ),
    "a project switches Droid's hooks off": (
        "droid",
        lambda _, project: settings_with(project / ".factory/settings.json", hooks={"hooksDisabled": True}),
        "hooks.hooksDisabled in",
    ),
    "a project's other file switches Droid's hooks off": (
        "droid",
        lambda _, project: settings_with(project / ".factory/hooks.json", hooksDisabled=True),
        "switches every hook off",
    ),
    "a project's hook of the same name replaces Vibe's": (
        "vibe",
        lambda home, project: copied(home / ".vibe/hooks.toml", project / ".vibe/hooks.toml"),
        "replaces that of",
    ),
    "a project's file replaces OpenHands's": (
        "openhands",
        lambda _, project: settings_with(project / ".openhands/hooks.json"),
        "none of our hooks runs here",
    ),
    "an unknown event beside OpenHands's": (
        "openhands",
        lambda home, _: settings_with(home / ".openhands/hooks.json", no_such=[]),
        "ends every conversation",
    ),
    "Codex's hooks are switched off": (
        "codex",
        lambda home, _: edit(home / ".codex/config.toml", lambda text: "[features]\nhooks = false\n" + text),
        "switches every hook off",
    ),
    "Codex trusts our entries no more": (
        "codex",
        lambda home, _: (home / ".codex/config.toml").write_text(""),
        "silently skips",
    ),
    "an entry was put before ours in Codex": (
        "codex",
        lambda home, _: edit(
            home / ".codex/hooks.json",
            lambda text: text.replace('"PreToolUse": [', '"PreToolUse": [{"hooks": []}, ', 1),
        ),
        "silently skips",
    ),
    "our entry got a matcher": (
        "claude-code",
        lambda home, _: edit(
            home / ".claude/settings.json",
            lambda text: text.replace('"PreToolUse": [\n      {', '"PreToolUse": [\n      {"matcher": "Write", ', 1),
        ),
        "the entry for PreToolUse was changed",
    ),
    "a script is gone": (
        "gemini",
        lambda home, _: (user_hooks(home) / "guard" / "scripts" / "run.sh").unlink(),
        "no scripts/run",
    ),
    "another entry of Kimi Code has a key too many": (
        "kimi-code",
        lambda home, _: edit(
            home / ".kimi-code/config.toml",
            lambda text: text + '\n[[hooks]]\nevent = "Stop"\ncommand = "true"\nname = "x"\n',
        ),
        "drops every hook",
    ),
    "another entry of Kimi CLI has a timeout too long": (
        "kimi-cli",
        lambda home, _: edit(
            home / ".kimi/config.toml",
            lambda text: text + '\n[[hooks]]\nevent = "Stop"\ncommand = "true"\ntimeout = 601\n',
        ),
        "does not start",
    ),
    "Hermes does not load our plug-in": (
        "hermes",
        lambda home, _: (home / ".hermes/config.yaml").write_text("plugins:\n  enabled: [another]\n"),
        "does not load our plug-in: tenterhook is not in `plugins.enabled`",
    ),
    "Hermes's settings no longer parse": (
        "hermes",
        lambda home, _: edit(home / ".hermes/config.yaml", lambda text: text + "a: [\n"),
        "config.yaml: line ",
    ),
    "Hermes is told to leave our plug-in out": (
        "hermes",
        lambda home, _: edit(home / ".hermes/config.yaml", lambda text: text + "  disabled: [tenterhook]\n"),
        "switches our plug-in off",
    ),
    "our plug-in for Hermes was changed": (
        "hermes",
        lambda home, _: edit(
            home / ".hermes/plugins/tenterhook/__init__.py", lambda text: text + "def register(_): 0\n"
        ),
        "is not the plug-in of this version, or was changed",
    ),
    "a file of our plug-in for Hermes is gone": (
        "hermes",
        lambda home, _: (home / ".hermes/plugins/tenterhook/plugin.yaml").unlink(),
        "plugin.yaml is not the plug-in of this version",
    ),
    "Cline's plug-in is switched off": (
        "cline",
        lambda home, _: settings_with(
            home / ".cline/data/settings/global-settings.json",
            disabledPlugins=[str(home / ".cline/plugins/tenterhook.js")],
        ),
        "switches our plug-in off",
    ),
    "a hook file beside Cline's plug-in was changed": (
        "cline",
        lambda home, _: edit(home / ".cline/hooks/PreToolUse.zsh", lambda text: text.replace("decide\n", "")),
        "PreToolUse.zsh is not the plug-in of this version, or was changed",
    ),
}


# What `tenterhook install` does not fix.
BY_HAND = ("parse", "Kimi", "script", "Droid", "switch", "Vibe", "OpenHands")


@pytest.mark.parametrize("what", SPOILED)
def test_what_keeps_a_guard_from_blocking_is_found_and_its_remedy_works(home: Path, project: Path, what: str) -> None:
    agent, spoil, expected = SPOILED[what]
    folder_hook(user_hooks(home), "guard", BLOCK, matcher={"tool": "Shell"})
    assert tenterhook("install", agent).returncode == 0
    spoil(home, project)
    status, found = doctor(agent)
    assert status == 1
    assert expected in said(found, "bad")
    assert all(each["remedy"] for each in found["agents"][0]["findings"] if each["level"] == "bad")
    if any(word in f"{what} {expected}" for word in BY_HAND):
        return
    assert tenterhook("install", agent).returncode == 0
    status, found = doctor(agent)
    assert (status, said(found, "bad")) == (0, "")


def test_a_broken_hook_and_one_that_changed_are_bad_and_an_untrusted_one_is_a_note(
    guarded: Path, project: Path
) -> None:
    folder_hook(project_hooks(project), "theirs", BLOCK)
    status, found = doctor("claude-code")
    assert status == 0
    assert "'theirs' does not run" in said(found, "note")
    assert tenterhook("trust", "theirs", "--yes").returncode == 0
    (project_hooks(project) / "theirs" / "scripts" / "run.sh").write_text("#!/bin/sh\nexit 0\n")
    status, found = doctor("claude-code")
    assert status == 1
    assert "changed since it was trusted" in said(found, "bad")
    (user_hooks(guarded) / "guard" / "HOOK.md").write_text("no front matter")
    assert "front matter" in said(doctor("claude-code")[1], "bad")


def test_a_file_that_was_named_and_is_gone_is_bad_until_it_is_forgotten(guarded: Path, tmp_path: Path) -> None:
    config = guarded / "more.toml"
    config.write_text(array_hook("true"))
    assert tenterhook("install", "qwen", "--config", config).returncode == 0
    assert "1 more from" in said(doctor("qwen")[1], "ok")
    config.unlink()
    status, found = doctor("qwen")
    assert status == 1
    assert "more.toml do not run" in said(found, "bad")
    assert tenterhook("install", "qwen", "--no-config").returncode == 0
    assert doctor("qwen")[0] == 0


def test_without_a_hook_nothing_is_said_to_hold(home: Path, project: Path) -> None:
    assert tenterhook("install", "qwen").returncode == 0
    text = tenterhook("doctor").stdout
    assert "no hook is in force" in text
    assert "every guard would block" not in text


def test_recent_failures_are_reported(guarded: Path) -> None:
    state = guarded / ".local/state/tenterhook"
    now = int(time.time())
    (state / "bridge.log").write_text(f"{now - 9 * 86400} qwen PreToolUse 137\n{now} qwen PreToolUse 137\nrubbish\n")
    lost = {"host": "qwen", "time": now, "lost": ["ask: denied"], "failed": [{"hook": "guard", "why": "exit 1"}]}
    (state / "dispatch.jsonl").write_text(f"{json.dumps(lost)}\n{{\n")
    status, found = doctor("qwen")
    assert status == 0
    notes = said(found, "note")
    assert "did not answer once" in notes
    assert "ask: denied" in notes
    assert "'guard' failed once in a week, last: exit 1" in notes
    assert "did not answer" not in said(doctor("gemini")[1], "note")


def test_a_hook_that_is_not_wired_yet_is_told_by_check_and_list(guarded: Path) -> None:
    folder_hook(user_hooks(guarded), "gate", BLOCK, trigger="pre-agent-turn-stop")
    for command in ("check", "list"):
        problems = json.loads(tenterhook(command, "--json").stdout)["problems"]
        unwired = [problem for problem in problems if problem["code"] == "not-wired"]
        assert len(unwired) == len(AGENTS)
        assert all("gate" in problem["message"] for problem in unwired)
