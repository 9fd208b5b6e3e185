"""Cline: hook files judge a call, and the plug-in gives the model the reason; without it the call fails, too."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from hosts.homes import prepared
from hosts.recorded import DATA, answer, read
from support import folder_hook, lose_tenterhook, until, user_hooks
from tenterhook import Action, Verdict, cli
from tenterhook.agents import AGENTS
from tenterhook.guards import calls

if TYPE_CHECKING:
    from pathlib import Path

CLINE = AGENTS["cline"]
REASON = "not with me"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on the PATH")


# ---- events and answers


def test_every_line_of_a_list_of_commands_is_judged() -> None:
    tool_input = read(DATA / "cline" / "PreToolUse-two-commands.json").event.tool_input
    assert tool_input["command"] == "echo hi\necho oops >&2; exit 3"
    lines = calls.shell_lines(calls.GuardedCall("run_commands", tool_input, "/", {}))
    assert tool_input["command"] in lines


def test_a_program_with_its_arguments_is_a_line_too() -> None:
    payload = json.loads((DATA / "cline" / "PreToolUse.json").read_text())
    payload["tool_call"]["input"] = {"commands": ["ls", {"command": "rm", "args": ["-rf", "x"]}]}
    event = CLINE.read_event(payload, "PreToolUse").event
    assert event.tool_input["command"] == "ls\nrm -rf x"


def test_a_command_or_a_file_beside_the_one_that_the_tool_reads_hides_nothing() -> None:
    payload = json.loads((DATA / "cline" / "PreToolUse.json").read_text())
    payload["tool_call"]["input"] = {"commands": ["rm -rf x"], "command": "ls"}
    assert CLINE.read_event(payload, "PreToolUse").event.tool_input["command"] == "rm -rf x"
    payload["tool_call"] = {"name": "read_files", "input": {"files": [{"path": "/etc/shadow"}], "file_path": "/tmp/x"}}
    assert CLINE.read_event(payload, "PreToolUse").event.tool_input["file_path"] == "/etc/shadow"
    decoy = {"path": "/etc/shadow", "new_text": "", "files": [{"path": "/tmp/x"}], "file_path": "/tmp/x"}
    payload["tool_call"] = {"name": "editor", "input": decoy}
    assert CLINE.read_event(payload, "PreToolUse").event.tool_input["file_path"] == "/etc/shadow"


@pytest.mark.parametrize(
    ("stem", "error"),
    [
        ("failed-command", "hi\n\n[Command exited with code 3]\n\n[stderr]\noops\n"),
        ("refused", "Tenterhook could not answer: this is refused. Look into it with: tenterhook doctor cline"),
    ],
)
def test_a_call_that_failed_has_the_error_that_the_model_sees(stem: str, error: str) -> None:
    assert read(DATA / "cline" / f"PostToolUse-{stem}.json").event.fields["error"] == error


def test_a_question_is_a_refusal_for_it_would_run_the_tool() -> None:
    said = answer("cline/PreToolUse", Verdict("", Action.ASK, "sure?"))
    assert "sure?" in json.loads(said.stdout)["deny"]
    assert said.lost == ("ask: denied",)


def test_no_tool_takes_the_input_of_a_refused_call() -> None:
    said = json.loads(answer("cline/PreToolUse", Verdict("", Action.DENY, REASON)).stdout)
    assert list(said["overrideInput"]) == ["tenterhook_refused"]
    assert said["contextModification"] == REASON


# ---- settings


def test_a_plug_in_that_is_switched_off_is_found(home: Path, project: Path) -> None:
    file = home / ".cline/data/settings/global-settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"disabledPlugins": [CLINE.settings()]}))
    assert any("disabledPlugins" in what for what, _ in CLINE.switches(CLINE.settings(), str(project)))
    file.write_text(json.dumps({"disabledPlugins": ["/another.js"]}))
    assert not any("disabledPlugins" in what for what, _ in CLINE.switches(CLINE.settings(), str(project)))


def test_without_node_it_is_said_what_does_not_work(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    [(what, remedy)] = CLINE.switches(CLINE.settings(), str(project))
    assert "no `node` on the PATH" in what
    assert remedy == "put node on the PATH"


def test_other_models_and_their_keys_are_left_out_of_a_trial(home: Path) -> None:
    before = {"providers": {"cline": {"settings": {"apiKey": "real"}}}, "lastUsedProvider": "cline"}
    after = prepared(home, "cline", json.dumps(before))
    assert list(after["providers"]) == [after["lastUsedProvider"]] == ["openai-compatible"]
    assert "real" not in json.dumps(after)


# ---- a hook file and the plug-in, as `install` writes them


class Installed:
    """The files that `install` wrote, run as Cline runs them."""

    def __init__(self, home: Path, project: Path, *options: str) -> None:
        self.home, self.project = home, project
        assert cli.run(["install", "cline", *options]) == 0

    @property
    def answers(self) -> Path:
        return self.home / ".local/state/tenterhook/answers"

    def hook_file(self, event: str, command: str = "ls", **call: Any) -> dict[str, Any]:
        """The answer of a hook file."""
        payload = json.loads((DATA / "cline" / f"{event}.json").read_text())
        payload |= {"taskId": "t-1", "workspaceRoots": [str(self.project)]}
        key = "tool_call" if event == "PreToolUse" else "tool_result"
        payload[key] |= {"input": {"commands": [command]}, **call}
        ended = subprocess.run(
            ["sh", str(self.home / f".cline/hooks/{event}.zsh")],
            input=json.dumps(payload),
            capture_output=True,
            text=True,
        )
        said: dict[str, Any] = json.loads(ended.stdout or "{}")
        return said

    def plugin(self, *hooks: tuple[str, dict[str, Any]], patience: int = 30_000, **variables: str) -> list[Any]:
        """What the plug-in returns at each hook, and what it sends to Cline itself; it waits longer than Cline does."""
        module = self.home / "plugin.mjs"
        text = (self.home / CLINE.directory / CLINE.file).read_text()
        assert PATIENCE in text
        module.write_text(text.replace(PATIENCE, f"const PATIENCE = {patience}"))
        command = ["node", "--input-type=module", "-e", DRIVER, str(module), json.dumps(hooks)]
        environment = {**os.environ, **variables}
        ended = subprocess.run(command, capture_output=True, text=True, cwd=self.project, env=environment, timeout=60)
        assert ended.returncode == 0, ended.stderr
        returned: list[Any] = json.loads(ended.stdout)
        return returned

    def before_tool(self, given: Any = None, call: str = "call_1", command: str = "ls") -> Any:
        made = {"toolCallId": call, "input": {"commands": [command]}}
        context = {"snapshot": SNAPSHOT, "toolCall": made, "input": given or made["input"]}
        return self.plugin(("beforeTool", context))[0]


PATIENCE = "const PATIENCE = 2500"
DRIVER = """
const { default: plugin } = await import(process.argv[1])
const returned = []
globalThis.__clinePluginHost = { emitEvent: (...sent) => returned.push(sent) }
plugin.setup({}, { session: { sessionId: "s-1" } })
for (const [hook, context] of JSON.parse(process.argv[2])) returned.push((await plugin.hooks[hook](context)) ?? null)
await new Promise((resolve) => process.stdout.write(JSON.stringify(returned), resolve))
process.exit() // as Cline ends it
"""
SNAPSHOT: dict[str, Any] = {"conversationId": "t-1", "agentId": "a-1", "messages": []}


def run(prompt: str, *before: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The context of a run that begins."""
    said = {"role": "user", "content": [{"type": "text", "text": f'<user_input mode="act">{prompt}</user_input>'}]}
    return {"snapshot": {**SNAPSHOT, "messages": [*before, said], **more}}


