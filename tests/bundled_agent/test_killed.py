"""An agent that is killed, at any point: what was done so far is kept, the session goes on, and nothing runs on."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from bundled_agent.playing import AS_ANYBODY, Play, answer, shell, task, tool
from support import alive, folder_hook, until, user_hooks

if TYPE_CHECKING:
    from pathlib import Path

    from bundled_agent.playing import Answer, Ended

POINTS, BATCHES = 20, 4
SEED = 7
LONG = 60  # seconds: longer than any test may take
TIMEOUT = 1000  # ms, of a hook that would take much longer
ASYNC: dict[str, Any] = {"async": True, "timeout": TIMEOUT}
# A session with everything that can be cut off in the middle; about two seconds long.
SAID: tuple[Answer, ...] = (
    {"text": "I begin.", "calls": [shell("sleep 0.15; echo one >> log.txt")], "tokens": {"input": 10, "output": 1}},
    [task("worker", "work", background=True)],
    [shell("sleep 0.1; echo two >> log.txt"), tool("WriteFile", file_path="a.txt", content="x" * 50_000)],
    [task("reviewer", "review")],
    {"calls": [tool("ReadFile", file_path="a.txt")], "tokens": {"input": 200_000, "output": 1}},  # compacts
    [shell("sleep 0.2; echo three >> log.txt")],
    "Done.",
    "Good to know.",
)
MORE: dict[str, Any] = {
    "tasks": {
        "worker": [[shell("sleep 0.3; echo worker >> log.txt")], {"text": "worked", "delay": 0.4}],
        "reviewer": [[shell("sleep 0.1; echo reviewer >> log.txt")], "reviewed"],
    },
    "summaries": [{"text": "They began.", "delay": 0.1}],
}


@dataclass
class Stage:
    """A play of its own for one session, with an async hook that would run much longer than it may."""

    play: Play
    slow: Path

    @classmethod
    def made(cls, root: Path) -> Stage:
        for name in ("home", "project"):
            (root / name).mkdir(parents=True)
        play = Play(root, root / "home", root / "project")
        slow = root / "slow"
        slow.mkdir()
        script = f"sleep {LONG} & echo $! > {slow}/$$.child; echo $$ > {slow}/$$.self; wait"
        folder_hook(user_hooks(play.home), "slow", script, "post-tool-call", **ASYNC)
        play.hook("folder pre-tool-call", answer(decision="allow"))
        return cls(play, slow)

    @property
    def processes(self) -> list[int]:
        """Of the async hook, so far."""
        return [int(text) for file in self.slow.iterdir() if (text := file.read_text())]


class Point(NamedTuple):
    """When to kill: so many lines are kept, and so many seconds have passed since the last of them."""

    lines: int
    seconds: float


def points(length: int) -> list[Point]:
    """Spread over a session of so many lines, at random within each part of it."""
    chance = random.Random(SEED)
    return [Point(int((number + chance.random()) / POINTS * length), chance.random() * 0.2) for number in range(POINTS)]


def entries(file: Path) -> list[dict[str, Any]]:
    """The complete lines of a session."""
    return [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1] if line]


def assert_well_formed(messages: list[dict[str, Any]]) -> None:
    """Every call has its result, right after it, and every result its call."""
    left: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["id"] in left
            left.remove(message["id"])
            continue
        if message["role"] == "assistant":
            assert not left
            left = {call["id"] for call in message.get("calls", ())}
    assert not left


def still_running(lines: list[dict[str, Any]]) -> set[str]:
    """The background tasks of which nothing but the beginning is known."""
    last = {line["task_id"]: line for line in lines if line["type"] == "task"}
    begun = {line["task_id"] for line in lines if line["type"] == "task" and line.get("background")}
    return {number for number, line in last.items() if line["status"] == "started" and number in begun}


def resumed(play: Play, session_id: str, *said: str) -> Ended:
    """The same session in another process, with another script."""
    return play.run(*(said or ("I am back.", "Noted.", "Noted.")), prompt="go on", options=["--resume", session_id])


def begun(play: Play) -> Path | None:
    """Where a session is kept, once it has begun."""
    kept = play.home / ".local/state/tenterhook/agent"
    return next((file for file in kept.glob("*.jsonl") if b"\n" in file.read_bytes()), None)


def killed_and_resumed(root: Path, point: Point) -> str:
    """Kill a session at a point and go on with it; return how far it had come."""
    stage = Stage.made(root)
    play = stage.play
    running = play.start(*SAID, **MORE)
    try:
        file = until(lambda: begun(play), LONG)
        until(lambda: len(entries(file)) >= point.lines or running.process.poll() is not None, LONG)
        time.sleep(point.seconds)  # into the middle of whatever it does
    finally:
        running.process.kill()
        running.process.communicate()
    lines = entries(file)
    assert file.stat().st_mode & 0o777 == 0o600
    lost = still_running(lines)
    session = resumed(play, file.stem)
    assert session.id == file.stem
    assert session.report["outcome"] == "success"
    for request in session.by():
        assert_well_formed(request.messages)
    told = session.last.text
    assert {number for number in lost if f'type="task.lost" source="{number}"' in told} == lost
    assert told.count('type="task.lost"') == len(lost)
    assert "go on" in session.last.users
    assert not still_running(entries(file))
    until(lambda: not any(map(alive, stage.processes)), 20)
    done = sum(line["type"] == "message" for line in lines)
    return f"{done} messages, {len(lost)} lost"


@pytest.fixture(scope="session")
def length(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Of the session, if nobody kills it, in lines."""
    stage = Stage.made(tmp_path_factory.mktemp("whole"))
    session = stage.play.run(*SAID, **MORE)
    assert session.answer in ("Done.", "Good to know.")
    assert len(session.kept("compaction")) == 1
    assert stage.processes
    until(lambda: not any(map(alive, stage.processes)), 20)
    return len(entries(session.file))


