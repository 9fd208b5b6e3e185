"""Trust in a project's hooks: records of the exact content of each trusted folder."""

from __future__ import annotations

import os
import time

from ..basics import light_json, places, private_files
from ..basics.named_tuples import NamedTuple, StrEnum
from ..basics.processes import Lock
from . import project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..model import Hook
    from . import fingerprints

CODE = "."  # the key of trust in the project's own code
OWN_FILES = "a hook's own files belong in $TENTERHOOK_STATE_DIR, not in its folder"
_LARGEST_KEPT = 256 * 1024
_MOST_NAMED = 5  # files that have changed


class State(StrEnum):
    """Whether a hook is trusted."""

    TRUSTED = "trusted"
    CHANGED = "changed"
    UNTRUSTED = "untrusted"
    NOT_NEEDED = "not needed"


class TrustStatus(NamedTuple):
    """Whether a hook is trusted and, if not, why; with a hint if it may have changed its folder itself.

    `restoring`: the command that restores a pack's hook.
    """

    state: State
    why: str | None = None
    replaces: bool = False
    hint: str | None = None
    restoring: str | None = None

    @property
    def runs(self) -> bool:
        return self.state in (State.TRUSTED, State.NOT_NEEDED)

    @property
    def remedy(self) -> str:
        return self.restoring or "look at it, then: tenterhook trust" + (f"; {self.hint}" if self.hint else "")


def project_trust(root: str, trust_project: bool) -> Trust:
    """Return the trust of a project; everything, with `trust_project` or if `TENTERHOOK_TRUST_PROJECT` is its root."""
    return Trust(root, everything=trust_project or os.environ.get("TENTERHOOK_TRUST_PROJECT") == root)


