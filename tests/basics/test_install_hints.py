"""The command that installs an extra, for what installers note about an environment; those notes are written here.

That the commands work is shown by `test_extras_installed`, which needs a network.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
METADATA = """\
Metadata-Version: 2.4
Name: tenterhook
Version: 1.0
Requires-Dist: click>=8.1
Provides-Extra: hub
Requires-Dist: fastapi>=0.115; extra == 'hub'
Requires-Dist: argon2-cffi>=23.1 ; extra == "hub"
Provides-Extra: otel
Requires-Dist: opentelemetry-sdk; extra == 'otel'
"""
NEEDED = "'fastapi>=0.115' 'argon2-cffi>=23.1'"
INSTALLED = "'tenterhook[hub]==1.0'"


class Environment:
    """A virtual environment that looks as if an installer had put us there."""

    def __init__(self, prefix: Path) -> None:
        self.prefix = prefix
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", prefix], check=True)
        (self.packages,) = prefix.glob("lib/python*/site-packages")
        (self.packages / "source.pth").write_text(f"{ROOT / 'src'}\n")
        self.notes = self.packages / "tenterhook-1.0.dist-info"
        self.notes.mkdir()
        (self.notes / "METADATA").write_text(METADATA)

    def came_from(self, url: str, **about: Any) -> None:
        (self.notes / "direct_url.json").write_text(json.dumps({"url": url, **about}))

    def has_pip(self) -> None:
        (self.packages / "pip").mkdir()
        (self.packages / "pip" / "__init__.py").touch()

    def advice(self, extra: str = "hub") -> str:
        code = "import sys; from tenterhook.basics import install_hints as of; print(of.install_command(sys.argv[1]))"
        command = [str(self.prefix / "bin" / "python"), "-I", "-c", code, extra]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "environment")


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    wheel = tmp_path / "tenterhook 1.whl"
    wheel.touch()
    return wheel


class TestUvTool:
    """uv notes in `uv-receipt.toml` what it was told."""

    @pytest.mark.parametrize(
        ("requirements", "advice"),
        [
            ('{ name = "tenterhook" }', "uv tool install 'tenterhook[hub]'"),
            ('{ name = "tenterhook", specifier = "==1.0" }', "uv tool install 'tenterhook[hub]==1.0'"),
            ('{ name = "tenterhook", extras = ["otel", "hub"] }', "uv tool install 'tenterhook[otel,hub]'"),
            (
                '{ name = "tenterhook" }, { name = "rich", extras = ["a", "b"], specifier = ">=13" }, { name = "six" }',
                "uv tool install 'tenterhook[hub]' --with 'rich[a,b]>=13' --with six",
            ),
            ('{ name = "tenterhook", path = "WHEEL" }', "uv tool install 'WHEEL[hub]'"),
            ('{ name = "tenterhook", path = "WHEEL", extras = ["otel"] }', "uv tool install 'WHEEL[otel,hub]'"),
            ('{ name = "tenterhook", directory = "WHEEL" }', "uv tool install 'WHEEL[hub]'"),
            ('{ name = "tenterhook", editable = "WHEEL" }', "uv tool install --editable 'WHEEL[hub]'"),
        ],
    )
    def test_what_it_was_told_is_said_again(
        self, environment: Environment, wheel: Path, requirements: str, advice: str
    ) -> None:
        receipt = f"[tool]\nrequirements = [{requirements.replace('WHEEL', str(wheel))}]\n"
        (environment.prefix / "uv-receipt.toml").write_text(receipt)
        assert environment.advice() == advice.replace("WHEEL", str(wheel))

    @pytest.mark.parametrize(
        "receipt",
        [
            '[tool]\nrequirements = [{ name = "tenterhook", path = "/gone/tenterhook.whl" }]',
            '[tool]\nrequirements = [{ name = "tenterhook", git = "https://example.com/x" }]',
            '[tool]\nrequirements = [{ name = "tenterhook", path = "/" }, { name = "other", path = "/other.whl" }]',
            # what another version of uv might write
            "",
            "[tool]",
            "tool = 1",
            "[tool]\nrequirements = []",
            "[tool]\nrequirements = 1",
            '[tool]\nrequirements = ["tenterhook"]',
            '[tool]\nrequirements = [{ name = "tenterhook", extras = 1 }]',
            '[tool]\nrequirements = [{ name = "tenterhook" }, { specifier = ">=1" }]',
            "[tool",
            "\x00",
        ],
    )
    def test_else_the_packages_go_into_its_environment(self, environment: Environment, receipt: str) -> None:
        (environment.prefix / "uv-receipt.toml").write_text(receipt)
        assert environment.advice() == f"uv pip install --python {environment.prefix} {INSTALLED}"

    def test_a_receipt_that_cannot_be_read(self, environment: Environment) -> None:
        (environment.prefix / "uv-receipt.toml").mkdir()
        assert environment.advice() == f"uv pip install --python {environment.prefix} {INSTALLED}"


def test_pipx_is_told_the_name_that_it_knows(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venvs" / "tenterhook-2")
    (environment.prefix / "pipx_metadata.json").write_text("{}")
    assert environment.advice() == f"pipx inject tenterhook-2 {NEEDED}"
    assert environment.advice("otel") == "pipx inject tenterhook-2 opentelemetry-sdk"


@pytest.mark.parametrize(
    ("below", "command"),
    [
        ("uv/archive-v0/abc", "uvx --from"),
        (".cache/pipx/abc", "pipx run --spec"),
        ("pipx/.cache/abc", "pipx run --spec"),
    ],
)
def test_what_was_made_for_one_run_is_made_again(tmp_path: Path, wheel: Path, below: str, command: str) -> None:
    environment = Environment(tmp_path / below)
    assert environment.advice() == f"{command} 'tenterhook[hub]' tenterhook"
    environment.came_from(wheel.as_uri())
    assert environment.advice() == f"{command} '{wheel}[hub]' tenterhook"
    wheel.unlink()
    assert environment.advice() == f"{command} 'tenterhook[hub]' tenterhook"


class TestPip:
    """pip notes in `direct_url.json` where a package came from, if not from an index."""

    def test_the_installed_version_with_its_extra(self, environment: Environment, wheel: Path) -> None:
        environment.has_pip()
        expected = f"{environment.prefix}/bin/python -m pip install {INSTALLED}"
        assert environment.advice() == expected
        environment.came_from(wheel.as_uri(), archive_info={})
        assert environment.advice() == expected

    def test_without_pip_uv_does_it(self, environment: Environment) -> None:
        assert environment.advice() == f"uv pip install --python {environment.prefix}/bin/python {INSTALLED}"

    def test_an_editable_checkout_with_its_extra(self, environment: Environment, tmp_path: Path) -> None:
        environment.has_pip()
        checkout = tmp_path / "check out"
        checkout.mkdir()
        environment.came_from(checkout.as_uri(), dir_info={"editable": True})
        assert environment.advice() == f"{environment.prefix}/bin/python -m pip install -e '{checkout}[hub]'"
        checkout.rmdir()
        assert environment.advice() == f"{environment.prefix}/bin/python -m pip install {INSTALLED}"

    @pytest.mark.parametrize("note", ["", "{", "[]", '{"url": 1}', '{"url": "file:///", "dir_info": [1]}'])
    def test_a_note_that_says_something_else(self, environment: Environment, note: str) -> None:
        (environment.notes / "direct_url.json").write_text(note)
        assert environment.advice() == f"uv pip install --python {environment.prefix}/bin/python {INSTALLED}"

    def test_an_extra_of_which_nothing_is_known(self, environment: Environment) -> None:
        assert environment.advice("new") == (
            f"uv pip install --python {environment.prefix}/bin/python 'tenterhook[new]==1.0'"
        )

    def test_a_copy_that_nobody_installed(self, environment: Environment) -> None:
        (environment.notes / "METADATA").unlink()
        environment.notes.rmdir()
        expected = ["uv", "pip", "install", "--python", f"{environment.prefix}/bin/python", "-e", f"{ROOT}[hub]"]
        assert environment.advice() == shlex.join(expected)
