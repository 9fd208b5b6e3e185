"""PROTOCOL 2, the folder format."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, shell_call, user_hooks
from tenterhook import Engine
from tenterhook.formats import folder

if TYPE_CHECKING:
    from pathlib import Path


def write(tmp_path: Path, head: str, name: str = "guard") -> str:
    made = tmp_path / "hooks" / name
    (made / "scripts").mkdir(parents=True)
    (made / "HOOK.md").write_text(head)
    script = made / "scripts" / "run"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    return str(made)


def codes(read: folder.FolderDefinition) -> list[str]:
    return [problem.code for problem in read.problems]


def test_every_field_is_read(tmp_path: Path) -> None:
    head = (
        "---\nname: guard\ndescription: d\ntrigger: before_tool\nmatcher:\n  tool: Shell\n  pattern: 'rm'\n"
        "timeout: 5000\nasync: true\npriority: 999\nmetadata:\n  on_failure: block\n  owner: me\n---\nBody\n"
    )
    read = folder.read(write(tmp_path, head), "user")
    assert read.problems == ()
    hook = read.hook
    assert hook is not None
    assert (hook.name, hook.event, hook.declared) == ("guard", "pre-tool-call", "before_tool")
    assert (hook.tool, hook.pattern, hook.timeout, hook.async_, hook.priority) == ("Shell", "rm", 5.0, True, 999)
    assert hook.metadata["owner"] == "me"
    assert hook.fail_closed


def test_metadata_is_what_a_hook_reads_as_json(tmp_path: Path) -> None:
    """So it is the same from a file and from the index, which cannot hold a date."""
    head = "---\nname: guard\ndescription: d\ntrigger: Stop\nmetadata: {since: 2001-01-01, 1: [.nan, ~]}\n---\n"
    hook = folder.read(write(tmp_path, head), "user").hook
    assert hook is not None
    assert hook.metadata == {"since": "2001-01-01", "1": ["nan", None]}


def test_an_override_that_nests_too_deeply_refuses_the_hook(tmp_path: Path) -> None:
    nested: dict[str, object] = {}
    for _ in range(250):
        nested = {"a": nested}
    where = write(tmp_path, "---\nname: guard\ndescription: d\ntrigger: Stop\n---\n")
    read = folder.read(where, "user", {"override": {"metadata": nested}})
    assert read.hook is None
    assert "bad-value" in codes(read)


def test_a_hook_that_asked_for_a_prepared_interpreter_runs_like_any_other(project: Path, home: Path) -> None:
    script = f"#!{sys.executable}\nimport sys\nsys.exit(2)"
    folder_hook(user_hooks(home), "guard", script, file="run.py", metadata={"warm": True})
    engine = Engine.load(project, journal=False)
    verdict = engine.decide(shell_call())
    assert (engine.problems, verdict.decision) == ((), "deny")


def test_defaults_fill_what_is_missing(tmp_path: Path) -> None:
    hook = folder.read(write(tmp_path, "---\nname: guard\ndescription: d\ntrigger: Stop\n---\n"), "user").hook
    assert hook is not None
    assert (hook.timeout, hook.async_, hook.priority, hook.tool) == (30.0, False, 100, None)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("timeout: 99", "timeout"),
        ("timeout: 600001", "timeout"),
        ("timeout: soon", "timeout"),
        ("timeout: true", "timeout"),
        ("priority: 1001", "priority"),
        ("priority: -1", "priority"),
        ("async: maybe", "async"),
        ("matcher: Shell", "matcher"),
        ("metadata: [1]", "metadata"),
        ("name: ''", "name"),
        (f"name: {'a' * 65}", "name"),
        ("name: a/b", "name"),
        ('name: "a\\eb"', "name"),
        (f"description: {'a' * 1025}", "description"),
    ],
)
def test_a_value_out_of_range_refuses_the_hook_and_names_its_line(tmp_path: Path, line: str, key: str) -> None:
    fields = {"name": "guard", "description": "d", "trigger": "Stop"}
    fields[key] = line.partition(": ")[2]
    head = "---\n" + "".join(f"{name}: {value}\n" for name, value in fields.items()) + "---\n"
    read = folder.read(write(tmp_path, head), "user")
    assert read.hook is None
    (problem,) = [problem for problem in read.problems if problem.severity == "error"]
    assert (problem.code, problem.key) == ("bad-value", key)
    assert problem.line == 2 + list(fields).index(key)
    assert problem.remedy


@pytest.mark.parametrize("key", ["name", "trigger"])
def test_a_required_key_that_is_missing_refuses_the_hook(tmp_path: Path, key: str) -> None:
    fields = {"name": "guard", "description": "d", "trigger": "Stop"}
    del fields[key]
    head = "---\n" + "".join(f"{name}: {value}\n" for name, value in fields.items()) + "---\n"
    read = folder.read(write(tmp_path, head), "user")
    assert read.hook is None
    assert [(problem.code, problem.key) for problem in read.problems] == [("missing-key", key)]


@pytest.mark.parametrize(
    ("head", "code"),
    [
        ("---\nname: guard\ntrigger: Stop\n---\n", "no-description"),
        ("---\nname: Guard_1\ndescription: d\ntrigger: Stop\n---\n", "odd-name"),
        ("---\nname: other\ndescription: d\ntrigger: Stop\n---\n", "name-differs"),
        ("---\nname: guard\ndescription: d\ntrigger: Stop\ncolour: red\n---\n", "ignored-key"),
        ("---\nname: guard\ndescription: d\ntrigger: Stop\nmatcher:\n  tool: Shell\n---\n", "matcher-on-other-event"),
        (
            '---\nname: guard\ndescription: d\ntrigger: PreToolUse\nmatcher:\n  tool: "\\bShell"\n---\n',
            "control-character",
        ),
    ],
)
def test_what_is_odd_but_legal_loads_with_a_warning(tmp_path: Path, head: str, code: str) -> None:
    read = folder.read(write(tmp_path, head), "user")
    assert read.hook is not None
    assert code in codes(read)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"no front matter", "no-front-matter"),
        (b"---\nname: guard\ndescription: d\ntrigger: before_toll\n---\n", "unknown-event"),
        (b"---\nname: guard\ndescription: d\ntrigger: before_tool\nmatcher:\n  tool: '('\n---\n", "bad-expression"),
        (
            b"---\nname: guard\ndescription: d\ntrigger: before_tool\nmatcher: {tool: 'a{%b}'}\n---\n" % (b"9" * 5000),
            "bad-expression",
        ),
    ],
)
def test_a_broken_file_is_a_problem_and_nothing_else(tmp_path: Path, content: bytes, code: str) -> None:
    made = write(tmp_path, "")
    (tmp_path / "hooks" / "guard" / "HOOK.md").write_bytes(content)
    read = folder.read(made, "user")
    assert read.hook is None
    assert code in codes(read)


def test_an_unknown_event_lists_close_matches(tmp_path: Path) -> None:
    read = folder.read(write(tmp_path, "---\nname: guard\ndescription: d\ntrigger: before_toll\n---\n"), "user")
    assert "'before_tool'" in read.problems[0].remedy
    assert read.problems[0].line == 4


def test_the_body_is_what_follows_the_front_matter(tmp_path: Path) -> None:
    made = write(tmp_path, "---\nname: guard\ndescription: d\ntrigger: Stop\n---\n# Body\n\n---\n\nmore\n")
    assert folder.body(made) == "# Body\n\n---\n\nmore"