def ended(text: str = "All done.", status: str = "completed", **more: Any) -> dict[str, Any]:
    """The context of a run that has ended."""
    return {"snapshot": {**SNAPSHOT, **more}, "result": {"status": status, "outputText": text}}


@pytest.fixture
def guarded(home: Path, project: Path) -> Installed:
    folder_hook(user_hooks(home), "guard", f'echo "{REASON}" >&2; exit 2', matcher={"pattern": "forbidden"})
    return Installed(home, project)


@needs_node
class TestRefusal:
    def test_is_the_result_of_the_call_once(self, guarded: Installed) -> None:
        said = guarded.hook_file("PreToolUse", "forbidden")
        assert said["overrideInput"] == {"tenterhook_refused": REASON}
        assert guarded.before_tool(said["overrideInput"]) == {"skip": True, "reason": REASON}
        assert list(guarded.answers.iterdir()) == []

    def test_is_not_lost_to_a_hook_file_that_changes_the_input(self, guarded: Installed) -> None:
        guarded.hook_file("PreToolUse", "forbidden")
        assert guarded.before_tool({"commands": ["forbidden, in other words"]}) == {"skip": True, "reason": REASON}

    def test_is_not_that_of_another_call(self, guarded: Installed) -> None:
        guarded.hook_file("PreToolUse", "forbidden")
        assert guarded.before_tool(call="call_2") == {}

    def test_is_not_lost_with_the_file(self, guarded: Installed) -> None:
        said = guarded.hook_file("PreToolUse", "forbidden")
        shutil.rmtree(guarded.answers)
        assert guarded.before_tool(said["overrideInput"]) == {"skip": True, "reason": REASON}

    def test_is_left_where_no_other_account_can_write(self, guarded: Installed) -> None:
        guarded.hook_file("PreToolUse", "forbidden")
        [file] = guarded.answers.iterdir()
        assert [stat.S_IMODE(each.stat().st_mode) for each in (guarded.answers, file)] == [0o700, 0o600]

    @pytest.mark.parametrize("closed", [True, False])
    def test_is_what_comes_of_tenterhook_being_gone_if_that_was_chosen(
        self, home: Path, project: Path, closed: bool
    ) -> None:
        folder_hook(user_hooks(home), "guard", "exit 0")
        installed = Installed(home, project, *(["--closed"] if closed else []))
        lose_tenterhook(home)
        said = installed.hook_file("PreToolUse")
        returned = installed.before_tool(said.get("overrideInput"))
        assert ("this is refused" in returned.get("reason", "")) == closed == returned.get("skip", False)


