"""`tenterhook pack update` and `pack diff`: newer tags, moved tags, rewritten branches."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from cli.packs_in_use import CASE, DEPLOY
from packs.repositories import PackRepository, git
from support import on_a_terminal, tenterhook, trigger

if TYPE_CHECKING:
    from pathlib import Path


def test_update_shows_the_difference_runs_the_cases_and_moves_to_the_newest_tag(
    pack: PackRepository, repository: Path
) -> None:
    pack.hook("no-deploy", "deploy", reason="ask the team")
    cases = pack.path / "hooks/no-deploy/cases"
    cases.mkdir()
    (cases / "blocks.toml").write_text(CASE)
    pack.commit("v1.1.0")
    shown = tenterhook("pack", "diff", "agent-hooks", "--project").stdout
    assert "-echo not this >&2" in shown
    assert "+echo ask the team >&2" in shown
    assert trigger(*DEPLOY)["reason"] == "not this"
    updated = tenterhook("pack", "update", "--project", "--yes")
    assert "1 case passed, 0 failed" in updated.stdout
    assert "of the last 7 days replayed" in updated.stdout
    assert trigger(*DEPLOY)["reason"] == "ask the team"
    assert 'rev = "v1.1.0"' in (repository / ".agents/hooks.toml").read_text()
    assert "is up to date" in tenterhook("pack", "update", "--project").stdout
    back = tenterhook("pack", "update", "agent-hooks", "--project", "--to", "v1.0.0", "--yes")
    assert back.returncode == 0
    assert trigger(*DEPLOY)["reason"] == "not this"


def test_the_code_of_an_update_runs_only_after_a_question(
    pack: PackRepository, repository: Path, tmp_path: Path
) -> None:
    """The cases and the journal run it: a look at it comes first."""
    script = pack.hook("no-deploy", "deploy", reason="newer") / "scripts/run.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\necho newer >&2\nexit 2\n")
    cases = pack.path / "hooks/no-deploy/cases"
    cases.mkdir()
    (cases / "blocks.toml").write_text(CASE)
    pack.commit("v1.1.0")
    tried = tenterhook("pack", "update", "--project", "--dry-run")
    assert (tried.returncode, "+touch" in tried.stdout) == (0, True)
    assert "cases: not run, and nothing replayed" in tried.stdout
    refused = tenterhook("pack", "update", "--project")
    assert (refused.returncode, "needs confirmation" in refused.stderr) == (1, True)
    question = b"Run this code on its cases"
    status, shown = on_a_terminal(["pack", "update", "--project"], {question: b"n\n", b"Use exactly this?": b"n\n"})
    assert (status, b"cases: not run" in shown) == (1, True)
    assert not (tmp_path / "ran").exists()
    status, shown = on_a_terminal(["pack", "update", "--project"], {question: b"y\n", b"Use exactly this?": b"y\n"})
    assert (status, b"1 case passed, 0 failed" in shown) == (0, True)
    assert (tmp_path / "ran").exists()
    back = ("pack", "update", "agent-hooks", "--project", "--to")
    assert tenterhook(*back, "v1.0.0", "--yes").returncode == 0
    (tmp_path / "ran").unlink()
    assert "1 case passed" in tenterhook(*back, "v1.1.0", "--dry-run").stdout, "it was approved before"
    assert (tmp_path / "ran").exists()


def test_an_update_keeps_what_was_written_by_hand(pack: PackRepository, project: Path) -> None:
    file = project / ".agents/hooks.toml"
    file.parent.mkdir()
    text = f"""\
