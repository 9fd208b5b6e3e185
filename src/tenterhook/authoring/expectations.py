"""What a case expects of a hook, and how what happened differs from it. Pure.

A text is expected exactly, or as `{ matches = "expression" }` or `{ contains = "text" }`; `false` means that there
must be none. What a case does not mention is not checked, with three exceptions: that the hook ran and did not fail,
its decision (`none`), and that neither the input nor the output was changed.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import light_json
from ..formats.hook_fields import Field
from ..model import PRECEDENCE, Action
from . import paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OUTCOMES = ("ok", "blocked", "failed", "timed_out")
_TEXTS = ("reason", "additional_context", "message", "log", "why", "stdout", "stderr")
_MODIFIED = ("modified_input", "modified_output")
_EXPRESSIONS = ("matches", "contains")

FIELDS = (
    Field("runs", bool, True, meaning="false: its matcher or its event keeps it from running"),
    Field("decision", str, "none", choices=tuple(map(str, PRECEDENCE)), meaning="the decision"),
    Field("reason", object, meaning="why"),
    Field("modified_input", object, meaning="the tool's input as the hook has changed it"),
    Field("modified_output", object, meaning="what the model sees instead of the tool's output or error"),
    Field("additional_context", object, meaning="additional text for the model"),
    Field("message", object, meaning="what the user is shown"),
    Field("scope", str, None, choices=("once", "session"), meaning="how long an approval is valid"),
    Field("log", object, meaning="what it adds to the journal"),
    Field("outcome", str, None, choices=OUTCOMES, meaning="how the script ended"),
    Field("why", object, meaning="why it failed"),
    Field("exit_code", int, None, 0, 255, meaning="of the script"),
    Field("stdout", object, meaning="what the script printed"),
    Field("stderr", object, meaning="what it wrote to stderr"),
    Field("unreadable", bool, False, meaning="true: its answer, or part of it, is not valid"),
    Field("files", dict, {}, meaning="path to content afterwards; false: there is none"),
    Field("env", dict, {}, meaning="variables that it has set for the session"),
)


class Mismatch(NamedTuple):
    """One difference to what a case expects; both sides as texts."""

    field: str
    expected: str
    actual: str


def problems_of(expect: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield mistakes in expectations beyond the types of values: keys, message, remedy."""
    texts: list[tuple[tuple[str, ...], Any]] = [((key,), expect[key]) for key in _TEXTS if key in expect]
    texts += [(("env", name), value) for name, value in _table(expect, "env").items()]
    for keys, value in texts:
        if wrong := _wrong_text(value):
            yield keys, f"'{keys[-1]}' {wrong}", 'write a text, { matches = "expression" } or false for nothing'
    modified = expect.get("modified_input", False)
    if modified is not False:
        if not isinstance(modified, dict):
            yield ("modified_input",), f"'modified_input' is {modified!r}", "write the whole input as a table, or false"
        elif wrong := _wrong_inside(modified):
            yield ("modified_input",), f"'modified_input' {wrong}", "fix the expression"
    if wrong := _wrong_inside(expect.get("modified_output")):
        yield ("modified_output",), f"'modified_output' {wrong}", "fix the expression"
    for path, value in _table(expect, "files").items():
        if not paths.is_below(path):
            yield ("files", path), f"{path!r} is outside the working directory", paths.REMEDY
        elif wrong := _wrong_file(value):
            yield ("files", path), f"{path!r} {wrong}", 'write its text, { matches = "expression" } or false for none'
    if expect.get("runs") is False:
        others = [key for key in expect if key not in ("runs", "files")]
        if others:
            message = f"a hook that does not run has no '{others[0]}'"
            yield (others[0],), message, "remove it, or remove runs = false"


