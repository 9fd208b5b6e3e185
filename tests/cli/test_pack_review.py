"""Cases of a pack that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.packs_in_use import CASE, DEPLOY
from packs.repositories import PackRepository
from support import shell_call, tenterhook, trigger
from tenterhook import Engine
from tenterhook.catalog import loading
from tenterhook.cli import pack_review
from tenterhook.errors import HookError
from tenterhook.journal.journal import Journal
from tenterhook.packs import store

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
        catalog = loading.load(str(project))
        Engine(catalog.hooks, catalog=catalog, journal=Journal("claude-code")).decide(shell_call(command))
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


def test_the_cases_and_the_journal_of_a_pack_in_force_are_run_as_those_of_other_hooks(
    pack: PackRepository, project: Path
) -> None:
    """Its source is trusted by a record that the sandbox does not have."""
    cases = pack.path / "hooks/no-deploy/cases"
    cases.mkdir()
    (cases / "blocks.toml").write_text(CASE)
    pack.commit("v1.1.0")
    assert tenterhook("pack", "add", pack.source, "--yes").returncode == 0
    tested = tenterhook("test", "no-deploy")
    assert (tested.returncode, tested.stdout.splitlines()[-1]) == (0, "1 passed"), tested
    assert trigger(*DEPLOY)["decision"] == "deny"
    assert "1 event replayed: no difference" in tenterhook("replay").stdout


def test_the_revision_that_is_enforced_during_a_shadow_period_can_be_returned_to(
    pack: PackRepository, project: Path
) -> None:
    cases = pack.path / "hooks/no-deploy/cases"
    cases.mkdir()
    (cases / "blocks.toml").write_text(CASE)
    pack.commit("v1.1.0")
    assert tenterhook("pack", "add", pack.source, "--yes").returncode == 0
    pack.hook("no-deploy", "deploy", reason="newer")
    pack.commit("v1.2.0")
    assert tenterhook("pack", "update", "--shadow", "3d", "--yes").returncode == 0
    back = tenterhook("pack", "update", "agent-hooks", "--to", "v1.1.0", "--yes")
    assert (back.returncode, "1 hook of agent-hooks v1.1.0 in force" in back.stdout) == (0, True), back


def test_a_hook_that_was_not_chosen_before_is_shown_whole(pack: PackRepository, project: Path) -> None:
    """Its bytes are the same, and only now they would run."""
    pack.hook("sly", "release", reason="look at me")
    (pack.path / "pack.toml").write_text('hooks = ["no-deploy"]\n')
    pack.commit("v1.1.0")
    added = tenterhook("pack", "add", pack.source, "--yes")
    assert "look at me" not in added.stdout
    (pack.path / "pack.toml").write_text('hooks = ["no-deploy", "sly"]\n')
    pack.commit("v1.2.0")
    for words in (("diff", "agent-hooks"), ("update", "--dry-run"), ("update", "--yes")):
        shown = tenterhook("pack", *words)
        assert shown.returncode == 0
        assert "echo look at me >&2" in shown.stdout, words


def test_a_revision_is_trusted_for_the_hooks_that_were_shown(pack: PackRepository, project: Path, home: Path) -> None:
    """A repository that names the same revision cannot have another of its hooks run."""
    pack.hook("sly", "release", reason="look at me")
    pack.commit("v1.1.0")
    assert tenterhook("pack", "add", pack.source, "--only", "no-deploy", "--yes").returncode == 0
    (project / ".agents").mkdir()
    for name in ("hooks.toml", "hooks.lock"):
        text = (home / ".config/agents/hooks" / name).read_text()
        (project / ".agents" / name).write_text(text.replace('"no-deploy"]', '"no-deploy", "sly"]'))
    call = ("pre-tool-call", "--tool", "Shell", "--input", '{"command": "make release"}')
    verdict = trigger(*call)
    assert [(run["hook"], run["outcome"]) for run in verdict["runs"]] == [("sly", "not_run")]
    assert "echo look at me >&2" in tenterhook("trust", "--all", "--yes").stdout
    assert trigger(*call)["decision"] == "deny"


def test_a_script_that_reads_from_outside_of_its_folder_is_told(pack: PackRepository, project: Path) -> None:
    """What is beside the hooks of a pack is not fetched, and not compared with the lock."""
    script = pack.hook("no-deploy", "deploy") / "scripts/run.sh"
    script.write_text('#!/bin/sh\n. "$(dirname "$0")/../lib.sh"\n')
    (script.parent.parent / "lib.sh").write_text("exit 2\n")
    pack.commit("v1.1.0")
    assert "note:" not in tenterhook("pack", "add", f"{pack.source}@v1.1.0", "--dry-run").stdout
    script.write_text('#!/bin/sh\n. "$(dirname "$0")/../../../lib/common.sh"\n')
    pack.commit("v1.2.0")
    shown = tenterhook("pack", "add", f"{pack.source}@v1.2.0", "--dry-run").stdout
    assert "note: ../../../lib/common.sh may lead out of the hook's folder" in shown


def test_a_tampered_store_is_not_what_an_update_is_compared_with(
    pack: PackRepository, project: Path, home: Path
) -> None:
    assert tenterhook("pack", "add", pack.source, "--yes").returncode == 0
    script = pack.hook("no-deploy", "deploy", reason="newer") / "scripts/run.sh"
    pack.commit("v1.1.0")
    stored = next((home / ".local/share/tenterhook/packs").glob("*/no-deploy/scripts/run.sh"))
    stored.chmod(0o755)
    stored.write_bytes(script.read_bytes())
    assert "echo newer >&2" in tenterhook("pack", "diff", "agent-hooks").stdout


def test_what_is_shown_is_what_is_locked(pack: PackRepository, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program that puts harmless bytes there while a person looks, and others afterwards, gets no trust."""
    locked = store.fetch(pack.source, "v1.0.0", "user")
    script = next((home / ".local/share/tenterhook/packs").glob("*/no-deploy/scripts/run.sh"))
    script.chmod(0o755)
    script.write_text("#!/bin/sh\necho harmless\n")
    with pytest.raises(HookError, match="was changed after it was fetched"):
        pack_review.show(locked, None, {"no-deploy"}, "user", is_asked=False)
    assert "harmless" not in capsys.readouterr().out
