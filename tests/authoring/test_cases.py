"""Case files: what is wrong with one is said with its place and its remedy, and takes no other down."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from authoring.trying import case, hook, tenterhook, tried
from tenterhook.authoring import cases, sandbox
from tenterhook.model import Hook

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook.errors import Problem

HOOK = Hook("one", "pre-tool-call", "pre-tool-call", "folder")


def problems(path: Path, text: str, name: str = "one.toml") -> list[Problem]:
    file = path / name
    file.write_text(text)
    return list(cases.read(str(file), HOOK).problems)


@pytest.mark.parametrize(
    ("text", "code", "line", "message", "remedy"),
    [
        ("[event\n", "bad-toml", 1, "not valid TOML", "fix that line"),
        ("x = 1\n", "unknown-key", 1, "unknown key 'x'", "remove it; the keys are name, event"),
        ("[events]\n", "unknown-key", 1, "unknown key 'events'", "did you mean 'event'?"),
        ("event = 3\n", "bad-value", 1, "'event' is 3", "make it a table"),
        ("[event]\n\n[expect]\ndecison = 'deny'\n", "unknown-key", 4, "unknown key 'decison'", "did you mean"),
        ("[expect]\ndecision = 'nay'\n", "bad-value", 2, "'decision' is 'nay'", "use deny or ask"),
        ("[expect]\noutcome = 'crashed'\n", "bad-value", 2, "'outcome' is 'crashed'", "use ok or blocked"),
        ("[expect]\nruns = 'no'\n", "bad-value", 2, "'runs' is 'no'", "true or false"),
        ("[expect]\nreason = 3\n", "bad-value", 2, "'reason' is 3", "write a text"),
        ("[expect]\nreason = { matches = '(' }\n", "bad-value", 2, "an invalid expression", "write a text"),
        ("[expect]\nreason = { match = 'x' }\n", "bad-value", 2, "'reason' is {'match'", "{ matches ="),
        ("[expect]\nmodified_input = 'ls'\n", "bad-value", 2, "'modified_input' is 'ls'", "the whole input"),
        ("[expect]\nmodified_input = { a = { matches = '[' } }\n", "bad-value", 2, "invalid expression", "fix"),
        ("[expect]\nmodified_output = { matches = '[' }\n", "bad-value", 2, "invalid expression", "fix"),
        ("[expect]\nruns = false\ndecision = 'deny'\n", "bad-value", 3, "has no 'decision'", "remove runs"),
        ("[expect.files]\n'/etc/x' = 'y'\n", "bad-value", 2, "'/etc/x' is outside", "write a path below it"),
        ("[expect.files]\na = 3\n", "bad-value", 2, "'a' is 3", "false for none"),
        ("[expect.files]\na = { mode = 755 }\n", "bad-value", 2, "'a' has mode = 755", "write its text"),
        ("[expect.files]\na = { mode = 'rwx' }\n", "bad-value", 2, "has mode = 'rwx'", "write its text"),
        ("[expect.files]\na = { contnet = 'x' }\n", "bad-value", 2, "unknown key 'contnet'", "write its text"),
        ("[expect.env]\nA = 3\n", "bad-value", 2, "'A' is 3", "write a text"),
        ("[files]\n'../a' = 'x'\n", "bad-value", 2, "'../a' is outside", "'~/…' for one in the case's home"),
        ("[files]\n'a/../../b' = 'x'\n", "bad-value", 2, "is outside", "write a path below it"),
        ("[files]\na = 3\n", "bad-value", 2, "'a' is 3", "as a string"),
        ("[files]\na = { content = 'x', mode = '9' }\n", "bad-value", 2, "'mode' is", "in octal"),
        ("[files]\na = { content = 'x', mode = '999' }\n", "bad-value", 2, "'mode' is '999'", "in octal"),
        ("[files]\na = { content = 'x', link = 'y' }\n", "bad-value", 2, "is a link and has content", "keep one"),
        ("[env]\nHOME = '/'\n", "bad-value", 2, "the test sets HOME itself", "go under [files]"),
        ("[env]\nXDG_STATE_HOME = '/'\n", "bad-value", 2, "the test sets XDG_STATE_HOME itself", "leave it out"),
        ("[env]\n'A B' = 'x'\n", "bad-value", 2, "'A B' is not a variable name", "letters, digits"),
        ("[env]\nA = ['x']\n", "bad-value", 2, "A is ['x']", "make it a string"),
        ("[event]\nwork_dir = '/home/me'\n", "bad-value", 2, "a case runs in a directory of its own", "leave it out"),
        ("[event]\ncwd = '..'\n", "bad-value", 2, "a case runs in a directory of its own", "leave it out"),
        ("[event]\nevent_type = 'PreToolUsed'\n", "unknown-event", 2, "unknown event", "did you mean 'PreToolUse'"),
        ("[event]\nsession_id = 3\n", "bad-value", 2, "'session_id' is 3", "make it a string"),
        ("[event]\ncontext = 'x'\n", "bad-value", 2, "'context' is 'x'", "make it a table"),
        ("timeout = 0\n", "bad-value", 1, "'timeout' is 0", "use 1 to 600000"),
        ("case = 3\n", "bad-value", 1, "'case' is not an array", "write [[case]]"),
        ("name = 'x'\n[[case]]\n", "unknown-key", 1, "'name' is outside the cases", "move it"),
        ("[[case]]\nname = 'a'\n\n[[case]]\nname = 'b'\n[case.expect]\nreson = 'x'\n", "unknown-key", 7, "'reson'",
         "did you mean 'reason'?"),
    ],
)  # fmt: skip
def test_what_is_wrong_where_and_how_to_mend_it(
    text: str, code: str, line: int, message: str, remedy: str, tmp_path: Path
) -> None:
    (found,) = problems(tmp_path, text)
    assert (found.code, found.line) == (code, line), found
    assert message in found.message
    assert remedy in found.remedy


@pytest.mark.parametrize(
    ("text", "code", "line", "message"),
    [
        ('{"event": {},\n}', "bad-json", 2, "not valid JSON"),
        ("[1]", "bad-value", 1, "a case must be an object"),
        ('{"event": {},\n "expect": {\n  "decision": "no"}}', "bad-value", 3, "'decision' is 'no'"),
        ("", "bad-json", 1, "not valid JSON"),
    ],
)
def test_the_same_for_json(text: str, code: str, line: int, message: str, tmp_path: Path) -> None:
    (found,) = problems(tmp_path, text, "one.json")
    assert (found.code, found.line) == (code, line), found
    assert message in found.message


def test_what_is_no_text_or_no_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'\n")
    assert cases.read(str(tmp_path / "latin.toml"), HOOK).problems[0].code == "not-text"
    os.mkfifo(tmp_path / "pipe.toml")  # opening it to read would block without end
    assert cases.read(str(tmp_path / "pipe.toml"), HOOK).problems[0].code == "unreadable"
    (tmp_path / "gone.toml").symlink_to("nowhere")
    assert cases.read(str(tmp_path / "gone.toml"), HOOK).problems[0].code == "unreadable"
    (tmp_path / "folder.toml").mkdir()
    assert cases.read(str(tmp_path / "folder.toml"), HOOK).problems[0].code == "unreadable"


def test_every_mistake_of_a_case_is_said_at_once(tmp_path: Path) -> None:
    text = "[event]\ncwd = '/'\n[env]\nHOME = 'x'\n[expect]\ndecison = 'deny'\nreason = 1\n"
    assert {each.key for each in problems(tmp_path, text)} == {"cwd", "HOME", "decison", "reason"}


def test_cases_without_a_name_are_called_like_their_file(tmp_path: Path) -> None:
    (tmp_path / "a.b.toml").write_text("[expect]\n")
    assert [each.name for each in cases.read(str(tmp_path / "a.b.toml"), HOOK).cases] == ["a.b"]


def test_files_that_are_no_cases_are_passed_over(tmp_path: Path) -> None:
    for name in ("b.toml", "a.json", "notes.md", ".hidden.toml", "c.toml~"):
        (tmp_path / name).touch()
    assert [os.path.basename(file) for file in cases.files_in(str(tmp_path))] == ["a.json", "b.toml"]
    assert cases.files_in(str(tmp_path / "nowhere")) == []
    assert cases.files_in(str(tmp_path / "b.toml")) == []


def test_a_broken_file_takes_no_other_down_but_is_no_success(home: Path, project: Path) -> None:
    folder = hook(home, "exit 2")
    case(folder, '[event]\ntool_name = "x"\n[expect]\ndecision = "deny"\n', "good.toml")
    case(folder, "[expect]\ndecison = 'deny'\n", "bad.toml")
    report = tried()
    assert (report["passed"], report["status"]) == (1, 1)
    ended = tenterhook("test")
    assert "error ~/.config/agents/hooks/one/cases/bad.toml:2 [unknown-key] unknown key 'decison'" in ended.stdout
    assert "    did you mean 'decision'?" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "1 passed, 1 broken"


def test_removing_what_is_gone_leaves_the_directory_around_it_alone(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    sandbox.remove(str(tmp_path / "shared" / "gone"))
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o777
