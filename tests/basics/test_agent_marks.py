"""Who is marked as a guarded agent, and who is refused because of it: by processes, not by variables."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from install.installations import install, wired
from support import below_agent, folder_hook, tenterhook, user_hooks
from tenterhook.basics import agent_marks, places, processes

PROGRAM = f"{sys.executable} -m tenterhook"
UNINSTALL = f"{PROGRAM} uninstall claude-code --yes"
GUARDED = "was called from an agent that Tenterhook guards"
IS_ROOT = os.getuid() == 0


@pytest.fixture
def line(home: Path, project: Path) -> str:
    """What `install` wrote into the settings of Claude Code."""
    folder_hook(user_hooks(home), "guard", "exit 2")
    install("claude-code")
    return wired(home, "claude-code")["SessionStart"]


def is_permitted(*command: str) -> bool:
    """Whether a command can start a program here: namespaces are not permitted everywhere."""
    return bool(shutil.which(command[0])) and subprocess.run([*command, "true"], capture_output=True).returncode == 0


def settings(home: Path) -> str:
    return (home / ".claude/settings.json").read_text()


@pytest.mark.promise("a model that tries")
def test_no_variable_hides_that_an_agent_is_guarded(home: Path, tmp_path: Path, line: str) -> None:
    """Below a guarded agent nothing is uninstalled or trusted, whatever HOME, XDG_* and other variables say."""
    other = tmp_path / "other"
    (other / ".local/state").mkdir(parents=True)
    shutil.copytree(home / ".local/state/tenterhook", other / ".local/state/tenterhook")
    before = settings(home)
    moved = " ".join(f"XDG_{name}_HOME={other}" for name in ("STATE", "CONFIG", "CACHE"))
    ways = [
        UNINSTALL,
        f"env -i {UNINSTALL}",
        f"env -i HOME={home} {UNINSTALL}",
        f"HOME={other} {UNINSTALL}",
        f"{moved} XDG_RUNTIME_DIR={other} TMPDIR={other} {UNINSTALL}",
        f"XDG_STATE_HOME={other}/.local/state {PROGRAM} trust --all --yes",
        f"setsid {UNINSTALL}",
        f"sh -c '{UNINSTALL}; exit $?'",
    ]
    for way, ended in zip(ways, below_agent(line, *ways), strict=True):
        assert (ended.returncode, GUARDED in ended.stderr) == (1, True), (way, ended)
    assert settings(home) == before


# Its first thread ends, so that the system shows it as ended, while another one goes on.
_WITHOUT_FIRST_THREAD = """
import ctypes, os, subprocess, sys, threading, time
def work():
    while " Z " not in open(f"/proc/{os.getpid()}/stat").read():
        time.sleep(0.01)
    os._exit(subprocess.run(sys.argv[1:]).returncode)
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall({"x86_64": 60}.get(os.uname().machine, 93), 0)
"""


@pytest.mark.promise("a model that tries")
@pytest.mark.skipif(sys.platform != "linux", reason="as Linux shows processes")
def test_an_ancestor_that_is_shown_as_ended_hides_no_agent(home: Path, tmp_path: Path, line: str) -> None:
    """Below a guarded agent nothing is uninstalled, also by way of a process that is shown as ended."""
    before = settings(home)
    script = tmp_path / "between.py"
    script.write_text(_WITHOUT_FIRST_THREAD)
    (ended,) = below_agent(line, f"{sys.executable} {script} {UNINSTALL}")
    assert (ended.returncode, GUARDED in ended.stderr) == (1, True), ended
    assert settings(home) == before


_NAMESPACES = {
    "unshare -rpf --mount-proc": False,
    "unshare -rpf": False,
    "unshare -r": False,
    "unshare -U": False,
    "unshare -rm": False,
    "unshare -rT --boottime 100000": False,
    "unshare -pf --mount-proc": True,
    "unshare -pf": True,
    "unshare -T --boottime 100000": True,
}


@pytest.mark.promise("a model that tries")
@pytest.mark.skipif(not IS_ROOT, reason="only root mounts, without a namespace of accounts")
def test_nothing_that_is_mounted_hides_the_marks(home: Path, line: str) -> None:
    """Below a guarded agent nothing is uninstalled from within another namespace of files that hides the marks."""
    if not is_permitted("unshare", "-m"):
        pytest.skip("unshare -m is not permitted here")
    before = settings(home)
    hide = f"mkdir -p {places.marks()} && mount -t tmpfs -o mode=700 none {places.marks()}"
    (ended,) = below_agent(line, f"unshare -m sh -c '{hide} && {UNINSTALL}'")
    assert (ended.returncode, GUARDED in ended.stderr) == (1, True), ended
    assert settings(home) == before


@pytest.mark.skipif(not IS_ROOT, reason="only root mounts, without a namespace of accounts")
def test_a_process_above_that_is_hidden_by_a_mount_is_refused(home: Path, tmp_path: Path, line: str) -> None:
    if not is_permitted("unshare", "-m"):
        pytest.skip("unshare -m is not permitted here")
    before = settings(home)
    (tmp_path / "empty").mkdir()
    script = tmp_path / "hide.sh"
    script.write_text(f"mount --bind {tmp_path}/empty /proc/$AGENT && {UNINSTALL}\n")
    (ended,) = below_agent(line, f"AGENT=$PPID unshare -m sh {script}")
    assert (ended.returncode, "is hidden" in ended.stderr) == (1, True), ended
    assert settings(home) == before


_MAPPED = """
import ctypes, os, subprocess, sys
ready, go = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    ctypes.CDLL(None).unshare(0x10020000)  # CLONE_NEWUSER, CLONE_NEWNS
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    sys.exit(subprocess.run(sys.argv[1:]).returncode)
os.read(ready[0], 1)
for kind in ("uid", "gid"):
    with open(f"/proc/{child}/{kind}_map", "w") as file:
        file.write(f"0 {os.getuid()} 1\\n1 100000 65536\\n")
