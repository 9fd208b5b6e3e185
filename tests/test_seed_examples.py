"""Every example of the five source documents, taken from the documents themselves, does what its text says.

Each test runs twice: on the documents in `../shared/seeds`, where they are, and on our own short text with the same
facts in `data/seeds`, so that the suite stands alone.
"""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from seed_examples import (
    DESTROYS,
    FOLDER,
    PATTERN_1,
    PATTERN_2,
    PATTERN_3,
    PATTERN_4,
    PATTERN_5,
    TABLE,
    Cases,
    Programs,
    Read,
    fire,
    install,
    marked,
    outcomes,
    said,
    shell,
    write,
)
from seed_examples import programs as programs  # noqa: PLC0414  # a fixture
from seed_examples import read as read  # noqa: PLC0414  # a fixture
from support import array_hook, folder_hook, project_hooks, table_hook, until, user_hooks, write_config
from tenterhook import Action, Engine, Event, Hook

if TYPE_CHECKING:
    from pathlib import Path

# ---- loading and firing them


def kimi_cli(home: Path, text: str, **load: Any) -> Engine:
    """The file as S0 places it, nothing changed."""
    return _load(home / ".kimi" / "config.toml", text, **load)


def kimi_code(home: Path, text: str, **load: Any) -> Engine:
    """The file as S1 places it, nothing changed."""
    return _load(home / ".kimi-code" / "config.toml", text, **load)


def _load(file: Path, text: str, **load: Any) -> Engine:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return Engine.load(configs=[file], **load)


def wrapped(*lines: str, name: str = "example") -> str:
    """A HOOK.md around lines that are only a part of one."""
    return "\n".join(["---", f"name: {name}", "description: An example", *lines, "---", ""])


def errors(engine: Engine) -> list[str]:
    return [problem.code for problem in engine.problems if problem.severity == "error"]


def only_hook(engine: Engine) -> Hook:
    assert errors(engine) == []
    (hook,) = engine.hooks
    return hook


def each_of(cases: Cases) -> pytest.MarkDecorator:
    rows = [
        pytest.param(heading, *case, id=f"{heading}-{number}")
        for heading, under in cases.items()
        for number, case in enumerate(under)
    ]
    return pytest.mark.parametrize(("heading", "event", "fields", "verdict", "runs"), rows)


def check(engine: Engine, event: str, fields: dict[str, Any], verdict: str, runs: list[str]) -> None:
    assert errors(engine) == []
    given = fire(engine, event, **fields)
    assert (said(given), outcomes(given)) == (verdict, runs)


# ---- nothing is left out

# The languages of the blocks under each heading.
KNOWN = {
    "table": {
        "Configuration Location": "toml",
        "Basic Structure": "toml",
        "Synchronous Mode (Default)": "toml",
        "Asynchronous Mode": "toml",
        "Matcher Filtering": "toml",
        "Input": "json json",
        "Output": "json",
        "Synchronous Hook: Dangerous Command Blocking": "toml",
        "Asynchronous Hook: Auto Code Formatting": "toml",
        "Python Hook Script": "python toml",
        "Quality Gate Hook: Enforce Standards Before Stop": "toml python",
        "Combined Usage: Sync Check + Async Processing": "toml",
        "Debugging": "bash",
        "2. Set Reasonable Timeouts": "toml",
        "3. Use Exit Code 2 for Force Block": "bash",
        "4. Fail Open Principle": "python",
        "Conditional Execution": "toml",
        "Chained Hooks": "toml",
        "Using Environment Variables to Pass State": "toml",
    },
    "folder": {
        "2.3 stdout (Control & Communication)": "bash",
        "2.4 stderr (Error & Feedback)": "bash",
        "3.1 Sync Mode (Default)": "yaml",
        "3.2 Async Mode": "yaml",
        "4.1 Matcher Configuration": "yaml",
        "4.4 Common Matcher Examples": "yaml",
        "5.1 Base Event Fields": "json",
        "5.2 Tool Events (before_tool / after_tool / after_tool_failure)": "json",
        "5.3 Subagent Events": "json",
        "5.4 Session Events": "json json",
        "5.5 Stop Event (Quality Gate)": "json yaml",
        "Pattern 1: Dangerous Operation Interception (Sync + Block)": "yaml bash",
        "Pattern 2: Auto-formatting (Async)": "yaml",
        "Pattern 3: Sensitive Operation Block (Sync)": "yaml bash",
        "Pattern 4: Session Audit Log (Async)": "yaml",
        "Pattern 5: Quality Gate (Sync + before_stop)": "yaml bash",
        "7.1 Priority": "yaml",
        "10.2 HOOK.md Example": "markdown",
        "10.3 Script Example (scripts/run.sh)": "bash",
    },
}


@pytest.mark.parametrize("name", KNOWN)
def test_every_block_of_the_document_is_known_here(read: Read, name: str) -> None:
    found: dict[str, str] = {}
    for block in read(name).blocks():
        if block.language not in ("", "text"):
            found[block.heading] = f"{found.get(block.heading, '')} {block.language}".strip()
    assert found == KNOWN[name]


# ---- S0: the table format


@each_of(TABLE)
@pytest.mark.usefixtures("project", "programs")
def test_an_unchanged_table_example_does_what_its_text_says(
    read: Read,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    heading: str,
    event: str,
    fields: dict[str, Any],
    verdict: str,
    runs: list[str],
) -> None:
    monkeypatch.delenv("ENV", raising=False)
    check(kimi_cli(home, read("table").block(heading, "toml")), event, fields, verdict, runs)


def test_every_hook_of_a_complete_table_example_is_fired(read: Read, home: Path) -> None:
    fragments = {"Basic Structure", "Matcher Filtering"}
    examples = {block.heading: block.text for block in read("table").blocks() if block.language == "toml"}
    assert examples.keys() - fragments == TABLE.keys()
    for heading, cases in TABLE.items():
        fired = {outcome.split()[0] for *_, runs in cases for outcome in runs}
        assert fired == {hook.name for hook in kimi_cli(home, examples[heading]).hooks}


