"""The light `NamedTuple`, `StrEnum` and `remembered` do what the real ones do, as far as they are used."""

from __future__ import annotations

import copy
import enum
import functools
import json
import pickle
import subprocess
import sys
import typing
from typing import Any

import pytest

from tenterhook import Action, Hook, Verdict
from tenterhook.basics import light_json
from tenterhook.basics.named_tuples import NamedTuple, StrEnum, cached
from tenterhook.events import EVENTS, Effect
from tenterhook.model import PRECEDENCE, Failure, Outcome, Run


class Light(NamedTuple):
    """A point."""

    x: int
    y: int = 2
    label: str = "here"

    @property
    def sum(self) -> int:
        return self.x + self.y

    def moved(self, by: int) -> Light:
        return self._replace(x=self.x + by)

    @classmethod
    def origin(cls) -> Light:
        return cls(0, 0)


class Real(typing.NamedTuple):
    """A point."""

    x: int
    y: int = 2
    label: str = "here"

    @property
    def sum(self) -> int:
        return self.x + self.y

    def moved(self, by: int) -> Real:
        return self._replace(x=self.x + by)

    @classmethod
    def origin(cls) -> Real:
        return cls(0, 0)


class LightColour(StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


class RealColour(enum.StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


both = pytest.mark.parametrize("point", [Light, Real])
both_colours = pytest.mark.parametrize("colour", [LightColour, RealColour])
MANY = 200  # enough for a class to take its quick way


# ---- named tuples


@pytest.mark.parametrize("used", [0, MANY], ids=["new", "used often"])
@both
def test_a_named_tuple_is_made_as_usual(point: Any, used: int) -> None:
    for number in range(used):
        assert point(number).x == number
    assert point(1) == point(x=1) == point(1, 2, "here") == point(1, y=2) == point(label="here", x=1, y=2)
    assert tuple(point(1, label="there")) == (1, 2, "there")
    for wrong in (point, lambda: point(1, 2, "a", 4), lambda: point(1, z=3), lambda: point(1, x=1)):
        with pytest.raises(TypeError):
            wrong()
    assert point(None, None, None) == (None, None, None)


@both
def test_a_named_tuple_is_a_tuple(point: Any) -> None:
    one = point(1)
    assert isinstance(one, tuple)
    assert (len(one), one[0], one[-1], list(one), 2 in one) == (3, 1, "here", [1, 2, "here"], True)
    x, *rest = one
    assert (x, rest) == (1, [2, "here"])
    assert one == (1, 2, "here")
    assert hash(one) == hash((1, 2, "here"))
    assert {one: "a"}[(1, 2, "here")] == "a"
    assert sorted([point(2), point(1)]) == [point(1), point(2)]
    assert bool(one)
    assert json.dumps(one) == light_json.dumps(one) == '[1, 2, "here"]'


@both
def test_a_named_tuple_has_its_names(point: Any) -> None:
    one = point(1)
    assert (one.x, one.y, one.label, one.sum) == (1, 2, "here", 3)
    assert point._fields == ("x", "y", "label")
    assert point._field_defaults == {"y": 2, "label": "here"}
    assert one._asdict() == {"x": 1, "y": 2, "label": "here"}
    assert repr(one) == f"{point.__name__}(x=1, y=2, label='here')"
    assert f"{one}" == str(one) == repr(one)
    assert (point.__doc__, point.__name__, point.__module__) == ("A point.", point.__name__, __name__)
    match one:
        case Light(x, y) | Real(x, y):
            assert (x, y) == (1, 2)
        case _:
            pytest.fail("it does not match")


@both
def test_a_named_tuple_is_replaced_and_never_changed(point: Any) -> None:
    one = point(1)
    assert one._replace(y=5) == (1, 5, "here")
    assert one.moved(3) == point(4)
    assert type(one.moved(3)) is point
    assert point.origin() == (0, 0, "here")
    assert point._make([1, 2, "a"]) == point(1, 2, "a")
    with pytest.raises((ValueError, TypeError)):
        one._replace(z=1)
    for name in ("x", "new"):
        with pytest.raises(AttributeError):
            setattr(one, name, 2)
    with pytest.raises(AttributeError):
        del one.x


@pytest.mark.parametrize("used", [0, MANY], ids=["new", "used often"])
@both
def test_a_named_tuple_survives_pickling_and_copying(point: Any, used: int) -> None:
    for number in range(used):
        point(number)
    one = point(1, label=["deep"])
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(one, protocol))
        assert again == one
        assert type(again) is point
    assert copy.copy(one) == one
    assert type(copy.copy(one)) is point
    deep = copy.deepcopy(one)
    assert deep == one
    assert deep.label is not one.label
    assert type(deep) is point


def test_each_class_has_its_own_defaults_and_fields() -> None:
    class Other(NamedTuple):
        a: int
        b: int

    for number in range(MANY):
        assert Other(number, 1).a == number
    assert Other(b=1, a=2) == (2, 1)
    with pytest.raises(TypeError):
        Other(1)  # type: ignore[call-arg]
    assert not hasattr(Other(1, 2), "x")
    assert Light(1).label == "here"


def test_the_values_of_the_engine_survive_a_pickle() -> None:
    hook = Hook("guard", "pre-tool-call", "PreToolUse", "array", metadata={"a": [1]})
    run = Run(hook, failure=Failure.TIMED_OUT, why="slow")
    verdict = Verdict("pre-tool-call", Action.DENY, "no", runs=(run,))
    again = pickle.loads(pickle.dumps(verdict))
    assert again == verdict
    assert again.decision is Action.DENY
    assert again.runs[0].outcome is Outcome.TIMED_OUT
    assert copy.deepcopy(verdict) == verdict
    assert pickle.loads(pickle.dumps(EVENTS)) == EVENTS


# ---- enumerations


@both_colours
def test_a_member_is_a_string_and_one_object(colour: Any) -> None:
    red = colour.RED
    assert isinstance(colour.RED, str)
    assert red == "red"
    assert hash(red) == hash("red")
    assert {"red": 1}[red] == {red: 1}["red"] == 1
    assert (red.name, red.value) == ("RED", "red")
    assert type(red.value) is str
    assert colour("red") is colour(red) is red
    assert type(red) is colour
    assert isinstance(red, colour)
    assert not isinstance("red", colour)
    assert red != colour.DARK_BLUE
    assert red is not colour.DARK_BLUE


@both_colours
def test_a_member_is_written_as_its_string(colour: Any) -> None:
    red = colour.RED
    assert f"{red}" == str(red) == f"{red:s}" == "%s" % red == "".join([red]) == "red"  # noqa: UP031
    assert f"{red:>5}" == "  red"
    assert type(str(red)) is str
    assert repr(red) == f"<{colour.__name__}.RED: 'red'>"
    assert json.dumps({red: red}) == light_json.dumps({red: red}) == '{"red": "red"}'
    assert red.encode() == b"red"
    assert red + "!" == "red!"


@both_colours
def test_members_are_found_and_listed(colour: Any) -> None:
    assert list(colour) == [colour.RED, colour.DARK_BLUE]
    assert all(type(each) is colour for each in colour)
    assert len(colour) == 2
    assert colour.RED in colour
    assert colour.RED in ("red", "green")
    assert "red" in {colour.RED}
    assert ("red", "dark-blue").index(colour.DARK_BLUE) == 1
    wrongs: tuple[Any, ...] = ("green", "RED", "", None, 1, [], {})
    for wrong in wrongs:
        with pytest.raises(ValueError, match="is not a valid"):
            colour(wrong)


@both_colours
def test_a_member_stays_itself(colour: Any) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(colour.DARK_BLUE, protocol)) is colour.DARK_BLUE
    assert copy.copy(colour.RED) is colour.RED
    assert copy.deepcopy([colour.RED])[0] is colour.RED
    match colour.RED:
        case LightColour.RED | RealColour.RED:
            pass
        case _:
            pytest.fail("it does not match")


