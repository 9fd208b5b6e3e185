"""hooks.toml beside hook folders: it disables, overrides and sets defaults, for the layers that it governs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from catalog.loaded import codes, load, names
from support import folder_hook, project_hooks, user_hooks, write_config
from tenterhook.catalog.trust import Trust

if TYPE_CHECKING:
    from pathlib import Path


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