def test_the_template_is_no_toml_until_its_matcher_is_filled_in(read: Read, home: Path) -> None:
    template = read("table").block("Basic Structure", "toml")
    engine = kimi_cli(home, template)
    (problem,) = engine.problems
    assert problem.code == "bad-toml"
    assert problem.line == 1 + template[: template.index("matcher")].count("\n")
    assert problem.remedy
    assert engine.hooks == ()


def test_the_template_names_no_event_until_one_is_filled_in(read: Read, home: Path) -> None:
    engine = kimi_cli(home, _filled_in(read, "EVENT_TYPE"))
    (problem,) = engine.problems
    assert (problem.code, problem.line, problem.key) == ("unknown-event", 1, "EVENT_TYPE")
    assert engine.hooks == ()


# What the table of events says; where it only advises against blocking, PROTOCOL 1 decides.
BLOCKS_IN_TABLE = {
    "session_start": True,
    "session_end": False,
    "before_agent": True,
    "after_agent": False,
    "before_tool": True,
    "after_tool": False,
    "after_tool_failure": False,
    "subagent_start": True,
    "subagent_stop": True,
    "pre_compact": True,
    "before_stop": True,
}


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("event", BLOCKS_IN_TABLE)
def test_the_template_filled_in_blocks_where_its_event_can(read: Read, home: Path, event: str) -> None:
    text = _filled_in(read, event).replace("shell command", "echo no >&2; exit 2")
    engine = kimi_cli(home, text)
    hook = only_hook(engine)
    assert (hook.name, hook.declared, hook.timeout, hook.async_) == ("hook-name", event, 30.0, False)
    assert hook.description == "Description"
    verdict = fire(engine, event)
    assert said(verdict) == ("deny: no" if BLOCKS_IN_TABLE[event] else "none")
    assert verdict.runs[0].decision.action is Action.DENY  # an observer's is shown, and does not count


def test_the_events_of_the_table_format_are_those_of_its_document(read: Read) -> None:
    table = read("table").between("## Event Types and Blocking Capability\n", "\n## Examples")
    rows = dict(re.findall(r"^\| `(\w+)` \|.*?(✅|⚠️|❌)", table, re.MULTILINE))
    assert rows.keys() == BLOCKS_IN_TABLE.keys()
    sure = {event: mark == "✅" for event, mark in rows.items() if mark != "⚠️"}
    assert sure.items() <= BLOCKS_IN_TABLE.items()


def _filled_in(read: Read, event: str) -> str:
    template = read("table").block("Basic Structure", "toml")
    return re.sub(r"^matcher.*", "", template, flags=re.MULTILINE).replace("EVENT_TYPE", event)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("number", "matching", "others"),
    [
        (0, [shell("ls")], [write("a"), {}]),
        (1, [write("a"), {"tool_name": "ReadFile"}], [shell("Read Write"), {}]),
        (2, [shell("rm -rf x"), write("rm -rf")], [shell("rm -r x"), {"tool_name": "Shell"}]),
        (3, [shell("rm -rf /")], [shell("rm -rf x"), write("rm -rf /")]),
    ],
    ids=["tool", "tools", "pattern", "both"],
)
def test_a_matcher_line_finds_what_its_comment_says(
    read: Read, home: Path, number: int, matching: list[dict[str, Any]], others: list[dict[str, Any]]
) -> None:
    lines = [
        line for line in read("table").block("Matcher Filtering", "toml").splitlines() if line.startswith("matcher")
    ]
    assert len(lines) == 4
    engine = kimi_cli(home, f'[[hooks.before_tool]]\ncommand = "exit 2"\n{lines[number]}\n')
    assert errors(engine) == []
    assert all(fire(engine, "before_tool", **fields).denied for fields in matching)
    assert not any(fire(engine, "before_tool", **fields).runs for fields in others)


def test_matcher_lines_without_a_hook_around_them_are_no_file(read: Read, home: Path) -> None:
    engine = kimi_cli(home, read("table").block("Matcher Filtering", "toml"))
    assert [problem.code for problem in engine.problems] == ["bad-toml"]
    assert engine.hooks == ()


@pytest.mark.usefixtures("project")
def test_the_session_start_example_sends_its_notification(read: Read, home: Path, programs: Programs) -> None:
    fire(kimi_cli(home, read("table").block("Configuration Location", "toml")), "session_start")
    assert programs.arguments("notify-send") == ["Kimi session started"]


def test_an_async_example_is_not_waited_for_and_cannot_block(
    read: Read, home: Path, project: Path, programs: Programs
) -> None:
    waits = f'for i in $(seq 1000); do [ -e "{project}/go" ] && break; sleep 0.02; done'
    programs.add("black", f'{waits}; pwd >> "$0.calls"; echo \'{{"decision": "deny"}}\'; exit 2')
    engine = kimi_cli(home, read("table").block("Asynchronous Hook: Auto Code Formatting", "toml"))
    verdict = fire(engine, "after_tool", **write("a.py"))
    assert str(project) not in programs.arguments("black")  # it has not ended yet
    assert said(verdict) == "none"
    (project / "go").touch()
    until(lambda: programs.arguments("black") == ["--quiet", ".", str(project)])


@pytest.mark.parametrize(
    "name", ["src/a.py", "with space.py", "$(touch ran).py", '";touch ran;".py', "'`touch ran`'.py"]
)
def test_the_placeholder_example_formats_the_one_file_that_was_written(
    read: Read, home: Path, project: Path, programs: Programs, name: str
) -> None:
    engine = kimi_cli(home, read("table").block("Asynchronous Mode", "toml"))
    fire(engine, "after_tool", **write(name))
    assert until(lambda: programs.arguments("black")) == ["--quiet", f"{project}/{name}"]
    assert not (project / "ran").exists()


