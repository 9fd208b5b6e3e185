"""Agents that people have already: rules and the hub answer for them, within the time they have, or nobody does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hub_client import hubs
from hub_client.hubs import BadHub, RealHub, joined
from support import alive, folder_hook, tenterhook, until, user_hooks, write_config
from tenterhook import bridge, cli
from tenterhook.agents import AGENTS
from tenterhook.hub_client import membership
from tenterhook.install import entries

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    BadHubs = Callable[[Callable[[socket.socket], None]], BadHub]

HANG = 60  # seconds: an answer that takes this long is none
ASKS = """echo '{"decision": "ask", "reason": "look at it"}'"""


@pytest.fixture(autouse=True)
def _leave() -> Iterator[None]:
    """The uploader ends when there is no hub any more."""
    yield
    membership.delete()


class Claude:
    """What Claude Code does at its events, without it."""

    native = {
        "pre-tool-call": "PreToolUse",
        "permission-request": "PermissionRequest",
        "post-tool-call": "PostToolUse",
        "post-tool-call-failure": "PostToolUseFailure",
    }
    host = "claude-code"
    tool = "Bash"

    def __init__(self, project: Path) -> None:
        self._project = project
        assert cli.run(["install", self.host]) == 0

    def line(self, event: str) -> str:
        found = entries.found(AGENTS[self.host], Path(AGENTS[self.host].settings()).read_bytes())
        return entries.command_of(found[self.native[event]][0])

    def payload(self, event: str, command: str, **more: Any) -> str:
        said = {"hook_event_name": self.native[event], "session_id": "s-1", "cwd": str(self._project)}
        return json.dumps({**said, "tool_name": self.tool, "tool_input": {"command": command}, **more})

    def start(self, event: str, command: str, **more: Any) -> subprocess.Popen[str]:
        """An event, as the agent tells of it; not waited for."""
        pipe = subprocess.PIPE
        started = subprocess.Popen(["sh", "-c", self.line(event)], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        assert started.stdin is not None
        started.stdin.write(self.payload(event, command, **more))
        started.stdin.close()
        started.stdin = None
        return started

    def answer(self, event: str, command: str, **more: Any) -> Any:
        return self.heard(self.start(event, command, **more))

    @staticmethod
    def heard(started: subprocess.Popen[str]) -> Any:
        """What the agent understands: its decision, and why; None if there is none."""
        out, err = started.communicate(timeout=HANG)
        if started.returncode == 2:
            return "deny", err.strip()
        assert started.returncode == 0, err
        if not out:
            return None
        told = json.loads(out).get("hookSpecificOutput", {})
        if "decision" in told:
            return told["decision"]["behavior"], told["decision"].get("message")
        return (told["permissionDecision"], told["permissionDecisionReason"]) if "permissionDecision" in told else None


class KimiCli(Claude):
    """An agent that hears nothing but a block, and has no permission event."""

    host = "kimi-cli"
    tool = "Shell"


def fresh() -> str:
    return f"echo {time.time_ns()}"


def rules(home: Path, text: str) -> None:
    write_config(home / ".config" / "tenterhook" / "config.toml", text)


def approvals(home: Path) -> list[dict[str, Any]]:
    """The records of answers in the journal."""
    files = sorted((home / ".local/state/tenterhook/journal").glob("*.jsonl"))
    records = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [record for record in records if record["type"] == "approval"]


# ------------------------------------------------------------------ people at the hub


def test_a_permission_request_is_answered_at_the_hub(home: Path, project: Path, hub: RealHub) -> None:
    joined(hub)
    claude, command = Claude(project), fresh()
    for approved, expected in ((True, ("allow", None)), (False, ("deny", f"{hub.person} refused this call: not now"))):
        asked = claude.start("permission-request", command)
        request = hub.waiting(command)
        assert (request["agent"], request["session_id"], request["display"]["command"]) == (
            "claude-code",
            "s-1",
            command,
        )
        hub.answer(request, approved=approved, **({} if approved else {"message": "not now"}))
        assert claude.heard(asked) == expected
    found = approvals(home)
    assert [(each["decision"], each["answered_by"], each["by"]) for each in found] == [
        ("approve", f"{hub.person} (hub)", "claude-code"),
        ("deny", f"{hub.person} (hub)", "claude-code"),
    ]
    assert all(each["waited_ms"] > 0 for each in found)
    shown = tenterhook("log").stdout
    assert f"approval Bash  approved by {hub.person} (hub) after" in shown
    assert len([line for line in shown.splitlines() if "approval" in line]) == 2
    assert tenterhook("log", "--decision", "deny").stdout.count("approval") == 1
    assert tenterhook("log", "verify").returncode == tenterhook("log", "stats").returncode == 0


@pytest.mark.parametrize("ended", ["post-tool-call", "post-tool-call-failure"])
def test_a_call_that_was_made_withdraws_its_question(home: Path, project: Path, hub: RealHub, ended: str) -> None:
    """An agent may leave its hook running when its person has said yes; the next it tells is that the tool ran."""
    joined(hub)
    claude, command, other = Claude(project), fresh(), fresh()
    asked, still_asked = claude.start("permission-request", command), claude.start("permission-request", other)
    request, open_one = hub.waiting(command), hub.waiting(other)
    assert claude.answer(ended, command, cwd=str(home)) is None  # the call may have gone elsewhere
    assert claude.heard(asked) is None
    assert (hub.look(request)["state"], hub.look(open_one)["state"]) == ("withdrawn", "open")
    assert hub.look(request)["withdrawn"]["approved"] is (True if ended == "post-tool-call" else None)
    hub.answer(open_one, approved=True)
    assert claude.heard(still_asked) == ("allow", None)
    assert not (home / ".local/state/tenterhook/sessions/s-1/asked").exists()


def test_of_two_equal_calls_only_one_was_made(home: Path, project: Path, hub: RealHub) -> None:
    joined(hub)
    claude, command = Claude(project), fresh()
    first = claude.start("permission-request", command)
    request = hub.waiting(command)
    second = claude.start("permission-request", command)
    until(lambda: len([each for each in hub.open_requests() if each["display"].get("command") == command]) == 2)
    claude.answer("post-tool-call", command)
    assert claude.heard(first) is None
    assert hub.look(request)["state"] == "withdrawn"
    (other,) = [each for each in hub.open_requests() if each["display"].get("command") == command]
    hub.answer(other, approved=False)
    assert claude.heard(second)[0] == "deny"


def test_an_approval_for_the_session_answers_the_next_question(home: Path, project: Path, hub: RealHub) -> None:
    joined(hub)
    claude, command = Claude(project), fresh()
    asked = claude.start("permission-request", command)
    hub.answer(hub.waiting(command), approved=True, scope="session")
    assert claude.heard(asked) == ("allow", None)
    membership.delete()  # nobody could answer now
    rules(home, '[[approvals.rules]]\nanswer = "deny"\npattern = "never"\n')
    assert claude.answer("permission-request", command) == ("allow", None)
    assert claude.answer("permission-request", fresh()) is None
    assert claude.answer("permission-request", command, session_id="s-2") is None


def test_an_approval_for_the_session_ends_with_the_agents_process(home: Path, project: Path, hub: RealHub) -> None:
    joined(hub)
    claude, command = Claude(project), fresh()
    asked = claude.start("permission-request", command)
    hub.answer(hub.waiting(command), approved=True, scope="session")
    claude.heard(asked)
    other = [sys.executable, "-c", "import subprocess, sys; sys.exit(subprocess.call(['sh', '-c', sys.argv[1]]))"]
    started = subprocess.Popen(
        [*other, claude.line("permission-request")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stdin is not None
    started.stdin.write(claude.payload("permission-request", command))
    started.stdin.close()
    started.stdin = None
    hub.answer(hub.waiting(command), approved=False)
    assert claude.heard(started)[0] == "deny"


def test_a_tool_call_that_nobody_asks_about_does_not_wait(home: Path, project: Path, hub: RealHub) -> None:
    joined(hub)
    command = fresh()
    assert Claude(project).answer("pre-tool-call", command) is None
    assert approvals(home) == []


def test_a_hooks_question_goes_to_the_agent_that_can_ask_and_then_to_the_hub(
    home: Path, project: Path, hub: RealHub
) -> None:
    folder_hook(user_hooks(home), "careful", ASKS)
    joined(hub)
    claude, command = Claude(project), fresh()
    assert claude.answer("pre-tool-call", command) == ("ask", "look at it")
    asked = claude.start("permission-request", command)
    hub.answer(hub.waiting(command), approved=True)
    assert claude.heard(asked) == ("allow", None)


def test_a_question_that_a_hook_forces_is_not_answered_beforehand(home: Path, project: Path, hub: RealHub) -> None:
    """Neither by a rule, nor by an approval for the session."""
    guard = folder_hook(user_hooks(home), "careful", ASKS)
    rules(home, '[[approvals.rules]]\nanswer = "approve"\ntool = "Shell"\n')
    joined(hub)
    claude, command = Claude(project), fresh()
    assert claude.answer("pre-tool-call", command) == ("ask", "look at it")
    for _ in range(2):
        asked = claude.start("permission-request", command)
        request = hub.waiting(command)
        hub.answer(request, approved=True, scope="session")
        claude.heard(asked)
    (guard / "scripts" / "run.sh").write_text("#!/bin/sh\nexit 0\n")
    assert claude.answer("pre-tool-call", command) is None
    assert claude.answer("permission-request", command) == ("allow", None)  # by the rule


def test_a_hook_that_asks_at_the_permission_request_is_not_answered_by_a_rule(
    home: Path, project: Path, hub: RealHub
) -> None:
    """An `ask` of a hook at `pre-tool-call` or at `permission-request` forces the question."""
    folder_hook(user_hooks(home), "careful", ASKS, trigger="permission-request")
    rules(home, '[[approvals.rules]]\nanswer = "approve"\ntool = "Shell"\nreason = "vetted"\n')
    joined(hub)
    claude, command = Claude(project), fresh()
    asked = claude.start("permission-request", command)
    request = hub.waiting(command)
    assert request["why"] == "look at it"
    hub.answer(request, approved=False)
    assert claude.heard(asked)[0] == "deny"


@pytest.mark.parametrize("approved", [True, False])
def test_where_an_agent_cannot_ask_the_hub_is_asked_before_the_call(
    home: Path, project: Path, hub: RealHub, approved: bool
) -> None:
    folder_hook(user_hooks(home), "careful", ASKS)
    joined(hub)
    kimi, command = KimiCli(project), fresh()
    asked = kimi.start("pre-tool-call", command)
    request = hub.waiting(command)
    assert request["why"] == "look at it"
    hub.answer(request, approved=approved)
    heard = kimi.heard(asked)
    assert heard is None if approved else heard == ("deny", f"{hub.person} refused this call")


def test_without_an_answer_it_is_as_if_there_were_no_hub(home: Path, project: Path, bad_hub: BadHubs) -> None:
    folder_hook(user_hooks(home), "careful", ASKS)
    kimi = KimiCli(project)
    before = kimi.answer("pre-tool-call", "ls")
    membership.save(bad_hub(hubs.says(b"nonsense\r\n")).member())
    assert kimi.answer("pre-tool-call", "ls") == before
    assert before[0] == "deny"


# ------------------------------------------------------------------ a hub that is no help


@pytest.mark.parametrize("what", ["gone", "silent", "nonsense"])
def test_a_hub_that_is_no_help_makes_no_decision_in_bounded_time(
    home: Path, project: Path, bad_hub: BadHubs, what: str
) -> None:
    bad = bad_hub(hubs.silent if what != "nonsense" else hubs.says(b"nonsense\r\n"))
    if what == "gone":
        bad.stop()
    membership.save(bad.member())
    claude = Claude(project)
    assert claude.answer("permission-request", fresh()) is None
    assert claude.answer("pre-tool-call", fresh()) is None
    assert [each["decision"] for each in approvals(home)] == ["none"]


def test_guards_still_block_while_the_hub_hangs(home: Path, project: Path, bad_hub: BadHubs) -> None:
    folder_hook(user_hooks(home), "guard", "echo no >&2; exit 2")
    membership.save(bad_hub(hubs.silent).member())
    assert Claude(project).answer("pre-tool-call", "ls") == ("deny", "no")


def test_a_membership_that_others_can_read_counts_for_nothing(home: Path, project: Path, hub: RealHub) -> None:
    joined(hub)
    (home / ".config/tenterhook/hub.json").chmod(0o644)
    assert Claude(project).answer("permission-request", fresh()) is None


def test_no_answer_in_the_time_that_the_agent_has_is_none(home: Path, project: Path, hub: RealHub) -> None:
    joined(hub)
    claude, command = Claude(project), fresh()
    record = home / ".local/state/tenterhook/installed/claude-code.json"
    told = json.loads(record.read_text())
    told["timeouts"]["PermissionRequest"] = 9
    record.write_text(json.dumps(told))
    asked = claude.start("permission-request", command)
    request = hub.waiting(command)
    assert claude.heard(asked) is None
    assert hub.look(request)["state"] in ("withdrawn", "expired")


# ------------------------------------------------------------------ the agent's own question is answered


def _python_below(shell: int) -> int | None:
    """The process below the shells of the entry and of the launcher."""
    found = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
    if not found:
        return None
    is_shell = Path(f"/proc/{found[0]}/comm").read_text().strip() in ("sh", "dash", "bash")
    return _python_below(int(found[0])) if is_shell else int(found[0])


def test_ended_by_a_signal_it_takes_its_question_back(home: Path, project: Path, hub: RealHub) -> None:
    joined(hub)
    claude, command = Claude(project), fresh()
    asked = claude.start("permission-request", command)
    request = hub.waiting(command)
    process = until(lambda: _python_below(asked.pid))
    os.kill(process, signal.SIGTERM)
    assert claude.heard(asked) is None
    told = hub.look(request)
    assert (told["state"], told["withdrawn"]["by"]) == ("withdrawn", "agent")
    assert hub.answer(request, approved=True)[1]["won"] is False


def test_when_only_its_shell_is_ended_it_takes_its_question_back_too(home: Path, project: Path, hub: RealHub) -> None:
    joined(hub)
    claude, command = Claude(project), fresh()
    asked = claude.start("permission-request", command)
    request = hub.waiting(command)
    process = until(lambda: _python_below(asked.pid))
    asked.kill()
    until(lambda: hub.look(request)["state"] == "withdrawn")
    until(lambda: not alive(process))
    asked.communicate()


# ------------------------------------------------------------------ rules


def test_rules_hold_in_agents_too(home: Path, project: Path) -> None:
    rules(
        home,
        """
        [[approvals.rules]]
        answer = "approve"
        tool = "Shell"
        command = "make test"
        agent = "^claude-code$"

        [[approvals.rules]]
        answer = "deny"
        tool = "Shell"
        pattern = "prod"
        reason = "never there"

        [[approvals.rules]]
        answer = "ask"
        tool = "Shell"
        command = "make deploy"
        reason = "somebody looks"

        [[approvals.rules]]
        answer = "deny"
        command = "ls"
        expires = 2020-01-01

        [[approvals.rules]]
        answer = "deny"
        command = "ls"
        agent = "codex"
        """,
    )
    claude = Claude(project)
    for _ in range(2):  # from the definitions, then from the index
        assert claude.answer("pre-tool-call", "echo; ssh prod") == ("deny", "never there")
        assert claude.answer("permission-request", "ssh prod") == ("deny", "never there")
        assert claude.answer("pre-tool-call", "make test") is None
        assert claude.answer("permission-request", "make test") == ("allow", None)
        assert claude.answer("permission-request", "make test; rm -rf x") is None
        assert claude.answer("pre-tool-call", "make deploy") == ("ask", "somebody looks")
        assert claude.answer("pre-tool-call", "ls") is None
    assert {each["answered_by"] for each in approvals(home)} == {"rule"}


def test_a_hooks_approval_does_not_override_a_rule_that_denies(home: Path, project: Path) -> None:
    approve = """echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'"""
    folder_hook(user_hooks(home), "yes", approve, trigger="permission-request")
    rules(home, '[[approvals.rules]]\nanswer = "deny"\npattern = "prod"\nreason = "never"\n')
    claude = Claude(project)
    assert claude.answer("permission-request", "ssh prod") == ("deny", "never")
    assert claude.answer("permission-request", "ls") == ("allow", None)


