"""docs/converting.md does what it says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from authoring.convert.ways import program
from documents import settled, steps

PAGE = Path(__file__).parents[3] / "docs" / "converting.md"


def test_the_examples_print_what_they_show(project: Path, tmp_path: Path) -> None:
    path = f"{program(tmp_path / 'bin').parent}:{os.environ['PATH']}"
    shown = steps(PAGE)
    assert len(shown) >= 5
    for command, expected in shown:
        ended = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, cwd=project, env={**os.environ, "PATH": path}
        )
        assert settled(ended.stdout) == settled(expected), f"{command}\n{ended.stderr}"
        assert "Traceback" not in ended.stderr
