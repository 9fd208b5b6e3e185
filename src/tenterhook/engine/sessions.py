"""What lasts for a session: its root, its env file, the variables that hooks set in it.

One private directory per session, shared by every process that serves it.
"""

from __future__ import annotations

import os
import stat
import time

from ..basics import light_json, places, private_files
from ..basics.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..basics.processes import Lock

_A_DAY = 86400 * 10**9  # ns
_CLOCK_TICK = 50_000_000  # ns, with room to spare
_MOST_STOPS = 400
_MOST_GRANTS = 500


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
        from ..basics import env_files

        return Before(work_dir, env_files.lines(self.env_file), env_files.lines(env_files.of_project(work_dir)))

    def collect(self, before: Before, sources: Collection[str]) -> list[str]:
        """Take over the variables that hooks defined in these files have set; return a note for each refused line."""
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
        """A note about what stands in the project's env file and was not taken over."""
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

    def _lock(self) -> Lock | None:
        """The session's lock; None where there is no directory to hold it in."""
        try:
            places.make_private(self.directory)
            os.close(os.open(os.path.join(self.directory, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError:
            return None
        from ..basics.processes import Lock

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
