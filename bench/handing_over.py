"""Measures how long an event delays an agent while the daemon runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import homes
from .comparing import compare, take_turns
from .dispatching import FORBIDDEN, GUARDED, PASS, READ, SHELL, SHELL_GUARD, Installed, with_guard, with_hooks
from .growth import running_daemon
from .requests import WorkerEnded
from .rows import Row, Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .measuring import Setting

HANDED_OVER = Target(1.10)
HANDED_OVER_IN_PYTHON = Target(1.25)


def with_daemon(setting: Setting) -> Iterator[Row]:
    """Measure events that the line passes to the daemon: with Perl, and with Python as where there is no Perl."""
    here = with_hooks(setting, 30, "30-various-and-daemon")
    with running_daemon(here):  # before any event, which makes this process an agent: none starts below one
        here.begin(READ)
        for title, call in (("is for the tool", READ), ("finds its pattern", SHELL)):
            ways = {"pass": _nothing(here), "line": ["/bin/sh", "-c", here.line], "Python": here.bridge}
            turns = {name: here.block(each, here.payload(call)) for name, each in ways.items()}
            found = take_turns(turns, setting.effort.blocks)
            what = f"dispatch with the daemon, none of 30 hooks {title}"
            yield Row(f"{what}: line", PASS, compare(found["line"], found["pass"]), HANDED_OVER)
            yield Row(f"{what}: bridge in Python", PASS, compare(found["Python"], found["pass"]), HANDED_OVER_IN_PYTHON)
    yield from _guarded(setting)


def _guarded(setting: Setting) -> Iterator[Row]:
    """Measure a call that a guard allows."""
    here = with_guard(setting, "guard-and-daemon")
    native = homes.write_script(here.home / "guard.sh", SHELL_GUARD)
    with running_daemon(here):
        here.begin(SHELL)
        line = ["/bin/sh", "-c", here.line]
        if not here.refuses(line, FORBIDDEN):
            raise WorkerEnded("the guard is not in force with the daemon")
        argv = {"native": ["/bin/sh", "-c", str(native)], "line": line, "pass": _nothing(here)}
        turns = {name: here.block(each, here.payload(SHELL)) for name, each in argv.items()}
        found = take_turns(turns, setting.effort.blocks)
    title = "dispatch with the daemon, one guard in sh: line"
    yield Row(title, "the guard alone", compare(found["line"], found["native"]), GUARDED)
    yield Row(title, PASS, compare(found["line"], found["pass"]), HANDED_OVER)


def _nothing(here: Installed) -> list[str]:
    return [here.python, "-I", "-S", "-c", "pass"]
