"""Templates for a new hook's folder: a definition, a working script, and cases that pass.

For each event there is a `TemplateEvent`: the field of the payload to check, and a first useful rule.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from ..catalog.lints import PLACEHOLDER
from ..events import OUTPUT_FIELDS, TOOL_NAMES, Effect, spec_of, tool_names
from .paths import STATE_DIR

if TYPE_CHECKING:
    from ..events import EventSpec

LANGUAGES = ("sh", "python", "node")
ENTRY_POINTS = {"sh": "scripts/run.sh", "python": "scripts/run.py", "node": "scripts/run"}
_NOTES = "notes.log"
_TIMEOUT = 10000  # ms


class File(NamedTuple):
    """The text of a file, and whether it is executable."""

    text: str
    executable: bool = False


class HookFiles(NamedTuple):
    """The files of a hook by their paths in its folder, HOOK.md last; `gaps`: what remains to be done by hand.

    `example`: what it looks for, unless that was given.
    """

    files: dict[str, File]
    gaps: tuple[str, ...] = ()
    example: str | None = None


class _Subject(NamedTuple):
    """The values that the texts of one hook depend on."""

    name: str
    event: str  # as the hook declares it
    spec: EventSpec
    tool: str | None
    pattern: str | None
    looks_at: TemplateEvent
    calls: Calls | None
    given: str | None = None  # the reason, if one was given

    @property
    def decides(self) -> bool:
        return self.spec.effect("folder") is Effect.DECIDES

    @property
    def title(self) -> str:
        """Its name, if that can be part of a comment or a docstring."""
        return self.name if re.fullmatch(r"[A-Za-z0-9_.-]+", self.name) else "This hook"

    @property
    def reason(self) -> str:
        """The reason of its block."""
        return self.given or (PLACEHOLDER if self.reached_is_enough else self.looks_at.reason)

    @property
    def reached_is_enough(self) -> bool:
        """Whether the matcher alone decides, so that the script has nothing left to check."""
        return bool(self.decides and self.calls and self.calls.told_apart and self.looks_at.path[0] == "tool_input")


def render(
    name: str,
    event: str,
    language: str,
    tool: str | None = None,
    pattern: str | None = None,
    reason: str | None = None,
) -> HookFiles:
    """Return the folder of a new hook. `reason` is that of its block; without one, there may be a gap to fill.

    With a tool and a reason, but no pattern, it refuses every call of that tool.
    """
    spec = spec_of(event)
    looks_at = template_event(spec, tool)
    whole = bool(tool and reason and not pattern)
    subject = _Subject(name, event, spec, tool, pattern, looks_at, calls(spec, tool, pattern, whole=whole), reason)
    script = _script(subject, language)
    files = {ENTRY_POINTS[language]: File(script, executable=True)}
    if language == "node":
        # A project around the hook may say that its scripts are modules; these are not.
        files["scripts/package.json"] = File('{ "private": true, "type": "commonjs" }\n')
    files |= {f"cases/{file}": File(text) for file, text in _cases(subject).items()}
    gaps: tuple[str, ...] = ()
    if subject.calls and subject.calls.reaching is None:
        gaps = (f"no example is known that matches '{pattern or tool}': add a case with one to cases/",)
    if subject.decides and subject.reason == PLACEHOLDER:
        gaps += (
            f"write in {ENTRY_POINTS[language]} why it refuses: until then `tenterhook check` fails (or use --reason)",
        )
    files["HOOK.md"] = File(_definition(subject, ENTRY_POINTS[language]))
    shown = subject.decides and not subject.reached_is_enough
    return HookFiles(files, gaps, f"`{looks_at.word}` in {looks_at.what}" if shown else None)


def _definition(subject: _Subject, entry_point: str) -> str:
    spec, looks_at = subject.spec, subject.looks_at
    lines = [f"name: {_yaml(subject.name)}", f"description: {_description(subject)}", f"trigger: {subject.event}"]
    if subject.tool or subject.pattern:
        lines.append("matcher:")
        lines += [f"  tool: {_quoted(subject.tool)}"] if subject.tool else []
        lines += [f"  pattern: {_quoted(subject.pattern)}"] if subject.pattern else []
    lines.append(f"timeout: {_TIMEOUT}")
    body = [f"# {subject.name}", ""]
    if subject.decides:
        when = "everything that its matcher finds" if subject.reached_is_enough else f"what contains `{looks_at.word}`"
        body.append(f"Looks at {looks_at.what} and refuses {when}. A block here means: {spec.block}.")
        if spec.name in ("pre-tool-call", "permission-request"):
            body += [
                "",
                "If the script itself fails, the agent continues. A guard that must not fail open needs, above:",
            ]
            body.append("`metadata: { on_failure: block }`.")
    else:
        body.append(f"Records {looks_at.what} in `{_NOTES}`, in the hook's state directory.")
        body.append("It only observes: its answer has no effect.")
    body += ["", f"`{entry_point}` does this; `tenterhook test {subject.name}` runs the cases in `cases/`."]
    return "\n".join(["---", *lines, "---", "", *body]) + "\n"


def _description(subject: _Subject) -> str:
    looks_at = subject.looks_at
    if not subject.decides:
        return _yaml(f"Records {looks_at.what} at {subject.spec.name}")
    if subject.reached_is_enough:
        return _yaml(f"Refuses what its matcher finds at {subject.spec.name}")
    return _yaml(f"Refuses {looks_at.word} in {looks_at.what} at {subject.spec.name}")


def _yaml(text: str) -> str:
    """Return a text as YAML, unquoted if that means the same."""
    import yaml

    try:
        plain = text.isprintable() and yaml.safe_load(f"key: {text}") == {"key": text}
    except yaml.YAMLError:
        plain = False
    return text if plain else _quoted(text)


def _quoted(text: str | None) -> str:
    """Return a text in YAML's single quotes, or in double quotes if it needs escapes."""
    text = text or ""
    return "'" + text.replace("'", "''") + "'" if text.isprintable() else json.dumps(text)


