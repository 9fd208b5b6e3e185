"""`tenterhook remove`: a hook's folder, and nothing else, is deleted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, on_a_terminal, project_hooks, tenterhook, user_hooks

if TYPE_CHECKING:
    from pathlib import Path


def entries(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture
def guard(home: Path, project: Path) -> Path:
    folder_hook(user_hooks(home), "other", "exit 0")
    return folder_hook(user_hooks(home), "guard", "exit 2")


def test_it_shows_what_it_deletes_and_deletes_just_that(guard: Path, home: Path) -> None:
    ended = tenterhook("remove", "guard", "--yes")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == (
        "guard  ~/.config/agents/hooks/guard\n  HOOK.md\n  scripts/run.sh\nremoved ~/.config/agents/hooks/guard\n"
    )
    assert entries(user_hooks(home)) == ["other"]


def test_it_asks_and_no_is_no(guard: Path) -> None:
    ended = tenterhook("remove", "guard")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "--yes" in ended.stderr
    status, _ = on_a_terminal(["remove", "guard"], {b"Delete it permanently? [y/N]": b"\n"})
    assert (status, guard.exists()) == (1, True)
    status, _ = on_a_terminal(["remove", "guard"], {b"Delete it permanently? [y/N]": b"y\n"})
    assert (status, guard.exists()) == (0, False)


def test_as_data(guard: Path) -> None:
    ended = tenterhook("remove", "guard", "--yes", "--json")
    about = {"name": "guard", "layer": "user", "folder": str(guard), "link_to": None}
    removed = {**about, "files": ["HOOK.md", "scripts/run.sh"], "deleted": True}
    assert json.loads(ended.stdout) == {"schema": 1, "removed": removed, "changed": [], "wired": []}


def test_of_a_link_the_link_alone_goes(guard: Path, home: Path) -> None:
    real = guard.rename(home / "elsewhere")
    guard.symlink_to(real)
    ended = tenterhook("remove", "guard", "--yes")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == (
        f"guard  ~/.config/agents/hooks/guard\n  a link to {real}, which is not deleted\n"
        "removed ~/.config/agents/hooks/guard\n"
    )
    assert not guard.is_symlink()
    assert entries(real) == ["HOOK.md", "scripts"]


def test_what_links_in_it_lead_to_stays(guard: Path, home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "kept").touch()
    (guard / "data").symlink_to(home / "data")
    assert "  data\n" in tenterhook("remove", "guard", "--yes").stdout
    assert entries(home / "data") == ["kept"]


def test_one_that_cannot_be_loaded_can_be_removed(guard: Path) -> None:
    (guard / "HOOK.md").write_text("no front matter")
    assert tenterhook("remove", "guard", "--yes").returncode == 0
    assert not guard.exists()


def test_a_name_in_both_layers_must_be_said_which(guard: Path, project: Path) -> None:
    theirs = folder_hook(project_hooks(project), "guard", "exit 2")
    ended = tenterhook("remove", "guard", "--yes")
    assert (ended.returncode, "add --user or --project" in ended.stderr) == (64, True)
    ended = tenterhook("remove", "guard", "--project", "--yes")
    assert (ended.returncode, theirs.exists(), guard.exists()) == (0, False, True)
    assert "still in force by that name: ~/.config/agents/hooks/guard" in ended.stdout
    ended = tenterhook("remove", "guard", "--project", "--yes")
    assert (ended.returncode, guard.exists()) == (1, True)
    assert "tenterhook remove guard --user" in ended.stderr
    assert tenterhook("remove", "guard", "--user", "--yes").returncode == 0
    assert not guard.exists()


def test_a_folder_that_differs_from_the_hooks_name_is_found_by_both(guard: Path, home: Path) -> None:
    folder = guard.rename(user_hooks(home) / "z-guard")
    assert tenterhook("remove", "guard", "--yes").returncode == 0
    assert not folder.exists()
    folder_hook(user_hooks(home), "guard", "exit 2").rename(folder)
    folder_hook(user_hooks(home), "guard", "exit 0")
    assert tenterhook("remove", "z-guard", "--yes").returncode == 0
    assert entries(user_hooks(home)) == ["guard", "other"]


@pytest.mark.usefixtures("guard")
def test_what_disabled_it_goes_too(home: Path) -> None:
    settings = user_hooks(home) / "hooks.toml"
    settings.write_text("[hooks]\nenabled = true\n")
    assert tenterhook("disable", "guard", "--yes").returncode == 0
    ended = tenterhook("remove", "guard", "--yes")
    assert "and the entry that disabled it in ~/.config/agents/hooks/hooks.toml" in ended.stdout
    assert settings.read_text() == "[hooks]\nenabled = true\n"
    assert tenterhook("check").stdout == "1 hook, 0 errors, 0 warnings\n"


@pytest.mark.usefixtures("guard")
def test_what_else_settings_say_of_it_is_named(home: Path) -> None:
    (user_hooks(home) / "hooks.toml").write_text("[[hooks.override]]\nname = 'guard'\npriority = 7\n")
    ended = tenterhook("remove", "guard", "--yes")
    assert ended.returncode == 0
    assert "[ungoverned] there is no hook 'guard'" in ended.stderr


def test_a_folder_whose_definition_is_misspelt_can_be_removed(home: Path, project: Path) -> None:
    folder = folder_hook(user_hooks(home), "guard", "exit 2")
    (folder / "HOOK.md").rename(folder / "hook.md")
    ended = tenterhook("remove", "guard", "--yes")
    assert ended.returncode == 0, ended.stderr
    assert not folder.exists()


def test_several_are_removed_at_once_and_none_if_a_name_is_unknown(guard: Path, home: Path) -> None:
    ended = tenterhook("remove", "guard", "nosuch", "--yes")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert entries(user_hooks(home)) == ["guard", "other"]
    status, seen = on_a_terminal(["remove", "guard", "other"], {b"Delete them permanently? [y/N]": b"y\n"})
    assert status == 0, seen
    assert entries(user_hooks(home)) == []


def test_several_as_data(guard: Path) -> None:
    found = json.loads(tenterhook("remove", "guard", "other", "guard", "--yes", "--json").stdout)
    assert [each["removed"]["name"] for each in found["results"]] == ["guard", "other"]
    assert (found["wired"], guard.exists()) == ([], False)
