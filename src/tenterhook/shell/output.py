"""What programs print, if their arguments, their input and the files that the line wrote determine it."""

from __future__ import annotations

import os

from ..basics import lazy_re as re
from . import programs
from .syntax import DECODED, GENERATED, NETWORK, PATTERNS, STAR, UNKNOWN, unescaped

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from .state import ShellState
    from .walk import Walk

LONGEST = 200_000  # characters of an output that is kept; a longer one is unknown
LONGEST_SCRIPT = 2_000  # characters of a script of `sed` or `tr`
# For each decoder, an expression for the option that makes it decode; empty if it always does.
_DECODERS = {
    **dict.fromkeys(("base64", "base32"), r"-[a-zA-Z]*d|--decode$|-D$"),
    "xxd": r"-[a-z]*r",
    "openssl": r"-[dA]$",
    **dict.fromkeys(("gzip", "bzip2", "xz", "zstd"), r"--de|-[a-z]*d"),
    **dict.fromkeys("b64decode basenc uudecode gunzip zcat bzcat xzcat zstdcat".split(), ""),
}
# They print the user's own secrets, which is normal unless the output is executed.
DECRYPTERS = ("gpg", "gpg2", "age", "sops")
FILTERS = frozenset(
    "sed awk gawk mawk nawk tr rev cut grep egrep fgrep rg head tail sort uniq nl jq yq fold paste column tac pv "
    "expand iconv dd strings".split()
)


def content(walk: Walk, target: str, state: ShellState) -> str:
    """Return the text of a file if the line wrote it, else the mark of unknown text or of the network."""
    if target.startswith(("/dev/tcp/", "/dev/udp/")):
        return NETWORK
    text = walk.text(target, state)
    return UNKNOWN if text is None else text


