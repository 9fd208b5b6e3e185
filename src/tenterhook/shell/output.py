"""What programs print, where that can be told from their arguments and their input."""

from __future__ import annotations

import re

from .syntax import GENERATED, unescaped

DECODERS = frozenset("base64 base32 b64decode basenc xxd openssl uudecode gunzip zcat bzcat xzcat zstdcat gzip bzip2 xz zstd".split())


# What they print is a person's own secret, as a rule; only to run it at once is odd.
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
    """What a decoder makes of a text that is known; nothing if it cannot be told."""
    import binascii

    try:
        data = text.strip().encode("ascii")
        return (binascii.unhexlify(data) if name == "xxd" else binascii.a2b_base64(data)).decode() if data else ""
    except ValueError:
        return ""


def rewritten(name: str, words: list[str], text: str) -> str:
    """What a program makes of a text that is known; a mark where that would take the program itself."""
    operands = [word for word in words if not word.startswith("-")]
    if name == "rev":
        return "\n".join(line[::-1] for line in text.split("\n"))
    if name == "tac":
        return "\n".join(reversed(text.strip("\n").split("\n"))) + "\n"
    if name == "tr":
        first = _characters("".join(operands[:1]))
        if any(re.match(r"-[a-zA-Z]*d", word) for word in words):
            return "".join(char for char in text if char not in first)
        second = _characters("".join(operands[1:2]))
        if second and len(words) == len(operands):
            table = {ord(char): second[min(at, len(second) - 1)] for at, char in enumerate(first)}
            return text.translate(table)
    if name == "sed" and len(words) == len(operands) == 1:
        found = re.fullmatch(r"s(.)((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1(g?)", operands[0])
        if found and not re.search(r"[.*^$\[\]&\\]", found.group(2) + found.group(3)):
            return text.replace(found.group(2), found.group(3))
    return GENERATED


def _characters(spelt: str) -> str:
    """`a-z0-9` as the characters it stands for."""
    return re.sub(
        r"(.)-(.)",
        lambda found: "".join(map(chr, range(ord(found.group(1)), ord(found.group(2)) + 1))),
        unescaped(spelt).replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z"),
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
    form, values = unescaped(words[0]), list(words[1:])

    def fill(found: re.Match[str]) -> str:
        if found.group(1) == "%":
            return "%"
        value = values.pop(0) if values else ""
        return unescaped(value) if found.group(1) == "b" else value

    printed = ""
    while True:
        given = len(values)
        printed += re.sub(r"%[-+ #0]*\d*(?:\.\d+)?([a-zA-Z%])", fill, form)
        if not values or len(values) == given:
            return printed
