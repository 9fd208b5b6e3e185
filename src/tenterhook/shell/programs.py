"""Programs that run other programs: `sudo`, `env`, `xargs`, `find -exec`, `sh -c`, `ssh`, `docker run` …

`nested_commands` returns what a command runs. `wrappers` has a row for each program; those that need more than a row
have a function here.
"""

from __future__ import annotations

import os

from ..basics import lazy_re as re
from ..basics.named_tuples import NamedTuple
from .syntax import DECODED, LETTERS, NETWORK, UNKNOWN, unescaped
from .wrappers import LOADER, WRAPPERS, synopsis

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Options = list[tuple[str, str]]

MOST_ITEMS = 256  # arguments that come from elsewhere
MOST_GLOBAL_OPTIONS = 32  # words before a subcommand
LONGEST_LINE = 5_000  # characters of a line in a program's own language that are read
MOST_LINES = 3_000  # of a text that is piped in; the budget is used up before
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "tcsh", "csh", "yash", "oksh"))
LANGUAGES = {
    **dict.fromkeys(("python", "pypy"), "python"),
    "perl": "perl",
    "ruby": "ruby",
    **dict.fromkeys(("node", "nodejs", "bun", "deno"), "node"),
    "php": "php",
    **dict.fromkeys(("lua", "luajit"), "lua"),
    "osascript": "osascript",
    **dict.fromkeys(("tclsh", "expect"), "tcl"),
    **dict.fromkeys(("rscript", "r"), "r"),
    "julia": "julia",
    **dict.fromkeys(("emacs", "guile"), "lisp"),
    **dict.fromkeys("elixir groovy scala runghc ghc clojure racket octave gnuplot jjs jrunscript".split(), "other"),
}


class NestedCommand(NamedTuple):
    """A program or code that a command runs.

    `kind` is `words` (a program with its arguments), `shell` or `code` (text in `language`), `file` (a script) or
    `stdin` (code that is read from there). `directory` is where it runs, if not in the current one; `~` is the home.
    `is_certain` means that only the command's own words determine what runs.
    """

    kind: str
    value: Any = ""
    arguments: list[str] | tuple[str, ...] = ()
    language: str = "shell"
    directory: str | None = None
    stdin: str | None = None
    is_certain: bool = True
    assignments: tuple[tuple[str, str], ...] = ()
    contained: bool = False  # in a new container: its paths are not ours, except for the mounts
    mounts: tuple[tuple[str, str], ...] = ()  # of (path in the container, path here)
    is_remote: bool = False  # on another machine, or in an existing container


_CORE = frozenset(
    "cat chmod chown chgrp cp dd echo env find head ln mkdir mv nice printf rm rmdir sed shred sort split stdbuf stat "
    "tail tar tee timeout touch tr truncate unlink xargs install awk".split()
)


def program(word: str) -> str:
    """Return a program's name: `python` for `/usr/bin/python3.11`, `rm` for `RM` and for GNU's `grm`."""
    name = word.rpartition("/")[2].lower().removesuffix(".exe")
    if name[:1] == "g" and name[1:] in _CORE:
        return name[1:]
    bare = name.rstrip("0123456789.") if name[-1:].isdigit() else name
    return bare if bare in LANGUAGES or bare == "pip" else name


# -- options ------------------------------------------------------------------------------------------------------


def split_options(words: list[str], short: str = "", long: Iterable[str] = (), at: int = 1) -> tuple[Options, int]:
    """Return the options up to the first operand, as a list of (name, value), and the index of that operand.

    `short` are letters and `long` names of options that have a value; letters may be combined. A letter followed by a
    question mark has a value only in the same word.
    """
    found: Options = []
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            return found, at + 1
        at = _take_option(words, at, short, long, found)
    return found, at


def arguments(words: list[str], short: str = "", long: Iterable[str] = (), at: int = 1) -> tuple[Options, list[str]]:
    """Return the options and operands of a command, which may be in any order."""
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
        takes_next = not equals and name in long
    else:
        letters = 1
        while letters < len(word) - 1 and word[letters] not in short:
            found.append(("-" + word[letters], ""))
            letters += 1
        name, value = "-" + word[letters], word[letters + 1 :]
        takes_next = not value and name[1] in short and name[1] + "?" not in short
    if takes_next and at < len(words):
        value = words[at]
        at += 1
    found.append((name, value))
    return at


def is_option(word: str, name: str) -> bool:
    """Whether a word is an option, with or without a value; long names may be abbreviated.

    A name that ends with `=` or `:` matches words that begin with it.
    """
    given = word.partition("=")[0]
    if name.startswith("--"):
        return given == name or (len(given) >= _SHORTEST_NAME and name.startswith(given))
    begins = word.startswith(name) and not word.startswith("--")
    return given == name or (begins and (len(name) == 2 or name[-1] in "=:"))


_SHORTEST_NAME = len("--abc")  # of an abbreviated option


def has(options: Options, *names: str) -> bool:
    return any(name in names for name, _ in options)


def value_of(options: Options, *names: str) -> str | None:
    return next((value for name, value in options if name in names), None)


