"""PROTOCOL 2, the folder format."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, shell_call, user_hooks
from tenterhook import Engine
from tenterhook.formats import entry_points, folder

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
        (b"", "no-front-matter"),
        (b"---\nname: guard\n", "no-front-matter"),
        (b"--- \nname: guard\n---\n", "no-front-matter"),
        (b"---\nname: [\n---\n", "bad-yaml"),
        (b"---\n- a\n- b\n---\n", "bad-yaml"),
        (b"---\nname: !!python/object:os.system x\n---\n", "bad-yaml"),
        (b"---\n\xff\xfe\n---\n", "not-text"),
        (b'---\nname: "\\."\nsince: 2001-13-45\n---\n', "bad-yaml"),
        (
            b"---\na: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
            b"c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
            b"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n---\n",
            "bad-yaml",
        ),
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


@pytest.mark.parametrize("spelling", ['"\\.py$"', "'\\.py$'", "\\.py$", '"\\\\.py$"', '"\\.(py|js)$"', '"\\d\\.\\w"'])
def test_a_backslash_in_double_quotes_is_kept(tmp_path: Path, spelling: str) -> None:
    head = f"---\nname: guard\ndescription: d\ntrigger: before_tool\nmatcher:\n  pattern: {spelling}\n---\n"
    read = folder.read(write(tmp_path, head), "user")
    assert read.hook is not None
    assert read.hook.pattern is not None
    assert read.hook.pattern.startswith(("\\.", "\\d"))
    unknown = spelling.startswith('"') and "\\\\" not in spelling
    assert codes(read) == (["escape-in-quotes"] if unknown else [])


def test_crlf_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    made = write(tmp_path, "")
    text = "\ufeff---\r\nname: guard\r\ndescription: d\r\ntrigger: Stop\r\n---\r\nBody\r\n"
    (tmp_path / "hooks" / "guard" / "HOOK.md").write_bytes(text.encode())
    read = folder.read(made, "user")
    assert read.hook is not None
    assert read.problems == ()


def test_three_dashes_inside_a_value_do_not_end_the_front_matter(tmp_path: Path) -> None:
    head = "---\nname: guard\ndescription: |\n  a --- b\n  ---\n  c\ntrigger: Stop\n---\n# Body\n\n---\n\nmore\n"
    made = write(tmp_path, head)
    read = folder.read(made, "user")
    assert read.hook is not None
    assert read.hook.description == "a --- b\n---\nc\n"
    assert folder.body(made) == "# Body\n\n---\n\nmore"


def test_a_pipe_instead_of_hook_md_does_not_hang(tmp_path: Path) -> None:
    made = tmp_path / "hooks" / "guard"
    made.mkdir(parents=True)
    os.mkfifo(made / "HOOK.md")
    assert codes(folder.read(str(made), "user")) == ["unreadable"]


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (["run", "run.sh", "run.py"], "run"),
        (["run.sh", "run.py"], "run.sh"),
        (["run.py"], "run.py"),
        (["other.sh"], None),
    ],
)
def test_the_entry_point_is_the_first_found(tmp_path: Path, files: list[str], chosen: str | None) -> None:
    scripts = tmp_path / "guard" / "scripts"
    scripts.mkdir(parents=True)
    (tmp_path / "guard" / "HOOK.md").touch()
    for name in files:
        (scripts / name).write_text("")
        (scripts / name).chmod(0o755)
    script, problem = entry_points.entry_point(str(tmp_path / "guard"))
    assert script == (str(scripts / chosen) if chosen else None)
    assert (problem is None) == bool(chosen)


def test_only_the_head_of_a_long_file_is_read(home: Path) -> None:
    made = folder_hook(user_hooks(home), "long", "exit 0")
    with (made / "HOOK.md").open("ab") as file:
        file.write(b"\xff" * 1_000_000)  # not even text
    assert folder.read(str(made), "user").hook is not None
