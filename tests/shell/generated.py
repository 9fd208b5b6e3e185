"""Shell lines made of harmless parts, for comparing the reader with real shells. `Lines(seed)` makes them at random."""

from __future__ import annotations

from random import Random

_WORDS = (
    "a",
    "b1",
    "x.y",
    "-n",
    "--long=v",
    "/p/q",
    "a:b",
    "@",
    "%",
    "+",
    "=",
    "a=b",
    "é",
    "..",
    "]",
    "!",
    "^a",
    "a-b",
)
_NAMES = ("v", "w", "list", "empty", "unset", "spaces")
_QUOTED = ("'a b'", "''", '""', '"a b"', "'$v'", '"$v"', '"a\\"b"', "a\\ b", "\\$v", "'a'\"b\"c", '"${v}x"', "'{a,b}'")
_ANSI = ("$'a\\tb'", "$'\\x41'", "$'\\101\\60'", "$'a\\'b'", "$'\\u0041'", "$'\\e\\a'", "$'a\\0b'", '$"a b"', "$'\\q'")
_VARIABLES = (
    *(
        "$v",
        "${v}",
        "$spaces",
        '"$spaces"',
        "${empty}",
        "$unset",
        '"$unset"',
        "${v:-d}",
        "${unset:-d e}",
        '"${unset:-d e}"',
    ),
    *("${empty:-d}", "${empty-d}", "${v:+d}", "${unset:+d}", "${unset+d}", "${v#a}", "${v##*b}", "${v%c}", "${v%%b*}"),
    *("${v/b/X}", "${v//b/X}", "${v/#a/X}", "${v/%c/X}", "${v:1}", "${v:1:2}", "${v^^}", "${v,,}", "${v^}", "${v#?}"),
    *(
        "${v%[a-c]}",
        "${v/[!a]/X}",
        "${v//?/X}",
        '"${v/b/ }"',
        "${v:-'q'}",
        "${v#*}",
        "${v##*}",
        "${list[1]}",
        "${!name}",
    ),
    *('"${list[@]}"', "${list[@]}", '"${list[*]}"', '"x${list[@]}y"', '"$@"', "$*", "$1", "${2}", "${unset:-$v}", "$#"),
    *("${spaces%% *}", '"${spaces#* }"', "${v//[bc]}", "${v/*b/}", "${v%b*}", '"${unset:-"a b"}"', "${unset:-'a b'}"),
)
_BRACES = (
    *(
        "{a,b}",
        "x{a,b}y",
        "{a,b}{c,d}",
        "{a,{b,c}}",
        "{1..3}",
        "{3..1}",
        "{01..03}",
        "{a..c}",
        "{a}",
        "{}",
        "{a,b",
        "a,b}",
    ),
    *(
        "{,a}",
        "{a,}",
        "{1..9..3}",
        "{a,b}}",
        "{{a,b}",
        "{a..c..2}",
        "{a,'b c'}",
        "{1..b}",
        "{-1..1}",
        "x{,}",
        "{a,b{c}",
    ),
    *("{a{b,c}d,e}", '{"a,b",c}', "\\{a,b}", "{a\\,b,c}", "{a,b}{1..2}", "${v}{a,b}", "{a,b}$v", "a{b}c{d,e}"),
)
_PATTERNS = ("*", "a*", "?", "[ab]", "x[!a]*", "*.txt", "[", "a[", "[]", '"*"', "\\*")
_TILDES = ("~", "~/a", "a~", "~x~", "'~'", "a=~", "a:~", "~+", "\\~")


