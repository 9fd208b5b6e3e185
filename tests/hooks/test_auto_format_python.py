"""`auto-format-python`: which tools, which formatter, whose; what its cases cannot say."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from hooks.lines import added, bare_path, decide, override
from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path

NAME = "auto-format-python"
FORMATTER = '#!/bin/sh\nfor last; do :; done\necho "$0 $*" >> "$LOG"\nprintf "formatted\\n" > "$last"\n'


@pytest.fixture(autouse=True)
def hook(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The hook, and a PATH without any formatter."""
    monkeypatch.setenv("PATH", str(bare_path(tmp_path / "tools")))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    return added(home, NAME)


def formatter(directory: Path, name: str, script: str = FORMATTER) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_text(script)
    (directory / name).chmod(0o755)


def written(path: str, tool: str = "WriteFile", **more: Any) -> dict[str, Any]:
    return decide("post-tool-call", tool_name=tool, tool_input={"file_path": path, **more}, tool_output="ok")


@pytest.mark.parametrize("tool", ["Write", "StrReplaceFile", "write_file", "replace"])
def test_a_written_file_is_formatted_and_the_agent_is_told(project: Path, tmp_path: Path, tool: str) -> None:
    formatter(tmp_path / "tools", "ruff")
    (project / "a b.py").write_text("x=1")
    verdict = written("a b.py", tool)
    assert (project / "a b.py").read_text() == "formatted\n"
    assert verdict["additional_context"] == ["ruff has formatted a b.py; read it again before you edit it."]
    assert verdict["decision"] == "none"


def test_black_is_used_where_there_is_no_ruff_or_where_it_is_wanted(project: Path, tmp_path: Path, home: Path) -> None:
    formatter(tmp_path / "tools", "black")
    (project / "a.py").write_text("x=1")
    assert "black has formatted" in written("a.py")["additional_context"][0]
    formatter(tmp_path / "tools", "ruff")
    (project / "a.py").write_text("x=1")
    assert "ruff has formatted" in written("a.py")["additional_context"][0]
    override(home, NAME, metadata={"formatter": "black"})
    (project / "a.py").write_text("x=1")
    assert "black has formatted" in written("a.py")["additional_context"][0]


def test_without_a_formatter_nothing_happens(project: Path) -> None:
    (project / "a.py").write_text("x=1")
    verdict = written("a.py")
    assert (verdict["runs"][0]["outcome"], verdict["additional_context"]) == ("ok", [])


class TestTheProjectsOwn:
    """What comes with a project is its code."""

    def test_it_runs_only_where_the_projects_code_is_trusted(
        self, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        formatter(project / ".venv" / "bin", "ruff")
        monkeypatch.setenv("PATH", f"{project}/.venv/bin:{os.environ['PATH']}")
        (project / "a.py").write_text("x=1")
        written("a.py")
        assert (project / "a.py").read_text() == "x=1"
        assert tenterhook("trust", "--code", "--yes").returncode == 0
        written("a.py")
        assert (project / "a.py").read_text() == "formatted\n"
        assert f"{project}/.venv/bin/ruff" in (tmp_path / "log").read_text()

    def test_the_persons_own_runs_before_trust(self, project: Path, tmp_path: Path) -> None:
        formatter(project / ".venv" / "bin", "ruff", "#!/bin/sh\nexit 9\n")
        formatter(tmp_path / "tools", "ruff")
        (project / "a.py").write_text("x=1")
        written("a.py")
        assert (project / "a.py").read_text() == "formatted\n"
