"""Hooks that name a built-in guard: run in process, they end as scripts do."""

from __future__ import annotations

import sys
import time
import types
from typing import TYPE_CHECKING, Any

import pytest

from hooks.guards import HOOKS
from hooks.lines import added, override
from support import folder_hook, project_hooks, shell_call, takes_less_than, tenterhook, trigger, user_hooks
from tenterhook import Engine, guards
from tenterhook.guards.calls import GuardedCall, Objection
from tenterhook.model import Failure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GUARD = "block-dangerous-commands"
LIMIT = 0.1  # seconds of CPU time
SIZE = 1_000_000
HOSTILE = {  # text that is repeated, and text after it
    "words": ("a ", ""),
    "an open quote": ("a", "'"),
    "substitutions": ("$(echo a) ", ""),
    "nested substitutions": ("$(", ""),
    "commands": ("rm -rf a$b;", ""),
    "paths": ("/a/b ", ""),
    "an encoded script": ("cm0gLXJmIGE7", "| base64 -d | sh"),
}


def endless(call: GuardedCall) -> None:
    endless(call)


def huge(_: GuardedCall) -> None:
    bytearray(1 << 62)


def wrong(_: GuardedCall) -> None:
    raise ValueError("not like this")


def slow(_: GuardedCall) -> None:
    time.sleep(0.15)


def slow_denial(_: GuardedCall) -> Objection:
    time.sleep(0.15)
    return Objection("deny", "no")


