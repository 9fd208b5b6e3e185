"""The source documents, their examples, and what firing one at hooks should come to."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from tenterhook import Engine, Event, Verdict

SEEDS = Path(__file__).parents[2] / "shared" / "seeds"
OWN = Path(__file__).parent / "data" / "seeds"
FILES = {
    "table": ("000_*.txt", "table.md"),
    "array": ("001_*.txt", "array.txt"),
    "approvals": ("002_*.txt", "approvals.txt"),
    "folder": ("003_*.txt", "folder.md"),
    "renames": ("004_*.txt", "renames.txt"),
}


class Block(NamedTuple):
    """A fenced block and the heading it stands under."""

    heading: str
    language: str
    text: str


class Document(NamedTuple):
    """One source, seen as marked-up blocks or as plain text with marks in it."""

    text: str

    def blocks(self) -> list[Block]:
        found: list[Block] = []
        heading, fence, language, lines = "", "", "", list[str]()
        for line in self.text.splitlines():
            if fence:
                if line == fence:
                    found.append(Block(heading, language, "\n".join(lines) + "\n"))
                    fence = ""
                else:
                    lines.append(line)
            elif opened := re.fullmatch(r"(`{3,})(\w*)", line):
                fence, language, lines = opened[1], opened[2], []
            elif titled := re.fullmatch(r"#+ (.+)", line):
                heading = titled[1]
        return found

    def block(self, heading: str, language: str, number: int = 0) -> str:
        return [each.text for each in self.blocks() if each[:2] == (heading, language)][number]

    def between(self, start: str, end: str) -> str:
        """What stands between two marks, each of which must be there."""
        _, found, rest = self.text.partition(start)
        assert found, f"no {start!r} in the document"
        inside, found, _ = rest.partition(end)
        assert found, f"no {end!r} after {start!r}"
        return inside


class Read(Protocol):
    def __call__(self, name: str) -> Document: ...


@pytest.fixture(params=["seeds", "own"])
def read(request: pytest.FixtureRequest) -> Read:
    """The documents, or our own text with the same facts."""
    own = request.param == "own"
    if not (own or SEEDS.is_dir()):
        pytest.skip(f"the source documents are not in {SEEDS}; the same facts are tested on {OWN}")

    def document(name: str) -> Document:
        source, ours = FILES[name]
        (path,) = [OWN / ours] if own else SEEDS.glob(source)
        return Document(path.read_text(encoding="utf-8"))

    return document


class Programs(NamedTuple):
    """Stand-ins on PATH for the programs that examples call; each writes down its arguments, one to a line."""

    directory: Path

    def add(self, name: str, script: str = "") -> None:
        program = self.directory / name
        program.write_text(f'#!/bin/sh\nprintf \'%s\\n\' "$@" >> "$0.calls"\n{script}\n')
        program.chmod(0o755)

    def arguments(self, name: str) -> list[str]:
        calls = self.directory / f"{name}.calls"
        return calls.read_text().splitlines() if calls.exists() else []


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Everything the examples call, all of it content with what it sees."""
    programs = Programs(tmp_path / "bin")
    programs.directory.mkdir()
    for name in ("black", "notify-send", "npm", "terminal-notifier"):
        programs.add(name)
    programs.add("python", f'exec "{sys.executable}" "$@"')
    monkeypatch.setenv("PATH", f"{programs.directory}{os.pathsep}{os.environ['PATH']}")
    return programs


def install(hooks: Path, definition: str, script: str = "exit 0\n") -> Path:
    """A hook folder with a HOOK.md and a script, nothing changed."""
    named = re.search(r"^name: (\S+)", definition, re.MULTILINE)
    assert named
    folder = hooks / named[1]
    (folder / "scripts").mkdir(parents=True)
    (folder / "HOOK.md").write_text(definition)
    entry = folder / "scripts" / "run.sh"
    entry.write_text(script)
    entry.chmod(0o755)
    return folder


def fire(engine: Engine, event: str, **fields: Any) -> Verdict:
    return engine.decide(Event(event, **fields))


def said(verdict: Verdict) -> str:
    """The decision, with the reason if there is one: `deny: Dangerous command`."""
    return f"{verdict.decision}: {verdict.reason}" if verdict.reason else str(verdict.decision)


def outcomes(verdict: Verdict) -> list[str]:
    """What became of each hook, in order: `block-dangerous blocked`."""
    return [f"{run.hook.name} {run.outcome}" for run in verdict.runs]


def shell(command: str) -> dict[str, Any]:
    return {"tool_name": "Shell", "tool_input": {"command": command}}


def write(path: str) -> dict[str, Any]:
    return {"tool_name": "WriteFile", "tool_input": {"file_path": path, "content": "..."}}


def read_file(path: str) -> dict[str, Any]:
    return {"tool_name": "ReadFile", "tool_input": {"path": path}}


# Under each heading: an event, its fields, what the verdict says, what becomes of each hook that it reaches.
Cases = dict[str, list[tuple[str, dict[str, Any], str, list[str]]]]


