"""Completion, as a real bash, zsh and fish do it when Tab is pressed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pexpect
import pyte
import pytest

from support import close_terminal, folder_hook, project_hooks, tenterhook, until, user_hooks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SHELLS = ("bash", "zsh", "fish")
START = {
    "bash": ["--norc", "--noprofile", "-i"],
    "zsh": ["-f", "-i"],
    "fish": ["--no-config", "-i"],
}
SET_UP = {
    "bash": "bind 'set show-all-if-ambiguous on'; bind 'set bell-style none'; PS1='ready> '",
    "zsh": "autoload -Uz compinit; compinit -D; unsetopt beep; PS1='ready> '",
    "fish": "function fish_prompt; echo -n 'ready> '; end",
}
NOW = {
    "bash": 'eval "$(tenterhook completion bash)"',
    "zsh": 'eval "$(tenterhook completion zsh)"',
    "fish": "tenterhook completion fish | source",
}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH on which `tenterhook` is the one that is tested."""
    command = tmp_path / "bin" / "tenterhook"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tenterhook "$@"\n')
    command.chmod(0o755)
    return f"{command.parent}:{os.environ['PATH']}"


class Shell:
    """A shell in a terminal, with completion set up as its help says."""

    def __init__(self, name: str, path: str, cwd: Path) -> None:
        environment = {**os.environ, "PATH": path, "TERM": "xterm", "NO_COLOR": "1", "PS1": "ready> "}
        self._child = pexpect.spawn(
            name, START[name], env=environment, cwd=str(cwd), dimensions=(60, 200), encoding="utf-8"
        )
        self._screen = pyte.Screen(200, 60)
        self._stream = pyte.Stream(self._screen)
        for line in (SET_UP[name], NOW[name]):
            self._child.send(f"{line}; echo 'now 'it is so\r")
            until(lambda: self._shows("now it is so"), 60)
            self._child.send("\x0c")  # clears the screen
            until(lambda: not self._shows("now it is so"), 60)

    def _shows(self, *texts: str) -> bool:
        """Whether all of these words are on the screen by now."""
        with contextlib.suppress(pexpect.TIMEOUT):
            self._stream.feed(self._child.read_nonblocking(65536, timeout=0.1))
        text = "\n".join(self._screen.display)
        return all(re.search(rf"(?<![\w-]){re.escape(each)}(?![\w-])", text) for each in texts)

    def offers(self, typed: str, *expected: str) -> None:
        """Type a line, press Tab, and see all of these on the screen; then clear it."""
        self._child.send(f"{typed}\t")
        until(lambda: self._shows(*expected), 60)
        self._child.send("\x15\x0c")
        until(lambda: not self._shows(*expected), 60)

    def close(self) -> None:
        close_terminal(self._child)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, path: str, project: Path) -> Iterator[Shell]:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    shell = Shell(request.param, path, project)
    yield shell
    shell.close()


def test_tab_completes_what_a_shell_cannot_know(shell: Shell, home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard-one")
    folder_hook(user_hooks(home), "guard-two")
    folder_hook(project_hooks(project), "theirs")
    shell.offers("tenterhook un", "uninstall", "untrust")
    shell.offers("tenterhook show guard-", "guard-one", "guard-two")
    shell.offers("tenterhook trigger pre-sub", "pre-subagent")
    shell.offers("tenterhook install kimi-c", "kimi-cli", "kimi-code")
    shell.offers("tenterhook add block-d", "block-dangerous-commands")


def completed(*words: str) -> list[str]:
    """The completions of the last word, as bash gets them."""
    asked = {
        **os.environ,
        "_TENTERHOOK_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("tenterhook", *words)),
        "COMP_CWORD": str(len(words)),
    }
    ended = tenterhook(env=asked)
    assert ended.stderr == ""
    return [line.removeprefix("plain,") for line in ended.stdout.splitlines()]


def everything_below(directory: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for path in directory.rglob("*"):
        kept = path.lstat()
        found[str(path)] = (kept.st_mtime_ns, kept.st_size)
    return found


def test_hooks_events_agents_and_sessions_are_known(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "mine")
    folder_hook(project_hooks(project), "theirs")
    tenterhook("trigger", "pre-tool-call", "--tool", "Shell", "--session", "session_one")
    assert completed("show", "m") == ["mine"]
    assert completed("test", "") == ["mine", "theirs"]
    assert completed("trust", "") == ["theirs"]
    tenterhook("trust", "theirs", "--yes")
    assert completed("untrust", "th") == ["theirs"]
    assert completed("log", "--hook", "mi") == ["mine"]
    assert completed("log", "--session", "") == ["session_one"]
    assert completed("trigger", "PreT") == ["PreToolUse"]
    assert completed("doctor", "ge") == ["gemini"]
    assert "block-dangerous-commands" in completed("add", "")
    assert completed("completion", "") == ["bash", "zsh", "fish"]
    assert completed("log", "st") == ["stats"]


@pytest.mark.parametrize("name", ["x;touch y", "$(touch y)", "`touch y`", "a b", "*", "--all", "x|sh", "x>y"])
def test_a_name_that_a_shell_would_read_more_into_is_not_offered(home: Path, project: Path, name: str) -> None:
    folder_hook(project_hooks(project), "fine")
    folder_hook(project_hooks(project), name)
    assert completed("trust", "") == completed("show", "fi") == completed("test", "") == ["fine"]


def test_a_session_of_the_agent_can_be_resumed_by_its_id(home: Path, project: Path) -> None:
    kept = home / ".local/state/tenterhook/agent"
    kept.mkdir(parents=True)
    (kept / "session_two.jsonl").write_text("{}\n")
    assert completed("agent", "--resume", "ses") == ["session_two"]


def test_tab_runs_no_hook_and_writes_nothing(home: Path, project: Path, tmp_path: Path) -> None:
    script = f"touch {tmp_path}/ran"
    folder_hook(user_hooks(home), "mine", script)
    folder_hook(user_hooks(home), "first", script, "pre-session")
    folder_hook(project_hooks(project), "theirs", script)
    before = everything_below(tmp_path)
    for words in (
        ("",),
        ("show", ""),
        ("trust", ""),
        ("untrust", ""),
        ("install", ""),
        ("add", ""),
        ("log", "--session", ""),
    ):
        completed(*words)
    assert everything_below(tmp_path) == before


def test_a_broken_place_leaves_tab_silent(home: Path, project: Path) -> None:
    project.rmdir()
    assert completed("show", "x") == []
    assert completed("trust", "") == []


def test_commands_are_listed_without_loading_them(project: Path) -> None:
    code = (
        "import os, sys; from tenterhook import cli\n"
        "try: cli.run([])\nexcept SystemExit: pass\n"
        "print(*[name for name in sys.modules if name.startswith('tenterhook.cli.')], file=sys.stdout)"
    )
    asked = {**os.environ, "_TENTERHOOK_COMPLETE": "bash_complete", "COMP_WORDS": "tenterhook ", "COMP_CWORD": "1"}
    ended = subprocess.run([sys.executable, "-c", code], env=asked, capture_output=True, text=True, check=True)
    *commands, loaded = ended.stdout.splitlines()
    assert "plain,trigger" in commands
    assert loaded == "tenterhook.cli.groups", "no command"


def test_an_unknown_shell_is_wrong_usage() -> None:
    ended = tenterhook("completion", "tcsh")
    assert ended.returncode == 64
    assert "'bash', 'zsh', 'fish'" in ended.stderr