def test_the_notification_example_finds_the_path_in_the_json(
    read: Read, home: Path, project: Path, programs: Programs
) -> None:
    engine = kimi_cli(home, read("table").block("Combined Usage: Sync Check + Async Processing", "toml"))
    fire(engine, "after_tool", **write(f"{project}/a b.py"))
    assert until(lambda: programs.arguments("notify-send")) == [f"File modified: {project}/a b.py"]
    assert until(lambda: programs.arguments("black")) == ["--quiet", "."]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rm -rf /", "deny: Dangerous command detected: rm -rf /"),
        ("cat x > /dev/sda", "deny: Dangerous command detected: > /dev/sda"),
        ("psql prod -c 'drop table t'", "ask: This affects production. Continue?"),
        ("ls", "allow"),
    ],
)
@pytest.mark.usefixtures("programs")
def test_the_python_script_denies_asks_and_allows(
    read: Read, home: Path, project: Path, command: str, expected: str
) -> None:
    document = read("table")
    script = project / "security-hook.py"
    script.write_text(document.block("Python Hook Script", "python"))
    text = document.block("Python Hook Script", "toml").replace("/path/to/security-hook.py", str(script))
    engine = kimi_cli(home, text)
    assert only_hook(engine).timeout == 5.0
    verdict = fire(engine, "before_tool", **shell(command))
    assert said(verdict) == expected
    assert fire(engine, "before_tool", **write(command)).runs == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('import sys; sys.exit("this is exit 1")', "none"),
        ('print("Not now", file=__import__("sys").stderr); raise SystemExit(2)', "deny: Not now"),
        ("""print('{"decision": "deny", "reason": "Not so"}')""", "deny: Not so"),
    ],
    ids=["failure", "exit 2", "deny"],
)
@pytest.mark.usefixtures("programs")
def test_the_synchronous_example_blocks_by_exit_code_or_decision(
    read: Read, home: Path, project: Path, body: str, expected: str
) -> None:
    script = project / "security-check.py"
    script.write_text(body)
    text = read("table").block("Synchronous Mode (Default)", "toml")
    verdict = fire(kimi_cli(home, text.replace("/path/to/security-check.py", str(script))), "before_tool", **shell(""))
    assert said(verdict) == expected


@pytest.mark.usefixtures("project")
def test_the_quality_gate_keeps_the_agent_going_while_tests_fail(read: Read, home: Path, programs: Programs) -> None:
    engine = kimi_cli(home, read("table").block("Quality Gate Hook: Enforce Standards Before Stop", "toml"))
    programs.add("npm", "echo '1 failing'; exit 1")
    verdict = fire(engine, "before_stop", stop_reason="no_tool_calls")
    assert said(verdict) == "deny: Tests must pass before completing"
    programs.add("npm", "echo '12 passing'")
    verdict = fire(engine, "before_stop", stop_reason="no_tool_calls")
    assert said(verdict) == "allow"  # the object is the last line; what npm printed before it is reported
    assert "12 passing" in verdict.runs[0].stdout
    assert verdict.runs[0].decision.notes
    assert programs.arguments("npm") == ["test", "test"]


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        ("npm", "deny: Tests failed. Fix them before completing."),
        ("black", "deny: Code is not formatted. Run 'black .' to fix."),
        (None, "allow"),
    ],
)
def test_the_quality_gate_script_checks_tests_and_formatting(
    read: Read, home: Path, project: Path, programs: Programs, failing: str | None, expected: str
) -> None:
    if failing:
        programs.add(failing, "exit 1")
    script = project / "quality-gate.py"
    script.write_text(read("table").block("Quality Gate Hook: Enforce Standards Before Stop", "python"))
    verdict = fire(kimi_cli(home, table_hook(f"python {script}", "before_stop")), "before_stop")
    assert said(verdict) == expected


