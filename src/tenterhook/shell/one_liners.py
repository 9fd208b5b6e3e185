"""Reads code in other languages on a command line: `python -c`, `perl -e`, `node -e` …

`actions` converts calls that run, delete or write to equivalent shell commands, so that the same rules apply to them.
It only reads string literals: strings that code builds step by step are not seen.
"""

from __future__ import annotations

from ..basics import lazy_re as re
from ..basics.named_tuples import NamedTuple
from .syntax import unescaped

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Iterator
    from typing import Any

    Action = tuple[str, Any]

LONGEST = 40_000  # characters of code that are read
LONGEST_SEARCHED = 3_000  # characters that are searched with slow expressions

# Expressions for a well-known path, each with that path as a literal; for an imported module, with its name.
_WELL_KNOWN = (
    (
        r"os\.path\.expanduser\(\s*(['\"])~\1\s*\)|(?:pathlib\.)?Path\.home\(\)|os\.homedir\(\)"
        r"|require\(['\"]os['\"]\)\.homedir\(\)|process\.env\.HOME"
        r"|os\.environ(?:\[(['\"])HOME\2\]|\.get\((['\"])HOME\3\))|os\.getenv\((['\"])HOME\4\)|Dir\.home"
        r"|(?:ENV|ENVIRON)\[(['\"])HOME\5\]|\$ENV\{['\"]?HOME['\"]?\}|getenv\((['\"])HOME\6\)",
        "'~'",
    ),
    (r"os\.getcwd\(\)|(?:pathlib\.)?Path\.cwd\(\)|process\.cwd\(\)|Dir\.pwd|getcwd\(\)", "'.'"),
    (r"os\.sep\b|path\.sep\b|os\.path\.sep\b", "'/'"),
    (r"(?:__import__|import_module)\(\s*(['\"])([\w.]{1,80})\1\s*\)", r"\2"),
)
# The same inside a string.
_HOME_INSIDE = (
    r"(?:\$ENV\{['\"]?HOME['\"]?\}|#\{(?:Dir\.home|ENV\[['\"]HOME['\"]\])\}|\$\{(?:process\.env\.HOME|os\.homedir\(\))\}"
    r"|\{(?:pathlib\.)?Path\.home\(\)\})(?=/)"
)
_PREFIX = r"(?i)[rbfu]{0,2}$"
_CALL = r"([A-Za-z_$][\w$]*(?:(?:\.|::|->)[\w$]+)*)\s*$"
_WRAPPING = r"(?:expanduser|expandvars|abspath|realpath|normpath|resolve|join|Path|str|fspath|expand_path)$"
_SAYING = (
    r"(?:print|printf|puts|echo|log|debug|info|warn|error|warning|format|write|compile|sub|match|search|findall|replace|"
    r"split|startswith|endswith|test|say|die|raise|Error|Exception)$"
)
_RUNNING = (
    r"\b(?:system|popen\w*|Popen|subprocess|check_call|check_output|getoutput|getstatusoutput|exec\w*|spawn\w*|fork|"
    r"Deno\.Command|System\.cmd|shell-command|call-process|shell_exec|passthru|proc_open|child_process|"
    r"Open3|qx|pty|sh\.run|do shell script|doShellScript)\b|"
    r"`|%x[({\[]|\| *getline|\| *[\"']"
)
_REMOVING = {
    "rmtree": "-rf", "rm_rf": "-rf", "rm_r": "-rf", "remove_tree": "-rf", "remove_entry_secure": "-rf",
    "rmsync": "-rf", "rmdirsync": "-rf", "removesync": "-rf", "rimraf": "-rf", "rimrafsync": "-rf",
    "fs.rm": "-rf", "fs.remove": "-rf", "fs.rmdir": "-rf", "emptydirsync": "-rf", "delete_tree": "-rf",
    "promises.rm": "-rf", "removeall": "-rf", "remove_dir": "-rf", "remove_entry": "-rf", "send2trash": "-rf",
    "deno.remove": "-rf", "deno.removesync": "-rf", "shell.rm": "-rf", "sh.rm": "-rf", "fileutils.remove": "-f",
    "rm_f": "-f", "remove_file": "-f", "safe_unlink": "-f",
    "unlink": "-f", "unlinksync": "-f", "os.remove": "-f", "file.delete": "-f", "os.unlink": "-f", "rmdir": "-f",
    "fs.unlink": "-f", "removedirs": "-rf", "io.remove": "-f", "rm": "-f",
}  # fmt: skip
_OPENING = r"(?:open|fopen|file\.open|os\.open|opensync)$"
# The end of a call's name, the least number of its strings, and the equivalent shell command.
_CALLS = (
    (r"(?:os\.rename|os\.replace|shutil\.move|rename|renamesync|fileutils\.mv|fs\.rename|movesync)$", 1, ["mv", "--"]),
    (r"(?:shutil\.copy\w*|copyfile|copyfilesync|copysync|cpsync|fileutils\.cp\w*|fs\.cp)$", 2, ["cp", "--"]),
    (r"extractall$", 1, ["tar", "-x", "-C"]),
    (r"(?:symlink|link|symlinksync|linksync|fileutils\.ln\w*)$", 2, ["ln", "--"]),
    (r"(?:os\.chmod|chmod|chmodsync|os\.chown|chown|chownsync)$", 1, ["chmod", "u+w"]),
    (
        (
            r"(?:writefile|writefilesync|appendfile|appendfilesync|createwritestream|file\.write|io\.write|file_put_contents|"
            r"truncatesync|truncate|outputfile|outputjson|outputfilesync|writetextfile(?:sync)?|bun\.write)$"
        ),
        1,
        ["tee", "--"],
    ),
)
_ENDLESS_LOOP = r"\bwhile\s*+\(?\s*+(?:True|1|true)\b|\bfor\s*+\(;;\)|\bloop\s*+[{d]"
_RUNS_TEXT = (
    r"\b(?:exec|eval|instance_eval|Function|runInThisContext|loadstring|load|dofile|do)\s*[(\s]|\bthen\(\s*eval\b"
    r"|\b(?:system|popen|Popen|run|call|check_output|shell_exec|passthru|exec\w*+|spawn\w*+)\s*+\(?\s*+(?:\w++\.)*+"
    r"(?:urlopen|requests|[ab]\d+decode|fromhex|decompress|pack|unpack|decode_base64|base64_decode|from\(|atob|file_get)"
)
# The same, through a variable.
_RUNS_VARIABLE = (
    r"\b(\w++)\s*+=(?!=)[^;\n]{0,300}(?:urlopen|requests|decode|fromhex|decompress|unpack|Buffer\.from|atob)[^;\n]{0,300}[;\n]"
    r"[\s\S]{0,500}?\b(?:system|popen|Popen|exec\w*+|spawn\w*+|shell_exec|passthru)\s*+\(\s*+\1\b"
)
# What a download prints, by way of the shell.
_RUNS_PRINTED = (
    r"\b(?:eval|exec|instance_eval|Function|runIn\w+)\b[\s(]{1,4}"
    r"(?:[\w.'\"()]{1,60}\(\W{0,3}|`|%x\W|qx\W)(?:curl|wget)\b"
)
# Of awk: a line that a download printed.
_RUNS_LINE = r"\b(?:curl|wget)\b[^\"\n]{0,500}\"\s*+\|\s*+getline\s++(\w++)[\s\S]{0,500}?\bsystem\(\s*+\1\b"
_DECODES = (
    r"b64decode|b32decode|a85decode|fromhex|unhexlify|decompress|codecs\.decode|\batob\b|Buffer\.from|decode64|"
    r"unpack1?\(|\bpack\(\s*['\"]H\*|marshal\.loads|rot_?13|decode_base64|base64_decode|gzinflate|str_rot13"
)
_FETCHES = (
    r"urlopen|requests\.(?:get|session|request)|urllib|httpx\.get|https?\.get\b|['\"]https?['\"]\)\.get|\bfetch\(|open-uri|URI\.open|LWP|"
    r"Net::HTTP|HTTP::Tiny|socket\.http|WebClient|\b(?:get|open)\s*\(?\s*['\"]https?:|\.get\(\s*['\"]https?:|file_get_contents\(['\"]http"
)
# Together with a download: code that saves it, and code that starts a program.
_SAVES = r"['\"][wa]b?\+?['\"]|urlretrieve|writeFile|write_bytes"
_STARTS = r"os\.(?:system|popen|exec\w*|spawn\w*)|subprocess|child_process|execSync|\bsystem\s*[(\"'$]"
# Code that connects and code that runs a shell: together they are a remote shell.
_CONNECTS = (
    r"\bsocket\b|Sockets?\b|create_connection|fsockopen|/inet/tcp/|require\(['\"]net['\"]\)|\bnet\.(?:connect|Dial)\b"
    r"|TCPClient"
)
_SHELL = (
    r"/bin/(?:ba|da|z|k)?sh\b|['\"](?:ba|z|da)?sh['\" ]|\bsh -i\b|pty\.spawn|cmd\.exe|powershell|`\s*\$"
    r"|\b(?:system|exec\w*+|popen|Popen|spawn\w*+|shell_exec|passthru|check_output|getoutput)\s*+\(?\s*+[$\w](?![\w.]*+\()"
    r"|\|\s*&\s*getline"
)

