"""A hub in the background: there when it is needed, once, and gone when it is no longer wanted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dispatching.test_dispatch import GUARD, HANG, call, install, line, payload
from support import alive, folder_hook, on_a_terminal, tenterhook, until, user_hooks
from tenterhook.basics import places
from tenterhook.dispatching import keeping_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is known by its socket, as Linux tells")


@pytest.fixture(autouse=True)
def ended(home: Path) -> Iterator[None]:
    """No hub outlives a test."""
    yield
    keeping_hub.forget()
    keeping_hub.stop()


def begun(*options: str) -> dict[str, Any]:
    started = tenterhook("hub", "start", "--listen", "127.0.0.1:0", "--json", *options)
    assert started.returncode == 0, started.stderr
    said: dict[str, Any] = json.loads(started.stdout)
    return said


def guarded(home: Path) -> str:
    """A guard that says who runs it, in force in an agent; the agent's line."""
    folder_hook(user_hooks(home), "guard", f'{GUARD}; printf \'{{"additional_context": "by %s."}}\' "$PPID"')
    install("claude-code")
    return line("claude-code", "PreToolUse")


def test_it_answers_events_until_it_is_stopped(home: Path, project: Path) -> None:
    written = guarded(home)
    assert begun()["url"].startswith("http://127.0.0.1:")
    pid = keeping_hub.process_id()
    assert pid is not None
    assert pid != os.getpid()
    until(lambda: f"by {pid}." in call(written, payload("claude-code", project)).stdout)
    assert keeping_hub.forget()  # after an event this process counts as an agent: it may not say `hub stop`
    assert keeping_hub.stop()
    assert not alive(pid)
    assert f"by {pid}." not in call(written, payload("claude-code", project, session_id="s-2")).stdout
    assert keeping_hub.process_id() is None


def test_there_is_one_and_then_there_is_none(home: Path) -> None:
    begun()
    assert "in the background" in tenterhook("hub", "status").stdout
    again = tenterhook("hub", "start")
    assert again.returncode == 1
    assert "runs already: it runs in the background" in again.stderr
    pid = keeping_hub.process_id()
    assert json.loads(tenterhook("hub", "status", "--json").stdout)["running"] == pid
    assert tenterhook("hub", "stop").stdout == "the hub has ended\n"
    assert pid is not None
    assert not alive(pid)
    assert tenterhook("hub", "stop").stdout == "no hub runs\n"
    assert not os.path.exists(keeping_hub.file())


def test_a_hub_that_was_killed_is_there_again_in_the_next_session(home: Path, project: Path) -> None:
    written = guarded(home)
    begun()
    first = keeping_hub.process_id()
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until(lambda: keeping_hub.process_id() is None)
    for session in ("a", "b", "c"):  # each would start one
        said = call(written, payload("claude-code", project, session_id=session))
        assert (said.returncode, "by " in said.stdout) == (0, True)
    until(keeping_hub.process_id)
    second = keeping_hub.process_id()
    until(lambda: f"by {second}." in call(written, payload("claude-code", project, session_id="a")).stdout)
    assert len(hubs()) == 1
    keeping_hub.forget()
    keeping_hub.stop()
    until(lambda: not hubs())


def hubs() -> list[int]:
    """The processes that are, or would like to be, the hub of this home."""
    found = []
    for name in os.listdir("/proc"):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes()
            variables = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"keeping_hub" in words and b"HOME=" + os.environb[b"HOME"] in variables:
            found.append(int(name))
    return found


