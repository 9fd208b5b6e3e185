"""The vectors of the conformance kit by other ways than the engine in process, which test_vectors.py shows.

**Through the line in an agent's settings, alone and with a hub**: said as Claude Code, or where it has no such event as
Kimi Code, tells it. Both answers are the same to the byte, and what hooks leave is what the vector expects; so is the
verdict, as far as that agent is told it.

**Warm**: folders' scripts, as Python scripts that ask for it, begin in a prepared interpreter of an engine that lives.

What cannot be put that way is counted in `test_how_many_go_which_way`.
"""

from __future__ import annotations

import os
import uuid
from contextlib import ExitStack
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from conformance import reading
from conformance.places import Place
from dispatching.test_dispatch import answered, serving
from support import until
from tenterhook import Engine, Event
from tenterhook.runs.warming import INTERPRETERS
from vector_ways import can_be_warm, differences, forget, installed, line, native_of, passes, put, spoken, swept, warmed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.reading import Vector

ALL = reading.load()
NOT_TOLD = ("sent/context-is-passed-on",)  # the context of an agent's event is what else the agent sent
TOLD = [vector for vector in ALL if native_of(vector) and vector.id not in NOT_TOLD]
WARM = [vector for vector in ALL if can_be_warm(vector)]
_TRIES = 20
_SLOW, _THOROUGH = pytest.mark.slow, pytest.mark.thorough
FIRST = [next(vectors) for _, vectors in groupby(TOLD, lambda vector: vector.area)]


def few_and_all(vectors: list[Vector]) -> pytest.MarkDecorator:
    """The first of each area, more of them where there is time, and all where there is much."""
    marks = [() if each in FIRST else _SLOW if not number % 8 else _THOROUGH for number, each in enumerate(vectors)]
    params = [pytest.param(each, id=each.id, marks=mark) for each, mark in zip(vectors, marks, strict=True)]
    return pytest.mark.parametrize("vector", params)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ways").resolve()
    for name in ("home", "project", "records"):
        (root / name).mkdir(mode=0o755)
    return root


@pytest.fixture
def place(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """One place for all vectors, one after another: each is a change that the hub has to take up."""
    place = Place(shared, uuid.uuid4().hex)
    monkeypatch.setenv("HOME", str(place.home))
    (place.root / "began").unlink(missing_ok=True)
    yield place
    swept(place)


@pytest.fixture(scope="module")
def hub(shared: Path) -> Iterator[Path]:
    """The socket of a hub that lives as long as these tests."""
    with ExitStack() as stack:
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "TENTERHOOK_"))}
        stack.enter_context(serving(env={**variables, "HOME": str(shared / "home")}, cwd="/"))
        yield shared / "home/.local/state/tenterhook/daemon.sock"


def before(vector: Vector) -> list[dict[str, Any]]:
    """What happens before: an agent that says it was sent back has been, by a stop that we were told of."""
    if not vector.event.get("payload", {}).get("stop_hook_active"):
        return vector.earlier
    return [{**vector.event, "payload": {"stop_hook_active": False}}]


@few_and_all(TOLD)
def test_a_hub_says_what_the_line_says_alone(vector: Vector, place: Place, hub: Path) -> None:
    host, _ = native_of(vector) or ("", "")
    put(vector, place)
    installed(vector, place, host)
    said = [spoken(host, event, place) for event in (*before(vector), vector.event)]
    away = hub.with_suffix(".away")
    hub.rename(away)
    try:
        alone = [line(each, place, vector.environment) for each in said]
    finally:
        away.rename(hub)
    assert differences(vector, said[-1], alone[-1], place) == []
    for _ in range(_TRIES):  # on a busy machine the line does not wait for the hub
        swept(place)
        forget(place)
        before_it = answered(place.home)
        assert [line(each, place, vector.environment) for each in said] == alone
        assert differences(vector, said[-1], alone[-1], place) == []
        if answered(place.home) == before_it + len(said):
            return
    pytest.fail("the hub never answered")


# ---- warm


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    """No interpreter outlives these tests."""
    yield
    INTERPRETERS.end()


@pytest.fixture
def warm(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on scripts in this place begin warm; the interpreter is kept for the next vector."""
    for name in [name for name in os.environ if name.startswith("PYTHON")]:
        monkeypatch.delenv(name)
    put(ALL[0]._replace(files=PROBE), place)
    warmed(place)
    began = place.root / "began"

    def begins_warm() -> bool:
        began.unlink(missing_ok=True)
        Engine.load(place.project, journal=False, warm=True).decide(Event("notification"))
        return began.read_text() == "warm\n"

    until(begins_warm)
    began.unlink()


PROBE = {
    "home/.config/agents/hooks/probe/HOOK.md": "---\nname: probe\ndescription: x\ntrigger: notification\n---\n",
    "home/.config/agents/hooks/probe/scripts/run.sh": "#!/bin/sh\n",
}


@few_and_all(WARM)
@pytest.mark.usefixtures("warm")
def test_a_script_that_begins_warm_is_the_same(vector: Vector, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    put(vector, place)
    assert warmed(place)
    passes(vector, place, monkeypatch)
    began = place.root / "began"
    if began.exists() and "async: true" not in str(vector.files):  # those are minded by a process that ends with them
        assert set(began.read_text().split()) == {"warm"}


def test_how_many_go_which_way() -> None:
    """Of the 506 vectors,

    - 500 are put to a line and a hub. No agent tells of the end of a turn, or of what follows a stop (5), and what an
      agent's event has as its context is what else that agent sent (1).
    - 216 of the 237 folders are put to a warm engine: those with a `run.sh` that can be executed and a front matter in
      which it can be said. Hooks in the background are among them, and begin as always.
    - 269 are tables and arrays, which are lines of a shell: test_warm_lines.py.
    """
    without = sorted(vector.event["name"] for vector in ALL if not native_of(vector))
    assert without == ["after_agent"] * 4 + ["post-agent-turn-stop"]
    assert (len(ALL), len(TOLD), len(WARM)) == (506, 500, 216)
