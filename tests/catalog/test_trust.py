"""PROTOCOL 9: a project hook runs only for exactly the bytes its owner trusted."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, project_hooks, shell_call, tenterhook, user_hooks
from tenterhook import Engine
from tenterhook.catalog import fingerprints
from tenterhook.catalog.trust import State, Trust

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def guard(project: Path) -> Path:
    return folder_hook(project_hooks(project), "guard", "echo no >&2; exit 2")


def decision(*, trust_project: bool = False) -> str:
    return Engine.load(trust_project=trust_project).decide(shell_call()).decision


def test_an_untrusted_hook_does_not_run_and_is_listed(guard: Path, caplog: pytest.LogCaptureFixture) -> None:
    verdict = Engine.load().decide(shell_call())
    assert verdict.decision == "none"
    assert [(str(run.outcome), run.why) for run in verdict.runs] == [("not_run", "untrusted")]
    assert "tenterhook trust" in caplog.text


def test_a_trusted_hook_runs(guard: Path, project: Path) -> None:
    Trust(str(project)).grant(str(guard))
    assert decision() == "deny"


def _append(path: Path) -> None:
    path.write_text(path.read_text() + "# x\n")


@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda guard: _append(guard / "HOOK.md"), "HOOK.md"),
        (lambda guard: _append(guard / "scripts" / "run.sh"), "scripts/run.sh"),
        (lambda guard: (guard / "scripts" / "run.sh").chmod(0o700), "scripts/run.sh"),
        (lambda guard: (guard / "scripts" / "helper.sh").write_text("x"), "scripts/helper.sh"),
        (lambda guard: (guard / "data").mkdir(), "data/"),
        (lambda guard: (guard / "notes.txt").unlink(), "notes.txt"),
        (lambda guard: (guard / "notes.txt").rename(guard / "other.txt"), "other.txt"),
    ],
)
def test_any_change_takes_the_trust_away(
    guard: Path, project: Path, change: Callable[[Path], object], named: str
) -> None:
    """Any change to a file, mode or link of a trusted hook takes its trust away."""
    (guard / "notes.txt").write_text("notes")
    Trust(str(project)).grant(str(guard))
    engine = Engine.load()
    assert engine.decide(shell_call()).decision == "deny"
    change(guard)
    for changed in (engine, Engine.load()):  # seen by a running engine too
        verdict = changed.decide(shell_call())
        assert verdict.decision == "none"
        assert verdict.runs[0].why == "untrusted"
        assert named in verdict.runs[0].notes[0]


COUNTS = 'echo run >> "$(dirname "$0")/../count.txt"; echo no >&2; exit 2'
OWN_FILES = "a hook's own files belong in $TENTERHOOK_STATE_DIR, not in its folder"


def test_a_run_that_changes_its_own_folder_says_so_at_once_and_where_its_files_belong(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    counts = folder_hook(project_hooks(project), "counts", COUNTS)
    Trust(str(project)).grant(str(counts))
    first, second = (Engine.load().decide(shell_call()) for _ in range(2))
    assert first.decision == "deny"
    changed = "changed since it was trusted: count.txt (added)"
    assert first.runs[0].notes == (f"it will not run again: {changed}", OWN_FILES)
    assert (second.decision, second.runs[0].why, second.runs[0].notes) == ("none", "untrusted", (changed, OWN_FILES))
    assert OWN_FILES in caplog.text
    assert OWN_FILES in tenterhook("trigger", "pre-tool-call", "--tool", "Shell", "--input", "{}").stderr
    assert OWN_FILES in tenterhook("doctor").stdout


def test_a_run_that_is_looked_at_long_after_its_end_says_so_too(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell that takes its time is asked whether it can parse the script, since that has said otherwise."""
    bash = tmp_path / "bin" / "bash"
    bash.parent.mkdir()
    bash.write_text(f'#!/bin/sh\n[ "$1" = -n ] && sleep 0.5\nexec {shutil.which("bash")} "$@"\n')
    bash.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bash.parent}:{os.environ['PATH']}")
    script = '#!/usr/bin/env bash\necho >> "$(dirname "$0")/../count.txt"; echo "$0: Syntax error" >&2; exit 2\n'
    counts = folder_hook(project_hooks(project), "counts", script)
    Trust(str(project)).grant(str(counts))
    verdict = Engine.load().decide(shell_call())
    assert verdict.decision == "deny"
    assert verdict.runs[0].notes == (
        "it will not run again: changed since it was trusted: count.txt (added)",
        OWN_FILES,
    )


