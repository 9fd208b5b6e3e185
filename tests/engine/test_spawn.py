"""How a process is started: where, in a group of its own, and without our descriptors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest

from engine.one_hook import HANG, run_of
from support import (
    alive,
    array_hook,
    folder_hook,
    needs_proc,
    shell_call,
    table_hook,
    user_hooks,
    write_config,
)
from tenterhook import Engine
from tenterhook.engine.process_runner import Command, run_stage

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("format_", ["folder", "table", "array"])
def test_the_working_directory_is_the_sessions(home: Path, project: Path, format_: str) -> None:
    elsewhere = project / "else where"
    elsewhere.mkdir()
    if format_ == "folder":
        folder_hook(user_hooks(home), "where", "pwd > here")
        engine = Engine.load()
    else:
        make = table_hook if format_ == "table" else array_hook
        engine = Engine.load(configs=[write_config(project / "hooks.toml", make("pwd > here"))])
    engine.decide(shell_call(work_dir=elsewhere))
    assert (elsewhere / "here").read_text().strip() == str(elsewhere)


def test_a_hook_has_a_process_group_of_its_own(project: Path) -> None:
    told = f"{sys.executable} -c 'import os; print(os.getppid(), os.getpgrp())' > told; true"
    run_of(project, array_hook(told))
    leader, group = (project / "told").read_text().split()
    assert leader == group != str(os.getpgrp())


@needs_proc
@pytest.mark.parametrize("call", ["os.posix_spawn", "subprocess.Popen", "os.pidfd_open"])
def test_ctrl_c_in_the_moment_of_a_start_ends_the_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, at_once: None
) -> None:
    owner, _, name = call.partition(".")
    module = {"os": os, "subprocess": subprocess}[owner]
    real = getattr(module, name)
    started = []

    def interrupted(what: Any, *arguments: Any, **options: Any) -> Any:
        """It happens, but nobody hears of the result."""
        result = real(what, *arguments, **options)
        if name == "pidfd_open" or "/bin/sh" in what:
            started.append(result)
            os.kill(os.getpid(), signal.SIGINT)
        return result

    monkeypatch.setattr(module, name, interrupted)
    cwd = os.getcwd() if module is os else str(tmp_path)
    script = f"echo $$ > {tmp_path}/leader; sleep 60"
    with pytest.raises(KeyboardInterrupt):
        run_stage([Command(("/bin/sh", "-c", script), b"{}", cwd, dict(os.environb), 60.0)])
    if name == "pidfd_open":
        os.close(started[0])
    elif name == "Popen":
        started[0].returncode = 0  # it does not warn of a process that has been reaped for it
    leader = tmp_path / "leader"
    time.sleep(0.2)  # a process that was not ended would have begun by now
    assert len(started) == 1
    assert not leader.exists() or not (pid := leader.read_text()) or not alive(int(pid))


@pytest.mark.slow
@pytest.mark.parametrize(
    "before",
    [0, *(pytest.param(number, marks=pytest.mark.thorough) for number in (1, 2)), 3],
    ids="{} events before".format,
)
@pytest.mark.parametrize("age", [0, 3600], ids=["new hooks", "old hooks"])
def test_without_a_descriptor_left_a_hook_cannot_start_and_nothing_is_raised(
    project: Path, before: int, age: int
) -> None:
    """What is imported late, or looked at again, would need one too."""
    write_config(project / "hooks.toml", array_hook("exit 0"))
    os.utime(project / "hooks.toml", (time.time() - age,) * 2)
    code = f"""
        import os, resource, time
        from tenterhook import Engine, Event
        engine = Engine.load(configs=["hooks.toml"])
        call = Event("pre-tool-call", tool_name="Shell", tool_input={{}})
        for _ in range({before}):
            engine.decide(call)
        time.sleep(1.1)  # what was known of descriptors is too old by now
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        held = []
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        print(engine.decide(call).runs[0].why)
    """
    said = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=HANG)
    assert said.stdout.startswith("cannot start: Too many open files"), said.stderr


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
