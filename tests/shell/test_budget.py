"""Hostile lines: a megabyte is read in a tenth of a second, and nothing is raised."""

from __future__ import annotations

from functools import partial

import pytest

from guards.lines import judged
from support import takes_less_than
from tenterhook import guards
from tenterhook.shell import reader
from tenterhook.shell.reader import Reading

SIZE = 1_000_000
LIMIT = 0.1  # seconds of CPU time

# Text before, text that is repeated to fill the line, text after.
LINES = {
    "one long word": ("", "a", ""),
    "words": ("", "a ", ""),
    "quoted words": ("", "'a' ", ""),
    "double quotes": ("", '"a$b" ', ""),
    "an open quote": ("'", "a", ""),
    "an open double quote": ('"', "$a", ""),
    "backslashes": ("", "\\", ""),
    "continuations": ("", "\\\n", ""),
    "newlines": ("", "\n", ""),
    "carriage returns": ("", "\r", ""),
    "comments": ("", "# a\n", ""),
    "NUL characters": ("", "\0", ""),
    "other scripts": ("", "\u202e ", ""),
    "surrogates": ("", "\ud800", ""),
    "private characters": ("", "\ue008\ue004", ""),
    "dollar signs": ("", "$", ""),
    "tildes": ("", "~", ""),
    "tildes in a value": ("PATH=", "~:", ""),
    "patterns": ("", "*?", ""),
    "sets": ("", "[", ""),
    "substitutions": ("", "$(echo a) ", ""),
    "nested substitutions": ("", "$(", ""),
    "backquotes": ("", "`a` ", ""),
    "open backquotes": ("", "`", ""),
    "escaped backquotes": ("", "`\\`", ""),
    "parentheses": ("", "(", ""),
    "arithmetic": ("", "$((", ""),
    "nested arithmetic": ("", "$((1+", ""),
    "old arithmetic": ("", "$[", ""),
    "extended patterns": ("", "!(", ""),
    "parameters": ("", "${", ""),
    "nested defaults": ("", "x=${x:-", ""),
    "quoted defaults": ("", '"${x:-', ""),
    "indexes": ("", "a[", ""),
    "words with an index": ("", "a[ ", ""),
    "escapes": ("", "$'\\x41' ", ""),
    "one word of escapes": ("$'", "\\x41", "'"),
    "braces": ("", "{a,b}", ""),
    "open braces": ("", "{", ""),
    "open braces with commas": ("", "{a,", ""),
    "nested braces": ("", "{a,{b,", "}" * 1000),
    "commands": ("", "a;", ""),
    "background commands": ("", "a&", ""),
    "and": ("", "a&&", ""),
    "or": ("", "a||", ""),
    "pipelines": ("", "a|", ""),
    "redirections": ("a ", ">b ", ""),
    "file descriptors": ("", "1", ">a"),
    "assignments": ("", "a=b ", ""),
    "doubling": ("x=aaaaaaaaaa;", "x=$x$x;", ""),
    "alternatives": ("if a; then x=1; else x=2; fi; y=$x$x$x$x; z=$y$y$y$y;", "echo $z $y;", ""),
    "variables without a value": ("", "echo $u;", ""),
    "a long value": (f"x={'a' * 100_000};", "echo $x $x;", ""),
    "lists": ("", "a+=(b);", ""),
    "a long list": ("a=(", "b ", "); echo ${a[@]}"),
    "functions": ("", "f() { f; }; ", ""),
    "nested functions": ("", "f() { ", ""),
    "aliases": ("alias a='a b';", "a;", ""),
    "if": ("", "if ", ""),
    "elif": ("if a; then b; ", "elif c; then d; ", "fi"),
    "case": ("case a in ", "a) b;; ", "esac"),
    "patterns of case": ("case a in ", "a|", "b) c;; esac"),
    "nested case": ("", "case a in a) ", ""),
    "loops": ("", "for i in {1..100000}; do rm $i; done; ", ""),
    "nested loops": ("for i in a b c d; do " * 20, "rm $i;", "done;" * 20),
    "a loop over many words": ("for i in ", "a ", "; do rm $i; done"),
    "loops in the background": ("while true; do " * 20, "a & ", "done;" * 20),
    "tests": ("[[ ", "a && ", "]]"),
    "here-documents": ("", "cat <<E\n", ""),
    "here-documents in substitutions": ("", "$(cat <<E\n", ""),
    "a long delimiter": ("cat <<", "a", "\nx"),
    "variables in a here-document": ("cat <<E\n", "some $x\n", "E\n"),
    "a script in a here-document": ("sh <<'E'\n", "ls -la\n", "E\n"),
    "process substitutions": ("cat ", "<(a) ", ""),
    "process substitutions for output": ("tee ", ">(a) ", ""),
    "evals": ("", "eval ", "a"),
    "sudos": ("", "sudo ", "a"),
    "shells": ("", "sh -c 'sh -c \"ls\"';", ""),
    "env": ("env ", "A=b ", "rm a"),
    "env -S": ("env -S '", "a ", "'"),
    "rm": ("rm ", "/a/b ", ""),
    "patterns of rm": ("rm ", "/a* ", ""),
    "a long path": ("rm ", "a/", ""),
    "cd": ("", "cd a;", ""),
    "files that grow": ("", "echo aaaaaaaaaaaaaaaaaaaaaaaa >> f;", "sh f"),
    "printf": ("printf 'x%s' ", "a ", "| sh"),
    "printf with a long format": (f"printf '{'x' * 10_000}%s' ", "a ", ""),
    "base64": ("echo ", "cm0gLXJmIGE7", "| base64 -d | sh"),
    "filters": ("echo ab ", "| rev ", "| sh"),
    "xargs": ("printf '", "a\\n", "' | xargs rm"),
    "xargs -I": ("printf '", "a\\n", "' | xargs -I{} rm {}"),
    "parallel": ("printf '", "a\\n", "' | parallel rm {}"),
    "find": ("find . ", "-exec a {} + ", ""),
    "find in many places": (f"find {'a ' * 2000}", "-exec b {} + ", ""),
    "crontab": ("printf '", "* * * * * rm a\\n", "' | crontab -"),
    "make": ("make -f - <<'E'\n", "a: ; b\n\tc $(shell d)\n", "E\n"),
    "git settings": ("git ", "-c alias.a='!b' ", "a"),
    "tmux": ("tmux ", "new 'a b' \\; ", ""),
    "gdb": ("gdb ", "-ex '!a' ", ""),
    "PowerShell": ("pwsh -c '", "a;", "'"),
    "sed with blanks": ("sed ';", " ", "'"),
    "Python": ("python3 -c '", "import os;", "'"),
    "Python with endless loops": ("python3 -c 'fork ", "while 1 ", "'"),
    "Python with parentheses": ("python3 -c '", "f(", "'"),
    "Python with strings": ("python3 - <<'E'\n", '"a"+', "\nE\n"),
    "Python with blanks": ("python3 - <<'E'\nprint('a'", " ", ")\nE\n"),
    "Perl with quotes": ("perl - <<'E'\n", "q( ", "\nE\n"),
    "Node with backquotes": ("node <<'E'\n", "exec(`a`);\n", "E\n"),
    "Python with nested calls": ("python3 - <<'E'\n", 'str("a", ', "\nE\n"),
    "sed with newlines": ("sed '", "\n", "' f"),
    "make with open calls": ("make -f - <<'E'\n", "$(shell ", "\nE\n"),
    "Tcl with newlines": ("tclsh <<'E'\n", "\n", "\nE\n"),
    "awk": ("awk '", "{print $1} ", "'"),
    "expect": ("expect -c '", "spawn a;", "'"),
}  # fmt: skip

