"""A script cannot tell whether it began in a prepared interpreter, and neither can whoever runs it."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import alive, folder_hook, shell_call, until, user_hooks
from tenterhook import Engine, Outcome
from tenterhook.runs.running import Cancel, Command, Ended, run_stage
from tenterhook.runs.warming import INTERPRETERS, Python

if TYPE_CHECKING:
    from collections.abc import Iterator

ENV = {b"PATH": os.fsencode(os.environ["PATH"]), b"HOME": b"/nonexistent", b"LANG": b"C.UTF-8", b"LAST": b"a=b c"}
COMMAND_LINE = "print(open('/proc/self/cmdline').read())"


@pytest.fixture(autouse=True, scope="module")
def ended() -> Iterator[None]:
    """No interpreter outlives these tests."""
    yield
    INTERPRETERS.end()


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("PYTHON"):
            monkeypatch.delenv(name)


def command(
    script: Path, *, warm: bool, env: dict[bytes, bytes] = ENV, timeout: float = 20, stdin: bytes = b""
) -> Command:
    argv = (sys.executable, str(script))
    python = Python(sys.executable, argv) if warm else None
    return Command(argv, stdin, str(script.parent), env, timeout, warm=python)


def run(script: Path, *, warm: bool, env: dict[bytes, bytes] = ENV, timeout: float = 20, stdin: bytes = b"") -> Ended:
    (ended,) = run_stage([command(script, warm=warm, env=env, timeout=timeout, stdin=stdin)])
    stdout, stderr = (re.sub(rb"\b0x[0-9a-f]+", b"0x", data) for data in (ended.stdout, ended.stderr))
    return ended._replace(duration=0, stdout=stdout, stderr=stderr)


def begins_warm(directory: Path, env: dict[bytes, bytes] = ENV) -> bool:
    directory.mkdir(exist_ok=True)
    script = directory / "run.py"
    script.write_text(COMMAND_LINE)
    return b"prepared_python" in run(script, warm=True, env=env).stdout


@pytest.fixture
def prepared(tmp_path: Path) -> None:
    """From here on scripts begin warm."""
    until(lambda: begins_warm(tmp_path / "is-it"))


@pytest.fixture
def alone() -> None:
    """There are no interpreters of other tests."""
    INTERPRETERS.end()


def prepared_pid() -> int:
    (pid,) = [
        int(pid)
        for pid in os.listdir("/proc")
        if pid.isdigit() and alive(int(pid)) and ppid(int(pid)) == os.getpid() and b"prepared_python" in words(int(pid))
    ]
    return pid


def _is_gone(pid: int) -> bool:
    return not alive(pid)


def ppid(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return -1


def words(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


# ---- the same script, cold and warm

SAME = {
    "argv": "import sys; print(sys.argv, sys.orig_argv)",
    "main": """'''A docstring.'''
import sys
print(list(globals()), __name__, __file__, __spec__, __doc__, __package__, __cached__, __annotations__, __builtins__)
print(type(__loader__), __loader__.name, __loader__.path)
print(vars(sys.modules['__main__']) is globals(), locals() is globals())
number: int = 3
print(__annotations__)
""",
    "what it knows of the interpreter": """
import sys
print(sys.path, sys.executable, sys.prefix, sys.base_prefix, sys.flags, sys.warnoptions, sys._xoptions)
print(sys.pycache_prefix, sys.dont_write_bytecode, sys.meta_path, sys.getrecursionlimit(), sys.gettrace())
print(sys.excepthook is sys.__excepthook__, sys.unraisablehook is sys.__unraisablehook__, hasattr(sys, 'last_type'))
import gc, warnings
print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), warnings.filters)
""",
    "nothing of ours": """
import sys
print([name for name in sys.modules if 'tenterhook' in name or 'prepared' in name])
import importlib.util
print(importlib.util.find_spec('prepared_python'), importlib.util.find_spec('warming'))
""",
    "working directory": "import os; print(os.getcwd())",
    "environment": """
