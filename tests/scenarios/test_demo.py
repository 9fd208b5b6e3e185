"""`make demo`: a session in which a person answers one question, on a screen of 80 by 24; and without a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.screens import Terminal

ROOT = Path(__file__).parent.parent.parent
DEMO = ROOT / "examples" / "demo.py"
HEADINGS = [
    "A guard refuses a dangerous command, and the model finds another way",
    "A hook of yours asks: you decide",
    "A file is formatted, and the agent may stop only when the tests pass",
    "It cannot switch its guards off",
    "In this demo, hooks blocked 3 times and asked once",
]


def demo(temporary: Path, python: str = sys.executable, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it with a directory for temporary files of its own."""
    temporary.mkdir()
    return subprocess.run(
        [python, str(DEMO)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(temporary), **environment},
        timeout=100,
    )


def left_running(temporary: Path) -> list[str]:
    """Processes that the demo has started, by what it has told them."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(temporary) in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_without_a_terminal_it_runs_by_itself_and_leaves_nothing_behind(tmp_path: Path, home: Path) -> None:
    ended = demo(tmp_path / "tmp")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    lines = ended.stdout.splitlines()
    assert [line.removeprefix("── ") for line in lines if line.startswith("── ")] == HEADINGS
    assert [line for line in lines if line.startswith("  Shell approved by the demo, which has no terminal")]
    assert sum("run-download" in line for line in lines) == 1  # a refusal is shown once
    assert lines[-2].endswith("tenterhook setup")
    assert len(lines) < 60
    assert "\x1b" not in ended.stdout
    assert not ended.stderr
    assert list((tmp_path / "tmp").iterdir()) == []
    assert list(home.iterdir()) == []
    assert left_running(tmp_path / "tmp") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "answered", "version"),
    [("y", "Shell approved by terminal", "1.1"), ("n", "Shell refused by terminal", "1.0")],
    ids=["yes", "no"],
)
def test_a_person_answers_with_a_key_and_sees_what_follows(key: str, answered: str, version: str) -> None:
    terminal = Terminal(program=[str(DEMO)])
    lines = terminal.wait_for("allow? ")
    assert "  because: customers would see it" in lines
    terminal.type(key)
    lines = terminal.wait_for("what is live now: version ")
    assert any(answered in line for line in lines)
    status, lines = terminal.end()
    assert status == 0
    assert f"what is live now: version {version}" in terminal.written
    assert "tenterhook setup" in "\n".join(lines[-4:])
    assert terminal.written.count("[run-download]") == 1
    assert "\x1b[" in terminal.written
    assert terminal.too_wide() == []


@pytest.mark.slow
def test_it_brings_a_formatter_where_there_is_none(tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("python", "python3"):
        (bare / name).symlink_to(sys.executable)  # an interpreter with nothing beside it
    packages = os.pathsep.join(path for path in sys.path if path)
    ended = demo(tmp_path / "tmp", python=str(bare / "python"), PATH=f"{bare}:/usr/bin:/bin", PYTHONPATH=packages)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_hook_that_does_not_do_what_the_script_expects_is_an_error(tmp_path: Path) -> None:
    text = DEMO.read_text().replace('"code from the network"', '"something else"')
    broken = tmp_path / "demo.py"
    broken.write_text(text.replace("Path(__file__).parent", f"Path({str(DEMO.parent)!r})"))
    ended = subprocess.run([sys.executable, str(broken)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ended.returncode == 1
    assert "The turn failed: " in ended.stdout
