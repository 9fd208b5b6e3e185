"""The advice to install an extra works for every way in which people install us: it is run as it stands."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from tools import smoke, wheel_check
from tools.smoke import ROOT, Installed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.timeout(600)


class Place:
    """A directory with a wheel, the installers, and what they install."""

    def __init__(self, wheel: Path, tools: Path, place: Path, cache: Path) -> None:
        self.wheel = shutil.copy(wheel, place)
        self.place = place
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_"))}
        self.variables = {
            **inherited,
            "PATH": f"{tools}:{os.defpath}",
            "PIPX_HOME": str(place / "pipx"),
            "PIPX_BIN_DIR": str(place / "pipx-bin"),
            "UV_TOOL_DIR": str(place / "uv"),
            "UV_TOOL_BIN_DIR": str(place / "uv-bin"),
            "UV_PYTHON": sys.executable,
            "UV_CACHE_DIR": str(cache / "uv"),
            "PIP_CACHE_DIR": str(cache / "pip"),
            "PIP_COMPILE": "0",  # most of it is never imported here
        }

    def run(self, line: str) -> None:
        ended = subprocess.run(line, shell=True, env=self.variables, cwd=self.place, capture_output=True, text=True)
        assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_check.build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """uv and pipx, on a PATH of their own."""
    place = tmp_path_factory.mktemp("tools")
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    ended = subprocess.run([place / "bin/pip", "install", "--quiet", "uv", "pipx"], capture_output=True, text=True)
    if ended.returncode != 0:
        pytest.skip(f"uv and pipx cannot be had: {ended.stderr.strip().splitlines()[-1]}")
    return place / "bin"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of what the installers fetch."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def place(wheel: Path, tools: Path, tmp_path: Path, cache: Path) -> Place:
    (tmp_path / "installed").mkdir()
    return Place(wheel, tools, tmp_path / "installed", cache)


def with_pip(place: Place, *installed: str) -> Path:
    """An environment in which pip installs us; what we need is there already, by a quicker way."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        described = tomllib.load(file)
    needed = [*described["project"]["dependencies"], *described["build-system"]["requires"], "editables"]
    place.run("uv venv --quiet --seed venv")
    place.run(f"uv pip install --quiet --python venv {shlex.join(needed)}")
    place.run(f"venv/bin/python -m pip install --quiet --no-build-isolation {shlex.join(installed)}")
    return place.place / "venv"


def pip(place: Place) -> Path:
    return with_pip(place, str(place.wheel))


def pip_without_the_wheel(place: Place) -> Path:
    environment = pip(place)
    os.unlink(place.wheel)
    return environment


def editable(place: Place) -> Path:
    return with_pip(place, "-e", str(ROOT))


def uv_without_pip(place: Place) -> Path:
    place.run(f"uv venv --quiet venv && uv pip install --quiet --python venv {place.wheel}")
    return place.place / "venv"


def pipx(place: Place) -> Path:
    place.run(f"pipx install {place.wheel}")
    return place.place / "pipx" / "venvs" / "tenterhook"


def pipx_checkout(place: Place) -> Path:
    place.run(f"pipx install {ROOT}")
    return place.place / "pipx" / "venvs" / "tenterhook"


def uv_tool(place: Place) -> Path:
    place.run(f"uv tool install --quiet {place.wheel} --with colorama")
    return place.place / "uv" / "tenterhook"


def uv_tool_without_the_wheel(place: Place) -> Path:
    environment = uv_tool(place)
    os.unlink(place.wheel)
    return environment


WAYS: list[Any] = [
    (pip, "{environment}/bin/python -m pip install 'tenterhook[hub]=="),
    pytest.param(
        *(pip_without_the_wheel, "{environment}/bin/python -m pip install 'tenterhook[hub]=="),
        marks=pytest.mark.thorough,
    ),
    (editable, "{environment}/bin/python -m pip install -e '{root}[hub]'"),
    pytest.param(
        uv_without_pip,
        "uv pip install --python {environment}/bin/python 'tenterhook[hub]==",
        marks=pytest.mark.thorough,
    ),
    (pipx, "pipx inject tenterhook 'argon2-cffi>=23.1' "),
    pytest.param(pipx_checkout, "pipx inject tenterhook 'argon2-cffi>=23.1' ", marks=pytest.mark.thorough),
    (uv_tool, "uv tool install '{wheel}[hub]' --with colorama"),
    pytest.param(
        uv_tool_without_the_wheel,
        "uv pip install --python {environment} 'tenterhook[hub]==",
        marks=pytest.mark.thorough,
    ),
]


@pytest.mark.parametrize(("way", "begins"), WAYS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_advice_for_the_hub_is_a_command_that_makes_it_work(
    place: Place, tmp_path: Path, way: Callable[[Place], Path], begins: str
) -> None:
    environment = way(place)
    said = Installed(environment, tmp_path / "before").tenterhook("hub", status=1).stderr
    advice = said.rpartition("install them with: ")[2].strip()
    expected = begins.format(environment=environment, root=ROOT, wheel=place.wheel)
    assert re.sub(r"/bin/python[\d.]*", "/bin/python", advice).startswith(expected), advice
    place.run(advice)
    smoke.EXTRAS["hub"](Installed(environment, tmp_path / "after"))


def test_an_extra_that_was_there_before_stays(place: Place, tmp_path: Path) -> None:
    place.run(f"uv tool install --quiet '{place.wheel}[otel]'")
    environment = place.place / "uv" / "tenterhook"
    said = Installed(environment, tmp_path / "before").tenterhook("agent", "hello", status=1).stderr
    assert f"uv tool install '{place.wheel}[otel,agent]'" in said
