"""Which hooks are in force where: one answer, and every command shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support import array_hook, folder_hook, project_hooks, table_hook, tenterhook, trigger, user_hooks, write_config

BLOCK = "echo no >&2; exit 2"
SHELL = ("--tool", "Shell", "--input", '{"command": "ls"}')


@pytest.fixture(autouse=True)
def _in_a_project(project: Path) -> None:
    """Commands look at the current directory."""


@pytest.fixture
def kimi(home: Path) -> Path:
    return write_config(home / ".kimi" / "config.toml", table_hook(BLOCK, name="guard"))


def listed(*arguments: str) -> dict[str, dict[str, Any]]:
    """What `list --json` says of each hook."""
    ended = tenterhook("list", "--json", *arguments)
    assert ended.returncode == 0, ended.stderr
    hooks = json.loads(ended.stdout)["hooks"]
    assert len({hook["name"] for hook in hooks}) == len(hooks)
    return {hook["name"]: hook for hook in hooks}


def names(verdict: dict[str, Any]) -> list[str]:
    return [run["hook"] for run in verdict["runs"]]


def test_every_command_sees_the_hooks_of_kimis_own_files(kimi: Path) -> None:
    assert listed()["guard"]["in_force_in"] == ["agent", "trigger"]
    assert trigger("before_tool", *SHELL)["decision"] == "deny"
    assert tenterhook("check").stdout == "1 hook, 0 errors, 0 warnings\n"
    where = "in force in the bundled agent and trigger; Kimi CLI's own settings"
    assert where in tenterhook("show", "guard").stdout
    assert f"config  ~/.kimi/config.toml  {where}" in tenterhook("list").stdout
    alone = tenterhook().stdout
    assert "1 in force" in alone
    assert f"1 of them from ~/.kimi/config.toml: {where}" in alone


def test_a_file_of_kimi_that_a_variable_moved_is_found_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_config(home / "share" / "config.toml", array_hook(BLOCK, matcher="(?P<a>Sh)ell"))
    write_config(home / "code" / "config.toml", array_hook(BLOCK, event="Stop"))
    monkeypatch.setenv("KIMI_SHARE_DIR", str(home / "share"))
    monkeypatch.setenv("KIMI_CODE_HOME", str(home / "code"))
    assert set(listed()) == {"PreToolUse[0]", "Stop[0]"}
    assert trigger("before_tool", *SHELL)["decision"] == "deny"  # Python's expressions, as Kimi CLI's are


def test_a_variable_that_names_a_folder_of_the_repository_gives_its_hooks_no_force(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(project / "share" / "config.toml", array_hook("touch ran"))
    monkeypatch.setenv("KIMI_SHARE_DIR", str(project / "share"))
    verdict = trigger("before_tool", *SHELL)
    assert not verdict["runs"]
    assert [problem["code"] for problem in verdict["problems"]] == ["moved-into-repository"]
    assert "moved-into-repository" in tenterhook("list").stdout
    assert not (project / "ran").exists()


def test_a_file_that_nobody_named_may_hold_no_hooks(home: Path) -> None:
    file = write_config(home / ".kimi" / "config.toml", 'default_model = "k2"\n')
    assert "no-hooks" not in tenterhook("list").stdout
    assert "no-hooks" not in tenterhook("trigger", "before_tool").stderr
    assert "no-hooks" in tenterhook("list", "--config", file).stdout


def test_a_file_with_two_names_is_read_once(home: Path, kimi: Path) -> None:
    link = home / "link.toml"
    link.symlink_to(kimi)
    hard = home / "hard.toml"
    hard.hardlink_to(kimi)
    for name in (str(kimi), str(link), str(hard), str(home / ".kimi" / ".." / ".kimi" / "config.toml")):
        ended = tenterhook("trigger", "before_tool", *SHELL, "--config", name, "--json")
        assert names(json.loads(ended.stdout)) == ["guard"]
        assert not ended.stderr
        assert list(listed("--config", name)) == ["guard"]


def test_a_folder_with_two_names_is_read_once(home: Path, project: Path) -> None:
    folder = folder_hook(user_hooks(home), "guard", BLOCK)
    (user_hooks(home) / "also").symlink_to(folder)
    project_hooks(project).mkdir(parents=True)
    (project_hooks(project) / "guard").symlink_to(folder)
    (home / ".config" / "kimi").mkdir()
    (home / ".config" / "kimi" / "hooks").symlink_to(user_hooks(home))
    ended = tenterhook("list", "--json")
    found = json.loads(ended.stdout)
    assert [(hook["name"], hook["layer"]) for hook in found["hooks"]] == [("guard", "user")]
    assert not found["problems"]
    assert names(trigger("before_tool", *SHELL)) == ["guard"]


def test_a_layer_whose_link_leads_elsewhere_later_is_read_there(home: Path) -> None:
    from tenterhook import Engine

    folder_hook(user_hooks(home), "one", BLOCK)
    folder_hook(home / "other", "two", BLOCK)
    kimi = home / ".config" / "kimi"
    kimi.mkdir()
    (kimi / "hooks").symlink_to(user_hooks(home))
    assert [hook.name for hook in Engine.load().hooks] == ["one"]
    engine = Engine.load()
    (kimi / "hooks").unlink()
    (kimi / "hooks").symlink_to(home / "other")
    assert [hook.name for hook in engine.hooks] == ["one", "two"]
    assert [hook.name for hook in Engine.load().hooks] == ["one", "two"]


def test_files_named_with_install_are_in_force_in_that_agent_alone(home: Path, kimi: Path) -> None:
    mine = write_config(home / "mine.toml", array_hook(BLOCK, matcher="Shell"))
    ended = tenterhook("install", "claude-code", "--config", mine)
    assert ended.returncode == 0, ended.stderr
    found = listed()
    assert found["PreToolUse[0]"]["in_force_in"] == ["claude-code"]
    assert found["guard"]["in_force_in"] == ["agent", "trigger"]
    assert "config  ~/mine.toml  in force in Claude Code" in tenterhook("list").stdout
    assert "1 of them from ~/mine.toml: in force in Claude Code" in tenterhook().stdout
    assert names(trigger("before_tool", *SHELL)) == ["guard"]
    assert names(trigger("before_tool", *SHELL, "--agent", "claude-code")) == ["PreToolUse[0]"]
    assert tenterhook("check").stdout == "2 hooks, 0 errors, 0 warnings\n"  # Kimi's need no event of Claude Code


def test_a_folder_is_in_force_in_every_agent_that_is_guarded(home: Path) -> None:
    folder_hook(user_hooks(home), "guard", BLOCK)
    assert listed()["guard"]["in_force_in"] == ["agent", "trigger"]
    tenterhook("install", "codex", "kimi-cli")
    assert listed()["guard"]["in_force_in"] == ["agent", "trigger", "kimi-cli", "codex"]


def test_an_untrusted_hook_is_in_force_nowhere(project: Path) -> None:
    folder_hook(project_hooks(project), "guard", BLOCK)
    assert listed()["guard"]["in_force_in"] == []


@pytest.mark.parametrize("agent", ["kimi-code", "kimi-cli", "codex", "gemini", "qwen", "claude-code"])
def test_entries_that_install_wrote_are_no_hooks(home: Path, agent: str) -> None:
    from tenterhook.agents import AGENTS

    folder_hook(user_hooks(home), "guard", BLOCK)
    assert tenterhook("install", agent).returncode == 0
    settings = AGENTS[agent].settings()
    assert list(listed("--config", settings)) == ["guard"]
    assert names(trigger("before_tool", *SHELL, "--config", settings)) == ["guard"]
    assert tenterhook("check", settings).stdout == "0 hooks, 0 errors, 0 warnings\n"


@pytest.mark.parametrize(
    ("agent", "file"),
    [
        ("kimi-cli", ".kimi/config.toml"),
        ("kimi-code", ".kimi-code/config.toml"),
        ("codex", ".codex/hooks.json"),
        ("codex", ".codex/config.toml"),
        ("claude-code", ".claude/settings.json"),
    ],
)
def test_an_agent_does_not_get_the_hooks_a_second_time_that_it_runs_itself(home: Path, agent: str, file: str) -> None:
    (home / file).parent.mkdir()
    (home / file).write_text("{}" if file.endswith("json") else "")
    link = home / f"link{Path(file).suffix}"
    link.symlink_to(home / file)
    for name in (home / file, link):
        ended = tenterhook("install", agent, "--config", name)
        assert ended.returncode != 0
        assert "itself" in ended.stderr


@pytest.mark.parametrize("text", [None, "[[hooks]\n", array_hook("true", nope=1), array_hook("true")])
def test_install_says_why_a_file_cannot_be_used(home: Path, text: str | None) -> None:
    mine = home / "my hooks.toml"
    if text is not None:
        write_config(mine, text)
    if text == array_hook("true"):
        mine.chmod(0o666)
        why, told = f"another account could change {mine}", "chmod go-w"
    else:
        problem = json.loads(tenterhook("check", mine, "--json").stdout)["problems"][0]
        why, told = problem["message"], problem["remedy"]
    ended = tenterhook("install", "claude-code", "--config", mine)
    assert ended.returncode != 0
    assert f"{mine} cannot be used: {why}" in ended.stderr
    assert told in ended.stderr
    assert f"tenterhook check '{mine}'" in ended.stderr


def test_a_file_named_for_an_agent_that_was_wired_before_it_had_hooks_is_missed_by_doctor_no_longer(
    home: Path,
) -> None:
    mine = write_config(home / "mine.toml", array_hook(BLOCK, event="Stop"))
    assert tenterhook("install", "claude-code", "--config", mine).returncode == 0
    mine.write_text(array_hook(BLOCK, event="Stop") + array_hook(BLOCK))
    said = tenterhook("doctor", "claude-code").stdout
    assert "PreToolUse is not wired: PreToolUse[1]" in said
    assert "not-wired" in tenterhook("check").stdout


def test_a_broken_file_that_nobody_named_is_shown_and_fails_nothing(home: Path) -> None:
    file = write_config(home / ".kimi" / "config.toml", "[[hooks]]\n")
    ended = tenterhook("trigger", "before_tool", *SHELL)
    assert ended.returncode == 0
    assert "missing-key" in ended.stderr
    assert tenterhook("trigger", "before_tool", *SHELL, "--config", file).returncode == 1
    assert tenterhook("check").returncode == 1


def test_the_cases_of_a_hook_in_kimis_own_file_are_tried(home: Path, kimi: Path) -> None:
    cases = home / ".kimi" / "cases" / "guard"
    cases.mkdir(parents=True)
    (cases / "blocks.toml").write_text('[event]\ntool_name = "Shell"\n[expect]\ndecision = "deny"\n')
    ended = tenterhook("test", "guard")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 passed" in ended.stdout


def test_a_hook_of_a_file_is_changed_in_that_file(kimi: Path) -> None:
    for command in (("disable", "guard", "--yes"), ("remove", "guard", "--yes")):
        ended = tenterhook(*command)
        assert ended.returncode != 0
        assert "'guard' is defined in ~/.kimi/config.toml:1" in ended.stderr


def test_a_link_that_may_not_be_used_takes_no_other_hook_away(home: Path, project: Path) -> None:
    folder = folder_hook(project_hooks(project), "guard", BLOCK)
    folder.chmod(0o777)  # another account could write there: not as a hook of one's own, but the project's is trusted
    user_hooks(home).mkdir(parents=True)
    (user_hooks(home) / "mine").symlink_to(folder)
    assert tenterhook("trust", "--all", "--yes").returncode == 0
    verdict = trigger("before_tool", *SHELL)
    assert verdict["decision"] == "deny"
    assert [problem["code"] for problem in verdict["problems"]] == ["writable-by-others"]


def test_doctor_judges_an_agent_by_the_hooks_that_are_in_force_there(home: Path) -> None:
    folder_hook(user_hooks(home), "guard", BLOCK)
    write_config(home / ".kimi" / "config.toml", "[[hooks]]\n")  # broken, and nothing to Claude Code
    mine = write_config(home / "mine.toml", array_hook(BLOCK))
    assert tenterhook("install", "claude-code", "--config", mine).returncode == 0
    ended = tenterhook("doctor", "claude-code")
    assert ended.returncode == 0, ended.stdout
    assert "1 hook in force here" in ended.stdout
    assert f"1 more from {mine}" in ended.stdout


def test_bare_tenterhook_does_not_say_that_no_agent_calls_what_kimi_runs_itself(kimi: Path) -> None:
    assert "no agent calls them" not in tenterhook().stdout


def test_a_relative_script_that_may_be_there_in_another_project_is_a_warning(home: Path, project: Path) -> None:
    write_config(home / ".kimi-code" / "config.toml", array_hook("sh scripts/guard.sh"))
    (project / ".git").mkdir()
    ended = tenterhook("check")
    assert ended.returncode == 0
    assert "[missing-program] there is no" in ended.stdout
    (project / "scripts").mkdir()
    (project / "scripts" / "guard.sh").write_text("exit 0\n")
    (project / "sub").mkdir()
    assert "1 hook, 0 errors, 0 warnings" in tenterhook("check", cwd=project / "sub").stdout
