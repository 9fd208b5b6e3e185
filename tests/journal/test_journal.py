"""Where the journal cannot be written everything else is as ever: verdicts, answers, exit statuses. It is said once."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from hosts.observed import DOES
from journal import journals
from support import folder_hook, shell_call, tenterhook, user_hooks
from tenterhook import Decision, Engine, bridge, cli
from tenterhook.basics import places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tenterhook import Event

HANG = 60
SAID = "the journal cannot be written"
GUARD = 'if grep -q forbidden; then echo "not this" >&2; exit 2; fi; echo \'{"additional_context": "mind this"}\''
HOSTS = ("claude-code", "kimi-code")


# ---- troubles: each spoils the state directory of a home, for the commands that run after it


class Trouble(NamedTuple):
    """How a state directory comes to be of no use."""

    spoil: Callable[[Path], None] = lambda _: None
    mounts: str = ""  # run by a shell in a mount namespace of its own, with the directory as $1
    largest_file: int | None = None  # bytes
    is_said: bool = True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def journal_is_a_file(state: Path) -> None:
    _remove(state / "journal")
    (state / "journal").write_text("in the way")


def everything_is_a_file(state: Path) -> None:
    shutil.rmtree(state)
    state.write_text("in the way")


def lock_is_a_folder(state: Path) -> None:
    _remove(state / "journal")
    (state / "journal" / "lock").mkdir(parents=True)


def segment_is(kind: str) -> Callable[[Path], None]:
    def spoil(state: Path) -> None:
        _remove(state / "journal")
        (state / "journal").mkdir()
        segment = state / "journal" / "000001.jsonl"
        match kind:
            case "garbage":
                segment.write_bytes(bytes(range(256)) * 40)
            case "folder":
                segment.mkdir()
            case "fifo":
                os.mkfifo(segment)
            case "link":
                segment.symlink_to("/dev/full")

    return spoil


def without_permission(state: Path) -> None:
    _remove(state / "journal")
    (state / "journal").mkdir()
    (state / "journal").chmod(0o500)


def link_in_a_circle(state: Path) -> None:
    _remove(state / "journal")
    (state / "journal").symlink_to("journal")


FULL = """
    cp -a "$1" "$1.copy" && mount -t tmpfs -o size=256k,mode=700 none "$1" && cp -a "$1.copy/." "$1/" &&
    { cat /dev/zero > "$1/fill" 2>/dev/null || true; }
"""
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"'

TROUBLES = {
    "a full disk": Trouble(mounts=FULL),
    "read-only": Trouble(mounts=READ_ONLY),
    "no permission": Trouble(without_permission),
    "no file may grow": Trouble(largest_file=100),
    "a file instead of the folder": Trouble(journal_is_a_file),
    "a link in a circle": Trouble(link_in_a_circle),
    "the lock is a folder": Trouble(lock_is_a_folder),
    "a segment of garbage": Trouble(segment_is("garbage"), is_said=False),  # it goes on behind it
    "a segment is a folder": Trouble(segment_is("folder")),
    "a segment is a pipe": Trouble(segment_is("fifo")),
    "a segment is a link": Trouble(segment_is("link")),
}
each_trouble = pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)


def can_mount() -> bool:
    """Whether we may mount something in a namespace of our own, where nobody else sees it and nothing of it stays."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    command = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(command, capture_output=True).returncode == 0


class Ended(NamedTuple):
    """What comes out of a process."""

    status: int
    stdout: str
    stderr: str