def test_the_conditional_example_checks_in_production_only(
    read: Read, home: Path, project: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = project / "prod-check.py"
    script.write_text("""print('{"decision": "deny", "reason": "Not in production"}')""")
    text = read("table").block("Conditional Execution", "toml").replace("/path/to/prod-check.py", str(script))
    engine = kimi_cli(home, text)
    monkeypatch.setenv("ENV", "staging")
    assert said(fire(engine, "before_tool", **shell("ls"))) == "allow"
    assert programs.arguments("python") == []
    monkeypatch.setenv("ENV", "production")
    assert fire(engine, "before_tool", **shell("ls")).reason == "Not in production"


@pytest.mark.parametrize(
    ("quick", "expected", "ran"),
    [
        ("true", ["quick-check ok", "deep-check ok"], ["quick", "deep"]),
        ("exit 2", ["quick-check blocked", "deep-check not_run"], ["quick"]),
    ],
    ids=["passes", "blocks"],
)
def test_chained_examples_run_in_order_until_one_blocks(
    read: Read, home: Path, project: Path, quick: str, expected: list[str], ran: list[str]
) -> None:
    text = read("table").block("Chained Hooks", "toml")
    for name, then in (("quick", quick), ("deep", "true"), ("async", "true")):
        text = text.replace('command = "..."', f'command = "echo {name} >> ran; {then}"', 1)
    engine = kimi_cli(home, text)
    assert outcomes(fire(engine, "before_tool", **shell("ls"))) == expected
    assert (project / "ran").read_text().split() == ran
    assert outcomes(fire(engine, "after_tool", **shell("ls"))) == ["async-process started"]
    until(lambda: (project / "ran").read_text().split() == [*ran, "async"])


@pytest.mark.usefixtures("project")
def test_the_timeouts_of_the_example_are_milliseconds_and_a_timeout_fails_open(read: Read, home: Path) -> None:
    text = read("table").block("2. Set Reasonable Timeouts", "toml")
    engine = kimi_cli(home, text.replace('command = "..."', 'command = "sleep 20; exit 2"', 1))
    timeouts = {hook.name: hook.timeout for hook in engine.hooks}
    assert timeouts == {"quick-check": 1.0, "deep-analysis": 10.0, "long-task": 60.0}
    verdict = fire(engine, "before_tool", **shell("ls"))
    assert outcomes(verdict) == ["quick-check timed_out", "deep-analysis failed"]
    assert said(verdict) == "none"


def test_the_environment_example_sets_a_variable_for_later_hooks(read: Read, home: Path, project: Path) -> None:
    text = read("table").block("Using Environment Variables to Pass State", "toml")
    see = table_hook('echo "a $PROJECT_TYPE project" >&2; exit 2')
    engine = kimi_cli(home, text + see)
    assert said(fire(engine, "session_start", session_id="one")) == "allow"
    assert (project / ".kimi" / "env").read_text() == "PROJECT_TYPE=python\n"
    assert engine.session_variables("one") == {"PROJECT_TYPE": "python"}
    verdict = fire(engine, "before_tool", session_id="one", **shell("ls"))
    assert verdict.reason == "a python project"
    assert outcomes(verdict) == ["type-check failed", "before_tool[1] blocked"]
    assert "shell" in (verdict.runs[0].why or "")
    assert fire(engine, "before_tool", session_id="another", **shell("ls")).reason == "a  project"


@pytest.mark.usefixtures("project")
def test_the_environment_example_with_its_syntax_mended_sees_the_variable(read: Read, home: Path) -> None:
    text = read("table").block("Using Environment Variables to Pass State", "toml")
    comment = "# Execute Python-specific checks"
    assert comment in text
    engine = kimi_cli(home, text.replace(comment, "echo 'not in Python' >&2; exit 2"))
    fire(engine, "session_start", session_id="one")
    assert fire(engine, "before_tool", session_id="one", **shell("ls")).reason == "not in Python"
    assert said(fire(engine, "before_tool", session_id="another", **shell("ls"))) == "none"


def test_the_forced_block_script_blocks_with_what_it_wrote_to_stderr(read: Read, home: Path, project: Path) -> None:
    script = project / "force.sh"
    script.write_text(read("table").block("3. Use Exit Code 2 for Force Block", "bash"))
    verdict = fire(kimi_cli(home, table_hook(f"bash {script}")), "before_tool", **shell("ls"))
    assert said(verdict) == "deny: Block reason"


@pytest.mark.parametrize(
    ("dangerous", "expected"),
    [
        ("def is_dangerous(): return True", "deny: Blocked by before_tool hook"),
        ("def is_dangerous(): raise OSError", "allow"),
        ("def is_dangerous(): return False", "none"),
    ],
    ids=["dangerous", "error", "harmless"],
)
@pytest.mark.usefixtures("programs")
def test_the_fail_open_script_blocks_on_purpose_only(
    read: Read, home: Path, project: Path, dangerous: str, expected: str
) -> None:
    script = project / "check.py"
    script.write_text(f"import sys\n{dangerous}\n{read('table').block('4. Fail Open Principle', 'python')}")
    verdict = fire(kimi_cli(home, table_hook(f"python {script}")), "before_tool", **shell("ls"))
    assert said(verdict) == expected


def test_the_output_example_is_understood_once_its_comments_are_gone(read: Read, home: Path, project: Path) -> None:
    answer = read("table").block("Output", "json")
    (project / "answer").write_text(answer)
    engine = kimi_cli(home, table_hook("cat answer"))
    verdict = fire(engine, "before_tool", **shell("ls"))
    assert said(verdict) == "none"  # JSON has no comments
    assert "unreadable answer" in str(verdict.runs[0].why)
    (project / "answer").write_text(re.sub(r"\s*//.*", "", answer))
    verdict = fire(engine, "before_tool", **shell("ls"))
    assert said(verdict) == "allow: Explanation"
    assert verdict.modified_input is None
    assert verdict.additional_context == ("Extra info",)


@pytest.mark.usefixtures("project", "programs")
def test_debugging_shows_the_lines_of_the_example(read: Read, home: Path) -> None:
    document = read("table")
    example = document.block("Combined Usage: Sync Check + Async Processing", "toml")
    lines: list[str] = []
    engine = kimi_cli(home, example, debug=lines.append)
    fire(engine, "before_tool", **shell("rm -rf /"))
    fire(engine, "after_tool", **write("a.py"))
    lines = [re.sub(r"\d+ms", "…ms", line) for line in lines]
    shown = [re.sub(r"\d+ms", "…ms", line) for line in document.block("Debugging", "").splitlines() if line]
    assert [line for line in lines if line in shown] == shown


# ---- S0 and S3: what a hook is sent


class Sent(NamedTuple):
    """An example of an event's JSON."""

    document: str
    heading: str
    number: int = 0


SENT = [
    Sent("table", "Input"),
    Sent("table", "Input", 1),
    Sent("folder", "5.1 Base Event Fields"),
    Sent("folder", "5.2 Tool Events (before_tool / after_tool / after_tool_failure)"),
    Sent("folder", "5.3 Subagent Events"),
    Sent("folder", "5.4 Session Events"),
    Sent("folder", "5.4 Session Events", 1),
    Sent("folder", "5.5 Stop Event (Quality Gate)"),
]
# Fields of PROTOCOL 6 that the documents are too old for, as they are when the caller does not say.
LATER = {"source": "startup", "stop_hook_active": False}


@pytest.mark.parametrize("example", SENT, ids=lambda sent: f"{sent.document}-{sent.heading}-{sent.number}")
def test_a_hook_is_sent_the_fields_and_values_of_the_example(
    read: Read, home: Path, project: Path, example: Sent
) -> None:
    payload = json.loads(read(example.document).block(example.heading, "json", example.number))
    assert payload["work_dir"] == "/home/user/project"
    event = payload["event_type"]
    keep = 'cat > "$KIMI_WORK_DIR/sent"'
    if example.document == "folder":
        folder_hook(user_hooks(home), "keep", keep, event)
        engine = Engine.load()
    else:
        engine = kimi_cli(home, table_hook(keep, event))
    engine.decide(Event.from_payload(event, payload, work_dir=str(project)))
    line = (project / "sent").read_text()
    sent = json.loads(line)
    shown = {"context": {}, **payload, "work_dir": str(project)}
    assert {key: value for key, value in sent.items() if (key, value) not in LATER.items()} == shown
    assert line.strip() == json.dumps(sent, ensure_ascii=False)  # one line, a space after each colon and comma


# ---- S1: the array format, its examples run into prose


def patience(command: str) -> int:
    """The shortest timeout there is for what will need it; a busy machine may be slow with the rest."""
    return 1 if "sleep" in command else 30


def test_every_array_example_of_the_document_is_known_here(read: Read) -> None:
    known = marked(read, "configuration") + marked(read, "example")
    assert len(re.findall(r"^\[\[hooks\]\]$", read("array").text, re.MULTILINE)) == known.count("[[hooks]]") == 3


def test_the_array_examples_load_with_their_matchers_and_seconds(read: Read, home: Path) -> None:
    engine = kimi_code(home, marked(read, "configuration"))
    assert engine.problems == ()
    assert [(hook.declared, hook.tool or hook.target, hook.timeout) for hook in engine.hooks] == [
        ("PreToolUse", "Bash", 5.0),
        ("Notification", r"task\.completed", 30.0),
    ]
    assert {hook.format for hook in engine.hooks} == {"array"}


@pytest.mark.usefixtures("project")
def test_the_pre_tool_use_example_calls_the_script_in_the_persons_home(
    read: Read, home: Path, programs: Programs
) -> None:
    programs.add("node", "echo 'Not this one' >&2; exit 2")
    engine = kimi_code(home, marked(read, "configuration"))
    (home / ".kimi-code" / "hooks").mkdir()
    (home / ".kimi-code" / "hooks" / "check-bash.mjs").touch()
    verdict = fire(engine, "PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    assert said(verdict) == "deny: Not this one"
    assert fire(engine, "PreToolUse", **shell("ls")).denied  # another name of the same tool
    assert fire(engine, "PreToolUse", tool_name="Grep", tool_input={}).runs == ()
    assert programs.arguments("node") == [f"{home}/.kimi-code/hooks/check-bash.mjs"] * 2


@pytest.mark.usefixtures("project")
def test_the_notification_example_fires_for_completed_tasks_only(read: Read, home: Path, programs: Programs) -> None:
    programs.add("terminal-notifier", "exit 2")
    engine = kimi_code(home, marked(read, "configuration"))
    for other in ("task.failed", "task.killed", "task.lost", "taskXcompleted"):
        assert fire(engine, "Notification", notification_type=other).runs == ()
    verdict = fire(engine, "Notification", notification_type="task.completed")
    assert [run.outcome for run in verdict.runs] == ["started"]
    assert said(verdict) == "none"
    told = until(lambda: programs.arguments("terminal-notifier"))
    assert told == ["-title", "Kimi", "-message", "Background task finished"]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("sudo rm -rf build", "deny: Blocked dangerous shell command"),
        ("rm -r build", "none"),
    ],
)
def test_the_node_script_blocks_rm_rf_with_its_reason(read: Read, home: Path, command: str, expected: str) -> None:
    engine = kimi_code(home, marked(read, "example"))
    assert only_hook(engine).timeout == 5.0
    if not shutil.which("node"):
        pytest.skip("node is not installed: the example's script cannot run")
    script = home / ".kimi-code" / "hooks" / "block-dangerous-bash.mjs"
    script.parent.mkdir()
    script.write_text("let" + marked(read, "script"))
    verdict = fire(engine, "PreToolUse", tool_name="Bash", tool_input={"command": command})
    assert outcomes(verdict) == ["PreToolUse[0] ok" if expected == "none" else "PreToolUse[0] blocked"]
    assert said(verdict) == expected


