"""Lines NAME=value that pre-session hooks write: which of them count, and which come from the repository."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from engine.session_hooks import ENV_FILE, SHOW, all_notes, call, engine_of, setup_hook, start
from support import write_config
from tenterhook import Engine
from tenterhook.basics import env_files

if TYPE_CHECKING:
    from pathlib import Path


def test_lines_a_session_hook_adds_to_kimi_env_are_taken_over(project: Path) -> None:
    engine = engine_of(project, setup_hook("mkdir -p .kimi && echo A=1 >> .kimi/env"), SHOW)
    start(engine)
    assert call(engine).reason == "A=1 B="


def test_lines_that_were_in_kimi_env_before_are_not(project: Path) -> None:
    (project / ".kimi").mkdir()
    (project / ".kimi" / "env").write_text("A=planted\n")
    engine = engine_of(project, setup_hook("echo B=added >> .kimi/env"), SHOW)
    start(engine)
    assert call(engine).reason == "A= B=added"


def test_only_added_lines_count_when_kimi_env_is_written_anew(project: Path) -> None:
    (project / ".kimi").mkdir()
    (project / ".kimi" / "env").write_text("A=planted\n")
    engine = engine_of(project, setup_hook("printf 'B=added\\nA=planted\\n' > .kimi/env"), SHOW)
    start(engine)
    assert call(engine).reason == "A= B=added"


WAYS = {
    "append": "mkdir -p .kimi; echo A=1 >> .kimi/env",
    "replace": "mkdir -p .kimi; echo A=1 > .kimi/env",
    "replace without a line end": "mkdir -p .kimi; printf A=1 > .kimi/env",
    "append if it is missing": "mkdir -p .kimi; grep -qs '^A=1$' .kimi/env || echo A=1 >> .kimi/env",
    "write if it is missing": "mkdir -p .kimi; [ -e .kimi/env ] || echo A=1 > .kimi/env",
    "move a new file there": "mkdir -p .kimi; echo A=1 > .kimi/new; mv .kimi/new .kimi/env",
    "touch, then append": "mkdir -p .kimi; touch .kimi/env; grep -q A .kimi/env || echo A=1 >> .kimi/env",
}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_hook_writes_to_kimi_env_counts_in_every_session(project: Path, way: str) -> None:
    for session in ("one", "two", "three"):
        engine = engine_of(project, setup_hook(WAYS[way]), SHOW)
        assert all_notes(start(engine, session)) == ""
        assert call(engine, session).reason == "A=1 B="


@pytest.mark.parametrize("way", WAYS)
def test_lines_that_a_repository_brings_count_in_no_session(project: Path, way: str) -> None:
    (project / ".kimi").mkdir()
    (project / ".kimi" / "env").write_text("B=planted\n")
    for session in ("one", "two", "three"):
        engine = engine_of(project, setup_hook(WAYS[way]), SHOW)
        start(engine, session)
        assert (call(engine, session).reason or "").endswith("B=")


def test_a_line_that_a_repository_adds_later_does_not_count(project: Path) -> None:
    engine = engine_of(project, setup_hook(WAYS["append if it is missing"]), SHOW)
    start(engine, "one")
    with (project / ".kimi" / "env").open("a") as file:
        file.write("B=planted\n")
    assert "ignored in .kimi/env: B: it may come from the repository" in all_notes(start(engine, "two"))
    assert call(engine, "two").reason == "A=1 B="


def test_an_unfinished_line_of_a_repository_does_not_take_a_hooks_line_for_its_value(project: Path) -> None:
    (project / ".kimi").mkdir()
    (project / ".kimi" / "env").write_text("B=planted ")
    engine = engine_of(project, setup_hook("echo A=1 >> .kimi/env"), SHOW)
    start(engine)
    assert call(engine).reason == "A=1 B="


def test_what_one_project_has_counts_in_no_other(project: Path, tmp_path: Path) -> None:
    engine = engine_of(project, setup_hook(WAYS["append if it is missing"]), SHOW)
    start(engine, "one")
    other = tmp_path / "other"
    (other / ".kimi").mkdir(parents=True)
    (other / ".kimi" / "env").write_text("A=1\n")
    notes = all_notes(start(engine, "two", work_dir=str(other)))
    assert "ignored in .kimi/env" in notes
    assert engine.session_variables("two") == {}


def test_a_line_counts_while_a_hook_of_the_file_that_wrote_it_runs(project: Path) -> None:
    start(engine_of(project, setup_hook(WAYS["append"])), "one")
    config = write_config(project / "other.toml", setup_hook("true") + SHOW)
    engine = Engine.load(configs=[config])
    assert "A" in all_notes(start(engine, "two"))
    assert call(engine, "two").reason == "A= B="


def test_a_line_that_was_taken_out_is_forgotten(project: Path) -> None:
    engine = engine_of(project, setup_hook("[ -e quiet ] || { mkdir -p .kimi; echo A=1 >> .kimi/env; }"), SHOW)
    start(engine, "one")
    (project / "quiet").touch()
    (project / ".kimi" / "env").write_text("# nothing\n")
    start(engine, "two")
    (project / ".kimi" / "env").write_text("A=1\n")  # now by another program
    start(engine, "three")
    assert call(engine, "three").reason == "A= B="


def test_what_is_remembered_of_kimi_env_is_private_and_holds_no_values(home: Path, project: Path) -> None:
    start(engine_of(project, setup_hook("mkdir -p .kimi; echo A=secret-value > .kimi/env")))
    kept = list((home / ".local/state/tenterhook/env-lines").iterdir())
    assert [stat.S_IMODE(file.stat().st_mode) for file in kept] == [0o600]
    assert "secret-value" not in kept[0].read_text()


def test_what_is_remembered_of_a_project_is_forgotten_after_a_year_without_a_session(home: Path, project: Path) -> None:
    engine = engine_of(project, setup_hook(WAYS["append if it is missing"]), SHOW)
    start(engine, "one")
    state = home / ".local/state/tenterhook"
    (ours,) = (state / "env-lines").iterdir()
    others = [state / "env-lines" / name for name in ("gone", "gone.lock", "recent")]
    for file, days in zip((ours, *others), (400, 400, 400, 300), strict=True):
        file.touch()
        os.utime(file, (time.time() - days * 86400,) * 2)
    (state / "env-lines.looked").unlink(missing_ok=True)  # as if a day had passed
    start(engine, "two")
    assert set((state / "env-lines").iterdir()) == {ours, others[-1]}
    assert call(engine, "two").reason == "A=1 B="


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"written": 1}', '{"written": {"x": 1}}', "\x00"])
def test_what_is_remembered_and_was_spoiled_holds_nobody_up(home: Path, project: Path, kept: str) -> None:
    engine = engine_of(project, setup_hook(WAYS["append"]), SHOW)
    start(engine, "one")
    for file in (home / ".local/state/tenterhook/env-lines").iterdir():
        file.write_text(kept)
    start(engine, "two")
    assert call(engine, "two").reason == "A=1 B="


def test_without_session_hooks_kimi_env_is_not_read(project: Path) -> None:
    (project / ".kimi").mkdir()
    (project / ".kimi" / "env").write_text("A=planted\n")
    engine = engine_of(project, SHOW)
    start(engine)
    assert call(engine).reason == "A= B="


def test_the_same_names_are_refused_in_kimi_env(project: Path) -> None:
    engine = engine_of(project, setup_hook("mkdir -p .kimi && echo LD_PRELOAD=/evil > .kimi/env"))
    for session in ("one", "two"):
        assert all_notes(start(engine, session)) == "env file: LD_PRELOAD may not be set by a hook"
        assert engine.session_variables(session) == {}


@pytest.mark.parametrize("make", ["mkfifo", "mkdir", "ln -s /nowhere", "ln -s env"])
def test_a_kimi_env_that_is_no_file_holds_nobody_up(project: Path, make: str) -> None:
    (project / ".kimi").mkdir()
    subprocess.run(f"{make} .kimi/env", shell=True, check=True)
    engine = engine_of(project, setup_hook(f"echo A=1 {ENV_FILE}"), SHOW)
    start(engine)
    assert call(engine).reason == "A=1 B="


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("A=1", "A", "1"),
        ("export A=1", "A", "1"),
        ("A='a b'", "A", "a b"),
        ("A=\"a'", "A", "\"a'"),
        ("A==", "A", "="),
        ("A=", "A", ""),
        ("# A=1", None, ""),
        ("", None, ""),
    ],
)
def test_a_line_sets_a_name_to_a_value_and_is_never_code(line: str, name: str | None, value: str) -> None:
    assert env_files.assignment(line) == (name, value, None)


@pytest.mark.parametrize(
    "line", ["PATH=/evil", "LD_PRELOAD=x", "TENTERHOOK_X=1", "CODEX_HOME=/x", "A B=1", "1A=1", "A=\0"]
)
def test_a_line_that_a_hook_may_not_write_says_why(line: str) -> None:
    name, _, why = env_files.assignment(line)
    assert name is None
    assert why


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ([], ["A=1", ""], ["A=1", ""]),
        (["A=1", ""], ["A=1", "B=2", ""], ["B=2", ""]),
        (["A="], ["A=1", ""], ["1", ""]),  # an unfinished line is not the hook's
        (["A=1", "B=2", ""], ["B=2", "C=3", ""], ["C=3"]),  # written anew
        (["A=1", ""], ["A=1", "A=1", ""], ["A=1", ""]),
    ],
)
def test_only_lines_that_were_not_there_before_are_added(old: list[str], new: list[str], found: list[str]) -> None:
    assert env_files.added(old, new) == found
