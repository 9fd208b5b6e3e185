"""Determines whether a hook that exited with 2 certainly ran none of its own code.

An interpreter that does not find its script exits with 2, and so does a shell that cannot parse a line: neither is a
block. Checked with the file system and the shell's parser, not by the hook's output; in doubt, exit 2 is a block.
"""

from __future__ import annotations

import os

from .process_runner import Command, run_stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Programs that exit with 2 if their script does not exist, with the options that do not change that.
_SHELLS = ("sh", "dash", "ash")
_RUNNERS = {"python": "BEIOPSbdqsuv", "perl": "Tw", **dict.fromkeys(_SHELLS, "eux")}
_MAY_BEGIN = ("cd", "env", "exec")
_REDIRECTIONS = (" 2>&1", " >&2", " 1>&2", " 2>/dev/null", " >/dev/null")
_SET_BY_SHELLS = frozenset(("PWD", "OLDPWD", "IFS", "SHLVL", "LINENO", "PPID", "OPTIND", "RANDOM", "SECONDS", "_"))
_CHANGES_PARSING = (b"SHELLOPTS", b"BASHOPTS", b"BASH_ENV", b"BASH_COMPAT", b"POSIXLY_CORRECT")
_ESCAPED_IN_QUOTES = '$`"\\'
_MOST_LINES = 40
_LONGEST_PARSE = 5.0  # seconds
_CLOCK_TICK = 0.02  # seconds, with room to spare


def missing_script(line: str, work_dir: str, env: Mapping[bytes, bytes]) -> str | None:
    """Return why a shell line cannot start, if all it does is run a script that does not exist; else None."""
    first = line.split(None, 1)[:1]
    if not first or not (_runner(first[0]) or os.path.basename(first[0]) in _MAY_BEGIN):
        return None
    try:
        words = list(_words(line, env))
    except ValueError:  # not a plain command
        return None
    directory = work_dir
    if words[0] == "cd" and words[2:3] == ["&&"]:
        if words[1].startswith("-") or ".." in words[1].split("/") or b"CDPATH" in env:
            return None
        directory = os.path.join(directory, words[1])
        if not os.path.isdir(directory):
            return f"cannot start: no such directory: {directory}"
        del words[:3]
    for program in ("exec", "env"):
        if words and words[0] in (program, f"/usr/bin/{program}"):
            del words[0]
    runner = _runner(words.pop(0)) if words and "&&" not in words else None
    if runner is None:
        return None
    while words and words[0].startswith("-"):
        if len(words[0]) == 1 or set(words.pop(0)[1:]) - set(_RUNNERS[runner]):
            return None
    if not words or not words[0]:
        return None
    script = os.path.join(directory, words[0])
    if os.access(script, os.R_OK):
        return None
    if runner in _SHELLS and "/" not in words[0]:  # some shells look on the PATH as well
        folders = os.fsdecode(env.get(b"PATH", b"")).split(":")
        if any(os.path.lexists(os.path.join(folder, words[0])) for folder in folders):
            return None
    return f"cannot start: {'cannot read' if os.path.lexists(script) else 'no such script'}: {script}"


def _runner(word: str) -> str | None:
    """Return the kind of a known interpreter that a word starts, or None."""
    folder, _, name = word.rpartition("/")
    kind = name.rstrip("0123456789.")
    return kind if kind in _RUNNERS and (not folder or os.path.isabs(word)) else None


