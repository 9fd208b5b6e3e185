"""The ways that an event can take beside the engine in process: said by an agent, to a line or a hub, and warm."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance import checking, leftovers, places, trying
from conformance.places import SESSION, Place
from dispatching.test_dispatch import BRIDGE, HANG, install
from hosts.test_answers import DOES
from support import array_hook, end_of_the_agent
from tenterhook import Engine, Event
from tenterhook.agents import AGENTS
from tenterhook.catalog import roots
from tenterhook.catalog.trust import Trust
from tenterhook.formats import toml_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

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
            if each.name != ".local":
                shutil.rmtree(each) if each.is_dir() else each.unlink()
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
    trust = Trust(roots.project_root(str(place.project)))
    for each in sorted(hooks.iterdir()) if hooks.is_dir() else []:
        if (each / "HOOK.md").exists() or each.name == "hooks.toml":
            trust.grant(str(each))


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


# ---- warm

_WARM = """#!{python}
import os, signal, sys
with open("/proc/self/cmdline", "rb") as file:
    began = b"warm" if b"prepared_python" in file.read() else b"cold"
with open({began!r}, "ab") as file:
    file.write(began + b"\\n")
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "original")
os.execv(script, [script, *sys.argv[1:]])
"""


def passes(vector: Vector, place: Place, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put a vector to an engine in this process, and have it judged as any engine is; how its hooks ended."""
    for name, value in place.environment(vector.environment).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.project)
    request = place.request(vector)
    configs = [request["config"]] if request["config"] else []
    engine = Engine.load(place.project, configs, trust_project=True, journal=False, warm=True)
    for event in (*request["earlier"], request):
        sent = Event.from_payload(event["event"], event["payload"], session_id=SESSION, work_dir=str(place.project))
        verdict = engine.decide(sent).as_json()
    failed = [run["hook"] for run in verdict["runs"] if run["outcome"] in ("failed", "timed_out")]
    result = trying._judged(vector, {**verdict, "failures": failed}, place, 0)
    assert (result.status, result.why, result.differences) == (trying.PASSED, "", ())
    return [run["outcome"] for run in verdict["runs"]]


def can_be_warm(vector: Vector) -> bool:
    """Whether one of its hooks is a folder whose `run.sh` is what runs."""
    return any(_SCRIPT.fullmatch(name) and _is_plain(vector.files, name) for name in vector.files)


_SCRIPT = re.compile(r"(home/\.config/(agents|kimi)|project/\.agents)/hooks/[^/]+/scripts/run\.sh")


def _is_plain(files: dict[str, Any], script: str) -> bool:
    folder = script.removesuffix("/scripts/run.sh")
    text, definition = files[script], files.get(f"{folder}/HOOK.md")
    lines: list[str] = definition.split("\n") if isinstance(definition, str) else definition or []
    is_script = not isinstance(text, dict) and "".join(text[:2]).startswith("#!")
    is_read = lines[:1] == ["---"] and f"{folder}/scripts/run" not in files
    return is_script and is_read and all(not each.startswith("metadata:") or each == "metadata:" for each in lines)


def warmed(place: Place) -> int:
    """Have every folder's `run.sh` begin as a Python script that asks to be warm; how many there are."""
    count = 0
    layers = (place.home / ".config/agents/hooks", place.home / ".config/kimi/hooks", place.project / ".agents/hooks")
    for folder in (folder for layer in layers if layer.is_dir() for folder in layer.iterdir()):
        script, definition = folder / "scripts" / "run.sh", folder / "HOOK.md"
        lines = definition.read_text().split("\n") if definition.is_file() else []
        is_plain = script.is_file() and os.access(script, os.X_OK) and script.read_bytes().startswith(b"#!")
        if not is_plain or (folder / "scripts" / "run").exists() or lines[:1] != ["---"]:
            continue
        if any(each.startswith("metadata:") for each in lines):
            at = next(number for number, each in enumerate(lines) if each.startswith("metadata:"))
            if lines[at] != "metadata:":
                continue
            lines.insert(at + 1, "  warm: true")
        else:
            lines.insert(1, "metadata: { warm: true }")
        definition.write_text("\n".join(lines))
        script.rename(script.with_name("original"))
        (folder / "scripts" / "run.py").write_text(_WARM.format(python=sys.executable, began=str(place.root / "began")))
        (folder / "scripts" / "run.py").chmod(0o755)
        count += 1
    return count