class Lines:
    """A source of lines; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def piece(self) -> str:
        kinds = (_WORDS, _WORDS, _QUOTED, _ANSI, _VARIABLES, _VARIABLES, _BRACES, _PATTERNS)
        return self.random.choice(self.random.choice(kinds))

    def word(self) -> str:
        if not self.random.randrange(12):
            return self.random.choice(_TILDES)
        return "".join(self.piece() for _ in range(self.random.choice((1, 1, 1, 2, 2, 3))))

    def words(self) -> str:
        """Return words for one command, with only quotes, variables, braces and patterns in them."""
        return " ".join(self.word() for _ in range(self.random.randrange(1, 5)))

    def command(self, depth: int = 2) -> str:
        """Return a command that need not be good for anything, but that has a shell's syntax."""
        choice = self.random.choice
        if depth <= 0 or self.random.randrange(3) == 0:
            return (
                choice(("true", ":", "echo", "A=b c", "A=b", "x+=y", "test"))
                + choice(("", " "))
                + choice(
                    (
                        "",
                        " " + self.words(),
                        " >f",
                        " 2>&1",
                        " <f >>g",
                        " &>f",
                        " >|f",
                        " <<<w",
                        " $(true)",
                        " `true`",
                        " $((1+2))",
                    )
                )
            )

        def inner() -> str:
            return self.sequence(depth - 1)

        return choice(
            (
                lambda: f"if {inner()}; then {inner()}; fi",
                lambda: f"if {inner()}\nthen {inner()}\nelse {inner()}\nfi",
                lambda: f"while {inner()}; do {inner()}; done",
                lambda: f"until {inner()}\ndo {inner()}\ndone >f",
                lambda: f"for i in {self.words()}; do {inner()}; done",
                lambda: f"for i\ndo {inner()}\ndone",
                lambda: f"case {self.word()} in a|b) {inner()};; (*) {inner()} ;; esac",
                lambda: f"case $v in\n x) ;;\n y) {inner()}\nesac",
                lambda: f"{{ {inner()}; }}",
                lambda: f"( {inner()} )",
                lambda: f"f() {{ {inner()}; }}",
                lambda: f"function g {{ {inner()}; }}",
                lambda: f"[[ {self.word()} == {self.word()} && -n $v ]]",
                lambda: f"! {inner()}",
                lambda: f"time {inner()}",
                lambda: f"echo $({inner()})",
                lambda: f'echo "a $({inner()}) b"',
                lambda: f"echo <({inner()})",
                lambda: f"echo `{inner().replace(chr(92), '').replace('`', '')}`",
                lambda: "((v + 1))",
                lambda: f"cat <<E\n{self.words()}\nE\n",
                lambda: f"cat <<-'E' | cat\n\t{self.words()} '\n\tE\n",
                lambda: f"echo a # {self.words()}\n",
                lambda: f"list=({self.words()})",
            )
        )()

    def sequence(self, depth: int = 2) -> str:
        parts = [self.command(depth)]
        for _ in range(self.random.choice((0, 0, 0, 1, 1, 2))):
            joint = (
                "\n"
                if parts[-1].endswith("\n")
                else self.random.choice((" | ", " && ", " || ", "; ", "\n", " & ", " |& "))
            )
            parts += [joint, self.command(depth)]
        return "".join(parts).rstrip("\n") if "<<" not in "".join(parts) else "".join(parts)

    def changed(self, line: str) -> str:
        """Return a line with a few characters removed, added or exchanged, so that it may no longer be one."""
        for _ in range(self.random.randrange(1, 4)):
            at = self.random.randrange(len(line) + 1)
            added = self.random.choice(
                ("", "", "(", ")", "{", "}", "'", '"', "`", ";", "&", "|", "<", ">", "\n", "$(", " fi ", "\\", ";;")
            )
            line = line[:at] + added + line[at + self.random.randrange(2) :]
        return line

    # -- scripts that end, and whose only commands are `show` and builtins without effects --------------------------

    def shown(self) -> str:
        pieces = (
            "a",
            "$v",
            '"$v"',
            "$w",
            '"$i"',
            "$1",
            '"$@"',
            "${list[0]}",
            '"${list[@]}"',
            "'x y'",
            "{p,q}",
            "$(echo k $v)",
            "`echo m`",
            "${v%c}",
            "${unset:-z}",
            "${v/b/$w}",
            '"${#v}"',
            "$((1 + 2))",
            "b$i",
            "$r",
            '"$line"',
            "${!name}",
        )
        return "show " + " ".join(self.random.choice(pieces) for _ in range(self.random.randrange(1, 4)))

    def step(self, depth: int) -> str:
        choice, body = self.random.choice, self.steps
        condition = choice(("true", "false", '[ -n "$w" ]'))
        items = choice(("1 2", "$v", '"$@"', "${list[@]}", "{x,y}"))
        data = choice(("show n", '"$v"'))
        simple = (
            *(
                "v=abc",
                "v=$v$w",
                "w='1 2'",
                "w=",
                "name=w",
                "local_=1",
            ),
            *(
                "v=${v:1}",
                'read r <<< "$v"',
                "printf -v w %s- $v",
                "v=$(echo $w)",
                "IFS=,",
                "IFS=' '",
                "unset w",
                "export v",
                "declare w=5",
            ),
            *(
                "r='show e'",
                "$r f",
                "eval 'show g'",
                'eval "show $v"',
                "eval show '$w'",
                "alias s='show h'",
                "command show i",
                "v+=d",
            ),
            *(
                "true",
                "false",
                ": ${v:=n}",
                "unset IFS",
                "w=${v//b/-}",
                "w=$'t\\tu'",
                'f() { show j "$@"; }',
                "f $v l",
            ),
        )
        if depth <= 0 or not self.random.randrange(3):
            return choice((self.shown(), self.shown(), choice(simple)))
        return choice(
            (
                lambda: f"if {condition}; then {body(depth)}; else {body(depth)}; fi",
                lambda: f"for i in {items}; do {body(depth)}; done",
                lambda: f"case $v in a*) {body(depth)};; *) {body(depth)};; esac",
                lambda: f"{{ {body(depth)}; }}",
                lambda: f"({body(depth)})",
                lambda: f"f() {{ {self.shown()}; }}; f {choice(('', 'a b', '$v'))}",
                lambda: f"{choice(('true', 'false'))} {choice(('&&', '||'))} {{ {body(depth)}; }}",
                lambda: f"printf '%s\\n' {choice(('a b', '$v', '$w'))} | while read -r line; do {self.shown()}; done",
                lambda: f"while read -r line; do {self.shown()}; done <<E\none\n$v\nE\n",
                lambda: f"show $({self.shown()})",
                lambda: f'echo "$({body(depth - 1)})"',
                lambda: f"! {{ {body(depth)}; }}",
                lambda: f"v=Q {self.shown()}",
                lambda: f"echo {data} | {{ read -r r; {self.shown()}; }}",
                lambda: f"select_=1; until true; do {self.shown()}; done",
            )
        )()

    def steps(self, depth: int = 2) -> str:
        found = ""
        for _ in range(self.random.randrange(1, 4)):
            found += ("" if not found or found.endswith("\n") else self.random.choice(("; ", "\n"))) + self.step(
                depth - 1
            )
        return found + ":" if found.endswith("\n") else found

    def script(self) -> str:
        """Return a script. Lists and arguments are only changed at its start: they have one value for the reader."""
        lists = ("", "list=(p 'q r')", "list+=($v)", "list=()", "v=(1 2)", "set -- x 'y z'", "shift", "set --")
        chosen = "\n".join(self.random.choice(lists) for _ in range(2))
        return f"v=abc; w=; name=v; list=(x y)\nset -- 1 2\n{chosen}\n{self.steps(3)}"