os.write(go[1], b"x")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.promise("a model that tries")
@pytest.mark.skipif(not IS_ROOT, reason="only root gives a namespace more than one account")
def test_a_namespace_with_many_accounts_hides_no_agent(home: Path, tmp_path: Path, line: str) -> None:
    """Below a guarded agent nothing is uninstalled from within a namespace with many accounts (`podman unshare`)."""
    if not is_permitted("unshare", "-U"):
        pytest.skip("unshare -U is not permitted here")
    before = settings(home)
    script = tmp_path / "mapped.py"
    script.write_text(_MAPPED)
    hide = f"mount -t tmpfs -o mode=700 none {places.marks()}"
    (ended,) = below_agent(line, f"{sys.executable} {script} sh -c '{hide} && {UNINSTALL}'")
    assert ended.returncode == 1, ended
    assert "tenterhook uninstall" in ended.stderr
    assert settings(home) == before


@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize("namespace", _NAMESPACES)
def test_no_namespace_hides_that_an_agent_is_guarded(home: Path, line: str, namespace: str) -> None:
    """Below a guarded agent nothing is uninstalled from within another namespace of processes, accounts or times."""
    if _NAMESPACES[namespace] and not IS_ROOT:
        pytest.skip("only root makes such a namespace")
    if not is_permitted(*namespace.split()):
        pytest.skip(f"{namespace} is not permitted here")
    before = settings(home)
    (ended,) = below_agent(line, f"{namespace} {UNINSTALL}")
    assert ended.returncode == 1, ended
    assert "tenterhook uninstall" in ended.stderr
    assert settings(home) == before


