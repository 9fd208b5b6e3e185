"""The layers of a project in their order, and what a catalog says of the hooks in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.loaded import load, names
from support import folder_hook, project_hooks, shell_call, user_hooks, write_config
from tenterhook import Engine
from tenterhook.catalog.catalog import directories, layers

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_layers_come_in_order_and_folders_by_name_bytewise(home: Path, project: Path, tmp_path: Path) -> None:
    folder_hook(project_hooks(project), "a-project")
    for name in ("b-user", "B-user", "a-user"):
        folder_hook(user_hooks(home), name)
    folder_hook(home / ".config" / "kimi" / "hooks", "a-kimi")
    folder_hook(tmp_path / "managed", "z-managed")
    catalog = load(project, tmp_path / "managed")
    assert names(catalog) == ["z-managed", "B-user", "a-user", "b-user", "a-kimi", "a-project"]


def test_the_user_directory_follows_xdg_config_home(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_hook(user_hooks(home), "in-home")
    folder_hook(tmp_path / "config" / "agents" / "hooks", "in-xdg")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert names(load(project)) == ["in-xdg"]
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")  # invalid, as the specification says
    assert names(load(project)) == ["in-home"]


def test_a_user_directory_in_the_repository_around_a_nested_project_is_not_the_users(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".git").mkdir()
    (project / "pkg" / ".agents" / "hooks").mkdir(parents=True)
    folder_hook(project / "config" / "agents" / "hooks", "sneaky", "touch ran")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project / "config"))
    verdict = Engine.load(project / "pkg").decide(shell_call(work_dir=project / "pkg"))
    assert [(run.hook.name, run.why) for run in verdict.runs] == [("sneaky", "untrusted")]


def test_a_user_directory_named_inside_the_project_counts_as_the_projects(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_hook(project / "config" / "agents" / "hooks", "sneaky", "touch ran")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project / "config"))
    verdict = Engine.load().decide(shell_call())
    assert [(run.hook.name, run.why) for run in verdict.runs] == [("sneaky", "untrusted")]
    monkeypatch.delenv("XDG_CONFIG_HOME")
    folder_hook(project / "home" / ".config" / "agents" / "hooks", "sneaky-home", "touch ran")
    monkeypatch.setenv("HOME", str(project / "home"))
    verdict = Engine.load().decide(shell_call())
    assert [(run.hook.name, run.why) for run in verdict.runs] == [("sneaky-home", "untrusted")]
    assert not (project / "ran").exists()


def test_a_directory_with_two_names_is_one_layer(home: Path, project: Path) -> None:
    user_hooks(home).mkdir(parents=True)
    (home / ".config" / "kimi").mkdir()
    (home / ".config" / "kimi" / "hooks").symlink_to(user_hooks(home))
    assert [each.name for each in layers(str(project), str(project / "managed"))] == ["managed", "user", "project"]
    assert str(home / ".config" / "kimi" / "hooks") in directories(str(project))


def test_a_catalog_tells_apart_what_is_in_force_what_comes_back_and_what_is_disabled(home: Path, project: Path) -> None:
    for name in ("on", "off", "later"):
        folder_hook(user_hooks(home), name)
    folder_hook(project_hooks(project), "theirs")
    disabled = "[[hooks.disable]]\nname = 'off'\n[[hooks.disable]]\nname = 'later'\nuntil = 2999-01-01T00:00:00Z\n"
    write_config(user_hooks(home) / "hooks.toml", disabled)
    catalog = load(project)
    assert names(catalog) == ["on", "theirs"]
    assert [hook.name for hook in catalog.in_force()] == ["on"]  # the project's is not trusted
    assert [hook.name for hook in catalog.expected()] == ["on", "theirs", "later"]
    assert {hook.name for hook in catalog.all_hooks()} == {"on", "off", "later", "theirs"}
    assert [each.hook.name for each in catalog.disabled("pre-tool-call")] == ["later", "off"]
    assert catalog.disabled("pre-session") == []
    assert str(catalog.disabled()[1]).endswith("tenterhook enable off")
