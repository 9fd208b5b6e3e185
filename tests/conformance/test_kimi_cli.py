"""docs/conformance.md about kimi-cli: as its released engine does now, and each failure explained."""

from __future__ import annotations

import json
import os
import pwd

import pytest

from bench.packages import CannotInstall
from conformance import reading
from conformance.page import ENGINES, KIMI, PAGE, kimi_part, of_kimi


def shown() -> str:
    return PAGE.read_text().partition(f"<!-- table: {KIMI} -->")[2].partition("<!-- end of table -->")[0].strip()


def test_every_failure_on_the_page_is_explained_and_nothing_else() -> None:
    notes = json.loads((ENGINES / "kimi_cli_notes.json").read_text())
    known = {vector.id for vector in reading.load()}
    assert notes.keys() <= known
    rows = {row.split("`")[1]: row for row in shown().splitlines() if row.startswith("| `")}
    assert rows.keys() == notes.keys()
    assert all(rows[failed].endswith(f" | {why} |") for failed, why in notes.items())


@pytest.mark.thorough
@pytest.mark.timeout(1500)
def test_the_page_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", pwd.getpwuid(os.getuid()).pw_dir)  # where a newer Python may be
    try:
        results = of_kimi(reading.load())
    except CannotInstall as reason:
        pytest.skip(str(reason))
    assert kimi_part(results) == shown()
