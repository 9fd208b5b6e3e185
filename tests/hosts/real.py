"""A real agent in a home of its own: give it hooks, install, let a scripted model drive it, look at what came of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from hosts import agents
from support import folder_hook, tenterhook, user_hooks
from tenterhook import __version__
from tenterhook.agents import AGENTS
from tenterhook.agents.protocol import AUTO_APPROVE, Agent
from tenterhook.basics import places
from tenterhook.basics.model_script import ScriptedCall, Turn, mentions
from tenterhook.doctor.live import trial

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tenterhook.doctor.live.trial import Trial

WITHOUT_PROMPTS = ("droid", "vibe")  # headless they fire no event for one; Vibe has none
ASKING_FLAGS = {"cline": ("--auto-approve", "false")}  # of agents that else approve everything beforehand
# Seconds that no run of a turn or two takes unless something waits that should not. On a busy machine opencode takes
# more than 90: it is started anew each time that a hook sends it back.
HANG = 240


class Guarded(NamedTuple):
    """One agent, its home and its project."""

    live: Agent
    executable: Path
    home: Path
    project: Path
    restarts: list[str]  # what was printed by each process that was started once more

    def hook(self, name: str, script: str, trigger: str = "pre-tool-call", /, **front: Any) -> None:
        """A hook of the person's own, as a folder."""
        folder_hook(user_hooks(self.home), name, script, trigger, **front)

    def guard(self, name: str = "guard", tool: str = "Shell", pattern: str = "forbidden", **front: Any) -> str:
        """A hook that refuses every call with this pattern in its input; returns the reason it gives."""
        reason = f"{name} says no"
        self.hook(name, f'echo "{reason}" >&2; exit 2', matcher={"tool": tool, "pattern": pattern}, **front)
        return reason

    def install(self, *flags: str, python: str | Path = sys.executable) -> None:
        self._tenterhook(python, "install", self.live.name, *flags)

    def uninstall(self) -> None:
        self._tenterhook(sys.executable, "uninstall", self.live.name, "--yes")

    def _tenterhook(self, python: str | Path, *words: str) -> None:
        command = [python, "-m", "tenterhook", *words]
        ended = subprocess.run(command, cwd=self.project, capture_output=True, text=True, timeout=HANG)
        assert ended.returncode == 0, ended.stdout + ended.stderr

    def doctor(self, *flags: str) -> tuple[int, str]:
        """The exit status of `doctor`, and what it says of this agent."""
        environment = {**os.environ, **self._own_variables()}
        ended = tenterhook("doctor", self.live.name, *flags, cwd=self.project, env=environment, timeout=2 * HANG)
        return ended.returncode, ended.stdout + ended.stderr

    def shell(self, command: str) -> ScriptedCall:
        return self.live.shell_call(command)

    def touch(self, name: str) -> ScriptedCall:
        """A shell call that leaves a file of this name in the project."""
        return self.shell(f"touch {self.project / name}")

    def write(self, name: str) -> ScriptedCall:
        """A call of the agent's own tool for files, to the same end."""
        return self.live.write_call(str(self.project / name), "written by the agent")

    def settings(self) -> dict[Path, bytes]:
        """The files that `install` may change, as they are now."""
        files = [self.hooks_file, self.home / self.live.headless_settings]
        files += [self.hooks_file.parent / name for name in self.live.plugin_files]
        return {file: file.read_bytes() for file in files if file.exists()}

    @property
    def hooks_file(self) -> Path:
        agent = AGENTS[self.live.name]
        return self.home / agent.directory / agent.file

    def left(self, name: str) -> bool:
        """Whether there is such a file."""
        return (self.project / name).exists()

    def calls(self, *calls: ScriptedCall, mode: str = AUTO_APPROVE, **options: Any) -> Trial:
        """Let the model make these calls in one answer, then end."""
        return self.run(*self.live.script(mode, *calls), mode=mode, **options)

    def run(
        self, *turns: Turn, mode: str = AUTO_APPROVE, variables: Mapping[str, str] | None = None, **options: Any
    ) -> Trial:
        """One run that ends by itself. `variables` are of the agent's own process.

        An agent that fails before it has called a hook or the model is started once more, and `restarts` counts it.
        """
        options = {"home": self.home, "project": self.project, "timeout": HANG, **options}
        options["extra_env"] = {**self._own_variables(), **(variables or {})}
        before = self._state_files()
        came = trial.run(self.live, self.executable, script=turns, mode=mode, **options)
        if came.exit_code and not came.timed_out and not came.requests and self._state_files() == before:
            self.restarts.append(f"exit {came.exit_code}: {came.stdout}{came.stderr}")
            came = trial.run(self.live, self.executable, script=turns, mode=mode, **options)
        assert not came.timed_out, f"it hung: {came.stdout}{came.stderr}"
        return came

    def _state_files(self) -> dict[Path, int]:
        """Each file of Tenterhook's state with its time of change; a hook that runs or a failing bridge changes one."""
        return {file: file.stat().st_mtime_ns for file in self.state.rglob("*") if file.is_file()}

    def _own_variables(self) -> dict[str, str]:
        """Copilot unpacks itself, 235 MB: once is enough for all homes."""
        return {"XDG_CACHE_HOME": str(agents.FOLDER / "unpacked")} if self.live.name == "copilot" else {}

    @property
    def record_file(self) -> Path:
        """What `install` wrote down for this agent."""
        return self.state / "installed" / f"{self.live.name}.json"

    def edit_record(self, **changes: Any) -> None:
        record = json.loads(self.record_file.read_text())
        self.record_file.write_text(json.dumps({**record, **changes}))

    @property
    def state(self) -> Path:
        return self.home / ".local" / "state" / "tenterhook"

    def unanswered(self) -> list[str]:
        """The events that nobody answered, as the installed line wrote them down: time, agent, event, status."""
        log = self.state / "bridge.log"
        return log.read_text().splitlines() if log.exists() else []


