"""Front matter as nearly everybody writes it, without a YAML parser: exactly what YAML makes of it, or None.

A parser takes longer than everything else about loading a hook.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A key, then a number, a text that needs no quotes, or one in quotes without escapes. All of it ASCII.
_LINE = re.compile(
    r"(?P<indent>  )?(?P<key>[a-z_]+):"
    r"(?: (?:(?P<number>0|[1-9][0-9]{0,8})"
    r"|(?P<text>[A-Za-z_^/(\\$](?:[!-9;-~]++|:(?=[!-~])| (?=[!-\"$-~]))*)"
    r"|'(?P<single>[ -&(-~]*)'"
    r'|"(?P<double>[ !#-\[\]-~]*)"))?'
).fullmatch
_WORDS = {"true": True, "false": False}
_OTHER_MEANING = frozenset(("yes", "no", "on", "off", "true", "false", "null", "y", "n"))  # in either case


def read(lines: list[str]) -> dict[str, Any] | None:
    """The table these lines are; None if it takes a YAML parser to tell."""
    whole: dict[str, Any] = {}
    inner: dict[str, Any] | None = None
    for line in lines:
        found = _LINE(line)
        if found is None:
            return None
        indent, key, number, text, single, double = found.groups()
        if indent is None:
            if inner == {}:
                return None
            table, inner = whole, None
        elif inner is None:
            return None
        else:
            table = inner
        if key in table or key in _OTHER_MEANING:
            return None
        value: Any = int(number) if number is not None else text or single
        if value is None:
            value = double if double is not None else single
        if text is not None and text.lower() in _OTHER_MEANING:
            if text not in _WORDS:
                return None
            value = _WORDS[text]
        elif value is None:
            if indent is not None:
                return None
            value = inner = {}
        table[key] = value
    return None if inner == {} or not whole else whole