@pytest.mark.parametrize("kind", [Action, Failure, Outcome, Effect])
def test_every_enumeration_in_use_is_intact(kind: Any) -> None:
    members = list(kind)
    assert len(members) == len(set(members)) == len(kind) > 1
    for each in members:
        assert getattr(kind, each.name) is each
        assert kind(each.value) is each
    assert set(PRECEDENCE) == set(Action)


# ---- remembering


@pytest.mark.parametrize("decorate", [cached, functools.lru_cache])
def test_an_answer_is_worked_out_once(decorate: Any) -> None:
    asked = []

    @decorate(4)  # type: ignore[untyped-decorator]  # either of the two
    def twice(value: int, more: int = 0) -> int:
        """Doubled."""
        asked.append(value)
        return value * 2 + more

    assert [twice(1), twice(1), twice(1, 5), twice(2)] == [2, 2, 7, 4]
    assert asked == [1, 1, 2]
    assert (twice.__name__, twice.__doc__) == ("twice", "Doubled.")
    for value in range(20):
        assert twice(value) == value * 2  # also once there are too many to remember
    with pytest.raises(TypeError):
        twice([])


@pytest.mark.parametrize("decorate", [cached, functools.lru_cache])
@pytest.mark.parametrize("error", [KeyError, ValueError])
def test_a_failure_is_not_remembered(decorate: Any, error: type[Exception]) -> None:
    asked = []

    @decorate(4)  # type: ignore[untyped-decorator]  # either of the two
    def fails(value: int) -> int:
        asked.append(value)
        if len(asked) == 1:
            raise error("once")
        return value

    with pytest.raises(error):
        fails(1)
    assert fails(1) == 1
    assert asked == [1, 1]


@pytest.mark.parametrize("decorate", [cached, functools.lru_cache])
def test_what_is_remembered_may_be_nothing(decorate: Any) -> None:
    asked = []

    @decorate(4)  # type: ignore[untyped-decorator]  # either of the two
    def nothing(value: int) -> None:
        asked.append(value)

    assert nothing(1) is nothing(1) is None
    assert asked == [1]


def test_the_light_road_imports_none_of_the_real_ones() -> None:
    heavy = {"typing", "enum", "functools", "collections"}
    code = f"import tenterhook.basics.named_tuples; print(sorted({heavy!r} & set(sys.modules)))"
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"
