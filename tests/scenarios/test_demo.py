"""`make demo`: the session it plays, what it says about it, and that it notices when something did not happen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).parent.parent.parent
DEMO = ROOT / "examples" / "demo.py"
HEADINGS = (
    "The session begins",
    "A dangerous command is refused, and the model finds another way",
    "An input is modified, and a hook answers the approval",
    "A person approves, a file is formatted, and only passing tests let it stop",
    "A subagent works in the background under the same hooks, and cannot switch them off",
    "The context is compacted",
    "The session ends",
    "/hooks: what they were and what they did",
    "What happened",
)
# What each hook is there for, in the words in which the demo misses it.
MISSED = {
    "block-dangerous-commands": "a dangerous command was refused, and did not run",
    "our-runner": "an input was modified",
    "approve-tests": "a hook answered an approval",
    "auto-format-python": "a file was formatted",
    "enforce-tests": "the agent was sent back until the tests passed",
    "protect-hooks": "it could not switch the hooks off",
    "session-logger-end": "its begin and end were logged",
}


def demo(
    temporary: Path, *arguments: str, python: str = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run it with a directory for temporary files of its own."""
    temporary.mkdir()
    return subprocess.run(
        [python, str(DEMO), *arguments],
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


def test_everything_happens_that_the_headings_say_and_nothing_is_left_behind(tmp_path: Path, home: Path) -> None:
    ended = demo(tmp_path / "tmp")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    headings = [line.removeprefix("── ") for line in ended.stdout.splitlines() if line.startswith("── ")]
    assert len(headings) == len(HEADINGS)
    assert all(heading.startswith(expected) for heading, expected in zip(headings, HEADINGS, strict=True))
    points = ended.stdout.partition("── What happened\n")[2].splitlines()
    assert set(MISSED.values()) <= {point.removeprefix("✓ ") for point in points}
    assert points[-1] == "everything happened as it should"
    assert "\x1b" not in ended.stdout
    assert not ended.stderr
    assert list((tmp_path / "tmp").iterdir()) == []
    assert list(home.iterdir()) == []
    assert left_running(tmp_path / "tmp") == []


@pytest.mark.slow
def test_it_brings_a_formatter_where_there_is_none(tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("python", "python3"):
        (bare / name).symlink_to(sys.executable)  # an interpreter with nothing beside it
    packages = os.pathsep.join(path for path in sys.path if path)
    ended = demo(tmp_path / "tmp", python=str(bare / "python"), PATH=f"{bare}:/usr/bin:/bin", PYTHONPATH=packages)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.slow
def test_it_has_colours_on_a_terminal(tmp_path: Path) -> None:
    child = pexpect.spawn(sys.executable, [str(DEMO)], encoding="utf-8", timeout=100, dimensions=(50, 200))
    child.expect_exact("everything happened as it should")
    assert "\x1b[" in (child.before or "")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


# After the first one that is missed the session goes another way: each alone is tried where there is time.
BROKEN = [
    ["block-dangerous-commands"],
    ["protect-hooks", "session-logger-end"],
    *(pytest.param([hook], marks=pytest.mark.thorough) for hook in MISSED if hook != "block-dangerous-commands"),
]


@pytest.mark.slow
@pytest.mark.parametrize("hooks", BROKEN, ids=" ".join)
def test_it_misses_hooks_that_do_not_work(hooks: list[str], tmp_path: Path) -> None:
    ended = demo(tmp_path / "tmp", *(part for hook in hooks for part in ("--break", hook)))
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert {f"✗ {MISSED[hook]}" for hook in hooks} <= set(ended.stdout.splitlines())
    assert "Traceback" not in ended.stderr


def test_only_a_hook_that_exists_can_be_broken(tmp_path: Path) -> None:
    assert demo(tmp_path / "tmp", "--break", "nonsense").returncode == 2
