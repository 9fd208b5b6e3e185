"""The record of an installation: one reader, which believes nothing that another account could have written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tenterhook.basics import install_record
from tenterhook.install import records

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "claude-code.json"
    file.write_text(json.dumps({"schema": 1, "host": "claude-code"}))
    file.chmod(0o600)
    return file


def test_a_record_is_read_with_all_its_keys(file: Path) -> None:
    assert install_record.read(str(file)) == records.read(str(file)) == {"schema": 1, "host": "claude-code"}


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_record_that_others_may_write_is_refused_by_the_bridge_and_by_every_command(file: Path, mode: int) -> None:
    file.chmod(mode)
    with pytest.raises(install_record.RecordError, match="another account could have written"):
        install_record.read(str(file))
    assert records.read(str(file)) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "broken"), ("[" * 100_000, "broken"), ("[]", "another version"), ('{"schema": 2}', "another version")],
)
def test_a_record_that_cannot_be_read_names_the_reason_and_the_remedy(file: Path, text: str, why: str) -> None:
    file.write_text(text)
    with pytest.raises(install_record.RecordError, match=f"{why}; install again with: tenterhook install"):
        install_record.read(str(file))


def test_a_record_that_is_missing_says_so(tmp_path: Path) -> None:
    with pytest.raises(install_record.RecordError, match="No such file or directory"):
        install_record.read(str(tmp_path / "none.json"))
