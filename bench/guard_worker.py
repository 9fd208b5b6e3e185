"""The built-in guards in one process: argv is a work directory and their names; a row on stdin is a JSON string."""

from __future__ import annotations

import json
import os
import sys
import time

from tenterhook import guards
from tenterhook.guards.calls import GuardedCall, Objection


def main(work_dir: str, *names: str) -> None:
    for name in names:  # to load them
        _judged(name, "true", work_dir)
    for row in sys.stdin:
        line = json.loads(row)
        print(json.dumps({name: _judged(name, line, work_dir) for name in names}), flush=True)


def _judged(name: str, line: str, work_dir: str) -> tuple[str | None, float]:
    """Return a guard's decision about a line, or the error that it raised, and the microseconds it took."""
    call = GuardedCall("Shell", {"command": line}, work_dir, os.environ)
    begun = time.perf_counter()
    try:
        objection = guards.judge(name, call)
    except Exception as error:  # noqa: BLE001  # a guard that fails is a result, too
        answer: str | None = f"error: {type(error).__name__}: {error}"
    else:
        answer = objection.decision if isinstance(objection, Objection) else None
    return answer, (time.perf_counter() - begun) * 1e6


if __name__ == "__main__":
    main(*sys.argv[1:])
