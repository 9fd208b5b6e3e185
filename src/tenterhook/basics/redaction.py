"""Redacts secrets: keys, tokens, private keys, passwords in URLs, and values beside the name of a secret.

A secret is replaced with `[redacted: kind]`. Most texts contain none, so a cheap search for signs of one comes before
importing `re` and compiling expressions. Everything takes linear time, since an agent waits for it and a model may have
written the text. The formats of secrets are in `secret_formats` and `secret_values`.
"""

from __future__ import annotations

from . import secret_formats
from .named_tuples import NamedTuple, cached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from re import Pattern
    from typing import Any

    from .secret_values import Found

    Finder = Callable[[str], Iterable[tuple[int, int]]]

MARK = "[redacted"  # the beginning of every mark; those of earlier versions are `[redacted]`
MARKS = r"\[redacted(?:: [a-z0-9 .]{1,40}+)?\]"
OWN = "own expression"  # the kind of secrets that the user's own expressions find

# A text without any of these signs contains no secret. The first are in lower case; some count only with another one.
_NAME_SIGNS = (
    "token",
    "secret",
    "pwd",
    "cred",
    "cookie",
    "sessid",
    "jsessionid",
    "connect.sid",
    "passw",
    "passphrase",
    "passcode",
    "mnemonic",
)
_NAME_SIGNS_WITH = (
    ("key", ("key=", "key:", 'key"', "key'", "key ", "key-", "key_", "key>", "key]", "key.", "key\\")),
    ("auth", ("auth=", "auth:", 'auth"', "auth'", "auth ", "auth\\", "auth>")),
    ("sig", ("sig=", "signature=")),
    ("psk", ("psk=", "psk:", 'psk"', "psk ")),
    ("pw", ("pw=", "pw:", 'pw"', "pw'", "pw ", "pw\\")),
    ("_pat", ("_pat=", "_pat:", '_pat"', "_pat ")),
    ("phrase", ("_phrase", "-phrase", "seed", "recovery")),
    # not in `bypassPermissions` of agents' payloads
    ("pass", ("_pass", "-pass", ".pass", 'pass"', "pass'", "pass:", "pass=", "pass =", "pass>", "pass\\", "storepass")),
    ("pass", ("keypass", "requirepass")),
)
_SHAPE_SIGNS = tuple(sign for _, signs, _ in secret_formats.SHAPES for sign in signs)
_SIGNS = tuple(dict.fromkeys((*_NAME_SIGNS, *(sign for sign in _SHAPE_SIGNS if "&" not in sign))))
_SIGNS_WITH = (
    *_NAME_SIGNS_WITH,
    *((sign.partition("&")[0], (sign.partition("&")[2],)) for sign in _SHAPE_SIGNS if "&" in sign),
    *(
        (f" {option}", tuple(program.partition("~")[0] for program in programs.split(" ")))
        for _, programs, options, _ in secret_formats.OPTIONS
        for option in options.split(" ")
    ),
)
_TOKEN_SIGNS = tuple(dict.fromkeys(sign for _, signs, _ in secret_formats.TOKENS for sign in signs.split(" ")))
_SHORTEST_TOKEN = 18
_LARGE = 32_768  # characters from which searching for all signs takes longer than importing `re`


class Secret(NamedTuple):
    """The position and kind of a secret in a text."""

    start: int
    end: int
    kind: str


