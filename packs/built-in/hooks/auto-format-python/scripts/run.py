#!/usr/bin/env -S python3 -I
"""Format a Python file that the agent has just written; say so if that changed it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

COMMANDS = {"ruff": ["format", "--quiet", "--force-exclude"], "black": ["--quiet"]}


def main() -> None:
    event = json.load(sys.stdin)
    directory = event.get("work_dir") or os.getcwd()
    given = event.get("tool_input") or {}
    paths = given.get("file_paths") or [given.get("file_path") or given.get("path")]
    paths = [
        os.path.join(directory, path) for path in paths if isinstance(path, str) and path.endswith((".py", ".pyi"))
    ]
    paths = [path for path in paths if os.path.isfile(path)]
    formatter = find_formatter(directory) if paths else None
    if formatter is None:
        return
    said = [text for path in paths for text in [format_file(formatter, path, directory)] if text]
    if said:
        print(json.dumps({"additional_context": "\n".join(said)}))


def find_formatter(directory: str) -> str | None:
    """The first formatter there is: the project's own, if it is trusted, then those on the PATH."""
    trusted = os.environ.get("TENTERHOOK_PROJECT_TRUSTED") == "1"
    wanted = json.loads(os.environ.get("TENTERHOOK_METADATA") or "{}").get("formatter")
    own = [os.path.join(directory, venv, "bin") for venv in (".venv", "venv")] if trusted else []
    root = project_root(directory)
    for name in [wanted] if wanted in COMMANDS else COMMANDS:
        for place in [*own, *os.environ.get("PATH", "").split(os.pathsep)]:
            program = os.path.join(place, name)
            if not os.path.isabs(place) or not os.access(program, os.X_OK) or os.path.isdir(program):
                continue
            is_projects = (os.path.abspath(program) + "/").startswith(root + "/")
            if trusted or not is_projects:
                return program
    return None


def project_root(directory: str) -> str:
    current = os.path.abspath(directory)
    while os.path.dirname(current) != current:
        if os.path.exists(os.path.join(current, ".git")):
            return current
        current = os.path.dirname(current)
    return os.path.abspath(directory)


def format_file(formatter: str, path: str, directory: str) -> str | None:
    """Format one file; return what the agent should know about it."""
    name = os.path.basename(formatter)
    shown = os.path.relpath(path, directory)
    before = read(path)
    command = [formatter, *COMMANDS[name], path]
    ended = subprocess.run(
        command, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, timeout=15, check=False
    )
    if ended.returncode:
        why = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"{name} could not format {shown}: {why[0] if why else f'exit status {ended.returncode}'}"
    if read(path) != before:
        return f"{name} has formatted {shown}; read it again before you edit it."
    return None


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main()