_QUOTING = (
    r"(?<![\w$@%])(qq?|qx|qw|%[qQxw])\s{0,9}+(?:\(([^)]{0,2000}+)\)|\{([^}]{0,2000}+)\}|\[([^]]{0,2000}+)\]"
    r"|([/|!])([^/|!]{0,2000}+)\5)"
)


def _as_literal(found: re.Match[str]) -> str:
    """Return `q(…)`, `qx{…}` as a plain string, and `qw(…)` as a list of strings."""
    text = found.group(2) or found.group(3) or found.group(4) or found.group(6) or ""
    if "w" in found.group(1):
        return "(" + ", ".join(f'"{word}"' for word in text.replace("\\", "\\\\").replace('"', '\\"').split()) + ")"
    quote = "`" if "x" in found.group(1) else '"'
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


class Literal(NamedTuple):
    """A string in the code, with the call that it is an argument of."""

    text: str
    call: str  # the name before the parenthesis around it, except calls that only wrap a path
    group: int  # the number of that parenthesis or bracket
    parent: int  # the number of the parenthesis around a bracket, else 0
    after: str  # the code that follows


_PATH = r"[^'\"\n]{1,500}"
_EACH = r"\.(?:r?glob|iterdir)\b"
_DELETES = r"\bunlink(?:Sync)?\b|\brmtree\b|\brmSync\b|\b(?:os|file)\.remove\b|\b(?:File|FileUtils)\.(?:delete|rm\w*)\b"
_IN_DIRECTORY = (
    r"\b(?:readdir(?:Sync)?|listdir|scandir|os\.walk|list\.files|Dir\.(?:children|entries|each_child))\(\s*+['\"]"
)
_UNLINKS = r"\.(?:unlink|rmdir)\("
# Calls that are found with an expression: the kind and the command made from its groups, the language (or any), an
# expression that must also be found in the code, and the expression.
_FOUND = (
    ("shell", "{0}", "tcl", "", r"(?:^|[;\n{\[])[ \t]*+(?:spawn|exec|system)\s++(?:-\w++\s++)*+([^;\n\]}]++)"),
    ("shell", "{0}", "tcl", "", r'\bsend\s++(?:-\w++\s++)*+"([^"]*+)"'),
    ("words", "kill -KILL -1", "", "", r"\b(kill)\w*+\s*+\(?\s*+(?:-1\s*+,|['\"]?(?:KILL|9)['\"]?\s*+,\s*+-1)"),
    ("words", "rm -f -- {0}", "osascript", "", r"(?i)\bdelete\s++(?:\(\s*+)?(?:POSIX )?file\s++\"([^\"\n]++)\""),
    ("words", "trash-empty", "osascript", "", r"(?i)\b(empty)\s++(?:the\s++)?trash\b"),
    ("words", "shutdown", "osascript", "", r"(?i)\b(shut down|restart|erase)\b"),
    ("cd", "{0}", "", "", rf"\bchdir\s*+\(?\s*+['\"]({_PATH}+)['\"]"),
    ("words", "tee -- {0}", "awk", "", r'>{1,2}\s*+"([^"\n]++)"'),
    ("shell", "rm -f {0}", "", "", r"\bunlink\s*+\(?\s*+(?:glob\b\s*+\(?\s*+['\"]|<)([^'\">\n]{1,500}+)"),
    ("shell", "rm -f {0}", "", _DELETES, rf"\bglob\b\s*+\(?\s*+['\"]({_PATH}+)"),
    ("shell", "rm -f {0}", "", _DELETES, rf"\bDir\[\s*+['\"]({_PATH}+)"),
    ("shell", "rm -f {0}/*", "", _DELETES, rf"{_IN_DIRECTORY}({_PATH}+)"),
    ("shell", "rm -rf {0}", "tcl", "", r"\bfile\s++delete\s++(?:-\w++\s++|--\s++)*+([^;\n\]}]++)"),
    ("words", "rm -rf -- {0}", "", "", r'\(delete-directory(?:/files)?\s++"([^"\n]++)"'),
    ("shell", "{0}", "", "", r'\((?:[\w.-]{1,60}/)?(?:sh|system\*|process|call-process)\s++((?:"[^"\n]*+"\s*+)++)\)'),
    ("words", "rm -f -- {0}", "", "", r'\(delete-file\s++"([^"\n]++)"'),
    ("words", "rm -rf -- {0}", "", _DELETES, rf"['\"]([~/][^'\"\n]{{0,500}}+)['\"]\s*+\)?{_EACH}"),
    ("words", "chmod {0} -- {1}", "", "", rf"\bchmod\s*+\(?\s*+0o?([0-7]{{3,4}})\s*+,\s*+['\"]({_PATH}+)"),
    ("words", "rm -f -- {0}", "", _UNLINKS, rf"\bPath\(\s*+['\"]({_PATH}+)['\"]\s*+\)(?!{_EACH})"),
    ("words", "rm -rf -- {0}", "", _UNLINKS, rf"\bPath\(\s*+['\"]({_PATH}+)['\"]\s*+\){_EACH}"),
)