def test_the_array_payload_has_the_base_fields_of_the_example(read: Read, home: Path, project: Path) -> None:
    payload = json.loads(marked(read, "payload"))
    assert list(payload) == ["hook_event_name", "session_id", "cwd"]
    engine = kimi_code(home, array_hook("cat > sent"))
    engine.decide(Event.from_payload(payload["hook_event_name"], {**payload, "cwd": str(project)}))
    assert json.loads((project / "sent").read_text()) == {**payload, "cwd": str(project)}


ARRAY_FIELDS = {
    "UserPromptSubmit": ["prompt"],
    "PreToolUse": ["tool_name", "tool_input", "tool_call_id"],
    "PostToolUse": ["tool_name", "tool_input", "tool_call_id", "tool_output"],
    "PostToolUseFailure": ["tool_name", "tool_input", "tool_call_id", "error"],
    "Stop": ["stop_hook_active"],
    "StopFailure": ["error_type", "error_message"],
    "SessionStart": ["source"],
    "SessionEnd": ["reason"],
    "SubagentStart": ["agent_name", "prompt"],
    "SubagentStop": ["agent_name", "response"],
    "PreCompact": ["trigger", "token_count"],
    "PostCompact": ["trigger", "estimated_token_count"],
    "Notification": ["sink", "notification_type", "title", "body", "severity", "source_kind", "source_id"],
}


def test_the_events_and_fields_of_the_array_format_are_those_of_its_document(read: Read) -> None:
    rows = [row.split(" | ") for row in marked(read, "events").splitlines()]
    assert {row[0]: re.sub(r" \(.*?\)", "", row[2]).split(", ") for row in rows} == ARRAY_FIELDS


@pytest.mark.parametrize("event", ARRAY_FIELDS)
def test_an_array_hook_is_sent_the_documented_fields_of_its_event(home: Path, project: Path, event: str) -> None:
    given: dict[str, Any] = {field: f"some {field}" for field in ARRAY_FIELDS[event]}
    engine = kimi_code(home, array_hook("cat > part && mv part sent", event))
    assert engine.problems == ()
    fire(engine, event, session_id="one", **given)
    until((project / "sent").exists)
    if event == "UserPromptSubmit":
        given["prompt"] = [{"type": "text", "text": given["prompt"]}]
    base = {"hook_event_name": event, "session_id": "one", "cwd": str(project)}
    assert json.loads((project / "sent").read_text()) == {**base, **given}


