"""Programs that run other programs: `sudo`, `env`, `xargs`, `find -exec`, `sh -c`, `ssh`, `docker run` …

`inner` says what a command's words make it run. The tables have a row per program; what needs more than a row has a
function.
"""

from __future__ import annotations

import os
import re

from .syntax import DECODED, UNKNOWN, unescaped

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Options = list[tuple[str, str]]
    Reader = Callable[[list[str], str | None], list["Inner"]]

MOST_ITEMS = 256  # arguments that come from elsewhere
MOST_GLOBAL_OPTIONS = 32  # words before a subcommand
LONGEST_TEXT = 100_000  # characters of a program's own language that are looked at
MOST_LINES = 3000  # of a table or a makefile that is piped in; the budget ends before
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "tcsh", "csh", "yash", "oksh"))
LANGUAGES = {
    "python": "python",
    "pypy": "python",
    "perl": "perl",
    "ruby": "ruby",
    "node": "node",
    "nodejs": "node",
    "bun": "node",
    "deno": "node",
    "php": "php",
    "lua": "lua",
    "luajit": "lua",
    "osascript": "osascript",
    "tclsh": "tcl",
    "expect": "tcl",
    "rscript": "r",
    "r": "r",
    "julia": "julia",
    **dict.fromkeys("elixir groovy scala runghc ghc clojure racket octave gnuplot".split(), "other"),
    "emacs": "lisp",
    "guile": "lisp",
}


class Inner:
    """A program or code that a command runs.

    `kind` is `words` (a program with its arguments), `shell` or `code` (text in `language`), `file` (a script) or
    `stdin` (code that is read from there). `directory` is where it runs, if not in the current one; `~` is the home.
    """

    __slots__ = (
        "arguments",
        "assignments",
        "contained",
        "directory",
        "is_certain",
        "kind",
        "language",
        "mounts",
        "stdin",
        "value",
    )

    def __init__(
        self,
        kind: str,
        value: Any = "",
        arguments: Iterable[str] = (),
        language: str = "shell",
        directory: str | None = None,
        stdin: str | None = None,
        is_certain: bool = True,
        assignments: Iterable[str] = (),
    ) -> None:
        self.kind = kind
        self.value = value
        self.arguments = list(arguments)
        self.language = language
        self.directory = directory
        self.stdin = stdin
        self.is_certain = is_certain  # nothing but the command's own words decides what runs
        self.assignments = tuple((name, value) for name, _, value in (each.partition("=") for each in assignments))
        self.contained = False  # in a container that is thrown away: its paths are not ours, but for the mounts
        self.mounts: list[tuple[str, str]] = []  # of (path in the container, path here)


_CORE = frozenset(
    "cat chmod chown chgrp cp dd echo env find head ln mkdir mv nice printf rm rmdir sed shred sort".split()
)
_CORE |= frozenset("split stdbuf stat tail tar tee timeout touch tr truncate unlink xargs install awk".split())


def program(word: str) -> str:
    """Return a program's name: `python` for `/usr/bin/python3.11`, `rm` for `RM` and for GNU's `grm`."""
    name = word.rpartition("/")[2].lower()
    if name.endswith(".exe"):
        name = name[:-4]
    if name[:1] == "g" and name[1:] in _CORE:
        return name[1:]
    if name[-1:].isdigit():
        bare = name.rstrip("0123456789.")
        if bare in LANGUAGES or bare in ("pip", "lua"):
            return bare
    return name


def split_options(words: list[str], short: str = "", long: Iterable[str] = (), at: int = 1) -> tuple[Options, int]:
    """Return the options up to the first operand, as a list of (name, value), and the index of that operand.

    `short` are letters and `long` names of options that have a value; letters may stand together.
    """
    found: Options = []
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            return found, at + 1
        at = _take_option(words, at, short, long, found)
    return found, at


def arguments(words: list[str], short: str = "", long: Iterable[str] = (), at: int = 1) -> tuple[Options, list[str]]:
    """Return options and operands in any order, as most programs take them."""
    options: Options = []
    operands: list[str] = []
    while at < len(words):
        if words[at] == "--":
            return options, operands + words[at + 1 :]
        if words[at].startswith("-") and words[at] != "-":
            at = _take_option(words, at, short, long, options)
        else:
            operands.append(words[at])
            at += 1
    return options, operands


def _take_option(words: list[str], at: int, short: str, long: Iterable[str], found: Options) -> int:
    """Add the options of one word; return the index of the next word."""
    word = words[at]
    at += 1
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        if not equals and name in long and at < len(words):
            value = words[at]
            at += 1
        found.append((name, value))
        return at
    for number, letter in enumerate(word[1:], start=2):
        if letter not in short:
            found.append(("-" + letter, ""))
            continue
        value = word[number:]
        if not value and at < len(words):
            value = words[at]
            at += 1
        found.append(("-" + letter, value))
        break
    return at


def has(options: Options, *names: str) -> bool:
    return any(name in names for name, _ in options)


def value_of(options: Options, *names: str) -> str | None:
    return next((value for name, value in options if name in names), None)


def from_subcommand(words: list[str]) -> Iterator[list[str]]:
    """Yield the arguments of a command, then those without the options before the first operand.

    Where an option may have a value, that value is once taken for the first operand, and once left out.
    """
    yield words[1:]
    if program(words[0]) == "git":
        yield words[split_options(words, "cC", _GIT_LONG)[1] :]
        return
    for at, word in enumerate(words[1:MOST_GLOBAL_OPTIONS], start=1):
        if not word.startswith("-"):
            yield words[at:]
            if at == 1 or not words[at - 1].startswith("-") or "=" in words[at - 1]:
                return


