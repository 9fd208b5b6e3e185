"""An exit with 2 is a block unless it is certain that nothing of the hook ran; what a hook writes tells nothing."""

from __future__ import annotations

import json
import shlex
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import (
    array_hook,
    decide,
    folder_hook,
    shell_call,
    table_hook,
    user_hooks,
    write_config,
)
from tenterhook import Engine, Outcome

# What shells and interpreters say of what they cannot run, and an echo of it.
COMPLAINTS = (
    "python3: can't open file 'guard.py': [Errno 2] No such file or directory",
    "python3: can't open file '/gone/guard.py': [Errno 2] No such file or directory",
    'Can\'t open perl script "guard.pl": No such file or directory',
    "sh: 0: cannot open guard.sh: No such file",
    "/bin/sh: 1: Syntax error: end of file unexpected",
    "sh: -c: line 1: unexpected EOF while looking for matching `\"'",
    "sh: 1: Syntax error: Unterminated quoted string",
)
ECHO = "import sys; text = sys.stdin.read(); sys.stderr.write(text); sys.stdout.write(text); sys.exit(2)"


@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize("complaint", COMPLAINTS)
@pytest.mark.parametrize(
    "line",
    [
        "cat >&2; exit 2",
        f"{shlex.quote(sys.executable)} -c {shlex.quote(ECHO)}",
        "python3 guard.py",
        "sh guard.sh || exit 2",
        'echo "{{tool_input.command}}" >&2; sh -c "exit 2" guard.py python3',
    ],
)
def test_a_hook_that_repeats_what_it_was_sent_blocks(project: Path, complaint: str, line: str) -> None:
    """A block stays a block, whatever words of the model the hook repeats in its reason."""
    (project / "guard.py").write_text(ECHO)
    (project / "guard.sh").write_text("cat >&2\nexit 2\n")
    config = write_config(project / "c.toml", table_hook(line))
    verdict = decide(config, shell_call(f"ls # {complaint}"))
    assert verdict.denied
    assert verdict.runs[0].outcome == Outcome.BLOCKED


@pytest.mark.slow
@settings(
    max_examples=4,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    stderr=st.binary(max_size=60) | st.sampled_from(COMPLAINTS).map(str.encode),
    stdout=st.binary(max_size=60) | st.sampled_from(COMPLAINTS).map(str.encode) | st.just(b'{"decision": "allow"}'),
)
def test_whatever_a_hook_that_exits_with_two_writes_it_is_a_block(
    home: Path, project: Path, stderr: bytes, stdout: bytes
) -> None:
    (project / "out").write_bytes(stdout)
    (project / "err").write_bytes(stderr)
    script = "cat out; cat err >&2; exit 2"
    if not user_hooks(home).exists():
        folder_hook(user_hooks(home), "folder", script)
    (project / "guard.py").write_text(
        "import sys; sys.stdout.buffer.write(open('out', 'rb').read()); "
        "sys.stderr.buffer.write(open('err', 'rb').read()); sys.exit(2)"
    )
    lines = (script, f"{script}\nif", "python3 guard.py", "cd . && python3 guard.py")
    tables = write_config(project / "tables.toml", "".join(map(table_hook, lines)))
    arrays = write_config(project / "arrays.toml", "".join(map(array_hook, lines)))
    settings = write_config(
        project / "settings.json",
        json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": line} for line in lines]}]}}),
    )
    for configs in ([], [tables], [arrays], [settings]):
        engine = Engine.load(configs=configs)
        for hook in engine.hooks:
            verdict = engine.asking([hook]).decide(shell_call())
            assert verdict.denied, (hook.format, hook.command)
            assert verdict.runs[0].outcome == Outcome.BLOCKED