def letters(word: str) -> str:
    """Return the short options in a word: `rf` of `-rf`."""
    found = word[1:] if word.startswith("-") else ""
    return found[: len(found) - len(found.lstrip(LETTERS))]


def is_cluster(word: str, options: str) -> bool:
    """Whether a word consists of short options, all of which are among these letters."""
    return word.startswith("-") and word != "-" and not word[1:].strip(options)


def has_short_option(word: str, options: str, valued: str = "") -> bool:
    """Whether one of these short options is in a word such as `-rn`; what follows a letter in `valued` is its value."""
    if word[:1] != "-":
        return False
    at = min((found for each in options if (found := word.find(each, 1)) > 0), default=0)
    before = word[1:at]
    return at == 1 or (consists_of(before, "_") and not any(each in before for each in valued))


def from_subcommand(words: list[str]) -> Iterator[list[str]]:
    """Yield the arguments of a command, then those without the options before its first, and its second, operand.

    The word after an option may be its value or the operand: both are tried.
    """
    yield words[1:]
    for at in [git_options(words)[1]] if program(words[0]) == "git" else _first_operands(words, 1):
        yield words[at:]
        after_options = (next_at for next_at in _first_operands(words, at + 1) if next_at > at + 1)
        yield from (words[at : at + 1] + words[next_at:] for next_at in after_options)


def _first_operands(words: list[str], at: int) -> Iterator[int]:
    """Yield the indexes of the next operand: after options, assignments (`make A=b`) and toolchains (`cargo +x`)."""
    for number in range(at, min(len(words), at + MOST_GLOBAL_OPTIONS)):
        if re.match(r"[-+]|\w+=", words[number]):
            continue
        yield number
        if number == at or not words[number - 1].startswith("-") or "=" in words[number - 1]:
            return


def other_names(words: list[str]) -> Iterator[list[str]]:
    """Yield other ways to write a command: `pip` for `python -m pip` and `uv pip`, `git push` for `git-push`."""
    name = program(words[0])
    options, at = split_options(words, "cmQWX") if name in ("python", "py") else ([], 0)
    if module := value_of(options, "-m"):
        yield [module, *words[at:]]
    elif name == "uv" and words[1:2] == ["pip"]:
        yield words[1:]
    elif name == "gmake":
        yield ["make", *words[1:]]
    elif name.startswith("git-"):
        yield ["git", name[len("git-") :], *words[1:]]


def values(options: Options, *names: str) -> Iterator[str]:
    """Return the values of these options."""
    return (value for name, value in options if name in names and value)


# -- what a command runs ------------------------------------------------------------------------------------------


def nested_commands(
    words: list[str], stdin: str | None, variable: Callable[[str], str] = lambda name: ""
) -> list[NestedCommand]:
    """Return what a command runs; empty for a program that does not run others.

    `variable` returns the value of an environment variable, for programs whose options name one.
    """
    if not words:
        return []
    name = program(words[0])
    if name == "git":
        return _git(words, variable)
    ran = _shell(words) if name in SHELLS else _FUNCTIONS[name](words, stdin) if name in _FUNCTIONS else []
    if name in _SHELL_ESCAPES:
        ran += _escapes(words, stdin, _SHELL_ESCAPES[name])
    rows = WRAPPERS.get(name) or (LOADER if name.startswith(("ld-linux", "ld-musl", "ld.so")) else ())
    for row in () if ran else (rows,) if isinstance(rows, str) else rows:
        ran = ran or _wrapped(words, row)
    return _language(words, LANGUAGES[name]) if name in LANGUAGES and not ran else ran


def _wrapped(words: list[str], row: str) -> list[NestedCommand]:
    """Return what a wrapper runs, by its synopsis."""
    form = synopsis(row)
    size = len(form.subcommand)
    at = next((at for at in range(1, 5) if words[at : at + size] == form.subcommand), None)
    if at is None or not form.operands:
        return [] if at is None else _option_lines(words, form.options, form.is_remote)
    at += size
    options: Options = []
    assignments: tuple[tuple[str, str], ...] = ()
    for operand in form.operands:
        if operand == "--":
            at = words.index("--", at) + 1 if "--" in words[at:] else len(words)
            continue
        more, at = split_options(words, form.short, form.options, at)
        options += more
        at += words[at : at + 1] == ["-"]
        if operand == "NAME=VALUE":
            assignments, _ = _assignments(words[at:])
            at += len(assignments)
        at += operand not in ("NAME=VALUE", "COMMAND", "LINE", "SHELL", "INPUT")
    if not form.fits(options):
        return []
    directory = next((value for name, value in options if form.options.get(name) == "DIRECTORY"), form.directory)
    lines = [value for name, value in options if form.options.get(name) == "LINE"]
    if lines or operand == "LINE":
        ran = [NestedCommand("shell", line) for line in lines] or _joined(words[at:])
    elif operand == "INPUT":
        ran = _joined(words[at:]) or [NestedCommand("stdin")]
    else:
        ran = _shell(["sh", *words[at:]]) if operand == "SHELL" else _command(words[at:])
    return [each._replace(directory=directory, is_remote=form.is_remote, assignments=assignments) for each in ran]


