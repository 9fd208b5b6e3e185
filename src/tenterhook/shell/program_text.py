"""Which arguments of a command are code, or text in its program's own language.

Placeholders are not allowed there, and an approve rule does not cover such an option unless it matches it.
"""

from __future__ import annotations

from ..basics import lazy_re as re
from .programs import (
    GIT_COMMANDS,
    LANGUAGES,
    LONGEST_LINE,
    SHELLS,
    arguments,
    git_options,
    is_option,
    nested_commands,
    program,
)

# Programs that take text in their own language: options with a value (letters, names); the options whose value is such
# text, or a file with it; the operands that are (the first only without such an option; None: all arguments); whether
# stdin is.
_SCRIPT_FILE = ("-f", "--file", "--from-file")
_SQL_LONG = ("--command", "--dbname", "--execute", "--file", "--query", "--set", "--variable")
_SQL_TEXT = ("-c", "--command", "-e", "--execute", "-q", "--query", "-Q", "--init-command", *_SCRIPT_FILE)
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
    **dict.fromkeys(_DATABASES, ("qQ", _SQL_LONG, (*_SQL_TEXT, "--eval"), slice(0), True)),
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "ed"), ("cSuT", ("--cmd",), _EDITING, slice(0), True)),
    **dict.fromkeys(("gdb", "lldb"), ("x", (), _DEBUGGING, slice(0), True)),
    **dict.fromkeys(_READ_TEXT, ("e", (), ("-e",), slice(0), True)),
    "ansible": ("a", ("--args",), ("-a", "--args"), slice(0), False),
    **dict.fromkeys("make gmake tmux screen let mlr eval hyperfine".split(), ("", (), (), None, False)),
    **dict.fromkeys((".", "source"), ("", (), (), slice(1), False)),
}
_JQ_VALUES = {"--arg": 3, "--argjson": 3, "--slurpfile": 3, "--rawfile": 3, "--indent": 2}


def texts(words: list[str], stdin: str | None) -> list[str]:
    """Return the arguments and input in a program's own language: sed scripts, SQL …, and the names of script files.

    `programs.nested_commands` returns shell code and code in general languages.
    """
    name = program(words[0])
    found = [each.value for each in nested_commands(words, stdin) if each.kind == "file"]
    if name == "perl" and any(re.match(r"-[A-Za-z0-9]*[np]", word) for word in words[1:]):
        found += words[1:]  # perl runs operands that end with `|`
    if name not in _TEXT:
        return found
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
    return [*found, *given, *([stdin] if reads_stdin and stdin else ())]


def _without_jq_values(words: list[str]) -> list[str]:
    """Return the words of jq without the values for its program's variables."""
    found: list[str] = []
    at = 0
    while at < len(words) and words[at] not in ("--args", "--jsonargs"):
        if words[at] not in _JQ_VALUES:
            found.append(words[at])
        at += _JQ_VALUES.get(words[at], 1)
    return found


