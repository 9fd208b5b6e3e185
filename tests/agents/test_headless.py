"""An agent's home made ready for a run against a scripted model, and the version of its program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hosts.homes import URL, write
from hosts.recorded import PROVEN
from tenterhook.agents import AGENTS, headless
from tenterhook.agents.headless import BadSettings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", PROVEN)
def test_an_empty_home_is_made_ready_twice_over(name: str, home: Path) -> None:
    AGENTS[name].prepare(home, URL)
    AGENTS[name].prepare(home, URL)
    assert (home / AGENTS[name].headless_settings).parent.is_dir()


@pytest.mark.parametrize("name", PROVEN)
def test_settings_that_cannot_be_read_are_an_error_that_names_the_file_and_leaves_it_alone(
    name: str, home: Path
) -> None:
    file = write(home, name, "= { nonsense")
    with pytest.raises(BadSettings, match=file.name):
        AGENTS[name].prepare(home, URL)
    assert file.read_text() == "= { nonsense"


@pytest.mark.parametrize(
    ("says", "version"), [("kimi, version 1.49.0", "1.49.0"), ("v2.1.0 (beta)", "2.1.0"), ("what?", None)]
)
def test_the_version_is_in_what_a_program_prints(says: str, version: str | None, tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)
    assert headless.version(str(program)) == version
    program.write_text("#!/bin/sh\nexit 1\n")
    assert headless.version(str(program)) is None
    assert headless.version(str(tmp_path / "missing")) is None