def _option_lines(words: list[str], options: dict[str, str], is_remote: bool = False) -> list[NestedCommand]:
    """Return the shell lines and commands that are the values of these options, anywhere in the words."""
    ran: list[NestedCommand] = []
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        name = next((each for each in options if is_option(name, each)), name)
        if len(name) == 2 and not word.startswith((name + "=", "--")) and word != name:  # `-Oless`
            equals, value = name, word[2:]
        if options.get(name) == "COMMAND":
            return ran + _command(words[number + 1 :], is_remote=is_remote)
        if name in options and (equals or number + 1 < len(words)):
            ran.append(NestedCommand("shell", value if equals else words[number + 1], is_remote=is_remote))
    return ran


def _command(words: list[str], **more: Any) -> list[NestedCommand]:
    """Return a program with its arguments; a single word that contains a blank is treated as a shell line."""
    if len(words) == 1 and " " in words[0]:
        return [NestedCommand("shell", words[0], **more)]
    return [NestedCommand("words", words, **more)] if words else []


def _joined(words: list[str], **more: Any) -> list[NestedCommand]:
    """Return words that a program joins and passes to a shell as one line."""
    return [NestedCommand("shell", " ".join(words), **more)] if words else []


def _some(items: list[str]) -> list[str]:
    """Return at most `MOST_ITEMS` of the items, with the mark of unknown text in place of the rest."""
    return items if len(items) <= MOST_ITEMS else [*items[:MOST_ITEMS], UNKNOWN]


def _lines(text: str) -> list[str]:
    return text.split("\n", MOST_LINES)[:MOST_LINES]


def consists_of(word: str, marks: str) -> bool:
    """Whether a word has letters, digits and these marks only, and at least one of them."""
    others = word
    for mark in marks:
        others = others.replace(mark, "")
    return word != "" and (others == "" or others.isalnum())


def quoted(word: str) -> str:
    """Return a word quoted for the shell, if necessary."""
    return word if consists_of(word, "_./:=@%+,-") else "'" + word.replace("'", "'\\''") + "'"


# -- shells and languages -----------------------------------------------------------------------------------------

_STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


def _shell(words: list[str]) -> list[NestedCommand]:
    spelt = ["-" + word[1:] if word.startswith("+") else word for word in words]
    options, at = split_options(spelt, "oO", ("--rcfile", "--init-file", "--command"))
    operands = words[at + (words[at : at + 1] == ["-"]) :]
    if line := value_of(options, "--command"):
        return [NestedCommand("shell", line)]
    if has(options, "-c"):
        return [NestedCommand("shell", operands[0], operands[1:])] if operands else []
    if has(options, "-s") or not operands or operands[0] in _STDIN:
        return [NestedCommand("stdin", arguments=operands)]
    return [NestedCommand("file", operands[0], operands)]


# For each language, letters of options with a value, and names of options whose value is code.
_CODE = {
    "python": ("cmQWX", ("-c",)),
    "perl": ("eEIM?m?V?i?", ("-e", "-E")),
    "ruby": ("eIrCEFKTx?i?", ("-e",)),
    "node": ("eprC", ("-e", "-p", "--eval", "--print")),
    "php": ("rdfBREFHSctz", ("-r", "-B", "-R", "-E", "--run")),
    "lua": ("el", ("-e",)),
    "osascript": ("els", ("-e",)),
    "tcl": ("c", ("-c",)),
    "r": ("e", ("-e",)),
    "julia": ("eEJLHptC", ("-e", "-E", "--eval")),
    "lisp": ("ecl", ("-e", "-c", "--eval")),
    "other": ("e", ("-e", "--eval")),
}
_LANGUAGE_LONG = ("--require", "--import", "--loader", "--config", "--env-file")


def _language(words: list[str], language: str) -> list[NestedCommand]:
    short, code_options = _CODE[language]
    if words[1:2] == ["eval"] and program(words[0]) == "deno":
        return [NestedCommand("code", words[-1], language=language)]
    options, at = split_options(words, short, (*code_options, *_LANGUAGE_LONG))
    codes = [NestedCommand("code", value, words[at:], language) for name, value in options if name in code_options]
    operands = words[at:]
    if language == "python" and has(options, "-m"):
        return []
    if codes or (operands and operands[0] not in _STDIN):
        return codes or [NestedCommand("file", operands[0], operands, language)]
    return [] if has(options, "--version", "-V", "-v", "--help", "-h") else [NestedCommand("stdin", language=language)]


def _awk(words: list[str], stdin: str | None) -> list[NestedCommand]:
    options, at = split_options(words, "fFvE", ("--file", "--field-separator", "--assign"))
    if file := value_of(options, "-f", "--file"):
        return [NestedCommand("stdin", language="awk")] if file in _STDIN else []
    return [NestedCommand("code", "".join(words[at : at + 1]), language="awk")]


# sed's command `e` after any address: it runs its argument, or else the lines of the input.
_SED_EXECUTES = (
    r"(?:^|[;\n{}])(?:[\d$,!~+ \t]|/(?:\\.|[^/\\\n]){0,500}+/[IM]{0,2}+)*+e(?:[ \t]++([^\n]++)|(?=[ \t]*+(?:[;\n}]|$)))"
)


