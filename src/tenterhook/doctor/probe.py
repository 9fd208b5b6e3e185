"""The canary: the real agent, headless, against a scripted model, tries something harmless that is forbidden.

It runs in a temporary home with a copy of the user's settings and our entries as installed. The guard is a hook of a
temporary project, trusted for the time of the run. The settings of an installation for one project are copied there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..agents.headless import drop, edited_json, edited_toml
from ..basics import places, private_files
from ..catalog import index
from ..catalog.trust import Trust
from ..errors import HookError
from ..journal.records import CANARY
from .live import trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..agents.protocol import Agent

_HOOK = f"""---
name: {CANARY}
description: Forbids one harmless command, to see whether guards block.
trigger: pre-tool-call
matcher:
  tool: Shell
  pattern: {{token}}
---
"""
_SCRIPT = """#!/bin/sh
echo "Tenterhook's canary {token} is forbidden" >&2
exit 2
"""


_ABOUT_HOOKS = {"version", "hooks", "hooksConfig", "disableAllHooks"}


class ModeResult(NamedTuple):
    """The result of one mode of an agent: whether it blocked, or None if it could not be tried."""

    mode: str
    held: bool | None
    what: str
    seconds: float = 0.0


def probe_modes(
    agent: Agent, root: str | None, *, timeout: float, stop: Callable[[], bool] = lambda: False
) -> Iterator[ModeResult]:
    """Try every mode of the agent and yield the results. `root` is that of an installation for one project only.

    If `stop` returns true, the current run is stopped and no other is started.
    """
    program = agent.executable()
    if program is None:
        yield ModeResult("all", None, f"{' or '.join(agent.executables)} is not on the PATH")
        return
    for mode in agent.modes:
        if stop():
            return
        with tempfile.TemporaryDirectory(prefix="tenterhook-canary-") as scratch:
            yield _try(agent, root, Path(program), mode, Path(scratch), timeout, stop)
    for mode, why in agent.missing_modes.items():
        yield ModeResult(mode, None, why)


def _try(
    agent: Agent,
    root: str | None,
    program: Path,
    mode: str,
    scratch: Path,
    timeout: float,
    stop: Callable[[], bool],
) -> ModeResult:
    home, project = scratch / "home", scratch.resolve() / "project"
    token = f"canary-{uuid.uuid4().hex[:12]}"
    _copy_settings(agent, home)
    hook = _make_project(project, token)
    agent.copy_trust(home, root, project)
    trust = Trust(os.path.realpath(project))
    trust.grant(str(hook))
    side = project / token
    try:
        if root is not None:
            _copy_project(agent, root, project)
        ended = trial.run(
            agent,
            program,
            home=home,
            project=project,
            script=agent.script(mode, agent.shell_call(f"touch {side}")),
            mode=mode,
            timeout=timeout,
            stop=stop,
        )
    except HookError as error:
        return ModeResult(mode, None, error.message)
    finally:
        trust.revoke(str(hook))
        index.forget(trust.root)
        _forget_state(trust.root)
    if side.exists():
        return ModeResult(mode, False, "the forbidden command ran", ended.seconds)
    if any(f"{token} is forbidden" in result for result in ended.tool_results):
        return ModeResult(
            mode, True, f"`touch {token}` was refused by a hook, and the model was told why", ended.seconds
        )
    if any("Tenterhook could not answer" in result or "Tenterhook is gone" in result for result in ended.tool_results):
        return ModeResult(mode, True, "blocked because Tenterhook could not answer, as configured", ended.seconds)
    if ended.tool_results:
        said = ended.tool_results[0].strip().splitlines() or [""]
        return ModeResult(mode, None, f"it did not run, but not because of our guard: {said[0][:120]}", ended.seconds)
    said = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
    said = [line.strip() for line in said if "rror" in line] or said[-1:]
    how = f"it ended with status {ended.exit_code}" + (f": {said[0][:160]}" if said else "")
    why = "it took too long" if ended.timed_out else how
    return ModeResult(mode, None, f"the agent made no tool call: {why}", ended.seconds)


def _forget_state(project: str) -> None:
    """Remove the hooks' state folders and the sessions of the temporary project."""
    sessions = os.path.join(places.state(), "sessions")
    for name in os.listdir(sessions) if os.path.isdir(sessions) else ():
        root = private_files.read_regular(os.path.join(sessions, name, "root"), 4096)
        if root is not None and os.fsdecode(root).strip() == project:
            shutil.rmtree(os.path.join(sessions, name), ignore_errors=True)
    folder = os.path.join(places.state(), "hooks")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.startswith(CANARY):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def _make_project(project: Path, token: str) -> Path:
    hook = project / ".agents" / "hooks" / CANARY
    (hook / "scripts").mkdir(parents=True)
    (hook / "HOOK.md").write_text(_HOOK.format(token=token))
    script = hook / "scripts" / "run.sh"
    script.write_text(_SCRIPT.format(token=token))
    script.chmod(0o755)
    return hook


def _copy_settings(agent: Agent, home: Path) -> None:
    """Copy the user's settings, without sessions, logins and histories."""
    own = os.path.dirname(agent.file)
    names = [agent.file, *(os.path.normpath(os.path.join(own, name)) for name in agent.plugin_files)]
    names.append(os.path.relpath(agent.headless_settings, agent.directory))
    for name in names:
        _copy(Path(agent.home(), name), home / agent.directory / name)


def _copy_project(agent: Agent, root: str, project: Path) -> None:
    """Copy the part of a project's settings that concerns hooks."""
    settings, copy = agent.settings(root), Path(agent.settings(str(project)))
    copy.parent.mkdir(parents=True, exist_ok=True)
    for name in (os.path.basename(settings), *agent.plugin_files):
        _copy(Path(os.path.dirname(settings), name), copy.parent / name)
    if agent.plugin is None:
        with (edited_toml if agent.toml else edited_json)(copy) as found:
            drop(found, *(found.keys() - _ABOUT_HOOKS - agent.events.keys()))


def _copy(file: Path, copy: Path) -> None:
    if file.is_file():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