@pytest.fixture
def guard_of(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A hook whose guard is a function of this module."""

    def make(judge: Any, **front: Any) -> Path:
        module = types.ModuleType("tenterhook.guards.for_a_test")
        module.judge = judge  # type: ignore[attr-defined]  # what a guard is
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(guards.GUARDS, "for-a-test", "for_a_test")
        metadata = {"guard": "for-a-test", **front.pop("metadata", {})}
        return folder_hook(user_hooks(home), "mine", "exit 0", metadata=metadata, **front)

    return make


@pytest.mark.parametrize(
    ("judge", "why"),
    [(endless, "RecursionError"), (huge, "MemoryError"), (wrong, "ValueError: not like this")],
    ids=["recursion", "memory", "error"],
)
def test_an_error_in_a_guard_is_the_failure_of_its_hook(
    judge: Any, why: str, guard_of: Callable[..., Path], home: Path, project: Path
) -> None:
    guard_of(judge)
    folder_hook(user_hooks(home), "other", "echo seen >&2; exit 2", priority=1)
    verdict = Engine.load(project).decide(shell_call())
    (run,) = (run for run in verdict.runs if run.hook.name == "mine")
    assert run.failure is Failure.RAISED
    assert why in str(run.why)
    assert (verdict.denied, verdict.reason) == (True, "seen")  # the others run all the same


@pytest.mark.parametrize("judge", [endless, huge, wrong], ids=["recursion", "memory", "error"])
def test_a_guard_that_fails_and_must_block_refuses_with_the_cause(
    judge: Any, guard_of: Callable[..., Path], project: Path
) -> None:
    guard_of(judge, metadata={"on_failure": "block"})
    verdict = Engine.load(project).decide(shell_call())
    assert verdict.denied
    assert "its guard failed: " in str(verdict.reason)


@pytest.mark.parametrize(("on_failure", "decision"), [("block", "deny"), ("open", "none")])
def test_an_unknown_guard_cannot_start(home: Path, project: Path, on_failure: str, decision: str) -> None:
    folder_hook(user_hooks(home), "mine", "exit 0", metadata={"guard": ["x"], "on_failure": on_failure})
    verdict = trigger("pre-tool-call", "--tool", "Shell", "--input", '{"command": "ls"}')
    assert verdict["decision"] == decision
    assert "there is no guard" in verdict["runs"][0]["why"]
    checked = tenterhook("check")
    assert (checked.returncode, "[unknown-guard]" in checked.stdout) == (1, True)


def test_a_guard_that_is_slower_than_the_timeout_has_failed_but_its_objection_counts(
    guard_of: Callable[..., Path], project: Path
) -> None:
    folder = guard_of(slow, timeout=100, metadata={"on_failure": "block"})
    verdict = Engine.load(project).decide(shell_call())
    assert verdict.runs[0].timed_out
    assert "no end within 0.1 s" in str(verdict.reason)
    sys.modules["tenterhook.guards.for_a_test"].judge = slow_denial  # type: ignore[attr-defined]  # what a guard is
    late = Engine.load(project).decide(shell_call())
    assert (late.reason, late.runs[0].failed) == ("no", False), folder


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_line_of_a_megabyte_is_judged_in_time(name: str, kind: str) -> None:
    unit, after = HOSTILE[kind]
    line = "rm " + unit * ((SIZE - len(after)) // len(unit)) + after
    call = GuardedCall("Shell", {"command": line}, "/home/me/project", {"HOME": "/home/me"})
    assert takes_less_than(LIMIT, lambda: guards.judge(HOOKS[name].guard, call))


def test_settings_and_overrides_reach_the_guard(home: Path, project: Path) -> None:
    added(home, GUARD)
    line = ("--tool", "Shell", "--input", '{"command": "git reset --hard"}')
    assert trigger("pre-tool-call", *line)["decision"] == "ask"
    override(home, GUARD, metadata={"allow": ["discard-work"]})
    verdict = trigger("pre-tool-call", *line)
    assert (verdict["decision"], verdict["runs"][0]["exit_code"]) == ("none", 0)


def test_a_guard_needs_no_script_here(home: Path, project: Path) -> None:
    folder = added(home, GUARD)
    (folder / "scripts/run.sh").unlink()
    assert trigger("pre-tool-call", "--tool", "Shell", "--input", '{"command": "rm -rf /"}')["decision"] == "deny"
    assert tenterhook("check").stdout.endswith("1 hook, 0 errors, 0 warnings\n")


def test_a_projects_guard_does_not_run_until_it_is_trusted(home: Path, project: Path) -> None:
    folder_hook(project_hooks(project), "mine", "exit 0", metadata={"guard": GUARD})
    call = ("pre-tool-call", "--tool", "Shell", "--input", '{"command": "rm -rf /"}')
    verdict = trigger(*call)
    assert (verdict["decision"], verdict["runs"][0]["why"]) == ("none", "untrusted")
    assert tenterhook("trust", "mine", "--yes").returncode == 0
    assert trigger(*call)["decision"] == "deny"
    with (project_hooks(project) / "mine/HOOK.md").open("a") as file:
        file.write("changed\n")
    assert trigger(*call)["decision"] == "none"


def test_a_guard_that_nothing_waits_for_runs_as_its_script(home: Path, project: Path) -> None:
    keys: dict[str, Any] = {"metadata": {"guard": GUARD}, "async": True}
    folder_hook(user_hooks(home), "mine", "exit 0", **keys)
    verdict = trigger("pre-tool-call", "--tool", "Shell", "--input", '{"command": "rm -rf /"}')
    assert (verdict["decision"], verdict["runs"][0]["outcome"]) == ("none", "started")


def test_a_disabled_guard_does_not_run(home: Path, project: Path) -> None:
    added(home, GUARD)
    assert tenterhook("disable", GUARD, "--yes").returncode == 0
    verdict = trigger("pre-tool-call", "--tool", "Shell", "--input", '{"command": "rm -rf /"}')
    assert verdict["decision"] == "none"


def test_list_show_and_a_dry_run_say_that_it_is_a_guard_and_the_journal_has_its_run(home: Path, project: Path) -> None:
    added(home, GUARD)
    assert "sync, guard" in tenterhook("list").stdout
    assert f"built-in guard {GUARD}, in process" in tenterhook("show", GUARD).stdout
    call = ("trigger", "pre-tool-call", "--tool", "Shell", "--input", '{"command": "rm -rf /"}')
    assert f"built-in guard {GUARD}" in tenterhook(*call, "--dry-run").stdout
    assert tenterhook(*call).returncode == 2
    logged = tenterhook("log").stdout
    assert GUARD in logged
    assert "blocked" in logged
    assert tenterhook("replay").returncode == 0