# Options with a value (letters, names), and how many operands stand before the command.
_WRAPPERS = {
    "doas": ("uC", (), 0),
    "nice": ("n", ("--adjustment",), 0),
    "ionice": ("cnpPu", ("--class", "--classdata"), 0),
    "nohup": ("", (), 0),
    "setsid": ("", (), 0),
    "time": ("fo", ("--format", "--output"), 0),
    "timeout": ("sk", ("--signal", "--kill-after"), 1),
    "builtin": ("", (), 0),
    "exec": ("a", (), 0),
    "noglob": ("", (), 0),
    "nocorrect": ("", (), 0),
    "stdbuf": ("ioe", ("--input", "--output", "--error"), 0),
    "chrt": ("TPD", ("--sched-runtime", "--sched-period", "--sched-deadline"), 1),
    "taskset": ("", (), 1),
    "numactl": ("NmCip", (), 0),
    "unbuffer": ("", (), 0),
    "strace": ("abeEIoOpPsSuUX", (), 0),
    "ltrace": ("aADeFlnopsuxX", (), 0),
    "valgrind": ("", (), 0),
    "chroot": ("", ("--userspec", "--groups"), 1),
    "unshare": ("SGRwl", ("--setuid", "--setgid", "--root", "--wd", "--propagation"), 0),
    "nsenter": ("tSG", ("--target", "--setuid", "--setgid"), 0),
    "systemd-run": (
        "EHMptu",
        ("--unit", "--property", "--slice", "--uid", "--gid", "--setenv", "--description", "--on-active", "--machine"),
        0,
    ),
    "systemd-inhibit": ("", ("--what", "--who", "--why", "--mode"), 0),
    "caffeinate": ("tw", (), 0),
    "pkexec": ("", ("--user",), 0),
    "fakeroot": ("lfsib", (), 0),
    "proot": ("rbRSwqk", ("--rootfs", "--bind", "--cwd", "--qemu"), 0),
    "faketime": ("p", ("--date-prog",), 1),
    "proxychains": ("f", (), 0),
    "proxychains4": ("f", (), 0),
    "torsocks": ("aPup", (), 0),
    "torify": ("", (), 0),
    "eatmydata": ("", (), 0),
    "xvfb-run": ("efnpsw", ("--server-args", "--server-num", "--error-file", "--auth-file"), 0),
    "dbus-run-session": ("", ("--config-file", "--dbus-daemon"), 0),
    "rlwrap": ("abcCDefHIlmMopPqrStwz", (), 0),
    "setpriv": ("", ("--reuid", "--regid", "--groups"), 0),
    "setarch": ("", (), 1),
    **dict.fromkeys(("linux32", "linux64", "i386", "x86_64", "uname26"), ("", (), 0)),
    "prlimit": ("", (), 0),
    "cgexec": ("g", (), 0),
    "cpulimit": ("lpe", (), 0),
    **dict.fromkeys(("gosu", "setuidgid", "s6-setuidgid", "envdir", "envuidgid", "lckdo"), ("", (), 1)),
    "chpst": ("uUbemdofcrtlsp/", (), 0),
    "ifne": ("", (), 0),
    "zrun": ("", (), 0),
    "wine": ("", (), 0),
    "su-exec": ("", (), 1),
    "tini": ("pe", (), 0),
    "dumb-init": ("r", (), 0),
    "chronic": ("", (), 0),
    "sem": ("j", (), 0),
    "tsp": ("LNDWO", (), 0),
    "retry": ("tdm", ("--times", "--delay", "--min", "--max"), 0),
    "entr": ("", (), 0),
    "watchexec": ("ewidsfEo", ("--exts", "--watch", "--ignore", "--delay-run", "--signal", "--filter", "--shell"), 0),
    "busybox": ("", (), 0),
    "toybox": ("", (), 0),
    "firejail": ("", (), 0),
    "bunx": ("p", ("--package",), 0),
    "uvx": ("pwci", ("--from", "--with", "--python", "--index", "--index-url", "--env-file", "--constraints"), 0),
    "dotenv": ("fe", ("--file", "--env"), 0),
    "coproc": ("", (), 0),
}

_LOADERS = ("ld-linux", "ld-musl", "ld.so")  # the dynamic linker, which starts the program it is given

# `tool subcommand [options] command`: the subcommand, options with a value, operands before the command.
_NODE_LONG = ("--package", "--workspace", "--filter", "--dir", "--cwd", "--prefix")
_ENVIRONMENT_LONG = ("--name", "--prefix", "--cwd")
_SANDBOX_LONG = ("--cwd", "--env", "--user", "--bind", "--pwd", "--container", "--name")
_RUNNERS = {
    "uv": (
        ("run", "ep", ("--extra", "--python", "--with", "--env-file", "--project", "--directory", "--group"), 0),
        ("tool run", "p", ("--from", "--with", "--python"), 0),
    ),
    "pipx": (("run", "", ("--spec", "--python", "--pip-args", "--index-url"), 0),),
    "poetry": (("run", "", (), 0),),
    "pipenv": (("run", "", (), 0),),
    "pdm": (("run", "p", (), 0),),
    "hatch": (("run", "e", (), 0),),
    "rye": (("run", "", (), 0),),
    "conda": (("run", "np", _ENVIRONMENT_LONG, 0),),
    "mamba": (("run", "np", _ENVIRONMENT_LONG, 0),),
    "micromamba": (("run", "np", _ENVIRONMENT_LONG, 0),),
    "npx": (("", "pw", _NODE_LONG, 0),),
    "npm": (("exec", "pw", _NODE_LONG, 0), ("x", "pw", _NODE_LONG, 0), ("explore", "", _NODE_LONG, 1)),
    "pnpm": (("exec", "FC", _NODE_LONG, 0), ("dlx", "FC", _NODE_LONG, 0), ("x", "FC", _NODE_LONG, 0)),
    "yarn": (("exec", "p", _NODE_LONG, 0), ("dlx", "p", _NODE_LONG, 0), ("run", "", _NODE_LONG, 0)),
    "bun": (("x", "", ("--package",), 0), ("run", "", _NODE_LONG, 0)),
    "bundle": (("exec", "", ("--gemfile",), 0),),
    "asdf": (("exec", "", (), 0),),
    "mise": (("exec", "", ("--cd", "--env"), 0), ("x", "", ("--cd", "--env"), 0)),
    "direnv": (("exec", "", (), 1),),
    "perf": (("stat", "eorp", (), 0), ("record", "eoFcp", (), 0), ("trace", "eop", (), 0)),
    "op": (("run", "", ("--env-file",), 0),),
    "doppler": (("run", "pc", ("--project", "--config"), 0),),
    "infisical": (("run", "", ("--env", "--path"), 0),),
    "aws-vault": (("exec", "d", ("--duration",), 1),),
    "chamber": (("exec", "", (), 1),),
    "dotenvx": (("run", "fe", ("--env-file", "--env"), 0),),
    "lxc": (("exec", "", _SANDBOX_LONG, 1),),
    "incus": (("exec", "", _SANDBOX_LONG, 1),),
    "apptainer": (("exec", "BW", _SANDBOX_LONG, 1),),
    "singularity": (("exec", "BW", _SANDBOX_LONG, 1),),
    "distrobox": (("enter", "n", _SANDBOX_LONG, 1),),
    "toolbox": (("run", "c", _SANDBOX_LONG, 0),),
    "heroku": (("run", "a", ("--app", "--size", "--type"), 0),),
    "oc": (("rsh", "cn", ("--container", "--namespace", "--shell"), 1),),
    "snap": (("run", "", (), 0),),
    "flatpak": (("run", "", ("--command",), 0),),
}
# Options of these whose value is a shell line.
_RUNNER_CODE = {
    "npx": ("-c", "--call"),
    "npm": ("-c", "--call"),
    "doppler": ("--command",),
    "infisical": ("--command", "-c"),
    "heroku": (),
}


def inner(words: list[str], stdin: str | None, variable: Callable[[str], str] = lambda name: "") -> list[Inner]:
    """Return what a command runs; an empty list for a program that runs nothing but itself.

    `variable` returns the value of an environment variable, for programs whose options name one.
    """
    if not words:
        return []
    name = program(words[0])
    if name in SHELLS:
        return _shell(words)
    if name == "git":
        return _git(words, variable)
    if name in _SPECIAL:
        ran = _SPECIAL[name](words, stdin)
        return ran if ran or name not in _RUNNERS else _runner(words, name)
    if name in _RUNNERS and (ran := _runner(words, name)):
        return ran
    if name in LANGUAGES:
        return _language(words, LANGUAGES[name])
    if name in _WRAPPERS or name.startswith(_LOADERS):
        short, long, before = _WRAPPERS.get(name, ("", ("--library-path", "--preload", "--argv0"), 0))
        _, at = split_options(words, short, long)
        return _after_options(words[at + before :])
    return []


