"""One call, one decision (section 4.6 of the contract): an agent that also reads another agent's hooks asks twice."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from dispatch.bridges import ASKS, BEFORE_TOOL, allow, call, does, install, line, named, payload
from hosts.recorded import DATA
from support import folder_hook, tenterhook, until, user_hooks
from tenterhook.dispatch import shared_answers

if TYPE_CHECKING:
    from pathlib import Path

    from hosts.observed import Does

pytestmark = pytest.mark.usefixtures("answering")

ID = {"claude-code": "tool_use_id", "kimi-code": "tool_call_id", "codex": "tool_use_id", "copilot": "toolCallId"}
HOSTS = ["claude-code", "kimi-code", "copilot"]


def asked(host: str, project: Path, command: str = "make", use: str | None = "call-1", **more: Any) -> Does:
    """What the agent would do if this installation were asked about a call."""
    native = BEFORE_TOOL[host]
    given = payload(host, project, command, **({ID[host]: use} if use else {}), **more)
    if host == "kimi-code":  # an agent uses the same names in all hook files that it reads
        given["tool_name"] = "Bash"
    if host == "copilot":
        given["toolName"] = "Bash"
    found: Does = does(host, native, call(line(host, native), given))
    return found


def counting(home: Path, project: Path, script: str = "echo no >&2; exit 2", **front: Any) -> Any:
    """A hook that counts its runs; return what tells how often it ran since it was asked last."""
    ran = project / "ran"
    folder_hook(user_hooks(home), "count", f"echo >>{ran}\n{script}", **front)

    def runs() -> int:
        count = len(ran.read_text().splitlines()) if ran.exists() else 0
        ran.unlink(missing_ok=True)
        return count

    return runs


def stored(home: Path) -> list[Path]:
    return sorted(home.glob(".local/state/tenterhook/sessions/*/answers/*"))


def test_another_installation_gets_the_same_verdict_in_its_own_form(home: Path, project: Path) -> None:
    runs = counting(home, project)
    install(*HOSTS)
    for host in HOSTS:
        assert (asked(host, project).block or "").strip() == "no"
    assert runs() == 1
    [file] = stored(home)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert len(tenterhook("log", "--json").stdout.splitlines()) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "allow", "modified_input": {"command": "true"}},
        {"decision": "allow", "additional_context": "caf\u00e9 \ud800"},
        {"hookSpecificOutput": {"permissionDecision": "allow", "permissionDecisionReason": "fine"}},
        {"decision": "ask", "reason": "sure?"},
    ],
    ids=lambda answer: str(list(answer)[-1]),
)
def test_every_part_of_a_verdict_is_given_to_the_other(home: Path, project: Path, answer: dict[str, Any]) -> None:
    runs = counting(home, project, f"cat <<'END'\n{json.dumps(answer)}\nEND")
    install("claude-code", "copilot")
    alone = asked("copilot", project, use="another")
    assert runs() == 1
    asked("claude-code", project)
    assert asked("copilot", project) == alone
    assert runs() == 1


@pytest.mark.parametrize("marked", ["", "\ufeff"], ids=["plain", "with a byte order mark"])
def test_a_call_in_cursor_which_also_runs_claude_codes_hooks_is_decided_once(
    home: Path, project: Path, marked: str
) -> None:
    """It sends them its own payloads, with its own keys for the session and the directory."""
    runs = counting(home, project)
    install("claude-code", "cursor")
    given = json.loads((DATA / "cursor/preToolUse.json").read_text())
    given |= {"cwd": "", "workspace_roots": [str(project)]}
    for host in ("claude-code", "cursor"):
        native = BEFORE_TOOL[host]
        assert (does(host, native, call(line(host, native), marked + json.dumps(given))).block or "").strip() == "no"
    assert runs() == 1
    [record] = map(json.loads, tenterhook("log", "--json").stdout.splitlines())
    assert (record["session_id"], record["work_dir"]) == (given["conversation_id"], str(project))


def test_a_hook_that_only_one_reading_of_a_tools_name_matches_is_not_skipped(home: Path, project: Path) -> None:
    """Only Cursor's own module knows that the tool belongs to an MCP server."""
    runs = counting(home, project, matcher={"tool": "^mcp:"})
    install("claude-code", "cursor")
    given = json.loads((DATA / "cursor/preToolUse-mcp.json").read_text()) | {"cwd": str(project)}
    assert does("claude-code", "PreToolUse", call(line("claude-code", "PreToolUse"), given)).block is None
    assert does("cursor", "preToolUse", call(line("cursor", "preToolUse"), given)).block
    assert runs() == 1


def test_an_installation_that_asks_again_gets_a_new_decision(home: Path, project: Path) -> None:
    runs = counting(home, project)
    install("claude-code", "kimi-code")
    for host in ("claude-code", "claude-code", "kimi-code", "kimi-code"):
        assert asked(host, project).block
    assert runs() == 3


@pytest.mark.parametrize(
    "other",
    [{"command": "make x"}, {"use": "call-2"}, {"use": None}, {"session_id": "s-2"}, {"tool_name": "Task"}],
    ids=lambda other: str(*other),
)
def test_another_call_is_decided_anew(home: Path, project: Path, other: dict[str, Any]) -> None:
    runs = counting(home, project)
    install("claude-code", "codex")
    assert asked("claude-code", project).block
    assert asked("codex", project, **other).block
    assert runs() == 2


