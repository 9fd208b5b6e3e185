"""A hook that blocks when it fails and can no longer be loaded refuses its event; nothing else that is broken does."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from support import array_hook, folder_hook, project_hooks, shell_call, tenterhook, trigger, user_hooks, write_config
from tenterhook import Engine
from tenterhook.catalog import fail_closed, index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BLOCK = {"on_failure": "block"}
as_root = os.getuid() == 0

BREAKS: dict[str, Callable[[Path], object]] = {
    "its layer is writable by others": lambda guard: guard.parents[2].chmod(0o777),
    "it is writable by others": lambda guard: guard.chmod(0o777),
    "its script is writable by others": lambda guard: (guard / "scripts/run.sh").chmod(0o777),
    "it is broken": lambda guard: (guard / "HOOK.md").write_text("---\nname: [\n---\n"),
    "it is empty": lambda guard: (guard / "HOOK.md").write_text(""),
    "it is misspelt": lambda guard: (guard / "HOOK.md").rename(guard / "hook.md"),
    "it is gone": shutil.rmtree,
    "its layer is gone": lambda guard: shutil.rmtree(guard.parents[1]),
    "its layer is a file": lambda guard: (
        guard.parent.rename(guard.parents[3] / "aside") and guard.parent.write_text("")
    ),
    "it is a link that leads nowhere": lambda guard: os.symlink(
        "nowhere", guard.rename(guard.parents[3] / "aside") and guard
    ),
    "it is not readable": lambda guard: guard.chmod(0),
    "HOOK.md is not readable": lambda guard: (guard / "HOOK.md").chmod(0),
    "its layer is not readable": lambda guard: guard.parent.chmod(0),
}
breaks = pytest.mark.parametrize(
    "broken",
    [
        pytest.param(name, marks=pytest.mark.skipif(as_root and "not readable" in name, reason="root"))
        for name in BREAKS
    ],
)


@pytest.fixture
def guard(home: Path, project: Path) -> Path:
    """A guard that lets pass, and blocks when it fails."""
    return folder_hook(user_hooks(home), "guard", "exit 0", metadata=BLOCK)


@pytest.fixture(autouse=True)
def readable_again(home: Path) -> object:
    yield
    for path in (user_hooks(home), user_hooks(home) / "guard"):
        if path.is_dir():
            path.chmod(0o755)


def reason() -> str:
    """Why an engine that is loaded now refuses a call of the shell; empty if it does not."""
    verdict = Engine.load().decide(shell_call())
    return verdict.reason or "no reason" if verdict.denied else ""


def codes() -> set[str]:
    return {each.code for each in Engine.load().problems}


def kept() -> list[str]:
    return [each.hook.name for each in fail_closed.read()[0]]


@pytest.mark.promise("a model that tries")
@breaks
def test_a_guard_that_can_no_longer_be_loaded_refuses(guard: Path, broken: str) -> None:
    """A hook that blocks when it fails refuses its event when it can no longer be loaded, whatever the reason."""
    lasting = Engine.load()
    assert not lasting.decide(shell_call()).denied
    BREAKS[broken](guard)
    for verdict in (lasting.decide(shell_call()), Engine.load().decide(shell_call()), lasting.decide(shell_call())):
        assert verdict.denied
        assert verdict.reason is not None
        assert "'guard' failed (cannot be loaded: " in verdict.reason
        assert "tenterhook remove guard" in verdict.reason
        assert "fail-closed-missing" in {each.code for each in verdict.problems}
    assert trigger("pre-tool-call", "--tool", "Shell")["decision"] == "deny"


@breaks
def test_a_hook_that_goes_on_when_it_fails_refuses_nothing_and_is_reported(
    home: Path, project: Path, broken: str
) -> None:
    guard = folder_hook(user_hooks(home), "guard", "exit 0")
    assert reason() == ""
    BREAKS[broken](guard)
    assert reason() == ""
    assert "gone" in broken or codes() - {"fail-closed-missing"}


@breaks
def test_the_way_out_works(guard: Path, broken: str) -> None:
    assert reason() == ""
    BREAKS[broken](guard)
    assert reason()
    ended = tenterhook("remove", "guard", "--yes")
    assert ended.returncode == 0, ended.stderr
    assert kept() == []
    assert reason() == ""
    assert "fail-closed-missing" not in codes()


@breaks
def test_the_index_knows_that_a_guard_is_missing(guard: Path, project: Path, broken: str) -> None:
    index.load(str(project))
    BREAKS[broken](guard)
    time.sleep(0.1)  # what has just changed is looked at again
    index.load(str(project))
    found = index.read(str(project))
    assert found is not None  # so that the next event need not load anything
    assert not index.reaches_nothing(found, "pre-tool-call", "Shell", {"command": "ls"})
    assert index.reaches_nothing(found, "post-tool-call", "Shell", {"command": "ls"})
    assert [hook.name for hook in index.catalog(found, "pre-tool-call").hooks if hook.missing] == ["guard"]


def test_a_guard_that_is_put_right_is_as_before(guard: Path) -> None:
    lasting = Engine.load()
    guard.chmod(0o777)
    assert lasting.decide(shell_call()).denied
    guard.chmod(0o755)
    assert not lasting.decide(shell_call()).denied
    assert reason() == ""
    assert kept() == ["guard"]


def test_only_what_the_guard_was_for_is_refused(home: Path, project: Path) -> None:
    guard = folder_hook(user_hooks(home), "guard", "exit 0", metadata=BLOCK, matcher={"tool": "Shell", "pattern": "rm"})
    assert reason() == ""
    shutil.rmtree(guard)
    engine = Engine.load()
    assert engine.decide(shell_call("rm x")).denied
    assert not engine.decide(shell_call("ls")).denied
    assert not engine.decide(shell_call("rm x", tool_name="ReadFile")).denied
    assert not engine.decide(shell_call("rm x", event="post-tool-call")).denied


def test_others_still_run_beside_one_that_is_missing(guard: Path) -> None:
    folder_hook(user_hooks(guard.parents[3]), "other", "echo other >&2; exit 2", priority=200)
    assert reason() == "other"
    shutil.rmtree(guard)
    verdict = Engine.load().decide(shell_call())
    assert verdict.reason == "other"
    assert [run.outcome for run in verdict.runs] == ["blocked", "failed"]


@pytest.mark.parametrize(
    "edit",
    {
        "goes on when it fails": {"metadata": {}},
        "only records": {"metadata": {**BLOCK, "mode": "shadow"}},
        "is for another event": {"trigger": "post-tool-call", "metadata": BLOCK},
        "has another name": {"name": "other", "metadata": BLOCK},
        "does not wait": {"async": True, "metadata": BLOCK},
    }.items(),
    ids=lambda edit: edit[0],
)
def test_what_a_person_edits_is_not_missing(home: Path, guard: Path, edit: tuple[str, dict[str, object]]) -> None:
    assert reason() == ""
    shutil.rmtree(guard)
    folder_hook(user_hooks(home), "guard", "exit 0", **edit[1])  # type: ignore[arg-type]
    assert reason() == ""
    assert "fail-closed-missing" not in codes()
    shutil.rmtree(guard)
    assert bool(reason()) == (edit[0] == "has another name")


def test_a_folder_that_was_renamed_is_not_missing(guard: Path) -> None:
    assert reason() == ""
    guard.rename(guard.parent / "renamed")
    assert reason() == ""
    assert kept() == ["guard"]
    shutil.rmtree(guard.parent / "renamed")
    assert "renamed" in reason()


def test_a_guard_that_is_disabled_is_not_missed(guard: Path) -> None:
    assert reason() == ""
    shutil.rmtree(guard)
    assert reason()
    ended = tenterhook("disable", "guard", "--yes")
    assert ended.returncode == 0, ended.stderr
    assert reason() == ""


def test_a_guard_that_is_disabled_for_a_while_is_missed_again_afterwards(guard: Path) -> None:
    assert reason() == ""
    assert tenterhook("disable", "guard", "--for", "1h", "--yes").returncode == 0
    assert reason() == ""
    guard.parents[2].chmod(0o777)  # hooks.toml is not believed now
    assert reason() == ""
    guard.parents[2].chmod(0o755)
    shutil.rmtree(guard)
    assert reason() == ""
    assert tenterhook("enable", "guard").returncode == 0
    assert "does not exist" in reason()


def test_a_guard_made_so_by_settings_stays_one_while_they_cannot_be_read(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 1")
    settings = user_hooks(home) / "hooks.toml"
    settings.write_text('[[hooks.override]]\nname = "guard"\nmetadata = { on_failure = "block" }\n')
    assert "failed (exit 1)" in reason()
    settings.write_text("[[hooks")
    assert "failed (exit 1)" in reason()
    settings.write_text("")
    assert reason() == ""


def test_a_projects_hook_is_not_kept_and_does_not_stand_in_for_the_persons(guard: Path, project: Path) -> None:
    theirs = folder_hook(project_hooks(project), "guard", "exit 0", metadata=BLOCK)
    also = folder_hook(project_hooks(project), "also", "exit 0", metadata=BLOCK)
    assert tenterhook("trust", "--all", "--yes").returncode == 0
    assert reason() == ""
    assert kept() == ["guard"]
    shutil.rmtree(also)  # as another branch would
    assert reason() == ""
    shutil.rmtree(guard)
    assert "does not exist" in reason()
    assert "--user" in tenterhook("remove", "guard", "--yes").stderr
    assert tenterhook("remove", "guard", "--user", "--yes").returncode == 0
    assert theirs.exists()
    assert reason() == ""


def test_a_second_directory_that_becomes_a_link_to_the_first_is_missed(home: Path, project: Path) -> None:
    second = home / ".config/kimi/hooks"
    folder_hook(second, "guard", "exit 0", metadata=BLOCK)
    folder_hook(user_hooks(home), "other", "exit 0")
    assert reason() == ""
    shutil.rmtree(second)
    second.symlink_to(user_hooks(home))
    assert "does not exist" in reason()


def test_every_command_says_that_a_guard_is_missing(guard: Path) -> None:
    assert reason() == ""
    guard.chmod(0o777)
    for command in ((), ("list",), ("check",), ("doctor",), ("show", "guard")):
        ended = tenterhook(*command)
        assert "tenterhook remove guard" in ended.stdout + ended.stderr, command
    (hook,) = json.loads(tenterhook("list", "--json").stdout)["hooks"]
    assert (hook["name"], hook["in_force"]) == ("guard", False)
    assert "tenterhook remove guard" in hook["why_not"]
    assert tenterhook("check").returncode == 1
    assert "0 in force" in tenterhook().stdout


# ---- files of hooks


CLOSED = array_hook("exit 0", fail_mode="closed")

FILES: dict[str, Callable[[Path], object]] = {
    "broken": lambda file: file.write_text(CLOSED + "[[hooks"),
    "refused": lambda file: file.write_text(CLOSED.replace("event", "evemt")),
    "gone": lambda file: file.unlink(),
    "empty": lambda file: file.write_text(""),
    "writable by others": lambda file: file.chmod(0o666),
}


@pytest.mark.parametrize("broken", FILES)
def test_a_guard_of_a_named_file_that_cannot_be_used_refuses(project: Path, broken: str) -> None:
    file = write_config(project / "hooks.toml", CLOSED)
    other = write_config(project / "other.toml", CLOSED)  # its hook has the same name
    lasting = Engine.load(configs=[file, other])
    assert not lasting.decide(shell_call()).denied
    FILES[broken](file)
    for engine in (lasting, Engine.load(configs=[file, other])):
        verdict = engine.decide(shell_call())
        assert verdict.denied
        assert verdict.reason is not None and "tenterhook remove 'PreToolUse[0]'" in verdict.reason
    assert not Engine.load(configs=[other]).decide(shell_call()).denied  # there it is not named
    ended = tenterhook("remove", "PreToolUse[0]", "--yes")
    assert ended.returncode == 0, ended.stderr
    assert not Engine.load(configs=[file, other]).decide(shell_call()).denied


def test_an_entry_that_was_taken_out_of_a_file_is_not_missing(project: Path) -> None:
    file = write_config(project / "hooks.toml", array_hook("exit 0") + CLOSED)
    assert not Engine.load(configs=[file]).decide(shell_call()).denied
    write_config(file, array_hook("exit 0"))
    assert not Engine.load(configs=[file]).decide(shell_call()).denied


def test_a_file_that_one_command_named_is_not_kept(project: Path) -> None:
    file = write_config(project / "hooks.toml", CLOSED)
    assert tenterhook("trigger", "PreToolUse", "--tool", "x", "--config", file).returncode == 0
    file.write_text("")
    assert trigger("PreToolUse", "--tool", "x", "--config", file)["decision"] == "none"


# ---- the file they are kept in


@pytest.mark.parametrize("content", ["", "{", "[]", '{"hooks": [{}]}', '{"hooks": [{"name": 5}]}', "\udcff"])
def test_a_broken_record_is_reported_refuses_nothing_and_can_be_removed(guard: Path, content: str) -> None:
    assert reason() == ""
    with open(fail_closed.path(), "wb") as file:
        file.write(content.encode("utf-8", "surrogateescape"))
    assert reason() == ""
    assert codes() == {"fail-closed-unknown"}
    assert fail_closed.path() in tenterhook("check").stdout
    os.unlink(fail_closed.path())
    assert reason() == ""
    assert codes() == set()
    shutil.rmtree(guard)
    assert "does not exist" in reason()


def test_what_another_account_could_have_written_is_not_believed(guard: Path) -> None:
    assert reason() == ""
    os.chmod(fail_closed.path(), 0o666)
    assert codes() == {"fail-closed-unknown"}


def test_a_broken_record_beside_a_broken_hook_refuses_tool_calls(guard: Path) -> None:
    assert reason() == ""
    os.chmod(fail_closed.path(), 0o666)
    guard.parents[2].chmod(0o777)
    assert "cannot be determined whether it is missing" in reason()
    assert f"rm {fail_closed.path()}" in reason()


LOAD = """
import sys
from tenterhook import Engine, Event
for number in range(20):
    Engine.load(configs=[sys.argv[1 + number % 2]]).decide(Event("pre-tool-call", tool_name="x"))