def test_the_deny_example_blocks_with_its_reason(read: Read, home: Path, project: Path) -> None:
    (project / "answer").write_text(marked(read, "deny"))
    engine = kimi_code(home, array_hook("cat answer", matcher="Bash"))
    verdict = fire(engine, "PreToolUse", tool_name="Bash", tool_input={"command": "grep -r x"})
    assert said(verdict) == "deny: Use rg instead"


def test_the_text_of_each_prompt_hook_is_a_message_and_decides_nothing(read: Read, home: Path, project: Path) -> None:
    (project / "answer").write_text(marked(read, "prompt"))
    hooks = array_hook("cat answer", "UserPromptSubmit") + array_hook("cat ./answer", "UserPromptSubmit")
    verdict = fire(kimi_code(home, hooks), "UserPromptSubmit", prompt="Hello")
    assert said(verdict) == "none"
    assert verdict.messages == ("hook response", "hook response")


def test_a_stop_hook_continues_the_turn_once_with_its_reason(read: Read, home: Path, project: Path) -> None:
    reason = marked(read, "stop")
    assert reason == "continue from hook"
    (project / "reason").write_text(reason)
    engine = kimi_code(home, array_hook("cat reason >&2; exit 2", "Stop"))
    verdict = fire(engine, "Stop")
    assert said(verdict) == f"deny: {reason}"
    assert said(fire(engine, "Stop", stop_hook_active=True)) == "none"


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("true", "none"),
        ("echo because >&2; exit 2", "deny: because"),
        ("exit 2", "deny: Blocked by PreToolUse hook"),
        ("echo because >&2; exit 1", "none"),
        ("kill -9 $$", "none"),
        ("sleep 20; exit 2", "none"),
    ],
)
def test_the_return_values_of_the_array_format_mean_what_their_table_says(
    home: Path, command: str, expected: str
) -> None:
    engine = kimi_code(home, array_hook(command, timeout=patience(command)))
    verdict = fire(engine, "PreToolUse", **shell("ls"))
    assert said(verdict) == expected


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ('matcher = "Bash"', 'matchers = "Bash"', "unknown-key"),
        ('"Notification"', '"Notifications"', "unknown-event"),
        ("timeout = 5", "timeout = 601", "bad-value"),
    ],
)
def test_one_mistake_refuses_the_whole_array_example(read: Read, home: Path, right: str, wrong: str, code: str) -> None:
    text = marked(read, "configuration").replace(right, wrong)
    engine = kimi_code(home, text)
    assert engine.hooks == ()
    (problem,) = engine.problems
    assert problem.code == code
    assert problem.line == 1 + text[: text.index(wrong)].count("\n")
    assert problem.remedy


# ---- S2: approvals


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat answer", ("approve", "once")),
        ("true", ("none", None)),
        ("cat answer; exit 1", ("none", None)),
        ("cat answer; kill -9 $$", ("none", None)),
        ("cat answer; sleep 20", ("none", None)),
        ("cat answer; echo '{'", ("none", None)),
    ],
    ids=["answer", "no output", "crash", "killed", "timeout", "unreadable"],
)
def test_only_a_whole_approval_answers_the_question(
    read: Read, home: Path, project: Path, command: str, expected: tuple[str, str | None]
) -> None:
    (project / "answer").write_text(read("approvals").between("structured decision, e.g.\n", "resolves the approval"))
    engine = kimi_code(home, array_hook(command, "PermissionRequest", timeout=patience(command)))
    assert engine.problems == ()
    verdict = fire(engine, "PermissionRequest", **shell("ls"), action="run", display="ls")
    assert (said(verdict), verdict.scope) == expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [("true", "approve"), ("exit 1", "none"), ("echo '{'", "none"), ("echo no >&2; exit 2", "deny: no")],
    ids=["silence", "crash", "unreadable", "refusal"],
)
def test_an_approval_counts_only_if_no_other_hook_failed_or_refused(
    read: Read, home: Path, project: Path, other: str, expected: str
) -> None:
    (project / "answer").write_text(read("approvals").between("structured decision, e.g.\n", "resolves the approval"))
    hooks = array_hook("cat answer", "PermissionRequest") + array_hook(other, "PermissionRequest")
    assert said(fire(kimi_code(home, hooks), "PermissionRequest", **shell("ls"))) == expected


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("key", ["decision", "permissionDecision"])
def test_allow_before_a_tool_skips_the_question_only_as_a_permission_decision(home: Path, key: str) -> None:
    answer = {"decision": "allow"} if key == "decision" else {"hookSpecificOutput": {key: "allow"}}
    verdict = fire(kimi_code(home, array_hook(f"echo '{json.dumps(answer)}'")), "PreToolUse", **shell("ls"))
    assert said(verdict) == ("allow" if key == "decision" else "approve")


# ---- S3: the folder format


@each_of(FOLDER)
@pytest.mark.usefixtures("project", "programs")
def test_an_unchanged_folder_example_does_what_its_text_says(
    read: Read, home: Path, heading: str, event: str, fields: dict[str, Any], verdict: str, runs: list[str]
) -> None:
    document = read("folder")
    script = [block.text for block in document.blocks() if block[:2] == (heading, "bash")]
    install(user_hooks(home), document.block(heading, "yaml"), *script)
    check(Engine.load(), event, fields, verdict, runs)


def test_every_complete_folder_example_is_fired(read: Read) -> None:
    definitions = {block.heading for block in read("folder").blocks() if block.text.startswith("---\n")}
    assert definitions == FOLDER.keys() | {"10.2 HOOK.md Example"}


