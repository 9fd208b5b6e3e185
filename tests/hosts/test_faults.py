"""Faults of the bridge, in the real agents: what happens is what was chosen at `install`, and it can be seen."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from hosts import agents
from hosts.real import (
    CHOSEN,
    REFUSED,
    WITHOUT_PROMPTS,
    check_nobody_answers,
    copied_environment,
    flags,
    results_with,
    shown,
    told,
)

if TYPE_CHECKING:
    from pathlib import Path

    from hosts.real import Guarded

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]
EVERY = pytest.mark.parametrize("name", agents.PACKAGES)


@EVERY
@CHOSEN
def test_its_environment_is_deleted(name: str, closed: bool, guarded: Guarded, tmp_path: Path) -> None:
    guarded.guard()
    python = copied_environment(tmp_path / "environment")
    guarded.install(*flags(closed), python=python)
    shutil.rmtree(tmp_path / "environment")
    check_nobody_answers(guarded, closed, status="127", doctor="the launcher fails: Tenterhook is gone")


@pytest.mark.parametrize("name", ["claude-code", "kimi-code"])  # to an agent it is like the one above
@CHOSEN
def test_what_it_wrote_down_is_of_another_schema(name: str, closed: bool, guarded: Guarded) -> None:
    guarded.guard()
    guarded.install(*flags(closed))
    guarded.edit_record(schema=99)
    check_nobody_answers(guarded, closed, status="70", doctor="no event is answered")


@pytest.mark.parametrize("name", [name for name in agents.PACKAGES if name not in WITHOUT_PROMPTS])
@CHOSEN
def test_it_hangs(name: str, closed: bool, guarded: Guarded) -> None:
    guarded.guard()
    # from then on, whatever reads the session's root waits for a writer of a pipe
    guarded.hook("hang", 'cd "${KIMI_ENV_FILE%/*}" && rm -f root && mkfifo root', "pre-agent-turn")
    guarded.install(*flags(closed))
    guarded.edit_record(timeouts=dict.fromkeys(json.loads(guarded.record_file.read_text())["timeouts"], 3))
    check_nobody_answers(guarded, closed, status="142", doctor="did not answer")


@EVERY
@CHOSEN
def test_it_is_killed_in_the_middle_of_one_call(name: str, closed: bool, guarded: Guarded) -> None:
    guarded.hook("kill", 'kill -9 "$PPID"; exit 2', matcher={"tool": "Shell", "pattern": "forbidden"})
    guarded.install(*flags(closed))
    came = guarded.calls(guarded.touch("forbidden"), guarded.touch("harmless"))
    assert guarded.left("forbidden") is not closed, shown(came)
    assert guarded.left("harmless"), shown(came)
    assert [line.split()[1::2] for line in guarded.unanswered()] == [[name, "137"]]
    assert "did not answer" in guarded.doctor()[1]


@pytest.mark.parametrize("name", ["claude-code", "kimi-code"])
def test_a_guard_that_fails_closed_closes_the_line_too(name: str, guarded: Guarded) -> None:
    guarded.hook("kill", 'kill -9 "$PPID"', matcher={"pattern": "forbidden"}, metadata={"on_failure": "block"})
    guarded.install()
    came = guarded.calls(guarded.touch("forbidden"))
    assert not guarded.left("forbidden"), shown(came)
    assert results_with(came, REFUSED), shown(came)


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_doctor_finds_by_trying_that_a_guard_does_not_hold(name: str, guarded: Guarded, tmp_path: Path) -> None:
    guarded.guard()
    guarded.install(python=copied_environment(tmp_path / "environment"))
    shutil.rmtree(tmp_path / "environment")
    status, said = guarded.doctor("--live")
    assert said.count("the forbidden command ran") == len(guarded.live.modes), said
    assert status == 1, said


@EVERY
def test_a_guard_holds_while_two_versions_are_there_and_when_the_old_one_goes(
    name: str, guarded: Guarded, tmp_path: Path
) -> None:
    reason = guarded.guard()
    guarded.install(python=copied_environment(tmp_path / "old", version="0.0.1"))
    launcher = guarded.state / "launcher.sh"
    assert f"python={tmp_path}/old/" in launcher.read_text()
    guarded.install()
    assert f"python={tmp_path}/old/" not in launcher.read_text()
    for _ in range(2):
        came = guarded.calls(guarded.touch("forbidden"), guarded.touch("harmless"))
        assert not guarded.left("forbidden"), shown(came)
        assert guarded.left("harmless"), shown(came)
        assert results_with(came, reason), shown(came)
        (guarded.project / "harmless").unlink()
        shutil.rmtree(tmp_path / "old", ignore_errors=True)
    assert guarded.unanswered() == []


@EVERY
def test_ten_calls_at_once_keep_their_own_verdicts(name: str, guarded: Guarded) -> None:
    # the first to be asked is the last to answer
    script = """
        number=$(grep -o 'forbidden-[0-9]' | head -n 1)
        sleep "0.$((9 - ${number#forbidden-}))"
        echo "no $number" >&2
        exit 2
        """
    guarded.hook("guard", script, matcher={"tool": "Shell", "pattern": "forbidden"})
    guarded.install()
    names = [f"{'forbidden' if number % 2 else 'harmless'}-{number}" for number in range(10)]
    came = guarded.calls(*map(guarded.touch, names))
    assert [name for name in names if guarded.left(name)] == names[::2], shown(came)
    assert [len(results_with(came, f"no {name}")) for name in names] == [0, 1] * 5, shown(came)
    assert guarded.unanswered() == []


@pytest.mark.parametrize("name", ["cline"])
def test_a_guard_holds_and_the_model_is_told_why_if_the_plug_in_is_not_loaded(name: str, guarded: Guarded) -> None:
    no_command = guarded.guard("no-command", pattern="forbidden")
    no_file = guarded.guard("no-file", tool="WriteFile", pattern=r"secret\.txt$")
    guarded.install()
    guarded.hooks_file.unlink()
    came = guarded.calls(guarded.touch("forbidden"), guarded.write("secret.txt"), guarded.touch("harmless"))
    assert [guarded.left(name) for name in ("forbidden", "secret.txt", "harmless")] == [False, False, True], shown(came)
    assert told(came, no_command), shown(came)
    assert told(came, no_file), shown(came)


@pytest.mark.parametrize("name", ["cline"])
def test_a_block_is_not_lost_to_another_hook_file_that_changes_the_input(name: str, guarded: Guarded) -> None:
    reason = guarded.guard()
    guarded.install()
    other = guarded.project / ".cline/hooks/PreToolUse"
    other.parent.mkdir(parents=True)
    changed = {"overrideInput": {"commands": [f"touch {guarded.project / 'forbidden'}"]}}
    other.write_text(f"#!/bin/sh\ncat >{guarded.project / 'asked'}\necho '{json.dumps(changed)}'\n")
    came = guarded.calls(guarded.touch("forbidden"))
    assert guarded.left("asked"), shown(came)
    assert not guarded.left("forbidden"), shown(came)
    assert results_with(came, reason), shown(came)