class Trust:
    """The trust records of one project. With `everything`, all of its hooks are trusted."""

    def __init__(self, root: str, *, everything: bool = False) -> None:
        self.root = root
        self.everything = everything
        self._identity = project_root.identity(root)
        self._file = os.path.join(places.state(), "trust.json")
        self._objects = os.path.join(places.state(), "trusted")
        self._read_at: object = None
        self._records: dict[str, Any] = {}

    def unreliable(self) -> str | None:
        """Return why the records are not used: a repository or another account could have written them. Else None."""
        # The account's own state directory is used even if the whole home is a repository.
        own = os.path.join(places.account_home(), ".local", "state")
        if not places.is_inside(self._file, own) and project_root.repository_can_reach(self._file, self.root):
            return f"the trust records would be inside a repository ({self._file})"
        other = private_files.writable_by_others(self._file)
        return f"another account could write {other}" if other else None

    def standing(self, hook: Hook) -> TrustStatus:
        """Return a hook's trust status, for the current content of its files."""
        if hook.pack:
            return self._of_pack(hook)
        if hook.layer != "project" or hook.folder is None:
            return TrustStatus(State.NOT_NEEDED)
        return self.of(hook.folder)

    def of(self, path: str) -> TrustStatus:
        """Return the trust status of a hook's folder, or of the project's `hooks.toml`."""
        record = self._of_project().get(self.key(path))
        if record is None:  # its content is not read
            return (
                TrustStatus(State.TRUSTED) if self.everything else TrustStatus(State.UNTRUSTED, "it was never trusted")
            )
        from . import fingerprints

        try:
            fingerprint = fingerprint_of(path)
        except (fingerprints.Untrustable, OSError) as error:
            return TrustStatus(State.TRUSTED) if self.everything else TrustStatus(State.CHANGED, str(error))
        if record.get("hash") == fingerprint.hash:
            return TrustStatus(State.TRUSTED, replaces=bool(record.get("replaces")))
        if self.everything:
            return TrustStatus(State.TRUSTED)
        changes = self.changes(path, fingerprint)
        hint = OWN_FILES if any(_may_be_own_file(name, what) for name, what in changes) else None
        return TrustStatus(State.CHANGED, f"changed since it was trusted: {_named(changes)}", hint=hint)

    def _of_pack(self, hook: Hook) -> TrustStatus:
        """Return the trust status of a pack's hook: its source is trusted, and its bytes are those of the lock."""
        from . import packs, source_trust

        is_given = hook.layer == "managed" or (self.everything and hook.layer == "project")
        why = None if is_given else source_trust.objection(hook, os.path.dirname(self._file))
        if why is not None:
            return TrustStatus(State.UNTRUSTED, why)
        why = packs.difference(hook.folder or "", hook.pack["digest"])
        restoring = packs.restoring(hook.layer)
        return TrustStatus(State.CHANGED, why, restoring=restoring) if why else TrustStatus(State.TRUSTED)

    def changed_by_run(self, hook: Hook, begun: float) -> tuple[str, ...]:
        """Return notes if a trusted hook's folder has changed since `begun`, a `time.time` before the hook's start."""
        from . import fingerprints

        if hook.folder is None or not fingerprints.touched_since(hook.folder, begun):
            return ()
        standing = self.of(hook.folder)
        if standing.runs:
            return ()
        return f"it will not run again: {standing.why}", *([standing.hint] if standing.hint else [])

    def replaces(self, path: str) -> bool:
        """Whether a project's folder is trusted now, and may replace a hook of the user."""
        standing = self.of(path)
        return standing.state is State.TRUSTED and standing.replaces

    def changes(self, path: str, now: fingerprints.Fingerprint) -> list[tuple[str, str]]:
        """Return each file that differs from the trusted one, with the kind of change."""
        record = self._of_project().get(self.key(path)) or {}
        old = {name: (mode, digest) for name, mode, digest in record.get("entries", ())}
        new = {entry.path: (entry.mode, entry.digest) for entry in now.entries}
        said = []
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) == new.get(name):
                continue
            if name not in old or name not in new:
                said.append((name, "added" if name not in old else "removed"))
            else:
                said.append((name, "changed" if old[name][1] != new[name][1] else "mode changed"))
        return said

    def trusted_entry(self, path: str, name: str) -> fingerprints.FileFingerprint | None:
        """Return a file's mode and digest as trusted, or None."""
        from . import fingerprints

        record = self._of_project().get(self.key(path)) or {}
        return next(
            (fingerprints.FileFingerprint(*entry) for entry in record.get("entries", ()) if entry[0] == name), None
        )

    def trusted_content(self, entry: fingerprints.FileFingerprint) -> bytes | None:
        """Return a file's content as trusted; None if it was not stored."""
        try:
            with open(os.path.join(self._objects, entry.digest), "rb") as file:
                return file.read()
        except OSError:  # a link, a directory, or too large
            return None

    def grant(self, path: str, *, replaces: bool = False, seen: fingerprints.Fingerprint | None = None) -> None:
        """Trust the content of a folder or file. Raises `Untrustable` if it is no longer the one that was `seen`."""
        from . import fingerprints

        fingerprint = fingerprint_of(path)
        if seen is not None and seen.hash != fingerprint.hash:
            raise fingerprints.Untrustable(f"{path} changed while it was being shown", "look at it again")
        places.make_private(self._objects)
        base = path if os.path.isdir(path) else os.path.dirname(path)
        for entry in fingerprint.entries:
            self._keep(os.path.join(base, entry.path), entry.digest)
        record = {
            "hash": fingerprint.hash,
            "entries": [list(entry) for entry in fingerprint.entries],
            "replaces": replaces,
            "when": int(time.time()),
        }
        self._change(lambda records: records.update({self.key(path): record}))

    def grant_code(self) -> None:
        """Allow the user's hooks to run the code of this repository, such as its tests and tools."""
        record = {"repository": project_root.renew_repository_id(self.root), "when": int(time.time())}
        self._change(lambda records: records.update({CODE: record}))

    def trusts_code(self) -> bool:
        """Whether the user's hooks may run this repository's code. False for another repository at the same path."""
        if self.everything:
            return True
        trusted = (self._of_project().get(CODE) or {}).get("repository")
        return trusted is not None and trusted == project_root.repository_id(self.root)

    def revoke(self, path: str) -> bool:
        """Remove the trust in a folder or file, by its path or key; return whether there was any."""
        removed: list[Any] = []
        self._change(lambda records: removed.append(records.pop(self.key(path), None)))
        return removed != [None]

    def knows(self, path: str) -> bool:
        """Whether a path was ever trusted, even if it has changed since."""
        return self.key(path) in self._of_project()

    def keys(self) -> list[str]:
        """Return the keys of all trusted paths, including those that have changed since."""
        return sorted(self._of_project())

    def key(self, path: str) -> str:
        """Return the key of a record: the path below the root, so that worktrees share it."""
        return os.path.relpath(os.path.join(self.root, path), self.root)

    def _keep(self, file: str, digest: str) -> None:
        target = os.path.join(self._objects, digest)
        if "/" in digest or digest.startswith(("link:", "directory")) or os.path.exists(target):
            return
        with open(file, "rb") as stream:
            data = stream.read(_LARGEST_KEPT + 1)
        if len(data) <= _LARGEST_KEPT:
            places.replace_file(target, data)

    def _of_project(self) -> dict[str, Any]:
        """Return this project's records, reading the file again if it has changed."""
        try:
            found = os.stat(self._file)
            signature = (found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns)
            if signature != self._read_at:
                self._records = {} if self.unreliable() else _load(self._file) or {}
                self._read_at = signature
        except OSError:
            self._records, self._read_at = {}, None
        project = self._records.get(self._identity)
        return project if isinstance(project, dict) else {}

    def _change(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Change this project's records and write the file, under a lock."""
        places.make_private(os.path.dirname(self._file))
        with Lock(self._file + ".lock"):
            records = _load(self._file)
            if records is None:
                os.replace(self._file, self._file + ".broken")  # kept, so that a person can repair it
                records = {}
            change(records.setdefault(self._identity, {}))
            if not records[self._identity]:
                del records[self._identity]
            data = light_json.dumps({"schema": 1, "projects": records})
            places.replace_file(self._file, data.encode())
            self._forget_unused(records)

    def _forget_unused(self, records: dict[str, Any]) -> None:
        """Remove stored content of files that are no longer trusted."""
        used = {
            digest
            for project in records.values()
            for record in project.values()
            for _, _, digest in record.get("entries", ())
        }
        try:
            kept = os.listdir(self._objects)
        except OSError:
            return
        for name in kept:
            if name not in used:
                os.unlink(os.path.join(self._objects, name))


def _may_be_own_file(name: str, what: str) -> bool:
    """Whether a change looks like a file that the hook writes, rather than an edit of the hook."""
    return what == "added" or (what == "changed" and name != "HOOK.md" and not name.startswith("scripts/"))


def _named(changes: list[tuple[str, str]]) -> str:
    said = [f"{name} ({what})" for name, what in changes[:_MOST_NAMED]]
    if len(changes) > _MOST_NAMED:
        said.append(f"{len(changes) - _MOST_NAMED} more")
    return ", ".join(said) or "its files"


def fingerprint_of(path: str) -> fingerprints.Fingerprint:
    from . import fingerprints, layer_settings

    return fingerprints.of_file(path) if os.path.basename(path) == layer_settings.FILE else fingerprints.of_folder(path)


def _load(file: str) -> dict[str, Any] | None:
    """Return the records of every project, empty if there is no file yet; None if it is broken."""
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        projects = light_json.loads(text)["projects"] if text.strip() else {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return projects if isinstance(projects, dict) else None
