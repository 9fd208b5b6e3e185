"""A session, event by event, through the example hooks beside this file: what ran, how long, what was decided, why.

Nothing leaves this machine, and nothing is written outside a temporary directory. Exit status 0 only if every
decision was the one the hooks are there for.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import click

from tenterhook import Engine, Event, Verdict
from tenterhook.cli.printing import print_verdict

HERE = Path(__file__).parent


class Scene(NamedTuple):
    """What happens, and what the hooks should make of it."""

    title: str
    event: str
    fields: dict[str, Any]
    decision: str
    with_test: bool = False  # whether the agent has written one by now


SCENES = (
    Scene("The session starts; a hook sets a variable and adds context.", "pre-session", {"source": "startup"}, "none"),
    Scene(
        "A prompt with a password in it never reaches the model (array format).",
        "UserPromptSubmit",
        {"prompt": "The password is hunter2, log in for me"},
        "deny",
    ),
    Scene(
        "A harmless command: no hook has anything to say.",
        "pre-tool-call",
        {"tool_name": "Shell", "tool_input": {"command": "ls -la"}},
        "none",
    ),
    Scene(
        "A dangerous command is refused, whatever the agent calls its shell.",
        "PreToolUse",
        {"tool_name": "run_shell_command", "tool_input": {"command": "sudo rm -rf / --no-preserve-root"}},
        "deny",
    ),
    Scene(
        "An input is modified before the tool runs, and a Python function asks about the result.",
        "before_tool",
        {"tool_name": "Shell", "tool_input": {"command": "git push --force origin main"}},
        "ask",
    ),
    Scene(
        "A hook answers an approval, so that nobody is asked.",
        "PermissionRequest",
        {"tool_name": "Bash", "tool_input": {"command": "git status"}, "permission_request_id": "p1"},
        "approve",
    ),
    Scene(
        "A file outside the project; its name tries to be a command (table format, a placeholder is data).",
        "pre-tool-call",
        {"tool_name": "WriteFile", "tool_input": {"file_path": '/etc/$(touch pwned)"; touch pwned #'}},
        "deny",
    ),
    Scene(
        "A file was written; an asynchronous hook notes it while the agent goes on.",
        "post-tool-call",
        {"tool_name": "WriteFile", "tool_input": {"file_path": "app.py", "content": "print('hello')"}},
        "none",
    ),
    Scene("The agent wants to stop without a test: it is sent back to work.", "Stop", {"step_count": 3}, "deny"),
    Scene("With a test it may stop.", "Stop", {"step_count": 5}, "none", with_test=True),
)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="tenterhook-demo-") as temporary:
        os.environ.update(HOME=temporary, XDG_STATE_HOME=f"{temporary}/state", XDG_CACHE_HOME=f"{temporary}/cache")
        os.environ.pop("XDG_CONFIG_HOME", None)
        project = Path(temporary, "project")
        project.mkdir()
        (project / "pyproject.toml").touch()
        shutil.copytree(HERE / "hooks", Path(temporary, ".config", "agents", "hooks"))
        return play(project)


def play(project: Path) -> int:
    engine = Engine.load(project, configs=[HERE / "kimi-code.toml", HERE / "kimi-cli.toml"])

    @engine.on("pre-tool-call", tool="Shell", pattern=r"^git push", priority=50)
    def ask_before_pushing(event: Event) -> dict[str, str]:
        return {"decision": "ask", "reason": f"Push with `{event.tool_input['command']}`?"}

    click.echo(f"{len(engine.hooks) - 1} hooks in three formats, and a Python function\n")
    wrong = 0
    for number, scene in enumerate(SCENES, start=1):
        if scene.with_test:
            (project / "test_app.py").touch()
        click.echo(click.style(f"{number}. {scene.title}", fg="blue"))
        verdict = engine.decide(Event(scene.event, session_id="demo", work_dir=project, **scene.fields))
        print_verdict(verdict)
        wrong += _is_wrong(verdict, scene)
        click.echo()
    wrong += _check_aftermath(project)
    click.echo("every decision was as it should be" if not wrong else f"{wrong} decisions were not as they should be")
    return 1 if wrong else 0


def _is_wrong(verdict: Verdict, scene: Scene) -> int:
    failed = [run.hook.name for run in verdict.runs if run.failed]
    if verdict.decision == scene.decision and not failed and not verdict.problems:
        return 0
    click.echo(f"expected {scene.decision}, nothing failed and no problems: {failed} {verdict.problems}", err=True)
    return 1


def _check_aftermath(project: Path) -> int:
    """The asynchronous hook has done its work, and no file name has become a command."""
    record = Path(os.environ["XDG_STATE_HOME"], "tenterhook", "async.jsonl")  # the last thing its minder writes
    deadline = time.monotonic() + 20
    while not (record.exists() and record.read_text().endswith("\n")) and time.monotonic() < deadline:
        time.sleep(0.02)
    noted = (project / "changes.log").read_text() if (project / "changes.log").exists() else "nothing"
    click.echo(f"noted in the background: {noted.strip()}")
    return int("app.py (python)" not in noted) + int((project / "pwned").exists())


if __name__ == "__main__":
    sys.exit(main())
