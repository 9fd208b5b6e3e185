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


@pytest.mark.slow
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


# Lines in which `X` would be program text: a language's, a shell's, a database's, or a file of it.
PROGRAM_TEXTS = [
    # awk, sed, jq
    *('awk -F , "/X/ {print}"', "awk '/X/' f", "gawk -v a=1 '{print \"X\"}' f", "awk -f X f", "mawk 'BEGIN {X}'"),
    *("sed 's/a/X/' f", 'sed -e 1d -e "s/X/b/" f', "sed -n -i.bak --expression='X' f", "sed -f X f", "gsed 'X'"),
    *("jq '.X' f", 'jq -r ".[\\"X\\"]" f', "jq --arg a b '.X' f", "jq -f X f", "yq '.X' f", "mlr put '$x=X' f"),
    # languages
    *(
        'perl -I lib "-e X"',
        "perl -pe 's/a/X/' f",
        "perl -Mstrict -we 'X'",
        "perl -ne print X",
        "perl -p -i.bak -e 1 X",
    ),
    *(
        "node -r fs --eval=X",
        "node -r fs --eval X",
        "node -p 'X'",
        "node -pe X",
        "nodejs -e 'X'",
        "deno eval 'X'",
        "bun -e X",
    ),
    *(
        "python3 -W error -c 'X'",
        "python3.11 -W error -Ic 'print(X)'",
        "python3 - arg <<E\nprint('X')\nE",
        "pypy3 -c X",
    ),
    *(
        "python3 <<E\nX\nE",
        "python3 -u - <<< 'X'",
        "echo 'print(X)' | python3 -",
        "printf %s X | python3",
        "python3 < X",
    ),
    *(
        "python3 X",
        "ruby -rjson -e 'puts X'",
        "ruby -ne 'X' f",
        "php -r 'echo X;'",
        "php -B 'X'",
        "lua -e 'X'",
        "Rscript -e X",
    ),
    *(
        "julia -e X",
        "osascript -e 'X'",
        "tclsh <<E\nX\nE",
        "elixir -e X",
        "groovy -e X",
        "emacs --batch --eval '(X)'",
        "guile -c X",
    ),
    *("octave --eval X", "gnuplot -e X", "ruby X", "node X", "perl X a", "php <<E\n<?php X\nE", "uv run python -c 'X'"),
    # shells
    *(
        "sh -s a <<E\nX\nE",
        "bash -s -- a <<E\necho X\nE",
        "sh X",
        "bash -x X",
        "sh < X",
        "bash <(echo X)",
        ". <(echo X)",
    ),
    *(
        "echo X > f; sh f",
        "cat > f <<E\nX\nE\nsh f",
        "echo X | tee f | sh",
        "echo X | tr a b | sh",
        "cat <<< X | bash -x",
    ),
    *(
        "bash -c 'echo X' _ a",
        "bash --norc -c X",
        "fish -c X",
        "zsh -ic X",
        "busybox sh -c X",
        'x=X; sh -c "$x"',
        "x=X; eval $x",
    ),
    *(
        'f() { eval "$1"; }; f X',
        "f() { sh -c X; }",
        "while read l; do eval $l; done <<E\nX\nE",
        "source X",
        "trap X 0",
    ),
    *(
        "alias a=X",
        "env -S X",
        "env -S 'sh -c X'",
        "runuser -c X",
        "runuser -l me -c 'echo X'",
        "su me -c X",
        "su - me -c 'echo X'",
    ),
    *(
        "su --command=X me",
        "sudo -s X",
        "sudo -i echo X",
        "doas sh -c X",
        "xargs -I{} sh -c 'X {}'",
        "echo X | xargs -I{} sh -c 'echo {}'",
    ),
    *(
        "find . -exec sh -c X \\;",
        "find X -exec sh -c 'rm {}' \\;",
        "find . -execdir X \\;",
        "fd -x sh -c X",
        "parallel X ::: a",
    ),
    *(
        "parallel echo ::: X",
        "echo X | parallel",
        "ssh host echo X",
        "ssh -p 22 host 'echo X'",
        "ssh host <<E\nX\nE",
        "ssh -o ProxyCommand=X h",
    ),
    *(
        "docker exec c sh -c X",
        "docker run --rm i bash -c 'echo X'",
        "docker run --entrypoint X i",
        "kubectl exec p -- sh -c X",
    ),
    *(
        "watch X",
        "watch -n1 'ls X'",
        "flock f -c X",
        "script -c X f",
        "npm exec -c X",
        "npx -c 'ls X'",
        "tmux new -d X",
        "screen -dm sh -c X",
    ),
    *(
        "timeout 5 bash -c X",
        "nice sh -c X",
        "setsid -w sh -c X",
        "xvfb-run sh -c X",
        "strange-runner sh -c X",
        "$RUNNER -c X",
        "at now <<< X",
    ),
    *(
        "echo X | at now",
        "echo X | crontab -",
        "hyperfine 'ls X'",
        "nodemon --exec 'X'",
        "rsync -e X a b",
        "tar --to-command=X -xf a",
    ),
    *(
        "git -c core.pager=X log",
        "git -c alias.a=!X a",
        "git rebase --exec X main",
        "git submodule foreach X",
        "git bisect run X",
    ),
    *("GIT_SSH_COMMAND=X git fetch", "PAGER='X' man ls", "git difftool -x X", "GIT_EDITOR='vi X' git commit"),
    # other programs
    *(
        "make X",
        "make test FILE=X",
        "make -f X",
        "make --eval=X",
        "echo 'a:; X' | make -f -",
        "gdb -ex X p",
        "vim -c X f",
        "ex +X f",
    ),
    *(
        "ed f <<E\nX\nE",
        "sqlite3 db 'select X'",
        "sqlite3 -cmd X db",
        "echo X | sqlite3 db",
        "sqlite3 db <<E\nX\nE",
        "psql -c 'select X'",
    ),
    *(
        'psql --command="X" db',
        "psql -f X",
        "echo X | psql",
        "mysql -e X db",
        "mysql --execute='X'",
        "mysql db <<< X",
        "mongosh --eval X",
    ),
    *("duckdb -c X", "bc <<< X", "dc -e X", "m4 <<E\nX\nE", "ansible all -m shell -a X", "expect -c X"),
    # the shell itself
    *(
        "echo $((X + 1))",
        "x=X; echo $((x))",
        "let x=X",
        "let 'X'",
        "[[ X -eq 1 ]]",
        "((X))",
        "a[X]=1",
        "echo ${a[X]}",
        "unset X",
        "read X",
    ),
    *(
        "export X=1",
        "env X=1 ls",
        "test -v X",
        "printf -v X a",
        "X=1",
        "X() { :; }",
        "for X in a; do :; done",
        "cat <<'E'\nX\nE",
    ),
    *(
        "PATH=X ls",
        "export PATH=X:/bin; ls",
        "LD_PRELOAD=X ls",
        "BASH_ENV=X bash f",
        "PYTHONPATH=X python3 f",
        "export NODE_OPTIONS=X; node f",
    ),
    *("echo 'X", "echo X |", "if X", "echo $'\\x41X\\x42'"),
]
# Lines in which `X` is an argument, a file, or input that is not run.
DATA = [
    *(
        "awk -F , '{print $1}' \"X\"",
        "awk -v x=X '{print x}' f",
        "awk -f prog.awk X",
        "sed 's/a/b/' X",
        "sed -n 1p -- 'X'",
        "sed -e 1d X",
    ),
    *(
        "echo X | sed 's/a/b/'",
        "jq . X",
        "jq --arg x X '.a[$x]' f",
        "jq -n '$ARGS' --args X",
        "jq -f prog.jq X",
        "echo X | jq .",
    ),
    *(
        "perl -e 'print $ARGV[0]' X",
        "perl check.pl X",
        "node -e 'f(process.argv[1])' X",
        "node check.mjs X",
        "python3 -c 'import sys' X",
    ),
    *(
        "python3 -m json.tool X",
        "python3 check.py --path=X",
        "python3 - X <<E\nimport sys\nE",
        "echo X | python3 check.py",
        "python3 check.py < X",
    ),
    *(
        "python3 check.py <<E\nX\nE",
        "ruby check.rb X",
        "php -r 'f($argv[1]);' X",
        "php check.php X",
        "uv run ruff check X",
        "npx prettier X",
    ),
    *(
        "sh -s X <<E\necho $1\nE",
        "bash check.sh X",
        "sh -c 'echo \"$1\"' sh X",
        "sh ./check.sh < X",
        "echo X | sh check.sh",
        "cat X | wc -l",
    ),
    *(
        "find X -name '*.py'",
        "find . -name X -exec rm {} \\;",
        "find X -exec sh -c 'rm \"$1\"' sh {} \\;",
        "find . -newer X -print",
        "fd X",
    ),
    *(
        "echo X | xargs rm",
        "echo X | xargs -0 sh -c 'rm \"$@\"' sh",
        "xargs -a X ls",
        "ssh host uptime > X",
        "scp X host:",
        "docker cp X c:/",
    ),
    *(
        "docker exec c cat X",
        "docker run -v X:/x i ls /x",
        "kubectl exec p -- cat X",
        "git commit -m X",
        "git log -- X",
        "git -C X status",
    ),
    *(
        "timeout 5 cat X",
        "sudo -u me cat X",
        "env A=X ls",
        "A=X ls",
        "export A=X; ls",
        "flock X ls",
        "nice cat X",
        "command -v X",
        "which X",
    ),
    *(
        "sqlite3 X 'select 1'",
        "psql -v x=X -f q.sql",
        "mysql -u X -e 'select 1'",
        "vim X",
        "gdb X",
        "bc X",
        "grep -e X f",
        "grep -c X f",
        "rg -e X",
    ),
    *(
        "test -f X && echo X",
        "[ X = a ] || cat X",
        "case X in a*) ls;; esac",
        'for f in X; do cat "$f"; done',
        "printf '%s\\n' X",
        "echo X >> log",
    ),
    *(
        "cat <<E | grep a\nX\nE",
        "cat <<E > notes\nX\nE",
        'f() { cat "$1"; }; f X',
        'x=X; cat "$x"',
        "curl -d X https://example.com",
        "echo # X",
    ),
    *(
        "notify-send \"X\" 'X'",
        "tee X < f",
        "cat < X",
        'ls "${DIR:-X}"',
        'x=$(basename X); echo "$x"',
        "echo `basename X`",
    ),
]


