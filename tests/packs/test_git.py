"""Fetching packs with git: what a name stands for, who signed it, and sources that cannot be fetched."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest

from packs.repositories import PackRepository, git, new_key
from tenterhook.errors import HookError
from tenterhook.packs import git as pack_git
from tenterhook.packs.git import Repository


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


def test_a_whole_hash_is_a_commit_whatever_a_branch_or_tag_is_called(pack: PackRepository) -> None:
    pinned = git(pack.path, "rev-parse", "HEAD")
    other = pack.commit()
    for kind in ("heads", "tags"):
        (pack.path / ".git" / "refs" / kind / pinned).write_text(f"{other}\n")
    repository = fetched(pack)
    assert repository.resolve(pinned).commit == pinned
    assert not repository.is_branch(pinned)
    assert not repository.is_tag(pinned)


def test_a_source_whose_default_branch_was_never_pushed_has_its_tags(pack: PackRepository, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    git(tmp_path, "init", "-q", "--bare", "-b", "master", str(bare))
    repository = Repository(str(bare))
    repository.fetch()
    with pytest.raises(HookError, match=r"has no v1\.0\.0"):
        repository.resolve("v1.0.0")
    git(pack.path, "push", "-q", str(bare), "main", "v1.0.0")
    repository.fetch()
    assert repository.resolve("v1.0.0").commit == repository.resolve("main").commit
    with pytest.raises(HookError, match="has no default branch"):
        repository.resolve("")
    git(bare, "symbolic-ref", "HEAD", "refs/heads/main")
    repository.fetch()
    assert repository.resolve("").commit == repository.resolve("main").commit


@pytest.mark.parametrize(
    "settings",
    [
        {"log.showSignature": "true", "gpg.format": "ssh", "gpg.ssh.allowedSignersFile": "/dev/null"},
        {"column.ui": "always", "color.ui": "always"},
        {"i18n.logOutputEncoding": "UTF-16"},
    ],
)
def test_how_git_is_to_print_for_a_person_changes_nothing(
    pack: PackRepository, home: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    for number in range(9):
        pack.commit(f"v2.0.{number}", key=new_key(tmp_path / "key") if number == 0 else tmp_path / "key")
    date = int(git(pack.path, "log", "-1", "--format=%ct"))
    for key, value in settings.items():
        git(home, "config", "--global", key, value)
    repository = fetched(pack)
    assert repository.tag_names()[:2] == ["v2.0.8", "v2.0.7"]
    assert repository.resolve("main").date == date


def test_a_date_that_no_calendar_has_is_one(pack: PackRepository) -> None:
    tree = git(pack.path, "rev-parse", "HEAD^{tree}")
    who = "me <me@example.org>"
    for name, date in (("late", "9" * 17), ("later", "9" * 30)):
        raw = pack.path / name
        raw.write_text(f"tree {tree}\nauthor {who} 1 +0000\ncommitter {who} {date} +0000\n\nx\n")
        commit = git(pack.path, "hash-object", "-t", "commit", "-w", "--literally", str(raw))
        (pack.path / ".git" / "refs" / "heads" / name).write_text(f"{commit}\n")
    repository = fetched(pack)
    assert time.localtime(repository.resolve("late").date).tm_year >= 9999
    assert repository.resolve("later").date == 0


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


def test_a_signature_by_openpgp_does_not_count_whatever_key_is_in_the_keyring(
    pack: PackRepository, tmp_path: Path, home: Path
) -> None:
    """git lets the signature say which program checks it; that has its own idea of known keys."""
    gpg = tmp_path / "gpg"
    gpg.write_text(
        "#!/bin/sh\ncat >/dev/null\n"
        "case \"$*\" in *verify*) echo ;; *) echo >&2; echo '-----BEGIN PGP SIGNATURE-----'; esac\n"
        "echo '[GNUPG:] SIG_CREATED ' >&2\n"
        "echo '[GNUPG:] GOODSIG 0123456789ABCDEF mallory'; echo '[GNUPG:] TRUST_ULTIMATE 0 pgp'\n"
    )
    gpg.chmod(0o755)
    git(home, "config", "--global", "gpg.program", str(gpg))
    git(pack.path, "-c", f"gpg.program={gpg}", "commit", "-q", "--allow-empty", "-S", "-m", "x")
    git(pack.path, "-c", f"gpg.program={gpg}", "verify-commit", "HEAD")
    commit = git(pack.path, "rev-parse", "HEAD")
    repository = fetched(pack)
    new_key(tmp_path / "ours")
    key = " ".join((tmp_path / "ours.pub").read_text().split()[:2])
    assert repository.signer(repository.resolve(commit), [key]) == ""


def test_a_signed_tag_counts_only_under_the_name_that_was_signed(pack: PackRepository, tmp_path: Path) -> None:
    key = new_key(tmp_path / "ours")
    git(pack.path, "-c", "gpg.format=ssh", "-c", f"user.signingkey={key}", "tag", "-s", "-m", "x", "v1.1.0")
    git(pack.path, "update-ref", "refs/tags/v9.0.0", git(pack.path, "rev-parse", "refs/tags/v1.1.0"))
    repository = fetched(pack)
    keys = [" ".join((tmp_path / "ours.pub").read_text().split()[:2])]
    assert repository.signer(repository.resolve("v1.1.0"), keys) == keys[0]
    assert repository.signer(repository.resolve("v9.0.0"), keys) == "", "an old revision as the newest one"


def test_a_signature_made_for_something_else_than_git_does_not_count(pack: PackRepository, tmp_path: Path) -> None:
    key = new_key(tmp_path / "ours")
    file = tmp_path / "payload"
    file.write_text(git(pack.path, "cat-file", "commit", "HEAD") + "\n")
    commits = {}
    for namespace in ("git", "file"):
        subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", key, file], check=True)
        signature = Path(f"{file}.sig").read_text().rstrip("\n").replace("\n", "\n ")
        Path(f"{file}.sig").unlink()
        head, _, message = file.read_text().partition("\n\n")
        (tmp_path / "commit").write_text(f"{head}\ngpgsig {signature}\n\n{message}")
        commits[namespace] = git(pack.path, "hash-object", "-t", "commit", "-w", str(tmp_path / "commit"))
        git(pack.path, "tag", namespace, commits[namespace])
    repository = fetched(pack)
    keys = [" ".join((tmp_path / "ours.pub").read_text().split()[:2])]
    assert repository.signer(repository.resolve("git"), keys) == keys[0]
    assert repository.signer(repository.resolve("file"), keys) == ""


def test_a_key_that_the_person_has_revoked_in_git_does_not_count(
    pack: PackRepository, tmp_path: Path, home: Path
) -> None:
    key = new_key(tmp_path / "ours")
    pack.commit("v1.1.0", key=key)
    repository = fetched(pack)
    keys = [" ".join((tmp_path / "ours.pub").read_text().split()[:2])]
    assert repository.signer(repository.resolve("v1.1.0"), keys) == keys[0]
    git(home, "config", "--global", "gpg.ssh.revocationFile", f"{key}.pub")
    assert repository.signer(repository.resolve("v1.1.0"), keys) == ""


@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize(
    "source", ["--upload-pack=touch {}/ran;", "-x:y", "--all", "../pack", "pack", "", "#x", "/a\n"]
)
def test_a_source_that_git_would_take_for_something_else_is_refused(source: str, tmp_path: Path) -> None:
    """A source of packs that a repository names is never an option of git, a remote helper or a path inside it."""
    with pytest.raises(HookError, match="is neither a git URL nor an absolute path") as raised:
        Repository(source.format(tmp_path)).fetch()
    assert raised.value.remedy
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("source", ["git@example.org:a/b", "ssh://git@example.org/a", "https://example.org/a#b", "/a"])
def test_addresses_as_git_knows_them_are_sources(source: str) -> None:
    assert Repository(source).source == source


def test_a_source_with_a_password_is_refused_without_showing_it() -> None:
    with pytest.raises(HookError, match="has a password in it") as raised:
        Repository("https://me:pa55@example.org/a")
    assert "pa55" not in raised.value.message


def test_what_configuration_allows_is_not_asked_about_protocols(tmp_path: Path, home: Path) -> None:
    for setting in ("protocol.ext.allow", "protocol.allow"):
        git(home, "config", "--global", setting, "always")
    git(home, "config", "--global", f"url.ext::sh -c touch% {tmp_path}/ran .insteadOf", "https://x/")
    for source in ("ext::sh -c touch% {}/ran", "https://x/y", "fd::17"):
        with pytest.raises(HookError, match=r"transport '(ext|fd)' not allowed"):
            Repository(source.format(tmp_path)).fetch()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("rev", ["v1.0.0~0", "v1.0.0^{commit}", "v1.0.0:hooks", "v1.0.0 ", "--help", "@", "HEAD"])
def test_an_expression_is_no_revision(pack: PackRepository, rev: str) -> None:
    with pytest.raises(HookError, match="has no"):
        fetched(pack).resolve(rev)


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


def test_a_tree_that_contains_itself_many_times_is_refused(pack: PackRepository, tmp_path: Path) -> None:
    """Twelve levels of ten times the same directory: a few objects, and more directories than any disk holds."""
    tree = git(pack.path, "hash-object", "-t", "tree", "-w", "/dev/null")
    for _ in range(12):
        listed = tmp_path / "listed"
        listed.write_text("".join(f"040000 tree {tree}\t{name}\n" for name in range(10)))
        with listed.open() as stdin:
            made = subprocess.run(
                ["git", "-C", str(pack.path), "mktree"], stdin=stdin, capture_output=True, text=True, check=True
            )
        tree = made.stdout.strip()
    git(pack.path, "tag", "v6.6.6", git(pack.path, "commit-tree", tree, "-m", "x"))
    repository = fetched(pack)
    with pytest.raises(HookError, match="has too many files"):
        repository.files(repository.resolve("v6.6.6").tree)


def test_it_works_where_git_uses_only_bare_repositories_that_are_named(pack: PackRepository, home: Path) -> None:
    git(home, "config", "--global", "safe.bareRepository", "explicit")
    assert fetched(pack).resolve("v1.0.0").commit


def test_a_source_that_lacks_objects_has_none_fetched(pack: PackRepository, tmp_path: Path) -> None:
    """A repository in a clone may be a partial one, whose configuration names the program that fetches the rest.

    git itself sees to that, from 2.45.1 on, and where the fixes of CVE-2024-32004 and CVE-2024-32465 were applied.
    """
    missing = git(pack.path, "rev-parse", "HEAD:hooks/no-deploy/HOOK.md")
    (pack.path / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "other",
        "remote.other.promisor": "true",
        "remote.other.url": "/nowhere",
        "remote.other.uploadpack": f"touch {tmp_path}/ran;",
    }.items():
        git(pack.path, "config", key, value)
    with pytest.raises(HookError) as raised:
        fetched(pack)
    assert "warning" not in raised.value.message
    assert not (tmp_path / "ran").exists()
