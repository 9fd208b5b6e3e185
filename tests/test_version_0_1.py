"""What version 0.1 left on disk still works: its journal, its trust file and the database of its hub.

Its installations are in tests/install/version_0_1.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hub.hubs import Hub

DATA = Path(__file__).parent / "data" / "version_0_1"
STATE = ".local/state/tenterhook"
MODES = {"guard": 0o755, "guard/HOOK.md": 0o644, "guard/scripts": 0o755, "guard/scripts/run.sh": 0o755}
TOKEN = "th_person_DlrwJ2dcF3dFmThDt_pN2dlzFIFCOQEl9GNoS8nqmtw"  # of a hub that ran for these data alone


def tenterhook(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "tenterhook", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@pytest.fixture
def journal(home: Path) -> Path:
    place = home / STATE / "journal"
    place.mkdir(parents=True, mode=0o700)
    shutil.copy(DATA / "000001.jsonl", place)
    return place / "000001.jsonl"


def test_the_journal_is_shown_verified_and_continued(journal: Path, project: Path) -> None:
    records = [json.loads(line) for line in tenterhook("log", "--json").stdout.splitlines()]
    assert [each["decision"] for each in records] == ["deny", "none", "deny", "approve"]
    assert records[-1]["answered_by"] == "root (hub)"
    assert tenterhook("trigger", "pre-tool-call", "--tool", "Shell", "--input", '{"command": "ls"}').returncode == 0
    assert tenterhook("log", "verify").returncode == 0
    before, *after = journal.read_text().splitlines()[-2:]
    assert json.loads(after[0])["prev"] == json.loads(before)["hash"]


def test_a_changed_record_of_the_journal_is_found(journal: Path) -> None:
    journal.write_text(journal.read_text().replace("make deploy", "make it so"))
    assert tenterhook("log", "verify").returncode == 1


def test_a_hook_that_was_trusted_runs_until_it_is_changed(home: Path, project: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    hooks = project / ".agents" / "hooks"
    shutil.copytree(DATA / "guard", hooks / "guard")
    for name, mode in MODES.items():
        (hooks / name).chmod(mode)
    shutil.copytree(DATA / "trusted", home / STATE / "trusted")
    (home / STATE / "trust.json").write_text((DATA / "trust.json").read_text().replace("PROJECT", str(project)))
    for place in (home / STATE, home / STATE / "trusted"):
        place.chmod(0o700)
    asked = ("trigger", "pre-tool-call", "--tool", "Shell", "--input", '{"command": "rm -rf build"}')
    assert tenterhook(*asked).returncode == 2
    script = hooks / "guard/scripts/run.sh"
    script.write_text(script.read_text().replace("exit 2", "exit 0"))
    assert "changed" in tenterhook("list").stdout
    assert tenterhook(*asked).returncode == 0


def test_the_hub_keeps_people_tokens_rules_requests_and_sessions(home: Path) -> None:
    database = home / "hub.db"
    with sqlite3.connect(database) as connection:
        connection.executescript((DATA / "hub.sql").read_text())
    connection.close()
    hub = Hub(home, "--keep-days", "36500", database=str(database))
    try:
        admin = hub.client(TOKEN)

        def read(path: str) -> Any:
            return admin.get(path).raise_for_status().json()

        assert {each["name"] for each in read("/people")["people"]} == {"ada", "root"}
        assert [each["command"] for each in read("/rules")["rules"]] == ["git status"]
        assert read("/requests/permission_35d8c440e9bb")["answer"]["by"] == "root"
        assert [each["session"] for each in read("/sessions")["sessions"]] == ["kept"]
    finally:
        hub.end()