def _sed(words: list[str], stdin: str | None) -> list[NestedCommand]:
    options, operands = arguments(words, "efli?", ("--expression", "--file", "--line-length"))
    scripts = list(values(options, "-e", "--expression"))
    if not scripts and not has(options, "-f", "--file"):
        scripts = operands[:1]
    ran = []
    for script in scripts:
        if "e" not in script:
            continue
        found = re.search(_SED_EXECUTES, script)
        ran += [NestedCommand("shell", found.group(1) or UNKNOWN, is_certain=bool(found.group(1)))] if found else []
        replaced = re.findall(  # `s/…/command/e` runs the result
            r"(?:^|[\s;{}/\d])s([/|#,:@!])(?:\\.|(?!\1)[^\\\n]){0,500}\1((?:\\.|(?!\1)[^\\\n]){0,500})\1[gpiIM\d]*+e",
            script,
        )
        ran += [NestedCommand("shell", text, is_certain=False) for _, text in replaced]
    return ran


def _powershell(words: list[str], stdin: str | None) -> list[NestedCommand]:
    """Read `-Command …`, `-EncodedCommand …`. Options may be abbreviated, in upper or lower case."""
    at = 1
    while at < len(words) and len(words[at]) > 1 and words[at][0] in "-/":
        option, rest = "-" + words[at][1:].lower(), words[at + 1 :]
        at += 1
        if "-command".startswith(option) or option == "-commandwithargs":
            break
        if "-encodedcommand".startswith(option) or option == "-ec":
            return [NestedCommand("code", DECODED + _utf16(rest[0]), language="powershell")] if rest else []
        if "-file".startswith(option):
            return [NestedCommand("file", rest[0], rest, "powershell")] if rest else []
        at += len(option) > 2 and any(each.startswith(option) for each in _POWERSHELL_VALUES)
    if words[at:] in ([], ["-"]):
        return [NestedCommand("stdin", language="powershell")]
    return [NestedCommand("code", " ".join(words[at:]), language="powershell")]


_POWERSHELL_VALUES = (
    "-executionpolicy -ep -windowstyle -version -inputformat -outputformat -workingdirectory -configurationname".split()
)


def _utf16(text: str) -> str:
    import binascii

    try:
        return binascii.a2b_base64(text.encode("ascii")).decode("utf-16-le")
    except ValueError:
        return ""


def _cmd(words: list[str], stdin: str | None) -> list[NestedCommand]:
    for at, word in enumerate(words):
        if word.lower().startswith(("/c", "/k", "//c")):
            return [NestedCommand("code", " ".join([word.lstrip("/")[1:], *words[at + 1 :]]), language="cmd")]
    return []


# -- wrappers that a row cannot describe ----------------------------------------------------------------------------