def told(came: Trial, text: str) -> bool:
    """Whether the model was sent a text."""
    return any(mentions(request.body, text) for request in came.requests)


def results_with(came: Trial, text: str) -> list[str]:
    """The tool results that a text is in."""
    return [result for result in came.tool_results if text in result]


def shown(came: Trial) -> str:
    """A run in words, for a test that fails."""
    results = "\n".join(f"  {result!r}" for result in came.tool_results)
    return f"exit {came.exit_code}, results:\n{results}\nstdout: {came.stdout}\nstderr: {came.stderr}"


CHOSEN = pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
REFUSED = "this is refused"


def check_nobody_answers(guarded: Guarded, closed: bool, *, status: str, doctor: str) -> None:
    """Every tool call is refused, or none is; and it is written down, with the exit status of the bridge."""
    came = guarded.calls(guarded.touch("forbidden"), guarded.touch("harmless"))
    assert [guarded.left(name) for name in ("forbidden", "harmless")] == [not closed] * 2, shown(came)
    if closed:
        assert len(results_with(came, REFUSED)) == 2, shown(came)
    assert [line for line in guarded.unanswered() if line.endswith(f" {status}")], guarded.unanswered()
    assert doctor in guarded.doctor()[1]


def flags(closed: bool) -> list[str]:
    return ["--closed"] if closed else []


def copied_environment(folder: Path, *, version: str | None = None) -> Path:
    """An environment with a copy of the package in it; returns its interpreter. Our dependencies are found here."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    [packages] = folder.glob("lib/python*/site-packages")
    shutil.copytree(places.PACKAGE, packages / "tenterhook", ignore=shutil.ignore_patterns("__pycache__"))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    if version is not None:
        init = packages / "tenterhook" / "__init__.py"
        init.write_text(init.read_text().replace(__version__, version))
    return python
