"""The command in an agent's settings: what it survives, and what it does when Tenterhook cannot answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from install.installations import DATA, EDITED, NAMES, SETTINGS, executable, fire, install, is_blocked, log, wired
from support import end_of_the_agent, folder_hook, lose_tenterhook, project_hooks, tenterhook, until, user_hooks
from tenterhook.agents import AGENTS
from tenterhook.install import launcher

pytestmark = pytest.mark.usefixtures("project")
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


@pytest.fixture
def closed_guard(home: Path) -> Path:
    return folder_hook(user_hooks(home), "guard", "exit 0", metadata={"on_failure": "block"})


class TestWhenNobodyAnswers:
    """Open or closed, as the guards ask for; and said."""

    def test_a_guard_that_would_rather_block_closes_its_event_only(self, home: Path, closed_guard: Path) -> None:
        folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
        said = install(*SETTINGS)
        assert said.count("tool calls are refused") == len(SETTINGS)
        shutil.rmtree(home / ".local/state/tenterhook/installed")
        for agent, (_, tool, *_) in EDITED.items():
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
        for agent, (_, tool, *_) in EDITED.items():
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
        for agent, (_, tool, *_) in EDITED.items():
            ended = fire(agent, tool, wired(home, agent)[tool])
            assert is_blocked(ended), (agent, ended)
        assert log(home) == []

    def test_what_no_hook_minds_goes_on_without_a_word(self, home: Path) -> None:
        folder_hook(user_hooks(home), "guard", "exit 0")
        install(*SETTINGS)
        for agent in SETTINGS:
            for event, line in wired(home, agent).items():
                ended = fire(agent, event, line)
                silence = AGENTS[agent].no_decision.get(event, "")
                assert (ended.returncode, ended.stdout, ended.stderr) == (0, silence, ""), (agent, event)

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
