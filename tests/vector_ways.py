"""The ways that an event can take beside the engine in process: said by an agent, to a line or a hub."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance import checking, leftovers, places
from conformance.places import SESSION, Place
from dispatch.bridges import BRIDGE, HANG, install
from hosts.observed import DOES
from support import array_hook, end_of_the_agent
from tenterhook import Event
from tenterhook.agents import AGENTS
from tenterhook.catalog import packs, project_root, source_trust
from tenterhook.catalog.trust import Trust
from tenterhook.errors import HookError
from tenterhook.formats import toml_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.checking import Difference
    from conformance.reading import Vector

TRIED = ("claude-code", "kimi-code")  # the one that is told most of a verdict, and the one with the most events
RECORD = ".local/state/tenterhook/installed"
BLOCKED = 10  # what the bridge ends with; the line's shell makes 2 of it


class Told(NamedTuple):
    """What an agent hears."""

    status: int
    stdout: bytes
    stderr: bytes


class Spoken(NamedTuple):
    """An event as an agent tells it."""

    host: str
    native: str
    payload: dict[str, Any]


def native_of(vector: Vector) -> tuple[str, str] | None:
    """The first agent that tells of a vector's event, and what it calls it."""
    canonical = Event(vector.event["name"]).canonical
    for host in TRIED:
        for native, ours in AGENTS[host].events.items():
            if ours == canonical:
                return host, native
    return None


def spoken(host: str, event: dict[str, Any], place: Place) -> Spoken:
    """An event of a vector in an agent's words."""
    read = Event.from_payload(event["name"], place.filled(event.get("payload", {})))
    native = next(native for native, ours in AGENTS[host].events.items() if ours == read.canonical)
    base = {"hook_event_name": native, "session_id": SESSION, "cwd": str(place.project)}
    return Spoken(host, native, {**read.fields, **base})


def put(vector: Vector, place: Place) -> None:
    """Have a vector's files, and nothing of the one before but the hub's socket."""
    for folder in (place.home, place.project, place.records):
        for each in folder.iterdir():
            while each.name != ".local" and each.exists():  # a daemon may be about to replace a file in it
                shutil.rmtree(each, ignore_errors=True) if each.is_dir() else each.unlink(missing_ok=True)
    for name in ("share", "state/tenterhook/packs"):  # fetched packs, and those that were in force
        shutil.rmtree(place.home / ".local" / name, ignore_errors=True)
    forget(place)
    for name, content in vector.files.items():
        places._write(place, place.root / name, content)


def forget(place: Place) -> None:
    """Have nothing of what a run has left, of a vector or of ours."""
    state = place.home / ".local/state/tenterhook"
    for folder in (place.records, place.project / ".kimi", state / "sessions"):
        shutil.rmtree(folder, ignore_errors=True)
    (state / "fail-closed.json").unlink(missing_ok=True)  # else the guards of the vector before would be missed
    place.records.mkdir(mode=0o755)
    end_of_the_agent()


def installed(vector: Vector, place: Place, host: str) -> None:
    """The vector's hooks in force in an agent; those of the project are trusted."""
    shutil.rmtree(place.home / RECORD, ignore_errors=True)
    file = place.request(vector)["config"]
    config = Path(file) if file else None
    if config is not None and host == "kimi-code":  # it reads its own file by itself, so that one is refused
        config = config.rename(place.home / "named.toml")
    if config is not None and any(problem.severity == "error" for problem in toml_files.read(str(config)).problems):
        broken = config.read_bytes()
        config.write_text(array_hook("true"))  # a broken one would be refused; it becomes so later
        install(host, config=config)
        config.write_bytes(broken)
    else:
        install(host, config=config)
    hooks = place.project / ".agents" / "hooks"
    trust = Trust(project_root.project_root(str(place.project)))
    for each in sorted(hooks.iterdir()) if hooks.is_dir() else []:
        if (each / "HOOK.md").exists() or each.name == "hooks.toml":
            trust.grant(str(each))
    with suppress(HookError):  # there is none, or it is broken
        for pack in packs.read_lock(str(hooks / packs.FILE)):
            source_trust.approve(pack)


def line(said: Spoken, place: Place, environment: dict[str, str]) -> Told:
    """What comes of an event at the line in an agent's settings; whether a hub answers is up to the socket."""
    record = place.home / RECORD / f"{said.host}.json"
    arguments = ["--host", said.host, "--event", said.native, "--record", str(record)]
    ended = subprocess.run(
        [sys.executable, "-I", "-S", BRIDGE, *arguments],
        input=json.dumps(said.payload).encode(),
        capture_output=True,
        cwd=place.project,
        env=place.environment(environment),
        timeout=HANG + 60,  # the slowest hooks sleep for 40
    )
    return Told(ended.returncode, ended.stdout, ended.stderr)


def differences(vector: Vector, said: Spoken, told: Told, place: Place) -> list[Difference]:
    """What is not as the vector expects, as far as the agent can be told."""
    return [*_in_words(vector, said, told, place), *checking.effects(vector.expect, place)]


def _in_words(vector: Vector, said: Spoken, told: Told, place: Place) -> Iterator[Difference]:
    capabilities, canonical = AGENTS[said.host].capabilities, AGENTS[said.host].events[said.native]
    status = 2 if told.status == BLOCKED else told.status
    does = DOES[said.host](said.native, told.stdout.decode(), told.stderr.decode(), status)
    expect, decision = vector.expect, "none"
    if does.block is not None:
        decision = "deny"
    elif does.ask is not None:
        decision = "ask"
    elif does.approve:
        decision = "approve"
    if expect["decision"] == "allow":  # no agent is told: it goes on as if nothing was said
        expect = {**expect, "decision": "proceed"}
    answer: dict[str, Any] = {"decision": decision}
    if canonical not in capabilities.blocks or (said.host, expect["decision"]) == ("kimi-code", "ask"):
        return  # nothing that could be told apart follows there
    if "additional_context" not in expect and "messages" not in expect:
        answer["reason"] = does.block or does.ask
    answer["modified_input"] = does.input
    yield from checking.answer_differences(expect, answer, place)


def swept(place: Place) -> None:
    """Nothing that a vector started is left running."""
    leftovers.sweep(place.mark, place.root)
