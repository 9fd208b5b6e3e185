"""python -m tools.figures: the size of the program, and how many files an event goes through.

Statements are counted in the syntax tree, so that line lengths and comments do not matter; a linked file counts once.
The files that an event or an approval enters are traced in separate processes.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import defaultdict
from pathlib import Path

from . import walks

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tenterhook"
TESTS = ROOT / "tests"
# Schemas of the hub's interface with the name of the value that they describe.
SHARED_WITH_SCHEMAS = {"Answer", "AnswerResult", "HookFigures", "Request", "Rule", "Session", "TimelineEntry"}


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tools.figures", description=__doc__)
    options.add_argument("--json", action="store_true", help="all figures as one JSON object")
    options.add_argument("--names", action="store_true", help="also which names, modules and files are meant")
    chosen = options.parse_args()
    files = sources()
    twice, lonely = ambiguous_names(files), without_a_test(files)
    traced = {name: walks.entered(name) for name in ("blocked event", "approval")}
    figures = {
        "statements": sum(statements(file) for file in files),
        "modules": len(files),
        "packages": len({file.parent for file in files if (file.parent / "__init__.py").exists()} - {SOURCE}),
        **{f"files entered by a{'n' if name[0] == 'a' else ''} {name}": len(found) for name, found in traced.items()},
        "class names used for two ideas": len(twice),
        "modules with a test at the mirrored path, in %": round(100 - 100 * len(lonely) / len(in_package(files))),
    }
    if chosen.json:
        print(json.dumps({**figures, "names": {**traced, "two ideas": twice, "no test": lonely}}, indent=2))
        return 0
    for name, value in figures.items():
        print(f"{value:8,}  {name}")
    if chosen.names:
        for name, found in {**traced, "two ideas": twice, "no test": lonely}.items():
            print(f"\n{name}:", *found, sep="\n  ")
    return 0


def sources() -> list[Path]:
    """Return every Python file of the package and its built-in hooks, linked ones once, except empty `__init__`s."""
    found = {file.resolve() for file in SOURCE.rglob("*.py")}
    return sorted(file for file in found if file.name != "__init__.py" or statements(file) > 1)


def in_package(files: list[Path]) -> list[Path]:
    """Return the files without the scripts of built-in hooks and the `__init__` modules."""
    return [file for file in files if SOURCE / "hooks" not in file.parents and not file.name.startswith("__")]


def statements(file: Path) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(file.read_text())))


def ambiguous_names(files: list[Path]) -> list[str]:
    """Return public classes with the same name in two modules. A schema may have the name of its value."""
    where: dict[str, set[str]] = defaultdict(set)
    for file in in_package(files):
        shared = SHARED_WITH_SCHEMAS if file.stem == "schemas" else set[str]()
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in shared:
                where[node.name].add(str(file.relative_to(SOURCE)))
    return [f"{name}: {', '.join(sorted(found))}" for name, found in sorted(where.items()) if len(found) > 1]


def without_a_test(files: list[Path]) -> list[str]:
    """Return the modules `a/b.py` without a `tests/a/test_b.py`."""
    names = [file.relative_to(SOURCE) for file in in_package(files)]
    return [str(name) for name in names if not (TESTS / name.parent / f"test_{name.name}").exists()]


if __name__ == "__main__":
    sys.exit(main())
