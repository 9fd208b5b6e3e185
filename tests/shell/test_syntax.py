"""The parser against real shells: `bash -n` and `dash -n` agree with it on what is a line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shell.forms import FORMS, MENTIONS
from shell.generated import Lines
from tenterhook.shell import syntax
from tenterhook.shell.syntax import Block, Budget, Function, OutOfBudget, Parser, Simple, Unreadable, decoded, parse

# Lines of other guards' test suites, for measuring; they stand beside the project, if at all.
GUARD_LINES = Path(__file__).parents[3] / "shared" / "guard"

# What is not compared: zsh's `&|` and `&!`; bash's extended patterns, which are off at first; an open bracket in a
# list or after an assignment; a backslash at the end of a script; `((` that is no arithmetic and bad names, which
# bash looks at when it runs; `[[`, whose errors `bash -n` reports with exit status 0.
NOT_COMPARED = re.compile(r"&[|!]|[?*+@!]\(|=[^\n]*\[|\\$|\(\(|\[\[|for \w*[^\w\s;]")

needs_shells = pytest.mark.skipif(not (shutil.which("bash") and shutil.which("dash")), reason="needs bash and dash")


def problem(line: str) -> str:
    """Return why our parser does not accept a line; nothing if it does."""
    try:
        parse(line, Budget(1_000_000))
    except Unreadable as error:
        return error.why
    return ""


def accepts(shell: str, line: str) -> bool:
    """Whether a shell accepts a line. With -n it runs nothing."""
    text = line.encode("utf-8", "surrogatepass")
    return subprocess.run([shell, "-n"], input=text, capture_output=True).returncode == 0


@needs_shells
@pytest.mark.parametrize("seed", range(4))
def test_generated_lines_are_lines_for_bash_and_for_us(seed: int) -> None:
    lines = Lines(seed)
    for _ in range(100):
        line = lines.sequence()
        if not NOT_COMPARED.search(line):
            assert (problem(line) == "") == (accepts("bash", line) or accepts("dash", line)), line


@needs_shells
@pytest.mark.parametrize("seed", range(4))
def test_changed_lines_are_lines_for_us_if_they_are_for_bash(seed: int) -> None:
    lines = Lines(1000 + seed)
    for _ in range(100):
        line = lines.changed(lines.sequence(1))
        if NOT_COMPARED.search(line):
            continue
        why = problem(line)
        if why:
            assert not accepts("bash", line), (line, why)
        else:
            assert accepts("bash", line) or accepts("dash", line), line


@needs_shells
def test_the_forms_that_run_a_command_are_lines() -> None:
    for line in (*FORMS, *MENTIONS):
        if not NOT_COMPARED.search(line):
            assert (problem(line) == "") == (accepts("bash", line) or accepts("dash", line)), line


@pytest.mark.slow
@needs_shells
@pytest.mark.skipif(not GUARD_LINES.is_dir(), reason="needs the lines for measuring guards")
def test_lines_of_other_guards_are_lines_for_bash_or_dash_if_they_are_for_us() -> None:
    for file in sorted(GUARD_LINES.glob("*.jsonl")):
        for row in file.read_text().splitlines():
            line = json.loads(row)["line"]
            assert (problem(line) == "") == (accepts("bash", line) or accepts("dash", line)), line


@pytest.mark.parametrize(
    "line",
    [
        "a |", "a &&", "a ||\n", "| a", "&& a", ";", "a;;b", "a & ; b", "(", "(a", "a)", "()", "{ a", "{ }", "{a;}",
        "}", "'a", '"a', "`a", "$(a", "${a", "<(a", "$((1", "if a; then b", "if a; fi", "if a; then fi",
        "while a; do b", "for x in a; do b", "for x in a; done", "case a in b) c", "case a in ) b;; esac", "done",
        "fi", "then a", "esac", "in", "! | a", "a > ", "a <<", "cat < > f", "echo (a)", "a (b", "f( { a; }",
        "a > 2>&1", "x=(a", "[[ a", "if a; then b; else c; else d; fi",
    ],
)  # fmt: skip
def test_what_no_shell_accepts_is_unreadable(line: str) -> None:
    with pytest.raises(Unreadable):
        parse(line)


@pytest.mark.parametrize(
    "line",
    [
        "", " ", "\n", "# a", "a", "a;", "a &", "a\n", "a # b", "a \\\n b", "!", "! a", "time", "time -p a", ">f",
        "a=b", "a=(b c)", "{ a; }", "{ (a) }", "{ { a; } }", "if { a; } then b; fi", "(a)", "( (a) )", "((a))",
        "((a) | b)", "$((1+2))", "$((a) | b)", "a |& b", "a &> f", "a >& f", "a 2>&1", "a <<< b", "a <&-", "{fd}> f",
        "cat <<E", "cat <<''\n\n", "cat <<\"E F\"\nx\nE F\n", "a | \n # b\n c", "a && \n b", "for x; do a; done",
        "for x do a; done", "for x\nin a; do b; done", "for ((;;)) { a; }", "for x in; do a; done", "case a in esac",
        "case a in (b) ;; c|d) e ;& *) f ;;& esac", "select x in a; do b; done", "f() { a; }", "f() ( a )",
        "f() if a; then b; fi", "function f { a; }", "function f() { a; } > g", "coproc a", "coproc X { a; }",
        "[[ a == b && ( c || ! -f d ) ]]", "[[ a =~ ^(b|c)$ ]]", "[ a = b ]", "${a}", "${a[1]}", "${#a}", "${!a}",
        "${!a@}", "${a@Q}", "${}", "${a b}", "${(f)a}", "echo ${a:-${b:-$(c \"d\")}}", "`a \\`b\\``",
        "echo \"`a \\\"b\\\"`\"", "a!(b|c)", "echo a\\", "\"${x:-it's}\"", "\"${x:-'a'}\"", "cat <<E\n${x:-it's}\nE",
        "cat <<E\n`if`\nE", "echo `if`", "until a; do b; done > f &",
    ],
)  # fmt: skip
def test_what_a_shell_accepts_is_readable(line: str) -> None:
    parse(line)


def first(line: str) -> Simple:
    command = parse(line)[0][1].stages[0]
    assert isinstance(command, Simple)
    return command


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("cat <<E\na\nE\nb", "a\n"),
        ("cat <<'E'\n$a\nE\nb", "$a\n"),
        ("cat <<-E\n\ta\n\tE\nb", "a\n"),
        ("cat <<E\nE \n E\nE\nb", "E \n E\n"),
        ("cat <<E\nE\r\nE\nb", "E\r\n"),
        ("cat <<E\r\na\r\nE\r\nb", "a\r\n"),
        ("cat <<$x\na\n$x\nb", "a\n"),
        ("cat <<E\nE)\nE\nb", "E)\n"),
        ("cat <<''\na\n\nb", "a\n"),
        ("cat <<E\n\nE\nb", "\n"),
        ("cat <<E\nE\nb", ""),
        ("cat <<E\na", "a\n"),
        ("cat <<E; b\na\nE\n", "a\n"),
    ],
)
def test_a_here_document_ends_at_its_delimiter_and_nowhere_else(line: str, text: str) -> None:
    assert "".join(decoded(part.value) for part in first(line).redirects[0].target) == text


@pytest.mark.parametrize(
    "line",
    [
        'echo "${x:-\'}"; rm a; echo "\'}"',  # quoted for bash, a command for dash
        'echo "$\\\n(rm a)"',
    ],
)
def test_what_shells_read_differently_is_unreadable(line: str) -> None:
    assert problem(line)


def test_a_carriage_return_is_a_blank_only_at_the_end_of_a_line() -> None:
    assert len(parse("a\r# ; b")) == 2
    assert [len(pipeline.stages[0].words) for _, pipeline in parse("a b\r\nc\r\n")] == [2, 1]


def test_the_commands_before_a_syntax_error_are_kept() -> None:
    parser = Parser("a; b | c\nif d; then e f; (", Budget())
    commands: list[object] = []
    with pytest.raises(Unreadable):
        commands.extend(parser.complete_commands())
    unfinished = [[decoded(word[0].value) for word in command.words] for command in parser.unfinished]
    assert unfinished == [["d"], ["e", "f"]]


def test_a_command_is_complete_once_its_here_document_is_read() -> None:
    parser = Parser("cat <<E; b\ntext\nE\nc (", Budget())
    commands = parser.complete_commands()
    assert next(commands)[1].stages[0].redirects[0].target[0].value.endswith("text\n")
    next(commands)
    with pytest.raises(Unreadable):
        next(commands)


def test_a_command_stands_at_its_span() -> None:
    line = "a b  ; { c d; } > f # g\n(h) | `i j` && x=1 k <<E | l\nE\n"

    def spans(items: object) -> list[str]:
        found = []
        for _, pipeline in items:  # type: ignore[attr-defined]
            for stage in pipeline.stages:
                found.append(line[slice(*stage.span)])
                for body in stage.bodies if isinstance(stage, Block) else ():
                    found += spans(body)
                for word in stage.words if isinstance(stage, Simple) else ():
                    for part in word:
                        found += spans(part.value) if part.kind == "command" else []
        return found

    assert spans(parse(line)) == ["a b", "{ c d; } > f", "c d", "(h)", "h", "`i j`", "i j", "x=1 k <<E", "l"]


def test_a_function_has_a_name_and_a_body() -> None:
    function = parse("f() { a; }")[0][1].stages[0]
    assert isinstance(function, Function)
    assert function.name == "f"
    assert isinstance(function.body, Block)


def test_a_budget_ends() -> None:
    with pytest.raises(OutOfBudget):
        parse("a " * 1000, Budget(100))


@pytest.mark.parametrize("line", ["ls", "  ls -l 'a b'\n", "A=1 ls > x", "ls \\\n -l"])
def test_a_line_may_be_one_command_and_nothing_else(line: str) -> None:
    assert syntax.only_command(line) is not None


@pytest.mark.parametrize(
    "line", ["", "ls;", "ls &", "! ls", "(ls)", "ls # x", "ls | wc", "ls\nls", "ls '", "f() { ls; }", "ls\\ "]
)
def test_a_line_with_more_than_one_command_has_no_only_one(line: str) -> None:
    assert syntax.only_command(line) is None


def test_every_node_of_a_tree_is_reached() -> None:
    tree = syntax.parse("f() { a $(b); }; if c; then d < <(e); fi; x=$(g)")
    simple = [node for node in syntax.nodes(tree) if isinstance(node, Simple) and node.words]
    assert sorted(node.words[0][0].value for node in simple) == ["a", "b", "c", "d", "e", "g"]
