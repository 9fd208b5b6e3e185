"""What hooks depend on is known as it was before they were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.changes import age
from support import array_hook, folder_hook, project_hooks, until, user_hooks, write_config
from tenterhook import Engine, Event
from tenterhook.catalog.snapshot import Snapshot
from tenterhook.errors import Problem

if TYPE_CHECKING:
    from pathlib import Path


def test_a_named_file_is_read_again_when_it_has_changed(home: Path, project: Path) -> None:
    named = write_config(home / "more.toml", array_hook("exit 0"))
    engine = Engine.load(configs=[named], journal=False)
    folder_hook(user_hooks(home), "guard", "true")
    assert [hook.format for hook in engine.hooks] == ["folder", "array"]
    named.write_text(array_hook("echo now >&2; exit 2"))
    assert engine.decide(Event("PreToolUse", tool_name="Bash", tool_input={})).reason == "now"


def observed(project: Path, *configs: Path) -> Snapshot:
    return Snapshot(str(project), [str(config) for config in configs], str(project / "no-managed"))


def test_a_file_that_has_just_changed_is_not_settled(project: Path) -> None:
    config = write_config(project / "hooks.toml", array_hook("true"))
    assert not observed(project, config).is_settled()
    until(lambda: age(config) > 0.1)
    seen = observed(project, config)
    assert seen.is_settled()
    seen.doubt()
    assert not seen.is_settled()


def test_an_entry_that_is_no_hook_may_change_unless_a_problem_was_reported_of_it(project: Path) -> None:
    stray = project_hooks(project) / "stray"
    stray.mkdir(parents=True)
    seen = observed(project)
    assert seen.look(str(stray)) is None
    assert str(stray) not in dict(seen.files())
    seen.report([Problem("wrong-case", f"{stray}/hook.md", None, None, "", "")])
    assert str(stray) in dict(seen.files())
