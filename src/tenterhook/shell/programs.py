"""Programs that run other programs: `sudo`, `env`, `xargs`, `find -exec`, `sh -c`, `ssh`, `docker run` …

`inner` says what a command's words make it run. The tables have a row per program; what needs more than a row has a
function.
"""

from __future__ import annotations

import os
import re

from .syntax import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Options = list[tuple[str, str]]
    Reader = Callable[[list[str], str | None], list["Inner"]]

MOST_ITEMS = 1000  # arguments that come from elsewhere
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
    "julia": "julia",
}


class Inner:
    """Something that a command runs.

    `kind` is `words` (a program with its arguments), `shell` or `code` (text in `language`), `file` (a script) or
    `stdin` (whatever is read from there). `directory` is where it runs, if that is elsewhere; `~` is the home.
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
    """The name of a program, however it is spelt: `/usr/bin/python3.11` is `python`, `RM` and GNU's `grm` are `rm`."""
    name = word.rpartition("/")[2].lower()
    if name.endswith(".exe"):
        name = name[:-4]
    if name[:1] == "g" and name[1:] in _CORE:
        return name[1:]
    if name[-1:].isdigit():
        bare = re.sub(r"[\d.]+$", "", name)
        if bare in LANGUAGES or bare in ("pip", "lua"):
            return bare
    return name


def split_options(words: list[str], short: str = "", long: Iterable[str] = (), at: int = 1) -> tuple[Options, int]:
    """Options up to the first operand: a list of (name, value), and where the operands begin.

    `short` are letters and `long` names of options that have a value; letters may stand together.
    """
    found: Options = []
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            return found, at + 1
        at = _take_option(words, at, short, long, found)
    return found, at


def arguments(words: list[str], short: str = "", long: Iterable[str] = (), at: int = 1) -> tuple[Options, list[str]]:
    """Options and operands wherever they stand, as most programs take them."""
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
    """Add the options of one word; return where the next one is."""
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
    "chrt": ("TPD", (), 1),
    "taskset": ("", (), 1),
    "numactl": ("NmCip", (), 0),
    "unbuffer": ("", (), 0),
    "strace": ("abeEIoOpPsSuUX", (), 0),
    "ltrace": ("aADeFlnopsuxX", (), 0),
    "chroot": ("", ("--userspec", "--groups"), 1),
    "unshare": ("SGRwl", ("--setuid", "--setgid", "--root", "--wd", "--propagation"), 0),
    "nsenter": ("tSG", ("--target", "--setuid", "--setgid"), 0),
    "systemd-run": (
        "EHMptu",
        ("--unit", "--property", "--slice", "--uid", "--gid", "--setenv", "--description", "--on-active", "--machine"),
        0,
    ),
    "caffeinate": ("tw", (), 0),
    "pkexec": ("", ("--user",), 0),
    "fakeroot": ("lfsib", (), 0),
    "proxychains": ("f", (), 0),
    "proxychains4": ("f", (), 0),
    "torsocks": ("", (), 0),
    "torify": ("", (), 0),
    "eatmydata": ("", (), 0),
    "xvfb-run": ("efnpsw", ("--server-args", "--server-num", "--error-file", "--auth-file"), 0),
    "dbus-run-session": ("", (), 0),
    "rlwrap": ("abcCDefHIlmMopPqrStwz", (), 0),
    "setpriv": ("", ("--reuid", "--regid", "--groups"), 0),
    "prlimit": ("", (), 0),
    "cgexec": ("g", (), 0),
    "cpulimit": ("lpe", (), 0),
    "gosu": ("", (), 1),
    "su-exec": ("", (), 1),
    "tini": ("pe", (), 0),
    "dumb-init": ("r", (), 0),
    "chronic": ("", (), 0),
    "sem": ("j", (), 0),
    "retry": ("tdm", ("--times", "--delay", "--min", "--max"), 0),
    "entr": ("", (), 0),
    "busybox": ("", (), 0),
    "toybox": ("", (), 0),
    "bwrap": ("", (), 0),
    "firejail": ("", (), 0),
    "npx": ("p", ("--package",), 0),
    "bunx": ("", (), 0),
    "coproc": ("", (), 0),
}

