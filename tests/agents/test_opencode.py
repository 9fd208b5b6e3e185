"""opencode: our plug-in, run by a real node with a client that writes down what it is asked to do."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from hosts.homes import prepared
from hosts.recorded import DATA as RECORDED
from hosts.recorded import answer, read
from tenterhook import Action, Verdict, guards
from tenterhook.agents import AGENTS
from tenterhook.agents.protocol import KEY
from tenterhook.guards.calls import GuardedCall
from tenterhook.install import plugin_editor

if TYPE_CHECKING:
    from pathlib import Path

AGENT = AGENTS["opencode"]
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no node on the PATH")

# A session "ses_child" is a subagent's of "ses_main". `did` is what the plug-in had opencode do.
DRIVER = """
const did = []
const noting = (name, data = {}) => async (options) => (did.push([name, options]), { data })
const child = { id: "ses_child", parentID: "ses_main", agent: "general" }
const client = {
  session: {
    get: async ({ path: { id } }) => ({ data: id === "ses_child" ? child : { id } }),
    prompt: noting("prompt", { parts: [{ type: "text", text: "second result" }] }),
    promptAsync: noting("promptAsync"),
    abort: noting("abort"),
  },
  tui: { showToast: noting("showToast") },
  _client: { post: noting("post"), patch: noting("patch") },
}
process.argv = ["opencode", "index.js", ...WORDS]
process.execPath = process.cwd() + "/opencode"
const { Tenterhook } = await import("./tenterhook.mjs")
const plugin = await Tenterhook({ client, directory: process.cwd() })
const event = (type, properties) => plugin.event({ event: { type, properties } })
const model = { providerID: "p", modelID: "m/n" }
const say = async (text, sessionID = "ses_main", more = {}) => {
  const parts = [{ id: "prt_1", type: "text", text, ...more }]
  await plugin["chat.message"]({ sessionID }, { message: { id: "msg_1", agent: "build", model }, parts })
  return parts
}
const call = { tool: "bash", sessionID: "ses_main", callID: "call_1" }
const before = async (args = { command: "ls", description: "d" }, more = {}) => {
  const output = { args }
  await plugin["tool.execute.before"]({ ...call, ...more }, output)
  return output.args
}
const after = async (output, more = {}) => {
  await plugin["tool.execute.after"]({ ...call, args: { command: "ls" }, ...more }, output)
  return output
}
const end = async (finish = "stop", error = undefined) => {
  await event("message.updated", { sessionID: "ses_main", info: { id: "msg_2", role: "assistant", finish, error } })
  await event("session.idle", { sessionID: "ses_main" })
}
const refused = async (promise) => promise.then(() => null, (error) => error.message)
const result = await (async () => { BODY })()
process.stdout.write(JSON.stringify({ result, did }))
"""
ENTRY = """
payload=$(cat); printf '%s\\n' "$payload" >>sent
[ ! -e {event}.slow ] || sleep 2; [ ! -e {event}.deny ] || {{ cat {event}.deny >&2; exit 2; }}
[ ! -e {event}.answer ] || cat {event}.answer
"""


class Plugin:
    """The plug-in in a folder of its own, with an entry for every event."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.words: list[str] = []
        self.did: list[list[Any]] = []
        self.stderr = ""
        self.status = 0
        entries = {event: {"command": ENTRY.format(event=event), "timeout": 30} for event in AGENT.events}
        (folder / "tenterhook.mjs").write_bytes(plugin_editor.written("opencode.js", entries))

    def answers(self, event: str, **said: Any) -> None:
        (self.folder / f"{event}.answer").write_text(json.dumps(said))

    def denies(self, event: str, reason: str = "not this") -> None:
        (self.folder / f"{event}.deny").write_text(reason)

    def run(self, body: str) -> Any:
        """What a piece of JavaScript returns that uses the plug-in as opencode does."""
        driver = DRIVER.replace("WORDS", json.dumps(self.words)).replace("BODY", body)
        (self.folder / "driver.mjs").write_text(driver)
        ended = subprocess.run([str(NODE), "driver.mjs"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        assert ended.stdout, ended.stderr
        said = json.loads(ended.stdout)
        self.did, self.stderr, self.status = said["did"], ended.stderr, ended.returncode
        return said.get("result")

    def sent(self, *events: str) -> list[dict[str, Any]]:
        """What hooks of these events, or of all, were sent."""
        file = self.folder / "sent"
        payloads = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [payload for payload in payloads if not events or payload["hook_event_name"] in events]


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path)


@needs_node
class TestToolCalls:
    """Before and after a call."""

    def test_a_deny_is_thrown_and_its_reason_is_the_result(self, plugin: Plugin) -> None:
        plugin.denies("tool.execute.before")
        assert plugin.run("return refused(before())") == "not this"
        [sent] = plugin.sent()
        assert sent == {
            "hook_event_name": "tool.execute.before",
            "session_id": "ses_main",
            "cwd": str(plugin.folder),
            "tool_name": "bash",
            "tool_input": {"command": "ls", "description": "d"},
            "tool_use_id": "call_1",
        }

    def test_another_input_is_put_into_the_same_object(self, plugin: Plugin) -> None:
        plugin.answers("tool.execute.before", input={"command": "pwd"})
        body = "const args = { command: 'ls', workdir: '/' }; return (await before(args)) === args && args"
        assert plugin.run(body) == {"command": "pwd"}

    def test_text_of_before_and_after_stands_beside_the_result(self, plugin: Plugin) -> None:
        plugin.answers("tool.execute.before", context="first")
        plugin.answers("tool.execute.after", context="second")
        body = "await before(); return [await after({ output: 'a' }), await after({ output: 'b' })]"
        assert plugin.run(body) == [{"output": "a\n\nfirst\n\nsecond"}, {"output": "b\n\nsecond"}]

    def test_a_result_of_an_mcp_server_has_content(self, plugin: Plugin) -> None:
        content = [{"type": "text", "text": "new"}]
        plugin.answers("tool.execute.after", output={"content": content}, context="beside")
        came = plugin.run("return after({ content: [{ type: 'text', text: 'old' }] })")
        assert came == {"content": [*content, {"type": "text", "text": "beside"}]}
        assert plugin.sent()[0]["tool_response"] == {"content": [{"type": "text", "text": "old"}]}

    @pytest.mark.parametrize("output", ["new", ""])
    def test_an_output_is_replaced_even_by_nothing(self, plugin: Plugin, output: str) -> None:
        plugin.answers("tool.execute.after", output=output)
        assert plugin.run("return after({ output: 'secret' })") == {"output": output}

    def test_a_call_of_a_subagent_is_of_the_main_session(self, plugin: Plugin) -> None:
        plugin.run("await before({}, { sessionID: 'ses_child' })")
        [sent] = plugin.sent()
        assert (sent["session_id"], sent["agent_id"], sent["agent_type"]) == ("ses_main", "ses_child", "general")


FAILED = """
  const state = { status: "error", input: { filePath: "x" }, error: "no such file" }
  const part = { ...call, id: "prt_2", type: "tool", state }
  await event("message.part.updated", { part })
  await event("message.part.updated", { part })
  const messages = [{ parts: [structuredClone(part), { type: "text", text: "t" }] }]
  await plugin["experimental.chat.messages.transform"]({}, { messages })
  return messages[0].parts[0].state.error
"""


@needs_node
class TestFailedCalls:
    """A failed call has no event of its own: hooks are asked when the error is stored."""

    def test_text_stands_beside_the_error(self, plugin: Plugin) -> None:
        plugin.answers("tool.execute.before", context="first")
        plugin.answers("tool.execute.error", context="second")
        assert plugin.run(f"await before(); {FAILED}") == "no such file\n\nfirst\n\nsecond"
        [sent] = plugin.sent("tool.execute.error")
        assert (sent["error"], sent["tool_input"]) == ("no such file", {"filePath": "x"})

    def test_the_error_is_replaced(self, plugin: Plugin) -> None:
        plugin.answers("tool.execute.error", output="[redacted]")
        assert plugin.run(FAILED) == "[redacted]"

    def test_what_hooks_made_of_it_is_stored_for_a_process_that_resumes_the_session(self, plugin: Plugin) -> None:
        plugin.answers("tool.execute.error", output="[redacted]")
        plugin.run(FAILED)
        [[name, request]] = plugin.did
        assert (name, request["path"]["partID"]) == ("patch", "prt_2")
        assert request["body"]["state"]["error"] == "[redacted]"

    def test_an_error_that_hooks_leave_alone_is_not_stored_again(self, plugin: Plugin) -> None:
        assert plugin.run(FAILED) == "no such file"
        assert plugin.did == []

    def test_hooks_are_asked_once_if_the_request_comes_before_the_event(self, plugin: Plugin) -> None:
        plugin.answers("tool.execute.error", output="[redacted]")
        event = 'await event("message.part.updated", { part })'
        late = FAILED.replace(event, "").replace("  return", f"  {event}\n  return")
        assert plugin.run(f"await before(); {late}") == "[redacted]"
        assert len(plugin.sent("tool.execute.error")) == 1

    def test_a_call_that_a_hook_denied_is_none(self, plugin: Plugin) -> None:
        plugin.denies("tool.execute.before")
        assert plugin.run(f"await refused(before()); {FAILED}") == "no such file"
        assert plugin.sent("tool.execute.error") == []

    def test_an_id_that_a_model_uses_again_is_another_call(self, plugin: Plugin) -> None:
        plugin.denies("tool.execute.before")
        plugin.answers("tool.execute.error", context="know this")
        first, second = (f"await (async () => {{ {FAILED.replace('prt_2', part)} }})()" for part in ("prt_2", "prt_3"))
        shown = plugin.run(f"await refused(before()); return [{first}, {second}]")
        assert shown == ["no such file", "no such file\n\nknow this"]


@needs_node
class TestPrompts:
    """What a person types, and the start of a session before the first of it."""

    def test_a_session_begins_with_its_first_prompt(self, plugin: Plugin) -> None:
        plugin.run("await event('session.created', { info: { id: 'ses_main' } }); await say('one'); await say('two')")
        start, first, second = plugin.sent()
        assert (start["hook_event_name"], start["source"]) == ("session.created", "startup")
        assert (first["prompt"], second["prompt"]) == ("one", "two")

    def test_one_that_began_in_another_process_is_resumed(self, plugin: Plugin) -> None:
        plugin.run("await say('one')")
        assert plugin.sent()[0]["source"] == "resume"

    def test_text_is_added_to_the_prompt_in_order(self, plugin: Plugin) -> None:
        plugin.answers("session.created", context="of the session")
        plugin.answers("chat.message", context="of the prompt")
        parts = plugin.run("return say('one')")
        assert [part["text"] for part in parts] == ["one", "of the session", "of the prompt"]
        assert [part["id"] for part in parts] == ["prt_1", "prt_10", "prt_100"]
        assert all(part["synthetic"] for part in parts[1:])

    @pytest.mark.parametrize("event", ["session.created", "chat.message"])
    def test_one_that_is_held_back_is_shown_with_the_reason(self, plugin: Plugin, event: str) -> None:
        plugin.denies(event, "not now")
        assert plugin.run("return [await refused(say('one')), await refused(say('two'))]") == ["not now", "not now"]
        toast = ["showToast", {"body": {"message": "not now", "variant": "warning"}}]
        assert plugin.did == [toast, toast]

    def test_a_text_that_nobody_typed_is_no_prompt(self, plugin: Plugin) -> None:
        plugin.run("await say('result of a task', 'ses_main', { synthetic: true })")
        assert plugin.sent() == []


@needs_node
class TestStops:
    """The end of a turn."""

    def test_a_reason_to_go_on_is_sent_as_a_prompt_with_the_same_agent_and_model(self, plugin: Plugin) -> None:
        plugin.denies("session.idle", "go on")
        complete = "plugin['experimental.text.complete']({ sessionID: 'ses_main' }, { text: 'done' })"
        plugin.run(f"await say('one'); await {complete}; await end(); await say('go on'); await end()")
        model = {"providerID": "p", "modelID": "m/n"}
        body = {"agent": "build", "model": model, "parts": [{"type": "text", "text": "go on"}]}
        assert plugin.did == [["promptAsync", {"path": {"id": "ses_main"}, "body": body}]] * 2
        stops = plugin.sent("session.idle")
        assert [stop["stop_hook_active"] for stop in stops] == [False, True]
        assert stops[0]["last_assistant_message"] == "done"
        assert [prompt["prompt"] for prompt in plugin.sent("chat.message")] == ["one"]  # ours is no person's

    @pytest.mark.parametrize(
        "how", ["'tool-calls'", "undefined, { name: 'MessageAbortedError', data: {} }", "'stop', { name: 'APIError' }"]
    )
    def test_a_turn_that_was_refused_aborted_or_failed_is_not_sent_back(self, plugin: Plugin, how: str) -> None:
        plugin.denies("session.idle", "go on")
        plugin.run(f"await say('one'); await end({how})")
        assert plugin.sent("session.idle") == []
        assert plugin.did == []
        assert len(plugin.sent("session.aborted")) == ("Aborted" in how)

    def test_a_person_who_has_gone_on_meanwhile_is_not_interrupted(self, plugin: Plugin) -> None:
        plugin.denies("session.idle", "go on")
        (plugin.folder / "session.idle.slow").touch()
        later = "await new Promise((resolve) => setTimeout(resolve, 100))"
        plugin.run(f"await say('one'); const ended = end(); {later}; await say('two'); await ended")
        assert len(plugin.sent("session.idle")) == 1
        assert plugin.did == []

    def test_an_idle_session_without_a_prompt_is_no_end_of_a_turn(self, plugin: Plugin) -> None:
        plugin.run("await end()")
        assert plugin.sent() == []

    def test_run_goes_on_in_another_process_when_it_would_end(self, plugin: Plugin) -> None:
        program = plugin.folder / "opencode"
        program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" "$TENTERHOOK_CONTINUED" "$(cat)" >started; exit 3\n')
        program.chmod(0o755)
        plugin.words = ["--log-level", "ERROR", "run", "--auto", "--format=json", "--title", "t", "some", "words"]
        plugin.denies("session.idle", "- go on")
        plugin.run("await say('one'); await end(); await plugin.dispose()")
        started = (plugin.folder / "started").read_text().splitlines()
        own = ["run", "--session", "ses_main", "--agent", "build", "--model", "p/m/n"]
        assert started == [*own, "--log-level", "ERROR", "--auto", "--format=json", "ses_main", "- go on"]
        assert plugin.status == 3
        assert plugin.did == []
        assert plugin.sent("dispose") == []  # the other process says that the session has ended

    def test_the_process_that_goes_on_knows_it_and_tells_nobody(
        self, plugin: Plugin, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TENTERHOOK_CONTINUED", "ses_main")
        plugin.words = ["run"]
        body = "await say('go on'); await end(); await plugin.dispose(); return process.env.TENTERHOOK_CONTINUED ?? ''"
        assert plugin.run(body) == ""
        stop, ended = plugin.sent()
        assert (stop["hook_event_name"], stop["stop_hook_active"]) == ("session.idle", True)
        assert (ended["hook_event_name"], ended["reason"]) == ("dispose", "exit")

    @pytest.mark.parametrize("words", [[], ["serve"], ["github", "run"], ["run", "-i"], ["--prompt", "run"]])
    def test_elsewhere_it_goes_on_where_it_is(self, plugin: Plugin, words: list[str]) -> None:
        plugin.words = words
        plugin.denies("session.idle", "go on")
        plugin.run("await say('one'); await end()")
        assert [name for name, _ in plugin.did] == ([] if words == ["--prompt", "run"] else ["promptAsync"])


TASK = """
  await say("do your part", "ses_child")
  const output = "<task id=1>\\n<task_result>\\nfirst $& result\\n</task_result>\\n</task>"
  return (await after({ output, metadata: { sessionId: "ses_child" } }, { tool: "task" })).output
"""


@needs_node
class TestSubagents:
    """Their sessions are children of the main one."""

    def test_one_is_not_started_and_its_caller_gets_the_reason(self, plugin: Plugin) -> None:
        plugin.denies("subagent.created")
        assert plugin.run("return refused(say('do your part', 'ses_child'))") == "not this"
        [sent] = plugin.sent()
        assert (sent["prompt"], sent["agent_type"], sent["session_id"]) == ("do your part", "general", "ses_main")
        assert plugin.did == []

    def test_text_is_added_to_its_prompt(self, plugin: Plugin) -> None:
        plugin.answers("subagent.created", context="know this")
        assert plugin.run("return (await say('do your part', 'ses_child')).at(-1).text") == "know this"

    def test_one_that_is_sent_back_has_the_result_of_its_last_turn(self, plugin: Plugin) -> None:
        deny = plugin.folder / "subagent.idle.deny"
        deny.write_text("go on")
        until = (
            "client.session.prompt = async (options) => (rmSync('subagent.idle.deny'), did.push(['prompt', options]),"
        )
        result = "{ data: { parts: [{ type: 'text', text: 'second $& result' }] } })"
        came = plugin.run(f"const {{ rmSync }} = await import('node:fs'); {until} {result}; {TASK}")
        assert came.splitlines()[2] == "second $& result"
        first, second = plugin.sent("subagent.idle")
        assert (first["last_assistant_message"], first["stop_hook_active"]) == ("first $& result", False)
        assert (second["last_assistant_message"], second["stop_hook_active"]) == ("second $& result", True)
        assert plugin.did[0][1]["body"]["parts"] == [{"type": "text", "text": "go on"}]
        assert plugin.sent("tool.execute.after")[0]["tool_response"] == came

    def test_one_in_the_background_has_not_ended(self, plugin: Plugin) -> None:
        plugin.run(TASK.replace('sessionId: "ses_child"', 'sessionId: "ses_child", background: true'))
        assert plugin.sent("subagent.idle") == []

    def test_when_the_person_aborts_one_that_was_sent_back_ends_too(self, plugin: Plugin) -> None:
        plugin.denies("subagent.idle", "go on")
        aborted = "info: { id: 'msg_3', role: 'assistant', error: { name: 'MessageAbortedError' } }"
        abort = f"await event('message.updated', {{ sessionID: 'ses_main', {aborted} }})"
        prompt = f"client.session.prompt = async (options) => {{ did.push(['prompt', options]); {abort}; return {{}} }}"
        plugin.run(f"{prompt}; {TASK}")
        assert [name for name, _ in plugin.did] == ["prompt", "abort"]
        assert plugin.did[1][1] == {"path": {"id": "ses_child"}}


ASKED = """
  await before()
  const tool = { messageID: "msg_2", callID: "call_1" }
  const question = { id: "per_1", sessionID: "ses_main", permission: "bash", patterns: ["ls"], tool }
  await event("permission.asked", question)
  await event("permission.replied", { sessionID: "ses_main", requestID: "per_1", reply: "once" })
"""


def reply(**body: Any) -> list[Any]:
    to = {"url": "/permission/{requestID}/reply", "path": {"requestID": "per_1"}}
    return ["post", {**to, "headers": {"Content-Type": "application/json"}, "body": body}]


@needs_node
class TestQuestions:
    """opencode's own."""

    def test_one_is_refused_with_the_reason(self, plugin: Plugin) -> None:
        plugin.denies("permission.asked", "the answer is no")
        plugin.run(ASKED)
        assert plugin.did == [reply(reply="reject", message="the answer is no")]
        [asked] = plugin.sent("permission.asked")
        assert asked["permission_request_id"] == "per_1"
        assert (asked["tool_name"], asked["tool_input"]) == ("bash", {"command": "ls", "description": "d"})
        [replied] = plugin.sent("permission.replied")
        assert (replied["tool_name"], replied["decision"], replied["scope"]) == ("bash", "approved", "once")

    @pytest.mark.parametrize("event", ["permission.asked", "tool.execute.before"])
    def test_one_is_granted_by_its_own_hooks_or_by_those_of_the_call(self, plugin: Plugin, event: str) -> None:
        plugin.answers(event, approve="fine")
        plugin.run(ASKED)
        assert plugin.did == [reply(reply="once")]
        assert len(plugin.sent("permission.asked")) == (event == "permission.asked")

    def test_without_a_decision_it_is_left_to_the_person(self, plugin: Plugin) -> None:
        plugin.run(ASKED)
        assert plugin.did == []

    def test_run_answers_it_by_itself(self, plugin: Plugin) -> None:
        plugin.words = ["run"]
        plugin.denies("permission.asked")
        plugin.run(ASKED)
        assert plugin.sent("permission.asked") == []
        assert plugin.did == []


@needs_node
def test_a_message_is_a_toast_and_in_run_a_line_on_stderr(plugin: Plugin) -> None:
    plugin.answers("tool.execute.before", systemMessage="note this")
    plugin.run("await before()")
    assert plugin.did == [["showToast", {"body": {"message": "note this", "variant": "warning"}}]]
    plugin.words = ["run"]
    plugin.run("await before()")
    assert (plugin.did, plugin.stderr) == ([], "note this\n")


@needs_node
def test_text_for_a_summary_is_added_and_a_block_does_not_break_the_session(plugin: Plugin) -> None:
    compacting = "const output = { context: [] }; await plugin['experimental.session.compacting'](call, output)"
    plugin.answers("experimental.session.compacting", context="keep this")
    assert plugin.run(f"{compacting}; return output.context") == ["keep this"]
    plugin.denies("experimental.session.compacting")  # opencode would fail at every later prompt
    assert plugin.run(f"{compacting}; return output.context") == []


@needs_node
def test_other_events_are_sent_as_they_are(plugin: Plugin) -> None:
    plugin.run("await event('todo.updated', { sessionID: 'ses_main', todos: [1] }); await event('lsp.updated', {})")
    [sent] = plugin.sent()
    assert (sent["session_id"], sent["todos"]) == ("ses_main", [1])


@needs_node
def test_an_error_in_an_observer_is_shown_and_breaks_nothing(plugin: Plugin) -> None:
    plugin.run("await event('session.created', {})")
    assert "Tenterhook, at session.created: TypeError" in plugin.did[0][1]["body"]["message"]


# ---- the module


def test_a_question_is_a_refusal_for_it_asks_only_what_its_settings_say() -> None:
    said = answer("opencode/tool.execute.before", Verdict("", Action.ASK, "sure?"))
    assert (said.blocks, said.stdout, said.lost) == (True, "", ("ask: denied",))


@pytest.mark.parametrize(
    ("file", "given", "expected"),
    [
        ("tool.execute.after", "new", "new"),
        ("tool.execute.after", "", ""),
        ("tool.execute.after", {"stdout": "x"}, '{"stdout": "x"}'),
        ("tool.execute.after-mcp", "new", {"content": [{"type": "text", "text": "new"}]}),
        ("tool.execute.after-mcp", {"content": []}, {"content": []}),
        ("tool.execute.after-mcp", [1], {"content": [{"type": "text", "text": "[1]"}]}),
        ("tool.execute.error", "new", "new"),
    ],
)
def test_a_replaced_output_has_the_form_of_the_tools_own(file: str, given: Any, expected: Any) -> None:
    said = answer(f"opencode/{file}", Verdict("", modified_output=given))
    assert json.loads(said.stdout) == {"output": expected}


def test_its_names_of_a_subagents_events_are_ours() -> None:
    start = read(RECORDED / "opencode" / "subagent.created.json")
    assert start.event.fields["subagent_name"] == "general"
    assert start.event.fields["task_description"] == start.payload["prompt"]
    end = read(RECORDED / "opencode" / "subagent.idle.json")
    assert end.event.fields["response"] == end.payload["last_assistant_message"]


@pytest.mark.parametrize(
    ("variable", "in_project", "said"),
    [
        ("OPENCODE_PURE", False, "leaves out every plug-in"),
        ("OPENCODE_PURE", True, "leaves out every plug-in"),
        ("OPENCODE_DISABLE_PROJECT_CONFIG", True, "leaves out the project's plug-ins"),
        ("OPENCODE_DISABLE_PROJECT_CONFIG", False, None),
    ],
)
def test_variables_that_leave_plug_ins_out_are_found(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, variable: str, in_project: bool, said: str | None
) -> None:
    settings = AGENT.settings(str(project) if in_project else None)
    assert list(AGENT.switches(settings, str(project))) == []
    for value in ("0", "true", "1"):
        monkeypatch.setenv(variable, value)
        found = [what for what, _ in AGENT.switches(settings, str(project))]
        assert [said in what for what in found if said] == [True] * (said is not None and value != "0")


def test_where_its_package_is_not_installed_install_says_how_long_it_waits(home: Path) -> None:
    [note] = AGENT.install_notes(in_project=False)
    assert "npm config set fetch-retries 0" in note
    (home / ".config/opencode/node_modules/@opencode-ai/plugin").mkdir(parents=True)
    assert list(AGENT.install_notes(in_project=False)) == []


def test_a_trial_has_no_model_of_the_persons_own_and_installs_nothing(home: Path) -> None:
    before = {"plugin": ["from-npm"], "mcp": {"x": {}}, "provider": {"openai": {"options": {"apiKey": "sk-real"}}}}
    after = prepared(home, "opencode", json.dumps(before))
    assert {"plugin", "mcp"} & set(after) == set()
    assert "real" not in json.dumps(after)
    assert KEY in json.dumps(after)
    assert (home / ".config/opencode/node_modules").is_dir()


@pytest.mark.parametrize(
    ("tool", "given", "is_refused"),
    [
        ("bash", {"command": "opencode --pure run x"}, True),
        ("bash", {"command": "OPENCODE_PURE=1 opencode run x"}, True),
        ("bash", {"command": "export OPENCODE_DISABLE_PROJECT_CONFIG=1; opencode run x"}, True),
        ("bash", {"command": "rm ~/.config/opencode/plugins/tenterhook.js"}, True),
        ("bash", {"command": "mv opencode.json away"}, True),
        ("write", {"filePath": ".opencode/plugins/x.js", "content": "export {}"}, True),
        ("write", {"filePath": ".opencode/tools/x.ts", "content": "export {}"}, True),
        ("edit", {"filePath": "opencode.jsonc", "oldString": "{", "newString": '{"plugin": ["x"],'}, True),
        ("bash", {"command": "opencode run x; cat opencode.json .opencode/plugins/*"}, False),
        ("bash", {"command": "rm -f *.json"}, False),
        ("write", {"filePath": ".opencode/command/hello.md", "content": "Say hello"}, False),
    ],
)
def test_the_guard_of_hooks_knows_its_plug_ins_settings_and_switches(
    home: Path, project: Path, tool: str, given: dict[str, str], is_refused: bool
) -> None:
    call = GuardedCall(tool, given, str(project), {"HOME": str(home), "USER": "me"}, {})
    assert (guards.judge("protect-hooks", call) is not None) is is_refused
