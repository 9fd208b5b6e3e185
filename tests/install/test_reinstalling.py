"""Tenterhook reinstalled, moved to another Python, and deleted: real environments, with pip and a wheel built here."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from install.installations import fire, is_blocked, log, wired
from support import end_of_the_agent, folder_hook, user_hooks
from tenterhook.basics import places

HERE = Path(__file__).resolve().parents[2]
AGENT, TOOL = "claude-code", "PreToolUse"
pytestmark = pytest.mark.timeout(300)


def python(version: str) -> str:
    """An interpreter of this version: one on PATH, or one of pyenv's; where there is none, the test is skipped."""
    known = [sys.executable, shutil.which(f"python{version}")]
    known += map(str, Path(places.account_home()).glob(f".pyenv/versions/{version}.*/bin/python"))
    for each in filter(None, known):
        asked = [each, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
        # pyenv puts commands on PATH that only say that they are not installed
        if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
            return each
    pytest.skip(f"there is no Python {version} here")


class Environment(NamedTuple):
    """A virtual environment of the person's own, outside any repository."""

    folder: Path
    dependencies: Path  # what we depend on, and what builds us, by version of Python: installed once

    @property
    def program(self) -> Path:
        return self.folder / "bin/tenterhook"

    def make(self, version: str, *, borrow: bool = True) -> None:
        """Have it anew, for this version of Python; what we depend on may be borrowed from where the tests run."""
        interpreter = python(version)
        shutil.rmtree(self.folder, ignore_errors=True)
        subprocess.run([interpreter, "-m", "venv", "--without-pip", self.folder], check=True)
        [packages] = self.folder.glob("lib/python3.*/site-packages")
        if borrow and version == sysconfig.get_python_version():
            (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
            return
        fetched = self.dependencies / version
        if not fetched.exists():
            with open(HERE / "pyproject.toml", "rb") as file:
                described = tomllib.load(file)
            needed = [*described["project"]["dependencies"], *described["build-system"]["requires"], "editables"]
            self.pip("install", "--quiet", "--target", fetched, *needed)
        shutil.copytree(fetched, packages, dirs_exist_ok=True)

    def copy(self, other: Environment) -> None:
        """Have it as another one is; its program starts the Python beside it."""
        shutil.copytree(other.folder, self.folder, symlinks=True)
        self.program.write_text(self.program.read_text().replace(str(other.folder), str(self.folder)))

    def pip(self, *words: str | Path) -> None:
        python = str(self.folder / "bin/python")
        command = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
        ended = subprocess.run([*command, *words], capture_output=True, text=True)
        if "No matching distribution" in ended.stderr or "Could not find a version" in ended.stderr:
            pytest.skip(f"pip cannot install here: {ended.stderr.strip().splitlines()[-1]}")
        assert ended.returncode == 0, ended.stderr

    def install_wheel(self, wheel: Path) -> None:
        self.pip("install", "--quiet", "--no-compile", "--no-deps", "--force-reinstall", wheel)

    def install_editable(self, checkout: Path) -> None:
        self.pip("install", "--quiet", "--no-build-isolation", "--no-deps", "--editable", checkout)

    def tenterhook(self, *words: str) -> str:
        """Run the command as a person would, in a terminal of their own."""
        end_of_the_agent()
        ended = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=120)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=HERE, check=True, capture_output=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def prepared(wheel: Path, dependencies: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel in it."""
    environment = Environment(tmp_path_factory.mktemp("prepared") / "environment", dependencies)
    environment.make("3.11")
    environment.install_wheel(wheel)
    return environment


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with our source in it, as a developer has one."""
    folder = tmp_path / "checkout"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HERE / "src", folder / "src", ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(HERE / name, folder / name)
    (folder / ".git").mkdir()
    return folder


@pytest.fixture(scope="session")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dependencies")


@pytest.fixture
def environment(home: Path, project: Path, dependencies: Path) -> Environment:
    guard = "echo 'not with me' >&2; exit 2"
    folder_hook(user_hooks(home), "guard", guard, matcher={"tool": "Shell"}, metadata={"on_failure": "block"})
    return Environment(home / "tools/tenterhook", dependencies)


def call(home: Path) -> subprocess.CompletedProcess[str]:
    ended: subprocess.CompletedProcess[str] = fire(AGENT, TOOL, wired(home, AGENT)[TOOL])
    return ended


def check_guarded(home: Path) -> None:
    """The guard is asked and refuses, twice; what there is to say is said once."""
    first, second = call(home), call(home)
    assert is_blocked(first), first
    assert is_blocked(second), second
    assert second.stderr == ""
    assert log(home) == []


@pytest.mark.promise("a careless model")
def test_a_guard_holds_while_tenterhook_is_reinstalled_and_its_python_replaced(
    home: Path, environment: Environment, wheel: Path, checkout: Path
) -> None:
    """Reinstalling Tenterhook, from a checkout, a package or for another Python, loses no guard and refuses no call."""
    environment.make("3.11", borrow=False)
    environment.install_wheel(wheel)
    environment.tenterhook("install", AGENT)
    check_guarded(home)

    environment.install_editable(checkout)
    assert "tenterhook doctor --fix" in call(home).stderr  # said once
    check_guarded(home)

    environment.install_wheel(wheel)
    shutil.rmtree(checkout)
    check_guarded(home)

    environment.make("3.12")
    environment.install_wheel(wheel)
    check_guarded(home)
    assert "answers, not what was installed: tenterhook doctor --fix" in environment.tenterhook()
    environment.tenterhook("doctor", AGENT, "--fix")
    assert "doctor --fix" not in environment.tenterhook()
    check_guarded(home)
    assert "python3.12" in (home / ".local/state/tenterhook/launcher.sh").read_text()


@pytest.mark.promise("a careless model")
def test_a_guard_of_a_checkout_holds_when_its_python_is_replaced_and_when_it_becomes_a_package(
    home: Path, environment: Environment, wheel: Path, checkout: Path
) -> None:
    """Where Tenterhook runs from a checkout, a new Python or a package in its place loses no guard."""
    environment.make("3.11", borrow=False)
    environment.install_editable(checkout)
    environment.tenterhook("install", AGENT)
    check_guarded(home)

    environment.make("3.12")
    environment.install_editable(checkout)
    shutil.rmtree(home / ".cache/tenterhook", ignore_errors=True)  # so that hooks are read anew
    check_guarded(home)
    assert "tenterhook doctor" not in call(home).stderr

    environment.install_wheel(wheel)
    shutil.rmtree(checkout)
    assert "tenterhook doctor --fix" in call(home).stderr
    check_guarded(home)


@pytest.mark.promise("a careless model")
@pytest.mark.parametrize(
    ("choice", "left"),
    [
        *((choice, "the state directory") for choice in (None, "--closed", "--open")),
        *((choice, "the launcher's directory") for choice in (None, "--closed")),
        *((choice, "nothing") for choice in (None, "--closed")),
    ],
)
def test_everything_is_deleted_and_the_printed_remedy_works(
    home: Path, environment: Environment, prepared: Environment, choice: str | None, left: str
) -> None:
    """Where closed was chosen, every tool call is refused when Tenterhook was deleted, with what to do about it."""
    environment.copy(prepared)
    if choice == "--open":
        shutil.rmtree(user_hooks(home) / "guard")
        folder_hook(user_hooks(home), "guard", "echo 'not with me' >&2; exit 2")
    environment.tenterhook("install", AGENT, *([choice] if choice else []))
    check_guarded(home)
    deleted = environment.folder.rename(home / "deleted")
    state = home / ".local/state/tenterhook"
    if left == "the launcher's directory":
        (state / "launcher.sh").unlink()
    elif left == "nothing":
        shutil.rmtree(state)
    ended = call(home)
    if left == "the state directory":
        assert "Tenterhook is gone (status 127)" in ended.stderr
        assert f"Install it again, then: tenterhook install {AGENT}" in ended.stderr
        assert ended.returncode == (1 if choice == "--open" else 2)
    elif choice == "--closed":
        assert ended.returncode == 2
        assert ended.stderr.startswith("tenterhook install\n")
    elif choice is None and left == "the launcher's directory":
        assert ended.returncode == 2
        assert "launcher.sh" in ended.stderr
    else:  # as on a machine where it never was
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        start = fire(AGENT, "SessionStart", wired(home, AGENT)["SessionStart"])
        assert (start.returncode, start.stderr) == (1, "Tenterhook is not installed here\n")
    deleted.rename(environment.folder)  # it is installed again
    environment.tenterhook("install", AGENT)
    assert is_blocked(call(home))