import os, posix, subprocess
print(list(os.environ.items()), list(os.environb.items()), posix.environ is os.environ._data, os.getenv('LAST'))
print(subprocess.run(['env'], capture_output=True, text=True).stdout)
os.environ['MORE'] = '1'
print(subprocess.run(['env'], capture_output=True, text=True).stdout)
""",
    "streams": """
import sys
for stream in (sys.stdin, sys.stdout, sys.stderr):
    print(stream.name, stream.mode, stream.encoding, stream.errors, stream.line_buffering, stream.write_through)
    print(stream.newlines, stream.fileno(), stream.isatty(), repr(stream), repr(stream.buffer), repr(stream.buffer.raw))
print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
print('to stderr', file=sys.stderr)
print(ascii(sys.stdin.read()))
""",
    "stdin by line and in bytes": """
import sys
print(ascii(sys.stdin.readline()), sys.stdin.buffer.readline(), list(sys.stdin))
""",
    "no descriptors of ours": "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])",
    "one thread": """
import os, threading
print(os.listdir('/proc/self/task') == [str(os.getpid())], threading.enumerate() == [threading.main_thread()])
print(threading.main_thread().name, threading.current_thread() is threading.main_thread())
print(threading.get_native_id() == os.getpid())
""",
    "signals": """
import signal
print({number: signal.getsignal(number) for number in signal.valid_signals()}, signal.pthread_sigmask(0, ()))
print(signal.get_wakeup_fd() if hasattr(signal, 'get_wakeup_fd') else signal.set_wakeup_fd(-1), signal.getitimer(0))
""",
    "process": """
import os
print(os.getpgrp() == os.getpid(), os.getsid(0), os.getppid(), os.getpriority(0, 0), os.sched_getaffinity(0))
print(os.getresuid(), os.getresgid(), os.getgroups())
""",
    "umask and limits": """
import os, resource
print(os.umask(0), {n: resource.getrlimit(v) for n, v in vars(resource).items() if n.startswith('RLIMIT')})
""",
    "locale and encodings": """
import locale, sys, time
print(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(), locale.getpreferredencoding(), locale.setlocale(0))
print(time.tzname, time.timezone, time.strftime('%H %Z', time.localtime(0)))
""",
    "end of the code": "print('said')",
    **{
        f"sys.exit({code})": f"import sys\nprint('said')\nsys.exit({code})"
        for code in ("", "0", "1", "2", "3", "255", "256", "-1", "2**40", "True", "'why'", "(1, 2)", "None", "''")
    },
    "sys.exit in a function with an open file": """
import sys
def main():
    file = open('left-open', 'w')
    file.write('written')
    sys.exit(3)
import atexit
atexit.register(lambda: print(open('left-open').read()))
main()
""",
    "os._exit": "import os\nprint('lost')\nos._exit(7)",
    "an exception": "def fails():\n    return 1 / 0\n\nprint('said')\nfails()",
    "exceptions in a row": """
try:
    {}['x']
except KeyError as error:
    raise ValueError('two') from error
""",
    "an exception group": "raise ExceptionGroup('both', [ValueError('one'), TypeError('two')])",
    "an exception and a hook for it": """
import atexit, sys
def show(kind, error, trace):
    import traceback
    print(kind, error, [frame.line for frame in traceback.extract_tb(trace)], sys.last_traceback is trace)
