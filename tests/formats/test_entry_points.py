"""The files of a hook's folder: which script it runs, what runs that script, and what is odd about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import folder_hook
from tenterhook.formats import entry_points

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (["run", "run.sh", "run.py"], "run"),
        (["run.sh", "run.py"], "run.sh"),
        (["run.py"], "run.py"),
        (["other.sh"], None),
    ],
)
def test_the_entry_point_is_the_first_found(tmp_path: Path, files: list[str], chosen: str | None) -> None:
    scripts = tmp_path / "guard" / "scripts"
    scripts.mkdir(parents=True)
    (tmp_path / "guard" / "HOOK.md").touch()
    for name in files:
        (scripts / name).write_text("")
        (scripts / name).chmod(0o755)
    script, problem = entry_points.entry_point(str(tmp_path / "guard"))
    assert script == (str(scripts / chosen) if chosen else None)
    assert (problem is None) == bool(chosen)


def test_a_script_without_an_exec_bit_is_found_and_reported(tmp_path: Path) -> None:
    made = folder_hook(tmp_path, "guard")
    (made / "scripts" / "run.sh").chmod(0o644)
    script, problem = entry_points.entry_point(str(made))
    assert script == str(made / "scripts" / "run.sh")
    assert problem is not None and (problem.code, problem.remedy) == ("not-executable", f"chmod +x {script}")


def test_a_folder_is_a_hook_if_its_hook_md_is_there_even_as_a_link_to_nowhere(tmp_path: Path) -> None:
    (tmp_path / "guard").mkdir()
    assert entry_points.read_state(str(tmp_path / "guard")) is None
    (tmp_path / "guard" / "HOOK.md").symlink_to("gone")
    seen = entry_points.read_state(str(tmp_path / "guard"))
    assert seen is not None
    assert seen.links == (str(tmp_path / "guard" / "HOOK.md"),)


@pytest.mark.parametrize(
    ("first", "program", "named"),
    [
        (b"#!/bin/sh\n", "/bin/sh", []),
        (b"#! /usr/bin/env\tpython3\n", "/usr/bin/env", ["python3"]),
        (b"#!/usr/bin/env -S python3 -u -I\n", "/usr/bin/env", ["python3", "-u", "-I"]),
        (b"#!/usr/bin/env -Spython3\n", "/usr/bin/env", ["python3"]),
        (b"#!/usr/bin/env python3 -u\n", "/usr/bin/env", []),  # one word to Linux, and no program's name
        (b"#!/usr/bin/env -S A=1 python3\n", "/usr/bin/env", []),
        (b"#!/usr/bin/env -S 'python3'\n", "/usr/bin/env", []),
        (b"#!python3 -u -I\n", "python3", ["python3", "-u -I"]),
        (b"echo hi\n", None, []),
    ],
)
def test_a_first_line_names_a_program_or_an_interpreter_to_look_for(
    first: bytes, program: str | None, named: list[str]
) -> None:
    assert entry_points.interpreter(first) == program
    assert entry_points.named_interpreter(first) == named


def test_a_program_is_looked_for_no_further_than_a_relative_entry_of_the_path(tmp_path: Path) -> None:
    program = tmp_path / "there" / "tool"
    program.parent.mkdir()
    program.touch(0o755)
    (tmp_path / "tool").touch(0o644)
    assert entry_points.on_path("tool", f"{tmp_path}:{program.parent}") == str(program)  # the first cannot be run
    assert entry_points.on_path("tool", f"bin:{program.parent}") is None
    assert entry_points.on_path("tool", f":{program.parent}") is None


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (b"#!/bin/sh\n", ["/bin/sh"]),
        (b"#! /bin/bash -eu\n", ["/bin/bash", "-eu"]),
        (b"#!/usr/bin/env python3\n", ["python3"]),
        (b"#!/usr/bin/env -S python3 -u -I\n", ["python3", "-u", "-I"]),
        (b"#!/usr/bin/env -S -i -u B A=1 python3\n", ["python3"]),
        (b"#!/usr/bin/env --split-string=node --test\n", ["node", "--test"]),
        (b"#!/usr/bin/env -i sh\n", []),
        (b'#!/usr/bin/env -S "unclosed\n', []),
        (b"echo hi\n", []),
    ],
)
def test_a_first_line_comes_to_a_program_behind_env_too(first: bytes, words: list[str]) -> None:
    assert entry_points.named_program(first) == words