def actions(language: str, code: str) -> list[Action]:
    """Return what code does: ("shell", text), ("words", [program, …]), ("note", kind), in no particular order.

    ("cd", directory) comes before what may run in that directory.
    """
    if language in ("powershell", "cmd"):
        return [("shell", statement) for statement in _statements(code, language)]
    found: list[Action] = [("note", kind) for kind in _notes(language, code)]
    code = _normalized(language, code)
    for kind, command, only, needed, expression in _FOUND:
        if only in ("", language) and (not needed or re.search(needed, code)):
            for values in re.findall(expression, code):
                words = [word.format(*([values] if isinstance(values, str) else values)) for word in command.split()]
                found.append((kind, words if kind == "words" else unescaped(" ".join(words)).strip()))
    literals = list(_literals(code))
    runs = bool(re.search(_RUNNING, code))
    groups: dict[int, list[Literal]] = {}
    for literal in literals:
        groups.setdefault(literal.group, []).append(literal)
    for group in groups.values():
        found += _of_call(group, runs, language)
        outer = groups.get(group[0].parent, ())
        if runs and len(outer) == 1:  # `spawn("git", ["push"])`
            found.append(("words", [outer[0].text, *(literal.text for literal in group)]))
    if re.search(r"\b(?:rmtree|rm_rf|remove_tree|rmSync|rimraf)\W*\(\s*\$?\w+\s*[,)]", code):  # of a variable
        paths = [literal.text for literal in literals if literal.text.startswith(("/", "~"))]
        found += [("words", ["rm", "-rf", "--", *paths])]
    return found


