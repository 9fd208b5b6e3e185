"""Refuse what would change hooks, trust records, or the settings that put hooks in force. Reading them is fine."""

from __future__ import annotations

import os

from ..basics import protected_places
from ..basics.protected_places import PROTECTED, names_of
from ..shell import programs, reader
from ..shell.effects import effects
from ..shell.programs import program
from ..shell.syntax import PATTERNS, UNKNOWN, decoded
from ..shell.words import pattern_matches
from .calls import ASK, DENY, Objection, patched, paths_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..shell.reader import Command
    from .calls import GuardedCall

SHELLS = ("shell", "bash", "run_shell_command", "exec_command", "local_shell")
EDITORS = ("str_replace_editor",)  # whose `command` may be `view`
READERS = frozenset(
    "cat bat less more head tail grep egrep fgrep rg ag ls ll tree stat file wc du find fd diff cmp jq yq awk sed "
    "sort uniq cut od xxd hexdump strings md5sum sha1sum sha256sum shasum cksum test [ echo printf readlink "
    "realpath basename dirname cd pushd popd export true false : tenterhook sqlite3 column nl tac comm which type "
    "command declare local read history pwd set unset source . open mkdir touch cp mv rm ln tee chmod chown dd install "
    "rsync truncate scp tar zip unzip".split()
)
READING_GIT = frozenset("add diff log show status blame commit ls-files check-ignore grep rev-parse cat-file".split())
PATCHERS = ("apply_patch", "applypatch")  # Codex takes them out of a shell line, and changes the files itself
INSTALLERS = ("pip", "pipx", "uv", "conda", "poetry", "brew", "pdm")
REMOVING = {"uninstall", "remove"}


def judge(call: GuardedCall) -> Objection | None:
    """Return why a call is refused that would change what is protected; ask where it only may."""
    tool_input = call.tool_input if isinstance(call.tool_input, dict) else {"input": call.tool_input}
    tool = call.tool_name.lower()
    command = tool_input.get("command")
    if tool in EDITORS and command == "view":
        return None
    check = _Check(call)
    if command and (tool in SHELLS or (tool not in (*EDITORS, *PATCHERS) and not tool_input.get("file_path"))):
        return check.of_shell(command)
    return check.of_file_tool(tool_input)


