"""The sessions of a directory as lists show them, and what a person sees of one that goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from bundled_agent.playing import Play, answer, shell
from tenterhook.basics.terminal_layout import shortened
from tenterhook.bundled_agent import session_files
from tenterhook.bundled_agent.session_files import Exchange

if TYPE_CHECKING:
    from pathlib import Path

    from bundled_agent.playing import Ended

pytestmark = pytest.mark.slow

LONG = "a prompt that does not fit on a line " * 5


def command(play: Play, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tenterhook", "agent", *arguments],
        cwd=play.project,
        env={**os.environ, "HOME": str(play.home), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Play, Ended]:
    """One session, for tests that start none beside it."""
    root = tmp_path_factory.mktemp("talked")
    for name in ("home", "project"):
        (root / name).mkdir()
    play = Play(root, root / "home", root / "project")
    return play, play.run("Never.", "Sent.", prompt="first")


def test_sessions_are_listed_with_time_length_and_first_prompt_and_a_resumed_one_says_so(play: Play) -> None:
    play.hook("folder pre-agent-turn", answer(additional_context="the rules"))
    play.run("Elsewhere.", prompt="another one")
    first = play.run([shell("true")], "Done.\nIndeed.", prompt=LONG)
    script = f"scripted:{play.root}/script1.yaml"
    resumed = command(play, "--resume", first.id, "and now?", "--model", script, COLUMNS="70")
    assert resumed.stdout == "Elsewhere.\n"
    headline = resumed.stderr.splitlines()[0]
    assert headline.startswith(f"resumed {first.id}: 4 messages, last prompt: a prompt t")
    assert headline.endswith("…")
    assert len(headline) == 70
    listed = command(play, "--sessions").stdout.splitlines()
    assert listed[0].split() == ["last", "used", "messages", "session", "first", "prompt"]
    assert listed[1].split(None, 3)[2:] == ["6", f"{first.id}  {LONG.strip()}"]
    assert listed[2].endswith("another one")
    told = json.loads(command(play, "--sessions", "--json").stdout)["sessions"]
    assert told[0]["session_id"] == first.id
    assert (told[0]["first_prompt"], told[0]["last_prompt"], told[0]["prompts"]) == (LONG, "and now?", 2)
    offered = command(
        play, _TENTERHOOK_COMPLETE="zsh_complete", COMP_WORDS="tenterhook agent --resume ", COMP_CWORD="3"
    )
    assert offered.stdout.splitlines()[1:3] == [first.id, LONG[:60]]


def test_a_directory_without_sessions_says_how_to_start_one(play: Play) -> None:
    ended = command(play, "--sessions")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "start one: tenterhook agent" in ended.stdout


@pytest.mark.parametrize("arguments", [["--resume", "session_0123", "go"], ["go", "--resume", "session_0123"]])
def test_an_id_that_is_none_is_no_prompt_and_the_list_is_named(
    talked: tuple[Play, Ended], arguments: list[str]
) -> None:
    play, _ = talked
    ended = command(play, *arguments, "--model", f"scripted:{play.root}/script1.yaml")
    assert ended.returncode == 1
    assert "no session session_0123" in ended.stderr
    assert "tenterhook agent --sessions" in ended.stderr


MISTYPED = ["session_doesnotexist", "0123456789abcdef", "sesion_0000000000000000", "Session"]


@pytest.mark.parametrize("word", MISTYPED)
def test_a_word_that_looks_like_an_id_is_no_prompt(talked: tuple[Play, Ended], word: str) -> None:
    play, _ = talked
    ended = command(play, "--resume", word, "--model", f"scripted:{play.root}/script1.yaml")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert f"no session {word}" in ended.stderr
    assert "tenterhook agent --sessions" in ended.stderr


def test_the_closest_id_is_named_and_the_prefix_may_be_left_out(talked: tuple[Play, Ended]) -> None:
    play, first = talked
    model = ["--model", f"scripted:{play.root}/script1.yaml"]
    digits = first.id.removeprefix("session_")
    wrong = "z" + digits[1:]
    for word in (first.id.upper(), f"sesion_{digits}", wrong):
        ended = command(play, "--resume", word, *model)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert f"no session {word}" in ended.stderr
        assert f"did you mean {first.id}?" in ended.stderr
    resumed = command(play, "--resume", digits, "go on", *model)
    assert f"resumed {first.id}:" in resumed.stderr
    assert "resumed" in command(play, "--resume", "continue", *model).stderr  # a prompt of one word


@pytest.mark.parametrize("options", [["--resume", "session_0000000000000000"], ["--resume"]], ids=["id", "newest"])
def test_whether_there_is_a_session_is_said_before_a_prompt_is_asked_for(play: Play, options: list[str]) -> None:
    ended = command(play, *options, "--model", "scripted:none.yaml")
    assert ended.returncode == 1
    assert "no session" in ended.stderr
    assert "prompt is empty" not in ended.stderr


def test_a_resumed_session_shows_what_was_said_last_and_lists_the_others(play: Play) -> None:
    """In an interactive session."""
    play.run("Nothing.", prompt="another one")
    first = play.run([shell("true"), shell("true")], "Done.\nIndeed.", prompt="do it")
    with play.terminal("Two.", options=["--resume", first.id]) as terminal:
        seen = terminal.sees(r"Done\. …")
        assert f"resumed {first.id}: 4 messages, last prompt: do it" in seen
        assert [line.strip() for line in seen.splitlines()[-3:]] == ["› do it", "▸ 2 calls", "Done. …"]
        terminal.say("/sessions")
        assert "another one" in terminal.sees(f"this is {first.id}")


def request(*texts: str) -> dict[str, Any]:
    parts = [{"part_kind": "user-prompt", "content": text} for text in texts]
    return {"type": "message", "message": {"kind": "request", "parts": parts}}


def response(text: str) -> dict[str, Any]:
    parts = [{"part_kind": "text", "content": text}]
    return {"type": "message", "message": {"kind": "response", "parts": parts}}


def test_a_file_of_an_older_version_has_its_prompts_too() -> None:
    """Without lines that say where a turn begins; and one that goes on with them."""
    old = [request("first", '<hook_context event="x">C</hook_context>'), response("One."), request("<summary>\n…")]
    new = [{"type": "turn", "origin": "user", "prompt": "second"}, request("second"), response("Two.")]
    woken = [{"type": "turn", "origin": "notification", "prompt": "<notification …"}, response("Three.")]
    saved = session_files.summary("s", "/", 0, [*old, *new, *woken, {"type": "message", "message": 5}])
    assert saved.exchanges == (Exchange("first", 0, "One."), Exchange("second", 0, "Three."))


def test_only_the_last_exchanges_are_shown() -> None:
    turns = [{"type": "turn", "origin": "user", "prompt": f"prompt {number}\nmore"} for number in range(5)]
    lines = session_files.resumed(session_files.summary("s", "/", 0, turns), 80)
    assert lines[1:] == ["  … 2 earlier", "  › prompt 2 …", "  › prompt 3 …", "  › prompt 4 …"]


DEEP = '"x": ' + "[" * 100_000  # too deep to be parsed
TURN = {"type": "turn", "origin": "user", "prompt": "first"}


def write(*lines: dict[str, Any] | str) -> None:
    """A session of the directory `/work`."""
    path = session_files.path_of("s")
    os.makedirs(os.path.dirname(path))
    first = {"type": "session", "session_id": "s", "work_dir": "/work"}
    with open(path, "w") as file:
        for line in (first, *lines):
            file.write((line if isinstance(line, str) else json.dumps(line)) + "\n")


@pytest.mark.parametrize(
    "lines",
    [
        [TURN],
        [request("<summary>"), request('<hook_context event="x">C</hook_context>', "first")],
        [{**TURN, "origin": "notification"}, request("<notification …"), TURN],
    ],
    ids=["turn", "older", "woken"],
)
def test_for_its_first_prompt_a_session_is_read_up_to_it(home: Path, lines: list[dict[str, Any]]) -> None:
    """A shell's completion must be quick."""
    write(*lines, '{"type": "message", ' + DEEP)
    assert session_files.first_prompts("/work") == {"s": "first"}
    assert session_files.first_prompts("/elsewhere") == {}


def test_a_session_without_a_prompt_has_an_empty_first_one(home: Path) -> None:
    write({"type": "end"})
    assert session_files.first_prompts("/work") == {"s": ""}


def test_a_list_parses_only_what_was_said(home: Path) -> None:
    deep = [f'{{"type": "{kind}", {DEEP}' for kind in ("hooks", "history", "compaction")]
    write(TURN, request("first"), *deep, response("One."), {**TURN, "prompt": "last"})
    (saved,) = session_files.sessions("/work")
    assert (saved.messages, saved.exchanges) == (2, (Exchange("first", 0, "One."), Exchange("last")))


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("你好", 4, "你好"),
        ("你好吗", 5, "你好…"),
        ("你好吗", 4, "你…"),
        ("", 3, ""),
    ],
)
def test_a_line_fits_the_columns_of_a_terminal(text: str, width: int, shown: str) -> None:
    assert shortened(text, width) == shown


def test_a_list_needs_nothing_of_pydantic_ai(project: Path) -> None:
    """A shell's completion must be quick."""
    look = "import sys; from tenterhook.bundled_agent import session_files; print('pydantic_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True).stdout == "False\n"
