"""Run a command, and all that it starts, on a system that lacks what only Linux has: an approximation of others.

python tests/portable.py COMMAND...    TENTERHOOK_TEST_WITHOUT names what is taken away, of `proc`, `pidfd`, `inotify`,
                                       `perl` and `peercred`; all of it unless told

In namespaces of its own /proc is empty (`ps` still works) and Perl cannot be started; the kernel refuses pidfds,
inotify and SO_PEERCRED; and every Python, also one with `-I -S`, calls its platform freebsd14 and lacks the functions
that other systems lack. It needs Linux, and root or user namespaces.
"""

from __future__ import annotations

import ctypes
import encodings
import errno
import os
import platform
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

EVERYTHING = ("proc", "pidfd", "inotify", "perl", "peercred")
WITHOUT = tuple(os.environ.get("TENTERHOOK_TEST_WITHOUT", ",".join(EVERYTHING)).split(","))
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
# At the end of a module that every Python imports first, before `os` takes over what `posix` has.
LACKS = """
import posix, sys, time
sys.platform = "freebsd14"
for _module, _name in ((posix, "pidfd_open"), (posix, "memfd_create"), (time, "CLOCK_BOOTTIME")):
    if hasattr(_module, _name):
        delattr(_module, _name)
"""

# Elsewhere the kernel stores when a process started; procps computes it anew each time, a second off now and then.
PS = """\
mount --rbind {place}/proc /proc || exit 1
case "$*" in
*' -o lstart= -p '*)
    pid=${{*##* }}
    found=$({place}/ps.real -ww -o ppid= -o stat= -p "$pid") && read -r line < /proc/$pid/stat || exit 1
    set -- ${{line##*) }}
    shift 19
    echo "$found tick $1" ;;
*)  exec {place}/ps.real "$@" ;;
esac
"""


def _mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def _take_away_files(place: Path) -> None:
    _mount("-t", "tmpfs", "none", place)
    if "perl" in WITHOUT and (perl := shutil.which("perl", path="/usr/bin")):
        _mount("--bind", "/dev/null", os.path.realpath(perl))
    module = Path(encodings.__file__)
    (place / "encodings.py").write_text(module.read_text() + LACKS)
    _mount("-t", "tmpfs", "none", module.parent / "__pycache__")
    _mount("--bind", place / "encodings.py", module)
    if "proc" in WITHOUT:
        _take_away_proc(place)


def _take_away_proc(place: Path) -> None:
    for name in ("proc", "dev"):  # the real ones, for `ps` and /dev/fd
        (place / name).mkdir()
        _mount("--rbind", f"/{name}", place / name)
    ps = os.path.realpath("/bin/ps")
    shutil.copy(ps, place / "ps.real")
    (place / "ps.sh").write_text(PS.format(place=place))
    (place / "ps").write_text(f'#!/bin/sh\nexec unshare --mount /bin/sh {place}/ps.sh "$@"\n')
    (place / "ps").chmod(0o755)
    _mount("--bind", place / "ps", ps)
    _mount("-t", "tmpfs", "none", "/proc")
    _mount("-t", "tmpfs", "-o", "mode=755", "none", "/dev")
    for name in DEVICES:
        there = place / "dev" / name
        if name == "ptmx" and (there.parent / "pts" / name).exists():  # a bound one would not find its pts
            os.symlink("pts/ptmx", "/dev/ptmx")
        elif there.is_symlink():
            os.symlink(os.readlink(there), f"/dev/{name}")
        elif there.exists():
            os.mkdir(f"/dev/{name}") if there.is_dir() else Path("/dev", name).touch()
            _mount("--rbind", there, f"/dev/{name}")
    os.symlink(place / "proc/self/fd", "/dev/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/dev/fd/{number}", f"/dev/{name}")


def _take_away_calls() -> None:
    """Have the kernel refuse system calls, here and in all children (seccomp, with a filter in BPF)."""
    arm = platform.machine() == "aarch64"
    load, equals, answer, allow = 0x20, 0x15, 0x06, 0x7FFF0000
    refused = ([434, 424] if "pidfd" in WITHOUT else []) + ([26] if arm else [253, 294]) * ("inotify" in WITHOUT)
    lines = [(load, 0, 0, 0)]  # the number of the call
    for number in refused:
        lines += [(equals, 0, 1, number), (answer, 0, 0, 0x50000 | errno.ENOSYS)]
    if "peercred" in WITHOUT:  # getsockopt(_, SOL_SOCKET, SO_PEERCRED)
        lines += [(equals, 0, 5, 209 if arm else 55), (load, 0, 0, 24), (equals, 0, 3, 1), (load, 0, 0, 32)]
        lines += [(equals, 0, 1, 17), (answer, 0, 0, 0x50000 | errno.ENOPROTOOPT)]
    lines.append((answer, 0, 0, allow))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    described = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(22, 2, described, 0, 0) != 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        raise OSError(ctypes.get_errno(), "seccomp")


def main(words: list[str]) -> None:
    if words[:1] != ["--inside"]:
        namespaces = ["--mount", "--propagation", "private", *(["--map-root-user"] if os.geteuid() else [])]
        place = tempfile.mkdtemp(prefix="portable-")
        started = ["unshare", *namespaces, sys.executable, __file__, "--inside", place, *words]
        try:
            sys.exit(subprocess.run(started, check=False).returncode)
        finally:
            os.rmdir(place)
    name = sysconfig._get_sysconfigdata_name()  # type: ignore[attr-defined]  # it has the platform in it
    _take_away_files(Path(words[1]))
    _take_away_calls()
    os.execvpe(words[2], words[2:], {**os.environ, "_PYTHON_SYSCONFIGDATA_NAME": name})


if __name__ == "__main__":
    main(sys.argv[1:])
