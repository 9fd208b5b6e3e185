"""The guard `protect-hooks`: denies changes of hooks, agents' settings and Tenterhook, and reading its credentials."""

from __future__ import annotations

import os

from ..basics import lazy_re as re
from ..basics import protected_places
from ..basics.protected_places import AGENT_PROGRAMS, MOVED, PROTECTED, SECRETS
from ..shell import programs, reader
from ..shell.effects import effects, of_words
from ..shell.programs import Find, program
from ..shell.syntax import ACTIVE, PATTERNS, STAR, UNKNOWN, decoded
from ..shell.words import pattern_matches
from .calls import (
    ASK,
    DENY,
    EDITORS,
    GuardFinding,
    is_shell,
    objection,
    patched,
    path_here,
    read,
    shell_lines,
    strings_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..shell.reader import ShellCommand
    from .calls import GuardedCall, Objection

_TELL = "tell the user what you would change, and why; only they may do it"
RULES = {
    "change-hooks": ("changing hooks", _TELL),
    "change-settings": ("changing the settings in which an agent names its hooks", _TELL),
    "change-tenterhook": ("changing Tenterhook, its configuration, its state or its marks", _TELL),
    "weaken": ("commands that disable protection, approve or trust", _TELL),
    "read-credentials": (
        "reading the credentials of Tenterhook",
        "use `tenterhook hub status`, `tenterhook inbox list`",
    ),
}

PATCHERS = ("apply_patch", "applypatch")  # Codex handles them in a shell line itself
LINES = ("command", "cmd", "commands", "script", "shell", "line", "code")  # keys of other tools that may hold a line
TEXTS = frozenset(  # keys of texts, which may mention any path
    "content contents new_string old_string new_str old_str file_text insert_text text prompt description query "
    "pattern regex message body title new_source explanation instructions replacement search thought".split()
)
_WRITES = (
    r"write|edit|create|delete|remove|move|rename|copy|replace|patch|put|set|save|update|append|insert|make|mkdir|touch|"
    r"chmod|link|exec|run|download|store|apply|notebook|trash|upload|dump|export|to_file"
)
_READS = frozenset(
    "read view get list ls glob grep search find fetch show stat info query describe tree todo task agent think cat "
    "open navigate".split()
)
_SHOWS = frozenset("read grep search cat view".split())  # the content of files in a directory
_ACTIVE = {ord(char): mark for char, mark in ACTIVE.items() if char in "*?["}

READERS = frozenset(
    "cat bat less more head tail grep egrep fgrep rg ag ls ll tree stat file wc du find fd diff cmp jq yq awk gawk sed "
    "sort uniq cut od xxd hexdump strings md5sum sha1sum sha256sum shasum cksum test [ [[ echo printf readlink "
    "realpath basename dirname cd pushd popd export true false : tenterhook column nl tac comm which type "
    "command declare local read history pwd set unset source . open mkdir touch cp mv rm ln tee chmod chown dd install "
    "rsync truncate scp tar zip unzip locate".split()
)
# Those of them that do not print the content of a file.
NAMERS = frozenset(
    "ls ll tree stat file wc du find fd md5sum sha1sum sha256sum shasum cksum test [ [[ echo printf readlink realpath "
    "basename dirname cd pushd popd true false : which type command rm rmdir chmod chown locate tenterhook".split()
)
SHOWING_GIT = frozenset("add diff grep hash-object apply blame".split())
# Options that make one of these read a file of names, whose content it prints in error messages.
_LISTS = r"-?-files0?-from\b.*|--check|-[cf]"
RECURSIVE = frozenset("rg ag ack tar bsdtar zip 7z rsync scp rclone".split())  # without an option
READING_GIT = frozenset("add diff log show status blame commit ls-files check-ignore grep rev-parse cat-file".split())
UNPACKERS = frozenset("tar bsdtar unzip unrar 7z 7za 7zz cpio pax ar dpkg dpkg-deb python rsync".split())
MOUNTERS = ("mount", "umount", "bindfs", "sshfs", "fusermount", "fusermount3")
STOPPERS = ("kill", "pkill", "killall", "skill", "fuser")
SERVICES = ("systemctl", "launchctl", "service", "rc-service", "sv", "brew")
STOPPING = frozenset("stop disable mask kill restart unload bootout remove down".split())
INSTALLERS = frozenset(
    "pip pipx uv conda mamba micromamba poetry brew pdm rye hatch apt apt-get dnf yum pacman".split()
)
_REPLACING = (
    r"uninstall|remove|rm|purge|autoremove|reinstall|upgrade|inject|--force-reinstall|--force|-U|--upgrade|-R|-Rs?n?|"
    r"--target|-t|--ignore-installed|-I|--reinstall|--editable|-e"
)
_AGENTS = rf"(?<![\w./-])(?:{'|'.join(sorted(AGENT_PROGRAMS))})(?![\w./-])"
MOVING = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", *MOVED)
# Modes of a directory with which no other account can write to it, and the owner can use it.
_HARMLESS_MODE = r"0?[57][0145][0145]|(?:(?:u\+[rwxXs]+|[go]+-[rwxXs]+|[ago]*\+[rxX]+|[go]+=[rxX]*),?)+"
_CREDENTIALS = (
    r"state/tenterhook/(?:hub\b|approval\.key)|\.config/tenterhook/hub\.json|tenterhook/hub/(?:person\.json|hub\.db)"
)
_CREDENTIAL_FILES = r"(?:^|/)(?:person\.json|hub\.json|hub\.db|approval\.key)$"
MOST_JOINED = 8  # paths of a tool that are also tried below its directories
MOST_PATHS = 400  # of one call
MOST_STRINGS = 50  # of one program on a command line
LONGEST_CODE = 20_000  # characters of code
_WRITES_IN_CODE = (
    r"(?i)\b(?:remove|unlink\w*|rename\w*|rmtree|rmdir\w*|write\w*|chmod|chown|truncate|copy\w*|move|symlink|link|"
    r"mkdir|makedirs|chdir|rm|rmSync|extract\w*|urlretrieve|inplace|spawn\w*|exec\w*)\b"
)
SAID = {"write": "writes to", "delete": "deletes", "move": "moves", "mode": "changes the mode of"}


def judge(call: GuardedCall) -> Objection | None:
    """Return the objection to a call that would change what is protected; it asks if the call only may."""
    return objection(call, _findings(call), RULES)


def _findings(call: GuardedCall) -> Iterator[GuardFinding]:
    check = _Check(call)
    try:
        yield from () if is_shell(call) else check.of_tool()
        for line in shell_lines(call) if "patch" not in call.tool_name.lower() else ():
            yield from check.of_line(line)
    except TooManyPaths:
        part = str((shell_lines(call) or [call.tool_name])[0])[:80]
        yield GuardFinding(
            "change-hooks", ASK, part, f"it names more than {MOST_PATHS} paths, any of which may be protected"
        )


class TooManyPaths(Exception):
    """A call names more paths than are checked."""


class _Check:
    """The check of one call, with the places that are protected on this machine."""

    def __init__(self, call: GuardedCall) -> None:
        self.call = call
        self._home = reader.agents_home(call.environment)
        self._places = protected_places.ProtectedPlaces(call.environment)
        self._looked_up: dict[tuple[str, bool], str | None] = {}

    def of_tool(self) -> Iterator[GuardFinding]:
        """Yield the findings for a tool that is not a known shell, from all paths in its arguments."""
        own_name = re.split(r"__|[.:/]", self.call.tool_name)[-1]  # without its server's name
        tool = own_name.lower()
        names = {name.lower() for name in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", own_name)}
        writes = re.search(_WRITES, tool) is not None
        reads = not writes and bool(names & _READS)
        arguments = self.call.tool_input if isinstance(self.call.tool_input, dict) else {"input": self.call.tool_input}
        if tool in EDITORS and arguments.get("command") == "view":
            writes, reads = False, True
        paths = [*_paths(arguments, "patch" in tool)]
        directories = [path for path in paths[:MOST_JOINED] if len(path) < 1000 and self._is_directory(path)]
        paths += [
            f"{directory}/{path}" for directory in directories for path in paths[:MOST_JOINED] if path[:1] not in "/~"
        ]
        for path in paths:
            removes = re.search(r"delete|remove|move|rename|trash|unlink|(?:^|_)rm(?:_|$)", tool) is not None
            what = next(filter(None, (self.protected(each, removes) for each in self._spelt(path))), None)
            if what == SECRETS or (what and not reads):
                change = "reads" if reads else "changes" if writes else "may change"
                yield _finding(path, f"it {change} {what}", what, DENY if writes or reads else ASK)
            elif path in directories and names & _SHOWS and self.protected(next(self._spelt(path)), True) == SECRETS:
                yield _finding(path, f"it reads {SECRETS}, which are in {path}", SECRETS, DENY if what else ASK)

    def _is_directory(self, path: str) -> bool:
        try:
            return os.path.isdir(next(self._spelt(path)))
        except ValueError:  # not a path of a file system
            return False

    def _spelt(self, path: str) -> Iterator[str]:
        """Yield the absolute paths as which a tool may understand a path."""
        if path[:5].lower() == "file:":
            from urllib.parse import unquote

            path = unquote(re.sub(r"(?i)file:(?://[^/]*)?", "", path))
        path = path.translate(_ACTIVE)
        path = re.sub(r"^(?:\$HOME|\$\{HOME\})(?=/|$)", "~", path)
        own_home = self.call.environment.get("HOME") or os.path.expanduser("~")
        for home in dict.fromkeys((self._home, own_home)):
            yield programs.resolved(path, self.call.directory(), home)
        yield os.path.join(self.call.directory(), path)  # not normalized: the system follows links before `..`

    def of_line(self, line: str | list[str] | None) -> Iterator[GuardFinding]:
        """Yield the findings for each command of a shell line."""
        if not line:
            return
        reading = read(line, self.call.directory(), self.call.environment)
        for command in reading.commands:
            found = (*self._of_command(command, str(line)), *self._printed_inside(command, reading.commands))
            for what, why, decision in found:
                yield _finding(command.shown, why, what, decision)._replace(span=command.span)
        names = (*PROTECTED, "tenterhook")
        if not reading.is_complete and any(name.strip("/") in str(line) for name in names):
            yield GuardFinding("change-hooks", ASK, str(line)[:80], "it cannot be parsed completely and names hooks")

    def _of_command(self, command: ShellCommand, line: str) -> Iterator[tuple[str, str, str]]:
        """Yield the protected thing that a command touches, or the name of a rule, with the reason and the decision."""
        for what, why in (*self._changes(command), *self._weakens(command, line)):
            yield what, why, DENY
        name, shows = decoded(command.name), _shows_content(command)  # decoded, since `[` may be a pattern's mark
        if shows and any(self._named_by(command, path) == SECRETS for path in command.inputs):
            yield SECRETS, f"it reads {SECRETS}", DENY
        if not name:
            return
        if shows and name != "git" and re.search(_CREDENTIALS, " ".join(command.words[1:])):
            yield SECRETS, f"it reads {SECRETS}", DENY
        if reads(command) and not shows:
            return
        for word in command.words[1:]:
            named = self._named_by(command, word)
            if named == SECRETS and shows:
                yield SECRETS, f"it reads {SECRETS}", DENY
            elif shows and self._holds_secrets(command, word):
                decision = DENY if named else ASK
                yield SECRETS, f"it reads {SECRETS}, which are in {decoded(word)}", decision
            links = name == "ln" or (name == "cp" and {*command.words} & {"-l", "-s", "--link", "--symbolic-link"})
            if links and (near := named or self._kept_in(command, word)):
                yield near, f"it creates a link into {near}", DENY
            if named and not reads(command):
                yield named, f"it may change {named}", ASK
        for effect in effects(command) if name in UNPACKERS else ():
            path = self._resolved(command, effect.path)
            is_inside = f"{path}/".startswith(f"{self.call.work_dir}/")
            if not is_inside and effect.kind == "write" and (near := self.protected(path, True)):
                yield near, f"it unpacks or copies into {decoded(effect.path)}, and may change {near}", ASK
        runs = programs.nested_commands(command.words, command.stdin)
        for code in [str(each.value)[:LONGEST_CODE] for each in runs if each.kind == "code"]:
            yield from self._of_code(command, code)
        is_known = name in READERS or (name == "git" and reads(command))
        is_known = is_known or any(each.kind in ("words", "shell") for each in runs)
        if not is_known and (here := self.protected(self._resolved(command, "."), False)):
            yield here, f"it runs in a directory of {here}, and may change it", ASK

    def _of_code(self, command: ShellCommand, code: str) -> Iterator[tuple[str, str, str]]:
        """Yield what code on the command line may change: it names a protected place, and has calls that write."""
        if re.search(r"\b(?:import|from)\s+tenterhook\.", code):
            yield "weaken", "it runs Tenterhook's own code", ASK
        writes = re.search(_WRITES_IN_CODE, code) is not None
        for text in re.split(r"['\"\n]", code)[:MOST_STRINGS] if writes else ():
            is_path = len(text) < 300 and re.fullmatch(r"[~.\w/-]*[/.][~.\w/-]*", text)
            if is_path and (what := self._named_by(command, text) or self._kept_in(command, text)):
                yield what, f"it may change {what}", ASK

    def _holds_secrets(self, command: ShellCommand, word: str) -> bool:
        """Whether an argument is a directory with our credentials, and the command reads files in directories."""
        path = self._resolved(command, word)
        is_target = command.name in ("cp", "rsync", "scp") and word == command.words[-1]
        is_read = word[:1] not in ("", "-") and len(word) < 1000 and not is_target and os.path.isdir(path)
        return is_read and _reads_directories(command) and self.protected(path, True) == SECRETS

    def _printed_inside(self, command: ShellCommand, others: list[ShellCommand]) -> Iterator[tuple[str, str, str]]:
        """Yield what a command may change through the output of a substitution in it: `rm $(which tenterhook)`."""
        start, end = command.span or (0, 0)
        if not end or not ("$(" in command.shown or "`" in command.shown):
            return
        plain = re.sub(r"\$\([^)]*\)|`[^`]*`", "", command.shown)
        changes = any(effect.path.rstrip("/").rpartition("/")[2] not in plain for effect in effects(command))
        if not changes and not _shows_content(command):
            return
        for other in others[:MOST_PATHS]:
            is_inside = other.span is not None and start < other.span[0] and other.span[1] < end
            if is_inside and any(re.search(_CREDENTIAL_FILES, word) for word in other.words):
                yield SECRETS, f"it reads {SECRETS}", ASK
            if is_inside and other.words and changes:
                ours = re.search(r"\btenterhook\b", " ".join(other.words).lower()) and "Tenterhook itself"
                if what := ours or self._selected(other):
                    yield what, f"it may change {what}, whose place `{other.shown}` prints", ASK

    def _changes(self, command: ShellCommand) -> Iterator[tuple[str, str]]:
        """Yield what is protected that a command writes to, moves or deletes, and the reason."""
        words = command.words
        if command.name == "find":
            yield from self._found_by(command, Find(words))
        is_told = command.name in ("fd", "fdfind") or command.through[-1:] == ("xargs",)
        if is_told and _changes_files(words) and (what := self._selected(command)):
            yield what, f"it changes {what}"
        for effect in effects(command):
            if effect.kind == "delete" and command.name == "find":
                continue
            path = self._resolved(command, effect.path)
            removes = effect.recursive if effect.kind == "delete" else effect.kind == "move"
            if effect.kind == "mode" and not _is_harmless(command):  # it is normal for the project's own files
                is_inside = f"{path}/".startswith(f"{self.call.work_dir}/")
                removes = not is_inside or self._kept_in(command, effect.path) is not None
            what = self.protected(path, removes)
            if not what and command.name in UNPACKERS:
                what = self._kept_in(command, effect.path)
            if what:
                contains = "" if self._is_inside(path) else "which contains "
                yield what, f"it {SAID[effect.kind]} {decoded(effect.path)}, {contains}{what}"
        for what, _ in self._protected_among(command, words[1:] if command.name in MOUNTERS else ()):
            yield what, f"it mounts something over {what}, or under another name"
        is_patch = command.name in (*PATCHERS, "patch") or (command.name == "git" and {"apply", "am"} & set(words))
        for text in (command.stdin or "", *words[1:]) if is_patch else ():
            for what, path in self._protected_among(command, patched(text)):
                yield what, f"it changes {decoded(path)}, {what}"

    def _protected_among(self, command: ShellCommand, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield each path that is protected, after what it belongs to."""
        for path in paths:
            if what := self.protected(self._resolved(command, path), removes=path != "."):
                yield what, path

    def _found_by(self, command: ShellCommand, find: Find) -> Iterator[tuple[str, str]]:
        """Yield what is protected below the starting points of a `find` that changes files, if its tests select it."""
        for start in find.starts if find.deletes or any(map(_changes_files, find.commands)) else ():
            top = self._resolved(command, start)
            what = self.protected(top, True)
            if not what:
                continue
            is_near = self.protected(top, False) or self._kept_in(command, start)
            inside = () if is_near else protected_places.existing_below(top, self._places)
            if is_near or any(_is_selected(path, command.words, find.restricted) for path in inside):
                yield what, f"it deletes or changes {what}"

    def _selected(self, command: ShellCommand) -> str | None:
        """Return what is protected that a pipeline into a changing command names: `grep -l … | xargs sed -i …`."""
        for words in (*command.upstream, command.words):
            for word in words[1:] if program(words[0]) not in ("echo", "printf") else ():
                if what := self._named_by(command, word) or self._kept_in(command, word):
                    return what
                name = decoded(word).rpartition("/")[2].lower()
                if name in ("hook.md", "settings.json", "settings.local.json") and program(words[0]) != "sed":
                    return "files with names of hooks or settings"
        return None

    def _weakens(self, command: ShellCommand, line: str) -> Iterator[tuple[str, str]]:
        """Yield the reasons why a command switches protection off: directly, as a service, in a namespace, by pip."""
        words, name = command.words, command.name
        moved = {variable for variable, _ in command.assignments} & {*MOVING}
        if name in SERVICES and {*words} & STOPPING:
            name = "kill"
        if name in ("export", "declare", "setenv", "set"):
            moved = {word.partition("=")[0] for word in words if "=" in word or name == "setenv"} & {*MOVED}
            name = "export"
        runs = programs.nested_commands(words, command.stdin)  # these are checked separately
        starts_agent = name in AGENT_PROGRAMS or (moved and runs and re.search(_AGENTS, " ".join(words)))
        if (moved and (starts_agent or name == "export")) or (name in AGENT_PROGRAMS and _is_without_hooks(words)):
            yield "weaken", "it starts an agent without your hooks"
        selected = line if UNKNOWN in "".join(words) else " ".join(words)
        if name in STOPPERS and ("tenterhook" in selected or any(map(_is_part_of_our_name, words[1:MOST_STRINGS]))):
            yield "weaken", "it stops Tenterhook"
        names = {name, *(program(other[0]) for other in (programs.other_names(words) if words else ()))}
        if names & INSTALLERS and _replaces(words):
            yield "weaken", "it removes or replaces Tenterhook"
        only_names_it = name != "tenterhook" and (name == "git" or name in READERS)
        if only_names_it or (command.contained and not command.mounts) or any(each.kind != "file" for each in runs):
            return
        for at, word in enumerate(words):
            if not is_ours(word, words[at - 1]):
                continue
            first = next((each for each in words[at + 1 :] if not each.startswith("-")), "")
            if any(mark in first for mark in (UNKNOWN, *PATTERNS)):
                yield "weaken", "it cannot be determined which command of Tenterhook it runs"
            called, is_refused = protected_places.command_in(words[at + 1 :])
            if is_refused:
                yield "weaken", f"only the user may run `tenterhook {called}`"
            for what, path in self._protected_among(command, written(called, words[at + 1 :])):
                yield what, f"it writes to {decoded(path)}, {what}"

    def protected(self, path: str, removes: bool) -> str | None:
        """Return what a path, or a pattern of paths, belongs to that the agent may not change, or None."""
        key = path, removes
        if key not in self._looked_up:
            if len(self._looked_up) >= MOST_PATHS:
                raise TooManyPaths
            self._looked_up[key] = protected_places.protected(path, removes, self._places, _matcher(path))
        return self._looked_up[key]

    def _is_inside(self, path: str) -> bool:
        """Whether a path is itself protected, and not only something below it."""
        return protected_places.protected(path, False, self._places, _matcher(path)) is not None

    def _named_by(self, command: ShellCommand, word: str) -> str | None:
        """Return what is protected that an argument of a command names, also as `--file=path` or `@path`."""
        address = word.partition(":")[2] if command.name == "socat" else ""
        for text in dict.fromkeys((word, word.rpartition("=")[2], word.rpartition("@")[2], address)):
            is_path = text and not text.startswith("-") and "\n" not in text and len(text) < 1000
            if is_path and (what := self.protected(self._resolved(command, text), False)):
                return what
        return None

    def _kept_in(self, command: ShellCommand, word: str) -> str | None:
        """Return what is protected in a directory that an argument names, also as a pattern: `~/.claude`."""
        path = self._resolved(command, word) if "*" not in word else word
        names = [name for name in path.split("/") if name.strip("*" + STAR)]
        last = names[-1] if names else ""
        if last == "tenterhook" or (last == "agents" and names[-2:-1] == [".config"]):
            return "your hooks" if last == "agents" else "Tenterhook's configuration or state"
        inside = (what for name, what in PROTECTED.items() if name.startswith(last + "/") and last[:1] == ".")
        return next(inside, None) if last not in (".github", ".config") else None

    def _resolved(self, command: ShellCommand, path: str) -> str:
        return path_here(command, path, self._home) or ""


def _finding(part: str, why: str, what: str, decision: str) -> GuardFinding:
    rule = what if what in RULES else "change-settings" if "settings" in what else "change-tenterhook"
    if what == SECRETS and " reads " in f" {why}":
        rule = "read-credentials"
    return GuardFinding("change-hooks" if "hooks" in what else rule, decision, part, why)


def _matcher(path: str) -> Callable[[str, str], bool] | None:
    """Return what compares the parts of a path with names, if it has patterns."""
    return _matches if any(mark in path for mark in (UNKNOWN, *PATTERNS)) else None


def _matches(pattern: str, name: str) -> bool:
    """Whether a part of a pattern may match a name. As in shells, only a dot matches the dot of a hidden file."""
    return pattern == name or ((pattern[:1] == "." or name[:1] != ".") and pattern_matches(pattern, name))


def _paths(arguments: Any, is_patch: bool) -> Iterator[str]:
    """Yield the strings and keys in a tool's arguments that may be paths, and the files that a patch names."""
    for key, value in strings_in(arguments, "input"):
        if (key in TEXTS and not is_patch) or (not key and "/" not in value):
            continue
        path = value.partition("\0")[0].strip()
        if (
            key not in LINES
            and "\n" not in path
            and len(path) < 65536
            and not re.match(r"(?i)(?!file:)[a-z]{2,}://", path)
        ):
            yield path
        yield from patched(value)


def _is_harmless(command: ShellCommand) -> bool:
    """Whether a change of mode or group keeps the content of a directory protected."""
    words = [word for word in command.words[1:] if not re.fullmatch(r"--[a-z-]+|-[RHLPcfvhn]+", word)]
    return command.name == "chgrp" or (
        command.name == "chmod" and re.fullmatch(_HARMLESS_MODE, "".join(words[:1])) is not None
    )


def _is_selected(path: str, words: list[str], has_other_tests: bool) -> bool:
    """Whether the name tests of a `find` select a path; without name tests, whether there are no other tests."""
    from fnmatch import fnmatch

    selected = []
    for at, word in enumerate(words[:-1]):
        if word in ("-name", "-iname", "-path", "-ipath", "-wholename"):
            pattern, tested = decoded(words[at + 1]), path.rpartition("/")[2] if "name" in word[:6] else path
            is_one = fnmatch(
                tested.lower(), pattern.lower() if "name" in word[:6] else f"*{pattern.lstrip('.').lower()}"
            )
            if words[at - 1] in ("!", "-not"):
                if is_one:
                    return False
            else:
                selected.append(is_one)
    return any(selected) or not (selected or has_other_tests)


def _changes_files(words: list[str]) -> bool:
    """Whether a program changes files that it gets from `find` or `xargs`, or the one that `fd -x` runs does."""
    at = next((at for at, word in enumerate(words) if word in ("-x", "-X", "--exec", "--exec-batch")), -1)
    words = [*words[at + 1 :], UNKNOWN]
    return program(words[0]) != "rmdir" and any(effect.kind != "mode" for effect in of_words(words))


def _is_without_hooks(words: list[str]) -> bool:
    """Whether an agent's arguments disable the user's settings or hooks."""
    for at, word in enumerate(words[1:], start=1):
        option, _, value = word.partition("=")
        value = value or "".join(words[at + 1 : at + 2])
        is_setting = option in ("-c", "--config", "--disable", "set") or (word[:2] == "-c" and "=" in word)
        if (
            "disableAllHooks" in word
            or option in ("--bare", "--pure", "--settings", "--safe-mode")
            or (word == "plugins" and "tenterhook" in words)
            or (option == "--config" and value[:1] in ("/", ".", "~"))  # a directory or file in place of the user's
            or (option == "--setting-sources" and "user" not in value.split(","))
            or (is_setting and "hooks" in f"{word} {value}")
        ):
            return True
    return False


def _is_part_of_our_name(word: str) -> bool:
    """Whether a pattern of process names may match ours: `tenter*`, `tente[r]hook`."""
    part = re.sub(r"[][*?^$.\\]", "", decoded(word))
    return len(part) > 4 and part in "tenterhook"


def _replaces(words: Iterable[str]) -> bool:
    """Whether the words of a package manager remove Tenterhook or install another one."""
    named = [word for word in words if re.fullmatch(r"(?i)(?:.*[/=+@ ])?tenterhook(?:[^\w].*)?", word)]
    others = [word for word in named if re.search(r"[/=<>@]", word)]
    words = [*words]
    if {*words} & {"uninstall-all", "reinstall-all", "upgrade-all"} or ({"tool", "--all"} <= {*words}):
        return True
    return bool(named) and (bool(others) or any(re.fullmatch(_REPLACING, word) for word in words))


def is_ours(word: str, before: str) -> bool:
    """Whether a word starts our program, or our module after `-m`."""
    is_module = before == "-m" and word.startswith("tenterhook")
    return is_module or program(word) == "tenterhook" or word.endswith(("-mtenterhook", "/tenterhook/__main__.py"))


def written(name: str, words: list[str]) -> Iterator[str]:
    """Yield the paths that one of our commands writes to."""
    options = protected_places.WRITING.get(name, ())
    if name == "convert" and not any(word.startswith("--out") for word in words):
        yield "."
    for at, word in enumerate(words):
        option, _, value = word.partition("=")
        if option in options and option != "--update":
            yield value or "".join(words[at + 1 : at + 2])


def _shows_content(command: ShellCommand) -> bool:
    """Whether a command may print, copy or send the content of the files that it is given."""
    if command.name == "git":
        return bool({*command.words} & SHOWING_GIT)
    if command.name == "find":
        return any(program(words[0]) not in NAMERS for words in Find(command.words).commands if words) or (
            "-files0-from" in command.words
        )
    is_naming = decoded(command.name) in NAMERS
    lists = command.name in ("wc", "du", "file") or command.name.endswith("sum")
    return not is_naming or (lists and any(re.fullmatch(_LISTS, word) for word in command.words[1:]))


def _reads_directories(command: ShellCommand) -> bool:
    """Whether a command reads all files of the directories that it is given."""
    name, words = command.name, command.words
    if name == "find":
        return _is_selected("/hub.json", words, False) or _is_selected("/person.json", words, False)
    if name in ("cp", "grep", "egrep", "fgrep", "zgrep", "diff"):
        long = ("--recursive", "--archive", "--dereference-recursive")
        return any(word in long or set(programs.letters(word)) & set("rRa") for word in words)
    return name in RECURSIVE


def reads(command: ShellCommand) -> bool:
    """Whether a command only reads the paths that it is given, or runs others, which are checked separately."""
    if command.name == "git":
        _, at = programs.git_options(command.words)
        return command.words[at : at + 1] == [] or command.words[at] in READING_GIT
    runs = programs.nested_commands(command.words, command.stdin)
    return decoded(command.name) in READERS or any(inner.kind != "file" for inner in runs)
