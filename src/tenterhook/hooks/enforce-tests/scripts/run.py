#!/usr/bin/env python3
"""When the agent is about to stop: were source files changed, and are there tests for them? Do they pass?"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from collections.abc import Iterator
    from typing import Any

SOURCES = tuple(
    ".py .js .jsx .mjs .ts .tsx .go .rs .rb .java .kt .c .cc .cpp .h .hpp .cs .php .swift .scala .ex .exs .lua".split()
)
SKIPPED = {"node_modules", "venv", "target", "build", "dist", "vendor", "__pycache__", "site-packages"}
IS_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?)/|(?:^|/)(?:test_[^/]*|[^/]*_test|[^/]*_spec|[^/]*[.-](?:test|spec)|[^/]*Tests?|tests)"
    r"\.\w+$"
)
MOST_FILES = 50_000
LONGEST_OUTPUT = 4000


def main() -> int:
    event = json.load(sys.stdin)
    directory = event.get("work_dir") or os.getcwd()
    metadata = json.loads(os.environ.get("TENTERHOOK_METADATA") or "{}")
    changed = [path for path in changed_files(directory) if path.endswith(SOURCES)]
    if metadata.get("run"):
        if os.environ.get("TENTERHOOK_PROJECT_TRUSTED") == "1":
            return run_tests(directory, changed, metadata)
        remedy = "its code is not trusted; tenterhook trust --code"
        print(json.dumps({"message": f"enforce-tests did not run this project's tests: {remedy}"}))
    code = [path for path in changed if not IS_TEST.search(path)]
    if not code or event.get("stop_hook_active") or has_tests(directory):
        return 0
    named = ", ".join(code[:5]) + (" …" if len(code) > 5 else "")
    print(
        f"You changed {named}, and this project has no tests. Add at least one that covers the change.", file=sys.stderr
    )
    return 2


def changed_files(directory: str) -> list[str]:
    """Files changed since the last commit, or since the session began; paths below the directory."""
    status = git(directory, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", ".")
    began = session_began()
    if status is None:
        return [path for path, found in files(directory) if began and found.st_mtime > began]
    paths = [entry[3:] for entry in status.split("\0") if entry[3:]]
    if began:
        committed = git(directory, "log", f"--since={int(began)}", "--name-only", "--format=", "-z", "--", ".")
        paths += [path for path in (committed or "").split("\0") if path.strip()]
    return list(dict.fromkeys(paths))


def session_began() -> float | None:
    """When the session began: the time of the oldest file that is kept for it."""
    try:
        with os.scandir(os.path.dirname(os.environ["TENTERHOOK_ENV_FILE"])) as kept:
            return min(entry.stat().st_mtime for entry in kept)
    except (KeyError, OSError, ValueError):
        return None


def git(directory: str, *arguments: str) -> str | None:
    """What git prints, or None outside a repository. The repository's settings start no programs here."""
    quiet = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false")
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        ended = subprocess.run(
            ["git", *quiet, *arguments], cwd=directory, env=environment, capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ended.stdout.decode("utf-8", "replace") if ended.returncode == 0 else None


def files(directory: str) -> Iterator[tuple[str, os.stat_result]]:
    """Files of the project with what the system knows about each; others' code and hidden directories left out."""
    left = MOST_FILES
    for here, directories, names in os.walk(directory):
        directories[:] = [name for name in directories if name not in SKIPPED and not name.startswith(".")]
        for name in names:
            left -= 1
            if not left:
                return
            path = os.path.join(here, name)
            try:
                yield os.path.relpath(path, directory), os.stat(path)
            except OSError:
                continue


def has_tests(directory: str) -> bool:
    for path, _ in files(directory):
        if path.endswith(SOURCES) and IS_TEST.search(path):
            return True
        if path.endswith(".rs"):  # in Rust they stand beside the code
            with open(os.path.join(directory, path), encoding="utf-8", errors="replace") as file:
                if "#[test]" in file.read():
                    return True
    return False


def run_tests(directory: str, changed: list[str], metadata: dict[str, Any]) -> int:
    """Run the tests unless nothing has changed since they passed."""
    state = state_of(directory, changed)
    record = os.path.join(os.environ.get("TENTERHOOK_STATE_DIR", directory), "passed.json")
    passed = read_json(record)
    if not changed or passed.get(directory) == state:
        return 0
    command = metadata.get("command") or test_command(directory)
    if not command:
        print("There are changes, and no way to test them was found. Add tests.", file=sys.stderr)
        return 2
    status, said = run_command(command, directory, float(metadata.get("seconds", 240)))
    if status != 0:
        what = "take too long" if status is None else "fail"
        print(f"The tests {what} ({command}). Mend that.\n{said[-LONGEST_OUTPUT:]}", file=sys.stderr)
        return 2
    with open(record + ".new", "w", encoding="utf-8") as file:
        json.dump({**passed, directory: state_of(directory, changed)}, file)
    os.replace(record + ".new", record)
    print(json.dumps({"log": f"the tests pass: {command}"}))
    return 0


def run_command(command: str, directory: str, seconds: float) -> tuple[int | None, str]:
    """The exit status of a shell line, or None if it took too long, and what it said. Nothing of it is left running."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

        def end(*_: object) -> None:  # our own time is over
            os.killpg(process.pid, signal.SIGKILL)
            sys.exit(1)

        signal.signal(signal.SIGTERM, end)
        try:
            status: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None
        output.seek(0)
        return status, output.read().decode("utf-8", "replace")


def state_of(directory: str, changed: list[str]) -> list[Any]:
    """What the changed files are like now, so that the same state is not tested twice."""
    head = (git(directory, "rev-parse", "HEAD") or "").strip()
    found = []
    for path in sorted(changed):
        try:
            known = os.stat(os.path.join(directory, path))
            found.append([path, known.st_mtime_ns, known.st_size])
        except OSError:
            found.append([path, 0, 0])
    return [head, found]


def read_json(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def test_command(directory: str) -> str | None:
    """The usual way to run a project's tests, by the files it has."""
    has = set(os.listdir(directory))
    makefile = next((name for name in ("Makefile", "makefile", "GNUmakefile") if name in has), None)
    if makefile:
        with open(os.path.join(directory, makefile), encoding="utf-8", errors="replace") as file:
            if re.search(r"^test\s*:", file.read(), re.MULTILINE):
                return "make test"
    if "package.json" in has and read_json(os.path.join(directory, "package.json")).get("scripts", {}).get("test"):
        return "npm test --silent"
    if "Cargo.toml" in has:
        return "cargo test --quiet"
    if "go.mod" in has:
        return "go test ./..."
    if any(path.endswith(".py") and IS_TEST.search(path) for path, _ in files(directory)):
        venv = next((name for name in (".venv", "venv") if os.path.exists(f"{directory}/{name}/bin/python")), None)
        python = f"{venv}/bin/python" if venv else "python3"
        return f"{python} -m pytest -q -x || [ $? = 5 ]" if has_pytest(directory, python) else f"{python} -m unittest"
    return None


def has_pytest(directory: str, python: str) -> bool:
    asked = [python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('pytest') is None)"]
    try:
        return subprocess.run(asked, cwd=directory, timeout=20, capture_output=True, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if __name__ == "__main__":
    sys.exit(main())
