"""Which paths a command deletes, writes, moves away or changes the mode of."""

from __future__ import annotations

import re

from ..basics.named_tuples import NamedTuple
from .programs import Find, arguments, has, program, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Callable, Iterable

    from .reader import ShellCommand

    Reader = Callable[[list[str]], list["PathEffect"]]


class PathEffect(NamedTuple):
    """A change to a path, which is as the command names it."""

    kind: str  # delete, write, move, mode
    path: str
    recursive: bool = False


def effects(command: ShellCommand) -> list[PathEffect]:
    """Return what a command does to paths, its redirections included."""
    found = [PathEffect("write", target) for _, target in command.redirects] + effects_of_words(command)
    return [effect for effect in found if effect.path]


def effects_of_words(command: ShellCommand) -> list[PathEffect]:
    """Return what a command does to paths, without its redirections."""
    return of_words(command.words)


def of_words(words: list[str]) -> list[PathEffect]:
    """Return what a program does to paths that is given these arguments."""
    effect = _PROGRAMS.get(program(words[0])) if words else None
    return [each for each in effect(words) if each.path] if effect else []


_RECURSIVE = ("srm", "wipe", "trash", "trash-put", "rimraf", "del-cli")  # without an option


def _delete(words: list[str]) -> list[PathEffect]:
    options, operands = arguments(words)
    recursive = has(options, "-r", "-R", "--recursive", "-d", "--dir") or program(words[0]) in _RECURSIVE
    return [PathEffect("delete", path, recursive) for path in operands]


def _move(words: list[str]) -> list[PathEffect]:
    options, operands = arguments(words, "tS", ("--target-directory", "--suffix"))
    target = value_of(options, "-t", "--target-directory")
    sources = operands if target is not None else operands[:-1]
    return [PathEffect("move", path, True) for path in sources] + _into(
        operands[-1:] if target is None else [target], sources
    )


def _copy(
    short: str = "tSmogZ", long: Iterable[str] = ("--target-directory", "--suffix", "--mode", "--owner", "--group")
) -> Reader:
    def read(words: list[str]) -> list[PathEffect]:
        options, operands = arguments(words, short, long)
        target = value_of(options, "-t", "--target-directory") if "t" in short else None
        if program(words[0]) == "install" and has(options, "-d", "--directory"):
            return [PathEffect("write", path) for path in operands]
        if program(words[0]) == "ln" and len(operands) == 1:
            return [PathEffect("write", operands[0].rpartition("/")[2])]
        sources = operands if target is not None else operands[:-1]
        return _into(operands[-1:] if target is None else [target], sources)

    return read


def _into(targets: list[str], sources: list[str]) -> list[PathEffect]:
    """Return writes to a target, and to the files in it if it is a directory."""
    found = [PathEffect("write", target) for target in targets]
    for target in targets:
        found += [
            PathEffect("write", target.rstrip("/") + "/" + source.rstrip("/").rpartition("/")[2]) for source in sources
        ]
    return found


def _rsync(words: list[str]) -> list[PathEffect]:
    short = "efTBM"
    options, operands = arguments(words, short, ("--rsh", "--filter", "--exclude", "--include", "--files-from"))
    if not operands:
        return []
    target = operands[-1]
    if re.match(r"[^/]*:", target):  # on another machine
        found = []
    else:
        deletes = any(name.startswith("--del") for name, _ in options)
        found = [PathEffect("delete", target, True)] if deletes else _into([target], operands[:-1])
    if has(options, "--remove-source-files"):
        found += [PathEffect("delete", path, True) for path in operands[:-1]]
    return found


def _operands(kind: str = "write", short: str = "", long: Iterable[str] = (), skip: int = 0) -> Reader:
    def read(words: list[str]) -> list[PathEffect]:
        options, operands = arguments(words, short, long)
        recursive = has(options, "-R", "-r", "--recursive")
        return [PathEffect(kind, path, recursive) for path in operands[skip:]]

    return read


def _mode(words: list[str]) -> list[PathEffect]:
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
    return [PathEffect("mode", path, recursive) for path in operands[0 if reference else 1 :]]


def _dd(words: list[str]) -> list[PathEffect]:
    return [PathEffect("write", word[3:]) for word in words[1:] if word.startswith("of=")]


def _in_place(words: list[str]) -> list[PathEffect]:
    """Read `sed -i`, `perl -i`, `yq -i`: the files after the script; and `w file` in a script of sed."""
    name = program(words[0])
    found = [
        PathEffect("write", path)
        for word in (words[1:] if name == "sed" else ())
        for path in re.findall(r"(?:^|[;\n{}/|#,\d])[ \t]*+[gpiIMe\d]*+w[ \t]+([^\n]+)", word)
    ]
    if not any(re.match(r"-[^\WeEMmIxfC]*i|--in-?place", word) for word in words[1:]):
        return found
    short = "efl" if name == "sed" else "eEIM"
    words = [re.sub(r"^-i.+", "-i", word) if name == "sed" else word for word in words]
    options, operands = arguments(words, short, ("--expression", "--file"))
    has_script = has(options, "-e", "-E", "-f", "--expression", "--file") or name != "sed"
    return found + [PathEffect("write", path) for path in (operands if has_script else operands[1:])]


