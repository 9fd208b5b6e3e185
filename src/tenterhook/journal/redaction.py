"""Redaction of secrets: keys, tokens, private keys, passwords in URLs, and values beside the name of a secret.

Most events hold no secret: a cheap search for signs of one comes before `re` is imported. All patterns take linear
time: an agent waits for it, and a model may have written the text.
"""

from __future__ import annotations

from ..basics.named_tuples import cached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern
    from typing import Any

MARK = "[redacted]"

# Patterns of secrets, each with its signs: texts, in lower case, of which one must be present for the pattern to match.
# `(?<![\w-])`: only where a word begins, or a long one would be read repeatedly.
_SHAPES = (
    (
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        "s",
    ),
    # user:password@host; the password ends at the last @ before the path
    (("://",), r"(?<=://)(?P<before>[^\s/:@'\"]*+:)[^\s/?#'\"]+(?=@)", ""),
    (("hooks.slack.",), r"(?P<before>\bhooks\.slack\.com/services/)[\w/]{20,}", ""),
    (
        ("authorization",),
        r"(?P<before>\bauthorization[\"']?\]?[ \t]*+[:=][ \t]*+[\"']?(?:(?:bearer|basic|token|negotiate|apikey)[ \t]++"
        r"(?=[^\s\"'$<{\[(]{6})|(?=[\w.~+/=-]{8})(?=[A-Za-z._~+/=-]*\d)))[^\s\"']+",
        "i",
    ),
    (("cookie",), r"(?P<before>\bcookie[\"']?[ \t]*+:[ \t]*+[\"']?)[^\s\"'={}][^\"'\n={}]{0,200}+=[^\"'\n]+", "i"),
    (
        ("bearer", "basic ", "token"),
        r"(?P<before>\b(?:bearer|basic|token)[ \t]++)(?=[A-Za-z._~+/=-]*\d)[A-Za-z0-9._~+/=-]{16,}",
        "i",
    ),
    (("login",), r"(?P<before>\blogin[ \t]++\S++\s++password[ \t]++)\S+", "i"),  # .netrc
    (("curl",), r"(?P<before>(?<!\S)(?:-u|--user)[ =]++[\"']?(?!\d+:)[^\s:'\"/]++:)[^\s'\"]+", ""),
    (
        (
            *("akia", "asia", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "xox", "aiza", "ya29."),
            *("npm_", "pypi-", "hf_", "sq0", "shpat_", "dop_v1_", "age-secret"),
        ),
        r"\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}\b|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
        r"|xox[abprse]-[\w-]{10,}|AIza[\w-]{30,}|ya29\.[\w.-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}"
        r"|hf_[A-Za-z0-9]{20,}|sq0\w{3}-[\w-]{20,}|shpat_[a-f0-9]{30,}|dop_v1_[a-f0-9]{40,}"
        r"|AGE-SECRET-KEY-1[A-Z0-9]{40,})",
        "",
    ),
    (("sk-", "sk_", "rk_", "pk_"), r"(?<![\w-])[srp]k[-_](?=[A-Za-z_-]*\d)[\w-]{20,}", ""),
    (("eyj",), r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+", ""),
    (("sg.",), r"(?<![\w-])SG\.[\w-]{16,}+\.[\w-]{16,}+", ""),
)

# Names of secrets, and suffixes that make such a name one of something else.
_NAME_SIGNS = (
    *("key", "token", "secret", "pwd", "credential", "cookie", "auth", "sig"),
    *("passw", "passphrase", "passcode", "_pass", "-pass", ".pass"),  # not in `bypassPermissions` of agents' payloads
)
_SIGNS = {*_NAME_SIGNS, *(sign for signs, _, _ in _SHAPES for sign in signs)}  # a text without any holds no secret
_NAME_OF_ONE = (
    r"(?i)(?:api|access|secret|private|auth|encryption|signing|master|account|storage|shared|subscription|license"
    r"|service|deploy)[_.-]?key|secret|token|passw(?:or)?d|passphrase|passcode|pwd|credential|cookie"
    r"|[_.-]pass$"
)
_OTHER_NAME = (
    r"(?i)(?:tokens|keys|tokeni[sz]\w*|secretar\w*|(?<=key)[_.-]?id|[_.-]?(?:counts?|length|len|limit|size|types?|kind"
    r"|names?|ur[il]|endpoint|files?|path|dir|stdin|prompt|policy|fields?|domain|expir\w*|ttl|max[_.-]?age|helper"
    r"|format|regex|pattern|hint|headers?|less))$|^(?:old)?pwd$"
)
_WEAK_NAME = (
    r"(?i)^(?:_?auth|(?:proxy-)?authorization|(?:.*[_-])?sig(?:nature)?)$"  # a secret only if it looks like one
)
_LOOKS_RANDOM = r"(?=\D*\d)[\w+/=.~%-]{16,}"

# `NAME=`, `"name": `, `name := `; and `--name `. Values are read by _VALUE.
_NAMED = r"(?<![\w.-])([\w.-]{1,128}+)\\*+[\"']?\]?[ \t]*+(?:=>|:=|=(?!=)|:(?![:/]))[ \t]*+"
_OPTION = r"(?<!\S)-{1,2}([\w.-]{1,128}+)[ \t]++(?=[^\s-])"
_VALUE = (
    r"(?P<escaped>\\++[\"'])(?P<e>[^\"'\n]*+)"
    r"|(?P<double>[bfru]{0,2}\")(?P<d>(?:[^\"\\\n]|\\.)*+)"
    r"|(?P<single>[bfru]{0,2}')(?P<s>[^'\n]*+)"
    r"|(?P<bare>[^\s\"'`;&|]++)"
)
# Values that are no secrets: types, switches, placeholders.
_NO_SECRETS = frozenset(
    (
        *("str", "string", "int", "integer", "number", "bool", "boolean", "bytes", "text", "any", "object", "none"),
        *("null", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "optional", "required", "include"),
        *("omit", "same-origin", "password", "token", "secret"),
    )
)
_PLACEHOLDER = r"\$\w+$|\$[{(]|\{[^}]*\}?$|<[^>]*>$|%[\w(]|\*+$|\.{3}$|\[|\("


def could_hold_secret(text: str) -> bool:
    """Return whether a text, or a value as JSON, has a sign of a secret; if not, `redacted` does not change it."""
    return any(map(text.lower().__contains__, _SIGNS))


def redacted(value: Any) -> Any:
    """Return a plain value without its secrets; the same object if it has none."""
    if isinstance(value, str):
        return _redacted_text(value)
    if isinstance(value, list):
        items = [redacted(each) for each in value]
        for place in range(1, len(value)):  # ["--password", "…"]
            if _is_secret_option(value[place - 1], value[place]):
                items[place] = MARK
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        fields = {key: _redacted_field(key, each) for key, each in value.items()}
        if isinstance(name := value.get("name"), str) and "value" in value:  # {"name": "DB_PASSWORD", "value": "…"}
            fields["value"] = _redacted_field(name, value["value"])
        return value if all(fields[key] is each for key, each in value.items()) else fields
    return value


def _redacted_field(name: str, value: Any) -> Any:
    if not value or isinstance(value, (bool, dict)) or not _names_secret(name):
        return redacted(value)
    if isinstance(value, str):
        return MARK if _is_secret_value(name, value) else redacted(value)
    if isinstance(value, list):
        return redacted([MARK if isinstance(each, str) else each for each in value])
    return MARK


def _is_secret_option(option: Any, value: Any) -> bool:
    """Return whether an item of a list is the secret value of the option before it."""
    if not (isinstance(option, str) and isinstance(value, str)):
        return False
    if not option.startswith("-") or value.startswith("-"):
        return False
    return _names_secret(option.lstrip("-")) and _is_secret_value(option, value)


@cached(maxsize=512)
def _names_secret(name: str) -> bool:
    lowered = name.lower()
    if len(name) > 128 or not any(sign in lowered for sign in _NAME_SIGNS):
        return False
    import re

    if re.search(_WEAK_NAME, name):
        return True
    return re.search(_NAME_OF_ONE, name) is not None and re.search(_OTHER_NAME, name) is None


def _is_secret_value(name: str, value: str, *, is_bare: bool = False) -> bool:
    """Return whether a value beside the name of a secret is the secret, and not a type, a variable or code."""
    import re

    if not value or value == MARK or value.lower() in _NO_SECRETS or re.match(_PLACEHOLDER, value):
        return False
    if re.search(_WEAK_NAME, name):
        return re.fullmatch(_LOOKS_RANDOM, value) is not None
    # get_token(), os.environ[…], self.password
    return not (is_bare and (re.search(r"[(\[]", value) or _names_secret(value.rpartition(".")[2])))


def _redacted_text(text: str) -> str:
    if not could_hold_secret(text):
        return text
    lowered = text.lower()
    new = text
    for signs, pattern, letters in _SHAPES:
        if any(sign in lowered for sign in signs):
            new = _compiled(pattern, letters).sub(_marked, new)
    if any(sign in lowered for sign in _NAME_SIGNS):
        for named in (_NAMED, _OPTION):
            new = _without_named(new, _compiled(named, ""))
    return new if new != text else text


def _marked(found: Any) -> str:
    return (found.groupdict().get("before") or "") + MARK


def _without_named(text: str, named: Pattern[str]) -> str:
    """Return the text without the values beside names of secrets."""
    pieces: list[str] = []
    done = 0
    for found in named.finditer(text):
        name = found[1].lstrip("-")
        if found.start() < done or not _names_secret(name):
            continue
        value = _compiled(_VALUE, "").match(text, found.end())
        if value is None:
            continue
        begin, _ = value.span(str(value.lastgroup))
        said, is_bare = value[str(value.lastgroup)], value["bare"] is not None
        if is_bare and said != MARK:
            said = said.rstrip(",)]}>:")
        elif value["e"] is not None:
            said = said.rstrip("\\")
        if _is_secret_value(name, said, is_bare=is_bare):
            pieces += (text[done:begin], MARK)
            done = begin + len(said)
    return "".join((*pieces, text[done:])) if pieces else text


@cached(maxsize=32)
def _compiled(pattern: str, letters: str) -> Pattern[str]:
    import re

    return re.compile(pattern, {"": 0, "s": re.DOTALL, "i": re.IGNORECASE}[letters])
