"""Which paths a command deletes, writes, moves, or changes the mode of.

`_PROGRAMS` has a synopsis for each program, as in `wrappers`, which tells what happens to options and operands:

    rm            the subcommand, in lower case
    -ab --name    options with a value: letters, names
    -o=WRITE      an option whose value is written to; INTO: a directory, or a file, that the operands are put into
    IF=-w         it does something only with this option; UNLESS=-n: only without it
    WRITE         an operand, the last for all that follow: WRITE, DELETE, TREE (deleted with all that is in it), MOVE,
                  MODE, ANY (nothing happens to it); INTO, the last one: as above, or of INTO: on another machine
    +             options end at the first operand, as with programs that run another one

Of several synopses the first that fits counts. What needs more than a row has a function.
"""

from __future__ import annotations

from ..basics import lazy_re as re
from ..basics.named_tuples import NamedTuple
from .output import DOWNLOADING, downloaded
from .programs import Find, arguments, git_options, has, has_short_option, is_option, program, split_options, value_of
from .wrappers import synopsis

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Callable

    from .reader import ShellCommand

    Reader = Callable[[list[str]], list["PathEffect"]]


class PathEffect(NamedTuple):
    """A change to a path, which is as the command names it."""

    kind: str  # delete, write, move, mode
    path: str
    recursive: bool = False


def effects(command: ShellCommand) -> list[PathEffect]:
    """Return what a command does to paths, including its redirections."""
    return [PathEffect("write", target) for _, target in command.redirects if target] + of_words(command.words)


def of_words(words: list[str]) -> list[PathEffect]:
    """Return what a program does to paths; `words` are its name and arguments."""
    known = _PROGRAMS.get(program(words[0]), ()) if words else ()
    return [each for each in (_by_rows(words, known) if isinstance(known, str | tuple) else known(words)) if each.path]


# Programs that change paths only because of an option or their script.
_READING = frozenset(
    "find sed perl ruby yq awk gawk mawk nawk curl uniq xxd git sort tree openssl gpg iconv pandoc".split()
)


def by_option(words: list[str]) -> list[PathEffect]:
    """Return what a program that usually only reads does to paths because of its options or script."""
    found = of_words(words) if program(words[0]) in _READING else []
    is_git = program(words[0]) == "git"  # not `git rm` and `git mv`, whose names tell what they do
    return [] if is_git and any(effect.kind != "write" for effect in found) else found


def _by_rows(words: list[str], rows: str | tuple[str, ...]) -> list[PathEffect]:
    """Return the effects of a program by the first of its synopses that fits."""
    for row in (rows,) if isinstance(rows, str) else rows:
        form = synopsis(row)
        start = 1 + len(form.subcommand)
        options, operands = arguments(words, form.short, form.options, start)
        if "+" in form.operands:
            options, at = split_options(words, form.short, form.options, start)
            operands = words[at:]
        if words[1:start] == form.subcommand and form.fits(options):
            return _of_synopsis(options, operands, form.options, [each for each in form.operands if each != "+"])
    return []


def _of_synopsis(
    options: list[tuple[str, str]], operands: list[str], kinds: dict[str, str], wanted: list[str]
) -> list[PathEffect]:
    given = [(next((kinds[each] for each in kinds if is_option(name, each)), ""), value) for name, value in options]
    found = [PathEffect("write", value) for kind, value in given if kind == "WRITE"]
    targets = [value for kind, value in given if kind == "INTO"]
    if wanted[-1:] in (["INTO"], ["INTO:"]):
        *wanted, last = wanted
        operands, targets = (operands, targets) if targets else (operands[:-1], operands[-1:])
        targets = [] if last == "INTO:" and any(map(_is_elsewhere, targets)) else targets
    recursive = has(options, "-r", "-R", "--recursive")
    for kind, path in zip(wanted + wanted[-1:] * len(operands), operands, strict=False):
        if kind == "TREE":
            found.append(PathEffect("delete", path, True))
        elif kind in ("WRITE", "DELETE", "MOVE", "MODE"):
            found.append(PathEffect(kind.lower(), path, recursive))
    return found + _into(targets, operands)


def _into(targets: list[str], sources: list[str]) -> list[PathEffect]:
    """Return writes to a target, and to the files in it if it is a directory."""
    names = [source.rstrip("/").rpartition("/")[2] for source in sources]
    paths = [path for target in targets for path in (target, *(f"{target.rstrip('/')}/{name}" for name in names))]
    return [PathEffect("write", path) for path in paths]


def _is_elsewhere(target: str) -> bool:
    """Whether a target is on another machine: `host:path`."""
    return ":" in target.partition("/")[0]


def _link(words: list[str]) -> list[PathEffect]:
    operands = arguments(words, "tS", ("--target-directory", "--suffix"))[1]
    if len(operands) == 1:
        return [PathEffect("write", operands[0].rpartition("/")[2])]
    return _by_rows(words, "-S -t=INTO --target-directory=INTO --suffix ANY INTO")


