"""PROTOCOL 2, layers and `hooks.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog.loaded import codes, load, names
from support import array_hook, folder_hook, project_hooks, shell_call, user_hooks, write_config
from tenterhook import Engine
from tenterhook.catalog.trust import Trust

if TYPE_CHECKING:
    from pathlib import Path


def test_on_equal_names_agents_wins_over_kimi(home: Path, project: Path) -> None:
    first = folder_hook(user_hooks(home), "same")
    folder_hook(home / ".config" / "kimi" / "hooks", "same")
    catalog = load(project)
    assert [hook.folder for hook in catalog.hooks] == [str(first)]
    assert [each.why for each in catalog.left_out] == ["replaced by the hook of that name in agents/hooks"]


def test_a_project_hook_of_the_same_name_does_not_replace_the_users(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "same")
    folder_hook(project_hooks(project), "same")
    assert [hook.layer for hook in load(project, everything=True).hooks] == ["user", "project"]


def test_a_confirmed_replacement_replaces(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "same")
    made = folder_hook(project_hooks(project), "same")
    Trust(str(project)).grant(str(made), replaces=True)
    engine = Engine.load()
    assert [run.hook.layer for run in engine.decide(shell_call()).runs] == ["project"]
    (made / "scripts" / "run.sh").write_text("#!/bin/sh\n# changed\n")
    for each in (engine, Engine.load()):  # one's own guard is back at once
        assert [(run.hook.layer, str(run.outcome)) for run in each.decide(shell_call()).runs] == [
            ("user", "ok"),
            ("project", "not_run"),
        ]


def test_a_replacement_that_is_disabled_replaces_nothing(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "same", "exit 2")
    made = folder_hook(project_hooks(project), "same")
    settings = write_config(project_hooks(project) / "hooks.toml", "[[hooks.disable]]\nname = 'same'\n")
    Trust(str(project)).grant(str(made), replaces=True)
    Trust(str(project)).grant(str(settings))
    assert Engine.load().decide(shell_call()).denied


@pytest.mark.parametrize("linked", ["HOOK.md", "scripts", "scripts/run.sh"])
def test_a_link_into_a_directory_that_others_can_write_is_refused(home: Path, project: Path, linked: str) -> None:
    made = folder_hook(user_hooks(home), "guard")
    shared = project / "shared"
    shared.mkdir(mode=0o777)
    shared.chmod(0o777)
    (made / linked).rename(shared / "moved")
    (made / linked).symlink_to(shared / "moved")
    assert codes(load(project)) == ["writable-by-others"]


def test_a_managed_hook_is_replaced_and_disabled_by_nothing(home: Path, project: Path, tmp_path: Path) -> None:
    folder_hook(tmp_path / "managed", "same", timeout=1000)
    folder_hook(user_hooks(home), "same")
    write_config(
        user_hooks(home) / "hooks.toml",
        """
        [hooks]
        enabled = false
        [[hooks.disable]]
        name = "same"
        [[hooks.override]]
        name = "same"
        timeout = 9000
        """,
    )
    catalog = load(project, tmp_path / "managed")
    assert [(hook.layer, hook.timeout) for hook in catalog.hooks] == [("managed", 1.0)]


def test_a_managed_directory_that_others_could_write_is_refused(project: Path, tmp_path: Path) -> None:
    folder_hook(tmp_path / "managed", "guard")
    (tmp_path / "managed").chmod(0o777)
    catalog = load(project, tmp_path / "managed")
    assert names(catalog) == []
    assert codes(catalog) == ["not-owned-by-root"]


@pytest.mark.parametrize("what", ["", "guard", "guard/HOOK.md", "guard/scripts", "guard/scripts/run.sh"])
def test_a_user_hook_that_another_account_could_write_is_refused(home: Path, project: Path, what: str) -> None:
    folder_hook(user_hooks(home), "guard")
    path = user_hooks(home) / what
    path.chmod(path.stat().st_mode | 0o002)
    catalog = load(project)
    assert names(catalog) == []
    assert codes(catalog) == ["writable-by-others"]
    assert str(path) in catalog.problems[0].remedy


def test_one_bad_hook_of_a_person_leaves_the_others(home: Path, project: Path) -> None:
    (folder_hook(user_hooks(home), "bad") / "HOOK.md").chmod(0o666)
    folder_hook(user_hooks(home), "good")
    (user_hooks(home) / "broken").mkdir()
    (user_hooks(home) / "broken" / "HOOK.md").write_text("nothing")
    (user_hooks(home) / "no-hook").mkdir()
    catalog = load(project)
    assert names(catalog) == ["good"]
    assert sorted(codes(catalog)) == ["no-front-matter", "writable-by-others"]


def test_a_config_file_that_another_account_could_write_is_refused(project: Path) -> None:
    config = write_config(project / "config.toml", array_hook("exit 2"))
    config.chmod(0o666)
    engine = Engine.load(configs=[config])
    assert engine.decide(shell_call()).decision == "none"
    assert [problem.code for problem in engine.problems] == ["writable-by-others"]
