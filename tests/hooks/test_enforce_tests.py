"""`enforce-tests` beyond its cases: whole sessions, and tests that pass where they may be run."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from hooks.lines import added, decide, git, override
from support import alive, tenterhook, trigger

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

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

    def test_paths_are_those_below_the_working_directory(self, repository: Path) -> None:
        (repository / "sub").mkdir()
        (repository / "sub" / "new.py").write_text("")
        (repository / "app.py").write_text("")
        verdict = trigger("pre-agent-turn-stop", "--cwd", repository / "sub")
        assert verdict["reason"].startswith("You changed new.py, and")

    @pytest.mark.parametrize("kind", ["worktree", "submodule", "shallow", "packed", "sha256", "detached", "no commit"])
    def test_any_kind_of_repository(self, repository: Path, tmp_path: Path, kind: str) -> None:
        place = tmp_path / "place"
        if kind == "worktree":
            git(repository, "worktree", "add", str(place))
        elif kind == "submodule":
            parent = tmp_path / "parent"
            parent.mkdir()
            git(parent, "init")
            git(parent, "-c", "protocol.file.allow=always", "submodule", "add", str(repository), "sub")
            place = parent / "sub"
        elif kind == "shallow":
            git(repository, "commit", "--allow-empty", "-m", "next")
            git(tmp_path, "clone", "--depth", "1", f"file://{repository}", str(place))
        elif kind in ("packed", "detached"):
            git(tmp_path, "clone", str(repository), str(place))
            git(place, "pack-refs", "--all")
            git(place, "gc")
            if kind == "detached":
                git(place, "checkout", "--detach")
        else:
            git(tmp_path, "init", *(["--object-format=sha256"] if kind == "sha256" else []), str(place))
            if kind == "sha256":
                (place / "app.py").write_text("x = 1\n")
                git(place, "add", ".")
                git(place, "commit", "-m", "begin", when="2020-01-01T00:00:00Z")
        trigger("pre-session", "--session", "s3", "--cwd", place)
        if kind != "shallow":  # its last commit is a new one
            assert trigger("pre-agent-turn-stop", "--session", "s3", "--cwd", place)["decision"] == "none"
        (place / ".gitignore").write_text("ignored.py\n")
        (place / "ignored.py").write_text("")
        (place / "added.py").write_text("")
        verdict = trigger("pre-agent-turn-stop", "--session", "s3", "--cwd", place)
        assert verdict["decision"] == "deny"
        assert "added.py" in verdict["reason"]
        assert "ignored.py" not in verdict["reason"]


class Hostile:
    """A repository whose settings name a program everywhere git has a setting for one; `ran` says which was run."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.ran = place.parent / f"{place.name}-ran"
        self.ran.mkdir()

    def program(self, name: str) -> str:
        file = self.ran.parent / f"{self.place.name}-{name}"
        file.write_text(f"#!/bin/sh\ntouch {self.ran}/{name}\nexec cat\n")
        file.chmod(0o755)
        return str(file)

    def spoil(self, git_dir: Path) -> None:
        """Have every setting that names a program name one of ours, also through other files."""
        named = {
            "filter.x.clean": "clean",
            "filter.x.smudge": "smudge",
            "core.fsmonitor": "fsmonitor",
            "core.pager": "pager",
            "pager.status": "pager-status",
            "pager.log": "pager-log",
            "core.sshCommand": "ssh",
            "core.gitProxy": "proxy",
            "core.askPass": "askpass",
            "core.editor": "editor",
            "core.alternateRefsCommand": "alternates",
            "credential.helper": "credential",
            "diff.external": "diff",
            "diff.x.command": "diff-x",
            "diff.x.textconv": "textconv",
            "merge.x.driver": "merge",
            "gpg.program": "gpg",
            "remote.origin.uploadpack": "uploadpack",
            "trailer.x.command": "trailer",
        }
        plain = {
            "core.hooksPath": self.ran.parent / f"{self.place.name}-hooks",
            "log.showSignature": "true",
            "log.diffMerges": "on",
            "diff.ignoreSubmodules": "none",
            "status.submoduleSummary": "true",
            "extensions.partialClone": "origin",
            "core.repositoryFormatVersion": "1",
            "remote.origin.url": f"file://{self.place.parent}/nowhere",
            "remote.origin.promisor": "true",
        }
        hooks = self.ran.parent / f"{self.place.name}-hooks"
        hooks.mkdir(exist_ok=True)
        for directory in (hooks, git_dir / "hooks"):
            directory.mkdir(exist_ok=True)
            for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc"):
                (directory / hook).write_text(f"#!/bin/sh\ntouch {self.ran}/hook-{hook}\n")
                (directory / hook).chmod(0o755)
        included = git_dir / "included"
        for file, prefix in ((git_dir / "config", ""), (included, "included-")):
            for key, name in named.items():
                self._set(file, key, self.program(prefix + name))
            for key, value in plain.items():
                self._set(file, key, str(value))
        for name in ("status", "log", "rev-parse"):
            self._set(git_dir / "config", f"alias.{name}", f"!touch {self.ran}/alias")
        self._set(git_dir / "config", "include.path", str(included))
        self._set(git_dir / "config", "includeIf.gitdir:/.path", str(included))
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info" / "attributes").write_text("* filter=x diff=x merge=x\n")

    @staticmethod
    def _set(file: Path, key: str, value: str) -> None:
        subprocess.run(["git", "config", "--file", file, key, value], check=True)


