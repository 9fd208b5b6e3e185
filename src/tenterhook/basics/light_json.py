"""JSON on the path of an event: reads it, writes it, and converts any Python value to plain JSON or text.

`json` imports `re`, which doubles the start of an interpreter, so only its C accelerators are used. The results are
those of `json`, which is used itself if the accelerators are missing or have changed.
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

    _scan = _json.make_scanner(_Context)  # type: ignore[arg-type]  # any object with these attributes
    _quoted = {True: _json.encode_basestring_ascii, False: _json.encode_basestring}
    _make_encoder = _json.make_encoder
    _encode = _make_encoder({}, None, _quoted[True], None, ": ", ", ", True, False, True)
    if "".join(_encode({"a": [1.5]}, 0)) != '{"a": [1.5]}':
        raise ImportError("unknown encoder")
except (ImportError, AttributeError, TypeError):  # another implementation or version of Python
    _scan = None


def loads(text: str) -> Any:
    """Return the value of a JSON text. Raises `ValueError`, or `RecursionError` if it nests too deeply."""
    if _scan is None:
        import json

        return json.loads(text)
    start = len(text) - len(text.lstrip(" \t\n\r"))
    try:
        value, end = _scan(text, start)
    except StopIteration as error:
        raise ValueError(f"no JSON value at character {error.value}") from None
    except SystemError:  # the scanner raises an error of `json.decoder`, which is not imported
        import json

        return json.loads(text)
    if text[end:].strip(" \t\n\r"):
        raise ValueError(f"more than one JSON value: character {end}")
    return value


def dumps(
    value: Any,
    *,
    ascii_only: bool = True,
    sort_keys: bool = False,
    separators: tuple[str, str] = (", ", ": "),
    default: Callable[[Any], Any] | None = None,
) -> str:
    """Return the value as JSON on one line, as `json.dumps` does."""
    if _scan is None:
        import json

        return json.dumps(value, ensure_ascii=ascii_only, sort_keys=sort_keys, separators=separators, default=default)
    if isinstance(value, str):
        return _quoted[ascii_only](value)
    comma, colon = separators
    encode = _make_encoder({}, default or _unknown, _quoted[ascii_only], None, colon, comma, sort_keys, False, True)
    return "".join(encode(value, 0))


def _unknown(value: Any) -> Any:
    raise TypeError(f"JSON cannot hold a {type(value).__name__}")


_DEEPEST = 200
_LONGEST_INTEGER = 10_000  # bits


def plain(value: Any, depth: int = 0) -> Any:
    """Return the value as plain JSON: models and dataclasses as objects, values of other types as strings.

    Raises `BadEvent` for a value that nests too deeply for the parsers of hooks.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if depth > _DEEPEST:
        from ..errors import BadEvent  # rarely needed

        raise BadEvent("a value nests too deeply to be sent to a hook", f"keep it under {_DEEPEST} levels")
    if isinstance(value, dict):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, float):
        return float(value) if value - value == 0 else str(value)  # JSON has no NaN and no infinities
    if isinstance(value, int):
        # Python refuses to write integers of thousands of digits in decimal
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
    return dumps(key) if key is None or isinstance(key, (bool, int, float)) else str(key)


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are the same JSON; unlike in Python, true is not 1."""
    return one is other or (one == other and dumps(one, sort_keys=True) == dumps(other, sort_keys=True))


def encode(value: Any) -> bytes:
    """Return plain JSON as one line of UTF-8, with a space after each colon and comma: scripts look for `"key": "`."""
    try:
        return dumps(value, ascii_only=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, as in an undecodable file name, can only be escaped
        return dumps(value).encode()


def printable(value: str) -> str:
    """Return the string with lone surrogates replaced, so that it can be encoded."""
    return value.encode("utf-8", "replace").decode()


def text(value: Any) -> str:
    """Return a string as it is, any other plain value as JSON."""
    return value if isinstance(value, str) else dumps(value, ascii_only=False)


def prompt_text(prompt: Any) -> str:
    """Return the text of a prompt, which is a string or a list of content parts."""
    if isinstance(prompt, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in prompt]
        return "\n".join(part for part in parts if isinstance(part, str))
    return text(prompt)


def input_texts(value: Any) -> list[str]:
    """Return each value of a tool's input, including nested ones, as text; numbers and booleans as JSON."""
    if value is None:
        return []
    if not isinstance(value, dict):
        return [text(value)]
    found: list[str] = []
    left: list[Any] = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            left.extend(reversed(item.values()))
        elif isinstance(item, list):
            left.extend(reversed(item))
        elif item is not None:
            found.append(text(item))
    return found
