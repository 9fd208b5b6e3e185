"""`tenterhook log`: what reached the hooks, whichever way it is asked for; figures; and what shadow mode would do."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import click
import pytest
from rich.cells import cell_len

from journal import journals
from support import (
    array_hook,
    folder_hook,
    on_a_terminal,
    project_hooks,
    shell_call,
    tenterhook,
    until,
    user_hooks,
    write_config,
)
from tenterhook import Engine, Event, bridge, cli
from tenterhook.journal import writer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HANG = 60
SHADOW = {"mode": "shadow"}
ASYNC: dict[str, Any] = {"async": True}


def say(**answer: Any) -> str:
    return f"echo '{json.dumps(answer)}'"


# ---- everything that becomes of a hook is a thing of its own


@pytest.fixture
def outcomes(home: Path, project: Path) -> Path:
    """One hook for each thing that can become of one; the last blocks, and what comes behind it does not run."""
    hooks = user_hooks(home)
    approve = say(hookSpecificOutput={"permissionDecision": "allow"})
    scripts = {
        "silent": "exit 0",
        "allows": say(decision="allow"),
        "approves": approve,
        "asks": say(decision="ask", reason="are you sure?"),
        "fails": "echo oh no >&2; exit 1",
        "hangs": "sleep 30",
    }
    for number, (name, script) in enumerate(scripts.items()):
        folder_hook(hooks, name, script, priority=900 - number, timeout=300 if name == "hangs" else 30000)
    folder_hook(hooks, "blocks", "echo 'not this' >&2; exit 2", priority=200)
    folder_hook(hooks, "too-late", "exit 0", priority=100)
    later: dict[str, Any] = {"async": True}
    folder_hook(hooks, "later", "exit 3", **later)
    folder_hook(project_hooks(project), "untrusted", "exit 2", priority=1000)
    Engine.load().decide(shell_call(session_id="s"))
    until(lambda: journals.recorded(journals.folder(home), "async"))
    return project


MEANINGS = {
    "silent": "no_decision",
    "allows": "allowed",
    "approves": "approved",
    "asks": "asked",
    "fails": "failed",
    "hangs": "timed_out",
    "blocks": "blocked",
    "too-late": "not_run",
    "untrusted": "not_run",
    "later": "started",
}


@pytest.mark.usefixtures("outcomes")
def test_not_run_failed_timed_out_allowed_no_decision_and_blocked_stay_different(home: Path) -> None:
    (record,) = journals.recorded(journals.folder(home))
    assert {run["hook"]: run["meaning"] for run in record["runs"]} == MEANINGS
    assert (record["decision"], record["reason"]) == ("deny", "not this")
    why = {run["hook"]: run.get("why") for run in record["runs"]}
    assert why["untrusted"] == "untrusted"
    assert why["too-late"] == "stopped by an earlier block"
    verdict, ended = journals.log_json()
    assert verdict == record
    assert (ended["type"], ended["hook"], ended["meaning"], ended["exit_code"]) == ("async", "later", "failed", 3)
    shown = tenterhook("log").stdout
    for hook, meaning in MEANINGS.items():
        assert any(line.split()[0] == hook and word(meaning) in line for line in shown.splitlines()), hook
    assert "later (async) failed" in shown


def word(meaning: str) -> str:
    return f" {meaning.replace('_', ' ')}  "


@pytest.mark.usefixtures("outcomes")
def test_trigger_has_the_same_words_for_what_a_hook_did() -> None:
    shown = tenterhook("trigger", "pre-tool-call", "--tool", "Shell").stdout
    for hook, meaning in MEANINGS.items():
        assert any(line.split()[1:2] == [hook] and word(meaning) in f"{line}  " for line in shown.splitlines()), hook


def test_a_long_reason_is_shown_once_and_its_lines_are_moved_in(home: Path, project: Path) -> None:
    reason = "do not do this " * 30 + "\nask somebody"
    folder_hook(user_hooks(home), "a-guard", f"cat >&2 <<'END'\n{reason}\nEND\nexit 2")
    ended = tenterhook("trigger", "pre-tool-call", "--tool", "Shell")
    for shown in (ended.stdout, tenterhook("log").stdout):
        assert shown.count("do not do this " * 30) == 1
        assert shown.count("\n      ask somebody") == 1
        assert "a-guard                      blocked" in shown


def test_a_reason_that_was_not_the_first_is_shown_beside_its_hook(project: Path) -> None:
    text = array_hook("echo first >&2; exit 2") + array_hook("echo second >&2; exit 2")
    write_config(project / "config.toml", text)
    ended = tenterhook("trigger", "PreToolUse", "--tool", "Bash", "--config", "config.toml")
    for shown in (ended.stdout, tenterhook("log").stdout):
        assert (shown.count("first"), shown.count("second")) == (1, 1)
        assert next(line for line in shown.splitlines() if "second" in line).split()[-1] == "second"


def test_a_failure_is_shown_with_why_and_the_end_of_its_stderr(home: Path, project: Path) -> None:
    noise = "head -c 30000 /dev/zero | tr '\\0' x >&2; echo >&2"
    folder_hook(user_hooks(home), "guard", f"{noise}; echo first >&2; echo last >&2; exit 3")
    folder_hook(user_hooks(home), "later", f"{noise}; echo later >&2; exit 7", **ASYNC)
    tenterhook("trigger", "pre-tool-call", "--tool", "Shell")
    until(lambda: journals.recorded(journals.folder(home), "async"))
    shown = tenterhook("log").stdout
    assert "exit 3:\n" in shown
    assert "\n      first\n      last\n" in shown
    assert "later (async) failed" in shown
    assert "exit 7:\n" in shown
    assert "\n      later\n" in shown


@pytest.mark.usefixtures("outcomes")
def test_figures_keep_them_apart_too() -> None:
    counted = ("runs", "blocks", "failures", "timeouts", "not_run", "allowed", "asked", "no_decision", "would_block")
    found = {each["hook"]: {key: each[key] for key in counted if each[key]} for each in journals.stats_json()["hooks"]}
    assert found == {
        "silent": {"runs": 1, "no_decision": 1},
        "allows": {"runs": 1, "allowed": 1},
        "approves": {"runs": 1, "allowed": 1},
        "asks": {"runs": 1, "asked": 1},
        "fails": {"runs": 1, "failures": 1},
        "hangs": {"runs": 1, "timeouts": 1},
        "blocks": {"runs": 1, "blocks": 1},
        "too-late": {"not_run": 1},
        "untrusted": {"not_run": 1},
        "later": {"runs": 1, "failures": 1},  # once it had ended
    }


def test_an_event_that_hooks_are_for_is_recorded_though_no_pattern_found_it(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", matcher={"tool": "Shell", "pattern": "forbidden"})
    Engine.load().decide(shell_call(session_id="s"))
    (record,) = journals.log_json()
    assert (record["runs"], record["decision"]) == ([], "none")


def test_an_event_without_a_hook_is_not_recorded(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    Engine.load().decide(Event("pre-agent-turn", prompt="hello"))
    assert not journals.folder(home).exists()
    assert tenterhook("log").stdout == "nothing recorded yet: the next event will be\n"


def test_who_asked_is_recorded(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    Engine.load().decide(shell_call(session_id="library"))
    tenterhook("trigger", "pre-tool-call", "--session", "trigger")
    assert cli.run(["install", "gemini"]) == 0
    record = home / ".local" / "state" / "tenterhook" / "installed" / "gemini.json"
    said = {"session_id": "gemini", "cwd": str(project), "tool_name": "run_shell_command", "tool_input": {}}
    arguments = ["--host", "gemini", "--event", "BeforeTool", "--record", str(record)]
    command = [sys.executable, "-I", "-S", bridge.__file__, *arguments]
    subprocess.run(command, input=json.dumps(said), text=True, capture_output=True, timeout=HANG)
    assert [(each["session_id"], each["by"]) for each in journals.log_json()] == [
        ("library", "library"),
        ("trigger", "trigger"),
        ("gemini", "gemini"),
    ]


# ---- asking for some of it


@pytest.mark.usefixtures("mixed")
def test_json_lines_are_the_records_as_they_were_written(mixed: Path) -> None:
    written = [json.loads(line) for line in (mixed / "000001.jsonl").read_bytes().splitlines()[1:]]
    assert journals.log_json() == written


def test_text_from_outside_cannot_move_the_cursor(home: Path, project: Path) -> None:
    evil = "\x1b[2J\u202e\nfake line"
    runs = [journals.run(evil, "blocked", why=evil)]
    journals.write(journals.folder(home), journals.record(session_id=evil, tool_name=evil, reason=evil, runs=runs))
    for words in (["log"], ["log", "stats"]):
        shown = tenterhook(*words).stdout
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def test_a_reader_that_has_seen_enough_is_no_trouble(mixed: Path) -> None:
    script = f"{sys.executable} -m tenterhook log -n 0 | head -1"
    ended = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=HANG)
    assert "Traceback" not in ended.stderr
    assert len(ended.stdout.splitlines()) == 1


# ---- as things happen


@pytest.fixture
def follower(project: Path) -> Iterator[Any]:
    """Starts `tenterhook log -f`; ends what is left."""
    started: list[subprocess.Popen[str]] = []

    def follow(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tenterhook", "log", "-f", *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield follow
    for process in started:
        process.kill()
        process.communicate()


def test_following_shows_what_others_write_and_ctrl_c_ends_it(home: Path, follower: Any) -> None:
    folder_hook(user_hooks(home), "guard", "echo 'not this' >&2; exit 2")
    tenterhook("trigger", "pre-tool-call", "--session", "before")
    process = follower("--json")
    assert json.loads(journals.line_of(process))["session_id"] == "before"
    for number in range(3):
        tenterhook("trigger", "pre-tool-call", "--session", f"s-{number}")
        record = json.loads(journals.line_of(process))
        assert (record["session_id"], record["decision"]) == (f"s-{number}", "deny")
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=HANG)
    assert stdout == ""
    assert "Traceback" not in stderr
    assert process.returncode in (0, 130)


def test_following_begins_before_there_is_anything_and_keeps_to_its_filters(home: Path, follower: Any) -> None:
    process = follower("--decision", "deny", "--hook", "g", "--json")
    until((home / ".cache" / "tenterhook" / "journal.db").exists)
    denied = [journals.run("g", "blocked")]
    place = journals.folder(home)
    journals.write(place, journals.record(1), journals.record(2, decision="deny"))
    journals.write(place, journals.record(3, decision="deny", runs=denied), journals.record(4, runs=denied))
    journals.write(place, journals.record(5, decision="deny", runs=denied))
    assert [json.loads(journals.line_of(process))["session_id"] for _ in range(2)] == ["s-3", "s-5"]


def test_following_shows_each_record_once_whatever_its_time(home: Path, follower: Any) -> None:
    place = journals.folder(home)
    journals.write(place, *(journals.record(number) for number in range(3)))
    head, own = writer.closed(writer._header(0, writer.START), writer.START)
    old = journals.record(time=time.time() - 3600, session_id="aside")
    (place / "aside-1-00000000.jsonl").write_bytes(head + writer.closed(json.dumps(old).encode(), own)[0])
    process = follower("--json")
    assert [json.loads(journals.line_of(process))["session_id"] for _ in range(4)] == ["aside", "s-0", "s-1", "s-2"]
    journals.write(place, journals.record(3))
    assert json.loads(journals.line_of(process))["session_id"] == "s-3"


# ---- shadow mode


ANSWERS: dict[str, str] = {
    "deny": "echo 'not this' >&2; exit 2",
    "ask": say(decision="ask", reason="sure?"),
    "approve": say(hookSpecificOutput={"permissionDecision": "allow"}),
    "modified": say(modified_input={"command": "safe"}),
    "context": say(additional_context="mind this"),
    "message": say(message="look here"),
}


@pytest.mark.parametrize("where", ["HOOK.md", "hooks.toml"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_what_a_hook_in_shadow_mode_says_is_recorded_and_not_enforced(
    home: Path, project: Path, answer: str, where: str
) -> None:
    front: dict[str, Any] = {"metadata": SHADOW} if where == "HOOK.md" else {}
    folder_hook(user_hooks(home), "new", f"touch ran; {ANSWERS[answer]}", **front)
    folder_hook(user_hooks(home), "old", say(decision="allow"), priority=1)
    if where == "hooks.toml":
        write_config(
            user_hooks(home) / "hooks.toml", '[[hooks.override]]\nname = "new"\nmetadata = { mode = "shadow" }\n'
        )
    verdict = Engine.load().decide(shell_call("ls", session_id="s"))
    assert (project / "ran").exists()
    assert (verdict.decision, verdict.modified_input) == ("allow", None)
    assert (verdict.additional_context, verdict.messages) == ((), ())
    assert [run.started for run in verdict.runs] == [True, True]  # a block of its does not stop the others
    (record,) = journals.recorded(journals.folder(home))
    assert record["decision"] == "allow"
    new, old = record["runs"]
    assert (new["hook"], new["shadow"], "shadow" in old) == ("new", True, False)
    assert "shadow" in new["ignored"]
    expected: dict[str, tuple[str, Any]]
    expected = {"deny": ("decision", "deny"), "ask": ("decision", "ask"), "approve": ("decision", "approve")}
    expected |= {"modified": ("modified_input", {"command": "safe"}), "context": ("additional_context", "mind this")}
    expected |= {"message": ("message", "look here")}
    key, value = expected[answer]
    assert new[key] == value
    assert new["meaning"] == {"deny": "would_block", "ask": "asked", "approve": "approved"}.get(answer, "no_decision")
    figure = journals.figures("new", "--shadow")
    assert figure["shadow"]
    assert (figure["would_block"], figure["blocks"], figure["asked"]) == (answer == "deny", 0, answer == "ask")


# ---- what an event was about, and where


def about(home: Path, **fields: Any) -> str:
    """The line below the first of the one record there is."""
    journals.write(journals.folder(home), journals.record(**fields))
    return tenterhook("log").stdout.splitlines()[1]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tool_input": {"command": "git push --force"}}, "git push --force"),
        ({"tool_input": {"file_path": "{work_dir}/src/main.py", "content": "x"}}, "src/main.py"),
        ({"tool_input": {"file_path": "/etc/passwd"}}, "/etc/passwd"),
        ({"tool_input": {"command": "{work_dir}/run me"}}, "{work_dir}/run me"),
        ({"prompt": [{"type": "text", "text": "Fix\nthe test"}]}, "Fix\\nthe test"),
        ({"tool_input": {"command": "echo \x1b[31m\u202eevil"}}, "echo \\x1b[31m\\u202eevil"),
        ({"tool_input": {"mode": "all", "limit": 3}}, '{"mode": "all", "limit": 3}'),
        ({"source": "startup"}, ""),
        (None, ""),
    ],
)
def test_log_shows_the_command_file_or_prompt_and_the_project(home: Path, fields: Any, expected: str) -> None:
    work_dir = f"{home}/src/app"
    filled = json.loads(json.dumps(fields).replace("{work_dir}", work_dir))
    line = about(home, work_dir=work_dir, fields=filled)
    assert line == f"    ~/src/app  {expected.replace('{work_dir}', work_dir)}".rstrip()


def test_log_shows_what_an_approval_was_about(home: Path) -> None:
    asked = {"tool_input": {"command": "make deploy"}}
    line = about(home, type="approval", fields=asked, work_dir="/srv/app", answered_by="terminal", decision="approve")
    assert line == "    /srv/app  make deploy"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_log_fits_the_terminal_and_leaves_nothing_out_in_a_pipe(
    home: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f"first {'x' * 300} 漢字 {'y' * 300} last"
    project = f"{home}/{'deep/' * 30}app"
    reason = "Not like this. " * 20 + "Really."
    asked = {"tool_input": {"command": command}}
    journals.write(
        journals.folder(home), journals.record(fields=asked, work_dir=project, decision="deny", reason=reason)
    )
    piped = tenterhook("log").stdout
    assert f"    {project.replace(str(home), '~')}  {command}\n" in piped
    assert f"  deny  {reason}  (library)\n" in piped
    monkeypatch.setenv("COLUMNS", str(width))
    status, seen = on_a_terminal(["log"], {})
    lines = [click.unstyle(line) for line in seen.decode().splitlines()]
    assert status == 0
    assert [line for line in lines[1:] if cell_len(line) > max(width, 58)] == []  # the hook's own line aside
    assert lines[1].startswith("    ~/")
    assert lines[1].count("…") == 2
    assert lines[1].endswith("last")
    assert cell_len(lines[1]) in (width, width - 1)
    assert " ".join(line.strip() for line in lines[2:-1]) == reason


def test_what_hooks_and_people_said_is_fitted_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    why, stderr = "exit 3", "details of a failure that are longer than a terminal is wide in any case, all of them"
    failed = journals.run("guard", outcome="failed", meaning="failed", why=why, stderr=stderr)
    answer = {"type": "approval", "answered_by": "terminal", "decision": "deny", "reason": "No. " * 20}
    journals.write(journals.folder(home), journals.record(runs=[failed]), journals.record(1, **answer))
    assert f"exit 3: {stderr}\n" in tenterhook("log").stdout
    monkeypatch.setenv("COLUMNS", "80")
    _, seen = on_a_terminal(["log"], {})
    lines = [click.unstyle(line) for line in seen.decode().splitlines()]
    assert [line for line in lines if cell_len(line) > 80] == []
    assert [line for line in lines if not line.startswith(("2", "    "))] == []
    assert "all of them" in " ".join(lines)


def test_a_hook_that_fails_in_shadow_mode_blocks_nothing_though_it_would(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "new", "exit 1", metadata={**SHADOW, "on_failure": "block"})
    assert Engine.load().decide(shell_call()).decision == "none"
    (record,) = journals.recorded(journals.folder(home))
    assert (record["runs"][0]["meaning"], record["runs"][0]["decision"]) == ("failed", "deny")


@pytest.mark.parametrize("script", ["exit 1", "echo '{'", ANSWERS["deny"], ANSWERS["ask"]])
def test_a_hook_in_shadow_mode_takes_nothing_from_anothers_approval(home: Path, project: Path, script: str) -> None:
    folder_hook(user_hooks(home), "old", say(decision="approve"), trigger="permission-request")
    folder_hook(user_hooks(home), "new", script, trigger="permission-request", metadata=SHADOW)
    event = Event("permission-request", tool_name="Shell", tool_input={"command": "ls"})
    assert Engine.load().decide(event).decision == "approve"


def test_an_agent_is_told_nothing_of_what_a_hook_in_shadow_mode_says(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "new", ANSWERS["deny"], metadata={**SHADOW, "on_failure": "block"})
    assert cli.run(["install", "claude-code"]) == 0
    record = home / ".local" / "state" / "tenterhook" / "installed" / "claude-code.json"
    said = {"session_id": "s", "cwd": str(project), "tool_name": "Bash", "tool_input": {"command": "ls"}}
    arguments = ["--host", "claude-code", "--event", "PreToolUse", "--record", str(record)]
    for _ in range(2):  # from the definitions, then from the index
        command = [sys.executable, "-I", "-S", bridge.__file__, *arguments]
        ended = subprocess.run(command, input=json.dumps(said), text=True, capture_output=True, timeout=HANG)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert [each["runs"][0]["meaning"] for each in journals.log_json()] == ["would_block"] * 2
    assert not json.loads(record.read_text())["closed"]  # it is no guard that must hold, not yet


def test_what_doctor_tries_is_in_the_log_and_counts_for_nobody(home: Path, project: Path) -> None:
    canary = journals.record(1, decision="deny", runs=[journals.run("tenterhook-canary", "blocked", decision="deny")])
    journals.write(journals.folder(home), canary, journals.record(2, runs=[journals.run("guard")]))
    assert len(journals.log_json()) == 2
    assert [each["hook"] for each in journals.stats_json()["hooks"]] == ["guard"]
    replayed = json.loads(tenterhook("replay", "--since", "10000d", "--json").stdout)
    assert replayed["events"] == 1


def test_a_replay_tells_what_a_hook_that_was_not_trusted_would_block(home: Path, tmp_path: Path) -> None:
    kept_back = journals.record(1, runs=[journals.run("guard", "not_run")])
    denied = journals.record(2, decision="deny", runs=[journals.run("guard", "not_run")])  # by another
    journals.write(journals.folder(home), kept_back, denied)
    guard = folder_hook(tmp_path, "guard", "exit 2")
    replayed = tenterhook("replay", "--with", str(guard), "--since", "10000d", "--json")
    assert [each["kind"] for each in json.loads(replayed.stdout)["differences"]] == ["newly blocked"]