def test_what_cannot_begin_says_why_and_is_not_tried_again(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        started = tenterhook("hub", "start", "--listen", f"127.0.0.1:{port}")
    assert started.returncode == 1
    assert f"the hub did not begin: cannot listen on 127.0.0.1:{port}: Address already in use" in started.stderr
    assert keeping_hub.wanted() is None


def test_what_somebody_else_could_have_written_starts_nothing(home: Path) -> None:
    keeping_hub.want("127.0.0.1:0", None, None, 90, insecure=False)
    assert keeping_hub.wanted() is not None
    os.chmod(keeping_hub.file(), 0o666)
    assert keeping_hub.wanted() is None
    os.chmod(keeping_hub.file(), 0o600)
    Path(keeping_hub.file()).write_text('{"schema": 1, "listen": ')
    assert keeping_hub.wanted() is None


def test_a_second_hub_does_not_take_the_events_of_the_first(home: Path, project: Path) -> None:
    written = guarded(home)
    port = begun()["listen"].rpartition(":")[2]
    pid = keeping_hub.process_id()
    other = tenterhook("hub", "--listen", f"127.0.0.1:{port}", "--database", str(home / "other.db"), timeout=HANG)
    assert other.returncode == 1
    assert keeping_hub.process_id() == pid
    until(lambda: f"by {pid}." in call(written, payload("claude-code", project)).stdout)


def test_a_second_hub_elsewhere_does_not_either(home: Path, project: Path) -> None:
    written = guarded(home)
    begun()
    pid = keeping_hub.process_id()
    other = [sys.executable, "-m", "tenterhook", "hub", "--listen", "127.0.0.1:0", "--json"]
    with subprocess.Popen([*other, "--database", str(home / "other.db")], stdout=subprocess.PIPE) as second:
        assert second.stdout is not None
        assert second.stdout.readline()
        assert keeping_hub.process_id() == pid
        second.terminate()
    assert keeping_hub.process_id() == pid
    until(lambda: f"by {pid}." in call(written, payload("claude-code", project)).stdout)


def test_one_that_nobody_can_reach_any_more_is_stopped_all_the_same(home: Path) -> None:
    begun()
    pid = keeping_hub.process_id()
    assert pid is not None
    (home / ".local/state/tenterhook/hub.sock").unlink()
    assert tenterhook("hub", "stop").stdout == "the hub has ended\n"
    assert not alive(pid)


def test_it_does_not_begin_if_it_is_stopped_before(home: Path) -> None:
    started = keeping_hub.start(keeping_hub.want("127.0.0.1:0", None, None, 90, insecure=False))
    keeping_hub.forget()
    assert started.wait(HANG) == 0
    assert keeping_hub.process_id() is None


def test_hooks_that_run_end_with_it(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "slow", 'echo $$ > "$TENTERHOOK_WORK_DIR/pid"; exec sleep 60')
    install("claude-code")
    begun()
    with subprocess.Popen(["sh", "-c", line("claude-code", "PreToolUse")], stdin=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        agent.stdin.write(json.dumps(payload("claude-code", project)).encode())
        agent.stdin.close()
        until(lambda: (project / "pid").exists() and (project / "pid").read_text())
        hook = int((project / "pid").read_text())
        keeping_hub.forget()
        keeping_hub.stop()
        until(lambda: not alive(hook))
        until(lambda: (project / "pid").read_text() not in ("", f"{hook}\n"))  # the line has gone on alone
        os.kill(int((project / "pid").read_text()), signal.SIGKILL)


def test_its_database_is_where_the_person_says(home: Path, project: Path) -> None:
    begun("--database", "own.db")
    assert (project / "own.db").exists()


def test_after_an_upgrade_a_new_one_takes_its_place(home: Path, tmp_path: Path) -> None:
    package = tmp_path / "lib" / "tenterhook"
    shutil.copytree(places.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    variables = {**os.environ, "PYTHONPATH": str(package.parent)}

    def run(code: str) -> str:
        code = f"from tenterhook.dispatching import keeping_hub, starting; {code}"
        done = subprocess.run([sys.executable, "-P", "-c", code], env=variables, capture_output=True, text=True)
        assert not done.stderr, done.stderr
        return done.stdout.strip()

    assert Path(run("print(starting.__file__)")).is_relative_to(package)
    run("keeping_hub.start(keeping_hub.want('127.0.0.1:0', None, None, 90, insecure=False))")
    until(keeping_hub.process_id)
    first = keeping_hub.process_id()
    run("keeping_hub.see_to_it()")
    assert keeping_hub.process_id() == first
    os.utime(package / "dispatching" / "starting.py", (1, 1))
    run("keeping_hub.see_to_it()")
    until(lambda: keeping_hub.process_id() not in (None, first))


def test_no_agent_starts_or_stops_one(home: Path, project: Path) -> None:
    written = guarded(home)
    begun()
    tried = f"{sys.executable} -m tenterhook hub stop; {sys.executable} -m tenterhook hub start"
    agent = f"import subprocess; subprocess.run(['sh', '-c', {written!r}], stdin=open('event')); "
    agent += f"print(subprocess.run(['sh', '-c', {tried!r}], capture_output=True, text=True).stderr)"
    (project / "event").write_text(json.dumps(payload("claude-code", project)))
    said = subprocess.run([sys.executable, "-c", agent], cwd=project, capture_output=True, text=True, timeout=HANG)
    assert said.stdout.count("was called from an agent that Tenterhook guards") == 2
    assert keeping_hub.process_id() is not None


# ---- without pages


def without_pages() -> int:
    started = tenterhook("hub", "start", "--no-pages", "--json")
    assert started.returncode == 0, started.stderr
    assert json.loads(started.stdout)["url"] is None
    pid = keeping_hub.process_id()
    assert pid is not None
    return pid


def test_one_without_pages_answers_events_and_listens_on_no_network(home: Path, project: Path) -> None:
    written = guarded(home)
    pid = without_pages()
    until(lambda: f"by {pid}." in call(written, payload("claude-code", project)).stdout)
    sockets = {os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir() if "socket" in os.readlink(each)}
    network = [Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:] for kind in ("tcp", "tcp6")]
    assert not sockets & {f"socket:[{line.split()[9]}]" for lines in network for line in lines}
    assert "without pages" in tenterhook("hub", "status").stdout


def test_one_with_pages_takes_its_place_and_no_other_does(home: Path) -> None:
    first = without_pages()
    again = tenterhook("hub", "start", "--no-pages")
    assert again.returncode == 1
    assert "runs already" in again.stderr
    assert begun()["url"].startswith("http://")
    assert not alive(first)
    assert "without pages" not in tenterhook("hub", "status").stdout


def test_one_without_pages_that_was_killed_is_there_again_in_the_next_session(home: Path, project: Path) -> None:
    written = guarded(home)
    os.kill(without_pages(), signal.SIGKILL)
    until(lambda: keeping_hub.process_id() is None)
    assert "by " in call(written, payload("claude-code", project, session_id="next")).stdout
    second = until(keeping_hub.process_id)
    until(lambda: f"by {second}." in call(written, payload("claude-code", project)).stdout)


@pytest.mark.parametrize("option", [("--listen", "127.0.0.1:0"), ("--database", "x.db"), ("--insecure",)])
def test_what_pages_need_is_refused_without_them(home: Path, option: tuple[str, ...]) -> None:
    refused = tenterhook("hub", "start", "--no-pages", *option)
    assert refused.returncode == 64
    assert option[0] in refused.stderr
    assert keeping_hub.wanted() is None


def test_install_brings_one_and_the_last_uninstall_ends_it(home: Path) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    installed = tenterhook("install", "claude-code", "codex", "--hub")
    assert installed.returncode == 0, installed.stderr
    assert "in the background; end it with: tenterhook hub stop" in installed.stdout
    pid = keeping_hub.process_id()
    assert pid is not None
    assert tenterhook("install", "claude-code", "--hub").returncode == 0  # it is there already
    assert keeping_hub.process_id() == pid
    assert "any more: no agent" not in tenterhook("uninstall", "codex", "--yes").stdout
    assert keeping_hub.process_id() == pid
    assert "no hub runs in the background any more" in tenterhook("uninstall", "claude-code", "--yes").stdout
    assert not alive(pid)
    assert keeping_hub.wanted() is None


def test_uninstall_leaves_one_with_pages_alone(home: Path) -> None:
    tenterhook("install", "claude-code")
    begun()
    pid = keeping_hub.process_id()
    tenterhook("uninstall", "claude-code", "--yes")
    assert keeping_hub.process_id() == pid


def test_install_in_a_script_tells_of_it_and_starts_none(home: Path) -> None:
    assert "hub start --no-pages" in tenterhook("install", "claude-code").stdout.splitlines()[-1]
    assert "no hub runs" not in tenterhook("install", "codex", "--no-hub").stdout
    assert keeping_hub.wanted() is None


@pytest.mark.parametrize(("answer", "runs"), [(b"\n", True), (b"n\n", False)])
def test_install_on_a_terminal_asks(home: Path, answer: bytes, runs: bool) -> None:
    status, _ = on_a_terminal(["install", "claude-code"], {b"keep one running?": answer})
    assert status == 0
    assert (keeping_hub.process_id() is not None) is runs


def by_hand(home: Path) -> subprocess.Popen[bytes]:
    """A hub with pages that a person runs in a terminal."""
    line = [sys.executable, "-m", "tenterhook", "hub", "--listen", "127.0.0.1:0", "--json"]
    running = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: keeping_hub.process_id() == running.pid)
    return running


def test_one_that_was_started_by_hand_in_its_place_is_left_alone(home: Path) -> None:
    install("claude-code")
    os.kill(without_pages(), signal.SIGKILL)
    until(lambda: keeping_hub.process_id() is None)
    running = by_hand(home)
    try:
        refused = tenterhook("hub", "start", "--listen", "127.0.0.1:0")
        assert refused.returncode == 1
        assert "runs already" in refused.stderr
        assert tenterhook("uninstall", "claude-code", "--yes").returncode == 0
        assert keeping_hub.wanted() is None
        assert running.poll() is None
    finally:
        running.terminate()
        running.wait(HANG)


def test_one_without_pages_comes_back_if_the_one_with_them_cannot_begin(home: Path) -> None:
    without_pages()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        failed = tenterhook("hub", "start", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert failed.returncode == 1
    until(keeping_hub.process_id)
    assert "without pages" in tenterhook("hub", "status").stdout


def test_one_that_cannot_listen_says_so_and_ends(home: Path) -> None:
    os.makedirs(f"{places.state()}/hub.sock")
    failed = tenterhook("install", "claude-code", "--hub")
    assert failed.returncode == 1
    assert "Claude Code: guarded" in failed.stdout  # what was done is shown
    assert "events cannot be answered" in failed.stderr
    assert keeping_hub.wanted() is None
    said = json.loads(tenterhook("install", "claude-code", "--hub", "--json").stdout)
    assert "events cannot be answered" in said["hub"]["why_not"]


def test_install_starts_the_one_again_that_was_to_run(home: Path) -> None:
    begun()
    first = keeping_hub.process_id()
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until(lambda: keeping_hub.process_id() is None)
    said = json.loads(tenterhook("install", "claude-code", "--hub", "--json").stdout)
    assert said["hub"] == {"running": keeping_hub.process_id(), "why_not": None}
    assert "without pages" not in tenterhook("hub", "status").stdout