def _runner(words: list[str], name: str) -> list[Inner]:
    """Read `poetry run …`, `npm exec -- …`."""
    for subcommand, short, long, before in _RUNNERS[name]:
        names = subcommand.split()
        at = next((at for at in range(1, min(len(words), 5)) if words[at : at + len(names)] == names), 0)
        if not at:
            continue
        at += len(names)
        code = _RUNNER_CODE.get(name, ("-c", "--shell-mode") if name == "pnpm" else ())
        options, at = split_options(words, short, (*long, *code), at)
        line = value_of(options, *code)
        if line is None and "-c" in code and has(options, "-c"):
            line = " ".join(words[at:])
        if line:
            return [Inner("shell", line)]
        rest = words[at + before :]
        if name in ("mise", "chamber") and "--" in rest:
            rest = rest[rest.index("--") :]
        is_line = name in ("npx", "npm", "pnpm", "yarn") and len(rest) == 1 and " " in rest[0]
        return _joined(rest) if is_line else _after_options(rest)
    return []


def _after_options(words: list[str]) -> list[Inner]:
    return _command(words[1:] if words[:1] == ["--"] else words)


def _command(words: list[str], **more: Any) -> list[Inner]:
    return [Inner("words", words, **more)] if words else []


def _some(items: list[str]) -> list[str]:
    """Return the items, at most `MOST_ITEMS` of them; then the mark of unknown text stands for the rest."""
    return items if len(items) <= MOST_ITEMS else [*items[:MOST_ITEMS], UNKNOWN]


def quoted(word: str) -> str:
    """Return a word as the shell reads it back."""
    return word if re.fullmatch(r"[\w./:=@%+,-]+", word) else "'" + word.replace("'", "'\\''") + "'"


def _joined(words: list[str], **more: Any) -> list[Inner]:
    """Return words that a program gives to a shell as one line."""
    return [Inner("shell", " ".join(words), **more)] if words else []


def _shell(words: list[str]) -> list[Inner]:
    has_code = reads_stdin = False
    at = 1
    while at < len(words):
        word = words[at]
        if word in ("--", "-"):
            at += 1
            break
        if word.startswith("--"):
            at += 2 if word in ("--rcfile", "--init-file", "--command") else 1
            if word == "--command":
                return [Inner("shell", words[at - 1] if at <= len(words) else "")]
        elif word[:1] in ("-", "+") and len(word) > 1:
            has_code = has_code or (word[0] == "-" and "c" in word)
            reads_stdin = reads_stdin or (word[0] == "-" and "s" in word)
            at += 2 if word[-1] in "oO" else 1
        else:
            break
    operands = words[at:]
    if has_code:
        return [Inner("shell", operands[0], operands[1:])] if operands else []
    if reads_stdin or not operands or operands[0] in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        return [Inner("stdin", arguments=operands)]
    return [Inner("file", operands[0], operands)]


# How each language is given code: letters of options with a value, those whose value is code, names likewise.
_CODE = {
    "python": ("cmQWX", "c", ()),
    "perl": ("eEIMmxV", "eE", ()),
    "ruby": ("eIrCEFKTx", "e", ()),
    "node": ("eprC", "ep", ("--eval", "--print")),
    "php": ("rdfBREFHSctz", "rBRE", ("--run",)),
    "lua": ("el", "e", ()),
    "osascript": ("els", "e", ()),
    "tcl": ("c", "c", ()),
    "r": ("e", "e", ()),
    "julia": ("eEJLHptC", "eE", ("--eval",)),
    "lisp": ("ecl", "ec", ("--eval", "-eval")),
    "other": ("e", "e", ("--eval",)),
}


def _language(words: list[str], language: str) -> list[Inner]:
    short, code_letters, code_names = _CODE[language]
    if program(words[0]) == "deno" and words[1:2] == ["eval"]:
        return [Inner("code", words[-1], language=language)]
    at = 1
    codes = []
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--"):
        word = words[at]
        at += 1
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            if name in code_names:
                codes.append(value if equals else "".join(words[at : at + 1]))
                at += 0 if equals else 1
            elif not equals and name in ("--require", "--import", "--loader", "--config", "--env-file"):
                at += 1
            continue
        for number, letter in enumerate(word[1:], start=2):
            if letter in short and not (language == "perl" and letter == "x"):
                value = word[number:]
                if letter in "iV" or (language == "perl" and letter in "Mm" and value):
                    break
                if not value:
                    value = "".join(words[at : at + 1])
                    at += 1
                if letter in code_letters:
                    codes.append(value)
                elif language == "python" and letter == "m":
                    return []
                break
            if letter == "i" and language in ("perl", "ruby"):  # -i.bak
                break
    if codes:
        return [Inner("code", code, words[at:], language) for code in codes]
    operands = [word for word in words[at:] if word != "--"]
    if not operands or operands[0] in ("-", "/dev/stdin"):
        return (
            []
            if any(word in ("--version", "-V", "-v", "--help", "-h") for word in words)
            else [Inner("stdin", language=language)]
        )
    return [Inner("file", operands[0], operands, language)]


def _sudo(words: list[str], stdin: str | None) -> list[Inner]:
    short = "ughpCcDRrtTU"
    long = ("--user", "--group", "--host", "--prompt", "--chdir", "--chroot", "--role", "--type", "--other-user")
    options, at = split_options(words, short, (*long, "--close-from", "--command-timeout"))
    start = at
    while at < len(words) and re.match(r"[A-Za-z_]\w*=", words[at]):
        at += 1
    directory = value_of(options, "-D", "--chdir")
    if has(options, "-l", "--list"):
        return []
    if has(options, "-e", "--edit"):
        return [Inner("words", ["vi", *words[at:]], directory=directory)]
    if has(options, "-s", "--shell", "-i", "--login"):
        rest = words[at:]
        home = "~" if has(options, "-i", "--login") else directory
        return _joined(rest, directory=home) if rest else [Inner("stdin")]
    return _command(words[at:], directory=directory, assignments=words[start:at])


def _env(words: list[str], stdin: str | None) -> list[Inner]:
    options: Options = []
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] in ("-", "--"):
            at += 1
            continue
        at = _take_option(words, at, "uCSaP", ("--unset", "--chdir", "--split-string", "--argv0"), options)
        if options[-1][0] in ("-S", "--split-string"):  # its words are followed by the rest, options or not
            line = " ".join([words[0], options[-1][1], *map(quoted, words[at:])])
            return [Inner("shell", line, directory=value_of(options, "-C", "--chdir"))]
    start = at
    while at < len(words) and re.match(r"[^=/]+=", words[at]):
        at += 1
    return _command(words[at:], directory=value_of(options, "-C", "--chdir"), assignments=words[start:at])


