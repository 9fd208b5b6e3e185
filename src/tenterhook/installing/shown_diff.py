"""What an edit would change, as a person reads it."""

from __future__ import annotations

import difflib


def diff(before: bytes, after: bytes, name: str) -> str:
    """A unified diff; empty if nothing changes. Lines end as they do in the file, a missing last newline is said."""
    old, new = (data.decode("utf-8", "backslashreplace") for data in (before, after))
    # splitlines() would also split at form feeds and U+2028, which a string may hold
    lines = difflib.unified_diff(_lines(old), _lines(new), f"{name} (now)", f"{name} (then)")
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
