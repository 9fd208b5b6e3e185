"""ask.js, which plug-ins in JavaScript share, in a real node: what comes of each way in which a command can end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support import alive, until
from tenterhook.install.plugin_editor import _TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Iterator

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no node on the PATH")
SOURCE = Path(_TEMPLATES, "ask.js").read_text()
DRIVER = """
import { readFileSync, rmSync } from "node:fs"
const payload = JSON.parse(readFileSync("payload.json"))
const begun = Date.now()
const answer = await ONE
process.stdout.write(JSON.stringify({ answer, seconds: (Date.now() - begun) / 1000 }))
"""
ONE = 'ask("an.event", payload)'
CLOSED = " || exit 2"


class Asked:
    """Runs `ask` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds = 0.0

    def __call__(
        self, command: str | None, payload: Any = None, *, timeout: float = 30, source: str = SOURCE, call: str = ONE
    ) -> Any:
        entries = {} if command is None else {"an.event": {"command": command, "timeout": timeout}}
        driver = f"{source}\nconst ENTRIES = {json.dumps(entries)}\n{DRIVER.replace('ONE', call)}"
        (self.folder / "driver.mjs").write_text(driver)
        (self.folder / "payload.json").write_text(json.dumps(payload or {}))
        node = [str(NODE), "driver.mjs"]
        ended = subprocess.run(node, cwd=self.folder, capture_output=True, text=True, timeout=60)
        assert ended.returncode == 0, ended.stderr
        said = json.loads(ended.stdout)
        self.seconds = said["seconds"]
        return said["answer"]

    def pids(self) -> list[int]:
        """The processes that a command has written down."""
        return [int(line) for line in (self.folder / "pids").read_text().split()]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Asked]:
    asked = Asked(tmp_path)
    yield asked
    if (tmp_path / "pids").exists():
        for pid in filter(alive, asked.pids()):
            os.kill(pid, 9)


def test_exit_status_two_is_a_deny_with_what_stands_on_stderr(ask: Asked) -> None:
    assert ask('echo \'{"approve": "no"}\'; echo not this >&2; exit 2') == {"deny": "not this"}
    assert ask("exit 2") == {"deny": "Blocked by a hook"}


def test_an_answer_is_the_json_on_stdout_and_nothing_is_no_decision(ask: Asked) -> None:
    assert ask('echo \'{"input": {"command": "ls"}, "context": "so"}\'; echo noise >&2') == {
        "input": {"command": "ls"},
        "context": "so",
    }
    assert ask("true") == {}
    assert ask("echo") == {}


def test_an_event_without_an_entry_starts_nothing(ask: Asked) -> None:
    assert ask(None) == {}


def test_the_command_is_sent_the_event_and_the_payload(ask: Asked) -> None:
    payload = {"session_id": "s-1", "tool_input": {"command": "ls"}}
    ask("cat >sent", payload)
    assert json.loads((ask.folder / "sent").read_text()) == {"hook_event_name": "an.event", **payload}


FAILURES = {
    "it exits with another status": ("echo it broke >&2; exit 3", "could not answer (status 3)", "it broke"),
    "a signal ends it": ("kill -9 $$", "could not answer (status null)", ""),
    "it prints no json": ("echo '{broken'", "gave no readable answer", ""),
    "the line is too long to start": (": " + "x" * 200_000, "could not be started", ""),
}


@pytest.mark.parametrize("what", FAILURES)
def test_a_failure_lets_pass_and_says_so(ask: Asked, what: str) -> None:
    command, why, stderr = FAILURES[what]
    assert ask(command) == {"systemMessage": stderr or f"Tenterhook {why}: hooks did not run"}


@pytest.mark.parametrize("what", [what for what in FAILURES if "status" not in what])
def test_where_closed_was_chosen_a_failure_is_a_deny(ask: Asked, what: str) -> None:
    command, why, _ = FAILURES[what]
    assert ask(command + CLOSED) == {"deny": f"Tenterhook {why}: this is refused"}