def test_an_edit_of_a_hook_is_not_taken_for_a_file_of_its_own(guard: Path, project: Path) -> None:
    Trust(str(project)).grant(str(guard))
    _append(guard / "scripts" / "run.sh")
    verdict = Engine.load().decide(shell_call())
    assert verdict.runs[0].notes == ("changed since it was trusted: scripts/run.sh (changed)",)


def test_a_hook_that_keeps_its_files_in_its_state_directory_stays_trusted(project: Path) -> None:
    script = 'echo run >> "$TENTERHOOK_STATE_DIR/count.txt"; echo no >&2; exit 2'
    counts = folder_hook(project_hooks(project), "counts", script)
    Trust(str(project)).grant(str(counts))
    verdicts = [Engine.load().decide(shell_call()) for _ in range(2)]
    assert [(verdict.decision, verdict.runs[0].notes) for verdict in verdicts] == [("deny", ())] * 2


def test_an_edit_that_restores_size_and_mtime_is_found(guard: Path, project: Path) -> None:
    Trust(str(project)).grant(str(guard))
    engine = Engine.load()
    assert engine.decide(shell_call()).decision == "deny"
    script = guard / "scripts" / "run.sh"
    before = script.stat()
    script.write_text(script.read_text().replace("exit 2", "exit 0"))
    os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert engine.decide(shell_call()).runs[0].why == "untrusted"


@pytest.mark.promise("a hostile repository")
def test_a_link_that_leads_out_of_the_folder_is_never_trusted(guard: Path, project: Path) -> None:
    """A hook folder with a link that leads out of it is never trusted."""
    (project / "outside.sh").write_text("exit 0\n")
    (guard / "scripts" / "lib.sh").symlink_to("../../../../outside.sh")
    with pytest.raises(fingerprints.Untrustable, match="leads out"):
        Trust(str(project)).grant(str(guard))
    assert decision() == "none"


def test_a_link_within_the_folder_is_part_of_what_is_trusted(guard: Path, project: Path) -> None:
    (guard / "scripts" / "a.sh").write_text("a")
    (guard / "scripts" / "b.sh").write_text("b")
    link = guard / "scripts" / "link.sh"
    link.symlink_to("a.sh")
    Trust(str(project)).grant(str(guard))
    assert decision() == "deny"
    link.unlink()
    link.symlink_to("b.sh")
    assert decision() == "none"


def git(*arguments: str | Path, where: Path | None = None) -> None:
    own = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *own, *map(str, arguments)], cwd=where, check=True, capture_output=True)


@pytest.fixture
def repository(guard: Path, project: Path) -> Path:
    """The project as a repository with everything committed and its hook trusted."""
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "x")
    Trust(str(project)).grant(str(guard))
    return project


def decision_in(place: Path) -> str:
    return Engine.load(project=place).decide(shell_call(work_dir=place)).decision


