"""The measurement of packs: the packs are in force, and every row has a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench import measuring, packs, tables

if TYPE_CHECKING:
    from pathlib import Path


def test_each_row_has_a_result_and_the_page_has_every_row(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    setting = measuring.Setting(tmp_path / "bench", measuring.Effort(blocks=2, loads=4))
    found = list(packs.rows(setting, packs=2))
    assert [row.result is not None for row in found] == [True] * 3
    shown = [
        cells[0].replace("50 packs with 500", "2 packs with 20") for cells in tables.cells(packs.PAGE, packs.COMMAND)
    ]
    assert shown == [row.what for row in found]
    lock = (setting.directory / "packs-home/.config/agents/hooks/hooks.lock").read_text()
    assert lock.count("digest") == 20
