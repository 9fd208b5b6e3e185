"""Hooks that `trigger` and `try` run: ended by signals, and in a state directory of their own."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from support import alive, array_hook, write_config
from tenterhook import Engine, Event
from tenterhook.basics import places
from tenterhook.cli.hook_runs import decide, own_state

if TYPE_CHECKING:
    from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def engine_of(project: Path, line: str) -> Engine:
    return Engine.load(configs=[write_config(project / "hooks.toml", array_hook(line, timeout=60))])


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_hook_and_the_command_with_the_shells_exit_status(project: Path, number: int) -> None:
    def interrupt() -> None:
        while not (project / "started").exists() or not (project / "started").read_text().strip():
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(SystemExit) as ended:
        decide(engine_of(project, f"echo $$ > {project}/started; sleep 60"), Event("pre-tool-call"))
    thread.join()
    assert ended.value.code == 128 + number
    assert not alive(int((project / "started").read_text()))


def test_afterwards_signals_do_what_they_did_before(project: Path) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    assert decide(engine_of(project, "exit 2"), Event("pre-tool-call")).denied
    assert [signal.getsignal(number) for number in SIGNALS] == before


@pytest.mark.parametrize("keep", [True, False])
def test_a_state_of_its_own_is_removed_unless_hooks_may_still_use_it(keep: bool) -> None:
    before = places.state()
    with own_state(keep=keep):
        own = places.state()
        assert os.path.isdir(own)
    assert (places.state(), own == before, os.path.exists(own)) == (before, False, keep)