class Redactor:
    """Replaces the secrets in plain values, and counts them by kind.

    `allow` are kinds that are not replaced; `more` are functions that return the spans of further secrets in a text.
    """

    def __init__(self, allow: Iterable[str] = (), more: Iterable[Finder] = ()) -> None:
        self._allowed = frozenset(allow)
        self._more = tuple(more)
        self.counts: dict[str, int] = {}

    def redacted(self, value: Any) -> Any:
        """Return a plain value with its secrets replaced; the same object if it has none."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            items = [self.redacted(each) for each in value]
            for place in range(1, len(value)):  # ["--password", "…"]
                option, each = value[place - 1], value[place]
                if isinstance(option, str) and option.startswith("-") and not str(each).startswith("-"):
                    items[place] = self._beside(option.lstrip("-"), each, quoted=False)
            return value if all(map(_is, items, value)) else items
        if isinstance(value, dict):
            fields = {key: self._beside(str(key), each) for key, each in value.items()}
            name = value.get("name", value.get("key"))
            if isinstance(name, str) and "value" in value:  # {"name": "DB_PASSWORD", "value": "…"}
                fields["value"] = self._beside(name, value["value"])
            return value if all(map(_is, fields.values(), value.values())) else fields
        return value

    def _beside(self, name: str, value: Any, *, quoted: bool = True) -> Any:
        """Return a value with its secrets replaced; all of it if its name is one of a secret."""
        kept = self.redacted(value)
        if kept is not value or isinstance(value, bool) or not value or not _could_name_secret(name):
            return kept
        if isinstance(value, dict) and "value" in value:  # {"db_password": {"type": "string", "value": "…"}}
            inner = self._beside(name, value["value"])
            return value if inner is value["value"] else {**value, "value": inner}
        if isinstance(value, list):
            items = [self._beside(name, each) if isinstance(each, str) else each for each in value]
            return value if all(map(_is, items, value)) else items
        if isinstance(value, (str, int, float)):
            from . import secret_values

            kind = secret_values.kind_beside(name, str(value), quoted=quoted)
            return value if kind is None or kind in self._allowed else self._mark(kind)
        return value

    def _text(self, text: str) -> str:
        found = secrets(text, self._more) if self._more or could_hold_secret(text) else []
        pieces: list[str] = []
        done = 0
        for start, end, kind in found:
            if kind not in self._allowed:
                pieces += (text[done:start], self._mark(kind))
                done = end
        return "".join((*pieces, text[done:])) if pieces else text

    def _mark(self, kind: str) -> str:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return f"{MARK}: {kind}]"


def redacted(value: Any) -> Any:
    """Return a plain value with its secrets replaced; the same object if it has none."""
    return Redactor().redacted(value)


def could_hold_secret(text: str) -> bool:
    """Whether a text, or a value as JSON, has a sign of a secret. If not, `redacted` does not change it."""
    if len(text) > _LARGE:
        return True
    lowered = text.lower()
    if any(map(lowered.__contains__, _SIGNS)):
        return True
    if any(first in lowered and any(map(lowered.__contains__, others)) for first, others in _SIGNS_WITH):
        return True
    words = " ".join([word for word in text.replace('"', " ").split() if len(word) >= _SHORTEST_TOKEN])
    return any(map(words.__contains__, _TOKEN_SIGNS))


def kinds() -> list[str]:
    """Return all kinds of secrets, sorted."""
    tables = (secret_formats.TOKENS, secret_formats.SHAPES, secret_formats.OPTIONS, secret_formats.NAMES)
    return sorted({str(row[0]) for table in tables for row in table} | {"signature", OWN})


def secrets(text: str, more: Iterable[Finder] = ()) -> list[Secret]:
    """Return the secrets in a text in order, without overlaps."""
    from . import secret_values

    scanned = _without_escapes(text)
    lowered = scanned.replace("\u0130", "i").lower()  # the only letter that gets longer in lower case
    budget = 4_000 + len(text) // 64  # of matches; no useful text has more
    found = [Secret(start, end, OWN) for find in more for start, end in find(text) if start < end]
    if MARK in text:  # marks are not secrets
        found += [Secret(*each.span(), "") for each in _compiled(MARKS).finditer(text)]
    for each in _known_shapes(scanned, lowered):
        budget -= 1
        if budget < 0:
            return [Secret(0, len(text), secret_values.TOO_MANY)]
        if each is not None:
            found.append(each)
    named = list(secret_values.find(scanned, lowered, budget=8_000 + len(text) // 50))
    if named and named[-1].kind == secret_values.TOO_MANY:
        found = [each for each in found if each.start < named[-1].start]
    return [each for each in _merged(found, named) if each.kind]


def _merged(found: list[Secret], named: list[Found]) -> Iterator[Secret]:
    """Yield secrets with known shapes and secrets beside names in order, without overlaps.

    A shape inside a quoted value is extended to the whole value; a bare value that contains one is ignored.
    """
    shapes: list[Secret] = []
    for each in sorted(found, key=lambda each: each.start):
        if not shapes or each.start >= shapes[-1].end:
            shapes.append(each)
        elif each.end > shapes[-1].end:
            shapes[-1] = shapes[-1]._replace(end=each.end)
    shapes.reverse()
    for value in named:
        while shapes and shapes[-1].end <= value.start:
            yield shapes.pop()
        start, end, kind = value[:3]
        if shapes and shapes[-1].start < end:
            if value.is_bare or not shapes[-1].kind:
                continue
            start, kind = min(start, shapes[-1].start), shapes[-1].kind
        while shapes and shapes[-1].start < end:
            end = max(end, shapes.pop().end)
        yield Secret(start, end, kind)
    yield from reversed(shapes)


def _known_shapes(text: str, lowered: str) -> Iterator[Secret | None]:
    """Yield everything with the shape of a secret; None if it turns out not to be one, as it counts for the budget."""
    from .secret_values import is_no_secret

    has_sign = text.__contains__ if len(text) < _LARGE else set(_any_token_sign().findall(text)).__contains__
    for kind, signs, expression in secret_formats.TOKENS:
        if any(map(has_sign, signs.split(" "))):
            for found in _compiled(expression).finditer(text):
                start, end = found.span()
                is_word = start == 0 or not text[start - 1].isalnum() or text[start - 3 : start - 2] == "%"
                is_varied = len(set(text[end - 16 : end])) > 4  # not ghp_xxxxxxxx
                yield Secret(start, end, kind) if is_word and is_varied else None
    for kind, expression in _possible_shapes(lowered):
        for found in _compiled(expression).finditer(text if expression.startswith("(?-i:") else lowered):
            start, end = found.span(found.lastindex or 0)
            yield Secret(start, end, kind) if kind == "private key" or not is_no_secret(text[start:end]) else None


def _possible_shapes(lowered: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and expression of each shape and option whose signs are in a text."""
    for kind, signs, expression in secret_formats.SHAPES:
        if any(all(map(lowered.__contains__, sign.split("&"))) for sign in signs):
            yield kind, expression
    for kind, programs, options, between in secret_formats.OPTIONS:
        used = [option for option in options.split(" ") if f" {option}" in lowered]
        for program in programs.split(" ") if used else ():
            if program.partition("~")[0] in lowered:
                yield kind, secret_formats.of_option(program, "|".join(used), between)


