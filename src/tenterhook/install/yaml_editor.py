"""A name in a list of a YAML file; everything else keeps its bytes.

Adding and removing are inverse: a line after that of the key, or an item of a list in brackets. PyYAML locates the
nodes and checks each result: everything else is unchanged. What cannot be edited and restored like that is refused.
"""

from __future__ import annotations

import re

import yaml

from ..basics.named_tuples import NamedTuple
from . import text_edits
from .text_edits import Edited, EditRefused, decoded, encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_COMMENT = re.compile(r"(?:(?<=\s)|^)#[^\r\n]*")
_LINE_END = re.compile(r"\r?\n|\Z")
_DEEPEST = 100  # the loader written in C is recursive, and would crash


class _Place(NamedTuple):
    """An entry of a mapping or a list: the node around it, its number there, where it begins, and its value."""

    around: Any
    number: int
    start: int
    value: Any


def items_at(text: bytes, keys: Sequence[str]) -> list[Any]:
    """Return the list below these keys; empty if there is none. Raises `EditRefused` if the file is not YAML."""
    return _items(_parsed(decoded(text)[1]), keys)


def with_item(text: bytes, keys: Sequence[str], item: str, created: frozenset[str] = frozenset()) -> Edited:
    """Return the file with a name in the list below `keys`; the same call again changes nothing.

    `created` is what an earlier call returned: the name, and the keys that were created for it.
    """
    bom, body = decoded(text)
    if item in _items(_parsed(body), keys):
        return Edited(text, created)
    edited, made = _added(body, keys, item)
    made |= {item}
    if not _differs_by(body, edited, keys, item) or _removed(edited, keys, item, made) != body:
        path = ".".join(keys)
        remedy = f"write `{path}` as a list with one `- name` on each line, or add {item} to it yourself"
        if not _path(_composed(body), keys) and not body.endswith("\n"):  # its last line is part of a block scalar
            remedy = "end its last line with a newline"
        raise EditRefused(f"`{path}` cannot be edited and restored here", _line(body, keys), remedy)
    return Edited(encoded(bom, edited), created | made)


def without_item(text: bytes, keys: Sequence[str], item: str, created: frozenset[str]) -> bytes:
    """Return the file without the name and the keys that were created; unchanged if the name was not created."""
    bom, body = decoded(text)
    if item not in created or item not in _items(_parsed(body), keys):
        return text
    edited = _removed(body, keys, item, created)
    if not _differs_by(edited, body, keys, item) or len(_COMMENT.findall(edited)) < len(_COMMENT.findall(body)):
        path = ".".join(keys)
        raise EditRefused(f"{item} cannot be removed from `{path}` here", _line(body, keys), "remove it with an editor")
    return encoded(bom, edited)


def _added(body: str, keys: Sequence[str], item: str) -> tuple[str, frozenset[str]]:
    """Return the text with the name, and the keys that were created; unchanged if no place is found."""
    newline = text_edits.newline_of(body)
    root = _composed(body)
    path = _path(root, keys)
    missing = keys[len(path) :]
    value = path[-1].value if path else root
    if _is_flow(value):
        flow = f"[{item}]"
        for key in reversed(missing[1:]):
            flow = f"{{{key}: {flow}}}"
        return _into_flow(body, value, f"{missing[0]}: {flow}" if missing else item, newline), frozenset(missing)
    is_empty = value is None or (isinstance(value, yaml.ScalarNode) and value.start_mark.index == value.end_mark.index)
    if not is_empty and not isinstance(value, yaml.MappingNode if missing else yaml.SequenceNode):
        return body, frozenset()
    if not is_empty:
        column = len(text_edits.indent_of(body, _entries(value)[0].start))
    else:
        column = len(text_edits.indent_of(body, path[-1].start)) + 2 if path else 0
    depths = range(column, column + 2 * len(missing), 2)
    lines = [" " * depth + f"{key}:" for depth, key in zip(depths, missing, strict=True)]
    lines.append(" " * (column + 2 * len(missing)) + f"- {item}")
    at = _end_of_line(body, path[-1].start) if path else len(body)
    before, after = body[:at], body[at:]
    if before.endswith("\n") or not before:  # at the end of the file
        return before + newline.join(lines) + newline, frozenset(missing)
    return before + newline + newline.join(lines) + after, frozenset(missing)


def _removed(body: str, keys: Sequence[str], item: str, created: frozenset[str]) -> str:
    """Return the text without the name, and without the created keys that have nothing else."""
    path = _path(_composed(body), keys)
    if len(path) < len(keys):
        return body
    places = [*path, *_entries(path[-1].value)]
    numbers = [number for number in range(len(path), len(places)) if getattr(places[number].value, "value", 0) == item]
    if not numbers:
        return body
    found = places[numbers[0]]
    last = found.value
    for key, place in zip(reversed(keys), reversed(path), strict=True):
        if len(found.around.value) > 1 or key not in created:
            break
        found = place
    if _is_flow(found.around):
        return text_edits.removed(body, _listing(body, found.around), found.number)
    start = body.rfind("\n", 0, found.start) + 1
    end = _LINE_END.search(body, last.end_mark.index)
    assert end is not None  # it matches at the end
    if not end[0]:  # the last line, without a line ending
        start -= 0 if not start else 2 if body[:start].endswith("\r\n") else 1
    return body[:start] + body[end.end() :]


