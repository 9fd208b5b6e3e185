"""python -m fuzz: every target for its part of the time, as many at once as there are cores."""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, NamedTuple

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".cache" / "fuzz"
TARGETS = sorted(file.stem for file in (Path(__file__).parent / "targets").glob("[a-z]*.py"))
_BETWEEN = 10  # seconds between two lines of progress


class Result(NamedTuple):
    """What came of one target: how many inputs it had, and what was found."""

    target: str
    runs: int
    failure: str | None


class Run:
    """One target in a process of its own."""

    def __init__(self, target: str, seconds: float, seed: int, kept: Path) -> None:
        self.target, self.runs, self.failure, self.ended = target, 0, "", False
        self._errors = (kept / f"{target}.log").open("w+")
        command = [sys.executable, "-m", "fuzz.worker", target, str(seconds), str(seed), str(kept / target)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self._errors, text=True, start_new_session=True
        )
        assert self._process.stdout is not None
        self._reading = threading.Thread(target=self._read, args=(self._process.stdout,))
        self._reading.start()

    def _read(self, said: IO[str]) -> None:
        for line in said:
            found = json.loads(line)
            self.runs, self.failure = found["runs"], found.get("failure", "")
        self.ended = True

    def end(self) -> None:
        """End it and what it started; it removes what it wrote."""
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGTERM)
            self._process.wait()

    def result(self) -> Result:
        """What came of it, once it has ended."""
        self._reading.join()
        status = self._process.wait()
        self._errors.seek(0)
        broken = (
            f"the target ended with status {status}\n{self._errors.read()}" if status and not self.failure else None
        )
        self._errors.close()
        return Result(self.target, self.runs, self.failure or broken)


def main() -> int:
    options = _options()
    targets = options.target or TARGETS
    options.kept.mkdir(parents=True, exist_ok=True)
    at_once = min(options.jobs, len(targets))
    seconds = options.seconds * at_once / len(targets)
    print(f"{seconds:.0f} s for each of: {', '.join(targets)}; {at_once} at once, seed {options.seed}", flush=True)
    waiting, running, results = list(targets), list[Run](), list[Result]()
    said = time.monotonic()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell has its background jobs ignore the first
        signal.signal(number, signal.default_int_handler)
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(Run(waiting.pop(0), seconds, options.seed, options.kept))
            time.sleep(0.1)
            for run in [run for run in running if run.ended]:
                running.remove(run)
                results.append(run.result())
                _print(results[-1], options.kept)
            if time.monotonic() - said > _BETWEEN:
                said = time.monotonic()
                print("  ".join(f"{run.target}: {run.runs} runs" for run in running), flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
        return 130
    finally:
        for run in running:
            run.end()
    return 1 if any(result.failure for result in results) else 0


def _print(result: Result, kept: Path) -> None:
    print(f"{result.target}: {result.runs} runs, {'FAILED' if result.failure else 'no failure'}", flush=True)
    if result.failure:
        print(
            f"{result.failure}\nit is kept in {kept / result.target}; again: make fuzz TARGET={result.target}",
            flush=True,
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make fuzz", description="Give every target inputs that nobody thought of.")
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--target", action="append", choices=TARGETS, help="only this one; can be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at once (default: one per core)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**9), help="the first seed")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where inputs that failed are kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
