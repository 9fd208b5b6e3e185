"""What a hook is started with: its script and interpreter, its environment, its own directory."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from engine.one_hook import run_of
from support import (
    array_hook,
    fire,
    folder_hook,
    shell_call,
    table_hook,
    user_hooks,
    write_config,
)
from tenterhook import Engine, Event, Outcome
from tenterhook.model import Hook

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook import Verdict


def shell(work_dir: Path, session: str = "s") -> Event:
    return Event("pre-tool-call", session_id=session, work_dir=str(work_dir), tool_name="Shell", tool_input={"a": 1})


def printed(verdict: Verdict) -> list[str]:
    return [run.stdout.strip() for run in verdict.runs]


def test_a_variable_that_changes_is_seen_by_the_next_event(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write_config(
        tmp_path / "hooks.toml", array_hook('echo "$MARK $TENTERHOOK_SESSION_ID $TENTERHOOK_WORK_DIR"')
    )
    engine = Engine.load(project, config)
    other = project / "below"
    other.mkdir()
    monkeypatch.setenv("MARK", "one")
    assert printed(engine.decide(shell(project))) == [f"one s {project}"]
    monkeypatch.setenv("MARK", "two")
    assert printed(engine.decide(shell(project))) == [f"two s {project}"]
    monkeypatch.delenv("MARK")
    assert printed(engine.decide(shell(project))) == [f"s {project}"]
    assert printed(engine.decide(shell(other))) == [f"s {other}"]
    assert printed(engine.decide(shell(other, "t"))) == [f"t {other}"]
    assert printed(engine.decide(shell(project))) == [f"s {project}"]


def test_a_variable_of_the_session_is_seen_from_then_on(home: Path, project: Path, tmp_path: Path) -> None:
    config = write_config(tmp_path / "hooks.toml", array_hook('echo "[$GIVEN]"'))
    engine = Engine.load(project, config)
    assert printed(engine.decide(shell(project))) == ["[]"]
    folder_hook(user_hooks(home), "sets", 'echo "GIVEN=it" >> "$TENTERHOOK_ENV_FILE"', "pre-session")
    engine.decide(Event("pre-session", session_id="s", work_dir=str(project)))
    assert printed(engine.decide(shell(project))) == ["[it]"]
    assert printed(engine.decide(shell(project, "another"))) == ["[]"]


def test_hooks_do_not_see_what_is_another_hooks_own(home: Path, project: Path) -> None:
    script = 'echo "$(basename "$TENTERHOOK_STATE_DIR") $TENTERHOOK_METADATA ${TENTERHOOK_CHAIN##*#}"'
    folder_hook(user_hooks(home), "one", script, metadata={"n": 1})
    folder_hook(user_hooks(home), "two", script)
    engine = Engine.load(project)
    for _ in range(2):
        one, two = printed(engine.decide(shell(project)))
        assert one.startswith('one {"n":')
        assert two.startswith("two ")
        assert "{" not in two


def test_a_hook_cannot_say_who_has_called_it(home: Path, project: Path, tmp_path: Path) -> None:
    mine = {"TENTERHOOK_CHAIN": "", "TENTERHOOK_STATE_DIR": "/elsewhere", "OWN": "1"}
    command = 'echo "${TENTERHOOK_CHAIN:+chain} $TENTERHOOK_STATE_DIR $OWN"'
    handler = {"type": "command", "command": command, "env": mine}
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}))
    (said,) = printed(Engine.load(project, settings).decide(shell(project)))
    chain, directory, own = said.split()
    assert (chain, own) == ("chain", "1")
    assert directory.startswith(str(home))


def test_threads_with_sessions_of_their_own_keep_them_apart(home: Path, project: Path, tmp_path: Path) -> None:
    config = write_config(tmp_path / "hooks.toml", array_hook('echo "$TENTERHOOK_SESSION_ID"'))
    engine = Engine.load(project, config)
    sessions = [f"s-{number % 7}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda session: printed(engine.decide(shell(project, session))), sessions))
    assert said == [[session] for session in sessions]


@pytest.mark.promise("a model that tries")
def test_the_account_decides_nothing_about_the_programs_of_a_managed_hook(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A managed hook is run by programs of the system, without variables and packages of the account."""
    for folder in (home / "bin", tmp_path / "modules"):
        folder.mkdir()
    (home / "bin/python3").write_text("#!/bin/sh\nexit 0\n")
    (home / "bin/python3").chmod(0o755)
    (tmp_path / "modules/sitecustomize.py").write_text("import os; os._exit(0)")
    monkeypatch.setenv("PATH", f"{home}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    script = "#!/usr/bin/env python3\nimport os\nos._exit(2)\n"
    hook = folder_hook(tmp_path / "hooks", "guard", script)
    found = Hook("guard", "pre-tool-call", "pre-tool-call", "folder", folder=str(hook))
    assert Engine([found._replace(layer="user")]).decide(shell_call()).decision != "deny"
    assert Engine([found._replace(layer="managed")]).decide(shell_call()).decision == "deny"


def test_a_folder_script_is_executed_directly_so_that_no_name_is_code(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "a b $(touch oops) ; 'c'", 'echo "$0" >&2; exit 2')
    (run,) = Engine.load().decide(shell_call()).runs
    assert run.outcome == Outcome.BLOCKED
    assert run.stderr.strip().endswith("/a b $(touch oops) ; 'c'/scripts/run.sh")
    assert not (project / "oops").exists()


@pytest.mark.parametrize(
    ("file", "script"),
    [
        ("run", "#!/bin/sh\nexit 2\n"),
        ("run.sh", "#!/bin/sh\nexit 2\n"),
        ("run.sh", "exit 2\n"),
        ("run.py", "#!/usr/bin/env python3\nimport sys\nsys.exit(2)\n"),
        ("run.py", "#!/usr/bin/env -S python3 -I\nimport sys\nsys.exit(2 if sys.flags.isolated else 1)\n"),
        ("run.py", "import sys\nsys.exit(2)\n"),
    ],
)
@pytest.mark.parametrize("mode", [0o755, 0o644], ids=["exec bit", "no exec bit"])
def test_a_folder_script_runs_by_its_first_line_or_its_suffix(
    home: Path, project: Path, file: str, script: str, mode: int
) -> None:
    entry = folder_hook(user_hooks(home), "guard", file=file) / "scripts" / file
    entry.write_text(script)
    entry.chmod(mode)
    (run,) = Engine.load().decide(shell_call()).runs
    assert (run.outcome, run.why) == (Outcome.BLOCKED, None)


def test_the_first_entry_point_found_is_run(home: Path, project: Path) -> None:
    folder = folder_hook(user_hooks(home), "guard", "exit 1", file="run.sh")
    for name, code in (("run", 2), ("run.py", 1)):
        (folder / "scripts" / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (folder / "scripts" / name).chmod(0o755)
    (run,) = Engine.load().decide(shell_call()).runs
    assert run.outcome == Outcome.BLOCKED


def test_a_folder_without_a_script_runs_as_failed(home: Path, project: Path) -> None:
    folder = folder_hook(user_hooks(home), "empty")
    (folder / "scripts" / "run.sh").unlink()
    (run,) = Engine.load().decide(shell_call()).runs
    assert (run.outcome, run.why) == (Outcome.FAILED, "cannot start: no script")


def test_a_missing_interpreter_is_failed(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "#!/no/such/interpreter\n")
    (run,) = Engine.load().decide(shell_call()).runs
    assert run.outcome == Outcome.FAILED
    assert run.why is not None and run.why.startswith("cannot start")


def test_a_script_is_looked_for_when_it_runs_not_when_it_is_loaded(home: Path, project: Path) -> None:
    folder = folder_hook(user_hooks(home), "guard", "exit 0")
    engine = Engine.load()
    (folder / "scripts" / "run.sh").write_text("#!/bin/sh\nexit 2\n")
    assert engine.decide(shell_call()).denied


def environment(project: Path, event: Event | None = None) -> dict[str, str]:
    """What a hook finds in its environment."""
    run_of(project, table_hook("env -0 > environment"), event)
    pairs = (project / "environment").read_text().rstrip("\0").split("\0")
    return dict(pair.partition("=")[::2] for pair in pairs)


def test_a_hook_has_the_callers_environment_and_ours(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_CALLER", "a b\nc")
    env = environment(project, shell_call(session_id="s 1"))
    assert env["OF_THE_CALLER"] == "a b\nc"
    assert env["PATH"] == os.environ["PATH"]
    for family in ("KIMI", "TENTERHOOK"):
        assert env[f"{family}_SESSION_ID"] == "s 1"
        assert env[f"{family}_WORK_DIR"] == str(project)
        assert env[f"{family}_PROJECT_DIR"] == str(project)
        assert env[f"{family}_ENV_FILE"] == env["KIMI_ENV_FILE"]
    assert os.path.isfile(env["KIMI_ENV_FILE"])


def test_a_hook_has_a_private_directory_of_its_own_that_lasts(home: Path, project: Path) -> None:
    hooks = table_hook('echo x >> "$TENTERHOOK_STATE_DIR/count"; echo "$TENTERHOOK_STATE_DIR"', name="one")
    hooks += table_hook('echo "$TENTERHOOK_STATE_DIR"', name="two")
    engine = Engine.load(configs=[write_config(project / "hooks.toml", hooks)])
    engine.decide(shell_call(session_id="first"))
    one, two = (run.stdout.strip() for run in engine.decide(shell_call(session_id="second")).runs)
    assert one != two
    assert one.startswith(str(home / ".local" / "state" / "tenterhook"))
    assert os.stat(one).st_mode & 0o777 == 0o700
    with open(f"{one}/count") as file:
        assert file.read() == "x\nx\n"


def test_byte_code_stays_out_of_hook_folders(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    folder = folder_hook(user_hooks(home), "guard", "#!/usr/bin/env python3\nimport words\n", file="run.py")
    (folder / "scripts" / "words.py").write_text("")
    (run,) = Engine.load().decide(shell_call()).runs
    assert run.outcome == Outcome.OK, run.stderr
    assert sorted(path.name for path in (folder / "scripts").iterdir()) == ["run.py", "words.py"]


def test_the_callers_place_for_byte_code_stays_as_it_is(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    assert environment(project)["PYTHONPYCACHEPREFIX"].startswith(str(home))
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "/of/the/caller")
    assert environment(project)["PYTHONPYCACHEPREFIX"] == "/of/the/caller"


def test_hooks_run_though_there_is_no_place_for_state(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/dev/null/nowhere")
    verdict = fire(project, array_hook('cat "$KIMI_ENV_FILE"; echo ran >&2; exit 2'))
    assert verdict.reason == "ran"


@pytest.mark.parametrize("spelling", ["#!/usr/bin/env\tsh", "#! /bin/sh", "#!/bin/sh -e"])
def test_every_spelling_of_a_first_line_that_the_system_takes_is_taken(
    home: Path, project: Path, spelling: str
) -> None:
    folder_hook(user_hooks(home), "guard", f"{spelling}\nexit 2\n")
    assert Engine.load().decide(shell_call()).denied
