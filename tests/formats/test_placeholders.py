"""`{{placeholders}}` of the table format: data, never code (section 5)."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import sendable_text
from support import (
    array_hook,
    decide,
    folder_hook,
    shell_call,
    table_hook,
    user_hooks,
    write_config,
)
from tenterhook import Engine, Event, Outcome
from tenterhook.formats import placeholders

if TYPE_CHECKING:
    from collections.abc import Iterator

# Everything a shell could take for more than text. Each command in it would leave a file behind.
HOSTILE = (
    "a b  * ?  $(touch oops) `touch oops` ; touch oops; ' touch oops ' \" touch oops \" $HOME ${HOME} \\ \\\\ \\n"
    " | & > oops < oops # ! ~ {a,b} [a-z]\n\ttouch oops\nEOF\ntouch oops\n{{tool_name}} é € \U0001f600 -e --"
)

# Lines that put the placeholder `X` into the file `got`, as it is.
PLACES = {
    "bare": "printf %s {{X}} > got",
    "with spaces in the braces": "printf %s {{ X }} > got",
    "in double quotes": 'printf %s "{{X}}" > got',
    "in single quotes": "printf %s '{{X}}' > got",
    "beside text": "printf %s {{X}}'' > got",
    "between quotes": "printf %s ''{{X}}\"\" > got",
    "assigned": 'x={{X}}; printf %s "$x" > got',
    "assigned in single quotes": "x='{{X}}'; printf %s \"$x\" > got",
    "assigned in double quotes": 'x="{{X}}"; printf %s "$x" > got',
    "exported": "export V={{X}}; sh -c 'printf %s \"$V\"' > got",
    "as a variable of one command": "V={{X}} sh -c 'printf %s \"$V\"' > got",
    "in a here-document": 'cat > got <<END\n{{X}}\nEND\nprintf %s "$(cat got)" > got',
    "in an indented here-document": 'cat > got <<-END\n{{X}}\n\tEND\nprintf %s "$(cat got)" > got',
    "in a command substitution": 'printf %s "$(printf %s {{X}})" > got',
    "in single quotes in a command substitution": "printf %s \"$(printf %s '{{X}}')\" > got",
    "in double quotes in a command substitution": 'printf %s "$(printf %s "{{X}}")" > got',
    "in backquotes": 'x=`printf %s {{X}}`; printf %s "$x" > got',
    "in a substitution in a here-document": 'cat > got <<END\n$(printf %s {{X}})\nEND\nprintf %s "$(cat got)" > got',
    "as a default": 'printf %s "${NOT_SET:-{{X}}}" > got',
    "in a loop": 'for x in {{X}}; do printf %s "$x" > got; done',
    "in a case": "case {{X}} in *) printf %s {{X}} > got ;; esac",
    "in a test": "[ {{X}} = x ] || printf %s {{X}} > got",
    "in a group": "{ (printf %s {{X}}); } > got",
    "to a function": 'f() { printf %s "$1"; }; f {{X}} > got',
    "in a condition": "if true; then printf %s {{X}} > got; fi",
    "in a pipe": "printf %s {{X}} | cat > got",
    "in a list": "true && printf %s {{X}} > got || true",
    "twice": "printf %s {{X}} > got # {{X}}",
    "after other letters": "echo é 'ü' > /dev/null; printf %s '{{X}}' > got",
    "as an argument of a nested shell": "sh -c 'printf %s \"$1\"' _ {{X}} > got",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_value_arrives_as_it_is_and_starts_nothing(project: Path, place: str) -> None:
    line = PLACES[place].replace("{{X}}", "{{tool_input.command}}").replace("{{ X }}", "{{ tool_input.command }}")
    verdict = decide(write_config(project / "hooks.toml", table_hook(line)), shell_call(HOSTILE))
    assert not verdict.problems
    assert (verdict.runs[0].outcome, verdict.runs[0].stderr) == (Outcome.OK, "")
    assert (project / "got").read_text() == HOSTILE
    assert sorted(path.name for path in project.iterdir()) == ["got", "hooks.toml"]


def test_text_around_a_placeholder_stays(project: Path) -> None:
    line = "printf '%s|' pre{{tool_name}}post \"in {{tool_name}} dq\" 'in {{tool_name}} sq' --x={{tool_name}} > got"
    decide(write_config(project / "hooks.toml", table_hook(line)), shell_call(tool_name="a b"))
    assert (project / "got").read_text() == "prea bpost|in a b dq|in a b sq|--x=a b|"


def test_a_value_is_one_word_even_if_it_is_empty(project: Path) -> None:
    line = 'set -- {{tool_input.command}} {{tool_input.command}}; echo "$#" > got'
    decide(write_config(project / "hooks.toml", table_hook(line)), shell_call(""))
    assert (project / "got").read_text() == "2\n"


def filled(project: Path, placeholder: str, event: Event) -> tuple[str, tuple[str, ...]]:
    """What a placeholder stands for, and what is noted."""
    config = write_config(project / "hooks.toml", table_hook(f"printf %s '{placeholder}' > got", event=event.name))
    (run,) = decide(config, event).runs
    return (project / "got").read_text(), run.notes


INPUT: dict[str, Any] = {
    "s": "text",
    "n": 1.5,
    "yes": True,
    "list": [{"a": "first"}, 2],
    "o": {"é": "x", "a-b": 1},
    "nothing": None,
}


@pytest.mark.parametrize(
    ("placeholder", "value"),
    [
        ("{{tool_name}}", "Shell"),
        ("{{event_type}}", "before_tool"),
        ("{{session_id}}", "s"),
        ("{{tool_input.s}}", "text"),
        ("{{tool_input.n}}", "1.5"),
        ("{{tool_input.yes}}", "true"),
        ("{{tool_input.list}}", '[{"a": "first"}, 2]'),
        ("{{tool_input.list.0.a}}", "first"),
        ("{{tool_input.o}}", '{"é": "x", "a-b": 1}'),
        ("{{tool_input.o.a-b}}", "1"),
        ("{{  tool_input.s  }}", "text"),
        ("{{context.k}}", "v"),
    ],
)
def test_a_placeholder_is_a_dotted_path_into_the_event(project: Path, placeholder: str, value: str) -> None:
    event = Event("before_tool", session_id="s", tool_name="Shell", tool_input=INPUT, context={"k": "v"})
    assert filled(project, placeholder, event) == (value, ())


@pytest.mark.parametrize(
    "field",
    [
        "nosuch",
        "tool_input.nosuch",
        "tool_input.nothing",
        "tool_input.s.more",
        "tool_input.list.9",
        "tool_input.list.x",
    ],
)
def test_what_is_missing_is_empty_and_noted(project: Path, field: str) -> None:
    event = Event("before_tool", tool_name="Shell", tool_input=INPUT)
    value, notes = filled(project, f"{{{{{field}}}}}", event)
    assert value == ""
    assert len(notes) == 1 and field in notes[0]


@pytest.mark.parametrize(
    "text", ["{{.Names}}", "{{ .State.Status }}", "{{}}", "{{ }}", "{{a b}}", "{{1}}", "{ {tool_name} }", "{{a.}}"]
)
def test_other_braces_stay_as_they_are(project: Path, text: str) -> None:
    assert filled(project, text, Event("before_tool", tool_name="Shell", tool_input={})) == (text, ())


def test_docker_format_strings_live_beside_placeholders(project: Path) -> None:
    event = Event("before_tool", tool_name="Shell", tool_input={})
    assert filled(project, "{{.Names}} {{tool_name}}", event)[0] == "{{.Names}} Shell"


@pytest.mark.parametrize("format_", ["array", "folder"])
def test_other_formats_have_no_placeholders(home: Path, project: Path, format_: str) -> None:
    line = "printf %s '{{tool_name}}' > got"
    if format_ == "folder":
        folder_hook(user_hooks(home), "hook", line)
        Engine.load().decide(shell_call())
    else:
        decide(write_config(project / "hooks.toml", array_hook(line)))
    assert (project / "got").read_text() == "{{tool_name}}"


def test_a_value_with_nul_is_noted_and_arrives_without(project: Path) -> None:
    value, notes = filled(project, "{{tool_name}}", Event("before_tool", tool_name="a\0b", tool_input={}))
    assert value == "a\ufffdb"
    assert len(notes) == 1 and "NUL" in notes[0]


def test_a_value_with_a_lone_surrogate_does_not_keep_a_guard_from_running(project: Path) -> None:
    config = write_config(project / "hooks.toml", table_hook("echo {{tool_input.command}} >&2; exit 2"))
    assert decide(config, shell_call("a\ud800b")).denied


def test_a_value_too_long_for_a_command_line_is_noted(project: Path) -> None:
    config = write_config(project / "hooks.toml", table_hook("echo {{tool_input.command}}"))
    (run,) = decide(config, shell_call("x" * 200_000)).runs
    assert run.outcome == Outcome.FAILED
    assert any("too long" in note and "stdin" in note for note in run.notes)


def test_a_placeholder_sees_the_input_as_modified_so_far(project: Path) -> None:
    change = """echo '{"modified_input": {"command": "new"}}'"""
    hooks = table_hook(change) + table_hook("echo {{tool_input.command}} > got")
    decide(write_config(project / "hooks.toml", hooks), shell_call("old"))
    assert (project / "got").read_text() == "new\n"


# ---- where a value would be code


@pytest.mark.parametrize(
    "line",
    [
        'sh -c "echo {{tool_name}}"',
        "sh -c 'echo {{tool_name}}'",
        "sh -c {{tool_name}}",
        "/bin/bash -lc 'echo {{tool_name}}'",
        'bash -o pipefail -c "{{tool_name}}"',
        "sudo -u root sh -c '{{tool_name}}'",
        "env A=1 sh -c '{{tool_name}}'",
        "eval {{tool_name}}",
        'eval "echo {{tool_name}}"',
        'python -c "print({{tool_name}})"',
        "python3 -c 'print(\"{{tool_name}}\")'",
        'python3 -Ic "{{tool_name}}"',
        "node -e '{{tool_name}}'",
        "perl -ne '{{tool_name}}'",
        "echo {{tool_name}} | sh",
        "sh <<END\n{{tool_name}}\nEND",
        "trap '{{tool_name}}' EXIT",
        ". {{tool_name}}",
        "echo x | xargs sh -c '{{tool_name}}'",
        "find . -exec {{tool_name}} \\;",
        "ssh host {{tool_name}}",
        "echo $(( {{tool_name}} ))",
    ],
)
def test_a_placeholder_in_the_code_of_a_nested_interpreter_is_refused(project: Path, line: str) -> None:
    engine = Engine.load(configs=[write_config(project / "hooks.toml", table_hook(line) + table_hook("exit 2"))])
    (problem,) = engine.problems
    assert (problem.code, problem.key, problem.line) == ("placeholder-in-code", "command", 2)
    assert "{{tool_name}}" in problem.message
    assert [hook.command for hook in engine.hooks] == ["exit 2"]


@pytest.mark.parametrize(
    "line",
    [
        "{{tool_name}}",
        '"{{tool_name}}" x',
        "'{{tool_name}}'",
        "./scripts/{{tool_name}}.sh",
        "A=1 {{tool_name}}",
        "! {{tool_name}}",
        "true && {{tool_name}}",
        "true; {{tool_name}}",
        "true\n{{tool_name}}",
        "true | {{tool_name}}",
        "if {{tool_name}}; then true; fi",
        "echo $({{tool_name}})",
        "echo `{{tool_name}}`",
        'echo "$({{tool_name}})"',
        "(cd /; {{tool_name}})",
        "f() { {{tool_name}}; }",
        "exec {{tool_name}}",
        "env {{tool_name}}",
        "env A=1 {{tool_name}}",
        "command {{tool_name}}",
        "nohup {{tool_name}} &",
        "time {{tool_name}}",
        "timeout 5 {{tool_name}}",
        "xargs {{tool_name}}",
        "nice -n 5 {{tool_name}}",
        "env -u A {{tool_name}}",
        "sudo -u root {{tool_name}}",
        "timeout -s KILL 5 {{tool_name}}",
        "stdbuf -o L {{tool_name}}",
        "flock /tmp/lock {{tool_name}}",
        "flock /tmp/lock -c {{tool_name}}",
        "chroot / {{tool_name}}",
        "script -qc {{tool_name}} /dev/null",
        "timeout --signal KILL 5 {{tool_name}}",
    ],
)
def test_a_placeholder_as_the_program_to_start_is_refused(project: Path, line: str) -> None:
    engine = Engine.load(configs=[write_config(project / "hooks.toml", table_hook(line))])
    assert [problem.code for problem in engine.problems] == ["placeholder-in-code"]
    assert engine.hooks == ()


@pytest.mark.parametrize(
    "line",
    [
        "python3 check.py {{tool_name}}",
        "python3 -m check {{tool_name}}",
        "bash check.sh {{tool_name}}",
        "node ~/.kimi/check.mjs --tool {{tool_name}}",
        "prettier --write {{tool_input.file_path}}",
        "sed -i 's/a/b/' {{tool_input.file_path}}",
        "git add -- {{tool_input.file_path}} && git commit -m {{tool_name}}",
        "timeout 5 ruff check {{tool_input.file_path}}",
        "find . -name {{tool_name}}",
        "grep -r {{tool_name}} .",
        "ls . {{tool_name}}",
        "command -v prettier && prettier {{tool_input.file_path}}",
        "notify-send 'tool' \"{{tool_name}} is done\"",
        "cp {{tool_input.file_path}} /tmp/backup/",
        'cat "$HOME{{tool_input.file_path}}"',
        "cat $HOME{{tool_input.file_path}}",
        """sh -c 'printf %s "$1"' sh {{tool_name}}""",
        "echo {{tool_name}} >> log; test -f x && cat x",
    ],
)
def test_a_placeholder_as_an_argument_is_not(project: Path, line: str) -> None:
    engine = Engine.load(configs=[write_config(project / "hooks.toml", table_hook(line))])
    assert engine.problems == ()
    assert len(engine.hooks) == 1


@pytest.mark.parametrize("line", ['printf %s "\\{{tool_name}}" > got', "printf %s \\{{tool_name}} > got"])
def test_a_placeholder_after_a_backslash_arrives_or_is_refused(project: Path, line: str) -> None:
    engine = Engine.load(configs=[write_config(project / "hooks.toml", table_hook(line))])
    if engine.problems:
        assert engine.hooks == ()
        return
    assert engine.decide(shell_call(tool_name="a b")).runs[0].outcome == Outcome.OK
    assert (project / "got").read_text().lstrip("\\") == "a b"


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


@pytest.mark.parametrize(
    "line",
    [
        "find . -maxdepth 0 -exec sh -c 'echo {{tool_name}}' \\;",
        "docker exec c sh -c 'echo {{tool_name}}'",
        "uv run python -c 'print({{tool_name}})'",
        "$SHELL -c 'echo {{tool_name}}'",
        "s\\h -c 'echo {{tool_name}}'",
        "\\eval {{tool_name}}",
        "git -c 'alias.z=!{{tool_name}}' z",
        "npx -c {{tool_name}}",
        "sqlite3 db '.shell {{tool_name}}'",
        "cat <<E | sh\n{{tool_name}}\nE",
    ],
)
def test_a_placeholder_behind_a_program_that_starts_programs_is_refused(project: Path, line: str) -> None:
    engine = Engine.load(configs=[write_config(project / "c.toml", table_hook(line))])
    assert [problem.code for problem in engine.problems] == ["placeholder-in-code"]
    assert engine.hooks == ()
