"""A machine with a root and a person, in a mount namespace: /etc, /opt, /home, /var/lib and /tmp are folders of a test.

What is done there is done with real accounts, real owners and the real paths, and nothing of it is outside the test's
folder. Each command starts in the namespace anew; what was written before is there again.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import tenterhook

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PERSON = 1234  # an account that exists in the namespace's /etc/passwd alone
HOME = "/home/person"
PROJECT = f"{HOME}/project"
PYTHON = "/usr/bin/python3"
PROGRAM = "/opt/tenterhook/bin/tenterhook"
_OF_ETC = ("group", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "machine-id", "nsswitch.conf", "ssl")
_NEEDED = ("click", "tomlkit", "yaml", "rich", "pygments", "markdown_it", "mdurl")


class Ended(NamedTuple):
    """What came of a command."""

    status: int
    stdout: str
    stderr: str

    @property
    def said(self) -> str:
        return self.stdout + self.stderr


@functools.cache
def why_not() -> str | None:
    """Return why there can be no such machine here; None if there can."""
    if os.geteuid() != 0:
        return "only root can have a second account"
    if not all(map(shutil.which, ("unshare", "setpriv"))):
        return "it needs unshare and setpriv"
    if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode:
        return "mounts are not permitted here"
    asked = subprocess.run(
        [PYTHON, "-c", "import sys, venv; sys.exit(sys.version_info < (3, 11))"], capture_output=True
    )
    return f"{PYTHON} is not Python 3.11 or newer" if asked.returncode else None


class Machine:
    """A machine below a folder."""

    def __init__(self, folder: Path) -> None:
        folder = folder / "machine"
        folder.mkdir()
        self._folder = folder
        self._mounts: dict[str, str] = {}
        for name in ("etc", "opt", "home", "lib", "tmp"):
            (folder / name).mkdir()
        (folder / "tmp").chmod(0o1777)
        for name in _OF_ETC:
            source = Path("/etc", name)
            if source.is_dir():
                shutil.copytree(source, folder / "etc" / name, symlinks=True, ignore_dangling_symlinks=True)
            elif source.exists():
                shutil.copy(source, folder / "etc" / name)
        (folder / "etc" / "passwd").write_text(
            f"root:x:0:0:root:/home/root:/bin/sh\nperson:x:{PERSON}:{PERSON}:a person:{HOME}:/bin/sh\n"
        )
        (folder / "home" / "root").mkdir(mode=0o700)
        (folder / "home" / "person" / "project" / ".git").mkdir(parents=True)
        self.root("chown", "-R", f"{PERSON}:{PERSON}", HOME)
        self._install_program()

    def _install_program(self) -> None:
        made = self.root(PYTHON, "-m", "venv", "--without-pip", "/opt/tenterhook")
        assert not made.status, made.said
        (packages,) = (self._folder / "opt" / "tenterhook" / "lib").glob("python3*/site-packages")
        shutil.copytree(Path(tenterhook.__file__).parent, packages / "tenterhook")
        for name in _NEEDED:
            found = importlib.util.find_spec(name)
            if found is not None and found.submodule_search_locations:
                shutil.copytree(found.submodule_search_locations[0], packages / name)
        program = self.path(PROGRAM)
        program.write_text("#!/opt/tenterhook/bin/python\nfrom tenterhook.__main__ import main\nmain()\n")
        program.chmod(0o755)
        subprocess.run(["chmod", "-R", "go-w", str(self._folder / "opt")], check=True)

    def path(self, path: str) -> Path:
        """Return where a file of the machine really is."""
        first, _, rest = path.lstrip("/").partition("/")
        if first == "var":
            return self._folder / rest
        return self._folder / first / rest

    def mount(self, source: Path, at: str) -> None:
        """Have a folder of this machine at a path below /opt."""
        self.path(at).mkdir(parents=True)
        self._mounts[at] = str(source)

    def root(self, *command: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Ended:
        """Run a command as root."""
        return self._run(command, {"HOME": "/home/root", **(env or {})}, stdin)

    def person(self, *command: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Ended:
        """Run a command as the person, in the project."""
        words = ["setpriv", f"--reuid={PERSON}", f"--regid={PERSON}", "--clear-groups", "--no-new-privs", "--"]
        return self._run((*words, *command), {"HOME": HOME, "USER": "person", **(env or {})}, stdin)

    def write(self, file: str, text: str, *, mode: int = 0o644) -> None:
        """Write a file of the person."""
        path = self.path(file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        self.root("chown", "-R", f"{PERSON}:{PERSON}", HOME)

    def end_agent(self) -> None:
        """Have no agent of the person's running: this process called its hooks, so that it counts as one."""
        shutil.rmtree(self.path(f"/tmp/tenterhook-{PERSON}"), ignore_errors=True)

    def tree(self, *directories: str) -> dict[str, tuple[int, int, bytes]]:
        """Return all files and directories below some, with owner, mode and content."""
        found = {}
        for directory in directories:
            for path in (self.path(directory), *self.path(directory).rglob("*")):
                if not path.is_symlink() and path.exists():
                    about = path.stat()
                    content = b"" if path.is_dir() else path.read_bytes()
                    found[str(path)] = (about.st_uid, about.st_mode, content)
        return found

    def tenterhook(self, *words: str) -> Ended:
        """Run our command as root."""
        return self.root(PROGRAM, *words)

    def entry(self, file: str, event: str) -> str:
        """Return our line for an event in an agent's managed settings in JSON."""
        groups = json.loads(self.path(file).read_text())["hooks"][event]
        return str(groups[0]["hooks"][0]["command"])

    def call(self, line: str, command: str, env: Mapping[str, str] | None = None, **fields: Any) -> Ended:
        """Run an agent's entry as the person, for a call of the shell."""
        payload = {
            "session_id": "s1",
            "cwd": PROJECT,
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": "t1",
            **fields,
        }
        return self.person("/bin/sh", "-c", line, env=env, stdin=json.dumps(payload))

    def _run(self, command: Sequence[str], env: Mapping[str, str], stdin: str) -> Ended:
        mounts = [("etc", "/etc"), ("opt", "/opt"), ("home", "/home"), ("lib", "/var/lib"), ("tmp", "/tmp")]
        all_mounts = [*((str(self._folder / name), at) for name, at in mounts[:2])]
        all_mounts += [(source, at) for at, source in self._mounts.items()]
        all_mounts += [(str(self._folder / name), at) for name, at in mounts[2:]]
        script = "".join(f"mount --bind {shlex.quote(source)} {at} && " for source, at in all_mounts)
        ended = subprocess.run(
            ["unshare", "-m", "sh", "-c", f'{script} cd {PROJECT} && exec "$@"', "sh", *command],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **env},
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)


def needs_root() -> None:
    """Skip a test where there can be no such machine."""
    if (why := why_not()) is not None:
        pytest.skip(why)