@pytest.mark.slow
@pytest.mark.parametrize(
    "batch", [0, *(pytest.param(number, marks=pytest.mark.thorough) for number in range(1, BATCHES))]
)
def test_killed_at_any_point_a_session_goes_on_and_no_hook_outlives_its_timeout(
    tmp_path: Path, length: int, batch: int
) -> None:
    """survive kill -9 up to the last complete line, and resume"""
    places = points(length)[batch::BATCHES]
    with ThreadPoolExecutor(3) as pool:
        ends = list(pool.map(killed_and_resumed, [tmp_path / str(point.lines) for point in places], places))
    assert len(set(ends)) >= 2, ends  # they were different points indeed


def test_an_async_hook_of_a_killed_agent_ends_at_its_timeout(tmp_path: Path) -> None:
    stage = Stage.made(tmp_path / "stage")
    running = stage.play.start([shell("true")], [shell(f"sleep {LONG}")])
    try:
        until(lambda: len(stage.processes) == 2)
    finally:
        running.process.kill()
        running.process.communicate()
    until(lambda: not any(map(alive, stage.processes)), 10)


# ------------------------------------------------------------------ what was going on


def killed(play: Play, *said: Answer, **more: Any) -> tuple[str, Path]:
    """Kill a session once a file is there; return its id and where it is kept."""
    running = play.start(*said, **more)
    try:
        until(lambda: play.ran("begun"))
    finally:
        running.process.kill()
        running.process.communicate()
    return running.file.stem, running.file


@pytest.mark.slow
def test_a_call_that_was_cut_off_is_told_to_the_model(play: Play) -> None:
    calls = [shell("echo done"), shell("echo $$ > self; touch begun; exec sleep 20")]
    number, file = killed(play, [shell("echo before")], calls)
    try:
        session = resumed(play, number)
    finally:
        process = int((play.project / "self").read_text())
        if alive(process):  # nobody was left to end it
            os.kill(process, 9)
    assert_well_formed(session.last.messages)
    assert [result.get("failed", False) for result in session.last.results] == [False, True, True]
    assert all("Interrupted" in text for text in session.last.failed)
    assert entries(file)[-1]["type"] == "end"