@pytest.mark.parametrize("kind", ["absolute", "relative", "moved", "bare"])
def test_worktrees_share_the_trust_of_their_repository(repository: Path, tmp_path: Path, kind: str) -> None:
    tree, source = tmp_path / "tree", repository
    if kind == "bare":
        source = tmp_path / "bare.git"
        git("clone", "-q", "--bare", repository, source)
    git("worktree", "add", "-q", tree, "-b", "tree", where=source)
    private = source / "worktrees" / "tree" if kind == "bare" else source / ".git" / "worktrees" / "tree"
    if kind == "relative":  # as git writes it with worktree.useRelativePaths
        (tree / ".git").write_text(f"gitdir: {os.path.relpath(private, tree)}\n")
        (private / "gitdir").write_text(f"{os.path.relpath(tree / '.git', private)}\n")
    elif kind == "moved":
        git("worktree", "move", tree, tmp_path / "moved", where=source)
        tree = tmp_path / "moved"
    elif kind == "bare":
        other = tmp_path / "other"
        git("worktree", "add", "-q", other, "-b", "other", where=source)
        Trust(str(other)).grant(str(project_hooks(other) / "guard"))
    assert decision_in(tree) == "deny"
    shutil.copytree(tree, tmp_path / "copy")  # not listed
    assert decision_in(tmp_path / "copy") == "none"


def _claim_directory(archive: Path, repository: Path) -> None:
    """A private directory of its own that points back to the archive, and to another repository."""
    (archive / "fake").mkdir()
    (archive / ".git").write_text("gitdir: fake\n")
    (archive / "fake" / "gitdir").write_text(f"{archive}/.git\n")
    (archive / "fake" / "commondir").write_text(f"{repository}/.git\n")
    (archive / "fake" / "HEAD").write_text("ref: refs/heads/master\n")


def _claim_named_worktrees(archive: Path, repository: Path) -> None:
    private = archive / "fake" / "worktrees" / "tree"
    private.mkdir(parents=True)
    (archive / ".git").write_text("gitdir: fake/worktrees/tree\n")
    (private / "gitdir").write_text("../../../.git\n")
    (private / "commondir").write_text(f"{repository}/.git\n")


def _claim_repository(archive: Path, repository: Path) -> None:
    (archive / ".git").write_text(f"gitdir: {repository}/.git\n")


def _claim_worktree(archive: Path, repository: Path) -> None:
    (archive / ".git").write_text(f"gitdir: {repository}/.git/worktrees/tree\n")


def _link_directory(archive: Path, repository: Path) -> None:
    (archive / ".git").symlink_to(repository / ".git")


def _link_worktree(archive: Path, repository: Path) -> None:
    (archive / ".git").symlink_to(repository.parent / "tree" / ".git")


def _link_private(archive: Path, repository: Path) -> None:
    (archive / "fake").symlink_to(repository / ".git" / "worktrees" / "tree")
    (archive / ".git").write_text("gitdir: fake\n")


@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize(
    "claim",
    [
        *(_claim_directory, _claim_named_worktrees, _claim_repository, _claim_worktree),
        *(_link_directory, _link_worktree, _link_private),
    ],
)
def test_an_archive_that_claims_to_belong_to_a_trusted_repository_is_not_trusted(
    repository: Path, tmp_path: Path, claim: Callable[[Path, Path], None]
) -> None:
    """A directory shares the trust of a repository only if that repository lists it as its worktree, whatever its own
    `.git` says."""
    git("worktree", "add", "-q", tmp_path / "tree")
    archive = tmp_path / "archive"
    shutil.copytree(repository / ".agents", archive / ".agents")
    claim(archive, repository)
    assert decision_in(archive) == "none"
    assert Trust(str(archive)).of(str(project_hooks(archive) / "guard")).state is State.UNTRUSTED


