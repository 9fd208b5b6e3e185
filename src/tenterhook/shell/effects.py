"""Which paths a command deletes, writes, moves away or changes the mode of."""

from __future__ import annotations

import re

from .programs import Find, arguments, has, program, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Callable, Iterable

    from .reader import Command

    Reader = Callable[[list[str]], list["Effect"]]


class Effect:
    """A change to a path, which is as the command names it."""

    __slots__ = ("kind", "path", "recursive")

    def __init__(self, kind: str, path: str, recursive: bool = False) -> None:
        self.kind = kind  # delete, write, move, mode
        self.path = path
        self.recursive = recursive


def effects(command: Command) -> list[Effect]:
    """Return what a command does to paths, its redirections included."""
    found = [Effect("write", target) for _, target in command.redirects] + effects_of_words(command)
    return [effect for effect in found if effect.path]


def effects_of_words(command: Command) -> list[Effect]:
    """Return what a command does to paths, without its redirections."""
    effect = _PROGRAMS.get(command.name)
    return [each for each in effect(command.words) if each.path] if effect else []


_RECURSIVE = ("srm", "wipe", "trash", "trash-put", "rimraf", "del-cli")  # without an option


def _delete(words: list[str]) -> list[Effect]:
    options, operands = arguments(words)
    recursive = has(options, "-r", "-R", "--recursive", "-d", "--dir") or program(words[0]) in _RECURSIVE
    return [Effect("delete", path, recursive) for path in operands]


def _move(words: list[str]) -> list[Effect]:
    options, operands = arguments(words, "tS", ("--target-directory", "--suffix"))
    target = value_of(options, "-t", "--target-directory")
    sources = operands if target is not None else operands[:-1]
    return [Effect("move", path, True) for path in sources] + _into(
        operands[-1:] if target is None else [target], sources
    )


def _copy(
    short: str = "tSmogZ", long: Iterable[str] = ("--target-directory", "--suffix", "--mode", "--owner", "--group")
) -> Reader:
    def read(words: list[str]) -> list[Effect]:
        options, operands = arguments(words, short, long)
        target = value_of(options, "-t", "--target-directory") if "t" in short else None
        if program(words[0]) == "install" and has(options, "-d", "--directory"):
            return [Effect("write", path) for path in operands]
        if program(words[0]) == "ln" and len(operands) == 1:
            return [Effect("write", operands[0].rpartition("/")[2])]
        sources = operands if target is not None else operands[:-1]
        return _into(operands[-1:] if target is None else [target], sources)

    return read


def _into(targets: list[str], sources: list[str]) -> list[Effect]:
    """Return writes to a target, and to the files in it if it is a directory."""
    found = [Effect("write", target) for target in targets]
    for target in targets:
        found += [
            Effect("write", target.rstrip("/") + "/" + source.rstrip("/").rpartition("/")[2]) for source in sources
        ]
    return found


def _rsync(words: list[str]) -> list[Effect]:
    short = "efTBM"
    options, operands = arguments(words, short, ("--rsh", "--filter", "--exclude", "--include", "--files-from"))
    if not operands:
        return []
    target = operands[-1]
    if re.match(r"[^/]*:", target):  # on another machine
        found = []
    else:
        deletes = any(name.startswith("--del") for name, _ in options)
        found = [Effect("delete", target, True)] if deletes else _into([target], operands[:-1])
    if has(options, "--remove-source-files"):
        found += [Effect("delete", path, True) for path in operands[:-1]]
    return found


def _operands(kind: str = "write", short: str = "", long: Iterable[str] = (), skip: int = 0) -> Reader:
    def read(words: list[str]) -> list[Effect]:
        options, operands = arguments(words, short, long)
        recursive = has(options, "-R", "-r", "--recursive")
        return [Effect(kind, path, recursive) for path in operands[skip:]]

    return read


def _mode(words: list[str]) -> list[Effect]:
    """Read `chmod`, `chown` …: the first operand is the mode, unless `--reference` gives it."""
    options, operands = [], []
    for word in words[1:]:
        # -x and -w are modes; -R, -v, -f, -c and names are options
        if re.fullmatch(r"--[a-z-]+(?:=.*)?|-[RHLPcfvhn]+", word):
            options += [word] if word.startswith("--") else ["-" + letter for letter in word[1:]]
        else:
            operands.append(word)
    recursive = "-R" in options or "--recursive" in options
    reference = any(option.startswith("--reference") for option in options)
    return [Effect("mode", path, recursive) for path in operands[0 if reference else 1 :]]


def _dd(words: list[str]) -> list[Effect]:
    return [Effect("write", word[3:]) for word in words[1:] if word.startswith("of=")]


def _in_place(words: list[str]) -> list[Effect]:
    """Read `sed -i`, `perl -i`, `yq -i`: the files after the script."""
    name = program(words[0])
    if not any(re.match(r"-[a-zA-Z]*i|--in-place|--inplace", word) for word in words[1:]):
        return []
    short = "efl" if name == "sed" else "eEIM"
    words = [re.sub(r"^-i.+", "-i", word) if name == "sed" else word for word in words]
    options, operands = arguments(words, short, ("--expression", "--file"))
    has_script = has(options, "-e", "-E", "-f", "--expression", "--file") or name != "sed"
    return [Effect("write", path) for path in (operands if has_script else operands[1:])]