def _notes(language: str, code: str) -> Iterator[str]:
    """Yield the kinds of notes about code as a whole."""
    if _forks_in_a_loop(code):
        yield "fork-bomb"
    if re.search(_CONNECTS, code) and re.search(_SHELL, code):
        yield "remote-shell"
    fetches = re.search(_FETCHES, code)
    if fetches and re.search(_SAVES, code) and re.search(_STARTS, code):
        yield "run-download"
    if language == "awk" and re.search(_RUNS_LINE, code):
        yield "run-download"
    if language != "awk" and (re.search(_RUNS_TEXT, code) or re.search(_RUNS_VARIABLE, code[:LONGEST_SEARCHED])):
        if fetches or re.search(_RUNS_PRINTED, code):
            yield "run-download"
        elif re.search(_DECODES, code):
            yield "run-decoded"


def _normalized(language: str, code: str) -> str:
    """Return code with plain strings in place of well-known paths and other quotes, and full names of functions."""
    code = re.sub(_HOME_INSIDE, "~", code)
    for pattern, stands_for in _WELL_KNOWN:
        code = re.sub(pattern, stands_for, code)
    code = re.sub(r"'~'\s*+[.+]\s*+(['\"])(?=/)", r"\1~", code)
    if re.search(r"\bfrom\s++os\s++import\b", code):
        code = re.sub(r"(?<![\w.])(remove|rename|replace|unlink|chmod|truncate)\(", r"os.\1(", code)
    return re.sub(_QUOTING, _as_literal, code) if language in ("perl", "ruby") else code