def _named_command(words: list[str], stdin: str | None) -> list[Inner]:
    """Read `command`, which runs nothing with -v or -V."""
    options, at = split_options(words)
    return [] if has(options, "-v", "-V") else _command(words[at:])


# `--replace` and `--eof` have a value only after an equals sign
XARGS_LONG = ("--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs", "--max-chars")


def _xargs(words: list[str], stdin: str | None) -> list[Inner]:
    short = "aEdILnPs"
    options, at = split_options(words, short, XARGS_LONG)
    command = words[at:] or ["echo"]
    replaced = value_of(options, "-I", "--replace")
    if replaced == "" or (replaced is None and has(options, "-i")):
        replaced = "{}"
    if stdin is None:
        items = [UNKNOWN]
    elif replaced is not None:
        items = [line.strip() for line in _some(stdin.split("\n", MOST_LINES)) if line.strip()]
    else:
        delimiter = value_of(options, "-d", "--delimiter")
        delimiter = "\0" if has(options, "-0", "--null") else delimiter
        delimiter = delimiter if delimiter and len(delimiter) == 1 else None
        split = stdin.replace("\0", delimiter or " ").split(delimiter, MOST_LINES)
        items = [item.strip("'\"") for item in _some(split)]
    if replaced:
        lines = items or [UNKNOWN]
        return [Inner("words", [word.replace(replaced, line) for word in command], is_certain=False) for line in lines]
    return _command([*command, *items], stdin="", is_certain=False)


def _parallel(words: list[str], stdin: str | None) -> list[Inner]:
    _, at = split_options(words, "jNnSIaP", ("--jobs", "--sshlogin", "--max-args", "--arg-file", "--colsep"))
    rest = words[at:]
    marks = [number for number, word in enumerate(rest) if word in (":::", "::::", ":::+")]
    command = rest[: marks[0]] if marks else rest
    if marks and rest[marks[0]] == ":::":
        items = [word for word in rest[marks[0] :] if not word.startswith(":::")]
    elif stdin is not None and not marks:
        items = [line for line in stdin.split("\n") if line.strip()]
    else:
        items = [UNKNOWN]
    line = " ".join(command) if command else "{}"
    line = line if "{" in line else line + " {}"
    places = re.compile(r"\{(?:/|//|\.|/\.|\d+)?\}")
    return [Inner("shell", item.join(places.split(line)), is_certain=False) for item in _some(items)]


FIND_TESTS = frozenset(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -empty -mtime -mmin -atime -amin -ctime -cmin "
    "-newer -anewer -cnewer -size -user -group -uid -gid -nouser -nogroup -perm -inum -links -samefile -lname "
    "-newermt -newerct".split()
)
_FIND_ARGUMENTS = FIND_TESTS - {"-empty", "-nouser", "-nogroup"} | frozenset(
    "-type -xtype -maxdepth -mindepth -fstype -printf -fprint -fprintf -fls -regextype -D -used".split()
)


class Find:
    """The parts of a `find`: where it starts, whether tests restrict it, its actions."""

    def __init__(self, words: list[str]) -> None:
        at = 1
        while at < len(words) and words[at] in ("-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x"):
            at += 1
        self.starts = []
        while at < len(words) and not words[at].startswith(("-", "(", ")", "!", ",")):
            self.starts.append(words[at])
            at += 1
        self.starts = self.starts or ["."]
        self.deletes = False
        self.restricted = False
        self.commands = []
        self.written = []
        negated = False
        while at < len(words):
            word = words[at]
            at += 1
            if word in ("!", "-not"):
                negated = True
                continue
            if word == "-delete":
                self.deletes = True
            elif word in ("-exec", "-execdir", "-ok", "-okdir"):
                end = at
                while end < len(words) and words[end] not in (";", "+"):
                    end += 1
                command = words[at:end]
                if command and program(command[0]) in ("test", "[", "grep", "egrep", "fgrep"):
                    self.restricted = True  # a test of its own
                self.commands.append(command)
                at = end + 1
            elif word in FIND_TESTS or word in _FIND_ARGUMENTS:
                argument = "".join(words[at : at + 1]) if word in _FIND_ARGUMENTS else ""
                at += word in _FIND_ARGUMENTS
                if word in ("-fprint", "-fprintf", "-fls"):
                    self.written.append(argument)
                if word in ("-type", "-xtype") and argument not in ("f", "d"):
                    self.restricted = True
                if word in FIND_TESTS and not negated and argument.strip("*./") + word not in ("-name", "-path"):
                    self.restricted = True
            if word not in ("(", "-o", "-or", "-a", "-and"):
                negated = False

    def found(self, start: str) -> str:
        """Return what is found below a start, as a path: the start itself, unless a test restricts it."""
        return start.rstrip("/") + "/" + UNKNOWN if self.restricted else start


def _find(words: list[str], stdin: str | None) -> list[Inner]:
    find = Find(words)
    ran: list[Inner] = []
    for command in find.commands[:MOST_ITEMS]:
        for start in _some(find.starts) if len(ran) < MOST_LINES else ():
            words = [word.replace("{}", find.found(start)) for word in command]
            ran += _command(words, is_certain=words == command)
    return ran


def _fd(words: list[str], stdin: str | None) -> list[Inner]:
    """Read `fd pattern … -x command`."""
    for mark in ("-x", "--exec", "-X", "--exec-batch"):
        if mark in words:
            command = words[words.index(mark) + 1 :]
            command = [word.replace("{}", UNKNOWN) for word in command]
            return _command(command if UNKNOWN in "".join(command) else [*command, UNKNOWN], is_certain=False)
    return []


def _ssh(words: list[str], stdin: str | None) -> list[Inner]:
    options, at = split_options(words, "bBcDEeFIiJLlmOopPQRSWw")
    more, at = split_options(words, "bBcDEeFIiJLlmOopPQRSWw", at=at + 1)
    ran = _ssh_settings(options + more)
    command = words[at:]
    if command:
        return [*ran, *_joined(command, directory="~")]
    if has(options + more, "-N", "-W"):
        return ran
    return [*ran, Inner("stdin", directory="~")]


def _ssh_settings(options: Options) -> list[Inner]:
    """Return the commands of settings: `-o ProxyCommand=…`, `-o LocalCommand=…`."""
    settings = (re.fullmatch(r"(?is)\w+?command\s*+=?+\s*+(.*)", value) for name, value in options if name == "-o")
    return [Inner("shell", found.group(1)) for found in settings if found]


def _scp(words: list[str], stdin: str | None) -> list[Inner]:
    options, _ = arguments(words, "BbcDFiJloPRSsX")
    return _ssh_settings(options) + [Inner("shell", value) for name, value in options if name == "-S" and value]


def _su(words: list[str], stdin: str | None) -> list[Inner]:
    options, _ = arguments(words, "cgGsTw", ("--command", "--shell", "--group", "--session-command"))
    code = value_of(options, "-c", "--command", "--session-command")
    if code is None and "--" in words and "-c" in words[words.index("--") :]:  # an option of the shell
        code = "".join(words[words.index("-c", words.index("--")) + 1 :][:1])
    return [Inner("shell", code, directory="~")] if code else [Inner("stdin")]


