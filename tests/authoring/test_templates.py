"""The folder of a new hook works at once, in every language and for every event."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from authoring.trying import BOOT, tenterhook, tried
from support import user_hooks
from tenterhook.authoring import templates
from tenterhook.catalog import lints
from tenterhook.events import EVENTS, Effect

if TYPE_CHECKING:
    from pathlib import Path


NODE = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on the PATH")
LANGUAGES = [pytest.param(each, marks=[NODE] if each == "node" else []) for each in templates.LANGUAGES]
# In each language a reason is told; what else holds is shown in one, and in the others where there is time.
PYTHON_FIRST = [
    pytest.param(
        each,
        marks=[] if each == "python" else [NODE, pytest.mark.thorough] if each == "node" else [pytest.mark.thorough],
    )
    for each in templates.LANGUAGES
]
UNBLOCK = {
    "sh": ("exit 2", "exit 0"),
    "python": ("sys.exit(2)", "sys.exit(0)"),
    "node": ("process.exitCode = 2", "process.exitCode = 0"),
}
MAKE_ALL = BOOT.replace(
    "sys.exit(run(sys.argv[1:]))",
    "for name in sys.argv[2:]:\n    assert run(['new', 'on-' + name, '--on', name, '--lang', sys.argv[1]]) == 0",
)


def _tried(language: str, place: Path) -> dict[str, Any]:
    """What a new hook for each event made of its cases, and what `check` says of them all."""
    (place / "other").mkdir()
    options: dict[str, Any] = {"cwd": place / "other", "timeout": 110}
    names = [spec.name for spec in EVENTS]
    subprocess.run([sys.executable, "-c", MAKE_ALL, language, *names], check=True, capture_output=True, **options)
    report = tried(**options)
    report["check"] = json.loads(tenterhook("check", "--json", **options).stdout)
    return report


@pytest.mark.slow
@pytest.mark.parametrize("language", PYTHON_FIRST)
def test_a_new_hook_for_any_event_passes_its_cases_and_check(language: str, tmp_path: Path) -> None:
    report = _tried(language, tmp_path)
    assert report["check"] == {"schema": 1, "hooks": len(EVENTS), "problems": []}
    for spec in EVENTS:
        cases = [each for each in report["cases"] if each["hook"] == f"on-{spec.name}"]
        assert [each["status"] for each in cases] == ["passed", "passed"], cases
        does, does_not = sorted(cases, key=lambda each: "leaves" in each["file"] or "nothing" in each["file"])
        if spec.effect("folder") is Effect.DECIDES:
            assert (does["actual"]["decision"], does["actual"]["outcome"]) == ("deny", "blocked")
            assert does["actual"]["reason"] == does["actual"]["stderr"].strip()
        else:
            assert does["actual"]["decision"] == "none", spec.name
        assert (does_not["actual"]["decision"], does_not["actual"]["outcome"]) == ("none", "ok"), spec.name
    assert report["status"] == 0


@pytest.mark.parametrize("language", PYTHON_FIRST)
def test_breaking_the_script_fails_with_a_readable_difference(language: str, home: Path, project: Path) -> None:
    assert tenterhook("new", "guard", "--on", "pre-tool-call", "--lang", language).returncode == 0
    script = user_hooks(home) / "guard" / templates.ENTRY_POINTS[language]
    script.write_text(script.read_text().replace(*UNBLOCK[language]))
    ended = tenterhook("test", "guard")
    assert ended.returncode == 1
    lines = [line.strip() for line in ended.stdout.splitlines()]
    assert lines[1].startswith("FAIL    blocks rm -rf")
    assert lines[2:12] == [
        "decision",
        "- deny",
        "+ none",
        "reason",
        "- Remove files by name, not with rm -rf.",
        "+ (nothing)",
        "the script ended: exit code 0",
        "on stderr:",
        "| Remove files by name, not with rm -rf.",
        "~/.config/agents/hooks/guard/cases/blocks.toml:1",
    ]
    assert lines[-2:] == ["(-: expected, +: what happened)", "1 passed, 1 failed"]


@pytest.mark.parametrize("language", PYTHON_FIRST)
def test_an_observer_that_no_longer_takes_anything_down_fails(language: str, home: Path, project: Path) -> None:
    assert tenterhook("new", "notes", "--on", "Notification", "--lang", language).returncode == 0
    script = user_hooks(home) / "notes" / templates.ENTRY_POINTS[language]
    script.write_text(script.read_text().replace("notes.log", "elsewhere.log"))
    ended = tenterhook("test", "notes")
    assert ended.returncode == 1
    shown = [line.strip() for line in ended.stdout.splitlines()]
    at = shown.index("files.{{state_dir}}/notes.log")
    assert shown[at + 1 : at + 3] == ["- Task completed", "+ no such file"]


@pytest.mark.parametrize(
    ("language", "tool", "pattern"),
    [
        ("sh", "Shell", r"git push .*--force\b"),
        ("python", "Write|Edit", r"\.py$"),
        ("sh", "^mcp__github__.*", None),
        ("python", "^mcp__github__.*", None),
        pytest.param("node", "^mcp__github__.*", None, marks=NODE),
        ("sh", "WebFetch", r"^https?://(?!internal)"),
        ("sh", None, r".*"),
        pytest.param("node", None, r"(?i)\bDROP\s+TABLE\b", marks=NODE),
        ("sh", "Shell", r"it's \"quoted\""),
    ],
)
def test_matchers_are_in_the_definition_and_in_the_cases(
    language: str, tool: str | None, pattern: str | None, home: Path, project: Path
) -> None:
    options = [*(["--tool", tool] if tool else []), *(["--pattern", pattern] if pattern else [])]
    options += ["--reason", "Not like this."]
    made = tenterhook("new", "guard", "--on", "pre-tool-call", "--lang", language, *options)
    assert (made.returncode, made.stderr) == (0, "")
    shown = json.loads(tenterhook("show", "guard", "--json").stdout)
    assert (shown["hooks"][0]["matcher"]["tool"], shown["hooks"][0]["matcher"]["pattern"]) == (tool, pattern)
    report = tried("guard")
    assert (report["status"], report["passed"]) == (0, 2), report["cases"]
    assert {each["actual"]["decision"] for each in report["cases"]} == {"deny", "none"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("tool", "called", "other"),
    [
        ("^mcp:mail/", "mcp__mail__send", "mcp__calendar__send"),
        ("^mcp:github/(create|update)_issue", "mcp:github/update_issue", "mcp:github/list_issues"),
        ("Shell", "Bash", "WriteFile"),
    ],
)
def test_a_tool_and_a_reason_refuse_every_call_of_that_tool(
    language: str, tool: str, called: str, other: str, home: Path, project: Path
) -> None:
    options = ("--on", "pre-tool-call", "--lang", language, "--tool", tool, "--reason", "No mail.")
    made = tenterhook("new", "guard", *options)
    assert (made.returncode, made.stderr, "to do" in made.stdout) == (0, "", False)
    assert "as an example" not in made.stdout
    report = tried("guard")
    assert (report["status"], report["passed"]) == (0, 2), report["cases"]
    cases = user_hooks(home) / "guard" / "cases"
    files = [cases / f"{name}.toml" for name in ("blocks", "leaves-the-rest-alone")]
    tools = [file.read_text().split('tool_name = "')[1] for file in files]
    assert tools[0].split('"')[0] != tools[1].split('"')[0]
    for name, decision in ((called, "deny"), (other, "none")):
        ended = tenterhook("trigger", "pre-tool-call", "--tool", name, "--input", '{"to": "you"}', "--json")
        assert json.loads(ended.stdout)["decision"] == decision, name


def test_a_tool_that_is_every_tool_has_no_other_case(home: Path, project: Path) -> None:
    assert tenterhook("new", "guard", "--on", "PreToolUse", "--tool", ".*", "--reason", "Look only.").returncode == 0
    assert [path.name for path in (user_hooks(home) / "guard" / "cases").iterdir()] == ["blocks.toml"]
    assert (tried("guard")["status"], tried("guard")["passed"]) == (0, 1)


@pytest.mark.parametrize(
    ("event", "shown"), [("Stop", "`TODO` in the last message"), ("PreToolUse", "`rm -rf` in the")]
)
def test_what_nobody_named_is_shown_as_an_example(event: str, shown: str, home: Path, project: Path) -> None:
    made = tenterhook("new", "guard", "--on", event, "--reason", "Not yet.")
    assert f"it refuses {shown}" in made.stdout
    assert "as an example: change that in the script" in made.stdout


REASONS = [
    "Push with --force-with-lease.",
    """Don't "push" $HOME `id` $(id) \\n \\ %s !! *""",
    "-n --force",
    "ü 漢字 😀",
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "matcher",
    [pytest.param((), marks=pytest.mark.thorough), ("--tool", "Shell", "--pattern", "git push")],
    ids=["a word", "its matcher"],
)
def test_a_reason_is_what_the_model_is_told(language: str, matcher: tuple[str, ...], home: Path, project: Path) -> None:
    for number, reason in enumerate(REASONS):
        options = ("--on", "pre-tool-call", "--lang", language, *matcher, "--reason", reason)
        made = tenterhook("new", f"guard-{number}", *options)
        assert (made.returncode, made.stderr, "to do" in made.stdout) == (0, "", False)
    report = tried()
    assert (report["status"], report["passed"]) == (0, 2 * len(REASONS)), report
    told = [case["actual"]["reason"] for case in report["cases"] if case["actual"]["decision"] == "deny"]
    assert told == REASONS
    assert json.loads(tenterhook("check", "--json").stdout)["problems"] == []


