#!/usr/bin/env -S python3 -I
"""Refuse what would change hooks, trust records, or the settings that put hooks in force. Reading them is fine."""

from __future__ import annotations

import json
import os
import sys
from functools import cache

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # an isolated Python leaves it out
if sys.flags.isolated:  # it does not look where byte code is to be, either
    sys.pycache_prefix = os.environ.get("PYTHONPYCACHEPREFIX")

import protected_places
import shell_line
import shell_programs
from protected_places import PROTECTED, names_of
from shell_effects import effects
from shell_programs import program
from shell_syntax import PATTERNS, UNKNOWN, decoded
from shell_words import pattern_matches

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from collections.abc import Iterator
    from typing import Any

    from shell_line import Command

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
HEADS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/", "--- a/")
PATCHERS = ("apply_patch", "applypatch")  # Codex takes them out of a shell line, and changes the files itself
TENTERHOOK = ("pip", "pipx", "uv", "conda", "poetry", "brew", "pdm")


def main() -> int:
    event = json.load(sys.stdin)
    tool_input = event.get("tool_input")
    tool_input = tool_input if isinstance(tool_input, dict) else {"input": tool_input}
    tool = str(event.get("tool_name", "")).lower()
    directory = os.path.abspath(event.get("work_dir") or ".")
    command = tool_input.get("command")
    if tool in EDITORS and command == "view":
        return 0
    if command and (tool in SHELLS or (tool not in (*EDITORS, *PATCHERS) and not tool_input.get("file_path"))):
        decision, reason = of_shell(command, tool_input, directory)
    else:
        decision, reason = of_file_tool(tool_input, directory)
    if decision == "ask":
        print(json.dumps({"decision": "ask", "reason": reason}))
    elif decision:
        print(f"{reason}. Only the person may change this: tell them what you would change, and why.", file=sys.stderr)
        return 2
    return 0


def of_file_tool(tool_input: dict[str, Any], directory: str) -> tuple[str | None, str]:
    """What a tool that writes, moves or deletes files is about to touch."""
    for path in paths_in(tool_input):
        theirs = shell_line.agents_home(os.environ) + path[1:] if path.startswith("~/") else path
        for each in dict.fromkeys((theirs, os.path.expanduser(path))):
            what = protected(os.path.join(directory, each), removes=True)
            if what:
                return "deny", f"{path} belongs to {what}"
    return None, ""


