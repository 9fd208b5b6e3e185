"""Every recipe of the cookbook does what it says: its files are written, its commands run, in a home of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from documents import ROOT, settled
from support import console_steps

COOKBOOK = ROOT / "docs" / "cookbook.md"
RECIPES = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", COOKBOOK.read_text(), re.MULTILINE | re.DOTALL))
# A code block, and the path above it if it is a file.
BLOCK = re.compile(r"(?:^`(~/[^`\n]+)`\n\n)?^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# What `install` says if this checkout is in a temporary directory.
TEMPORARY = re.compile(r"^this will not last: .*\n  install Tenterhook .*\n", re.MULTILINE)


def test_there_are_at_least_twelve_recipes() -> None:
    assert len(RECIPES) >= 12


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_does_what_it_says(recipe: str, home: Path, project: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    executed = 0
    for path, language, text in BLOCK.findall(RECIPES[recipe]):
        if path:
            file = home / path.removeprefix("~/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            continue
        assert language == "console", "a file needs its path in the line above it"
        for command, expected in console_steps(text):
            ended = subprocess.run(
                ["bash", "-c", command], capture_output=True, text=True, cwd=project, env=environment
            )
            assert settled(ended.stdout) == settled(expected), f"{command}\n{ended.stderr}"
            assert TEMPORARY.sub("", ended.stderr) == "", command
            executed += 1
    assert executed, "nothing shows what happens"
    checked = subprocess.run(["tenterhook", "check"], capture_output=True, text=True, cwd=project, env=environment)
    assert "0 errors, 0 warnings" in checked.stdout, checked.stdout
