"""An engine that lives on: whatever changes is in force at its next event, and only what has changed is read."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import textwrap
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from catalog.changes import CHANGES, indexed, trusted
from dispatch.bridges import SERVE, ask, install, payload
from support import folder_hook, project_hooks, shell_call, tenterhook, until, user_hooks
from tenterhook import Engine
from tenterhook.catalog import index, loading
from tenterhook.catalog.live_catalog import LiveCatalog
from tenterhook.catalog.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Sequence


def as_loaded_anew(root: str, configs: Sequence[str] = ()) -> tuple[Any, ...]:
    found = loading.load(root, configs)
    return found.hooks, sorted(found.problems), found.left_out, found.debug, found.refused_configs


def as_followed(followed: LiveCatalog) -> tuple[Any, ...]:
    found = followed.current()
    return found.hooks, sorted(found.problems), found.left_out, found.debug, found.refused_configs


def settled(followed: LiveCatalog) -> None:
    """Wait until no file is so young that it has to be read again."""
    until(lambda: followed.current() is followed.current())


# ---- every change


@pytest.mark.parametrize("known", ["before its first event", "after an event", "after a while"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_in_force_at_the_next_event(root: str, home: Path, config: Path, change: str, known: str) -> None:
    configs = [str(config)]
    followed = LiveCatalog(root, configs, Trust(root))
    if known != "before its first event":
        assert as_followed(followed) == as_loaded_anew(root, configs)
    if known == "after a while":
        settled(followed)
    CHANGES[change](home, Path(root))
    assert as_followed(followed) == as_loaded_anew(root, configs)
    assert as_followed(followed) == as_loaded_anew(root, configs)


def test_an_engine_runs_what_is_there_now(home: Path, project: Path) -> None:
    engine = Engine.load(journal=False)
    said: list[str | None] = []

    def decide() -> None:
        for _ in range(3):
            verdict = engine.decide(shell_call())
        said.append(verdict.reason)

    decide()
    guard = folder_hook(user_hooks(home), "guard", "echo first >&2; exit 2")
    decide()
    (guard / "scripts" / "run.sh").write_text("#!/bin/sh\necho second >&2; exit 2\n")
    decide()
    text = (guard / "HOOK.md").read_text()
    (guard / "HOOK.md").write_text(text.replace("pre-tool-call", "post-tool-call"))
    decide()
    (guard / "HOOK.md").write_text(text)
    decide()
    guard.rename(user_hooks(home) / "renamed")
    decide()
    (user_hooks(home) / "hooks.toml").write_text('[[hooks.disable]]\nname = "guard"\n')
    decide()
    (user_hooks(home) / "hooks.toml").unlink()
    decide()
    (user_hooks(home) / "renamed" / "HOOK.md").unlink()
    decide()
    folder_hook(home / ".config" / "kimi" / "hooks", "other", "echo other >&2; exit 2")
    decide()
    assert said == [None, "first", "second", None, "second", "second", None, "second", None, "other"]


def disabled_for(home: Path, seconds: float) -> float:
    """Disable a hook for a while; until when."""
    moment = datetime.fromtimestamp(time.time() + seconds, UTC)
    text = f'[[hooks.disable]]\nname = "guard"\nuntil = {moment.isoformat()}\n'
    (user_hooks(home) / "hooks.toml").write_text(text)
    return moment.timestamp()


@pytest.mark.slow
@pytest.mark.parametrize("known", ["just loaded", "after a while", "from the index"])
def test_a_hook_that_is_disabled_for_a_while_comes_back_by_itself(home: Path, project: Path, known: str) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    back = disabled_for(home, 4)
    if known == "from the index":  # what was loaded twice is kept, once its files are not young any more
        time.sleep(0.2)
        for _ in range(3):
            LiveCatalog(str(project), (), Trust(str(project)))
    engine = Engine.load(journal=False)
    followed = engine._followed
    assert followed is not None
    if known == "after a while":
        settled(followed)
    before = followed.current()
    decided = engine.decide(shell_call())
    assert time.time() > back or not decided.denied
    until(lambda: time.time() > back)
    assert engine.decide(shell_call()).denied
    assert before.hooks == ()
    assert [(each.hook.name, each.until) for each in before.left_out] == [("guard", before.until)]
    assert as_followed(followed) == as_loaded_anew(str(project))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["alone", "hub"])
def test_in_an_agent_too_it_comes_back_by_itself(home: Path, project: Path, way: str) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    install("claude-code")
    said = payload("claude-code", project)
    with contextlib.ExitStack() as stack:
        if way == "hub":
            hub = stack.enter_context(
                subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True)
            )
            stack.callback(hub.kill)
            assert hub.stdout is not None
            assert hub.stdout.readline() == "on\n"
        back = disabled_for(home, 6)
        seen = []
        for _ in range(3):  # the second leaves an index that settles it, the third asks that
            seen.append((ask("claude-code", said).stdout, time.time() < back))
            time.sleep(0.3)
        assert any(in_time for _, in_time in seen)
        assert all(stdout == b"" for stdout, in_time in seen if in_time)
        until(lambda: time.time() > back)
        assert b"deny" in ask("claude-code", said).stdout


def test_an_index_holds_until_a_disabled_hook_comes_back(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    back = disabled_for(home, 3)
    found = indexed(str(project), [])
    assert found["until"] == pytest.approx(back)
    assert index.reaches_nothing(found, "pre-tool-call", "Shell", {"command": "ls"})
    until(lambda: time.time() > back)
    assert index.read(str(project), []) is None
    found = indexed(str(project), [])
    assert found["until"] is None
    assert not index.reaches_nothing(found, "pre-tool-call", "Shell", {"command": "ls"})


def test_trust_counts_as_soon_as_it_is_given_or_taken_back(home: Path, project: Path) -> None:
    engine = Engine.load(journal=False)
    assert not engine.decide(shell_call()).denied
    folder_hook(project_hooks(project), "theirs", "exit 2")
    (project_hooks(project) / "hooks.toml").write_text("[hooks.defaults]\npriority = 7\n")
    assert not engine.decide(shell_call()).denied
    trusted()
    assert engine.decide(shell_call()).denied
    assert [hook.priority for hook in engine.hooks] == [7]
    assert tenterhook("untrust", "theirs", "--yes").returncode == 0
    assert not engine.decide(shell_call()).denied


def test_functions_stay_and_are_asked_in_their_place(home: Path, project: Path) -> None:
    engine = Engine.load(journal=False)
    heard: list[str] = []
    engine.on("pre-tool-call", name="mine")(lambda _: heard.append("mine"))
    for name in ("a", "b"):
        folder_hook(user_hooks(home), name, "true")
        assert [run.hook.name for run in engine.decide(shell_call()).runs][-2:] == [name, "mine"]
    assert [hook.name for hook in engine.hooks] == ["a", "b", "mine"]


def test_debug_may_be_switched_on(home: Path, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder_hook(user_hooks(home), "guard", "true")
    engine = Engine.load(journal=False)
    engine.decide(shell_call())
    assert capsys.readouterr().err == ""
    (user_hooks(home) / "hooks.toml").write_text("[hooks]\ndebug = true\n")
    engine.decide(shell_call())
    assert "guard" in capsys.readouterr().err


def test_many_threads_see_a_change_at_once(home: Path, project: Path) -> None:
    engine = Engine.load(journal=False)
    guard = folder_hook(user_hooks(home), "guard", "exit 2")
    wrong: list[bool] = []

    def decide(expected: bool) -> None:
        wrong.extend(True for _ in range(5) if engine.decide(shell_call()).denied is not expected)

    for expected in (True, False, True):
        (guard / "scripts" / "run.sh").write_text(f"#!/bin/sh\nexit {2 if expected else 0}\n")
        threads = [threading.Thread(target=decide, args=(expected,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


# ---- what it costs


def test_nothing_is_read_while_nothing_happens(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "true")
    followed = LiveCatalog(str(project), [], Trust(str(project)))
    settled(followed)
    known = followed.current()
    (project / "code.py").write_text("x")
    (home / "notes").mkdir()
    assert followed.current() is known


def test_a_change_is_in_force_in_a_forked_process_and_in_its_parent(home: Path, project: Path) -> None:
    script = """
    import os, sys
    from pathlib import Path
    from tenterhook import Engine, Event
    engine = Engine.load(journal=False)
    event = Event("pre-tool-call", tool_name="Shell", tool_input={})
    for _ in range(4):
        engine.decide(event)
    hooks = Path.home() / ".config/agents/hooks"
    (hooks / "away").rename(hooks / "guard")
    (hooks / "guard" / "NOT.md").rename(hooks / "guard" / "HOOK.md")
    child = os.fork()
    if not child:
        os._exit(0 if engine.decide(event).denied else 1)
    _, status = os.waitpid(child, 0)
    print(status, engine.decide(event).denied)
    """
    guard = folder_hook(user_hooks(home), "away", "exit 2")
    (guard / "HOOK.md").rename(guard / "NOT.md")
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("0 True\n", "")
