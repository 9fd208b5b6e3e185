"""Where things are kept: one function per kind of place, and names that are safe as file names."""

from __future__ import annotations

import os
from _thread import get_ident

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What `install` wrote down, for a process whose environment somebody else may have set: kind of place to directory.
FIXED: dict[str, str] = {}


def home() -> str:
    """The person's home as their environment has it."""
    return FIXED.get("home") or os.environ.get("HOME") or os.path.expanduser("~")


def account_home() -> str:
    """The home the account database names: nothing in the environment can move it."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return home()


def config_home() -> str:
    return FIXED.get("config") or _xdg("XDG_CONFIG_HOME", ".config")


def settings_file() -> str:
    """The person's own settings."""
    return os.path.join(config_home(), "tenterhook", "config.toml")


def state() -> str:
    """Our own directory for what must outlive a process."""
    return FIXED.get("state") or _xdg("XDG_STATE_HOME", ".local/state") + "/tenterhook"


def journal() -> str:
    """Where what happened is written down."""
    return f"{state()}/journal"


def cache() -> str:
    """Our own directory for what can be made again."""
    return FIXED.get("cache") or _xdg("XDG_CACHE_HOME", ".cache") + "/tenterhook"


def marks() -> str:
    """Where agents that are guarded are marked: nothing in the environment can move it."""
    user = os.getuid()
    runtime = f"/run/user/{user}"
    try:
        if os.stat(runtime).st_uid == user:
            return f"{runtime}/tenterhook"
    except OSError:  # there is no session manager that makes it
        pass
    return f"/tmp/tenterhook-{user}"  # noqa: S108  # believed only if it is this account's alone


def _xdg(variable: str, default: str) -> str:
    value = os.environ.get(variable, "")
    # the base directory specification: a relative path is invalid and is ignored
    return value if value.startswith("/") else f"{home()}/{default}"


def is_inside(path: str, directory: str) -> bool:
    """Whether a path, links followed, lies in a directory or is it."""
    path, directory = os.path.realpath(path), os.path.realpath(directory)
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def file_identity(path: str) -> tuple[int, int] | str:
    """What two names of one file have in common, links of both kinds followed; the path of one that is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


def file_name(text: str) -> str:
    """Any text as one file name; different texts have different names."""
    name = "".join(char if char in _SAFE else _escaped(char) for char in text)
    if name.startswith("."):
        name = "%2e" + name[1:]
    if len(name) > 120 or not name:
        import hashlib

        name = name[:40] + "%" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]
    return name


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))


def make_private(directory: str) -> None:
    """Make a directory for this account alone, and what is missing above it; our own directory around it is private."""
    for own in (state(), cache()):
        if f"{directory}/".startswith(f"{own}/"):
            _keep_private(own)
    make_directories(directory, 0o700)


def _keep_private(own: str) -> None:
    """Make one of our own directories, or take away what earlier versions let other accounts do there."""
    try:
        found = os.stat(own)
    except FileNotFoundError:
        make_directories(own, 0o700)
        return
    is_open = found.st_mode & 0o077 and found.st_mode & 0o170000 == 0o040000
    if is_open and found.st_uid == os.getuid():
        os.chmod(own, 0o700)


def make_directories(directory: str, mode: int = 0o755) -> None:
    """Make what is missing so that no other account can write to it, whatever the umask is: it would not be used."""
    if not directory or os.path.isdir(directory):
        return
    make_directories(os.path.dirname(directory))
    try:
        os.mkdir(directory, mode)
    except FileExistsError:
        if not os.path.isdir(directory):  # else somebody else was quicker
            import errno

            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), directory) from None


_LARGEST_LOG = 8 * 1024 * 1024


def keep_small(file: str) -> None:
    """Have a log that grew too large begun anew, the last one kept beside it."""
    if os.path.exists(file) and os.path.getsize(file) > _LARGEST_LOG:
        os.replace(file, file + ".1")


def append_line(file: str, line: str) -> None:
    """Add a line to a private log that is kept small."""
    make_private(os.path.dirname(file))
    keep_small(file)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line.encode() + b"\n")
    finally:
        os.close(descriptor)


def replace_file(path: str, data: bytes) -> None:
    """Write a private file so that a reader, or a crash, sees the old or the new content, whole."""
    temporary = f"{path}.{os.getpid()}.{get_ident()}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:  # nothing half-written stays, whatever happened
        os.unlink(temporary)
        raise