def _runuser(words: list[str], stdin: str | None) -> list[Inner]:
    options, at = split_options(words, "cgGsTwu", ("--command", "--shell", "--user", "--group"))
    code = value_of(options, "-c", "--command")
    if code:
        return [Inner("shell", code)]
    if has(options, "-u", "--user"):
        return _command(words[at:])
    return _su(words, stdin)


def _script(words: list[str], stdin: str | None) -> list[Inner]:
    options, at = split_options(words, "cEIOBTt", ("--command",))
    code = value_of(options, "-c", "--command")
    return [Inner("shell", code)] if code else _command(words[at + 1 :])


def _flock(words: list[str], stdin: str | None) -> list[Inner]:
    options, at = split_options(words, "cEw", ("--command", "--timeout", "--wait", "--conflict-exit-code"))
    code = value_of(options, "-c", "--command")
    rest = words[at + 1 :]
    if rest[:1] in (["-c"], ["--command"]):
        code, rest = "".join(rest[1:2]), []
    return [Inner("shell", code)] if code else _command(rest)


def _watch(words: list[str], stdin: str | None) -> list[Inner]:
    _, at = split_options(words, "nq", ("--interval", "--equexit"))
    return _joined(words[at:])


def _trap(words: list[str], stdin: str | None) -> list[Inner]:
    _, at = split_options(words)
    return [Inner("shell", words[at])] if at + 1 < len(words) else []


def _at(words: list[str], stdin: str | None) -> list[Inner]:
    return [Inner("stdin")]


def _crontab(words: list[str], stdin: str | None) -> list[Inner]:
    if "-" not in words[1:] or not stdin:
        return []
    schedule = re.compile(r"\s*+(?:@\w++|(?:[\w*,/?-]++\s++){5})\s*+(.*)")
    lines = stdin.split("\n", MOST_LINES)[:MOST_LINES]
    found = [schedule.match(line) for line in lines if not line.lstrip().startswith("#")]
    return [Inner("shell", line.group(1), directory="~") for line in found if line and line.group(1)]


_CONTAINER_SHORT = "aceghlmpuvwe"
_CONTAINER_LONG = tuple(
    "--name --volume --env --env-file --workdir --user --entrypoint --mount --network --net --publish --hostname "
    "--label --memory --cpus --platform --gpus --ipc --pid --cap-add --cap-drop --security-opt --add-host --device "
    "--restart --runtime --shm-size --tmpfs --ulimit --link --log-driver --log-opt --expose --dns --group-add "
    "--cidfile --userns "
    "--index --detach-keys --pull --stop-signal --stop-timeout --volumes-from --project-name --file --profile".split()
)


def _docker(words: list[str], stdin: str | None) -> list[Inner]:
    _, at = split_options(words, "Hcfp", ("--host", "--context", "--config", "--log-level", "--file"))
    rest = words[at:]
    if rest[:1] in (["compose"], ["container"]):
        _, skip = split_options(rest, "fp", ("--file", "--project-name", "--profile", "--env-file"))
        rest = rest[skip:]
        composed = words[at] == "compose"
    else:
        composed = program(words[0]) == "docker-compose"
    if not rest or rest[0] not in ("run", "exec", "create"):
        return []
    options, start = split_options(rest, _CONTAINER_SHORT, _CONTAINER_LONG)
    command = rest[start + 1 :]
    entry = value_of(options, "--entrypoint")
    command = [entry, *command] if entry else command
    ran = _command(command, directory="/")
    for each in ran if rest[0] != "exec" and not composed else ():
        each.contained = True
        each.mounts = list(_mounts(options))
    return ran


def _mounts(options: Options) -> Iterator[tuple[str, str]]:
    for name, value in options:
        if name in ("-v", "--volume") and ":" in value:
            here, there = value.split(":")[:2]
            yield there, here
        elif name == "--mount":
            fields = dict(field.partition("=")[::2] for field in value.split(","))
            here = fields.get("source") or fields.get("src") or ""
            there = fields.get("target") or fields.get("dst") or fields.get("destination") or ""
            if here and there:
                yield there, here


def _kubectl(words: list[str], stdin: str | None) -> list[Inner]:
    long = ("--container", "--namespace", "--context", "--cluster", "--kubeconfig", "--user", "--image", "--filename")
    _, at = split_options(words, "n", long)
    if words[at : at + 1] not in (["exec"], ["run"], ["debug"]):
        return []
    if "--" in words:
        return _command(words[words.index("--") + 1 :], directory="/")
    _, start = split_options(words, "cnf", long, at + 1)
    return _command(words[start + 1 :], directory="/") if words[at] == "exec" else []


def _after_dashes(words: list[str], stdin: str | None) -> list[Inner]:
    return _command(words[words.index("--") + 1 :]) if "--" in words else []


# Settings of git whose value is a command.
_GIT_COMMANDS = (
    r"(?i)core\.(?:sshcommand|editor|pager|fsmonitor|askpass|gitproxy)|pager\..+|sequence\.editor|diff\.external|"
    r"interactive\.difffilter|gpg\.(?:.+\.)?program|.+\.(?:cmd|clean|smudge|process|textconv|driver|command|helper|uploadpack)"
)
_GIT_LONG = ("--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix")


def _git(words: list[str], variable: Callable[[str], str]) -> list[Inner]:
    ran = []
    options, at = split_options(words, "cC", _GIT_LONG)
    rest = words[at:]
    for name, value in options:
        key, equals, setting = value.partition("=")
        if name == "--config-env":
            setting = variable(setting)
        elif name != "-c" or not equals:
            continue
        alias = key[len("alias.") :] if key.lower().startswith("alias.") else None
        if setting.startswith("!"):
            more = list(map(quoted, rest[1:])) if rest[:1] == [alias] else []
            ran += _joined([setting[1:], *more])
        elif alias is not None and rest[:1] == [alias]:
            ran += _joined([quoted(words[0]), setting, *map(quoted, rest[1:])])
        elif re.fullmatch(_GIT_COMMANDS, key):
            ran.append(Inner("shell", setting))
    return ran + (_git_subcommand(rest) if rest else [])


def _git_subcommand(words: list[str]) -> list[Inner]:
    """Return what `git submodule foreach`, `git rebase --exec` … run."""
    name, rest = words[0], words[1:]
    if words[:2] == ["submodule", "foreach"]:
        _, at = split_options(words, at=2)
        return _joined(words[at:])
    if words[:2] == ["bisect", "run"]:
        return _command(words[2:])
    if name == "config":
        return [Inner("shell", word[1:]) for word in rest if word.startswith("!")]
    if name == "rebase":
        options, _ = arguments(words, "xsX", ("--exec", "--strategy", "--onto"))
        return [Inner("shell", value) for option, value in options if option in ("-x", "--exec") and value]
    if name in ("difftool", "mergetool"):
        options, _ = arguments(words, "xt", ("--extcmd", "--tool"))
        return [Inner("shell", value) for option, value in options if option in ("-x", "--extcmd") and value]
    if name == "grep":
        found = (re.fullmatch(r"(?s)(?:-O|--open-files-in-pager=)(.+)", word) for word in rest)
        return [Inner("shell", each.group(1)) for each in found if each]
    if name == "filter-branch":
        return _option_code(*(f"--{kind}-filter" for kind in "setup env tree index parent msg commit".split()))(
            words, None
        )
    if name in ("clone", "fetch", "pull", "push", "ls-remote"):
        ran = _option_code("--upload-pack", "--receive-pack", "--exec", *(("-u",) if name == "clone" else ()))(
            words, None
        )
        remote = [word[len("ext::") :].replace("% ", " ") for word in rest if word.startswith("ext::")]
        return ran + [Inner("shell", code) for code in remote]
    return []