def _assignments(words: list[str]) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Return the assignments before a command, and the command."""
    found = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or "/" in name:
            break
        found.append((name, value))
    return tuple(found), words[len(found) :]


def _env(words: list[str], stdin: str | None) -> list[NestedCommand]:
    options: Options = []
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] in ("-", "--"):
            at += 1
            continue
        at = _take_option(words, at, "uCSaP", ("--unset", "--chdir", "--split-string", "--argv0"), options)
        if options[-1][0] in ("-S", "--split-string"):  # its words come before the rest, including options
            line = " ".join([words[0], options[-1][1], *map(quoted, words[at:])])
            return [NestedCommand("shell", line, directory=value_of(options, "-C", "--chdir"))]
    assignments, command = _assignments(words[at:])
    return _command(command, directory=value_of(options, "-C", "--chdir"), assignments=assignments)


def xargs_options(words: list[str]) -> tuple[Options, int]:
    """Return the options of `xargs`, and the index of its command."""
    long = ("--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs", "--max-chars")
    return split_options(words, "aEdILnPsi?e?l?", long)


def _xargs(words: list[str], stdin: str | None) -> list[NestedCommand]:
    options, at = xargs_options(words)
    command = words[at:] or ["echo"]
    replaced = value_of(options, "-I", "-i", "--replace")
    replaced = "{}" if replaced == "" else replaced
    delimiter = unescaped(value_of(options, "-d", "--delimiter") or "")[:1]
    delimiter = "\0" if has(options, "-0", "--null") else delimiter or ("\n" if replaced else "")
    if stdin is None:
        items = [UNKNOWN]
    else:
        split = stdin.replace("\0", delimiter or " ").split(delimiter or None, MOST_LINES)
        items = [each for item in _some(split) if (each := item.strip(" \t\n'\""))]
    if not replaced:
        return _command([*command, *items], stdin="", is_certain=False)
    return [
        NestedCommand("words", [word.replace(replaced, item) for word in command], is_certain=False)
        for item in items or [UNKNOWN]
    ]


def _parallel(words: list[str], stdin: str | None) -> list[NestedCommand]:
    """Read `parallel command ::: items`. The words are joined to a line and, if quoting may matter, kept as words."""
    options, at = split_options(words, "jNnSIaP", ("--jobs", "--sshlogin", "--max-args", "--arg-file", "--colsep"))
    rest = words[at:]
    marks = [number for number, word in enumerate(rest) if word in (":::", "::::", ":::+")]
    command = rest[: marks[0]] if marks else rest
    if marks and rest[marks[0]] == ":::":
        items = [word for word in rest[marks[0] :] if not word.startswith(":::")]
    else:
        items = [line for line in stdin.split("\n") if line.strip()] if stdin is not None and not marks else [UNKNOWN]
    lines = [" ".join(command) or "{}"]
    if len(command) > 1 and any(" " in word for word in command):
        lines.append(" ".join(map(quoted, command)))
    forms = [re.split(r"\{(?:/|//|\.|/\.|\d+)?\}", line if "{" in line else line + " {}") for line in lines]
    items = [] if ("--dry-run", "") in options else _some(items)
    return [NestedCommand("shell", item.join(form), is_certain=False) for item in items for form in forms]


FIND_TESTS = frozenset(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -empty -mtime -mmin -atime -amin -ctime -cmin "
    "-newer -anewer -cnewer -size -user -group -uid -gid -nouser -nogroup -perm -inum -links -samefile -lname "
    "-newermt -newerct".split()
)
_FIND_ARGUMENTS = FIND_TESTS - {"-empty", "-nouser", "-nogroup"} | frozenset(
    "-type -xtype -maxdepth -mindepth -fstype -printf -fprint -fprintf -fls -regextype -D -used".split()
)


class Find:
    """The parts of a `find`: its starting points, whether tests restrict it, its actions."""

    def __init__(self, words: list[str]) -> None:
        at = 1
        while at < len(words) and words[at] in ("-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x"):
            at += 1
        first = at
        while at < len(words) and not words[at].startswith(("-", "(", ")", "!", ",")):
            at += 1
        self.starts = words[first:at] or ["."]
        self.deletes = False
        self.restricted = False
        self.commands: list[list[str]] = []
        self.written: list[str] = []
        negated = False
        while at < len(words):
            word = words[at]
            at += 1
            self.deletes |= word == "-delete"
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                end = next((end for end in range(at, len(words)) if words[end] in (";", "+")), len(words))
                self.commands.append(words[at:end])
                self.restricted |= program("".join(words[at : at + 1])) in ("test", "[", "grep", "egrep", "fgrep")
                at = end + 1
            elif word in FIND_TESTS or word in _FIND_ARGUMENTS:
                argument = "".join(words[at : at + 1]) if word in _FIND_ARGUMENTS else ""
                at += word in _FIND_ARGUMENTS
                self.written += [argument] if word in ("-fprint", "-fprintf", "-fls") else []
                self.restricted |= word in ("-type", "-xtype") and argument not in ("f", "d")
                matches_all = argument.strip("*./") + word in ("-name", "-path")
                self.restricted |= word in FIND_TESTS and not negated and not matches_all
            negated = word in ("!", "-not") or (negated and word in ("(", "-o", "-or", "-a", "-and"))

    def found(self, start: str) -> str:
        """Return a path for what is found below a starting point: the point itself, unless tests restrict it."""
        return start.rstrip("/") + "/" + UNKNOWN if self.restricted else start


def _find(words: list[str], stdin: str | None) -> list[NestedCommand]:
    find = Find(words)
    ran: list[NestedCommand] = []
    for command in find.commands[:MOST_ITEMS]:
        for start in _some(find.starts) if len(ran) < MOST_LINES else ():
            words = [word.replace("{}", find.found(start)) for word in command]
            ran += _command(words, is_certain=words == command)
    return ran


def _fd(words: list[str], stdin: str | None) -> list[NestedCommand]:
    """Read `fd pattern … -x command`."""
    at = next((at for at, word in enumerate(words) if word in ("-x", "--exec", "-X", "--exec-batch")), len(words))
    command = [word.replace("{}", UNKNOWN) for word in words[at + 1 :]]
    if command and UNKNOWN not in "".join(command):
        command.append(UNKNOWN)
    return _command(command, is_certain=False)


def _ssh(words: list[str], stdin: str | None) -> list[NestedCommand]:
    options, at = split_options(words, "bBcDEeFIiJLlmOopPQRSWw")
    more, at = split_options(words, "bBcDEeFIiJLlmOopPQRSWw", at=at + 1)
    ran = _ssh_settings(options + more)
    if words[at:] or has(options + more, "-N", "-W"):
        return ran + _joined(words[at:], directory="~", is_remote=True)
    return [*ran, NestedCommand("stdin", directory="~", is_remote=True)]


def _ssh_settings(options: Options) -> list[NestedCommand]:
    """Return the commands in settings of ssh: `-o ProxyCommand=…`, `-o LocalCommand=…`."""
    settings = (re.fullmatch(r"(?is)\w+?command\s*+=?+\s*+(.*)", value) for value in values(options, "-o"))
    return [NestedCommand("shell", found.group(1)) for found in settings if found]


def _scp(words: list[str], stdin: str | None) -> list[NestedCommand]:
    options, _ = arguments(words, "BbcDFiJloPRSsX")
    return _ssh_settings(options) + [NestedCommand("shell", value) for value in values(options, "-S")]


_CONTAINER_LONG = (
    "--name --volume --env --env-file --workdir --user --entrypoint --mount --network --net --publish --hostname "
    "--label --memory --cpus --platform --gpus --ipc --pid --cap-add --cap-drop --security-opt --add-host --device "
    "--restart --runtime --shm-size --tmpfs --ulimit --link --log-driver --log-opt --expose --dns --group-add "
    "--cidfile --userns --index --detach-keys --pull --stop-signal --stop-timeout --volumes-from --project-name "
    "--file --profile".split()
)


def _docker(words: list[str], stdin: str | None) -> list[NestedCommand]:
    _, at = split_options(words, "Hcfp", ("--host", "--context", "--config", "--log-level", "--file"))
    composed = program(words[0]) == "docker-compose" or words[at : at + 1] == ["compose"]
    if words[at : at + 1] in (["compose"], ["container"]):
        _, at = split_options(words, "fp", ("--file", "--project-name", "--profile", "--env-file"), at + 1)
    subcommand = "".join(words[at : at + 1])
    if subcommand not in ("run", "exec", "create"):
        return []
    options, at = split_options(words, "aceghlmpuvwe", _CONTAINER_LONG, at + 1)
    entry = value_of(options, "--entrypoint")
    command = [*([entry] if entry else []), *words[at + 1 :]]
    if composed or subcommand == "exec":
        return _command(command, directory="/", is_remote=subcommand == "exec")
    return _command(command, directory="/", contained=True, mounts=tuple(_mounts(options)))


def _mounts(options: Options) -> Iterator[tuple[str, str]]:
    for value in values(options, "-v", "--volume"):
        here, *there = value.split(":")
        yield from ((path, here) for path in there[:1])
    for value in values(options, "--mount"):
        fields = dict(field.partition("=")[::2] for field in value.split(","))
        here = fields.get("source") or fields.get("src") or ""
        path = fields.get("target") or fields.get("dst") or fields.get("destination") or ""
        yield from ((path, here) for _ in [0] if here and path)


# Settings of git whose value is a command.
GIT_COMMANDS = (
    r"(?i)core\.(?:sshcommand|editor|pager|fsmonitor|askpass|gitproxy)|pager\..+|sequence\.editor|diff\.external|"
    r"interactive\.difffilter|gpg\.(?:.+\.)?program|.+\.(?:cmd|clean|smudge|process|textconv|driver|command|helper|uploadpack)"
)
_GIT_LONG = (
    *("--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix", "--attr-source"),
    *("--shallow-file", "--list-cmds"),
)
# Options of its subcommands whose value is a shell line.
_REMOTE_LINES = "--upload-pack=LINE --receive-pack=LINE --exec=LINE"
_GIT_SUBCOMMANDS = {
    "rebase": "-x=LINE --exec=LINE",
    **dict.fromkeys(("difftool", "mergetool"), "-x=LINE --extcmd=LINE"),
    "filter-branch": " ".join(f"--{kind}-filter=LINE" for kind in "setup env tree index parent msg commit".split()),
    **dict.fromkeys(("fetch", "pull", "push", "ls-remote"), _REMOTE_LINES),
    "clone": f"-u=LINE {_REMOTE_LINES}",
    "archive": "--exec=LINE",
    "daemon": "--access-hook=LINE",
    "grep": "--open-files-in-pager=LINE -O=LINE",
    "instaweb": "--httpd=LINE -d=LINE",
    "send-email": "--sendmail-cmd=LINE --smtp-server=LINE --to-cmd=LINE --cc-cmd=LINE --header-cmd=LINE",
    "shell": "-c=LINE",
}


def git_options(words: list[str]) -> tuple[Options, int]:
    """Return the options of `git` itself, and the index of its subcommand."""
    return split_options(words, "cC", _GIT_LONG)


def _git(words: list[str], variable: Callable[[str], str]) -> list[NestedCommand]:
    ran = []
    options, at = git_options(words)
    rest = words[at:]
    settings = arguments(rest, "cbjou", ("--config",))[0] if rest[:1] == ["clone"] else []
    for name, value in options + settings:
        key, equals, setting = value.partition("=")
        if name == "--config-env":
            setting = variable(setting)
        elif name not in ("-c", "--config") or not equals:
            continue
        alias = key[len("alias.") :] if key.lower().startswith("alias.") else None
        if setting.startswith("!"):
            more = list(map(quoted, rest[1:])) if rest[:1] == [alias] else []
            ran += _joined([setting[1:], *more])
        elif alias is not None and rest[:1] == [alias]:
            ran += _joined([quoted(words[0]), setting, *map(quoted, rest[1:])])
        elif re.fullmatch(GIT_COMMANDS, key):
            ran.append(NestedCommand("shell", setting))
    return ran + (_git_subcommand(rest) if rest else [])


def _git_subcommand(words: list[str]) -> list[NestedCommand]:
    """Return what `git submodule foreach`, `git rebase --exec` … run."""
    if words[:2] == ["submodule", "foreach"]:
        return _joined(words[split_options(words, at=2)[1] :])
    if words[:2] == ["bisect", "run"]:
        return _command(words[2:])
    row = _GIT_SUBCOMMANDS.get(words[0])
    ran = _option_lines(words, synopsis(row).options) if row else []
    for prefix in _GIT_PREFIXES.get(words[0], ()):
        ran += [
            NestedCommand("shell", word[len(prefix) :].replace("% ", " "))
            for word in words[1:]
            if word.startswith(prefix)
        ]
    return ran


# Prefixes in the words of git's subcommands that are followed by a shell line.
_GIT_PREFIXES = {
    "config": ("!",),
    **dict.fromkeys(("clone", "fetch", "pull", "push", "ls-remote", "remote"), ("ext::",)),
}

# Subcommands of tmux that run a shell line, and their options with a value.
_TMUX_COMMANDS = {
    **dict.fromkeys(("new-session", "new"), "ceFnstxyf"),
    **dict.fromkeys(("new-window", "neww"), "ceFnt"),
    **dict.fromkeys(("split-window", "splitw"), "celtFp"),
    **dict.fromkeys(("respawn-pane", "respawnp", "respawn-window", "respawnw"), "cet"),
    **dict.fromkeys(("run-shell", "run"), "cdt"),
    **dict.fromkeys(("display-popup", "popup"), "bcdehsStTwxy"),
    **dict.fromkeys(("pipe-pane", "pipep"), "t"),
    **dict.fromkeys(("send-keys", "send"), "ctN"),
    **dict.fromkeys(("if-shell", "if"), "t"),
}
_TMUX_KEYS = {"Enter": "\n", "C-m": "\n", "KPEnter": "\n", "C-j": "\n", "Space": " ", "Tab": "\t", "BSpace": ""}


def _tmux(words: list[str], stdin: str | None) -> list[NestedCommand]:
    """Read what tmux runs in a terminal, and what it types into one. Its commands are separated by `;`."""
    at = split_options(words, "cfLST")[1]
    ran = []
    while at < len(words):
        end = words.index(";", at) if ";" in words[at:] else len(words)
        name, command = words[at], words[at:end]
        command = command[split_options(command, _TMUX_COMMANDS[name])[1] :] if name in _TMUX_COMMANDS else []
        at = end + 1
        if name in ("send-keys", "send"):
            ran.append(NestedCommand("shell", "".join(_TMUX_KEYS.get(word, word) for word in command)))
        elif name in ("if-shell", "if"):
            ran += [NestedCommand("shell", ("tmux " if number else "") + word) for number, word in enumerate(command)]
        else:
            ran += _command(command) if len(command) > 1 else _joined(command)
    return ran


def _screen(words: list[str], stdin: str | None) -> list[NestedCommand]:
    options, at = split_options(words, "cehpsStTX")
    command = value_of(options, "-X")
    if command == "stuff":
        return _joined([unescaped(word) for word in words[at:]])
    return _command(words[at:]) if command in (None, "screen", "exec") else []


def _salt(words: list[str], stdin: str | None) -> list[NestedCommand]:
    """Read `salt TARGET cmd.run LINE`; `salt-call` runs it on this machine."""
    at = next((at for at, word in enumerate(words) if word in ("cmd.run", "cmd.shell")), len(words))
    return _joined(words[at + 1 :], directory="~", is_remote=program(words[0]) != "salt-call")


def _bwrap(words: list[str], stdin: str | None) -> list[NestedCommand]:
    """Read the command after options with none, one or two values."""
    two = "--bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try --symlink --setenv --file".split()
    one = "--proc --dev --tmpfs --mqueue --dir --unsetenv --chdir --hostname --uid --gid --lock-file".split()
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at - 1] != "--":
        at += 3 if words[at] in two else 2 if words[at] in one else 1
    return _command(words[at:])


def _start_stop_daemon(words: list[str], stdin: str | None) -> list[NestedCommand]:
    long = ("--exec", "--startas", "--pidfile", "--user", "--chuid", "--chdir")
    options, at = split_options(words, "xapnucgdrkPIN", long)
    started = value_of(options, "-a", "--startas") or value_of(options, "-x", "--exec")
    return _command([started, *words[at:]]) if started and has(options, "-S", "--start") else []


def _nix(words: list[str], stdin: str | None) -> list[NestedCommand]:
    at = words.index("--") if words[1:2] == ["run"] and "--" in words else 0
    return _command([words[at - 1].rpartition("#")[2], *words[at + 1 :]]) if at else []


# -- makefiles, and lines of other languages that run a shell command -------------------------------------------------

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_MAKE_LONG = ("--file", "--makefile", "--directory", "--eval")


def makefile(words: list[str]) -> str | None:
    """Return the makefile that `make` is given; None if it uses the directory's."""
    return value_of(arguments(words, "fCIjloWE", _MAKE_LONG)[0], "-f", "--file", "--makefile")