@pytest.mark.parametrize("closed", ["", CLOSED])
def test_a_shell_that_is_not_there_is_a_failure(ask: Asked, closed: str) -> None:
    answer = ask("true" + closed, source=SOURCE.replace("/bin/sh", "/nowhere/sh"))
    assert answer == (
        {"deny": "Tenterhook could not be started: this is refused"}
        if closed
        else {"systemMessage": "Tenterhook could not be started: hooks did not run"}
    )


@pytest.mark.skipif(not os.access("/bin/bash", os.X_OK), reason="there is no bash")
def test_variables_that_act_on_the_shell_are_left_out(ask: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    (ask.folder / "start").write_text("exit 0")
    for name, value in (("SHELLOPTS", "noexec"), ("BASH_ENV", str(ask.folder / "start")), ("OTHER", "kept")):
        monkeypatch.setenv(name, value)
    answer = ask('echo "$OTHER" >&2; exit 2', source=SOURCE.replace("/bin/sh", "/bin/bash"))
    assert answer == {"deny": "kept"}


def test_a_folder_that_was_removed_is_no_failure(ask: Asked) -> None:
    (ask.folder / "gone").mkdir()
    leave = 'process.chdir("gone"), rmSync(process.cwd(), { recursive: true })'
    answer = ask("echo no >&2; exit 2", call=f"({leave}, {ONE})")
    assert answer["deny"].endswith("no")  # before it, the shell may say that it has no folder


@pytest.mark.parametrize("closed", ["", CLOSED])
def test_one_that_takes_too_long_is_ended_with_all_its_children(ask: Asked, closed: str) -> None:
    command = "echo $$ >pids; (echo $(exec sh -c 'echo $PPID') >>pids; sleep 60) & sleep 60 & echo $! >>pids; wait"
    answer = ask(f"{command}{closed}", timeout=1)
    why = "Tenterhook did not answer in time"
    assert answer == ({"deny": f"{why}: this is refused"} if closed else {"systemMessage": f"{why}: hooks did not run"})
    assert ask.seconds < 10
    assert len(ask.pids()) == 3
    until(lambda: not any(map(alive, ask.pids())))


def test_a_child_that_holds_the_pipes_delays_nothing(ask: Asked) -> None:
    assert ask("sleep 60 & echo $! >pids; echo not this >&2; exit 2") == {"deny": "not this"}
    assert ask.seconds < 10
    assert any(map(alive, ask.pids()))


def test_a_megabyte_of_answer_is_read_to_its_end(ask: Asked) -> None:
    command = 'printf \'{"context": "\'; head -c 1000000 /dev/zero | tr "\\0" x; printf \'"}\''
    assert ask(command) == {"context": "x" * 1_000_000}


def test_a_megabyte_of_answer_is_read_while_a_child_holds_the_pipe(ask: Asked) -> None:
    command = (
        'sleep 60 & echo $! >pids; printf \'{"context": "\'; head -c 1000000 /dev/zero | tr "\\0" x; printf \'"}\''
    )
    assert ask(command) == {"context": "x" * 1_000_000}
    assert ask.seconds < 20


def test_a_character_that_arrives_in_pieces_is_one(ask: Asked) -> None:
    command = r"""printf '{"context": "\303'; sleep 0.3; printf '\244 \360\237'; sleep 0.3; printf '\230\200"}'"""
    assert ask(command) == {"context": "ä 😀"}


def test_a_large_payload_arrives_and_one_that_nobody_reads_is_no_failure(ask: Asked) -> None:
    payload = {"prompt": "ä" * 3_000_000, "half": "\ud800"}
    assert ask("cat >sent", payload) == {}
    assert json.loads((ask.folder / "sent").read_text())["prompt"] == payload["prompt"]
    assert ask("exec <&-; echo no >&2; exit 2", payload) == {"deny": "no"}


def test_ten_at_once_get_their_own_answers(ask: Asked) -> None:
    command = """n=$(grep -o '"n":[0-9]' | cut -c5-); sleep 0.$((9 - n)); echo "{\\"context\\": \\"$n\\"}" """
    answers = ask(command, call='Promise.all([...Array(10).keys()].map((n) => ask("an.event", { n })))')
    assert [answer["context"] for answer in answers] == [str(number) for number in range(10)]