# Subcommands of tmux that run a shell line, and their options with a value.
_TMUX_COMMANDS = {
    **dict.fromkeys(("new-session", "new"), "ceFnstxyf"),
    **dict.fromkeys(("new-window", "neww"), "ceFnt"),
    **dict.fromkeys(("split-window", "splitw"), "celtFp"),
    **dict.fromkeys(("respawn-pane", "respawnp", "respawn-window", "respawnw"), "cet"),
    **dict.fromkeys(("run-shell", "run"), "cdt"),
    **dict.fromkeys(("display-popup", "popup"), "bcdehsStTwxy"),
    **dict.fromkeys(("pipe-pane", "pipep"), "t"),
}
_TMUX_KEYS = {"Enter": "\n", "C-m": "\n", "KPEnter": "\n", "C-j": "\n", "Space": " ", "Tab": "\t", "BSpace": ""}


def _tmux(words: list[str], stdin: str | None) -> list[Inner]:
    """Read what tmux runs in a terminal, and what it types into one. Its commands stand between `;`."""
    _, at = split_options(words, "cfLST")
    ran = []
    for command in _split(words[at:], ";"):
        if command[0] in ("send-keys", "send"):
            _, start = split_options(command, "ctN")
            ran.append(Inner("shell", "".join(_TMUX_KEYS.get(word, word) for word in command[start:])))
        elif command[0] in ("if-shell", "if"):
            _, start = split_options(command, "t")
            ran += [Inner("shell", word) for word in command[start : start + 1]]
            ran += [Inner("shell", "tmux " + word) for word in command[start + 1 :]]
        elif command[0] in _TMUX_COMMANDS:
            _, start = split_options(command, _TMUX_COMMANDS[command[0]])
            ran += _command(command[start:]) if len(command) > start + 1 else _joined(command[start:])
    return ran


