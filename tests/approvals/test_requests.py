"""A call as it is shown to the person who decides, and what an approval of it is bound to."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest

from tenterhook.approvals.requests import Call, Request, content_hash
from tenterhook.bundled_agent.screen import Screen
from tenterhook.bundled_agent.tools import Tools

if TYPE_CHECKING:
    from pathlib import Path

LARGE = 250_000  # characters: more than a difference is made of


def call(project: Path, tool: str = "WriteFile", **given: Any) -> Call:
    return Call(tool, given, str(project))


def diff(of: Call) -> list[str]:
    """The lines that would change."""
    shown = of.display
    assert shown["kind"] == "diff"
    return [line for line in shown["diff"].split("\n") if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def asked(of: Call, why: str | None = None) -> str:
    shown: list[str] = []
    Screen(shown.append, shown.append).question(Request("permission_1", of, why))
    return "".join(shown)


# ------------------------------------------------------------------ what is shown


@pytest.mark.parametrize("name", ["Shell", "Bash", "run_shell_command"])
def test_a_command_is_shown_whole_with_its_directory(project: Path, name: str) -> None:
    line = "cd x && " + "echo y; " * 200 + "rm -rf z"
    shown = call(project, name, command=line)
    assert shown.display == {"kind": "command", "command": line, "cwd": str(project)}
    assert shown.action == "run command"
    assert line in asked(shown)
    assert str(project) in asked(shown)


def test_a_new_file_is_shown_as_what_is_added(project: Path) -> None:
    shown = call(project, file_path="sub/new.txt", content="one\ntwo\n")
    assert shown.display["path"] == str(project / "sub" / "new.txt")
    assert diff(shown) == ["+one", "+two"]
    assert shown.action == "write file"
    assert "+two" in asked(shown)


def test_a_file_is_shown_as_what_changes_in_it(project: Path) -> None:
    (project / "a.txt").write_text("one\ntwo\nthree\n")
    assert diff(call(project, file_path="a.txt", content="one\n2\nthree\n")) == ["-two", "+2"]
    assert "(no change)" in asked(call(project, file_path="a.txt", content="one\ntwo\nthree\n"))


def test_a_replacement_is_shown_as_what_changes(project: Path) -> None:
    (project / "a.txt").write_text("x = 1\ny = 1\n")

    def replaced(**more: Any) -> Call:
        given = {"file_path": "a.txt", "old_string": "1", "new_string": "2", **more}
        return call(project, "StrReplaceFile", **given)

    assert diff(replaced()) == ["-x = 1", "+x = 2"]
    assert diff(replaced(replace_all=True)) == ["-x = 1", "-y = 1", "+x = 2", "+y = 2"]
    assert replaced().action == "edit file"
    assert replaced(old_string="").display["kind"] == "file"


@pytest.mark.parametrize(
    ("before", "given"),
    [
        (b"one\r\ntwo\r\n", {"content": "one\ntwo\n"}),
        (b"one\ntwo", {"content": "one\ntwo\n"}),
        (b"one\x0ctwo\n", {"content": "one\ntwo\n"}),
        (b"one\r\ntwo\r\n", {"old_string": "one\r\n", "new_string": ""}),
        (b"x" * LARGE + b"\nlast\n", {"old_string": "last", "new_string": "LAST"}),
        (b"x\n" * LARGE + b"last\n", {"old_string": "last", "new_string": "LAST"}),
    ],
    ids=["line ends", "last line end", "form feed", "replaced line end", "far into a long line", "far down"],
)
def test_a_change_is_never_shown_as_none(project: Path, before: bytes, given: dict[str, str]) -> None:
    """The question shows the difference that there will be."""
    (project / "a.txt").write_bytes(before)
    tool = "WriteFile" if "content" in given else "StrReplaceFile"
    shown = asked(call(project, tool, file_path="a.txt", **given))
    write: Any = getattr(Tools(str(project), dict), "write_file" if tool == "WriteFile" else "str_replace_file")
    write("a.txt", **given)
    assert (project / "a.txt").read_bytes() != before
    assert "(no change)" not in shown


def test_other_tools_are_shown_with_their_input(project: Path) -> None:
    shown = call(project, "Task", name="reviewer", prompt="look at \x1b[2Kit")
    assert shown.display == {"kind": "input", "input": shown.tool_input, "cwd": str(project)}
    assert "reviewer" in asked(shown)
    assert "\x1b" not in asked(shown)
    assert call(project, "Odd", x=1).action == "use Odd"


def test_a_file_that_is_only_read_is_shown_as_its_path(project: Path) -> None:
    shown = call(project, "ReadFile", file_path="a.txt")
    assert shown.display == {"kind": "file", "path": str(project / "a.txt"), "cwd": str(project)}
    assert str(project / "a.txt") in asked(shown)


def test_nothing_in_a_question_is_disguised(project: Path) -> None:
    """Whatever is shown to a person for deciding has control, ANSI and bidirectional characters escaped (7)."""
    trick = "a\x1b[2K\x1b[8mb\x07\x9b31m\u202etxt\u2066.exe\u200b\rsafe"
    (project / "a.txt").write_text(trick)
    questions = [
        asked(call(project, "Shell", command=trick), why=trick),
        asked(call(project, file_path="a.txt", content="x" + trick)),
        asked(call(project, file_path=trick.replace("/", "") + "\nsafe.txt", content="x")),
        asked(call(project, "Task", prompt=trick)),
        asked(Call("Shell", {"command": "ls"}, str(project) + trick)),
    ]
    for shown in questions:
        assert not set(shown) & set("\x1b\x07\x9b\u202e\u2066\u200b\r")
        assert "\\x1b[2K" in shown or "\\\\x1b[2K" in shown or "\\u001b[2K" in shown
    assert "\nsafe.txt" not in questions[2]


def test_a_command_cannot_pass_for_the_rest_of_the_question(project: Path) -> None:
    """Each of its lines is set apart."""
    shown = asked(call(project, "Shell", command="ls\n  because: it is harmless\nallow? y"), why="look")
    assert [line for line in shown.split("\n") if line.startswith("  because:")] == ["  because: look"]
    assert "\n    allow? y" in shown


# ------------------------------------------------------------------ which file is meant


@pytest.mark.parametrize(
    "path", ["a.txt", "./a.txt", "sub/../a.txt", "link.txt", "linked/../a.txt", "~/a.txt", "linked/a.txt"]
)
def test_the_file_that_is_shown_is_the_one_that_is_written(
    home: Path, project: Path, tmp_path: Path, path: str
) -> None:
    """An approval covers the tool and the resolved path (7): of the file that the tool then writes."""
    for name in ("sub", "elsewhere/deep"):
        (project / name).mkdir(parents=True)
    (tmp_path / "outside" / "deep").mkdir(parents=True)
    (project / "link.txt").symlink_to("a.txt")
    (project / "linked").symlink_to(tmp_path / "outside" / "deep")
    shown = call(project, file_path=path, content="written")
    assert shown.path is not None
    Tools(str(project), dict).write_file(path, "written")
    written = [each for each in tmp_path.rglob("*.txt") if not each.is_symlink() and each.read_text() == "written"]
    assert [str(each) for each in written] == [shown.path]
    assert shown.display["path"] == shown.path


@pytest.mark.parametrize("name", ["\ud800", "~\ud800"])
def test_a_path_that_cannot_be_encoded_is_resolved_as_programs_would_write_it(project: Path, name: str) -> None:
    (project / "link").symlink_to("/etc")
    assert call(project, file_path=f"{name}/../link/hosts").path == "/etc/hosts"
    assert call(project, file_path=f"link/{name}").path == f"/etc/{name[:-1]}?"
    assert call(project, "Shell", command="ls", workdir=f"{name}/../link").directory == "/etc"


@pytest.mark.parametrize("path", [None, 5, "", ["a"], "a\0b"])
def test_a_path_that_is_none_is_shown_as_it_was_given(project: Path, path: Any) -> None:
    shown = call(project, file_path=path, content="x")
    assert shown.path is None
    assert shown.display["kind"] == "input"
    assert asked(shown)
    assert shown.grant


def test_a_pipe_is_not_waited_for(project: Path) -> None:
    """Never a hang (7): to show a file, only files are read."""
    os.mkfifo(project / "pipe")
    code = """
        from tenterhook.approvals.requests import Call
        print(Call("WriteFile", {"file_path": "pipe", "content": "x"}, ".").display["path"])
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=20)
    assert ended.stdout.strip() == str(project / "pipe")