# ------------------------------------------------------------------ answers of a script


def _answers(subject: _Subject) -> list[tuple[str, dict[str, Any]]]:
    """Return the answers that a hook of this event may print, each with its purpose."""
    event = subject.spec.name
    found: list[tuple[str, dict[str, Any]]] = []
    if event == "pre-tool-call":
        key = subject.calls.key if subject.calls else "command"
        found += [
            ("ask the user first", {"decision": "ask", "reason": "Is this intended?"}),
            ("skip the question", {"hookSpecificOutput": {"permissionDecision": "allow"}}),
            ("change the input, all of it", {"modified_input": {key: "another one"}}),
        ]
    if event in OUTPUT_FIELDS:
        found.append(("change what the model sees", {"modified_output": "another text"}))
    if event == "permission-request":
        found.append(("approve, or for the session", {"decision": "allow", "scope": "once"}))
    found.append(("tell the model something", {"additional_context": "Worth knowing."}))
    return found


def _head(subject: _Subject, statement: str, *, variable: str) -> list[str]:
    """Return the comment at the head of a script; `statement` prints an object."""
    lines = [f"{subject.title}: called at {subject.event}, with the event as JSON on stdin."]
    lines.append(f"`tenterhook show {subject.event}` prints an example of it.")
    if not subject.decides:
        lines += ["", "It only observes: its output and exit code change nothing, but a failure is reported."]
        lines.append(f"{variable} is a directory for its own files.")
        return lines
    lines += ["", "Exit code 2 blocks, with the reason on stderr. Here that means:", f"{subject.spec.block}."]
    lines.append("Exit code 0 and no output: no objection. Any other exit code is a failure, and the agent continues.")
    lines.append("With exit code 0 it may also print an object:")
    width = max(len(label) for label, _ in _answers(subject))
    lines += [f"  {label + ':':<{width + 1}} {statement % json.dumps(answer)}" for label, answer in _answers(subject)]
    if subject.spec.name == "pre-session":
        lines.append(
            "NAME=value lines added to the file $TENTERHOOK_ENV_FILE are variables for the rest of the session."
        )
    if subject.spec.name == "pre-agent-turn-stop":
        lines.append("stop_hook_active is true in the event if hooks have already sent the agent back.")
    return lines