sys.excepthook = show
atexit.register(lambda: print(sys.excepthook is show, sys.last_value, '__file__' in globals()))
raise ValueError('x')
""",
    "an exception hook that fails": "import sys\nsys.excepthook = lambda *_: 1 / 0\nraise ValueError('x')",
    "a syntax error": "print('never')\nif",
    "a warning of the compiler": "import sys\nprint('\\d', 1 is 1)",
    "a script that is not UTF-8": "\udcff",
    "another encoding": "# -*- coding: latin-1 -*-\nprint(ascii('\udce4'))",
    "a warning": "import warnings\nwarnings.warn('careful')\nwarnings.warn('old', DeprecationWarning)",
    "KeyboardInterrupt": "print('said')\nraise KeyboardInterrupt",
    "ended by SIGINT": "import os\nprint('said')\nos.kill(os.getpid(), 2)\nimport time\ntime.sleep(9)",
    **{
        f"ended by signal {number}": f"import signal\nprint('lost')\nsignal.raise_signal({number})"
        for number in (1, 6, 9, 10, 13, 14, 15)
    },
    "abort": "import os\nos.abort()",
    "a signal to a thread": "import signal, threading\nsignal.pthread_kill(threading.get_ident(), 15)",
    "atexit": """
import atexit, sys
atexit.register(print, 'first')
atexit.register(lambda: 1 / 0)
atexit.register(lambda: print('third', '__file__' in globals(), '__name__' in globals(), sys.modules['__main__']))
print('main')
sys.exit(int(len(sys.argv) == 1) * 5)
""",
    "atexit at the end": "import atexit\natexit.register(lambda: print({'__file__', '__cached__'} & {*globals()}))",
    "atexit that exits": "import atexit, os, sys\natexit.register(os._exit, 9)\nprint('lost')",
    "what is left behind": """
import json, weakref
class Left:
    def __del__(self):
        print('gone', json.dumps([1]))
left = Left()
left.itself = left
other = Left()
weakref.finalize(other, print, 'finalized')
file = open('left-open', 'w')
file.write('x' * 100)
""",
    "what is left behind, in order": """
import json
class Left:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        print('gone', self.name, json.dumps([1]), sorted(name for name, value in globals().items() if value is None))
_early = Left('early')
left = Left('cyclic')
left.itself = left
other = Left('other')
def function():
    return other
""",
    "a thread that takes longer": """
import threading, time
threading.Thread(target=lambda: (time.sleep(0.05), print('later'))).start()
threading.Thread(target=lambda: time.sleep(60), daemon=True).start()
print('main')
""",
    "stdout closed": "import os\nos.close(1)\nprint('lost')",
    "stdout closed, with a code": "import os, sys\nos.close(1)\nprint('lost')\nsys.exit(3)",
    "no stdout": "import sys\nsys.stdout = None\nprint('x')",
    "another stdout": "import sys\nsys.stdout = open('other', 'w')\nprint('x')",
    "closed streams": "import sys\nprint('x')\nsys.stdout.close()\nsys.stderr.close()\nsys.exit(4)",
    "programs of its own": """
import os, subprocess, sys
print(subprocess.run([sys.executable, '-c', 'import sys; print(sys.flags.isolated); sys.exit(5)']).returncode)
pid = os.fork()
if pid == 0:
    os._exit(6)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print('no other children')
""",
    "many threads": """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(lambda n: n * n, range(1000))))
""",
    "ctypes": "import ctypes\nprint(ctypes.CDLL(None).abs(-3), ctypes.sizeof(ctypes.c_int))",
    "processes of multiprocessing": """
import multiprocessing
if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(2) as pool:
        print(pool.map(abs, [-1, -2]))
""",
    "asyncio": """
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec('true')
    print(await process.wait())
