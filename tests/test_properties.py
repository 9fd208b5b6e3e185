"""What holds for every input, not only for those somebody thought of."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from support import table_hook, write_config
from tenterhook import Action, Decision, Engine, Event, Hook, Run, UnknownEvent
from tenterhook.basics import light_json, literal_search
from tenterhook.basics.light_json import input_texts
from tenterhook.engine.decisions import read_decision
from tenterhook.engine.verdicts import merge
from tenterhook.events import BY_NAME, EVENTS, spec_of
from tenterhook.formats import expressions, placeholders
from tenterhook.model import PRECEDENCE, Failure

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile(
    "tenterhook",
    deadline=None,
    database=None,
    derandomize=True,  # the same examples each time: a failure is the change's, not the day's
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("tenterhook")

any_text = st.text(st.characters(), max_size=40)  # lone surrogates too
sendable_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
json_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text
json_values = st.recursive(
    json_scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


# ---- merging


decisions = st.builds(
    Decision,
    action=st.sampled_from(list(Action)),
    reason=st.none() | st.text(max_size=5),
    scope=st.sampled_from([None, "once", "session"]),
    ignored=st.sampled_from([None, None, None, "observer"]),
    unreadable=st.booleans(),
)
outcomes = st.sampled_from([None, None, None, Failure.EXIT, Failure.TIMED_OUT])


@st.composite
def runs(draw: st.DrawFn, event: str = "pre-tool-call") -> Run:
    hook = Hook("h", event, event, "array")
    failure = draw(outcomes)
    return Run(hook, failure=failure, decision=Decision() if failure else draw(decisions))


@pytest.mark.parametrize("name", ["pre-tool-call", "permission-request"])
@given(data=st.data())
@settings(max_examples=60)
def test_the_decision_does_not_depend_on_the_order_of_hooks(name: str, data: st.DataObject) -> None:
    said = data.draw(st.lists(runs(name), max_size=6))
    other = data.draw(st.permutations(said))
    event = Event(name, tool_name="Shell", tool_input={})
    one, two = merge(event, said), merge(event, other)
    assert (one.decision, one.scope) == (two.decision, two.scope)


@given(said=st.lists(runs(), max_size=6))
@settings(max_examples=60)
def test_the_verdict_is_the_strongest_decision_that_counts(said: list[Run]) -> None:
    counted = [run.decision.action for run in said if run.decision.ignored is None]
    strongest = next((action for action in PRECEDENCE if action in counted), Action.NONE)
    assert merge(Event("pre-tool-call"), said).decision is strongest


@given(said=st.lists(runs("permission-request"), max_size=6))
@settings(max_examples=60)
def test_nothing_is_approved_unless_a_hook_approved_and_none_failed(said: list[Run]) -> None:
    verdict = merge(Event("permission-request"), said)
    if verdict.decision is Action.APPROVE:
        assert any(run.decision.action is Action.APPROVE and run.decision.ignored is None for run in said)
        assert not any(run.failed or run.decision.unreadable for run in said)
        assert not any(run.decision.action is Action.DENY and run.decision.ignored is None for run in said)


# ---- reading


answers = st.fixed_dictionaries(
    {},
    optional={
        "decision": st.sampled_from(["allow", "deny", "block", "ask", "approve"]) | json_values,
        "reason": json_values,
        "modified_input": json_values,
        "additional_context": json_values,
        "message": json_values,
        "scope": st.sampled_from(["once", "session"]) | json_values,
        "log": json_values,
        "hookSpecificOutput": json_values
        | st.fixed_dictionaries(
            {}, optional={"permissionDecision": st.sampled_from(["allow", "deny"]) | json_values, "reason": json_values}
        ),
    },
)
printed = (
    st.binary(max_size=200).map(lambda data: data.decode("utf-8", "replace"))
    | any_text
    | json_values.map(json.dumps)
    | answers.map(json.dumps)
    | st.tuples(any_text, answers.map(json.dumps)).map("\n".join)
    | st.integers(1, 100_000).map(lambda depth: "[" * depth)
    | st.integers(1, 100_000).map(lambda depth: '{"a":' * depth + "1" + "}" * depth)
)


@given(
    stdout=printed,
    stderr=any_text,
    code=st.sampled_from([0, 2]),
    event=st.sampled_from(EVENTS),
    family=st.sampled_from(["folder", "table", "array"]),
)
@settings(max_examples=120)
def test_no_output_of_a_hook_raises(stdout: str, stderr: str, code: int, event: Any, family: str) -> None:
    run = Run(Hook("h", event.name, event.name, family), exit_code=code, stdout=stdout, stderr=stderr)
    decision = read_decision(run)
    assert (decision.action is Action.DENY) or code == 0
    if decision.action is Action.DENY:
        assert decision.reason
    json.dumps(merge(Event(event.name), [run._replace(decision=decision)]).as_json())


@given(stdout=printed, why=st.sampled_from(list(Failure)), closed=st.booleans())
@settings(max_examples=60)
def test_a_failure_decides_nothing_unless_the_hook_fails_closed(stdout: str, why: Failure, closed: bool) -> None:
    hook = Hook("h", "pre-tool-call", "PreToolUse", "array", fail_closed=closed)
    decision = read_decision(Run(hook, failure=why, why=str(why), exit_code=0, stdout=stdout))
    assert decision.action is (Action.DENY if closed else Action.NONE)


@given(answer=answers)
@settings(max_examples=60)
def test_only_permission_decisions_skip_the_question_of_a_call(answer: dict[str, Any]) -> None:
    run = Run(Hook("h", "pre-tool-call", "PreToolUse", "array"), exit_code=0, stdout=json.dumps(answer))
    if read_decision(run).action is Action.APPROVE:
        assert answer["hookSpecificOutput"]["permissionDecision"] in ("allow", "approve")


# ---- placeholders


# Each puts the variable-length value between two marks of its own, whatever the quoting around it.
CONTEXTS = [
    "printf '%s\\0' {{x}}",
    "printf '%s\\0' '{{x}}'",
    'printf "%s\\0" "{{x}}"',
    "printf '%s\\0' a{{x}}b | sed -z 's/^a//; s/b$//'",
    "v={{x}}; printf '%s\\0' \"$v\"",
    "v='{{x}}' ; printf '%s\\0' \"$v\"",
    "printf '%s\\0' \"$(printf '%sx' {{x}})\" | sed -z 's/x$//'",
    "printf '%s\\0' \"$(printf '%sx' '{{x}}')\" | sed -z 's/x$//'",
    "printf '%s\\0' \"$(cat <<END\n{{x}}x\nEND\n)\" | sed -z 's/x$//'",
    "for v in {{x}}; do printf '%s\\0' \"$v\"; done",
    "f() { printf '%s\\0' \"$1\"; }; f {{x}}",
    "case {{x}} in *) printf '%s\\0' {{x}};; esac",
    "printf '%s\\0' \"${NOT_SET:-{{x}}}\"",
    'sh -c \'printf "%s\\0" "$1"\' _ {{x}}',
]

# Pieces that mean something to a shell; each command in them would leave a file behind.
PIECES = [
    *(
        "$(touch oops)",
        "`touch oops`",
        ";touch oops;",
        "\ntouch oops\n",
        "&touch oops&",
        "|touch oops|",
        "'",
        '"',
        "\\",
    ),
    *("\\\\", "$HOME", "${IFS}", "*", "?", "[a-z]", "~", "#", "!", " ", "\t", "\n", "END", "\nEND\n", "EOF", "))", "}"),
    *(
        ";;",
        "esac",
        "done",
        ">oops",
        "<oops",
        "$((1+1))",
        "{{x}}",
        "{{tool_name}}",
        "%s",
        "\\0",
        "\\n",
        "-n",
        "--",
        "é",
    ),
]
hostile = st.lists(st.sampled_from(PIECES) | sendable_text, max_size=8).map("".join)


@pytest.fixture(scope="module")
def empty_directory() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp())
    yield directory
    shutil.rmtree(directory)


@given(values=st.lists(hostile, min_size=1, max_size=6))
@settings(max_examples=25)
def test_placeholders_never_start_a_command_and_arrive_byte_for_byte(empty_directory: Path, values: list[str]) -> None:
    names = [f"v{number}" for number in range(len(values))]
    lines = [context.replace("{{x}}", f"{{{{{name}}}}}") for name in names for context in CONTEXTS]
    filled = placeholders.fill("\n".join(lines), dict(zip(names, values, strict=True)))
    assert not placeholders.template("\n".join(lines)).misplaced
    ended = subprocess.run(
        ["/bin/sh", "-c", filled.line],
        env={"PATH": os.environ["PATH"], "LC_ALL": "C", **filled.variables},
        cwd=empty_directory,
        capture_output=True,
        timeout=30,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    got = ended.stdout.split(b"\0")[:-1]
    assert got == [value.encode() for value in values for _ in CONTEXTS]
    assert os.listdir(empty_directory) == []


@given(value=hostile)
@settings(max_examples=20)
def test_a_value_goes_through_a_real_hook_unharmed(project: Path, value: str) -> None:
    line = (
        "printf %s {{tool_input.v}} > one; printf %s '{{tool_input.v}}' > two; printf %s \"{{tool_input.v}}\" > three"
    )
    engine = Engine.load(configs=[write_config(project / "hooks.toml", table_hook(line))])
    engine.decide(Event("pre-tool-call", tool_name="Shell", tool_input={"v": value}))
    for name in ("one", "two", "three"):
        assert (project / name).read_bytes() == value.encode()
    assert sorted(os.listdir(project)) == ["hooks.toml", "one", "three", "two"]


@given(line=st.lists(st.sampled_from([*PIECES, "{{x}}", "echo "]) | sendable_text, max_size=8).map("".join))
@settings(max_examples=60)
def test_any_line_can_be_read_for_placeholders(line: str) -> None:
    template = placeholders.template(line)
    assert len(template.misplaced) <= len(template.fields)
    if not template.fields:
        assert template.line == line
    placeholders.fill(line, {"x": "y"})


# ---- events


@given(st.sampled_from(EVENTS))
def test_every_name_of_an_event_leads_to_it_and_back(spec: Any) -> None:
    for name in spec.names:
        assert spec_of(name) is spec
        assert name in spec_of(name).names
        assert Event(name).canonical == spec.name
    assert len(set(spec.names)) == len(spec.names)


def test_no_two_events_share_a_name() -> None:
    assert len(BY_NAME) == sum(len(spec.names) for spec in EVENTS)


@given(any_text.filter(lambda name: name not in BY_NAME))
@settings(max_examples=60)
def test_any_other_name_is_an_error_with_a_remedy(name: str) -> None:
    with pytest.raises(UnknownEvent) as caught:
        spec_of(name)
    assert caught.value.remedy


@given(fields=st.dictionaries(st.text("abcdefghij_", min_size=1), json_values, max_size=4))
@settings(max_examples=80)
def test_an_event_replaced_by_itself_is_the_same(fields: dict[str, Any]) -> None:
    event = Event("pre-tool-call", session_id="s", **{f"f_{key}": value for key, value in fields.items()})
    again = event.replace()
    assert (again.fields, again.timestamp, again.work_dir) == (event.fields, event.timestamp, event.work_dir)


# ---- JSON


@dataclasses.dataclass
class Box:
    value: Any
    name: str = "box"


hashable = st.none() | st.booleans() | st.integers() | st.floats() | any_text | st.binary(max_size=5)
anything = st.recursive(
    hashable | st.complex_numbers() | st.dates() | st.decimals() | st.sets(hashable, max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.builds(Box, inner)
    ),
    max_leaves=10,
)


@given(anything)
@settings(max_examples=100)
def test_any_value_becomes_json_on_one_line(value: Any) -> None:
    data = light_json.encode(light_json.plain(value))
    assert b"\n" not in data
    assert json.loads(data) == light_json.plain(value)


@given(json_values)
@settings(max_examples=100)
def test_json_stays_what_it_is(value: Any) -> None:
    assert light_json.plain(value) == value
    assert json.loads(light_json.encode(value)) == value
    assert json.dumps(light_json.plain(light_json.plain(value))) == json.dumps(light_json.plain(value))


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_number_that_json_cannot_hold_is_its_string_form(value: float) -> None:
    plain = light_json.plain(value)
    assert plain == (value if math.isfinite(value) else str(value))


@given(any_text)
def test_printable_text_can_be_encoded(value: str) -> None:
    assert light_json.printable(value).encode().decode() == light_json.printable(value)
    assert len(light_json.printable(value)) == len(value)


@given(json_values)
@settings(max_examples=100)
def test_every_string_of_an_input_is_searched(value: Any) -> None:
    def strings(item: Any) -> Iterator[str]:
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            for each in item.values():
                yield from strings(each)
        elif isinstance(item, list):
            for each in item:
                yield from strings(each)

    assert set(strings(value)) <= set(input_texts({"input": value}))


# ---- expressions


atoms = st.sampled_from(["a", "b", ".", r"\w", "[ab]", "[^b]", r"\s", "(?:a|b)", "(?:a|ab)", "(a)", r"\b", "^", "$"])
counts = st.sampled_from(["", "", "*", "+", "?", "*?", "+?", "{2}", "{,3}", "{1,20}", "{20}", "{2,}", "{,}", "{0,9}"])
patterns = st.recursive(
    st.tuples(atoms, counts).map("".join),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4).map("".join)
        | st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format)
        | st.tuples(inner, counts).map("({0[0]}){0[1]}".format)
    ),
    max_leaves=7,
)

WORKER = """
import json, sys
from tenterhook.formats import expressions
for line in sys.stdin:
    dialect, expression, text = json.loads(line)
    expressions.search(dialect, expression)(text)
    print("done", flush=True)
