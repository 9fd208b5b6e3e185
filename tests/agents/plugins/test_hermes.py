"""Our plug-in for Hermes, in a small host that calls plug-ins in the order in which Hermes does."""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from support import alive, until
from tenterhook.install import plugin_editor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IDS = {"session_id": "s-1", "task_id": "t-1", "turn_id": "s-1:t-1:x", "tool_call_id": "call_1"}
CLOSED = " || exit 2"  # how the command ends if a call is to be refused when nobody answers


class Host:
    """Hermes, as far as plug-ins see it. Its tool prints its arguments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hooks: dict[str, list[Any]] = {}
        self.middleware: dict[str, list[Any]] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.ran: list[dict[str, Any]] = []
        self.tool: Callable[[dict[str, Any]], Any] = lambda args: json.dumps({"output": args, "error": None})

    def register_hook(self, name: str, function: Any) -> None:
        self.hooks.setdefault(name, []).append(function)

    def register_middleware(self, name: str, function: Any) -> None:
        self.middleware.setdefault(name, []).append(function)

    def entry(self, event: str, script: str, timeout: float = 30, end: str = "") -> None:
        """A command for an event, which keeps what it was sent; its script has it in $sent."""
        keep = f'sent=$(cat); printf %s "$sent" >>{self.folder}/{event}'
        self.entries[event] = {"command": f"{keep}; {script}{end}", "timeout": timeout}

    def answer(self, event: str, **answer: Any) -> None:
        self.entry(event, f"cat <<'END'\n{json.dumps(answer)}\nEND\n")

    def load(self) -> None:
        file = self.folder / "__init__.py"
        file.write_bytes(plugin_editor.written("hermes.py", self.entries))
        spec = importlib.util.spec_from_file_location("plugin_of_hermes", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.register(self)

    def fire(self, event: str, **given: Any) -> list[Any]:
        return [said for hook in self.hooks.get(event, ()) if (said := hook(**given)) is not None]

    def call(self, command: str = "ls", tool: str = "terminal", **ids: Any) -> Any:
        """One call of a tool; of several directives the first counts."""
        ids = {**IDS, **ids}
        args: dict[str, Any] = {"command": command}
        for middleware in self.middleware["tool_request"]:
            args = (middleware(tool_name=tool, args=dict(args), **ids) or {}).get("args", args)
        said = [each for each in self.fire("pre_tool_call", tool_name=tool, args=args, **ids) if "action" in each]
        if said and said[0]["action"] == "block":
            return json.dumps({"error": said[0]["message"]})

        def run(given: dict[str, Any]) -> Any:
            self.ran.append(given)
            return self.tool(given)

        for middleware in reversed(self.middleware["tool_execution"]):
            run = self.around(middleware, run, tool, ids)
        return run(args)

    def around(self, middleware: Any, inner: Any, tool: str, ids: dict[str, Any]) -> Any:
        return lambda given: middleware(tool_name=tool, args=given, next_call=inner, **ids)

    def sent(self, event: str) -> list[dict[str, Any]]:
        """What the command of an event was sent, each time."""
        file = self.folder / event
        decoder, text, found = json.JSONDecoder(), file.read_text() if file.exists() else "", []
        while text:
            payload, end = decoder.raw_decode(text)
            found.append(payload)
            text = text[end:]
        return found


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def error(result: Any) -> str:
    return str(json.loads(result)["error"])


def test_a_refused_call_does_not_run_and_the_model_sees_why(host: Host) -> None:
    host.entry("pre_tool_call", "echo not this >&2; exit 2")
    host.load()
    assert error(host.call("rm")) == "not this"
    assert host.ran == []
    [sent] = host.sent("pre_tool_call")
    assert sent.pop("cwd")
    assert sent == {
        "hook_event_name": "pre_tool_call",
        "session_id": "s-1",
        "tool_name": "terminal",
        "tool_input": {"command": "rm"},
        "tool_use_id": "call_1",
    }


def test_a_call_without_objection_runs_as_it_is(host: Host) -> None:
    host.entry("pre_tool_call", "true")
    host.load()
    assert json.loads(host.call()) == {"output": {"command": "ls"}, "error": None}


def test_an_event_without_an_entry_starts_nothing(host: Host) -> None:
    host.load()
    begun = time.monotonic()
    for _ in range(500):
        host.call()
    assert time.monotonic() - begun < 5, "500 processes would take longer"


@pytest.mark.parametrize("end", ["", CLOSED])
@pytest.mark.parametrize("script", ["exit 3", "kill -9 $$", "echo no JSON", "echo '[1]'"])
def test_without_an_answer_a_call_runs_unless_it_is_to_be_refused_then(host: Host, script: str, end: str) -> None:
    host.entry("pre_tool_call", script, end=end)
    host.load()
    result = host.call()
    assert (host.ran == []) == bool(end)
    if end:
        assert error(result).startswith("Tenterhook could not answer (")
        assert error(result).endswith("): this is refused")


@pytest.mark.parametrize("end", ["", CLOSED])
def test_a_command_that_takes_too_long_is_ended_with_all_it_started(host: Host, end: str) -> None:
    host.entry("pre_tool_call", f"sh -c 'echo $$ >{host.folder}/child; exec sleep 20'; true", 0.5, end)
    host.load()
    begun = time.monotonic()
    result = host.call()
    assert time.monotonic() - begun < 15
    assert (host.ran == []) == bool(end)
    if end:
        assert error(result) == "Tenterhook did not answer in time: this is refused"
    child = int((host.folder / "child").read_text())
    until(lambda: not alive(child), 5)


def test_a_child_that_holds_the_pipes_delays_nothing(host: Host) -> None:
    host.entry("pre_tool_call", "sleep 20 & echo not this >&2; exit 2")
    host.load()
    begun = time.monotonic()
    assert error(host.call()) == "not this"
    assert time.monotonic() - begun < 5


def test_a_large_input_arrives_also_if_it_is_read_late(host: Host) -> None:
    host.entries["pre_tool_call"] = {"command": f"sleep 0.5; cat >{host.folder}/pre_tool_call", "timeout": 30}
    host.load()
    host.call("x" * 1_000_000)
    assert len(host.sent("pre_tool_call")[0]["tool_input"]["command"]) == 1_000_000


def test_input_and_answer_may_be_large_and_the_command_need_not_read(host: Host) -> None:
    host.entry("pre_tool_call", "true")
    host.load()
    host.call("x" * 1_000_000)
    assert len(host.sent("pre_tool_call")[0]["tool_input"]["command"]) == 1_000_000
    other = Host(host.folder)
    other.entries["pre_tool_call"] = {"command": 'printf \'{"context": "%01000000d"}\' 1', "timeout": 30}
    other.load()
    assert len(other.call("y" * 1_000_000)) > 1_000_000


def test_a_changed_input_is_what_runs(host: Host) -> None:
    host.answer("pre_tool_call", input={"command": "ls -l"})
    host.load()
    host.call()
    assert host.ran == [{"command": "ls -l"}]
    assert len(host.sent("pre_tool_call")) == 1


def test_an_input_that_another_plug_in_changes_later_is_judged_again(host: Host) -> None:
    host.entry("pre_tool_call", 'case "$sent" in *forbidden*) echo not this >&2; exit 2; esac')
    host.load()
    host.register_middleware("tool_request", lambda **_: {"args": {"command": "forbidden"}})
    assert error(host.call("harmless")) == "not this"
    assert host.ran == []


def test_a_change_that_another_plug_in_overrides_is_refused(host: Host) -> None:
    host.answer("pre_tool_call", input={"command": "safe"})
    host.load()
    host.register_middleware("tool_request", lambda **_: {"args": {"command": "other"}})
    assert "so does another plug-in" in error(host.call())
    assert host.ran == []


def test_a_refusal_counts_even_if_another_plug_in_wants_the_person_asked_first(host: Host) -> None:
    host.register_hook("pre_tool_call", lambda **_: {"action": "approve", "message": "ask"})
    host.entry("pre_tool_call", "echo not this >&2; exit 2")
    host.load()
    assert error(host.call()) == "not this"
    assert host.ran == []


def test_a_question_shows_the_call_and_always_is_for_exactly_this_one(host: Host) -> None:
    host.answer("pre_tool_call", ask="sure?")
    host.load()
    keys = set()
    for command in ("one", "two", "one"):
        given = {"tool_name": "terminal", "args": {"command": command}, **IDS}
        [said] = host.fire("pre_tool_call", **given)
        assert said["action"] == "approve"
        assert said["message"] == f'sure?: terminal {{"command": "{command}"}}'
        keys.add(said["rule_key"])
    assert len(keys) == 2


def test_context_is_in_the_result_which_stays_json(host: Host) -> None:
    host.answer("pre_tool_call", context="before")
    host.answer("post_tool_call", context="after")
    host.load()
    result = json.loads(host.call())
    assert result == {"output": {"command": "ls"}, "error": None, "additional_context": "before\n\nafter"}
    host.tool = lambda args: "plain text"
    assert host.call() == "plain text\n\nbefore\n\nafter"


def test_an_output_is_replaced_by_a_text_or_an_object(host: Host) -> None:
    host.answer("post_tool_call", output={"output": "[redacted]"}, context="why")
    host.load()
    assert json.loads(host.call()) == {"output": "[redacted]", "additional_context": "why"}
    [sent] = host.sent("post_tool_call")
    assert sent["tool_response"] == {"output": {"command": "ls"}, "error": None}
    other = Host(host.folder)
    other.answer("post_tool_call", output="")
    other.load()
    assert other.call() == ""


def test_a_failed_call_is_told_and_its_error_can_be_replaced(host: Host) -> None:
    host.answer("post_tool_call_error", output="[redacted]")
    host.entry("post_tool_call", "true")
    host.load()
    host.tool = lambda args: json.dumps({"error": "no such file: secret"})
    assert json.loads(host.call()) == {"error": "[redacted]"}
    host.tool = lambda args: json.dumps({"output": "secret", "error": "cut off"})
    assert host.call() == "[redacted]"  # an error beside other texts is the whole result
    assert [sent["error"] for sent in host.sent("post_tool_call_error")] == [
        "no such file: secret",
        '{"output": "secret", "error": "cut off"}',
    ]
    assert host.sent("post_tool_call") == []


def test_a_result_with_an_image_is_described_and_kept(host: Host) -> None:
    host.answer("post_tool_call", context="beside")
    host.load()
    image = {"_multimodal": True, "content": ["large"], "text_summary": "a picture"}
    host.tool = lambda args: image
    assert host.call() == image
    assert host.sent("post_tool_call")[0]["tool_response"] == "a picture"


def test_a_call_that_is_wrapped_twice_is_looked_at_once(host: Host) -> None:
    host.answer("post_tool_call", context="once")
    host.load()
    host.middleware["tool_execution"] *= 2
    assert host.call().count("once") == 1
    assert len(host.sent("post_tool_call")) == 1


def test_calls_at_once_keep_their_own_answers(host: Host) -> None:
    script = "n=$(grep -o 'n-[0-9]'); sleep 0.$((9 - ${n#n-})); echo no $n >&2; exit 2"
    host.entries["pre_tool_call"] = {"command": script, "timeout": 30}
    host.load()
    found: dict[int, str] = {}

    def call(number: int) -> None:
        found[number] = error(host.call(f"n-{number}", tool_call_id=f"call_{number}"))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: f"no n-{number}" for number in range(8)}


def test_calls_from_a_program_belong_to_the_session_of_its_task(host: Host) -> None:
    host.entry("pre_tool_call", "true")
    host.load()
    host.call(tool="execute_code")
    host.call(session_id="", tool_call_id="", turn_id="")
    first, second = host.sent("pre_tool_call")
    assert second["session_id"] == first["session_id"] == "s-1"
    assert "tool_use_id" not in second


def test_context_of_a_session_or_a_subagent_comes_with_its_first_prompt(host: Host) -> None:
    host.answer("on_session_start", context="of the session")
    host.answer("pre_llm_call", context="of the prompt")
    host.answer("subagent_start", context="of the task")
    host.load()
    host.fire("on_session_start", session_id="s-1", model="m")
    said = [host.fire("pre_llm_call", session_id="s-1", user_message="hello") for _ in range(2)]
    assert said == [[{"context": "of the session\n\nof the prompt"}], [{"context": "of the prompt"}]]
    host.fire("subagent_start", parent_session_id="s-1", child_session_id="s-2", child_role="leaf", child_goal="do")
    host.fire("on_session_start", session_id="s-2", model="m")
    [said_below] = host.fire("pre_llm_call", session_id="s-2", user_message="do")
    assert said_below == {"context": "of the task\n\nof the session\n\nof the prompt"}


def test_a_resumed_session_starts_with_its_first_prompt(host: Host) -> None:
    host.answer("on_session_start", context="again")
    host.load()
    for _ in range(2):
        host.fire("pre_llm_call", session_id="s-1", user_message="hello", model="m")
    assert [sent["source"] for sent in host.sent("on_session_start")] == ["resume"]


def test_a_stop_gate_sends_it_back(host: Host) -> None:
    host.entry("pre_verify", "echo not yet >&2; exit 2")
    host.load()
    given = {"session_id": "s-1", "final_response": "done", "changed_paths": ["a.py"]}
    assert host.fire("pre_verify", attempt=0, **given) == [{"action": "continue", "message": "not yet"}]
    host.fire("pre_verify", attempt=1, **given)
    assert [sent["stop_hook_active"] for sent in host.sent("pre_verify")] == [False, True]


def test_a_failed_request_that_is_tried_again_is_no_failure_of_the_turn(host: Host) -> None:
    host.entry("api_request_error", "true")
    host.load()
    failed = {"session_id": "s-1", "retryable": True, "max_retries": 3, "reason": "timeout", "error": {"message": "m"}}
    for count in range(3):
        host.fire("api_request_error", retry_count=count, **failed)
    [sent] = host.sent("api_request_error")
    assert (sent["error"], sent["error_details"]) == ("timeout", "m")


def test_a_question_that_hermes_puts_to_a_model_is_no_permission_request(host: Host) -> None:
    host.entry("pre_approval_request", "true")
    host.entry("post_approval_response", "true")
    host.load()
    asked = {
        "session_id": "",
        "command": "rm -rf x",
        "description": "delete",
        "turn_id": "s-1:t:x",
        "tool_call_id": "c",
    }
    for surface in ("smart", "cli"):
        host.fire("pre_approval_request", surface=surface, **asked)
        host.fire("post_approval_response", surface=surface, choice="deny", **asked)
    [request], [response] = host.sent("pre_approval_request"), host.sent("post_approval_response")
    assert (request["session_id"], request["tool_input"]) == ("s-1", {"command": "rm -rf x"})
    assert (response["decision"], response["scope"]) == ("denied", "deny")


def test_outside_of_hermes_nobody_can_be_asked(host: Host) -> None:
    host.entries["pre_tool_call"] = {"command": 'echo "$HERMES_UNATTENDED" >&2; exit 2', "timeout": 30}
    host.load()
    assert error(host.call()) == "1"