# ------------------------------------------------------------------ scripts


class _Language(NamedTuple):
    """The parts of a script. In them, words in capitals stand for what the hook checks, and for the reason."""

    comment: str  # what begins a line of a comment
    prints: str  # an object
    directory: str  # of the hook's own files
    start: str
    notes: str  # what an observer does
    block: str
    condition: str  # of the block, which follows with the same indent
    end: str


_FIELD = r"""# The values of a field, as JSON writes them: a quote in a text is \" here. With jq, exactly:
#   printf '%s' "$event" | jq -r '.PATH // empty'
field() {
    printf '%s\n' "$event" | grep -oE "\"$1\": (\"([^\"\\\\]|\\\\.)*\"|[0-9.]+)" |
        sed -E 's/^"[^"]*": "?//; s/"$//'
}
text=$(field KEY)  # WHAT
"""
_WHOLE_INPUT = """\
# Everything from the tool's input onward, as JSON.
text=${event#*'"tool_input": '}
"""
_SCRIPTS = {
    "sh": _Language(
        "#",
        "echo '%s'",
        "$TENTERHOOK_STATE_DIR",
        "#!/bin/sh\nHEAD\nevent=$(cat)\n\nFIELD",
        'if [ -n "$text" ]; then\n    printf \'%s\\n\' "$text" >>"$TENTERHOOK_STATE_DIR/NOTES"\nfi\n',
        "ECHO >&2\nexit 2\n",
        'case "$text" in\n*"WORD"*)\n    ',
        "\n    ;;\nesac\n",
    ),
    "python": _Language(
        "",
        "print(json.dumps(%s))",
        'os.environ["TENTERHOOK_STATE_DIR"]',
        """\
#!/usr/bin/env -S python3 -s
\"\"\"HEAD
\"\"\"

IMPORTS
event = json.load(sys.stdin)


def text_of(*path):
    \"\"\"A value of the event as text; empty if it is not there.\"\"\"
    value = event
    for key in path:
        value = value.get(key, "") if isinstance(value, dict) else ""
    return value if isinstance(value, str) else json.dumps(value)


text = text_of(KEYS)  # WHAT
""",
        """\
if text:
    notes = os.path.join(os.environ["TENTERHOOK_STATE_DIR"], "NOTES")
    with open(notes, "a", encoding="utf-8") as file:
        print(text, file=file)
""",
        "print(REASON, file=sys.stderr)\nsys.exit(2)\n",
        'if "WORD" in text:\n    ',
        "\n",
    ),
    "node": _Language(
        "//",
        "console.log(JSON.stringify(%s))",
        "process.env.TENTERHOOK_STATE_DIR",
        """\
#!/usr/bin/env node
HEAD
const fs = require("fs");

const event = JSON.parse(fs.readFileSync(0, "utf8"));

// A value of the event as text; empty if it is not there.
function textOf(...path) {
  const value = path.reduce((inside, key) => inside?.[key], event) ?? "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

const text = textOf(KEYS); // WHAT
""",
        'if (text) {\n  fs.appendFileSync(`${process.env.TENTERHOOK_STATE_DIR}/NOTES`, text + "\\n");\n}\n',
        "console.error(REASON);\nprocess.exitCode = 2;\n",
        'if (text.includes("WORD")) {\n  ',
        "\n}\n",
    ),
}


