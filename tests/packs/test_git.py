"""Fetching packs with git: what a name stands for, who signed it, and sources that cannot be fetched."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from packs.repositories import PackRepository, git, new_key
from tenterhook.errors import HookError
from tenterhook.packs import git as pack_git
from tenterhook.packs.git import Repository

if TYPE_CHECKING:
    from pathlib import Path


def fetched(pack: PackRepository) -> Repository:
    repository = Repository(pack.source)
    repository.fetch()
    return repository


def test_a_tag_a_branch_a_commit_and_no_name_stand_for_commits(pack: PackRepository) -> None:
    first = git(pack.path, "rev-parse", "HEAD")
    second = pack.commit()
    repository = fetched(pack)
    assert repository.resolve("v1.0.0").commit == first
    assert repository.resolve("main").commit == second
    assert repository.resolve("").commit == second
    assert repository.resolve(first[:12]).commit == first
    assert repository.descends(second, first)
    assert not repository.descends(first, second)


def test_a_name_that_the_source_does_not_have_is_refused_with_those_it_has(pack: PackRepository) -> None:
    with pytest.raises(HookError, match=r"has no v2.*v1\.0\.0"):
        fetched(pack).resolve("v2")


def test_tags_come_by_version_the_newest_first(pack: PackRepository) -> None:
    for tag in ("v1.10.0-rc1", "v1.10.0", "v1.9.0"):
        pack.commit(tag)
    assert fetched(pack).tag_names() == ["v1.10.0", "v1.10.0-rc1", "v1.9.0", "v1.0.0"]


def test_a_pack_may_be_in_a_directory_of_a_repository(pack: PackRepository) -> None:
    repository = Repository(f"{pack.source}#hooks/no-deploy")
    repository.fetch()
    found = repository.resolve("v1.0.0")
    assert found.tree == git(pack.path, "rev-parse", "HEAD:hooks/no-deploy")
    assert [entry.path for entry in repository.files(found.tree)] == ["HOOK.md", "scripts/run.sh"]
    with pytest.raises(HookError, match=r"v1\.0\.0 has no directory gone"):
        Repository(f"{pack.source}#gone").resolve("v1.0.0")


def test_a_revision_is_signed_by_the_key_that_signed_it_and_by_no_other(pack: PackRepository, tmp_path: Path) -> None:
    ours, other = new_key(tmp_path / "ours"), new_key(tmp_path / "other")
    pack.commit("v1.1.0", key=ours)
    repository = fetched(pack)
    keys = [" ".join((tmp_path / f"{name}.pub").read_text().split()[:2]) for name in ("other", "ours")]
    assert repository.signer(repository.resolve("v1.1.0"), keys) == keys[1]
    assert repository.signer(repository.resolve("v1.1.0"), keys[:1]) == ""
    assert repository.signer(repository.resolve("v1.0.0"), keys) == "", "it is not signed"
    assert other.exists()


@pytest.mark.parametrize("source", ["{}/nothing", "https://127.0.0.1:9/x.git", "ext::sh -c 'touch {}/ran'"])
def test_a_source_that_cannot_be_fetched_is_a_clear_error(source: str, tmp_path: Path) -> None:
    with pytest.raises(HookError, match="cannot be fetched"):
        Repository(source.format(tmp_path)).fetch()
    assert not (tmp_path / "ran").exists()


def test_a_source_that_is_too_large_is_refused_and_leaves_nothing(
    pack: PackRepository, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pack.path / "data").write_bytes(random.Random(1).randbytes(300_000))
    pack.commit()
    monkeypatch.setattr(pack_git, "LARGEST", 100_000)
    with pytest.raises(HookError, match="is larger than"):
        Repository(pack.source).fetch()
    assert not list((home / ".cache/tenterhook/packs").iterdir())


def test_hooks_of_git_in_the_source_do_not_run(pack: PackRepository, tmp_path: Path) -> None:
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        hook = pack.path / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(0o755)
    fetched(pack)
    assert not (tmp_path / "ran").exists()
