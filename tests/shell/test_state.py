"""The state of a shell."""

from __future__ import annotations

from tenterhook.shell.state import MOST_VALUES, ShellState, some_values
from tenterhook.shell.syntax import UNKNOWN


def test_a_copy_is_independent_of_the_state() -> None:
    state = ShellState("/a")
    state.variables["x"] = ("1",)
    copy = state.copy()
    copy.variables["x"] = ("2",)
    copy.files["/f"] = "text"
    copy.directory = "/b"
    assert (state.variables, state.files, state.directory) == ({"x": ("1",)}, {}, "/a")
    assert (state.size(), copy.size()) == (1, 2)


def test_a_state_takes_over_what_a_branch_changed() -> None:
    state = ShellState("/a")
    branch = state.copy()
    branch.files["/f"] = "text"
    branch.lists["x"] = ["1"]
    branch.sourced = True
    branch.directory = "/b"
    state.take(branch, state.arguments)
    assert (state.files, state.lists, state.sourced, state.directory) == ({"/f": "text"}, {"x": ["1"]}, True, "/a")


def test_of_too_many_values_the_rest_is_unknown() -> None:
    assert some_values(["a", "b", "a"]) == ("a", "b")
    found = some_values(list("abcdefghijkl"))
    assert (len(found), found[0], found[-1]) == (MOST_VALUES, "a", UNKNOWN)