# Options for code, or for settings and files with code, which `nested_commands` does not return; shell lines are in
# `wrappers`. A row is for a program or a subcommand. An option that ends with `=` or `:` is the beginning of a word.
_DIFF = "--ext-diff --textconv"
_NODE_CODE = "--script-shell --node-options --userconfig --globalconfig"
_COMPILER = "-wrapper -B -fplugin= -specs= --specs -fuse-ld= -Xclang"
CODE_OPTIONS = {
    "git": "-c --config-env --exec-path",
    **dict.fromkeys((f"git {name}" for name in "diff log show format-patch stash whatchanged".split()), _DIFF),
    **dict.fromkeys(("git blame", "git grep", "git cat-file"), "--textconv"),
    "git clone": "-c --config --template",
    "git init": "--template",
    "git hook": "run",
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn"), _NODE_CODE),
    **dict.fromkeys(("node", "nodejs", "bun"), "-r --require --import --loader --experimental-loader"),
    "python": "-m",
    "ruby": "-r",
    "perl": "-M -m -I",
    "php": "-d -c",
    **dict.fromkeys(("lua", "luajit"), "-l"),
    "java": "-jar -cp -classpath --class-path -javaagent: -agentlib: -agentpath: -XX:OnError=",
    "emacs": "-l --load",
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), "-f --file -E --exec -i --include -l --load"),
    "sed": "-f --file",
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _COMPILER),
    **dict.fromkeys(("make", "gmake"), "SHELL= MAKEFLAGS= --eval -E"),
    "cargo": "--config",
    "go": "-vettool -toolexec -exec",
    "pytest": "-p --pdbcls",
    "eslint": "-c --config --rulesdir --plugin --parser --resolve-plugins-relative-to",
    "prettier": "--plugin --config",
    **dict.fromkeys(("jest", "webpack", "vite", "rollup"), "-c --config"),
    "rake": "-f --rakefile -r --require",
    "pandoc": "-L --lua-filter -d --defaults --template --pdf-engine",
    "curl": "-K --config",
    "wget": "-e --execute --config --use-askpass",
    **dict.fromkeys(("ssh", "scp", "sftp", "autossh"), "-o -F"),
    **dict.fromkeys(("vi", "vim", "nvim", "ex"), "-S -u -s"),
    **dict.fromkeys(("gdb", "lldb"), "-x --command"),
    **dict.fromkeys(("jq", "gojq"), "-L"),
    "openssl": "-engine -provider -provider-path",
    "less": "-k --lesskey-file --lesskey-src --lesskey-content",
    "hash": "-p",
    "enable": "-f",
    "complete": "-C -F",
    "bind": "-x -f",
}
# Options that make a program work on another project, and run its code.
_ELSEWHERE = {
    **dict.fromkeys(("npm", "pnpm", "yarn"), "--prefix -C --dir --cwd"),
    **dict.fromkeys(("make", "gmake"), "-C --directory -f --file --makefile"),
    "cargo": "-C --manifest-path",
}
_AWK_RUNS = r"\bsystem\s*+\(|\bgetline\b|\|\s*+&|\bprintf?\b[^;}\n]*(?:>|(?<!\|)\|(?!\|))|@\s*+(?:load|include)"


def code_options(words: list[str], *, elsewhere: bool = False) -> list[tuple[int, int]]:
    """Return the first and last index of each option for code or, with `elsewhere`, for another project.

    Also of awk programs that run others, and of settings of `git config` whose value is a command.
    """
    name = program(words[0])
    at = (
        git_options(words)[1] if name == "git" else next((at for at in range(1, len(words)) if words[at][:1] != "-"), 0)
    )
    end = words.index("--") if "--" in words else len(words)
    rows = [(CODE_OPTIONS.get(name, ""), at if name == "git" else end)]
    rows += [(CODE_OPTIONS.get(f"{name} {words[at]}", ""), end)] if 0 < at < len(words) else []
    rows += [(_ELSEWHERE.get(name, ""), end)] if elsewhere else []
    found = []
    for row, last in rows:
        names = row.split()
        found += [
            (n, n + (words[n] in names)) for n in range(1, last) if any(is_option(words[n], each) for each in names)
        ]
    if name == "python":
        found += [(n, n + (words[n][-1] == "m")) for n in range(1, at) if re.match(r"-[A-Za-z]+m", words[n])]
    if name in ("awk", "gawk", "mawk", "nawk"):
        found += [(n, n) for n in range(1, len(words)) if re.search(_AWK_RUNS, words[n][:LONGEST_LINE])]
    if words[at : at + 1] == ["config"] and name == "git":
        found += [(n, n + 1) for n in range(at + 1, len(words) - 1) if re.fullmatch(_GIT_CODE, words[n])]
    return found


# Settings of git that decide what runs.
_GIT_CODE = (
    rf"{GIT_COMMANDS}|alias\..+|core\.hookspath|include(?:if\..+)?\.path|init\.templatedir|url\..+\.insteadof|"
    r"uploadpack\.packobjectshook|protocol\..+\.allow|remote\..+\.vcs"
)


def runs_stdin(words: list[str]) -> bool:
    """Whether a command runs its input as code."""
    name = program(words[0])
    return (name in _TEXT and _TEXT[name][4]) or any(each.kind == "stdin" for each in nested_commands(words, None))


def is_interpreter(word: str) -> bool:
    """Whether a word is the name of a shell or of a language's interpreter."""
    return program(word) in SHELLS or program(word) in LANGUAGES
