"""The agent's tools, one by one: what they return, how they fail, and what they never do to a session."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from pydantic_ai import ToolReturn
from pydantic_ai.exceptions import ToolFailed

from bundled_agent.playing import AS_ANYBODY, shell, tool
from support import alive, until
from tenterhook.bundled_agent.tools import Tools

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bundled_agent.playing import Play

pytestmark = pytest.mark.slow

MOST = 30_000  # characters that a tool returns
LONG = 60  # seconds: longer than any test may take


def run(project: Path, command: str, variables: Mapping[str, str] | None = None, **more: Any) -> str:
    """What Shell returns to the model."""
    tools = Tools(str(project), lambda: variables or {})
    returned = asyncio.run(asyncio.wait_for(tools.shell(command, **more), LONG / 2))
    return returned if isinstance(returned, str) else str(returned.return_value)


def ended(file: Path) -> None:
    """Hold a process that has written its number down to having ended."""
    process = int(file.read_text())
    until(lambda: not alive(process), 5)


def files(project: Path) -> Tools:
    return Tools(str(project), dict)


# ------------------------------------------------------------------ Shell


def test_shell_returns_what_a_command_prints_on_either_stream(project: Path) -> None:
    assert run(project, "echo out; echo err >&2; pwd").split("\n") == ["out", "err", str(project)]
    assert run(project, "true") == "[no output]"
    assert run(project, "printf '\\377\\376 x'").endswith(" x")


def test_shell_says_how_a_command_ended_if_not_well(project: Path) -> None:
    assert run(project, "echo some; exit 3") == "some\n[exit status 3]"
    assert run(project, "exit 1") == "[exit status 1]"
    assert run(project, "no-such-program-at-all").endswith("[exit status 127]")
    assert run(project, "echo 'oh").endswith("[exit status 2]")
    assert run(project, "echo some; kill -9 $$") == "some\n[killed by signal 9]"


@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("no-such-program-at-all", 127), ("kill -9 $$", 137)])
def test_shell_tells_the_exit_code_of_a_command_that_failed(project: Path, command: str, code: int) -> None:
    returned = asyncio.run(asyncio.wait_for(files(project).shell(command), LONG / 2))
    assert isinstance(returned, ToolReturn)
    assert returned.metadata == {"exit_code": code}


def test_shell_runs_in_a_group_of_its_own_with_nothing_to_read(project: Path) -> None:
    assert run(project, "ps -o pgid= -p $$ | tr -d ' '; echo $$").split("\n")[0] != str(os.getpgid(0))
    assert run(project, "cat; echo end") == "end"


def test_shell_ends_a_command_with_all_it_has_started_at_its_timeout(project: Path) -> None:
    script = f"(trap '' TERM; sleep {LONG} & echo $! > child; wait) & echo $! > parent; echo begun; wait"
    begun = time.monotonic()
    with pytest.raises(ToolFailed) as failed:
        run(project, script, timeout=1)
    assert time.monotonic() - begun < LONG / 2
    assert "begun" in str(failed.value)
    assert "killed after 1 s" in str(failed.value)
    for name in ("child", "parent"):
        ended(project / name)


def test_shell_ends_a_command_that_ignores_being_asked(project: Path) -> None:
    with pytest.raises(ToolFailed, match=r"killed after 0\.5 s"):
        run(project, f"trap '' TERM INT HUP; echo $$ > self; while true; do sleep {LONG}; done", timeout=0.5)
    ended(project / "self")


@pytest.mark.parametrize("timeout", [0, -5])
def test_shell_gives_every_command_a_moment(project: Path, timeout: float) -> None:
    with pytest.raises(ToolFailed, match="killed after"):
        run(project, f"sleep {LONG}", timeout=timeout)


def test_shell_cancelled_ends_the_command_with_all_it_has_started(project: Path) -> None:
    async def cancelled() -> None:
        work = asyncio.create_task(
            files(project).shell(f"sleep {LONG} & {kept('$!', 'child')}; {kept('$$', 'self')}; wait")
        )
        while not (project / "self").exists() or not (project / "self").read_text():
            await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(asyncio.wait_for(cancelled(), LONG / 2))
    for name in ("child", "self"):
        ended(project / name)


def kept(number: str, name: str) -> str:
    """A shell line that writes a process's number down, whole or not at all."""
    return f"echo {number} > {name}.part; mv {name}.part {name}"


