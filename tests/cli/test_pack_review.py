"""Cases of a pack that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.packs_in_use import CASE
from packs.repositories import PackRepository
from support import shell_call, tenterhook
from tenterhook import Engine
from tenterhook.journal.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path


def test_an_update_whose_cases_fail_is_not_taken_without_a_person(pack: PackRepository, repository: Path) -> None:
    cases = pack.path / "hooks/no-deploy/cases"
    cases.mkdir()
    (cases / "blocks.toml").write_text(CASE.replace("deny", "allow"))
    pack.commit("v1.1.0")
    refused = tenterhook("pack", "update", "--project", "--yes")
    assert refused.returncode == 1
    assert "cases of agent-hooks v1.1.0 fail" in refused.stderr
    assert "v1.0.0" in (repository / ".agents/hooks.toml").read_text()


def test_the_journal_is_replayed_against_both_revisions_of_the_chosen_hooks(
    pack: PackRepository, project: Path, tmp_path: Path
) -> None:
    """What the old one blocked and the new one does not is told, also if its matcher finds nothing any more."""
    other = pack.hook("other", "touch") / "scripts/run.sh"
    other.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 2\n")
    gone = pack.hook("gone", "removed") / "scripts/run.sh"
    pack.commit("v1.1.0")
    assert tenterhook("pack", "add", pack.source, "--only", "no-deploy,gone", "--yes").returncode == 0
    for command in ("make deploy", "make release", "removed", "touch it", "ls"):
        Engine.load(project=project, journal=Journal("claude-code")).decide(shell_call(command))
    pack.hook("no-deploy", "release")
    for file in (gone, gone.parent.parent / "HOOK.md"):
        file.unlink()
    pack.hook("gone-elsewhere", "removed")
    pack.commit("v1.2.0")
    updated = tenterhook("pack", "update", "--dry-run", "--yes")
    assert "1 newly blocked, 2 no longer blocked" in updated.stdout, updated
    assert "newly blocked: no-deploy  make release" in updated.stdout
    assert "no longer blocked: no-deploy  make deploy" in updated.stdout
    assert "no longer blocked: gone  removed" in updated.stdout
    assert not (tmp_path / "ran").exists(), "a hook that was not chosen, and is not shown, does not run"