# `tool subcommand [options] command`
_RUNNERS = {
    "uv": ("run", "ep", ("--extra", "--python", "--with", "--env-file", "--project", "--directory", "--group")),
    "poetry": ("run", "", ()),
    "pipenv": ("run", "", ()),
    "pdm": ("run", "p", ()),
    "hatch": ("run", "e", ()),
    "rye": ("run", "", ()),
    "conda": ("run", "np", ("--name", "--prefix", "--cwd")),
    "mamba": ("run", "np", ("--name", "--prefix", "--cwd")),
    "micromamba": ("run", "np", ("--name", "--prefix", "--cwd")),
    "bundle": ("exec", "", ()),
    "asdf": ("exec", "", ()),
    "mise": ("exec", "", ()),
    "direnv": ("exec", "", ()),
    "perf": ("stat", "eorp", ()),
    "op": ("run", "", ("--env-file",)),
    "doppler": ("run", "pc", ("--project", "--config")),
    "infisical": ("run", "", ("--env", "--path")),
    "aws-vault": ("exec", "d", ("--duration",)),
    "lxc": ("exec", "", ("--cwd", "--env", "--user")),
    "incus": ("exec", "", ("--cwd", "--env", "--user")),
    "snap": ("run", "", ()),
    "flatpak": ("run", "", ("--command",)),
}
_OPERANDS_BEFORE = {"direnv": 1, "lxc": 1, "incus": 1, "aws-vault": 1}


def inner(words: list[str], stdin: str | None) -> list[Inner]:
    """What a command runs, as a list of `Inner`; empty for a program that runs nothing but itself."""
    name = program(words[0])
    if name in SHELLS:
        return _shell(words)
    if name in LANGUAGES:
        return _language(words, LANGUAGES[name])
    if name in _SPECIAL:
        return _SPECIAL[name](words, stdin)
    if name in _WRAPPERS:
        short, long, before = _WRAPPERS[name]
        _, at = split_options(words, short, long)
        return _command(words[at + before :])
    if name in _RUNNERS:
        subcommand, short, long = _RUNNERS[name]
        if subcommand in words[1:4]:
            at = words.index(subcommand)
            _, at = split_options(words, short, long, at + 1)
            rest = words[at + _OPERANDS_BEFORE.get(name, 0) :]
            return _command(rest[1:] if rest[:1] == ["--"] else rest)
    return []


def _command(words: list[str], **more: Any) -> list[Inner]:
    return [Inner("words", words, **more)] if words else []


def _some(items: list[str]) -> list[str]:
    """Return as many items as are looked at, with a mark for those that are left out."""
    return items if len(items) <= MOST_ITEMS else [*items[:MOST_ITEMS], UNKNOWN]


def _joined(words: list[str], **more: Any) -> list[Inner]:
    """Words that the program hands to a shell as one line."""
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
    while at < len(words) and re.match(r"[A-Za-z_]\w*=", words[at]):
        at += 1
    directory = value_of(options, "-D", "--chdir")
    if has(options, "-e", "--edit"):
        return [Inner("words", ["vi", *words[at:]], directory=directory)]
    if has(options, "-s", "--shell", "-i", "--login"):
        rest = words[at:]
        home = "~" if has(options, "-i", "--login") else directory
        return _joined(rest, directory=home) if rest else [Inner("stdin")]
    return _command(words[at:], directory=directory)