@pytest.mark.parametrize("steps", range(12))
def test_shell_cancelled_at_any_moment_leaves_nothing(project: Path, steps: int) -> None:
    """Also where the command has begun and we have not heard of it yet."""

    async def cancelled() -> None:
        work = asyncio.create_task(files(project).shell(f"sleep {LONG} & echo $! > child; echo $$ > self; wait"))
        for _ in range(steps):
            await asyncio.sleep(0)
        time.sleep(0.2)  # the command goes on, we do not
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(asyncio.wait_for(cancelled(), LONG / 2))
    for name in ("child", "self"):
        if (project / name).exists() and (project / name).read_text():  # else it was ended before it could write
            ended(project / name)


@pytest.mark.parametrize("command", ["yes", "head -c 300000000 /dev/zero", "while true; do echo line; done"])
def test_shell_keeps_the_first_and_the_last_of_endless_output(project: Path, command: str) -> None:
    with pytest.raises(ToolFailed) as failed:
        run(project, f"echo first; {command}; sleep {LONG}", timeout=2)
    text = str(failed.value)
    assert text.startswith("first")
    assert "bytes omitted" in text
    assert len(text) < MOST + 200


def test_shell_keeps_all_of_what_is_not_too_much(project: Path) -> None:
    text = run(project, "seq 4000")
    assert text.split("\n") == [str(number) for number in range(1, 4001)]
    cut = run(project, "echo first; seq 20000; echo last; exit 5")
    assert cut.startswith("first\n1\n2\n")
    assert cut.endswith("\n20000\nlast\n[exit status 5]")
    assert len(cut) < MOST + 200


@pytest.mark.parametrize("first", ["", "sleep 0.5; "], ids=["at once", "later"])
def test_shell_does_not_wait_for_a_child_that_holds_its_pipe(play: Play, first: str) -> None:
    """It is left alone, as the command meant it; and the agent ends quietly all the same."""
    begun = time.monotonic()
    session = play.run(
        [tool("Shell", command=f"{first}sleep {LONG} & echo $! > child; echo begun", timeout=40)], "Done."
    )
    child = int((play.project / "child").read_text())
    try:
        assert time.monotonic() - begun < LONG / 2
        assert session.last.results[0]["content"] == "begun"
        assert alive(child)
        assert "Traceback" not in session.shown
    finally:
        if alive(child):
            os.kill(child, 9)


def test_shell_has_the_variables_that_hooks_have_set(project: Path) -> None:
    assert run(project, "echo $TOKEN-$HOME", {"TOKEN": "abc"}) == f"abc-{os.environ['HOME']}"


def test_what_pre_session_hooks_set_reaches_shell(play: Play) -> None:
    """Env file (5): is in the environment … of the agent's tools"""
    play.hook("folder pre-session", 'echo TOKEN=secret >> "$KIMI_ENV_FILE"; echo PATH=/nowhere >> "$KIMI_ENV_FILE"')
    play.hook("table session_start", "mkdir -p .kimi; echo export OTHER=\"'two words'\" >> .kimi/env")
    session = play.run(
        [shell('echo "$TOKEN, $OTHER"')],
        [tool("Task", name="helper", description="d", prompt="p")],
        "Done.",
        tasks={"helper": [[shell("echo helper has $TOKEN > helper.txt")], "helped"]},
    )
    assert session.last.results[0]["content"] == "secret, two words"
    assert (play.project / "helper.txt").read_text() == "helper has secret\n"


def test_a_command_that_cannot_be_started_fails_as_a_call_not_as_a_turn(play: Play) -> None:
    failed = play.hook("folder post-tool-call-failure")
    null, too_long, surrogate = "echo a\0b", "echo " + "x" * 200_000, "echo \ud800"
    session = play.run([shell(null)], [shell(too_long)], [shell(surrogate)], "Then not.")
    assert session.answer == "Then not."
    assert len(session.last.failed) == len(failed.all) == 3


def test_a_directory_that_is_gone_fails_as_a_call_not_as_a_turn(play: Play) -> None:
    session = play.run([shell('rm -r "$PWD"')], [shell("ls")], "Then not.")
    assert session.answer == "Then not."
    assert str(play.project) in session.last.failed[0]


# ------------------------------------------------------------------ files


def test_read_file_numbers_lines_and_gives_a_part(project: Path) -> None:
    (project / "a.txt").write_text("one\ntwo\nthree\n")
    tools = files(project)
    assert tools.read_file("a.txt") == "1\tone\n2\ttwo\n3\tthree"
    assert tools.read_file(str(project / "a.txt"), offset=2, limit=1) == "2\ttwo\n[1 more lines]"
    assert tools.read_file("a.txt", offset=-4, limit=1).startswith("1\tone")
    (project / "empty").touch()
    assert tools.read_file("empty") == "[empty]"
    (project / "binary").write_bytes(b"\xff\xfe\0x")
    assert "x" in tools.read_file("binary")


