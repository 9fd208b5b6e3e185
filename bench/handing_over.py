"""What an agent waits for where a hub runs on the machine."""

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


def with_a_hub(setting: Setting) -> Iterator[Row]:
    """The same events, handed over to a hub on this machine: by the line, and by Python where there is no Perl."""
    here = with_hooks(setting, 30, "30-various-and-hub")
    with running_daemon(here):  # first: none is started below an agent, which we are after an event
        here.begin(READ)
        for title, call in (("is for the tool", READ), ("finds its pattern", SHELL)):
            ways = {"pass": _nothing(here), "line": ["/bin/sh", "-c", here.line], "Python": here.bridge}
            turns = {name: here.block(each, here.payload(call)) for name, each in ways.items()}
            found = take_turns(turns, setting.effort.blocks)
            what = f"dispatch with a hub, none of 30 hooks {title}"
            yield Row(f"{what}: line", PASS, compare(found["line"], found["pass"]), HANDED_OVER)
            yield Row(f"{what}: bridge in Python", PASS, compare(found["Python"], found["pass"]), HANDED_OVER_IN_PYTHON)
    yield from _guarded(setting)


def _guarded(setting: Setting) -> Iterator[Row]:
    """One guard in force and not refusing."""
    here = with_guard(setting, "guard-and-hub")
    native = homes.write_script(here.home / "guard.sh", SHELL_GUARD)
    with running_daemon(here):
        here.begin(SHELL)
        line = ["/bin/sh", "-c", here.line]
        if not here.refuses(line, FORBIDDEN):
            raise WorkerEnded("the guard is not in force with a hub")
        argv = {"native": ["/bin/sh", "-c", str(native)], "line": line, "pass": _nothing(here)}
        turns = {name: here.block(each, here.payload(SHELL)) for name, each in argv.items()}
        found = take_turns(turns, setting.effort.blocks)
    title = "dispatch with a hub, one guard in sh: line"
    yield Row(title, "the guard alone", compare(found["line"], found["native"]), GUARDED)
    yield Row(title, PASS, compare(found["line"], found["pass"]), HANDED_OVER)


def _nothing(here: Installed) -> list[str]:
    return [here.python, "-I", "-S", "-c", "pass"]
