"""Whether a hook could print plain text on stdout, as far as its texts show; what cannot be told could."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ..basics import shell_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

    from .sight import Sight, Text

_SILENT = frozenset(
    (
        *("exit", "return", "set", "shift", "read", "test", "[", "true", "false", ":", "cd", "break", "continue"),
        *("sleep", "mkdir", "touch", "rm", "cp", "mv", "chmod", "umask", "wait", "kill", "trap", "local", "export"),
    )
)
_OBJECT = re.compile(rb"""(?:['"]?%s(?:\\n)?['"]?\s+)?(?:-[a-z]+\s+)*['"]?\s*\{""")
_INTERPRETERS = re.compile(rb"(?:.*/)?(?:python|node|(?:ba|da|z|k)?sh)[\d.]*")
_TO_STDOUT = re.compile(
    r"console\.(?:log|info|debug|table|dir)\s*\(|process\.stdout\.write\s*\(|['\"]inherit['\"]|/dev/stdout"
)


def may_be_text(seen: Sight) -> bool:
    """Whether anything but JSON objects might come out of it."""
    if seen.unseen:
        return True
    scripts = [text.path for text in seen.texts if text.path]
    return any(_PRINTS.get(text.language, _always)(text, scripts) for text in seen.texts)


def _always(_: Text, __: Iterable[str]) -> bool:
    return True


# ---- shell


def _shell_prints(text: Text, scripts: Iterable[str]) -> bool:
    tree = shell_lines.parse(text.content.encode("utf-8", "replace"))
    nodes = list(_open(tree))
    functions = shell_lines.function_names(nodes)
    names = {path.rpartition("/")[2].encode() for path in scripts}
    return tree.has_error or any(node.type == "command" and _command_prints(node, functions, names) for node in nodes)


def _open(tree: Node) -> Iterator[Node]:
    """The nodes whose stdout is the hook's: none in a substitution, before a pipe, or sent elsewhere."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        if node.type in ("command_substitution", "process_substitution"):
            continue
        if node.type == "redirected_statement" and any(map(_sends_away, node.children)):
            continue
        children = node.children[-1:] if node.type == "pipeline" else node.children
        left.extend(reversed(children))


def _sends_away(node: Node) -> bool:
    """Whether a redirection takes stdout somewhere else; a document that is an object counts as well."""
    text = node.text or b""
    if node.type == "heredoc_redirect":
        body = next((child.text or b"" for child in node.children if child.type == "heredoc_body"), b"")
        return body.lstrip().startswith(b"{") or b">" in text.partition(b"\n")[0]
    return node.type == "file_redirect" and re.match(rb"1?>", text) is not None


def _command_prints(node: Node, functions: set[bytes | None], scripts: set[bytes]) -> bool:
    name = next((child.text or b"" for child in node.children if child.type == "command_name"), b"")
    rest = (node.text or b"").partition(name)[2].strip()
    if name.decode("utf-8", "replace") in _SILENT or name in functions or not name:
        return False
    if name in (b"echo", b"printf", b"jq"):
        return _OBJECT.match(rest) is None
    if name == b"grep":
        return re.match(rb"-\w*q", rest) is None
    runs_script = any(script in (node.text or b"") for script in scripts)
    return not (runs_script and (b"/" in name or _INTERPRETERS.fullmatch(name)))


# ---- Python and JavaScript


def _python_prints(text: Text, _: Iterable[str]) -> bool:
    try:
        tree = ast.parse(text.content)
    except (SyntaxError, ValueError, RecursionError):
        return True
    nodes = list(ast.walk(tree))
    written = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr in ("write", "flush")}
    if any(_is_stdout(node) and id(node) not in written for node in nodes):  # somebody else gets it
        return True
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return any(_call_prints(call, {keyword.arg for keyword in call.keywords}) for call in calls)


def _is_stdout(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any(name.name == "stdout" for name in node.names)
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.stdout"


def _call_prints(call: ast.Call, keywords: set[str | None]) -> bool:
    called = ast.unparse(call.func)
    if called in ("print", "sys.stdout.write"):
        is_object = len(call.args) == 1 and ast.unparse(call.args[0]).startswith("json.dumps(")
        return "file" not in keywords and not is_object
    if called.rpartition(".")[2] in _RUNS:
        return not keywords & {"capture_output", "stdout"}
    return called in ("os.system", "os.write") or called.startswith(("os.exec", "os.spawn", "os.posix_spawn"))


def _javascript_prints(text: Text, _: Iterable[str]) -> bool:
    found = [text.content[match.end() :].lstrip() for match in _TO_STDOUT.finditer(text.content)]
    return any(not rest.startswith("JSON.stringify(") for rest in found)


_RUNS = ("run", "call", "check_call", "Popen")
_PRINTS = {"sh": _shell_prints, "py": _python_prints, "js": _javascript_prints}