def test_read_file_returns_no_more_than_it_may(project: Path) -> None:
    (project / "long").write_text("x" * 100_000)
    (project / "many").write_text("x\n" * 10_000)
    assert len(files(project).read_file("long")) < MOST + 200
    assert "characters omitted" in files(project).read_file("long")
    assert files(project).read_file("many").endswith("[8000 more lines]")


@pytest.mark.parametrize(("name", "said"), [("missing", "No such file"), ("sub", "Not a file"), ("pipe", "Not a file")])
def test_what_is_no_file_can_be_neither_read_nor_changed(project: Path, name: str, said: str) -> None:
    (project / "sub").mkdir()
    os.mkfifo(project / "pipe")
    with pytest.raises(ToolFailed, match=f"{said}: {project / name}"):
        files(project).read_file(name)
    with pytest.raises(ToolFailed, match=f"{said}: {project / name}"):
        files(project).str_replace_file(name, "a", "b")


def test_write_file_makes_what_is_missing_above_it(project: Path) -> None:
    said = files(project).write_file("a/b/c.txt", "text é\n")
    assert (project / "a" / "b" / "c.txt").read_text() == "text é\n"
    assert str(project / "a" / "b" / "c.txt") in said
    files(project).write_file("a/b/c.txt", "\r\n")
    assert (project / "a" / "b" / "c.txt").read_bytes() == b"\r\n"


def test_write_file_fails_where_there_can_be_no_file(project: Path) -> None:
    (project / "sub").mkdir()
    (project / "file").write_text("kept")
    for path in ("sub", "file/below", "/proc/nowhere/x", "a\0b"):
        with pytest.raises(ToolFailed):
            files(project).write_file(path, "x")
    assert (project / "file").read_text() == "kept"


def test_a_file_survives_a_text_that_cannot_be_written(project: Path) -> None:
    (project / "a.txt").write_text("precious")
    with pytest.raises(ToolFailed):
        files(project).write_file("a.txt", "half \ud800")
    assert (project / "a.txt").read_text() == "precious"


def test_str_replace_file_wants_one_place_or_all(project: Path) -> None:
    (project / "a.txt").write_text("x = 1\nx = 1\ny = 2\n")
    tools = files(project)
    with pytest.raises(ToolFailed, match="contains that text 2 times"):
        tools.str_replace_file("a.txt", "x = 1", "x = 3")
    with pytest.raises(ToolFailed, match="does not contain that text"):
        tools.str_replace_file("a.txt", "z", "x")
    with pytest.raises(ToolFailed, match="does not contain that text"):
        tools.str_replace_file("a.txt", "", "x")
    assert (project / "a.txt").read_text() == "x = 1\nx = 1\ny = 2\n"
    assert tools.str_replace_file("a.txt", "y = 2\n", "") == f"Replaced 1 in {project / 'a.txt'}"
    assert tools.str_replace_file("a.txt", "x = 1", "x = 3", replace_all=True).startswith("Replaced 2")
    assert (project / "a.txt").read_text() == "x = 3\nx = 3\n"


@pytest.mark.parametrize("rest", [b"\r\ntwo\r\n", b"\ncaf\xe9\n", b"\n\xff\xfe\0\n", b"\x0c\x85 no end"])
def test_str_replace_file_leaves_the_rest_of_a_file_as_it_is(project: Path, rest: bytes) -> None:
    """Whatever its line ends and its encoding are: changed, or refused."""
    (project / "a.txt").write_bytes(b"one" + rest)
    try:
        files(project).str_replace_file("a.txt", "one", "1")
    except ToolFailed:
        assert (project / "a.txt").read_bytes() == b"one" + rest
    else:
        assert (project / "a.txt").read_bytes() == b"1" + rest


def test_files_without_permission_fail_as_calls(play: Play) -> None:
    for name in ("secret.txt", "fixed.txt"):
        (play.project / name).write_text("kept")
    (play.project / "secret.txt").chmod(0)
    (play.project / "fixed.txt").chmod(0o444)
    (play.project / "closed").mkdir(0o500)
    script = play.root / "script.yaml"
    calls = [
        tool("ReadFile", file_path="secret.txt"),
        tool("WriteFile", file_path="fixed.txt", content="x"),
        tool("StrReplaceFile", file_path="fixed.txt", old_string="kept", new_string="x"),
        tool("WriteFile", file_path="closed/new.txt", content="x"),
    ]
    script.write_text(yaml.safe_dump({"answers": [*({"calls": [call]} for call in calls), {"text": "Done."}]}))
    command = [sys.executable, "-m", "tenterhook", "agent", "go", "--model", f"scripted:{script}", "--mode", "yolo"]
    over = subprocess.run(
        [sys.executable, "-c", AS_ANYBODY, *command],
        capture_output=True,
        text=True,
        timeout=LONG,
        stdin=subprocess.DEVNULL,
    )
    assert over.stdout == "Done.\n", over.stderr
    if "✗ Permission denied" not in over.stderr and os.getuid() == 0:
        pytest.skip("root cannot be kept out here")
    assert over.stderr.count("✗ Permission denied") == 4
    assert (play.project / "fixed.txt").read_text() == "kept"
    assert list((play.project / "closed").iterdir()) == []


