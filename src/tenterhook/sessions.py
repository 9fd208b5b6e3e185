"""What lasts for a session: its root, its env file, the variables that hooks set in it.

One private directory per session, shared by every process that serves it.
"""

from __future__ import annotations

import os
import stat
import time

from .basics import light_json, places, private_files
from .basics.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .basics.locks import Lock

_A_DAY = 86400 * 10**9  # ns
_CLOCK_TICK = 50_000_000  # ns, with room to spare
_MOST_STOPS = 400
_MOST_GRANTS = 500
_LONGEST_ENV_FILE = 1024 * 1024

# What a hook may not set for those that come after it: it would decide what they run.
_REFUSED = r"PATH|LD_.*|DYLD_.*|BASH_ENV|ENV|IFS|PYTHON.*|NODE_OPTIONS|GIT_.*|HOME|XDG_.*|TENTERHOOK_.*|KIMI_.*"
_ASSIGNMENT = r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)"


def fresh_id() -> str:
    return "session_" + os.urandom(8).hex()


class Session:
    """One session's state. Without a writable state directory it works, and lasts as long as this object."""

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.directory = os.path.join(places.state(), "sessions", places.file_name(session_id))
        self._env_file = os.path.join(self.directory, "env")
        self._usable = True
        self._file = os.path.join(self.directory, "variables.json")
        self._variables: dict[str, str] = {}
        self._seen = 0  # when the directory last changed

    def open(self) -> str | None:
        """Make sure that the env file exists, mode 600, and that what we know is current; return what is wrong."""
        try:
            changed = os.stat(self.directory).st_mtime_ns
            if changed == self._seen:  # no file has come, gone or been replaced
                return None
            self._usable = True
            if changed < time.time_ns() - _A_DAY:
                os.utime(self.directory)  # it is in use, so that it is not forgotten
            if os.lstat(self._env_file).st_mode & 0o170077 == stat.S_IFREG:
                self._read_variables()
                if time.time_ns() - changed > _CLOCK_TICK:  # a second change in one tick would look like the first
                    self._seen = changed
                return None
        except FileNotFoundError:
            private_files.forget_old(os.path.dirname(self.directory))
        except OSError as error:
            return self._unusable(error)
        try:
            places.make_private(self.directory)
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(self._env_file, flags, 0o600)
            os.fchmod(descriptor, 0o600)
            os.close(descriptor)
            self._read_variables()
        except OSError as error:
            return self._unusable(error)
        return None

    @property
    def env_file(self) -> str:
        """What pre-session hooks append to; nowhere, if there is no place to keep it."""
        return self._env_file if self._usable else os.devnull

    def _unusable(self, error: OSError) -> str:
        self._usable = False
        return f"no session state: {error.strerror}: {error.filename}"

    def forget(self) -> None:
        """Remove what was kept."""
        import shutil

        shutil.rmtree(self.directory, ignore_errors=True)

    def root(self) -> str | None:
        """The project root this session began with."""
        try:
            with open(os.path.join(self.directory, "root"), encoding="utf-8", errors="surrogateescape") as file:
                return file.read() or None
        except OSError:
            return None

    def fix_root(self, root: str) -> str:
        """The session's root: the one given, unless it has one already."""
        lock = self._lock()
        if lock is None:
            return self.root() or root
        with lock:
            known = self.root()
            if known is None:
                _write(os.path.join(self.directory, "root"), os.fsencode(root))
        return known or root

    def stops(self) -> dict[str, int]:
        """How often hooks of each family have sent the agent back in this turn."""
        try:
            with open(os.path.join(self.directory, "stops.json"), encoding="utf-8") as file:
                counts = light_json.loads(file.read())
        except (OSError, ValueError):
            return {}
        return (
            {key: value for key, value in counts.items() if isinstance(value, int)} if isinstance(counts, dict) else {}
        )

    def keep_stops(self, counts: Mapping[str, int]) -> None:
        """Remember these beside the others."""
        lock = self._lock()
        if lock is None:
            return
        with lock:
            self._write_stops(counts)

    def _write_stops(self, counts: Mapping[str, int]) -> None:
        kept = dict(list({**self.stops(), **counts}.items())[-_MOST_STOPS:])
        _write(os.path.join(self.directory, "stops.json"), light_json.dumps(kept).encode())

    def grants(self, agent: str) -> list[str]:
        """What was approved for this session, as long as the agent's process lives that asked."""
        try:
            with open(os.path.join(self.directory, "grants.json"), encoding="utf-8") as file:
                kept = light_json.loads(file.read())
        except (OSError, ValueError):
            return []
        found = kept.get("grants") if isinstance(kept, dict) and kept.get("agent") == agent else None
        return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []

    def grant(self, agent: str, covers: str) -> None:
        """Remember an approval for the session; those of an agent's process that is gone are forgotten."""
        lock = self._lock()
        if lock is None:
            return
        with lock:
            kept = {"agent": agent, "grants": [*self.grants(agent), covers][-_MOST_GRANTS:]}
            _write(os.path.join(self.directory, "grants.json"), light_json.dumps(kept).encode())

    def variables(self) -> dict[str, str]:
        """What pre-session hooks have set, as of when the session was opened."""
        return self._variables

    def _read_variables(self) -> None:
        try:
            with open(self._file, encoding="utf-8") as stream:
                self._variables = light_json.loads(stream.read())
        except (OSError, ValueError):
            pass

    def before(self, work_dir: str) -> Before:
        """The env files as they are, to tell later what was added."""
        return Before(work_dir, _lines(self.env_file), _lines(_work_dir_file(work_dir)))

    def collect(self, before: Before) -> list[str]:
        """Take over the variables that were added since; return a note for each line that was refused."""
        accepted: dict[str, str] = {}
        notes: list[str] = []
        _end_last_line(self._env_file)
        for file, old in ((self.env_file, before.env), (_work_dir_file(before.work_dir), before.work_dir_env)):
            for line in _added(old, _lines(file)):
                name, value, refusal = _assignment(line)
                if refusal:
                    notes.append(refusal)
                elif name:
                    accepted[name] = value
        if accepted:
            self._keep(accepted)
        return notes

    def _keep(self, accepted: Mapping[str, str]) -> None:
        lock = self._lock()
        if lock is None:
            self._variables = {**self._variables, **accepted}
            return
        with lock:
            self._read_variables()
            self._variables = {**self._variables, **accepted}
            data = light_json.dumps(self._variables).encode()
            _write(self._file, data)

    def _lock(self) -> Lock | None:
        """The session's lock; None where there is no directory to hold it in."""
        try:
            places.make_private(self.directory)
            os.close(os.open(os.path.join(self.directory, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError:
            return None
        from .basics.locks import Lock

        return Lock(os.path.join(self.directory, "lock"))


class Before(NamedTuple):
    """Both env files before a stage of pre-session hooks."""

    work_dir: str
    env: list[str]
    work_dir_env: list[str]


def _write(file: str, data: bytes) -> None:
    try:
        places.replace_file(file, data)
    except OSError:  # a full disk: it holds for this process, and takes no verdict with it
        pass


def _work_dir_file(work_dir: str) -> str:
    return os.path.join(work_dir, ".kimi", "env")


def _lines(file: str) -> list[str]:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return []
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read(_LONGEST_ENV_FILE).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return []
    finally:
        os.close(descriptor)


def _end_last_line(file: str) -> None:
    """So that what the next hook adds is a line of its own."""
    try:
        with open(file, "r+b") as stream:
            if stream.seek(0, os.SEEK_END) and stream.seek(-1, os.SEEK_END) >= 0 and stream.read(1) != b"\n":
                stream.write(b"\n")
    except OSError:
        pass


def _added(old: list[str], new: list[str]) -> list[str]:
    """The lines of a file that were not in it before."""
    if new[: len(old)] == old:
        return new[len(old) :]
    from collections import Counter

    left = Counter(old)
    added = []
    for line in new:
        if left[line] > 0:
            left[line] -= 1
        else:
            added.append(line)
    return added


def _assignment(line: str) -> tuple[str | None, str, str | None]:
    line = line.strip()
    if not line or line.startswith("#"):
        return None, "", None
    import re

    found = re.fullmatch(_ASSIGNMENT, line)
    if not found or "\0" in line:
        return None, "", f"env file: not NAME=value: {line[:60]!r}"
    name, value = found[1], found[2]
    if re.fullmatch(_REFUSED, name):
        return None, "", f"env file: {name} may not be set by a hook"
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return name, value, None
