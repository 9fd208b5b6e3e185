"""What `doctor --live` has shown counts only as long as everything it depended on stays the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from install.installations import executable
from tenterhook.agents import AGENTS
from tenterhook.doctor import proofs
from tenterhook.install import records

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE = AGENTS["claude-code"]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent's program on the PATH, and a record of its installation that names one changed file."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    settings = tmp_path / "settings.json"
    settings.write_text("{}")
    record = {"schema": 1, "host": CLAUDE.name, "files": [{"path": str(settings)}]}
    records.write(records.file(CLAUDE, None), record)
    return executable(tmp_path / "bin/claude", "#!/bin/sh\n")


def test_a_proof_counts_until_a_later_run_fails(program: Path) -> None:
    assert not proofs.is_proven(CLAUDE, None)
    proofs.record_result(CLAUDE, None, held=True)
    assert proofs.is_proven(CLAUDE, None)
    assert not proofs.is_proven(CLAUDE, "/a/project")
    proofs.record_result(CLAUDE, None, held=False)
    assert not proofs.is_proven(CLAUDE, None)
    proofs.record_result(CLAUDE, None, held=False)


@pytest.mark.parametrize("change", ["program", "settings", "record", "no program"])
def test_a_change_of_anything_it_depended_on_ends_it(program: Path, tmp_path: Path, change: str) -> None:
    proofs.record_result(CLAUDE, None, held=True)
    match change:
        case "program":
            program.write_text("#!/bin/sh\n# newer\n")
        case "settings":
            (tmp_path / "settings.json").write_text('{"model": "other"}')
        case "record":
            records.write(records.file(CLAUDE, None), {"schema": 1, "host": CLAUDE.name, "files": []})
        case "no program":
            program.unlink()
    assert not proofs.is_proven(CLAUDE, None)


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_a_broken_file_proves_nothing(program: Path, home: Path, text: str) -> None:
    proofs.record_result(CLAUDE, None, held=True)
    (home / ".local/state/tenterhook/live/claude-code.json").write_text(text)
    assert not proofs.is_proven(CLAUDE, None)
