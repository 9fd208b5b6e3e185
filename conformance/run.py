"""Put the vectors to an engine: python conformance/run.py --engine 'COMMAND'. Standard library only.

Exit status: 0 when nothing failed, 1 when something did, 64 when it was used wrongly.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # run as a script: the kit is found from there

from conformance import KIT, leftovers, reading, reports
from conformance.trying import FAILED, Result, attempt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reading import Vector

WRONG_USE = 64
PATIENCE = 90.0  # seconds for one vector; the slowest hooks sleep for 40


def run(
    vectors: Sequence[Vector], command: Sequence[str], jobs: int | None = None, patience: float = PATIENCE
) -> list[Result]:
    """Every vector in a process of its own, several at a time; whatever happens, nothing is left running."""
    mark = f"{uuid.uuid4().hex}-"
    pool = ThreadPoolExecutor(jobs or 2 * (os.cpu_count() or 1))
    try:
        return list(pool.map(lambda vector: attempt(vector, command, mark, patience), vectors))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        leftovers.sweep(mark)
        raise
    finally:
        pool.shutdown()


def command_of(text: str) -> list[str]:
    """The words of a command; those that name a file here are made absolute, as adapters start elsewhere."""
    return [str(Path(word).absolute()) if Path(word).exists() else word for word in shlex.split(text)]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(WRONG_USE, f"{self.prog}: {message}\n")


def _options(arguments: Sequence[str] | None) -> tuple[_Parser, argparse.Namespace]:
    parser = _Parser(
        prog="conformance/run.py", description=f"Conformance kit {KIT} for the HOOK.md and [[hooks]] formats."
    )
    parser.add_argument(
        "--engine", required=True, metavar="COMMAND", help="your adapter; README.md tells how to write one"
    )
    parser.add_argument(
        "--level", choices=("format", "tenterhook"), help="only what a source document says, or only more"
    )
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="an area, or ids: 'exit-codes/*'")
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write a test report for CI, too")
    parser.add_argument("-j", dest="jobs", type=int, metavar="N", help="how many at a time; twice the cores")
    parser.add_argument(
        "--patience", type=float, default=PATIENCE, metavar="SECONDS", help="for one vector; %(default)g"
    )
    return parser, parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    parser, options = _options(arguments)
    try:
        command = command_of(options.engine)
        vectors = reading.chosen(reading.load(), options.level, options.only)
    except (ValueError, reading.BadVector) as error:
        parser.error(str(error))
    if not command or shutil.which(command[0]) is None:
        parser.error(f"there is no program {command[0] if command else ''!r}")
    if not vectors:
        parser.error("no vector fits; leave --only and --level away to run them all")
    if (options.jobs is not None and options.jobs < 1) or options.patience <= 0:
        parser.error("-j and --patience take a number above 0")
    try:
        results = run(vectors, command, options.jobs, options.patience)
    except KeyboardInterrupt:
        return 130
    if options.junit:
        options.junit.write_text(reports.as_junit(results), "utf-8")
    print(json.dumps(reports.as_json(results, options.engine), indent=1) if options.json else reports.text(results))
    return 1 if any(result.status == FAILED for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