def _script(subject: _Subject, language: str) -> str:
    looks_at, form = subject.looks_at, _SCRIPTS[language]
    head = _head(subject, form.prints, variable=form.directory)
    values = {
        "HEAD": "\n".join(f"{form.comment} {line}".rstrip() if form.comment else line for line in head),
        "IMPORTS": "import json\nimport sys\n" if subject.decides else "import json\nimport os\nimport sys\n",
        "KEYS": ", ".join(json.dumps(key) for key in looks_at.path),
        "KEY": looks_at.path[-1],
        "PATH": ".".join(looks_at.path),
        "WHAT": looks_at.what,
        "NOTES": _NOTES,
        "WORD": looks_at.word,
        "ECHO": _echo(subject.reason),
        "REASON": json.dumps(subject.reason, ensure_ascii=False),
    }
    start = form.start.replace("FIELD", _WHOLE_INPUT if looks_at.path == ("tool_input",) else _FIELD)
    block = form.block
    if not subject.decides:
        block = form.notes
    elif subject.reached_is_enough:
        text = "$text" if language == "sh" else "text"
        comment = form.comment or "#"
        block = f"{comment} The matcher in HOOK.md has already matched. Inspect {text} further here.\n{block}"
    else:
        indent = form.condition.rpartition("\n")[2]
        block = form.condition + block.replace("\n", "\n" + indent).rstrip() + form.end
    return re.sub("|".join(values), lambda found: values[found[0]], f"{start}\n{block}")


