"""Every test has a home of its own and writes nowhere else."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from support import end_of_the_agent, forget_marks, unmark_this_process
from tenterhook.basics import places

if TYPE_CHECKING:
    from collections.abc import Iterator

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes start here; each would compile all of us

# A suite that a shell started in the background would otherwise ignore Ctrl-C, and so would all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "tenterhook",
    deadline=None,
    database=None,
    derandomize=True,  # the same examples each time: a failure is the change's, not the day's
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("tenterhook")


# Files and folders that take long: browsers, terminals, whole sessions, every byte of a file, all kinds of an attack.
SLOW = (
    *("adapters/test_frameworks", "agents/test_codex_settings"),
    *("authoring/convert/test_commands", "authoring/convert/test_round_trips", "authoring/test_sandbox"),
    *("authoring/test_suites", "authoring/test_templates", "authoring/test_worker"),
    *("basics/test_agent_marks", "basics/test_extras_installed"),
    *("bundled_agent/test_background", "bundled_agent/test_compaction", "bundled_agent/test_events"),
    "bundled_agent/test_killed",
    *("bundled_agent/test_network", "bundled_agent/test_payloads", "bundled_agent/test_replay"),
    *("bundled_agent/test_scripted", "bundled_agent/test_subagents", "bundled_agent/test_terminal"),
    *(
        "cli/test_below_agent",
        "dispatch/test_fail_closed",
        "dispatch/test_variables",
        "doctor/live/test_trial",
        "doctor/test_checks",
    ),
    "hooks/test_cases_of_hooks",
    *("hub/browser", "hub/test_fuzzing", "hub/test_growth", "hub/test_postgres", "hub/test_races"),
    *("hub_client/test_agent_and_hub", "hub_client/test_companion", "hub_client/test_hosts_and_hub"),
    *("hub_client/test_join_command", "install/test_entries", "install/test_event_wiring", "install/test_launcher"),
    *("install/test_managed", "cli/test_managed", "install/test_reinstalling"),
    *("install/test_settings_change", "install/test_sync"),
    *("journal/test_export", "journal/test_journal", "journal/test_kills", "journal/test_retention"),
    *("cli/test_setup", "scenarios/test_on_a_terminal", "scenarios/test_team"),
    *(
        "journal/test_segments",
        "scenarios/test_output",
        "shell/test_budget",
        "test_docs_cookbook",
        "test_docs_hub",
        "test_fuzz",
        "test_going_back",
        "test_packs_bench",
        "test_seed_examples",
        "test_site",
    ),
)


# Files of slow tests that vary what others show with one session, one installer, one language.
THOROUGH = (
    *("authoring/test_templates", "basics/test_extras_installed", "bundled_agent/test_network"),
    *("bundled_agent/test_scripted", "bundled_agent/test_session_files", "install/test_reinstalling"),
)
MOST_CASES = 3  # of one slow test; the others are left to `make test-thorough`


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the slow ones to `make test-slow`, so that `make test` is a matter of minutes, and most of their cases."""
    tests = str(Path(__file__).parent)
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        file = str(item.path).removeprefix(f"{tests}/")
        is_slow = "slow" in marks or file.startswith(SLOW)
        if is_slow and not {"agents", "thorough"} & marks:
            item.add_marker(pytest.mark.slow)
            if file.startswith(THOROUGH):
                item.add_marker(pytest.mark.thorough)
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for each in cases.values():
        chosen = {number * len(each) // MOST_CASES for number in range(MOST_CASES)}  # spread over all
        for number, item in enumerate(each):
            if len(each) > MOST_CASES and number not in chosen:
                item.add_marker(pytest.mark.thorough)


_FIRST = Path(places.marks(), "first")
_HAD_FIRST = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        os.setsid()  # so that an event whose agent a test has killed is not taken for one of a process above us
    config.stash[_HAD_FIRST] = _FIRST.exists()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave the directory of the marks as it was; of several processes the last one does."""
    if hasattr(session.config, "workerinput") or session.config.stash[_HAD_FIRST] or not _FIRST.exists():
        return
    if os.listdir(_FIRST.parent) == [_FIRST.name]:
        _FIRST.unlink()
        _FIRST.parent.rmdir()


@pytest.fixture(autouse=True, scope="session")
def no_marks_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No agent of a test stays marked: homes of whole modules are below this directory, too."""
    yield
    forget_marks(tmp_path_factory.getbasetemp())


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty HOME, and none of the caller's settings."""
    home = tmp_path / "home"
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(
            ("TENTERHOOK_", "KIMI_", "XDG_", "CLAUDE_", "CODEX_", "COPILOT_", "FACTORY_", "GEMINI_", "QWEN_")
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    unmark_this_process()
    yield home
    end_of_the_agent()
    forget_marks(tmp_path)
    places.FIXED.clear()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, and the working directory."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project