def recipes(text: str) -> list[NestedCommand]:
    """Return the shell lines of a makefile's rules, and of its `$(shell …)`."""
    if text[:1] in (NETWORK, DECODED):
        return [NestedCommand("shell", text[0])]
    lines = _lines(text)
    found = [line[1:] for line in lines if line.startswith("\t")]
    found += [line.partition(";")[2] for line in lines if re.match(r"[\w.%-]++\s*+:[^;=]*+;", line)]
    found += [code for line in lines for code in re.findall(r"\$\(shell ([^)]{1,500}+)\)", line[:LONGEST_LINE])]
    return [NestedCommand("shell", line.lstrip("@-+ ").replace("$$", "$")) for line in found]


def _make(words: list[str], stdin: str | None) -> list[NestedCommand]:
    """Read `make -f -` with a makefile that is piped in, and `make --eval`."""
    options, _ = arguments(words, "fCIjloWE", _MAKE_LONG)
    ran = [each for value in values(options, "-E", "--eval") for each in recipes(value)]
    return ran + (recipes(stdin) if stdin and makefile(words) in ("-", "/dev/stdin") else [])


_EDITOR = r"\+?(?:[:\s\d,%.$]|sil(?:ent)?!?\s|exe(?:cute)?\s+[\"'])*+!(.*)"
_SQL = r"(?:.*?\\!|\s*+system\s)\s*+(.*)|(?is:.*?\b(?:to|from)\s++program\s++'([^']*+))"
# Expressions for a word, or a line on stdin, with a shell line as the last group.
_SHELL_ESCAPES = {
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "ed", "dc", "ftp", "lftp", "sftp"), _EDITOR),
    **dict.fromkeys(("gdb", "lldb"), r"\s*+(?:!|(?:platform )?shell\s|make\s|pipe\s)(.*)"),
    **dict.fromkeys(("psql", "mysql", "mariadb"), _SQL),
    "sqlite3": r"\s*+\.(?:shell|system)\s++(.*)",
    "socat": r"(?i)(?:exec|system|shell):([\"']?)(.*?)(?:\1(?:,[\w=,-]*)?)?$",
    **dict.fromkeys(("apt", "apt-get"), r"(?i).*?-invoke(?:::)?=(.+)"),
    **dict.fromkeys(("tar", "bsdtar"), "--checkpoint-action=exec=(.*)"),
    **dict.fromkeys(("hyperfine", "concurrently"), r"([^-].* .*)"),
    "less": r"\+!(.*)",
}


