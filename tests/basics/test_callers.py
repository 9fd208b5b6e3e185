"""The caller of an event: its process, and which of its variables hooks inherit."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys

from support import needs_proc
from tenterhook.basics.callers import THIS, Caller, agent_above
from tenterhook.basics.places import PACKAGE

RECORD = {
    **{kind: f"/home/me/{kind}" for kind in ("home", "config", "state", "cache")},
    "steering": {"PATH": "/bin", "GIT_DIR": "/trusted"},
    "interpreters": {"sh": "/bin/sh"},
}
SCRIPT = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from tenterhook.basics import callers

caller = callers.drop_untrusted_env()
print(sorted(os.environ), caller.given[b"MINE"], caller.is_another)
callers.restore_trusted_env(caller, json.loads(sys.argv[2]))
print(os.environ["PATH"], os.environ["GIT_DIR"], caller.environ()[b"MINE"], caller.environ()[b"GIT_DIR"])
print(dict(caller.interpreters()))
"""


def test_without_arguments_it_is_this_process_as_a_person_started_it() -> None:
    assert (THIS.pid, THIS.is_another, THIS.given) == (os.getpid(), False, None)
    assert THIS.environ()[b"PATH"] == os.environb[b"PATH"]
    assert THIS.interpreters() == {}


def test_an_agents_variables_are_dropped_and_those_of_the_record_restored() -> None:
    given = {"PATH": "/agent", "GIT_DIR": "/agent", "MINE": "kept", "LANG": "C.UTF-8"}
    run = [sys.executable, "-I", "-S", "-c", SCRIPT, os.path.dirname(PACKAGE), json.dumps(RECORD)]
    ended = subprocess.run(run, env=given, capture_output=True, text=True, check=True)
    first, second, third = ended.stdout.splitlines()
    assert first == "['LANG'] b'kept' False"
    assert second == "/bin /trusted b'kept' b'/trusted'"
    assert third == "{'sh': '/bin/sh'}"


@needs_proc
def test_another_process_has_the_variables_that_it_sent() -> None:
    caller = Caller(pid=os.getpid(), given={})
    caller.use({b"MINE": b"sent", b"GIT_DIR": b"/agent"}, RECORD)
    assert caller.is_another
    assert (caller.environ()[b"MINE"], caller.environ()[b"GIT_DIR"]) == (b"sent", b"/trusted")


# An agent in a session of its own, whose hook says its number and waits.
_AGENT = "import subprocess, time; subprocess.run(['sh', '-c', 'echo $$; read line; exit 0']); time.sleep(60)"
_SET_CHILD_SUBREAPER = 36  # prctl(2): orphans below this process become its children


@needs_proc
def test_a_hook_whose_agent_has_ended_is_not_taken_for_one_of_the_process_that_it_was_moved_to() -> None:
    """As `systemd --user`, a CI runner and tini do, this process becomes the parent of orphans."""
    prctl = ctypes.CDLL(None).prctl
    assert prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        with subprocess.Popen(
            [sys.executable, "-c", _AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        ) as agent:
            assert agent.stdin and agent.stdout
            hook = int(agent.stdout.readline())
            assert str(agent_above(hook)).startswith(f"{agent.pid}.")
            agent.kill()
            agent.wait()
            assert os.stat(f"/proc/{hook}")
            assert agent_above(hook) is None
            agent.stdin.close()
            os.waitpid(hook, 0)
    finally:
        prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