def test_so_is_the_same_call_in_another_directory_and_one_of_an_agent_without_ids(home: Path, project: Path) -> None:
    runs = counting(home, project)
    install("claude-code", "codex")
    (project / "below").mkdir()
    assert asked("claude-code", project).block
    assert asked("codex", project / "below").block
    assert runs() == 2
    assert asked("claude-code", project, use=None).block
    assert asked("codex", project, use=None).block
    assert runs() == 2


def test_a_guard_of_a_file_that_one_installation_names_is_not_skipped(home: Path, project: Path) -> None:
    counting(home, project, "exit 0")
    named_file = home / "more-hooks.toml"
    named_file.write_text('[[hooks]]\nevent = "PreToolUse"\ncommand = "echo also no >&2; exit 2"\n')
    install("claude-code")
    assert tenterhook("install", "codex", "--config", str(named_file)).returncode == 0
    assert asked("claude-code", project).block is None
    assert (asked("codex", project).block or "").strip() == "also no"


def test_a_result_is_judged_once_and_another_result_again(home: Path, project: Path) -> None:
    runs = counting(home, project, "echo seen >&2; exit 2", trigger="post-tool-call")
    install("claude-code", "codex")
    given = payload("claude-code", project, "make", tool_use_id="call-1", hook_event_name="PostToolUse")
    for host, output in (("claude-code", "one"), ("codex", "one"), ("codex", "two")):
        ended = call(line(host, "PostToolUse"), {**given, "tool_response": output})
        assert does(host, "PostToolUse", ended).context.strip() == "seen"
    assert runs() == 2


def test_the_second_waits_for_the_first(home: Path, project: Path) -> None:
    runs = counting(home, project, "sleep 2; echo no >&2; exit 2")
    install(*HOSTS)
    with ThreadPoolExecutor(3) as pool:
        blocks = [(each.block or "").strip() for each in pool.map(lambda host: asked(host, project), HOSTS)]
    assert blocks == ["no"] * 3
    assert runs() == 1


def test_the_second_decides_if_the_first_is_killed(home: Path, project: Path, answering: str) -> None:
    if answering == "daemon":
        pytest.skip("the daemon goes on deciding")
    begun = project / "begun"
    runs = counting(home, project, f": >{begun}; sleep 1; echo no >&2; exit 2")
    install("claude-code", "codex")
    given = json.dumps(payload("claude-code", project, "make", tool_use_id="call-1"))
    command = ["sh", "-c", line("claude-code", "PreToolUse")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True, start_new_session=True) as first:
        assert first.stdin is not None
        first.stdin.write(given)
        first.stdin.close()
        until(begun.exists)
        os.killpg(first.pid, signal.SIGKILL)
    assert (asked("codex", project).block or "").strip() == "no"
    assert runs() == 2


@pytest.mark.parametrize("change", ["old", "of the future", "broken", "cut off"])
def test_a_verdict_that_is_not_fresh_or_cannot_be_read_is_not_used(home: Path, project: Path, change: str) -> None:
    runs = counting(home, project)
    install("claude-code", "codex")
    assert asked("claude-code", project).block
    [file] = stored(home)
    text = file.read_text()
    moved = {"old": time.time() - shared_answers.FRESH, "of the future": time.time() + 60}.get(change, 0)
    file.write_text(
        re.sub(r'"time": [\d.]+', f'"time": {moved}', text) if moved else text[:-1] if change[0] == "c" else "[]"
    )
    assert asked("codex", project).block
    assert runs() == 2


def test_a_permission_for_one_call_is_used_once(home: Path, project: Path) -> None:
    runs = counting(home, project, ASKS)
    install("codex", "kimi-code")
    refusal = asked("codex", project, use="call-0").block
    allow(named(refusal))
    assert asked("codex", project).block is None
    assert asked("kimi-code", project).block is None  # the same call
    assert asked("codex", project).block is not None  # the same id, used again
    assert asked("kimi-code", project).block is not None
    assert runs() == 3


def test_with_one_installation_nothing_is_stored(home: Path, project: Path) -> None:
    runs = counting(home, project)
    install("claude-code")
    assert asked("claude-code", project).block
    assert stored(home) == []
    assert runs() == 1


def test_old_verdicts_are_removed(home: Path, project: Path) -> None:
    counting(home, project)
    install("claude-code", "codex")
    assert asked("claude-code", project).block
    [file] = stored(home)
    for number in range(40):
        old = file.with_name(f"old-{number}")
        old.write_text("{}")
        os.utime(old, (time.time() - 60,) * 2)
    being_decided = file.with_name("being-decided")
    being_decided.touch()
    os.utime(being_decided, (time.time() - 60,) * 2)
    assert asked("claude-code", project, use="call-2").block
    assert [each for each in stored(home) if each.name.startswith("old")] == []
    assert being_decided.exists()


def test_where_it_cannot_be_stored_each_decides(home: Path, project: Path) -> None:
    runs = counting(home, project)
    install("claude-code", "codex")
    assert asked("claude-code", project, use="call-0").block
    [file] = stored(home)
    folder = file.parent
    file.unlink()
    folder.rmdir()
    folder.write_text("not a directory")
    for host in ("claude-code", "codex"):
        assert asked(host, project).block
    assert runs() == 3