def _env(words: list[str], stdin: str | None) -> list[Inner]:
    options, at = split_options(words, "uCSa", ("--unset", "--chdir", "--split-string", "--argv0"))
    split = value_of(options, "-S", "--split-string")
    if split is not None:
        return _joined([split, *words[at:]])
    while at < len(words) and re.match(r"[^=/]+=", words[at]):
        at += 1
    return _command(words[at:], directory=value_of(options, "-C", "--chdir"))


def _named_command(words: list[str], stdin: str | None) -> list[Inner]:
    """`command`: with -v or -V it only says where something is."""
    options, at = split_options(words)
    return [] if has(options, "-v", "-V") else _command(words[at:])


def _xargs(words: list[str], stdin: str | None) -> list[Inner]:
    short = "aEdILnPs"
    long = ("--arg-file", "--delimiter", "--replace", "--max-lines", "--max-args", "--max-procs", "--max-chars")
    options, at = split_options(words, short, (*long, "--eof"))
    command = words[at:] or ["echo"]
    replaced = value_of(options, "-I", "--replace")
    if replaced is None and has(options, "-i"):
        replaced = "{}"
    if stdin is None:
        items = [UNKNOWN]
    elif replaced is not None:
        items = [line.strip() for line in _some(stdin.split("\n", MOST_LINES)) if line.strip()]
    else:
        delimiter = value_of(options, "-d", "--delimiter")
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
    """The parts of a `find`: where it starts, what restricts it, what it does with what it finds."""

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
        """What is found below a start, as a path: the start itself, unless something restricts it."""
        return start.rstrip("/") + "/" + UNKNOWN if self.restricted else start


def _find(words: list[str], stdin: str | None) -> list[Inner]:
    find = Find(words)
    ran = []
    for command in find.commands:
        for start in _some(find.starts):
            words = [word.replace("{}", find.found(start)) for word in command]
            ran += _command(words, is_certain=words == command)
    return ran


def _fd(words: list[str], stdin: str | None) -> list[Inner]:
    """`fd pattern … -x command`."""
    for mark in ("-x", "--exec", "-X", "--exec-batch"):
        if mark in words:
            command = words[words.index(mark) + 1 :]
            command = [word.replace("{}", UNKNOWN) for word in command]
            return _command(command if UNKNOWN in "".join(command) else [*command, UNKNOWN], is_certain=False)
    return []


def _ssh(words: list[str], stdin: str | None) -> list[Inner]:
    options, at = split_options(words, "bBcDEeFIiJLlmOopPQRSWw")
    proxies = [value.partition("=")[2] for name, value in options if name == "-o" and "proxycommand" in value.lower()]
    more, at = split_options(words, "bBcDEeFIiJLlmOopPQRSWw", at=at + 1)
    ran = [Inner("shell", proxy) for proxy in proxies]
    command = words[at:]
    if command:
        return [*ran, *_joined(command, directory="~")]
    if has(options + more, "-N", "-W"):
        return ran
    return [*ran, Inner("stdin", directory="~")]


def _su(words: list[str], stdin: str | None) -> list[Inner]:
    options, _ = arguments(words, "cgGsTw", ("--command", "--shell", "--group", "--session-command"))
    code = value_of(options, "-c", "--command", "--session-command")
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
    if "exec" not in words[1:6] and "run" not in words[1:6] and "debug" not in words[1:6]:
        return []
    if "--" in words:
        return _command(words[words.index("--") + 1 :], directory="/")
    return []


def _after_dashes(words: list[str], stdin: str | None) -> list[Inner]:
    return _command(words[words.index("--") + 1 :]) if "--" in words else []