def _table(expect: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = expect.get(key)
    return value if isinstance(value, dict) else {}


def _wrong_text(value: Any) -> str | None:
    if isinstance(value, str) or value is False:
        return None
    if isinstance(value, dict) and len(value) == 1:
        ((key, inner),) = value.items()
        if key in _EXPRESSIONS and isinstance(inner, str):
            return _wrong_expression(inner) if key == "matches" else None
    return f"is {value!r}"


def _wrong_expression(expression: str) -> str | None:
    try:
        re.compile(expression)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        return f"has an invalid expression: {error}"
    return None


def _wrong_inside(value: Any) -> str | None:
    if _is_expression(value):
        return _wrong_text(value)
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((wrong for item in inside if (wrong := _wrong_inside(item))), None)


def _wrong_file(value: Any) -> str | None:
    if isinstance(value, (str, bool)):
        return None
    if not isinstance(value, dict) or not value:
        return f"is {value!r}"
    unknown = [key for key in value if key not in ("content", "mode", *_EXPRESSIONS)]
    if unknown:
        return f"has an unknown key '{unknown[0]}'"
    for key, inner in value.items():
        if not isinstance(inner, str):
            return f"has {key} = {inner!r}"
    if "mode" in value and not paths.is_mode(value["mode"]):
        return f"has mode = {value['mode']!r}, not one such as '755'"
    return _wrong_expression(value["matches"]) if "matches" in value else None


def _is_expression(value: Any) -> bool:
    """Return whether a table is an expression for a text: one key, `matches` or `contains`."""
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _EXPRESSIONS


def differences(expect: Mapping[str, Any], actual: Mapping[str, Any]) -> list[Mismatch]:
    """Return everything that is not as expected; empty if the case has passed."""
    found: list[Mismatch] = []
    wants_run = expect.get("runs", True)
    if actual["ran"] != wants_run:
        why = f": {actual['why_not']}" if actual.get("why_not") else ""
        found.append(Mismatch("runs", _word(wants_run), _word(actual["ran"]) + why))
    if actual["ran"] and wants_run:
        found += _of_run(expect, actual)
    found += _of_files(_table(expect, "files"), actual["files"])
    return found


def _of_run(expect: Mapping[str, Any], actual: Mapping[str, Any]) -> Iterator[Mismatch]:
    outcome = actual["outcome"]
    shown = outcome + (f": {actual['why']}" if actual["why"] else "")
    is_expected = expect.get("unreadable") and actual["unreadable"]  # which says why it failed
    if "outcome" in expect:
        if outcome != expect["outcome"]:
            yield Mismatch("outcome", expect["outcome"], shown)
    elif "exit_code" not in expect and outcome in ("failed", "timed_out") and not is_expected:
        yield Mismatch("outcome", "it does not fail", shown)
    if "exit_code" in expect and actual["exit_code"] != expect["exit_code"]:
        code = actual["exit_code"]
        yield Mismatch("exit_code", str(expect["exit_code"]), f"none ({shown})" if code is None else str(code))
    if actual["unreadable"] != expect.get("unreadable", False):
        said = "; ".join(actual["notes"]) or actual["why"]
        yield Mismatch("unreadable", _word(not actual["unreadable"]), _word(actual["unreadable"]) + f": {said}")
    if actual["decision"] != expect.get("decision", str(Action.NONE)):
        yield Mismatch("decision", expect.get("decision", str(Action.NONE)), actual["decision"])
    for key in _TEXTS:
        if key in expect and not fits_text(expect[key], actual[key]):
            yield Mismatch(key, _shown_text(expect[key]), _shown_text(actual[key]))
    for key in _MODIFIED:
        wanted, changed = expect.get(key, False), actual[key]
        is_same = changed is None if wanted is False else changed is not None and _fits(wanted, changed)
        if not is_same:
            yield Mismatch(key, _shown_value(wanted), _shown_value(changed))
    if expect.get("scope") and actual["scope"] != expect["scope"]:
        yield Mismatch("scope", expect["scope"], actual["scope"] or "(none)")
    for name, value in _table(expect, "env").items():
        if not fits_text(value, actual["env"].get(name)):
            yield Mismatch(f"env.{name}", _shown_text(value), _shown_text(actual["env"].get(name)))


def _word(value: bool) -> str:
    return "true" if value else "false"


def fits_text(expected: Any, actual: str | None) -> bool:
    """Return whether a text is as expected; a line break at its end does not count."""
    if expected is False:
        return not actual
    if actual is None:
        return False
    if isinstance(expected, dict):
        return _finds(expected, actual)
    return bool(expected.rstrip("\n") == actual.rstrip("\n"))


def _finds(expected: Mapping[str, str], actual: str) -> bool:
    if "matches" in expected and re.search(expected["matches"], actual) is None:
        return False
    return "contains" not in expected or expected["contains"] in actual


def _fits(expected: Any, actual: Any) -> bool:
    if _is_expression(expected):
        return isinstance(actual, str) and _finds(expected, actual)
    if isinstance(expected, dict):
        same_keys = isinstance(actual, dict) and expected.keys() == actual.keys()
        return same_keys and all(_fits(value, actual[key]) for key, value in expected.items())
    if isinstance(expected, list):
        same_length = isinstance(actual, list) and len(expected) == len(actual)
        return same_length and all(_fits(one, other) for one, other in zip(expected, actual, strict=True))
    return light_json.same(expected, actual)


def _of_files(expected: Mapping[str, Any], actual: Mapping[str, Mapping[str, Any]]) -> Iterator[Mismatch]:
    for path, value in expected.items():
        found = actual[path]
        field = f"files.{path}"
        there = found["kind"] != "absent"
        if isinstance(value, bool):
            if there != value:
                yield Mismatch(field, "it exists" if value else "no such file", _shown_file(found))
            continue
        wanted = {"content": value} if isinstance(value, str) else value
        if "mode" in wanted and there and found["mode"] != wanted["mode"].zfill(4)[-3:]:
            yield Mismatch(f"{field} mode", wanted["mode"], found["mode"])
        if not there or (wanted.keys() != {"mode"} and found["content"] is None):
            yield Mismatch(field, _shown_wanted(wanted), paths.kind_of(found))
        elif not _fits_content(wanted, found["content"]):
            yield Mismatch(field, _shown_wanted(wanted), _shown_file(found))


def _fits_content(wanted: Mapping[str, str], content: str | None) -> bool:
    if content is None:
        return True  # only its mode was asked for
    return wanted.get("content", content) == content and _finds(wanted, content)


def _shown_wanted(wanted: Mapping[str, str]) -> str:
    if "content" in wanted:
        return wanted["content"] or "(empty)"
    given = {key: value for key, value in wanted.items() if key in _EXPRESSIONS}
    return _shown_text(given) if given else "it exists"


def _shown_file(found: Mapping[str, Any]) -> str:
    content = found["content"]
    return paths.kind_of(found) if content is None else content or "(empty)"


def _shown_text(value: Any) -> str:
    if isinstance(value, dict):
        return " and ".join(
            f"a text that matches {inner}" if key == "matches" else f"a text with {inner}"
            for key, inner in value.items()
        )
    return value if isinstance(value, str) and value else "(nothing)"


def _shown_value(value: Any) -> str:
    if value is None or value is False:
        return "(unchanged)"
    if isinstance(value, str) or _is_expression(value):
        return _shown_text(value)
    return json.dumps(value, indent=2, ensure_ascii=False)


def observed(actual: Mapping[str, Any]) -> dict[str, Any]:
    """Return expectations for what happened, for a case that has none yet."""
    if not actual["ran"]:
        return {"runs": False, **({"files": dict(actual["changed"])} if actual["changed"] else {})}
    expect: dict[str, Any] = {"decision": actual["decision"]}
    for key in ("reason", *_MODIFIED, "additional_context", "message", "scope", "log"):
        if actual[key] or (key in _MODIFIED and actual[key] is not None):
            expect[key] = actual[key]
    if actual["outcome"] in ("failed", "timed_out"):
        expect["outcome"] = actual["outcome"]
    if actual["unreadable"]:
        expect["unreadable"] = True
    for key in ("changed", "env"):
        if actual[key]:
            expect["files" if key == "changed" else key] = dict(actual[key])
    return expect


def updated(expect: Mapping[str, Any] | None, actual: Mapping[str, Any]) -> dict[str, Any]:
    """Return expectations that match what happened; those that are met stay as they are."""
    now = observed(actual)
    if expect is None:
        return now
    differing = [difference.field for difference in differences(expect, actual)]
    new = {key: dict(value) if key in ("files", "env") else value for key, value in expect.items()}
    if "runs" in differing:  # then only the files can still be compared
        new = {**now, **({"files": new["files"]} if "files" in new else {})}
        differing = [field for field in differing if field.startswith("files.")]
    for field in differing:
        key, _, name = field.partition(".")
        value = actual.get(key)
        if key == "files":
            path = name.removesuffix(" mode")
            new["files"][path] = _file_now(_table(expect, "files")[path], actual["files"][path])
        elif key == "env":
            new["env"][name] = actual["env"].get(name) or False
        elif key == "outcome" and value not in ("failed", "timed_out") and key not in expect:
            continue
        elif value is None or value is False or (value == "" and key not in _MODIFIED):
            new[key] = False if key in (*_TEXTS, *_MODIFIED, "unreadable") else None
        else:
            new[key] = value
    if "exit_code" in differing and actual["exit_code"] is None:
        new.setdefault("outcome", actual["outcome"])  # there is no exit code to expect
    if "decision" in differing and actual["reason"]:
        new.setdefault("reason", actual["reason"])
    return {key: value for key, value in new.items() if value is not None}


def _file_now(before: Any, found: Mapping[str, Any]) -> Any:
    if found["kind"] == "absent":
        return False
    if found["content"] is None:
        return True
    if isinstance(before, dict) and "mode" in before:
        return {"content": found["content"], "mode": found["mode"]}
    return found["content"]