@pytest.mark.parametrize(
    ("heading", "fields"),
    [
        ("3.1 Sync Mode (Default)", {"async_": False, "timeout": 30.0, "priority": 100, "tool": None}),
        ("3.2 Async Mode", {"async_": True}),
        ("4.1 Matcher Configuration", {"tool": "Shell", "pattern": "rm -rf /|mkfs|>:/dev/sda"}),
        ("5.5 Stop Event (Quality Gate)", {"timeout": 60.0, "priority": 999, "async_": False}),
        (PATTERN_1, {"timeout": 5.0, "priority": 999, "pattern": "rm -rf /|mkfs|dd if=/dev/zero"}),
        (PATTERN_2, {"timeout": 30.0, "async_": True, "tool": "WriteFile", "pattern": r"\.py$"}),
        (PATTERN_3, {"timeout": 60.0, "async_": False, "pattern": "deploy.*prod|kubectl.*production"}),
        (PATTERN_4, {"async_": True, "declared": "session_end"}),
        (PATTERN_5, {"timeout": 120.0, "priority": 999}),
    ],
)
def test_front_matter_is_read_as_it_is_written(read: Read, home: Path, heading: str, fields: dict[str, Any]) -> None:
    install(user_hooks(home), read("folder").block(heading, "yaml"))
    hook = only_hook(Engine.load())
    assert {key: getattr(hook, key) for key in fields} == fields


def test_a_backslash_in_double_quotes_is_kept_with_advice(read: Read, home: Path) -> None:
    definition = read("folder").block(PATTERN_2, "yaml")
    folder = install(user_hooks(home), definition)
    (problem,) = Engine.load().problems
    assert (problem.code, problem.severity) == ("escape-in-quotes", "warning")
    assert problem.file == str(folder / "HOOK.md")
    assert problem.line == 1 + definition[: definition.index(r"\.py$")].count("\n")
    assert "single quotes" in problem.remedy


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("number", "matching", "others"),
    [
        (0, [shell("ls")], [write("Shell.py"), {}]),
        (1, [write("a.py"), write("a.js"), write("a.ts")], [write("a.pyc"), write("apy"), shell("cat a.py")]),
        (2, [shell("rm -rf x"), shell("mkfs"), shell("dd if=/dev/zero")], [shell("rm x"), write("mkfs")]),
        (3, [shell("cat /etc/passwd"), write("/var/www/index.html")], [shell("cat /etc/hosts"), {}]),
    ],
    ids=["tool", "file type", "keywords", "directories"],
)
def test_a_matcher_example_finds_what_its_comment_says(
    read: Read, home: Path, number: int, matching: list[dict[str, Any]], others: list[dict[str, Any]]
) -> None:
    examples = read("folder").block("4.4 Common Matcher Examples", "yaml").split("\n\n")
    assert len(examples) == 4
    install(user_hooks(home), wrapped("trigger: before_tool", examples[number].rstrip()), "exit 2\n")
    engine = Engine.load()
    assert only_hook(engine).tool or only_hook(engine).pattern
    assert all(fire(engine, "before_tool", **fields).denied for fields in matching)
    assert not any(fire(engine, "before_tool", **fields).runs for fields in others)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("heading", "expected", "log"),
    [
        ("2.3 stdout (Control & Communication)", "allow", "Command validated"),
        ("2.4 stderr (Error & Feedback)", f"deny: {DESTROYS}", None),
    ],
)
def test_the_output_examples_of_the_folder_format_allow_and_block(
    read: Read, home: Path, heading: str, expected: str, log: str | None
) -> None:
    install(user_hooks(home), wrapped("trigger: before_tool"), read("folder").block(heading, "bash"))
    verdict = fire(Engine.load(), "before_tool", **shell("ls"))
    assert (said(verdict), verdict.runs[0].decision.log) == (expected, log)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("failing", "reason"),
    [
        ("npm", "Tests must pass before completing"),
        ("black", "Code is not formatted. Run 'black .' first"),
    ],
)
def test_the_quality_gate_example_blocks_the_stop_with_the_first_failure(
    read: Read, home: Path, programs: Programs, failing: str, reason: str
) -> None:
    programs.add(failing, "echo noise; exit 1")
    document = read("folder")
    install(user_hooks(home), document.block(PATTERN_5, "yaml"), document.block(PATTERN_5, "bash"))
    verdict = fire(Engine.load(), "before_stop", stop_reason="no_tool_calls")
    assert said(verdict) == f"deny: {reason}"


@pytest.mark.usefixtures("project")
def test_the_higher_priority_of_the_example_runs_first(read: Read, home: Path) -> None:
    lines = re.findall(r"^priority: \d+$", read("folder").block("7.1 Priority", "yaml"), re.MULTILINE)
    assert len(lines) == 2
    for name, line in zip(("security", "notify"), lines, strict=True):
        install(user_hooks(home), wrapped("trigger: before_tool", line, name=name))
    verdict = fire(Engine.load(), "before_tool", **shell("ls"))
    assert outcomes(verdict) == ["security ok", "notify ok"]


# Its table says that every event can block; PROTOCOL 1 settles that the end of a session or a turn cannot.
FOLDER_EVENTS = (
    *("session_start", "session_end", "before_agent", "after_agent", "before_stop"),
    *("before_tool", "after_tool", "after_tool_failure", "subagent_start", "subagent_stop", "pre_compact"),
)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("event", FOLDER_EVENTS)
def test_a_folder_hook_blocks_where_its_event_can(home: Path, event: str) -> None:
    folder_hook(user_hooks(home), "block", "echo no >&2; exit 2", event)
    verdict = fire(Engine.load(), event)
    assert said(verdict) == ("none" if event in ("session_end", "after_agent") else "deny: no")
    assert verdict.runs[0].decision.reason == "no"


def test_the_events_of_the_folder_format_are_those_of_its_document(read: Read) -> None:
    tables = read("folder").between("## 1. Event Types\n", "\n## 2.")
    assert re.findall(r"^\| `(\w+)` \|", tables, re.MULTILINE) == list(FOLDER_EVENTS)