def test_a_rule_of_the_hub_denies(home: Path, project: Path, tmp_path: Path) -> None:
    ruling = RealHub(tmp_path / "ruling")
    try:
        ruling.api("POST", "/rules", {"answer": "deny", "pattern": "prod", "reason": "the team says no"})
        joined(ruling)
        assert Claude(project).answer("pre-tool-call", "ssh prod") == ("deny", "the team says no")
    finally:
        ruling.stop()


def test_rules_that_cannot_be_read_take_no_verdict_with_them(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "if grep -q forbidden; then echo no >&2; exit 2; fi")
    rules(home, "[[approvals.rules]\n")
    claude = Claude(project)
    assert claude.answer("pre-tool-call", "forbidden") == ("deny", "no")
    started = claude.start("pre-tool-call", "ls")
    out, _ = started.communicate(timeout=HANG)
    assert "your rules are not in force" in json.loads(out)["systemMessage"]


# ------------------------------------------------------------------ what it costs


def _imported(claude: Claude, event: str) -> set[str]:
    """What the bridge imports for an event."""
    record = Path(os.environ["HOME"], ".local/state/tenterhook/installed/claude-code.json")
    arguments = ["--host", "claude-code", "--event", claude.native[event], "--record", str(record)]
    command = [sys.executable, "-I", "-S", "-c", _TELLING, bridge.__file__, *arguments]
    ended = subprocess.run(command, input=claude.payload(event, "ls"), capture_output=True, text=True, timeout=HANG)
    assert ended.returncode == 0
    return set(ended.stderr.split())


