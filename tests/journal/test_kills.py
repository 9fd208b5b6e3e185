"""A verdict that was given is in the journal, whichever process is killed, stopped or forked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from journal import journals
from support import folder_hook, shell_call, tenterhook, until, user_hooks
from tenterhook import cli
from tenterhook.agents import AGENTS
from tenterhook.install import entries
from tenterhook.journal import writer

if TYPE_CHECKING:
    from collections.abc import Iterator

GUARD = 'if grep -q forbidden; then echo "not this" >&2; exit 2; fi'
HANG = 60  # seconds: what takes this long has stopped
AT_ONCE = 6
KINDS = {"library": 150, "trigger": 20, "bridge": 30}

# Decides one event, says so, and is there until it is killed or its stdin is closed.
LIBRARY = textwrap.dedent(
    """
    import sys
    from tenterhook import Engine, Event
    engine = Engine.load()
    event = Event("pre-tool-call", session_id=sys.argv[1], tool_name="Shell", tool_input={"command": "forbidden"})
    print(engine.decide(event).decision, flush=True)
    sys.stdin.read()
    """
)

# Decides one event after the other with a function for a hook, and says which.
WRITER = textwrap.dedent(
    """
    import itertools, sys
    from journal import journals
    from support import shell_call
    engine = journals.engine()
    first, count = sys.argv[1], int(sys.argv[2])
    for number in range(count) if count else itertools.count():
        engine.decide(shell_call("x" * (number * 37 % 9000), session_id=f"{first}-{number}"))
        print(f"{first}-{number}", flush=True)
    """
)


@pytest.fixture
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, with what tests are written with on the path of its processes."""
    tests = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [tests, os.environ.get("PYTHONPATH")])))
    return project


def sessions(place: Path) -> list[str]:
    return [str(record["session_id"]) for record in journals.recorded(place)]


AGENT = "import subprocess, sys; sys.exit(subprocess.run(['sh', '-c', sys.argv[1]]).returncode)"


class Caller(NamedTuple):
    """A process that has an event decided, in a process group of its own."""

    session: str
    process: subprocess.Popen[bytes]


