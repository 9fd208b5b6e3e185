"""What a hostile repository, disk or caller could do to an event, and does not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support import array_hook, folder_hook, project_hooks, shell_call, table_hook, tenterhook, user_hooks, write_config
from tenterhook import Engine, Event
from tenterhook.catalog import fingerprints
from tenterhook.catalog.trust import Trust
from tenterhook.engine.sessions import Session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def guard(home: Path) -> Path:
    return folder_hook(user_hooks(home), "guard", "echo no >&2; exit 2", priority=1)


@pytest.mark.parametrize("opening", ["a: " + "[" * 30000, "- " * 30000, "? " * 30000, "a: " + "{a: " * 30000])
def test_front_matter_that_nests_without_end_is_a_problem_not_a_crash(project: Path, opening: str) -> None:
    made = folder_hook(project_hooks(project), "deep")
    (made / "HOOK.md").write_text(f"---\n{opening}\n---\n")
    ended = tenterhook("list", "--json")
    assert ended.returncode == 0
    assert [problem["code"] for problem in json.loads(ended.stdout)["problems"]] == ["bad-yaml"]


def test_a_key_that_is_there_twice_refuses_the_hook(home: Path, project: Path) -> None:
    made = folder_hook(user_hooks(home), "twice")
    (made / "HOOK.md").write_text("---\nname: twice\ntrigger: before_tool\ntrigger: after_tool\n---\n")
    (problem,) = Engine.load().problems
    assert (problem.code, problem.line, problem.key) == ("bad-yaml", 4, "trigger")


@pytest.mark.promise("a hostile repository")
def test_an_untrusted_folder_is_not_even_looked_through(guard: Path, project: Path) -> None:
    """Of an untrusted hook only HOOK.md is read, to name it."""
    made = folder_hook(project_hooks(project), "theirs")
    with (made / "huge").open("wb") as file:
        file.truncate(1 << 40)  # a terabyte, of nothing
    assert Engine.load().decide(shell_call()).denied


def test_a_trusted_folder_that_grows_without_end_takes_no_verdict_with_it(guard: Path, project: Path) -> None:
    made = folder_hook(project_hooks(project), "theirs")
    Trust(str(project)).grant(str(made))
    deep = made
    for _ in range(100):
        deep = deep / "d"
    deep.mkdir(parents=True)
    verdict = Engine.load().decide(shell_call())
    assert verdict.denied
    with pytest.raises(fingerprints.Untrustable, match="too many files or levels"):
        Trust(str(project)).grant(str(made))


@pytest.mark.promise("a model that tries")
def test_an_input_that_is_changed_and_changed_back_does_not_slip_past_a_guard(project: Path) -> None:
    """What hooks change in a call is put to the guards again before it runs."""
    change = """echo '{"modified_input": {"command": "%s"}}'"""
    hooks = table_hook(change % "ls", matcher={"pattern": "rm"})
    hooks += table_hook("exit 2", matcher={"pattern": "rm -rf"})
    hooks += table_hook(change % "rm -rf /", matcher={"pattern": "ls"})
    assert Engine.load(configs=[write_config(project / "c.toml", hooks)]).decide(shell_call("rm -rf /")).denied


@pytest.mark.parametrize(
    "line",
    [
        "find . -maxdepth 0 -exec sh -c 'echo {{tool_name}}' \\;",
        "docker exec c sh -c 'echo {{tool_name}}'",
        "uv run python -c 'print({{tool_name}})'",
        "$SHELL -c 'echo {{tool_name}}'",
        "s\\h -c 'echo {{tool_name}}'",
        "\\eval {{tool_name}}",
        "git -c 'alias.z=!{{tool_name}}' z",
        "npx -c {{tool_name}}",
        "sqlite3 db '.shell {{tool_name}}'",
        "cat <<E | sh\n{{tool_name}}\nE",
    ],
)
def test_a_placeholder_behind_a_program_that_starts_programs_is_refused(project: Path, line: str) -> None:
    engine = Engine.load(configs=[write_config(project / "c.toml", table_hook(line))])
    assert [problem.code for problem in engine.problems] == ["placeholder-in-code"]
    assert engine.hooks == ()


def test_a_long_text_and_an_expression_with_many_ways_do_not_freeze_anyone(project: Path) -> None:
    pattern = "a{0,19}a{0,19}a{0,19}b"
    code = (
        "import sys; from tenterhook import Engine, Event\n"
        f"engine = Engine(); engine.on('pre-tool-call', pattern={pattern!r})(lambda event: None)\n"
        "engine.decide(Event('pre-tool-call', tool_name='x', tool_input={'c': 'a' * 2_000_000}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)


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


def test_a_deny_stays_a_deny_when_it_cannot_be_printed(project: Path) -> None:
    config = write_config(project / "c.toml", array_hook("exit 2"))
    for target in (">/dev/full", ">&-", "| true"):
        line = f"{sys.executable} -m tenterhook trigger PreToolUse --config {config} {target}; exit ${{PIPESTATUS[0]}}"
        ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
        assert ended.returncode == 2, (target, ended.stderr)
        assert "Traceback" not in ended.stderr


def test_a_debug_function_that_raises_costs_no_verdict(project: Path) -> None:
    def fail(line: str) -> None:
        raise RuntimeError(line)

    config = write_config(project / "c.toml", array_hook("exit 2"))
    assert Engine.load(configs=[config], debug=fail).decide(shell_call()).denied


def test_more_hooks_than_descriptors_all_run(project: Path) -> None:
    config = write_config(
        project / "c.toml", "".join(array_hook(f"exit 0 #{n}") for n in range(60)) + array_hook("exit 2")
    )
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))\n"
        "from tenterhook import Engine, Event\n"
        f"verdict = Engine.load(configs=[{str(config)!r}]).decide(Event('pre-tool-call', tool_name='x'))\n"
        "print(verdict.decision, sum(run.failed for run in verdict.runs))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["deny", "0"]


def test_a_host_that_dies_of_broken_pipes_does_not_die_of_ours(project: Path) -> None:
    config = write_config(project / "c.toml", array_hook("exec <&-; sleep 0.2; exit 2"))
    code = (
        "import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "from tenterhook import Engine, Event\n"
        "event = Event('pre-tool-call', tool_name='x', tool_input={'c': 'x' * 1_000_000})\n"
        f"print(Engine.load(configs=[{str(config)!r}]).decide(event).decision)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout.strip()) == (0, "deny")


def test_a_hook_whose_exit_code_was_taken_is_failed_not_allowed(project: Path) -> None:
    config = write_config(project / "c.toml", array_hook("exit 2", fail_mode="closed"))
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        verdict = Engine.load(configs=[config]).decide(shell_call())
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert verdict.denied
    assert verdict.runs[0].failed


def test_a_circle_without_links_ends(project: Path) -> None:
    call = f"env -i HOME=$HOME PATH=$PATH {sys.executable} -m tenterhook trigger before_tool --tool x --config c.toml"
    write_config(project / "c.toml", table_hook(f"echo x >> calls; {call}"))
    tenterhook("trigger", "before_tool", "--tool", "x", "--config", "c.toml", timeout=60)
    assert len((project / "calls").read_text().splitlines()) <= 6


@pytest.mark.parametrize("spelling", ["#!/usr/bin/env\tsh", "#! /bin/sh", "#!/bin/sh -e"])
def test_every_spelling_of_a_first_line_that_the_system_takes_is_taken(
    home: Path, project: Path, spelling: str
) -> None:
    folder_hook(user_hooks(home), "guard", f"{spelling}\nexit 2\n")
    assert Engine.load().decide(shell_call()).denied


@pytest.mark.parametrize(
    "script",
    ["echo 'cannot open policy.txt: No such file' >&2; exit 2", "echo 'Syntax error in your file' >&2; exit 2\nif"],
)
def test_a_guard_that_speaks_of_files_and_syntax_still_blocks(home: Path, project: Path, script: str) -> None:
    made = folder_hook(user_hooks(home), "guard", script)
    config = write_config(project / "c.toml", array_hook(str(made / "scripts" / "run.sh")))
    for engine in (Engine.load(), Engine.load(configs=[config])):
        assert engine.decide(shell_call()).denied


def test_a_file_name_cannot_forge_lines_of_what_trust_shows(project: Path) -> None:
    made = folder_hook(project_hooks(project), "theirs")
    (made / "x\n  trusted\nother  y").write_text("z")
    shown = tenterhook("trust", "theirs", "--yes").stdout
    assert shown.count("\n  trusted\n") == 1
    assert "x\\n  trusted\\nother  y" in shown