@pytest.mark.parametrize(
    "text",
    [
        "exit 2\nif",
        "# a guard\n\nexit 2\nif true; then",
        "cat > seen\nexit 2\necho 'unclosed",
        "{ exit 2\n}\n)",
        "cat <<END >&2\nno\nEND\nexit 2\n(",
    ],
)
def test_an_exit_with_two_before_a_mistake_is_a_block(home: Path, project: Path, text: str) -> None:
    assert decide(write_config(project / "c.toml", array_hook(text))).denied
    for shell in ("sh", "bash"):
        folder_hook(user_hooks(home), shell, f"#!/bin/{shell}\n{text}\n")
    time.sleep(0.1)
    engine = Engine.load()
    for hook in engine.hooks:
        assert engine.asking([hook]).decide(shell_call()).denied, hook.name


@pytest.mark.parametrize(
    "text", ["if true; then", "if true\nthen\n  exit 2\n", "# a guard\necho 'unclosed", "(\nexit 2\n"]
)
def test_a_text_whose_first_command_cannot_be_parsed_has_failed(home: Path, project: Path, text: str) -> None:
    folder_hook(user_hooks(home), "sh", text)
    folder_hook(user_hooks(home), "bash", f"#!/usr/bin/env bash\n{text}")
    time.sleep(0.1)  # a script that has just changed may have been another one when it began
    verdict = Engine.load(configs=[write_config(project / "c.toml", array_hook(text))]).decide(shell_call())
    assert [run.outcome for run in verdict.runs] == [Outcome.FAILED] * 3
    assert all("the shell refuses the" in str(run.why) for run in verdict.runs)
    closed = decide(write_config(project / "c.toml", array_hook(text, fail_mode="closed")))
    assert closed.denied


def test_a_script_that_rewrites_itself_before_it_blocks_has_blocked(home: Path, project: Path) -> None:
    made = folder_hook(user_hooks(home), "guard", 'echo "if true; then" > "$0.new"; mv "$0.new" "$0"; exit 2')
    time.sleep(0.1)
    assert Engine.load().decide(shell_call()).denied
    assert (made / "scripts/run.sh").read_text() == "if true; then\n"


def test_a_script_that_removes_itself_before_it_blocks_has_blocked(project: Path) -> None:
    (project / "guard.py").write_text("import os, sys; os.unlink(sys.argv[0]); sys.exit(2)")
    assert decide(write_config(project / "c.toml", array_hook("python3 guard.py"))).denied


@pytest.mark.parametrize(
    "line",
    [
        "python3 gone.py || exit 2",
        "python3 gone.py; exit 2",
        "test -e gone.py || exit 2; python3 gone.py",
        "python3 -c 'import sys; sys.exit(2)' gone.py",
        "python3 - gone.py <<E\nimport sys; sys.exit(2)\nE",
        "sh -c 'exit 2' gone.sh",
        "sh on-the-path",
        "sh $(echo guard.sh)",
        "./python3 gone.py",
        'python3 "$UNSET_ANYWHERE"guard.py',
    ],
)
def test_a_line_that_may_do_more_than_run_a_script_blocks(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    (project / "guard.sh").write_text("exit 2\n")
    (project / "guard.py").write_text("import sys; sys.exit(2)\n")
    own = project / "python3"
    own.write_text("#!/bin/sh\nexit 2\n")
    own.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/on-the-path").write_text("exit 2\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin:{Path(sys.executable).parent}")
    assert decide(write_config(project / "c.toml", array_hook(line))).denied


def test_a_script_that_is_missing_is_not_even_looked_for_by_its_interpreter(project: Path) -> None:
    run = decide(write_config(project / "c.toml", array_hook("python3 gone.py --strict"))).runs[0]
    assert run.why == f"cannot start: no such script: {project}/gone.py"
    assert run.exit_code is None


@pytest.mark.parametrize(
    "script",
    ["echo 'cannot open policy.txt: No such file' >&2; exit 2", "echo 'Syntax error in your file' >&2; exit 2\nif"],
)
def test_a_guard_that_speaks_of_files_and_syntax_still_blocks(home: Path, project: Path, script: str) -> None:
    made = folder_hook(user_hooks(home), "guard", script)
    config = write_config(project / "c.toml", array_hook(str(made / "scripts" / "run.sh")))
    for engine in (Engine.load(), Engine.load(configs=[config])):
        assert engine.decide(shell_call()).denied
