"""The results in docs/conformance.md: python -m conformance.page --write."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench import packages, tables
from bench.peers import KIMI_CLI
from conformance import reading, reports
from conformance.run import run
from conformance.trying import FAILED, PASSED, STATUSES, UNSUPPORTED, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reading import Vector

PAGE = Path(__file__).resolve().parent.parent / "docs" / "conformance.md"
ENGINES = Path(__file__).resolve().parent / "engines"
TENTERHOOK, KIMI = "python -m conformance.page --write tenterhook", "python -m conformance.page --write kimi-cli"
_LEVELS = {"format": "said by the format", "tenterhook": "stricter"}
_FEW = 12  # vectors that are named one by one


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m conformance.page", description="Run the kit on both engines.")
    parser.add_argument("--write", action="store_true", help="put the results into docs/conformance.md")
    parser.add_argument("engine", nargs="?", choices=("tenterhook", "kimi-cli"), help="only this one")
    options = parser.parse_args()
    vectors = reading.load()
    for mark in (TENTERHOOK, KIMI):
        if options.engine in (None, mark.split()[-1]):
            text = tenterhook_part(of_tenterhook(vectors)) if mark is TENTERHOOK else kimi_part(of_kimi(vectors))
            if options.write:
                tables.put(PAGE, mark, text)
            print(text)
    return 0


def of_tenterhook(vectors: Sequence[Vector]) -> list[Result]:
    return run(vectors, [sys.executable, str(ENGINES / "tenterhook_engine.py")])


def of_kimi(vectors: Sequence[Vector]) -> list[Result]:
    """kimi-cli's engine, from the Python index; raises `packages.CannotInstall`."""
    return run(vectors, [str(packages.from_pypi(KIMI_CLI)), str(ENGINES / "kimi_cli_engine.py")])


def tenterhook_part(results: Sequence[Result]) -> str:
    return f"{_summary('Tenterhook', results)}\n\n{_table(results)}"


def kimi_part(results: Sequence[Result]) -> str:
    """The table, and why each vector did not pass; a failure without a note of ours is an error."""
    notes = json.loads((ENGINES / "kimi_cli_notes.json").read_text())
    parts = [_summary(f"kimi-cli {KIMI_CLI.version}", results), _table(results)]
    for level, words in _LEVELS.items():
        failed = [each.vector for each in results if each.status == FAILED and each.vector.level == level]
        rows = [f"| `{vector.id}` | {_shown(vector.title)} | {_shown(notes[vector.id])} |" for vector in failed]
        parts += [f"Failed, {words}:", "\n".join(("| vector | what it shows | why not |", "|---|---|---|", *rows))]
    return "\n\n".join((*parts, "Not supported:", _unsupported(results)))


def _summary(name: str, results: Sequence[Result]) -> str:
    said = []
    for level, words in _LEVELS.items():
        those = [result for result in results if result.vector.level == level]
        said.append(f"{words}: {_cell(those)}")
    return f"{name}: {len(results)} vectors. {'; '.join(said).capitalize()}."


def _table(results: Sequence[Result]) -> str:
    about = {file.stem: json.loads(file.read_text("utf-8"))["about"] for file in reading.VECTORS.glob("*.json")}
    lines = [f"| area | what it is about | {' | '.join(_LEVELS.values())} |", "|---|---|---|---|"]
    for area, those in reports.by_area(results).items():
        cells = [_cell([result for result in those if result.vector.level == level]) for level in _LEVELS]
        lines.append(f"| {area} | {about[area]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _shown(text: str) -> str:
    """A text as it is in a table of Markdown."""
    return text.replace("<", "&lt;").replace("|", "\\|")


def _cell(results: Sequence[Result]) -> str:
    counts = reports.counts(results)
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status]) or "–"


def _unsupported(results: Sequence[Result]) -> str:
    """By reason: every vector of a format, or each by its name."""
    reasons: dict[str, list[Vector]] = {}
    for result in results:
        if result.status == UNSUPPORTED:
            reasons.setdefault(result.why, []).append(result.vector)
    lines = []
    for why, vectors in sorted(reasons.items(), key=lambda item: -len(item[1])):
        formats = {vector.format for vector in vectors}
        whole = [each for each in results if each.vector.format in formats]
        if len(vectors) > _FEW and len(whole) == len(vectors):
            lines.append(f"- {_shown(why)}: every vector of the {formats.pop()} format, {len(vectors)} in all")
        else:
            lines.append(f"- {_shown(why)}: {', '.join(f'`{vector.id}`' for vector in vectors)}")
    return "\n".join(lines)


def as_if_passed(vectors: Sequence[Vector]) -> list[Result]:
    """What an engine that passes everything has to show."""
    return [Result(vector, PASSED) for vector in vectors]


if __name__ == "__main__":
    sys.exit(main())
