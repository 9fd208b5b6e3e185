"""`tenterhook pack verify`: a changed store, a machine without one, signatures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.packs_in_use import decision, other_person
from packs.repositories import PackRepository, git, new_key, write_hook
from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path


def test_verify_tells_a_changed_store_and_repairs_it(pack: PackRepository, repository: Path, home: Path) -> None:
    assert tenterhook("pack", "verify").returncode == 0
    script = next((home / ".local/share/tenterhook/packs").glob("*/no-deploy/scripts/run.sh"))
    script.chmod(0o755)
    script.write_text("#!/bin/sh\nexit 0\n")
    wrong = tenterhook("pack", "verify")
    assert wrong.returncode == 1
    assert "its files are not those of hooks.lock" in wrong.stdout
    assert decision() == "none"
    assert tenterhook("pack", "verify", "--fetch").returncode == 0
    assert decision() == "deny"


def test_verify_on_a_machine_without_a_store_needs_a_signature_where_one_is_required(
    pack: PackRepository, repository: Path, home: Path, tmp_path: Path
) -> None:
    key, other = new_key(tmp_path / "key"), new_key(tmp_path / "stranger")
    pack.commit("v1.1.0", key=key)
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    ci = other_person(home)
    missing = tenterhook("pack", "verify", "--project", env=ci)
    assert missing.returncode == 1
    assert "it is not in the store" in missing.stdout
    good = tenterhook("pack", "verify", "--project", "--fetch", "--signer", f"{key}.pub", "--json", env=ci)
    assert (good.returncode, json.loads(good.stdout)["packs"][0]["problem"]) == (0, None)
    bad = tenterhook("pack", "verify", "--project", "--fetch", "--signer", f"{other}.pub", env=ci)
    assert bad.returncode == 1
    assert "not signed by a key that you trust" in bad.stdout


def test_a_signed_tag_of_an_unsigned_commit_is_enough(pack: PackRepository, repository: Path, tmp_path: Path) -> None:
    key = new_key(tmp_path / "key")
    git(pack.path, "-c", "gpg.format=ssh", "-c", f"user.signingkey={key}", "tag", "-s", "-m", "x", "v1.0.1")
    assert tenterhook("pack", "update", "agent-hooks", "--project", "--to", "v1.0.1", "--yes").returncode == 0
    for more in ((), ("--fetch",)):
        assert tenterhook("pack", "verify", "--project", "--signer", f"{key}.pub", *more).returncode == 0


def test_a_folder_without_git_has_no_signature(pack: PackRepository, project: Path, tmp_path: Path) -> None:
    write_hook(tmp_path / "plain/no-deploy", "deploy")
    assert tenterhook("pack", "add", str(tmp_path / "plain"), "--project", "--yes").returncode == 0
    assert tenterhook("pack", "verify", "--project").returncode == 0
    required = ("--signer", f"{new_key(tmp_path / 'key')}.pub")
    for more in ((), ("--fetch",)):
        wrong = tenterhook("pack", "verify", "--project", *more, *required)
        assert (wrong.returncode, "it has no signature" in wrong.stdout) == (1, True)


def test_a_lock_that_lacks_a_hook_is_wrong(pack: PackRepository, repository: Path) -> None:
    lock = repository / ".agents/hooks.lock"
    lock.write_text("".join(lock.read_text().splitlines(keepends=True)[:-1]))
    wrong = tenterhook("pack", "verify", "--project")
    assert wrong.returncode == 1
    assert "hooks.lock lacks its hook no-deploy" in wrong.stdout


def test_a_locked_commit_that_its_source_no_longer_has_is_told(
    pack: PackRepository, repository: Path, home: Path
) -> None:
    pack.hook("no-deploy", "deploy", reason="rewritten")
    git(pack.path, "add", "-A")
    git(pack.path, "commit", "-q", "--amend", "-m", "rewritten")
    git(pack.path, "tag", "-f", "v1.0.0")
    wrong = tenterhook("pack", "verify", "--project", "--fetch", env=other_person(home))
    assert wrong.returncode == 1
    assert "no longer has the locked commit" in wrong.stdout
    assert decision() == "deny", "where it is in the store it stays in force"


@pytest.mark.slow
def test_a_key_in_the_lock_that_has_signed_nothing_is_wrong(
    pack: PackRepository, repository: Path, home: Path, tmp_path: Path
) -> None:
    key, stranger = new_key(tmp_path / "key"), new_key(tmp_path / "stranger")
    keys = [" ".join(each.with_suffix(".pub").read_text().split()[:2]) for each in (key, stranger)]
    pack.commit("v1.1.0", key=key)
    tenterhook("trust", "--source", pack.source, "--signer", f"{key}.pub", "--yes")  # v1.0.0 is not signed
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    assert tenterhook("untrust", "--source", pack.source, "--yes").returncode == 0
    assert tenterhook("pack", "verify", "--project").returncode == 0
    lock = repository / ".agents/hooks.lock"
    before = lock.read_text()
    assert keys[0] in before
    other = other_person(home)
    for claimed in (keys[1], "Ana", f"ssh-rsa AAAA\\n*\\t{keys[0]}"):
        lock.write_text(before.replace(keys[0], claimed))
        for more, given in (((), None), (("--fetch",), None), (("--fetch",), other)):
            wrong = tenterhook("pack", "verify", "--project", *more, env=given)
            assert wrong.returncode == 1, (claimed, more)
            assert "names a key by which there is no signature" in wrong.stdout


def test_a_signed_commit_does_not_stand_for_the_bytes_of_another_one(
    pack: PackRepository, repository: Path, tmp_path: Path
) -> None:
    key = new_key(tmp_path / "key")
    signed = pack.commit("v1.1.0", key=key)
    pack.hook("no-deploy", "deploy", reason="other bytes")
    other = pack.commit("v1.2.0")
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    lock = repository / ".agents/hooks.lock"
    lock.write_text(lock.read_text().replace(other, signed))
    for more in ((), ("--fetch",)):
        wrong = tenterhook("pack", "verify", "--project", "--signer", f"{key}.pub", *more)
        assert wrong.returncode == 1, more
        assert "another tree" in wrong.stdout or "no longer has what is locked" in wrong.stdout


def test_fewer_hooks_by_default_than_the_pack_says_are_wrong(
    pack: PackRepository, repository: Path, home: Path
) -> None:
    lock = repository / ".agents/hooks.lock"
    lock.write_text(lock.read_text().replace("\n[packs.hooks]", "default = []\n\n[packs.hooks]"))
    assert "default = []" in lock.read_text()
    wrong = tenterhook("pack", "verify", "--project", "--fetch", env=other_person(home))
    assert (wrong.returncode, "no longer has what is locked" in wrong.stdout) == (1, True), wrong.stdout