def _echo(text: str) -> str:
    """Return a shell command that prints any text."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 .,:;?_/+=()-]*", text):
        return f'echo "{text}"'
    return f"printf '%s\\n' {shlex.quote(text)}"


# ------------------------------------------------------------------ cases


def _cases(subject: _Subject) -> dict[str, str]:
    """Return a case in which the hook acts, and one in which it does not."""
    looks_at, calls = subject.looks_at, subject.calls
    in_input = looks_at.path[0] == "tool_input"
    texts = (looks_at.found, looks_at.other)
    if calls and in_input:
        texts = (calls.reaching or "", calls.other)
    events = [_event(subject, text) for text in texts]
    if calls and calls.other_tool is not None and in_input:
        events[1]["tool_name"] = calls.other_tool
    if subject.decides:
        does = {"decision": "deny", "reason": subject.reason}
        what = "what its matcher finds" if subject.reached_is_enough else looks_at.word
        does_not: dict[str, Any] = {"runs": False} if subject.reached_is_enough else {"decision": "none"}
        found = {
            "blocks.toml": _case(f"blocks {what}", events[0], does),
            "leaves-the-rest-alone.toml": _case("leaves the rest alone", events[1], does_not),
        }
        if calls and calls.other_tool == "":
            del found["leaves-the-rest-alone.toml"]
    else:
        notes = f"{STATE_DIR}/{_NOTES}"
        found = {
            "records-it.toml": _case("records it", events[0], {"files": {notes: f"{looks_at.found}\n"}}),
            "nothing-to-record.toml": _case("nothing to record", events[1], {"files": {notes: False}}),
        }
    if calls and calls.reaching is None:  # then only the other call can be a case
        other = _tool_call(subject, calls.other)
        return {"does-not-run.toml": _case("does not run", other, {"runs": False})} if calls.told_apart else {}
    return found


def _event(subject: _Subject, text: str) -> dict[str, Any]:
    calls, path = subject.calls, subject.looks_at.path
    if calls and path[0] == "tool_input":
        return _tool_call(subject, text)
    about = _tool_call(subject, calls.reaching or "") if calls else {}
    return {**about, **(example(subject.spec, path, text) if text else {})}


def _tool_call(subject: _Subject, text: str) -> dict[str, Any]:
    assert subject.calls is not None
    return {"tool_name": subject.calls.tool, "tool_input": {subject.calls.key: text}}


def _case(name: str, event: dict[str, Any], expect: dict[str, Any]) -> str:
    lines = ["# An event, and what the hook must do with it.", f"name = {_toml(name)}", ""]
    files = expect.get("files")
    for header, values in (("event", event), ("expect", expect), ("expect.files", files)):
        plain = {key: value for key, value in (values or {}).items() if key != "files"}
        if plain or header == "event":
            lines += [f"[{header}]", *(f"{_key(key)} = {_toml(value)}" for key, value in plain.items()), ""]
    return "\n".join(lines[:-1]) + "\n"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key)


def _toml(value: Any) -> str:
    import tomlkit

    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, bool):
        return "true" if value else "false"
    return tomlkit.string(value).as_string() if isinstance(value, str) else str(value)


class TemplateEvent(NamedTuple):
    """A field of an event, a word that a new hook looks for in it, a text with that word, one without, and the reason.

    For an observer `found` is what it records, and there is neither a word nor a reason.
    """

    path: tuple[str, ...]
    what: str
    found: str
    word: str = ""
    other: str = ""
    reason: str = ""


# By tool: which field of its input matters.
_TOOLS = {
    "Shell": TemplateEvent(
        ("tool_input", "command"), "the command", "rm -rf build", "rm -rf", "ls build",
        "Remove files by name, not with rm -rf.",
    ),
    "WriteFile": TemplateEvent(
        ("tool_input", "file_path"), "the path", "config/.env", ".env", "config/app.toml",
        "Leave .env files alone: they contain secrets.",
    ),
    "Glob": TemplateEvent(
        ("tool_input", "pattern"), "the pattern", "**/*.pem", ".pem", "**/*.py", "Do not look for private keys.",
    ),
    "Task": TemplateEvent(
        ("tool_input", "description"), "the description", "Deploy the service", "Deploy", "Review the change",
        "Subagents do not deploy.",
    ),
    "FetchURL": TemplateEvent(
        ("tool_input", "url"), "the address", "http://example.com/", "http://", "https://example.com/",
        "Fetch over https.",
    ),
    "SearchWeb": TemplateEvent(
        ("tool_input", "query"), "the query", "our internal roadmap", "internal", "python argparse",
        "Do not search the web for internal information.",
    ),
    "": TemplateEvent(("tool_input",), "the whole input", "a secret", "secret", "a plain text", "Secrets stay here."),
}  # fmt: skip
_TOOLS |= {"ReadFile": _TOOLS["WriteFile"], "StrReplaceFile": _TOOLS["WriteFile"], "Grep": _TOOLS["Glob"]}

_EVENTS = {
    "pre-session": TemplateEvent(
        ("source",), "how the session starts", "resume", "resume", "startup", "Start a new session here.",
    ),
    "post-session": TemplateEvent(("exit_reason",), "how the session ended", "user_exit"),
    "pre-agent-turn": TemplateEvent(
        ("prompt",), "the prompt", "Clean up production", "production", "Fix the failing test",
        "Production is managed by people.",
    ),
    "post-agent-turn": TemplateEvent(("response",), "the answer", "The test passes now."),
    "pre-agent-turn-stop": TemplateEvent(
        ("final_message", "content"), "the last message", "Done, with one TODO left.", "TODO", "Done.",
        "There is a TODO left: finish it.",
    ),
    "post-agent-turn-stop": TemplateEvent(("final_message", "content"), "the last message", "Done."),
    "post-agent-turn-failure": TemplateEvent(("error_message",), "the error", "rate limited"),
    "post-tool-call": TemplateEvent(
        ("tool_output",), "the output", "WARNING: 3 tests skipped", "WARNING", "12 tests passed",
        "There are warnings in the output: look at them.",
    ),
    "post-tool-call-failure": TemplateEvent(
        ("error",), "the error", "Permission denied", "Permission denied", "exit status 1",
        "Do not work around permissions: ask for them.",
    ),
    "permission-result": TemplateEvent(("decision",), "the answer to the question", "rejected"),
    "pre-subagent": TemplateEvent(
        ("task_description",), "the task", "Deploy the service", "Deploy", "Review the change",
        "Subagents do not deploy.",
    ),
    "post-subagent": TemplateEvent(
        ("response",), "the subagent's answer", "Done, with one TODO left.", "TODO", "Done.",
        "There is a TODO left: finish it.",
    ),
    "pre-context-compact": TemplateEvent(
        ("trigger",), "who wants it", "auto", "auto", "manual", "Compaction is up to the user here.",
    ),
    "post-context-compact": TemplateEvent(("trigger",), "who wanted it", "manual"),
    "notification": TemplateEvent(("title",), "the title", "Task completed"),
    "prompt-queued": TemplateEvent(("prompt",), "the prompt", "And run the tests"),
    "turn-started": TemplateEvent(("origin_kind",), "where the turn comes from", "user"),
    "task-started": TemplateEvent(("description",), "the task", "Review the change"),
    "interrupt": TemplateEvent(("reason",), "the reason", "user"),
    "session-heartbeat": TemplateEvent(("uptime_ms",), "how long the session has lasted", "60000"),
    "agent-event": TemplateEvent(("agent_event",), "the agent's own event", "PostToolBatch"),
}  # fmt: skip


class Calls(NamedTuple):
    """Two calls: one that reaches the hook (None if no example is known), and one for the other case."""

    tool: str
    key: str
    reaching: str | None
    other: str
    told_apart: bool  # the matcher does not match the other one
    other_tool: str | None = None  # of the other one, if it is not `tool`; empty if the matcher finds every tool


def template_event(spec: EventSpec, tool: str | None) -> TemplateEvent:
    """Return what a template looks at in an event; `tool` is the expression of the matcher."""
    return _EVENTS.get(spec.name) or _TOOLS[_canonical(tool_called(tool) or "")]


def tool_called(expression: str | None) -> str | None:
    """Return a tool's name that an expression finds, preferably one that is known; None if there is none."""
    if not expression:
        return "Shell"
    search = re.compile(expression).search
    for names in TOOL_NAMES:
        if any(search(name) for name in names):
            return names[0]
    found = next((text for text in _literals(expression) if search(text)), None)
    return f"{found}tool" if found and found.endswith("/") and search(f"{found}tool") else found


