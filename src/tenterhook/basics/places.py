"""The directories of Tenterhook and its users, safe file names, and functions that write files there."""

from __future__ import annotations

import os
from _thread import get_ident

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MANAGED = "/etc/tenterhook"  # root's settings, launcher and records of `install --managed`; no variable moves it
# Directories that `install` recorded, by kind: for a process whose environment a repository may have set.
FIXED: dict[str, str] = {}


def home() -> str:
    """Return the user's home, as in the environment unless it is fixed."""
    return FIXED.get("home") or os.environ.get("HOME") or os.path.expanduser("~")


def account_home() -> str:
    """Return the home in the account database, which the environment cannot change."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return home()


def config_home() -> str:
    return FIXED.get("config") or _xdg("XDG_CONFIG_HOME", ".config")


def settings_file() -> str:
    """Return the file of the user's settings."""
    return os.path.join(config_home(), "tenterhook", "config.toml")


def state() -> str:
    """Return our directory for state."""
    return FIXED.get("state") or _xdg("XDG_STATE_HOME", ".local/state") + "/tenterhook"


def journal() -> str:
    """Return the directory of the journal."""
    return f"{state()}/journal"


def cache() -> str:
    """Return our directory for caches."""
    return FIXED.get("cache") or _xdg("XDG_CACHE_HOME", ".cache") + "/tenterhook"


def data() -> str:
    """Return our directory for data, such as fetched packs."""
    return FIXED.get("data") or _xdg("XDG_DATA_HOME", ".local/share") + "/tenterhook"


def directories() -> dict[str, str]:
    """Return all of them by kind, as in `FIXED`."""
    return {"home": home(), "config": config_home(), "state": state(), "cache": cache(), "data": data()}


def marks() -> str:
    """Return the directory of marks of guarded agents, which the environment cannot change."""
    user = os.getuid()
    runtime = f"/run/user/{user}"
    try:
        if os.stat(runtime).st_uid == user:
            return f"{runtime}/tenterhook"
    except OSError:  # there is no session manager
        pass
    return f"/tmp/tenterhook-{user}"  # noqa: S108  # used only if no other account can write to it


def _xdg(variable: str, default: str) -> str:
    value = os.environ.get(variable, "")
    # the base directory specification: a relative path is invalid and is ignored
    return value if value.startswith("/") else f"{home()}/{default}"


def is_inside(path: str, directory: str) -> bool:
    """Whether a path is a directory or in it, symbolic links resolved."""
    path, directory = real_path(path), real_path(directory)
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def encodable(path: str) -> str:
    """Return a path as a file name: lone surrogates, which a model can write in JSON, are replaced."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-8", "replace").decode()
    return path


def real_path(path: str) -> str:
    """Return a path with its symbolic links resolved; if that fails, only normalized."""
    try:
        return os.path.realpath(encodable(path))
    except (OSError, ValueError):  # a link that only another account can read; not a path of a file system
        return os.path.normpath(path)


def file_identity(path: str) -> tuple[int, int] | str:
    """Return a value that is equal for all names of one file; the real path if it does not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


def file_name(text: str) -> str:
    """Return a text as one file name; different texts have different names."""
    name = "".join(char if char in _SAFE else _escaped(char) for char in text)
    if name.startswith("."):
        name = "%2e" + name[1:]
    if len(name) > 120 or not name:
        from .digests import sha256

        name = name[:40] + "%" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]
    return name


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))


def is_managed() -> bool:
    """Whether this process installs for every account of the machine, all of which must be able to read its files."""
    return FIXED.get("state") == MANAGED


def file_mode() -> int:
    """Return the mode of launchers, records and settings that `install` creates."""
    return 0o644 if is_managed() else 0o600


def make_private(directory: str) -> None:
    """Create a directory and its parents, with mode 700 for it and for our own directories around it.

    For an installation for every account, the mode is 755.
    """
    if is_managed():
        make_directories(directory)
        return
    parents = 0o755
    for own in (state(), cache(), data()):
        if f"{directory}/".startswith(f"{own}/"):
            _keep_private(own)
            parents = 0o700
    make_directories(directory, 0o700, parents)


def _keep_private(own: str) -> None:
    """Create one of our own directories, or remove the access that earlier versions gave to other accounts."""
    try:
        found = os.stat(own)
    except FileNotFoundError:
        make_directories(own, 0o700)
        return
    is_open = found.st_mode & 0o077 and found.st_mode & 0o170000 == 0o040000
    if is_open and found.st_uid == os.getuid():
        os.chmod(own, 0o700)


def make_directories(directory: str, mode: int = 0o755, parents: int = 0o755) -> None:
    """Create a directory and its parents so that no other account can write to them, whatever the umask is."""
    if not directory or os.path.isdir(directory):
        return
    make_directories(os.path.dirname(directory), parents, parents)
    try:
        os.mkdir(directory, mode)
    except FileExistsError:
        if not os.path.isdir(directory):  # else another process has created it
            import errno

            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), directory) from None


_LARGEST_LOG = 8 * 1024 * 1024


def rotate(file: str) -> None:
    """Rotate a log that is too large; the previous one is kept beside it."""
    if os.path.exists(file) and os.path.getsize(file) > _LARGEST_LOG:
        os.replace(file, file + ".1")


def append_line(file: str, line: str) -> None:
    """Append a line to a private log, rotating it if it is too large."""
    make_private(os.path.dirname(file))
    rotate(file)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line.encode() + b"\n")
    finally:
        os.close(descriptor)


def replace_file(path: str, data: bytes, *, sync: bool = False, mode: int = 0o600) -> None:
    """Write a file atomically, by default a private one: readers see the old or the new content, even after a crash.

    With `sync`, even after a power failure. `mode` is limited by the umask.
    """
    temporary = f"{path}.{os.getpid()}.{get_ident()}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:  # leave no temporary file
        os.unlink(temporary)
        raise