def _words(line: str, env: Mapping[bytes, bytes]) -> Iterator[str]:
    """Yield the words of a plain command and `&&`, with variables replaced. Raises `ValueError` for anything else."""
    line = line.strip(" \t\n")
    while any(line.endswith(each) for each in _REDIRECTIONS):
        line = next(line.removesuffix(each) for each in _REDIRECTIONS if line.endswith(each)).rstrip(" \t")
    word: str | None = None
    quote, at = "", 0
    while at < len(line):
        char = line[at]
        at += 1
        if quote == "'" or (quote and char == quote):
            if char == quote:
                quote = ""
            else:
                word = f"{word}{char}"
        elif char == "$":
            name, at = _name(line, at)
            value = os.fsdecode(env[name.encode()]) if name.encode() in env and name not in _SET_BY_SHELLS else None
            if value is None or (not quote and (not value or set(value) & set(" \t\n*?[\\"))):
                raise ValueError(name)
            word = f"{word or ''}{value}"
        elif char == "\\":
            follows = line[at : at + 1]
            at += 1
            if not follows or follows == "\n":
                raise ValueError(line)
            is_escaped = not quote or follows in _ESCAPED_IN_QUOTES
            word = f"{word or ''}{'' if is_escaped else char}{follows}"
        elif char == "`":
            raise ValueError(line)
        elif quote:
            word = f"{word}{char}"
        elif char in "'\"":
            quote, word = char, word or ""
        elif char in " \t":
            if word is not None:
                yield word
            word = None
        elif char == "&" and word is None and line[at : at + 2] in ("& ", "&\t"):
            yield "&&"
            at += 1
        elif char == "~" and word is None and line[at : at + 1] == "/" and b"HOME" in env:
            word = os.fsdecode(env[b"HOME"])
        elif char == "#" and word is None and "\n" not in line[at:]:  # a comment to the end
            return
        elif char in "\n;&|<>()*?[]{}~" or (char == "#" and word is None):
            raise ValueError(line)
        else:
            word = f"{word or ''}{char}"
    if quote:
        raise ValueError(line)
    if word is not None:
        yield word


def _name(line: str, at: int) -> tuple[str, int]:
    """Return the name of a variable, with braces or without, and the position after it."""
    end = begin = at + (line[at : at + 1] == "{")
    while end < len(line) and line[end].isascii() and (line[end].isalnum() or line[end] == "_"):
        end += 1
    name, braced = line[begin:end], begin > at
    if not name.isidentifier() or (braced and line[end : end + 1] != "}"):
        raise ValueError(line)
    return name, end + braced


def refused_by_shell(command: Command, since: float) -> str | None:
    """Return why nothing of a command that exited with 2 has run: its shell cannot parse the first command. Else None.

    `since` is a `time.time` before its start. A shell runs each command as soon as it has parsed it, so nothing has run
    only if no prefix of the text can be parsed. An `exit 2` before a syntax error is a block.
    """
    if any(name in command.env for name in _CHANGES_PARSING):
        return None
    shell, text = _shell_and_text(command.argv, command.env, since)
    if shell is None or text is None or _parses(shell, text, command):
        return None
    lines = text.split("\n")
    begins = next((number for number, line in enumerate(lines) if line.strip() and line.lstrip()[0] != "#"), 0)
    if len(lines) - begins > _MOST_LINES:
        return None
    if any(_parses(shell, "\n".join(lines[:end]), command) for end in range(begins + 1, len(lines))):
        return None
    is_line = len(command.argv) > 2 and command.argv[1] == "-c"
    return "the shell refuses the command" if is_line else "the shell refuses the script"


def _shell_and_text(argv: tuple[str, ...], env: Mapping[bytes, bytes], since: float) -> tuple[str | None, str | None]:
    """Return the shell that runs a command, and the script; None for both if it is not a known shell."""
    if len(argv) == 3 and argv[1] == "-c":
        return argv[0], argv[2]
    from ..formats import entry_points

    scripts, _, _ = argv[-1].rpartition("/")
    try:
        changed = max(os.stat(path).st_ctime for path in (argv[-1], scripts, os.path.dirname(scripts)))
        if changed > since - _CLOCK_TICK:  # what has run may not be what is there now
            return None, None
        with open(argv[-1], "rb") as file:
            data = file.read()
    except OSError:
        return None, None
    first = data.partition(b"\n")[0]
    words = list(argv[:-1]) or entry_points.named_program(first)
    if len(words) > 1 and words[1].strip("-eux"):
        return None, None
    shell = words[0] if words else ""
    if os.path.basename(shell) not in ("sh", "dash", "bash"):
        return None, None
    if not os.path.isabs(shell):
        import shutil

        shell = shutil.which(shell, path=os.fsdecode(env.get(b"PATH", b""))) or ""
    return shell or None, data.decode("utf-8", "surrogateescape")


def _parses(shell: str, text: str, command: Command) -> bool:
    """Whether a shell can parse a text, in the environment of a command. True if the shell cannot be run."""
    asked = command._replace(argv=(shell, "-n", "-c", text), payload=b"", timeout=_LONGEST_PARSE)
    (ended,) = run_stage([asked])
    return ended.exit_code in (0, None)