def _tool_not_called(expression: str) -> str:
    """Return a tool's name that an expression does not find; empty if there is none."""
    search = re.compile(expression).search
    known = ("ReadFile", "Shell", "other_tool")
    return next((each for each in known if not any(search(name) for name in (each, *tool_names(each)))), "")


def _canonical(tool: str) -> str:
    return next((name for name in tool_names(tool) if name in _TOOLS), "")


def calls(spec: EventSpec, tool: str | None, pattern: str | None, *, whole: bool = False) -> Calls | None:
    """Return the calls for a new hook's cases; None for an event without a tool. `whole`: it is for every such call."""
    if not spec.has_tool:
        return None
    name = tool_called(tool)
    look = _TOOLS[_canonical(name or "")]
    key = look.path[-1] if len(look.path) > 1 else "text"
    if name is None:
        return Calls("Other", key, None, look.other, told_apart=True)
    if whole:
        return Calls(name, key, look.found, look.found, told_apart=True, other_tool=_tool_not_called(tool or ""))
    if not pattern:
        return Calls(name, key, look.found, look.other, told_apart=False)
    search = re.compile(pattern).search
    reaching = next((text for text in (look.found, look.word, *_literals(pattern)) if search(text)), None)
    for other in (look.other, "hello", "README.md", "0", "x", "-"):
        if not search(other):
            return Calls(name, key, reaching, other, told_apart=True)
    return Calls(name, key, reaching, look.other, told_apart=False)


def _literals(expression: str) -> list[str]:
    """Return texts that an expression may find: its alternatives, without anchors, groups and backslashes."""
    plain = re.sub(r"\.[*+]|\\s[*+]?", " ", re.sub(r"\((?:\?:)?([^()|]*)\|[^()]*\)", r"\1", expression))
    texts = [re.sub(r"\(\?[a-z:]*\)?|\\b|[\\^$()]", "", each) for each in plain.split("|")]
    return [*(text.strip() for text in texts), *texts]


def example(spec: EventSpec, path: tuple[str, ...], text: str) -> dict[str, Any]:
    """Return the fields of an event with a text at a path."""
    value: Any = int(text) if path == ("uptime_ms",) and text else text
    for key in reversed(path[1:]):
        value = {key: value}
    if path == ("final_message", "content"):
        value = {"role": "assistant", **value}
    return {path[0]: value}
