"""A change to an agent's settings: planned, shown as a diff, written, and reverted byte for byte."""

from __future__ import annotations

import difflib
import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..agents import AGENTS
from ..basics import places
from ..basics.display_text import lines_of, text_of
from ..basics.processes import Lock
from ..errors import HookError
from . import (
    entries,
    event_wiring,
    interpreters,
    launcher,
    plugin_editor,
    records,
    text_edits,
    trust_tables,
    yaml_editor,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..agents.protocol import Agent, EnabledList, TrustTable
    from ..model import Hook

_ABSENT = "(absent)"  # in `created`: there was no file, not even an empty one


class FileChange(NamedTuple):
    """One file, as it is and as it will be; None if there is no file."""

    path: str
    before: bytes | None
    after: bytes | None
    created: frozenset[str] = frozenset()
    directories: tuple[str, ...] = ()  # created for it, the deepest first
    is_whole_plugin: bool = False  # a plug-in of ours that is written for the first time, or removed without edits

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def shown(self) -> str:
        return diff(self.before or b"", self.after or b"", f"{self.path} (now)", f"{self.path} (then)")


class SettingsChange(NamedTuple):
    """All changes of an installation, or of its removal."""

    agent: Agent
    root: str | None
    record: dict[str, Any]
    files: tuple[FileChange, ...]
    by_person: bool = True

    @property
    def changes(self) -> bool:
        return bool(self.changed_files) or records.read(records.file(self.agent, self.root)) != self.record

    @property
    def changed_files(self) -> list[FileChange]:
        return [file for file in self.files if file.changes]


def plan(
    agent: Agent,
    root: str | None,
    hooks: Iterable[Hook],
    *,
    closed: bool | None = None,
    configs: Sequence[str] = (),
    forget_configs: bool = False,
    also: Iterable[str] = (),
    must_close: bool = False,
    by_person: bool = True,
) -> SettingsChange:
    """Return what installing would change. Events that were wired for other projects stay wired; `also` are more.

    `closed` None: as before. `must_close`: a fail-closed guard is in force, so that it is closed in any case. Only with
    `by_person`, a command of the user, the paths of Tenterhook and its directories are recorded anew.
    """
    hooks = list(hooks)
    before = records.read(records.file(agent, root)) or {}
    events = {**event_wiring.needed(agent, hooks), **dict.fromkeys(also, "")}
    events |= {native: ours for native, ours in before.get("events", {}).items() if agent.events.get(native) == ours}
    events = {native: ours for native, ours in agent.events.items() if native in events}
    # What version 0.1 closed stays closed everywhere: it may have been chosen by the user.
    everywhere = bool(before.get("everywhere", before.get("closed"))) if closed is None else closed
    closed = must_close or (bool(before.get("closed")) if closed is None else closed)
    known = () if forget_configs else before.get("configs", ())
    configs = list({places.file_identity(config): config for config in (*known, *configs)}.values())
    chosen: dict[str, Any] = {"closed": closed, "everywhere": everywhere, "configs": configs, "by_person": by_person}
    record = records.new_record(agent, root, events, before, named=interpreters.named_by(hooks), **chosen)
    name = records.installation(agent, root)
    wanted = {native: entries.line(agent, native, name, closed=closed, everywhere=everywhere) for native in events}
    path = agent.settings(root)
    files = [_plugin_file(*each) for each in entries.plugin_files(agent, path, wanted).items()]
    if agent.plugin is None:
        text = _read(path)
        edited = _refusing(path, lambda: entries.added(agent, text or b"", wanted, _created(before, path)))
        files.append(FileChange(path, text, edited.text, edited.created))
    if agent.enabled_in is not None:
        files.append(_enabled(agent, agent.enabled_in, before))
    if agent.trust_table is not None:
        hashes = trust_tables.wanted(agent, path, edited.text)
        record["trusted"] = list(hashes)
        files.append(_trust(agent, agent.trust_table, hashes, before))
    record["files"] = [_note(change, before) for change in files]
    return SettingsChange(agent, root, record, tuple(files), by_person)


def plan_removal(agent: Agent, root: str | None) -> SettingsChange:
    """Return what uninstalling would change in the current files."""
    record = records.read(records.file(agent, root)) or {}
    path = record.get("settings") or agent.settings(root)  # the agent's folder may have moved since
    files = []
    for file, (template, _) in entries.plugin_files(agent, path, {}).items():
        text = _read(file)
        if text is not None:
            left = plugin_editor.without_entries(text) or None
            is_unedited = text == plugin_editor.written(template, plugin_editor.entries_of(text))
            change = FileChange(file, text, left, directories=_directories(record, file), is_whole_plugin=is_unedited)
            files.append(change)
    text = _read(path) if agent.plugin is None else None
    if text is not None:
        created = _created(record, path)
        after: bytes | None = _refusing(path, lambda: entries.removed(agent, text, created))
        if _ABSENT in created and not after:
            after = None
        files.append(FileChange(path, text, after, directories=_directories(record, path)))
    if agent.enabled_in is not None:
        files += _no_longer_enabled(agent, agent.enabled_in, record)
    if (trust := agent.trust_table) is not None:
        config = _noted(agent, record, trust.file)
        config_text = _read(config)
        if config_text is not None:
            keys = dict.fromkeys([*record.get("trusted", ()), *trust_tables.wanted(agent, path, text or b"")])
            rest: bytes | None = _refusing(config, lambda: trust_tables.without(trust, config_text, keys))
            if not rest and any(_ABSENT in _created(each, config) for each in [record, *records.all_records()]):
                rest = None
            files.append(FileChange(config, config_text, rest, directories=_directories(record, config)))
    return SettingsChange(agent, root, {}, tuple(files))


def _noted(agent: Agent, record: dict[str, Any], name: str) -> str:
    """Return the recorded path of a file in the agent's directory, which may have moved since."""
    noted = [file["path"] for file in record.get("files", ()) if file["path"].endswith(f"/{name}")]
    return noted[0] if noted else os.path.join(agent.home(), name)


def _enabled(agent: Agent, enabled: EnabledList, before: dict[str, Any]) -> FileChange:
    """Return the change that enables our plug-in."""
    path = os.path.join(agent.home(), enabled.file)
    text, created = _read(path), _created(before, path)
    edited = _refusing(path, lambda: yaml_editor.with_item(text or b"", enabled.keys, enabled.item, created))
    return FileChange(path, text, edited.text, edited.created)


def _no_longer_enabled(agent: Agent, enabled: EnabledList, record: dict[str, Any]) -> list[FileChange]:
    """Return the change that removes the name of our plug-in, if there is such a file."""
    path = _noted(agent, record, enabled.file)
    text = _read(path)
    if text is None:
        return []
    created = _created(record, path) if record else frozenset((enabled.item,))
    after: bytes = _refusing(path, lambda: yaml_editor.without_item(text, enabled.keys, enabled.item, created))
    is_gone = _ABSENT in created and not after
    return [FileChange(path, text, None if is_gone else after, directories=_directories(record, path))]


def _plugin_file(path: str, content: tuple[str, dict[str, Any]]) -> FileChange:
    """Return the change that writes a file of a plug-in."""
    text = _read(path)
    after: bytes = _refusing(path, lambda: plugin_editor.with_entries(text, *content))
    return FileChange(path, text, after, is_whole_plugin=text is None)


def _trust(agent: Agent, trust: TrustTable, hashes: dict[str, str], before: dict[str, Any]) -> FileChange:
    """Return the change that makes the agent trust our entries."""
    config = os.path.join(agent.home(), trust.file)
    config_text = _read(config)
    old = before.get("trusted", ())
    trusted = _refusing(config, lambda: trust_tables.with_hashes(trust, config_text or b"", hashes, old))
    others = [_created(record, config) for record in records.all_records() if record["host"] == agent.name]
    return FileChange(config, config_text, trusted, frozenset().union(_created(before, config), *others))


def apply(change: SettingsChange, *, removal: bool = False) -> None:
    """Write all files and the record. Raises `HookError`, and writes nothing, if a file has changed since the plan."""
    path = records.file(change.agent, change.root)
    places.make_private(records.directory())
    with Lock(os.path.join(records.directory(), "lock")):
        check(change)
        known = records.all_records()
        ours = {file["path"] for record in known for file in record["files"]}
        if not removal:
            # First, since an entry without a launcher, or a launcher without a record, does not answer.
            own = change.agent.name, change.root
            now = [change.record, *(each for each in known if (each["host"], each["root"]) != own)]
            others = [python for each in now for python in (each["python"], *each.get("others", ()))]
            python, bridge, steering = (change.record[each] for each in ("python", "bridge", "steering"))
            launcher.renew(python, bridge, others, steering, by_person=change.by_person)
            records.write(path, change.record)
        for file in change.changed_files:
            if file.path not in ours:  # the backup is the file before us, not before our last change
                _keep_backup(file)
            _write(file)
        if removal:
            Path(path).unlink(missing_ok=True)
            if not records.all_records():
                launcher.remove()


def revert(change: SettingsChange) -> None:
    """Undo `apply` in the agent's files. If one was changed meanwhile, only our entries are removed.

    The caller restores records and the launcher.
    """
    now = {file.path: _read(file.path) for file in change.files}
    if any(now[file.path] not in (file.before, file.after) for file in change.files):
        apply(plan_removal(change.agent, change.root), removal=True)
        return
    made = {each["path"]: tuple(each["directories"]) for each in change.record["files"]}
    for file in change.files:
        if now[file.path] != file.before:
            directories = made.get(file.path, ()) if file.before is None else ()
            _write(FileChange(file.path, file.after, file.before, directories=directories))


def check(change: SettingsChange) -> None:
    """Raise `HookError` if one of the files cannot be written."""
    for file in change.changed_files:
        _check_writable(file)


def sync(record: dict[str, Any], absent: Iterable[str], closed: bool) -> None:
    """Wire events that have hooks since `record` was written, and renew entries of an older version.

    Errors are logged.
    """
    try:
        agent = AGENTS[record["host"]]
        wanted = plan(agent, record["root"], (), must_close=closed, also=absent, by_person=False)
        if wanted.changes:
            apply(wanted)
    except (HookError, OSError) as error:  # doctor shows it
        places.append_line(entries.log(), f"{int(time.time())} {record['host']} wiring {error}")


def edit_file(path: str, edit: Callable[[bytes], bytes]) -> bool:
    """Edit a file, keeping its mode and a link to it. Return False if nothing changes.

    A file that becomes empty is deleted, unless it is a link. Raises `HookError` if it cannot be edited; then it is
    unchanged.
    """
    before = _read(path)
    after: bytes = _refusing(path, lambda: edit(before or b""))
    is_empty = not after.strip() and not os.path.islink(path)  # the target of a link is kept
    change = FileChange(path, before, None if is_empty else after)
    if not change.changes:
        return False
    _check_writable(change)
    _keep_backup(change)
    _write(change)
    return True


def _note(change: FileChange, before: dict[str, Any]) -> dict[str, Any]:
    made = dict.fromkeys([*_directories(before, change.path), *_missing_directories(change.path)])
    created = change.created | _created(before, change.path) | ({_ABSENT} if change.before is None else set())
    return {"path": change.path, "created": sorted(created), "directories": list(made)}


def _missing_directories(path: str) -> list[str]:
    """Return the directories to be created for a file, the deepest first."""
    missing = []
    directory = os.path.dirname(os.path.realpath(path))
    while not os.path.isdir(directory):
        missing.append(directory)
        directory = os.path.dirname(directory)
    return missing


def _directories(record: dict[str, Any], path: str) -> tuple[str, ...]:
    files = [file for file in record.get("files", ()) if file.get("path") == path]
    return tuple(name for file in files for name in file.get("directories", ()))


def _created(record: dict[str, Any], path: str) -> frozenset[str]:
    return frozenset(
        name for file in record.get("files", ()) if file.get("path") == path for name in file.get("created", ())
    )


def _refusing(path: str, edit: Any) -> Any:
    """Return the result of an edit. Raises `HookError` with the path if it is refused."""
    try:
        return edit()
    except text_edits.EditRefused as error:
        raise HookError(f"{path}: {error.message}; nothing was changed", error.remedy) from None


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_CLOEXEC)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise HookError(f"{path} is not a regular file; nothing was changed", "replace it with a regular file")
            return file.read()
    except FileNotFoundError:
        if os.path.islink(path):
            raise HookError(f"{path} is a dangling link", "fix or remove it") from None
        return None
    except OSError as error:
        raise HookError(f"cannot read {path}: {error.strerror}", "make it a readable file") from None


