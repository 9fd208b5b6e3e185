"""Which hooks `remove`, `disable` and `enable` mean by a name, and where they are changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import folder_hook, table_hook, user_hooks, write_config
from tenterhook import Hook
from tenterhook.catalog import loading
from tenterhook.catalog.catalog import Catalog
from tenterhook.catalog.trust import Trust
from tenterhook.cli import own_hooks
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


def test_a_name_that_no_hook_has_is_suggested(home: Path, project: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    for command in ("disable", "enable", "remove"):
        ended = run(command, "guarb")
        assert (ended.status, ended.out) == (1, "")
        assert ended.err == "tenterhook: no hook is called 'guarb'\n  did you mean 'guard'?\n"


@pytest.mark.parametrize("command", ["disable", "enable", "remove"])
def test_a_hook_of_a_file_is_changed_there(home: Path, project: Path, command: str, run: Run) -> None:
    config = write_config(home / "more.toml", table_hook("exit 2", name="of-a-file"))
    assert run("install", "claude-code", "--config", config).status == 0
    status, _, said = run(command, "of-a-file")
    assert status == 1
    assert said.startswith("tenterhook: 'of-a-file' is defined in ~/more.toml:1, a file of hooks")
    assert "change or remove it there" in said


def test_a_managed_hook_cannot_be_disabled(project: Path) -> None:
    hook = Hook("rule", "pre-tool-call", "pre-tool-call", "folder", layer="managed", folder="/etc/agents/hooks/rule")
    catalog = Catalog(str(project), (), (hook,), (), (), Trust(str(project)))
    with pytest.raises(HookError, match="'rule' is managed: /etc/agents/hooks/rule; it cannot be disabled"):
        own_hooks.governed("rule", catalog)


def test_a_hook_that_cannot_be_loaded_is_no_unknown_name(home: Path, project: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", trigger="no-such-event")
    ended = run("disable", "guard", "--yes")
    assert ended.status == 1
    assert "'guard' cannot be loaded: " in ended.err
    assert "tenterhook check" in ended.err


def test_a_hook_is_also_meant_by_the_name_of_its_folder(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "renamed", "exit 2").rename(user_hooks(home) / "folder")
    catalog = loading.load(str(project), trust=Trust(str(project)))
    assert [own_hooks.governed(name, catalog)[0].name for name in ("folder", "renamed")] == ["renamed", "renamed"]
