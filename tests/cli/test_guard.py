"""`tenterhook guard`: the same verdicts as in process, for other programs that run hooks."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from hooks.guards import BEFORE_CALLS, HOOKS, LINES, by_program, copied, in_process, path_with_tenterhook
from hooks.lines import added, override
from support import folder_hook, tenterhook, user_hooks

if TYPE_CHECKING:
    from pathlib import Path

GUARD = "block-dangerous-commands"
PROGRAM = [sys.executable, "-m", "tenterhook", "guard"]
SYSTEM = "/usr/bin:/bin"


def said_by_all(home: Path, project: Path, lines: list[str], copies: Path) -> None:
    """Compare the ways to run each guard, line by line."""
    folders = {name: added(home, name) for name in BEFORE_CALLS}
    sources = {name: copied(hook, copies) for name, hook in BEFORE_CALLS.items()}
    for line in lines:
        expected = in_process(project, line)
        assert expected.keys() == BEFORE_CALLS.keys()
        for name, folder in folders.items():
            assert by_program([*PROGRAM, str(folder)], line, project) == expected[name], (name, line)
            script = [str(folder / "scripts/run.sh")]
            assert by_program(script, line, project, PATH=path_with_tenterhook()) == expected[name], (name, line)
            copy = [sys.executable, "-I", str(sources[name] / "scripts/run.py")]
            assert by_program(copy, line, project, PATH=SYSTEM) == expected[name], (name, line)


@pytest.mark.slow
def test_a_script_the_command_and_a_copy_say_what_is_said_in_process(home: Path, project: Path, tmp_path: Path) -> None:
    said_by_all(home, project, ["rm -rf /", "git reset --hard", "ls"], tmp_path / "copies")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.thorough)], ids=["some", "all"])
def test_every_guard_says_the_same_in_every_form_for_every_line(
    home: Path, project: Path, tmp_path: Path, step: int
) -> None:
    assert len(LINES) >= 30
    said_by_all(home, project, LINES[::step], tmp_path / "copies")


def test_a_copy_runs_without_tenterhook_and_with_a_python_that_does_not_have_it(project: Path, tmp_path: Path) -> None:
    folder = copied(HOOKS[GUARD], tmp_path)
    code = f"import runpy, sys; sys.modules['tenterhook'] = None; runpy.run_path({str(folder / 'scripts/run.py')!r})"
    ended = by_program([sys.executable, "-I", "-c", code], "rm -rf /", project, PATH=SYSTEM)
    assert (ended.status, "[delete-system]" in ended.stderr) == (2, True)
    assert "tenterhook" not in (folder / "scripts/run.py").read_text()


def test_a_copy_says_which_python_it_needs_and_refuses_with_an_older_one(project: Path, tmp_path: Path) -> None:
    python = next((found for minor in (10, 9, 8) if (found := _python(f"3.{minor}"))), None)
    if python is None:
        pytest.skip("there is no older Python here")
    ended = by_program([python, "-I", str(copied(HOOKS[GUARD], tmp_path) / "scripts/run.py")], "ls", project)
    assert ended.status == 2
    assert "needs Python 3.11" in ended.stderr


def _python(version: str) -> str | None:
    found = shutil.which(f"python{version}")
    return found if found and by_program([found, "-c", ""], "", _here()).status == 0 else None


def _here() -> Path:
    from pathlib import Path

    return Path.cwd()


@pytest.mark.parametrize(("on_failure", "status"), [("block", 2), ("open", 1)])
def test_without_tenterhook_on_the_path_the_script_says_so_and_blocks_if_it_must(
    home: Path, project: Path, on_failure: str, status: int
) -> None:
    folder = added(home, GUARD)
    definition = folder / "HOOK.md"
    definition.write_text(definition.read_text().replace("on_failure: block", f"on_failure: {on_failure}"))
    ended = by_program([str(folder / "scripts/run.sh")], "ls", project, PATH=SYSTEM)
    assert ended.status == status
    assert "Install Tenterhook on the PATH" in ended.stderr


class TestCommand:
    """`tenterhook guard FOLDER`."""

    def test_settings_beside_the_folder_count(self, home: Path, project: Path) -> None:
        folder = added(home, GUARD)
        asked = by_program([*PROGRAM, str(folder)], "git reset --hard", project)
        assert '"ask"' in asked.stdout
        override(home, GUARD, metadata={"allow": ["discard-work"]})
        assert by_program([*PROGRAM, str(folder)], "git reset --hard", project) == (0, "", "")

    @pytest.mark.parametrize(("on_failure", "status"), [("block", 2), ("open", 1)])
    def test_an_unknown_guard_and_a_payload_that_is_no_json_are_failures(
        self, home: Path, project: Path, on_failure: str, status: int
    ) -> None:
        metadata = {"guard": "no-such-guard", "on_failure": on_failure}
        folder = folder_hook(user_hooks(home), "mine", "exit 0", metadata=metadata)
        ended = by_program([*PROGRAM, str(folder)], "ls", project)
        assert (ended.status, "there is no guard 'no-such-guard'" in ended.stderr) == (status, True)
        broken = tenterhook("guard", str(folder), input="{")
        assert (broken.returncode, "the guard failed: " in broken.stderr) == (status, True)

    def test_a_folder_without_a_guard_is_refused_with_the_remedy(self, home: Path, project: Path) -> None:
        ended = tenterhook("guard", str(folder_hook(user_hooks(home), "mine", "exit 0")), input="{}")
        assert ended.returncode == 1
        assert "names no guard" in ended.stderr
        assert "tenterhook add" in ended.stderr

    def test_an_agent_may_run_it(self, home: Path, project: Path) -> None:
        from tenterhook.basics.protected_places import command_in

        assert command_in(["guard", os.fspath(added(home, GUARD))]) == ("guard", False)