@pytest.mark.promise("a model that tries")
def test_what_an_agent_leaves_behind_is_refused(home: Path, tmp_path: Path, line: str) -> None:
    """While a guarded agent runs, a process that it detached, and that has no parent any more, uninstalls nothing."""
    if any(line.rstrip().endswith(".service") for line in Path("/proc/self/cgroup").read_text().splitlines()):
        pytest.skip("a service is above")
    before, said = settings(home), tmp_path / "said"
    left = (
        f"setsid -f sh -c 'sleep 0.3; cat /proc/$$/stat > {said}.stat; {UNINSTALL} > {said} 2>&1; touch {said}.ended'"
    )
    below_agent(line, left, f"while ! test -e {said}.ended; do sleep 0.1; done")
    if Path(f"{said}.stat").read_text().rpartition(")")[2].split()[1] != "1":
        pytest.skip("another process than init adopts what is left behind")
    assert "was started by a process that has ended" in said.read_text()
    assert settings(home) == before


def test_scripts_elsewhere_are_not_refused(home: Path, line: str) -> None:
    below_agent(line)
    assert tenterhook("uninstall", "claude-code", "--yes").returncode == 0
    install("claude-code")
    started = subprocess.run(["setsid", "-w", *UNINSTALL.split()], capture_output=True, text=True)
    assert started.returncode == 0, started.stderr


def test_an_agent_in_a_container_does_not_keep_the_person_outside_from_anything(home: Path, line: str) -> None:
    container = ("unshare", "-pf", "--mount-proc")
    if not IS_ROOT or not is_permitted(*container) or os.readlink("/proc/self/ns/pid") != agent_marks._INITIAL:
        pytest.skip("only root in the initial PID namespace can play both sides")
    (ended,) = below_agent(line, UNINSTALL, start=container)
    assert GUARDED in ended.stderr
    assert tenterhook("uninstall", "claude-code", "--yes").returncode == 0


def test_an_agent_that_is_all_that_a_container_runs_is_marked(home: Path, line: str) -> None:
    container = ("unshare", "-pf", "--mount-proc", "--kill-child")
    if not IS_ROOT or not is_permitted(*container):
        pytest.skip("only root makes such a namespace")
    (pid, ended) = below_agent(line, "cut -d' ' -f4 /proc/$$/stat", UNINSTALL, start=container)
    assert pid.stdout == "1\n"
    assert f"{GUARDED} (process 1)" in ended.stderr


def test_root_below_an_agent_of_another_account_is_refused(home: Path, line: str) -> None:
    if not IS_ROOT:
        pytest.skip("only root becomes another account")
    ended = subprocess.run([sys.executable, "-c", _BELOW_ANOTHER, UNINSTALL], capture_output=True, text=True)
    assert GUARDED in ended.stdout, ended
    assert '"command"' in settings(home)


_BELOW_ANOTHER = """
import os, shutil, subprocess, sys
from tenterhook.basics import agent_marks, places, processes
assert agent_marks.refusal() is None  # all that it takes is imported; the other account may not read it
ready, go = os.pipe()
if os.fork():
    os.close(ready)
    os.setuid(54321)
    agent_marks.mark(processes.this())
    os.write(go, b"x")
    os.wait()
    shutil.rmtree(places.marks())
else:
    os.close(go)
    assert os.read(ready, 1) and os.getuid() == 0
    sys.stdout.write(subprocess.run(sys.argv[1].split(), stderr=subprocess.PIPE, text=True).stderr)
"""


@pytest.mark.parametrize("shell", ["sh", "bash", "nu"])
def test_the_line_run_by_hand_does_not_mark_the_shell_of_a_terminal(
    home: Path, tmp_path: Path, line: str, shell: str
) -> None:
    program = shutil.which("sh" if shell == "nu" else shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    own = tmp_path / shell  # the system knows a program by its file's name
    shutil.copy(os.path.realpath(program), own)
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "cwd": str(tmp_path)}))
    by_hand = f"{line} < {payload}; {UNINSTALL}; echo ended $?"
    seen = pexpect.spawn(str(own), ["-c", by_hand], timeout=60, encoding="utf-8").read()
    assert "ended 0" in seen, seen


@pytest.mark.promise("a model that tries")
def test_marks_that_an_agent_removed_are_made_again_by_its_next_event(home: Path, line: str) -> None:
    """An agent whose mark was removed is marked again by its next event."""
    remove = f"rm {places.marks()}/$(cut -d' ' -f4 /proc/$$/stat).*"
    removed, _, ended = below_agent(line, remove, "EVENT", UNINSTALL)
    assert removed.returncode == 0, removed
    assert GUARDED in ended.stderr


