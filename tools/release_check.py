"""Runs every step of a release but the upload, and prints each result. The output is in dist/ and build/.

python -m tools.release_check [STEP...]    all steps, or some of them
"""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tenterhook import __version__
from tenterhook.authoring import released_hooks

from . import released_hooks as released
from .smoke import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

BIN = Path(sys.executable).parent
DIST = ROOT / "dist"
SBOM = ROOT / "build" / f"tenterhook-{__version__}.cdx.json"
_UNTIL_BLOCK = 120.0  # seconds from the start of pip install to the first blocked command
_OFFLINE = ("ConnectionError", "Max retries exceeded", "Failed to resolve")


class Failed(Exception):
    """A step that did not pass."""


class Skipped(Exception):
    """A step that cannot run on this machine."""


def changelog() -> str:
    """Check that the newest section of the changelog is for this version, and not empty."""
    sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    title, _, text = sections[0].partition("\n")
    if title.split()[:1] != [__version__] or not text.strip():
        raise Failed(f"the newest section of CHANGELOG.md is {title!r}, the version is {__version__}")
    return f"has a section for {__version__}"


def built_in_hooks() -> str:
    """Check that later versions will recognise the built-in hooks of this one, to update them."""
    table = copy.deepcopy(released_hooks.table())
    released.add(table, released.shipped("HEAD"))
    if table != released_hooks.table():
        raise Failed("the table of released hooks lacks those of HEAD: python -m tools.released_hooks HEAD")
    return f"{len(table)} hooks in the table by which they are updated"


def lock() -> str:
    return _call("python", "-m", "tools.lock", "--check").strip()


def workflows() -> str:
    """Check the workflows and the action: GitHub's schemas; permissions, pins and templates with zizmor."""
    files = sorted(map(str, (ROOT / ".github/workflows").glob("*.yml")))
    action = str(ROOT / "action.yml")
    _call("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files)
    _call("check-jsonschema", "--builtin-schema", "vendor.github-actions", action)
    _call("zizmor", "--offline", "--no-progress", "--persona", "pedantic", *files, action)
    return f"{len(files) + 1} files, nothing found by check-jsonschema and zizmor"


def dist() -> str:
    """Build the wheel and the source archive twice, and compare."""
    names: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as other:
        for place in (other, str(DIST)):
            for file in Path(place).glob("tenterhook-*"):
                file.unlink()
            _call("python", "-m", "hatchling", "build", "-d", place)
            for file in Path(place).iterdir():
                if names.setdefault(file.name, file.read_bytes()) != file.read_bytes():
                    raise Failed(f"{file.name} differs from one build to the next")
    return f"{', '.join(sorted(names))}; the same bytes twice"


def twine() -> str:
    _call("twine", "check", "--strict", *map(str, _built()))
    return "the index will accept the metadata and show the description"


def wheel_check() -> str:
    """Install the built wheel on every Python of this machine; the first blocked command must not take long."""
    [wheel] = DIST.glob("*.whl")
    said = _call("python", "-m", "tools.wheel_check", str(wheel)).strip()
    slowest = max(map(float, re.findall(r"a blocked command after ([\d.]+) s", said)))
    if slowest > _UNTIL_BLOCK:
        raise Failed(f"from pip install to the first blocked command: {slowest} s")
    return f"{said.splitlines()[-1]}; from pip install to a blocked command {slowest} s at most"


def sbom() -> str:
    """List the components of the wheel with all extras, in the versions of the lock, as CycloneDX."""
    [wheel] = DIST.glob("*.whl")
    SBOM.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        environment, pins = Path(temporary, "environment"), Path(temporary, "pins")
        pins.write_text(re.sub(r" \\\n    --hash=\S+", "", (ROOT / "requirements.lock").read_text()))
        _call("uv", "venv", "--quiet", "--python", sys.executable, str(environment))
        install = ("uv", "pip", "install", "--quiet", "--python", str(environment), "--constraint", str(pins))
        _call(*install, f"{wheel}[all]")
        line = ("environment", "--pyproject", "pyproject.toml", "--mc-type", "application", "--output-reproducible")
        _call("cyclonedx-py", *line, "--output-file", str(SBOM), str(environment))
    text = SBOM.read_text()
    if found := re.search(r'"[^"]*(?:file:/|' + re.escape(str(Path.home())) + r'/|/tmp/)[^"]*"', text):
        raise Failed(f"{SBOM.name} names a place of this machine: {found[0]}")
    return f"{SBOM.relative_to(ROOT)}: {len(json.loads(text)['components'])} components"


def audit() -> str:
    """Look up the known vulnerabilities of all locked packages."""
    line = ("--progress-spinner", "off", "--disable-pip", "--require-hashes", "-r", "requirements.lock")
    try:
        said = _call("pip-audit", *line, "--format", "json")
    except Failed as error:
        if any(sign in str(error) for sign in _OFFLINE):
            raise Skipped("the vulnerability service cannot be reached; the workflow asks it") from None
        raise
    found = json.loads(next(text for text in said.splitlines() if text.startswith("{")))["dependencies"]
    unknown = [each["name"] for each in found if "skip_reason" in each]
    if len(unknown) == len(found):  # a mirror of the index has packages, but no vulnerability data
        raise Skipped("the index of this machine knows nothing about vulnerabilities; the workflow asks PyPI")
    if unknown:
        raise Failed(f"could not be audited: {', '.join(unknown)}")
    return f"{len(found)} packages without a known vulnerability"


def docs() -> str:
    _call("python", "-m", "mkdocs", "build", "--quiet", NO_MKDOCS_2_WARNING="1")
    return "build/site, without a warning"


STEPS: dict[str, Callable[[], str]] = {
    "changelog": changelog,
    "hooks": built_in_hooks,
    "lock": lock,
    "workflows": workflows,
    "dist": dist,
    "twine": twine,
    "sbom": sbom,
    "audit": audit,
    "docs": docs,
    "wheel-check": wheel_check,
}


def _built() -> list[Path]:
    return sorted(DIST.glob("tenterhook-*"))


def _call(program: str, *arguments: str, **variables: str) -> str:
    """Return the output of a program of this environment; raise `Failed` with it if it does not succeed."""
    line = [str(BIN / program), *arguments]
    ended = subprocess.run(
        line,
        cwd=ROOT,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        raise Failed(f"{program} ended with {ended.returncode}\n{ended.stdout}".rstrip())
    return ended.stdout


def main(chosen: list[str]) -> int:
    failed, skipped = [], []
    for name in chosen or STEPS:
        began = time.monotonic()
        try:
            result = f"ok       {STEPS[name]()}"
        except Skipped as reason:
            skipped.append(name)
            result = f"skipped  {reason}"
        except Failed as error:
            failed.append(name)
            result = f"FAILED   {error}"
        print(f"{name:<12} {result} ({time.monotonic() - began:.0f} s)", flush=True)
    ended = f"failed: {', '.join(failed)}" if failed else f"passed for tenterhook {__version__}"
    print("", "; ".join([ended, *(f"skipped: {name}" for name in skipped)]), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
