"""The line that install writes: which events lead to it, what it survives, and what it does when it cannot answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
import uuid
from pathlib import Path
from typing import Any

import pytest

from support import end_of_the_agent, folder_hook, lose_tenterhook, project_hooks, tenterhook, until, user_hooks
from tenterhook.install import launcher

DATA = Path(__file__).parent.parent / "hosts" / "data"
SETTINGS = {
    "claude-code": ".claude/settings.json",
    "kimi-code": ".kimi-code/config.toml",
    "kimi-cli": ".kimi/config.toml",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
    "copilot": ".copilot/hooks/tenterhook.json",
    "droid": ".factory/settings.json",
}
# The agent's names of: a session's start, a tool call, a prompt, a stop.
NAMES = {
    **dict.fromkeys(SETTINGS, ("SessionStart", "PreToolUse", "UserPromptSubmit", "Stop")),
    "gemini": ("SessionStart", "BeforeTool", "BeforeAgent", "AfterAgent"),
    "copilot": ("sessionStart", "preToolUse", "userPromptSubmitted", "agentStop"),
}
SHELLS = [path for name in ("sh", "bash", "dash", "zsh", "ksh", "busybox") if (path := shutil.which(name))]

FAULTS = (
    "no interpreter",
    "another interpreter",
    "no record",
    "broken record",
    "another's record",
    "record of another version",
    "record that anybody could write",
    "no place for a log",
    "no payload",
    "killed",
)

each_agent = pytest.mark.parametrize("agent", SETTINGS)


@pytest.fixture(autouse=True)
def no_agents_homes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "FACTORY_HOME_OVERRIDE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def guard(home: Path) -> Path:
    return folder_hook(user_hooks(home), "guard", "echo 'not with me' >&2; exit 2")


@pytest.fixture
def closed_guard(home: Path) -> Path:
    return folder_hook(user_hooks(home), "guard", "exit 0", metadata={"on_failure": "block"})


def install(*arguments: str, **options: Any) -> str:
    ended = tenterhook("install", *arguments, **options)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def wired(home: Path, agent: str) -> dict[str, str]:
    """Our lines in an agent's settings, by its name of the event; each is there once."""
    path = home / SETTINGS[agent]
    found: list[tuple[str, str]] = []
    if path.suffix == ".toml":
        found = [(hook["event"], hook["command"]) for hook in tomllib.loads(path.read_text())["hooks"]]
    else:
        for event, groups in json.loads(path.read_text())["hooks"].items():
            hooks = groups if agent == "copilot" else [hook for group in groups for hook in group["hooks"]]
            found += [(event, hook.get("bash") or hook["command"]) for hook in hooks]
    ours = [(event, line) for event, line in found if "/tenterhook/launcher.sh" in line]
    assert len(dict(ours)) == len(ours)
    return dict(ours)


def events(home: Path) -> dict[str, set[str]]:
    return {agent: set(wired(home, agent)) for agent in SETTINGS}


def fire(agent: str, event: str, line: str, *, shell: str = "/bin/sh", **options: Any) -> Any:
    """Run a line as the agent would, with what the agent would send, in a session of its own."""
    payload = json.loads((DATA / agent / f"{event}.json").read_text())
    payload["sessionId" if agent == "copilot" else "session_id"] = str(uuid.uuid4())
    payload["cwd"] = str(options.setdefault("cwd", os.getcwd()))
    arguments = [shell, "sh", "-c", line] if shell.endswith("busybox") else [shell, "-c", line]
    return subprocess.run(arguments, input=json.dumps(payload), capture_output=True, text=True, timeout=60, **options)


def is_blocked(ended: Any, reason: str = "not with me") -> bool:
    """Whether the agent was told to refuse a tool call, in one of the ways that agents understand."""
    if ended.returncode == 2:
        return reason in ended.stderr
    answer = json.loads(ended.stdout or "{}")
    answer = answer.get("hookSpecificOutput", answer)
    return answer.get("permissionDecision") == "deny" and reason in answer["permissionDecisionReason"]


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def log(home: Path) -> list[str]:
    path = home / ".local/state/tenterhook/bridge.log"
    return path.read_text().splitlines() if path.exists() else []


