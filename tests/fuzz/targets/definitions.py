"""Hook definitions: any bytes give hooks and problems, and never take a good definition down."""

from __future__ import annotations

import functools
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from fuzz import inputs
from support import array_hook, folder_hook, table_hook, user_hooks
from tenterhook.basics import places
from tenterhook.catalog import fail_closed, index, lints, loading, snapshot
from tenterhook.errors import CODES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tenterhook.errors import Problem

_ROOT = Path(__file__).parents[3]
_TESTS = _ROOT / "tests"


def _fenced(file: Path, kind: str) -> list[bytes]:
    return [
        found.encode() for found in re.findall(rf"^```{kind}\n(.*?)^```", file.read_text(), re.MULTILINE | re.DOTALL)
    ]


def _folders() -> list[bytes]:
    found = [file.read_bytes() for file in sorted((_ROOT / "src/tenterhook/hooks").glob("*/HOOK.md"))]
    full = """---
name: full
description: "all of it: \\\\d"
trigger: pre-tool-call
matcher:
  tool: Shell|Write.*
  pattern: "rm -rf|é"
timeout: 5000
async: true
priority: 10
metadata: {on_failure: block, a: [1, 2.5, ~, 2001-01-01], env: {A: b}}
---

# Full
"""
    return [full.encode(), full.replace("\n", "\r\n").encode(), *found]


def _tomls() -> list[bytes]:
    made = [
        array_hook("exit 0", matcher="Shell", timeout=5),
        table_hook("exit 2", matcher={"tool": "Shell", "pattern": "x"}),
    ]
    made.append('[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "x"\n')
    made.append('[[hooks.before_tool]]\ncommand = "echo {{tool_input.command}}"\n[[hooks.Stop]]\ncommand = "x"\n')
    docs = [text for page in sorted((_ROOT / "docs").glob("*.md")) for text in _fenced(page, "toml")]
    return [*(each.encode() for each in made), *docs]


def _jsons() -> list[bytes]:
    files = (file for file in sorted((_TESTS / "installing").glob("settings/*/*.json")) if file.is_file())
    full = b"""{"hooks": {"PreToolUse": [{"matcher": "Bash|Edit", "hooks": [
      {"type": "command", "command": "x", "timeout": 5, "args": ["a"], "env": {"A": 1}, "shell": "bash"}]}],
      "BeforeTool": [{"sequential": true, "hooks": [{"type": "command", "command": "y", "timeout": 5000}]}]}}"""
    return [full, *(file.read_bytes() for file in files)]


_WORDS = [
    *("---\n", ": ", "- ", "  ", "\t", "\n", "\r\n", "&a ", "*a", "!!python/object:os.system x", "!!binary x"),
    *("<<: *a", "name", "trigger", "matcher", "tool", "pattern", "timeout", "async", "priority", "metadata"),
    *("on_failure", "hooks", "[[hooks]]\n", "[hooks]\n", "[[hooks.before_tool]]\n", "command = ", "event", '"', "'"),
    *("{", "}", "[", "]", "=", "#", "null", "~", "true", "1e999", "-1", ".nan", ".inf", "0x10", "1_000"),
    *("2001-01-01", "2001-13-45", "12:30:45", "9" * 4400, "[" * 600, "a{" + "9" * 4400 + "}", "[[a]", "\0", "\ufeff"),
    *("\u2028", "\x85", "\x7f", "\\", "(", "(?<a>", "*", "(a+)+$", "{{", "{{tool_input.x}}", "\ud83d\ude00"),
    *('"hooks": ', '"matcher": ', "? ", '"type": "command"', "//", "/*", "*/", "é", "|", ">", "%", "@", "`"),
    *("a" * 300, "\\d", '"\\d"'),
]
# Values that are refused late, or not by a syntax error: more often than the others.
_VALUES = ["9" * 4400, "2001-13-45", '"\\d"', "'a{" + "9" * 4400 + "}'", "'[[a]'", "[" * 600, ".nan", "nan", "{}", "[]"]
_words = [word.encode("utf-8", "surrogatepass") for word in (*_WORDS, *(8 * _VALUES))]
# Where a definition stands, and what it is a change of.
_PLACES = {
    "home/.config/agents/hooks/odd/HOOK.md": _folders(),
    "home/.config/agents/hooks/hooks.toml": [
        b'[[hooks.disable]]\nname = "other"\nuntil = 2100-01-01T00:00:00Z\n',
        b'[[hooks.override]]\nname = "odd"\ntimeout = 7000\n[[hooks.disable]]\nname = "odd"\n',
        b"debug = true\nenabled = true\n[defaults]\ntimeout = 7000\n",
        *_tomls(),
    ],
    "project/.agents/hooks/odd/HOOK.md": _folders(),
    "named/hooks.toml": _tomls(),
    "named/.claude/settings.json": _jsons(),
    "named/.gemini/settings.json": _jsons(),
    "named/.qwen/settings.json": _jsons(),
    "named/.codex/hooks.json": _jsons(),
    "named/.codex/config.toml": _tomls(),
}
definitions = st.dictionaries(st.sampled_from(list(_PLACES)), st.none(), min_size=1, max_size=3).flatmap(
    lambda found: st.fixed_dictionaries({each: inputs.changed_bytes([b"", *_PLACES[each]], _words) for each in found})
)


@functools.cache
def _good() -> Path:
    """Where all of it stands: a good definition of either kind, which nothing beside them takes down."""
    snapshot.CLOCK_TICK = -1  # each input is removed before the next one is written
    top = Path(places.home())
    os.environ["HOME"] = str(top / "home")
    folder_hook(user_hooks(top / "home"), "good", "exit 2")
    (top / "named").mkdir()
    (top / "named" / "good.toml").write_text(array_hook("exit 2"))
    return top


def _check(problems: Iterable[Problem]) -> None:
    for problem in problems:
        assert problem.code in CODES
        assert problem.file and problem.message and problem.remedy, problem
        assert problem.line is None or problem.line >= 1, problem
        " ".join((problem.file, problem.message, problem.remedy)).encode("utf-8", "surrogateescape")


@given(files=definitions)
def fuzz(files: dict[str, bytes]) -> None:
    """Loading gives the good hook, and problems that can be acted on; the same again, and from the index."""
    top = _good()
    for name in _PLACES:
        (top / name).unlink(missing_ok=True)
    Path(fail_closed.path()).unlink(missing_ok=True)  # of the input before, whose hooks would be missing
    for name, data in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    project = top / "project"
    configs = [str(top / "named" / "good.toml"), *(str(top / name) for name in files if name.startswith("named"))]
    catalog = loading.load(str(project), configs)
    _check(catalog.problems)
    names = [
        (hook.name, hook.event) for hook in catalog.all_hooks() if hook.source.endswith(("good/HOOK.md", "good.toml"))
    ]
    assert ("good", "pre-tool-call") in names
    assert any(hook.source.endswith("good.toml") for hook in catalog.hooks)
    again = loading.load(str(project), configs)
    assert (again.hooks, again.problems) == (catalog.hooks, catalog.problems)
    for hook in catalog.hooks:
        _check(lints.lint(hook))
    for _ in range(20):
        kept = index.load(str(project), configs)
        assert repr((kept.hooks, kept.problems)) == repr((catalog.hooks, catalog.problems))
        if (found := index.read(str(project), configs)) is not None:
            break
        time.sleep(0.01)  # what has just changed is not kept
    assert found is not None, "no index was made"
    known = index.catalog(found)
    assert known.hooks == catalog.hooks
    assert (known.problems, known.debug, known.left_out) == (catalog.problems, catalog.debug, catalog.left_out)