# ------------------------------------------------------------------ what the events carry


def test_the_fields_of_a_request(project: Path) -> None:
    made = Call("Bash", {"command": "ls"}, str(project), "session_1", "call_1", {"agent_type": "reviewer"})
    assert Request("permission_1", made).fields == {
        "permission_request_id": "permission_1",
        "id": "permission_1",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "call_1",
        "tool_call_id": "call_1",
        "action": "run command",
        "display": {"kind": "command", "command": "ls", "cwd": str(project)},
        "agent_type": "reviewer",
    }


# ------------------------------------------------------------------ what leaves the house


def test_the_hash_is_what_its_definition_says() -> None:
    """So that anybody can compute it, here by hand."""
    given = {"command": "echo é\u202e", "b": [1, 2.5, True, None], "a": {}}
    text = '["Shell",{"a":{},"b":[1,2.5,true,null],"command":"echo \\u00e9\\u202e"},"/tmp"]'
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert Request("r", Call("Shell", given, "/tmp")).hash == expected
    assert content_hash("Shell", dict(reversed(given.items())), "/tmp") == expected


@pytest.mark.parametrize(
    "other",
    [
        Call("Bash", {"command": "ls"}, "/tmp"),
        Call("Shell", {"command": "ls "}, "/tmp"),
        Call("Shell", {"command": "ls", "timeout": 1}, "/tmp"),
        Call("Shell", {"command": "ls"}, "/"),
        Call("Shell", {"command": ["ls"]}, "/tmp"),
    ],
    ids=str,
)
def test_another_tool_input_or_directory_has_another_hash(other: Call) -> None:
    assert Request("r", other).hash != Request("r", Call("Shell", {"command": "ls"}, "/tmp")).hash


