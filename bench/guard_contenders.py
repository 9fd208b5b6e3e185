"""Labelled shell lines, and what each guard answers to them. The lines are only read by guards, never run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, NamedTuple

from . import dispatching, homes, packages
from .packages import CannotInstall, Package
from .requests import WorkerEnded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

REFUSE, ASK, PASS = "refuse", "ask", "pass"
CC_SAFETY_NET, SH = "cc-safety-net", "sh"
PACKAGE = Package("cc-safety-net", "2.4.5")
INFRASTRUCTURE = "infrastructure"
OURS = "Tenterhook"
WITHOUT = f"{OURS}, no {INFRASTRUCTURE}"
OWN_SOURCES = {OURS: "tenterhook", WITHOUT: "tenterhook", CC_SAFETY_NET: "cc-safety-net"}

_HERE = Path(__file__).resolve().parent
SH_GUARD = _HERE / "guard.sh"
_ANSWERS = {None: PASS, ASK: ASK, "deny": REFUSE}
_FIELDS = {"id": str, "source": str, "line": str, "label": str, "class": str, "sure": bool}
_EVERY = 500  # lines between progress messages
_TRACKED = (
    *("README.md", "package.json", "main.go", "src/main.py", "src/app.ts", "src/components/button.ts", "lib/util.py"),
    *("tests/test_main.py", "docs/index.md", "config/app.yml", "migrations/0001.sql", "data/people.csv"),
)
_GENERATED = ("node_modules/left-pad/index.js", "build/app.o", "dist/app.js")


class BadFile(Exception):
    """A file of lines cannot be read."""


class Line(NamedTuple):
    """A shell line with what a guard should say to it."""

    id: str
    source: str
    text: str
    label: str  # REFUSE, ASK or PASS
    kind: str  # files, git, …; empty for PASS


class Judged(NamedTuple):
    """The answers of a guard to lines, in their order, and the microseconds of each where it ran in a process."""

    title: str
    answers: list[str]
    microseconds: list[float]
    errors: list[str]  # exceptions of the guard, which count as PASS


def read(files: Iterable[Path]) -> list[Line]:
    """Return the lines of JSON Lines files whose label is sure; raises `BadFile`."""
    return [line for file in files for line in _lines(file)]


def _lines(file: Path) -> Iterator[Line]:
    try:
        rows = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{file}: {error}") from None
    for number, row in enumerate(rows, 1):
        try:
            found = json.loads(row)
        except ValueError as error:
            raise BadFile(f"{file}, line {number}: {error}") from None
        wrong = [name for name, kind in _FIELDS.items() if not isinstance(found.get(name), kind)]
        if wrong or found["label"] not in (REFUSE, ASK, PASS):
            raise BadFile(f"{file}, line {number}: missing or wrong: {', '.join(wrong) or 'label'}")
        if found["sure"]:
            yield Line(found["id"], found["source"], found["line"], found["label"], found["class"])


class Laptop:
    """A home with a small git repository, the working directory that guards assume for all lines.

    It must not be in a directory for temporary files, where guards allow files to be deleted.
    """

    def __init__(self, directory: Path) -> None:
        self.home = directory / "home" / "dev"
        self.project = self.home / "work" / "app"
        for name in (*_TRACKED, *_GENERATED, ".env"):
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text("x\n")
        (self.project / ".gitignore").write_text("node_modules/\nbuild/\ndist/\n.env\n")
        self.environment = homes.clean_environment(self.home)
        for words in (["init", "--quiet"], ["add", "."]):
            subprocess.run(["git", *words], cwd=self.project, env=self.environment, check=True, capture_output=True)


def ours(lines: Sequence[Line], laptop: Laptop, guards: Sequence[str], infrastructure: str) -> list[Judged]:
    """Return the answers of the built-in guards together: with infrastructure (`on`), without (`off`), or `both`."""
    argv = [sys.executable, "-m", "bench.guard_worker", str(laptop.project), *guards]
    environment = {**laptop.environment, "PYTHONPATH": os.pathsep.join(filter(None, map(str, sys.path)))}
    rows = list(_asked(OURS, argv, environment, lines))
    wanted = {"on": (OURS,), "off": (WITHOUT,), "both": (OURS, WITHOUT)}[infrastructure]
    chosen = {OURS: tuple(guards), WITHOUT: tuple(name for name in guards if name != INFRASTRUCTURE)}
    return [_together(title, rows, chosen[title]) for title in wanted]


def cc_safety_net(lines: Sequence[Line], laptop: Laptop) -> Judged:
    """Return the answers of cc-safety-net, which refuses and never asks; raises `CannotInstall`."""
    argv = [node(), str(_HERE / "cc_safety_net_worker.mjs"), str(packages.from_npm(PACKAGE)), str(laptop.project)]
    return _together(CC_SAFETY_NET, list(_asked(CC_SAFETY_NET, argv, laptop.environment, lines)), (CC_SAFETY_NET,))


def node() -> str:
    """Return the `node` of this machine; raises `CannotInstall`."""
    found = shutil.which("node")
    if found is None:
        raise CannotInstall("there is no node here")
    return found


def cc_safety_net_command() -> str:
    """Return the command that Claude Code would run for cc-safety-net; raises `CannotInstall`."""
    program = packages.from_npm(PACKAGE) / "dist" / "bin" / "cc-safety-net.js"
    return f"'{node()}' '{program}' --claude-code"


def in_sh(lines: Sequence[Line], laptop: Laptop) -> Judged:
    """Return the answers of the guard in sh, which runs once per line and refuses with exit status 2."""
    answers = []
    with chdir(laptop.project):
        for number, line in enumerate(lines, 1):
            event = json.dumps({"tool_name": "Bash", "tool_input": {"command": line.text}}, ensure_ascii=False)
            _, status, _ = dispatching.run([str(SH_GUARD)], laptop.environment, event.encode())
            answers.append(REFUSE if status == 2 else PASS)
            _note(SH, number, len(lines))
    return Judged(SH, answers, [], [])


def _asked(
    title: str, argv: Sequence[str], environment: dict[str, str], lines: Sequence[Line]
) -> Iterator[dict[str, tuple[str | None, float]]]:
    """Yield a worker's answer to each line; raises `WorkerEnded`."""
    with TemporaryFile("w+") as questions, TemporaryFile("w+") as complaints:
        questions.writelines(json.dumps(line.text) + "\n" for line in lines)
        questions.seek(0)
        process = subprocess.Popen(
            argv,
            env=environment,
            cwd=_HERE.parent,
            stdin=questions,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        )
        assert process.stdout is not None
        with process:
            number = 0
            for number, row in enumerate(process.stdout, 1):
                yield json.loads(row)
                _note(title, number, len(lines))
        if number != len(lines):
            complaints.seek(0)
            said = complaints.read().strip().splitlines() or [f"exit status {process.returncode}"]
            raise WorkerEnded(f"{title}: {said[-1]}")


def _together(title: str, rows: Sequence[dict[str, tuple[str | None, float]]], names: Sequence[str]) -> Judged:
    """Combine guards: return the strictest answer to each line, and the sum of their times."""
    answers, microseconds, errors = [], [], []
    for row in rows:
        said = [row[name][0] for name in names]
        errors += [word for word in said if word not in _ANSWERS and word]
        known = [_ANSWERS.get(word, PASS) for word in said]
        answers.append(min(known, key=(REFUSE, ASK, PASS).index, default=PASS))
        microseconds.append(sum(row[name][1] for name in names))
    return Judged(title, answers, microseconds, errors)


def _note(title: str, number: int, of: int) -> None:
    if number % _EVERY == 0 or number == of:
        print(f"{title}: {number:,} of {of:,} lines", file=sys.stderr)
