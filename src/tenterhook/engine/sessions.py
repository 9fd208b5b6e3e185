"""The state of a session: its root, its env file, the variables that hooks have set.

One private directory per session, shared by all processes of the session.
"""

from __future__ import annotations

import os
import stat
import time

from ..basics import light_json, places, private_files
from ..basics.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from ..basics.processes import Lock

_A_DAY = 86400 * 10**9  # ns
_CLOCK_TICK = 50_000_000  # ns, with room to spare
_MOST_STOPS = 400
_MOST_GRANTS = 500


def fresh_id() -> str:
    return "session_" + os.urandom(8).hex()


class Session:
    """One session's state. Without a writable state directory it lasts as long as this object."""

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.directory = os.path.join(places.state(), "sessions", places.file_name(session_id))
        self._env_file = os.path.join(self.directory, "env")
        self._usable = True
        self._file = os.path.join(self.directory, "variables.json")
        self._variables: dict[str, str] = {}
        self._seen = 0  # when the directory last changed

    def open(self) -> str | None:
        """Create the env file, mode 600, and read the current variables. Return None, or why that failed."""
        try:
            changed = os.stat(self.directory).st_mtime_ns
            if changed == self._seen:  # no file was added, removed or replaced
                return None
            self._usable = True
            if changed < time.time_ns() - _A_DAY:
                os.utime(self.directory)  # still in use: keep it from being removed as old
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
        """The file that pre-session hooks append to; the null device if the directory cannot be written."""
        return self._env_file if self._usable else os.devnull

    def _unusable(self, error: OSError) -> str:
        self._usable = False
        return f"no session state: {error.strerror}: {error.filename}"

    def forget(self) -> None:
        """Remove the session's directory."""
        import shutil

        shutil.rmtree(self.directory, ignore_errors=True)

    def root(self) -> str | None:
        """Return the project root that this session started with, or None."""
        try:
            with open(os.path.join(self.directory, "root"), encoding="utf-8", errors="surrogateescape") as file:
                return file.read() or None
        except OSError:
            return None

    def fix_root(self, root: str) -> str:
        """Set the session's root unless it has one; return it."""
        lock = self._lock()
        if lock is None:
            return self.root() or root
        with lock:
            known = self.root()
            if known is None:
                _write(os.path.join(self.directory, "root"), os.fsencode(root))
        return known or root

    def stops(self) -> dict[str, int]:
        """Return how often hooks of each family have sent the agent back in this turn."""
        return {key: value for key, value in self._load("stops.json").items() if isinstance(value, int)}

    def keep_stops(self, counts: Mapping[str, int]) -> None:
        """Store these counts beside the others."""
        self._update("stops.json", lambda: dict(list({**self.stops(), **counts}.items())[-_MOST_STOPS:]))

    def grants(self, agent: str) -> list[str]:
        """Return what was approved for the session while this process of the agent was running."""
        kept = self._load("grants.json")
        found = kept.get("grants") if kept.get("agent") == agent else None
        return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []

    def grant(self, agent: str, covers: str) -> None:
        """Store an approval for the session; drop those of an earlier process of the agent."""
        self._update(
            "grants.json",
            lambda: {"agent": agent, "grants": [*self.grants(agent), covers][-_MOST_GRANTS:]},
        )

    def variables(self) -> dict[str, str]:
        """Return the variables that pre-session hooks have set, as of the last `open`."""
        return self._variables

    def _read_variables(self) -> None:
        self._variables = self._load("variables.json") or self._variables

    def _load(self, name: str) -> dict[str, Any]:
        """Return the JSON object in a file of the session; empty if there is none."""
        try:
            with open(os.path.join(self.directory, name), encoding="utf-8") as file:
                found = light_json.loads(file.read())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def before(self, work_dir: str) -> EnvFilesBefore:
        """Return the current env files, for `collect`."""
        from ..basics import env_files

        return EnvFilesBefore(work_dir, env_files.lines(self.env_file), env_files.lines(env_files.of_project(work_dir)))

    def collect(self, before: EnvFilesBefore, sources: Collection[str]) -> list[str]:
        """Store the variables that hooks defined in these files have set; return a note for each refused line."""
        from ..basics import env_files

        accepted: dict[str, str] = {}
        notes: list[str] = []
        env_files.end_last_line(self._env_file)
        in_project = env_files.of_project(before.work_dir)
        added = env_files.added(before.env, env_files.lines(self.env_file))
        for line in (*added, *env_files.accepted_lines(in_project, before.work_dir_env, sources)):
            name, value, refusal = env_files.assignment(line)
            if refusal:
                notes.append(refusal)
            elif name:
                accepted[name] = value
        if accepted:
            self._keep(accepted)
        return list(dict.fromkeys(notes))

    def left_out(self, work_dir: str) -> str | None:
        """Return a note about variables of the project's env file that are ignored, or None."""
        from ..basics import env_files

        names = env_files.left_out(env_files.of_project(work_dir), self._variables)
        if not names:
            return None
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        why = "it may come from the repository; if a hook of yours wrote it, delete the line once"
        return f"env file: ignored in .kimi/env: {shown}: {why}"

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

    def _update(self, name: str, content: Callable[[], object]) -> None:
        """Write a JSON file of the session, if the directory is writable; `content` is called under the lock."""
        lock = self._lock()
        if lock is not None:
            with lock:
                _write(os.path.join(self.directory, name), light_json.dumps(content()).encode())

    def _lock(self) -> Lock | None:
        """Return the session's lock; None if the directory cannot be written."""
        try:
            places.make_private(self.directory)
            os.close(os.open(os.path.join(self.directory, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError:
            return None
        from ..basics.processes import Lock

        return Lock(os.path.join(self.directory, "lock"))


class EnvFilesBefore(NamedTuple):
    """Both env files before a stage of pre-session hooks."""

    work_dir: str
    env: list[str]
    work_dir_env: list[str]


def _write(file: str, data: bytes) -> None:
    try:
        places.replace_file(file, data)
    except OSError:  # a full disk: the value is used in this process, and the verdict is not affected
        pass
