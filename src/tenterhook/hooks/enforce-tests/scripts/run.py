#!/usr/bin/env -S python3 -I
"""When the agent is about to stop: were source files changed, does the project have tests, and do they pass?"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
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
LARGEST_READ = 16 * 1024 * 1024


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
    began = session_began()
    repository = repository_around(directory)
    status = None
    if repository is not None:
        # what has changed in a submodule is not asked: for that, git obeys the submodule's settings
        options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
        status = repository.git(directory, "status", *options, "--", ".")
    if repository is None or status is None:
        return [path for path, found in files(directory) if began and found.st_mtime > began]
    paths = [entry[3:] for entry in status.split("\0") if entry[3:]]
    if began and repository.head:
        options = (f"--since={int(began)}", "--name-only", "--format=", "-z", "--no-renames", "--ignore-submodules=all")
        committed = repository.git(directory, "log", *options, "--", ".")
        paths += [path for path in (committed or "").split("\0") if path.strip()]
    below = os.path.relpath(os.path.realpath(directory), repository.root)
    return [os.path.relpath(path, below) for path in dict.fromkeys(paths)]


def session_began() -> float | None:
    """When the session began: the time of the oldest file that is kept for it."""
    try:
        with os.scandir(os.path.dirname(os.environ["TENTERHOOK_ENV_FILE"])) as kept:
            return min(entry.stat().st_mtime for entry in kept)
    except (KeyError, OSError, ValueError):
        return None


class Repository:
    """A repository whose files, index and commits git may read, and none of its settings.

    Settings can name programs: filters, monitors, hooks, drivers, helpers, other settings to read. So git does
    not see them: it is given an empty repository of ours, which borrows index and objects.
    """

    def __init__(self, root: str, private: str) -> None:
        self.root, self.private = root, private
        self.common = os.path.join(private, read_text(f"{private}/commondir").strip())  # another one in a worktree
        self.head = self._commit(read_text(f"{private}/HEAD"))  # empty if nothing was committed yet

    def git(self, directory: str, *arguments: str) -> str | None:
        """What git prints in a directory, or None if it fails."""
        program = git_program(self.root)
        if program is None:
            return None
        with tempfile.TemporaryDirectory() as own:
            self._describe(own)
            environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
            environment |= {
                "GIT_DIR": own,
                "GIT_WORK_TREE": self.root,
                "GIT_INDEX_FILE": os.path.join(self.private, "index"),
                "GIT_OBJECT_DIRECTORY": os.path.join(self.common, "objects"),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_ATTR_NOSYSTEM": "1",
                "GIT_OPTIONAL_LOCKS": "0",
                "GIT_NO_LAZY_FETCH": "1",
                "GIT_ALLOW_PROTOCOL": "none",
            }
            command = [program, "--no-pager", *arguments]
            try:
                ended = subprocess.run(
                    command,
                    cwd=directory,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=20,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired):
                return None
        return ended.stdout.decode("utf-8", "replace") if ended.returncode == 0 else None

    def _describe(self, own: str) -> None:
        """Write what git must know of a repository beside its index and objects."""
        for name in ("objects", "refs", "info"):
            os.mkdir(os.path.join(own, name))
        is_sha256 = len(self.head) == 64
        written = {
            "HEAD": self.head or "ref: refs/heads/main",
            "config": "[core]\nrepositoryformatversion = 1\nbare = false\n"
            + ("[extensions]\nobjectformat = sha256\n" if is_sha256 else ""),
            "shallow": read_text(os.path.join(self.common, "shallow")),  # commits whose parents are not there
            "info/exclude": read_text(os.path.join(self.common, "info", "exclude")),
        }
        for name, text in written.items():
            if text:
                with open(os.path.join(own, name), "w", encoding="utf-8", errors="surrogateescape") as file:
                    file.write(text)

    def _commit(self, said: str, most: int = 5) -> str:
        """The commit that a file such as HEAD names, directly or by the name of a branch."""
        said = said.strip()
        if not said.startswith("ref: "):
            return said if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", said) else ""
        name = said.removeprefix("ref: ").strip()
        if not name.startswith("refs/") or ".." in name or not most:
            return ""
        found = read_text(os.path.join(self.common, name)) or read_text(os.path.join(self.private, name))
        if found:
            return self._commit(found, most - 1)
        packed = re.search(rf"^([0-9a-f]+) {re.escape(name)}$", read_text(f"{self.common}/packed-refs"), re.MULTILINE)
        return packed[1] if packed else ""


def repository_around(directory: str) -> Repository | None:
    """The repository that a directory is in. A directory that merely looks like a bare repository is none."""
    root = os.path.realpath(directory)
    while not os.path.lexists(os.path.join(root, ".git")):
        if root == os.path.dirname(root):
            return None
        root = os.path.dirname(root)
    private = os.path.join(root, ".git")
    if not os.path.isdir(private):
        pointer = read_text(private).strip()
        if not pointer.startswith("gitdir: "):
            return None
        private = os.path.join(root, pointer.removeprefix("gitdir: "))
    found = Repository(root, private)
    # without HEAD it is none, and where branches are kept in another form we cannot tell what was committed
    is_known = os.path.exists(f"{private}/HEAD") and not os.path.exists(f"{found.common}/reftable")
    return found if is_known else None


def git_program(root: str) -> str | None:
    """The installed git: never a program in the project."""
    for place in os.get_exec_path():
        program = os.path.join(place, "git")
        is_projects = os.path.realpath(program).startswith(root.rstrip("/") + "/") or place.startswith(root + "/")
        if os.path.isabs(place) and not is_projects and os.access(program, os.X_OK) and os.path.isfile(program):
            return program
    return None


def read_text(path: str) -> str:
    """The text of a file; empty if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe is not waited for
    except OSError:
        return ""
    try:
        with open(descriptor, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(LARGEST_READ) if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""
    except OSError:
        return ""


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
        print("There are changes, but no way to test them was found. Add tests.", file=sys.stderr)
        return 2
    status, said = run_command(command, directory, float(metadata.get("seconds", 240)))
    if status != 0:
        what = "take too long" if status is None else "fail"
        print(f"The tests {what} ({command}). Fix that.\n{said[-LONGEST_OUTPUT:]}", file=sys.stderr)
        return 2
    with open(record + ".new", "w", encoding="utf-8") as file:
        json.dump({**passed, directory: state_of(directory, changed)}, file)
    os.replace(record + ".new", record)
    print(json.dumps({"log": f"the tests pass: {command}"}))
    return 0


def run_command(command: str, directory: str, seconds: float) -> tuple[int | None, str]:
    """The exit status of a shell line, or None if it took too long, and its output. Nothing is left running."""
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
    """The state of the changed files, so that the same state is not tested twice."""
    repository = repository_around(directory)
    head = repository.head if repository is not None else ""
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
