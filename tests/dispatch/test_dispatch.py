"""What an agent runs for each event: hooks really run, blocks really block, and nothing else ever comes out."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hosts.test_answers import DOES, NotUnderstood
from support import (
    alive,
    array_hook,
    folder_hook,
    lose_tenterhook,
    project_hooks,
    tenterhook,
    until,
    user_hooks,
    write_config,
)
from tenterhook import bridge, cli
from tenterhook.agents import AGENTS
from tenterhook.install import entries

if TYPE_CHECKING:
    from collections.abc import Iterator

HANG = 30  # seconds: an answer that takes this long is none
BRIDGE = bridge.__file__
BEFORE_TOOL = {**dict.fromkeys(AGENTS, "PreToolUse"), "gemini": "BeforeTool", "copilot": "preToolUse"}
STOP = {**dict.fromkeys(AGENTS, "Stop"), "gemini": "AfterAgent", "copilot": "agentStop"}
SHELL = {**dict.fromkeys(AGENTS, "Bash"), "kimi-cli": "Shell", "gemini": "run_shell_command", "copilot": "bash"}
SHELL["droid"] = "Execute"
SHELL |= {"qwen": "run_shell_command"}
GUARD = 'if grep -q forbidden; then echo "not this" >&2; exit 2; fi'

each_host = pytest.mark.parametrize("host", AGENTS)

SERVE = """
import signal
from tenterhook.dispatch import daemon_server

class Counting(daemon_server.Server):
    def _answer(self, *given):
        answer = super()._answer(*given)
        if answer is not None:
            with open(self.path + ".answered", "a") as file:
                file.write("x")
        return answer

Counting().start()
print("on", flush=True)
signal.pause()
"""


@contextmanager
def serving(**options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that answers events, of this HOME."""
    with subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True, **options) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "on\n"
            yield server
        finally:
            server.send_signal(signal.SIGCONT)
            server.kill()


def answered(home: Path) -> int:
    """How many events the daemon has answered; a bridge that waits for it in vain goes on alone."""
    told = home / ".local" / "state" / "tenterhook" / "daemon.sock.answered"
    return told.stat().st_size if told.exists() else 0


@pytest.fixture(autouse=True, params=["alone", pytest.param("daemon", marks=pytest.mark.slow)])
def answering(request: pytest.FixtureRequest, home: Path) -> Iterator[str]:
    """Everything here holds with the daemon, too."""
    if request.param == "alone":
        yield "alone"
        return
    with serving():
        yield "daemon"


def payload(host: str, cwd: Path, command: str = "ls", **more: Any) -> dict[str, Any]:
    """A call of the agent's shell tool, in the agent's words."""
    if host == "copilot":
        said: dict[str, Any] = {
            "sessionId": "s-1",
            "cwd": str(cwd),
            "toolName": "bash",
            "toolArgs": {"command": command},
        }
    else:
        said = {"hook_event_name": BEFORE_TOOL[host], "session_id": "s-1", "cwd": str(cwd)}
        said |= {"tool_name": SHELL[host], "tool_input": {"command": command}}
    return {**said, **more}


def install(*names: str, config: Path | None = None, closed: bool = False) -> None:
    options = [*(["--config", str(config)] if config else []), *(["--closed"] if closed else [])]
    assert cli.run(["install", *names, *options]) == 0


def record(host: str) -> Path:
    return Path(os.environ["HOME"], ".local", "state", "tenterhook", "installed", f"{host}.json")


def line(host: str, native: str) -> str:
    """The command that `install` wrote for an event."""
    found = entries.found(AGENTS[host], Path(AGENTS[host].settings()).read_bytes())
    return entries.command_of(found[native][0])


