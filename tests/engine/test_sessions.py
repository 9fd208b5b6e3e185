"""What lasts for a session: its env file and the variables hooks set there (section 5)."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from engine.session_hooks import ENV_FILE, SESSION, SHOW, all_notes, call, engine_of, setup_hook, start
from support import (
    array_hook,
    folder_hook,
    table_hook,
    until,
    user_hooks,
    write_config,
)
from tenterhook import Engine, Event
from tenterhook.basics.protected_places import MOVED
from tenterhook.engine.sessions import Session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("family", ["KIMI", "TENTERHOOK"])
def test_variables_of_a_session_hook_are_in_the_environment_of_later_hooks(project: Path, family: str) -> None:
    engine = engine_of(project, setup_hook(f'echo A=1 >> "${family}_ENV_FILE"'), SHOW)
    start(engine)
    assert call(engine).reason == "A=1 B="
    assert engine.session_variables(SESSION) == {"A": "1"}


@pytest.mark.parametrize("format_", ["folder", "table", "array"])
def test_session_hooks_of_every_format_may_set_variables(home: Path, project: Path, format_: str) -> None:
    line = f"echo A=1 {ENV_FILE}"
    if format_ == "folder":
        folder_hook(user_hooks(home), "setup", line, trigger="pre-session")
        engine = Engine.load()
    else:
        engine = engine_of(project, setup_hook(line) if format_ == "table" else array_hook(line, event="SessionStart"))
    start(engine)
    assert engine.session_variables(SESSION) == {"A": "1"}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=plain", "plain"),
        ("A=", ""),
        ("A=two words", "two words"),
        ("A='single quotes'", "single quotes"),
        ('A="double quotes"', "double quotes"),
        ("export A=exported", "exported"),
        ("  A=indented", "indented"),
        ("A=with=equals", "with=equals"),
        ("A=$HOME $(touch oops) `touch oops`", "$HOME $(touch oops) `touch oops`"),
        ("A=it's", "it's"),
        ("A=café", "café"),
        ("A=one\nA=two", "two"),
        ("# A=comment\n\nA=yes", "yes"),
    ],
)
def test_a_line_is_data(project: Path, line: str, value: str) -> None:
    (project / "lines").write_text(line + "\n")
    engine = engine_of(project, setup_hook(f"cat lines {ENV_FILE}"), table_hook('printf %s "$A" > got'))
    verdict = start(engine)
    call(engine)
    assert (project / "got").read_text() == value
    assert all_notes(verdict) == ""
    assert not (project / "oops").exists()


def test_a_later_session_hook_sees_what_an_earlier_one_set(project: Path) -> None:
    engine = engine_of(project, setup_hook(f"echo A=1 {ENV_FILE}"), setup_hook(f"echo B=$A$A {ENV_FILE}"), SHOW)
    start(engine)
    assert call(engine).reason == "A=1 B=11"


def test_the_callers_variables_give_way_to_the_sessions(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A", "of the caller")
    engine = engine_of(project, setup_hook(f"echo A=of the session {ENV_FILE}"), SHOW)
    start(engine)
    assert call(engine).reason == "A=of the session B="


def test_variables_belong_to_one_session(project: Path) -> None:
    engine = engine_of(project, setup_hook(f"echo A=1 {ENV_FILE}"), SHOW)
    start(engine, "one")
    assert call(engine, "two").reason == "A= B="
    assert call(engine, "one").reason == "A=1 B="


def test_variables_last_for_other_processes_that_serve_the_session(project: Path) -> None:
    start(engine_of(project, setup_hook(f"echo A=1 {ENV_FILE}"), SHOW))
    code = (
        "from tenterhook import Engine, Event\n"
        "engine = Engine.load(configs=['hooks.toml'])\n"
        f"print(engine.decide(Event('pre-tool-call', session_id={SESSION!r}, tool_name='T', tool_input={{}})).reason)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stdout.strip() == "A=1 B=", ended.stderr


REFUSED = [
    *("PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "IFS", "PYTHONPATH"),
    *("PYTHONSTARTUP", "PYTHON", "NODE_OPTIONS", "GIT_DIR", "GIT_SSH_COMMAND", "HOME", "XDG_CONFIG_HOME"),
    *("XDG_STATE_HOME", "TENTERHOOK_CHAIN", "TENTERHOOK_TRUST_PROJECT", "KIMI_ENV_FILE", "KIMI_X"),
    *MOVED,  # what moves an agent's settings moves them from what protects them
]


@pytest.mark.parametrize("name", REFUSED)
def test_names_that_decide_what_runs_are_refused_and_reported(project: Path, name: str) -> None:
    engine = engine_of(project, setup_hook(f"echo {name}=/evil {ENV_FILE}; echo A=1 {ENV_FILE}"))
    verdict = start(engine)
    assert engine.session_variables(SESSION) == {"A": "1"}
    assert name in all_notes(verdict)


@pytest.mark.parametrize(
    "name", ["MY_PATH", "PATHS", "LDX", "ENVIRONMENT", "GITHUB_TOKEN", "HOMEPAGE", "NODE_ENV", "_x9"]
)
def test_names_that_only_resemble_them_are_not(project: Path, name: str) -> None:
    engine = engine_of(project, setup_hook(f"echo {name}=v {ENV_FILE}"))
    assert all_notes(start(engine)) == ""
    assert engine.session_variables(SESSION) == {name: "v"}


@pytest.mark.parametrize("line", ["just text", "=x", "1A=x", "A B=x", "A-B=x", "A\0B=x"])
def test_lines_that_are_no_assignment_are_reported(project: Path, line: str) -> None:
    (project / "lines").write_text(line + "\nA=1\n")
    engine = engine_of(project, setup_hook(f"cat lines {ENV_FILE}"))
    assert "NAME=value" in all_notes(start(engine))
    assert engine.session_variables(SESSION) == {"A": "1"}


def test_a_refusal_is_reported_also_if_equal_commands_ran_as_one(project: Path) -> None:
    verdict = start(engine_of(project, array_hook(f"echo PATH=/evil {ENV_FILE}", event="SessionStart") * 2))
    assert "PATH" in all_notes(verdict)


def test_the_env_file_is_private_and_one_per_session(project: Path) -> None:
    engine = engine_of(project, table_hook('echo "$KIMI_ENV_FILE" >&2; exit 2'))
    one, again, other = call(engine, "one").reason, call(engine, "one").reason, call(engine, "two").reason
    assert one == again != other
    assert one is not None
    assert stat.S_IMODE(os.stat(one).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(one)).st_mode) == 0o700


def test_an_env_file_that_others_may_read_is_made_private_again(project: Path) -> None:
    engine = engine_of(project, table_hook('echo "$KIMI_ENV_FILE" >&2; exit 2'))
    file = call(engine).reason
    assert file is not None
    os.chmod(file, 0o644)
    call(engine)
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600


@pytest.mark.parametrize("session", ["../../escape", "a/b", ".", "..", "with space", "x" * 400, "é\n", "%41", "A"])
def test_no_session_id_leads_out_of_the_state_directory(home: Path, project: Path, session: str) -> None:
    file = call(engine_of(project, table_hook('printf %s "$KIMI_ENV_FILE" >&2; exit 2')), session).reason
    assert file is not None
    sessions = home / ".local" / "state" / "tenterhook" / "sessions"
    assert os.path.dirname(os.path.dirname(os.path.realpath(file))) == str(sessions)


def test_different_session_ids_have_different_files(project: Path) -> None:
    engine = engine_of(project, table_hook('printf %s "$KIMI_ENV_FILE" >&2; exit 2'))
    ids = ["a/b", "a%2fb", "a b", "a_b", "A", "a", "x" * 400, "x" * 401]
    assert len({call(engine, each).reason for each in ids}) == len(ids)


def test_a_variable_without_a_line_end_does_not_swallow_the_next(project: Path) -> None:
    hooks = "".join(
        table_hook(f'printf {name}=1 >> "$KIMI_ENV_FILE"', event="session_start") for name in ("ONE", "TWO")
    )
    engine = Engine.load(configs=[write_config(project / "hooks.toml", hooks)])
    engine.decide(Event("pre-session", session_id="s"))
    assert engine.session_variables("s") == {"ONE": "1", "TWO": "1"}


@pytest.mark.parametrize("session", ["nul \0 inside", "lone \ud800 surrogate"])
def test_an_odd_session_id_does_not_keep_a_guard_from_running(project: Path, session: str) -> None:
    assert call(engine_of(project, table_hook("exit 2")), session).denied


# ---- only synchronous pre-session hooks, only what they add


def test_what_other_hooks_write_to_the_env_file_has_no_effect(project: Path) -> None:
    engine = engine_of(project, setup_hook("true"), table_hook(f"echo A=1 {ENV_FILE}"))
    call(engine)
    call(engine)
    start(engine)
    assert engine.session_variables(SESSION) == {}


def test_an_async_session_hook_sets_nothing(project: Path) -> None:
    engine = engine_of(project, setup_hook(f"echo A=1 {ENV_FILE}; touch ran", async_=True), SHOW)
    start(engine)
    until((project / "ran").exists)
    assert call(engine).reason == "A= B="


def test_a_session_hook_that_fails_or_blocks_has_still_set_its_variables(project: Path) -> None:
    engine = engine_of(project, setup_hook(f"echo A=1 {ENV_FILE}; exit 1"), setup_hook(f"echo B=2 {ENV_FILE}; exit 2"))
    assert start(engine).denied
    assert engine.session_variables(SESSION) == {"A": "1", "B": "2"}


def test_variables_a_resumed_session_sets_again_replace_the_old_ones(project: Path) -> None:
    engine = engine_of(project, setup_hook(f'echo "A=$(date +%s%N)" {ENV_FILE}'))
    start(engine)
    first = engine.session_variables(SESSION)
    start(engine, source="resume")
    assert engine.session_variables(SESSION) != first


@pytest.mark.promise("a careless model")
def test_a_disk_that_cannot_be_written_loses_no_block(project: Path, home: Path) -> None:
    """A full or read-only disk loses no block."""
    state = home / ".local" / "state"
    state.parent.mkdir(parents=True)
    state.write_text("a file where a directory should be")
    config = write_config(project / "c.toml", table_hook("echo A=1 >> .kimi/env; exit 2", event="session_start"))
    (project / ".kimi").mkdir()
    engine = Engine.load(configs=[config])
    for _ in range(2):
        assert engine.decide(Event("pre-session", session_id="s")).denied
    assert os.stat(os.devnull).st_mode & 0o777 == 0o666


def test_an_env_file_that_became_a_link_is_not_followed(home: Path, tmp_path: Path) -> None:
    session = Session("s")
    assert session.open() is None
    victim = tmp_path / "victim"
    victim.write_text("x")
    victim.chmod(0o644)
    os.unlink(session.env_file)
    os.symlink(victim, session.env_file)
    assert session.open() is not None
    assert victim.stat().st_mode & 0o777 == 0o644