def _escapes(words: list[str], stdin: str | None, pattern: str) -> list[NestedCommand]:
    """Read `psql -c '\\! …'`, `sqlite3 f '.shell …'`, `ed <<< '!…'`."""
    lines = [*words[1:], *_lines(stdin or "")][:MOST_LINES]
    found = (re.match(pattern, line[:LONGEST_LINE]) for line in lines)
    return [NestedCommand("shell", each.group(each.lastindex or 0)) for each in found if each]


def _java(words: list[str], stdin: str | None) -> list[NestedCommand]:
    at = words.index("-jar") + 1 if "-jar" in words else len(words)
    return [NestedCommand("file", words[at], words[at:], "java")] if words[at:] else []


def _go(words: list[str], stdin: str | None) -> list[NestedCommand]:
    runs = words[1:2] == ["run"] and not any(re.match("--?(?:tool)?exec", word) for word in words)
    files = [word for word in words if runs and word.endswith(".go")]
    return [NestedCommand("file", file, [file], "go") for file in files[:MOST_ITEMS]]


def _crontab(words: list[str], stdin: str | None) -> list[NestedCommand]:
    if (stdin or "")[:1] in (NETWORK, DECODED):
        return [NestedCommand("shell", stdin)]
    found = _escapes([], stdin, r"\s*+(?:@\w++|(?:[\w*,/?-]++\s++){5})\s*+(.+)")
    return [each._replace(directory="~") for each in found]


