"""The guard `stay-in-project`: objects to writing, moving and deleting outside the project.

Temporary directories, caches and the directories in its settings are allowed too. In shell lines, it checks the effects
of each command; for other tools, the paths in their arguments. Reading is always allowed.
"""

from __future__ import annotations

import os

from ..basics import lazy_re as re
from ..basics.places import real_path
from ..shell import reader
from ..shell.effects import PathEffect, effects
from ..shell.programs import Find, arguments, resolved, value_of
from ..shell.syntax import PATTERNS, UNKNOWNS, before, decoded
from .calls import (
    ASK,
    DENY,
    GuardFinding,
    is_below,
    judged,
    patched,
    path_here,
    paths_in,
    project_root,
    read,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.reader import ShellCommand
    from .calls import GuardedCall, Objection

MOST = 500  # paths of a command that are checked
_INSIDE = "write inside the project or in a temporary directory, and tell the user what should go elsewhere"
# The rules: what each is about, and what to do instead.
RULES = {
    "system": ("changes files of the system", _INSIDE),
    "dotfiles": ("changes settings in the home directory", _INSIDE),
    "outside": ("changes files outside the project", _INSIDE),
}
_SYSTEM = (
    r"/(?:bin|boot|dev|etc|lib\w*|opt|proc|root|run|sbin|srv|sys|usr|var|nix|snap|System|Library|Applications)(?:/.*)?"
)
_TEMPORARY = tuple(
    "/tmp /var/tmp /dev/shm /private/tmp /private/var/tmp /var/folders /private/var/folders".split()  # noqa: S108
)
_DEVICES = r"/dev/(?:null|zero|full|random|urandom|tty\w*|std(?:in|out|err)|fd/.*|tcp/.*|udp/.*)|/proc/self/fd/.*|-|&\d"
_CACHES = (".cache", "Library/Caches", ".npm/_cacache", ".cargo/registry", "go/pkg", ".gradle/caches", ".m2/repository")
_CHANGING_GIT = frozenset(
    "add am apply checkout cherry-pick clean commit gc merge mv pull rebase reset restore revert rm stash "
    "switch".split()
)
_SHOWING_GIT = (
    r"(?:add|clean|mv|rm) (?:.* )?(?:-\w*n\w*|--dry-run)(?: |$)|stash (?:list|show)\b|apply (?:.* )?--(?:check|stat)\b"
)
_CHANGING_TOOL = (
    r"(?i)write|create|edit|replace|patch|delete|remove|move|rename|mkdir|insert|append|save|put_|copy|notebook|update"
)
_CMDLETS = frozenset(
    "set-content add-content out-file remove-item new-item copy-item move-item rename-item clear-content".split()
)


def judge(call: GuardedCall) -> Objection | None:
    """Return the objection to a call, or None: deny changes of the system and dotfiles, ask about others outside."""
    check = _Check(call)
    return judged(call, RULES, check.of_line, check.of_tool)


class _Check:
    def __init__(self, call: GuardedCall) -> None:
        self.call = call
        self._home = os.path.normpath(reader.agents_home(call.environment))
        work_dir = os.path.abspath(call.work_dir or os.getcwd())
        temporary = call.environment.get("TMPDIR")
        given = [work_dir, project_root(work_dir, self._home), *call.directories()]
        self._allowed = _with_real([*given, *(os.path.join(self._home, name) for name in _CACHES)])
        self._temporary = _with_real([*_TEMPORARY, *([os.path.normpath(temporary)] if temporary else [])])

    def of_tool(self) -> Iterator[GuardFinding]:
        """Yield a finding for each path outside that a tool would change."""
        name = self.call.tool_name.rpartition("__")[2]
        given = self.call.tool_input
        if not re.search(_CHANGING_TOOL, name) and not isinstance(given, str):
            return
        if isinstance(given, dict) and "copy" in name.lower():
            given = {key: value for key, value in given.items() if not re.search(r"(?i)source|from|src", str(key))}
        for path in paths_in(given) if isinstance(given, dict) else patched(str(given)):
            if "\n" not in path and len(path) < 4096:
                yield from self._finding(resolved(path, self.call.work_dir, self._home), path, False)

    def of_line(self, line: str | list[str]) -> Iterator[GuardFinding]:
        """Yield a finding for each path outside that a command of a line would change."""
        reading = read(line, self.call.directory(), self.call.environment)
        for command in reading.commands:
            # on another machine, or another reading of the same command in which an unset variable is empty
            if "ssh" in command.through or command.unset:
                continue
            for effect in (*effects(command)[:MOST], *_more_effects(command)):
                is_windows = effect.path[1:2] == ":" and re.match(r"[A-Za-z]:[\\/]", effect.path)
                path = "/" + effect.path if is_windows else path_here(command, effect.path, self._home)
                if path is not None and not (effect.kind == "mode" and self._only_tightens(command, path)):
                    keeps_link = effect.kind in ("delete", "move")
                    yield from self._finding(path, command.shown, keeps_link, command.span)

    def _only_tightens(self, command: ShellCommand, path: str) -> bool:
        """Whether a `chmod` only takes rights from other accounts, on something in the home."""
        # the mode is the first word after these options; with any other option, it is not determined
        mode = next((word for word in command.words[1:] if not re.fullmatch(r"-[RHLPcfv]+|--recursive", word)), "")
        tightens = re.fullmatch(r"0?[4-7]00|(?:go|og|[go])(?:-[rwx]+|=)", mode) is not None
        return command.name == "chmod" and tightens and is_below(path, self._home) and path != self._home

    def _finding(
        self, path: str, part: str, keeps_link: bool, span: tuple[int, int] | None = None
    ) -> Iterator[GuardFinding]:
        where = self._outside(path, keeps_link)
        if where is None:
            return
        if where.startswith(self._home + "/."):
            rule, decision = "dotfiles", DENY
        elif re.fullmatch(_SYSTEM, where) and not is_below(where, self._home):
            rule, decision = "system", DENY
        else:
            rule, decision = "outside", ASK
        yield GuardFinding(rule, decision, part, f"it {RULES[rule][0]} ({decoded(where)})", span)

    def _outside(self, path: str, keeps_link: bool) -> str | None:
        """Return a changed path, or its real path, if it is outside of what is allowed; else None.

        For a path with unknown parts, the known directory counts.
        """
        known = before(path, (*UNKNOWNS, *PATTERNS))
        if known != path:
            known = known.rpartition("/")[0] or "/"
            if not path.startswith("/") or self._leads_inside(known):
                return None
        if known == "" or (known.startswith(("/dev/", "/proc/", "-", "&")) and re.fullmatch(_DEVICES, known)):
            return None
        directory, _, name = known.rpartition("/")
        real = os.path.join(real_path(directory or "/"), name) if keeps_link else real_path(known)
        return next((each for each in (known, real) if not self._is_allowed(each)), None)

    def _is_allowed(self, path: str) -> bool:
        if any(is_below(path, directory) for directory in self._allowed):
            return True
        # a home may itself be below a temporary directory
        return any(
            is_below(path, each) and (not is_below(self._home, each) or not is_below(path, self._home))
            for each in self._temporary
        )

    def _leads_inside(self, directory: str) -> bool:
        """Whether a path below a directory may lead into an allowed one."""
        return any(is_below(allowed, directory) for allowed in (*self._allowed, *self._temporary))


def _with_real(paths: list[str]) -> list[str]:
    """Return paths and their real paths."""
    return list(dict.fromkeys(each for path in paths for each in (path, real_path(path))))


def _more_effects(command: ShellCommand) -> Iterator[PathEffect]:
    """Yield changes that `effects` does not have: in other repositories, by patches, by PowerShell."""
    if command.name == "git":
        options, operands = arguments(command.words, "cCb", ("--git-dir", "--work-tree", "--branch", "--depth"))
        where = value_of(options, "-C") or "."
        if operands[:1] in (["clone"], ["init"]) or operands[:2] == ["worktree", "add"]:
            paths = operands[2:3] if operands[0] != "init" else operands[1:2]
            yield from (PathEffect("write", os.path.join(where, path)) for path in paths)
        elif operands[:1] and operands[0] in _CHANGING_GIT and not _only_shows(command.words, operands[0]):
            yield PathEffect("write", value_of(options, "--work-tree") or where)
    elif command.name == "find":  # the tests may select anything below
        find = Find(command.words)
        yield from (PathEffect("delete", start) for start in find.starts if find.deletes)
    elif command.name in ("apply_patch", "applypatch"):
        for text in (command.stdin or "", *command.words[1:]):
            yield from (PathEffect("write", path) for path in patched(text))
    elif command.name in _CMDLETS and "\\" in command.shown:
        words = [word.strip("'\"") for word in command.shown.split()[1:]]
        yield from (PathEffect("write", word) for word in words if re.match(r"[A-Za-z]:\\", word))


def _only_shows(words: list[str], subcommand: str) -> bool:
    """Whether a subcommand of git only shows what it would do, or what there is: `clean -n`, `stash list`."""
    return re.match(_SHOWING_GIT, " ".join(words[words.index(subcommand) :])) is not None