@needs_node
def test_a_harmless_call_is_left_alone(guarded: Installed) -> None:
    assert guarded.hook_file("PreToolUse", "ls") == {}
    assert guarded.before_tool() == {}


@needs_node
def test_what_a_hook_changes_approves_and_replaces_is_what_cline_is_told(home: Path, project: Path) -> None:
    change = {"decision": "allow", "modified_input": {"command": "safe"}, "additional_context": "mind this"}
    approve = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
    for name, trigger, said in (
        ("change", "pre-tool-call", change),
        ("approve", "pre-tool-call", approve),
        ("redact", "post-tool-call", {"decision": "allow", "modified_output": "[redacted]"}),
    ):
        folder_hook(user_hooks(home), name, f"echo '{json.dumps(said)}'", trigger, matcher={"pattern": name})
    installed = Installed(home, project)
    said = installed.hook_file("PreToolUse", "change")
    assert said["overrideInput"] == {"commands": ["safe"]}
    assert said["contextModification"] == "mind this"
    assert installed.before_tool(command="change") == {"input": {"commands": ["safe"]}}
    installed.hook_file("PreToolUse", "approve")
    assert installed.before_tool(command="approve") == {"policy": {"autoApprove": True}}
    installed.hook_file("PreToolUse", "approve")
    assert installed.before_tool({"commands": ["changed by another hook file"]}, command="approve") == {}
    for command in ("approve", "change"):  # left over: another hook file refused the call, and its id is used again
        installed.hook_file("PreToolUse", command)
        installed.hook_file("PreToolUse", "ls")
        assert installed.before_tool(command="ls") == {}
    assert "overrideInput" not in installed.hook_file("PostToolUse", "redact")
    result = {"output": "secret", "isError": True}
    context = {"snapshot": SNAPSHOT, "toolCall": {"toolCallId": "call_1"}, "result": result}
    [replaced, again] = installed.plugin(("afterTool", context), ("afterTool", context))
    assert (replaced, again) == ({"result": {"output": "[redacted]", "isError": True}}, None)


RECORD = 'cat >>"$TENTERHOOK_WORK_DIR/events"; echo >>"$TENTERHOOK_WORK_DIR/events"'


def recorded(project: Path) -> list[dict[str, Any]]:
    file = project / "events"
    return [json.loads(line) for line in file.read_text().splitlines() if line] if file.exists() else []


