"""`tenterhook update`: hooks as version 0.1 wrote them become what they are now, with the person's settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from authoring.killed import left_by_a_kill
from hooks.lines import HOOKS, override
from support import UNPACKED, on_a_terminal, project_hooks, tenterhook, trigger, user_hooks
from tenterhook.basics import agent_marks, processes
from tenterhook.formats import front_matter

if TYPE_CHECKING:
    from cli.conftest import Run

DATA = Path(__file__).parent.parent / "data" / "version_0_1" / "hooks.tar.xz"
GUARD = "block-dangerous-commands"
CALL = ("pre-tool-call", "--tool", "Shell", "--input", '{"command": "rm -rf /"}')
ASKED = ("pre-tool-call", "--tool", "Shell", "--input", '{"command": "git reset --hard"}')


def written_by_0_1(directory: Path, name: str) -> Path:
    """A hook as version 0.1 wrote it."""
    with tarfile.open(DATA) as archive:
        archive.extractall(directory, [each for each in archive if each.name.split("/")[0] == name], **UNPACKED)
    return directory / name


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after, 1))


def updated(*arguments: str) -> list[dict[str, Any]]:
    ended = tenterhook("update", *arguments, "--json")
    assert ended.returncode == 0, ended.stderr
    found: list[dict[str, Any]] = json.loads(ended.stdout)["hooks"]
    return found


def fields(folder: Path) -> dict[str, Any]:
    read = front_matter.read(str(folder / "HOOK.md"))
    assert isinstance(read, front_matter.FrontMatter)
    return read.raw


@pytest.mark.parametrize("name", [GUARD, "protect-hooks"])
def test_a_guard_of_version_0_1_becomes_the_built_in_one_and_the_old_folder_is_kept(
    home: Path, project: Path, name: str
) -> None:
    folder = written_by_0_1(user_hooks(home), name)
    ended = tenterhook("update", "--yes")
    assert ended.returncode == 0
    assert f"will run the built-in guard {name}, in Tenterhook's process" in ended.stdout
    for path in (HOOKS / name).rglob("*.*"):
        assert (folder / path.relative_to(HOOKS / name)).read_bytes() == path.read_bytes()
    assert not (folder / "scripts/run.py").exists()
    (kept,) = (home / ".local/state/tenterhook/replaced").iterdir()
    assert f"the old folder is kept: ~/{kept.relative_to(home)}" in ended.stdout
    assert (kept / "scripts/shell_line.py").exists()
    assert tenterhook("update").stdout == "every hook is up to date\n"


def test_settings_in_the_definition_and_beside_it_are_kept(home: Path, project: Path) -> None:
    folder = written_by_0_1(user_hooks(home), GUARD)
    edit(folder / "HOOK.md", "timeout: 5000", "timeout: 9000")
    edit(folder / "HOOK.md", "  on_failure: block", "  allow: [delete-system]\n  on_failure: open")
    override(home, GUARD, priority=1, metadata={"extra": 1})
    beside = (user_hooks(home) / "hooks.toml").read_bytes()
    (hook,) = updated("--yes")
    assert hook["settings"] == {"timeout": 9000, "metadata": {"allow": ["delete-system"], "on_failure": "open"}}
    found = fields(folder)
    assert (found["timeout"], found["matcher"]) == (9000, {"tool": "^Shell$"})
    assert found["metadata"] == {"guard": GUARD, "on_failure": "open", "allow": ["delete-system"]}
    assert (user_hooks(home) / "hooks.toml").read_bytes() == beside
    assert trigger(*CALL)["decision"] == "none"
    assert trigger(*ASKED)["decision"] == "ask"


def test_a_field_that_was_removed_stays_removed_and_keys_with_quotes_are_kept(home: Path, project: Path) -> None:
    folder = written_by_0_1(user_hooks(home), GUARD)
    front = (folder / "HOOK.md").read_text().split("\n---\n")[0]
    matcher = front[front.index("matcher:") : front.index("\n", front.index("  tool:")) + 1]
    edit(folder / "HOOK.md", matcher, "")
    edit(folder / "HOOK.md", "metadata:\n", "metadata:\n  \"no: te\": 'a: b'\n")
    assert "leaves out what you have removed: matcher" in tenterhook("update", "--dry-run").stdout
    (hook,) = updated("--yes")
    assert (hook["removed"], hook["settings"]) == (["matcher"], {"metadata": {"no: te": "a: b"}})
    assert "matcher" not in fields(folder)
    assert fields(folder)["metadata"]["no: te"] == "a: b"
    assert trigger(*CALL)["decision"] == "deny"


def test_a_hook_that_was_changed_is_left_alone_without_force_and_kept_with_it(home: Path, project: Path) -> None:
    folder = written_by_0_1(user_hooks(home), GUARD)
    edit(folder / "scripts/dangers.py", "def judge(", "# mine\ndef judge(")
    (folder / "notes.txt").touch()
    ended = tenterhook("update", "--yes")
    assert "and changed: left alone" in ended.stdout
    assert "changed: notes.txt, scripts/dangers.py" in ended.stdout
    assert f"tenterhook update {GUARD} --force" in ended.stdout
    assert (folder / "scripts/dangers.py").exists()
    (hook,) = updated(GUARD, "--force", "--yes")
    assert (hook["state"], hook["updated"]) == ("changed", True)
    assert "# mine" in Path(hook["kept"], "scripts/dangers.py").read_text()
    assert not (folder / "scripts/dangers.py").exists()
    assert trigger(*CALL)["decision"] == "deny"


def test_a_dry_run_changes_nothing(home: Path, project: Path) -> None:
    folder = written_by_0_1(user_hooks(home), GUARD)
    (hook,) = updated("--dry-run")
    assert (hook["would_update"], hook["updated"], hook["kept"]) == (True, False, None)
    assert "will run the built-in guard" in tenterhook("update", "--dry-run").stdout
    assert (folder / "scripts/run.py").exists()
    assert not (home / ".local/state/tenterhook/replaced").exists()


def test_a_projects_hook_must_be_trusted_again(home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    written_by_0_1(project_hooks(project), GUARD)
    assert tenterhook("trust", GUARD, "--yes").returncode == 0
    assert trigger(*CALL)["decision"] == "deny"
    ended = tenterhook("update", "--yes")
    assert f"next    tenterhook trust {GUARD} " in ended.stdout
    assert trigger(*CALL)["decision"] == "none"
    assert tenterhook("trust", GUARD, "--yes").returncode == 0
    assert trigger(*CALL)["decision"] == "deny"


def test_without_a_terminal_it_needs_yes_and_on_one_it_asks(home: Path, project: Path) -> None:
    folder = written_by_0_1(user_hooks(home), GUARD)
    refused = tenterhook("update", stdin=-3)
    assert refused.returncode == 1
    assert "--yes" in refused.stderr
    assert on_a_terminal(["update"], {b"Update 1 hook?": b"n\n"})[0] == 1
    assert (folder / "scripts/run.py").exists()
    assert on_a_terminal(["update"], {b"Update 1 hook?": b"\n"})[0] == 0
    assert not (folder / "scripts/run.py").exists()


def test_other_hooks_of_the_same_name_and_current_ones_are_not_touched(home: Path, project: Path, run: Run) -> None:
    written_by_0_1(user_hooks(home), "notify")  # has not changed since
    own = user_hooks(home) / GUARD
    (own / "scripts").mkdir(parents=True)
    (own / "HOOK.md").write_text(f"---\nname: {GUARD}\ntrigger: pre-tool-call\n---\n\nMy own.\n")
    (own / "scripts/run.py").write_text("#!/usr/bin/env python3\n")
    assert run("update", "--yes").out == "every hook is up to date\n"
    assert run("update", "no-such-hook").status == 64


def test_check_doctor_and_the_status_say_so_in_a_line(home: Path, project: Path) -> None:
    written_by_0_1(user_hooks(home), GUARD)
    checked = tenterhook("check")
    assert checked.returncode == 0
    assert "[earlier-version]" in checked.stdout
    assert f"tenterhook update {GUARD}" in checked.stdout
    assert f"written by an earlier version: {GUARD}" in tenterhook("doctor").stdout
    assert "1 written by an earlier version: tenterhook update" in tenterhook().stdout
    added = tenterhook("add", GUARD)
    assert (added.returncode, f"tenterhook update {GUARD}" in added.stderr) == (1, True)


def test_an_agent_cannot_update_but_look(home: Path, project: Path) -> None:
    folder = written_by_0_1(user_hooks(home), GUARD)
    agent_marks.mark(processes.this())
    assert "outside the agent" in tenterhook("update", "--yes").stderr
    assert (folder / "scripts/run.py").exists()
    assert "earlier version" in tenterhook("update", "--dry-run").stdout


@pytest.mark.parametrize("kind", ["link", "pipe", "bomb"])
@pytest.mark.parametrize("name", ["protect-hooks", pytest.param(GUARD, marks=pytest.mark.thorough)])
def test_a_cloned_repository_cannot_stop_or_fill_up_commands(home: Path, project: Path, kind: str, name: str) -> None:
    (project / ".git").mkdir()
    folder = written_by_0_1(project_hooks(project), name)
    if kind == "link":
        (folder / "scripts/z").symlink_to("/dev/zero")
    elif kind == "pipe":
        (folder / "scripts/run.py").unlink()
        os.mkfifo(folder / "scripts/run.py")
    else:
        lists = "".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else '1'] * 9)}]\n" for n in range(9))
        edit(folder / "HOOK.md", "metadata:\n", "metadata:\n" + lists)
    for line in ([], ["check"], ["doctor"], ["update", "--dry-run"], ["add"], ["add", name, "--project"]):
        command = ["sh", "-c", 'ulimit -v 2000000; exec "$@"', "sh", sys.executable, "-m", "tenterhook", *line]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
        assert "Error" not in ended.stderr, line
    assert "exists and was changed" in ended.stderr or "was written by an earlier version" in ended.stderr


def test_of_an_untrusted_hook_no_script_is_read(home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    written_by_0_1(project_hooks(project), GUARD)
    ended = tenterhook("update", "--dry-run")
    assert ended.stdout == "every hook is up to date\n"
    assert f"skipped, because you have not trusted them: {GUARD}" in ended.stderr
    assert "earlier version" not in tenterhook("check").stdout + tenterhook("doctor").stdout + tenterhook().stdout
    assert tenterhook("trust", GUARD, "--yes").returncode == 0
    assert "written by an earlier version" in tenterhook("update", "--dry-run").stdout
    assert "[earlier-version]" in tenterhook("check").stdout


def test_add_update_and_doctor_say_where_a_folder_is_whose_replacement_was_killed(home: Path, project: Path) -> None:
    folder = written_by_0_1(user_hooks(home), GUARD)
    lost = left_by_a_kill(folder)
    refused = tenterhook("add", GUARD)
    assert refused.returncode != 0
    for said in (refused.stderr, tenterhook("update", "--yes").stderr, tenterhook("doctor").stdout):
        assert "replacing it was interrupted" in said
        assert f"mv {lost.kept} {folder}" in said
    assert not folder.exists()
    Path(lost.kept).rename(folder)
    assert "interrupted" not in tenterhook("doctor").stdout
    assert tenterhook("update", "--yes").returncode == 0
