"""The house: who may import whom, and what an agent need not wait for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "tenterhook"

# Each layer may import itself and what stands above it.
LAYERS = (
    {
        "values",
        "bundle",
        "callers",
        "errors",
        "events",
        "jsonable",
        "light_json",
        "locks",
        "model",
        "places",
        "private_files",
        "processes",
        "shown",
        "shell_lines",
        "texts",
        "words",
    },
    {
        "expressions",
        "decisions",
        "verdicts",
        "running",
        "spawning",
        "warming",
        "prepared_python",
        "bounded_search",
        "matching",
        "circles",
        "guarded",
        "judging",
    },
    {"formats", "sessions", "calling"},
    {"journal"},
    {"commands", "minding"},
    {"catalog", "turns"},
    {"engine", "explaining", "replaying", "stopping", "telling"},
    {"approvals", "authoring"},
    {"gate", "hub", "joining"},
    {"life"},
    {"agent"},
    {"hosts"},
    {"adapters", "converting", "installing", "live"},
    {"approving", "inbox"},
    {"answering", "dispatch", "doctor"},
    {"bridge", "handing_over"},
    {"serving"},
    {"cli"},
    {"__main__"},
)
LAYER_OF = {module: number for number, layer in enumerate(LAYERS) for module in layer}


def modules() -> list[Path]:
    scripts = SOURCE / "hooks"  # of hooks: they run by themselves
    return sorted(file for file in SOURCE.rglob("*.py") if scripts not in file.parents)


def imports(file: Path) -> set[str]:
    """The top-level parts of our own package that a file imports, type checking aside."""
    package = file.relative_to(SOURCE).parts[:-1]
    found: set[str] = set()
    tree = ast.parse(file.read_text())
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in skipped:
            base = package[: len(package) - node.level + 1]
            if base:
                found.add(base[0])
            elif node.module:
                found.add(node.module.split(".")[0])
            else:
                found |= {alias.name for alias in node.names}
    return {name for name in found if name in LAYER_OF}


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_one_way(file: Path) -> None:
    part = file.relative_to(SOURCE).parts[0].removesuffix(".py")
    if part == "__init__":
        return
    assert part in LAYER_OF, "a new module needs its place in LAYERS"
    too_high = {name for name in imports(file) if LAYER_OF[name] > LAYER_OF[part]}
    assert not too_high


def modules_of(statement: str) -> set[str]:
    """What a bare interpreter has loaded after a statement."""
    code = f"import sys; sys.path.append(sys.argv[1]); {statement}; print(*sys.modules)"
    bare = [sys.executable, "-I", "-S", "-c", code, str(SOURCE.parent)]
    return set(subprocess.run(bare, capture_output=True, text=True, check=True).stdout.split())


def test_an_engine_starts_without_what_only_people_need() -> None:
    loaded = modules_of("import tenterhook.engine, tenterhook.catalog.loading")
    for_people = {"click", "tree_sitter", "regress", "asyncio", "difflib", "shutil"}
    heavy = {"typing", "dataclasses", "inspect", "subprocess", "yaml", "tomllib", "pathlib"}
    assert not (for_people | heavy) & loaded


def test_the_engine_alone_starts_without_expressions_json_and_enums() -> None:
    loaded = modules_of("import tenterhook.engine")
    assert not {"re", "json", "enum", "functools", "contextlib", "signal"} & loaded


def test_every_problem_code_is_used_and_every_used_code_is_known() -> None:
    from tenterhook.errors import CODES

    used = set()
    for file in modules():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and file.name != "errors.py":
                used |= {node.value} & set(CODES)
    assert used == set(CODES)
