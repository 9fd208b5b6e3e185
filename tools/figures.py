"""python -m tools.figures: the size of the program, and the number of files that an event enters.

Statements are counted in the syntax tree, so that neither wide lines nor comments change a figure; a linked file counts
once. The files that an event or an approval enters are traced in separate processes.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tenterhook"
TESTS = ROOT / "tests"
VALUES = {"model.py", "events.py", "errors.py"}  # not counted among the files that are entered


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tools.figures", description=__doc__)
    options.add_argument("--json", action="store_true", help="all figures as one JSON object")
    options.add_argument("--names", action="store_true", help="also which names, modules and files are meant")
    chosen = options.parse_args()
    files = sources()
    twice, lonely = ambiguous_names(files), without_a_test(files)
    walks = {"blocked event": entered("block"), "approval": entered("approve")}
    figures = {
        "statements": sum(statements(file) for file in files),
        "modules": len(files),
        "packages": len({file.parent for file in files if (file.parent / "__init__.py").exists()} - {SOURCE}),
        **{f"files entered by a{'n' if name[0] == 'a' else ''} {name}": len(found) for name, found in walks.items()},
        "class names used for two ideas": len(twice),
        "modules with a test at the mirrored path, in %": round(100 - 100 * len(lonely) / len(in_package(files))),
    }
    if chosen.json:
        print(json.dumps({**figures, "names": {**walks, "two ideas": twice, "no test": lonely}}, indent=2))
        return 0
    for name, value in figures.items():
        print(f"{value:8,}  {name}")
    if chosen.names:
        for name, found in {**walks, "two ideas": twice, "no test": lonely}.items():
            print(f"\n{name}:", *found, sep="\n  ")
    return 0


def sources() -> list[Path]:
    """Return the Python files of the package and its built-in hooks, linked ones once, without empty `__init__`."""
    found = {file.resolve() for file in SOURCE.rglob("*.py")}
    return sorted(file for file in found if file.name != "__init__.py" or statements(file) > 1)


def in_package(files: list[Path]) -> list[Path]:
    """Return the files that are neither scripts of built-in hooks nor `__init__` modules."""
    return [file for file in files if SOURCE / "hooks" not in file.parents and not file.name.startswith("__")]


def statements(file: Path) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(file.read_text())))


def ambiguous_names(files: list[Path]) -> list[str]:
    """Return the names of public classes in two modules. A schema may share the name of its value."""
    where: dict[str, set[str]] = defaultdict(set)
    for file in in_package(files):
        if file.stem.startswith(("schemas", "shapes")):
            continue
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where[node.name].add(str(file.relative_to(SOURCE)))
    return [f"{name}: {', '.join(sorted(found))}" for name, found in sorted(where.items()) if len(found) > 1]


def without_a_test(files: list[Path]) -> list[str]:
    """Return the modules `a/b.py` without `tests/a/test_b.py`."""
    names = [file.relative_to(SOURCE) for file in in_package(files)]
    return [str(name) for name in names if not (TESTS / name.parent / f"test_{name.name}").exists()]


def entered(walk: str) -> list[str]:
    """Return the files of which a function runs while an event is blocked, or approved by a person at the hub."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "TENTERHOOK_WALK_IN": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "tools.walks", walk, folder]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, check=False)
    if done.returncode:
        raise SystemExit(f"the walk '{walk}' failed:\n{done.stderr}")
    return [name for name in done.stdout.split() if Path(name).name not in VALUES | {"__init__.py"}]


if __name__ == "__main__":
    sys.exit(main())