@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize("line", PROGRAM_TEXTS)
def test_a_value_in_program_text_is_refused(line: str) -> None:
    """A placeholder's value never becomes code, not even inside program text of awk, perl, python, node or a shell."""
    command = line.replace("X", "{{tool_name}}")
    assert placeholders.template(command).misplaced, placeholders.template(command).line


@pytest.mark.parametrize("line", DATA)
def test_a_value_that_is_an_argument_or_input_is_data(line: str) -> None:
    assert placeholders.template(line.replace("X", "{{tool_name}}")).misplaced == ()


@pytest.mark.promise("a model that tries")
def test_a_hook_whose_value_is_code_does_not_run_however_it_was_loaded(project: Path) -> None:
    """A hook that would run a placeholder's value as code does not run."""
    (hook,) = Engine.load(configs=[write_config(project / "c.toml", table_hook("touch {{tool_name}}"))]).hooks
    engine = Engine([hook._replace(command="sh -c 'touch {{tool_name}}'")])
    (run,) = engine.decide(shell_call(tool_name="oops")).runs
    assert run.outcome == Outcome.FAILED
    assert "{{tool_name}} would be run as code" in (run.why or "")
    assert not (project / "oops").exists()


# Where the shell evaluates a value that it got by way of an argument or a variable: an index in it can run commands.
EVALUATED = [
    *("bash -c '[[ $1 -gt 600 ]]' _ {{v}}", "bash -c '(($1 > 5))' _ {{v}}", "n={{v}}; ((n > 5)) && exit 2"),
    *("bash -c 'for ((i=0; i<$1; i++)); do :; done' _ {{v}}", "bash -c 'declare -i n=$1' _ {{v}}"),
    *("n={{v}}; for ((i=0; i<n; i++)); do :; done", "typeset -i n; n={{v}}", "zsh -c 'integer n=$1' _ {{v}}"),
    *("n={{v}}; echo ${HOME:0:$n}", "n={{v}}; echo ${HOME:n}", "n={{v}}; arr=(1); echo ${arr[$n]}"),
    *("n={{v}}; arr=(1); echo ${arr[n]}", "n={{v}}; arr[n]=1", "n={{v}}; echo ${!n}"),
    *("declare -n r={{v}}; echo $r", "declare -n r; r={{v}}; echo $r", "n={{v}}; let m=n", "n={{v}}; a=n; echo $((a))"),
    *("a=({{v}}); ((a[0] > 1))", "read -r n <<< {{v}}; ((n))", "zsh -c '[ $1 -gt 5 ]' _ {{v}}"),
]
# Options whose value is code, a file with code or a setting that may be a command.
CODE_OPTIONS = [
    *("git -c {{v}} status", "git config alias.x {{v}}", "git clone -c {{v}} u", "ssh -o {{v}} h", "rg --pre {{v}} a"),
    *(
        "hyperfine {{v}}",
        "nc -e {{v}} h 1",
        "python3 -m {{v}}",
        "python3 -Im {{v}}",
        "hash -p {{v}} ls",
        "bind -x {{v}}",
    ),
    *("enable -f {{v}} x", "curl -K {{v}}", "curl --config={{v}}", "pandoc --filter {{v}} a", "pandoc -F{{v}} a"),
    *(
        "node --require {{v}} x",
        "node --import={{v}} x",
        "java -jar {{v}}",
        "java -javaagent:{{v}} M",
        "lua -l {{v}} x",
    ),
    *("ruby -r{{v}} x", "php -d auto_prepend_file={{v}} x", "pytest -p {{v}}", "prettier --plugin={{v}} a"),
]


@pytest.mark.parametrize("line", [*EVALUATED, *CODE_OPTIONS])
def test_a_value_that_is_evaluated_or_names_code_is_refused(line: str) -> None:
    assert placeholders.template(line).misplaced


@pytest.mark.parametrize(
    "line",
    [
        "n={{v}}; [ $n -gt 3 ]",
        "n={{v}}; i=1; echo $((i + 1)) $n",
        "n={{v}}; arr=(1); echo ${arr[0]} $n",
        "n={{v}}; echo ${n:0:3}",
        "n={{v}}; [[ $n = x && 3 -gt 2 ]]",
        "git config user.name {{v}}",
        "git -C {{v}} status",
        "git switch -c {{v}}",
        "python3 -mjson.tool {{v}}",
        "curl -e {{v}} u",
        "awk '{print > 1}' {{v}}",
    ],
)
def test_a_value_beside_arithmetic_or_such_an_option_is_data(line: str) -> None:
    assert placeholders.template(line).misplaced == ()
