"""The names and descriptions of hooks that had none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from authoring.convert.ways import FILES, convert, read
from support import array_hook, write_config
from tenterhook.authoring.convert import carrying
from tenterhook.authoring.convert.naming import naming

if TYPE_CHECKING:
    from pathlib import Path

LOOKS = "jq -r .tool_input.command | grep -qE 'rm\\s+-rf' && { echo no >&2; exit 2; }"


@pytest.mark.parametrize(
    ("event", "tool", "pattern", "command", "name", "description"),
    [
        ("pre-tool-call", "Bash", None, LOOKS, "block-rm-rf", "May refuse a shell command, by looking for rm\\s+-rf"),
        (
            *("pre-tool-call", "Shell", "git push.*--force", "echo no >&2; exit 2", "block-git-push-force"),
            "May refuse a shell command that matches git push.*--force",
        ),
        ("pre-tool-call", "^(Read)$", None, "exit 2", "block-read", "May refuse the reading of a file"),
        ("pre-tool-call", None, None, "exit 2", "block-calls", "May refuse a tool call"),
        (
            *("pre-agent-turn-stop", None, None, "test -e ok || exit 2", "block-before-stop"),
            "May refuse something before the agent stops",
        ),
        (
            *("post-tool-call", "Write|Edit", None, "jq -r .tool_input.file_path | xargs black -q"),
            *("format-python-after-edit", "Formats Python files after an edit"),
        ),
        ("pre-agent-turn-stop", None, None, "npm test", "run-tests-before-stop", "Runs tests before the agent stops"),
        (
            *("pre-tool-call", "Bash", None, "python3 $CLAUDE_PROJECT_DIR/.claude/hooks/check_style.py --all"),
            *("check-style", "Runs check_style.py before a shell command"),
        ),
        ("pre-tool-call", "Bash", None, "bash hooks/secrets/run.sh", "secrets", "Runs run.sh before a shell command"),
        ("post-session", None, None, "cat >> ~/log", "log-at-end", "Writes to a file when a session ends"),
        ("pre-session", None, None, "date", "date-at-start", "Runs date when a session starts"),
        ("session-heartbeat", None, None, "é", "hook-on-session-heartbeat", "Runs é at session-heartbeat"),
    ],
)
def test_a_name_says_what_a_hook_does(
    event: str, tool: str | None, pattern: str | None, command: str, name: str, description: str
) -> None:
    assert naming(event, tool, pattern, command) == (name, description)


def test_a_name_is_short_and_one_of_a_folder() -> None:
    name, description = naming("pre-tool-call", "Bash", "very long words " * 30, "echo '../\n'; exit 2")
    assert name == "block-very-long-words-very-long-words-very-long"
    assert len(description) <= 160
    assert "\n" not in naming("pre-tool-call", None, None, "a\nb\x1b[31m").description


def test_names_are_unique_and_forgotten_where_there_are_none(tmp_path: Path) -> None:
    text = array_hook("exit 2", matcher="Bash") + array_hook("exit 2 ", matcher="Bash")
    there = convert(write_config(tmp_path / FILES["array"], text), "folder", tmp_path / "there")
    assert [hook.name for hook in there.hooks] == ["block-shell", "block-shell-2"]
    assert all(map(carrying.is_automatic, there.hooks))
    back = convert(there.path, "table", tmp_path / "back")
    assert [(hook.name, hook.description) for hook in back.hooks] == [
        ("pre-tool-call[0]", ""),
        ("pre-tool-call[1]", ""),
    ]
    definition = there.path / "block-shell" / "HOOK.md"
    definition.write_text(definition.read_text().replace("name: block-shell", "name: mine"))
    assert [hook.name for hook in read(there.path) if not carrying.is_automatic(hook)] == ["mine"]
