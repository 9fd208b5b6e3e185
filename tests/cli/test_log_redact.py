"""`tenterhook log redact`: the text is asked for or read, never an argument; it says what it did."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from journal import journals
from support import leave_hub, tenterhook
from tenterhook.hub_client import membership
from tenterhook.journal.redact_stored import account

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "correct-horse-battery"
TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"


@pytest.fixture
def place(home: Path, project: Path) -> Path:
    place = journals.folder(home)
    journals.write(place, journals.record(0, reason=SECRET), journals.record(1), journals.record(2, reason=TOKEN))
    return place


def has(place: Path, text: str) -> bool:
    return any(text.encode() in path.read_bytes() for path in place.glob("*.jsonl"))


def test_the_text_is_taken_from_standard_input(place: Path) -> None:
    ended = tenterhook("log", "redact", "--stdin", "--yes", "--kind", "password", input=f"{SECRET}\n")
    first, summary, advice = ended.stdout.splitlines()
    assert first.startswith("000001.jsonl:2  2")
    assert first.endswith("  pre-tool-call Shell")
    assert (ended.returncode, summary) == (0, "1 line redacted")
    assert advice.startswith("revoke or change the secret")
    assert not has(place, SECRET)
    assert has(place, "[redacted: password]")
    verified = tenterhook("log", "verify")
    note, verdict = verified.stdout.splitlines()
    assert note.startswith("000001.jsonl:2  redacted on 2")
    assert note.endswith(f" by {account()}")
    assert (verified.returncode, verdict) == (0, "5 records in 1 segment, 1 redacted: intact")
    (told,) = json.loads(tenterhook("log", "verify", "--json").stdout)["redacted"]
    assert (told["segment"], told["line"], told["by"]) == ("000001.jsonl", 2, account())
    assert tenterhook("log", "redact", "--stdin", "--yes", input=SECRET).stdout == "nothing found in the journal\n"


def test_a_dry_run_changes_nothing(place: Path) -> None:
    before = (place / "000001.jsonl").read_bytes()
    ended = tenterhook("log", "redact", "--stdin", "--dry-run", input=SECRET)
    assert (ended.returncode, ended.stdout.splitlines()[1:]) == (0, ["1 line to be redacted"])
    told = json.loads(tenterhook("log", "redact", "--stdin", "--dry-run", "--json", input=SECRET).stdout)
    line = {"segment": "000001.jsonl", "line": 2, "texts": 1}
    assert told == {"schema": 1, "redacted": False, "lines": [line], "elsewhere": []}
    assert (place / "000001.jsonl").read_bytes() == before


@pytest.fixture
def joined(home: Path) -> Iterator[None]:
    """A hub that is away; nobody tries to deliver to it after the test."""
    membership.save(membership.Membership("http://127.0.0.1:1", "th_agent_x", "laptop"))
    yield
    leave_hub()


def test_it_names_what_else_has_the_text(place: Path, home: Path, joined: None) -> None:
    own = home / ".local/state/tenterhook"
    for name in ("agent/session_1.jsonl", "hub/hub.db"):
        (own / name).parent.mkdir(parents=True)
        (own / name).write_bytes(b"\xff" + json.dumps({"said": SECRET}).encode())
    (own / "harmless").write_text("correct")
    os.mkfifo(own / "pipe")
    ended = tenterhook("log", "redact", "--stdin", "--yes", input=SECRET)
    assert ended.stdout.splitlines()[2:-2] == [
        "also in ~/.local/state/tenterhook/agent/session_1.jsonl: remove it yourself",
        "also in ~/.local/state/tenterhook/hub/hub.db: tenterhook hub redact",
    ]
    assert "the hub http://127.0.0.1:1 is sent the redacted lines" in ended.stdout
    told = json.loads(tenterhook("log", "redact", "--stdin", "--yes", "--json", input=SECRET).stdout)
    assert told["elsewhere"] == [str(own / "agent/session_1.jsonl"), str(own / "hub/hub.db")]


def test_todays_rules_are_applied(place: Path) -> None:
    told = json.loads(tenterhook("log", "redact", "--rules", "--yes", "--json").stdout)
    assert (told["redacted"], [each["line"] for each in told["lines"]]) == (True, [4])
    assert not has(place, TOKEN)
    assert has(place, SECRET)


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (("--stdin",), SECRET, "needs confirmation"),
        ((), "", "--stdin --yes"),
        (("--stdin", "--yes"), "abc\n", "fewer than 4 characters"),
        (("--stdin", "--yes"), "\n  \n\n", "fewer than 4 characters"),
        (("--stdin", "--yes", "--kind", "my]kind"), SECRET, "--kind must be at most"),
        (("--stdin", "--yes", "--kind", SECRET.replace("-", " ")), SECRET.replace("-", " "), "contains the text"),
        (("--stdin", "--rules", "--yes"), SECRET, "--rules needs no text"),
        ((SECRET,), "", "unexpected extra argument"),
    ],
)
def test_wrong_uses_are_refused(place: Path, arguments: tuple[str, ...], stdin: str, said: str) -> None:
    before = (place / "000001.jsonl").read_bytes()
    ended = tenterhook("log", "redact", *arguments, input=stdin)
    assert ended.returncode != 0
    assert said in ended.stderr.lower() or said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert (place / "000001.jsonl").read_bytes() == before


@pytest.mark.parametrize(("answer", "is_redacted"), [("y", True), ("n", False)])
def test_on_a_terminal_the_text_is_asked_for_without_echo(place: Path, answer: str, is_redacted: bool) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tenterhook", "log", "redact"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    said = b""
    typed = {b"Text to redact": SECRET, b"This cannot be undone.": answer}
    try:
        while piece := _read(leader):
            said += piece
            for question in [each for each in typed if each in said]:
                os.write(leader, f"{typed.pop(question)}\n".encode())
    finally:
        status = process.wait(60)
        os.close(leader)
    assert SECRET.encode() not in said
    assert b"Redact 1 line?" in said
    assert (status == 0, not has(place, SECRET)) == (is_redacted, is_redacted)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # its other side is closed
        return b""


def test_without_a_journal_nothing_is_found(home: Path, project: Path) -> None:
    ended = tenterhook("log", "redact", "--stdin", "--yes", input=SECRET)
    assert (ended.returncode, ended.stdout) == (0, "nothing found in the journal\n")
    assert not journals.folder(home).exists()


def test_kinds_are_completed(project: Path) -> None:
    from click.shell_completion import ShellComplete

    from tenterhook.cli import tenterhook as commands

    found = ShellComplete(commands, {}, "tenterhook", "_X").get_completions(["log", "redact", "--kind"], "github")
    assert "github token" in [each.value for each in found]