def _git(words: list[str], stdin: str | None) -> list[Inner]:
    ran = []
    options, at = split_options(words, "cC", ("--git-dir", "--work-tree", "--namespace", "--exec-path"))
    for name, value in options:
        key, _, setting = value.partition("=")
        if name == "-c" and (
            setting.startswith("!") or key.lower() in ("core.sshcommand", "core.editor", "core.pager")
        ):
            ran.append(Inner("shell", setting.lstrip("!")))
    rest = words[at:]
    if rest[:2] == ["submodule", "foreach"]:
        ran += _joined([word for word in rest[2:] if word != "--recursive"])
    elif rest[:2] == ["bisect", "run"]:
        ran += _command(rest[2:])
    elif rest[:1] == ["rebase"]:
        options, _ = arguments(rest, "xsX", ("--exec", "--strategy", "--onto"))
        ran += [Inner("shell", value) for name, value in options if name in ("-x", "--exec") and value]
    elif rest[:1] == ["config"] and any(word.startswith("!") for word in rest):
        ran += [Inner("shell", word[1:]) for word in rest if word.startswith("!")]
    return ran


def _tmux(words: list[str], stdin: str | None) -> list[Inner]:
    """What is typed into another terminal: each argument that is more than a word."""
    return [Inner("shell", word) for word in words[1:] if " " in word]


def _nix(words: list[str], stdin: str | None) -> list[Inner]:
    for mark in ("-c", "--command", "--run"):
        if mark in words:
            rest = words[words.index(mark) + 1 :]
            return _joined(rest[:1]) if mark == "--run" else _command(rest)
    return []


def _option_code(*names: str) -> Reader:
    """Programs that take a shell line as the value of an option."""

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
    """`vim -c ':!rm x'`."""
    commands = [words[number + 1] for number, word in enumerate(words[:-1]) if word in ("-c", "--cmd")]
    commands += [word[1:] for word in words[1:] if word.startswith("+")]
    return [Inner("shell", command.partition("!")[2]) for command in commands if re.match(r"[:\s\d,%.$]*!", command)]


def _awk(words: list[str], stdin: str | None) -> list[Inner]:
    options, at = split_options(words, "fFvE", ("--file", "--field-separator", "--assign"))
    return [] if has(options, "-f", "--file") else [Inner("code", "".join(words[at : at + 1]), language="awk")]


def _sed(words: list[str], stdin: str | None) -> list[Inner]:
    options, operands = arguments(words, "efl", ("--expression", "--file", "--line-length"))
    scripts = [value for name, value in options if name in ("-e", "--expression")]
    if not scripts and not has(options, "-f", "--file"):
        scripts = operands[:1]
    found = [re.search(r"(?:^|[;\n{}])\s*+[\d$,/^]*+\s*+e\s+(.+)", script) for script in scripts]
    return [Inner("shell", each.group(1)) for each in found if each]


def _make(words: list[str], stdin: str | None) -> list[Inner]:
    """`make -f -`: the recipes of what is piped in."""
    options, _ = arguments(words, "fCIjloW", ("--file", "--makefile", "--directory"))
    if not stdin or value_of(options, "-f", "--file", "--makefile") not in ("-", "/dev/stdin"):
        return []
    lines = stdin.split("\n", MOST_LINES)[:MOST_LINES]
    return [Inner("shell", line[1:].lstrip("@-+")) for line in lines if line.startswith("\t")]


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
    "git": _git,
    "tmux": _tmux,
    "screen": _tmux,
    "nix": _nix,
    "nix-shell": _nix,
    "vagrant": _option_code("-c", "--command"),
    "gcloud": _option_code("--command"),
    "hyperfine": _tmux,
    "tar": _tar,
    "bsdtar": _tar,
    "rsync": _option_code("-e", "--rsh", "--rsync-path"),
    "vi": _editor,
    "vim": _editor,
    "nvim": _editor,
    "ex": _editor,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "nawk": _awk,
    "sed": _sed,
    "adb": _adb,
    "make": _make,
    "gmake": _make,
}


def resolved(path: str, directory: str, home: str) -> str:
    """A path as an absolute one, `..` taken out; what is unknown stays in it."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    if not path.startswith("/"):
        path = directory.rstrip("/") + "/" + path
    normal = os.path.normpath(path)
    return normal[1:] if normal.startswith("//") else normal
