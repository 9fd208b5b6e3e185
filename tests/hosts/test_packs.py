"""A project that brings its packs, in real agents: from `git clone` to protected, and a store that is tampered with."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from cli.packs_in_use import other_person
from hosts.real import results_with, shown
from packs.repositories import PackRepository, git
from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path

    from hosts.real import Guarded

REASON = "the team says no"


@pytest.fixture
def origin(tmp_path: Path, home: Path) -> Path:
    """A repository of a colleague, with a pack that is locked and committed."""
    pack = PackRepository(tmp_path / "agent-hooks")
    pack.hook("no-forbidden", "forbidden", reason=REASON, metadata="on_failure: block")
    pack.commit("v1.0.0")
    repository = tmp_path / "origin"
    repository.mkdir()
    git(repository, "init", "-q")
    colleague = {"cwd": repository, "env": other_person(home)}
    assert tenterhook("pack", "add", f"{pack.source}@v1.0.0", "--project", "--yes", **colleague).returncode == 0
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "hooks")
    return repository


@pytest.mark.agents
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_clone_is_protected_after_one_trust_and_a_tampered_store_is_found_at_the_next_event(
    name: str, guarded: Guarded, origin: Path, tmp_path: Path
) -> None:
    shutil.rmtree(guarded.project)
    git(tmp_path, "clone", "-q", str(origin), str(guarded.project))
    os.chdir(guarded.project)
    guarded.install()
    came = guarded.calls(guarded.touch("forbidden-before"))
    assert guarded.left("forbidden-before"), "nothing of a repository runs before it is trusted"
    trusted = tenterhook("trust", "--all", "--yes")
    assert trusted.returncode == 0, trusted.stderr
    assert f"echo {REASON}" in trusted.stdout

    came = guarded.calls(guarded.touch("forbidden-then"))
    assert not guarded.left("forbidden-then"), shown(came)
    assert results_with(came, REASON), shown(came)

    script = next((guarded.home / ".local/share/tenterhook/packs").glob("*/no-forbidden/scripts/run.sh"))
    script.chmod(0o755)
    script.write_text("#!/bin/sh\nexit 0\n")
    came = guarded.calls(guarded.touch("forbidden-tampered"), guarded.touch("harmless"))
    assert not guarded.left("forbidden-tampered"), shown(came)
    assert results_with(came, "its files are not those of hooks.lock"), shown(came)
    assert guarded.left("harmless"), "what the hook is not for goes on"