# Text before, what opens, the innermost, what closes, text after.
NESTED = {
    "parentheses of arithmetic": ("echo $((", "(", "1", ")", "))"),
    "parentheses of an arithmetic command": ("((", "(", "1", ")", "))"),
    "parentheses of an arithmetic loop": ("for ((", "(", "1", ")", ")); do a; done"),
    "subshells without blanks": ("", "(", "a", ")", ""),
    "subshells": ("", "( ", "a", " )", ""),
    "substitutions": ("echo ", "$(", "a", ")", ""),
    "arithmetic": ("echo ", "$((1+", "1", "))", ""),
    "quoted arithmetic": ("echo \"", "$((1+", "1", "))", "\""),
    "arithmetic or a subshell": ("echo ", "$(((", "1", "))", ""),
    "subshells that begin like arithmetic": ("echo ", "$((a) ", "1", ")", ""),
    "arithmetic in parameters": ("echo ", "${x:$((", "1", "))}", ""),
    "backquotes in arithmetic": ("echo $((", "(`", "1", "`)", "))"),
    "defaults": ("echo ", "${x:-", "a", "}", ""),
    "quoted defaults": ("echo ", "\"${x:-", "a", "}\"", ""),
    "patterns of parameters": ("echo ", "${x//", "a", "/b}", ""),
    "indexes of parameters": ("echo ", "${x[", "1", "]}", ""),
    "bad parameters": ("echo ", "${(", "a", ")}", ""),
    "old arithmetic": ("echo ", "$[", "1", "]", ""),
    "backquotes": ("echo ", "`\\", "a", "`", ""),
    "quoted backquotes": ("echo ", "\"`echo ", "a", "`\"", ""),
    "parentheses of a test": ("[[ ", "( ", "a", " )", " ]]"),
    "patterns of a test": ("[[ a == ", "@(", "a", ")", " ]]"),
    "extended patterns": ("echo ", "!(", "a", ")", ""),
    "substitutions in extended patterns": ("echo ", "!($(", "a", "))", ""),
    "case": ("", "case a in a) ", "b", " ;; esac", ""),
    "parentheses of a case": ("case a in ", "(", "a", ")", " b;; esac"),
    "patterns of a case": ("case a in ", "@(", "a", ")", ") b;; esac"),
    "braces": ("echo ", "{a,", "b", "}", ""),
    "braces without commas": ("echo ", "{", "b", "}", ""),
    "groups": ("", "{ ", "a", "; }", ""),
    "functions": ("", "f() { ", "a", "; }", ""),
    "functions in subshells": ("", "f() ( ", "a", " )", ""),
    "if": ("", "if a; then ", "b", "; fi", ""),
    "while": ("", "while a; do ", "b", "; done", ""),
    "for": ("", "for i in a b; do ", "c", "; done", ""),
    "parentheses of a list": ("a=(", "(", "b", ")", ")"),
    "lists": ("", "a=(", "b", ")", ""),
    "substitutions in lists": ("", "a=($(", "b", "))", ""),
    "indexes": ("", "a[", "1", "]=1", ""),
    "process substitutions": ("cat ", "<(cat ", "a", ")", ""),
    "here-documents": ("", "cat <<E\n$(", "a", ")\nE\n", ""),
    "here-documents in substitutions": ("", "$(cat <<E\n", "a", "\nE\n)", ""),
    "indented here-documents": ("", "cat <<-E\n\t$(", "a", ")\n\tE\n", ""),
    "arithmetic in a here-document": ("cat <<E\n$((", "(", "a", ")", "))\nE\n"),
    "double quotes": ("echo ", "\"$(echo ", "a", ")\"", ""),
    "double quotes without blanks": ("echo ", "\"", "a", "\"", ""),
    "quotes of two kinds": ("echo ", "'\"", "a", "\"'", ""),
    "ANSI quotes": ("echo ", "$'", "a", "'", ""),
    "translated strings": ("echo ", "$\"", "a", "\"", ""),
    "eval": ("", "eval \"", "a", "\"", ""),
    "shells": ("", "sh -c \"", "a", "\"", ""),
    "let": ("let ", "(", "1", ")", ""),
    "open arithmetic": ("echo ", "$((", "1", "", ""),
    "open parentheses of arithmetic": ("echo $((", "(", "1", "", ""),
    "closing parentheses": ("echo ", "", "1", ")", ""),
    "calls of Python": ("python3 -c '", "f(", "1", ")", "'"),
    "quotes of Perl": ("perl -e '", "q(", "1", ")", "'"),
    "backquotes of Node": ("node -e '", "exec(`", "1", "`)", "'"),
    "calls of make": ("make -f - <<'E'\n", "$(shell ", "a", ")", "\nE\n"),
    "parentheses of find": ("find . ", "\\( ", "-name a", " \\)", " -delete"),
    "patterns": ("cat ", "*", "", "", ""),
    "sets": ("cat ", "[.]", "", "", ""),
    "an expression": ("grep -r ", "a.*", "", "", " ."),
    "parent directories": ("rm -rf ", "../", "a", "", ""),
}  # fmt: skip


