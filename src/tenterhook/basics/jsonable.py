"""Any Python value as plain JSON, and JSON as bytes that a hook's `grep` can read."""

from __future__ import annotations

from ..errors import BadEvent
from . import light_json
from .texts import text as text  # noqa: PLC0414  # exported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEEPEST = 200
_LONGEST_INTEGER = 10_000  # bits


def plain(value: Any, depth: int = 0) -> Any:
    """The value as JSON can hold it: models and dataclasses as objects, anything else as its string form.

    Raises `BadEvent` for a value that nests deeper than any parser of a hook would read.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if depth > _DEEPEST:
        raise BadEvent("a value nests too deeply to be sent to a hook", f"keep it under {_DEEPEST} levels")
    if isinstance(value, dict):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, float):
        return float(value) if value - value == 0 else str(value)  # nan and the infinities are no JSON
    if isinstance(value, int):
        # Python refuses to write a number of thousands of digits in any form but this
        return int(value) if value.bit_length() < _LONGEST_INTEGER else hex(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return [plain(item, depth + 1) for item in sorted(value, key=str)]
    if not isinstance(value, type):
        fields = getattr(kind, "__dataclass_fields__", None)
        if fields is not None:
            return {name: plain(getattr(value, name, None), depth + 1) for name in fields}
        dump = getattr(value, "model_dump", None)  # pydantic's
        if callable(dump):
            return plain(dump(), depth + 1)
    return str(value)


def _key(key: Any) -> str:
    if type(key) is str:
        return key
    return light_json.dumps(key) if key is None or isinstance(key, (bool, int, float)) else str(key)


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are the same JSON: unlike in Python, true is not 1."""
    return one is other or (
        one == other and light_json.dumps(one, sort_keys=True) == light_json.dumps(other, sort_keys=True)
    )


def encode(value: Any) -> bytes:
    """Plain JSON as one line of UTF-8, with a space after each colon and comma: scripts look for `"key": "`."""
    try:
        return light_json.dumps(value, ascii_only=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, such as an undecodable file name, has only its escaped form
        return light_json.dumps(value).encode()


def printable(value: str) -> str:
    """The string with lone surrogates replaced, so that every stream and file can hold it."""
    return value.encode("utf-8", "replace").decode()
