"""A prepared interpreter: it has what most hooks import, and becomes a script whenever it is asked to.

It is started as a script would be, by the same interpreter with the same variables, and imports nothing of ours. For
each request it makes a process that is a child of whoever asked, as if that had started the script itself. What cannot
be done here is refused before anything of the script has run, and is then started as always.
"""
# ruff: noqa: E402  # what is there before anything is imported must be known

FRESH = dict(globals())  # what a script finds in its `__main__`

import sys

BEFORE = set(sys.modules)
del sys.path[0]  # where this file is

import _socket
import array
import atexit
import ctypes
import gc
import json  # noqa: F401  # for the scripts, as the next ones
import os
import pathlib  # noqa: F401  # for scripts
import re  # noqa: F401  # for scripts
import resource
import signal
import site
import time
import types
import warnings

_CLONE = {"x86_64": 56, "aarch64": 220}  # the number of the system call
_CLONE_PARENT = 0x8000
_LIMITS = {number: resource.getrlimit(number) for name, number in vars(resource).items() if name.startswith("RLIMIT_")}
_REMEMBERED_SCRIPTS = 64
_SOCKET = 0  # where our descriptor is that requests come from
_LIBC = ctypes.PyDLL(None)
_ENGINE = os.getppid()
_LC_CTYPE = os.environb.get(b"LC_CTYPE")


class Refused(Exception):
    """A script that must be started as always."""


class Request:
    """A script, how it is started, and the three descriptors it is given."""

    def __init__(self, said: bytes, descriptors: list[int]) -> None:
        head, self.environ = said.split(b"\0\0", 1)
        self.cwd, *words = head.split(b"\0")
        self.argv = [os.fsdecode(word) for word in words]
        self.script = self.argv[-1]
        self.descriptors = descriptors

    def variables(self) -> dict[bytes, bytes]:
        return dict(word.split(b"=", 1) for word in self.environ.split(b"\0") if word)


