"""Installations for every account of a machine: launcher, records and agents' managed settings that belong to root.

The launcher and the records are in `/etc/tenterhook`, the hooks in `/etc/agents/hooks`. `dispatch` finds everything
else that an event needs, such as the user's directories, for the account that runs it.
"""

from __future__ import annotations

import compileall
import json
import os
import shutil
import stat
import sys
import sysconfig
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..agents import AGENTS, managed_settings
from ..agents.managed_settings import for_machine
from ..basics import install_record, places, private_files, processes
from ..catalog import loading
from ..catalog.catalog import MANAGED
from ..catalog.packs import MANAGED_STORE
from ..errors import HookError
from ..formats import commented_json
from . import entries, launcher, records, settings_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..agents.protocol import Agent
    from ..model import Hook

ADVICE = "an environment of root: sudo python3 -m venv /opt/tenterhook; sudo /opt/tenterhook/bin/pip install tenterhook"
STAYS = "what root installed for every account stays; only root removes it: sudo tenterhook uninstall --managed"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_OF_ACCOUNT = ("home", "config", "state", "cache", "data", "agent_home")  # found for each account


@contextmanager
def machine() -> Iterator[None]:
    """Put records, launcher and backups in the machine's directory, and the rest in the home of this account.

    Environment variables do not move them: under `sudo` they may be the invoking user's.
    """
    before = dict(places.FIXED)
    home = places.account_home()
    places.FIXED.update(state=places.MANAGED, home=home, config=f"{home}/.config", cache=f"{home}/.cache/tenterhook")
    try:
        yield
    finally:
        places.FIXED.clear()
        places.FIXED.update(before)


def all_records() -> list[dict[str, Any]]:
    """Return the records of all managed installations that only root can have written."""
    return [record for name in AGENTS if (record := install_record.managed(name)) is not None]


def hooks() -> list[Hook]:
    """Return the hooks of the machine that are in force."""
    return [hook for hook in loading.load("/").hooks if hook.layer == "managed"]


def require_root(command: str) -> None:
    """Raise `HookError` for any other account."""
    if os.geteuid() != 0:
        raise HookError(
            f"'tenterhook {command} --managed' is for every account of this machine, so only root can do it",
            f"run it as root: sudo {sys.argv[0]} {' '.join(sys.argv[1:])}",
        )


def check_program() -> None:
    """Raise `HookError` if another account could change what would run, or could not run it."""
    library = sysconfig.get_path("stdlib")
    for path in (sys.executable, os.path.realpath(sys.executable), library, *processes.module_path()):
        _check_path(path)
    for above in dict.fromkeys((library, *processes.module_path())):
        for directory, _, names in os.walk(above):
            for name in ("", *names):
                path = os.path.join(directory, name) if name else directory
                with suppress(FileNotFoundError):
                    found = os.lstat(path)
                    if _is_writable(found):
                        raise _writable(path)
                    if not _is_readable(found) and os.path.basename(path) != "__pycache__":  # Python does without it
                        raise _unreadable(path, path)


def _check_path(path: str) -> None:
    for spelt in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):
        at = spelt
        while True:
            found = os.stat(at)
            if _is_writable(found) and not (at != spelt and found.st_uid == 0 and found.st_mode & stat.S_ISVTX):
                raise _writable(at)
            needed = 0o005 if stat.S_ISDIR(found.st_mode) and at == spelt else 0o001
            if found.st_mode & needed != needed:
                raise _unreadable(spelt, at)
            if at == os.path.dirname(at):
                break
            at = os.path.dirname(at)


def _is_writable(found: os.stat_result) -> bool:
    """Whether an account other than root could change a file or directory."""
    is_open = not stat.S_ISLNK(found.st_mode) and found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return found.st_uid != 0 or bool(is_open)


def _is_readable(found: os.stat_result) -> bool:
    """Whether every account can read a file or link, or enter and list a directory."""
    needed = 0o005 if stat.S_ISDIR(found.st_mode) else 0o004
    return found.st_mode & needed == needed


def _unreadable(path: str, at: str) -> HookError:
    is_own = f"{at}/".startswith(f"{sys.prefix}/") and sys.prefix != sys.base_prefix
    return HookError(
        f"other accounts cannot run {path}: they have no access to {at}, so their agents cannot call it",
        f"it was made with another umask than 022: chmod -R go+rX {sys.prefix}" if is_own else f"use {ADVICE}",
    )


def _writable(path: str) -> HookError:
    return HookError(
        f"an account other than root could change {path}, and with it what the machine's hooks do",
        f"chown root: {path} && chmod go-w {path}; or use {ADVICE}",
    )


