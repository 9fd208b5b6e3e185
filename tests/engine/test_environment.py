"""What hooks find in their environment is made once and kept, and yet always true."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from support import array_hook, folder_hook, shell_call, user_hooks, write_config
from tenterhook import Engine, Event
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
