"""`tenterhook test`: what it prints, its exit status, and `--watch`."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from authoring.trying import CALL, COMMAND, DENY, case, hook, tenterhook
from support import until, user_hooks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_a_change_is_tried_and_ctrl_c_ends_it(home: Path, project: Path, tmp_path: Path) -> None:
    folder = hook(home, DENY)
    case(folder, f'{CALL}\n[expect]\ndecision = "deny"\n')
    out = tmp_path / "out"
    with out.open("w") as stream:
        process = subprocess.Popen([*COMMAND, "test", "--watch"], stdout=stream, stderr=stream)
    try:
        until(lambda: out.read_text().count("watching; Ctrl-C stops") == 1)
        assert "1 passed" in out.read_text()
        script = folder / "scripts" / "run.sh"
        script.write_text("#!/bin/sh\nexit 0\n")
        until(lambda: "0 passed, 1 failed" in out.read_text())
        until(lambda: out.read_text().count("watching; Ctrl-C stops") == 2)
        assert "changed: ~/.config/agents/hooks/one/scripts/run.sh" in out.read_text()
        definition = folder / "HOOK.md"
        good = definition.read_text()
        definition.write_text("---\nbroken\n")  # in the middle of an edit
        until(lambda: out.read_text().count("watching; Ctrl-C stops") == 3)
        definition.write_text(good)
        case(folder, f'{CALL}\n[expect]\ndecision = "none"\n')
        until(
            lambda: out.read_text().rstrip().endswith("watching; Ctrl-C stops") and "1 passed" in out.read_text()[-200:]
        )
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert "Traceback" not in out.read_text()


def test_without_any_hook_there_is_nothing_wrong(project: Path) -> None:
    ended = tenterhook("test")
    assert (ended.returncode, ended.stdout) == (0, "no cases: they are TOML or JSON files in cases/ of a hook\n")


def test_a_definition_that_is_broken_does_not_pass_for_tested(home: Path, project: Path) -> None:
    case(hook(home, DENY, name="push"), f'{CALL}\n[expect]\ndecision = "deny"\n')
    definition = user_hooks(home) / "push" / "HOOK.md"
    definition.write_text(definition.read_text().replace("trigger:", "triger:"))
    for arguments in ((), ("push",)):
        ended = tenterhook("test", *arguments)
        assert ended.returncode == 1
        assert "'trigger' is missing" in ended.stdout
        assert "1 broken" in ended.stdout