TABLE: Cases = {
    "Configuration Location": [
        ("session_start", {}, "none", ["notify-start ok"]),
        ("before_tool", shell("rm -rf / -v"), "deny: Dangerous command", ["block-dangerous blocked"]),
        ("before_tool", shell("ls"), "none", []),
        ("before_tool", read_file("rm -rf /"), "none", []),
        ("after_tool", write("/tmp/a.py"), "none", ["auto-format started"]),
        ("after_tool", write("/tmp/a.pyc"), "none", []),
    ],
    # The script at /path/to is not there: it fails, and the operation goes on.
    "Synchronous Mode (Default)": [("before_tool", shell("ls"), "none", ["security-check failed"])],
    "Asynchronous Mode": [("after_tool", write("a.py"), "none", ["auto-format started"])],
    "Synchronous Hook: Dangerous Command Blocking": [
        ("before_tool", shell("rm -rf /"), "deny: Dangerous command blocked", ["block-dangerous blocked"]),
        ("before_tool", shell("mkfs /dev/sda"), "deny: Dangerous command blocked", ["block-dangerous blocked"]),
        ("before_tool", shell("dd if=/dev/zero"), "deny: Dangerous command blocked", ["block-dangerous blocked"]),
        ("before_tool", shell("rm -r build"), "none", []),
    ],
    "Asynchronous Hook: Auto Code Formatting": [
        ("after_tool", write("a.py"), "none", ["auto-format-python started"]),
    ],
    "Python Hook Script": [("before_tool", shell("ls"), "none", ["security-check failed"])],
    "Quality Gate Hook: Enforce Standards Before Stop": [("before_stop", {}, "allow", ["verify-tests ok"])],
    "Combined Usage: Sync Check + Async Processing": [
        ("before_tool", shell("sudo rm -rf /"), "deny: Dangerous command blocked", ["block-dangerous blocked"]),
        ("before_tool", shell("ls"), "allow", ["block-dangerous ok"]),
        ("after_tool", write("a.py"), "none", ["auto-format started", "notify-changes started"]),
        ("after_tool", write("a.md"), "none", ["notify-changes started"]),
    ],
    # `...` is no program: it fails, and the operation goes on.
    "2. Set Reasonable Timeouts": [
        ("before_tool", shell("ls"), "none", ["quick-check failed", "deep-analysis failed"]),
        ("after_tool", shell("ls"), "none", ["long-task started"]),
    ],
    "Conditional Execution": [("before_tool", shell("ls"), "allow", ["prod-check ok"])],
    "Chained Hooks": [
        ("before_tool", shell("ls"), "none", ["quick-check failed", "deep-check failed"]),
        ("after_tool", shell("ls"), "none", ["async-process started"]),
    ],
    # An `if` around nothing but a comment is a syntax error, at which sh exits with 2: failed, not a block.
    "Using Environment Variables to Pass State": [
        ("session_start", {}, "allow", ["setup-env ok"]),
        ("before_tool", shell("ls"), "none", ["type-check failed"]),
    ],
}
MARKS = {
    "configuration": ("[[hooks]] array tables:\n", "The fields are:"),
    "payload": ("Every payload includes:\n", "Additional fields"),
    "deny": ("also treated as a block:\n", "Blocking only applies"),
    "events": ("| Event | Matcher | Main payload | Behavior |\n|---|---|---|---|\n", "UserPromptSubmit return text"),
    "prompt": ('<hook_result hook_event="UserPromptSubmit">\n', "\n</hook_result>"),
    "stop": ("so the current turn can continue:\n", "Example: block risky"),
    "example": ("multi-part commands.\n", "let input = ''"),
    "script": ("timeout = 5let", "When"),
}


def marked(read: Read, what: str) -> str:
    return read("array").between(*MARKS[what])


DESTROYS = "Dangerous command blocked: rm -rf / would destroy the system"
PRODUCTION = "This operation affects production environment and is not allowed"
PATTERN_1 = "Pattern 1: Dangerous Operation Interception (Sync + Block)"
PATTERN_2 = "Pattern 2: Auto-formatting (Async)"
PATTERN_3 = "Pattern 3: Sensitive Operation Block (Sync)"
PATTERN_4 = "Pattern 4: Session Audit Log (Async)"
PATTERN_5 = "Pattern 5: Quality Gate (Sync + before_stop)"
FOLDER: Cases = {
    "3.1 Sync Mode (Default)": [("before_tool", shell("ls"), "none", ["security-check ok"])],
    "3.2 Async Mode": [("after_tool", shell("ls"), "none", ["auto-format started"])],
    "4.1 Matcher Configuration": [
        ("before_tool", shell("rm -rf /"), "none", ["block-dangerous-commands ok"]),
        ("before_tool", shell("mkfs /dev/sda"), "none", ["block-dangerous-commands ok"]),
        ("before_tool", shell("cat x >:/dev/sda"), "none", ["block-dangerous-commands ok"]),
        ("before_tool", shell("ls"), "none", []),
        ("before_tool", write("rm -rf /"), "none", []),
    ],
    "5.5 Stop Event (Quality Gate)": [("before_stop", {}, "none", ["enforce-tests ok"])],
    PATTERN_1: [
        ("before_tool", shell("rm -rf /"), f"deny: {DESTROYS}", ["block-dangerous-commands blocked"]),
        ("before_tool", shell("mkfs /dev/sda"), f"deny: {DESTROYS}", ["block-dangerous-commands blocked"]),
        ("before_tool", shell("dd if=/dev/zero"), f"deny: {DESTROYS}", ["block-dangerous-commands blocked"]),
        ("before_tool", shell("ls"), "none", []),
    ],
    PATTERN_2: [
        ("after_tool", write("/tmp/a.py"), "none", ["auto-format-python started"]),
        ("after_tool", write("/tmp/a.pyc"), "none", []),
    ],
    PATTERN_3: [
        ("before_tool", shell("./deploy --to prod"), f"deny: {PRODUCTION}", ["block-prod-deploy blocked"]),
        ("before_tool", shell("kubectl -n production get"), f"deny: {PRODUCTION}", ["block-prod-deploy blocked"]),
        ("before_tool", shell("./deploy --to staging"), "none", []),
    ],
    PATTERN_4: [("session_end", {}, "none", ["audit-log started"])],
    PATTERN_5: [("before_stop", {}, "none", ["enforce-test-coverage ok"])],
}
