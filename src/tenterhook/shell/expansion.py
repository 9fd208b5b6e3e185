"""Expands words: variables and their operators, substitutions, braces and fields, if their values are known."""

from __future__ import annotations

from ..basics import lazy_re as re
from ..basics import light_json
from .commands import LONGEST_SHOWN, ReadingNote, because, shortened
from .state import MOST_VALUES, some_values
from .syntax import BREAK, DECODED, DIGITS, NAME, NETWORK, PRIVATE, QUOTED, UNKNOWN, Budget, Parser, Unreadable, decoded
from .words import MOST_WORDS, Pattern, TooManyWords, encoded, plain_number, small_number, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from .commands import Span
    from .state import ShellState
    from .syntax import Part, Pipeline, Variable, Word

LONGEST = 200_000  # characters of an output that is kept; a longer one is unknown
DEEPEST = 12  # levels of nested shells and functions
MOST_PRIVATE = 1_000
_SET_BY_SHELL = frozenset(
    "OLDPWD RANDOM SECONDS BASHPID LINENO UID EUID HOSTNAME PPID REPLY OPTARG OPTIND BASH BASH_SOURCE BASH_VERSION "
    "BASH_REMATCH FUNCNAME SHLVL SHELL PIPESTATUS ZSH_VERSION HOSTTYPE MACHTYPE OSTYPE COLUMNS LINES PATH USER TERM "
    "LOGNAME LANG EDITOR SRANDOM EPOCHSECONDS DIRSTACK GROUPS".split()
)


def changed_variables(environment: Mapping[str, str]) -> dict[str, str | bool | None]:
    """Return the variables that differ in the agent's own shell; None: not set there; True: the value is unknown."""
    text = environment.get("TENTERHOOK_CHANGED_VARIABLES")
    if not text:
        return {}
    try:
        found = light_json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"*": True}


