"""`tenterhook list`: hooks by layer, with their state and the problems below."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support import (
    folder_hook,
    project_hooks,
    user_hooks,
)

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


def test_list_shows_hooks_by_layer_and_problems_below(blocker: Path, home: Path, project: Path, run: Run) -> None:
    later: dict[str, Any] = {"async": True}
    folder_hook(project_hooks(project), "theirs", **later)
    (user_hooks(home) / "broken").mkdir()
    (user_hooks(home) / "broken" / "HOOK.md").write_text("x")
    text = run("list").out
    assert text.index("user") < text.index("blocker") < text.index("project") < text.index("theirs")
    assert text.index("theirs") < text.index("[no-front-matter]")
    listed = json.loads(run("list", "--json").out)
    hooks = {hook["name"]: hook for hook in listed["hooks"]}
    assert (hooks["theirs"]["trust"], hooks["theirs"]["in_force"], hooks["theirs"]["mode"]) == (
        "untrusted",
        False,
        "async",
    )
    assert hooks["blocker"]["matcher"]["pattern"] == "rm -rf /"
    assert [problem["code"] for problem in listed["problems"]] == ["no-front-matter"]


def test_list_by_event_takes_any_name(blocker: Path, project: Path, run: Run) -> None:
    assert "blocker" in run("list", "--event", "PreToolUse").out
    assert "blocker" not in run("list", "--event", "Stop").out


def test_an_empty_list_says_where_hooks_go(project: Path, run: Run) -> None:
    assert "~/.config/agents/hooks" in run("list").out
