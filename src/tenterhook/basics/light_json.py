"""JSON through the parts of `json` that are written in C, without the rest of it.

`json` imports `re`, which doubles the start of an interpreter, and an agent waits for that start at each tool call.
What these functions read and write is what `json` does; where its parts in C are missing or changed, it is used itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_scan: Any
_make_encoder: Any
_quoted: dict[bool, Callable[[str], str]] = {}
try:
    import _json

    class _Context:
        strict = True
        object_hook = None
        object_pairs_hook = None
        parse_float = float
        parse_int = int

        @staticmethod
        def parse_constant(name: str) -> float:
            return float(name.replace("Infinity", "inf"))

    _scan = _json.make_scanner(_Context)  # type: ignore[arg-type]  # any object with these attributes will do
    _quoted = {True: _json.encode_basestring_ascii, False: _json.encode_basestring}
    _make_encoder = _json.make_encoder
    _encode = _make_encoder({}, None, _quoted[True], None, ": ", ", ", True, False, True)
    if "".join(_encode({"a": [1.5]}, 0)) != '{"a": [1.5]}':
        raise ImportError("not the encoder we know")
except (ImportError, AttributeError, TypeError):  # another Python, or another version of it
    _scan = None


def loads(text: str) -> Any:
    """The value that a JSON text stands for; raises `ValueError`, or `RecursionError` for one that nests too deeply."""
    if _scan is None:
        import json

        return json.loads(text)
    start = len(text) - len(text.lstrip(" \t\n\r"))
    try:
        value, end = _scan(text, start)
    except StopIteration as error:
        raise ValueError(f"no JSON value at character {error.value}") from None
    except SystemError:  # it takes its error from `json.decoder`, and has none to raise while that is not imported
        import json

        return json.loads(text)
    if text[end:].strip(" \t\n\r"):
        raise ValueError(f"more than one JSON value: character {end}")
    return value


def dumps(
    value: Any, *, ascii_only: bool = True, sort_keys: bool = False, default: Callable[[Any], Any] | None = None
) -> str:
    """The value as JSON on one line, with a space after each colon and comma."""
    if _scan is None:
        import json

        return json.dumps(value, ensure_ascii=ascii_only, sort_keys=sort_keys, default=default)
    if isinstance(value, str):
        return _quoted[ascii_only](value)
    encode = _make_encoder({}, default or _unknown, _quoted[ascii_only], None, ": ", ", ", sort_keys, False, True)
    return "".join(encode(value, 0))


def _unknown(value: Any) -> Any:
    raise TypeError(f"JSON cannot hold a {type(value).__name__}")