def call(command: str, said: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a line as an agent would."""
    options.setdefault("timeout", HANG)
    given_ = said if isinstance(said, str) else json.dumps(said)
    return subprocess.run(["sh", "-c", command], input=given_, capture_output=True, text=True, **options)


def does(host: str, native: str, ended: subprocess.CompletedProcess[str]) -> Any:
    return DOES[host](native, ended.stdout, ended.stderr, ended.returncode)


def reason(host: str, said: dict[str, Any], native: str | None = None, **options: Any) -> str | None:
    """Why the agent would not go on after an event, through the installed line."""
    native = native or BEFORE_TOOL[host]
    block: str | None = does(host, native, call(line(host, native), said, **options)).block
    return block


def bridged(host: str, native: str, said: bytes, *, file: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run the bridge itself, as the line does."""
    arguments = ["--host", host, "--event", native, "--record", str(file or record(host))]
    command = [sys.executable, "-I", "-S", BRIDGE, *arguments]
    return subprocess.run(command, input=said, capture_output=True, timeout=HANG)


# ---- hooks run, and block


@each_host
def test_a_guard_blocks_through_the_line_that_install_writes(host: str, home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    install(host)
    for _ in range(2):  # from the definitions, then from the index
        assert "not this" in (reason(host, payload(host, project, "forbidden")) or "")
        harmless = call(line(host, BEFORE_TOOL[host]), payload(host, project, "ls"))
        assert (harmless.returncode, harmless.stdout, harmless.stderr) == (0, "", "")


def test_no_hook_is_reached_by_what_its_matcher_does_not_find(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", matcher={"tool": "Shell", "pattern": "forbidden"})
    install("claude-code")
    for _ in range(3):
        assert reason("claude-code", payload("claude-code", project, "ls")) is None
        assert reason("claude-code", payload("claude-code", project, "forbidden")) is not None


@pytest.mark.parametrize("tool", ["WriteFile", "Write", "Edit"])
def test_a_guard_of_written_files_is_reached_by_a_patch(home: Path, project: Path, tool: str) -> None:
    """Also once the index answers."""
    folder_hook(user_hooks(home), "guard", "exit 2", matcher={"tool": f"^{tool}$"})
    install("codex")
    patch = {"command": "*** Begin Patch\n*** Add File: Makefile\n+x\n*** End Patch"}
    said = payload("codex", project, tool_name="apply_patch", tool_input=patch)
    assert [reason("codex", said) is not None for _ in range(3)] == [True, True, True]


def test_a_guard_of_one_file_is_reached_by_a_patch_of_it(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", matcher={"pattern": "^Makefile$"})
    install("codex")
    patch = {"command": "*** Begin Patch\n*** Add File: Makefile\n+x\n*** End Patch"}
    said = payload("codex", project, tool_name="apply_patch", tool_input=patch)
    assert [reason("codex", said) is not None for _ in range(3)] == [True, True, True]


def test_a_permission_guard_is_reached_by_copilots_question(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", trigger="permission-request", matcher={"pattern": "forbidden"})
    install("copilot")
    said = {"hookName": "permissionRequest", "sessionId": "s-1", "cwd": str(project), "toolName": "bash"}
    said["toolInput"] = {"command": "forbidden"}  # type: ignore[assignment]
    assert [reason("copilot", said, "permissionRequest") is not None for _ in range(3)] == [True, True, True]


def test_a_guard_is_reached_by_arguments_that_come_as_text(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", matcher={"pattern": "^forbidden$"})
    install("copilot")
    said = payload("copilot", project, toolArgs=json.dumps({"command": "forbidden"}))
    assert [reason("copilot", said) is not None for _ in range(3)] == [True, True, True]


def test_an_observer_of_a_subagents_stop_is_reached_while_no_hook_is_on_stops(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "seen", 'echo >> "$TENTERHOOK_WORK_DIR/seen"', trigger="agent-event")
    stop = folder_hook(user_hooks(home), "stop", trigger="pre-agent-turn-stop")
    install("copilot")
    shutil.rmtree(stop)
    said = {"sessionId": "s-1", "cwd": str(project), "stopReason": "end_turn", "agentId": "a"}
    for count in (1, 2, 3):
        assert call(line("copilot", "agentStop"), said).returncode == 0
        assert len((project / "seen").read_text().splitlines()) == count


@each_host
def test_a_modified_input_a_context_and_a_question_reach_the_agent(host: str, home: Path, project: Path) -> None:
    answer = {"modified_input": {"command": "safe"}, "additional_context": "mind this"}
    folder_hook(user_hooks(home), "rewrite", f"echo '{json.dumps(answer)}'")
    install(host)
    done = does(host, BEFORE_TOOL[host], call(line(host, BEFORE_TOOL[host]), payload(host, project)))
    if host in ("claude-code", "codex", "gemini", "copilot", "droid"):
        assert done.input == {"command": "safe"}
        assert done.block is None
    else:
        assert "safe" in done.block
    assert not done.approve


# ---- whatever comes in


def values() -> st.SearchStrategy[Any]:
    text = st.text(max_size=8)  # lone surrogates too
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | text
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3), max_leaves=5
    )


KEYS = [
    "session_id",
    "sessionId",
    "cwd",
    "tool_name",
    "toolName",
    "tool_input",
    "toolArgs",
    "hook_event_name",
    "prompt",
]
objects = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), values(), max_size=7)
any_bytes = (
    st.binary(max_size=60)
    | objects.map(lambda value: json.dumps(value).encode())
    | objects.map(lambda value: json.dumps({"cwd": "/", "session_id": "s", **value}).encode())
    | st.sampled_from([b"", b"{}", b"[]", b"null", b'{"a":', b"\xff\xfe", b"[" * 5000, b"{" * 5000, b'{"a":' * 3000])
    | st.sampled_from(
        [b'{"cwd": "\\u0000", "session_id": "\\ud800"}', b"1" * 5000, b'{"tool_input": ' + b"9" * 4000 + b"}"]
    )
    | objects.map(lambda value: json.dumps(value).encode()[:-1])
)
any_event = st.sampled_from(["PreToolUse", "BeforeTool", "preToolUse", "Stop", "agentStop", "SessionStart"]) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=10
)


@pytest.fixture
def everywhere(home: Path, project: Path) -> Path:
    """Every agent guarded: some hooks say something, some nothing."""
    folder_hook(user_hooks(home), "guard", GUARD)
    folder_hook(user_hooks(home), "told", 'echo \'{"additional_context": "ctx"}\'', trigger="pre-session")
    folder_hook(user_hooks(home), "stop", "exit 2", trigger="pre-agent-turn-stop")
    install(*AGENTS)
    return project


def assert_valid(
    host: str, native: str, ended: subprocess.CompletedProcess[bytes], block: int, failed: set[int]
) -> None:
    stdout, stderr = ended.stdout.decode(), ended.stderr.decode()
    assert ended.returncode in {0, block, *failed}, stderr
    assert "Traceback" not in stderr
    if ended.returncode in failed:
        assert "tenterhook" in stderr.lower()
    if ended.returncode != 0 or host.startswith("kimi"):
        assert stdout in ("", "ctx")
    try:
        DOES[host](native, stdout, stderr, 2 if ended.returncode == block else 0)
    except NotUnderstood as error:
        pytest.fail(f"{host} {native} {stdout!r}: {error}")


@settings(
    max_examples=70,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(host=st.sampled_from(list(AGENTS)), native=any_event, said=any_bytes)
def test_any_bytes_get_a_valid_answer(everywhere: Path, host: str, native: str, said: bytes) -> None:
    assert_valid(host, native, bridged(host, native, said), 10, {70})


@settings(
    max_examples=21,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(host=st.sampled_from(list(AGENTS)), event=st.sampled_from([BEFORE_TOOL, STOP]), said=any_bytes)
def test_any_bytes_get_a_valid_answer_through_the_line(
    everywhere: Path, host: str, event: dict[str, str], said: bytes
) -> None:
    command = line(host, event[host])
    ended = subprocess.run(["sh", "-c", command], input=said, capture_output=True, timeout=HANG)
    assert_valid(host, event[host], ended, 2, {AGENTS[host].open_status} - {0})


@pytest.mark.parametrize("arguments", [[], ["--host"], ["--what", "x"], ["--help"]])
def test_a_usage_error_is_never_a_block(project: Path, arguments: list[str]) -> None:
    ended = tenterhook("dispatch", *arguments, input="{}")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "usage: tenterhook dispatch" in ended.stderr
    direct = subprocess.run([sys.executable, "-I", "-S", BRIDGE, *arguments], input=b"", capture_output=True)
    assert direct.returncode == 70


def test_by_hand_it_answers_from_the_accounts_own_record_whatever_the_environment_says(everywhere: Path) -> None:
    ended = tenterhook("dispatch", "--host", "no-such-agent", input="{}")
    assert ended.returncode == 1
    assert f"{pwd.getpwuid(os.getuid()).pw_dir}/.local/state/tenterhook/installed/no-such-agent.json" in ended.stderr


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("spoil", ["missing", "broken", "no object", "other schema", "other host", "writable", "fifo"])
def test_a_record_that_cannot_be_believed_gives_what_was_chosen(
    home: Path, project: Path, spoil: str, closed: bool
) -> None:
    folder_hook(user_hooks(home), "guard", "exit 0")
    install("claude-code", closed=closed)
    command, file = line("claude-code", "PreToolUse"), record("claude-code")
    written = json.loads(file.read_text())
    match spoil:
        case "missing":
            file.unlink()
        case "broken":
            file.write_text("{")
        case "no object":
            file.write_text("[]")
        case "other schema":
            file.write_text(json.dumps({**written, "schema": 2}))
        case "other host":
            file.write_text(json.dumps({**written, "host": "qwen"}))
        case "writable":
            file.chmod(0o666)
        case "fifo":
            file.unlink()
            os.mkfifo(file)
    ended = call(command, payload("claude-code", project))
    assert (ended.returncode, ended.stdout) == (2 if closed else 1, "")
    assert "tenterhook: cannot answer" in ended.stderr
    assert "tenterhook doctor claude-code" in ended.stderr


def test_an_interpreter_that_is_gone_gives_what_was_chosen(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 0", metadata={"on_failure": "block"})  # which chooses closed
    install("claude-code")
    lose_tenterhook(home)
    gone = line("claude-code", "PreToolUse")
    assert call(gone, payload("claude-code", project)).returncode == 2  # a daemon needs none, but may end at any time
    start = line("claude-code", "SessionStart")
    assert call(start, payload("claude-code", project)).returncode == 1  # closed where a call can be refused


def test_twenty_megabytes_are_answered(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    install("claude-code")
    said = payload("claude-code", project, "x" * 20_000_000 + " forbidden")
    assert reason("claude-code", said) == "not this"


# ---- time, and pipes


@pytest.fixture
def short_of_time(home: Path) -> Iterator[None]:
    """The agent waits three seconds for an answer."""
    install("claude-code")
    written = json.loads(record("claude-code").read_text())
    written["timeouts"]["PreToolUse"] = 3
    record("claude-code").write_text(json.dumps(written))
    yield


@pytest.mark.parametrize("on_failure", ["block", "allow"])
def test_an_answer_comes_before_the_agent_gives_up(
    home: Path, project: Path, on_failure: str, request: pytest.FixtureRequest
) -> None:
    metadata = {"on_failure": "block"} if on_failure == "block" else {}
    folder_hook(user_hooks(home), "slow", "sleep 300", timeout=60_000, metadata=metadata)
    request.getfixturevalue("short_of_time")
    ended = call(line("claude-code", "PreToolUse"), payload("claude-code", project))
    done = does("claude-code", "PreToolUse", ended)
    assert ended.returncode == 0, ended.stderr  # an answer, not an alarm
    assert (done.block is not None) == (on_failure == "block")
    noted = (home / ".local/state/tenterhook/dispatch.jsonl").read_text()
    assert json.loads(noted)["failed"][0]["hook"] == "slow"


def test_a_block_of_another_hook_is_not_lost_to_the_time(home: Path, project: Path) -> None:
    hooks = array_hook("sleep 300", timeout=60) + array_hook("echo held >&2; exit 2")
    config = write_config(home / "hooks.toml", hooks)
    install("claude-code", config=config)
    written = json.loads(record("claude-code").read_text())
    written["timeouts"]["PreToolUse"] = 3
    record("claude-code").write_text(json.dumps(written))
    assert reason("claude-code", payload("claude-code", project)) == "held"


def test_a_bridge_that_hangs_is_ended_by_the_system(home: Path, project: Path, answering: str) -> None:
    """Nobody sends the payload's end: there is no answer, and no bridge left behind either."""
    if answering == "daemon":
        pytest.skip("who asks a daemon does not know the agent's limit yet, and waits for ten minutes")
    folder_hook(user_hooks(home), "guard", "exit 0")
    install("claude-code")
    written = json.loads(record("claude-code").read_text())
    written["timeouts"] = dict.fromkeys(written["timeouts"], 2)
    record("claude-code").write_text(json.dumps(written))
    arguments = ["--host", "claude-code", "--event", "PreToolUse", "--record", str(record("claude-code"))]
    with subprocess.Popen(
        [sys.executable, "-I", "-S", BRIDGE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as started:
        try:
            assert started.wait(HANG / 2) != 0
        finally:
            started.kill()


@each_host
def test_a_hook_whose_child_holds_its_output_blocks_at_once(host: str, home: Path, project: Path) -> None:
    script = 'sleep 300 & echo $! > "$TENTERHOOK_WORK_DIR/child"; echo held >&2; exit 2'
    folder_hook(user_hooks(home), "guard", script)
    install(host)
    said = payload(host, project)
    assert "held" in (reason(host, said) or "")  # our streams were read to their end
    child = int((project / "child").read_text())
    assert alive(child)
    os.kill(child, signal.SIGKILL)


@each_host
def test_an_async_hook_outlives_the_bridge_and_holds_none_of_its_pipes(host: str, home: Path, project: Path) -> None:
    script = 'cd "$TENTERHOOK_WORK_DIR"; until [ -e go ]; do sleep 0.05; done; touch ran'
    asynchronous: dict[str, Any] = {"async": True}
    folder_hook(user_hooks(home), "later", script, **asynchronous)
    install(host)
    ended = call(line(host, BEFORE_TOOL[host]), payload(host, project))  # read to the end of its streams
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert not (project / "ran").exists()
    (project / "go").touch()
    until((project / "ran").exists)


def test_ten_at_once_keep_their_own_verdicts(home: Path, project: Path) -> None:
    script = """
        said=$(sed 's/.*"command": "\\([^"]*\\)".*/\\1/')
        sleep 0.1
        case $said in *[13579]) echo "no $said" >&2; exit 2;; esac
    """
    folder_hook(user_hooks(home), "odd", textwrap.dedent(script))
    install("claude-code")
    command = line("claude-code", "PreToolUse")
    started = []
    for number in range(10):
        begun = subprocess.Popen(
            ["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(begun)
        assert begun.stdin is not None
        begun.stdin.write(json.dumps(payload("claude-code", project, f"call {number}")))
        begun.stdin.flush()
    for number, begun in enumerate(started):
        stdout, stderr = begun.communicate(timeout=HANG)
        done = DOES["claude-code"]("PreToolUse", stdout, stderr, begun.returncode)
        assert done.block == (f"no call {number}" if number % 2 else None)


# ---- whose word counts


@pytest.mark.parametrize("name", ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "PYTHONPATH", "all"])
def test_the_environment_moves_nothing(home: Path, project: Path, tmp_path: Path, name: str) -> None:
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "tenterhook").mkdir(parents=True)
    (elsewhere / "tenterhook" / "__init__.py").write_text("raise SystemExit(0)")
    names = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "PYTHONPATH", "PYTHONHOME", "ENV"]
    moved = dict.fromkeys(names if name == "all" else [name], str(elsewhere))
    for _ in range(2):
        said = payload("claude-code", project)
        assert reason_in("claude-code", line("claude-code", "PreToolUse"), said, {**os.environ, **moved}) == "held"
    assert not (elsewhere / "tenterhook" / "sessions").exists()


def reason_in(host: str, command: str, said: dict[str, Any], environment: dict[str, str]) -> Any:
    return does(host, BEFORE_TOOL[host], call(command, said, env=environment)).block


def test_modules_of_the_project_are_not_imported(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    for name in ("json", "os", "tenterhook", "selectors", "signal", "sitecustomize", "usercustomize"):
        (project / f"{name}.py").write_text("raise SystemExit(0)")
    for _ in range(2):
        assert reason("claude-code", payload("claude-code", project), cwd=project) == "held"


def test_a_projects_hooks_run_once_they_are_trusted_and_only_then(home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    folder_hook(project_hooks(project), "theirs", 'echo "theirs" >&2; exit 2')
    install("claude-code")
    command = line("claude-code", "PreToolUse")
    said = payload("claude-code", project)
    lifted = {**os.environ, "TENTERHOOK_TRUST_PROJECT": str(project)}
    # each below a process of its own: an agent that was seen may not trust anything
    for _ in range(2):
        assert asked_by_another(command, said) is None
        assert asked_by_another(command, said, lifted) is None
    assert tenterhook("trust", "--all", "--yes").returncode == 0
    for _ in range(2):
        assert asked_by_another(command, said) == "theirs"
    (project_hooks(project) / "theirs" / "scripts" / "run.sh").write_text("#!/bin/sh\necho other >&2; exit 2\n")
    assert asked_by_another(command, said) is None


@pytest.mark.promise("a model that tries")
def test_a_projects_hook_that_was_changed_is_not_missed_without_a_word(home: Path, project: Path) -> None:
    """A project's hook that was trusted and changed since does not run, and each call that it is for says so."""
    (project / ".git").mkdir()
    hook = folder_hook(project_hooks(project), "theirs", 'echo "theirs" >&2; exit 2')
    install("claude-code")
    assert tenterhook("trust", "--all", "--yes").returncode == 0
    script = hook / "scripts" / "run.sh"
    script.write_text(script.read_text() + "\n")
    ended = call(line("claude-code", "PreToolUse"), payload("claude-code", project), cwd=project)
    message = json.loads(ended.stdout)["systemMessage"]
    assert "hook theirs did not run: changed since it was trusted: scripts/run.sh" in message


def test_a_call_that_names_its_input_twice_is_read_before_it_is_called_idle(home: Path, project: Path) -> None:
    """Copilot CLI's name of a tool's input has changed: the index looks at the same one as the hooks."""
    folder_hook(user_hooks(home), "guard", "echo 'not this' >&2; exit 2", matcher={"pattern": "forbidden"})
    install("copilot")
    time.sleep(0.1)  # what has just changed is not kept in an index
    command = line("copilot", "preToolUse")
    assert does("copilot", "preToolUse", call(command, payload("copilot", project))).block is None
    twice = {"tool_input": {"command": "ls"}, **payload("copilot", project, "forbidden")}
    assert does("copilot", "preToolUse", call(command, twice)).block == "not this"


def asked_by_another(command: str, said: dict[str, Any], environment: dict[str, str] | None = None) -> Any:
    """The same, run by a process that is not this one."""
    code = "import subprocess, sys; sys.exit(subprocess.run(['sh', '-c', sys.argv[1]]).returncode)"
    ended = subprocess.run(
        [sys.executable, "-c", code, command],
        input=json.dumps(said),
        capture_output=True,
        text=True,
        timeout=HANG,
        env=environment,
    )
    return does("claude-code", "PreToolUse", ended).block


AGENT = """
import json, subprocess, sys
line, said = sys.argv[1:3]
if line:
    for _ in range(2):
        subprocess.run(["sh", "-c", line], input=said, text=True, check=True)
command = [sys.executable, "-m", "tenterhook", "trust", "--all", "--yes"]
sys.exit(subprocess.run(["sh", "-c", '"$@"', "sh", *command]).returncode)
"""


def test_what_a_guarded_agent_runs_may_not_trust_anything(home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    folder_hook(project_hooks(project), "theirs", "exit 2")
    install("claude-code")
    said = json.dumps(payload("claude-code", project))

    def agent(command: str) -> subprocess.CompletedProcess[str]:
        started = [sys.executable, "-c", AGENT, command, said]
        return subprocess.run(started, capture_output=True, text=True, timeout=HANG)

    refused = agent(line("claude-code", "PreToolUse"))
    assert refused.returncode == 1, refused.stdout
    assert "agent" in refused.stderr
    assert agent("").returncode == 0  # another one, which is not guarded


def test_the_root_of_a_session_is_where_it_began(home: Path, project: Path, tmp_path: Path) -> None:
    (project / ".git").mkdir()
    folder_hook(project_hooks(project), "theirs", 'echo "in $(pwd)" >&2; exit 2')
    assert tenterhook("trust", "--all", "--yes").returncode == 0
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    install("claude-code")
    assert reason("claude-code", payload("claude-code", project)) == f"in {project}"
    for _ in range(2):
        assert reason("claude-code", payload("claude-code", other)) == f"in {other}"
    assert reason("claude-code", payload("claude-code", other, session_id="s-2")) is None


def test_a_session_that_the_agent_does_not_name_is_answered(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    said = payload("claude-code", project)
    del said["session_id"]
    assert reason("claude-code", said) == "held"


def test_a_directory_that_is_gone_is_no_reason_not_to_guard(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    for cwd in (project / "gone", project / "long" / "gone"):
        assert reason("claude-code", payload("claude-code", cwd)) == "held"


@pytest.mark.parametrize("where", ["the home", "above it", "its configuration"])
def test_the_persons_hooks_are_in_force_wherever_the_agent_is(home: Path, where: str) -> None:
    """Where they are was written down at install: no repository can have put them there."""
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    cwd = {"the home": home, "above it": home.parent, "its configuration": home / ".config"}[where]
    for _ in range(2):
        assert reason("claude-code", payload("claude-code", cwd)) == "held"


@pytest.mark.parametrize("place", ["state", "cache"])
def test_no_place_to_write_is_no_reason_not_to_guard(home: Path, project: Path, place: str) -> None:
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    written = json.loads(record("claude-code").read_text())
    (home / "a-file").write_text("")
    record("claude-code").write_text(json.dumps({**written, place: str(home / "a-file" / "below")}))
    for _ in range(2):
        assert reason("claude-code", payload("claude-code", project)) == "held"


# ---- stopping


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "qwen", "copilot"])
def test_a_folder_hook_sends_the_agent_back_three_times_in_a_turn(host: str, home: Path, project: Path) -> None:
    script = 'cat >> "$TENTERHOOK_WORK_DIR/asked"; echo >> "$TENTERHOOK_WORK_DIR/asked"; echo "go on" >&2; exit 2'
    folder_hook(user_hooks(home), "gate", script, trigger="pre-agent-turn-stop")
    install(host)
    said = payload(host, project)
    for key in ("tool_name", "tool_input", "toolName", "toolArgs"):
        said.pop(key, None)

    def stops(active: bool) -> bool:
        return reason(host, {**said, "stop_hook_active": active}, STOP[host]) is None

    assert [stops(active) for active in (False, True, True, True, True)] == [False, False, False, True, True]
    told = [json.loads(entry)["stop_hook_active"] for entry in (project / "asked").read_text().splitlines() if entry]
    assert told == [False, True, True]  # not asked at the fourth
    assert not stops(False), "the next turn begins anew"


def test_an_array_hook_sends_the_agent_back_once(home: Path, project: Path) -> None:
    command = f'cat >> {project}/asked; echo >> {project}/asked; echo "go on" >&2; exit 2'
    config = write_config(home / "hooks.toml", array_hook(command, event="Stop"))
    install("claude-code", config=config)
    said = {"session_id": "s-1", "cwd": str(project), "hook_event_name": "Stop"}
    stops = [
        reason("claude-code", {**said, "stop_hook_active": active}, "Stop") is None for active in (False, True, True)
    ]
    assert stops == [False, True, True]
    told = [json.loads(entry)["stop_hook_active"] for entry in (project / "asked").read_text().splitlines() if entry]
    assert told == [False, True, True]


# ---- what a model, a hook or a repository could try


def test_a_hook_that_prints_broken_json_takes_nobodys_block_away(home: Path, project: Path) -> None:
    """Where `json` was never imported, C code has no error to raise for it."""
    for number, said in enumerate(("{not json}", '{"a" 1}', "[1", '{"a": "\\q"}', '{"a": 1} {')):
        folder_hook(user_hooks(home), f"a{number}", f"echo '{said}'", priority=200 + number)
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    for _ in range(2):
        assert reason("claude-code", payload("claude-code", project)) == "held"


@pytest.mark.parametrize(
    "extra", ["[" * 250 + "]" * 250, "[" * 5000 + "]" * 5000, "9" * 5000], ids=["deep", "deeper", "long number"]
)
@each_host
def test_a_call_that_no_hook_can_be_told_is_refused(host: str, home: Path, project: Path, extra: str) -> None:
    """A model could write it so, to be let pass."""
    folder_hook(user_hooks(home), "guard", "exit 0", matcher={"tool": "Shell"})
    install(host)
    said = json.dumps(payload(host, project))
    for key in ("tool_input", "toolArgs"):
        said = said.replace(f'"{key}": {{', f'"{key}": {{"extra": {extra}, ', 1)
    native = BEFORE_TOOL[host]
    command = ["sh", "-c", line(host, native)]
    ended = subprocess.run(command, input=said, capture_output=True, text=True, timeout=HANG)
    assert "cannot show this to your hooks" in (does(host, native, ended).block or "")


def test_what_steers_programs_is_not_taken_from_the_environment(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "#!/bin/bash\ngrep -q . && { echo held >&2; exit 2; }\n")
    install("claude-code")
    (project / "bin").mkdir()
    for name in ("grep", "cat"):
        (project / "bin" / name).write_text("#!/bin/sh\nexit 1\n")
        (project / "bin" / name).chmod(0o755)
    (project / "evil.sh").write_text("exit 0\n")
    hostile = {
        "PATH": f"{project}/bin:{os.environ['PATH']}",
        "BASH_ENV": f"{project}/evil.sh",
        "ENV": f"{project}/evil.sh",
    }
    command = line("claude-code", "PreToolUse")
    for _ in range(2):
        assert reason_in("claude-code", command, payload("claude-code", project), {**os.environ, **hostile}) == "held"


def test_a_hook_that_is_not_trusted_closes_nothing(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 0", matcher={"tool": "Shell"})
    install("claude-code")
    (project / ".git").mkdir()
    folder_hook(project / ".agents" / "hooks", "theirs", "exit 0", metadata={"on_failure": "block"})
    assert reason("claude-code", payload("claude-code", project)) is None
    time.sleep(1)  # for what might be done in the background
    assert json.loads(record("claude-code").read_text())["closed"] is False


def test_installed_twice_a_hook_runs_once(home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    folder_hook(user_hooks(home), "guard", f"echo ran >> {project}/ran")
    install("claude-code")
    assert cli.run(["install", "claude-code", "--project"]) == 0
    own = line("claude-code", "PreToolUse")
    settings = (project / ".claude" / "settings.local.json").read_bytes()
    theirs = entries.command_of(entries.found(AGENTS["claude-code"], settings)["PreToolUse"][0])
    assert own != theirs
    for command in (own, theirs):
        call(command, payload("claude-code", project))
    assert (project / "ran").read_text() == "ran\n"


def test_a_file_of_a_repository_is_no_configuration(home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    config = write_config(project / "hooks.toml", array_hook("true"))
    ended = tenterhook("install", "claude-code", "--config", config)
    assert ended.returncode == 1
    assert "belongs to this project or a repository" in ended.stderr
