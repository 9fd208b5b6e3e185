"""The start of the bridge: its modules come from `__pycache__`, and it answers without one, too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import folder_hook, user_hooks
from tenterhook import bridge

PACKAGE = Path(bridge.__file__).parent


class Copy:
    """A copy of the package that is installed in an agent, and one guard."""

    def __init__(self, directory: Path) -> None:
        self.package = directory / "tenterhook"
        shutil.copytree(PACKAGE, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        self.directory = directory
        folder_hook(
            user_hooks(Path(os.environ["HOME"])),
            "guard",
            script='if grep -q forbidden; then echo "not this" >&2; exit 2; fi',
        )
        environment = {**os.environ, "PYTHONPATH": str(directory)}
        install = [sys.executable, "-m", "tenterhook", "install", "claude-code"]
        subprocess.run(install, env=environment, check=True, capture_output=True)

    def refuses(self) -> bool:
        """Whether the bridge refuses a forbidden call, and lets another pass."""
        return "not this" in self.said("forbidden") and not self.said("ls")

    def said(self, command: str, *flags: str) -> str:
        """All that the bridge prints about a call."""
        said = {"session_id": "s-1", "cwd": str(self.directory), "tool_name": "Bash"}
        record = f"{os.environ['HOME']}/.local/state/tenterhook/installed/claude-code.json"
        options = ["--host", "claude-code", "--event", "PreToolUse", "--record", record]
        run = [sys.executable, "-I", "-S", *flags, str(self.package / "bridge.py"), *options]
        payload = json.dumps({**said, "tool_input": {"command": command}})
        done = subprocess.run(run, input=payload, capture_output=True, text=True, timeout=30)
        return done.stdout + done.stderr

    def compiled(self) -> set[str]:
        """The modules of ours whose `.pyc` file is there."""
        return {file.name.split(".")[0] for file in self.package.rglob("__pycache__/*.pyc")}


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "lib")


def test_every_module_of_an_answer_is_compiled_once(copy: Copy) -> None:
    assert copy.refuses()
    assert {"start", "dispatch", "answer_event", "engine", "records", "writer"} <= copy.compiled()
    said = copy.said("ls", "-v")
    assert f"code object from {copy.package}" not in said  # with quotes it is a compiled file
    assert "engine" in said


@pytest.mark.parametrize("name", ["dispatch/answer_event.py", "engine/engine.py", "basics/places.py"])
def test_an_edited_module_is_the_one_that_runs(copy: Copy, name: str) -> None:
    assert copy.refuses()
    edited = copy.package / name
    edited.write_text(edited.read_text() + "\nraise SystemError\n")
    assert not copy.refuses()
    edited.write_text(edited.read_text().replace("\nraise SystemError\n", "\n# fixed\n"))
    assert copy.refuses()


def test_events_are_answered_where_no_compiled_file_can_be_written(copy: Copy) -> None:
    for directory in [copy.package, *(each for each in copy.package.rglob("*/") if each.is_dir())]:
        if directory.name != "__pycache__":
            shutil.rmtree(directory / "__pycache__", ignore_errors=True)
            (directory / "__pycache__").write_text("no directory")
    assert copy.refuses()
    assert not copy.compiled()


@pytest.mark.parametrize("name", ["dispatch/answer_event.py", "journal/records.py"])
def test_a_check_loads_what_an_answer_could_need(copy: Copy, name: str) -> None:
    record = f"{os.environ['HOME']}/.local/state/tenterhook/installed/claude-code.json"
    check = [sys.executable, "-I", "-S", str(copy.package / "bridge.py"), "--host", "claude-code", "--record", record]
    assert subprocess.run([*check, "--check", "1"], capture_output=True, timeout=30).returncode == 0
    broken = copy.package / name
    broken.write_text(broken.read_text() + "\nraise SystemError\n")
    assert subprocess.run([*check, "--check", "1"], capture_output=True, timeout=30).returncode == 70
