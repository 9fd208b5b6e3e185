"""The difference between two versions of a file, as a person reads it."""

from __future__ import annotations

import difflib

from ..basics.display_text import lines_of, text_of


def diff(before: bytes, after: bytes, old: str, new: str, context: int = 3) -> str:
    """A unified diff, empty only if nothing changes. Lines end as in the file; a missing last newline is said."""
    lines = difflib.unified_diff(lines_of(text_of(before)), lines_of(text_of(after)), old, new, n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}\n" for line in lines)


NO_NEWLINE = "\\ No newline at end of file"