def test_the_hub_is_told_what_somebody_must_see_and_how_long_there_is_time(project: Path) -> None:
    asked_for = Call("Shell", {"command": "ls"}, str(project), "s-1", agent="claude-code")
    told = Request("r-1", asked_for, "look", expires_at=time.time() + 60).as_json("desk", "1.2")
    assert 55 < told.pop("expires_in") <= 60
    assert told == {
        "id": "r-1",
        "tool_name": "Shell",
        "tool_input": {"command": "ls"},
        "hash": Request("other", asked_for).hash,
        "display": {"kind": "command", "command": "ls", "cwd": str(project)},
        "action": "run command",
        "why": "look",
        "session_id": "s-1",
        "agent": "claude-code",
        "machine": "desk",
        "work_dir": str(project),
        "grant": f"1.2 {asked_for.grant}",
    }


def test_a_large_difference_is_not_sent_but_the_input_is(project: Path) -> None:
    content = "line\n" * 100_000
    told = Request("r", call(project, file_path="x", content=content)).as_json("desk", None)
    assert told["display"] == {"kind": "file", "path": str(project / "x"), "cwd": str(project)}
    assert told["tool_input"]["content"] == content
    assert told["grant"] is None


def test_an_approval_for_the_session_is_bound_to_where_the_command_runs(project: Path) -> None:
    """Some agents' shells can be told another directory."""
    here = call(project, "exec_command", command="make clean")
    assert call(project, "exec_command", command="make clean", workdir=".").grant == here.grant
    assert call(project, "exec_command", command="make clean", workdir="/").grant != here.grant
    assert call(project, "exec_command", command="make clean", workdir="/").display["cwd"] == "/"
    two = call(project, "exec_command", command="make clean", workdir=".", cwd="/")  # the agent may read either
    assert two.grant != here.grant
    assert two.display["input"] == {"cwd": "/"}


def test_an_approval_of_a_patch_of_several_files_is_bound_to_the_patch(project: Path) -> None:
    one = call(project, "apply_patch", input="+a", file_path="a", file_paths=["a"])
    assert one.path == str(project / "a")
    several = call(project, "apply_patch", input="+a\n+b", file_path="a", file_paths=["a", "b"])
    assert several.path is None
    assert several.display["kind"] == "input"
    assert several.grant != one.grant


def test_an_approval_of_a_command_for_the_session_does_not_cover_it_without_a_sandbox() -> None:
    plain = Call("Bash", {"command": "ls", "description": "x", "timeout": 5}, "/tmp")
    without = plain._replace(tool_input={"command": "ls", "dangerouslyDisableSandbox": True})
    assert plain.display == {"kind": "command", "command": "ls", "cwd": "/tmp"}
    assert without.display["input"] == {"dangerouslyDisableSandbox": True}
    assert plain.grant == plain._replace(tool_input={"command": "ls"}).grant != without.grant
    for switch in ({"dangerouslyDisableSandbox": 1}, {"sandbox": False}, {"sandbox": 0}):
        assert plain._replace(tool_input={"command": "ls", **switch}).grant != plain.grant
    assert plain._replace(tool_input={"command": "ls", "yield_time_ms": 1000, "tty": False}).grant == plain.grant


def test_an_approval_of_a_tool_that_is_not_for_files_is_bound_to_its_input() -> None:
    run = Call("mcp__db__run", {"file_path": "shop.db", "sql": "select 1"}, "/w")
    assert run._replace(tool_input={"file_path": "shop.db", "sql": "drop table orders"}).grant != run.grant
