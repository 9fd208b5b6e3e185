"""What an agent runs for each event: hooks really run, blocks really block, and nothing else ever comes out."""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dispatch.bridges import (
    BEFORE_TOOL,
    GUARD,
    HANG,
    STOP,
    bridged,
    call,
    does,
    each_host,
    install,
    line,
    nothing,
    payload,
    reason,
    record,
)
from hosts.observed import DOES, NotUnderstood
from hosts.recorded import PROVEN
from support import (
    alive,
    array_hook,
    folder_hook,
    lose_tenterhook,
    tenterhook,
    until,
    user_hooks,
    write_config,
)
from tenterhook import cli
from tenterhook.agents import AGENTS
from tenterhook.events import MCP_SPELLING
from tenterhook.install import entries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("answering")


# ---- hooks run, and block


@each_host
def test_a_guard_blocks_through_the_line_that_install_writes(host: str, home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    install(host)
    for _ in range(2):  # from the definitions, then from the index
        assert "not this" in (reason(host, payload(host, project, "forbidden")) or "")
        harmless = call(line(host, BEFORE_TOOL[host]), payload(host, project, "ls"))
        assert (harmless.returncode, harmless.stdout, harmless.stderr) == (0, nothing(host), "")


@pytest.mark.parametrize("host", [host for host in AGENTS if host != "cline"])  # whose payload nests the tool's name
def test_a_guard_for_a_server_blocks_its_tools_in_every_agent(host: str, home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "echo not-this >&2; exit 2", matcher={"tool": "^mcp:github/"})
    install(host)
    prefix, separator = AGENTS[host].mcp_spelling or MCP_SPELLING
    key = "toolName" if host == "copilot" else "tool_name"
    for _ in range(2):  # the second from the index
        blocked = reason(host, payload(host, project, **{key: f"{prefix}github{separator}create_issue"}))
        assert (blocked or "").strip() == "not-this"
        assert reason(host, payload(host, project, **{key: f"{prefix}gitlab{separator}create_issue"})) is None
        assert reason(host, payload(host, project)) is None


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


@pytest.mark.slow
@settings(
    max_examples=70,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(host=st.sampled_from(PROVEN), native=any_event, said=any_bytes)
def test_any_bytes_get_a_valid_answer(everywhere: Path, host: str, native: str, said: bytes) -> None:
    assert_valid(host, native, bridged(host, native, said), 10, {70})


@settings(
    max_examples=21,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(host=st.sampled_from(PROVEN), event=st.sampled_from([BEFORE_TOOL, STOP]), said=any_bytes)
def test_any_bytes_get_a_valid_answer_through_the_line(
    everywhere: Path, host: str, event: dict[str, str], said: bytes
) -> None:
    command = line(host, event[host])
    ended = subprocess.run(["sh", "-c", command], input=said, capture_output=True, timeout=HANG)
    assert_valid(host, event[host], ended, 2, {AGENTS[host].open_status} - {0})


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
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, nothing(host), "")
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


# ---- what a model, a hook or a repository could try


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


def reason_in(host: str, command: str, said: dict[str, Any], environment: dict[str, str]) -> Any:
    return does(host, BEFORE_TOOL[host], call(command, said, env=environment)).block
