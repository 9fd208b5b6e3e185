"""What targets draw their inputs with: any JSON value, and changed copies of files that are known to be good."""

from __future__ import annotations

import copy
import functools
import json
import re
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

any_text = st.text(st.characters(), max_size=20)  # lone surrogates too
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
nested = st.sampled_from([10, 200, 500, 990, 2000, 100_000]).flatmap(
    lambda depth: st.sampled_from(["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth])
)
long_numbers = st.sampled_from(["9" * 400, "9" * 4301, "-" + "1" * 5000, "1e999", "-0", "1E400", "NaN", "-Infinity"])


_TOKEN = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[\w.+-]+|[ \t]+|\s|[^\s]")


def changed_bytes(good: Sequence[bytes], words: Sequence[bytes], most: int = 5) -> st.SearchStrategy[bytes]:
    """A copy of one of the good texts with a few parts removed, doubled, replaced or taken from another one.

    Mostly the parts are whole words, strings and marks, so that what comes out can often be read. Each change is one
    number, which is much quicker to draw than its parts; what fails is made smaller by leaving changes out.
    """
    good = sorted(good, key=len)
    numbers = st.lists(st.integers(0, 2**40), max_size=most)
    return st.tuples(st.sampled_from(good), numbers).map(
        lambda drawn: functools.reduce(
            lambda data, number: _changed(data, Random(number), good, words), drawn[1], drawn[0]
        )
    )


def _changed(data: bytes, random: Random, good: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    parts: list[bytes] = _TOKEN.findall(data) if random.randrange(5) else [bytes((byte,)) for byte in data]
    start = random.randrange(len(parts) + 1)
    end = start + random.choice((0, 0, 1, 1, 1, 2, 3, 5, 10, 10**9))
    kind = random.choice(("value", "value", "word", "word", "lines", "double", "nothing", "bytes", "part"))
    new = b""
    if kind == "value" and (marks := [at for at, part in enumerate(parts[:-1]) if part in (b"=", b":")]):
        start = random.choice(marks) + 1
        start += not parts[start].strip() and start + 1 < len(parts)
        new, end = random.choice(words), start + 1
    elif kind in ("word", "value"):
        new = random.choice(words)
    elif kind == "lines":
        lines = random.choice(good).splitlines(keepends=True) or [b""]
        first = random.randrange(len(lines))
        new = b"".join(lines[first : first + random.randrange(1, 5)])
    elif kind == "double":
        new = b"".join(parts[start:end]) * 2
    elif kind == "bytes":
        new = random.randbytes(random.randrange(4))
    elif kind == "part" and parts:
        new = random.choice(parts)
    return b"".join((*parts[:start], new, *parts[end:]))


@st.composite
def changed_object(
    draw: st.DrawFn, good: Sequence[dict[str, Any]], keys: Sequence[str], values: st.SearchStrategy[Any] = json_values
) -> dict[str, Any]:
    """A copy of one of the good objects with a few members, at any depth, removed, added or replaced."""
    found: dict[str, Any] = json.loads(json.dumps(draw(st.sampled_from(good))))
    for _ in range(draw(st.integers(0, 4))):
        inside = found
        while draw(st.booleans()):
            inner = [value for value in inside.values() if isinstance(value, dict)]
            if not inner:
                break
            inside = draw(st.sampled_from(inner))
        key = draw(st.sampled_from(list(inside) or [""]) | st.sampled_from(keys) | any_text)
        if draw(st.booleans()):
            inside[key] = copy.deepcopy(draw(values))  # a sampled value is the same each time
        else:
            inside.pop(key, None)
    return found
