"""The shell builtins that change the shell's own state: `cd`, `export`, `read`, `eval` …"""

from __future__ import annotations

from ..basics import lazy_re as re
from . import programs
from .output import printf
from .state import MOST_VALUES, some_values
from .syntax import UNKNOWN
from .words import MOST_WORDS, small_number

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Callable

    from .state import ShellState
    from .walk import Walk

    Builtin = Callable[[Walk, list[str], ShellState, str | None, str, int], str]


def _cd(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    targets = [word for word in words[1:] if word != "--" and not programs.is_cluster(word, "LPe@")]
    if words[0] == "popd" or targets[:1] == ["-"]:
        state.directory = "/" + UNKNOWN
    elif targets or words[0] != "pushd":
        state.directory = walk.path(targets[0] if targets else walk.home(state), state)
    return ""


def _declare(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    evaluates = words[0] == "integer" or any(programs.has_short_option(word, "in") for word in words[1:])
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if evaluates and not name.startswith("-"):
            walk.evaluated.add(name)
            walk.evaluate([value], state, depth)
        if equals and re.fullmatch(r"[A-Za-z_]\w*", name):
            state.variables[name] = (value,)
            walk.command_variables([(name, value)], state, stdin, shown, depth)
    return ""


def _let(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    walk.evaluate(words[1:], state, depth)
    return ""


def _change(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    """Walk `unset`, `set`, `shift`, `getopts`."""
    match words[0]:
        case "unset":
            state.variables.update((word, (" \t\n" if word == "IFS" else "",)) for word in words[1:])
            state.lists = {name: items for name, items in state.lists.items() if name not in words[1:]}
        case "set" if "--" in words:
            state.arguments = words[words.index("--") + 1 :]
        case "shift":
            count = small_number(words[1]) if words[1:] else 1
            state.arguments = state.arguments[max(count or 0, 0) :]
        case "getopts" if len(words) > 2:
            state.variables[words[2]] = (UNKNOWN,)
    return ""


def _read(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    options, at = programs.split_options(words, "adinNptu")
    names = words[at:] or ["REPLY"]
    walk.budget.spend_on(len(stdin or ""))
    lines = some_values([line for line in (stdin or "").replace("\0", "\n").split("\n", 4 * MOST_VALUES) if line])
    for number, name in enumerate(names):
        split = [line.split(None, len(names) - 1)[number : number + 1] if len(names) > 1 else [line] for line in lines]
        state.variables[name] = tuple("".join(each) for each in split) or (UNKNOWN,)
    for name in programs.values(options, "-a"):
        state.lists[name] = (stdin or UNKNOWN).split()
    return ""


def _mapfile(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    options, at = programs.split_options(words, "dnOsuCc")
    walk.budget.spend_on(len(stdin or ""))
    for line in programs.values(options, "-C"):
        walk.shell(line, walk.copy(state), stdin, shown, depth + 1)
    lines = (stdin or UNKNOWN).split("\n", MOST_WORDS)
    name = "".join(words[at : at + 1]) or "MAPFILE"
    state.lists[name] = lines if len(lines) <= MOST_WORDS else [*lines[:MOST_WORDS], UNKNOWN]
    return ""


def _printf(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    walk.budget.spend(len(words) // 2 + sum(word.count("\\") + word.count("%") for word in words[1:]))
    if words[1:2] == ["-v"] and len(words) > 3:
        state.variables[words[2]] = (printf(words[3:]),)
        return ""
    return printf(words[1:])


def _alias(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if equals:
            state.aliases[name] = value
            walk.shell(value, walk.copy(state), stdin, shown, depth + 1)
    return ""


def _hash(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    """Walk `hash -p path name`: the name runs the program at that path."""
    options, at = programs.split_options(words, "pd")
    if path := programs.value_of(options, "-p"):
        state.aliases.update(dict.fromkeys(words[at:], programs.quoted(path)))
    return ""


def _eval(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    code = " ".join(words[1:])
    state.sourced = state.sourced or code.strip() == UNKNOWN
    return in_this_shell(walk, code, state, stdin, shown, depth, walk.is_certain)


def in_this_shell(
    walk: Walk, code: str, state: ShellState, stdin: str | None, shown: str, depth: int, is_certain: bool
) -> str:
    """Walk code in the shell's own state, as `eval` runs it."""
    outer, state.is_certain = state.is_certain, state.is_certain and is_certain
    out = walk.shell(code, state, stdin, shown, depth + 1)
    state.is_certain = outer
    return out


def _source(walk: Walk, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int) -> str:
    path = "".join(words[1:2])
    from_stdin = ("", "-", "/dev/stdin", "/dev/fd/0")  # without a path, as fish reads it
    text = stdin if path in from_stdin else walk.text(path, state)
    if text is None:
        state.sourced = state.sourced or bool(path)
        return UNKNOWN if path else ""
    return in_this_shell(walk, text, state, stdin, shown, depth, is_certain=False)


BUILTINS: dict[str, Builtin] = {
    **dict.fromkeys(("cd", "chdir", "pushd", "popd"), _cd),
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly", "integer"), _declare),
    "let": _let,
    **dict.fromkeys(("unset", "set", "shift", "getopts"), _change),
    "read": _read,
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    "printf": _printf,
    "alias": _alias,
    "hash": _hash,
    "eval": _eval,
    **dict.fromkeys(("source", "."), _source),
}