def _rsync(words: list[str]) -> list[PathEffect]:
    logs = ("--log-file", "--backup-dir", "--partial-dir", "--temp-dir")
    long = ("--rsh", "--filter", "--exclude", "--include", "--files-from", *logs)
    options, operands = arguments(words, "efTBM", long)
    if has(options, "-n", "--dry-run"):
        return []
    targets = [] if any(map(_is_elsewhere, operands[-1:])) else operands[-1:]
    deletes = any(name.startswith("--del") for name, _ in options)
    found = _emptied(targets) if deletes else _into(targets, operands[:-1])
    found += _emptied(operands[:-1] if has(options, "--remove-source-files") else [])
    return found + [PathEffect("write", value) for name, value in options if name in logs]


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
    if not shortened and not any(has_short_option(word, "i", valued) for word in given):
        return found
    options, operands = arguments(words, short, ("--expression", "--file"))
    has_script = has(options, "-e", "-f", "--expression", "--file") or name != "sed"
    return found + [PathEffect("write", path) for path in (operands if has_script else operands[1:])]


def _awk(words: list[str]) -> list[PathEffect]:
    """Read `awk -i inplace`: the files after the program."""
    options, operands = arguments(words, "fFviE", ("--include", "--file", "--field-separator", "--assign"))
    is_changing = any(name in ("-i", "--include") and value == "inplace" for name, value in options)
    return [PathEffect("write", path) for path in operands[0 if has(options, "-f", "--file") else 1 :] if is_changing]


def _fetch(words: list[str]) -> list[PathEffect]:
    """Read `curl -o`, `curl -O`, `wget -P`, `aria2c -d`."""
    _, _, directories, logs = DOWNLOADING[program(words[0])]
    files = [PathEffect("write", path) for path in downloaded(words) if path != "-"]
    return files + _option(*directories, *logs)(words)


def _archive(words: list[str]) -> list[PathEffect]:
    """Read `tar -C`, `tar -cf`, `unzip -d`, `zip`: the archive, or the directory and named files that are unpacked.

    `zip -m`, `7z -sdel`, `rar m` and `tar --remove-files` delete the files that they add to an archive.
    """
    name = program(words[0])
    if name == "zip":
        options, operands = arguments(words, "xi")
        sources = operands[1:] if has(options, "-m", "--move") else []
        return [*(PathEffect("write", path) for path in operands[:1]), *_emptied(sources)]
    if name in _7Z:
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


def _sql(words: list[str]) -> list[PathEffect]:
    """Read the commands of database clients that write files, and `psql -o`."""
    told = (
        r"(?i)(?:^|\s)(?:\.(?:output|once|backup|save|log)|\\o)\s+([^\s;]+)"
        r"|writefile\(\s*'([^']+)'|into\s+\w+file\s+'([^']+)'"
    )
    found = [PathEffect("write", "".join(path)) for word in words[1:] for path in re.findall(told, word[:_LONGEST_SQL])]
    return found + (_option("-o", "--output")(words) if program(words[0]) == "psql" else [])


def _module(words: list[str]) -> list[PathEffect]:
    """Read Python modules that write: `python -m zipfile -e ARCHIVE DIRECTORY`, `-m json.tool IN OUT` …"""
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


def _sqlite(words: list[str]) -> list[PathEffect]:
    """Read `sqlite3 file statement`, unless its statements only show something."""
    operands = arguments(words, "", ("-cmd", "-separator"))[1]
    shows = all(
        re.match(r"(?is)\s*(?:select|explain|\.(?:schema|tables|dump|mode|headers|once|output))\b", each)
        for each in operands[1:]
    )
    return [PathEffect("write", path) for path in operands[:1] if not shows]


# The synopses of git's subcommands.
_GIT = {
    **dict.fromkeys(("diff", "show", "log"), "--output=WRITE"),
    **dict.fromkeys(("format-patch", "archive"), "-o=WRITE --output=WRITE --output-directory=WRITE"),
    "clean": "-e --exclude UNLESS=-n UNLESS=--dry-run TREE",
    "rm": "DELETE",
    "mv": "MOVE INTO",
}


def _git(words: list[str]) -> list[PathEffect]:
    rest = words[git_options(words)[1] :]
    if rest[:1] == ["config"]:
        options, operands = arguments(rest, "f", ("--file",))
        return [PathEffect("write", value_of(options, "-f", "--file") or "")] if len(operands) > 1 else []
    return _by_rows(rest, _GIT.get("".join(rest[:1]), ()))


