"""QR codes in a terminal: a camera reads what was encoded."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

import qr_codes
from tenterhook.cli import qr_code

if TYPE_CHECKING:
    from pathlib import Path

LINK = "https://laptop.example.ts.net/enter#0WPxWLGdLQ4hjU0LTx5a7EY2yJ8Zq3mPdCzr1cUZnVY"


@pytest.mark.parametrize("text", [LINK, "http://127.0.0.1:7717/enter#a", f"{LINK}{'x' * 200}"])
def test_a_camera_reads_the_link(text: str) -> None:
    assert qr_codes.read("\n".join(qr_code.lines(text))) == text


def test_it_fits_a_terminal_of_80_columns_and_24_lines() -> None:
    lines = qr_code.lines(LINK)
    assert len(lines) <= 22
    assert {len(line) for line in lines} == {len(lines[0])}
    assert len(lines[0]) <= 60


def test_output_without_these_characters_gets_a_reason_instead(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with (tmp_path / "out").open("w", encoding="ascii") as output:
        assert isinstance(output, io.TextIOWrapper)
        monkeypatch.setattr(sys, "stdout", output)
        qr_code.print_code(LINK)
    assert (tmp_path / "out").read_text() == ""
    assert "not UTF-8" in capsys.readouterr().err