# what is loaded in one go, no flag of the interpreter tells
_TELLING = """
import os, runpy, sys
end = os._exit
def tell(status):
    print(*sys.modules, file=sys.stderr, flush=True)
    end(status)
os._exit = tell
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


OURS = {
    "tenterhook.hub_client",
    "tenterhook.dispatch.approvals",
    "tenterhook.approvals.rules",
    "http.client",
    "tomllib",
    "ssl",
}


def test_without_a_hub_and_rules_nothing_of_them_is_imported(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 0")
    write_config(home / ".config" / "tenterhook" / "config.toml", '[agent]\nmode = "ask"\n')
    claude = Claude(project)
    claude.answer("pre-tool-call", "ls")  # so that the journal's settings are known
    imported = _imported(claude, "pre-tool-call")
    assert "tenterhook.engine.engine" in imported
    assert not OURS & imported
    membership.save(membership.Membership("http://127.0.0.1:1", "t", "desk"))
    assert "tenterhook.hub_client" in _imported(claude, "pre-tool-call")


def test_agents_lead_to_us_where_they_would_ask_once_there_is_a_hub(home: Path, project: Path, hub: RealHub) -> None:
    Claude(project)
    settings = home / ".claude" / "settings.json"
    assert "PermissionRequest" not in json.loads(settings.read_text())["hooks"]
    joined(hub)
    Claude(project)
    assert {"PreToolUse", "PermissionRequest"} <= set(json.loads(settings.read_text())["hooks"])


def test_many_questions_at_once_are_each_answered_once(home: Path, project: Path, hub: RealHub) -> None:
    joined(hub)
    claude = Claude(project)
    commands = [fresh() for _ in range(6)]
    asked = [claude.start("permission-request", command) for command in commands]
    answers: list[Any] = []

    def answer(request: dict[str, Any], approved: bool) -> None:
        answers.append(hub.answer(request, approved=approved))

    for number, command in enumerate(commands):
        given = (hub.waiting(command), number % 2 == 0)
        racers = [threading.Thread(target=answer, args=given) for _ in range(3)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
    assert sum(status == 200 for status, _ in answers) == len(commands)
    heard = [claude.heard(each) for each in asked]
    assert [each[0] for each in heard] == ["allow", "deny"] * 3
