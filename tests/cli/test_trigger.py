"""`tenterhook trigger`: events fired at hooks, with every way to say what is sent."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from support import (
    alive,
    array_hook,
    folder_hook,
    project_hooks,
    table_hook,
    tenterhook,
    trigger,
    until,
    user_hooks,
    write_config,
)
from tenterhook.events import EVENTS

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

DANGEROUS = ("--tool", "Shell", "--input", '{"command": "rm -rf /"}')
RUN_KEYS = {
    "hook", "source", "event_name", "async", "outcome", "why", "decision", "reason", "exit_code", "duration_ms",
    "stdout", "stderr", "notes",
}  # fmt: skip


class TestTrigger:
    """Firing events."""

    def test_deny_exits_with_two(self, blocker: Path, project: Path) -> None:
        ended = tenterhook("trigger", "pre-tool-call", *DANGEROUS)
        assert ended.returncode == 2
        assert "deny" in ended.stdout
        assert "not here" in ended.stdout
        assert "blocker" in ended.stdout

    def test_nothing_to_say_exits_with_zero(self, blocker: Path, project: Path) -> None:
        ended = tenterhook("trigger", "pre-tool-call", "--tool", "Shell", "--input", '{"command": "ls"}')
        assert (ended.returncode, ended.stderr) == (0, "")

    def test_json_is_exactly_the_object_that_was_promised(self, blocker: Path, project: Path) -> None:
        ended = tenterhook("trigger", "PreToolUse", *DANGEROUS, "--json")
        verdict = json.loads(ended.stdout)
        assert list(verdict) == [
            "schema", "event", "decision", "reason", "modified_input", "modified_output", "additional_context",
            "messages", "runs", "problems",
        ]  # fmt: skip
        assert (verdict["schema"], verdict["event"], verdict["decision"]) == (1, "pre-tool-call", "deny")
        (run,) = verdict["runs"]
        assert set(run) == RUN_KEYS
        assert (run["hook"], run["outcome"], run["exit_code"], run["reason"]) == ("blocker", "blocked", 2, "not here")
        assert run["source"] == str(blocker / "HOOK.md")
        assert run["event_name"] == "pre-tool-call"
        assert isinstance(run["duration_ms"], float)

    def test_the_output_that_the_model_would_see_is_shown(self, home: Path, project: Path) -> None:
        folder_hook(user_hooks(home), "redact", """echo '{"modified_output": "KEY=[redacted]"}'""", "post-tool-call")
        ended = tenterhook("trigger", "post-tool-call", "--tool", "Shell")
        assert ended.returncode == 0
        assert 'output is now "KEY=[redacted]"' in ended.stdout

    @pytest.mark.parametrize("spec", EVENTS, ids=lambda spec: spec.name)
    def test_every_name_of_an_event_is_taken(self, project: Path, spec: Any, run: Run) -> None:
        config = write_config(project / "c.toml", "".join(array_hook(":", event=name) for name in spec.names))
        names = [spec.name] if spec.name not in ("pre-tool-call", "pre-agent-turn-stop") else spec.names
        for name in names:
            verdict = json.loads(run("trigger", name, "--config", config, "--json").out)
            assert verdict["event"] == spec.name
            assert len(verdict["runs"]) == 1  # an equal command runs once

    def test_a_payload_comes_from_a_file_or_stdin(self, project: Path) -> None:
        config = write_config(project / "c.toml", table_hook("cat >&2"))
        payload = {"tool_name": "WriteFile", "tool_input": {"path": "x"}, "tool_use_id": "t1", "session_id": "s7"}
        (project / "event.json").write_text(json.dumps(payload))
        from_file = trigger("before_tool", "--config", config, "--payload", project / "event.json")
        from_stdin = trigger("before_tool", "--config", config, "--payload", "-", input=json.dumps(payload))
        for verdict in (from_file, from_stdin):
            sent = json.loads(verdict["runs"][0]["stderr"])
            assert {key: sent[key] for key in payload} == payload

    @pytest.mark.parametrize("spec", EVENTS, ids=lambda spec: spec.name)
    @pytest.mark.parametrize("family", ["table", "array"])
    def test_every_documented_field_is_sent(self, project: Path, spec: Any, family: str, run: Run) -> None:
        hook = table_hook if family == "table" else array_hook
        ends = "cat > sent.new; mv sent.new sent"  # whole, or not at all
        config = write_config(project / "c.toml", hook(ends, event=spec.name))
        run("trigger", spec.name, "--config", config)
        sent = json.loads(until(lambda: (project / "sent").exists() and (project / "sent").read_text()))
        shown = json.loads(run("show", spec.name, "--json").out)["event"]
        sample = shown["array_example" if family == "array" else "example"]
        own = {"event_type", "hook_event_name", "timestamp", "session_id", "work_dir", "cwd", "display"}
        assert set(sent) == set(sample)
        assert {key: sent[key] for key in sample if key not in own} == {
            key: value for key, value in sample.items() if key not in own
        }

    @pytest.mark.parametrize(
        ("tool", "given", "action", "display"),
        [
            ("Shell", {"command": "ls"}, "run command", {"kind": "command", "command": "ls"}),
            ("ReadFile", {"file_path": "a.txt"}, "read file", {"kind": "file", "path": "a.txt"}),
            ("Deploy", {"to": "staging"}, "use Deploy", {"kind": "input", "input": {"to": "staging"}}),
        ],
    )
    def test_a_permission_request_is_sent_as_an_agent_sends_it(
        self, project: Path, tool: str, given: Any, action: str, display: Any
    ) -> None:
        config = write_config(project / "c.toml", array_hook("cat >&2", event="PermissionRequest"))
        options = ("--tool", tool, "--input", json.dumps(given))
        verdict = trigger("permission-request", *options, "--config", config)
        sent = json.loads(verdict["runs"][0]["stderr"])
        assert sent["id"] == sent["permission_request_id"]
        assert sent["tool_call_id"]
        assert sent["action"] == action
        if "path" in display:
            display["path"] = str(project / display["path"])
        assert sent["display"] == {**display, "cwd": str(project)}

    def test_a_sample_that_matchers_look_at_is_named(self, blocker: Path, project: Path) -> None:
        ended = tenterhook("trigger", "pre-tool-call")
        assert ended.stderr == 'sample sent: --tool "Shell", --input {"command": "ls -la"}\n'
        named = tenterhook("trigger", "pre-tool-call", "--tool", "Write")
        assert named.stderr.startswith('sample sent: --input {"file_path": ')
        assert tenterhook("trigger", "pre-agent-turn", "--prompt", "hi").stderr == ""
        assert tenterhook("trigger", "pre-tool-call", "--json").stderr == ""

    def test_a_payload_is_sent_as_it_is(self, project: Path) -> None:
        config = write_config(project / "c.toml", table_hook("cat >&2", event="before_stop"))
        verdict = trigger("before_stop", "--config", config, "--payload", "-", input='{"stop_reason": "max_steps"}')
        sent = json.loads(verdict["runs"][0]["stderr"])
        assert sent["stop_reason"] == "max_steps"
        assert "final_message" not in sent

    def test_a_payload_of_another_machine_names_the_option_that_helps(self, project: Path) -> None:
        payload = json.dumps({"work_dir": "/home/somebody/else", "tool_name": "Shell", "tool_input": {"command": "ls"}})
        ended = tenterhook("trigger", "pre-tool-call", "--payload", "-", input=payload)
        assert ended.returncode == 64
        assert "no such directory: /home/somebody/else" in ended.stderr
        assert "--cwd ." in ended.stderr
        assert tenterhook("trigger", "pre-tool-call", "--payload", "-", "--cwd", ".", input=payload).returncode == 0
        assert "--cwd ." not in tenterhook("trigger", "pre-tool-call", "--cwd", "/nowhere").stderr

    @pytest.mark.parametrize("how", [(), ("--dry-run",)])
    def test_errors_are_shown_and_warnings_left_to_check_and_list(self, home: Path, project: Path, how: Any) -> None:
        folder_hook(user_hooks(home), "one-name", "exit 0").rename(user_hooks(home) / "another-name")
        event = ("trigger", "pre-tool-call", "--tool", "x", "--input", "{}", *how)
        assert tenterhook(*event).stderr == ""
        folder_hook(user_hooks(home), "broken", "exit 0", trigger="no-such-event")
        ended = tenterhook(*event)
        assert "no-such-event" in ended.stderr
        assert "another-name" not in ended.stderr
        for command in ("check", "list"):
            shown = tenterhook(command)
            assert "another-name" in shown.stdout + shown.stderr

    def test_an_unknown_scope_makes_an_approval_unreadable_and_the_note_says_so(self, project: Path) -> None:
        """Unreadable answer: the person is asked (7)."""
        said = '{"hookSpecificOutput": {"permissionDecision": "%s", "scope": "forever"}}'
        options = ("--tool", "Shell", "--input", '{"command": "ls"}', "--config")
        for decision, outcome in (("allow", "none"), ("deny", "deny")):
            config = write_config(
                project / "c.toml", array_hook(f"echo '{said % decision}'", event="PermissionRequest")
            )
            verdict = trigger("permission-request", *options, config)
            assert verdict["decision"] == verdict["runs"][0]["decision"] == outcome
            note = verdict["runs"][0]["notes"][-1]
            assert note == 'scope is "forever", not one of once, session; an approval with it does not count'
        config = write_config(project / "c.toml", array_hook(f"echo '{said % 'allow'}'"))
        before = trigger("pre-tool-call", *options, config)  # where no approval lasts longer
        assert before["decision"] == "approve"
        assert "it counts for this once" in before["runs"][0]["notes"][0]

    def test_options_win_over_the_payload(self, project: Path) -> None:
        config = write_config(project / "c.toml", table_hook("cat >&2"))
        payload = json.dumps({"tool_name": "A", "tool_input": {"a": 1}, "session_id": "s7"})
        options = ("--tool", "B", "--input", '{"b": 2}', "--session", "s8")
        verdict = trigger("before_tool", "--config", config, "--payload", "-", *options, input=payload)
        sent = json.loads(verdict["runs"][0]["stderr"])
        assert (sent["tool_name"], sent["tool_input"], sent["session_id"]) == ("B", {"b": 2}, "s8")

    def test_the_session_is_the_options_then_the_payloads_then_the_environments_then_fresh(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config = write_config(project / "c.toml", array_hook('printf %s "$KIMI_SESSION_ID" >&2', event="Stop"))

        def session(*options: str, payload: str = "{}") -> str:
            verdict = trigger("Stop", "--config", config, "--payload", "-", *options, input=payload)
            return str(verdict["runs"][0]["stderr"])

        fresh = {session(), session()}
        assert len(fresh) == 2
        monkeypatch.setenv("TENTERHOOK_SESSION_ID", "from-env")
        assert session() == "from-env"
        assert session(payload='{"session_id": "from-payload"}') == "from-payload"
        assert session("--session", "from-option", payload='{"session_id": "from-payload"}') == "from-option"

    def test_the_state_of_a_session_lasts_across_commands(self, project: Path) -> None:
        config = write_config(
            project / "c.toml",
            table_hook('echo "PROJECT_TYPE=python" >> "$KIMI_ENV_FILE"', event="session_start")
            + table_hook('echo "type: $PROJECT_TYPE" >&2; exit 2'),
        )
        trigger("session_start", "--config", config, "--session", "one")
        with_state = trigger("before_tool", "--tool", "x", "--config", config, "--session", "one")
        without = trigger("before_tool", "--tool", "x", "--config", config, "--session", "two")
        assert (with_state["reason"], without["reason"]) == ("type: python", "type:")

    def test_the_root_is_fixed_for_the_session(self, project: Path, tmp_path: Path) -> None:
        folder_hook(project_hooks(project), "here", "exit 0")
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        options = ("--session", "s", "--trust-project", "--tool", "x")
        first = trigger("pre-tool-call", *options)
        moved = trigger("pre-tool-call", *options, "--cwd", elsewhere)
        other = trigger("pre-tool-call", "--session", "t", "--tool", "x", "--cwd", elsewhere)
        assert [len(verdict["runs"]) for verdict in (first, moved, other)] == [1, 1, 0]

    def test_a_refused_config_exits_with_one_and_other_sources_still_work(self, blocker: Path, project: Path) -> None:
        bad = write_config(project / "bad.toml", array_hook("x", nope=1))
        good = write_config(project / "good.toml", array_hook("exit 0", event="Stop"))
        ended = tenterhook("trigger", "Stop", "--config", bad, "--config", good, "--json")
        assert ended.returncode == 1
        verdict = json.loads(ended.stdout)
        assert [run["outcome"] for run in verdict["runs"]] == ["ok"]
        (problem,) = verdict["problems"]
        assert set(problem) == {"code", "file", "line", "key", "message", "remedy"}
        assert (problem["code"], problem["file"], problem["key"]) == ("unknown-key", str(bad), "nope")
        assert tenterhook("trigger", "PreToolUse", *DANGEROUS, "--config", bad).returncode == 2
        assert tenterhook("trigger", "Stop", "--config", project / "none.toml").returncode == 1

    def test_an_unknown_event_is_told_what_it_may_have_meant(self, project: Path) -> None:
        assert "'pre-tool-call'" in tenterhook("trigger", "pre-tool-cal").stderr

    def test_an_unknown_agent_is_told_what_it_may_have_meant(self, project: Path) -> None:
        ended = tenterhook("trigger", "pre-tool-call", "--agent", "claude", "--dry-run")
        assert ended.returncode == 64
        assert "did you mean claude-code? One of: agent, " in ended.stderr
        for name in ("agent", "claude-code", "codex"):
            assert tenterhook("trigger", "pre-tool-call", "--agent", name, "--dry-run").returncode == 0

    def test_debug_says_what_happens_on_stderr(self, project: Path) -> None:
        config = write_config(
            project / "c.toml",
            table_hook('echo \'{"decision": "deny", "reason": "r", "log": "l"}\'', name="guard")
            + table_hook("true", name="later", async_=True),
        )
        ended = tenterhook("trigger", "before_tool", "--tool", "x", "--config", config, "--debug", "--json")
        json.loads(ended.stdout)
        lines = ended.stderr.splitlines()
        assert lines[0] == "[HOOK DEBUG] [SYNC] Starting command hook 'guard' for event 'before_tool'"
        assert lines[1].startswith('[HOOK DEBUG] Input: {"event_type": "before_tool"')
        assert lines[2].startswith("[HOOK DEBUG] [SYNC] Completed hook 'guard' in ")
        assert lines[2].endswith("ms: success=True, decision=deny")
        assert "[HOOK DEBUG] Reason: r" in lines
        assert "[HOOK DEBUG] Log: l" in lines
        assert "[HOOK DEBUG] [ASYNC] Hook 'later' fired (running in background)" in lines

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_a_signal_leaves_no_process_behind(self, project: Path, number: signal.Signals) -> None:
        command = "trap '' TERM INT HUP; sleep 300 & echo $! > child; echo $$ > pid; wait"
        config = write_config(project / "c.toml", array_hook(command))
        running = subprocess.Popen(
            [sys.executable, "-m", "tenterhook", "trigger", "PreToolUse", "--config", str(config)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        until(lambda: (project / "pid").exists() and (project / "pid").read_text().strip())
        pids = [int((project / name).read_text()) for name in ("pid", "child")]
        assert all(alive(pid) for pid in pids)
        running.send_signal(number)
        out, err = running.communicate(timeout=30)
        assert running.returncode == 128 + number
        assert (out, err) == (b"", b"")
        until(lambda: not any(alive(pid) for pid in pids))

    def test_control_characters_are_shown_escaped(self, project: Path) -> None:
        config = write_config(project / "c.toml", array_hook(r"printf 'a\033[31mb\342\200\256c' >&2; exit 2"))
        ended = tenterhook("trigger", "PreToolUse", "--config", config)
        assert "a\\x1b[31mb\\u202ec" in ended.stdout
        assert "\x1b" not in ended.stdout


class TestDryRun:
    """Explaining without running."""

    def test_it_runs_nothing_and_gives_each_reason(self, home: Path, project: Path) -> None:
        hooks = user_hooks(home)
        wanted: dict[str, dict[str, Any]] = {
            "first": {"priority": 500},
            "second": {},
            "other-event": {"trigger": "Stop"},
            "other-tool": {"matcher": {"tool": "WriteFile"}},
            "other-input": {"matcher": {"pattern": "mkfs"}},
            "switched-off": {},
            "later": {"async": True},
        }
        for name, front in wanted.items():
            folder_hook(hooks, name, "touch ran", **front)
        write_config(hooks / "hooks.toml", "[[hooks.disable]]\nname = 'switched-off'\n")
        folder_hook(project_hooks(project), "theirs", "touch ran")
        ended = tenterhook("trigger", "pre-tool-call", *DANGEROUS, "--dry-run", "--json")
        assert ended.returncode == 0
        said = {each["hook"]: each for each in json.loads(ended.stdout)["hooks"]}
        assert [name for name, each in said.items() if each["would_run"]] == ["first", "second", "later"]
        assert (said["first"]["stage"], said["second"]["stage"], said["later"]["async"]) == (1, 2, True)
        assert said["other-event"]["why_not"] == "event: the hook is for Stop"
        assert said["other-tool"]["why_not"].startswith("tool: 'WriteFile' is not found in 'Shell'")
        assert said["other-input"]["why_not"] == "pattern: 'mkfs' is not found in 'rm -rf /'"
        assert said["switched-off"]["why_not"].startswith("disabled by ")
        assert said["theirs"]["why_not"] == "untrusted: it was never trusted"
        text = tenterhook("trigger", "pre-tool-call", *DANGEROUS, "--dry-run").stdout
        assert all(each["hook"] in text for each in said.values())
        assert not (project / "ran").exists()


def test_a_guard_that_cannot_run_is_not_in_force(home: Path, project: Path) -> None:
    (folder_hook(user_hooks(home), "empty") / "scripts" / "run.sh").unlink()
    folder_hook(user_hooks(home), "lost", "#!/no/such/interpreter\n")
    (row,) = [line for line in tenterhook("list").stdout.splitlines() if line.startswith("  empty")]
    assert "no script" in row
    assert row.endswith("it will fail")
    assert "it will fail: no script" in tenterhook("trigger", "pre-tool-call", "--dry-run").stdout
    why = {run["hook"]: run["why"] for run in trigger("pre-tool-call")["runs"]}
    assert why["empty"] == "cannot start: no script"
    assert why["lost"].startswith("cannot start: its #! line names '/no/such/interpreter', which does not exist")
    assert "names /no/such/interpreter, which does not exist" in tenterhook("check").stdout


def test_a_misspelt_on_failure_fails_closed_and_is_told(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 1", metadata={"on_failure": "blok"})
    verdict = trigger("pre-tool-call")
    assert verdict["decision"] == "deny"
    assert [problem["code"] for problem in verdict["problems"]] == ["odd-on-failure"]


def test_what_a_failed_hook_said_is_shown(project: Path) -> None:
    config = write_config(project / "c.toml", array_hook("echo oops >&2; exit 1"))
    text = tenterhook("trigger", "PreToolUse", "--config", config).stdout
    assert "exit 1: oops" in text
    assert "only exit 2 blocks" in text
    assert "defined in c.toml:1" in text


def test_a_session_that_nobody_named_leaves_nothing_behind(home: Path, project: Path) -> None:
    config = write_config(project / "c.toml", array_hook("exit 0"))
    trigger("PreToolUse", "--config", config)
    assert list((home / ".local" / "state" / "tenterhook" / "sessions").iterdir()) == []
    trigger("PreToolUse", "--config", config, "--session", "named")
    assert len(list((home / ".local" / "state" / "tenterhook" / "sessions").iterdir())) == 1
