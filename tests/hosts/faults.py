"""What tests of a failing bridge share: the choice at `install`, an environment to break, what must follow."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tenterhook
from hosts.real import results_with, shown

if TYPE_CHECKING:
    from hosts.real import Guarded

CHOSEN = pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
REFUSED = "this is refused"


def flags(closed: bool) -> list[str]:
    return ["--closed"] if closed else []


def copied_environment(folder: Path, *, version: str | None = None) -> Path:
    """An environment with a copy of the package in it; returns its interpreter. Our dependencies are found here."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    [packages] = folder.glob("lib/python*/site-packages")
    ours = Path(tenterhook.__file__).parent
    shutil.copytree(ours, packages / "tenterhook", ignore=shutil.ignore_patterns("__pycache__"))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    if version is not None:
        init = packages / "tenterhook" / "__init__.py"
        init.write_text(init.read_text().replace(tenterhook.__version__, version))
    return python


def check_nobody_answers(guarded: Guarded, closed: bool, *, status: str, doctor: str) -> None:
    """Every tool call is refused, or none is; and it is written down, with the exit status of the bridge."""
    came = guarded.calls(guarded.touch("forbidden"), guarded.touch("harmless"))
    assert [guarded.left(name) for name in ("forbidden", "harmless")] == [not closed] * 2, shown(came)
    if closed:
        assert len(results_with(came, REFUSED)) == 2, shown(came)
    assert [line for line in guarded.unanswered() if line.endswith(f" {status}")], guarded.unanswered()
    assert doctor in guarded.doctor()[1]