def run(command: Sequence[str | Path], home: Path, trouble: Trouble | None, stdin: str = "") -> Ended:
    """Run a command, with its home in trouble if so."""
    state = home / ".local" / "state" / "tenterhook"
    words: list[str | Path] = list(command)
    options: dict[str, Any] = {}
    if trouble is not None:
        trouble.spoil(state)
        if trouble.mounts:
            script = f'set -e; {trouble.mounts.strip()}; shift; exec "$@"'
            words = ["unshare", "-m", "sh", "-c", script, "sh", state, *words]
        if (largest := trouble.largest_file) is not None:
            options["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    ended = subprocess.run(
        words,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=HANG,
        env={**os.environ, "HOME": str(home)},
        **options,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture
def homes(home: Path, project: Path, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """Two homes with the same hooks, one of them healthy."""
    trouble = request.getfixturevalue("trouble") if "trouble" in request.fixturenames else Trouble()
    if trouble.mounts and not can_mount():
        pytest.skip("only root can mount something")
    if trouble.spoil is without_permission and os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    folder_hook(user_hooks(home), "guard", GUARD)
    (home / ".local" / "state" / "tenterhook").mkdir(parents=True)
    shutil.copytree(home, tmp_path / "other")
    return home, tmp_path / "other"


# ---- the command


def triggered(home: Path, trouble: Trouble | None, command: str) -> tuple[int, dict[str, Any], str]:
    given = json.dumps({"command": command})
    words = [
        sys.executable,
        "-m",
        "tenterhook",
        "trigger",
        "pre-tool-call",
        "--tool",
        "Shell",
        "--input",
        given,
        "--json",
    ]
    ended = run([*words, "--session", "s"], home, trouble)
    return ended.status, settled(json.loads(ended.stdout), home), ended.stderr


def settled(verdict: dict[str, Any], home: Path) -> dict[str, Any]:
    """A verdict without what differs from run to run."""
    for each in verdict["runs"]:
        del each["duration_ms"]
        each["source"] = each["source"].replace(str(home), "~")
    return verdict


@each_trouble
@pytest.mark.parametrize("command", ["forbidden", pytest.param("ls", marks=pytest.mark.thorough)])
@pytest.mark.slow
def test_trigger_says_the_same(homes: tuple[Path, Path], trouble: Trouble, command: str) -> None:
    healthy, troubled = homes
    status, verdict, stderr = triggered(healthy, None, command)
    assert (status, verdict["decision"], stderr) == ((2, "deny", "") if command == "forbidden" else (0, "none", ""))
    assert verdict["additional_context"] == ([] if command == "forbidden" else ["mind this"])
    status_then, verdict_then, stderr_then = triggered(troubled, trouble, command)
    assert (status_then, verdict_then) == (status, verdict)
    assert stderr_then.count(SAID) == stderr_then.count("\n") == int(trouble.is_said)


def test_trigger_says_the_same_where_all_of_the_state_is_a_file(homes: tuple[Path, Path]) -> None:
    healthy, troubled = homes
    status, verdict, _ = triggered(healthy, None, "forbidden")
    status_then, verdict_then, stderr = triggered(troubled, Trouble(everything_is_a_file), "forbidden")
    assert (status_then, verdict_then) == (status, verdict)
    assert stderr.count(SAID) == 1


# ---- the library

LIBRARY = textwrap.dedent(
    """
    import json, sys
    from tenterhook import Engine, Event
    verdicts = []
    for _ in range(2):
        engine = Engine.load()
        for command in ("forbidden", "ls", "forbidden"):
            event = Event("pre-tool-call", session_id="s", tool_name="Shell", tool_input={"command": command})
            verdicts.append(engine.decide(event).as_json())
    print(json.dumps(verdicts))
    """
)


@each_trouble
def test_an_engine_decides_the_same_and_says_it_once(homes: tuple[Path, Path], trouble: Trouble) -> None:
    healthy, troubled = homes
    ended = run([sys.executable, "-c", LIBRARY], healthy, None)
    verdicts = [settled(each, healthy) for each in json.loads(ended.stdout)]
    assert [each["decision"] for each in verdicts] == ["deny", "none", "deny"] * 2
    assert (ended.status, ended.stderr) == (0, "")
    then = run([sys.executable, "-c", LIBRARY], troubled, trouble)
    assert [settled(each, troubled) for each in json.loads(then.stdout)] == verdicts
    assert then.status == 0
    assert then.stderr.count(SAID) == then.stderr.count("\n") == int(trouble.is_said)


def _return(answer: Any, _: Event) -> Any:
    return answer


def test_what_a_hook_answers_never_makes_its_recording_raise(home: Path, project: Path) -> None:
    answers: list[Any] = [
        {"modified_input": {"a": [1, {"b": "\ud800"}]}},
        Decision("allow", modified_input={3: (1, 2), None: object()}),  # type: ignore[arg-type, dict-item]
        {"modified_output": {"a": ["\ud800", "x" * 3_000_000]}},
        Decision(modified_output={3: (1, 2), None: object()}),
        {"additional_context": "\ud800\x00", "decision": "ask"},
        Decision("deny", "x" * 3_000_000),  # type: ignore[arg-type]
    ]
    for answer in answers:
        engine = journals.engine(partial(_return, answer))
        assert engine.decide(shell_call("\ud800", session_id="\ud800\n\x1b[31m")).runs[0].failure is None
    assert len(journals.recorded(journals.folder(home))) == len(answers)
    assert journals.is_intact()
    assert len(journals.log_json()) == len(answers)
    ended = tenterhook("log")
    assert ended.returncode == 0
    assert "\x1b" not in ended.stdout


# ---- the bridge


def native(host: str, project: Path, command: str) -> str:
    """A call of the agent's shell tool, in its words."""
    said = {"hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": str(project)}
    return json.dumps({**said, "tool_name": "Bash", "tool_input": {"command": command}})


def bridged(host: str, home: Path, trouble: Trouble | None, said: str, record: Path) -> Ended:
    arguments = ["--host", host, "--event", "PreToolUse", "--record", str(record)]
    return run([sys.executable, "-I", "-S", bridge.__file__, *arguments], home, trouble, said)


def installed(host: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The record of an installation, kept where no trouble with the state reaches it."""
    monkeypatch.setenv("HOME", str(home))
    assert cli.run(["install", host]) == 0
    record = home / f"{host}.json"
    shutil.copy(home / ".local" / "state" / "tenterhook" / "installed" / f"{host}.json", record)
    return record


@each_trouble
@pytest.mark.parametrize("host", HOSTS)
def test_an_agent_is_told_the_same(
    homes: tuple[Path, Path], project: Path, trouble: Trouble, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy, troubled = homes
    records = [installed(host, home, monkeypatch) for home in homes]
    for command in ("forbidden", "ls"):
        said = native(host, project, command)
        for _ in range(2):  # at a session's first event, and later on
            first = bridged(host, healthy, None, said, records[0])
            then = bridged(host, troubled, trouble, said, records[1])
            assert (then.status, then.stdout) == (first.status, first.stdout)
            done, done_then = (
                DOES[host]("PreToolUse", e.stdout, e.stderr, 2 if e.status == 10 else 0) for e in (first, then)
            )
            assert done_then == done  # what it makes of stderr included
            assert (done.block is not None) == (command == "forbidden")


@pytest.mark.parametrize("host", HOSTS)
def test_an_agent_is_told_the_same_where_all_of_the_state_is_a_file(
    homes: tuple[Path, Path], project: Path, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy, troubled = homes
    records = [installed(host, home, monkeypatch) for home in homes]
    said = native(host, project, "forbidden")
    first = bridged(host, healthy, None, said, records[0])
    then = bridged(host, troubled, Trouble(everything_is_a_file), said, records[1])
    assert (then.status, then.stdout) == (first.status, first.stdout)
    done, done_then = (DOES[host]("PreToolUse", e.stdout, e.stderr, 2 if e.status == 10 else 0) for e in (first, then))
    assert done_then == done


# ---- when it is over

RECOVERS = textwrap.dedent(
    """
    import json, os, resource, sys
    from pathlib import Path
    from journal import journals
    from support import shell_call
    from tenterhook.basics import places
    place = Path(places.journal())
    engine = journals.engine()
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    for round in range(3):
        engine.decide(shell_call(session_id=f"good-{round}"))
        size = max((path.stat().st_size for path in place.glob("*.jsonl")), default=0)
        for limit in (size, size + 100):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            engine.decide(shell_call(session_id=f"lost-{round}"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    """
)


def test_once_there_is_room_again_the_journal_goes_on_and_is_intact(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [tests, os.environ.get("PYTHONPATH")])))
    ended = run([sys.executable, "-c", RECOVERS], home, None)
    assert ended.status == 0
    assert ended.stderr.count(SAID) == 1
    assert [each["session_id"] for each in journals.log_json()] == ["good-0", "good-1", "good-2"]
    assert journals.is_intact()


def test_a_disk_that_was_full_from_the_start_leaves_nothing_that_looks_wrong(homes: tuple[Path, Path]) -> None:
    if not can_mount():
        pytest.skip("only root can mount something")
    home, _ = homes
    fire = f"{sys.executable} -m tenterhook trigger pre-tool-call --tool Shell"
    script = f"""
        {fire} 2>/dev/null; {fire} 2>/dev/null
        rm "$STATE/fill"
        {fire} > /dev/null && {fire} > /dev/null
        {sys.executable} -m tenterhook log verify
    """
    state = home / ".local" / "state" / "tenterhook"
    ended = run(["env", f"STATE={state}", "sh", "-c", script], home, TROUBLES["a full disk"])
    assert ended.stdout.endswith("3 records in 1 segment: intact\n"), ended.stdout
    assert ended.status == 0


def test_a_journal_that_is_removed_while_a_process_has_it_open_begins_anew(home: Path, project: Path) -> None:
    engine = journals.engine()
    engine.decide(shell_call())
    shutil.rmtree(journals.folder(home))
    engine.decide(shell_call(session_id="after"))
    assert [record["session_id"] for record in journals.recorded(journals.folder(home))] == ["after"]
    assert journals.is_intact()


def test_what_writing_takes_is_imported_while_hooks_run(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", script=f"until [ -e {project}/written ]; do sleep 0.01; done; exit 2")
    watched = """
        import sys
        from pathlib import Path
        from support import shell_call
        from tenterhook import Engine
        from tenterhook.journal.journal import Journal
        make_ready = Journal.make_ready
        def noted(journal):
            make_ready(journal)
            assert "tenterhook.journal.writer" in sys.modules
            Path("written").touch()  # which ends the hook
        Journal.make_ready = noted
        engine = Engine.load()
        assert "tenterhook.journal.writer" not in sys.modules
        assert engine.decide(shell_call()).denied
    """
    run = [sys.executable, "-c", textwrap.dedent(watched)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    ended = subprocess.run(run, cwd=project, env=environment, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [line["decision"] for line in journals.log_json()] == ["deny"]


def test_without_a_journal_nothing_is_written_and_nothing_said(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    engine = Engine.load(journal=False)
    assert engine.decide(shell_call("forbidden")).denied
    assert not Path(places.journal()).exists()


# ---- for those who read it


@pytest.mark.parametrize(
    "words", [["log"], ["log", "stats"], ["log", "verify"], ["log", "anchor"], ["list"], ["doctor"]]
)
def test_a_reader_says_what_is_wrong_without_a_traceback(home: Path, project: Path, words: list[str]) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    state = home / ".local" / "state" / "tenterhook"
    state.mkdir(parents=True)
    journal_is_a_file(state)
    ended = tenterhook(*words)
    assert "Traceback" not in ended.stderr
    if words[0] == "log":
        assert (ended.returncode, ended.stdout) == (1, "")
        assert str(state / "journal") in ended.stderr


@pytest.mark.parametrize("kind", ["file", "folder in its place", "read-only"])
def test_where_the_index_has_no_place_the_journal_is_read_all_the_same(home: Path, project: Path, kind: str) -> None:
    journals.write(journals.folder(home), *map(journals.record, range(3)))
    cache = home / ".cache" / "tenterhook"
    words: list[str | Path] = [sys.executable, "-m", "tenterhook", "log", "--json"]
    match kind:
        case "file":
            cache.parent.mkdir()
            cache.write_text("in the way")
        case "folder in its place":
            (cache / "journal.db").mkdir(parents=True)
        case "read-only":
            if not can_mount():
                pytest.skip("only root can mount something")
            cache.mkdir(parents=True)
            words = ["unshare", "-m", "sh", "-c", f'{READ_ONLY}; shift; exec "$@"', "sh", cache, *words]
    ended = run(words, home, None)
    assert (ended.status, ended.stderr) == (0, "")
    assert [json.loads(line)["session_id"] for line in ended.stdout.splitlines()] == ["s-0", "s-1", "s-2"]