def call(kind: str, session: str, project: Path, line: str) -> Caller:
    """Start a process that has an event decided."""
    told: dict[str, Any] = {"hook_event_name": "PreToolUse", "session_id": session, "cwd": str(project)}
    told |= {"tool_name": "Bash", "tool_input": {"command": "forbidden"}}
    given = json.dumps({"command": "forbidden"})
    fire = [sys.executable, "-m", "tenterhook", "trigger", "pre-tool-call", "--tool", "Shell", "--input", given]
    commands = {
        "library": [sys.executable, "-c", LIBRARY, session],
        "trigger": [*fire, "--session", session],
        "bridge": [sys.executable, "-c", AGENT, line],  # so that what else we start is not below an agent
    }
    process = subprocess.Popen(
        commands[kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    assert process.stdin is not None
    if kind == "bridge":
        process.stdin.write(json.dumps(told).encode())
        process.stdin.close()
    return Caller(session, process)


def see(caller: Caller, *, kill: bool) -> tuple[str, bytes, int]:
    """Wait for the first word of a verdict; then kill its process, or let it end."""
    process = caller.process
    assert process.stdin is not None
    assert process.stdout is not None
    said = os.read(process.stdout.fileno(), 65536)
    if kill:
        os.killpg(process.pid, signal.SIGKILL)  # not reaped yet, so it is there
    if not process.stdin.closed:
        process.stdin.close()
    with process.stdout:
        said += process.stdout.read()
    return caller.session, said, process.wait(HANG)


@pytest.mark.slow
def test_every_verdict_of_200_processes_is_there_though_50_were_killed(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    assert cli.run(["install", "claude-code"]) == 0
    found = entries.found(AGENTS["claude-code"], Path(AGENTS["claude-code"].settings()).read_bytes())
    line = entries.command_of(found["PreToolUse"][0])
    callers = [(kind, number) for kind, count in KINDS.items() for number in range(count)]
    callers.sort(key=lambda each: each[1] / KINDS[each[0]])  # the kinds among one another
    killed = set(callers[::4])

    def one(each: tuple[str, int]) -> tuple[str, bytes, int]:
        kind, number = each
        return see(call(kind, f"{kind}-{number}", project, line), kill=each in killed)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        seen = dict(zip(callers, pool.map(one, callers), strict=True))

    assert (len(seen), len(killed)) == (200, 50)
    for (kind, _), (_, said, status) in seen.items():
        assert b"deny" in said or b"not this" in said, (kind, said)
        assert status in ({"library": 0, "trigger": 2, "bridge": 0}[kind], -signal.SIGKILL)
    assert all(seen[each][2] == -signal.SIGKILL for each in killed if each[0] == "library")
    printed = [session for session, _, _ in seen.values()]
    decided = {record["session_id"]: record for record in journals.recorded(journals.folder(home))}
    assert sorted(decided) == sorted(printed)
    assert len(sessions(journals.folder(home))) == len(printed)  # and each once
    for record in decided.values():
        assert (record["decision"], record["reason"]) == ("deny", "not this")
        assert [each["meaning"] for each in record["runs"]] == ["blocked"]
    assert {record["by"] for record in decided.values()} == {"library", "trigger", "claude-code"}
    assert journals.is_intact()
    assert len(journals.log_json("-n", "0", "--decision", "deny")) == 200


def test_writers_that_are_killed_in_the_middle_of_it_have_lost_nothing_they_told(home: Path, here: Path) -> None:
    writers = [journals.start(WRITER, f"w{number}", "0") for number in range(6)]
    told: list[list[str]] = [[] for _ in writers]

    def listen(number: int) -> None:
        stdout = writers[number].stdout
        assert stdout is not None
        for line in stdout:
            if line.endswith("\n"):
                told[number].append(line.strip())

    def has_told(number: int) -> bool:
        return len(told[number]) >= 10 * (number + 1)

    listeners = [threading.Thread(target=listen, args=[number]) for number in range(len(writers))]
    for listener in listeners:
        listener.start()
    try:
        for number, writer in enumerate(writers):
            until(partial(has_told, number))
            writer.kill()
            writer.wait(HANG)
    finally:
        for writer, listener in zip(writers, listeners, strict=True):
            writer.kill()
            writer.wait(HANG)
            listener.join(HANG)
            for pipe in (writer.stdin, writer.stdout, writer.stderr):
                assert pipe is not None
                pipe.close()
    there = sessions(journals.folder(home))
    assert {session for each in told for session in each} <= set(there)
    assert len(there) == len(set(there))
    assert journals.is_intact()


def test_many_processes_lose_nothing(home: Path, here: Path) -> None:
    writers = [journals.start(WRITER, f"p{number}", "40") for number in range(6)]
    for process in writers:
        _, stderr = process.communicate(timeout=HANG)
        assert (process.returncode, stderr) == (0, "")
    expected = sorted(f"p{number}-{each}" for number in range(6) for each in range(40))
    assert sorted(sessions(journals.folder(home))) == expected
    assert journals.is_intact()


def test_many_threads_lose_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_LARGEST_SEGMENT", 20_000)  # with new segments on the way
    engine = journals.engine()
    begin = threading.Barrier(8)

    def write(first: int) -> None:
        begin.wait()
        for number in range(25):
            engine.decide(shell_call("x" * (number * 97 % 5000), session_id=f"t{first}-{number}"))

    threads = [threading.Thread(target=write, args=[first]) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    assert sorted(sessions(journals.folder(home))) == sorted(f"t{t}-{n}" for t in range(8) for n in range(25))
    assert len(journals.segments(journals.folder(home))) > 3
    assert journals.is_intact()


# Over and over: a process whose threads all write at once, before any of them has.
FIRST_WRITES = textwrap.dedent(
    """
    import os, signal, sys, threading
    from journal import journals
    from tenterhook.journal import writer

    def write(number, begin, wrong):
        begin.wait()
        try:
            writer.append(sys.argv[1], journals.record(number))
        except BaseException as error:
            wrong.append(error)

    def child():
        signal.alarm(20)
        sys.setswitchinterval(1e-6)
        begin, wrong = threading.Barrier(12), []
        threads = [threading.Thread(target=write, args=[number, begin, wrong]) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if wrong:
            print(wrong, flush=True)
        os._exit(len(wrong))

    for _ in range(int(sys.argv[2])):
        if not (pid := os.fork()):
            child()
        if status := os.waitpid(pid, 0)[1]:
            sys.exit(f"status {status}")
    """
)


def test_threads_that_all_write_for_the_first_time_do_not_get_in_one_anothers_way(home: Path, here: Path) -> None:
    place, rounds = journals.folder(home), 150
    command = [sys.executable, "-c", FIRST_WRITES, str(place), str(rounds)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=HANG)
    assert (ended.stdout, ended.stderr) == ("", "")
    assert len(sessions(place)) == 12 * rounds
    assert journals.is_intact()


FORKS = textwrap.dedent(
    """
    import os, sys, threading
    from journal import journals
    from support import shell_call
    engine = journals.engine()
    done = threading.Event()
    def busy():
        number = 0
        while not done.is_set():
            engine.decide(shell_call(session_id=f"parent-{number}"))
            number += 1
        print(number, flush=True)
    thread = threading.Thread(target=busy)
    thread.start()
    children = []
    for child in range(10):  # while another thread is writing, with or without its locks
        if not (pid := os.fork()):
            for number in range(5):
                engine.journal.write(journals.record(session_id=f"child-{child}-{number}"))
            os._exit(0)
        children.append(pid)
    statuses = [os.waitpid(pid, 0)[1] for pid in children]
    done.set()
    thread.join()
    print(statuses)
    """
)


def test_children_of_a_process_that_is_writing_neither_hang_nor_lose_anything(home: Path, here: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=HANG)
    count, statuses = ended.stdout.splitlines()
    assert (statuses, ended.stderr) == (str([0] * 10), "")
    expected = [f"parent-{number}" for number in range(int(count))]
    expected += [f"child-{child}-{number}" for child in range(10) for number in range(5)]
    assert sorted(sessions(journals.folder(home))) == sorted(expected)
    assert journals.is_intact()


HOLDER = textwrap.dedent(
    """
    import os, signal, sys
    from journal import journals
    from tenterhook.journal import writer
    place = sys.argv[1]
    lock = os.open(os.path.join(place, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    os.lockf(lock, os.F_LOCK, 0)
    print("holds", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
    os.close(lock)
    writer.append(place, journals.record(session_id="holder"))
    """
)


@pytest.fixture
def stopped_holder(home: Path, here: Path) -> Iterator[subprocess.Popen[str]]:
    """A writer that has the lock and does not run."""
    journals.write(journals.folder(home), journals.record(session_id="before"))
    holder = journals.start(HOLDER, str(journals.folder(home)))
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holds\n"
        until(lambda: _state(holder.pid) == "T")
        yield holder
    finally:
        holder.kill()
        holder.communicate()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_writer_that_is_stopped_with_the_lock_holds_up_nobody(
    home: Path, here: Path, stopped_holder: subprocess.Popen[str]
) -> None:
    place = journals.folder(home)
    folder_hook(user_hooks(home), "guard", GUARD)
    writers = [journals.start(WRITER, f"p{number}", "2") for number in range(3)]
    ended = tenterhook("trigger", "pre-tool-call", "--tool", "Shell", "--input", '{"command": "ls"}', timeout=HANG)
    assert (ended.returncode, ended.stderr) == (0, "")
    for process in writers:
        _, stderr = process.communicate(timeout=HANG)
        assert (process.returncode, stderr) == (0, "")
    expected = {"before", *(f"p{number}-{each}" for number in range(3) for each in range(2))}
    assert expected < set(sessions(place))
    assert len(journals.asides(place)) == 7
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in journals.asides(place))
    assert journals.is_intact()
    assert {record["session_id"] for record in journals.log_json()} == set(sessions(place))

    stopped_holder.send_signal(signal.SIGCONT)  # and goes on as if nothing had been
    assert stopped_holder.wait(HANG) == 0
    journals.write(place, journals.record(session_id="after"))
    assert {"holder", "after"} < set(sessions(place))
    assert len(journals.asides(place)) == 7
    assert journals.is_intact()


def test_what_was_written_aside_is_seen_to_be_edited_or_gone_too(
    home: Path, here: Path, stopped_holder: subprocess.Popen[str]
) -> None:
    place = journals.folder(home)
    journals.write(place, journals.record(session_id="aside"))
    anchor = here / "anchor.json"
    anchor.write_text(tenterhook("log", "anchor").stdout)
    assert journals.is_intact("--anchor", anchor)
    (aside,) = journals.asides(place)
    whole = aside.read_bytes()
    aside.write_bytes(whole.replace(b"echo 0", b"echo 1"))
    assert journals.verify().places == [(aside.name, 2)]
    aside.write_bytes(whole)
    aside.unlink()
    found = journals.verify("--anchor", anchor)
    assert (found.status, [place for place, _ in found.places], found.words) == (1, [aside.name], ["removed"])