def _fetch(words: list[str]) -> list[Effect]:
    name = program(words[0])
    if name == "curl":
        options, _ = arguments(words, "oHXdFuAbceEKmrTxyYzCDPQtUw", ("--output", "--header", "--output-dir", "--data"))
        return [
            Effect("write", value) for option, value in options if option in ("-o", "--output", "--output-dir", "-D")
        ]
    options, _ = arguments(words, "OPoaeiUtTwQ", ("--output-document", "--directory-prefix", "--header"))
    found = ("-O", "--output-document", "-P", "--directory-prefix", "-o")
    return [Effect("write", value) for option, value in options if option in found]


def _archive(words: list[str]) -> list[Effect]:
    """Read `tar -C`, `tar -cf`, `unzip -d`, `zip`."""
    if program(words[0]) == "tar" or program(words[0]) == "bsdtar":
        if len(words) > 1 and not words[1].startswith("-"):
            words = [words[0], "-" + words[1], *words[2:]]
        options, _ = arguments(words, "CfbIXT", ("--directory", "--file", "--exclude"))
        creates = has(options, "-c", "--create")
        found = ("-f", "--file") if creates else ("-C", "--directory")
        return [Effect("write", value) for option, value in options if option in found and value != "-"]
    if program(words[0]) == "zip":
        return [Effect("write", path) for path in arguments(words, "xi")[1][:1]]
    options, _ = arguments(words, "dxP")
    return [Effect("write", value) for option, value in options if option == "-d"]


def _find(words: list[str]) -> list[Effect]:
    find = Find(words)
    deleting = any(program(command[0]) in ("rm", "unlink", "shred", "srm") for command in find.commands if command)
    found = [Effect("write", path) for path in find.written]
    if find.deletes or deleting:
        found += [Effect("delete", find.found(start), True) for start in find.starts]
    return found


def _option(*names: str) -> Reader:
    """Return a reader for programs that write to the value of an option."""

    def read(words: list[str]) -> list[Effect]:
        found = []
        for number, word in enumerate(words[1:], start=1):
            for name in names:
                if word == name and number + 1 < len(words):
                    found.append(Effect("write", words[number + 1]))
                elif word.startswith(name + "=") and name.startswith("--"):
                    found.append(Effect("write", word[len(name) + 1 :]))
        return found

    return read


def _git(words: list[str]) -> list[Effect]:
    options, operands = arguments(words, "cCf", ("--git-dir", "--work-tree", "--source", "--file", "--output"), 1)
    if operands[:1] in (["diff"], ["show"], ["log"], ["format-patch"], ["archive"]):
        return [Effect("write", value) for name, value in options if name == "--output"]
    if operands[:1] == ["rm"]:
        return [Effect("delete", path, has(options, "-r")) for path in operands[1:]]
    if operands[:1] == ["mv"]:
        return [Effect("move", path, True) for path in operands[1:-1]] + _into(operands[-1:], operands[1:-1])
    if operands[:1] == ["config"]:
        return [Effect("write", value) for name, value in options if name in ("-f", "--file") and len(operands) > 2]
    return []


def _shred(words: list[str]) -> list[Effect]:
    _, operands = arguments(words, "ns", ("--iterations", "--size"))
    return [Effect("delete", path, True) for path in operands]


_PROGRAMS = {
    "rm": _delete,
    "rmdir": _operands("delete"),
    "unlink": _operands("delete"),
    "srm": _delete,
    "wipe": _delete,
    "trash": _delete,
    "trash-put": _delete,
    "rimraf": _delete,
    "del-cli": _delete,
    "shred": _shred,
    "mv": _move,
    "cp": _copy(),
    "install": _copy(),
    "ln": _copy("tS", ("--target-directory", "--suffix")),
    "scp": _copy("cFiJloPS", ()),
    "rsync": _rsync,
    "tee": _operands(),
    "sponge": _operands(),
    "touch": _operands(short="drt", long=("--date", "--reference")),
    "mkdir": _operands(short="m", long=("--mode",)),
    "mkfifo": _operands(short="m", long=("--mode",)),
    "mknod": _operands(short="m", long=("--mode",)),
    "truncate": _operands(short="sr", long=("--size", "--reference")),
    "patch": _operands(short="ipdoBrFV", long=("--input", "--directory")),
    "ed": _operands(),
    "ex": _operands(short="c"),
    "vi": _operands(short="cuSsTi"),
    "vim": _operands(short="cuSsTi"),
    "nvim": _operands(short="cuSsTi"),
    "nano": _operands(short="cTor"),
    "emacs": _operands(),
    "gedit": _operands(),
    "code": _operands(),
    "gzip": _operands(),
    "chmod": _mode,
    "chown": _mode,
    "chgrp": _mode,
    "chattr": _mode,
    "chflags": _mode,
    "setfacl": _operands("mode", "mxMX"),
    "dd": _dd,
    "sed": _in_place,
    "perl": _in_place,
    "ruby": _in_place,
    "yq": _in_place,
    "curl": _fetch,
    "wget": _fetch,
    "tar": _archive,
    "bsdtar": _archive,
    "unzip": _archive,
    "zip": _archive,
    "find": _find,
    "git": _git,
    "sort": _option("-o", "--output"),
    "openssl": _option("-out"),
    "gpg": _option("-o", "--output"),
    "iconv": _option("-o", "--output"),
    "pandoc": _option("-o", "--output"),
}