def _check_writable(change: FileChange) -> None:
    if _read(change.path) != change.before:
        raise HookError(f"{change.path} was changed in the meantime; nothing was written", "try again")
    target = os.path.realpath(change.path)
    if change.before is not None and not os.stat(target).st_mode & stat.S_IWUSR:
        raise HookError(f"{change.path} is read-only; nothing was changed", f"chmod u+w {change.path}")
    directory = os.path.dirname(target)
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    if not os.access(directory, os.W_OK):
        raise HookError(f"cannot write to {directory}; nothing was changed", "make it writable")


def _keep_backup(change: FileChange) -> None:
    """Write the previous content to the directory of backups."""
    if change.before is not None:
        backups = os.path.join(records.directory(), "backups")
        places.make_private(backups)
        places.replace_file(backup_of(change.path), change.before)


def backup_of(path: str) -> str:
    """Return the path of a file's backup."""
    return os.path.join(records.directory(), "backups", places.file_name(path))


def _write(change: FileChange) -> None:
    """Replace the file, or the target of a link, keeping its mode; or delete it and the directories created for it."""
    target = os.path.realpath(change.path)
    if change.after is None:
        os.unlink(target)
        plugin_editor.remove_bytecode(target)
        for directory in change.directories:
            try:
                os.rmdir(directory)
            except OSError:  # no longer empty
                break
        return
    mode = stat.S_IMODE(os.stat(target).st_mode) if change.before is not None else places.file_mode()
    places.make_private(os.path.dirname(target))
    temporary = f"{target}.{os.getpid()}.tenterhook"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with open(descriptor, "wb") as file:
            file.write(change.after)
            file.flush()
            os.fsync(file.fileno())  # a user's file must not be empty after a power cut
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:  # leave nothing half-written
        Path(temporary).unlink(missing_ok=True)
        raise


def diff(before: bytes, after: bytes, old: str, new: str, context: int = 3) -> str:
    """Return a unified diff, empty only if nothing changes. A missing newline at the end of the file is marked."""
    lines = difflib.unified_diff(lines_of(text_of(before)), lines_of(text_of(after)), old, new, n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}\n" for line in lines)


NO_NEWLINE = "\\ No newline at end of file"