# ------------------------------------------------------------------ Glob, Grep


@pytest.fixture
def tree(project: Path) -> Path:
    """A few files, some of which nobody wants to see."""
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/d.toml", ".git/e.py", "node_modules/f.py"):
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"name = {file.stem!r}\nimport os\n")
    return project


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("**/*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("src/**/*.py", ["src/b.py", "src/deep/c.py"]),
        ("src/*.toml", ["src/d.toml"]),
        ("./a.*", ["a.py"]),
        ("*.rs", ["no file matches"]),
    ],
)
def test_glob_finds_files_by_name(tree: Path, pattern: str, found: list[str]) -> None:
    assert files(tree).glob(pattern).split("\n") == found


def test_glob_looks_where_it_is_told(tree: Path) -> None:
    assert files(tree).glob("*.toml", path="src") == "d.toml"
    assert files(tree).glob("**/*.py", path=str(tree / "src" / "deep")) == "c.py"


def test_grep_finds_lines(tree: Path) -> None:
    tools = files(tree)
    assert tools.grep("^name").split("\n") == [
        "a.py:1:name = 'a'",
        "src/b.py:1:name = 'b'",
        "src/d.toml:1:name = 'd'",
        "src/deep/c.py:1:name = 'c'",
    ]
    assert tools.grep("import", glob="*.toml") == "src/d.toml:2:import os"
    assert tools.grep("import", path="a.py") == "a.py:2:import os"
    assert tools.grep("import", path="src/deep") == "src/deep/c.py:2:import os"
    assert tools.grep("no such thing") == "nothing found"
    with pytest.raises(ToolFailed, match="not a regular expression"):
        tools.grep("(")


def test_glob_and_grep_fail_where_there_is_nothing_to_look_in(tree: Path) -> None:
    """`nothing found` would be read as: it was looked for."""
    with pytest.raises(ToolFailed, match="No such file or directory"):
        files(tree).glob("*.py", path="srcc")
    with pytest.raises(ToolFailed, match="No such file or directory"):
        files(tree).grep("name", path="srcc")


def test_glob_and_grep_return_no_more_than_they_may(project: Path) -> None:
    for number in range(300):
        (project / f"{number:03}.txt").write_text("word\n" * 3)
    assert files(project).glob("*").endswith("199.txt\n[and 100 more]")
    found = files(project).grep("word")
    assert len(found.split("\n")) <= 202
    (project / "000.txt").write_text("x" * 100_000)
    assert len(files(project).grep("x")) < MOST + 200


def test_grep_passes_over_what_is_no_text(play: Play) -> None:
    """Binary and huge files, and above all pipes, which nobody may ever write to."""
    (play.project / "binary").write_bytes(b"word\0word")
    (play.project / "text").write_text("word")
    os.mkfifo(play.project / "pipe")
    (play.project / "dangling").symlink_to("nowhere")
    running = play.start([tool("Grep", pattern="word")], "Done.")
    try:
        session = running.end()
    finally:
        running.process.kill()
    assert session.last.results[0]["content"] == "text:1:word"


# ------------------------------------------------------------------ all of them


def test_tools_fail_as_calls_and_the_turn_goes_on(play: Play) -> None:
    failed = play.hook("folder post-tool-call-failure")
    calls = [
        tool("Shell", command=f"sleep {LONG}", timeout=0.2),
        tool("ReadFile", file_path="missing"),
        tool("ReadFile", file_path="a\0b"),
        tool("WriteFile", file_path=".", content=""),
        tool("WriteFile", file_path="a\0b", content=""),
        tool("StrReplaceFile", file_path="missing", old_string="a", new_string="b"),
        tool("Grep", pattern="("),
    ]
    session = play.run(*([call] for call in calls), "Done.")
    assert session.answer == "Done."
    assert len(session.last.failed) == len(calls)
    assert [sent["error"] for sent in failed.all] == session.last.failed


def test_calls_in_one_answer_run_side_by_side(play: Play) -> None:
    """Each waits for what the other does."""
    waits = "touch {0}; until test -e {1}; do sleep 0.02; done; echo {0}"
    session = play.run([shell(waits.format("a", "b")), shell(waits.format("b", "a"))], "Done.")
    assert [result["content"] for result in session.last.results] == ["a", "b"]