def _statements(code: str, language: str) -> Iterator[str]:
    """Yield the statements of PowerShell or cmd.exe code."""
    ends = r";|\||\n|&&" if language == "powershell" else r"&|\||\n"
    code = code.replace("^", "") if language == "cmd" else code
    statement = ""
    for lexeme in re.findall(rf"'[^'\n]*+'|\"[^\"\n]*+\"|{ends}|[\s\S]", code):
        if re.fullmatch(ends, lexeme):
            yield statement.lstrip("& \t")
            statement = ""
        else:
            statement += lexeme
    yield statement.lstrip("& \t")


def _forks_in_a_loop(code: str) -> bool:
    """Whether code forks in an endless loop."""
    loops = ((part, re.search(_ENDLESS_LOOP, part)) for part in code.split("#")) if "fork" in code else ()
    forks = re.compile(r"\bfork\b").search
    in_loop = any(loop and forks(part, loop.end()) for part, loop in loops)
    return in_loop or bool(re.search(r"(?<![\"'])\bfork\s++while\b", code))


def _of_call(group: list[Literal], runs: bool, language: str) -> Iterator[Action]:
    """Yield what a single call, or a list of strings, does."""
    call = (group[0].call or "").replace("::", ".").replace("->", ".").lower()
    last = call.rpartition(".")[2]
    texts = [literal.text for literal in group]
    done = next((words for name, least, words in _CALLS if len(texts) >= least and re.search(name, call)), None)
    flag = _REMOVING.get(".".join(call.split(".")[-2:])) or _REMOVING.get(last)
    if flag == "-f" and re.match(r"[^)\n]*\brecursive\s*+[=:]\s*+(?i:t\b|true)", group[-1].after):
        flag = "-rf"
    if flag:
        yield "words", ["rm", flag, "--", *texts]
    elif done:
        given = re.match(r"\s*+,\s*+0?o?([0-7]{3,4})\b", group[0].after) if done[0] == "chmod" else None
        yield "words", [*(["chmod", given.group(1)] if given else done), *(texts[:1] if done[0] == "tee" else texts)]
    elif re.search(_OPENING, call):
        mode = "".join(texts[1:2])
        if re.fullmatch(r"\+?[<>]{1,2}", texts[0]) and ">" in texts[0] + "+":  # open(F, ">", path)
            yield "words", ["tee", "--", mode]
        elif (
            re.fullmatch(r"(?=.*[wax+])[rwabxt+]{1,9}", mode)
            or re.match(r"\s*>", texts[0])
            or re.search(r"O_(?:WRONLY|RDWR)", group[0].after)
        ):
            yield "words", ["tee", "--", texts[0].lstrip("> ")]
        elif language in ("perl", "ruby") and texts[0].strip().startswith("|"):
            yield "shell", texts[0].strip().strip("|")
    else:
        for literal in group:
            follower = literal.after.lower()
            if re.match(r"\s*\)?\s*\.\s*(?:write_text|write_bytes|touch)\b", follower):
                yield "words", ["tee", "--", literal.text]
            elif re.match(r"[\s)]*\.\s*(?:deletedir|deleterecursively|rmtree)\b", follower):
                yield "words", ["rm", "-rf", "--", literal.text]
            elif re.match(r"\s*\)?\s*\.\s*unlink\b", follower):
                yield "words", ["rm", "-f", "--", literal.text]
    if runs and not re.search(_SAYING, call):
        if len(texts) > 1:
            yield "words", texts
            texts = texts[:1] if re.search(_RUNNING, call) else []
        for text in texts:
            yield "shell", text


