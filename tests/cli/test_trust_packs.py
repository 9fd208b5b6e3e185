"""Trust in a source: once per person, by a key, and its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.packs_in_use import decision, other_person
from packs.repositories import PackRepository, git, new_key
from support import folder_hook, tenterhook, trigger

if TYPE_CHECKING:
    from pathlib import Path


def test_a_clone_is_protected_after_one_trust_and_a_second_repository_at_once(
    repository: Path, home: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    assert decision(cwd=clone) == "deny", "the same person trusts the source already"
    other = other_person(home)
    assert decision(cwd=clone, env=other) == "none"
    trusted = tenterhook("trust", "--all", "--yes", cwd=clone, env=other)
    assert "echo not this >&2" in trusted.stdout, "all of it is shown"
    assert decision(cwd=clone, env=other) == "deny"
    assert decision(cwd=repository, env=other) == "deny", "once per person, not once per repository"
    ended = tenterhook("untrust", "--source", str(tmp_path / "agent-hooks"), "--yes", env=other)
    assert ended.returncode == 0
    assert decision(cwd=clone, env=other) == decision(cwd=repository, env=other) == "none"
    assert decision(cwd=clone) == "deny", "of the other person nothing ended"


def test_a_clone_before_it_is_trusted_and_a_changed_store_are_shown_as_what_they_are(
    pack: PackRepository, repository: Path, home: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    other = other_person(home)
    shown = tenterhook(cwd=clone, env=other).stdout
    assert "hooks   0 in force" in shown
    assert "1 of this project's hooks is not trusted" in shown
    assert "pack verify" not in shown, "it is fetched when it is trusted"
    assert "untrusted" in tenterhook("list", cwd=clone, env=other).stdout
    tenterhook("trust", "--all", "--yes", cwd=clone, env=other)
    (script,) = (home.parent / "other-home").glob(".local/share/tenterhook/packs/*/no-deploy/scripts/run.sh")
    script.chmod(0o755)
    script.write_text("#!/bin/sh\n")
    shown = tenterhook(cwd=clone, env=other).stdout
    assert "hooks   0 in force" in shown
    assert "not trusted" not in shown
    assert "pack verify --fetch --project" in shown
    assert "cannot be loaded" in (listed := tenterhook("list", cwd=clone, env=other).stdout)
    assert "it does not run" in listed
    assert decision(cwd=clone, env=other) == "none"


def test_a_key_is_replaced_by_another_one_and_what_the_old_one_signed_no_longer_runs(
    pack: PackRepository, repository: Path, home: Path, tmp_path: Path
) -> None:
    old, new = new_key(tmp_path / "old"), new_key(tmp_path / "new")
    tenterhook("untrust", "--source", pack.source, "--yes")
    pack.commit("v1.1.0", key=old)
    trusts = ("trust", "--source", pack.source, "--yes", "--signer")
    tenterhook(*trusts, f"{old}.pub")
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    assert decision() == "deny"
    tenterhook(*trusts, f"{new}.pub")
    assert decision() == "deny", "both are trusted"
    ends = ("untrust", "--source", pack.source, "--yes", "--signer")
    unknown = tenterhook(*ends, f"{new_key(tmp_path / 'third')}.pub")
    assert (unknown.returncode, "its keys: ssh-ed25519 " in unknown.stderr) == (1, True)
    assert tenterhook(*ends, f"{old}.pub").returncode == 0
    assert decision() == "none"
    assert "not signed by a key that you trust" in tenterhook("trust", "--all", "--yes").stderr
    pack.commit("v1.2.0", key=new)
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    assert decision() == "deny"
    assert tenterhook(*ends, f"{new}.pub").returncode == 0
    assert decision() == "none", "without a key left, nothing is trusted that was trusted for its signature"


@pytest.mark.parametrize(
    "text",
    [
        *("ssh-ed25519 AAAA", "ssh-ed25519", "ssh-rsa {key}", "ssh-ed25519 !", "{pub}{pub}", ""),
        *("* {pub}", "cert-authority {pub}", "-----BEGIN OPENSSH PRIVATE KEY-----"),
    ],
)
def test_what_is_no_key_is_refused(pack: PackRepository, repository: Path, tmp_path: Path, text: str) -> None:
    pub = new_key(tmp_path / "key").with_suffix(".pub").read_text()
    (tmp_path / "given.pub").write_text(text.format(pub=pub, key=pub.split()[1]))
    refused = tenterhook("trust", "--source", pack.source, "--signer", str(tmp_path / "given.pub"), "--yes")
    assert refused.returncode == 1
    assert "this is" in refused.stderr
    assert "name a .pub file" in refused.stderr


def test_a_lock_that_gives_a_commit_another_name_is_told_and_moves_no_cursor(
    pack: PackRepository, repository: Path, home: Path
) -> None:
    """A project could have a commit seem to be one that is known."""
    person = other_person(home)
    pack.hook("no-deploy", "deploy", reason="other")
    other = pack.commit()
    lock = repository / ".agents/hooks.lock"
    first = git(pack.path, "rev-parse", "v1.0.0^{commit}")
    git(pack.path, "tag", "-f", "v1.0.0", other)
    trusted = tenterhook("trust", "--all", "--yes", env=person)
    assert f"note: v1.0.0 of the source is {other[:12]}; locked is {first[:12]}" in trusted.stderr
    tenterhook("untrust", "--source", pack.source, "--yes", env=person)
    for file in (lock, lock.with_suffix(".toml")):
        file.write_text(file.read_text().replace('rev = "v1.0.0"', 'rev = "v1\\u001b[2J"'))
    trusted = tenterhook("trust", "--all", "--yes", env=person)
    assert "\x1b[2J" not in trusted.stdout + trusted.stderr
    assert r"the source has no v1\x1b[2J, only the commit" in trusted.stderr


def test_a_source_that_cannot_be_reached_keeps_nothing_else_from_being_trusted(
    pack: PackRepository, repository: Path, home: Path, tmp_path: Path
) -> None:
    person = other_person(home)
    second = PackRepository(tmp_path / "second")
    second.hook("no-release", "release")
    second.commit("v1")
    assert tenterhook("pack", "add", second.source, "--project", "--yes").returncode == 0
    folder_hook(repository / ".agents/hooks", "own", "exit 2", matcher={"pattern": "rm"})
    pack.path.rename(pack.path.with_name("away"))
    trusted = tenterhook("trust", "--all", "--yes", env=person)
    assert (trusted.returncode, "cannot be fetched" in trusted.stderr) == (1, True)
    calls = [("make release", "deny"), ("rm x", "deny"), ("make deploy", "none")]
    for command, expected in calls:
        call = ("pre-tool-call", "--tool", "Shell", "--input", json.dumps({"command": command}))
        assert trigger(*call, env=person)["decision"] == expected, command


def test_with_a_trusted_key_signed_revisions_need_no_look_and_others_are_refused(
    pack: PackRepository, repository: Path, home: Path, tmp_path: Path
) -> None:
    key = new_key(tmp_path / "key")
    person = other_person(home)
    unsigned = tenterhook("trust", "--source", pack.source, "--signer", f"{key}.pub", "--yes", env=person)
    assert unsigned.returncode == 1
    assert "not signed" in unsigned.stderr
    assert decision(env=person) == "none"
    pack.hook("no-deploy", "deploy", reason="signed")
    pack.commit("v1.1.0", key=key)
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    trusted = tenterhook("trust", "--source", pack.source, "--yes", env=person)
    assert "signed by ssh-ed25519" in trusted.stdout
    assert "echo signed" not in trusted.stdout
    assert decision(env=person) == "deny"
