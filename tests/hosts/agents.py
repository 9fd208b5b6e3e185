"""Real agents for the tests, installed from the package registries into a folder that outlives them.

    python tests/hosts/agents.py install [NAME...]     all, or these; what is there already is left alone
    python tests/hosts/agents.py where NAME            the executable

The folder is $TENTERHOOK_AGENTS, or tenterhook-agents in the cache directory. LATEST=1 installs the newest versions. An
agent that cannot be installed is no error: the reason is printed and remembered, and its tests are skipped with it. Two
of these at once are safe: the second waits for the first, agent by agent, and then finds it there.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Package(NamedTuple):
    """Where an agent comes from, and the version that the tests were written against."""

    registry: str
    name: str
    version: str
    executable: str
    beside: tuple[str, ...] = ()  # packages in versions that it does not ask for by itself


PACKAGES = {
    "kimi-cli": Package("pypi", "kimi-cli", "1.49.0", "kimi"),  # later ones only say that it has moved
    "kimi-code": Package("npm", "@moonshot-ai/kimi-code", "2.1.0", "kimi"),
    "claude-code": Package("npm", "@anthropic-ai/claude-code", "2.1.325", "claude"),
    "codex": Package("npm", "@openai/codex", "0.166.0", "codex"),
    "gemini": Package("npm", "@google/gemini-cli", "0.61.0", "gemini"),
    "qwen": Package("npm", "@qwen-code/qwen-code", "0.24.4", "qwen"),
    "copilot": Package("npm", "@github/copilot", "1.0.102", "copilot"),
    "droid": Package("npm", "@factory/cli", "0.225.1", "droid", ("@factory/cli-linux-x64@0.225.2",)),
}
NODE = Package("npm", "node", "24", "node")  # what the agents from npm run on

_PINNED = ("node", "kimi-cli")  # even where the newest are wanted
_PATIENCE = 900  # seconds for one of them
_STAMP = "installed"
_REASON = "not-installed"


class CannotInstall(Exception):
    """Why, in words for a person."""


def _folder() -> Path:
    named = os.environ.get("TENTERHOOK_AGENTS")
    if named:
        return Path(named).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache, "tenterhook-agents")


FOLDER = _folder()  # looked up once, on import: each test has another home


def installed() -> dict[str, Path]:
    """The executable of each agent that is there."""
    return {name: executable(name) for name in PACKAGES if _stamp(name) and executable(name).exists()}


def skipped() -> dict[str, str]:
    """Why each of the others is not there."""
    there = installed()
    return {name: _text(FOLDER / name / _REASON) or _NEVER for name in PACKAGES if name not in there}


_NEVER = "not installed: python tests/hosts/agents.py install"


def node() -> Path:
    """The folder of the `node` that the agents run on, to be put on PATH."""
    return executable("node").parent


def executable(name: str) -> Path:
    package = NODE if name == "node" else PACKAGES[name]
    inside = Path("venv", "bin") if package.registry == "pypi" else Path("node_modules", ".bin")
    return FOLDER / name / inside / package.executable


def install(name: str) -> str:
    """Install an agent unless it is there in the wanted version; returns the version. Raises `CannotInstall`."""
    package = NODE if name == "node" else PACKAGES[name]
    wanted = "latest" if os.environ.get("LATEST") and name not in _PINNED else package.version
    with _alone(name):
        if wanted == "latest" or _stamp(name) != wanted or not executable(name).exists():
            _install(name, package, wanted)
    return wanted


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Nobody else installs this one meanwhile. The lock goes with the process, whatever ends it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(name: str, package: Package, wanted: str) -> None:
    target = FOLDER / name
    # the stamp goes first and comes last: whatever interrupts this, half an agent is never taken for one
    for left in (_STAMP, _REASON):
        (target / left).unlink(missing_ok=True)
    target.mkdir(parents=True, exist_ok=True)
    try:
        if package.registry == "pypi":
            _from_pypi(package, wanted, target)
        else:
            _from_npm(package, wanted, target)
        if not executable(name).exists():
            raise CannotInstall(f"{package.name} {wanted} came without its program, {package.executable}")
    except CannotInstall as error:
        (target / _REASON).write_text(f"{error}\n")
        raise
    (target / _STAMP).write_text(f"{wanted}\n")


def _from_npm(package: Package, version: str, target: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise CannotInstall("there is no npm here")
    if package is not NODE:
        install("node")
    # a package.json of its own, or npm would go looking for one in the folders above
    (target / "package.json").write_text('{"private": true}\n')
    search = os.pathsep.join((str(node()), os.environ.get("PATH", os.defpath)))
    flags = ["--no-audit", "--no-fund", "--loglevel=error", *(["--force"] if package.beside else [])]
    wanted = [f"{package.name}@{version}", *package.beside]
    _run([npm, "install", *flags, *wanted], target, {**os.environ, "PATH": search})


def _from_pypi(package: Package, version: str, target: Path) -> None:
    python = _newer_python()
    if python is None:
        raise CannotInstall("it needs Python 3.12 or newer, and none was found")
    shutil.rmtree(target / "venv", ignore_errors=True)
    _run([python, "-m", "venv", "venv"], target, dict(os.environ))
    pip = [str(target / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, f"{package.name}=={version}"], target, dict(os.environ))


def _newer_python() -> str | None:
    """A Python 3.12 or 3.13: this one, one on PATH, or one of pyenv's."""
    known = [sys.executable] if (3, 12) <= sys.version_info[:2] <= (3, 13) else []
    known += filter(None, map(shutil.which, ("python3.13", "python3.12")))
    for pattern in ("3.13*", "3.12*"):
        known += map(str, sorted(Path.home().glob(f".pyenv/versions/{pattern}/bin/python"), reverse=True))
    for python in known:  # pyenv puts commands on PATH that only say that they are not installed
        if subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0:
            return python
    return None


def _run(command: list[str], where: Path, environment: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            command, cwd=where, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise CannotInstall(f"{Path(command[0]).name} did not end in {_PATIENCE} seconds") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        raise CannotInstall(f"{Path(command[0]).name} failed: {said[-1] if 'pip' in command else said[0]}")


def _stamp(name: str) -> str:
    return _text(FOLDER / name / _STAMP)


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def main(words: list[str]) -> int:
    match words:
        case ["install", *names] if set(names) <= set(PACKAGES):
            for name in names or PACKAGES:
                try:
                    print(f"{name} {install(name)}: {executable(name)}", flush=True)
                except CannotInstall as error:
                    print(f"{name} is left out: {error}", flush=True)
            return 0
        case ["where", name] if name in PACKAGES:
            if name not in installed():
                print(skipped()[name], file=sys.stderr)
                return 1
            print(executable(name))
            return 0
    print(__doc__, file=sys.stderr)
    print("NAME is one of", *PACKAGES, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
