"""The canary: the real agent, headless, against a scripted model, tries something harmless that is forbidden.

It runs in a home of its own that holds a copy of the person's settings, with the line as installed. The guard is a hook
of a throw-away project, trusted for as long as it lasts.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .. import places
from ..catalog import index
from ..catalog.trust import Trust
from ..errors import HookError
from ..journal.records import CANARY
from ..live import trial
from ..live.agents import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..installing.agents import Agent

_HOOK = f"""---
name: {CANARY}
description: Forbids one harmless command, to see whether guards hold.
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


class Tried(NamedTuple):
    """One mode of an agent: did the block hold? None if it could not be tried."""

    mode: str
    held: bool | None
    what: str
    seconds: float = 0.0


def tried(agent: Agent, *, timeout: float) -> Iterator[Tried]:
    """Try every mode that the agent has."""
    live = LIVE[agent.name]
    program = agent.executable()
    if program is None:
        yield Tried("all", None, f"{' or '.join(agent.executables)} is not on the PATH")
        return
    for mode in live.modes:
        with tempfile.TemporaryDirectory(prefix="tenterhook-canary-") as scratch:
            yield _try(agent, Path(program), mode, Path(scratch), timeout)
    for mode, why in live.not_modes.items():
        yield Tried(mode, None, why)


def _try(agent: Agent, program: Path, mode: str, scratch: Path, timeout: float) -> Tried:
    live = LIVE[agent.name]
    home, project = scratch / "home", scratch / "project"
    token = f"canary-{uuid.uuid4().hex[:12]}"
    _copy_settings(agent, home)
    hook = _make_project(project, token)
    trust = Trust(os.path.realpath(project))
    trust.grant(str(hook))
    side = project / token
    try:
        came = trial.run(
            live,
            program,
            home=home,
            project=project,
            script=live.script(mode, live.shell_call(f"touch {side}")),
            mode=mode,
            timeout=timeout,
            extra_env=_shared_cache(agent),
        )
    except HookError as error:
        return Tried(mode, None, error.message)
    finally:
        trust.revoke(str(hook))
        index.forget(trust.root)
        _forget_state()
    if side.exists():
        return Tried(mode, False, "the forbidden command ran", came.seconds)
    if any(f"{token} is forbidden" in result for result in came.tool_results):
        return Tried(mode, True, f"`touch {token}` was refused by a hook, and the model was told why", came.seconds)
    if any("Tenterhook could not answer" in result or "Tenterhook is gone" in result for result in came.tool_results):
        return Tried(mode, True, "blocked because Tenterhook could not answer, as was chosen", came.seconds)
    if came.tool_results:
        said = came.tool_results[0].strip().splitlines() or [""]
        return Tried(mode, None, f"it did not run, but not because of our guard: {said[0][:120]}", came.seconds)
    said = (came.stderr.strip() or came.stdout.strip()).splitlines()
    said = [line.strip() for line in said if "rror" in line] or said[-1:]
    ended = f"it ended with status {came.exit_code}" + (f": {said[0][:160]}" if said else "")
    why = "it took too long" if came.timed_out else ended
    return Tried(mode, None, f"the agent made no tool call: {why}", came.seconds)


def _forget_state() -> None:
    """Remove the folders that hooks get for files of their own."""
    folder = os.path.join(places.state(), "hooks")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.startswith(CANARY):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def _make_project(project: Path, token: str) -> Path:
    hook = project.resolve() / ".agents" / "hooks" / CANARY
    (hook / "scripts").mkdir(parents=True)
    (hook / "HOOK.md").write_text(_HOOK.format(token=token))
    script = hook / "scripts" / "run.sh"
    script.write_text(_SCRIPT.format(token=token))
    script.chmod(0o755)
    return hook


def _copy_settings(agent: Agent, home: Path) -> None:
    """The person's settings as they are, without sessions, logins and histories."""
    real = Path(agent.home())
    copy = home / agent.directory
    names = {agent.file, Path(LIVE[agent.name].settings).name}
    for name in names:
        if (real / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(real / name, copy / name)
    if agent.name == "codex" and (copy / "config.toml").is_file():
        # its trust names the path of the file that it is about
        text = (copy / "config.toml").read_text(encoding="utf-8")
        for spelling in dict.fromkeys((str(real / agent.file), os.path.realpath(real / agent.file))):
            text = text.replace(f'"{spelling}:', f'"{copy / agent.file}:')
        (copy / "config.toml").write_text(text, encoding="utf-8")


def _shared_cache(agent: Agent) -> dict[str, str]:
    """Copilot unpacks hundreds of megabytes into a cache that it does not find."""
    if agent.name != "copilot":
        return {}
    return {"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")}
