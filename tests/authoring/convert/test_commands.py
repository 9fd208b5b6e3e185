"""The scripts of folders that were made from commands do what the commands did."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from authoring.convert.ways import FILES, convert
from support import array_hook, decide, folder_hook, shell_call, table_hook, write_config
from tenterhook import Engine, Event

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "value", ["a.py", "with space.py", "$(touch ran).py", '";touch ran;".py', "'`touch ran`'.py", "-rf", "é\n"]
)
def test_a_placeholder_is_data_in_the_script_as_it_was_in_the_command(project: Path, value: str) -> None:
    values = """"<{{tool_input.file_path}}>" '{{tool_input.n}}' {{nothing}} {{tool_input}}"""
    command = f"printf '%s|' {values} >> said; cat > sent"
    source = write_config(project / FILES["table"], table_hook(command))
    there = convert(source, "folder", project / "there")
    event = Event("pre-tool-call", tool_name="Write", tool_input={"file_path": value, "n": [1, True]}, timestamp="now")
    event = event.replace(session_id="one")
    decide(source, event)
    before = (project / "said").read_text(), (project / "sent").read_bytes()
    (project / "said").unlink()
    Engine(there.hooks).decide(event)
    assert ((project / "said").read_text(), (project / "sent").read_bytes()) == before
    assert not (project / "ran").exists()


COMMANDS = [
    "echo no >&2; exit 2",
    "exit 1",
    "kill -9 $$",
    "python3 /nowhere/guard.py",
    "sh missing.sh -x",
    """echo '{"decision": "ask", "reason": "sure?"}'""",
]
BY_THEMSELVES = [  # not one that does not parse: behind the lines of a script, its exit status 2 is a block
    'cat > /dev/null\necho \'{"decision": "deny"}\'\n# the end',
    "cat <<'end'\n{}\nend",
]


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        *((command, reads) for command in COMMANDS for reads in ("", " # {{tool_name}}")),
        *((command, "") for command in BY_THEMSELVES),
    ],
)
def test_a_script_ends_as_the_command_did(project: Path, command: str, reads: str) -> None:
    form = "table" if "{{" in reads else "array"
    text = table_hook(command + reads) if form == "table" else array_hook(command + reads)
    source = write_config(project / FILES[form], text)
    before = decide(source)
    there = convert(source, "folder", project / "there")
    assert [loss.key for loss in there.losses] == []
    after = Engine(there.hooks).decide(shell_call())
    declared = before.runs[0].hook.declared
    assert (after.decision, after.runs[0].outcome) == (before.decision, before.runs[0].outcome)
    assert (after.reason or "").replace("pre-tool-call", declared) == (before.reason or "")


def test_a_folder_of_scripts_is_run_by_its_path_and_copied_back(tmp_path: Path, project: Path) -> None:
    hooks = tmp_path / "it's hooks"
    folder = folder_hook(hooks, "guard", ". ./lib; exit 2", description="d")
    (folder / "scripts" / "lib").write_text("x")
    (folder / "link").symlink_to("scripts/lib")
    there = convert(hooks, "table", tmp_path / "there")
    (hook,) = there.hooks
    assert hook.command == shlex.quote(f"{folder}/scripts/run.sh")
    assert Engine(there.hooks).decide(shell_call()).denied
    assert any("keep the folder" in note.text for note in there.notes)
    back = convert(there.path, "folder", tmp_path / "back")
    copy = back.path / "guard"
    assert (copy / "HOOK.md").read_bytes() == (folder / "HOOK.md").read_bytes()
    assert (copy / "scripts" / "lib").read_text() == "x"
    assert (copy / "link").is_symlink()
    assert (copy / "scripts" / "run.sh").stat().st_mode & 0o111


@pytest.mark.parametrize(
    ("name", "text", "mode"),
    [
        ("run.sh", "#!/bin/sh\nexit 2\n", 0o644),
        ("run.py", "import sys\nsys.exit('no' and 2)\n", 0o644),
        ("run", "#!/usr/bin/env python3\nimport sys\nsys.exit(2)\n", 0o755),
        ("run.sh", "exit 2\n", 0o755),
    ],
)
def test_a_script_is_started_as_its_folder_would(
    tmp_path: Path, project: Path, name: str, text: str, mode: int
) -> None:
    folder = folder_hook(tmp_path / "hooks", "guard", text if text.startswith("#!") else "x", file=name)
    entry = folder / "scripts" / name
    entry.write_text(text)
    entry.chmod(mode)
    for to in ("table", "array", "claude"):
        there = convert(tmp_path / "hooks", to, tmp_path / to)
        assert Engine(there.hooks).decide(shell_call()).denied


def test_a_script_that_was_edited_is_the_command_now(tmp_path: Path) -> None:
    there = convert(write_config(tmp_path / FILES["table"], table_hook("exit 2")), "folder", tmp_path / "there")
    script = there.path / "block-calls" / "scripts" / "run.sh"
    script.write_text(script.read_text().replace("exit 2", "exit 0\n# changed"))
    assert convert(there.path, "table", tmp_path / "back").hooks[0].command == "exit 0\n# changed"
    source = write_config(tmp_path / "b" / FILES["table"], table_hook("ls {{tool_name}}"))
    there = convert(source, "folder", tmp_path / "c")
    (script,) = there.path.glob("*/scripts/run.py")
    script.write_text(script.read_text() + "# changed\n")
    assert convert(there.path, "table", tmp_path / "d").hooks[0].command == str(script)
