"""Builds the wheel or takes the one given, installs it with pip, uvx and pipx on every Python here, and tests it.

Each environment is new, and imports nothing from this checkout. uv and pipx are skipped if they cannot be installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from . import interpreters, smoke
from .smoke import ROOT, BrokenInstallationError, Installed, expect

if TYPE_CHECKING:
    from collections.abc import Callable

_ABOUT = {"METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE", "RECORD"}
_LONGEST = 900  # seconds to install something on a slow line


def build(target: Path) -> Path:
    """Build the wheel of this checkout."""
    _call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target))
    return next(target.glob("*.whl"))


def check_contents(wheel: Path) -> int:
    """Check that the wheel has the package's files as in git, the licence, and nothing else; return their number.

    A symbolic link is in the wheel as the file that it points to.
    """
    listed = _call("git", "ls-files", "-s", "src/tenterhook")
    modes = {line.partition("\t")[2]: int(line.split()[0], 8) & 0o777 for line in listed.splitlines()}
    target = {name: str((ROOT / name).resolve().relative_to(ROOT.resolve())) for name in modes}
    expected = {name.removeprefix("src/"): modes[target[name]] for name in modes}
    with zipfile.ZipFile(wheel) as archive:
        held = {each.filename: each.external_attr >> 16 & 0o777 for each in archive.infolist()}
    about = {name.partition(".dist-info/")[2] for name in held if ".dist-info/" in name}
    held = {name: mode for name, mode in held.items() if ".dist-info/" not in name}
    if about != _ABOUT or held != expected:
        differing = sorted(f"{name} {mode:o}" for name, mode in held.items() ^ expected.items())
        raise BrokenInstallationError(f"the wheel is not what git has: {differing} {sorted(about ^ _ABOUT)}")
    return len(held)


class Check:
    """One wheel, and a directory for the environments in which it is tested."""

    def __init__(self, wheel: Path, place: Path) -> None:
        self.wheel = wheel
        self.version = wheel.name.split("-")[1]
        self._place = place
        self._kept = ROOT / ".cache" / "wheel-check"  # uv's cache, kept for the next run
        self._uv: str | None = None
        self._pipx: str | None = None
        self._why = ""
        self._printing = threading.Lock()

    def say(self, what: str, line: str) -> None:
        with self._printing:
            print(f"{what:<22} {line}", flush=True)

    def find_tools(self) -> None:
        """Find uv and pipx on the PATH, or install them."""
        self._uv, self._pipx = shutil.which("uv"), shutil.which("pipx")
        if self._uv and self._pipx:
            return
        tools = self._place / "tools"
        try:
            _call(sys.executable, "-m", "venv", str(tools))
            _call(str(tools / "bin" / "pip"), "install", "--quiet", "uv", "pipx")
        except BrokenInstallationError as error:
            self._why = str(error).strip().splitlines()[-1]
            return
        self._uv, self._pipx = str(tools / "bin" / "uv"), str(tools / "bin" / "pipx")

    def with_pip(self, version: str, python: Path) -> None:
        """Install with pip as README says: the core, then everything."""
        what = f"python {version}"
        environment = self._place / version
        _call(str(python), "-m", "venv", str(environment))
        began = time.monotonic()
        _call(str(environment / "bin" / "pip"), "install", "--quiet", str(self.wheel))
        took = time.monotonic() - began
        smoke.first_block(Installed(environment, self._place / f"{version}-first"))
        until_block = time.monotonic() - began
        listed = _call(str(environment / "bin" / "pip"), "list", "--format=freeze").split()
        others = sum(not each.startswith(("pip=", "setuptools=", "tenterhook=")) for each in listed)
        self.say(what, f"pip install: {took:.1f} s, {others} dependencies; a blocked command after {until_block:.1f} s")
        installed = Installed(environment, self._place / f"{version}-tried")
        smoke.core(installed, self.version)
        smoke.without_extras(installed)
        self.say(what, "the core works, and says which extra is missing")
        if python == Path(sys.executable) or self._uv is None:
            _call(str(environment / "bin" / "pip"), "install", "--quiet", f"{self.wheel}[all]")
        else:
            self._with_uv("pip", "install", "--quiet", "--python", str(environment), f"{self.wheel}[all]")
        for extra, tried in smoke.EXTRAS.items():
            tried(Installed(environment, self._place / f"{version}-{extra}"))
        self.say(what, "[all]: the agent, the hub and the export work")

    def one_extra(self, extra: str, python: Path) -> None:
        """Check that an extra has all dependencies of its part."""
        environment = self._place / extra
        if self._uv is None:
            _call(str(python), "-m", "venv", str(environment))
            _call(str(environment / "bin" / "pip"), "install", "--quiet", f"{self.wheel}[{extra}]")
        else:
            self._with_uv("venv", "--quiet", "--python", str(python), str(environment))
            self._with_uv("pip", "install", "--quiet", "--python", str(environment), f"{self.wheel}[{extra}]")
        smoke.EXTRAS[extra](Installed(environment, self._place / f"{extra}-tried"))
        self.say(f"[{extra}]", "alone it works")

    def with_uvx(self) -> None:
        """Run with `uvx`, and check the warning about an installation from there."""
        if self._uv is None:
            return self.say("uvx", f"skipped: uv cannot be had: {self._why}")
        line = ("tool", "run", "--from", str(self.wheel), "tenterhook")
        expect(self.version, self._with_uv(*line, "--version"))
        home = self._place / "uvx-home"
        home.mkdir()
        said = self._with_uv(*line, "install", "claude-code", "--dry-run", HOME=str(home))
        expect("this will not last", said)
        return self.say("uvx", "it runs, and `install` says that it will not last")

    def with_pipx(self) -> None:
        """Run with `pipx install` and `pipx run`."""
        if self._pipx is None:
            return self.say("pipx", f"skipped: pipx cannot be had: {self._why}")
        commands = self._place / "pipx-bin"
        variables = {f"XDG_{kind}_HOME": str(self._place / f".{kind.lower()}") for kind in ("CACHE", "DATA", "STATE")}
        variables["PIPX_BIN_DIR"] = str(commands)
        variables["PIP_CACHE_DIR"] = _call(sys.executable, "-m", "pip", "cache", "dir").strip()
        _call(self._pipx, "install", str(self.wheel), **variables)
        expect(self.version, _call(str(commands / "tenterhook"), "--version"))
        run = (self._pipx, "run", "--spec", str(self.wheel), "tenterhook")
        expect(self.version, _call(*run, "--version", **variables))
        variables["HOME"] = str(commands)  # one without any settings
        expect("temporary environment", _call(*run, "install", "claude-code", "--dry-run", **variables))
        return self.say("pipx", "install and run work, and `install` from `run` says that it will not last")

    def _with_uv(self, *arguments: str, **variables: str) -> str:
        assert self._uv is not None
        return _call(self._uv, *arguments, UV_CACHE_DIR=str(self._kept / "uv"), UV_LINK_MODE="copy", **variables)


def _call(*command: str, **variables: str) -> str:
    """Return the output of a command run without this process's Python variables; raise an error if it fails."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIPX_", "VIRTUAL_ENV"))
    }
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env={**environment, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_LONGEST,
        check=False,
    )
    if ended.returncode != 0:
        raise BrokenInstallationError(f"{' '.join(command)}\nended with {ended.returncode}\n{ended.stdout}")
    return ended.stdout


def main() -> int:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tenterhook-wheel-") as temporary:
        place = Path(temporary).resolve()
        wheel = Path(sys.argv[1]).resolve() if sys.argv[1:] else build(place / "dist")
        check = Check(wheel, place)
        check.say(wheel.name, f"{check_contents(wheel)} files, as git has them; {wheel.stat().st_size // 1024} kB")
        check.find_tools()
        pythons = interpreters.found()
        ours = Path(sys.executable)
        jobs: dict[str, Callable[[], None]] = {}
        for version, python in pythons.items():
            jobs[f"python {version}"] = partial(check.with_pip, version, python)
        jobs |= {"uvx": check.with_uvx, "pipx": check.with_pipx}
        for extra in smoke.EXTRAS:
            jobs[f"[{extra}]"] = partial(check.one_extra, extra, ours)
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            running = {what: pool.submit(job) for what, job in jobs.items()}
        failures = {what: error for what, job in running.items() if (error := job.exception()) is not None}
    for what, error in failures.items():
        print(f"\n{what}: {error}", file=sys.stderr)
    tried = ", ".join(pythons)
    print(f"\n{'failed' if failures else 'passed'}: Python {tried}, {time.monotonic() - began:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
