"""Paths of a case stay inside its directories, and are the same in every run."""

from __future__ import annotations

import pytest

from tenterhook.authoring import paths
from tenterhook.authoring.paths import Places

PLACES = Places("/t", "/t/work", "/t/home", "/t/tmp", "/t/home/.local/state/tenterhook/hooks/guard")


@pytest.mark.parametrize("path", ["a", "a/b", "~/a", "{{work_dir}}/a", "{{home}}/.x", "{{tmp}}/a", "{{state_dir}}/a/b"])
def test_a_path_below_the_cases_directories_is_taken(path: str) -> None:
    assert paths.is_below(path)
    assert PLACES.path_of(path).startswith("/t/")


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../a", "a/../../b", "~/../a", "~/", "{{home}}", "{{other}}/a", "a{{home}}/b", "a\0"],
)
def test_a_path_that_may_lead_elsewhere_is_not(path: str) -> None:
    assert not paths.is_below(path)


def test_directories_and_placeholders_replace_each_other_everywhere() -> None:
    value = {"{{work_dir}}/a": ["in {{home}}", 1, None], "b": {"c": "{{state_dir}}/x {{tmp}}"}}
    filled = paths.all_filled(value, PLACES)
    assert filled == {"/t/work/a": ["in /t/home", 1, None], "b": {"c": f"{PLACES.state_dir}/x /t/tmp"}}
    assert paths.all_settled(filled, PLACES) == value


def test_without_a_state_directory_its_placeholder_stays() -> None:
    assert PLACES._replace(state_dir="").filled("{{state_dir}}/a") == "{{state_dir}}/a"


def test_a_mode_is_three_octal_digits() -> None:
    assert [text for text in ("644", "0755", "64", "888", "1755", "rwx") if paths.is_mode(text)] == ["644", "0755"]