def printed(walk: Walk, name: str, words: list[str], state: ShellState, text: str) -> str:
    """Return what a program with the input `text` prints, with marks for unknown text; record the files it writes."""
    rest = words[1:]
    operands = [word for word in rest if not word.startswith("-")]
    first = "".join(operands[:1])
    match name:
        case "echo":
            walk.budget.spend(sum(word.count("\\") for word in rest) // 2)
            return echo(rest)
        case "cat" | "tac" | "bat" | "sponge":
            texts = [content(walk, file, state) for file in operands] or [text]
            walk.budget.spend_on(sum(map(len, texts)) if len(texts) > 1 else 0)
            return "".join(texts) if len(texts) == 1 or sum(map(len, texts)) <= LONGEST else UNKNOWN
        case "tee":
            state.files.update((walk.path(word, state), text) for word in operands)
            return text
        case "ls":
            return "\n".join(word for word in operands if any(mark in word for mark in PATTERNS)) or STAR
        case "find":
            walk.budget.spend(len(words) // 4)
            find = programs.Find(words)
            end = "\0" if "-print0" in rest else "\n"
            names = [rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("-name", "-iname")]
            last = "/" + names[0] if len(names) == 1 and programs.consists_of(names[0], "_.-") else ""
            return end.join(find.found(start) + last for start in find.starts) + end
        case "cp" | "mv" | "install" | "ln":
            source = state.files.get(walk.path(first, state))
            target = walk.path(operands[1], state) if len(operands) == 2 else ""
            if target and source is not None:
                state.files[target] = source
            elif target:  # a program under another name: `cp /bin/rm x; ./x -rf ~`
                state.aliases[target] = programs.quoted(first)
            return ""
        case "pwd":
            return state.directory
        case "whoami":
            return walk.values("USER", state)[0]
        case "mktemp":
            return "/tmp/" + UNKNOWN  # noqa: S108  # what a program would make there
        case "printenv":
            return walk.values(first, state)[0] if first else UNKNOWN
        case "dirname":
            return os.path.dirname(first.rstrip("/")) or ("/" if first.startswith("/") else ".")
        case "basename":
            return os.path.basename(first.rstrip("/"))
        case "which":
            return first
        case "command" | "type" if rest[:1] in (["-v"], ["-p"], ["-P"]):
            return "".join(rest[1:2])
        case "realpath" | "readlink":
            return walk.path(first, state) if first else UNKNOWN
        case "git" if rest[:1] == ["rev-parse"]:
            return {"--show-toplevel": state.directory, "--git-dir": ".git"}.get("".join(rest[1:2]), UNKNOWN)
        case "git" if rest[:1] == ["ls-files"]:
            return UNKNOWN + STAR
        case "git" if "config" in rest:
            _, at = programs.git_options(words)
            operands = programs.arguments(words[at:], "f", ("--file",))[1]
            if len(operands) == 2 and operands[0].startswith("alias."):
                setting = operands[1].removeprefix("!")
                name = "git " + operands[0].removeprefix("alias.")
                state.aliases[name] = setting if setting != operands[1] else "git " + setting
            return ""
        case "python" if "-m base64 -d" in " ".join(rest):
            return DECODED
        case "scp" | "rsync" if any(":" in word.partition("/")[0] for word in operands[-2:-1]):
            inside = f"{operands[-1]}/{operands[-2].rpartition('/')[2].rpartition(':')[2]}"  # if it is a directory
            state.files.update((walk.path(target, state), NETWORK) for target in (operands[-1], inside))
            return ""
        case "docker" | "podman" if any(word.startswith(("-f", "--filter")) for word in rest):
            return "some" + UNKNOWN
        case "tar" | "bsdtar" | "unzip" | "7z":
            return _unpacked(walk, words, state, text)
        case "true" | "false" | ":" | "mkdir" | "touch" | "rm" | "chmod" | "cd" | "sleep":
            return ""
    if name in _DECODERS:
        decodes = any(re.match(_DECODERS[name], word) for word in (*rest, ""))
        return NETWORK if NETWORK in text else DECODED + decoded(name, text) if decodes else UNKNOWN
    if name in FILTERS:
        walk.budget.spend_on(4 * len(text))
        return filtered(name, rest, text)
    return _fetched(walk, name, words, state)


# Programs that download: letters of options with a value; the options for the file, its directory, and a log.
DOWNLOADING = {
    "curl": ("oHXdFuAbceEKmrTxyYzCDPQtUw", ("-o", "--output"), ("--output-dir",), ("-D", "--dump-header")),
    "wget": ("OPoaeiUtTwQ", ("-O", "--output-document"), ("-P", "--directory-prefix"), ("-o", "-a")),
    **dict.fromkeys(("aria2c", "axel"), ("doixsjkmn", ("-o", "--out", "--output"), ("-d", "--dir"), ())),
    **dict.fromkeys(("http", "https", "xh", "fetch", "lwp-download"), ("o", ("-o", "--output"), (), ())),
}
_DOWNLOAD_LONG = ("--header", "--data", "--request", "--user", "--form", "--url")


def downloaded(words: list[str]) -> list[str]:
    """Return the files that a program downloads to; none if it prints. The default name is the end of the URL."""
    name = programs.program(words[0])
    short, named, directories, _ = DOWNLOADING[name]
    options, operands = programs.arguments(words, short, (*named, *directories, *_DOWNLOAD_LONG))
    files = [value for option, value in options if option in named]
    if name == "lwp-download":
        files = operands[1:2]
    prints = name in ("curl", "http", "https", "xh")
    if programs.has(options, "-O", "--remote-name", "--remote-name-all") if prints else not files:
        addresses = [value for option, value in options if option == "--url"] + operands
        files += [re.split(r"[?#]", address)[0].rstrip("/").rpartition("/")[2] for address in addresses]
    directory = programs.value_of(options, *directories)
    return [f"{directory}/{file}" if directory and file[:1] != "/" else file for file in files]


def _fetched(walk: Walk, name: str, words: list[str], state: ShellState) -> str:
    """Return what a download prints; record the files that it writes."""
    if name in ("aws", "gsutil"):
        return NETWORK if words[-1] == "-" or "cat" in words else UNKNOWN
    if name not in DOWNLOADING:
        return NETWORK if name in _CONNECTED else UNKNOWN
    files = downloaded(words)
    walk.has_downloaded = walk.has_downloaded or bool(files)
    state.files.update((walk.path(file, state), NETWORK) for file in files)
    # `--no-remote-name` excepts addresses from `--remote-name-all`
    return NETWORK if not files or {"-", "/dev/stdout"} & {*files} or "--remote-name-all" in words else ""


_CONNECTED = frozenset(
    "nc ncat netcat telnet socat lynx w3m links elinks lwp-request ftp".split()
)  # they print what comes over the network


def _unpacked(walk: Walk, words: list[str], state: ShellState, text: str) -> str:
    """Record where a downloaded archive is unpacked."""
    archives = [text, *(state.files.get(walk.path(word, state), "") for word in words[1:])]
    if any(NETWORK in each for each in archives):
        options, _ = programs.arguments(words, "Cdfo", ("--directory",))
        into = programs.value_of(options, "-C", "--directory", "-d", "-o") or "."
        walk.unpacked.append(walk.path(into, state).rstrip("/") + "/")
    return UNKNOWN


def decoded(name: str, text: str) -> str:
    """Return what a decoder prints for a known text; empty if the text is not valid."""
    import binascii

    try:
        data = text.strip().encode("ascii")
        return (binascii.unhexlify(data) if name == "xxd" else binascii.a2b_base64(data)).decode() if data else ""
    except ValueError:
        return ""


def filtered(name: str, words: list[str], text: str) -> str:
    """Return what a filter prints; for input with a mark of its origin, that mark."""
    for mark in (NETWORK, DECODED, GENERATED):
        if mark in text:
            return mark
    match name:
        case "grep" | "egrep" | "fgrep" | "rg":
            inverted = any("v" in programs.letters(word) or word.startswith("--invert") for word in words)
            return (text or UNKNOWN) if STAR not in text or inverted else UNKNOWN
        case "head" | "tail":
            return text if STAR not in text else UNKNOWN
        case "sort" | "uniq" | "nl" | "column" | "pv" | "iconv":
            return text
        case "awk" | "gawk" | "mawk" | "nawk" if any("BEGIN" in word for word in words):
            return GENERATED
    return UNKNOWN if not text.strip() or UNKNOWN in text or STAR in text else rewritten(name, words, text)


def rewritten(name: str, words: list[str], text: str) -> str:
    """Return what a filter prints for a known text, or the mark of generated text."""
    operands = [word for word in words if not word.startswith("-")]
    match name:
        case "rev":
            return "\n".join(line[::-1] for line in text.split("\n"))
        case "tac":
            return "\n".join(reversed(text.strip("\n").split("\n"))) + "\n"
        case "tr":
            first, second = ("".join(map(_characters, operands[at : at + 1])) for at in (0, 1))
            if any("d" in programs.letters(word) for word in words):
                return text.translate(dict.fromkeys(map(ord, first)))
            if second and len(words) == len(operands):
                return text.translate({ord(char): second[min(at, len(second) - 1)] for at, char in enumerate(first)})
        case "sed" if len(words) == len(operands) == 1:
            found = re.fullmatch(
                r"s(.)((?:\\.|(?!\1)[^\\\n])*)\1((?:\\.|(?!\1)[^\\\n])*)\1(g?)", operands[0][:LONGEST_SCRIPT]
            )
            if found and not re.search(r"[.*^$\[\]&\\]", found.group(2) + found.group(3)):
                growth = text.count(found.group(2)) * len(found.group(3)) if found.group(2) else LONGEST
                return text.replace(found.group(2), found.group(3)) if growth < LONGEST else GENERATED
    return GENERATED


def _characters(spelt: str) -> str:
    """Return the characters of a set such as `a-z0-9`."""
    return re.sub(
        r"(.)-(.)",
        lambda found: "".join(map(chr, range(ord(found.group(1)), min(ord(found.group(2)), 0x2FF) + 1))),
        unescaped(spelt[:LONGEST_SCRIPT]).replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z"),
    )


def echo(words: list[str]) -> str:
    """Return what `echo` prints."""
    escapes = False
    while words and programs.is_cluster(words[0], "neE"):
        escapes = escapes or "e" in words[0]
        words = words[1:]
    text = " ".join(words)
    return (unescaped(text) if escapes else text) + "\n"


def printf(words: list[str]) -> str:
    """Return what `printf` prints: its format is used again until no argument is left."""
    if words[:1] == ["--"]:
        words = words[1:]
    if not words or words[0] == "-v":
        return ""
    form, values = unescaped(words[0]), words[1:]
    used = 0

    def fill(found: re.Match[str]) -> str:
        nonlocal used
        if found.group(1) == "%":
            return "%"
        used += 1
        value = values[used - 1] if used <= len(values) else ""
        return unescaped(value) if found.group(1) == "b" else value

    lines: list[str] = []
    size = 0
    while size <= LONGEST:
        before = used
        lines.append(re.sub(r"%[-+ #0]*+[0-9]*+(?:\.[0-9]*+)?([a-zA-Z%])", fill, form))
        size += len(lines[-1])
        if used >= len(values) or used == before:
            return "".join(lines)
    return UNKNOWN
