"""What a one-liner of another language does, as far as its string literals tell: `python -c`, `perl -e`, `node -e` …

`actions` turns calls that run, delete or write into the shell commands that would do the same, so that whoever judges
shell commands judges these too. It is no interpreter: code that builds its strings step by step gets past it.
"""

from __future__ import annotations

import re

from .syntax import unescaped

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from collections.abc import Iterator
    from typing import Any

    Action = tuple[str, Any]

# Expressions that stand for a well-known path, as a literal.
_WELL_KNOWN = (
    (
        r"os\.path\.expanduser\(\s*(['\"])~\1\s*\)|(?:pathlib\.)?Path\.home\(\)|os\.homedir\(\)"
        r"|require\(['\"]os['\"]\)\.homedir\(\)|process\.env\.HOME"
        r"|os\.environ(?:\[(['\"])HOME\2\]|\.get\((['\"])HOME\3\))|os\.getenv\((['\"])HOME\4\)|Dir\.home"
        r"|ENV\[(['\"])HOME\5\]|\$ENV\{['\"]?HOME['\"]?\}|getenv\((['\"])HOME\6\)",
        "'~'",
    ),
    (r"os\.getcwd\(\)|(?:pathlib\.)?Path\.cwd\(\)|process\.cwd\(\)|Dir\.pwd|getcwd\(\)", "'.'"),
    (r"os\.sep\b|path\.sep\b|os\.path\.sep\b", "'/'"),
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
    r"shell_exec|passthru|proc_open|child_process|Open3|qx|pty|sh\.run|do shell script|doShellScript)\b|"
    r"`|%x[({\[]|\| *getline|\| *[\"']"
)
_REMOVING = {
    "rmtree": "-rf", "rm_rf": "-rf", "rm_r": "-rf", "remove_tree": "-rf", "remove_entry_secure": "-rf",
    "rmsync": "-rf", "rmdirsync": "-rf", "removesync": "-rf", "rimraf": "-rf", "rimrafsync": "-rf",
    "fs.rm": "-rf", "fs.remove": "-rf", "fs.rmdir": "-rf", "emptydirsync": "-rf", "delete_tree": "-rf",
    "promises.rm": "-rf", "removeall": "-rf",
    "unlink": "-f", "unlinksync": "-f", "os.remove": "-f", "file.delete": "-f", "os.unlink": "-f", "rmdir": "-f",
    "fs.unlink": "-f", "removedirs": "-rf", "io.remove": "-f",
}  # fmt: skip
_WRITING = (
    r"(?:writefile|writefilesync|appendfile|appendfilesync|createwritestream|file\.write|io\.write|file_put_contents|"
    r"truncatesync|truncate|outputfile|outputjson|outputfilesync|copyfilesync|symlinksync|os\.symlink|os\.link)$"
)
_MOVING = r"(?:os\.rename|os\.replace|shutil\.move|rename|renamesync|fileutils\.mv|fs\.rename|movesync)$"
_COPYING = r"(?:shutil\.copy\w*|copyfile|copyfilesync|copysync|fileutils\.cp\w*|fs\.cp)$"
_OPENING = r"(?:open|fopen|file\.open|os\.open|opensync)$"
_MODES = r"(?:os\.chmod|chmod|chmodsync|os\.chown|chown|chownsync)$"
_LOOP_OF_FORKS = (
    r"(?s)fork\s+while|while\s*\(?\s*(?:True|1|true)\s*\)?\s*[:{]?\s*[^#]*\bfork\b|for\s*\(;;\)[^#]*\bfork\b|"
    r"loop\s*[{d][^#]*\bfork\b"
)
_RUNS_TEXT = r"\b(?:exec|eval|instance_eval|Function|runInThisContext|loadstring|load|dofile|do)\s*[(\s]"
_DECODES = (
    r"b64decode|b32decode|a85decode|fromhex|unhexlify|decompress|codecs\.decode|\batob\b|Buffer\.from|decode64|"
    r"unpack\(|marshal\.loads|rot_?13|decode_base64|base64_decode|gzinflate|str_rot13"
)
_FETCHES = (
    r"urlopen|requests\.get|urllib|httpx\.get|https?\.get\b|['\"]https?['\"]\)\.get|\bfetch\(|open-uri|URI\.open|LWP|"
    r"Net::HTTP|\.get\(\s*['\"]https?:|file_get_contents\(['\"]http"
)


_QUOTING = r"(?s)(?<![\w$@%])(qq?|qx|%[qQx])\s*(?:\((.*?)\)|\{(.*?)\}|\[(.*?)\]|([/|!])(.*?)\5)"


def _as_literal(found: re.Match[str]) -> str:
    """`q(…)`, `qx{…}` as a plain string."""
    text = found.group(2) or found.group(3) or found.group(4) or found.group(6) or ""
    quote = "`" if "x" in found.group(1) else '"'
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


class Literal:
    """A string of the code, with the call it is an argument of and its place there."""

    __slots__ = ("after", "call", "group", "text")

    def __init__(self, text: str, call: str, group: int, after: str) -> None:
        self.text = text
        self.call = call  # the name before the parenthesis it stands in, wrapping calls left out
        self.group = group  # which parenthesis or bracket that is
        self.after = after  # the code that follows


