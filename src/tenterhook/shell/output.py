"""The output of programs, where their arguments and their input decide it."""

from __future__ import annotations

import re

from .syntax import GENERATED, UNKNOWN, unescaped

LONGEST = 200_000  # characters of an output that is kept; a longer one is unknown

LONGEST_SCRIPT = 2_000  # characters of a script of `sed` or `tr`

DECODERS = frozenset(
    "base64 base32 b64decode basenc xxd openssl uudecode gunzip zcat bzcat xzcat zstdcat gzip bzip2 xz zstd".split()
)


# They print a person's own secrets, which is ordinary unless the output is run.
DECRYPTERS = ("gpg", "gpg2", "age", "sops")
FETCHERS = frozenset("curl wget http https xh nc ncat netcat telnet socat lynx w3m aria2c aws gsutil ftp".split())


FILTERS = frozenset(
    "sed awk gawk mawk nawk tr rev cut grep egrep fgrep rg head tail sort uniq nl jq yq fold paste column tac pv "
    "expand iconv dd strings".split()
)


def decodes(name: str, rest: list[str]) -> bool:
    if name in ("base64", "base32"):
        return any(word in ("--decode", "-D") or re.match(r"-[a-zA-Z]*d", word) for word in rest)
    if name == "xxd":
        return any(re.match(r"-[a-z]*r", word) for word in rest)
    if name == "openssl":
        return any(word in ("-d", "-A") for word in rest)
    if name in ("gzip", "bzip2", "xz", "zstd"):
        return any(re.match(r"--de|-[a-z]*d", word) for word in rest)
    return True


def decoded(name: str, text: str) -> str:
    """Return what a decoder prints for a known text; nothing if it is not valid."""
    import binascii

    try:
        data = text.strip().encode("ascii")
        return (binascii.unhexlify(data) if name == "xxd" else binascii.a2b_base64(data)).decode() if data else ""
    except ValueError:
        return ""


def rewritten(name: str, words: list[str], text: str) -> str:
    """Return what a filter prints for a known text, or the mark of generated text."""
    operands = [word for word in words if not word.startswith("-")]
    if name == "rev":
        return "\n".join(line[::-1] for line in text.split("\n"))
    if name == "tac":
        return "\n".join(reversed(text.strip("\n").split("\n"))) + "\n"
    if name == "tr":
        first = _characters("".join(operands[:1]))
        if any(re.match(r"-[a-zA-Z]*d", word) for word in words):
            return text.translate(dict.fromkeys(map(ord, first)))
        second = _characters("".join(operands[1:2]))
        if second and len(words) == len(operands):
            table = {ord(char): second[min(at, len(second) - 1)] for at, char in enumerate(first)}
            return text.translate(table)
    if name == "sed" and len(words) == len(operands) == 1:
        found = re.fullmatch(r"s(.)((?:\\.|(?!\1).)*+)\1((?:\\.|(?!\1).)*+)\1(g?)", operands[0][:LONGEST_SCRIPT])
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
    escapes = False
    while words and re.fullmatch(r"-[neE]+", words[0]):
        escapes = escapes or "e" in words[0]
        words = words[1:]
    text = " ".join(words)
    return (unescaped(text) if escapes else text) + "\n"


def printf(words: list[str]) -> str:
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

    printed: list[str] = []
    size = 0
    while size <= LONGEST:
        before = used
        printed.append(re.sub(r"%[-+ #0]*+[0-9]*+(?:\.[0-9]*+)?([a-zA-Z%])", fill, form))
        size += len(printed[-1])
        if used >= len(values) or used == before:
            return "".join(printed)
    return UNKNOWN
