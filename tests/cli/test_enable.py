"""`tenterhook enable`: what it removes, and what else keeps a hook from running."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support import folder_hook, project_hooks, user_hooks, write_config

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


def test_enabling_an_untrusted_hook_says_that_it_does_not_run_yet(home: Path, project: Path, run: Run) -> None:
    folder_hook(project_hooks(project), "theirs", "exit 2")
    assert run("disable", "theirs", "--yes").status == 0
    assert "theirs does not run yet" in run("enable", "theirs").out


def test_what_a_project_has_disabled_is_changed_there(home: Path, project: Path, run: Run) -> None:
    folder_hook(project_hooks(project), "theirs", "exit 2")
    (project_hooks(project) / "hooks.toml").write_text("[hooks]\n[[hooks.disable]]\nname = 'theirs'\n")
    assert run("trust", "--all", "--yes").status == 0
    status, _, said = run("enable", "theirs")
    assert status == 1
    assert said.startswith("tenterhook: 'theirs' is disabled by .agents/hooks/hooks.toml:3\n")
    assert "tenterhook trust hooks.toml" in said


def test_where_everything_is_switched_off_enable_says_what_to_do(home: Path, project: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    (user_hooks(home) / "hooks.toml").write_text("[hooks]\nenabled = false\n")
    status, _, said = run("enable", "guard")
    assert status == 1
    assert "~/.config/agents/hooks/hooks.toml:2 disables every hook that it applies to: enabled = false" in said
    assert "set it to true there" in said


def test_an_event_that_was_never_wired_is_when_its_hook_is_enabled(home: Path, project: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "finish", "exit 2", "Stop")
    for options, is_wired in (((), False), (("--for", "1h"), True)):
        assert run("disable", "finish", "--yes", *options).status == 0
        assert run("install", "claude-code").status == 0
        wired: dict[str, Any] = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
        assert ("Stop" in wired) == is_wired  # what comes back by itself must find its event wired
        assert ("wired in Claude Code: Stop" in run("enable", "finish").out) == (not is_wired)
        assert run("uninstall", "--yes").status == 0


def test_the_entry_of_a_hook_that_is_gone_can_be_removed(home: Path, project: Path, run: Run) -> None:
    settings = write_config(user_hooks(home) / "hooks.toml", "[[hooks.disable]]\nname = 'gone'\n")
    assert run("enable", "gone").status == 0
    assert not settings.exists()
    assert run("enable", "gone").status == 1


def test_json_says_what_was_changed_and_which_hooks_run_again(home: Path, project: Path, run: Run) -> None:
    folder = folder_hook(user_hooks(home), "guard", "exit 2")
    assert run("disable", "guard", "--yes").status == 0
    said = json.loads(run("enable", "guard", "--json").out)
    assert said["changed"] == [str(user_hooks(home) / "hooks.toml")]
    assert said["hooks"] == [{"name": "guard", "layer": "user", "source": str(folder / "HOOK.md")}]
