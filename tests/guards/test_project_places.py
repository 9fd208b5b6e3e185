"""Which places there are, and what kind of place a path is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenterhook.guards.project_places import ProjectPlaces
from tenterhook.shell.syntax import STAR, UNKNOWN

if TYPE_CHECKING:
    from pathlib import Path

HOME, PROJECT = "/home/dev", "/home/dev/project"


@pytest.fixture
def places() -> ProjectPlaces:
    return ProjectPlaces(PROJECT, {"HOME": HOME})


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "the root of the file system"),
        ("/etc", "/etc, a directory of the system"),
        ("/tmp", "/tmp, which every program uses"),
        (HOME, "the home directory"),
        ("/home/eve", "the home of eve"),
        (f"{HOME}/.ssh", "~/.ssh"),
        (f"{PROJECT}/.git", ".git of the project"),
        (PROJECT, "the project itself"),
        (f"{PROJECT}/{STAR}", "everything in the project itself"),
        (f"/e{STAR}", "/etc, a directory of the system"),
        (f"/tmp/{STAR}", None),
        (f"{PROJECT}/src", None),
        (f"/{UNKNOWN}", None),
    ],
)
def test_a_path_with_all_that_is_in_it_takes_a_place_along(
    places: ProjectPlaces, path: str, expected: str | None
) -> None:
    place = places.hit(path)
    assert (place and place.shown) == expected


def test_a_link_takes_along_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    place = ProjectPlaces(str(tmp_path), {"HOME": HOME}).hit(f"{tmp_path}/link")
    assert place
    assert place.path == "/etc"


@pytest.mark.parametrize(
    ("path", "is_outside"),
    [
        (f"{PROJECT}/a", False),
        (f"{HOME}/other", True),
        ("/tmp/a", False),
        (f"/home/{UNKNOWN}/a", False),  # it may lead into the project
        (f"/srv/{UNKNOWN}", True),
    ],
)
def test_only_what_surely_is_outside_the_project_is(places: ProjectPlaces, path: str, is_outside: bool) -> None:
    assert places.is_outside(path) == is_outside


def test_a_project_below_a_temporary_directory_is_not_temporary() -> None:
    places = ProjectPlaces("/tmp/project", {"HOME": HOME})
    assert places.is_temporary("/tmp/other")
    assert not places.is_temporary("/tmp/project/src")


def test_names_tell_what_builds_make_and_what_programs_fill_anew(places: ProjectPlaces) -> None:
    assert places.is_generated(f"{PROJECT}/build/a.txt")
    assert places.is_generated(f"{PROJECT}/{STAR}.pyc")
    assert not places.is_generated(f"{PROJECT}/src")
    assert places.is_cache(f"{HOME}/.cache/pip")
    assert not places.is_cache("/usr/share/cache")
