"""The page about agents says what the last runs observed, and our modules say nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from hosts import coverage, coverage_tables
from hosts.recorded import PROVEN
from tenterhook.agents import AGENTS
from tenterhook.agents.protocol import MODES

if TYPE_CHECKING:
    from pathlib import Path

SEEN = coverage.read()
PAGE = coverage.PAGE.read_text()


@pytest.mark.parametrize("page", [coverage.PAGE, coverage.README], ids=lambda page: page.name)
def test_the_tables_are_exactly_what_the_runs_gave(page: Path) -> None:
    text = page.read_text()
    assert coverage_tables.with_tables(text, coverage_tables.tables(SEEN)) == text


def test_the_readme_says_when_the_agents_were_run() -> None:
    one, other = (
        {"date": "2026-11-17", "version": "1.0.0", "events": {}},
        {"date": "2026-11-18", "version": "1.0.0", "events": {}},
    )
    assert coverage_tables.tables({"pi": other})["readme"].endswith("\nRun on 2026-11-18.")
    assert coverage_tables.tables({"pi": other, "codex": one})["readme"].endswith("Run from 2026-11-17 to 2026-11-18.")


def test_the_package_knows_the_versions_of_the_last_runs() -> None:
    assert json.loads(coverage.PROVEN.read_text()) == coverage.proven(SEEN), "python tests/hosts/coverage.py --render"


def test_every_agent_was_run_and_is_on_the_page_in_prose_and_tables() -> None:
    assert list(SEEN) == list(PROVEN)
    assert sorted(re.findall(r"<!-- seen: ([\w-]+) -->", PAGE)) == sorted(["summary", *PROVEN])
    summary = coverage_tables.tables(SEEN)["summary"]
    for host in map(AGENTS.__getitem__, PROVEN):
        assert f"\n| {host.title} | {SEEN[host.name]['version']} |" in summary
        assert f"\n### {host.title}\n" in PAGE
        assert f"\n| {host.title} | `~/" in PAGE, "how its settings are wired"


@pytest.mark.parametrize("name", SEEN)
def test_an_entry_has_its_version_and_date_and_known_cells_only(name: str) -> None:
    entry = SEEN[name]
    assert re.fullmatch(r"\d+\.\d+\.\d+", entry["version"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry["date"])
    for event, cells in entry["events"].items():
        assert event in (*coverage_tables.TRIED, *coverage_tables.WATCHED)
        for capability, by_mode in cells.items():
            if capability == "names":
                continue
            assert capability in coverage_tables.CAPABILITIES
            assert set(by_mode) <= set(MODES)
            assert all(re.match(r"(yes|no|–|not observed)($|[:;,])", cell) for cell in by_mode.values()), by_mode


@pytest.mark.parametrize("name", SEEN)
def test_what_our_module_says_of_an_agent_is_what_was_seen(name: str) -> None:
    assert coverage_tables.disagreements(name, SEEN[name]) == []


@pytest.mark.parametrize("name", SEEN)
def test_a_guard_held_in_every_mode(name: str) -> None:
    assert SEEN[name]["events"]["pre-tool-call"]["block"] == dict.fromkeys(AGENTS[name].modes, coverage_tables.YES)