@pytest.mark.promise("a hostile repository")
class TestHostile:
    """Every event that is put to the hook here comes from a repository nobody has trusted."""

    @pytest.fixture
    def hostile(self, tmp_path: Path) -> Hostile:
        inner = tmp_path / "inner"
        inner.mkdir()
        place = tmp_path / "hostile"
        place.mkdir()
        for each in (inner, place):
            git(each, "init")
            (each / "app.py").write_text("x = 1\n")
            (each / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
            if each == place:
                git(place, "-c", "protocol.file.allow=always", "submodule", "add", str(inner), "sub")
            git(each, "add", ".")
            git(each, "commit", "-m", "begin", when="2020-01-01T00:00:00Z")
        made = Hostile(place)
        bare = place / "docs"  # what git takes for a bare repository, in a directory that could be in any clone
        git(place, "init", "--bare", "docs")
        made.spoil(bare)
        made._set(bare / "config", "core.bare", "false")
        made._set(bare / "config", "core.worktree", str(place))
        made.spoil(place / ".git" / "modules" / "sub")
        made.spoil(place / ".git")
        for file in (place / "app.py", place / "sub" / "app.py"):
            os.utime(file, (2_000_000_000, 2_000_000_000))  # not as the index has it: its content is compared
        return made

    @pytest.mark.parametrize("below", [".", "sub", "docs", "docs/refs"])
    def test_no_setting_of_a_repository_has_a_program_run(self, hostile: Hostile, below: str) -> None:
        """No setting of a repository that you have not trusted has a program run by a built-in hook: filters, monitors,
        hooks, diff drivers, pagers, aliases, included files, in submodules and disguised bare repositories as well."""
        place = hostile.place / below
        verdict = trigger("pre-agent-turn-stop", "--cwd", place, "--session", "s4")
        assert [run["outcome"] for run in verdict["runs"]] == ["ok"], verdict
        (place / "new.py").write_text("")
        verdict = trigger("pre-agent-turn-stop", "--cwd", place, "--session", "s4")
        assert (verdict["decision"], "new.py" in verdict["reason"]) == ("deny", True)
        assert sorted(path.name for path in hostile.ran.iterdir()) == []

    def test_the_settings_would_run_programs_otherwise(self, hostile: Hostile) -> None:
        subprocess.run(["git", "status"], cwd=hostile.place, capture_output=True, timeout=60)
        assert {"included-clean", "included-fsmonitor"} <= {path.name for path in hostile.ran.iterdir()}

    def test_a_git_that_lies_in_the_project_is_not_used(
        self, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A program `git` that a repository brings along is not run by a built-in hook, wherever PATH leads."""
        tools = repository / "bin"
        tools.mkdir()
        for place in (tools, repository):
            (place / "git").write_text(f"#!/bin/sh\ntouch {repository}/ran\n")
            (place / "git").chmod(0o755)
        (repository / "app.py").write_text("")
        monkeypatch.setenv("PATH", f".:{tools}:{os.environ['PATH']}")
        assert "app.py" in stop()["reason"]
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