def install_complete_example(read: Read, hooks: Path) -> None:
    document = read("folder")
    script = document.block("10.3 Script Example (scripts/run.sh)", "bash")
    install(hooks, document.block("10.2 HOOK.md Example", "markdown"), script)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("rm -rf /home", DESTROYS),
        ("mkfs /dev/sda", "Dangerous command blocked: mkfs would destroy the system"),
        ("dd if=/dev/zero of=/dev/sda", "Dangerous command blocked: dd if=/dev/zero would destroy the system"),
        # Its script looks for a word's end after the slash, where there is none, and does not know `>:/dev/sda`:
        # mistakes of the example. The hook is reached all the same.
        ("rm -rf /", None),
        ("cat x >:/dev/sda", None),
    ],
)
def test_the_complete_example_blocks_with_its_reason(read: Read, home: Path, command: str, reason: str | None) -> None:
    install_complete_example(read, user_hooks(home))
    engine = Engine.load()
    hook = only_hook(engine)
    assert (hook.name, hook.timeout, hook.priority, hook.async_) == ("block-dangerous-commands", 5.0, 999, False)
    assert engine.problems == ()
    verdict = fire(engine, "before_tool", **shell(command))
    assert outcomes(verdict) == [f"block-dangerous-commands {'blocked' if reason else 'ok'}"]
    assert said(verdict) == (f"deny: {reason}" if reason else "none")


@pytest.mark.usefixtures("project")
def test_the_complete_example_is_not_run_for_a_harmless_command(read: Read, home: Path) -> None:
    install_complete_example(read, user_hooks(home))
    assert fire(Engine.load(), "before_tool", **shell("ls -la")).runs == ()


def test_the_directory_example_has_user_and_project_hooks_and_some_without_scripts(
    read: Read, home: Path, project: Path
) -> None:
    install_complete_example(read, user_hooks(home))
    for hooks, name in ((user_hooks(home), "notify-slack"), (project_hooks(project), "project-specific")):
        (hooks / name).mkdir(parents=True)
        (hooks / name / "HOOK.md").write_text(wrapped("trigger: before_tool", name=name))
    engine = Engine.load(project)
    assert [(hook.name, hook.layer) for hook in engine.hooks] == [
        ("block-dangerous-commands", "user"),
        ("notify-slack", "user"),
        ("project-specific", "project"),
    ]
    assert [problem.code for problem in engine.problems] == ["no-script", "no-script"]
    verdict = fire(engine, "before_tool", **shell("ls"))
    assert outcomes(verdict) == ["notify-slack failed", "project-specific not_run"]
    assert verdict.runs[1].why == "untrusted"
    trusting = Engine.load(project, trust_project=True)
    assert outcomes(fire(trusting, "before_tool", **shell("ls")))[1] == "project-specific failed"


# ---- S4: renamed events, and a finding about matchers

RENAMED = {
    "session_start": "pre-session",
    "session_end": "post-session",
    "before_agent": "pre-agent-turn",
    "after_agent": "post-agent-turn",
    "before_tool": "pre-tool-call",
    "after_tool": "post-tool-call",
    "after_tool_failure": "post-tool-call-failure",
    "subagent_start": "pre-subagent",
    "subagent_stop": "post-subagent",
    "pre_compact": "pre-context-compact",
    "before_stop": "pre-agent-turn-stop",
    "after_stop": "post-agent-turn-stop",
}


def test_the_renamed_events_are_those_of_the_document(read: Read) -> None:
    document = read("renames")
    table = document.between("命名变更对照表\n", "主要改动")
    rows = dict(re.findall(r"^(\w+) ((?:pre|post)-\S+) ", table, re.MULTILINE))
    arrows = dict(re.findall(r"^- (\w+) → (\S+)", document.text, re.MULTILINE))
    assert rows | arrows == RENAMED
    new = re.findall(r"^- ((?:pre|post)-\S+) ", table, re.MULTILINE)
    assert [Event(name).canonical for name in new] == ["post-agent-turn-stop", "post-context-compact"]


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_both_names_mean_the_same_event_and_each_hook_is_sent_its_own(
    home: Path, project: Path, old: str, new: str
) -> None:
    engine = kimi_cli(home, table_hook("cat > by-old", old) + table_hook("cat > by-new", new))
    assert errors(engine) == []
    for fired in (old, new):
        assert Event(fired).canonical == new
        assert [run.outcome for run in fire(engine, fired).runs] == ["ok", "ok"]
        assert json.loads((project / "by-old").read_text())["event_type"] == old
        assert json.loads((project / "by-new").read_text())["event_type"] == new
    folder_hook(user_hooks(home), "by-folder", "exit 0", old)
    assert [run.hook.declared for run in fire(Engine.load(), new).runs] == [old]


@pytest.mark.usefixtures("project")
def test_an_anchored_pattern_is_searched_in_each_value_of_the_input(read: Read, home: Path) -> None:
    document = read("renames")
    tool_input = json.loads('{"file_path"' + document.between('str({"file_path"', ") "))
    pattern = document.between("specifies pattern: ", ",")
    install(user_hooks(home), wrapped("trigger: after_tool", "matcher:", f"  pattern: {pattern}"))
    engine = Engine.load()
    assert only_hook(engine).pattern == r"\.py$"
    assert engine.problems == ()
    matches = fire(engine, "post-tool-call", tool_name="WriteFile", tool_input=tool_input)
    assert outcomes(matches) == ["example ok"]
    assert fire(engine, "post-tool-call", **write("/tmp/test.pyc")).runs == ()


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("matcher", "fields"),
    [({"tool": "Shell"}, {"tool_input": {"command": "ls"}}), ({"pattern": ".*"}, {"tool_name": "Shell"})],
    ids=["no name", "no input"],
)
def test_a_matcher_never_matches_what_was_not_given(
    tmp_path: Path, matcher: dict[str, str], fields: dict[str, Any]
) -> None:
    config = write_config(tmp_path / "config.toml", table_hook("exit 2", matcher=matcher))
    engine = Engine.load(configs=[config])
    assert fire(engine, "pre-tool-call", **fields).runs == ()
    assert fire(engine, "pre-tool-call", **shell("ls")).denied