# ours
[[packs]]
source = "{pack.source}"   # any git URL or path
rev = "v1.0.0"
only = ["no-deploy"]                          # default: what the pack says
settings.no-deploy = {{ hosts = ["db1"] }}
"""
    file.write_text(text)
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    pack.commit("v1.1.0")
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    assert file.read_text() == text.replace("v1.0.0", "v1.1.0")


def test_a_new_tag_waits_for_the_cooldown(pack: PackRepository, repository: Path, home: Path) -> None:
    pack.hook("no-deploy", "deploy", reason="older")
    pack.commit("v1.1.0", GIT_AUTHOR_DATE="2026-01-01T00:00:00Z", GIT_COMMITTER_DATE="2026-01-01T00:00:00Z")
    pack.hook("no-deploy", "deploy", reason="new")
    pack.commit("v1.2.0")
    shutil.rmtree(home / ".cache/tenterhook/packs")  # as on a machine that has not fetched it yet
    updated = tenterhook("pack", "update", "--project", "--cooldown", "7d", "--yes")
    assert "v1.2.0 waits, it is of 20" in updated.stdout
    assert trigger(*DEPLOY)["reason"] == "older"


def test_a_tag_with_an_old_date_waits_if_it_was_not_there_before(pack: PackRepository, repository: Path) -> None:
    """Its author chooses the date of a tag; that the source did not have it at the last fetch is certain."""
    pack.hook("no-deploy", "deploy", reason="forged")
    pack.commit("v1.1.0", GIT_AUTHOR_DATE="2026-01-01T00:00:00Z", GIT_COMMITTER_DATE="2026-01-01T00:00:00Z")
    for _ in range(2):
        updated = tenterhook("pack", "update", "--project", "--cooldown", "7d", "--yes")
        assert "v1.1.0 waits" in updated.stdout
        assert trigger(*DEPLOY)["reason"] == "not this"
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    assert trigger(*DEPLOY)["reason"] == "forged"


def test_shadow_mode_is_said_and_ends(pack: PackRepository, repository: Path) -> None:
    pack.hook("no-deploy", "deploy", reason="newer")
    pack.commit("v1.1.0")
    updated = tenterhook("pack", "update", "--project", "--shadow", "3d", "--yes")
    assert "changed hooks only record" in updated.stdout
    verdict = trigger(*DEPLOY)
    assert (verdict["reason"], len(verdict["runs"])) == ("not this", 2)
    lock = repository / ".agents/hooks.lock"
    until = re.search(r"shadow_until = (\S+)", lock.read_text())
    assert until is not None
    assert tenterhook("pack", "verify", "--project").returncode == 0
    lock.write_text(lock.read_text().replace(until[1], "2026-01-01T00:00:00+00:00"))
    verdict = trigger(*DEPLOY)
    assert (verdict["reason"], len(verdict["runs"])) == ("newer", 1)


def test_a_moved_tag_and_a_rewritten_branch_are_refused(pack: PackRepository, repository: Path, home: Path) -> None:
    assert tenterhook("pack", "add", f"{pack.source}@main", "--yes").returncode == 0
    before = git(pack.path, "rev-parse", "HEAD")
    pack.hook("no-deploy", "deploy", reason="moved")
    git(pack.path, "add", "-A")
    git(pack.path, "commit", "-q", "--amend", "-m", "rewritten")
    git(pack.path, "tag", "-f", "v1.0.0")
    moved = tenterhook("pack", "update", "--project", "--yes")
    assert moved.returncode == 1
    assert f"the tag v1.0.0 was moved, from {before[:12]}" in moved.stderr
    now = git(pack.path, "rev-parse", "HEAD")
    assert f"if that is meant: tenterhook pack update agent-hooks --project --to {now}" in moved.stderr
    rewritten = tenterhook("pack", "update", "--yes")
    assert rewritten.returncode == 1
    assert "the history of main was rewritten" in rewritten.stderr
    assert trigger(*DEPLOY)["reason"] == "not this", "what is locked stays in force"
    assert tenterhook("pack", "update", "agent-hooks", "--to", "main", "--yes").returncode == 0


def test_a_branch_of_the_same_name_does_not_make_a_tag_one_that_may_move(
    pack: PackRepository, repository: Path
) -> None:
    pack.hook("no-deploy", "deploy", reason="moved")
    pack.commit("v1.0.0")
    git(pack.path, "branch", "v1.0.0")
    moved = tenterhook("pack", "update", "--project", "--yes")
    assert (moved.returncode, "the tag v1.0.0 was moved" in moved.stderr) == (1, True)
    assert trigger(*DEPLOY)["reason"] == "not this"


def test_a_branch_in_place_of_a_deleted_tag_is_a_moved_tag(pack: PackRepository, repository: Path) -> None:
    pack.hook("no-deploy", "deploy", reason="moved")
    pack.commit()
    git(pack.path, "tag", "-d", "v1.0.0")
    git(pack.path, "branch", "v1.0.0")
    moved = tenterhook("pack", "update", "--project", "--yes")
    assert (moved.returncode, "the tag v1.0.0 was moved" in moved.stderr) == (1, True)
    assert trigger(*DEPLOY)["reason"] == "not this"


def test_a_branch_that_is_called_like_the_locked_commit_is_not_followed(pack: PackRepository, repository: Path) -> None:
    short = git(pack.path, "rev-parse", "--short=10", "HEAD")
    assert tenterhook("pack", "update", "agent-hooks", "--project", "--to", short, "--yes").returncode == 0
    pack.hook("no-deploy", "deploy", reason="moved")
    git(pack.path, "branch", short, pack.commit())
    moved = tenterhook("pack", "update", "--project", "--yes")
    assert (moved.returncode, f"{short} was moved" in moved.stderr) == (1, True)
    assert trigger(*DEPLOY)["reason"] == "not this"


def test_a_pack_at_a_commit_stays_there(pack: PackRepository, repository: Path) -> None:
    commit = git(pack.path, "rev-parse", "HEAD")
    pack.hook("no-deploy", "deploy", reason="newer")
    pack.commit("v1.1.0")
    assert tenterhook("pack", "update", "agent-hooks", "--project", "--to", commit, "--yes").returncode == 0
    assert "is up to date" in tenterhook("pack", "update", "--project", "--yes").stdout
    assert trigger(*DEPLOY)["reason"] == "not this"


def test_a_half_written_lock_is_written_anew_and_its_hooks_were_in_force_all_the_time(
    pack: PackRepository, repository: Path
) -> None:
    lock = repository / ".agents/hooks.lock"
    whole = lock.read_text()
    lock.write_text(whole[: len(whole) // 2])
    assert trigger(*DEPLOY)["decision"] == "deny"
    broken = tenterhook("pack", "verify", "--project")
    assert broken.returncode == 1
    assert "lock again: tenterhook pack update" in broken.stderr
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    assert lock.read_text() == whole


def test_a_lock_of_a_newer_version_is_not_rewritten(pack: PackRepository, repository: Path) -> None:
    lock = repository / ".agents/hooks.lock"
    newer = lock.read_text().replace("schema = 1", "schema = 2")
    lock.write_text(newer)
    refused = tenterhook("pack", "update", "--project", "--yes")
    assert (refused.returncode, "upgrade Tenterhook" in refused.stderr) == (1, True)
    assert lock.read_text() == newer
    assert trigger(*DEPLOY)["decision"] == "deny"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("hooks.toml", "[[packs\n", "hooks.toml: not valid TOML"),
        ("hooks.lock", 'schema = 1\n[[packs]]\nname = "p"\n', "hooks.lock is broken: an entry has no 'source'"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong_in_it(
    pack: PackRepository, repository: Path, file: str, text: str, said: str
) -> None:
    (repository / ".agents" / file).write_text(text)
    refused = tenterhook("pack", "verify", "--project")
    assert (refused.returncode, said in refused.stderr) == (1, True), refused.stderr
    assert trigger(*DEPLOY)["decision"] == "deny"


def test_an_update_that_needs_a_newer_version_leaves_the_old_one_in_force(
    pack: PackRepository, repository: Path
) -> None:
    (pack.path / "pack.toml").write_text('requires = "99.0"\n')
    pack.commit("v2.0.0")
    refused = tenterhook("pack", "update", "--project", "--yes")
    assert refused.returncode == 1
    assert "needs Tenterhook 99.0" in refused.stderr
    assert "upgrade Tenterhook, or use an older rev" in refused.stderr
    assert trigger(*DEPLOY)["decision"] == "deny"