_LONGEST_SQL = 5_000  # characters of a statement that are read
_COPY = "-Smog --suffix --mode --owner --group -t=INTO --target-directory=INTO ANY INTO"
_EDITOR = "-cuSsTi WRITE"
_7Z = ("7z", "7za", "7zz", "7zr", "rar")
_PROGRAMS: dict[str, str | tuple[str, ...] | Reader] = {
    # deleting; the last two are subcommands of `cmake -E`
    **dict.fromkeys(("rm", "rmdir", "unlink"), "DELETE"),
    **dict.fromkeys("srm wipe trash-put rmtrash gvfs-trash rimraf del-cli remove_directory remove".split(), "TREE"),
    "trash": "UNLESS=--restore UNLESS=--list TREE",
    "shred": "-ns --iterations --size TREE",
    "find": _find,
    # moving and copying
    "mv": "-S --suffix -t=INTO --target-directory=INTO MOVE INTO",
    # every operand, since which ones are expressions differs between them
    **dict.fromkeys("rename prename perl-rename file-rename rename.ul mmv mcp qmv vidir".split(), "-f MOVE"),
    **dict.fromkeys(("cp", "copy", "copy_directory", "copy_if_different", "cpy-cli"), _COPY),
    "install": ("-mogS IF=-d IF=--directory WRITE", _COPY),
    "ln": _link,
    "scp": "-cFiJloPS ANY INTO:",
    "rsync": _rsync,
    **dict.fromkeys(("docker", "podman"), "cp ANY INTO:"),
    "git": _git,
    # writing
    "sudo": "+ -ughpCcDRrtTU --user --group --chdir --chroot IF=-e IF=--edit WRITE",
    **dict.fromkeys("tee sponge ed emacs gedit code gzip".split(), "WRITE"),
    **dict.fromkeys(("vi", "vim", "nvim"), _EDITOR),
    "ex": "-c WRITE",
    "nano": "-cTor WRITE",
    "touch": "-drt --date --reference WRITE",
    **dict.fromkeys(("mkdir", "mkfifo", "mknod"), "-m --mode WRITE"),
    "truncate": "-sr --size --reference WRITE",
    "patch": "-ipdoBrFV --input --directory WRITE",
    "dd": _dd,
    **dict.fromkeys(("sed", "perl", "ruby", "yq"), _in_place),
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    **dict.fromkeys(("dos2unix", "unix2dos"), "-c WRITE"),
    "uniq": "-fsw ANY WRITE",
    "xxd": "-clos ANY WRITE",
    "split": "-abCln ANY WRITE",
    "mktemp": ("-p=WRITE --tmpdir=WRITE --suffix IF=-p IF=--tmpdir", "--suffix WRITE"),
    "script": "-cEt --command -I=WRITE -O=WRITE -B=WRITE -T=WRITE --log-in=WRITE --log-out=WRITE --log-io=WRITE "
    "--log-timing=WRITE WRITE ANY",
    "time": "+ -f --format -o=WRITE --output=WRITE",
    "strace": "+ -abeEIOpPsSuUX -o=WRITE --output=WRITE",
    "ltrace": "+ -aADeFlnpsuxX -o=WRITE --output=WRITE",
    "ffmpeg": lambda words: [PathEffect("write", path) for path in words[-1:] if "-i" in words and ":" not in path],
    "csplit": _option("-f", "--prefix"),
    "ar": _option("--output"),
    "cpio": _option("-D", "--directory"),
    "tree": _option("-o"),
    "openssl": _option("-out"),
    **dict.fromkeys(("sort", "gpg", "iconv", "pandoc"), _option("-o", "--output")),
    **dict.fromkeys("gcc g++ cc c++ clang clang++ rustc go ld".split(), _option("-o")),
    # formatting
    **dict.fromkeys(("gofmt", "goimports", "gofumpt"), "-rd IF=-w WRITE"),
    "prettier": "--config --parser --ignore-path IF=--write IF=-w WRITE",
    "black": "-ltC --line-length --config UNLESS=--check UNLESS=--diff UNLESS=-c WRITE",
    "isort": "-l --profile UNLESS=--check UNLESS=--check-only UNLESS=-c UNLESS=--diff WRITE",
    "ruff": ("format UNLESS=--check UNLESS=--diff WRITE", "check IF=--fix IF=--fix-only WRITE"),
    "clang-format": "IF=-i WRITE",
    "rustfmt": "--edition --config --config-path --emit UNLESS=--check WRITE",
    "eslint": "-cf --ext --config --format --rule IF=--fix WRITE",
    # fetching and unpacking
    **dict.fromkeys(DOWNLOADING, _fetch),
    **dict.fromkeys(("tar", "bsdtar", "unzip", "zip", *_7Z), _archive),
    **dict.fromkeys(("dpkg", "dpkg-deb"), "ANY WRITE"),
    "unrar": "ANY ANY WRITE",
    # databases and modules
    **dict.fromkeys(("psql", "mysql", "mariadb", "duckdb"), _sql),
    "sqlite3": lambda words: [*_sqlite(words), *_sql(words)],
    "python": _module,
    # owners and permissions
    **dict.fromkeys(("chmod", "chown", "chgrp", "chattr", "chflags"), _mode),
    "setfacl": "-mxMX MODE",
}
