"""Our modules in one file: quicker where it is true, and never in the way where it is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, user_hooks
from tenterhook import bridge

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = Path(bridge.__file__).parent


class Copy:
    """A copy of the package that is installed in an agent, and one guard."""

    def __init__(self, directory: Path) -> None:
        self.package = directory / "tenterhook"
        shutil.copytree(PACKAGE, self.package, ignore=shutil.ignore_patterns("*.bundle"))
        self.bundle = self.package / "__pycache__" / f"{sys.implementation.cache_tag}.bundle"
        self.directory = directory
        folder_hook(
            user_hooks(Path(os.environ["HOME"])),
            "guard",
            script='if grep -q forbidden; then echo "not this" >&2; exit 2; fi',
        )
        environment = {**os.environ, "PYTHONPATH": str(directory)}
        install = [sys.executable, "-m", "tenterhook", "install", "claude-code"]
        subprocess.run(install, env=environment, check=True, capture_output=True)

    def refuses(self, session: str = "s-1") -> bool:
        """Whether the bridge refuses a forbidden call, and lets another pass."""
        return "not this" in self.said("forbidden", session) and not self.said("ls", session)

    def said(self, command: str, session: str, *flags: str) -> str:
        """All that the bridge prints about a call."""
        said = {"session_id": session, "cwd": str(self.directory), "tool_name": "Bash"}
        record = f"{os.environ['HOME']}/.local/state/tenterhook/installed/claude-code.json"
        options = ["--host", "claude-code", "--event", "PreToolUse", "--record", record]
        run = [sys.executable, "-I", "-S", *flags, str(self.package / "bridge.py"), *options]
        payload = json.dumps({**said, "tool_input": {"command": command}})
        done = subprocess.run(run, input=payload, capture_output=True, text=True, timeout=30)
        return done.stdout + done.stderr

    def found_elsewhere(self) -> set[str]:
        """Our modules that a call did not take out of the file."""
        run = [sys.executable, "-I", "-S", "-v", str(self.package / "bridge.py")]
        said = subprocess.run(run, capture_output=True, text=True, timeout=30).stderr
        return {line for line in said.splitlines() if "code object from" in line and "tenterhook" in line}


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "lib")


def test_it_is_written_at_a_sessions_first_event_and_used_from_then_on(copy: Copy) -> None:
    assert copy.found_elsewhere()
    assert copy.refuses()
    assert copy.bundle.stat().st_size > 100_000
    assert not copy.found_elsewhere()
    assert copy.refuses()


def test_what_answering_imports_is_loaded_in_one_go(copy: Copy) -> None:
    assert copy.refuses()
    said = copy.said("ls", "s-1", "-X", "importtime")
    assert "tenterhook.dispatching.answering" in said
    one_by_one = {line.rpartition("|")[2].strip() for line in said.splitlines() if "| " in line}
    assert not one_by_one & {f"tenterhook.{name}" for name in ("engine", "model", "firing.turns", "basics.places")}


def test_modules_are_as_an_import_would_have_them(copy: Copy) -> None:
    assert copy.refuses()
    engine = copy.package / "engine.py"
    told = "(__name__, __file__, __package__, __spec__.name, __spec__.origin, __loader__ is __spec__.loader, deciding)"
    engine.write_text(f"{engine.read_text()}\nfrom . import deciding\nraise SystemError{told}\n")
    module = f"('tenterhook.engine', '{engine}', 'tenterhook', 'tenterhook.engine', '{engine}', True, "
    for session in ("s-2", "s-3"):  # found elsewhere, then in the file that was written anew
        said = copy.said("ls", session)
        assert module in said, said
        assert f"<module 'tenterhook.deciding' from '{copy.package}/deciding/__init__.py'>" in said
        rewrite = [sys.executable, "-c", "from tenterhook.dispatching import bundle; bundle.write()"]
        subprocess.run(rewrite, env={**os.environ, "PYTHONPATH": str(copy.directory)}, check=True)


def test_a_module_that_is_imported_while_hooks_run_is_looked_at_too(copy: Copy) -> None:
    assert copy.refuses()
    writing = copy.package / "journal" / "writing.py"
    writing.write_text(f"{writing.read_text()}\n# edited\n")
    written = copy.bundle.stat().st_mtime_ns
    assert copy.refuses("s-2")
    assert copy.bundle.stat().st_mtime_ns > written


def test_modules_that_import_each_other_are_no_trouble(copy: Copy) -> None:
    whole = copy.package / "__init__.py"
    whole.write_text(f"{whole.read_text()}\nfrom . import errors\n")
    assert copy.refuses()
    assert copy.bundle.exists()
    assert copy.refuses()


@pytest.mark.parametrize("name", ["dispatching/answering.py", "engine.py", "basics/places.py"])
def test_an_edited_module_is_the_one_that_runs(copy: Copy, name: str) -> None:
    assert copy.refuses()
    edited = copy.package / name
    edited.write_text(edited.read_text() + "\nraise SystemError\n")
    assert not copy.refuses()
    edited.write_text(edited.read_text().replace("\nraise SystemError\n", "\n# mended\n"))
    written = copy.bundle.stat().st_mtime_ns
    assert copy.refuses("s-2")
    assert copy.bundle.stat().st_mtime_ns > written


@pytest.mark.parametrize(
    "broken",
    [lambda data: b"", lambda data: data[:2000], lambda data: b"0000" + data[4:], lambda data: data[:100_000]],
    ids=["empty", "head cut", "another interpreter's", "codes cut"],
)
def test_a_broken_file_is_not_used_and_written_anew(copy: Copy, broken: Callable[[bytes], bytes]) -> None:
    assert copy.refuses()
    whole = copy.bundle.read_bytes()
    copy.bundle.write_bytes(broken(whole))
    assert copy.refuses()
    assert copy.refuses("s-2")
    assert not copy.found_elsewhere()


def test_without_a_place_for_it_nothing_changes(copy: Copy) -> None:
    copy.bundle.mkdir(parents=True)
    assert copy.refuses()
    assert copy.refuses()


@pytest.mark.parametrize("name", ["dispatching/answering.py", "journal/records.py"])
def test_a_check_loads_what_an_answer_could_need(copy: Copy, name: str) -> None:
    record = f"{os.environ['HOME']}/.local/state/tenterhook/installed/claude-code.json"
    check = [sys.executable, "-I", "-S", str(copy.package / "bridge.py"), "--host", "claude-code", "--record", record]
    assert subprocess.run([*check, "--check", "1"], capture_output=True, timeout=30).returncode == 0
    broken = copy.package / name
    broken.write_text(broken.read_text() + "\nraise SystemError\n")
    assert subprocess.run([*check, "--check", "1"], capture_output=True, timeout=30).returncode == 70


def test_in_the_middle_of_an_upgrade_events_are_answered(copy: Copy) -> None:
    (copy.package / "half_written.py").write_text("def half(")
    assert copy.refuses()
    assert not copy.bundle.exists()