def _into_flow(body: str, node: Any, text: str, newline: str) -> str:
    """Return the text with one more entry in a list or mapping in brackets."""
    listing = _listing(body, node)
    end = listing.items[-1][1] if listing.items else listing.opening
    if listing.comment_between(end, listing.closing):
        text = newline + text_edits.indent_of(body, end) + text
    elif listing.items:
        text = f" {text}"
    return text_edits.appended(body, listing, text)


def _listing(body: str, node: Any) -> text_edits.BracketedList:
    """Return the entries, commas and comments of a list or mapping in brackets."""
    opening, closing = node.start_mark.index, node.end_mark.index - 1
    spans = [(place.start, place.value.end_mark.index) for place in _entries(node)]
    edges = [opening + 1, *(edge for span in spans for edge in span), closing]
    commas, comments = [], []
    for start, end in zip(edges[::2], edges[1::2], strict=True):  # what is between the entries
        found = [(match.start(), match.end()) for match in _COMMENT.finditer(body, start, end)]
        comments += found
        commas += [at for at in range(start, end) if body[at] == "," and not any(a <= at < b for a, b in found)]
    return text_edits.BracketedList(opening + 1, tuple(spans), tuple(commas), closing, tuple(comments))


def _path(root: Any, keys: Sequence[str]) -> list[_Place]:
    """Return the entries of a document along the keys, as far as they exist."""
    path: list[_Place] = []
    node = root
    for key in keys:
        # of a duplicate key, the last counts
        found = [each for each in _entries(node) if isinstance(node, yaml.MappingNode) and _name(each) == key]
        if not found:
            break
        path.append(found[-1])
        node = found[-1].value
    return path


def _entries(node: Any) -> list[_Place]:
    if isinstance(node, yaml.MappingNode):
        return [_Place(node, number, key.start_mark.index, each) for number, (key, each) in enumerate(node.value)]
    if isinstance(node, yaml.SequenceNode):
        return [_Place(node, number, each.start_mark.index, each) for number, each in enumerate(node.value)]
    return []


def _name(place: _Place) -> Any:
    key, _ = place.around.value[place.number]
    return key.value if isinstance(key, yaml.ScalarNode) else None


def _is_flow(node: Any) -> bool:
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _end_of_line(body: str, at: int) -> int:
    found = _LINE_END.search(body, at)
    assert found is not None  # it matches at the end
    return found.start()


def _composed(body: str) -> Any:
    return yaml.compose(body, _LOADER)


def _parsed(body: str) -> Any:
    """Return the parsed text. Raises `EditRefused` with the line if it is not YAML."""
    try:
        depth = 0
        for event in yaml.parse(body, _LOADER):
            opens = isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent))
            depth += opens - isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent))
            if depth > _DEEPEST:
                raise EditRefused("it nests too deeply", 1, "nest it less")
        value = yaml.load(body, _LOADER)  # noqa: S506  # one of the safe loaders
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise EditRefused(f"not YAML: {error.problem or error.context}", line, "fix this line") from None
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise EditRefused(f"not readable as YAML: {error}", 1, "fix the file") from None
    if value is not None and not isinstance(value, dict):
        raise EditRefused("not a mapping", 1, "write `key: value` lines, as the agent expects them")
    return value


def _items(value: Any, keys: Sequence[str]) -> list[Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def _differs_by(body: str, more: str, keys: Sequence[str], item: str) -> bool:
    """Return whether a text means the same as another one with the name; keys without a value do not count."""
    try:
        value, other = _parsed(body), _parsed(more)
        has_item = item in _items(other, keys) and item not in _items(value, keys)
        return has_item and _same(_rest(value, keys, item), _rest(other, keys, item), set())
    except EditRefused:
        return False


def _rest(value: Any, keys: Sequence[str], item: str) -> Any:
    """Return a document without the name, and without keys on the way to it that have no other value."""
    if not keys:
        return ([each for each in value if each != item] or None) if isinstance(value, list) else value
    if not isinstance(value, dict):
        return value
    inner = _rest(value.get(keys[0]), keys[1:], item)
    rest = {key: each for key, each in value.items() if key != keys[0]}
    return (rest if inner is None else {**rest, keys[0]: inner}) or None


def _same(one: Any, other: Any, known: set[tuple[int, int]]) -> bool:
    """Return whether two documents are equal; `known` are the pairs that were compared, since aliases share values."""
    if type(one) is not type(other):  # 1, 1.0 and True compare equal
        return False
    if (id(one), id(other)) in known:
        return True
    if not isinstance(one, (dict, list)):
        return repr(one) == repr(other)  # NaN is not equal to itself
    known.add((id(one), id(other)))
    if isinstance(one, list):
        return len(one) == len(other) and all(_same(*pair, known) for pair in zip(one, other, strict=True))
    return one.keys() == other.keys() and all(_same(each, other[key], known) for key, each in one.items())


def _line(body: str, keys: Sequence[str]) -> int:
    """Return the line of the last of the keys that exists."""
    path = _path(_composed(body), keys)
    return body.count("\n", 0, path[-1].start) + 1 if path else 1
