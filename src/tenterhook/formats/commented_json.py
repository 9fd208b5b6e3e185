"""JSON with comments and trailing commas, as in settings files."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STRING = r'"(?:\\.|[^"\\\n])*"'
# A string is matched first, so that what looks like a comment inside one is kept.
_COMMENT = re.compile(rf"({STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"({STRING})|,(?=\s*[}}\]])", re.DOTALL)


def plain(text: str) -> str:
    """Return the text as plain JSON with the same line numbers."""
    text = _COMMENT.sub(lambda found: found[1] or "\n" * found[0].count("\n"), text)
    return _LAST_COMMA.sub(lambda found: found[1] or "", text)


def loads(text: str) -> Any:
    """Return the value of the text. Raises `ValueError` if it is not valid."""
    return json.loads(plain(text))