@pytest.mark.slow
def test_a_subagent_that_was_cut_off_is_a_call_that_was_cut_off(play: Play) -> None:
    tasks: dict[str, Any] = {"helper": [[shell("touch begun; sleep 2")], "Never said."]}
    number, _ = killed(play, [task("helper")], tasks=tasks)
    session = resumed(play, number)
    assert "Interrupted" in session.last.failed[0]
    assert "task.lost" not in session.last.text


@pytest.mark.slow
def test_a_background_task_that_was_running_is_lost_once(play: Play) -> None:
    heard = play.hook("folder notification")
    tasks: dict[str, Any] = {"worker": [{"text": "never", "delay": LONG}]}
    number, file = killed(play, [task("worker", background=True)], [shell("touch begun; sleep 2")], tasks=tasks)
    first = resumed(play, number)
    assert heard.once["notification_type"] == "task.lost"
    assert heard.once["source_id"] == "task_1"
    assert first.last.text.count('<notification type="task.lost" source="task_1"') == 1
    assert [line["status"] for line in entries(file) if line["type"] == "task"] == ["started", "lost"]
    second = resumed(play, number)
    assert len(heard.all) == 1
    assert second.last.text.count("task.lost") == 1


@pytest.mark.slow
def test_tasks_of_a_resumed_session_have_numbers_of_their_own(play: Play) -> None:
    tasks = {"worker": ["worked"]}
    first = play.run([task("worker", background=True)], "Under way.", "Good.", tasks=tasks)
    options = ["--resume", first.id]
    second = play.run([task("worker", background=True)], "Under way.", "Good.", tasks=tasks, options=options)
    begun = [line["task_id"] for line in second.kept("task") if line["status"] == "started"]
    assert len(begun) == len(set(begun)) == 2


@pytest.mark.slow
def test_what_a_background_task_found_is_not_lost_with_the_process(play: Play) -> None:
    """It ended, and the model has not heard of it yet: it hears of it when the session goes on."""
    heard = play.hook("folder notification", "touch begun; sleep 2")
    number, _ = killed(
        play,
        [task("worker", background=True)],
        {"text": "Under way.", "delay": LONG},
        tasks={"worker": ["found the cause"]},
    )
    session = resumed(play, number)
    assert heard.all[0]["notification_type"] == "task.completed"
    assert "found the cause" in session.last.text


# ------------------------------------------------------------------ files that are not as they were


@pytest.fixture
def kept(play: Play) -> tuple[str, Path]:
    """A session that is over, with a call and its result."""
    session = play.run([shell("echo one")], "Two.", prompt="first")
    return session.id, session.file


@pytest.mark.slow
def test_a_half_written_last_line_is_left_out(play: Play, kept: tuple[str, Path]) -> None:
    number, file = kept
    whole = file.read_bytes()
    for cut in (1, 200):
        file.write_bytes(whole[:-cut])
        session = resumed(play, number)
        assert session.report["outcome"] == "success"
        assert_well_formed(session.last.messages)
        lines = file.read_bytes().split(b"\n")
        assert json.loads(lines[-2])["type"] == "end"
    again = resumed(play, number)
    assert again.last.users[0] == "first"


def test_garbage_in_the_middle_is_left_out(play: Play, kept: tuple[str, Path]) -> None:
    number, file = kept
    lines = file.read_bytes().split(b"\n")
    garbage = [b"\xff\xfe\0garbage", b"{", b"[]", b"null", b'"text"', b"{}", b'{"type": 5}', b'{"type": "message"}']
    garbage += [b'{"type": "message", "message": {"kind": "odd"}}', b'{"type": "unheard of", "x": 1}', b""]
    garbage += [b'{"type": "compaction", "messages": 5}', b'{"type": "task", "status": "started", "background": true}']
    file.write_bytes(b"\n".join([*garbage, *(each for line in lines for each in (line, *garbage[:11]))]))
    session = resumed(play, number)
    assert session.report["outcome"] == "success"
    assert "first" in session.last.users
    assert_well_formed(session.last.messages)