@pytest.mark.parametrize("language", PYTHON_FIRST)
def test_a_reason_that_was_not_filled_in_fails_check_and_test(language: str, home: Path, project: Path) -> None:
    made = tenterhook("new", "guard", "--on", "pre-tool-call", "--pattern", "git push", "--lang", language)
    assert made.returncode == 0
    entry_point = templates.ENTRY_POINTS[language]
    assert f"to do: write in {entry_point} why it refuses: until then `tenterhook check` fails" in made.stdout
    script = user_hooks(home) / "guard" / entry_point
    for command in ("check", "test"):
        ended = tenterhook(command, "--json")
        (problem,) = json.loads(ended.stdout)["problems"]
        assert (ended.returncode, problem["code"], problem["severity"]) == (1, "placeholder-reason", "error")
        assert problem["file"] == str(script)
        assert lints.PLACEHOLDER in script.read_text().split("\n")[problem["line"] - 1]
    assert "[placeholder-reason]" in tenterhook("test").stdout + tenterhook("test").stderr
    for file in (script, user_hooks(home) / "guard" / "cases" / "blocks.toml"):
        file.write_text(file.read_text().replace(lints.PLACEHOLDER, "Push elsewhere."))
    assert tenterhook("check").returncode == 0
    assert (tried("guard")["status"], tried("guard")["passed"]) == (0, 2)


