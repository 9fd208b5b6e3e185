"""Which hooks and cases `tenterhook test` tries: by name, folder, word, trust and file."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from authoring.trying import CALL, DENY, case, hook, tenterhook, tried
from support import array_hook, folder_hook, project_hooks, table_hook, user_hooks, write_config

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("temporary")


class TestSelection:
    """Which hooks and cases are tried, and what is said of the others."""

    @pytest.fixture
    def two(self, home: Path, project: Path) -> None:
        for name in ("push", "pull"):
            folder = hook(home, DENY, name=name)
            for word in ("force", "plain"):
                case(folder, f'name = "a {word} {name}"\n{CALL}\n[expect]\ndecision = "deny"\n', f"{word}.toml")
        hook(home, DENY, name="bare")

    def test_all_of_them(self, two: None) -> None:
        ended = tenterhook("test")
        assert ended.returncode == 0
        assert ended.stdout.splitlines()[-2:] == ["without cases: bare", "4 passed"]

    def test_by_name(self, two: None) -> None:
        assert [each["case"] for each in tried("push")["cases"]] == ["a force push", "a plain push"]

    def test_by_folder(self, two: None, home: Path) -> None:
        assert tried(user_hooks(home) / "pull")["passed"] == 2

    @pytest.mark.parametrize(("word", "count"), [("FORCE", 2), ("pull", 2), ("a plain push", 1), ("plain.toml", 2)])
    def test_by_word(self, word: str, count: int, two: None) -> None:
        report = tried("-k", word)
        assert (report["passed"], report["deselected"], report["status"]) == (count, 4 - count, 0)

    def test_nothing_found_by_name_or_word_is_no_success(self, two: None) -> None:
        assert tenterhook("test", "-k", "nowhere").returncode == 1
        assert tenterhook("test", "bare").returncode == 1
        unknown = tenterhook("test", "posh")
        assert unknown.returncode == 1
        assert "no hook is called 'posh'" in unknown.stderr
        assert "did you mean 'push'?" in unknown.stderr

    def test_a_disabled_hook_is_tried_by_name_only(self, two: None, home: Path) -> None:
        (user_hooks(home) / "hooks.toml").write_text('[[hooks.disable]]\nname = "push"\n')
        assert {each["hook"] for each in tried()["cases"]} == {"pull"}
        assert tried("push")["passed"] == 2


class TestTrust:
    """A project's hooks."""

    @pytest.fixture
    def folder(self, home: Path, project: Path, tmp_path: Path) -> Path:
        folder = folder_hook(project_hooks(project), "guard", f"touch {tmp_path}/ran; {DENY}")
        case(folder, f'setup = "touch {tmp_path}/set-up"\n{CALL}\n[expect]\ndecision = "deny"\n')
        return folder

    def test_not_trusted_nothing_of_it_runs(self, folder: Path, tmp_path: Path) -> None:
        ended = tenterhook("test")
        assert ended.returncode == 1
        assert "not trusted: guard" in ended.stdout
        assert "its 1 case file did not run" in ended.stdout
        assert "tenterhook trust guard; to run it this once: --trust-project" in ended.stdout
        assert "0 passed, 1 hook not trusted" in ended.stdout
        assert not (tmp_path / "ran").exists()
        assert not (tmp_path / "set-up").exists()

    def test_the_environment_does_not_stand_for_trust(self, folder: Path, project: Path) -> None:
        env = {**os.environ, "TENTERHOOK_TRUST_PROJECT": str(project)}
        assert tried(env=env)["passed"] == 0

    def test_for_this_once(self, folder: Path) -> None:
        assert tried("--trust-project")["passed"] == 1
        assert tried()["passed"] == 0

    def test_trusted_until_a_case_changes(self, folder: Path) -> None:
        assert tenterhook("trust", "guard", "--yes").returncode == 0
        assert tried()["passed"] == 1
        case(folder, f"{CALL}\n[expect]\n", "another.toml")
        report = tried()
        assert (report["passed"], report["status"]) == (0, 1)
        assert "changed since it was trusted" in report["untrusted"][0]["why"]

    def test_a_folder_of_no_layer_needs_trust_too(self, home: Path, tmp_path: Path, project: Path) -> None:
        folder = folder_hook(tmp_path / "elsewhere", "guard", DENY)
        case(folder, f'{CALL}\n[expect]\ndecision = "deny"\n')
        assert tried(folder)["status"] == 1
        assert tried(folder, "--trust-project")["passed"] == 1

    def test_an_update_says_that_trust_is_needed_again(self, folder: Path) -> None:
        case(folder, f"{CALL}\n[expect]\n")
        ended = tenterhook("test", "--trust-project", "--update")
        assert ended.returncode == 0
        assert "they need trust again" in ended.stdout


class TestFiles:
    """Hooks of TOML files, by name."""

    def test_their_cases_are_beside_the_file(self, home: Path, project: Path) -> None:
        config = write_config(home / "hooks" / "mine.toml", table_hook(DENY, name="guard") + table_hook("true"))
        case(config.parent / "x", "", "none")
        place = config.parent / "cases"
        for name, decision in (("guard", "deny"), ("before_tool[1]", "none")):
            (place / name).mkdir(parents=True)
            (place / name / "one.toml").write_text(f'{CALL}\n[expect]\ndecision = "{decision}"\n')
        report = tried("--config", config)
        assert {each["hook"]: each["status"] for each in report["cases"]} == {
            "guard": "passed",
            "before_tool[1]": "passed",
        }
        assert tried("guard", "--config", config)["passed"] == 1

    def test_or_in_a_directory_that_is_named(self, home: Path, project: Path) -> None:
        config = write_config(home / "mine.toml", array_hook(DENY, matcher="Bash") + array_hook("cat", "Notification"))
        place = project / "my-cases"
        for name in ("PreToolUse[0]", "Notification[1]"):
            (place / name).mkdir(parents=True)
        (place / "PreToolUse[0]" / "a.toml").write_text(f'{CALL}\n[expect]\ndecision = "deny"\n')
        (place / "Notification[1]" / "a.toml").write_text(
            '[event]\ntitle = "t"\n[expect]\nstdout = { contains = "\\"hook_event_name\\": \\"Notification\\"" }\n'
        )
        assert tried("--config", config, "--cases", place)["passed"] == 2
        assert tried("PreToolUse[0]", "--config", config, "--cases", place / "PreToolUse[0]")["passed"] == 1

    def test_another_agents_settings_too(self, home: Path, project: Path) -> None:
        group = {"matcher": "Bash", "hooks": [{"type": "command", "command": DENY}]}
        settings = home / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
        (name,) = [
            each["name"] for each in json.loads(tenterhook("list", "--config", settings, "--json").stdout)["hooks"]
        ]
        place = home / ".claude" / "cases" / name
        place.mkdir(parents=True)
        (place / "a.toml").write_text(f'{CALL}\n[expect]\ndecision = "deny"\n')
        assert tried(name, "--config", settings)["passed"] == 1

    def test_a_refused_file_is_no_success(self, home: Path, project: Path) -> None:
        config = write_config(home / "mine.toml", array_hook(DENY, timeot=3))
        assert tried("--config", config)["status"] == 1
