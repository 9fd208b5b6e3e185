"""Asynchronous hooks: one detached process per event starts them, enforces their timeouts and journals their results.

It inherits none of the caller's pipes and outlives the caller.
"""

from __future__ import annotations

import json
import os
import sys

from ..basics import places, processes
from ..basics.named_tuples import NamedTuple
from ..events import BY_NAME
from ..journal import records, settings
from ..journal.journal import Journal
from ..model import Failure, Hook
from . import recursion
from .process_runner import Command, ProcessEnd, run_stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class BackgroundJob(NamedTuple):
    """One asynchronous hook, ready to run in another process."""

    name: str
    source: str
    event_name: str
    session_id: str
    identity: str
    argv: Sequence[str]
    payload: str
    cwd: str
    env: Mapping[str, str]
    timeout: float


def job(hook: Hook, command: Command, session_id: str, base: Mapping[bytes, bytes]) -> BackgroundJob:
    """Return a hook's command as a job. Its `env` has only what differs from `base`, which all jobs share."""
    return BackgroundJob(
        name=hook.name,
        source=hook.source,
        event_name=hook.declared,
        session_id=session_id,
        identity=recursion.identity(hook),
        argv=command.argv,
        payload=command.payload.decode("utf-8", "surrogateescape"),
        cwd=command.cwd,
        env={os.fsdecode(key): os.fsdecode(value) for key, value in command.env.items() if base.get(key) != value},
        timeout=command.timeout,
    )


def start(jobs: Sequence[BackgroundJob], base: Mapping[bytes, bytes]) -> str | None:
    """Run jobs in a detached process, without waiting. Return None, or why it could not be started.

    `base` is the environment that the jobs share.
    """
    env = {os.fsdecode(name): os.fsdecode(value) for name, value in base.items()}
    handed = {"places": places.FIXED, "env": env, "jobs": [job._asdict() for job in jobs]}
    try:
        descriptor = _readable_descriptor(json.dumps(handed).encode())
        try:
            processes.start_detached("tenterhook.engine.background:main", stdin=descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        return f"cannot start: {error.strerror}"
    return None


def _readable_descriptor(data: bytes) -> int:
    """Return a descriptor, positioned at the start, of an anonymous file with the data."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("tenterhook", os.MFD_CLOEXEC)
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    with open(descriptor, "wb", closefd=False) as stream:
        stream.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def main() -> None:
    """Run the jobs on stdin in parallel, and write each result to the journal."""
    handed = json.load(sys.stdin.buffer)
    places.FIXED.update(handed["places"])
    jobs = [BackgroundJob(**job) for job in handed["jobs"]]
    starter = processes.this()
    base = {os.fsencode(name): os.fsencode(value) for name, value in handed["env"].items()}
    link = os.fsdecode(recursion.CHAIN)
    commands = [
        Command(
            argv=tuple(job.argv),
            payload=job.payload.encode("utf-8", "surrogateescape"),
            cwd=job.cwd,
            env={
                **base,
                **{os.fsencode(name): os.fsencode(value) for name, value in job.env.items()},
                recursion.CHAIN: os.fsencode(recursion.chain(job.env.get(link, ""), starter, job.identity)),
            },
            timeout=job.timeout,
        )
        for job in jobs
    ]
    run_stage(commands, tell=lambda number, ended: log(jobs[number], ended))


def log(job: BackgroundJob, ended: ProcessEnd) -> None:
    """Write a job's result to the journal."""
    if ended.exit_code == 2 and tuple(job.argv[:2]) == ("/bin/sh", "-c"):
        from ..catalog import script_syntax

        said = script_syntax.refusal_by_shell("/bin/sh", *job.argv[1:])
        if said:
            ended = ended._replace(failure=Failure.CANNOT_START, why=f"the shell refuses the command: {said}")
    outcome = "timed_out" if ended.failure == "timed_out" else "failed" if ended.failure else "ok"
    streams = {"stdout": ended.stdout, "stderr": ended.stderr}
    written = {name: data.decode("utf-8", "replace") for name, data in streams.items()}
    record = records.of_background(
        settings.payloads(places.settings_file()),
        {**written, "why": ended.why},
        hook=job.name,
        source=job.source,
        session_id=job.session_id,
        event=BY_NAME[job.event_name].name if job.event_name in BY_NAME else job.event_name,
        event_name=job.event_name,
        outcome=outcome,
        meaning="no_decision" if outcome == "ok" else outcome,
        exit_code=ended.exit_code,
        duration_ms=round(ended.duration * 1000, 3),
    )
    Journal("async").write(record)
