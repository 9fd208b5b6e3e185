"""The command line as a person uses it: real commands, real exit statuses."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pexpect
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
from tenterhook.basics import agent_marks, processes
from tenterhook.events import EVENTS

if TYPE_CHECKING:
    from pathlib import Path

DANGEROUS = ("--tool", "Shell", "--input", '{"command": "rm -rf /"}')
RUN_KEYS = {
    "hook", "source", "event_name", "async", "outcome", "why", "decision", "reason", "exit_code", "duration_ms",
    "stdout", "stderr", "notes",
}  # fmt: skip


@pytest.fixture
def blocker(home: Path) -> Path:
    return folder_hook(user_hooks(home), "blocker", "echo 'not here' >&2; exit 2", matcher={"pattern": "rm -rf /"})


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
            "schema", "event", "decision", "reason", "modified_input", "additional_context", "messages", "runs",
            "problems",
        ]  # fmt: skip
        assert (verdict["schema"], verdict["event"], verdict["decision"]) == (1, "pre-tool-call", "deny")
        (run,) = verdict["runs"]
        assert set(run) == RUN_KEYS
        assert (run["hook"], run["outcome"], run["exit_code"], run["reason"]) == ("blocker", "blocked", 2, "not here")
        assert run["source"] == str(blocker / "HOOK.md")
        assert run["event_name"] == "pre-tool-call"
        assert isinstance(run["duration_ms"], float)

    @pytest.mark.parametrize("spec", EVENTS, ids=lambda spec: spec.name)
    def test_every_name_of_an_event_is_taken(self, project: Path, spec: Any) -> None:
        config = write_config(project / "c.toml", "".join(array_hook(":", event=name) for name in spec.names))
        names = [spec.name] if spec.name not in ("pre-tool-call", "pre-agent-turn-stop") else spec.names
        for name in names:
            verdict = trigger(name, "--config", config)
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
    def test_every_documented_field_is_sent(self, project: Path, spec: Any, family: str) -> None:
        hook = table_hook if family == "table" else array_hook
        ends = "cat > sent.new; mv sent.new sent"  # whole, or not at all
        config = write_config(project / "c.toml", hook(ends, event=spec.name))
        trigger(spec.name, "--config", config)
        sent = json.loads(until(lambda: (project / "sent").exists() and (project / "sent").read_text()))
        shown = json.loads(tenterhook("show", spec.name, "--json").stdout)["event"]
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

    @pytest.mark.parametrize(
        "arguments",
        [
            ["trigger"],
            ["trigger", "no-such-event"],
            ["trigger", "Stop", "--nope"],
            ["trigger", "Stop", "--payload", "no-such-file"],
            ["trigger", "Stop", "--payload", "-"],
            ["trigger", "pre-tool-call", "--input", "{"],
            ["trigger", "pre-tool-call", "--payload", "no-json"],
            ["trigger", "Stop", "--cwd", "/no/such/directory"],
            ["trigger", "Stop", "--agent", "nobody"],
            ["no-such-command"],
            ["list", "--event", "no-such-event"],
            ["trust", "--yes"],
            ["untrust"],
            ["check", "--format", "nope"],
        ],
    )
    def test_wrong_use_exits_with_64_and_says_why(self, project: Path, arguments: list[str]) -> None:
        ended = tenterhook(*arguments, input="[1]")
        assert ended.returncode == 64
        assert ended.stdout == ""
        assert "Error:" in ended.stderr
        assert "Traceback" not in ended.stderr

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
        assert said["other-event"]["why_not"] == "event: it is for Stop"
        assert said["other-tool"]["why_not"].startswith("tool: 'WriteFile' is not found in 'Shell'")
        assert said["other-input"]["why_not"] == "pattern: 'mkfs' is not found in 'rm -rf /'"
        assert said["switched-off"]["why_not"].startswith("disabled by ")
        assert said["theirs"]["why_not"] == "untrusted: it was never trusted"
        text = tenterhook("trigger", "pre-tool-call", *DANGEROUS, "--dry-run").stdout
        assert all(each["hook"] in text for each in said.values())
        assert not (project / "ran").exists()


class TestListAndShow:
    """Looking at hooks and events."""

    def test_list_shows_hooks_by_layer_and_problems_below(self, blocker: Path, home: Path, project: Path) -> None:
        later: dict[str, Any] = {"async": True}
        folder_hook(project_hooks(project), "theirs", **later)
        (user_hooks(home) / "broken").mkdir()
        (user_hooks(home) / "broken" / "HOOK.md").write_text("x")
        text = tenterhook("list").stdout
        assert text.index("user") < text.index("blocker") < text.index("project") < text.index("theirs")
        assert text.index("theirs") < text.index("[no-front-matter]")
        listed = json.loads(tenterhook("list", "--json").stdout)
        hooks = {hook["name"]: hook for hook in listed["hooks"]}
        assert (hooks["theirs"]["trust"], hooks["theirs"]["in_force"], hooks["theirs"]["mode"]) == (
            "untrusted",
            False,
            "async",
        )
        assert hooks["blocker"]["matcher"]["pattern"] == "rm -rf /"
        assert [problem["code"] for problem in listed["problems"]] == ["no-front-matter"]

    def test_list_by_event_takes_any_name(self, blocker: Path, project: Path) -> None:
        assert "blocker" in tenterhook("list", "--event", "PreToolUse").stdout
        assert "blocker" not in tenterhook("list", "--event", "Stop").stdout

    def test_an_empty_list_says_where_hooks_go(self, project: Path) -> None:
        assert "~/.config/agents/hooks" in tenterhook("list").stdout

    def test_show_prints_a_hook_with_body_and_script(self, blocker: Path, project: Path) -> None:
        text = tenterhook("show", "blocker").stdout
        assert "# blocker" in text
        assert "echo 'not here'" in text
        (shown,) = json.loads(tenterhook("show", "blocker", "--json").stdout)["hooks"]
        assert shown["body"].strip() == "# blocker"
        assert "exit 2" in shown["script_text"]

    @pytest.mark.parametrize("spec", EVENTS, ids=lambda spec: spec.name)
    def test_show_prints_an_event(self, project: Path, spec: Any) -> None:
        shown = json.loads(tenterhook("show", spec.names[-1], "--json").stdout)["event"]
        assert shown["names"] == list(spec.names)
        assert set(shown["fields"]) <= set(shown["example"])
        assert set(shown["array_fields"]) <= set(shown["array_example"])
        assert shown["block"]

    def test_what_is_neither_is_an_error(self, project: Path) -> None:
        ended = tenterhook("show", "nothing")
        assert ended.returncode == 1
        assert "no hook and no event" in ended.stderr


class TestCheck:
    """Finding mistakes."""

    def codes(self, *arguments: Any) -> list[str]:
        return sorted(
            problem["code"] for problem in json.loads(tenterhook("check", *arguments, "--json").stdout)["problems"]
        )

    def test_good_hooks_have_no_problems(self, blocker: Path, project: Path) -> None:
        ended = tenterhook("check")
        assert (ended.returncode, ended.stdout) == (0, "1 hook, 0 errors, 0 warnings\n")

    def test_errors_exit_with_one_and_warnings_with_zero(self, project: Path) -> None:
        bad = write_config(project / "bad.toml", array_hook("x", nope=1))
        odd = write_config(project / "odd.toml", array_hook("true | no-such-jq"))
        assert tenterhook("check", bad).returncode == 1
        assert tenterhook("check", odd).returncode == 0
        assert self.codes(odd) == ["missing-program"]

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            (array_hook("if true; then"), "script-syntax"),
            (array_hook(":", matcher="(a+)+$"), "can-run-away"),
            (array_hook(":", matcher=r"\AShell\Z"), "dialect"),
            (table_hook(":", matcher={"tool": r"\AShell"}), "dialect"),
            (array_hook(":", event="before_tool"), "foreign-event-name"),
            (array_hook("python3 no/such/script.py"), "cannot-start"),
            (array_hook("cat | no-such-jq .tool_name"), "missing-program"),
            (table_hook('sh -c "echo {{tool_name}}"'), "placeholder-in-code"),
            (table_hook("eval {{tool_name}}"), "placeholder-in-code"),
            (table_hook("python3 -c 'print(\"{{tool_name}}\")'"), "placeholder-in-code"),
            (table_hook(":", event="before_stop", matcher={"tool": "x"}), "matcher-on-other-event"),
        ],
    )
    def test_what_is_legal_but_wrong_is_found(self, project: Path, text: str, code: str) -> None:
        assert code in self.codes(write_config(project / "c.toml", text))

    def test_what_is_found_has_the_line_of_its_key(self, project: Path) -> None:
        text = "[[hooks]]\nevent = 'PreToolUse'\n\nmatcher = '(a+)+$'\ncommand = 'if'\n"
        found = json.loads(tenterhook("check", write_config(project / "c.toml", text), "--json").stdout)["problems"]
        lines = {problem["code"]: (problem["line"], problem["key"]) for problem in found}
        assert lines == {"can-run-away": (4, "matcher"), "script-syntax": (5, "command")}
        made = folder_hook(project / "hooks", "guard", matcher={"tool": "x"})
        head = "---\nname: guard\ndescription: d\ntrigger: PreToolUse\nmatcher:\n  tool: Shell\n"
        (made / "HOOK.md").write_text(head + '  pattern: "\\.(a+)+$"\n---\n')
        found = json.loads(tenterhook("check", made, "--json").stdout)["problems"]
        assert {(problem["code"], problem["line"], problem["key"]) for problem in found} == {
            ("can-run-away", 7, "pattern"),
            ("escape-in-quotes", 7, "pattern"),
        }
        assert r"pattern: '\.(a+)+$'" in next(p["remedy"] for p in found if p["code"] == "escape-in-quotes")

    def test_folders_are_checked_for_their_scripts_names_and_length(self, project: Path) -> None:
        hooks = project / "hooks"
        folder_hook(hooks, "one")
        (folder_hook(hooks, "two", name="one") / "scripts" / "run.sh").chmod(0o644)
        (folder_hook(hooks, "three") / "scripts" / "run.sh").unlink()
        folder_hook(hooks, "four", "if")
        folder_hook(hooks, "five", "#!/bin/sh\r\nexit 0\r\n")
        with (folder_hook(hooks, "six") / "HOOK.md").open("a") as file:
            file.write("word " * 1000)
        expected = [
            "long-body",
            "name-differs",
            "name-twice",
            "no-script",
            "not-executable",
            "script-syntax",
            "script-syntax",
        ]
        assert self.codes(hooks) == expected

    def test_a_single_folder_a_project_and_a_settings_file_can_be_named(self, project: Path) -> None:
        made = folder_hook(project_hooks(project), "odd", trigger="nope")
        write_config(project_hooks(project) / "hooks.toml", "[hooks]\nenabeld = true\n")
        assert self.codes(made) == self.codes(made / "HOOK.md") == ["unknown-event"]
        assert self.codes(project) == ["ignored-key", "unknown-event"]
        assert self.codes(project_hooks(project) / "hooks.toml") == ["ignored-key"]

    def test_a_path_without_hooks_says_so(self, project: Path) -> None:
        (project / "empty").mkdir()
        assert self.codes(project / "empty") == ["no-hooks"]

    def test_github_annotations_name_file_and_line(self, project: Path) -> None:
        write_config(project / "bad.toml", array_hook("x", nope=1))
        ended = tenterhook("check", "bad.toml", "--format", "github")
        assert ended.stdout.startswith("::error file=bad.toml,line=4,title=unknown-key::unknown key 'nope'")


def test_a_guard_that_cannot_run_is_not_in_force(home: Path, project: Path) -> None:
    (folder_hook(user_hooks(home), "empty") / "scripts" / "run.sh").unlink()
    folder_hook(user_hooks(home), "lost", "#!/no/such/interpreter\n")
    assert "no script: it will fail" in tenterhook("list").stdout
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


class TestTrust:
    """Trusting from the command line."""

    @pytest.fixture
    def theirs(self, project: Path) -> Path:
        return folder_hook(project_hooks(project), "theirs", "echo theirs >&2; exit 2")

    def fire(self) -> subprocess.CompletedProcess[str]:
        return tenterhook("trigger", "pre-tool-call", *DANGEROUS)

    def test_an_untrusted_hook_is_said_on_stderr_with_the_remedy(self, theirs: Path) -> None:
        ended = self.fire()
        assert ended.returncode == 0
        assert "1 project hook was not run" in ended.stderr
        assert "tenterhook trust" in ended.stderr

    def test_trust_shows_what_it_trusts_and_untrust_takes_it_back(self, theirs: Path) -> None:
        shown = tenterhook("trust", "theirs", "--yes").stdout
        assert "echo theirs" in shown
        assert "outside its folder is not covered" in shown
        assert self.fire().returncode == 2
        assert tenterhook("untrust", "theirs", "--yes").returncode == 0
        assert self.fire().returncode == 0

    def test_trust_again_shows_the_difference(self, theirs: Path) -> None:
        tenterhook("trust", "--all", "--yes")
        script = theirs / "scripts" / "run.sh"
        script.write_text(script.read_text().replace("theirs", "changed"))
        shown = tenterhook("trust", "--all", "--yes").stdout
        assert "-echo theirs" in shown
        assert "+echo changed" in shown
        assert "HOOK.md" not in shown

    def test_trust_project_is_for_one_call_and_replaces_nothing(self, theirs: Path, home: Path) -> None:
        folder_hook(user_hooks(home), "theirs", "exit 0")
        verdict = trigger("pre-tool-call", *DANGEROUS, "--trust-project")
        assert [run["outcome"] for run in verdict["runs"]] == ["ok", "blocked"]
        assert self.fire().returncode == 0

    def test_replacing_ones_own_hook_needs_to_be_said(self, theirs: Path, home: Path) -> None:
        folder_hook(user_hooks(home), "theirs", "exit 0")
        tenterhook("trust", "theirs", "--yes")
        assert len(trigger("pre-tool-call", *DANGEROUS)["runs"]) == 2
        tenterhook("trust", "theirs", "--yes", "--replace")
        assert [run["outcome"] for run in trigger("pre-tool-call", *DANGEROUS)["runs"]] == ["blocked"]

    def test_replace_is_recorded_for_a_hook_that_is_trusted_already(self, theirs: Path, home: Path) -> None:
        folder_hook(user_hooks(home), "theirs", "exit 0")
        tenterhook("trust", "--all", "--yes")
        shown = tenterhook("trust", "--all", "--yes", "--replace").stdout
        assert "It replaces your own hook 'theirs'." in shown
        assert [run["outcome"] for run in trigger("pre-tool-call", *DANGEROUS)["runs"]] == ["blocked"]
        assert "nothing to trust" in tenterhook("trust", "--all", "--yes", "--replace").stdout

    @pytest.mark.parametrize(
        ("typed", "status"),
        [
            (["trust"], 1),
            (["trust", "theirs"], 1),
            (["trust", "--replace"], 1),
            (["trust", "--code"], 1),
            (["trust", "--yes"], 64),
            (["untrust"], 64),
            (["untrust", "theirs"], 1),
        ],
    )
    def test_without_a_terminal_the_remedy_is_a_command_that_works(
        self, theirs: Path, typed: list[str], status: int
    ) -> None:
        if typed[0] == "untrust":
            tenterhook("trust", "theirs", "--yes")
        ended = tenterhook(*typed, stdin=subprocess.DEVNULL)
        assert ended.returncode == status
        remedy = ended.stderr.rpartition(": tenterhook ")[2].split()
        assert "--yes" in remedy
        followed = tenterhook(*remedy, stdin=subprocess.DEVNULL)
        assert followed.returncode == 0, followed.stderr
        assert "trusted" in followed.stdout

    @pytest.mark.parametrize("command", ["hub join", "inbox sign-in"])
    def test_without_a_terminal_a_token_is_to_come_from_a_file(self, command: str) -> None:
        ended = tenterhook(*command.split(), "http://127.0.0.1:1", stdin=subprocess.DEVNULL)
        assert ended.returncode == 1
        assert f"tenterhook {command} http://127.0.0.1:1 --token-file FILE --yes\n" in ended.stderr

    @pytest.mark.parametrize("command", ["trust", "untrust"])
    def test_an_agent_that_is_guarded_may_not_widen_what_runs(self, theirs: Path, command: str) -> None:
        agent_marks.mark(processes.this())
        ended = tenterhook(command, "theirs", "--yes")
        assert ended.returncode == 1
        assert "an agent that Tenterhook guards" in ended.stderr
        assert self.fire().returncode == 0

    def test_on_a_terminal_it_asks(self, theirs: Path) -> None:
        for answer, state in ((b"n\n", 0), (b"y\n", 2)):
            main, other = pty.openpty()
            running = subprocess.Popen(
                [sys.executable, "-m", "tenterhook", "trust"], stdin=other, stdout=other, stderr=other, close_fds=True
            )
            os.close(other)
            seen = b""
            deadline = time.monotonic() + 30
            while b"Trust exactly this?" not in seen:
                assert time.monotonic() < deadline
                seen += os.read(main, 4096)
            os.write(main, answer)
            running.wait(30)
            os.close(main)
            assert self.fire().returncode == state

    def test_an_unknown_name_is_an_error(self, theirs: Path) -> None:
        ended = tenterhook("trust", "nobodys", "--yes")
        assert ended.returncode == 1
        assert "its hooks: theirs" in ended.stderr


def test_help_teaches(project: Path) -> None:
    assert "trigger" in tenterhook("--help").stdout
    for command in ("list", "show", "check", "trigger", "trust", "untrust"):
        text = tenterhook(command, "--help").stdout
        assert f"tenterhook {command}" in text.partition("Options:")[0].partition("\n")[2]  # an example


def test_output_that_nobody_reads_is_no_error(blocker: Path, project: Path) -> None:
    ended = subprocess.run(
        f"{sys.executable} -m tenterhook list --json | true", shell=True, capture_output=True, text=True
    )
    assert ended.stderr == ""


def test_a_command_that_is_misspelt_is_guessed() -> None:
    ended = tenterhook("instal")
    assert (ended.returncode, ended.stdout) == (64, "")
    assert "No such command 'instal'. Did you mean 'install'?" in ended.stderr
    assert "Did you mean" not in tenterhook("xyzzy").stderr


def test_an_agents_own_file_is_not_named_for_that_agent(home: Path) -> None:
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}}')
    before = settings.read_bytes()
    ended = tenterhook("install", "gemini", "--config", str(settings))
    assert ended.returncode == 1
    assert "Gemini CLI runs the hooks of" in ended.stderr
    assert settings.read_bytes() == before
    assert tenterhook("install", "claude-code", "--config", str(settings)).returncode == 0


def test_hooks_that_no_agent_calls_yet_are_said_to_be_so(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert "1 in force in . ; no agent calls them yet".replace(" ;", ";") in tenterhook().stdout.replace(
        str(project), "."
    )
    assert tenterhook("install", "claude-code").returncode == 0
    assert "no agent calls them yet" not in tenterhook().stdout


def test_a_live_run_that_cannot_be_made_is_no_guard_that_fails(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert tenterhook("install", "claude-code").returncode == 0
    ended = tenterhook("doctor", "claude-code", "--live", env={**os.environ, "PATH": "/usr/bin:/bin"})
    assert ended.returncode == 1
    assert "not tried: whether guards hold was not shown" in ended.stdout
    assert "a guard would not hold" not in ended.stdout


def on_terminal(*arguments: str, width: int) -> str:
    """What a command prints on a terminal, without its colours."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "tenterhook", *arguments],
        env=environment,
        dimensions=(40, width),
        encoding="utf-8",
        timeout=60,
    )
    child.expect(pexpect.EOF)
    child.close()
    return re.sub(r"\x1b\[[0-9;]*m", "", child.before or "").replace("\r\n", "\n")


def test_on_a_terminal_a_change_is_shown_without_the_middle_of_long_lines(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    whole = tenterhook("install", "claude-code", "--dry-run").stdout
    assert max(map(len, whole.splitlines())) > 200
    told = json.loads(tenterhook("install", "claude-code", "--dry-run", "--json").stdout)
    assert told["installed"][0]["changes"][0] in whole
    assert "long line" not in whole
    for more in (["--dry-run"], [], ["--dry-run"]):  # the last has nothing to change
        shown = on_terminal("install", "claude-code", "--no-hub", *more, width=100)
        diff = shown[: shown.find("Claude Code:")].splitlines()
        assert all(len(line) <= 100 for line in diff)
        assert ("(…: the middle of a long line; --dry-run | cat shows it)" in diff) == any(
            line.startswith("+") for line in diff
        )
    assert tenterhook("install", "claude-code", "--dry-run").stdout == "Claude Code: nothing would change\n"
