"""The quick reader of front matter never disagrees with YAML."""

from __future__ import annotations

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tenterhook.formats import plain_yaml

VALUES = (
    *("true", "True", "yes", "no", "5000", "007", "1e3", "1_000", "0x1f", "1:30", "~", "null", "a: b", "a #b", "a#b"),
    *("'x'", '"x"', "'it''s'", '"\\."', "x:", "-", "- a", "[a]", "{a: b}", "!!int 5", "&a x", "*a", "| x", "%x"),
    *("^a$", "\\.py$", "(a|b)+", "/etc", "=", "<<", "2026-01-15", "@x", "`x`", "a  b", "a ", ".5", "+1", "-1"),
)
LINE = st.one_of(
    st.from_regex(r"\A(  )?[a-z_]{1,8}:( [ -~]{0,24})?\Z"),
    st.builds(
        "{}{}: {}".format,
        st.sampled_from(["", "  "]),
        st.sampled_from(["name", "trigger", "matcher", "tool", "pattern", "timeout", "async", "y", "on", "null"]),
        st.sampled_from(VALUES),
    ),
)


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(st.lists(LINE, min_size=1, max_size=6))
def test_what_it_reads_is_what_yaml_reads(lines: list[str]) -> None:
    read = plain_yaml.read(lines)
    if read is not None:
        assert read == yaml.safe_load("\n".join(lines) + "\n")
        assert str(read) == str(yaml.safe_load("\n".join(lines) + "\n"))  # true is not 1


def test_it_reads_what_people_write() -> None:
    lines = [
        "name: guard",
        "description: Blocks it",
        "trigger: before_tool",
        "matcher:",
        "  tool: Shell",
        "  pattern: 'rm'",
    ]
    assert plain_yaml.read([*lines, "timeout: 5000", "async: false"]) == {
        "name": "guard",
        "description": "Blocks it",
        "trigger": "before_tool",
        "matcher": {"tool": "Shell", "pattern": "rm"},
        "timeout": 5000,
        "async": False,
    }