def test_below_an_agent_the_places_are_those_of_its_record_and_elsewhere_what_variables_say(
    home: Path, tmp_path: Path, line: str
) -> None:
    other = tmp_path / "other"
    folder_hook(user_hooks(other), "elsewhere", "exit 0")
    listed = f"env -i HOME={other} XDG_CONFIG_HOME={other}/.config {PROGRAM} list --json"
    (ended,) = below_agent(line, listed)
    assert [hook["name"] for hook in json.loads(ended.stdout)["hooks"]] == ["guard"]
    ended = subprocess.run(listed.split(), capture_output=True, text=True)
    assert [hook["name"] for hook in json.loads(ended.stdout)["hooks"]] == ["elsewhere"]


def test_below_an_agent_no_variable_moves_the_store_of_packs(home: Path, tmp_path: Path, line: str) -> None:
    shown = "from tenterhook.basics import agent_marks, places; agent_marks.stay_with_agent(); print(places.data())"
    (ended,) = below_agent(line, f"XDG_DATA_HOME={tmp_path}/other {sys.executable} -c '{shown}'")
    assert ended.stdout.strip() == f"{home}/.local/share/tenterhook"


# ------------------------------------------------------------------ the directory of the marks


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another directory for the marks, in this process alone: no variable moves it."""
    directory = tmp_path / "marks"
    monkeypatch.setattr(places, "marks", lambda: str(directory))
    return directory


def test_the_directory_and_the_marks_are_private(marks: Path) -> None:
    agent_marks.mark(processes.this())
    assert marks.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in marks.iterdir()} == {0o600}


@pytest.mark.promise("another account")
@pytest.mark.parametrize("made", ["open to others", "a link", "a file"])
def test_a_directory_that_another_account_could_have_made_is_not_believed(
    marks: Path, tmp_path: Path, made: str
) -> None:
    """Where another account could have made or changed the marks of guarded agents, protection is not weakened."""
    if made == "a link":
        (tmp_path / "real").mkdir(mode=0o700)
        marks.symlink_to(tmp_path / "real")
    elif made == "a file":
        marks.touch()
    else:
        marks.mkdir()
        marks.chmod(0o755)
    refusal = agent_marks.refusal()
    assert refusal is not None
    assert (
        f"cannot tell whether an agent called it: another account could have made or changed it: {marks}" in refusal.why
    )


def test_marks_of_another_account_are_not_believed(marks: Path) -> None:
    if not IS_ROOT:
        pytest.skip("only root gives a directory away")
    marks.mkdir(mode=0o700)
    os.chown(marks, 54321, 54321)
    assert "cannot tell" in str(agent_marks.refusal())
    with pytest.raises(agent_marks.Unsafe):
        agent_marks.mark(processes.this())


def test_marks_from_before_a_container_was_started_again_are_forgotten(
    marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file system is the same, its PID namespace is not, and no agent of then runs any more."""
    agent_marks.mark("7.77")
    (mark,) = (path for path in marks.iterdir() if path.name == "7.77")
    monkeypatch.setattr(agent_marks, "_INITIAL", "of the machine around us")
    monkeypatch.setattr(agent_marks, "_is_on_root", lambda directory: directory == str(marks))
    found = json.loads(mark.read_text())
    mark.write_text(json.dumps({**found, "namespace": "pid:[1]"}))
    assert "another PID namespace" in str(agent_marks.refusal())  # as what `unshare -p` made would
    mark.write_text(json.dumps({**found, "namespace": "pid:[1]", "start": "then"}))
    assert agent_marks.refusal() is None
    agent_marks.mark("8.88")
    assert not mark.exists()


def test_a_process_with_the_number_of_an_agent_that_ended_is_not_that_agent(marks: Path) -> None:
    agent_marks.mark(f"{os.getpid()}.1")
    assert agent_marks.refusal() is None
