"""Everything that changes which hooks a project has, an index of its hooks to notice it, and many hooks at once."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

from support import array_hook, folder_hook, project_hooks, tenterhook, until, user_hooks
from tenterhook.catalog import index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Change = Callable[[Path, Path], object]


def indexed(root: str, configs: list[str]) -> index.Index:
    """Load until what was found is kept: not while its files are as young as the clock's tick."""

    def loaded() -> index.Index | None:
        index.load(root, configs)
        return index.read(root, configs)

    found: index.Index = until(loaded)
    return found


def keeping_time_and_size(file: Path, old: str, new: str) -> None:
    assert len(old) == len(new)
    before = file.stat()
    file.write_text(file.read_text().replace(old, new))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_mtime_ns, file.stat().st_size) == (before.st_mtime_ns, before.st_size)


def replaced(file: Path, text: str) -> None:
    """A new file under the old name, as editors write."""
    new = file.with_name(file.name + ".new")
    new.write_text(text)
    new.chmod(file.stat().st_mode)
    new.replace(file)


def retargeted(link: Path, target: Path) -> None:
    link.unlink()
    link.symlink_to(target)


def moved_behind_a_link(directory: Path) -> None:
    real = directory.with_name("real")
    directory.rename(real)
    directory.symlink_to(real)


def trusted() -> None:
    assert tenterhook("trust", "--all", "--yes").returncode == 0


def guard(home: Path) -> Path:
    return user_hooks(home) / "guard"


CHANGES: dict[str, Change] = {
    "edited": lambda home, _: (guard(home) / "HOOK.md").write_text("---\nname: guard\n---\n"),
    "edited, time and size restored": lambda home, _: keeping_time_and_size(
        guard(home) / "HOOK.md", "pre-tool-call", "pre-sub-agent"
    ),
    "replaced": lambda home, _: replaced(guard(home) / "HOOK.md", (guard(home) / "HOOK.md").read_text()),
    "script replaced": lambda home, _: replaced(guard(home) / "scripts" / "run.sh", "#!/bin/sh\nexit 0\n"),
    "script edited, time and size restored": lambda home, _: keeping_time_and_size(
        guard(home) / "scripts" / "run.sh", "exit 2", "exit 0"
    ),
    "script no longer executable": lambda home, _: (guard(home) / "scripts" / "run.sh").chmod(0o644),
    "script gone": lambda home, _: (guard(home) / "scripts" / "run.sh").unlink(),
    "another script before it": lambda home, _: (guard(home) / "scripts" / "run").write_text("#!/bin/sh\n"),
    "definition writable by others": lambda home, _: (guard(home) / "HOOK.md").chmod(0o666),
    "folder writable by others": lambda home, _: guard(home).chmod(0o777),
    "new folder": lambda home, _: folder_hook(user_hooks(home), "third", "exit 2"),
    "folder removed": lambda home, _: shutil.rmtree(guard(home)),
    "folder renamed": lambda home, _: guard(home).rename(user_hooks(home) / "z-guard"),
    "an empty folder becomes a hook": lambda home, _: (user_hooks(home) / "empty" / "HOOK.md").write_text("---\n---\n"),
    "a dangling definition comes to lead somewhere": lambda home, _: (home / "not-yet.md").write_text("---\n---\n"),
    "hooks.toml": lambda home, _: (user_hooks(home) / "hooks.toml").write_text('[[hooks.disable]]\nname = "guard"\n'),
    "the project's hooks.toml": lambda _, project: (project_hooks(project) / "hooks.toml").write_text(
        "[hooks]\ndebug = true\n"
    ),
    "the project's hooks gone": lambda _, project: shutil.rmtree(project / ".agents"),
    "trust given": lambda *_: trusted(),
    "the person's directory writable by others": lambda home, _: user_hooks(home).chmod(0o777),
    "a parent writable by others": lambda home, _: (home / ".config").chmod(0o777),
    "the home writable by others": lambda home, _: home.chmod(0o777),
    "the state directory writable by others": lambda home, _: (home / ".local/state/tenterhook").chmod(0o777),
    "a repository around the state directory": lambda home, _: (home / ".local" / ".git").mkdir(),
    "a repository around the person's directory": lambda home, _: (home / ".config" / ".git").mkdir(),
    "the project is no repository any more": lambda _, project: shutil.rmtree(project / ".git"),
    "a linked folder leads elsewhere": lambda home, _: retargeted(user_hooks(home) / "far", guard(home)),
    "what a link leads to is edited": lambda home, _: (home / "linked/far/HOOK.md").write_text("---\nname: far\n---\n"),
    "a parent of what a link leads to writable by others": lambda home, _: (home / "linked").chmod(0o777),
    "a directory moved behind a link": lambda home, _: moved_behind_a_link(user_hooks(home)),
    "the other directory of a person": lambda home, _: folder_hook(home / ".config" / "kimi" / "hooks", "k", "exit 2"),
    "config file edited": lambda home, _: (home / "more.toml").write_text(array_hook("exit 2")),
    "config file edited, time and size restored": lambda home, _: keeping_time_and_size(
        home / "more.toml", "Bash", "Edit"
    ),
    "config file gone": lambda home, _: (home / "more.toml").unlink(),
    "config file writable by others": lambda home, _: (home / "more.toml").chmod(0o666),
}


def age(file: Path) -> float:
    """Seconds since a file or its mode was last changed."""
    return time.time() - file.stat().st_ctime