def test_an_event_that_looks_at_the_result_keeps_to_its_matcher(home: Path, project: Path) -> None:
    assert tenterhook("new", "look", "--on", "after_tool", "--tool", "Read", "--pattern", r"\.log$").returncode == 0
    report = tried("look")
    assert (report["status"], report["passed"]) == (0, 2)
    assert all(each["actual"]["ran"] for each in report["cases"])


@pytest.mark.parametrize(
    "matcher", [("--pattern", "x(?=y)(?=z)"), ("--pattern", r"([a-f0-9]{4})-\1"), ("--tool", "^mcp__[a-z]+__run$")]
)
def test_where_no_example_is_known_it_says_so(home: Path, project: Path, matcher: tuple[str, str]) -> None:
    made = tenterhook("new", "guard", "--on", "pre-tool-call", *matcher, "--reason", "Not this.")
    assert made.returncode == 0
    assert f"to do: no example is known that matches '{matcher[1]}': add a case with one to cases/" in made.stdout
    report = tried("guard")
    assert (report["status"], [each["actual"]["ran"] for each in report["cases"]]) == (0, [False])


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("sh", "Odd Name"),
        ("python", 'qu"""ote\\'),
        pytest.param("node", "new\u2028line", marks=NODE),
        ("sh", "yes"),
        ("sh", "123"),
        ("sh", "ünïcode"),
    ],
)
def test_an_odd_name_is_used_as_the_loader_would(language: str, name: str, home: Path, project: Path) -> None:
    ended = tenterhook("new", name, "--on", "Stop", "--lang", language)
    assert ended.returncode == 0, ended.stderr
    assert ("odd-name" in ended.stderr) == (name not in ("yes", "123"))
    assert tried(name)["passed"] == 2


@NODE
def test_a_node_hook_works_in_a_project_of_modules(home: Path, project: Path) -> None:
    (project / "package.json").write_text('{"type": "module"}')
    assert tenterhook("new", "guard", "--on", "Stop", "--project", "--lang", "node").returncode == 0
    assert tried("guard", "--trust-project")["passed"] == 2