"""


def test_many_processes_at_once_and_one_that_is_killed_lose_nothing(guard: Path, project: Path) -> None:
    files = [write_config(project / f"{number}.toml", CLOSED) for number in range(8)]
    pairs = list(zip(files[::2], files[1::2], strict=True))
    running = [subprocess.Popen([sys.executable, "-c", LOAD, *map(str, pair)]) for pair in pairs]
    victim = subprocess.Popen([sys.executable, "-c", LOAD, str(files[0]), str(files[1])])
    while running[0].poll() is None and victim.poll() is None and not os.path.exists(fail_closed.path()):
        pass
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert [each.wait(120) for each in running] == [0] * 4
    assert sorted(each.hook.source for each in fail_closed.read()[0]) == sorted(
        [str(guard / "HOOK.md"), *map(str, files)]
    )


def test_a_process_that_is_stopped_while_it_writes_holds_up_nobody(guard: Path) -> None:
    os.makedirs(os.path.dirname(fail_closed.path()), mode=0o700)
    code = (
        f"import fcntl, time; file = open({fail_closed.path() + '.lock'!r}, 'w'); fcntl.flock(file, 2)\n"
        "print('on', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "on\n"
        lasting = Engine.load()
        assert not lasting.decide(shell_call()).denied
        assert kept() == []
        holder.kill()
    assert not lasting.decide(shell_call()).denied
    assert kept() == ["guard"]