"""


class Worker:
    """Searches in a process that can be killed; restarted when it had to be."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def seconds(self, dialect: str, expression: str, text: str, limit: float) -> float:
        """How long a search takes, at most the limit."""
        process = self._process
        if process is None:
            process = self._process = subprocess.Popen(
                [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self.seconds(dialect, "a", "a", 30)  # it is up
        assert process.stdin and process.stdout
        begun = time.monotonic()
        process.stdin.write(json.dumps([dialect, expression, text]) + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], limit)[0]:
            self.close()
            return limit
        process.stdout.readline()
        return time.monotonic() - begun

    def close(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


@given(
    expression=patterns,
    text=st.sampled_from(["a" * 18 + "!", "a" * 40 + "!", "ab" * 30 + "!", "a b" * 100 + "!", "a" * 3000]),
    dialect=st.sampled_from(["python", "javascript"]),
)
@settings(max_examples=120, phases=[Phase.explicit, Phase.generate])
def test_what_is_matched_on_the_spot_never_takes_long(worker: Worker, expression: str, text: str, dialect: str) -> None:
    try:
        expressions.search(dialect, expression)
    except expressions.BadExpression:
        return
    if expressions.on_the_spot(expression, len(text)):
        assert worker.seconds(dialect, expression, text, 2) < 2


@given(expression=any_text | st.text("ab()[]{}|*+?.\\^$,123", max_size=15))
@settings(max_examples=120)
def test_every_expression_is_either_refused_or_can_be_judged(expression: str) -> None:
    for dialect in ("python", "javascript"):
        try:
            expressions.search(dialect, expression)
        except expressions.BadExpression:
            continue
        assert expressions.on_the_spot(expression, 10) in (True, False)
        assert expressions.can_run_away(expression) in (True, False)


@given(text=any_text)
@settings(max_examples=100)
def test_a_literal_is_found_in_itself_in_both_dialects(text: str) -> None:
    escaped = re.sub(r"([^\w\s])", r"\\\1", text) if text.isascii() else ""
    for dialect in ("python", "javascript"):
        assert expressions.search(dialect, escaped)(text) is not None


@settings(max_examples=600, deadline=None, derandomize=True, database=None)
@given(st.text("ab0.*+?|()[]{}^$\\dwsb -,:", max_size=16))
def test_an_expression_taken_at_a_look_is_one_in_both_dialects(expression: str) -> None:
    if re.fullmatch(expressions._VALID, expression):
        for dialect in (expressions.PYTHON, expressions.JAVASCRIPT):
            expressions.search(dialect, expression)  # does not raise


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES, st.booleans(), st.booleans())
def test_light_json_writes_what_json_writes(value: Any, ascii_only: bool, sort_keys: bool) -> None:
    expected = json.dumps(value, ensure_ascii=ascii_only, sort_keys=sort_keys)
    assert light_json.dumps(value, ascii_only=ascii_only, sort_keys=sort_keys) == expected


@given(JSON_VALUES.map(lambda value: json.dumps(value, indent=1)) | st.text(alphabet='[]{}",:01e-.nulltrueNaN \\\n\t'))
def test_light_json_reads_what_json_reads(text: str) -> None:
    try:
        expected = json.loads(text)
    except (ValueError, RecursionError):
        with pytest.raises((ValueError, RecursionError)):
            light_json.loads(text)
    else:
        assert repr(light_json.loads(text)) == repr(expected)


@given(
    st.sampled_from(["python", "javascript"]),
    st.text(alphabet="ab^$|( )_", max_size=8),
    st.text(alphabet="ab \n_", max_size=6),
)
def test_words_are_found_where_the_expression_would_find_them(dialect: str, expression: str, text: str) -> None:
    found = literal_search.search(dialect, expression)
    if found is not None:
        assert found(text) == bool(expressions.search(dialect, expression)(text))