def read(line: str) -> Reading:
    return reader.read(line, "/home/me/project", {"HOME": "/home/me"})


@pytest.mark.parametrize("kind", LINES)
def test_a_hostile_line_of_a_megabyte_is_read_in_time(kind: str) -> None:
    before, unit, after = LINES[kind]
    line = before + unit * ((SIZE - len(before) - len(after)) // len(unit)) + after
    assert takes_less_than(LIMIT, partial(read, line))


@pytest.mark.parametrize("size", [5_000, 10_000, 40_000, 200_000])
@pytest.mark.parametrize("kind", NESTED)
def test_a_line_that_nests_deeply_is_read_and_judged_in_time(kind: str, size: int) -> None:
    before, opening, inner, closing, after = NESTED[kind]
    count = (size - len(before) - len(inner) - len(after)) // len(opening + closing)
    line = before + opening * count + inner + closing * count + after
    assert takes_less_than(LIMIT, partial(read, line))
    for guard in guards.GUARDS.values():
        assert takes_less_than(LIMIT, partial(judged, guard, line)), guard


@pytest.mark.parametrize(
    "line",
    [
        "rm /" + "*" * 60 + "x",
        "x=" + "a" * 50_000 + "; echo ${x#" + "*a" * 50 + "b}",
        "x=" + "a" * 100_000 + "; echo ${x//a/" + "b" * 1000 + "}",
        "echo " + "a" * 100_000 + " | sed s/a/" + "b" * 100_000 + "/",
        "echo a | tr '\\001-\U0010ffff' a",
        "shift 99999999999999999999999; echo ${" + "9" * 5000 + "} {1.." + "9" * 5000 + "} ${x:" + "9" * 5000 + "}",
        "shift ²; echo ${a[²]} $((²))",
        "$(echo $u " * 50 + ")" * 50,
        "python3 -c 'kill" + " " * 30_000 + "'",
        "9" * 50_000 + "x" + "9" * 50_000,
    ],
)  # fmt: skip
def test_short_lines_with_much_work_are_read_in_time(line: str) -> None:
    assert takes_less_than(LIMIT, partial(read, line))


@pytest.mark.parametrize("before", ["rm -rf /; ", "rm -rf / ", "{ rm -rf /; ", "if a; then rm -rf /; "])
def test_what_was_read_before_the_budget_ended_is_kept(before: str) -> None:
    reading = read(before + "a " * 500_000)
    assert not reading.is_complete
    assert [command.words[:3] for command in reading.commands if command.name == "rm"] == [["rm", "-rf", "/"]]


def test_a_megabyte_of_here_document_is_read_in_full() -> None:
    text = "some text; `ls` $(ls) 'quoted\n" * 34_000
    reading = read(f"cat > f <<'E'\n{text}E\necho done")
    assert reading.is_complete
    assert [command.words for command in reading.commands] == [["cat"], ["echo", "done"]]
    assert reading.commands[0].stdin == text


def test_a_script_of_300_lines_is_read_in_full() -> None:
    part = """
# install what is needed
if ! command -v jq >/dev/null 2>&1; then
    echo "jq is missing" >&2
    exit 1
fi
for name in alpha beta gamma; do
    target="$HOME/build/$name"
    mkdir -p "$target" && cp -r "src/$name/." "$target/"
    (cd "$target" && make -j4 all | tee build.log)
done
version=$(git describe --tags --always)
case "$version" in
    v1.*) echo old ;;
    *) echo "new: ${version#v}" ;;
esac
cat > config.json <<EOF
{"version": "$version"}
EOF
"""
    script = part * (300 // part.count("\n") + 1)
    assert takes_less_than(LIMIT, partial(read, script))
    reading = read(script)
    assert reading.is_complete
    assert sum(command.name == "cp" for command in reading.commands) == 3 * script.count("cp -r")


def test_a_program_with_its_arguments_is_read_within_the_budget() -> None:
    long, script = ["rm"] + ["a"] * 500_000, ["sh", "-c", "a;" * 500_000]
    assert not reader.read(long, "/", {}).is_complete
    assert reader.read(script, "/", {}).commands[0].name == "sh"
    assert takes_less_than(LIMIT, lambda: reader.read(long, "/", {}))
    assert takes_less_than(LIMIT, lambda: reader.read(script, "/", {}))
