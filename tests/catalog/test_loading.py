"""PROTOCOL 2, layers and `hooks.toml`."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from support import array_hook, folder_hook, project_hooks, shell_call, user_hooks, write_config
from tenterhook import Engine
from tenterhook.catalog import loading, project_root
from tenterhook.catalog.trust import Trust

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook.catalog.catalog import Catalog


def load(root: Path, managed: Path | None = None, **options: object) -> Catalog:
    trust = Trust(str(root), everything=bool(options.get("everything")))
    return loading.load(str(root), trust=trust, managed=str(managed or root / "no-managed"))


def names(catalog: Catalog) -> list[str]:
    return [hook.name for hook in catalog.hooks]


def codes(catalog: Catalog) -> list[str]:
    return [problem.code for problem in catalog.problems]


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


def test_a_bad_override_leaves_the_hook_and_is_found_in_hooks_toml(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "mine")
    settings = write_config(user_hooks(home) / "hooks.toml", "[[hooks.override]]\nname = 'mine'\ntimeout = 5\n")
    catalog = load(project)
    assert [hook.timeout for hook in catalog.hooks] == [30.0]
    (problem,) = catalog.problems
    assert (problem.code, problem.file, problem.line, problem.key) == ("bad-value", str(settings), 3, "timeout")


def test_a_bad_override_of_one_file_does_not_spoil_a_good_one_of_another(
    home: Path, project: Path, tmp_path: Path
) -> None:
    folder_hook(user_hooks(home), "in-a-folder", name="mine")
    bad = write_config(user_hooks(home) / "hooks.toml", "[[hooks.override]]\nname = 'mine'\npriority = 5000\n")
    write_config(tmp_path / "managed" / "hooks.toml", "[[hooks.override]]\nname = 'mine'\ntimeout = 7000\n")
    catalog = load(project, tmp_path / "managed")
    assert [(hook.timeout, hook.priority) for hook in catalog.hooks] == [(7.0, 100)]
    problem = next(problem for problem in catalog.problems if problem.code == "bad-value")
    assert (problem.file, problem.line) == (str(bad), 3)


@pytest.mark.parametrize("text", ["[hooks]\ndisable = ['mine']\n", "[hooks.disable]\nname = 'mine'\n"])
def test_settings_that_are_written_wrongly_are_told(home: Path, project: Path, text: str) -> None:
    folder_hook(user_hooks(home), "mine")
    write_config(user_hooks(home) / "hooks.toml", text)
    assert "bad-hooks-section" in codes(load(project)) or "missing-key" in codes(load(project))


@pytest.mark.parametrize("linked", ["HOOK.md", "scripts", "scripts/run.sh"])
def test_a_link_into_a_directory_that_others_can_write_is_refused(home: Path, project: Path, linked: str) -> None:
    made = folder_hook(user_hooks(home), "guard")
    shared = project / "shared"
    shared.mkdir(mode=0o777)
    shared.chmod(0o777)
    (made / linked).rename(shared / "moved")
    (made / linked).symlink_to(shared / "moved")
    assert codes(load(project)) == ["writable-by-others"]


def test_a_user_directory_in_the_repository_around_a_nested_project_is_not_the_users(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".git").mkdir()
    (project / "pkg" / ".agents" / "hooks").mkdir(parents=True)
    folder_hook(project / "config" / "agents" / "hooks", "sneaky", "touch ran")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project / "config"))
    verdict = Engine.load(project / "pkg").decide(shell_call(work_dir=project / "pkg"))
    assert [(run.hook.name, run.why) for run in verdict.runs] == [("sneaky", "untrusted")]


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


def test_hooks_toml_disables_overrides_and_sets_defaults(home: Path, project: Path) -> None:
    for name in ("one", "two", "three"):
        folder_hook(user_hooks(home), name)
    folder_hook(user_hooks(home), "four", priority=7)
    write_config(
        user_hooks(home) / "hooks.toml",
        """
        [hooks]
        enabled = true
        debug = true
        [hooks.defaults]
        timeout = 1000
        priority = 55
        async = true
        [[hooks.disable]]
        name = "one"
        [[hooks.override]]
        name = "two"
        timeout = 2000
        matcher = { tool = "Write" }
        """,
    )
    catalog = load(project)
    found = {hook.name: hook for hook in catalog.hooks}
    assert set(found) == {"two", "three", "four"}
    assert (found["two"].timeout, found["two"].tool, found["two"].priority) == (2.0, "Write", 55)
    assert (found["three"].timeout, found["three"].async_) == (1.0, True)
    assert found["four"].priority == 7
    assert catalog.debug
    assert [each.hook.name for each in catalog.left_out] == ["one"]


NEXT_YEAR, LAST_YEAR = time.localtime().tm_year + 1, time.localtime().tm_year - 1


@pytest.mark.parametrize(
    ("entries", "is_disabled"),
    [
        ([f"{NEXT_YEAR}-01-02T03:04:05Z"], True),
        ([f"{NEXT_YEAR}-01-02T03:04:05"], True),
        ([f"{NEXT_YEAR}-01-02 03:04:05.5+02:00"], True),
        ([f"{LAST_YEAR}-01-02T03:04:05Z"], False),
        ([f"{LAST_YEAR}-01-02T03:04:05"], False),
        (["0001-01-01T00:00:00Z"], False),
        ([f"{LAST_YEAR}-01-02T03:04:05Z", f"{NEXT_YEAR}-01-02T03:04:05Z"], True),
        ([None, f"{LAST_YEAR}-01-02T03:04:05Z"], True),
        ([f"{LAST_YEAR}-01-02T03:04:05Z", None], True),
    ],
)
def test_a_hook_is_disabled_until_a_time(home: Path, project: Path, entries: list[Any], is_disabled: bool) -> None:
    folder_hook(user_hooks(home), "one")
    written = [f"[[hooks.disable]]\nname = 'one'\n{f'until = {each}' if each else ''}\n" for each in entries]
    file = write_config(user_hooks(home) / "hooks.toml", "".join(written))
    catalog = load(project)
    assert catalog.problems == ()
    assert names(catalog) == ([] if is_disabled else ["one"])
    assert (catalog.until is None) == (not is_disabled or None in entries)
    if catalog.until is not None:
        assert time.localtime(catalog.until).tm_year == NEXT_YEAR
        assert catalog.left_out[0].why == f"disabled until {clock(catalog.until)} ({file})"
        assert [hook.name for hook in catalog.expected()] == ["one"]


def clock(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def test_a_time_that_is_today_has_no_date(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "one")
    soon = time.time() + 1
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(soon))
    write_config(user_hooks(home) / "hooks.toml", f"[[hooks.disable]]\nname = 'one'\nuntil = {text}.9\n")
    (left_out,) = load(project).left_out
    is_today = time.localtime(soon)[:3] == time.localtime()[:3]
    assert left_out.why.startswith(f"disabled until {text[11:16] if is_today else clock(soon)} (")


@pytest.mark.parametrize("until", ["'2999-01-01T00:00:00Z'", "2999-01-01", "17:40:00", "3600", "true"])
def test_an_until_that_is_no_date_and_time_leaves_the_hook_in_force(home: Path, project: Path, until: str) -> None:
    folder_hook(user_hooks(home), "one")
    file = write_config(user_hooks(home) / "hooks.toml", f"[[hooks.disable]]\nname = 'one'\nuntil = {until}\n")
    catalog = load(project)
    assert names(catalog) == ["one"]
    (problem,) = catalog.problems
    assert (problem.code, problem.file, problem.line, problem.key) == ("bad-value", str(file), 3, "until")
    assert "without quotes" in problem.remedy


def test_a_misspelt_until_is_said(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "one")
    write_config(user_hooks(home) / "hooks.toml", "[[hooks.disable]]\nname = 'one'\nuntill = 2999-01-01T00:00:00Z\n")
    (problem,) = load(project).problems
    assert (problem.code, problem.key, problem.remedy) == ("ignored-key", "untill", "did you mean 'until'?")


def test_hooks_toml_switches_a_layer_off(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "one")
    write_config(user_hooks(home) / "hooks.toml", "[hooks]\nenabled = false\n")
    catalog = load(project)
    assert names(catalog) == []
    assert "disabled by" in catalog.left_out[0].why


def test_a_projects_hooks_toml_needs_trust_and_touches_project_hooks_only(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "mine")
    folder_hook(project_hooks(project), "theirs")
    settings = write_config(
        project_hooks(project) / "hooks.toml", "[[hooks.disable]]\nname = 'mine'\n[[hooks.disable]]\nname = 'theirs'\n"
    )
    catalog = load(project)
    assert names(catalog) == ["mine", "theirs"]
    assert codes(catalog) == ["untrusted-settings"]
    Trust(str(project)).grant(str(settings))
    assert names(load(project)) == ["mine"]


def test_a_broken_hooks_toml_is_a_problem_and_the_hooks_load(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "mine")
    write_config(user_hooks(home) / "hooks.toml", "[hooks\n")
    catalog = load(project)
    assert names(catalog) == ["mine"]
    assert codes(catalog) == ["bad-toml"]


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


class TestRoots:
    """Where a project begins."""

    def test_the_nearest_ancestor_with_git_or_hooks_is_the_root(self, project: Path) -> None:
        deep = project / "a" / "b"
        deep.mkdir(parents=True)
        (project / ".git").mkdir()
        assert project_root.project_root(str(deep)) == str(project)
        (project / "a" / ".agents" / "hooks").mkdir(parents=True)
        assert project_root.project_root(str(deep)) == str(project / "a")

    def test_without_either_the_directory_itself_is_the_root(self, project: Path) -> None:
        assert project_root.project_root(str(project)) == str(project)

    def test_from_inside_home_the_search_ends_there(self, home: Path, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        (home / "work").mkdir()
        assert project_root.project_root(str(home / "work")) == str(home / "work")

    def test_a_git_file_that_nothing_points_back_to_is_no_identity(self, project: Path, tmp_path: Path) -> None:
        other = tmp_path / "other" / ".git"
        (other / "worktrees" / "x").mkdir(parents=True)
        (project / ".git").write_text(f"gitdir: {other}/worktrees/x\n")
        (other / "worktrees" / "x" / "commondir").write_text("../..\n")
        assert project_root.identity(str(project)) == f"path:{project}"
        (other / "worktrees" / "x" / "gitdir").write_text(f"{project}/.git\n")
        assert project_root.identity(str(project)) == f"git:{os.path.realpath(other)}"