def _without_escapes(text: str) -> str:
    """Return a text of the same length in which escaped line ends and terminal colours are blanks."""
    if "\\" in text:
        for escape in ("\\n", "\\r", "\\t"):
            text = text.replace(escape, "\v\v")
    if "\x1b[" in text:
        text = _compiled("\x1b\\[[0-9;]*+[A-Za-z]").sub(lambda found: " " * len(found[0]), text)
    return text


def _could_name_secret(name: str) -> bool:
    lowered = name.lower().replace("path", "")  # `_pat` names a token, but agents send `transcript_path` with events
    return len(name) <= 128 and any(map(lowered.__contains__, secret_formats.WORDS_OF_NAMES))


def _is(one: object, other: object) -> bool:
    return one is other


@cached(maxsize=1)
def _any_token_sign() -> Pattern[str]:
    """Return an expression that finds every sign of a token in one pass, as a tree of characters."""
    import re

    words: dict[str, Any] = {}  # signs that count only at the beginning of a word
    others: dict[str, Any] = {}
    for sign in _TOKEN_SIGNS:
        branch = words if sign[0].isalnum() else others
        for character in sign:
            branch = branch.setdefault(re.escape(character), {})
        branch[""] = {}

    def alternatives(branch: dict[str, Any]) -> str:
        found = [character + alternatives(rest) for character, rest in sorted(branch.items(), reverse=True)]
        return f"(?:{'|'.join(found)})" if len(found) > 1 else "".join(found)

    return re.compile(rf"\b{alternatives(words)}|{alternatives(others)}")


@cached(maxsize=512)
def _compiled(expression: str) -> Pattern[str]:
    import re

    return re.compile(expression.replace("(?-i:", "(?:", 1))
