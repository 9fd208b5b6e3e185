"""Hooks that call us in a circle: the circle ends, and no forged variable disables a guard."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest

from support import (
    array_hook,
    decide,
    folder_hook,
    shell_call,
    table_hook,
    tenterhook,
    until,
    user_hooks,
    write_config,
)
from tenterhook import Engine

if TYPE_CHECKING:
    from pathlib import Path


CALL_US = """
    import json, sys
    from tenterhook import Engine, Event
    event = Event("pre-tool-call", tool_name="Shell", tool_input={"command": "ls"})
    verdict = Engine.load(configs=sys.argv[2:]).decide(event)
    with open("inner", "a") as file:
        file.write(json.dumps(verdict.as_json()) + "\\n")
    sys.exit(int(sys.argv[1]))
"""


def calling(project: Path, code: int, *configs: str) -> str:
    """A line that puts the same event to the hooks of these files, from inside a hook."""
    script = project / "call_us.py"
    script.write_text(textwrap.dedent(CALL_US))
    return shlex.join([sys.executable, str(script), str(code), *configs])


def inner(project: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / "inner").read_text().splitlines()]


@pytest.mark.parametrize("make", [array_hook, table_hook], ids=["array", "table"])
def test_a_hook_that_calls_itself_ends(project: Path, make: type) -> None:
    config = write_config(project / "hooks.toml", make(calling(project, 2, "hooks.toml")))
    verdict = decide(config)
    assert verdict.denied
    (called,) = inner(project)
    assert (called["runs"][0]["outcome"], called["decision"]) == ("failed", "none")
    assert "circle" in called["runs"][0]["why"]


def test_a_folder_hook_that_calls_itself_ends(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "loop", calling(project, 2))
    assert Engine.load().decide(shell_call()).denied
    (called,) = inner(project)
    assert "circle" in called["runs"][0]["why"]


def test_two_hooks_that_call_each_other_end(project: Path) -> None:
    write_config(project / "one.toml", table_hook(calling(project, 0, "two.toml")))
    write_config(project / "two.toml", table_hook(calling(project, 0, "one.toml")))
    Engine.load(configs=["one.toml"]).decide(shell_call())
    assert [called["runs"][0]["outcome"] for called in inner(project)] == ["failed", "ok"]


def test_an_async_hook_that_calls_itself_ends(project: Path) -> None:
    config = write_config(project / "hooks.toml", table_hook(calling(project, 0, "hooks.toml"), async_=True))
    decide(config)
    until((project / "inner").exists)
    time.sleep(0.5)  # time for a second round, if there were one
    (called,) = inner(project)
    assert "circle" in called["runs"][0]["why"]


def test_a_hook_may_call_us_with_other_hooks(project: Path) -> None:
    write_config(project / "other.toml", table_hook("echo inner >&2; exit 2"))
    decide(write_config(project / "hooks.toml", table_hook(calling(project, 0, "other.toml"))))
    assert inner(project)[0]["reason"] == "inner"


def test_the_other_hooks_of_a_circle_still_run(project: Path) -> None:
    hooks = array_hook(calling(project, 0, "hooks.toml")) + array_hook("echo guarded >&2; exit 2")
    decide(write_config(project / "hooks.toml", hooks))
    assert inner(project)[0]["reason"] == "guarded"


@pytest.mark.parametrize("pid", ["1", "999999", "self", "4194304", "0", "-1", "x"])
def test_a_forged_chain_does_not_disable_a_guard(project: Path, monkeypatch: pytest.MonkeyPatch, pid: str) -> None:
    config = write_config(project / "hooks.toml", table_hook('echo "$TENTERHOOK_CHAIN" >&2; exit 2', name="guard"))
    real = (decide(config).reason or "").partition(":")[2]
    started = {"self": f"{os.getpid()}.0"}.get(pid, f"{pid}.1")
    monkeypatch.setenv("TENTERHOOK_CHAIN", f"{started}:{real} : :: garbage {real}")
    assert decide(config).denied


def test_a_chain_of_an_ended_process_does_not_disable_a_guard(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = write_config(project / "hooks.toml", table_hook('echo "$TENTERHOOK_CHAIN" >&2; exit 2', name="guard"))
    code = """
        from tenterhook import Engine, Event
        event = Event("pre-tool-call", tool_name="Shell", tool_input={"command": "ls"})
        print(Engine.load(configs=["hooks.toml"]).decide(event).reason)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert ":" in ended.stdout, ended.stderr
    monkeypatch.setenv("TENTERHOOK_CHAIN", ended.stdout.strip())
    assert decide(config).denied


def test_a_circle_without_links_ends(project: Path) -> None:
    call = f"env -i HOME=$HOME PATH=$PATH {sys.executable} -m tenterhook trigger before_tool --tool x --config c.toml"
    write_config(project / "c.toml", table_hook(f"echo x >> calls; {call}"))
    tenterhook("trigger", "before_tool", "--tool", "x", "--config", "c.toml", timeout=60)
    assert len((project / "calls").read_text().splitlines()) <= 6
