"""`tenterhook add`: built-in hooks are written where they are in force, and their events are wired."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from hooks.lines import HOOKS, NAMES, override
from support import project_hooks, tenterhook, trigger, user_hooks
from tenterhook.basics import agent_marks, processes

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

GUARD = "block-dangerous-commands"
FIRST = (
    *("block-dangerous-commands", "protect-secrets", "redact-secrets", "redact-secrets-in-errors", "stay-in-project"),
    *("protect-hooks", "infrastructure"),
)
DANGEROUS = ("--tool", "Shell", "--input", '{"command": "rm -rf /"}')


@pytest.fixture(autouse=True)
def no_agents(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent of this machine is found."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def test_a_hook_named_twice_is_added_once(home: Path, run: Run) -> None:
    ended = run("add", GUARD, GUARD, "--json")
    assert ended.status == 0
    (added,) = json.loads(ended.out)["added"]
    assert (added["name"], added["state"], added["needs_trust"]) == (GUARD, "added", False)
    assert added["folder"] == str(user_hooks(home) / GUARD)


def test_one_unknown_name_adds_none_of_the_others(home: Path, run: Run) -> None:
    assert run("add", GUARD, "no-such-hook").status == 64
    assert not user_hooks(home).exists()


def test_a_hook_for_a_project_says_that_it_needs_trust(run: Run) -> None:
    ended = run("add", GUARD, "--project")
    assert f"next    tenterhook trust {GUARD} " in ended.out
    assert json.loads(run("add", GUARD, "--project", "--json").out)["added"][0]["needs_trust"] is True


def test_an_agent_that_could_not_be_wired_is_told_and_status_is_one(home: Path, run: Run) -> None:
    assert run("install", "claude-code").status == 0
    (home / ".claude/settings.json").write_text("{ broken")
    ended = run("add", GUARD)
    assert ended.status == 1
    assert f"{GUARD}  added" in ended.out
    assert "not wired in Claude Code: PreToolUse" in ended.err
    printed = json.loads(run("add", GUARD, "--json").out)
    assert "not wired in Claude Code: PreToolUse" in printed["not_wired"][0]


def listed(*arguments: str) -> dict[str, Any]:
    ended = tenterhook("add", *arguments, "--json")
    assert ended.returncode == 0, ended.stderr
    printed: dict[str, Any] = json.loads(ended.stdout)
    return printed


class TestList:
    """Without a name."""

    def test_every_hook_has_a_line_with_what_it_does(self, home: Path, project: Path) -> None:
        ended = tenterhook("add")
        assert (ended.returncode, ended.stderr) == (0, "")
        lines = ended.stdout.splitlines()
        names = [line.split()[0] for line in lines[1:-1]]
        assert sorted(names) == NAMES
        guards = [name for name in FIRST if name in NAMES]
        assert names[: len(guards)] == guards
        assert all(line.split()[2] == "-" for line in lines[1:-1])

    def test_it_says_what_was_added_where_and_what_was_changed(self, home: Path, project: Path) -> None:
        tenterhook("add", GUARD, "notify")
        tenterhook("add", "notify", "--project")
        (user_hooks(home) / GUARD / "HOOK.md").write_text("mine")
        hooks = {hook["name"]: hook for hook in listed()["hooks"]}
        assert (hooks[GUARD]["user"], hooks[GUARD]["project"]) == ("changed", None)
        assert (hooks["notify"]["user"], hooks["notify"]["project"]) == ("as it comes", "as it comes")
        assert hooks["enforce-tests"]["user"] is None
        assert hooks["notify"]["event"] == "notification"
        text = tenterhook("add").stdout
        assert "user (changed)" in text
        assert "user, project" in text


class TestAdding:
    """With a name."""

    def test_it_is_in_force_at_once(self, home: Path, project: Path) -> None:
        assert trigger("pre-tool-call", *DANGEROUS)["decision"] == "none"
        ended = tenterhook("add", GUARD)
        assert ended.returncode == 0
        assert f"{GUARD}  added: ~/.config/agents/hooks/{GUARD}" in ended.stdout
        assert trigger("pre-tool-call", *DANGEROUS)["decision"] == "deny"

    @pytest.mark.parametrize("name", NAMES)
    def test_every_file_is_written_with_its_exec_bit(self, home: Path, project: Path, name: str) -> None:
        assert tenterhook("add", name).returncode == 0
        ours = {path.relative_to(HOOKS / name) for path in (HOOKS / name).rglob("*") if "__pycache__" not in path.parts}
        folder = user_hooks(home) / name
        assert {path.relative_to(folder) for path in folder.rglob("*")} == ours
        for path in ours:
            if (folder / path).is_file():
                assert (folder / path).read_bytes() == (HOOKS / name / path).read_bytes()
                executable = bool(stat.S_IMODE((folder / path).stat().st_mode) & 0o111)
                assert executable == path.name.startswith("run.")
        assert [path.name for path in user_hooks(home).iterdir()] == [name]

    def test_others_cannot_write_it_whatever_the_umask_is(self, home: Path, project: Path) -> None:
        ended = tenterhook("add", GUARD, preexec_fn=lambda: os.umask(0))
        assert ended.returncode == 0
        assert trigger("pre-tool-call", *DANGEROUS)["problems"] == []

    def test_a_second_time_nothing_changes(self, home: Path, project: Path) -> None:
        tenterhook("add", GUARD)
        before = (user_hooks(home) / GUARD).stat()
        ended = tenterhook("add", GUARD)
        assert (ended.returncode, "already added" in ended.stdout) == (0, True)
        assert (user_hooks(home) / GUARD).stat().st_ino == before.st_ino
        assert listed(GUARD)["added"][0]["state"] == "unchanged"

    def test_one_that_was_changed_is_not_overwritten_without_force(self, home: Path, project: Path) -> None:
        tenterhook("add", GUARD)
        changed = user_hooks(home) / GUARD / "scripts" / "run.sh"
        changed.write_text(changed.read_text() + "# mine\n")
        ended = tenterhook("add", "notify", GUARD)
        assert ended.returncode == 1
        assert "--force" in ended.stderr
        assert changed.read_text().endswith("# mine\n")
        assert not (user_hooks(home) / "notify").exists()  # a refusal adds nothing
        (added,) = listed(GUARD, "--force")["added"]
        assert added["state"] == "replaced"
        assert not changed.read_text().endswith("# mine\n")
        with open(f"{added['kept']}/scripts/run.sh") as kept:
            assert kept.read().endswith("# mine\n")

    def test_a_lost_exec_bit_counts_as_a_change_and_force_mends_it(self, home: Path, project: Path) -> None:
        tenterhook("add", GUARD)
        (user_hooks(home) / GUARD / "scripts" / "run.sh").chmod(0o644)
        assert tenterhook("add", GUARD).returncode == 1
        assert tenterhook("add", GUARD, "--force").returncode == 0
        assert os.access(user_hooks(home) / GUARD / "scripts" / "run.sh", os.X_OK)

    def test_a_link_in_its_place_is_left_alone_without_force(self, home: Path, project: Path, tmp_path: Path) -> None:
        other = tmp_path / "other"
        other.mkdir()
        user_hooks(home).mkdir(parents=True)
        (user_hooks(home) / GUARD).symlink_to(other)
        assert tenterhook("add", GUARD).returncode == 1
        assert tenterhook("add", GUARD, "--force").returncode == 0
        assert not (user_hooks(home) / GUARD).is_symlink()
        assert other.is_dir()

    def test_for_a_project_it_needs_trust(self, home: Path, project: Path) -> None:
        (project / ".git").mkdir()
        (project / "src").mkdir()
        ended = tenterhook("add", GUARD, "--project", cwd=project / "src")
        assert ended.returncode == 0
        assert f"tenterhook trust {GUARD}" in ended.stdout
        assert (project_hooks(project) / GUARD / "HOOK.md").exists()
        assert trigger("pre-tool-call", *DANGEROUS)["decision"] == "none"
        assert tenterhook("trust", GUARD, "--yes").returncode == 0
        assert trigger("pre-tool-call", *DANGEROUS)["decision"] == "deny"

    def test_an_unknown_name_is_told_what_it_may_have_meant(self, home: Path, project: Path) -> None:
        ended = tenterhook("add", "block-dangerous-comands")
        assert ended.returncode == 64
        assert f"did you mean {GUARD}?" in ended.stderr
        assert not user_hooks(home).exists()

    def test_one_that_is_switched_off_says_so(self, home: Path, project: Path) -> None:
        user_hooks(home).mkdir(parents=True)
        (user_hooks(home) / "hooks.toml").write_text(f'[[hooks.disable]]\nname = "{GUARD}"\n')
        ended = tenterhook("add", GUARD)
        assert "it is not in force: disabled by" in ended.stderr

    def test_an_agent_that_is_guarded_cannot_add_hooks(self, home: Path, project: Path) -> None:
        agent_marks.mark(processes.this())
        ended = tenterhook("add", GUARD)
        assert ended.returncode == 1
        assert "outside the agent" in ended.stderr
        assert not user_hooks(home).exists()
        assert tenterhook("add").returncode == 0  # looking is fine


class TestWiring:
    """Agents that are guarded lead to the new hook; others are named."""

    def events(self, home: Path) -> set[str]:
        return set(json.loads((home / ".claude" / "settings.json").read_text())["hooks"])

    def test_a_guarded_agent_is_wired_for_its_event(self, home: Path, project: Path) -> None:
        (home / ".claude").mkdir()
        assert tenterhook("install", "claude-code").returncode == 0
        assert "PreToolUse" not in self.events(home)
        ended = tenterhook("add", GUARD, "session-logger-end")
        assert "Claude Code calls it from now on" in ended.stdout
        assert {"PreToolUse", "SessionEnd"} <= self.events(home)
        # a guard that must not be missing closes the line
        assert json.loads((home / ".local/state/tenterhook/installed/claude-code.json").read_text())["closed"]
        assert listed(GUARD)["wired"] == []
        assert tenterhook("check").stdout.endswith("2 hooks, 0 errors, 0 warnings\n")

    def test_settings_are_found_where_they_were_at_install(
        self, home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(elsewhere))
        assert tenterhook("install", "claude-code").returncode == 0
        monkeypatch.delenv("CLAUDE_CONFIG_DIR")
        assert tenterhook("add", GUARD).returncode == 0
        assert "PreToolUse" in json.loads((elsewhere / "settings.json").read_text())["hooks"]
        assert not (home / ".claude").exists()

    def test_an_agent_without_the_event_is_named(self, home: Path, project: Path) -> None:
        (home / ".gemini").mkdir()
        assert tenterhook("install", "gemini").returncode == 0
        ended = tenterhook("add", "notify", "enforce-tests")
        assert ended.returncode == 0
        assert ("has no event" in ended.stdout) == any(
            event not in _gemini_events() for event in ("notification", "pre-agent-turn-stop")
        )

    def test_an_agent_that_is_not_guarded_is_the_next_step(self, home: Path, project: Path) -> None:
        (home / ".codex").mkdir()
        ended = tenterhook("add", GUARD)
        assert "tenterhook install codex" in ended.stdout
        assert listed(GUARD)["not_guarded"] == ["codex"]


class TestCopy:
    """`--copy`: the source of a guard."""

    def test_the_folder_has_the_source_and_decides_the_same(self, home: Path, project: Path) -> None:
        ended = tenterhook("add", GUARD, "--copy")
        assert ended.returncode == 0
        folder = user_hooks(home) / GUARD
        assert "guard:" not in (folder / "HOOK.md").read_text().split("---")[1]
        assert (folder / "scripts/source/guards/block_dangerous_commands.py").exists()
        assert not (folder / "scripts/run.sh").exists()
        verdict = trigger("pre-tool-call", *DANGEROUS)
        assert (verdict["decision"], verdict["runs"][0]["exit_code"]) == ("deny", 2)
        assert "[delete-system]" in verdict["reason"]
        override(home, GUARD, metadata={"allow": ["delete-system"]})
        assert trigger("pre-tool-call", *DANGEROUS)["decision"] == "none"
        assert tenterhook("check").stdout == "1 hook, 0 errors, 0 warnings\n"

    def test_a_copy_and_the_guard_replace_each_other_without_force_and_a_changed_copy_does_not(
        self, home: Path, project: Path
    ) -> None:
        tenterhook("add", GUARD)
        assert listed(GUARD, "--copy")["added"][0]["state"] == "replaced"
        assert listed(GUARD, "--copy")["added"][0]["state"] == "unchanged"
        assert next(hook for hook in listed()["hooks"] if hook["name"] == GUARD)["user"] == "copy"
        source = user_hooks(home) / GUARD / "scripts/source/guards/block_dangerous_commands.py"
        source.write_text(source.read_text() + "# mine\n")
        assert tenterhook("add", GUARD).returncode == 1
        assert tenterhook("update").stdout == "every hook is up to date\n"
        assert listed(GUARD, "--force")["added"][0]["state"] == "replaced"
        assert not source.exists()

    def test_a_hook_that_is_no_guard_is_copied_as_it_is(self, home: Path, project: Path) -> None:
        assert listed("notify", "--copy")["added"][0]["state"] == "added"
        assert listed("notify")["added"][0]["state"] == "unchanged"


def _gemini_events() -> set[str]:
    from tenterhook.agents import AGENTS

    return set(AGENTS["gemini"].events.values())
