"""The interpreters that `install` records, and its own if that is a temporary one."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from install.installations import executable
from support import folder_hook, tenterhook, user_hooks
from tenterhook.catalog import loading
from tenterhook.catalog.trust import Trust
from tenterhook.install import interpreters


@pytest.fixture
def shims(tmp_path: Path) -> Path:
    """A folder with a shim for `node`, as version managers have it; the real one is in `real/`."""
    real = executable(tmp_path / "real/node", "#!/bin/sh\n")
    return executable(tmp_path / "shims/node", f"#!/bin/sh\necho {real}\n").parent


def test_the_interpreter_behind_a_shim_is_recorded(shims: Path, tmp_path: Path) -> None:
    found = interpreters.files(f"{shims}:/bin")
    assert found["node"] == str(tmp_path / "real/node")
    assert found["sh"] == "/bin/sh"
    assert "no-such-interpreter" not in interpreters.files("/bin", ["no-such-interpreter"])


@pytest.mark.parametrize("script", ["exit 1", "echo relative/node", "echo /nowhere/node"])
def test_a_shim_that_does_not_tell_what_it_starts_is_not_recorded(shims: Path, script: str) -> None:
    executable(shims / "node", f"#!/bin/sh\n{script}\n")
    assert "node" not in interpreters.files(str(shims))
    assert interpreters.path_for_hooks(f"{shims}:/bin") == f"{shims}:/bin"


def test_interpreters_that_scripts_name_without_a_path_are_found(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "by-name", "#!/usr/bin/env -S python3.12 -u\n")
    folder_hook(user_hooks(home), "by-path", "#!/bin/sh\n")
    (folder_hook(user_hooks(home), "without-script") / "scripts/run.sh").unlink()
    assert interpreters.named_by(loading.load(str(project), trust=Trust(str(project))).hooks) == {"python3.12"}


def test_install_from_a_temporary_environment_says_so_and_what_to_use(home: Path, tmp_path: Path) -> None:
    source = Path(interpreters.__file__).parent.parent
    site = tmp_path / "uv" / "archive-v0" / "x1y2" / "lib"
    shutil.copytree(source, site / "tenterhook", ignore=shutil.ignore_patterns("__pycache__"))
    ended = tenterhook("install", "gemini", env={**os.environ, "PYTHONPATH": str(site)})
    assert ended.returncode == 0
    assert "this will not last" in ended.stderr
    assert str(site) in ended.stderr or sys.executable in ended.stderr
    assert "a permanent environment" in ended.stderr
    assert "this will not last" not in ended.stdout


def test_install_says_nothing_of_the_kind_elsewhere(home: Path) -> None:
    said = tenterhook("install", "gemini").stderr
    assert ("this will not last" in said) == (interpreters.temporary() is not None)
