"""Generated settings files: JSON and TOML with anything that may stand in them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tenterhook.install import toml_editor


def comments() -> st.SearchStrategy[str]:
    inside = st.text(st.sampled_from('ab "{}[],:/\\é'), max_size=6)
    return inside.map(lambda text: f"//{text}\n") | inside.map(lambda text: f"/*{text.replace('*/', '')}\n*/")


gaps = st.lists(st.sampled_from(["", "", " ", "\n", "\n  ", "\t"]) | comments(), max_size=3).map("".join)
strings = st.text(st.sampled_from('abé"\\/{}[],:\n*'), max_size=5)
scalars = st.none() | st.booleans() | st.integers() | strings
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3))
names = st.sampled_from(["PreToolUse", "Stop", "PostToolUse"])
files = st.dictionaries(strings.filter(lambda key: key != "hooks"), values, max_size=3)


@st.composite
def json_texts(draw: st.DrawFn) -> bytes:
    """JSON with anything that may stand between its marks."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            members = [
                f"{draw(gaps)}{json.dumps(k)}{draw(gaps)}:{draw(gaps)}{written(v)}{draw(gaps)}"
                for k, v in value.items()
            ]
            return "{" + (",".join(members) or draw(gaps)) + "}"
        if isinstance(value, list):
            return "[" + (",".join(draw(gaps) + written(item) + draw(gaps) for item in value) or draw(gaps)) + "]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    members = list(draw(files).items())
    if draw(st.booleans()):
        hooks = draw(st.dictionaries(names, st.lists(values, max_size=3), max_size=3))
        members.insert(draw(st.integers(0, len(members))), ("hooks", hooks))
    text = draw(gaps) + written(dict(members)) + draw(gaps)
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()


TOP = [
    "a = 1",
    'b = """\n[[hooks]]\n# "quoted" \\"\\"\\" \n"""  # behind',
    "c = '''\n[hooks]\n'''",
    "d.hooks = []",
    "e = [ # [\n  1, '#', [2,\n 3], # ]\n]",
    'f = {g = "}", h = [1]}',
    '"i = [" = "= ["',
]
TABLES = [
    "[t]\nhooks = []",
    "[u.hooks]\nx = [\n{y = 1},\n]",
    "[[v]]\nz = '[[hooks]]'",
    "  [ w ]  # [[hooks]]\n",
    "[[v.x]]\n",
]
BLOCKS = [
    '[[hooks]]\nevent = "Stop"\ncommand = """\na\n[[hooks]]"""',
    "[[hooks]]",
    "  [[ 'hooks' ]] # theirs\n\tcommand = 'b'\n\n  # inside\n  event = 'x'",
    "[[hooks]]\nevent = 'y'\n[hooks.env]\nA = '1'\n[[hooks.list]]\nB = 2",
]
INLINE = ["{command = 'a'}", '{event = "Stop", command = "]},#"}', "{}", "{x = {y = [1, 2]}}"]
between = st.lists(st.sampled_from(["", "# [[hooks]]", "  ", "\t# c", toml_editor.START + "?"]), max_size=3)
spaces = st.sampled_from(["", " ", "\n", "\n    ", " # c ]\n", "\n # {\n\t"])


@st.composite
def toml_texts(draw: st.DrawFn) -> bytes:
    """TOML with hooks of others in either form, or none."""
    parts = draw(st.lists(st.sampled_from(TOP), unique=True, max_size=4))
    tables = draw(st.lists(st.sampled_from(TABLES), unique=True, max_size=4))
    tables.sort(key=lambda table: table.startswith("[[v.x"))
    if "[[v]]\nz = '[[hooks]]'" not in tables:
        tables = [table for table in tables if not table.startswith("[[v.x")]
    if draw(st.booleans()):
        items = [draw(spaces) + draw(st.sampled_from(INLINE)) + draw(spaces) for _ in range(draw(st.integers(0, 3)))]
        last = draw(st.sampled_from(["", ","])) if items else ""
        array = "hooks = [" + (",".join(items) or draw(spaces)) + last + draw(spaces) + "]"
        parts.insert(draw(st.integers(0, len(parts))), array + draw(st.sampled_from(["", " # end"])))
    else:
        for block in draw(st.lists(st.sampled_from(BLOCKS), max_size=3)):
            tables.insert(draw(st.integers(0, len(tables))), block)
        tables.sort(key=lambda table: table.startswith("[[v.x"))
    lines = draw(between)
    for part in [*parts, *tables]:
        lines += [part, *draw(between)]
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()