class Scripts:
    """Scripts as code, compiled once for as long as every byte of them stays the same."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bytes, types.CodeType]] = {}

    def code(self, script: str) -> types.CodeType:
        with open(script, "rb") as file:
            source = file.read()
        known = self._known.get(script)
        if known is None or known[0] != source:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                code = compile(source, script, "exec", dont_inherit=True)
            if said:  # it is said to whoever runs the script, each time
                raise Refused
            if len(self._known) >= _REMEMBERED_SCRIPTS:
                self._known.clear()
            known = self._known[script] = (source, code)
        return known[1]


def serve() -> tuple[types.CodeType, dict[str, object]]:
    """Answer requests; return in a process made for one, with what it is to run."""
    scripts = Scripts()
    preloaded = {name.partition(".")[0] for name in set(sys.modules) - BEFORE}
    connection = _socket.socket(fileno=_SOCKET)
    connection.send(b"\0".join(map(os.fsencode, ("ready", *_depends_on()))))
    sys.path.insert(0, "")
    gc.collect()
    gc.freeze()
    while True:
        request = _received(connection)
        try:  # as much as possible before the fork: there is no memory to be copied
            code = scripts.code(request.script)
            sys.path[0] = os.path.dirname(os.path.realpath(request.script))
            if not preloaded.isdisjoint(name.partition(".")[0] for name in os.listdir(sys.path[0])):
                raise Refused  # it has a module of its own with a name of those that we have loaded
            main = _main_module(request)
            _take_over_environment(request)
            _take_over_limits()
            is_script = _fork() == 0
        except Exception:  # noqa: BLE001  # whatever it is, a process started as always meets it, too
            is_script = False
            connection.send(b"0\n")
        if is_script:
            break
        for descriptor in request.descriptors:
            os.close(descriptor)
    os.setpgid(0, 0)
    connection.send(b"%d\n" % os.getpid())  # if nobody hears it any more, nothing runs
    connection.detach()
    for number, descriptor in enumerate(request.descriptors):  # the streams of `sys` have waited for this
        os.dup2(descriptor, number)
        os.close(descriptor)
    return code, main


def _depends_on() -> list[str]:
    """Files and directories that a start depends on."""
    found = [sys.executable, os.path.join(sys.prefix, "pyvenv.cfg"), *sys.path, *site.getsitepackages()]
    return list(dict.fromkeys([*found, site.getusersitepackages()]))


def _received(connection: _socket.socket) -> Request:
    """The next request: its length, a line feed, the words and variables; the descriptors come with the first bytes."""
    descriptors = array.array("i")
    data, messages, *_ = connection.recvmsg(1 << 16, _socket.CMSG_SPACE(3 * descriptors.itemsize))
    for _level, _kind, sent in messages:
        descriptors.frombytes(sent)
    length, _, said = data.partition(b"\n")
    while data and len(said) < int(length):
        data = connection.recv(1 << 20)
        said += data
    if not data:  # whoever asked is gone
        os._exit(0)
    return Request(said, list(descriptors))


def _take_over_environment(request: Request) -> None:
    os.chdir(request.cwd)
    variables = request.variables()
    if _LC_CTYPE is not None:  # an interpreter sets it where the locale is too poor
        variables[b"LC_CTYPE"] = _LC_CTYPE
    _LIBC.clearenv()
    for name, value in variables.items():
        os.putenv(name, value)
    data = os.environ._data  # type: ignore[attr-defined]  # `os.environb` and `posix.environ` are made of it, too
    data.clear()
    data.update(variables)
    time.tzset()


def _take_over_limits() -> None:
    for number, ours in _LIMITS.items():
        theirs = resource.prlimit(_ENGINE, number)
        if theirs != ours:
            resource.setrlimit(number, theirs)
            _LIMITS[number] = theirs
    with open(f"/proc/{_ENGINE}/status", "rb", buffering=0) as status:
        umask = status.read().partition(b"\nUmask:")[2].split(None, 1)[0]
    os.umask(int(umask, 8))


def _fork() -> int:
    """`os.fork`, but the new process is a sibling of ours."""
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    pid: int = _LIBC.syscall(_CLONE[os.uname().machine], _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return pid
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise Refused
    return pid


def _main_module(request: Request) -> dict[str, object]:
    sys.argv, sys.orig_argv = [request.script], request.argv
    script = request.script
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    own = {"__doc__": None, "__file__": script, "__loader__": type(FRESH["__loader__"])("__main__", script)}
    module.__dict__.update({**FRESH, **own})
    if "__annotations__" in FRESH:
        module.__annotations__ = {}
    return module.__dict__


def hide() -> None:
    """Have an exception that nobody caught shown without this file in its traceback."""
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
        sys.excepthook = shown
        trace = sys.last_traceback = _without_us(trace)
        try:
            shown(kind, error.with_traceback(trace), trace)
        except Exception as failure:  # noqa: BLE001  # said as an interpreter says it
            own = _without_us(failure.__traceback__)
            sys.stderr.write("Error in sys.excepthook:\n")
            sys.__excepthook__(type(failure), failure.with_traceback(own), own)
            sys.stderr.write("\nOriginal exception was:\n")
            sys.__excepthook__(kind, error, trace)
        _forget_file()

    sys.excepthook = show


def _without_us(trace: types.TracebackType | None) -> types.TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _forget_file() -> None:
    """What an interpreter does once a script has ended."""
    main = vars(sys.modules["__main__"])
    main.pop("__file__", None)
    main.pop("__cached__", None)


def finish(status: int) -> None:
    """End as an interpreter does, without taking apart what nobody will use again; return if that cannot be."""
    try:
        _flush()
    except Exception:  # noqa: BLE001, S110  # once more below, where it counts
        pass
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
        _flush()
        if gc.isenabled():
            gc.collect()  # from here on what holds something stands before it, and is written before that is closed
        for name in (set(sys.modules) - KEPT) | {"__main__"}:
            sys.modules.pop(name, None)
        gc.collect()
        _flush()
    except BaseException:  # noqa: BLE001  # the interpreter will meet it again, and knows what to say
        return
    _LIBC.exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


KEPT = set(sys.modules)

if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.chdir("/")
    try:
        _code, _globals = serve()
    except BaseException:  # noqa: BLE001  # nothing has begun, and there is nobody to tell
        os._exit(1)
    _status = 0
    try:
        exec(_code, _globals)  # noqa: S102  # a script, as it would run by itself
        _forget_file()
    except SystemExit as _end:
        if _end.code is not None and (type(_end.code) is not int or abs(_end.code) >= 1 << 31):
            raise
        _status = (_end.code or 0) & 0xFF
    except BaseException:
        hide()
        raise
    del _code, _globals
    finish(_status)
    sys.exit(_status)
