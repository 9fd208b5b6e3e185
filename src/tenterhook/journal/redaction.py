"""Secrets, written out of what is kept: keys, tokens, private keys, passwords in addresses, secrets by their name.

Most events hold none, and looking for one costs an import: a glance tells which.
"""

from __future__ import annotations

from ..values import remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MARK = "[redacted]"

# Without one of these in it, in lower case, a text holds nothing that would be redacted.
_SIGNS = (
    *("key", "token", "secret", "passw", "pwd", "passphrase", "credential", "bearer", "basic ", "cookie", "private"),
    *("://", "akia", "asia", "ghp_", "gho_", "ghs_", "ghu_", "github_pat", "glpat-", "sk-", "sk_", "rk_", "pk_", "xox"),
    *("eyj", "aiza", "ya29", "npm_", "pypi-", "hf_", "sq0", "shpat_", "dop_v1", "auth", "session", "signature"),
)
_NAME = (
    r"[\w.-]*(?:api[_-]?key|apikey|access[_-]?key|secret|token|passw(?:or)?d|passphrase|pwd|credential|private[_-]?key"
    r"|auth[_-]?key|cookie)[\w.-]*"
)
_SECRET_NAME = rf"(?i)^{_NAME}$"
_PATTERNS = (
    # private keys, whole
    (r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)", MARK, "s"),
    # user:password@host
    (r"(\b[a-z][a-z0-9+.-]*://[^\s/:@'\"]*:)[^\s@'\"]+(@)", rf"\g<1>{MARK}\g<2>", "i"),
    # Authorization: Bearer …, Basic …
    (r"(\b(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{8,}", rf"\g<1>{MARK}", "i"),
    # tokens known by their shape
    (
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
        r"|\b[srp]k[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}|\bxox[abprse]-[\w-]{10,}|\bAIza[\w-]{30,}|\bya29\.[\w.-]{20,}"
        r"|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{30,}|\bhf_[A-Za-z0-9]{20,}|\bsq0\w{3}-[\w-]{20,}|\bshpat_[a-f0-9]{30,}"
        r"|\bdop_v1_[a-f0-9]{40,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
        MARK,
        "",
    ),
    # NAME=value, "name": "value", --name value
    (
        rf"((?:^|[\s\"'{{,;?&])(?:--?)?{_NAME}[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s\"',;&}}]+)",
        rf"\g<1>{MARK}",
        "im",
    ),
    (rf"((?:^|\s)--?{_NAME}\s+)(\"[^\"]*\"|'[^']*'|[^\s-][^\s]*)", rf"\g<1>{MARK}", "im"),
)


def redacted(value: Any) -> Any:
    """A plain value without its secrets; the very same if it holds none."""
    if isinstance(value, str):
        return _redacted_text(value)
    if isinstance(value, list):
        items = [redacted(each) for each in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        fields = {key: _redacted_field(key, each) for key, each in value.items()}
        return value if all(fields[key] is each for key, each in value.items()) else fields
    return value


def _redacted_field(name: str, value: Any) -> Any:
    if isinstance(value, (str, int, float)) and value and not isinstance(value, bool) and _names_secret(name):
        return MARK
    return redacted(value)


def _names_secret(name: str) -> bool:
    lowered = name.lower()
    if not any(sign in lowered for sign in _SIGNS):
        return False
    if lowered.endswith(("tokens", "token_count", "_keys", "session_id")):  # counts and names, not secrets
        return False
    import re

    return re.match(_SECRET_NAME, name) is not None


def _redacted_text(text: str) -> str:
    lowered = text.lower()
    if not any(sign in lowered for sign in _SIGNS):
        return text
    new = text
    for replace in _replacements():
        new = replace(new)
    return new if new != text else text


@remembered(maxsize=1)
def _replacements() -> list[Callable[[str], str]]:
    import re
    from functools import partial

    flags = {"s": re.DOTALL, "i": re.IGNORECASE, "m": re.MULTILINE}
    compiled: list[Callable[[str], str]] = []
    for pattern, replacement, letters in _PATTERNS:
        flag = re.RegexFlag(0)
        for letter in letters:
            flag |= flags[letter]
        compiled.append(partial(re.compile(pattern, flag).sub, replacement))
    return compiled
