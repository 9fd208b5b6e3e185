"""Which paths a command deletes, writes, moves away or changes the mode of."""

from __future__ import annotations

from ..basics import lazy_re as re
from ..basics.named_tuples import NamedTuple
from .programs import Find, arguments, has, is_option, program, split_options, value_of

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


# Programs that change a path only if an option or their script says so.
_READING = frozenset(
    "find sed perl ruby yq awk gawk mawk nawk curl uniq xxd git sort tree openssl gpg iconv pandoc".split()
)


def by_option(words: list[str]) -> list[PathEffect]:
    """Return what a program that is known for reading, or for other work, does to paths by its options."""
    found = of_words(words) if program(words[0]) in _READING else []
    is_git = program(words[0]) == "git"  # `git rm` and `git mv` say what they do
    return [] if is_git and any(effect.kind != "write" for effect in found) else found


# Without an option; the last are of `cmake -E`.
_RECURSIVE = tuple("srm wipe trash trash-put rmtrash gvfs-trash rimraf del-cli remove_directory remove".split())


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
    logs = ("--log-file", "--backup-dir", "--partial-dir", "--temp-dir")
    options, operands = arguments(words, short, ("--rsh", "--filter", "--exclude", "--include", "--files-from", *logs))
    if not operands:
        return []
    written = [PathEffect("write", value) for name, value in options if name in logs]
    target = operands[-1]
    if ":" in target.partition("/")[0]:  # on another machine
        found = []
    else:
        deletes = any(name.startswith("--del") for name, _ in options)
        found = [PathEffect("delete", target, True)] if deletes else _into([target], operands[:-1])
    if has(options, "--remove-source-files"):
        found += [PathEffect("delete", path, True) for path in operands[:-1]]
    return found + written


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
        if word[:1] == "-" and re.fullmatch(r"--[a-z-]+(?:=.*)?|-[RHLPcfvhn]+", word):
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
        if "w" in word
        for path in re.findall(r"(?:^|[;\n{}/|#,\d])[ \t]*+[gpiIMe\d]*+w[ \t]+([^\n]+)", word)
    ]
    # `-E` has a value for perl and none for sed; names of options may be shortened
    valued, short = ("efl", "efli?") if name == "sed" else ("eEMmIxfC", "eEIM")
    given = [word for word in words[1:] if word[:1] == "-"]
    names = [word.partition("=")[0].replace("--inplace", "--in-place") for word in given]
    shortened = any(each[:3] == "--i" and "--in-place".startswith(each) for each in names)
    if not shortened and not any(re.match(rf"-[^\W{valued}i]*i", word) for word in given):
        return found
    options, operands = arguments(words, short, ("--expression", "--file"))
    has_script = has(options, "-e", "-f", "--expression", "--file") or name != "sed"
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
        if operands[:1] in (["x"], ["e"]):
            return [PathEffect("write", word[2:] or ".") for word in words[1:] if word.startswith("-o")]
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
                elif "=" in word and name.startswith("--") and is_option(word, name):
                    found.append(PathEffect("write", word.partition("=")[2]))
        return found

    return read


def _leading_option(letters: str, *names: str) -> Reader:
    """Return the same for programs that run another one, whose options are its own; `letters` have a value."""

    def read(words: list[str]) -> list[PathEffect]:
        options, _ = split_options(words, letters, [name for name in names if name.startswith("--")])
        return [PathEffect("write", value) for name, value in options if name in names]

    return read


def _formatted(*changing: str, unless: Iterable[str] = (), short: str = "", long: Iterable[str] = ()) -> Reader:
    """Return a reader for programs that rewrite their operands, if one of the options `changing` is given."""

    def read(words: list[str]) -> list[PathEffect]:
        options, operands = arguments(words, short, long)
        is_changing = (not changing or has(options, *changing)) and not has(options, *unless)
        return [PathEffect("write", path, True) for path in operands if is_changing]

    return read


def _script(words: list[str]) -> list[PathEffect]:
    """Read `script FILE`, and its options for further logs."""
    options, operands = arguments(words, "cEIOBTt", ("--command", "--log-in", "--log-out", "--log-io", "--log-timing"))
    logs = [value for name, value in options if name in ("-I", "-O", "-B", "-T") or name.startswith("--log-")]
    return [PathEffect("write", path) for path in (*logs, *operands[:1])]