def _split(words: list[str], separator: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for word in words:
        if word == separator:
            found.append([])
        else:
            found[-1].append(word)
    return [each for each in found if each]


def _screen(words: list[str], stdin: str | None) -> list[Inner]:
    options, at = split_options(words, "cehpsStTX")
    command = value_of(options, "-X")
    if command == "stuff":
        return _joined([unescaped(word) for word in words[at:]])
    return _command(words[at:]) if command in (None, "screen", "exec") else []


def _lines(words: list[str], stdin: str | None) -> list[Inner]:
    """Read `hyperfine 'line' …`: each operand with a blank is a shell line."""
    return [Inner("shell", word) for word in words[1:] if " " in word]


def _gdb(words: list[str], stdin: str | None) -> list[Inner]:
    ran = []
    for number, word in enumerate(words[:-1]):
        if word in ("-ex", "--ex", "-iex", "--eval-command", "-o", "--one-line"):
            found = re.match(r"\s*+(?:!|(?:platform )?shell\s|make\s|pipe\s)(.*)", words[number + 1], re.DOTALL)
            ran += [Inner("shell", found.group(1))] if found else []
        elif word in ("--args", "-args", "--"):
            return ran + _command(words[number + 1 :])
    return ran


def _bwrap(words: list[str], stdin: str | None) -> list[Inner]:
    """Read the command after options with none, one or two values."""
    two = frozenset(
        "--bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try --symlink --setenv --file".split()
    )
    one = frozenset("--proc --dev --tmpfs --mqueue --dir --unsetenv --chdir --hostname --uid --gid --lock-file".split())
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "--":
            return _command(words[at + 1 :])
        at += 3 if words[at] in two else 2 if words[at] in one else 1
    return _command(words[at:])


def _start_stop_daemon(words: list[str], stdin: str | None) -> list[Inner]:
    options, at = split_options(
        words, "xapnucgdrkPIN", ("--exec", "--startas", "--pidfile", "--user", "--chuid", "--chdir")
    )
    started = value_of(options, "-a", "--startas") or value_of(options, "-x", "--exec")
    return _command([started, *words[at:]]) if started and has(options, "-S", "--start") else []


def _powershell(words: list[str], stdin: str | None) -> list[Inner]:
    """Read `-Command …`, `-EncodedCommand …`. Options may be shortened, and have any case."""
    valued = (
        "-executionpolicy",
        "-ep",
        "-windowstyle",
        "-version",
        "-inputformat",
        "-outputformat",
        "-workingdirectory",
    )
    at = 1
    while at < len(words) and words[at][:1] in ("-", "/"):
        option = "-" + words[at][1:].lower()
        at += 1
        if len(option) > 1 and ("-command".startswith(option) or option == "-commandwithargs"):
            if words[at : at + 1] == ["-"]:
                break
            return [Inner("code", " ".join(words[at:]), language="powershell")]
        if len(option) > 1 and ("-encodedcommand".startswith(option) or option == "-ec"):
            return [Inner("code", DECODED + _utf16(words[at]), language="powershell")] if at < len(words) else []
        if len(option) > 1 and "-file".startswith(option):
            return [Inner("file", words[at], words[at:], "powershell")] if at < len(words) else []
        if len(option) > 2 and any(each.startswith(option) for each in valued):
            at += 1
    rest = words[at:]
    if not rest or rest == ["-"]:
        return [Inner("stdin", language="powershell")]
    return [Inner("code", " ".join(rest), language="powershell")]


def _utf16(text: str) -> str:
    import binascii

    try:
        return binascii.a2b_base64(text.encode("ascii")).decode("utf-16-le")
    except ValueError:
        return ""


def _cmd(words: list[str], stdin: str | None) -> list[Inner]:
    at = next((at for at, word in enumerate(words) if word.lower().startswith(("/c", "/k", "//c"))), None)
    if at is None:
        return []
    first = words[at].lower().lstrip("/")[1:]
    return [Inner("code", " ".join([first, *words[at + 1 :]]), language="cmd")]


def _wsl(words: list[str], stdin: str | None) -> list[Inner]:
    _, at = split_options(words, "dueC", ("--distribution", "--user", "--cd", "--shell-type"))
    if "-e" in words[1:at] or "--exec" in words[1:at]:
        return _command(words[words.index("-e" if "-e" in words else "--exec") + 1 :])
    return _joined(words[at:])


def _nix(words: list[str], stdin: str | None) -> list[Inner]:
    if words[1:2] == ["run"] and "--" in words:
        flake = words[-1 + words.index("--")]
        return _command([flake.rpartition("#")[2], *words[words.index("--") + 1 :]])
    for mark in ("-c", "--command", "--run"):
        if mark in words:
            rest = words[words.index(mark) + 1 :]
            return _joined(rest[:1]) if mark == "--run" else _command(rest)
    return []


def callbacks(words: list[str]) -> list[str]:
    """Return the shell lines that `mapfile -C` is given."""
    return [value for name, value in split_options(words, "dnOsuCc")[0] if name == "-C" and value]


def _option_code(*names: str) -> Reader:
    """Return a reader for programs that take a shell line as the value of an option."""

    def read(words: list[str], stdin: str | None) -> list[Inner]:
        ran = []
        for number, word in enumerate(words):
            for name in names:
                if word == name and number + 1 < len(words):
                    ran.append(Inner("shell", words[number + 1]))
                elif word.startswith(name + "="):
                    ran.append(Inner("shell", word[len(name) + 1 :]))
        return ran

    return read


def _tar(words: list[str], stdin: str | None) -> list[Inner]:
    ran = _option_code("--to-command", "-I", "--use-compress-program", "--info-script", "-F")(words, stdin)
    return ran + [
        Inner("shell", word.partition("exec=")[2]) for word in words if word.startswith("--checkpoint-action=exec=")
    ]


def _editor(words: list[str], stdin: str | None) -> list[Inner]:
    """Read `vim -c ':!rm x'`."""
    commands = [
        words[number + 1]
        for number, word in enumerate(words[:-1])
        if word == "--cmd" or re.fullmatch(r"-[a-zA-Z]{0,4}c", word)
    ]
    commands += [word[1:] for word in words[1:] if word.startswith("+")]
    found = (
        re.match(r"(?:[:\s\d,%.$]|sil(?:ent)?!?\s|exe(?:cute)?\s+[\"'])*+!(.*)", each, re.DOTALL) for each in commands
    )
    return [Inner("shell", each.group(1)) for each in found if each]


def _awk(words: list[str], stdin: str | None) -> list[Inner]:
    options, at = split_options(words, "fFvE", ("--file", "--field-separator", "--assign"))
    return [] if has(options, "-f", "--file") else [Inner("code", "".join(words[at : at + 1]), language="awk")]


def _sed(words: list[str], stdin: str | None) -> list[Inner]:
    options, operands = arguments(words, "efl", ("--expression", "--file", "--line-length"))
    scripts = [value for name, value in options if name in ("-e", "--expression")]
    if not scripts and not has(options, "-f", "--file"):
        scripts = operands[:1]
    found = [re.search(r"(?:^|[;\n{}])[ \t]*+[\d$,/^]*+[ \t]*+e[ \t]+(.+)", script) for script in scripts]
    ran = [Inner("shell", each.group(1)) for each in found if each]
    for script in scripts:  # `s/…/command/e` runs what comes out
        replaced = re.findall(
            r"(?:^|[\s;{}/\d])s([/|#,:@!])(?:\\.|(?!\1).){0,500}+\1((?:\\.|(?!\1).){0,500}+)\1[gpiIM\d]*+e", script
        )
        ran += [Inner("shell", text, is_certain=False) for _, text in replaced]
    return ran


MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


def makefile(words: list[str]) -> str | None:
    """Return the makefile that `make` is given, or None if it takes the directory's."""
    return value_of(
        arguments(words, "fCIjloW", ("--file", "--makefile", "--directory"))[0], "-f", "--file", "--makefile"
    )


def recipes(text: str) -> list[Inner]:
    """Return the shell lines of a makefile's rules, and of its `$(shell …)`."""
    lines = text.split("\n", MOST_LINES)[:MOST_LINES]
    found = [line[1:] for line in lines if line.startswith("\t")]
    found += [line.partition(";")[2] for line in lines if re.match(r"[\w.%-]++\s*+:[^;=]*+;", line)]
    found += [code for line in lines for code in re.findall(r"\$\(shell ([^)]{1,500}+)\)", line[:5000])]
    return [Inner("shell", line.lstrip("@-+ ").replace("$$", "$")) for line in found]


def _make(words: list[str], stdin: str | None) -> list[Inner]:
    """Read `make -f -` with a makefile that is piped in, and `make --eval`."""
    options, _ = arguments(words, "fCIjloWE", ("--file", "--makefile", "--directory", "--eval"))
    ran = [each for name, value in options if name in ("-E", "--eval") for each in recipes(value)]
    return ran + (recipes(stdin) if stdin and makefile(words) in ("-", "/dev/stdin") else [])


# Lines of a program's own language that run a shell command.
_ESCAPES = {
    **dict.fromkeys(("psql", "mysql", "mariadb"), r"\\!\s*+([^\n]*)|^\s*+system\s++([^\n;]*)"),
    "sqlite3": r"^\s*+\.(?:shell|system)\s++([^\n]*)",
    **dict.fromkeys(("ed", "ex", "vi", "vim", "dc", "ftp", "lftp", "sftp", "gdb"), r"^[:\d,%$.]*+!([^\n]*)"),
}


def _escapes(words: list[str], stdin: str | None) -> list[Inner]:
    """Read `psql -c '\\! …'`, `sqlite3 f '.shell …'`, `ed <<< '!…'`."""
    ran = []
    for text in (*words[1:], stdin or ""):
        lines = text[:LONGEST_TEXT].split("\n", MOST_LINES)[:MOST_LINES] if "!" in text or "s" in text else ()
        for line in lines:
            found = re.search(_ESCAPES[program(words[0])], line[:5000])
            ran += [Inner("shell", code) for code in found.groups() if code] if found else []
    return ran


def _socat(words: list[str], stdin: str | None) -> list[Inner]:
    found = (re.match(r"(?is)(?:exec|system|shell):([\"']?)(.*?)(?:\1(?:,[\w=,-]*)?)?$", word) for word in words[1:])
    return [Inner("shell", each.group(2)) for each in found if each]


def _apt(words: list[str], stdin: str | None) -> list[Inner]:
    found = (re.search(r"(?is)-invoke(?:::)?=(.+)", word) for word in words[1:])
    return [Inner("shell", each.group(1)) for each in found if each]


def _sg(words: list[str], stdin: str | None) -> list[Inner]:
    rest = words[2:] if words[1:2] != ["-"] else words[3:]
    return _joined(rest[1:2] if rest[:1] == ["-c"] else rest)


def _both(*readers: Reader) -> Reader:
    return lambda words, stdin: [each for reader in readers for each in reader(words, stdin)]


def _adb(words: list[str], stdin: str | None) -> list[Inner]:
    return _joined(words[words.index("shell") + 1 :], directory="/") if "shell" in words else []


_SPECIAL = {
    "sudo": _sudo,
    "env": _env,
    "command": _named_command,
    "xargs": _xargs,
    "parallel": _parallel,
    "find": _find,
    "fd": _fd,
    "fdfind": _fd,
    "ssh": _ssh,
    "mosh": _after_dashes,
    "sshpass": lambda words, stdin: _command(words[split_options(words, "fdpP")[1] :]),
    "autossh": _ssh,
    "su": _su,
    "runuser": _runuser,
    "script": _script,
    "flock": _flock,
    "watch": _watch,
    "trap": _trap,
    "at": _at,
    "batch": _at,
    "crontab": _crontab,
    "docker": _docker,
    "podman": _docker,
    "nerdctl": _docker,
    "docker-compose": _docker,
    "kubectl": _kubectl,
    "oc": _kubectl,
    "tmux": _tmux,
    "screen": _screen,
    "gdb": _both(_gdb, _escapes),
    "lldb": _gdb,
    "bwrap": _bwrap,
    "start-stop-daemon": _start_stop_daemon,
    "powershell": _powershell,
    "pwsh": _powershell,
    "cmd": _cmd,
    "wsl": _wsl,
    "nix": _nix,
    "nix-shell": _nix,
    "vagrant": _option_code("-c", "--command"),
    "gcloud": _option_code("--command"),
    "hyperfine": _lines,
    "concurrently": _lines,
    "nodemon": _option_code("-x", "--exec"),
    "fly": _option_code("-C", "--command"),
    "flyctl": _option_code("-C", "--command"),
    "tar": _tar,
    "bsdtar": _tar,
    "rsync": _option_code("-e", "--rsh", "--rsync-path"),
    "vi": _both(_editor, _escapes),
    "vim": _both(_editor, _escapes),
    "nvim": _editor,
    "ex": _both(_editor, _escapes),
    **dict.fromkeys(("psql", "mysql", "mariadb", "sqlite3", "ed", "dc", "ftp", "lftp"), _escapes),
    "sftp": _both(_scp, _escapes),
    "scp": _scp,
    "socat": _socat,
    "apt": _apt,
    "apt-get": _apt,
    "sg": _sg,
    "split": _option_code("--filter"),
    "sort": _option_code("--compress-program"),
    "man": _option_code("-P", "--pager"),
    "zip": _option_code("-TT", "--unzip-command"),
    "go": _option_code("-exec", "--exec", "-toolexec"),
    "compgen": _option_code("-C"),
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "nawk": _awk,
    "sed": _sed,
    "adb": _adb,
    "make": _make,
    "gmake": _make,
}


# Programs that take text in a language of their own: options with a value (letters, names), those of them whose value
# is such text or a file of it; which operands are (the first only without such an option; None: every argument is);
# whether stdin is.
_SCRIPT_FILE = ("-f", "--file", "--from-file")
_SQL_LONG = ("--command", "--dbname", "--execute", "--file", "--query", "--set", "--variable")
_SQL = ("-c", "--command", "-e", "--execute", "-q", "--query", "-Q", "--init-command", *_SCRIPT_FILE)
_EDITING = ("-c", "--cmd", "-S", "+")
_DEBUGGING = ("-ex", "--ex", "-iex", "--eval-command", "-o", "--one-line", "-x")
_DATABASES = ("clickhouse-client", "sqlcmd", "mongosh", "mongo")
_READ_TEXT = ("bc", "dc", "m4", "sqlplus", "crontab", "ftp", "lftp", "sftp")
_TEXT = {
    "sed": ("efl", ("--expression", "--file", "--line-length"), ("-e", "--expression", *_SCRIPT_FILE), slice(1), False),
    **dict.fromkeys(
        ("awk", "gawk", "mawk", "nawk"),
        ("fFvEei", ("--file", "--source", "--assign"), ("-e", "--source", "-E", "-i", *_SCRIPT_FILE), slice(1), False),
    ),
    **dict.fromkeys(("jq", "gojq", "jaq", "yq"), ("fLI", (), _SCRIPT_FILE, slice(1), False)),
    "psql": ("cdfhoPpRTUvL", _SQL_LONG, ("-c", "--command", *_SCRIPT_FILE), slice(0), True),
    **dict.fromkeys(("mysql", "mariadb"), ("eDhPSu", _SQL_LONG, ("-e", "--execute", "--init-command"), slice(0), True)),
    **dict.fromkeys(("sqlite3", "duckdb"), ("c", (), ("-cmd", "--cmd", "-c", "-s", "-init"), slice(1, None), True)),
    **dict.fromkeys(_DATABASES, ("qQ", _SQL_LONG, (*_SQL, "--eval"), slice(0), True)),
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "ed"), ("cSuT", ("--cmd",), _EDITING, slice(0), True)),
    **dict.fromkeys(("gdb", "lldb"), ("x", (), _DEBUGGING, slice(0), True)),
    **dict.fromkeys(_READ_TEXT, ("e", (), ("-e",), slice(0), True)),
    "ansible": ("a", ("--args",), ("-a", "--args"), slice(0), False),
    **dict.fromkeys(("make", "gmake", "tmux", "screen", "let", "mlr", "eval"), ("", (), (), None, False)),
    **dict.fromkeys((".", "source"), ("", (), (), slice(1), False)),
}
_JQ_VALUES = {"--arg": 3, "--argjson": 3, "--slurpfile": 3, "--rawfile": 3, "--indent": 2}