class _Check:
    """One call, compared with the places that are protected on this machine."""

    def __init__(self, call: GuardedCall) -> None:
        self.call = call
        self._home = reader.agents_home(call.environment)
        self._places = protected_places.known_places(call.environment)

    def of_file_tool(self, tool_input: dict[str, Any]) -> Objection | None:
        """Judge a tool that writes, moves or deletes files, by the paths it is given."""
        own_home = self.call.environment.get("HOME") or os.path.expanduser("~")
        for path in paths_in(tool_input):
            homes = dict.fromkeys((self._home, own_home)) if path.startswith("~/") else ("",)
            for home in homes:
                what = self.protected(os.path.join(self.call.work_dir, home + path[1:] if home else path), removes=True)
                if what:
                    return _refused(f"{path} belongs to {what}")
        return None

    def of_shell(self, line: Any) -> Objection | None:
        """Judge a shell line by what each of its commands would touch."""
        line = [str(word) for word in line] if isinstance(line, list) else line
        reading = reader.read_any(line, self.call.directory(), self.call.environment)
        doubt = ""
        for command in reading.commands:
            refused = self._changes(command) or self._weakens(command)
            if refused:
                return _refused(refused)
            if not command.words:
                continue
            named = next((what for word in command.words[1:] if (what := self._named_by(command, word))), None)
            near = next((what for word in command.words[1:] if (what := self._kept_in(command, word))), None)
            if command.name == "ln" and (named or near):
                return _refused(f"`{command.shown}` would make a link into {named or near}")
            if command.name == "find" and near and any(effect.kind == "delete" for effect in effects(command)):
                return _refused(f"`{command.shown}` would delete {near}")
            if named and not reads(command):
                doubt = doubt or f"`{command.shown}` may change {named}"
        unreadable = any(note.kind == "unreadable" for note in reading.notes)
        if unreadable and any(name.strip("/") in str(line) for name in (*PROTECTED, "tenterhook")):
            doubt = doubt or "the line cannot be read to its end, and it names hooks or their settings"
        return Objection(ASK, doubt) if doubt else None

    def _changes(self, command: Command) -> str | None:
        """Return what a command would write to, move or delete that is protected."""
        for effect in effects(command):
            removes = effect.kind in ("delete", "move") or (effect.kind == "mode" and effect.recursive)
            what = self.protected(self._resolved(command, effect.path), removes)
            if what:
                return f"`{command.shown}` would {SAID[effect.kind]} {decoded(effect.path)}, {what}"
        for text in (command.stdin or "", *command.words[1:]) if command.name in PATCHERS else ():
            for path in patched(text):
                what = self.protected(self._resolved(command, path), removes=True)
                if what:
                    return f"`{command.shown}` would change {decoded(path)}, {what}"
        return None

    def _weakens(self, command: Command) -> str | None:
        """Return why a command of ours is refused, however it is started: as a service, in a namespace, by pip."""
        if command.name in INSTALLERS and "tenterhook" in command.words and set(command.words) & REMOVING:
            return f"`{command.shown}` would remove Tenterhook"
        only_names_it = command.name != "tenterhook" and (command.name == "git" or command.name in READERS)
        runs = programs.inner(command.words, command.stdin)  # judged by themselves
        if only_names_it or (command.contained and not command.mounts) or any(each.kind != "file" for each in runs):
            return None
        for at, word in enumerate(command.words):
            if not is_ours(word, command.words[at - 1]):
                continue
            arguments = command.words[at + 1 :]
            name, is_refused = protected_places.command_in(arguments)
            if is_refused:
                return f"`{command.shown}` would weaken the protection: `tenterhook {name}` is for the person"
            for path in written(name, arguments):
                what = self.protected(self._resolved(command, path), removes=path != ".")
                if what:
                    return f"`{command.shown}` would write to {decoded(path)}, {what}"
        return None

    def protected(self, path: str, removes: bool) -> str | None:
        """Return what a path, or a pattern of paths, belongs to that the agent may not change, or None."""
        is_plain = not any(mark in path for mark in (UNKNOWN, *PATTERNS))
        return protected_places.protected(path, removes, pattern_matches, is_plain, self._places)

    def _named_by(self, command: Command, word: str) -> str | None:
        """Return what an argument of a command names, `--file=path` too."""
        for text in (word, word.rpartition("=")[2]):
            if text and not text.startswith("-") and "\n" not in text and len(text) < 1000:
                what = self.protected(self._resolved(command, text), removes=False)
                if what:
                    return what
        return None

    def _kept_in(self, command: Command, word: str) -> str | None:
        """Return what is kept in a directory that an argument names, or a pattern of a path: `~/.claude`."""
        names = names_of(self._resolved(command, word)) if "*" not in word else names_of(word)
        known = {names_of(name)[0]: what for name, what in PROTECTED.items() if name.startswith(".")}
        known["tenterhook"] = "Tenterhook's configuration or state"
        if names and names[-2:-1] == [".config"]:
            known["agents"] = "your hooks"
        last = [name for name in names if name.strip("*")][-1:]
        return next((known[name] for name in last if name in known and name != ".github"), None)

    def _resolved(self, command: Command, path: str) -> str:
        if command.contained:
            inside = [each for each in command.mounts if (path + "/").startswith(each[0].rstrip("/") + "/")]
            if not inside:
                return ""
            path = inside[0][1] + path[len(inside[0][0]) :]
        return programs.resolved(path, command.directory, self._home)


def _refused(reason: str) -> Objection:
    advice = "Only the person may change this: tell them what you would change, and why."
    return Objection(DENY, f"{reason}. {advice}")


def is_ours(word: str, before: str) -> bool:
    """Whether a word starts our program, or our module after `-m`."""
    is_module = before == "-m" and word.startswith("tenterhook")
    return is_module or program(word) == "tenterhook" or word.endswith(("-mtenterhook", "/tenterhook/__main__.py"))


def written(name: str, words: list[str]) -> Iterator[str]:
    """Yield where one of our commands is told to write."""
    options = protected_places.WRITING.get(name, ())
    if name == "convert" and not any(word.startswith("--out") for word in words):
        yield "."
    for at, word in enumerate(words):
        option, _, value = word.partition("=")
        if option in options and option != "--update":
            yield value or "".join(words[at + 1 : at + 2])


SAID = {"write": "write to", "delete": "delete", "move": "move away", "mode": "change the mode of"}


def reads(command: Command) -> bool:
    """Whether a command that is given a path only reads it, or runs others that are judged by themselves."""
    if command.name == "git":
        _, at = programs.split_options(command.words, "cC", ("--git-dir", "--work-tree"))
        return command.words[at : at + 1] == [] or command.words[at] in READING_GIT
    runs = programs.inner(command.words, command.stdin)
    return command.name in READERS or any(inner.kind != "file" for inner in runs)