def _awk(words: list[str]) -> list[PathEffect]:
    """Read `awk -i inplace`: the files after the program."""
    options, operands = arguments(words, "fFviE", ("--include", "--file", "--field-separator", "--assign"))
    is_changing = any(name in ("-i", "--include") and value == "inplace" for name, value in options)
    return [PathEffect("write", path) for path in operands[0 if has(options, "-f", "--file") else 1 :] if is_changing]


_CURL = ("--output", "--header", "--output-dir", "--data", "--request", "--user", "--form")


def _fetch(words: list[str]) -> list[PathEffect]:
    """Read `curl -o`, `curl -O`, `wget -P`, `aria2c -d`. Without a name, a file is named as the address ends."""
    name = program(words[0])
    letters = {"curl": "oHXdFuAbceEKmrTxyYzCDPQtUw", "wget": "OPoaeiUtTwQ"}.get(name, "doixsjkm")
    options, operands = arguments(words, letters, (*_CURL, "--output-document", "--directory-prefix", "--dir", "--out"))
    directories = {"curl": ("--output-dir",), "wget": ("-P", "--directory-prefix")}.get(name, ("-d", "--dir"))
    directory = value_of(options, *directories)
    given = ("-o", "--output", "--output-document", "--out", "-D" if name == "curl" else "-O")
    files = [value for option, value in options if option in given]
    if has(options, "-O", "--remote-name", "--remote-name-all") if name == "curl" else not files:
        addresses = [value for option, value in options if option == "--url"] + operands
        files += [re.split(r"[?#]", address)[0].rpartition("/")[2] for address in addresses]
    found = [PathEffect("write", f"{directory}/{file}" if directory and file[:1] != "/" else file) for file in files]
    return [*found, PathEffect("write", directory)] if directory else found


def _archive(words: list[str]) -> list[PathEffect]:
    """Read `tar -C`, `tar -cf`, `unzip -d`, `zip`; the files that are named in an archive, and where they go.

    What is put into an archive is deleted with `zip -m`, `7z -sdel`, `rar m` and `tar --remove-files`.
    """
    name = program(words[0])
    if name == "zip":
        options, operands = arguments(words, "xi")
        sources = operands[1:] if has(options, "-m", "--move") else []
        return [*(PathEffect("write", path) for path in operands[:1]), *_emptied(sources)]
    if name in ("7z", "7za", "7zz", "7zr", "rar"):
        operands = [word for word in words[1:] if not word.startswith("-")]
        return _emptied(operands[2:] if {"-sdel", "-df"} & {*words} or operands[:1] == ["m"] else [])
    if name == "unzip":
        options, operands = arguments(words, "dxP")
        is_unpacking, members = not has(options, "-l", "-t", "-p", "-v", "-Z", "-z"), operands[1:]
    else:
        if len(words) > 1 and not words[1].startswith("-"):
            words = [words[0], "-" + words[1], *words[2:]]
        options, members = arguments(words, "CfbIXT", ("--directory", "--file", "--exclude"))
        if has(options, "-c", "--create"):
            files = [value for option, value in options if option in ("-f", "--file") and value != "-"]
            sources = members if has(options, "--remove-files") else []
            return [*(PathEffect("write", path) for path in files), *_emptied(sources)]
        is_unpacking = has(options, "-x", "--extract", "--get")
    directory = value_of(options, "-C", "--directory", "-d")
    into = [directory] if directory else ["."] if is_unpacking else []
    members = [f"{directory or '.'}/{member}" for member in members] if is_unpacking else []
    return [PathEffect("write", path) for path in (*into, *members)]


def _emptied(paths: list[str]) -> list[PathEffect]:
    return [PathEffect("delete", path, True) for path in paths]


def _find(words: list[str]) -> list[PathEffect]:
    find = Find(words)
    deleting = any(program(command[0]) in ("rm", "unlink", "shred", "srm") for command in find.commands if command)
    found = [PathEffect("write", path) for path in find.written]
    if find.deletes or deleting:
        found += [PathEffect("delete", find.found(start), True) for start in find.starts]
    return found


def _option(*names: str) -> Reader:
    """Return a reader for programs that write to the value of an option."""

    def read(words: list[str]) -> list[PathEffect]:
        found = []
        for number, word in enumerate(words[1:], start=1):
            for name in names:
                if word == name and number + 1 < len(words):
                    found.append(PathEffect("write", words[number + 1]))
                elif word.startswith(name + "=") and name.startswith("--"):
                    found.append(PathEffect("write", word[len(name) + 1 :]))
        return found

    return read