def _sql(words: list[str]) -> list[PathEffect]:
    """Read the commands with which clients of databases write files, and `psql -o`."""
    told = (
        r"(?i)(?:^|\s)(?:\.(?:output|once|backup|save|log)|\\o)\s+([^\s;]+)"
        r"|writefile\(\s*'([^']+)'|into\s+\w+file\s+'([^']+)'"
    )
    found = [PathEffect("write", "".join(path)) for word in words[1:] for path in re.findall(told, word[:_LONGEST_SQL])]
    return found + (_option("-o", "--output")(words) if program(words[0]) == "psql" else [])


def _module(words: list[str]) -> list[PathEffect]:
    """Read the modules of Python that write: `python -m zipfile -e ARCHIVE DIRECTORY`, `-m json.tool IN OUT` …"""
    at = words.index("-m") + 1 if "-m" in words else len(words)
    module, given = "".join(words[at : at + 1]), words[at + 1 :]
    if module in ("zipfile", "tarfile") and given[:1] in (["-e"], ["--extract"]):
        return [PathEffect("write", path) for path in given[2:3] or ["."]]
    if module in ("zipfile", "tarfile") and given[:1] in (["-c"], ["--create"]):
        return [PathEffect("write", path) for path in given[1:2]]
    if module == "json.tool":
        return [PathEffect("write", path) for path in arguments(given, at=0)[1][1:2]]
    if module == "venv":
        kind = "delete" if "--clear" in given else "write"
        return [PathEffect(kind, path, True) for path in arguments(given, at=0)[1]]
    return []


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
        re.match(r"(?is)\s*(?:select|explain|\.(?:schema|tables|dump|mode|headers|once|output))\b", each)
        for each in operands[1:]
    )
    return [PathEffect("write", path) for path in operands[:1] if not shows]


def _mktemp(words: list[str]) -> list[PathEffect]:
    options, operands = arguments(words, "p", ("--suffix",))
    directory = value_of(options, "-p", "--tmpdir")
    return [PathEffect("write", path) for path in ([directory] if directory else operands)]


def _git(words: list[str]) -> list[PathEffect]:
    options, operands = arguments(words, "cCf", ("--git-dir", "--work-tree", "--source", "--file", "--output"), 1)
    if operands[:1] in (["diff"], ["show"], ["log"], ["format-patch"], ["archive"]):
        short = operands[0] in ("format-patch", "archive")
        names = ("-o", "--output-directory") if short else ()
        given = (PathEffect("write", value) for name, value in options if name in names or is_option(name, "--output"))
        following = _option("-o", "--output-directory")(words) if short else []
        return [*given, *following]
    if operands[:1] == ["clean"] and not any(re.fullmatch(r"-[a-z]*n[a-z]*|--dry-run", word) for word in words):
        paths = [word for word in words[words.index("clean") + 1 :] if not word.startswith("-")]
        return [PathEffect("delete", path, True) for path in paths]
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


_LONGEST_SQL = 5_000  # characters of a statement that are looked at
_RENAMERS = ("rename", "prename", "perl-rename", "file-rename", "rename.ul", "mmv", "mcp", "qmv", "vidir")
_PROGRAMS = {
    "rm": _delete,
    # every operand: what is an expression and what is a file differs between them
    **dict.fromkeys(_RENAMERS, _operands("move", "f")),
    **dict.fromkeys(("copy", "copy_directory", "copy_if_different", "cpy-cli"), _copy()),
    "time": _leading_option("fo", "-o", "--output"),
    "strace": _leading_option("abeEIoOpPsSuUX", "-o", "--output"),
    "ltrace": _leading_option("aADeFlnopsuxX", "-o", "--output"),
    "script": _script,
    **dict.fromkeys(("psql", "mysql", "mariadb", "duckdb"), _sql),
    "python": _module,
    "csplit": _option("-f", "--prefix"),
    "ar": _option("--output"),
    "cpio": _option("-D", "--directory"),
    **dict.fromkeys(("dpkg", "dpkg-deb"), _operands(skip=1)),
    "unrar": _operands(skip=2),
    "rmdir": _operands("delete"),
    "unlink": _operands("delete"),
    **dict.fromkeys(_RECURSIVE, _delete),
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
    "sqlite3": lambda words: [*_sqlite(words), *_sql(words)],
    "mktemp": _mktemp,
    "sort": _option("-o", "--output"),
    "tree": _option("-o"),
    "openssl": _option("-out"),
    "gpg": _option("-o", "--output"),
    "iconv": _option("-o", "--output"),
    "pandoc": _option("-o", "--output"),
}
