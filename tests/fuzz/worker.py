"""One target in this process, until its time is over or an input breaks a promise: `python -m fuzz.worker NAME`.

It says how far it is as JSON lines on stdout. What was found is kept, and tried first the next time.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import HypothesisException

from support import end_of_the_agent

if TYPE_CHECKING:
    from collections.abc import Callable

ELSEWHERE = ("TENTERHOOK_", "KIMI_", "XDG_", "CLAUDE_", "CODEX_", "COPILOT_", "GEMINI_", "QWEN_")
LONGEST = 20  # seconds for one input
AT_ONCE = 200  # inputs between two seeds


class Hangs(BaseException):
    """One input takes so long that an agent would not wait for it; no handler of `Exception` keeps this."""


class Over(BaseException):
    """The time is over."""


def main(name: str, seconds: float, first_seed: int, kept: str) -> int:
    """Fuzz in a child: a process that sends what agents send has its parent marked as guarded, which is this one."""
    directory = tempfile.mkdtemp(prefix=f"tenterhook-fuzz-{name}-", dir=_quick_place())
    child = os.fork()
    if child == 0:
        _end_as_child(lambda: _fuzz(name, seconds, first_seed, kept, directory))
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        end_of_the_agent()
        shutil.rmtree(directory, ignore_errors=True)


def _quick_place() -> str | None:
    """A directory in memory, where files come and go quickly and scripts can be started; None if there is none."""
    place = "/dev/shm"
    is_fit = os.access(place, os.W_OK) and not os.statvfs(place).f_flag & os.ST_NOEXEC
    return place if is_fit else None


def _end_as_child(run: Callable[[], int]) -> NoReturn:
    status = 3
    try:
        status = run()
    except BaseException:  # noqa: BLE001  # nothing of the parent may run here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _fuzz(name: str, seconds: float, first_seed: int, kept: str, directory: str) -> int:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, _hangs)
    for variable in [each for each in os.environ if each.startswith(ELSEWHERE)]:
        del os.environ[variable]
    os.environ["HOME"] = os.path.join(directory, "home")
    os.mkdir(os.environ["HOME"])
    os.chdir(os.environ["HOME"])
    warnings.simplefilter("error")  # an agent would see them
    settings.register_profile(
        "fuzz",
        max_examples=AT_ONCE,
        deadline=None,
        derandomize=False,
        database=DirectoryBasedExampleDatabase(kept),
        phases=[Phase.reuse, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("fuzz")  # before the target is imported: it is made with these
    target = importlib.import_module(f"fuzz.targets.{name}").fuzz
    until = time.monotonic() + seconds
    runs, said, parent = 0, 0.0, os.getppid()
    inner = target.hypothesis.inner_test

    def once(*given: Any, **named: Any) -> None:
        nonlocal runs, said
        if os.getppid() != parent:
            os._exit(3)
        now = time.monotonic()
        if now > until and not failed:
            raise Over
        runs += 1
        if now - said > 2:
            said = now
            _say(runs=runs)
        signal.setitimer(signal.ITIMER_REAL, LONGEST)
        try:
            inner(*given, **named)
        except HypothesisException:  # it gives up this input
            raise
        except Hangs as error:
            failed.append(True)
            raise AssertionError(str(error)) from error
        except Exception:
            failed.append(True)  # the same again, and smaller ones, however long that takes
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    failed: list[bool] = []
    target.hypothesis.inner_test = once
    number = first_seed
    try:
        while time.monotonic() < until:
            seed(number)(target)()
            number += 1
    except (Exception, Over):  # noqa: BLE001  # whatever it is, it is the finding
        if failed or time.monotonic() < until:  # else Hypothesis was interrupted, and may say so in its own way
            _say(runs=runs, failure=traceback.format_exc())
            return 1
    _say(runs=runs)
    return 0


def _hangs(*_: object) -> None:
    raise Hangs(f"more than {LONGEST} seconds for one input")


def _say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
