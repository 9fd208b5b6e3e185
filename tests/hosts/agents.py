"""Real agents for the tests, installed from the package registries into a folder that outlives them.

    python tests/hosts/agents.py install [NAME...]     all, or these; what is there already is left alone
    python tests/hosts/agents.py where NAME            the executable

The folder is $TENTERHOOK_AGENTS, or tenterhook-agents in the cache directory. LATEST=1 installs the newest versions, in
tenterhook-agents-latest. An agent that cannot be installed is no error: the reason is printed and remembered, and its
tests are skipped with it. Two of these at once are safe: the second waits for the first, agent by agent, and then finds
it there.
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
    bundle: str = ""  # a program in the package that needs nothing but `beside`: the package is unpacked, not installed
    python: tuple[str, ...] = ("3.13", "3.12")  # the versions that it runs on


PACKAGES = {
    "kimi-cli": Package("pypi", "kimi-cli", "1.49.0", "kimi"),  # later ones only say that it has moved
    "kimi-code": Package("npm", "@moonshot-ai/kimi-code", "2.1.0", "kimi"),
    "claude-code": Package("npm", "@anthropic-ai/claude-code", "2.1.325", "claude"),
    "codex": Package("npm", "@openai/codex", "0.166.0", "codex"),
    "gemini": Package("npm", "@google/gemini-cli", "0.61.0", "gemini"),
    "qwen": Package("npm", "@qwen-code/qwen-code", "0.24.4", "qwen"),
    "copilot": Package("npm", "@github/copilot", "1.0.102", "copilot"),
    "droid": Package("npm", "@factory/cli", "0.225.1", "droid", ("@factory/cli-linux-x64@0.225.2",)),
    "pi": Package(
        *("npm", "@earendil-works/pi-coding-agent", "1.5.0", "pi"),
        beside=("jiti@2.7.0", "quickjs-wasi@3.6.2"),
        bundle="dist/bundle/cli.js",
    ),
    "vibe": Package("pypi", "mistral-vibe", "3.0.3", "vibe", ("certifi",)),  # it pins one of a single day
    "openhands": Package("pypi", "openhands", "1.16.0", "openhands", python=("3.12",)),
    "hermes": Package("pypi", "hermes-agent[mcp]", "0.19.0", "hermes"),
    "cline": Package("npm", "cline", "3.0.65", "cline"),
    "opencode": Package("npm", "opencode-ai", "1.18.33", "opencode"),
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
    return Path(cache, "tenterhook-agents-latest" if os.environ.get("LATEST") else "tenterhook-agents")


FOLDER = _folder()  # looked up once, on import: each test has another home
_WANTED = os.environ.get("AGENTS", "").split()  # those that tests drive; all that are there if it is empty


def installed() -> dict[str, Path]:
    """The executable of each agent that is there, and wanted."""
    wanted = [name for name in PACKAGES if not _WANTED or name in _WANTED]
    return {name: executable(name) for name in wanted if _stamp(name) and executable(name).exists()}


def skipped() -> dict[str, str]:
    """Why each of the others is not there."""
    there = installed()
    others = {name: _text(FOLDER / name / _REASON) or _NEVER for name in PACKAGES if name not in there}
    return {name: "not among AGENTS" if _WANTED and name not in _WANTED else why for name, why in others.items()}


_NEVER = "not installed: python tests/hosts/agents.py install"


def node() -> Path:
    """The folder of the `node` that the agents run on, to be put on PATH."""
    return executable("node").parent


def executable(name: str) -> Path:
    package = NODE if name == "node" else PACKAGES[name]
    return executable_in(FOLDER / name, package)


def executable_in(target: Path, package: Package) -> Path:
    inside = Path("venv", "bin") if package.registry == "pypi" else Path("node_modules", ".bin")
    return target / inside / package.executable


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
    environment = {**os.environ, "PATH": search}
    flags = ["--no-audit", "--no-fund", "--loglevel=error", *(["--force"] if package.beside else [])]
    wanted = [f"{package.name}@{version}", *package.beside]
    if package.bundle:
        _unpack(npm, wanted.pop(0), target, environment)
    _run([npm, "install", *flags, *wanted], target, environment)
    if package.bundle:
        program = executable_in(target, package)
        program.parent.mkdir(parents=True, exist_ok=True)
        program.unlink(missing_ok=True)
        (target / "package" / package.bundle).chmod(0o755)
        program.symlink_to(target / "package" / package.bundle)


def _unpack(npm: str, wanted: str, target: Path, environment: dict[str, str]) -> None:
    """Unpack a package below the target, as `package`."""
    shutil.rmtree(target / "package", ignore_errors=True)
    _run([npm, "pack", "--silent", "--pack-destination", ".", wanted], target, environment)
    for archive in target.glob("*.tgz"):
        _run(["tar", "xzf", archive.name], target, environment)
        archive.unlink()


def _from_pypi(package: Package, version: str, target: Path) -> None:
    python = _python(package.python)
    if python is None:
        raise CannotInstall(f"it needs Python {' or '.join(package.python)}, and none was found")
    shutil.rmtree(target / "venv", ignore_errors=True)
    _run([python, "-m", "venv", "venv"], target, dict(os.environ))
    pip = [str(target / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wanted = package.name if version == "latest" else f"{package.name}=={version}"
    if not package.beside:
        _run([*pip, wanted], target, dict(os.environ))
        return
    _run([*pip, "--no-deps", wanted], target, dict(os.environ))
    listing = [pip[0], "-c", f"import importlib.metadata as m; print(*m.requires({package.name!r}), sep=chr(10))"]
    asked = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.splitlines()
    others = [each for each in asked if "extra ==" not in each and not each.startswith(package.beside)]
    _run([*pip, *others, *package.beside], target, dict(os.environ))


def _python(versions: tuple[str, ...]) -> str | None:
    """A Python of one of these versions: this one, one on PATH, or one of pyenv's."""
    known = [sys.executable] if "{}.{}".format(*sys.version_info) in versions else []
    known += filter(None, (shutil.which(f"python{version}") for version in versions))
    for version in versions:
        known += map(str, sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python"), reverse=True))
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