class Expansion:
    """Expands the words of one line. A subclass determines what substitutions print, in `sequence`."""

    def __init__(self, environment: Mapping[str, str], line: str) -> None:
        self.environment = environment
        self.changed_variables = changed_variables(environment)
        self.line = line
        self.notes: list[ReadingNote] = []
        self.code_run: list[str] = []
        self.budget = Budget()
        self.unset_is_empty = False  # whether a variable without a value is expanded as empty, and not as unknown
        self.met_unset: list[str] = []
        self.span: Span | None = None  # of the simple command that is being walked
        self.deferred: list[Sequence[tuple[str, Pipeline]]] = []  # `>(…)`, walked once their input is known
        self.process_substitutions = 0
        self.evaluated: set[str] = set()  # variables whose values are arithmetic, or the names of others

    def sequence(
        self, sequence: Iterable[tuple[str, Pipeline]], state: ShellState, stdin: str | None, depth: int
    ) -> str:
        """Walk commands and return what they print, with marks for what is not known."""
        raise NotImplementedError

    def note(self, kind: str, shown: str) -> None:
        self.notes.append(ReadingNote(kind, shortened(shown)))

    def copy(self, state: ShellState) -> ShellState:
        self.budget.spend(1 + state.size() // 8)
        return state.copy()

    def joined(self, texts: list[str]) -> str:
        """Return the parts of an output as one text; if it is too long, the mark of unknown text."""
        texts = [text for text in texts if text]
        size = sum(map(len, texts)) if len(texts) > 1 else 0
        self.budget.spend_on(size)
        return "".join(texts) if size <= LONGEST else UNKNOWN

    def offset(self, code: str) -> int | None:
        """Return the position of code in the line, from the command that runs it on; None if it is not there."""
        if self.span is None or not code:
            return None
        found = self.line.find(code, self.span[0])
        self.budget.spend_on(((found if found >= 0 else len(self.line)) - self.span[0]) // 16)
        return found if found >= 0 else None

    # -- words ----------------------------------------------------------------------------------------------------

    def fields(self, words: list[Word], state: ShellState, depth: int) -> list[list[str]]:
        """Return the words of a command, for the combinations of the possible values of its variables."""
        columns: list[list[list[str]]] = []  # of each word's possible fields
        total = 1
        for word in words:
            self.budget.spend()
            texts = self.expand(word, state, depth)
            if len(texts) == 1:
                columns.append([self.split(texts[0])])
                continue
            columns.append([list(each) for each in dict.fromkeys(tuple(self.split(text)) for text in texts)])
            total *= len(columns[-1])
        if total == 1:
            return [[field for column in columns for field in column[0]]]
        combinations = _product(columns) if total <= 2 * MOST_VALUES else _cover(columns)
        self.budget.spend(len(combinations) * (1 + len(columns) // 8))
        return [[field for fields in combination for field in fields] for combination in combinations]

    def split(self, text: str) -> list[str]:
        """Return the words of one expanded text."""
        self.budget.spend_on(len(text))
        try:
            return split_words(text, self.budget)
        except TooManyWords as error:
            self.note("unreadable", because(text[:LONGEST_SHOWN], f"it gives more than {MOST_WORDS} words"))
            return error.words

    def expand(self, word: Word, state: ShellState, depth: int, in_quotes: bool = False) -> list[str]:
        """Return a word's possible texts, with marks for field separators and active patterns."""
        if len(word) == 1 and word[0].kind == "text":
            return [word[0].value]
        if _is_list_alone(word) and self.variable(word[1], state, depth, in_quotes) == [""]:
            return [""]  # no word at all
        texts = [""]
        for part in word:
            self.budget.spend()
            values = self.part(part, state, depth, in_quotes)
            texts = [_limited(before + after) for before in texts for after in values]
            if len(texts) > 2 * MOST_VALUES:
                texts = [*texts[: 2 * MOST_VALUES - 1], UNKNOWN]
            self.budget.spend_on(sum(map(len, texts)) if len(texts) > 1 else len(texts[0]) // 4)
        return texts

    def part(self, part: Part, state: ShellState, depth: int, in_quotes: bool) -> list[str]:
        """Return the possible texts of a part of a word."""
        match part.kind:
            case "text":
                return [part.value]
            case "tilde":
                return [QUOTED + each for each in self.tilde(part.value, state)]
            case "variable":
                return self.variable(part, state, depth, in_quotes)
            case "command":
                outer = self.span
                out = self.sequence(part.value, self.copy(state), "", depth + 1).replace("\0", "").rstrip("\n")
                self.span = outer
                return [self.encoded(out, part.quoted or in_quotes, self.separators(state))]
            case "process":
                return [QUOTED + self.process(part.value, state, depth)]
        self.arithmetic(part.value, state, depth)
        return [UNKNOWN]

    def encoded(self, value: str, quoted: bool, separators: str) -> str:
        self.budget.spend_on(len(value))
        return encoded(value, quoted, separators)

    def arithmetic(self, word: Word, state: ShellState, depth: int) -> None:
        """Walk an arithmetic expression."""
        self.evaluate(self.expand(word, state, depth), state, depth)

    def evaluate(self, texts: Iterable[str], state: ShellState, depth: int) -> None:
        """Walk the substitutions in arithmetic texts, and in the values of the variables that these name."""
        left = [decoded(text) for text in texts]
        seen: set[str] = set()
        while left:
            text = left.pop()
            if not text.isdigit():
                self.substituted(text, state, depth)
            for name in {*re.findall(r"[A-Za-z_]\w*+", text[:1000])} - seen if state.variables or state.lists else ():
                self.budget.spend()
                seen.add(name)
                left += [*state.variables.get(name, ()), *state.lists.get(name, ())[:MOST_VALUES]]

    def substituted(self, text: str, state: ShellState, depth: int) -> None:
        """Walk the command substitutions in a text that the shell expands again, such as the index in `a[$(ls)]`."""
        self.code_run.append(text)
        if "$(" not in text and "`" not in text:
            return
        try:
            if depth > DEEPEST:
                raise Unreadable("it is nested too deeply")
            word = Parser(text, self.budget, self.offset(text)).double("")
        except Unreadable:
            self.note("unreadable", text)
            return
        self.expand(word, state, depth + 1)

    def indexes(self, words: Iterable[str], state: ShellState, depth: int) -> None:
        """Walk the indexes in words, which are expanded even if the word was quoted: `unset 'a[$(ls)]'`."""
        for word in words:
            if "[" in word and re.match(r"(?:\w+\+?=)?[A-Za-z_]\w*\[", word):
                self.substituted(word, state, depth)

    def process(self, value: tuple[str, Sequence[tuple[str, Pipeline]]], state: ShellState, depth: int) -> str:
        """Return the path that a process substitution is replaced with."""
        direction, body = value
        self.process_substitutions += 1
        path = f"/dev/fd/{62 + self.process_substitutions}"
        if direction == "<":
            state.files[path] = self.sequence(body, self.copy(state), None, depth + 1)
        else:
            self.deferred.append(body)
        return path

    def tilde(self, user: str, state: ShellState) -> tuple[str, ...]:
        if user == "+":
            return (state.directory,)
        if not user:
            return tuple(each or "/" for each in self.values("HOME", state))
        return ("/root" if user == "root" else f"/home/{user}",)

    # -- variables ------------------------------------------------------------------------------------------------

    def assign(self, state: ShellState, name: str, index: str | None, operator: str, value: Any, depth: int) -> str:
        """Set a variable; return its value, or the first of several."""
        if index is None and operator == "=":
            state.lists.pop(name, None)
        before = state.lists.get(name, []) if operator == "+=" or index is not None else []
        if value and isinstance(value[0], list):
            fields = self.fields(value, state, depth)[0]
            state.lists[name] = [*before, *fields]
            state.variables[name] = tuple(state.lists[name][:1]) or ("",)
            self.budget.spend(len(state.lists[name]) // 16)
            return " ".join(fields[:16])
        values = [decoded(each.replace(BREAK, " ")) for each in self.expand(value, state, depth, in_quotes=True)]
        if name in self.evaluated:
            self.evaluate(values, state, depth)
        if index is not None:
            self.evaluate([index], state, depth)
            state.lists[name] = [*before, values[0]]
            self.budget.spend(len(state.lists[name]) // 16)
            return values[0]
        if operator == "+=":
            old_values = state.variables.get(name, ("",))[:MOST_VALUES]
            values = [_limited(old + new) for old in old_values for new in values[:MOST_VALUES]]
            self.budget.spend_on(sum(map(len, values)))
        state.variables[name] = tuple(values[:MOST_VALUES])
        return values[0]

    def join(self, state: ShellState, ends: list[ShellState], before: ShellState | None) -> None:
        """Merge the states after branches into `state`: each variable may have any of its values.

        `before` is the state if no branch was taken, None if one is always taken.
        """
        names = dict.fromkeys(name for end in ends for name in end.variables)
        self.budget.spend(len(names) * len(ends) // 8)
        variables = {}
        for name in names:
            default = (without_private(self.environment.get(name, " \t\n" if name == "IFS" else "")),)
            values: list[str] = []
            for end in ends if before is None else (before, *ends):
                values += end.variables.get(name, () if name in end.lists else default)
            variables[name] = some_values(values)
        arguments = state.arguments
        for end in ends:
            if end is not state:
                state.take(end, arguments)
        if before is not None:
            state.lists = {**before.lists, **state.lists}
        state.variables = variables

    def separators(self, state: ShellState) -> str:
        return self.values("IFS", state)[0]

    def values(self, name: str, state: ShellState) -> tuple[str, ...]:
        """Return a variable's possible values."""
        if name in state.variables:
            return state.variables[name]
        if name in state.lists:
            return (" ".join(state.lists[name][:1]),)
        if name.isdigit():
            number = small_number(name)
            found = [state.zero] if number == 0 else state.arguments[number - 1 : number] if number else ()
            return ("".join(found),)
        match name:
            case "PWD":
                return (state.directory,)
            case "IFS":
                return (" \t\n",)
            case "@" | "*":
                self.budget.spend(len(state.arguments) // 16)
                return (" ".join(state.arguments),)
        if name in self.changed_variables or "*" in self.changed_variables:
            return self.both_values(name)
        if name in self.environment:
            return (without_private(self.environment[name]),)
        if state.sourced or name in _SET_BY_SHELL or not name or name[0] in DIGITS or name[0] not in NAME:
            return (UNKNOWN,)
        return (self.unset_value(name),)

    def unset_value(self, name: str) -> str:
        """Record a variable without a value, and return what it is assumed to be: empty or unknown."""
        self.met_unset.append(name)
        return "" if self.unset_is_empty else UNKNOWN

    def both_values(self, name: str) -> tuple[str, ...]:
        """Return both values of a variable that differs in the agent's own shell: the one there, and the one here."""
        theirs = self.changed_variables.get(name, True)
        found = [without_private(each) for each in (theirs, self.environment.get(name)) if isinstance(each, str)]
        if theirs is True:
            self.note("unreadable", f"${name}")
            return (*found, UNKNOWN)
        return tuple(found) if theirs is not None else (*found, self.unset_value(name))

    def is_unset(self, name: str, state: ShellState) -> bool:
        if name.isdigit():
            return (small_number(name) or 0) > len(state.arguments)
        known = (state.variables, state.lists, self.environment, self.changed_variables, ("PWD", "IFS"))
        return "*" not in self.changed_variables and not any(name in names for names in known)

    def variable(self, part: Part, state: ShellState, depth: int, in_quotes: bool) -> list[str]:
        """Return the possible texts of `$x`, `${x…}`."""
        variable: Variable = part.value
        quoted = part.quoted or in_quotes
        name, index, operator = variable.name, variable.subscript, variable.operator
        # always expanded, for the substitutions in them
        if index not in (None, "@", "*"):
            self.evaluate(self.expand(variable.subscript_word or [], state, depth), state, depth)
            self.evaluate([index or ""], state, depth)
        arguments = self.expand(variable.argument or [], state, depth)
        others = self.expand(variable.other or [], state, depth)
        if operator == ":":
            self.evaluate((*arguments, *others), state, depth)
        separators = self.separators(state) if name != "IFS" else " \t\n"
        is_list = name in ("@", "*") or index in ("@", "*")
        if is_list and variable.prefix != "#" and operator in ("", ":"):
            return [self.list_text(variable, state, quoted, separators)]
        if index is not None and name in state.lists and not is_list:
            values = _item(state.lists[name], index)
        elif variable.prefix == "!":
            names = self.values(name, state)
            self.evaluate(names, state, depth)
            values = tuple(value for name in names for value in self.values(decoded(name), state)) or (UNKNOWN,)
        elif operator in _DEFAULTS:
            return self.with_default(variable, state, arguments, quoted, separators)
        else:
            values = self.values(name, state)
        if variable.prefix == "#":
            return [UNKNOWN]
        texts = (
            values
            if not operator
            else [
                self.changed(value, variable, argument, decoded(other.replace(BREAK, " ")), state, depth)
                for value in values
                for argument in arguments
                for other in others
            ][: 2 * MOST_VALUES]
        )
        return [self.encoded(text, quoted, separators) for text in dict.fromkeys(texts)]

    def list_text(self, variable: Variable, state: ShellState, quoted: bool, separators: str) -> str:
        """Return the text of `$@`, `$*`, `${x[@]}`, `${x[@]:1}`."""
        name = variable.name
        is_arguments = name in ("@", "*")
        items: Sequence[str] = state.arguments
        if not is_arguments:
            items = state.lists[name] if name in state.lists else self.values(name, state)[:1]
        if variable.operator:
            start = plain_number(variable.argument)
            items = items[max(0, start - is_arguments) :] if start is not None else [UNKNOWN]
        self.budget.spend(len(items) // 4)
        if quoted and "*" in (name, variable.subscript):
            return self.encoded(" ".join(items), True, separators)
        return BREAK.join(self.encoded(item, quoted, separators) for item in items)

    def with_default(
        self, variable: Variable, state: ShellState, words: list[str], quoted: bool, separators: str
    ) -> list[str]:
        """Return the values of `${x:-word}`, `${x:=word}`, `${x:+word}`, `${x:?word}`."""
        name, operator = variable.name, variable.operator
        unset = self.is_unset(name, state)
        values = () if unset else self.values(name, state)
        is_of_line = name in state.variables or name in state.lists
        if not is_of_line and self.changed_variables.get(name, True) is None:  # not set in the agent's own shell
            unset, values = True, values[:-1]
        present = [value for value in values if value or ":" not in operator]
        found = [self.encoded(value, quoted, separators) for value in present]
        missing = unset or len(present) < len(values)
        match operator[-1]:
            case "?":
                return found or [UNKNOWN]
            case "+":
                return [*(words if present else []), *([""] if unset or not present else [])]
            case "=" if unset or not present:
                assigned = [decoded(word.replace(BREAK, " ")) for word in words]
                state.variables[name] = tuple([*present, *assigned][:MOST_VALUES])
        return found + (words if missing else []) or [""]

    def changed(self, value: str, variable: Variable, argument: str, other: str, state: ShellState, depth: int) -> str:
        """Return the value of `${x#pattern}`, `${x%pattern}`, `${x/pattern/other}`, `${x:1:2}`, `${x^^}` …"""
        operator = variable.operator
        if any(mark in value for mark in (UNKNOWN, NETWORK, DECODED)):
            return value
        match operator[0]:
            case "@":
                if argument == "P":  # expanded like a prompt
                    self.substituted(value, state, depth)
                return UNKNOWN if argument == "P" else value
            case "^" | ",":
                changed = value.upper() if operator[0] == "^" else value.lower()
                return changed if len(operator) == 2 else changed[:1] + value[1:]
            case ":":
                start, length = plain_number(variable.argument), plain_number(variable.other)
                if start is None or (variable.other and length is None):
                    return UNKNOWN
                return value[start:][:length]
        self.budget.spend(len(argument))
        self.budget.spend_on(4 * len(value))
        pattern = Pattern(argument)
        match operator:
            case "#" | "##":
                return value[pattern.prefix(value, longest=operator == "##") or 0 :]
            case "%" | "%%":
                return value[: len(value) - (pattern.suffix(value, longest=operator == "%%") or 0)]
            case "/#":
                end = pattern.prefix(value, longest=True)
                return value if end is None else other + value[end:]
            case "/%":
                size = pattern.suffix(value, longest=True)
                return value if size is None else value[: len(value) - size] + other
        return self.replaced(value, pattern, other, once=operator == "/")

    def replaced(self, value: str, pattern: Pattern, other: str, once: bool) -> str:
        """Return the value of `${x/pattern/other}`, of `${x//pattern/other}`."""
        if not value:
            return other if pattern.matches("") else ""
        changed = []
        at = 0
        while (found := pattern.find(value, at)) and found[0] < found[1]:
            self.budget.spend(2)
            self.budget.spend_on(len(value) - at)
            changed.append(value[at : found[0]] + other)
            at = found[1]
            if once:
                break
        return self.joined([*changed, value[at:]])


_DEFAULTS = (":-", ":=", ":?", ":+", "-", "=", "?", "+")


def _item(items: list[str], index: str) -> tuple[str, ...]:
    """Return the possible values of `${list[index]}`."""
    number = small_number(index)
    if number is None:
        return tuple(items[:MOST_VALUES]) or (UNKNOWN,)
    if -len(items) <= number < len(items):
        return (items[number],)
    return (UNKNOWN if UNKNOWN in items else "",)


def _is_list_alone(word: Word) -> bool:
    """Whether a word is `"$@"` or `"${list[@]}"`."""
    if len(word) != 2 or word[1].kind != "variable" or word[0].value != QUOTED:
        return False
    variable = word[1].value
    return "@" in (variable.name, variable.subscript) and not variable.operator and not variable.prefix


def _product(columns: list[list[list[str]]]) -> list[list[list[str]]]:
    combinations: list[list[list[str]]] = [[]]
    for column in columns:
        combinations = [[*before, after] for before in combinations for after in column]
    return combinations


def _cover(columns: list[list[list[str]]]) -> list[list[list[str]]]:
    """Return some combinations, in which every value occurs at least once with the first values of the other words."""
    first = [column[0] for column in columns]
    combinations = [
        [*first[:at], choice, *first[at + 1 :]]
        for at, column in enumerate(columns)
        if len(column) > 1
        for choice in column
    ]
    longest = max(map(len, columns))
    return combinations + [[column[number % len(column)] for column in columns] for number in range(1, longest)]


def _limited(text: str) -> str:
    return text if len(text) <= LONGEST else UNKNOWN


def without_private(text: str) -> str:
    """Return a text with its private characters replaced, cut off where there are too many of them."""
    if text.isascii() or (len(text) < LONGEST and max(text) < "\ud800"):
        return text
    text = re.sub(PRIVATE, "\ufffd", text, count=MOST_PRIVATE)
    left = re.search(PRIVATE, text)
    return text[: left.start()] if left else text
