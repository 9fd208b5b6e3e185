"""Why each hook would run for an event, or would not, without running one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support import folder_hook, project_hooks, shell_call, user_hooks
from tenterhook import Event
from tenterhook.authoring import explain
from tenterhook.catalog import loading
from tenterhook.catalog.trust import Trust

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook.authoring.explain import Explanation


def explained(project: Path, event: Event) -> dict[str, Explanation]:
    catalog = loading.load(str(project), trust=Trust(str(project)))
    return {each.hook.name: each for each in explain.explain(catalog.hooks, event, catalog)}


@pytest.mark.parametrize(
    ("front", "event", "why"),
    [
        ({"trigger": "Stop"}, shell_call(), "event: the hook is for Stop"),
        ({"matcher": {"tool": "Write"}}, shell_call(), "tool: 'Write' is not found in 'Shell', 'Bash'"),
        ({"matcher": {"tool": "Write"}}, Event("pre-tool-call"), "tool: 'Write' is set, but the event has no tool"),
        ({"matcher": {"pattern": "mkfs"}}, shell_call("ls"), "pattern: 'mkfs' is not found in 'ls'"),
        (
            {"matcher": {"pattern": "mkfs"}},
            Event("pre-tool-call", tool_name="Shell"),
            "pattern: 'mkfs' is set, but the event has no input",
        ),
    ],
)
def test_the_first_thing_that_keeps_a_hook_from_running_is_named(
    home: Path, project: Path, front: dict[str, Any], event: Event, why: str
) -> None:
    folder_hook(user_hooks(home), "guard", **front)
    assert str(explained(project, event)["guard"].why_not).startswith(why)


def test_a_long_text_is_shortened(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", matcher={"pattern": "mkfs"})
    why = explained(project, shell_call("x" * 500))["guard"].why_not
    assert why == f"pattern: 'mkfs' is not found in '{'x' * 59}…'"


def test_stages_are_counted_without_hooks_that_may_not_run(home: Path, project: Path) -> None:
    folder_hook(project_hooks(project), "theirs", priority=900)
    folder_hook(user_hooks(home), "first", priority=500)
    folder_hook(user_hooks(home), "second")
    (folder_hook(user_hooks(home), "empty", priority=1) / "scripts/run.sh").unlink()
    found = explained(project, shell_call())
    assert [(name, found[name].stage) for name in ("first", "second")] == [("first", 1), ("second", 2)]
    assert str(found["theirs"].why_not).startswith("untrusted: ")
    assert (found["empty"].why_not, found["empty"].note) == (None, "it will fail: no script")