def _formatted(*changing: str, unless: Iterable[str] = (), short: str = "", long: Iterable[str] = ()) -> Reader:
    """Return a reader for programs that rewrite their operands, if one of the options `changing` is given."""

    def read(words: list[str]) -> list[PathEffect]:
        options, operands = arguments(words, short, long)
        is_changing = (not changing or has(options, *changing)) and not has(options, *unless)
        return [PathEffect("write", path, True) for path in operands if is_changing]

    return read


def _ruff(words: list[str]) -> list[PathEffect]:
    """Read `ruff format`, and `ruff check --fix`."""
    is_formatting = words[1:2] == ["format"]
    read = _formatted(unless=("--check", "--diff")) if is_formatting else _formatted("--fix", "--fix-only")
    return read(words[1:]) if is_formatting or words[1:2] == ["check"] else []


def _container_copy(words: list[str]) -> list[PathEffect]:
    """Read `docker cp container:path target`."""
    operands = [word for word in words[1:] if not word.startswith("-")]
    is_copy = operands[:1] == ["cp"] and len(operands) == 3
    return _into(operands[2:], operands[1:2]) if is_copy and ":" not in operands[2] else []


def _sqlite(words: list[str]) -> list[PathEffect]:
    """Read `sqlite3 file statement`, unless all that it does is to show something."""
    operands = arguments(words, "", ("-cmd", "-separator"))[1]
    shows = all(
        re.match(r"(?is)\s*(?:select|explain|\.(?:schema|tables|dump|mode|headers))\b", each) for each in operands[1:]
    )
    return [PathEffect("write", path) for path in operands[:1] if not shows]


def _mktemp(words: list[str]) -> list[PathEffect]:
    options, operands = arguments(words, "p", ("--suffix",))
    directory = value_of(options, "-p", "--tmpdir")
    return [PathEffect("write", path) for path in ([directory] if directory else operands)]


def _git(words: list[str]) -> list[PathEffect]:
    options, operands = arguments(words, "cCf", ("--git-dir", "--work-tree", "--source", "--file", "--output"), 1)
    if operands[:1] in (["diff"], ["show"], ["log"], ["format-patch"], ["archive"]):
        return [PathEffect("write", value) for name, value in options if name == "--output"]
    if operands[:1] == ["rm"]:
        return [PathEffect("delete", path, has(options, "-r")) for path in operands[1:]]
    if operands[:1] == ["mv"]:
        return [PathEffect("move", path, True) for path in operands[1:-1]] + _into(operands[-1:], operands[1:-1])
    if operands[:1] == ["config"]:
        return [PathEffect("write", value) for name, value in options if name in ("-f", "--file") and len(operands) > 2]
    return []


def _shred(words: list[str]) -> list[PathEffect]:
    _, operands = arguments(words, "ns", ("--iterations", "--size"))
    return [PathEffect("delete", path, True) for path in operands]


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
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    **dict.fromkeys(("curl", "wget", "aria2c", "axel"), _fetch),
    **dict.fromkeys(
        ("uniq", "xxd"), lambda words: [PathEffect("write", path) for path in arguments(words, "fswclos")[1][1:2]]
    ),
    "tar": _archive,
    "bsdtar": _archive,
    "unzip": _archive,
    **dict.fromkeys(("zip", "7z", "7za", "7zz", "7zr", "rar"), _archive),
    "find": _find,
    "git": _git,
    **dict.fromkeys(("gofmt", "goimports", "gofumpt"), _formatted("-w", short="rd")),
    "prettier": _formatted("--write", "-w", long=("--config", "--parser", "--ignore-path")),
    "black": _formatted(unless=("--check", "--diff", "-c"), short="ltcC", long=("--line-length", "--config")),
    "isort": _formatted(unless=("--check", "--check-only", "-c", "--diff"), short="l", long=("--profile",)),
    "ruff": _ruff,
    "clang-format": _formatted("-i"),
    "rustfmt": _formatted(unless=("--check",), long=("--edition", "--config", "--config-path", "--emit")),
    "eslint": _formatted("--fix", short="cf", long=("--ext", "--config", "--format", "--rule")),
    **dict.fromkeys(("dos2unix", "unix2dos"), _operands(short="c")),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "go", "ld"), _option("-o")),
    "split": lambda words: [PathEffect("write", path) for path in arguments(words, "abCln")[1][1:2]],
    "ffmpeg": lambda words: [PathEffect("write", path) for path in words[-1:] if "-i" in words and ":" not in path],
    **dict.fromkeys(("docker", "podman"), _container_copy),
    "sqlite3": _sqlite,
    "mktemp": _mktemp,
    "sort": _option("-o", "--output"),
    "openssl": _option("-out"),
    "gpg": _option("-o", "--output"),
    "iconv": _option("-o", "--output"),
    "pandoc": _option("-o", "--output"),
}