def program_text(words: list[str], stdin: str | None) -> list[str]:
    """Return what a command is given in a program's own language: scripts of sed, SQL …; also names of script files.

    Shell code and that of general languages is not in it: `inner` has it.
    """
    name = program(words[0])
    texts = [each.value for each in inner(words, stdin) if each.kind == "file"]
    if name == "perl" and any(re.match(r"-[A-Za-z0-9]*[np]", word) for word in words[1:]):
        texts += words[1:]  # it runs operands that end with a pipe sign
    if name not in _TEXT:
        return texts
    short, long, given_by, operands, reads_stdin = _TEXT[name]
    if "jq" in name:
        words = _without_jq_values(words)
    options, rest = arguments(words, short, long)
    given = [value for option, value in options if option in given_by]
    given += [words[at] for at in range(1, len(words)) if words[at - 1] in given_by]
    given += [word for word in words if "+" in given_by and word.startswith("+")]
    if operands is None:
        given += words[1:]
    elif operands.start or not given:
        given += rest[operands]
    return [*texts, *given, *([stdin] if reads_stdin and stdin else ())]


def _without_jq_values(words: list[str]) -> list[str]:
    """Return the words of jq without the values that it gives to its program."""
    found: list[str] = []
    at = 0
    while at < len(words) and words[at] not in ("--args", "--jsonargs"):
        if words[at] not in _JQ_VALUES:
            found.append(words[at])
        at += _JQ_VALUES.get(words[at], 1)
    return found


def runs_stdin(words: list[str]) -> bool:
    """Whether a command runs its input as code."""
    name = program(words[0])
    return (name in _TEXT and _TEXT[name][4]) or any(each.kind == "stdin" for each in inner(words, None))


def is_interpreter(word: str) -> bool:
    """Whether a word is the name of a shell or of a language's interpreter."""
    return program(word) in SHELLS or program(word) in LANGUAGES


def resolved(path: str, directory: str, home: str) -> str:
    """Return an absolute path without `..`; marks of unknown text stay in it."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    if not path.startswith("/"):
        path = directory.rstrip("/") + "/" + path
    normal = os.path.normpath(path)
    return normal[1:] if normal.startswith("//") else normal
