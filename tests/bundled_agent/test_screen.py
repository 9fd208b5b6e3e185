"""What a person sees of hooks in the bundled agent: failures with why, observers' reasons, each refusal once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pexpect
import pytest

from bundled_agent.playing import block, permission, shell, when
from support import folder_hook, tenterhook, user_hooks

if TYPE_CHECKING:
    from bundled_agent.playing import Play

pytestmark = pytest.mark.slow

ASYNC: dict[str, Any] = {"async": True}
HEADINGS = ("runs", "blocks", "failed", "p50", "p95")
SLOW = shell("sleep 1")  # longer than the asynchronous hooks of these tests take


# ------------------------------------------------------------------ failures


@pytest.mark.parametrize(
    ("script", "why"),
    [
        pytest.param(
            *('echo \'{"decision": "deny",}\'', "unreadable answer: stdout is not valid JSON (line 1, column "),
            marks=pytest.mark.thorough,
        ),
        (
            'echo \'{"decision": "denied"}\'',
            'unreadable answer: unknown decision "denied"; expected allow, deny, block or ask',
        ),
        ("echo lost the line >&2; exit 3", "exit 3: lost the line"),
    ],
    ids=["no JSON", "unknown decision", "exit code"],
)
def test_a_failed_hook_is_shown_with_why_on_screen_in_debug_and_in_the_log(play: Play, script: str, why: str) -> None:
    folder_hook(user_hooks(play.home), "guard", script)
    session = play.run([shell("touch ran")], "Done.", options=["--debug"])
    assert play.ran("ran")
    lines = session.shown.splitlines()
    assert any(line.startswith(f"  ! guard (pre-tool-call) failed: {why}") for line in lines)
    assert any("Completed hook 'guard'" in line and "success=False" in line for line in lines)
    assert any(line.startswith(f"[HOOK DEBUG] Reason: {why}") for line in lines)
    assert session.report["hooks"][0]["failures"] == 1
    shown = tenterhook("log").stdout
    assert "guard                        failed" in shown
    assert why in shown


def test_a_guard_that_fails_closed_shows_what_it_wrote_to_stderr(play: Play) -> None:
    script = "echo lost the line >&2; exit 3"
    folder_hook(user_hooks(play.home), "guard", script, metadata={"on_failure": "block"})
    session = play.run([shell("touch ran")], "Done.")
    assert not play.ran("ran")
    assert "is set to block when it fails: lost the line" in session.shown


def test_only_the_last_lines_of_stderr_are_shown(play: Play) -> None:
    folder_hook(user_hooks(play.home), "guard", "seq 1 2000 >&2; echo the end >&2; exit 1")
    session = play.run([shell("true")], "Done.")
    shown = session.shown.partition("failed: exit 1:\n")[2].splitlines()[:6]
    assert [line.strip() for line in shown] == ["…", "1997", "1998", "1999", "2000", "the end"]
    assert "the end" in tenterhook("log").stdout


def test_an_asynchronous_hook_that_fails_is_shown_when_it_ends(play: Play) -> None:
    hooks = user_hooks(play.home)
    folder_hook(hooks, "later", "sleep 0.1; echo lost the line >&2; exit 7", **ASYNC)
    folder_hook(hooks, "objects", "echo not that >&2; exit 2", "before_tool", **ASYNC)
    folder_hook(hooks, "fine", "true", **ASYNC)
    session = play.run([SLOW], "Done.", options=["--debug"])
    lines = session.shown.splitlines()
    assert "  ! later (pre-tool-call, async) failed: exit 7: lost the line" in lines
    assert "  hook objects (before_tool, async) said: not that; it cannot decide anything here" in lines
    assert any("[ASYNC] Completed hook 'later' in " in line and "success=False" in line for line in lines)
    assert any("[ASYNC] Completed hook 'fine' in " in line and "success=True" in line for line in lines)
    assert "[HOOK DEBUG] Reason: exit 7: lost the line" in lines
    assert {each["hook"]: each["failures"] for each in session.report["hooks"]} == {"later": 1, "objects": 0, "fine": 0}
    assert "later (async) failed" in (shown := tenterhook("log").stdout)
    assert "exit 7: lost the line" in shown
    assert "exit 2: not that" in shown


def test_the_hooks_command_has_the_figures_of_asynchronous_hooks_and_observers(play: Play) -> None:
    play.hook("table before_tool", "sleep 0.3; exit 7", name="later", async_=True)
    play.hook("array Notification", "exit 1")  # not reached
    play.hook("array PostToolUse", "sleep 0.1; exit 1")
    with play.terminal([SLOW], "Done.", mode="yolo") as terminal:
        terminal.say("go")
        terminal.sees("Done\\.")
        terminal.sees("PostToolUse, async\\) failed")
        terminal.say("/hooks")
        lines = [re.split(r"\s{2,}", line.strip()) for line in terminal.sees("tenterhook list").splitlines()]
    figures = {row[1]: dict(zip(HEADINGS, row[2:7], strict=True)) for row in lines if len(row) == 11}
    later, observer = figures["before_tool"], figures["PostToolUse"]
    assert (later["runs"], later["failed"], observer["runs"], observer["failed"]) == ("1", "1", "1", "1")
    assert 300 <= int(later["p50"].removesuffix(" ms")) < 3000
    assert 100 <= int(observer["p95"].removesuffix(" ms")) < 3000
    assert figures["Notification"] == {"runs": "0", "blocks": "0", "failed": "0", "p50": "-", "p95": "-"}


# ------------------------------------------------------------------ observers


@pytest.mark.parametrize(
    "hook",
    [
        "folder after_agent",
        pytest.param("table session_end", marks=pytest.mark.thorough),
        pytest.param("array SessionEnd", marks=pytest.mark.thorough),
    ],
)
def test_what_an_observer_objects_to_is_shown(play: Play, hook: str) -> None:
    play.hook(hook, block("the tests were not run"))
    session = play.run("Done.")
    event = hook.split()[1]
    (line,) = (line for line in session.shown.splitlines() if "the tests were not run" in line)
    assert f"({event}) said: the tests were not run; it cannot decide anything here" in line


# ------------------------------------------------------------------ refusals


def test_a_call_that_a_hook_refuses_is_shown_once(play: Play) -> None:
    play.hook("folder pre-tool-call", when("touch hooked", block("the hook says no")))
    play.hook("array PermissionRequest", when("touch asked", permission("deny", reason="the answer is no")))
    session = play.run([shell("touch hooked")], [shell("touch asked")], [shell("touch nobody")], "Done.", mode="ask")
    for reason in ("the hook says no", "the answer is no", "nobody to ask"):
        assert session.shown.count(reason) == 1, session.shown


def test_the_same_refusal_in_a_later_turn_is_shown_again(play: Play) -> None:
    play.hook("folder pre-agent-turn", when("deploy", block("not on Fridays")))
    with play.terminal("Hello.") as terminal:
        for _ in range(2):
            terminal.say("deploy it")
            terminal.sees("not on Fridays")
        terminal.say("hello")
        terminal.sees("Hello\\.")
        assert terminal.leave().count("not on Fridays") == 2


def test_a_persons_no_is_shown_once(play: Play) -> None:
    with play.terminal([shell("touch ran")], "Never mind.") as terminal:
        terminal.say("go")
        terminal.is_asked()
        terminal.child.send("n")
        terminal.sees("refused")
        terminal.say("then not")
        terminal.sees("Never mind\\.")
        assert terminal.leave().count("The user refused this call") == 1


def test_a_refused_session_is_shown_once(play: Play) -> None:
    play.hook("folder pre-session", block("not today"))
    with play.terminal("Never said.") as terminal:
        terminal.child.expect(pexpect.EOF, timeout=20)
        assert terminal.screen.getvalue().count("not today") == 1


def test_a_refused_turn_is_shown_once_on_a_terminal_and_its_reason_is_on_a_piped_stdout(play: Play) -> None:
    play.hook("folder pre-agent-turn", block("not on Fridays"))
    with play.terminal("Never said.", options=["deploy it"]) as terminal:
        terminal.child.expect(pexpect.EOF, timeout=20)
        assert terminal.screen.getvalue().count("not on Fridays") == 1
        terminal.child.wait()
        assert terminal.child.exitstatus == 2
    ended = play.run("Never said.", prompt="deploy it", exits=2)
    assert ended.report["reason"] == "not on Fridays"
    assert ended.shown.count("not on Fridays") == 1
    piped = tenterhook("agent", "deploy it", "--model", f"scripted:{play.root}/script2.yaml")
    assert (piped.returncode, piped.stdout) == (2, "not on Fridays\n")
    assert piped.stderr.count("not on Fridays") == 1
