"""The corpus of secrets and of harmless texts: read, and expanded.

Each line of `secrets.jsonl` and `harmless.jsonl` is an object: `kind`, `text`, and `secrets`, the parts of the text
that must disappear. `§1` in the text stands for the first of them, and `⟦alnum 20⟧` for 20 letters and digits, made up
by `samples`, so that no file of this repository has anything that looks like a secret of a provider.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from tenterhook.basics import secret_formats

_HERE = Path(__file__).parent
_ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "hex": "0123456789abcdef",
    "digits": string.digits,
    "x": "x",
    "base32": string.ascii_uppercase + "234567",
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
}


class Sample(NamedTuple):
    kind: str
    text: str
    secrets: tuple[str, ...]

    def left_in(self, text: str) -> list[str]:
        """Return what is left of the secrets in a text: whole ones, and parts of 10 characters."""
        pieces = [piece for secret in self.secrets for line in secret.splitlines() for piece in _pieces(line)]
        return [piece for piece in pieces if piece in text]


def samples(name: str, seed: int = 1) -> list[Sample]:
    """Return the samples of a file, with what is random in them made up by this seed."""
    made_up = random.Random(seed)
    return [_expanded(row, made_up) for row in rows(name)]


def rows(name: str) -> list[dict[str, Any]]:
    """Return the lines of a file as they are."""
    return [json.loads(line) for line in (_HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def signs() -> list[str]:
    """Return the signs of all shapes and tokens, and the programs and options of the tables."""
    found = [sign for _, given, _ in secret_formats.SHAPES for sign in given]
    found += [sign for _, given, _ in secret_formats.TOKENS for sign in given.split(" ")]
    found += [f"{programs} {options}" for _, programs, options, _ in secret_formats.OPTIONS]
    return [sign.replace("&", " ").replace("~", " ") for sign in found]


def _expanded(row: dict[str, Any], made_up: random.Random) -> Sample:
    secrets = tuple(_filled(secret, made_up) for secret in row.get("secrets", ()))
    text = _filled(row["text"], made_up)
    for number, secret in enumerate(secrets, 1):
        assert f"§{number}" in text, row
        text = text.replace(f"§{number}", secret)
    return Sample(row["kind"], text, secrets)


def _filled(template: str, made_up: random.Random) -> str:
    return re.sub("⟦(\\w+)(?: (\\d+))?⟧", lambda found: _made(found[1], int(found[2] or 0), made_up), template)


def _made(what: str, length: int, made_up: random.Random) -> str:
    if what == "uuid":
        return str(UUID(int=made_up.getrandbits(128), version=4))
    if what == "jwt":
        header = json.dumps({"alg": "HS256", "typ": "JWT"}, separators=(",", ":"))
        claims = json.dumps({"sub": _made("digits", 10, made_up), "iat": 1767225600}, separators=(",", ":"))
        parts = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in (header, claims)]
        return ".".join((*parts, _made("url", 43, made_up)))
    if what in ("pem", "pemline"):
        lines = [_made("b64", 64, made_up) for _ in range(length)]
        return ("\n" if what == "pem" else "\\n").join(lines)
    if what == "words":
        return " ".join(
            made_up.choices(("abandon", "ripple", "orbit", "velvet", "canyon", "lumber", "sketch"), k=length)
        )
    if what == "b64url":
        return _made("b64", length, made_up).replace("+", "%2B").replace("/", "%2F")
    return "".join(made_up.choices(_ALPHABETS[what], k=length))


def _pieces(secret: str) -> list[str]:
    return [secret, *(secret[at : at + 10] for at in range(0, len(secret) - 10, 5))]
