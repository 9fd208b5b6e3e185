"""Goose, by the source of version 1.35: what it is answered, and what switches our plug-in off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hosts.recorded import DATA, answer, read
from support import folder_hook, tenterhook, user_hooks
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

GOOSE = AGENTS["goose"]


def test_a_refused_call_is_exit_status_2_with_the_reason() -> None:
    answered = answer("goose/PreToolUse", Verdict("", Action.DENY, "not this"))
    assert (answered.blocks, answered.stderr, answered.stdout) == (True, "not this\n", "")


def test_no_other_event_can_refuse_anything() -> None:
    for event in ("UserPromptSubmit", "Stop", "SessionStart", "PostToolUse"):
        answered = answer(f"goose/{event}", Verdict("", Action.DENY, "not this"))
        assert not answered.blocks
        assert answered.lost[0] == "block: it has no effect"


def test_its_tools_are_known_with_and_without_the_name_of_their_extension() -> None:
    for file in ("PreToolUse", "PreToolUse-prefixed"):
        assert read(DATA / f"goose/{file}.json").event.tool_input["command"] == "rg TODO"
    written = read(DATA / "goose/PreToolUse-write.json").event.tool_input
    assert (written["file_path"], written["content"]) == ("/work/project/n.txt", "hello\n")


def test_a_prompt_is_in_the_message() -> None:
    assert read(DATA / "goose/UserPromptSubmit.json").event.prompt == "Fix the bug"


def switches(root: Path) -> list[str]:
    return [what for what, _ in GOOSE.switches(GOOSE.settings(), str(root))]


def test_a_disabled_plug_in_is_found_in_the_settings_that_count(home: Path, project: Path) -> None:
    def write(folder: Path, name: str, **settings: list[str]) -> None:
        (folder / ".config/goose").mkdir(parents=True, exist_ok=True)
        (folder / ".config/goose" / name).write_text(json.dumps(settings))

    assert switches(project) == []
    write(home, "settings.json", disabledPlugins=["tenterhook"])
    assert switches(project) == [f"disabledPlugins in {home}/.config/goose/settings.json switches our plug-in off"]
    write(project, "settings.json", enabledPlugins=["tenterhook"])
    assert switches(project) == []
    write(project, "settings.local.json", disabledPlugins=["other", "tenterhook"])
    assert "settings.local.json" in switches(project)[0]


def test_a_plug_in_of_the_same_name_in_a_project_replaces_ours(home: Path, project: Path) -> None:
    (project / ".agents/plugins/tenterhook").mkdir(parents=True)
    assert "replaces" in switches(project)[0]
    assert list(GOOSE.switches(GOOSE.settings(str(project)), str(project))) == []


def test_goose_path_root_moves_the_plug_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOOSE_PATH_ROOT", str(tmp_path))
    assert GOOSE.settings() == f"{tmp_path}/.agents/plugins/tenterhook/hooks/hooks.json"


def test_an_installation_leaves_nothing_behind(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert "by documentation, not proven" in tenterhook("install", "goose").stdout
    file = home / ".agents/plugins/tenterhook/hooks/hooks.json"
    assert list(json.loads(file.read_text())["hooks"]) == ["PreToolUse", "SessionStart"]
    assert tenterhook("uninstall", "goose", "--yes").returncode == 0
    assert not (home / ".agents/plugins").exists()