def test_a_submodule_has_trust_of_its_own(repository: Path, tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    git("init", "-q", parent)
    git("submodule", "add", "-q", repository, "sub", where=parent)
    submodule = parent / "sub"
    assert (submodule / ".git").is_file()
    assert decision_in(submodule) == "none"
    Trust(str(submodule)).grant(str(project_hooks(submodule) / "guard"))
    assert decision_in(submodule) == "deny"
    shutil.copytree(submodule, parent / "copy")
    assert decision_in(parent / "copy") == "none"


def _clone_anew(repository: Path, aside: Path) -> None:
    repository.rename(aside)
    git("clone", "-q", aside, repository)


def _unpack(repository: Path, aside: Path) -> None:
    """Another repository with whatever an archive can say of the first."""
    repository.rename(aside)
    git("init", "-q", repository)
    (repository / ".git" / "tenterhook-id").symlink_to(aside / ".git" / "tenterhook-id")


def _unpack_hard_link(repository: Path, aside: Path) -> None:
    repository.rename(aside)
    git("init", "-q", repository)
    (repository / ".git" / "tenterhook-id").hardlink_to(aside / ".git" / "tenterhook-id")


def _unpack_without_git(repository: Path, aside: Path) -> None:
    repository.rename(aside)
    repository.mkdir()


@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize("replace", [_clone_anew, _unpack, _unpack_hard_link, _unpack_without_git])
def test_trust_in_code_ends_with_the_repository(
    repository: Path, tmp_path: Path, replace: Callable[[Path, Path], None]
) -> None:
    """Trust in a project's code (`trust --code`) holds for that repository and its worktrees; another one at the same
    path does not inherit it."""
    git("worktree", "add", "-q", tmp_path / "tree")
    os.chdir(repository)
    assert tenterhook("trust", "--code", "--yes").returncode == 0
    assert Trust(str(repository)).trusts_code()
    assert Trust(str(tmp_path / "tree")).trusts_code()
    git("commit", "--allow-empty", "-qm", "y")
    git("gc", "-q")
    assert Trust(str(repository)).trusts_code()
    replace(repository, tmp_path / "aside")
    assert not Trust(str(repository)).trusts_code()


def test_trust_in_the_code_of_a_submodule_ends_with_it(repository: Path, tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    git("init", "-q", parent)
    git("submodule", "add", "-q", repository, "sub", where=parent)
    Trust(str(parent / "sub")).grant_code()
    assert Trust(str(parent / "sub")).trusts_code()
    assert not Trust(str(parent)).trusts_code()
    shutil.copytree(parent, tmp_path / "copy")
    shutil.rmtree(parent)
    (tmp_path / "copy").rename(parent)
    assert not Trust(str(parent / "sub")).trusts_code()


def test_an_id_that_came_with_a_repository_does_not_count(repository: Path) -> None:
    brought = repository / ".git" / "tenterhook-id"
    brought.write_text("1234")
    Trust(str(repository)).grant_code()
    assert brought.read_text() != "1234"
    brought.write_text("1234")
    assert not Trust(str(repository)).trusts_code()


def test_without_git_trust_is_bound_to_the_path(guard: Path, project: Path, tmp_path: Path) -> None:
    Trust(str(project)).grant(str(guard))
    project.rename(tmp_path / "elsewhere")
    verdict = Engine.load(project=tmp_path / "elsewhere").decide(shell_call(work_dir=tmp_path / "elsewhere"))
    assert verdict.runs[0].why == "untrusted"


def test_another_repository_with_the_same_hook_is_not_trusted(guard: Path, project: Path, tmp_path: Path) -> None:
    Trust(str(project)).grant(str(guard))
    other = tmp_path / "other"
    subprocess.run(["cp", "-a", str(project), str(other)], check=True)
    assert Engine.load(project=other).decide(shell_call(work_dir=other)).runs[0].why == "untrusted"


def test_trust_that_is_taken_back_ends_in_a_running_engine(guard: Path, project: Path) -> None:
    trust = Trust(str(project))
    trust.grant(str(guard))
    engine = Engine.load()
    assert engine.decide(shell_call()).decision == "deny"
    assert trust.revoke(str(guard))
    assert not trust.revoke(str(guard))
    assert engine.decide(shell_call()).decision == "none"


def test_trust_project_runs_everything_for_this_engine(guard: Path) -> None:
    assert decision(trust_project=True) == "deny"
    assert decision() == "none"


def test_the_variable_must_equal_the_root(guard: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("1", "true", str(project) + "/", str(project.parent), "."):
        monkeypatch.setenv("TENTERHOOK_TRUST_PROJECT", value)
        assert decision() == "none"
    monkeypatch.setenv("TENTERHOOK_TRUST_PROJECT", str(project))
    assert decision() == "deny"


@pytest.mark.promise("a hostile repository")
def test_records_that_a_repository_can_reach_count_for_nothing(
    guard: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trust records that a repository can reach count for nothing."""
    monkeypatch.setenv("XDG_STATE_HOME", str(project / "state"))
    Trust(str(project)).grant(str(guard))
    assert decision() == "none"


@pytest.mark.promise("another account")
def test_records_that_another_account_can_write_count_for_nothing(guard: Path, project: Path, home: Path) -> None:
    """Trust records that another account could write count for nothing."""
    Trust(str(project)).grant(str(guard))
    assert decision() == "deny"
    (home / ".local" / "state" / "tenterhook" / "trust.json").chmod(0o666)
    assert decision() == "none"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"projects": 3}', "\x00"])
def test_broken_records_trust_nothing_and_break_nothing(guard: Path, home: Path, content: str) -> None:
    state = home / ".local" / "state" / "tenterhook"
    state.mkdir(parents=True)
    (state / "trust.json").write_text(content)
    assert decision() == "none"


def test_what_changed_while_it_was_shown_is_not_trusted(guard: Path, project: Path) -> None:
    seen = fingerprints.of_folder(str(guard))
    _append(guard / "HOOK.md")
    with pytest.raises(fingerprints.Untrustable, match="changed while"):
        Trust(str(project)).grant(str(guard), seen=seen)
    assert Trust(str(project)).of(str(guard)).state is State.UNTRUSTED


def test_a_python_hook_leaves_no_byte_code_that_would_cost_its_trust(project: Path) -> None:
    made = folder_hook(project_hooks(project), "py", "#!/usr/bin/env python3\nimport helper\n", file="run.py")
    (made / "scripts" / "helper.py").write_text("x = 1\n")
    Trust(str(project)).grant(str(made))
    for _ in range(2):
        (run,) = Engine.load().decide(shell_call()).runs
        assert (run.outcome, run.why) == ("ok", None)


def test_trusting_again_after_taking_it_back_throws_nothing_away(home: Path, project: Path) -> None:
    folder_hook(project_hooks(project), "theirs", "exit 0")
    for _ in range(2):
        assert tenterhook("trust", "theirs", "--yes").returncode == 0
        assert tenterhook("untrust", "theirs", "--yes").returncode == 0
    state = home / ".local" / "state" / "tenterhook"
    assert not (state / "trust.json.broken").exists()
    assert list((state / "trusted").iterdir()) == []


@pytest.mark.promise("a hostile repository")
def test_an_untrusted_folder_is_not_even_looked_through(home: Path, project: Path) -> None:
    """Of an untrusted hook only HOOK.md is read, to name it."""
    folder_hook(user_hooks(home), "guard", "exit 2")
    made = folder_hook(project_hooks(project), "theirs")
    with (made / "huge").open("wb") as file:
        file.truncate(1 << 40)  # a terabyte, of nothing
    assert Engine.load().decide(shell_call()).denied


def test_a_trusted_folder_that_grows_without_end_takes_no_verdict_with_it(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", priority=1)
    made = folder_hook(project_hooks(project), "theirs")
    Trust(str(project)).grant(str(made))
    deep = made
    for _ in range(100):
        deep = deep / "d"
    deep.mkdir(parents=True)
    verdict = Engine.load().decide(shell_call())
    assert verdict.denied
    with pytest.raises(fingerprints.Untrustable, match="too many files or levels"):
        Trust(str(project)).grant(str(made))