asyncio.run(main())
""",
}


@pytest.mark.parametrize("name", SAME)
def test_a_script_runs_the_same(name: str, tmp_path: Path, prepared: None) -> None:
    script = tmp_path / "scripts" / "run.py"
    script.parent.mkdir()
    script.write_bytes(SAME[name].encode("utf-8", "surrogateescape"))
    sent = 'ä"\r\nsecond\nthird'.encode() + b"\xff"
    cold = run(script, warm=False, stdin=sent)
    assert run(script, warm=True, stdin=sent) == cold
    assert run(script, warm=True, stdin=sent) == cold, "also when its code is known"


def test_files_left_open_are_written(tmp_path: Path, prepared: None) -> None:
    script = tmp_path / "run.py"
    (tmp_path / "helper.py").write_text("FILE = open('two', 'w')\ndef write(): FILE.write('2')")
    script.write_text("import helper\nfile = open('one', 'w')\ndef write(): file.write('1')\nwrite()\nhelper.write()")
    assert run(script, warm=True).exit_code == 0
    assert [(tmp_path / name).read_text() for name in ("one", "two")] == ["1", "2"]


@pytest.mark.parametrize("variable", ["LC_ALL=C", "LC_ALL=POSIX", "LANG=", "TZ=Asia/Tokyo", "HOME=/tmp", "EMPTY="])
def test_locale_home_and_time_zone_are_those_of_the_hook(variable: str, tmp_path: Path) -> None:
    name, _, value = variable.encode().partition(b"=")
    env = {**ENV, name: value}
    until(lambda: begins_warm(tmp_path / "is-it", env))
    script = tmp_path / "run.py"
    script.write_text(
        "\n".join(SAME[part] for part in ("streams", "locale and encodings", "environment"))
        + "\nimport site; print(site.USER_SITE)"
    )
    assert run(script, warm=True, env=env) == run(script, warm=False, env=env)


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONUNBUFFERED", "PYTHONSTARTUP"])
def test_variables_that_change_a_start_are_left_to_a_start(name: str, tmp_path: Path, prepared: None) -> None:
    env = {**ENV, name.encode(): b"1"}
    script = tmp_path / "run.py"
    script.write_text(COMMAND_LINE + "\nimport sys; print(sys.flags, sys.path, hash('a') if '1' else 0)")
    assert b"prepared_python" not in run(script, warm=True, env=env).stdout


def test_two_runs_share_no_chance(tmp_path: Path, prepared: None) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import random, uuid, secrets, tempfile\nprint(random.random(), uuid.uuid4(), secrets.token_hex())"
    )
    assert run(script, warm=True).stdout != run(script, warm=True).stdout


def test_an_edit_is_seen_at_the_next_run(tmp_path: Path, prepared: None) -> None:
    script, helper = tmp_path / "run.py", tmp_path / "helper.py"
    source = "import helper; print('{}', helper.WORD)"
    for number in "123":
        helper.write_text(f"WORD = 'helper {number * int(number)}'")
        script.write_text(source.format(number))
        os.utime(script, (1, 1))
        assert run(script, warm=True).stdout.decode() == f"{number} helper {number * int(number)}\n"


def test_a_module_beside_the_script_comes_before_one_that_was_loaded(tmp_path: Path, prepared: None) -> None:
    script = tmp_path / "run.py"
    (tmp_path / "json.py").write_text("OWN = 1")
    script.write_text("import json; print(json.OWN)")
    assert run(script, warm=True) == run(script, warm=False)


def test_a_linked_script_finds_what_is_beside_the_real_one(tmp_path: Path, prepared: None) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "helper.py").write_text("")
    (tmp_path / "real" / "run.py").write_text("import helper, sys; print(__file__, sys.argv, sys.path[0])")
    (tmp_path / "run.py").symlink_to(tmp_path / "real" / "run.py")
    assert run(tmp_path / "run.py", warm=True) == run(tmp_path / "run.py", warm=False)


def test_a_working_directory_or_script_that_is_gone_is_the_same_failure(tmp_path: Path, prepared: None) -> None:
    gone = command(tmp_path / "run.py", warm=True)
    assert run(tmp_path / "run.py", warm=True) == run(tmp_path / "run.py", warm=False)
    (tmp_path / "run.py").write_text("")
    (ended,) = run_stage([gone._replace(cwd=str(tmp_path / "none"))])
    (cold,) = run_stage([gone._replace(cwd=str(tmp_path / "none"), warm=None)])
    assert (ended.failure, ended.why) == (cold.failure, cold.why)


def test_umask_and_limits_are_those_of_now(tmp_path: Path, prepared: None) -> None:
    script = tmp_path / "run.py"
    script.write_text(SAME["umask and limits"] + COMMAND_LINE)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = os.umask(0o027)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
        warm = run(script, warm=True).stdout.splitlines()
        assert warm[0] == run(script, warm=False).stdout.splitlines()[0]
        assert b"prepared_python" in warm[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.umask(before)


# ---- the prepared interpreter


def test_without_it_a_script_runs_all_the_same_and_it_comes_again(tmp_path: Path, alone: None, prepared: None) -> None:
    script = tmp_path / "run.py"
    script.write_text("print('said')")
    pid = prepared_pid()
    os.kill(pid, signal.SIGKILL)
    assert run(script, warm=True).stdout == b"said\n"
    until(lambda: begins_warm(tmp_path / "is-it"))
    assert prepared_pid() != pid


def test_a_stuck_one_costs_no_run_and_no_second_run(tmp_path: Path, alone: None, prepared: None) -> None:
    script = tmp_path / "run.py"
    script.write_text("open('runs', 'a').write('x')\nprint('said')")
    pid = prepared_pid()
    os.kill(pid, signal.SIGSTOP)
    assert run(script, warm=True).stdout == b"said\n"
    assert not alive(pid)
    assert (tmp_path / "runs").read_text() == "x"


def test_ended_while_a_script_runs_it_takes_nothing_with_it(tmp_path: Path, alone: None, prepared: None) -> None:
    script = tmp_path / "run.py"
    script.write_text(f"import os\nos.kill({prepared_pid()}, 9)\nprint('said')\nraise SystemExit(2)")
    assert (ended := run(script, warm=True)).exit_code == 2
    assert ended.stdout == b"said\n"


def test_nothing_is_left_of_it(tmp_path: Path, alone: None, prepared: None) -> None:
    pid = prepared_pid()
    INTERPRETERS.end()
    assert not os.path.exists(f"/proc/{pid}")


def test_a_python_behind_a_wrapper_is_left_alone(tmp_path: Path) -> None:
    wrapper = tmp_path / "python3"
    wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    script = tmp_path / "run.py"
    script.write_text(COMMAND_LINE)
    argv = (str(wrapper), str(script))
    slow = Command(argv, b"", str(tmp_path), ENV, 20, warm=Python(str(wrapper), argv))
    end = time.monotonic() + 1
    while time.monotonic() < end:
        (ended,) = run_stage([slow])
        assert ended.exit_code == 0
        assert b"prepared_python" not in ended.stdout


def test_fifty_at_once(tmp_path: Path, prepared: None) -> None:
    script = tmp_path / "run.py"
    script.write_text("import sys\nnumber = sys.stdin.read()\nprint(number)\nsys.exit(int(number) % 3)")
    found: dict[int, Ended] = {}

    def one(number: int) -> None:
        found[number] = run(script, warm=True, stdin=b"%d" % number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: (ended.exit_code, ended.stdout) for number, ended in found.items()} == {
        number: (number % 3, b"%d\n" % number) for number in range(50)
    }
    many = [command(script, warm=True, stdin=b"%d" % number) for number in range(50)]
    assert [int(ended.stdout) for ended in run_stage(many)] == list(range(50))


# ---- what running promises


def test_a_timeout_ends_the_whole_group(tmp_path: Path, prepared: None) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import os, signal, subprocess, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "open('pids', 'w').write(f'{os.getpid()} {child.pid}')\n"
        "print('said', flush=True)\n"
        "time.sleep(60)"
    )
    ended = run(script, warm=True, timeout=1)
    assert (ended.failure, ended.stdout) == ("timed_out", b"said\n")
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        assert until(partial(_is_gone, pid))


def test_a_cancellation_ends_it(tmp_path: Path, prepared: None) -> None:
    script = tmp_path / "run.py"
    script.write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(60)")
    cancel = Cancel()

    def stop() -> None:
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        cancel.set()

    threading.Thread(target=stop).start()
    with pytest.raises(Exception, match="cancelled"):
        run_stage([command(script, warm=True)], cancel)
    cancel.close()
    assert not os.path.exists(f"/proc/{(tmp_path / 'pid').read_text()}")


def test_what_it_leaves_behind_is_left_alone(tmp_path: Path, prepared: None) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import os, sys, time\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os.setsid()\n"
        "    time.sleep(60)\n"
        "print(pid)\n"
        "sys.exit(2)"
    )
    ended = run(script, warm=True)
    assert ended.exit_code == 2
    assert alive(int(ended.stdout))
    assert ppid(int(ended.stdout)) != os.getpid()
    os.kill(int(ended.stdout), signal.SIGKILL)


def test_large_input_and_output(tmp_path: Path, prepared: None) -> None:
    script = tmp_path / "run.py"
    script.write_text("import sys\nsent = sys.stdin.read()\nsys.stdout.write(sent * 3)\nsys.stderr.write(sent)")
    sent = b"0123456789abcdef" * 65536
    warm = run(script, warm=True, stdin=sent)
    assert warm == run(script, warm=False, stdin=sent)
    assert warm.dropped_stdout and warm.dropped_stderr
    large = {**ENV, b"LARGE": b"x" * 120_000, b"LARGER": b"y" * 120_000}
    script.write_text("import os; print(os.environ)")
    assert run(script, warm=True, env=large) == run(script, warm=False, env=large)


# ---- who begins warm


@pytest.mark.parametrize("first", ["#!/usr/bin/env python3", f"#!{sys.executable}", "#!/usr/bin/env -S python3 -s"])
@pytest.mark.parametrize("mode", [0o755, 0o644])
def test_a_folder_asks_for_it(
    home: Path, project: Path, first: str, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    print_it = "import json\nprint(json.dumps({'message': open('/proc/self/cmdline').read()}))"
    entry = folder_hook(user_hooks(home), "warm", f"{first}\n{print_it}", file="run.py", metadata={"warm": True})
    (entry / "scripts" / "run.py").chmod(mode)
    folder_hook(user_hooks(home), "cold", f"{first}\n{print_it}", file="run.py")
    engine = Engine.load(warm=True)

    def outputs(engine: Engine) -> dict[str, bool]:
        runs = engine.decide(shell_call()).runs
        assert all(run.outcome is Outcome.OK for run in runs)
        return {run.hook.name: "prepared_python" in run.stdout for run in runs}

    assert until(lambda: (found := outputs(engine))["warm"] and found) == {"warm": True, "cold": False}
    assert outputs(Engine.load()) == {"warm": False, "cold": False}


@pytest.mark.parametrize("first", [f"#!{sys.executable} -I", "#!/bin/sh", "#!/usr/bin/env -S python3 -u"])
def test_other_programs_and_options_are_started_as_always(alone: None, home: Path, project: Path, first: str) -> None:
    says = "echo said" if first.endswith("/sh") else "print('said', '__loader__' in globals())"
    folder_hook(user_hooks(home), "other", f"{first}\n{says}", file="run.py", metadata={"warm": True})
    engine = Engine.load(warm=True)
    for _ in range(3):
        (ran,) = engine.decide(shell_call()).runs
        assert ran.stdout.startswith("said")
    with pytest.raises(ValueError, match="not enough"):
        prepared_pid()


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.parametrize("file", ["runs/test_running.py", "firing/test_order.py"])
def test_what_running_promises_holds_for_lines_that_begin_warm(file: str) -> None:
    tests = Path(__file__).parents[1]
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "warm_lines", str(tests / file)]
    env = {**os.environ, "PYTHONPATH": f"{tests}:{tests.parent / 'src'}"}
    ended = subprocess.run(argv, cwd=tests.parent, capture_output=True, text=True, env=env)
    assert ended.returncode == 0, ended.stdout
    assert "\n0 lines" not in ended.stdout