def actions(language: str, code: str) -> list[Action]:
    """What code does: ("shell", text), ("words", [program, …]) and ("note", kind), in no particular order."""
    found: list[Action] = []
    if re.search(_LOOP_OF_FORKS, code):
        found.append(("note", "fork-bomb"))
    if language != "awk" and re.search(_RUNS_TEXT, code):
        if re.search(_FETCHES, code):
            found.append(("note", "run-download"))
        elif re.search(_DECODES, code):
            found.append(("note", "run-decoded"))
    if re.search(r"\bkill\w*\s*\(?\s*(?:-1\s*,|['\"]?(?:KILL|9)['\"]?\s*,\s*-1)", code):
        found.append(("words", ["kill", "-9", "-1"]))
    if language == "osascript" and re.search(r"(?i)\b(?:shut down|restart|erase)\b", code):
        found.append(("words", ["shutdown"]))
    for pattern, stands_for in _WELL_KNOWN:
        code = re.sub(pattern, stands_for, code)
    if language in ("perl", "ruby"):
        code = re.sub(_QUOTING, _as_literal, code)
    literals = list(_literals(code))
    runs = bool(re.search(_RUNNING, code))
    groups: dict[int, list[Literal]] = {}
    for literal in literals:
        groups.setdefault(literal.group, []).append(literal)
    for group in groups.values():
        found += _of_call(group, runs, language)
    if re.search(r"\b(?:rmtree|rm_rf|remove_tree|rmSync|rimraf)\W*\(\s*\$?\w+\s*[,)]", code):  # of a variable
        paths = [literal.text for literal in literals if literal.text.startswith(("/", "~"))]
        found += [("words", ["rm", "-rf", "--", *paths])]
    return found


def _of_call(group: list[Literal], runs: bool, language: str) -> Iterator[Action]:
    """What one call does, or one list of strings."""
    call = (group[0].call or "").replace("::", ".").replace("->", ".").lower()
    last = call.rpartition(".")[2]
    texts = [literal.text for literal in group]
    flag = _REMOVING.get(last) or _REMOVING.get(".".join(call.split(".")[-2:]))
    if flag:
        yield "words", ["rm", flag, "--", *texts]
    elif re.search(_MOVING, call):
        yield "words", ["mv", "--", *texts]
    elif re.search(_COPYING, call) and len(texts) > 1:
        yield "words", ["cp", "--", *texts]
    elif re.search(_MODES, call):
        yield "words", ["chmod", "u+w", *texts]
    elif re.search(_WRITING, call):
        yield "words", ["tee", "--", texts[0]]
    elif re.search(_OPENING, call):
        mode = "".join(texts[1:2])
        if re.fullmatch(r"\+?[<>]{1,2}", texts[0]) and ">" in texts[0] + "+":  # open(F, ">", path)
            yield "words", ["tee", "--", mode]
        elif re.fullmatch(r"[rwabxt+]*[wax+][rwabxt+]*", mode) or re.match(r"\s*>", texts[0]):
            yield "words", ["tee", "--", texts[0].lstrip("> ")]
        elif language in ("perl", "ruby") and texts[0].strip().startswith("|"):
            yield "shell", texts[0].strip().strip("|")
    else:
        for literal in group:
            follower = literal.after.lower()
            if re.match(r"\s*\)?\s*\.\s*(?:write_text|write_bytes|touch)\b", follower):
                yield "words", ["tee", "--", literal.text]
            elif re.match(r"\s*\)?\s*\.\s*unlink\b", follower):
                yield "words", ["rm", "-f", "--", literal.text]
    if runs and not re.search(_SAYING, call):
        if len(texts) > 1:
            yield "words", texts
            texts = texts[:1] if re.search(_RUNNING, call) else []
        for text in texts:
            yield "shell", text


def _literals(code: str) -> Iterator[Literal]:
    """Every string of the code, neighbours joined by + or . as one."""
    at = 0
    stack = [("", 0)]  # of (the call's name, the number of its parenthesis)
    count = 0
    between = ""  # the code since the last string
    pending = None

    def made(text: str, end: int) -> Literal:
        around = [each for each in reversed(stack) if not re.search(_WRAPPING, each[0])] or stack
        return Literal(text, *around[0], code[end : end + 40])

    while at < len(code):
        char = code[at]
        if char in "'\"`":
            prefix = re.search(_PREFIX, code[max(0, at - 2) : at])
            raw = prefix is not None and "r" in prefix.group().lower()
            quote = code[at : at + 3] if code[at : at + 3] in ("'''", '"""') else char
            end = at + len(quote)
            while end < len(code) and not code.startswith(quote, end):
                end += 2 if code[end] == "\\" and not raw else 1
            text = code[at + len(quote) : end]
            text = text if raw else unescaped(text)
            at = end + len(quote)
            if char == "`":
                yield Literal(text, "exec", -at, code[at : at + 40])
            elif pending is not None and re.fullmatch(r"\s*[+.]?\s*", between):
                pending = made(pending.text + text, at)
            else:
                if pending is not None:
                    yield pending
                pending = made(text, at)
            between = ""
            continue
        if char in "([":
            count += 1
            call = re.search(_CALL, code[max(0, at - 80) : at]) if char == "(" else None
            name = call.group(1) if call else (stack[-1][0] if char == "[" else "")
            stack.append((name, count))
        elif char in ")]" and len(stack) > 1:
            stack.pop()
        elif char == ";" or char == "\n":
            count += 1
            stack[0] = (stack[0][0], count)
        between += char
        if pending is not None and re.search(r"[^\s+.]", between):
            yield pending
            pending = None
        at += 1
        # `system "rm x"`, `unlink "x"`: a call without parentheses
        if char.isspace() and code[at : at + 1] in ("'", '"') and len(stack) == 1:
            call = re.search(_CALL, code[max(0, at - 80) : at])
            stack[0] = (call.group(1) if call else "", stack[0][1])
    if pending is not None:
        yield pending
