"""`enforce-tests` beyond its cases: whole sessions, and tests that pass where they may be run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from hooks.lines import added, decide, git, override
from support import alive, tenterhook, trigger

if TYPE_CHECKING:
    from pathlib import Path

NAME = "enforce-tests"


@pytest.fixture(autouse=True)
def repository(home: Path, project: Path) -> Path:
    """A repository with code and no tests."""
    added(home, NAME)
    git(project, "init")
    (project / "app.py").write_text("def two():\n    return 2\n")
    git(project, "add", ".")
    git(project, "commit", "-m", "begin", when="2020-01-01T00:00:00Z")
    return project


def stop(**fields: Any) -> dict[str, Any]:
    return decide("pre-agent-turn-stop", stop_reason="no_tool_calls", **fields)


class TestExistence:
    """By default nothing of the project is run."""

    @pytest.mark.parametrize("test", ["app_test.go", "src/app.spec.ts", "test_app.py"])
    def test_any_test_will_do(self, repository: Path, test: str) -> None:
        (repository / "app.py").write_text("")
        (repository / test).parent.mkdir(exist_ok=True, parents=True)
        (repository / test).write_text("")
        assert stop()["decision"] == "none"

    def test_what_was_committed_in_this_session_counts(self, repository: Path) -> None:
        trigger("pre-session", "--session", "s1")
        (repository / "other.py").write_text("")
        git(repository, "add", ".")
        git(repository, "commit", "-m", "mine")
        verdict = trigger("pre-agent-turn-stop", "--session", "s1")
        assert (verdict["decision"], "other.py" in verdict["reason"]) == ("deny", True)

    def test_outside_a_repository_the_sessions_beginning_counts(self, tmp_path: Path) -> None:
        plain = tmp_path / "plain"
        plain.mkdir()
        (plain / "old.py").write_text("")
        os.utime(plain / "old.py", (1, 1))
        trigger("pre-session", "--session", "s2", "--cwd", plain)
        assert trigger("pre-agent-turn-stop", "--session", "s2", "--cwd", plain)["decision"] == "none"
        (plain / "new.py").write_text("")
        os.utime(plain / "new.py")
        verdict = trigger("pre-agent-turn-stop", "--session", "s2", "--cwd", plain)
        assert (verdict["decision"], "old.py" in (verdict["reason"] or "")) == ("deny", False)

    def test_a_repository_cannot_have_it_run_a_program(self, repository: Path) -> None:
        git(repository, "config", "core.fsmonitor", f"touch {repository}/ran; false")
        (repository / "app.py").write_text("")
        stop()
        assert not (repository / "ran").exists()


class TestRunning:
    """With `run: true`, in a project whose code is trusted."""

    @pytest.fixture
    def command(self, home: Path, repository: Path) -> Path:
        """Tests that fail as long as there is a file `broken`; each run adds a line to `runs`."""
        override(home, NAME, metadata={"run": True, "command": "echo x >> ../runs; echo looking; test ! -f broken"})
        (repository / "app.py").write_text("changed\n")
        return repository.parent / "runs"

    def trust(self) -> None:
        ended = tenterhook("trust", "--code", "--yes")
        assert ended.returncode == 0, ended.stderr

    def test_failing_tests_send_the_agent_back_with_what_they_said(self, repository: Path, command: Path) -> None:
        self.trust()
        (repository / "broken").touch()
        verdict = stop(stop_hook_active=True)
        assert verdict["decision"] == "deny"
        assert "The tests fail" in verdict["reason"]
        assert "looking" in verdict["reason"]

    def test_what_has_passed_is_not_run_again_until_something_changes(self, repository: Path, command: Path) -> None:
        self.trust()
        assert [stop()["decision"], stop()["decision"]] == ["none", "none"]
        assert command.read_text() == "x\n"
        (repository / "app.py").write_text("changed again\n")
        stop()
        assert command.read_text() == "x\nx\n"

    def test_without_trust_nothing_is_run_and_the_person_is_told(self, command: Path) -> None:
        verdict = stop()
        assert not command.exists()
        assert verdict["decision"] == "deny"  # there are no tests
        assert "tenterhook trust --code" in json.dumps(verdict)

    def test_the_environment_cannot_pretend_trust(self, command: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TENTERHOOK_PROJECT_TRUSTED", "1")
        stop()
        assert not command.exists()

    def test_what_takes_too_long_is_said(self, home: Path, repository: Path, command: Path) -> None:
        self.trust()
        line = "echo $$ > ../pid; echo begun; sleep 300"
        override(home, NAME, metadata={"run": True, "command": line, "seconds": 2})
        verdict = stop()
        assert verdict["decision"] == "deny"
        assert "The tests take too long" in verdict["reason"]
        assert "begun" in verdict["reason"]
        assert not alive(int((repository.parent / "pid").read_text()))

    def test_a_projects_usual_way_to_test_is_found(self, home: Path, repository: Path) -> None:
        self.trust()
        override(home, NAME, metadata={"run": True})
        (repository / "app.py").write_text("def two():\n    return 3\n")
        (repository / "test_app.py").write_text(
            "import unittest, app\n\n\nclass Test(unittest.TestCase):\n"
            "    def test_two(self):\n        self.assertEqual(app.two(), 2)\n"
        )
        verdict = stop()
        assert verdict["decision"] == "deny"
        assert "3 != 2" in verdict["reason"]
        (repository / "app.py").write_text("def two():\n    return 2\n\n")
        assert stop()["decision"] == "none"
        (repository / "Makefile").write_text("test:\n\t@echo made; false\n")
        (repository / "app.py").write_text("def two():\n    return 2\n\n\n")
        assert "made" in stop()["reason"]