class TestEvents:
    """Those that have hooks, and those that carry a session's state."""

    def test_only_events_with_hooks_are_wired_and_the_sessions_start(self, home: Path) -> None:
        assert install(*SETTINGS).count("no hook on tool calls yet") == len(SETTINGS)
        assert events(home) == {agent: set(names[:1]) for agent, names in NAMES.items()}
        folder_hook(user_hooks(home), "guard", "exit 0")
        install(*SETTINGS)
        assert events(home) == {agent: set(names[:2]) for agent, names in NAMES.items()}
        before = {agent: wired(home, agent) for agent in SETTINGS}
        folder_hook(user_hooks(home), "prompts", "exit 0", "pre-agent-turn")
        install(*SETTINGS)
        assert events(home) == {agent: set(names[:3]) for agent, names in NAMES.items()}
        for agent, known in before.items():
            assert known.items() <= wired(home, agent).items()

    @each_agent
    def test_a_new_hook_is_noticed_at_the_next_event_of_any_kind(self, home: Path, guard: Path, agent: str) -> None:
        start, tool, _, stop = NAMES[agent]
        install(agent)
        before = wired(home, agent)
        fire(agent, tool, before[tool])
        folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
        fire(agent, start, before[start])
        after = until(lambda: stop in (now := wired(home, agent)) and now)
        assert after.keys() == {start, tool, stop}
        assert before.items() <= after.items()
        if agent == "codex":
            until(lambda: (home / ".codex/config.toml").read_text().count("trusted_hash") == 3)

    def test_every_agent_notices_a_new_hook_not_just_the_first_one_used(self, home: Path, guard: Path) -> None:
        install("claude-code", "gemini")
        folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
        fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"])
        until(lambda: "Stop" in wired(home, "claude-code"))
        for _ in range(2):  # by now what hooks there are is known, and nothing is looked at anew
            fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"])
        fire("gemini", "BeforeTool", wired(home, "gemini")["BeforeTool"])
        until(lambda: "AfterAgent" in wired(home, "gemini"), 5)

    def test_a_trusted_projects_new_event_is_noticed(self, home: Path, project: Path, guard: Path) -> None:
        install("claude-code")
        folder_hook(project_hooks(project), "gate", "exit 0", "pre-agent-turn-stop")
        line = wired(home, "claude-code")["PreToolUse"]
        fire("claude-code", "PreToolUse", line)
        time.sleep(1)  # for whoever would wire it
        assert "Stop" not in wired(home, "claude-code")  # it may not run, so it need not be wired
        end_of_the_agent()
        assert tenterhook("trust", "gate", "--yes").returncode == 0
        fire("claude-code", "PreToolUse", line)
        until(lambda: "Stop" in wired(home, "claude-code"), 5)

    @pytest.mark.parametrize("agent", ["kimi-cli", "kimi-code"])  # nobody there can be told when a session starts
    def test_doctor_tells_of_a_session_that_began_too_early(self, home: Path, guard: Path, agent: str) -> None:
        start, _, _, stop = NAMES[agent]
        install(agent)
        folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
        assert f"{stop} is not wired" in tenterhook("doctor", agent).stdout
        fire(agent, start, wired(home, agent)[start])
        until(lambda: stop in wired(home, agent))
        ended = tenterhook("doctor", agent)
        assert f"hooks of {stop} do not run in the session that began at" in ended.stdout
        assert ended.returncode == 0  # the next one is guarded

    def test_what_a_command_puts_in_force_is_wired_at_once_in_every_agent(self, home: Path, project: Path) -> None:
        install(*SETTINGS)
        said = tenterhook("new", "guard", "--on", "pre-tool-call").stdout
        assert said.count("wired in") == len(SETTINGS)
        assert events(home) == {agent: set(names[:2]) for agent, names in NAMES.items()}
        assert tenterhook("add", "enforce-tests").returncode == 0
        assert all(names[3] in events(home)[agent] for agent, names in NAMES.items())
        folder_hook(project_hooks(project), "prompts", "exit 0", "pre-agent-turn")
        assert all(names[2] not in events(home)[agent] for agent, names in NAMES.items())
        said = tenterhook("trust", "prompts", "--yes").stdout
        assert said.count("wired in") == len(SETTINGS)
        assert all(names[2] in events(home)[agent] for agent, names in NAMES.items())

    def test_a_trusted_guard_that_is_to_fail_closed_closes_the_lines_at_once(self, home: Path, project: Path) -> None:
        install("claude-code")
        folder_hook(project_hooks(project), "strict", "exit 0", metadata={"on_failure": "block"})
        assert tenterhook("trust", "strict", "--yes").returncode == 0
        assert wired(home, "claude-code")["PreToolUse"].endswith("PreToolUse closed || exit 2")

    def test_settings_that_were_moved_are_found_again(
        self, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
        install("claude-code")
        monkeypatch.delenv("CLAUDE_CONFIG_DIR")
        assert "wired in Claude Code: PreToolUse" in tenterhook("new", "guard", "--on", "pre-tool-call").stdout
        assert "PreToolUse" in (tmp_path / "moved" / "settings.json").read_text()
        assert not (home / SETTINGS["claude-code"]).exists()

    def test_what_could_not_be_wired_is_wired_when_it_can_be(self, home: Path, guard: Path) -> None:
        install("claude-code")
        line = wired(home, "claude-code")["PreToolUse"]
        folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
        (home / SETTINGS["claude-code"]).chmod(0o444)
        fire("claude-code", "PreToolUse", line)
        until(lambda: any("read-only" in written for written in log(home)), 5)  # and nobody is left to guess
        (home / SETTINGS["claude-code"]).chmod(0o644)
        fire("claude-code", "PreToolUse", line)
        until(lambda: "Stop" in wired(home, "claude-code"), 5)

    def test_noticing_leaves_the_persons_own_entries_alone(self, home: Path, guard: Path) -> None:
        path = home / SETTINGS["gemini"]
        path.parent.mkdir()
        path.write_text('{\n  // mine\n  "hooks": {"AfterAgent": [{"hooks": []}]},\n  "a": 1\n}\n')
        before = path.read_bytes()
        install("gemini")
        settings = json.loads(path.read_text().replace("// mine", ""))
        (group,) = settings["hooks"]["BeforeTool"]
        folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
        fire("gemini", "BeforeTool", group["hooks"][0]["command"])
        until(lambda: path.read_text().count("tenterhook/launcher.sh") == 3)
        end_of_the_agent()
        assert tenterhook("uninstall", "gemini", "--yes").returncode == 0
        assert path.read_bytes() == before

    def test_a_hook_that_is_gone_unwires_nothing(self, home: Path, guard: Path) -> None:
        install(*SETTINGS)
        before = {agent: wired(home, agent) for agent in SETTINGS}
        shutil.rmtree(guard)
        for agent, (_, tool, *_) in NAMES.items():
            ended = fire(agent, tool, before[agent][tool])
            assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", ""), agent
        end_of_the_agent()
        assert install(*SETTINGS).count("nothing changed") == len(SETTINGS)
        assert {agent: wired(home, agent) for agent in SETTINGS} == before

    def test_a_hook_on_an_event_that_the_agent_has_not_is_named(self, home: Path) -> None:
        folder_hook(user_hooks(home), "after-all", "exit 0", "post-subagent")
        said = install("gemini")
        assert "Gemini CLI has no event for 'after-all'" in said
        assert wired(home, "gemini").keys() == {"SessionStart"}


class TestWhenNobodyAnswers:
    """Open or closed, as the guards ask for; and said."""

    def test_a_guard_that_would_rather_block_closes_its_event_only(self, home: Path, closed_guard: Path) -> None:
        folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
        said = install(*SETTINGS)
        assert said.count("tool calls are refused") == len(SETTINGS)
        shutil.rmtree(home / ".local/state/tenterhook/installed")
        for agent, (_, tool, *_) in NAMES.items():
            for event, line in wired(home, agent).items():
                ended = fire(agent, event, line)
                assert "tenterhook install" in ended.stderr
                if event == tool:
                    assert is_blocked(ended, "this is refused"), (agent, ended)
                    continue
                assert ended.returncode == (0 if agent == "copilot" else 1), (agent, event)
                assert "hooks did not run" in ended.stderr
                assert ended.stdout == ""

    def test_without_such_a_guard_it_stays_open_and_visible(self, home: Path, guard: Path) -> None:
        install(*SETTINGS)
        shutil.rmtree(home / ".local/state/tenterhook/installed")
        for agent, (_, tool, *_) in NAMES.items():
            ended = fire(agent, tool, wired(home, agent)[tool])
            assert ended.returncode == (0 if agent == "copilot" else 1)  # Copilot takes anything else for a block
            assert "hooks did not run" in ended.stderr
            assert f"tenterhook doctor {agent}" in ended.stderr
            assert log(home)[-1].split()[1:3] == [agent, tool]
        assert len(log(home)) == len(SETTINGS)

    def test_closed_may_be_chosen_without_such_a_guard_and_stays(self, home: Path, guard: Path) -> None:
        install("gemini", "--closed")
        install("gemini")
        (home / ".local/state/tenterhook/installed/gemini.json").unlink()
        assert fire("gemini", "BeforeTool", wired(home, "gemini")["BeforeTool"]).returncode == 2

    def test_a_guard_that_came_later_closes_the_line_at_the_next_event(self, home: Path, guard: Path) -> None:
        install("claude-code")
        line = wired(home, "claude-code")["PreToolUse"]
        folder_hook(user_hooks(home), "strict", "exit 0", metadata={"on_failure": "block"})
        fire("claude-code", "PreToolUse", line)
        until(lambda: wired(home, "claude-code")["PreToolUse"].endswith("PreToolUse closed || exit 2"))

    @pytest.mark.parametrize(
        ("fault", "closed"),
        [
            *((fault, False) for fault in FAULTS),
            *((fault, True) for fault in ("no interpreter", "another interpreter", "no record", "killed")),
        ],
    )
    def test_whatever_is_gone_it_says_so_and_does_as_chosen(
        self, home: Path, tmp_path: Path, fault: str, closed: bool
    ) -> None:
        folder_hook(user_hooks(home), "guard", "kill -9 $PPID" if fault == "killed" else "exit 0")
        install("claude-code", *(["--closed"] if closed else []))
        line = wired(home, "claude-code")["PreToolUse"]
        state = home / ".local/state/tenterhook"
        record = state / "installed/claude-code.json"
        match fault:
            case "no interpreter":
                lose_tenterhook(home)
            case "another interpreter":  # which does not know -I and ends with 2, as Python does when it cannot begin
                other = executable(tmp_path / "python", "#!/bin/sh\nexit 2\n")
                lose_tenterhook(home, str(other))
            case "no record":
                record.unlink()
            case "broken record":
                record.write_text(record.read_text()[:40])
            case "another's record":
                record.write_text(record.read_text().replace('"claude-code"', '"gemini"'))
            case "record of another version":
                record.write_text(record.read_text().replace('"schema": 1', '"schema": 99'))
            case "record that anybody could write":
                record.chmod(0o666)
            case "no place for a log":
                (state / "installed").rename(tmp_path / "installed")
                (state / "bridge.log").mkdir()
            case "no payload":
                line = f"printf 'not json' | ( {line} )"
        ended = fire("claude-code", "PreToolUse", line)
        assert ended.returncode == (2 if closed else 1)
        assert ended.stdout == ""
        assert ("this is refused" if closed else "hooks did not run") in ended.stderr
        gone = "Install it again" in ended.stderr and "tenterhook install claude-code" in ended.stderr
        assert gone or "tenterhook doctor claude-code" in ended.stderr
        assert gone == (fault in ("no interpreter", "another interpreter"))
        if fault != "no place for a log":
            (written,) = log(home)
            assert written.split()[1:3] == ["claude-code", "PreToolUse"]

    def test_not_even_then_is_a_program_of_the_project_run(self, home: Path, project: Path, guard: Path) -> None:
        install("claude-code")
        line = wired(home, "claude-code")["PreToolUse"]
        (home / ".local/state/tenterhook/installed/claude-code.json").unlink()
        for name in ("date", "sh", "echo"):
            executable(project / "bin" / name, f"#!/bin/sh\n: >{project}/ran\n")
        hostile = {**os.environ, "PATH": f"{project}/bin:{os.environ['PATH']}"}
        assert fire("claude-code", "PreToolUse", line, env=hostile).returncode == 1
        assert not (project / "ran").exists()
        assert len(log(home)) == 1

    def test_a_deleted_environment_is_told_and_a_new_install_mends_it(self, home: Path, tmp_path: Path) -> None:
        folder_hook(user_hooks(home), "guard", "echo 'not with me' >&2; exit 2", metadata={"on_failure": "block"})
        environment = tmp_path / "environment"
        (environment / "bin").mkdir(parents=True)
        python = environment / "bin" / "python3"
        python.symlink_to(os.path.realpath(sys.executable))
        package = Path(launcher.BRIDGE).parent
        shutil.copytree(package, environment / "tenterhook", ignore=shutil.ignore_patterns("__pycache__"))
        search = os.pathsep.join([str(environment), *(path for path in sys.path if path.endswith("-packages"))])
        subprocess.run(
            [python, "-m", "tenterhook", "install", "claude-code"],
            env={**os.environ, "PYTHONPATH": search},
            capture_output=True,
            check=True,
        )
        line = wired(home, "claude-code")["PreToolUse"]
        assert is_blocked(fire("claude-code", "PreToolUse", line))
        shutil.rmtree(environment)
        ended = fire("claude-code", "PreToolUse", line)
        assert ended.returncode == 2
        assert "Tenterhook is gone (status 127): this is refused" in ended.stderr
        end_of_the_agent()
        install("claude-code")
        assert "SessionStart" in wired(home, "claude-code")
        assert is_blocked(fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"]))


class TestTheLine:
    """It leads to the person's guard, wherever it is run and whatever is around it."""

    def test_the_guard_blocks_a_tool_call(self, home: Path, guard: Path) -> None:
        install(*SETTINGS)
        for agent, (_, tool, *_) in NAMES.items():
            ended = fire(agent, tool, wired(home, agent)[tool])
            assert is_blocked(ended), (agent, ended)
        assert log(home) == []

    def test_what_no_hook_minds_goes_on_without_a_word(self, home: Path) -> None:
        folder_hook(user_hooks(home), "guard", "exit 0")
        install(*SETTINGS)
        for agent in SETTINGS:
            for event, line in wired(home, agent).items():
                ended = fire(agent, event, line)
                assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", ""), (agent, event)

    @pytest.mark.parametrize("shell", SHELLS, ids=os.path.basename)
    def test_every_shell_understands_it(self, home: Path, guard: Path, shell: str) -> None:
        install("claude-code", "gemini")
        assert is_blocked(
            fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"], shell=shell, env={})
        )
        assert fire("gemini", "BeforeTool", wired(home, "gemini")["BeforeTool"], shell=shell).returncode == 2

    def test_odd_characters_in_paths_are_only_characters(
        self, guard: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = tmp_path / 'it\'s "my" $HOME `here`; \\ für'
        (tmp_path / "home").rename(home)
        monkeypatch.setenv("HOME", str(home))
        install(*SETTINGS)
        for agent in SETTINGS:
            tool = NAMES[agent][1]
            assert is_blocked(fire(agent, tool, wired(home, agent)[tool])), agent
        assert log(home) == []
        end_of_the_agent()
        assert tenterhook("uninstall", "--yes").returncode == 0
        assert [agent for agent in SETTINGS if (home / SETTINGS[agent]).exists()] == []

    @pytest.mark.parametrize("agent", ["claude-code", "gemini"])  # these let a repository set variables
    def test_a_hostile_project_runs_no_code_and_loses_no_block(
        self, home: Path, project: Path, guard: Path, agent: str
    ) -> None:
        install(agent)
        tool = NAMES[agent][1]
        line = wired(home, agent)[tool]
        ran = project / "ran"
        foreign = f"open({str(ran)!r}, 'a').write(__name__)\n"
        for name in ("json", "sitecustomize", "usercustomize", "os", "_signal", "start", "marshal", "encodings"):
            (project / f"{name}.py").write_text(foreign)
        for package in ("tenterhook", "lib/python3.11", "site-packages/tenterhook"):
            (project / package).mkdir(parents=True)
            for name in ("__init__", "__main__", "dispatch", "bridge", "os", "site"):
                (project / package / f"{name}.py").write_text(foreign)
        for name in ("sh", "date", "env", "python3", "cat", "tenterhook"):
            executable(project / "bin" / name, f"#!/bin/sh\n: >{ran}\n")
        (project / "pyvenv.cfg").write_text(f"home = {project}\n")
        folder_hook(user_hooks(project), "guard", "exit 0")
        folder_hook(project_hooks(project), "guard", f"touch {ran}; exit 0")
        record = next((home / ".local/state/tenterhook/installed").glob("*.json"))
        shutil.copytree(home / ".local", project / ".local")
        (project / ".local/state/tenterhook/installed" / record.name).write_text("{}")
        here = str(project)
        hostile = {
            "PATH": f"{here}/bin:{os.environ['PATH']}",
            "HOME": here,
            "XDG_CONFIG_HOME": f"{here}/.config",
            "XDG_STATE_HOME": f"{here}/.local/state",
            "XDG_CACHE_HOME": f"{here}/.cache",
            "PYTHONPATH": here,
            "PYTHONHOME": here,
            "PYTHONSTARTUP": f"{here}/start.py",
            "PYTHONPLATLIBDIR": here,
            "PYTHONINSPECT": "1",
            "PYTHONUSERBASE": here,
            "PYTHONBREAKPOINT": "start.start",
            "PYTHONWARNINGS": "error",
            "PYTHONIOENCODING": "utf-16",
            "TENTERHOOK_TRUST_PROJECT": "1",
            "KIMI_HOOKS_DISABLED": "1",
            "ENV": f"{here}/start.py",
            "IFS": "/",
            "CDPATH": here,
        }
        for _ in range(2):  # with and without an index
            ended = fire(agent, tool, line, env=hostile)
            assert is_blocked(ended), ended
        assert not ran.exists()
        assert log(home) == []
        assert not (project / ".cache").exists()
        assert not (project / ".local/state/tenterhook/sessions").exists()

    def test_ten_at_once_keep_their_own_verdicts(self, home: Path) -> None:
        folder_hook(user_hooks(home), "guard", "echo 'not with me' >&2; exit 2", matcher={"pattern": "odd"})
        install("codex")
        line = wired(home, "codex")["PreToolUse"]
        payload = json.loads((DATA / "codex" / "PreToolUse.json").read_text()) | {"cwd": os.getcwd()}
        running = []
        for number in range(10):
            payload["tool_input"] = {"command": "odd" if number % 2 else "even"}
            process = subprocess.Popen(
                ["/bin/sh", "-c", line],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert process.stdin is not None
            process.stdin.write(json.dumps(payload))
            process.stdin.close()
            process.stdin = None
            running.append(process)
        for number, process in enumerate(running):
            stdout, stderr = process.communicate(timeout=60)
            ended = subprocess.CompletedProcess([], process.returncode, stdout, stderr)
            assert is_blocked(ended) == bool(number % 2), ended
