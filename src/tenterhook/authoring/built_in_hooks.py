"""The hooks that come with Tenterhook: their files, as `add` writes them, and the state of folders written earlier.

A guard is added as a HOOK.md that names it, or as a copy of its source, which runs without Tenterhook.
"""

from __future__ import annotations

import ast
import itertools
import os
from typing import TYPE_CHECKING

from ..basics import places, private_files
from ..formats import folder as folder_format
from ..guards import GUARDS
from .templates import File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Hook

DIRECTORY = os.path.join(places.PACKAGE, "hooks")
_FIRST = (
    *("block-dangerous-commands", "protect-secrets", "redact-secrets", "redact-secrets-in-errors", "stay-in-project"),
    *("protect-hooks", "infrastructure"),
)
CURRENT, COPIED = "as it comes", "copy"
# More than any shipped hook has. No more of a folder is read, since it may belong to a repository.
LARGEST, _MOST, _DEEPEST = 256 * 1024, 200, 8  # bytes of a file, files, levels
_SCRIPT = '''\
#!/usr/bin/env -S python3 -I
"""Run the guard of this folder: the payload of an event on stdin; exit status 2 refuses, with the reason on stderr.

The guard is source/guards/{module}.py. Its settings are the metadata of HOOK.md, which Tenterhook passes on.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # an isolated Python leaves it out
if sys.flags.isolated:  # it does not look where byte code is to be, either
    sys.pycache_prefix = os.environ.get("PYTHONPYCACHEPREFIX")

try:
    from source.guards import {module}, script

    settings = json.loads(os.environ.get("TENTERHOOK_METADATA") or '{{"on_failure": "block"}}')
    status, stdout, stderr = script.run({module}.judge, sys.stdin.buffer.read(), os.environ, settings)
except Exception as error:  # an older Python, or a mistake in a change of yours
    status, stdout = 2, ""
    stderr = "the guard cannot run: %s: %s\\n" % (type(error).__name__, error)
    if sys.version_info < (3, 11):
        stderr = "the guard needs Python 3.11 or later; this is %d.%d\\n" % sys.version_info[:2]
sys.stdout.write(stdout)
sys.stderr.write(stderr)
sys.exit(status)
'''


def built_in_hooks() -> list[Hook]:
    """Return the built-in hooks: the guards first, the most useful before others; then by name."""
    names = [name for name in sorted(os.listdir(DIRECTORY)) if os.path.exists(f"{DIRECTORY}/{name}/HOOK.md")]
    found = [folder_format.read(os.path.join(DIRECTORY, name), "user").hook for name in names]
    return sorted((hook for hook in found if hook is not None), key=_rank)


def _rank(hook: Hook) -> int:
    return _FIRST.index(hook.name) if hook.name in _FIRST else len(_FIRST) + (hook.guard is None)


def files(hook: Hook, *, copy: bool = False) -> dict[str, File]:
    """Return the files of a built-in hook, HOOK.md last; with `copy`, a guard's source instead of its name."""
    assert hook.folder is not None
    found = {}
    for name, path in paths(hook.folder).items():
        with open(path, encoding="utf-8", newline="") as file:
            found[name] = File(file.read(), executable=_is_script(name))  # an installer may have lost the exec bit
    if copy and hook.guard is not None:
        del found["scripts/run.sh"]
        module = GUARDS[hook.guard]
        found["scripts/run.py"] = File(_SCRIPT.format(module=module), executable=True)
        for name in sorted(_imported(f"guards/{module}.py", "guards/script.py")):
            with open(os.path.join(places.PACKAGE, name), encoding="utf-8", newline="") as file:
                found[f"scripts/source/{name}"] = File(file.read())
        definition = found["HOOK.md"].text.replace(f"\n  guard: {hook.guard}\n", "\n", 1)
        found["HOOK.md"] = File(definition)
    found["HOOK.md"] = found.pop("HOOK.md")
    return found


def state_of(hook: Hook, folder: str) -> str | None:
    """Return whether a folder is the hook as it comes, a copy of its source, or `changed`; None if there is none."""
    if not os.path.lexists(folder):
        return None
    if not os.path.islink(folder):
        for state in (CURRENT, COPIED):
            if _is_written(files(hook, copy=state == COPIED), folder):
                return state
    return "changed"


def paths(folder: str) -> dict[str, str]:
    """Return the content of a folder except directories, by relative path, without byte code.

    No more files or levels are listed than a built-in hook has; a directory that was not entered stands for the rest.
    """
    found: dict[str, str] = {}
    left = [""]
    while left and len(found) <= _MOST:
        inside = left.pop()
        try:
            with os.scandir(os.path.join(folder, inside)) as scanned:
                entries = sorted(itertools.islice(scanned, _MOST + 1), key=lambda entry: entry.name)
        except OSError:
            found[inside] = os.path.join(folder, inside)
            continue
        for entry in entries:
            name = os.path.join(inside, entry.name)
            if not entry.is_dir(follow_symlinks=False) or name.count("/") >= _DEEPEST:
                found[name] = entry.path
            elif entry.name != "__pycache__":
                left.append(name)
    return found


def content(path: str) -> bytes | None:
    """Return the content of a regular file, up to the size of a shipped file; None for links and other files."""
    return None if os.path.islink(path) else private_files.read_regular(path, LARGEST)


def _is_written(expected: dict[str, File], folder: str) -> bool:
    """Whether a folder contains these files and no others, and its scripts are executable."""
    found = paths(folder)
    return found.keys() == expected.keys() and all(
        content(found[name]) == file.text.encode() and file.executable <= os.access(found[name], os.X_OK)
        for name, file in expected.items()
    )


def _is_script(name: str) -> bool:
    return os.path.basename(name).startswith("run.")


def _imported(*modules: str) -> set[str]:
    """Return the files of our package that modules import, with themselves and the packages around them."""
    found: set[str] = set()
    left = list(modules)
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        with open(os.path.join(places.PACKAGE, name), encoding="utf-8") as file:
            left += _imports(name, ast.parse(file.read()))
    return found


def _imports(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield the files that a module of our package imports when it runs, and the `__init__` of each package."""
    parts = name.removesuffix(".py").split("/")
    if len(parts) > 1:
        yield f"{parts[0]}/__init__.py"
    for node in _executed(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        above = parts[: len(parts) - node.level]
        module = "/".join((*above, *(node.module or "").split("."))).rstrip("/")
        for path in (f"{module}.py", *(f"{module}/{alias.name}.py" for alias in node.names)):
            if os.path.isfile(os.path.join(places.PACKAGE, path)):
                yield path


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node except those for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from (each for child in node.orelse for each in (child, *_executed(child)))
        else:
            yield node
            yield from _executed(node)
