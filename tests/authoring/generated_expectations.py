"""Generated expectations of a case, and what could have happened."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tenterhook.authoring import expectations
from tenterhook.authoring.cases import Case

ACTUAL: dict[str, Any] = {
    "ran": True, "why_not": None, "decision": "none", "reason": None, "modified_input": None,
    "modified_output": None,
    "additional_context": None, "message": None, "scope": None, "outcome": "ok", "why": None, "exit_code": 0,
    "duration_ms": 1.0, "stdout": "", "stderr": "", "log": None, "unreadable": False, "notes": [], "env": {},
    "files": {}, "changed": {},
}  # fmt: skip
TEXTS = st.text(st.sampled_from('ab \n"\\{}é.'), max_size=12)
SAID = TEXTS.map(lambda text: text.strip() or None)
INPUTS = st.dictionaries(
    st.sampled_from(["command", "n", "matches"]), TEXTS | st.integers(0, 3) | st.booleans(), min_size=1
)
OUTPUTS = (TEXTS | INPUTS | st.lists(TEXTS, max_size=2) | st.integers(0, 3)).filter(
    lambda value: not expectations._is_expression(value)
)
FILES = st.one_of(
    st.just({"kind": "absent", "mode": "", "content": None}),
    st.just({"kind": "folder", "mode": "755", "content": None}),
    TEXTS.map(lambda text: {"kind": "file", "mode": "644", "content": text}),
)
PATHS = ("a", "b/c", "~/d e")


@st.composite
def actuals(draw: st.DrawFn) -> dict[str, Any]:
    """Anything that a worker could report."""
    if draw(st.integers(0, 5)) == 0:
        return {**ACTUAL, "ran": False, "why_not": "matcher", "files": {path: draw(FILES) for path in PATHS}}
    outcome = draw(st.sampled_from(expectations.OUTCOMES))
    return {
        **ACTUAL,
        "decision": draw(st.sampled_from(["deny", "ask", "approve", "allow", "none"])),
        "outcome": outcome,
        "why": "exit 1" if outcome == "failed" else None,
        "exit_code": draw(st.sampled_from([0, 1, 2])) if outcome != "timed_out" else None,
        "unreadable": draw(st.booleans()),
        **{key: draw(SAID) for key in ("reason", "additional_context", "message", "log")},
        "stdout": draw(TEXTS),
        "stderr": draw(TEXTS),
        "scope": draw(st.sampled_from([None, "once", "session"])),
        "modified_input": draw(st.none() | INPUTS.filter(lambda value: list(value) != ["matches"])),
        "modified_output": draw(st.none() | OUTPUTS),
        "env": draw(st.dictionaries(st.sampled_from(["A", "B"]), TEXTS)),
        "files": {path: draw(FILES) for path in PATHS},
    }


EXPECTED_TEXT = st.one_of(
    TEXTS.filter(bool), st.just(False), st.just({"matches": "^a"}), TEXTS.map(lambda text: {"contains": text})
)
EXPECTED_FILE = st.one_of(
    TEXTS, st.booleans(), st.just({"matches": "b"}), st.just({"mode": "644"}), st.just({"mode": "700", "content": "a"})
)
EXPECTED_FILES = st.dictionaries(st.sampled_from(PATHS), EXPECTED_FILE)
EXPECTS = st.one_of(
    st.fixed_dictionaries({"runs": st.just(False)}, optional={"files": EXPECTED_FILES}),
    st.fixed_dictionaries(
        {},
        optional={
            "decision": st.sampled_from(["deny", "ask", "approve", "allow", "none"]),
            "outcome": st.sampled_from(expectations.OUTCOMES),
            "exit_code": st.integers(0, 3),
            "unreadable": st.booleans(),
            "scope": st.sampled_from(["once", "session"]),
            "modified_input": INPUTS | st.just(False),
            "modified_output": OUTPUTS | st.just(False) | st.just({"matches": "^a"}),
            "env": st.dictionaries(st.sampled_from(["A", "B"]), EXPECTED_TEXT),
            "files": EXPECTED_FILES,
            **dict.fromkeys(expectations._TEXTS, EXPECTED_TEXT),
        },
    ),
)  # fmt: skip


def one_case(number: int | None, expect: dict[str, Any] | None) -> Case:
    return Case("x", "x.toml", 1, number, {}, {}, {}, None, None, expect)
