"""python -m bench: run all measurements, and print the table and the data of the plots."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from . import curves, measuring, tables
from .requests import WorkerEnded
from .rows import Row

_PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
_COMMAND = "python -m bench --write"


def main() -> int:
    options = _options()
    effort = measuring.QUICK if options.quick else measuring.FULL
    try:
        rows = _measure(effort)
        drawn = curves.measured(effort)
    except WorkerEnded as error:
        sys.exit(f"bench: a contender ended early: {error}")
    text = "\n\n".join((tables.table(rows), *tables.reasons(rows), tables.machine()))
    if options.write:
        tables.put(_PAGE, _COMMAND, text)
        curves.write(drawn)
    data = {**tables.as_json(rows), "curves": curves.as_json(drawn)}
    print(json.dumps(data, indent=1) if options.json else f"\n{text}\n\n{curves.as_text(drawn)}")
    return 0


def _measure(effort: measuring.Effort) -> list[Row]:
    rows: list[Row] = []
    with TemporaryDirectory(prefix="tenterhook-bench-") as directory:
        setting = measuring.Setting(Path(directory).resolve(), effort)
        for measure in measuring.MEASUREMENTS:
            for row in measure(setting):
                rows.append(row)
                print(f"{row.what}: done" if row.result else f"{row.what}: skipped", file=sys.stderr)
    return rows


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure Tenterhook against a bare interpreter, a C program and other engines.",
    )
    parser.add_argument("--quick", action="store_true", help="a short run; its figures are rough")
    parser.add_argument("--json", action="store_true", help="print data instead of tables")
    parser.add_argument("--write", action="store_true", help="put the table and the plots into docs/performance.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