@needs_node
class TestRuns:
    def test_begin_with_the_session_and_the_prompt_and_end_with_a_stop(self, home: Path, project: Path) -> None:
        events = ("pre-session", "pre-agent-turn", "pre-agent-turn-stop", "post-agent-turn-failure")
        for event in events:
            said = json.dumps({"decision": "allow", "additional_context": f"note of {event}"})
            folder_hook(user_hooks(home), event, f"{RECORD}; echo '{said}'", event)
        installed = Installed(home, project)
        answered = {"role": "assistant", "content": []}
        first, _, second, _ = installed.plugin(
            ("beforeRun", run("hello")),
            ("afterRun", ended()),
            ("beforeRun", run("and now?", answered)),
            ("afterRun", ended(status="failed", lastError="no tokens left", lastErrorClass="auth")),
        )
        assert first == {"appendContext": "note of pre-session\n\nnote of pre-agent-turn"}
        assert second == {"appendContext": "note of pre-agent-turn"}
        told = recorded(project)
        assert [each["event_type"] for each in told] == [events[0], events[1], events[2], events[1], events[3]]
        assert {each["session_id"] for each in told} == {"s-1"}
        assert [each.get("prompt") for each in told] == [None, "hello", None, "and now?", None]
        assert told[2]["final_message"] == "All done."
        assert told[4]["error_message"] == "no tokens left"

    def test_of_a_process_that_is_started_again_begin_no_session(self, home: Path, project: Path) -> None:
        folder_hook(user_hooks(home), "seen", RECORD, "pre-session")
        installed = Installed(home, project)
        later = run("and now?", {"role": "assistant", "content": []})
        installed.plugin(("beforeRun", later))
        assert recorded(project) == []
        installed.plugin(("beforeRun", later), CLINE_HOOK_AGENT_RESUME="1")
        assert [each["source"] for each in recorded(project)] == ["resume"]

    @pytest.mark.parametrize("event", ["pre-session", "pre-agent-turn"])
    def test_are_held_back_with_a_session_or_a_prompt(self, home: Path, project: Path, event: str) -> None:
        folder_hook(user_hooks(home), "no", f'echo "{REASON}" >&2; exit 2', event)
        again = run("please", {"role": "assistant", "content": []})
        returned = Installed(home, project).plugin(("beforeRun", run("hello")), ("beforeRun", again))
        assert returned == [{"stop": True, "reason": REASON}] * 2

    def test_of_a_subagent_are_events_of_their_own(self, home: Path, project: Path) -> None:
        for event in ("pre-subagent", "post-subagent", "pre-session", "pre-agent-turn", "pre-agent-turn-stop"):
            folder_hook(user_hooks(home), event, RECORD, event)
        below = {"parentAgentId": "a-1", "agentId": "a-2"}
        installed = Installed(home, project)
        installed.plugin(("beforeRun", run("a part", **below)), ("afterRun", ended("My part.", **below)))
        told = recorded(project)
        assert [each["event_type"] for each in told] == ["pre-subagent", "post-subagent"]
        assert (told[0]["task_description"], told[1]["response"]) == ("a part", "My part.")

    def test_of_a_teammate_are_those_of_a_subagent(self, home: Path, project: Path) -> None:
        for event in ("pre-subagent", "post-subagent", "pre-agent-turn", "pre-agent-turn-stop"):
            folder_hook(user_hooks(home), event, RECORD, event)
        given = {"messages": [{"role": "user", "content": [{"type": "text", "text": "a part"}]}], "agentId": "a-2"}
        installed = Installed(home, project)
        task = ("beforeRun", {"snapshot": {**SNAPSHOT, **given}}), ("afterRun", ended("My part.", agentId="a-2"))
        installed.plugin(("beforeRun", run("hello")), *task, ("afterRun", ended()))
        told = [each["event_type"] for each in recorded(project)]
        assert told == ["pre-agent-turn", "pre-subagent", "post-subagent", "pre-agent-turn-stop"]

    def test_do_not_wait_for_a_hook_that_takes_longer_than_cline_waits(self, home: Path, project: Path) -> None:
        slow = 'cd "$TENTERHOOK_WORK_DIR"; until [ -e go ]; do sleep 0.1; done; touch done'
        folder_hook(user_hooks(home), "slow", slow, "pre-session")
        folder_hook(user_hooks(home), "quick", RECORD, "pre-agent-turn")
        installed = Installed(home, project)
        assert installed.plugin(("beforeRun", run("hello")), patience=1000) == [None]
        until(lambda: len(recorded(project)) == 1)
        (project / "go").touch()
        until((project / "done").exists)  # it goes on

    def test_go_on_with_the_reason_of_a_gate_which_is_no_prompt(self, home: Path, project: Path) -> None:
        script = f'{RECORD}; [ -e "$TENTERHOOK_WORK_DIR/report" ] || {{ echo "{REASON}" >&2; exit 2; }}'
        folder_hook(user_hooks(home), "gate", script, "pre-agent-turn-stop")
        folder_hook(user_hooks(home), "prompts", RECORD, "pre-agent-turn")
        begun = [("beforeRun", run("hello")), ("afterRun", ended())]
        sent_back = [("beforeRun", run(REASON)), ("afterRun", ended())]
        returned = Installed(home, project).plugin(*begun, *sent_back, *sent_back, *sent_back, ("beforeRun", run("x")))
        sent = [each for each in returned if each]
        assert sent == [["queue_message", {"prompt": REASON}]] * 3, "three times in a turn"
        told = recorded(project)
        assert [each["prompt"] for each in told if "prompt" in each] == ["hello", "x"]
        assert [each["stop_hook_active"] for each in told if "prompt" not in each] == [False, True, True]