_LEXEME = r"\'\'\'|\"\"\"|['\"`]|[(\[]|[)\]]|[;\n]|[^'\"`()\[\];\n]++"
_STRINGS = {
    "'": r"(?s)(?:[^'\\]++|\\.)*+",
    '"': r'(?s)(?:[^"\\]++|\\.)*+',
    "`": r"(?s)(?:[^`\\]++|\\.)*+",
    "'''": r"(?s)(?:[^'\\]++|\\.|'(?!''))*",
    '"""': r'(?s)(?:[^"\\]++|\\.|"(?!""))*',
}


def _literals(code: str) -> Iterator[Literal]:
    """Yield every string in the code; strings joined by + or . are one."""
    at = 0
    # for each open parenthesis or bracket, the call's name, its number, and that of the one around a bracket; `calls`
    # is the same without calls that only wrap a path
    stack = [("", 0, 0)]
    calls = [stack[0]]
    count = 0
    joining = 0  # plus signs and dots since the last string
    pending = None

    def made(text: str, end: int) -> Literal:
        return Literal(text, *calls[-1], code[end : end + 40])

    next_lexeme = re.compile(_LEXEME).match
    while found := next_lexeme(code, at):
        lexeme, start, at = found.group(), at, found.end()
        if lexeme in _STRINGS:
            # `system "rm x"`, `unlink "x"`: a call without parentheses
            if len(stack) == 1 and code[max(0, start - 1) : start].isspace():
                stack[0] = calls[0] = (_call_before(code, start), stack[0][1], 0)
            prefix = re.search(_PREFIX, code[max(0, start - 2) : start])
            raw = prefix is not None and "r" in prefix.group().lower()
            string = re.compile(_STRINGS[lexeme]).match(code, at)
            end = string.end() if string else at
            if raw and (found_end := code.find(lexeme, at)) >= 0:
                end = found_end
            text = code[at:end] if raw else unescaped(code[at:end])
            at = end + len(lexeme)
            if lexeme == "`":
                yield Literal(text, "exec", -at, 0, code[at : at + 40])
            elif pending is not None and joining <= 1:
                pending = made(pending.text + text, at)
            else:
                if pending is not None:
                    yield pending
                pending = made(text, at)
            joining = 0
            continue
        if pending is not None:
            plain = lexeme.strip()
            joining += len(plain)
            if plain.strip("+.") and not plain.isspace():
                yield pending
                pending = None
        if lexeme in ("(", "["):
            count += 1
            name = _call_before(code, start) if lexeme == "(" else stack[-1][0]
            stack.append((name, count, stack[-1][1] if lexeme == "[" else 0))
            calls.append(calls[-1] if re.search(_WRAPPING, name) else stack[-1])
        elif lexeme in (")", "]"):
            if len(stack) > 1:
                stack.pop()
                calls.pop()
        elif lexeme in (";", "\n"):
            count += 1
            stack[0] = calls[0] = (stack[0][0], count, 0)
    if pending is not None:
        yield pending


def _call_before(code: str, end: int) -> str:
    """Return the name of the function or method that ends here, or nothing."""
    window = code[max(0, end - 80) : end].rstrip().rstrip("!")  # `File.rm_rf!`
    start = len(window)
    while start and (window[start - 1].isalnum() or window[start - 1] in "_$.:->"):
        start -= 1
    found = re.search(_CALL, window[start:]) if start < len(window) else None
    return found.group(1) if found else ""