def paths_in(value: Any, key: str = "path") -> Iterator[str]:
    """Every string that may be a path: of keys that sound like one, and of the heads of a patch."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from paths_in(each, str(name).lower())
    elif isinstance(value, list):
        for each in value:
            yield from paths_in(each, key)
    elif isinstance(value, str):
        if any(part in key for part in ("path", "file", "source", "destination", "target", "directory", "uri", "name")):
            yield value[len("file://") :] if value.startswith("file://") else value
        yield from patched(value)


def patched(text: str) -> Iterator[str]:
    """The files that a patch names. As for Codex, space around a head does not count, and only `\\n` ends a line."""
    for line in text.split("\n") if "*** " in text or "+++ " in text else ():
        for head in HEADS:
            if line.strip().startswith(head):
                yield line.strip()[len(head) :]


def of_shell(line: Any, tool_input: dict[str, Any], directory: str) -> tuple[str | None, str]:
    """What a shell line would touch."""
    for key in ("workdir", "cwd", "directory", "dir_path"):
        if isinstance(tool_input.get(key), str):
            directory = os.path.join(directory, tool_input[key])
    if isinstance(line, list):
        reading = shell_line.read_words([str(word) for word in line], directory, os.environ)
    else:
        reading = shell_line.read(line, directory, os.environ)
    doubtful = None
    for command in reading.commands:
        for effect in effects(command):
            removes = effect.kind in ("delete", "move") or (effect.kind == "mode" and effect.recursive)
            what = protected(resolved(command, effect.path), removes)
            if what:
                return "deny", f"`{command.shown}` would {SAID[effect.kind]} {decoded(effect.path)}, {what}"
        if not command.words:
            continue
        for text in (command.stdin or "", *command.words[1:]) if command.name in PATCHERS else ():
            for path in patched(text):
                what = protected(resolved(command, path), removes=True)
                if what:
                    return "deny", f"`{command.shown}` would change {decoded(path)}, {what}"
        refused = of_tenterhook(command)
        if refused:
            return "deny", refused
        named = next((what for word in command.words[1:] if (what := named_by(command, word))), None)
        near = next((what for word in command.words[1:] if (what := kept_in(command, word))), None)
        if command.name == "ln" and (named or near):
            return "deny", f"`{command.shown}` would make a way into {named or near}"
        if command.name == "find" and near and any(effect.kind == "delete" for effect in effects(command)):
            return "deny", f"`{command.shown}` would delete {near}"
        if (
            command.name in TENTERHOOK
            and "tenterhook" in command.words
            and set(command.words) & {"uninstall", "remove"}
        ):
            return "deny", f"`{command.shown}` would take Tenterhook away"
        if named and not reads(command):
            doubtful = doubtful or f"`{command.shown}` may change {named}"
    unreadable = any(note.kind == "unreadable" for note in reading.notes)
    if unreadable and any(name.strip("/") in str(line) for name in (*PROTECTED, "tenterhook")):
        doubtful = doubtful or "the line cannot be read to its end, and it names hooks or their settings"
    return ("ask", doubtful) if doubtful else (None, "")


def of_tenterhook(command: Command) -> str | None:
    """Why a command of ours is refused, however it is started: in the background, as a service, in a namespace."""
    only_names_it = command.name != "tenterhook" and (command.name == "git" or command.name in READERS)
    runs = shell_programs.inner(command.words, command.stdin)  # what is looked at by itself
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
            what = protected(resolved(command, path), removes=path != ".")
            if what:
                return f"`{command.shown}` would write to {decoded(path)}, {what}"
    return None


def is_ours(word: str, before: str) -> bool:
    """Whether a word starts our program, or our module after `-m`."""
    is_module = before == "-m" and word.startswith("tenterhook")
    return is_module or program(word) == "tenterhook" or word.endswith(("-mtenterhook", "/tenterhook/__main__.py"))


def written(name: str, words: list[str]) -> Iterator[str]:
    """Where one of our commands is told to write."""
    options = protected_places.WRITING.get(name, ())
    if name == "convert" and not any(word.startswith("--out") for word in words):
        yield "."
    for at, word in enumerate(words):
        option, _, value = word.partition("=")
        if option in options and option != "--update":
            yield value or "".join(words[at + 1 : at + 2])


def protected(path: str, removes: bool) -> str | None:
    """What a path, or a pattern of paths, belongs to that the agent may not change, or None."""
    is_plain = not any(mark in path for mark in (UNKNOWN, *PATTERNS))
    return protected_places.protected(path, removes, matches=pattern_matches, is_plain=is_plain, places=places())


@cache
def places() -> dict[str, str]:
    return protected_places.known_places()


SAID = {"write": "write to", "delete": "delete", "move": "move away", "mode": "change the mode of"}


def named_by(command: Command, word: str) -> str | None:
    """What an argument of a command names, `--file=path` too."""
    for text in (word, word.rpartition("=")[2]):
        if text and not text.startswith("-") and "\n" not in text and len(text) < 1000:
            what = protected(resolved(command, text), removes=False)
            if what:
                return what
    return None


def kept_in(command: Command, word: str) -> str | None:
    """What is kept in a directory that an argument names, or a pattern of a path: `~/.claude`, `*/.agents/*`."""
    names = names_of(resolved(command, word)) if "*" not in word else names_of(word)
    known = {names_of(name)[0]: what for name, what in PROTECTED.items() if name.startswith(".")}
    known["tenterhook"] = "Tenterhook's configuration or state"
    if names and names[-2:-1] == [".config"]:
        known["agents"] = "your hooks"
    last = [name for name in names if name.strip("*")][-1:]
    return next((known[name] for name in last if name in known and name != ".github"), None)


def reads(command: Command) -> bool:
    """Whether a command that is given a path only reads it, or runs others that are looked at by themselves."""
    if command.name == "git":
        _, at = shell_programs.split_options(command.words, "cC", ("--git-dir", "--work-tree"))
        return command.words[at : at + 1] == [] or command.words[at] in READING_GIT
    runs = shell_programs.inner(command.words, command.stdin)
    return command.name in READERS or any(inner.kind != "file" for inner in runs)


def resolved(command: Command, path: str) -> str:
    if command.contained:
        mounted = [(there, here) for there, here in command.mounts if (path + "/").startswith(there.rstrip("/") + "/")]
        if not mounted:
            return ""
        path = mounted[0][1] + path[len(mounted[0][0]) :]
    return shell_programs.resolved(path, command.directory, shell_line.agents_home(os.environ))


if __name__ == "__main__":
    sys.exit(main())