_FUNCTIONS = {
    "env": _env,
    "xargs": _xargs,
    "parallel": _parallel,
    "find": _find,
    **dict.fromkeys(("fd", "fdfind"), _fd),
    **dict.fromkeys(("ssh", "autossh"), _ssh),
    **dict.fromkeys(("scp", "sftp"), _scp),
    "trap": lambda words, stdin: [NestedCommand("shell", word) for word in arguments(words)[1][:-1][:1]],
    **dict.fromkeys(("at", "batch"), lambda words, stdin: [NestedCommand("stdin")]),
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), _docker),
    "crontab": _crontab,
    "tmux": _tmux,
    "screen": _screen,
    "bwrap": _bwrap,
    **dict.fromkeys(("salt", "salt-ssh", "salt-call"), _salt),
    "start-stop-daemon": _start_stop_daemon,
    **dict.fromkeys(("powershell", "pwsh"), _powershell),
    "cmd": _cmd,
    "nix": _nix,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    "sed": _sed,
    **dict.fromkeys(("make", "gmake"), _make),
    "java": _java,
    "go": _go,
}


def resolved(path: str, directory: str, home: str) -> str:
    """Return a path as an absolute one without `..`; marks of unknown text are kept."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    if not path.startswith("/"):
        path = directory.rstrip("/") + "/" + path
    normal = os.path.normpath(path)
    return normal[1:] if normal.startswith("//") else normal
