"""PROTOCOL 9: a project hook runs only for exactly the bytes its owner trusted."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, project_hooks, shell_call, tenterhook
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


def test_a_link_that_leads_out_of_the_folder_is_never_trusted(guard: Path, project: Path) -> None:
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


def test_a_folder_that_is_a_link_is_never_trusted(guard: Path, project: Path, tmp_path: Path) -> None:
    guard.rename(tmp_path / "moved")
    guard.symlink_to(tmp_path / "moved")
    with pytest.raises(fingerprints.Untrustable):
        Trust(str(project)).grant(str(guard))


def test_worktrees_share_the_trust_of_their_repository(guard: Path, project: Path, tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "tree")], check=True, capture_output=True)
    Trust(str(project)).grant(str(guard))
    tree = Engine.load(project=tmp_path / "tree")
    assert tree.decide(shell_call(work_dir=tmp_path / "tree")).decision == "deny"


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


def test_records_that_a_repository_can_reach_count_for_nothing(
    guard: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(project / "state"))
    Trust(str(project)).grant(str(guard))
    assert decision() == "none"


def test_records_that_another_account_can_write_count_for_nothing(guard: Path, project: Path, home: Path) -> None:
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
