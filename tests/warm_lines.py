"""A plugin for pytest (`-p warm_lines`): every shell line of a hook begins in a prepared interpreter.

What running promises is then promised of processes made from it, by the same tests, unchanged.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support import until
from tenterhook.runs import running, warming
from tenterhook.runs.spawning import Spawner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_LINE = """
import os, signal
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
os.execve({program!r}, {argv!r}, os.environb)
"""
COUNT = [0]


@pytest.fixture(autouse=True)
def warm_lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in os.environ:
        if name.startswith("PYTHON"):
            monkeypatch.delenv(name)
    spawn, run_stage = Spawner.spawn, running.run_stage
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "run.py"

        def start(spawner: Spawner, argv: tuple[str, ...], cwd: str, env: Mapping[bytes, bytes], *pipes: int) -> int:
            if argv[0] == "/bin/sh":
                script.write_text(_LINE.format(program=argv[0], argv=argv))
                pid = _begun(script, cwd, env, pipes)
                if pid is not None:
                    COUNT[0] += 1
                    return pid
            return spawn(spawner, argv, cwd, env, *pipes)

        def prepare_and_run(given: Iterable[running.Command], *rest: Any) -> list[running.Ended]:
            commands = list(given)
            script.write_text("")
            for command in commands[:1]:
                if b"\0" not in b"".join(command.env.values()):
                    os.waitpid(until(lambda env=command.env: _begun(script, "/", env, (0, 1, 2))), 0)  # type: ignore[misc]
            return run_stage(commands, *rest)

        monkeypatch.setattr(Spawner, "spawn", start)
        monkeypatch.setattr(running, "run_stage", prepare_and_run)
        yield
    warming.INTERPRETERS.end()


def _begun(script: Path, cwd: str, env: Mapping[bytes, bytes], pipes: Sequence[int]) -> int | None:
    python = warming.Python(sys.executable, (sys.executable, str(script)))
    return warming.start(python, cwd, env, pipes)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"{COUNT[0]} lines began in a prepared interpreter")