def test_a_message_that_is_lost_takes_no_other_with_it(play: Play, kept: tuple[str, Path]) -> None:
    """Every call has a result, and every result a call: servers refuse anything else."""
    number, file = kept
    whole = file.read_bytes().split(b"\n")
    messages = [place for place, line in enumerate(whole) if b'"type": "message"' in line]
    for lost in messages[:3]:
        file.write_bytes(b"\n".join([*whole[:lost], whole[lost][:-10], *whole[lost + 1 :]]))
        session = resumed(play, number)
        assert session.report["outcome"] == "success"
        assert_well_formed(session.last.messages)
        assert session.last.users[-1] == "go on"


def test_an_empty_file_is_no_session_and_that_is_said(play: Play, kept: tuple[str, Path]) -> None:
    number, file = kept
    file.write_bytes(b"")
    command = [
        sys.executable,
        "-m",
        "tenterhook",
        "agent",
        "go",
        "--model",
        "scripted:script1.yaml",
        "--resume",
        number,
    ]
    ended = subprocess.run(command, cwd=play.root, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ended.returncode == 1
    assert "contains no session" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_newest_session_is_found_beside_broken_ones(play: Play, kept: tuple[str, Path]) -> None:
    number, file = kept
    (file.parent / "session_empty.jsonl").touch()
    (file.parent / "session_broken.jsonl").write_bytes(b"\xff{\n")
    (file.parent / "session_directory.jsonl").mkdir()
    (file.parent / "session_dangling.jsonl").symlink_to("nowhere")
    session = play.run("I am back.", prompt="go on", options=["--resume"])
    assert session.id == number
    assert session.last.users == ["first", "go on"]


def test_a_session_of_another_directory_is_not_the_newest_here(play: Play, kept: tuple[str, Path]) -> None:
    other = play.root / "other"
    other.mkdir()
    command = [sys.executable, "-m", "tenterhook", "agent", "go", "--model", f"scripted:{play.root}/script1.yaml"]
    ended = subprocess.run([*command, "--resume"], cwd=other, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ended.returncode == 1
    assert "no session" in ended.stderr


# ------------------------------------------------------------------ nowhere to keep it


def test_with_a_read_only_state_directory_a_session_works_and_says_once_that_it_is_not_kept(play: Play) -> None:
    state = play.home / ".local" / "state" / "tenterhook"
    state.mkdir(parents=True)
    guard = play.hook("folder pre-tool-call", "case $sent in *forbidden*) echo never >&2; exit 2;; esac")
    (play.root / "script.yaml").write_text(
        json.dumps(
            {"answers": [{"calls": [shell("touch forbidden")]}, {"calls": [shell("touch ran")]}, {"text": "Done."}]}
        )
    )
    state.chmod(0o500)
    command = [sys.executable, "-m", "tenterhook", "agent", "go", "--model", f"scripted:{play.root}/script.yaml"]
    ended = subprocess.run(
        [sys.executable, "-c", AS_ANYBODY, *command, "--mode", "yolo"],
        capture_output=True,
        text=True,
        timeout=LONG,
        stdin=subprocess.DEVNULL,
    )
    state.chmod(0o700)
    assert (ended.returncode, ended.stdout) == (0, "Done.\n"), ended.stderr
    assert play.ran("ran")
    assert not play.ran("forbidden")
    assert len(guard.all) == 2
    if os.getuid() == 0 and (state / "agent").exists():
        pytest.skip("root cannot be kept out here")
    assert list(state.iterdir()) == []
    assert ended.stderr.count("this session is not saved") == 1
    assert "Permission denied" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("obstacle", ["a file", "a dangling link", "a link in its place"])
def test_with_something_else_in_its_place_a_session_works_too(play: Play, obstacle: str) -> None:
    state = play.home / ".local" / "state"
    state.mkdir(parents=True)
    if obstacle == "a file":
        (state / "tenterhook").write_text("in the way")
    elif obstacle == "a dangling link":
        (state / "tenterhook").symlink_to("/nowhere/at/all")
    else:
        (state / "tenterhook").symlink_to("/dev/null")
    play.hook("folder pre-tool-call", "case $sent in *forbidden*) echo never >&2; exit 2;; esac")
    session = play.run([shell("touch forbidden")], [shell("touch ran")], "Done.")
    assert session.answer == "Done."
    assert play.ran("ran")
    assert session.last.failed == ["never"]
    assert session.shown.count("this session is not saved") == 1