def plan(agent: Agent, *, closed: bool | None = None, packs: Iterable[str] = ()) -> settings_change.SettingsChange:
    """Return what a managed installation of an agent would change. Raises `HookError` if it has no managed settings.

    Tool calls are always wired: hooks of users and projects run there too. `closed` None: as before, else closed.
    `packs`: sources that this installation adds and its removal removes.
    """
    view = for_machine(agent)
    with machine():
        before = records.read(records.file(agent, None)) or {}
        if closed is None:
            closed = bool(before.get("closed", True))
        also = [native for native, ours in agent.events.items() if ours == "pre-tool-call"]
        change = settings_change.plan(view, None, hooks(), closed=closed, also=also)
    _check_beside(agent, change.files[0])
    known = dict.fromkeys((*before.get("packs", ()), *packs))
    return change._replace(record={**_for_every_account(agent, change.record), "packs": list(known)})


def _check_beside(agent: Agent, change: settings_change.FileChange) -> None:
    """Raise `HookError` if the administrator's file lacks a setting without which a user could disable hooks."""
    wanted_settings = managed_settings.of(agent)
    if wanted_settings.event_tables:
        return  # refused by the editor
    document = commented_json.loads((change.after or b"").decode("utf-8-sig"))
    for name, keys in wanted_settings.beside.items():
        for key, wanted in keys.items():
            there = document.get(name)
            if not isinstance(there, dict) or there.get(key) != wanted:
                raise HookError(
                    f"{change.path}: a user could disable hooks, since its {name!r} has no {key!r}; "
                    "nothing was changed",
                    f"add {json.dumps({key: wanted})[1:-1]} to {name!r} there",
                )


def _for_every_account(agent: Agent, record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without what applies to root's account only."""
    own = {key: value for key, value in record.items() if key not in _OF_ACCOUNT}
    neutral = {"steering": {"PATH": _PATH}, "environment": {}, "interpreters": {}, "others": [], "configs": []}
    about = {"agent_directory": agent.directory, "moved_by": managed_settings.of(agent).moved_by}
    return {**own, **neutral, "managed": True, **about}


def apply(change: settings_change.SettingsChange) -> None:
    """Write launcher, record and managed settings. Byte code is compiled, since no other account can store it."""
    compileall.compile_dir(places.PACKAGE, quiet=2)
    with machine():
        settings_change.apply(change)
    for file in change.files:
        found = os.stat(file.path)
        if _is_writable(found) or not _is_readable(found):
            os.chown(file.path, 0, 0)
            os.chmod(file.path, 0o644)
    for directory in _directories(*(file.path for file in change.files)):  # whatever the umask was
        found = os.stat(directory)
        if not _is_readable(found):
            os.chmod(directory, stat.S_IMODE(found.st_mode) | 0o055)  # noqa: S103  # not writable


def _directories(*files: str) -> Iterator[str]:
    """Return the existing directories that the events of other accounts need, with those of the agents' settings."""
    inner = (places.MANAGED, f"{places.MANAGED}/installed", MANAGED, MANAGED_STORE)
    above = (os.path.dirname(path) for path in (MANAGED, MANAGED_STORE, *files))
    return filter(os.path.isdir, (*inner, *above))


def plan_removal(agent: Agent) -> settings_change.SettingsChange:
    """Return what removing a managed installation would change."""
    with machine():
        return settings_change.plan_removal(for_machine(agent), None)


def remove(change: settings_change.SettingsChange) -> None:
    """Remove our entries from an agent's managed settings; with the last ones, launcher and records."""
    with machine():
        settings_change.apply(change, removal=True)
        if not records.all_records():
            remove_records()


def remove_records() -> None:
    """Delete the directory of records and backups, and the one around it unless it has the administrator's rules."""
    shutil.rmtree(os.path.join(places.MANAGED, "installed"), ignore_errors=True)
    for directory in (f"{places.MANAGED}/packs", places.MANAGED):
        with suppress(OSError):  # not empty
            os.rmdir(directory)


def problems(record: dict[str, Any]) -> Iterator[str]:
    """Yield what would keep a managed installation from being called or let another account change it."""
    agent = for_machine(AGENTS[record["host"]])
    settings = agent.settings()
    with machine():
        paths: Iterable[str] = (settings, launcher.path(), records.file(agent, None))
    for path in (*paths, record["python"], record["bridge"], *([MANAGED] if os.path.exists(MANAGED) else [])):
        if not os.path.exists(path):
            yield f"{path} is missing"
        elif not private_files.owned_by_root(path):
            yield f"an account other than root could change {path}"
    for path in (*_directories(settings), settings):
        if os.path.exists(path) and not _is_readable(os.stat(path)):
            yield f"other accounts have no access to {path}"
    try:
        with open(settings, "rb") as file:
            found = entries.found(agent, file.read())
    except (OSError, HookError) as error:
        yield f"{settings} cannot be read: {error}"
        return
    missing = [native for native in record["events"] if native not in found]
    if missing:
        yield f"no entry of ours for {', '.join(missing)} in {settings}"
