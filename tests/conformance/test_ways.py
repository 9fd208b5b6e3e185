"""The vectors of the conformance kit by other ways than the engine in process, which test_vectors.py shows.

**Through the line in an agent's settings, alone and with a hub**: said as Claude Code, or where it has no such event as
Kimi Code, tells it. Both answers are the same to the byte, and what hooks leave is what the vector expects; so is the
verdict, as far as that agent is told it.

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
from dispatch.bridges import answered, serving
from vector_ways import differences, forget, installed, line, native_of, put, spoken, swept

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.reading import Vector

ALL = reading.load()
NOT_TOLD = ("sent/context-is-passed-on",)  # the context of an agent's event is what else the agent sent
TOLD = [vector for vector in ALL if native_of(vector) and vector.id not in NOT_TOLD]
_TRIES = 20
_SLOW, _THOROUGH = pytest.mark.slow, pytest.mark.thorough
FIRST = [next(vectors) for _, vectors in groupby(TOLD, lambda vector: vector.area)]


def some_and_all(vectors: list[Vector]) -> pytest.MarkDecorator:
    """The first of each area and a few more in the slow suite, all of them in the thorough one."""
    marks = [_SLOW if each in FIRST or not number % 16 else _THOROUGH for number, each in enumerate(vectors)]
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


@some_and_all(TOLD)
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


def test_how_many_go_which_way() -> None:
    """Of the 543 vectors, 537 are put to a line and a hub.

    No agent tells of the end of a turn, or of what follows a stop (5), and what an agent's event has as its context is
    what else that agent sent (1).
    """
    without = sorted(vector.event["name"] for vector in ALL if not native_of(vector))
    assert without == ["after_agent"] * 4 + ["post-agent-turn-stop"]
    assert (len(ALL), len(TOLD)) == (545, 539)
